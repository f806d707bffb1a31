# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose on every frame: evaluated, sampled, with the skins of its feet."""
