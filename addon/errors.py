# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told instead of planting."""

from __future__ import annotations


class Refusal(Exception):
    """One clear sentence for the user: what is not planted, and why."""
