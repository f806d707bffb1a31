# SPDX-License-Identifier: MIT
"""Soles, measured from the skin or from the clip."""
