# SPDX-License-Identifier: GPL-3.0-or-later
"""Selected hands and feet hold on to the nearest surface, such as rungs and walls."""

import bpy

settings = bpy.context.scene.ik2bone

settings.chains = "SELECTED"
settings.contacts = "AUTO"
settings.direction = "NEAREST"
settings.use_hips = True
settings.max_drop = 0.4
settings.gives_way = "HIPS_HEEL"
settings.use_slope = True
settings.max_slope = 0.8726646259971648
