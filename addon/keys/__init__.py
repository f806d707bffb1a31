# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions, F-curves, and the keys of bones."""
