# SPDX-License-Identifier: MIT
"""The ground as planting asks it, and supports that move."""
