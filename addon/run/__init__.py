# SPDX-License-Identifier: GPL-3.0-or-later
"""A run from the options to the report."""
