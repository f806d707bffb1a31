# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole files of clips planted without a window."""
