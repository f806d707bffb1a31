# SPDX-License-Identifier: GPL-3.0-or-later
"""The generated clip: Rigify's human metarig walking the strides of `gait` along -Y, keyed in quaternions."""

from __future__ import annotations

from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from itertools import pairwise

import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from demo import gait, session

Array = NDArray[np.float64]
Frames = NDArray[np.int64]
Poses = dict[str, Array]  # Matrices in the armature's space by bone name.

LEG = ("thigh", "shin", "foot", "toe")

FPS = 30
STRIDE_FRAMES = 34  # 1.13 seconds; the strides that fit_gait.py measures take 1.14 seconds on average.
STRIDES = 7
# Amplitudes: the first harmonics of pelvis_rotation and pelvis_list of OpenSim's gait2354.
PELVIS_TURN, PELVIS_DROP = np.radians(3.8), np.radians(2.4)
ARM_SWING, ARM_FORWARD, ARM_APART = np.radians(20.0), np.radians(3.0), np.radians(9.0)
ELBOW_BEND, ELBOW_SWING = np.radians(22.0), np.radians(12.0)


def make_walk(bpy):
    """Add the metarig, key the walk, set the scene's range and rate, and return the armature object."""
    armature = add_metarig(bpy)
    rest = {bone.name: np.array(bone.matrix_local) for bone in armature.data.bones}
    frames = np.arange(STRIDES * STRIDE_FRAMES + 1)
    body = _body(rest, frames)
    hip = body["spine"][:STRIDE_FRAMES] @ rest["spine"][:3, :3].T @ (_head(rest, "thigh.L") * (1, 0, 0))
    stride = gait.walk(_leg(armature), -hip[:, 1] + 1j * hip[:, 2])
    rotations = body | _leg_turns(rest, stride, frames) | _arm_turns(armature, rest, frames)
    _key(armature, rest, rotations, _root(rest, body["spine"], stride, frames))
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, 1, len(frames)
    scene.frame_set(1)
    return armature


def add_metarig(bpy):
    """Add Rigify's human metarig and return the armature object."""
    import addon_utils

    with redirect_stdout(StringIO()):  # Rigify prints that it reloads its rigs.
        addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    armature = bpy.context.object
    armature.name = "walk"
    return armature


def _head(rest: Poses, name: str) -> Array:
    return rest[name][:3, 3]


def _plane(point) -> complex:
    return complex(-point[1], point[2])


def _leg(armature) -> gait.Leg:
    """The measures of the left leg in the rest pose, which faces -Y and has its sole on the floor.

    The ball is the joint of the toes: the foot rolls over this joint while the toes lie still on the floor.
    """
    bones = armature.data.bones
    thigh, shin, foot, ball, heel = (_plane(bones[f"{bone}.L"].head_local) for bone in (*LEG, "heel.02"))
    tip = complex(_plane(bones["toe.L"].tail_local).real, heel.imag)
    return gait.Leg(abs(shin - thigh), abs(foot - shin), heel - foot, ball - foot, tip - foot)


def _turn(axis: str, angle: Array) -> Array:
    """The right-handed rotations (F, 3, 3) about a world axis."""
    first, second = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    turns = np.zeros((*np.shape(angle), 3, 3))
    turns[...] = np.eye(3)
    turns[..., first, first] = turns[..., second, second] = np.cos(angle)
    turns[..., second, first] = np.sin(angle)
    turns[..., first, second] = -np.sin(angle)
    return turns


def _pitch(angle: Array) -> Array:
    """The rotations about X whose positive angles turn forward (-Y) to up and down to forward."""
    return _turn("X", -angle)


def _body(rest: Poses, frames: Frames) -> Poses:
    """The rotations of the spine's bones: the pelvis turns with the leading leg and drops on the swinging leg's side.

    The chest turns against the pelvis, and the head does not turn.
    """
    angle = 2 * np.pi * frames / STRIDE_FRAMES
    # A positive turn about Z moves the left hip, at +X, back. At phase 0 the left heel strikes.
    turn = -PELVIS_TURN * np.cos(angle)
    # A positive turn about Y moves the left hip down. The left leg swings from 63 to 100 % of the stride.
    drop = -PELVIS_DROP * np.sin(angle)
    turns = {
        "spine": _turn("Z", turn) @ _turn("Y", drop),
        "spine.001": _turn("Z", turn / 2),
        "spine.002": _turn("Z", -turn / 2),
        "spine.003": _turn("Z", -turn),
        "spine.005": _turn("Z", 0 * turn),
    }
    return {name: turn @ rest[name][:3, :3] for name, turn in turns.items()}


