# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a scene that make several values out of date that are kept between runs."""

from __future__ import annotations

import biped


def change_rest(bpy, walker):
    with biped.editing(bpy, walker) as bones:
        bones["shin.L"].tail.y += 0.05
        bones["foot.L"].head.y += 0.05


def shape(bpy, slope):
    slope.shape_key_add(name="Basis")
    key = slope.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.1
    key.value = 1.0
