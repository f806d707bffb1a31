# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters whose planting is timed besides that of the bare rig: Rigify's metarig, a skinned mesh, and a crowd."""

from __future__ import annotations

from typing import Any

import numpy as np

# Bones of the bare rig of 31 bones, and the bones of the metarig that turn like them.
SAME = {"Hips": "spine", "Chest": "spine.002"} | {
    f"{side}{part}": f"{name}.{side[0]}"
    for side in ("Left", "Right")
    for part, name in (("Hip", "thigh"), ("Knee", "shin"), ("Ankle", "foot"), ("Shoulder", "upper_arm"))
}
# The number of vertices around a bone and along it, and the number of bones.
AROUND, ALONG, BONES = 32, 51, 31


def metarig(bpy: Any, source: Any, frames: range) -> Any:
    """Replace the bare rig `source` by Rigify's human metarig of 159 bones, which comes with Blender, and return it.

    The metarig walks like the bare rig. The rotation of every bone is keyed on every frame.
    """
    # This module needs mathutils, which can be imported only in Blender.
    from demo.walker import new_curves

    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    rig = bpy.context.object
    turns, way = _motion(bpy, source, rig, frames)
    curves = new_curves(rig, "metarig")
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = "QUATERNION"
        _key(curves, bone.path_from_id("rotation_quaternion"), frames, turns[:, number])
    _key(curves, rig.pose.bones["spine"].path_from_id("location"), frames, way)
    bpy.data.objects.remove(source)
    bpy.context.scene.frame_set(frames[0])
    return rig


def _motion(bpy: Any, source: Any, rig: Any, frames: range) -> tuple[np.ndarray, np.ndarray]:
    """The rotations (F, B, 4) of all bones, each turned from rest like its bone in SAME, and the hips' locations."""
    # mathutils can be imported only in Blender.
    from mathutils import Matrix

    bones = list(rig.pose.bones)
    alike = {rig.pose.bones[name]: source.pose.bones[other] for other, name in SAME.items()}
    size = rig.data.bones["thigh.L"].length / source.data.bones["LeftHip"].length
    turns, way = np.empty((len(frames), len(bones), 4)), np.empty((len(frames), 3))
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(frame)
        poses: dict[Any, Matrix] = {}
        for number, bone in enumerate(bones):
            rest, above = bone.bone.matrix_local.to_3x3(), bone.parent
            carried = poses[above] @ above.bone.matrix_local.to_3x3().inverted() @ rest if above else rest
            poses[bone] = carried
            if other := alike.get(bone):
                poses[bone] = other.matrix.to_3x3() @ other.bone.matrix_local.to_3x3().inverted() @ rest
            turns[row, number] = (carried.inverted() @ poses[bone]).to_quaternion()
        hips, spine = source.pose.bones["Hips"], rig.data.bones["spine"]
        moved = size * (source.matrix_world.to_3x3() @ (hips.matrix.translation - hips.bone.head_local))
        way[row] = spine.matrix_local.to_3x3().inverted() @ moved
    return turns, way


def _key(curves: Any, path: str, frames: range, values: np.ndarray) -> None:
    for index, column in enumerate(values.T):
        curve = curves.ensure(path, index, "")
        curve.keyframe_points.add(len(frames))
        curve.keyframe_points.foreach_set("co", np.column_stack([frames, column]).ravel())
        curve.update()


def skin(bpy: Any, rig: Any) -> Any:
    """Add a mesh of 50,592 vertices that the armature deforms: a tube round each bone."""
    angles = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    rings = np.stack([np.cos(angles), np.zeros(AROUND), np.sin(angles)], axis=1)
    tube = 0.2 * rings[None] + np.linspace(0.0, 1.0, ALONG)[:, None, None] * [0.0, 1.0, 0.0]
    tube = np.concatenate([tube.reshape(-1, 3), np.ones((AROUND * ALONG, 1))], axis=1)
    first = np.arange(AROUND * (ALONG - 1)).reshape(-1, AROUND)
    after = np.roll(first, -1, axis=1)
    faces = np.stack([first, after, after + AROUND, first + AROUND], axis=-1).reshape(-1, 4)
    bones = list(rig.data.bones)[:BONES]
    points = [tube * [bone.length, bone.length, bone.length, 1.0] @ np.array(bone.matrix_local).T for bone in bones]
    mesh = bpy.data.meshes.new("Skin")
    every = [faces + number * len(tube) for number in range(len(bones))]
    mesh.from_pydata(np.concatenate(points)[:, :3].tolist(), [], np.concatenate(every).tolist())
    body = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(body)
    for number, bone in enumerate(bones):
        group = body.vertex_groups.new(name=bone.name)
        group.add(range(number * len(tube), (number + 1) * len(tube)), 1.0, "REPLACE")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    return body


def crowd(bpy: Any, rig: Any, count: int) -> list[Any]:
    """Copy a character until there are `count`, each with an action of its own, and return all, selected."""
    others = [rig.copy() for _ in range(count - 1)]
    for number, other in enumerate(others, 1):
        bpy.context.scene.collection.objects.link(other)
        other.animation_data.action = rig.animation_data.action.copy()
        other.location.x += 0.001 * number
    for ob in (rig, *others):
        ob.select_set(True)
    bpy.context.view_layer.update()
    return [rig, *others]