def _leg_turns(rest: Poses, stride: gait.Stride, frames: Frames) -> Poses:
    rotations = {}
    for side, delay in (("L", 0), ("R", STRIDE_FRAMES // 2)):
        phase = (frames - delay) % STRIDE_FRAMES
        pitches = (stride.thigh, stride.shin, stride.foot, stride.foot + stride.toes)
        for bone, pitch in zip(LEG, pitches, strict=True):
            name = f"{bone}.{side}"
            rotations[name] = _pitch(pitch[phase] - _rest_pitch(rest, bone, side)) @ rest[name][:3, :3]
    return rotations


def _rest_pitch(rest: Poses, bone: str, side: str) -> float:
    """The pitch of thigh or shin in the rest pose; 0 for foot and toes, whose pitch counts from the sole at rest."""
    if bone not in LEG[:2]:
        return 0.0
    end = LEG[LEG.index(bone) + 1]
    down = _plane(_head(rest, f"{end}.{side}") - _head(rest, f"{bone}.{side}"))
    return float(np.angle(1j * down))


def _arm_turns(armature, rest: Poses, frames: Frames) -> Poses:
    """The rotations of the arms, which hang a little apart and swing against the leg of their side.

    Elbows bend on the way forward.
    """
    rotations = {}
    for side, sign in (("L", 1), ("R", -1)):
        swing = -sign * np.cos(2 * np.pi * frames / STRIDE_FRAMES)
        shoulder = ARM_FORWARD + ARM_SWING * swing
        elbow = shoulder + ELBOW_BEND + ELBOW_SWING * swing
        hang = Vector((sign * np.sin(ARM_APART), 0, -np.cos(ARM_APART)))
        for bone, pitch in (("upper_arm", shoulder), ("forearm", elbow)):
            name = f"{bone}.{side}"
            along = armature.data.bones[name].tail_local - armature.data.bones[name].head_local
            rotations[name] = _pitch(pitch) @ np.array(along.rotation_difference(hang).to_matrix()) @ rest[name][:3, :3]
    return rotations


def _root(rest: Poses, spine: Array, stride: gait.Stride, frames: Frames) -> Array:
    """The positions (F, 3) of the spine's head that bring the centre of the hip joints onto the stride's path."""
    hips = stride.hips[frames % STRIDE_FRAMES] + stride.length * (frames // STRIDE_FRAMES)
    centre = _head(rest, "thigh.L") * (0, 1, 1) - _head(rest, "spine")
    place = np.stack([0 * hips.real, -hips.real, hips.imag], axis=1)
    return place - spine @ rest["spine"][:3, :3].T @ centre


def _key(armature, rest: Poses, rotations: Poses, root: Array) -> None:
    """Key each bone's rotation, relative to its nearest ancestor in `rotations`, and the root's location, per frame."""
    curves = new_curves(armature, "walk")
    for name, rotation in rotations.items():
        bone = armature.pose.bones[name]
        parent = next((up.name for up in bone.parent_recursive if up.name in rotations), None)
        local = rest[name][:3, :3].T @ rotation
        if parent:
            carried = rest[parent][:3, :3] @ rotations[parent].transpose(0, 2, 1)
            local = rest[name][:3, :3].T @ carried @ rotation
        write_channel(curves, bone, "rotation_quaternion", _quaternions(local))
    offset = (root - _head(rest, "spine")) @ rest["spine"][:3, :3]
    write_channel(curves, armature.pose.bones["spine"], "location", offset)


def _quaternions(rotations: Array) -> Array:
    """The rotations as quaternions (F, 4) whose signs do not jump from frame to frame."""
    quaternions = [Matrix(rotation).to_quaternion() for rotation in rotations]
    for before, quaternion in pairwise(quaternions):
        if before.dot(quaternion) < 0:
            quaternion.negate()
    return np.array(quaternions)


def new_curves(armature, name: str):
    """The F-curves, none yet, of a new action that the armature plays. The add-on makes it, for any Blender version."""
    actions = import_module(f"{session.ADDON}.keys.actions")
    action = actions.new(armature, name)
    actions.assign(armature, action)
    return action.curves


def write_channel(curves, bone, channel: str, values: Array) -> None:
    """Key a bone's channel on every frame from 1 on."""
    for index, column in enumerate(values.T):
        curve = curves.ensure(bone.path_from_id(channel), index, "")
        curve.keyframe_points.add(len(column))
        keys = np.stack([np.arange(1, len(column) + 1), column], axis=1)
        curve.keyframe_points.foreach_set("co", keys.astype(np.float32).ravel())
        curve.update()
