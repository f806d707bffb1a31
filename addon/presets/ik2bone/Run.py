# SPDX-License-Identifier: GPL-3.0-or-later
"""The hips come down half as far as by default, so that a run keeps its bounce."""

import bpy

settings = bpy.context.scene.ik2bone

settings.chains = "AUTO"
settings.contacts = "AUTO"
settings.direction = "DOWN"
settings.use_hips = True
settings.max_drop = 0.2
settings.gives_way = "HEEL_HIPS"
settings.use_slope = True
settings.max_slope = 0.8726646259971648
