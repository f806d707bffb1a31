# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: plant a clip on uneven ground in real Blender, and draw the clip before and after."""
