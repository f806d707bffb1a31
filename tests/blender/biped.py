# SPDX-License-Identifier: GPL-3.0-or-later
"""A small walker that takes two strides along Y on level ground, and surfaces to plant it on, in milliseconds."""

from __future__ import annotations

from contextlib import contextmanager

import fingerprint
import numpy as np

THIGH = SHIN = 0.45
ANKLE = 0.08
HIP = ANKLE + THIGH + SHIN
SIDES = {"L": 0.1, "R": -0.1}
STRIDE, STRIDE_FRAMES, STANDING = 0.9, 30, 0.6
LAST = 1 + 2 * STRIDE_FRAMES
LEG = ("thigh", "shin", "foot", "toe")
# The rise of slopes per unit of length.
RISE = 0.1


def make_walker(bpy, name="Walker", mode="QUATERNION"):
    """An armature that walks on the floor z = 0 from frame 1 to LAST, by the action `walk`."""
    armature = make_bones(bpy, name, _walker_bones())
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    return animate(bpy, armature, _key_frame)


def animate(bpy, armature, key_frame, name="walk"):
    """Call `key_frame(armature, frame)` for the frames 1 to LAST, and give the armature's action a name."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 30, 1, LAST
    for frame in range(1, LAST + 1):
        key_frame(armature, frame)
    armature.animation_data.action.name = name
    scene.frame_set(1)
    return armature


def make_empty(bpy, name, place=(0.0, 0.0, 0.0)):
    empty = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(empty)
    empty.location = place
    return empty


def make_mesh(bpy, name, vertices, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.update()
    return ob


def make_slope(bpy, name="Slope", rise=RISE, height=0.0, size=10.0):
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
    with editing(bpy, armature) as found:
        for bone, parent, head, tail in bones:
            add_bone(found, bone, found.get(parent or ""), head, tail)
    return armature


@contextmanager
def editing(bpy, armature):
    """The edit bones of an armature, which is in edit mode within this context."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    yield armature.data.edit_bones
    bpy.ops.object.mode_set(mode="OBJECT")


def twin_of(bpy, ob):
    """A copy of an object in the scene, which plays the same action."""
    twin = ob.copy()
    bpy.context.collection.objects.link(twin)
    return twin


def override_walker(bpy, library):
    """A library override of the walker in a file, over a slope, with the linked action."""
    with bpy.data.libraries.load(library, link=True) as (_source, target):
        target.objects = ["Walker"]
    armature = bpy.data.objects["Walker"].override_create(remap_local_usages=True)
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.render.fps = 30
    make_slope(bpy)
    return armature


def add_bone(bones, name, parent, head, tail):
    bone = bones.new(name)
    bone.head, bone.tail, bone.parent = head, tail, parent
    return bone


def _key_frame(armature, frame):
    time, bones = (frame - 1) / STRIDE_FRAMES, armature.pose.bones
    hips = np.array([0.0, STRIDE * time, -0.1])
    move(bones["hips"], hips, frame)
    for side, ankle in ankles(time):
        turns = leg_turns(ankle - hips[1:] - (0.0, HIP))
        for part, angle in zip(LEG, (*turns, 0.0), strict=True):
            key_turn(bones[f"{part}.{side}"], angle, frame)


def ankles(time):
    """Each side with its ankle's place along Y and Z at a `time` in strides; the sides are half a stride apart."""
    for shift, side in enumerate(SIDES):
        yield side, _ankle(time + 0.5 * shift, 0.5 * shift)


def _ankle(phase, shift):
    """The place of an ankle along Y and Z: at rest for the first part of a stride, then swinging forward."""
    stride, part = divmod(phase, 1.0)
    swing = max(0.0, (part - STANDING) / (1.0 - STANDING))
    forward = stride + swing**2 * (3.0 - 2.0 * swing) - shift + 0.5 * STANDING
    return np.array([STRIDE * forward, ANKLE + 0.12 * np.sin(np.pi * swing) ** 2])


def leg_turns(line, upper=THIGH, lower=SHIN):
    """The angles by which thigh, shin and foot turn forward from hanging down to put the ankle at the end of `line`.

    `line` leads from hip to ankle along Y and Z. The knee stays in front and the foot level.
    """
    length, along = np.hypot(*line), np.arctan2(line[0], -line[1])
    at_hip = np.arccos(np.clip((upper**2 + length**2 - lower**2) / (2.0 * upper * length), -1.0, 1.0))
    at_ankle = np.arccos(np.clip((lower**2 + length**2 - upper**2) / (2.0 * lower * length), -1.0, 1.0))
    return along + at_hip, -at_hip - at_ankle, at_ankle - along


def move(bone, way, frame):
    """Key a bone's location so that the bone is moved by `way` along the armature's axes."""
    bone.location = np.linalg.inv(np.array(bone.bone.matrix_local)[:3, :3]) @ way
    bone.keyframe_insert("location", frame=frame, group=bone.name)


def key_turn(bone, angle, frame):
    """Key a bone's rotation, in the bone's mode, so that the bone is turned about the armature's X axis."""
    from mathutils import Quaternion, Vector

    axis = bone.bone.matrix_local.to_3x3().inverted() @ Vector((1.0, 0.0, 0.0))
    turn = Quaternion(axis, angle)
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = turn
    elif bone.rotation_mode == "AXIS_ANGLE":
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(bone.rotation_mode)
    bone.keyframe_insert(rotation_of(bone), frame=frame, group=bone.name)


def rotation_of(bone):
    """The name of the property for the rotation of a bone in its mode."""
    names = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    return names.get(bone.rotation_mode, "rotation_euler")


def thin(armature, step=7.3, interpolation="BEZIER"):
    """Replace the keys of every curve by keys every `step` frames, between frames and of the type EXTREME."""
    for curve in fingerprint.curves_of(armature.animation_data.action):
        frames = np.arange(1.0, LAST + 1.0, step)
        values = [curve.evaluate(frame) for frame in frames]
        curve.keyframe_points.clear()
        for frame, value in zip(frames, values, strict=True):
            point = curve.keyframe_points.insert(frame, value)
            point.interpolation, point.type = interpolation, "EXTREME"
        curve.update()
