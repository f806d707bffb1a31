# SPDX-License-Identifier: MIT
"""When heels and balls stand: detection, and what people want of it."""
