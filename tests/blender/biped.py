# SPDX-License-Identifier: GPL-3.0-or-later
"""A small walker on level ground, two strides along Y, and surfaces to plant it on: scenes that take milliseconds."""

from __future__ import annotations

import fingerprint
import numpy as np

THIGH = SHIN = 0.45
ANKLE = 0.08
HIP = ANKLE + THIGH + SHIN
SIDES = {"L": 0.1, "R": -0.1}
STRIDE, STRIDE_FRAMES, STANDING = 0.9, 30, 0.6
LAST = 1 + 2 * STRIDE_FRAMES
LEG = ("thigh", "shin", "foot", "toe")


def make_walker(bpy, name="Walker", mode="QUATERNION"):
    """An armature that walks on the floor z = 0 from frame 1 to LAST, playing the action `walk`."""
    armature = make_bones(bpy, name, _walker_bones())
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 30, 1, LAST
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    for frame in range(1, LAST + 1):
        _key_frame(armature, frame, mode)
    armature.animation_data.action.name = "walk"
    scene.frame_set(1)
    return armature


def make_mesh(bpy, name, vertices, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.update()
    return ob


def make_slope(bpy, name="Slope", rise=0.1, height=0.0, size=10.0):
    """A large plane that rises along Y."""
    corners = [(-size, -size), (size, -size), (size, size), (-size, size)]
    return make_mesh(bpy, name, [(x, y, height + rise * y) for x, y in corners], [(0, 1, 2, 3)])


def _walker_bones():
    yield "hips", None, (0, 0, HIP), (0, 0, HIP + 0.15)
    yield "chest", "hips", (0, 0, HIP + 0.15), (0, 0, HIP + 0.5)
    yield "head", "chest", (0, 0, HIP + 0.5), (0, 0, HIP + 0.7)
    for side, x in SIDES.items():
        yield f"thigh.{side}", "hips", (x, 0, HIP), (x, 0, HIP - THIGH)
        yield f"shin.{side}", f"thigh.{side}", (x, 0, HIP - THIGH), (x, 0, ANKLE)
        yield f"foot.{side}", f"shin.{side}", (x, 0, ANKLE), (x, 0.14, 0.02)
        yield f"toe.{side}", f"foot.{side}", (x, 0.14, 0.02), (x, 0.21, 0.02)


def make_bones(bpy, name, bones):
    """An armature of bones given by name, parent, head and tail."""
    armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, parent, head, tail in bones:
        _bone(armature, bone, armature.data.edit_bones.get(parent or ""), head, tail)
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def _bone(armature, name, parent, head, tail):
    bone = armature.data.edit_bones.new(name)
    bone.head, bone.tail, bone.parent = head, tail, parent
    return bone


def _key_frame(armature, frame, mode):
    time = (frame - 1) / STRIDE_FRAMES
    hips = np.array([0.0, STRIDE * time, -0.1])
    bones = armature.pose.bones
    bones["hips"].location = np.linalg.inv(np.array(bones["hips"].bone.matrix_local)[:3, :3]) @ hips
    bones["hips"].keyframe_insert("location", frame=frame, group="hips")
    for shift, side in enumerate(SIDES):
        thigh, shin = _leg_angles(_ankle(time + 0.5 * shift, 0.5 * shift) - hips[1:] - (0.0, HIP))
        for part, angle in zip(LEG, (thigh, shin - thigh, -shin, 0.0), strict=True):
            _key_turn(bones[f"{part}.{side}"], angle, frame, mode)


def _ankle(phase, shift):
    """Place of an ankle along Y and Z: still for the first part of a stride, then swung forward."""
    stride, part = divmod(phase, 1.0)
    swing = max(0.0, (part - STANDING) / (1.0 - STANDING))
    forward = stride + swing**2 * (3.0 - 2.0 * swing) - shift + 0.5 * STANDING
    return np.array([STRIDE * forward, ANKLE + 0.12 * np.sin(np.pi * swing) ** 2])


def _leg_angles(line):
    """Angles of thigh and shin forward of straight down, the knee in front."""
    length = np.hypot(*line)
    inner = np.arccos(length / (THIGH + SHIN))
    along = np.arctan2(line[0], -line[1])
    return along + inner, along - inner


def _key_turn(bone, angle, frame, mode):
    from mathutils import Quaternion

    axis = bone.bone.matrix_local.to_3x3().inverted() @ _vector(1.0, 0.0, 0.0)
    turn = Quaternion(axis, angle)
    name = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    if mode == "QUATERNION":
        bone.rotation_quaternion = turn
    elif mode == "AXIS_ANGLE":
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(mode)
    bone.keyframe_insert(name, frame=frame, group=bone.name)


def _vector(*values):
    from mathutils import Vector

    return Vector(values)


def thin(armature, step=7.3, interpolation="BEZIER"):
    """Leave only every so many frames a key on every curve, off the frames, of a kind of its own."""
    for curve in fingerprint.curves_of(armature.animation_data.action):
        frames = np.arange(1.0, LAST + 1.0, step)
        values = [curve.evaluate(frame) for frame in frames]
        curve.keyframe_points.clear()
        for frame, value in zip(frames, values, strict=True):
            point = curve.keyframe_points.insert(frame, value)
            point.interpolation, point.type = interpolation, "EXTREME"
        curve.update()


def make_action(bpy, actions, ob, name):
    """An action without keys, ready to take curves for the object."""
    action = bpy.data.actions.new(name)
    if not hasattr(action, "slots"):
        return actions.Assignment(action)
    slot = action.slots.new(id_type="OBJECT", name=ob.name)
    action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    return actions.Assignment(action, slot.identifier)
