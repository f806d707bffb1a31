# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: plants a clip on uneven ground in real Blender and draws it before and after."""
