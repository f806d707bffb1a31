# SPDX-License-Identifier: MIT
"""Where feet stand: one anchor a stance. All anchors are chosen together."""
