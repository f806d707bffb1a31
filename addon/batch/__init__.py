# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting files of clips without a window."""
