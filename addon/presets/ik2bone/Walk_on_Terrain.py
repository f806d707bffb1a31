# SPDX-License-Identifier: GPL-3.0-or-later
"""As the operator does by default: heels rise before the hips come down."""

import bpy

settings = bpy.context.scene.ik2bone

settings.chains = "AUTO"
settings.contacts = "AUTO"
settings.direction = "DOWN"
settings.use_hips = True
settings.max_drop = 0.4
settings.gives_way = "HEEL_HIPS"
settings.use_slope = True
settings.max_slope = 0.8726646259971648
