# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a Blender scene independently of the add-on: joints frame by frame, the ground by rays on its mesh."""

from __future__ import annotations

import json

import numpy as np
from ik2bone.clip import Clip


def report_of(armature) -> dict:
    """The record in the planted action."""
    return json.loads(armature.animation_data.action["ik2bone"])


def leg_names(armature, feet: list[str]) -> list[tuple[str, str, str, str]]:
    """The names of thigh, shin, foot and toe for each name of a foot: its grandparent, parent, itself and its toe."""
    bones = armature.data.bones
    return [(bones[f].parent.parent.name, bones[f].parent.name, f, toe_of(bones[f])) for f in feet]


def toe_of(foot) -> str:
    """The child with most descendants, because toes have nails and leaf bones; the foot itself without children."""
    children = [bone for bone in foot.children if (bone.head_local - foot.head_local).length > 1e-6]
    return max(children, key=lambda bone: len(bone.children_recursive)).name if children else foot.name


def watch(scene, armature, legs, frames) -> Clip:
    """The clip of the `legs` as the scene shows it when it is stepped through `frames`."""
    rows = {name: [] for name in ("thigh", "shin", "foot", "toe", "ball", "tip")}
    for frame in frames:
        scene.frame_set(int(frame))
        world = armature.matrix_world
        bones = [[armature.pose.bones[name] for name in leg] for leg in legs]
        for part, name in enumerate(("thigh", "shin", "foot", "toe")):
            rows[name].append([np.array(world @ leg[part].matrix) for leg in bones])
        rows["ball"].append([np.array(world @ (leg[3].head if leg[3] != leg[2] else leg[2].tail)) for leg in bones])
        rows["tip"].append([np.array(world @ leg[3].tail) for leg in bones])
    return Clip(
        fps=scene.render.fps / scene.render.fps_base,
        has_toe=np.array([leg[3] != leg[2] for leg in legs]),
        scale=np.ones((len(frames), len(legs), 4, 3)),
        up=np.array([0.0, 0.0, 1.0]),
        **{name: np.array(values) for name, values in rows.items()},
    )


def surface(bpy, ob):
    """A ground for the planting core from rays that start above a mesh object without overhangs."""
    # These modules of Blender can be imported only after bpy.
    from mathutils import Vector
    from mathutils.bvhtree import BVHTree

    depsgraph = bpy.context.evaluated_depsgraph_get()
    tree, world = BVHTree.FromObject(ob, depsgraph), ob.matrix_world.copy()
    inverse, turn = world.inverted(), np.array(world.to_3x3().inverted().transposed())
    high = max((world @ Vector(corner)).z for corner in ob.bound_box) + 1.0

    def ground(points, _down):
        hits, normals, found = np.array(points), np.tile([0.0, 0.0, 1.0], (len(points), 1)), np.zeros(len(points), bool)
        for row, (x, y, _z) in enumerate(points):
            place, normal, _face, _distance = tree.ray_cast(
                inverse @ Vector((x, y, high)), inverse.to_3x3() @ Vector((0, 0, -1))
            )
            if place is not None:
                hits[row], found[row] = world @ place, True
                up = turn @ np.array(normal)
                normals[row] = up / np.linalg.norm(up) * (1.0 if up[2] > 0 else -1.0)
        return hits, normals, found

    return ground
