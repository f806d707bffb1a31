# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that idle or fight on the spot keep their soles flat: the hips come down before heels rise."""

import bpy

settings = bpy.context.scene.ik2bone

settings.chains = "AUTO"
settings.contacts = "AUTO"
settings.direction = "DOWN"
settings.use_hips = True
settings.max_drop = 0.4
settings.gives_way = "HIPS_HEEL"
settings.use_slope = True
settings.max_slope = 0.8726646259971648
