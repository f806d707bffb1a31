# SPDX-License-Identifier: GPL-3.0-or-later
"""The hips stay as they were danced; only the feet are held on the floor."""

import bpy

settings = bpy.context.scene.ik2bone

settings.chains = "AUTO"
settings.contacts = "AUTO"
settings.direction = "DOWN"
settings.use_hips = False
settings.max_drop = 0.4
settings.gives_way = "HEEL_HIPS"
settings.use_slope = True
settings.max_slope = 0.8726646259971648
