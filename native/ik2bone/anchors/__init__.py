# SPDX-License-Identifier: MIT
"""Where feet stand: one anchor a stance, chosen together."""
