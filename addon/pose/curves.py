# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of bones in bulk: from F-curves to world matrices over all frames at once, where F-curves tell all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import bpy
import ik2bone
import numpy as np
from bpy.utils import escape_identifier
from ik2bone.rotations import inverse_of
from numpy.typing import NDArray

from ..keys import actions, fcurves, rotations
from ..stages import Progress, Stages, part_of
from .evaluate import Array, Poses, is_layered, may_move, step_worlds

if TYPE_CHECKING:
    from bpy.types import AnimData, Bone, FCurve, Object, PoseBone

# F-curves by data path and component.
Curves = Mapping[tuple[str, int], "FCurve"]

# The bone and the property that a data path names, the bone with its quotes escaped.
BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\](?:\.(.*)|\[.*)$')
ROTATIONS = {"rotation_quaternion", "rotation_axis_angle", "rotation_euler"}
# What Blender makes of a quaternion of zeros: a half turn about X.
HALF_TURN = (0.0, 1.0, 0.0, 0.0)


def tell_all(armature: Object, names: Sequence[str]) -> bool:
    """Whether nothing can move the bones but F-curves of their own channels and those of their ancestors.

    What only a change of data between frames could bring about, by scripts for instance, is left to a comparison.
    """
    bones = _with_ancestors(armature, names)
    return (
        armature.data.pose_position == "POSE"
        and not is_layered(armature)
        and not _is_animated(armature.data.animation_data)
        and _time_is_plain()
        and all(inherits_plainly(bone.bone) and all(c.mute for c in bone.constraints) for bone in bones)
        and not _reached_by_ik(armature, {bone.name for bone in bones})
        and _paths_are_plain(armature, {escape_identifier(bone.name) for bone in bones})
    )


def inherits_plainly(bone: Bone) -> bool:
    """Whether the bone goes wholly with its parent."""
    wholly = bone.parent is None or (bone.use_inherit_rotation and bone.inherit_scale == "FULL")
    return wholly and bone.use_local_location


def _is_animated(data: AnimData | None) -> bool:
    return data is not None and bool(data.action or data.drivers or data.nla_tracks)


def _time_is_plain() -> bool:
    render, handlers = bpy.context.scene.render, bpy.app.handlers
    return render.frame_map_old == render.frame_map_new and not (
        handlers.frame_change_pre or handlers.frame_change_post
    )


def _reached_by_ik(armature: Object, names: set[str]) -> bool:
    """Whether inverse kinematics, even muted, reaches one of the bones: from its bone upward, or from the one above."""
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type in {"IK", "SPLINE_IK"}:
                line, count = [bone, *bone.parent_recursive], constraint.chain_count
                if not names.isdisjoint(moved.name for moved in line[: count + 1 if count else None]):
                    return True
    return False


def _paths_are_plain(armature: Object, names: set[str]) -> bool:
    """Whether F-curves of the bones are all of channels or of custom properties, and they have no driver."""
    data = armature.animation_data
    curves, drivers = actions.curves_of(actions.assigned(armature)), data.drivers if data else ()
    return all(_is_plain(curve, names) for curve in curves) and not any(
        _bone_of(driver.data_path) in names for driver in drivers
    )


def _is_plain(curve: FCurve, names: set[str]) -> bool:
    """Whether what the curve does is known; muted groups are heard by some versions of Blender."""
    match = BONE_PATH.match(curve.data_path)
    if match is None:
        return not curve.data_path.startswith("pose")
    if match[1] not in names or match[2] is None:
        return True
    group_is_mute = curve.group is not None and curve.group.mute
    known = match[2] in ROTATIONS | {"location", "scale"}
    return (
        known and curve.is_valid and (curve.mute or not group_is_mute) and (_has_values(curve) or not curve.modifiers)
    )


def _has_values(curve: FCurve) -> bool:
    return bool(curve.keyframe_points or curve.sampled_points)


def _bone_of(path: str) -> str | None:
    match = BONE_PATH.match(path)
    return match[1] if match else None


def _with_ancestors(armature: Object, names: Sequence[str]) -> list[PoseBone]:
    """The bones and all their ancestors, parents before children."""
    bones = armature.pose.bones
    lines = ([*reversed(bones[name].parent_recursive), bones[name]] for name in names)
    return list({bone.name: bone for bone in chain.from_iterable(lines)}.values())


@dataclass(frozen=True)
class Channels:
    """Bones and their ancestors with what they are placed by: parents (B,), rest poses in these (B, 4, 4), and over the
    frames locations (F, B, 3), quaternions (F, B, 4) and scales (F, B, 3) as Blender takes them.

    `rows` are those of the bones that were asked for, `placed` (F, 4, 4) is where the armature lies in the world.
    """

    rows: list[int]
    parents: NDArray[np.int64]
    rest: Array
    local: list[Array]
    placed: Array

    @property
    def poses(self) -> Poses:
        """The poses of the bones that were asked for."""
        world = ik2bone.aggregate(self.parents, *self.local, rest=self.rest, base=self.placed)[:, self.rows]
        local = [channel[:, self.rows] for channel in self.local]
        basis = ik2bone.aggregate(np.full(len(self.rows), -1), *local)
        return Poses(self.placed, world, basis, local[2], np.empty((len(world), 0)))


def read(armature: Object, names: Sequence[str], frames: Sequence[int]) -> Stages[Channels]:
    """The channels of bones whose F-curves tell all; what is not keyed is as it stands."""
    bones = _with_ancestors(armature, names)
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones])
    rest = np.array([bone.bone.matrix_local for bone in bones])
    rest = np.where((parents >= 0)[:, None, None], inverse_of(rest[parents]) @ rest, rest)
    local = yield from part_of(_local(armature, bones, np.array(frames)), 0.0, 0.5)
    placed = np.tile(np.array(armature.matrix_world, np.float64), (len(frames), 1, 1))
    if may_move(armature):
        (placed,) = yield from part_of(step_worlds([armature], frames), 0.5, 1.0)
    return Channels([index[name] for name in names], parents, rest, local, placed)


def _local(armature: Object, bones: Sequence[PoseBone], frames: fcurves.Frames) -> Stages[list[Array]]:
    played = actions.curves_of(actions.assigned(armature))
    curves = {(curve.data_path, curve.array_index): curve for curve in played if not curve.mute}
    columns = []
    for number, bone in enumerate(bones):
        yield Progress(f"reading the F-curves of {bone.name}", number / len(bones))
        location, scale = (_values(curves, bone, name, frames) for name in ("location", "scale"))
        # Connected bones do not leave their parents.
        columns.append((np.where(bone.bone.use_connect, 0.0, location), _rotation(curves, bone, frames), scale))
    return [np.stack(column, axis=1) for column in zip(*columns, strict=True)]


def _rotation(curves: Curves, bone: PoseBone, frames: fcurves.Frames) -> Array:
    mode = bone.rotation_mode
    turns = rotations.to_quaternions(mode, _values(curves, bone, rotations.property_of(mode), frames))
    if mode == "QUATERNION":
        turns[~turns.any(axis=1)] = HALF_TURN
    return turns


def _values(curves: Curves, bone: PoseBone, name: str, frames: fcurves.Frames) -> Array:
    """A property over the frames (F, N)."""
    path, values = bone.path_from_id(name), np.tile(np.array(getattr(bone, name)), (len(frames), 1))
    for component in range(values.shape[1]):
        curve = curves.get((path, component))
        if curve is not None and _has_values(curve):
            values[:, component] = fcurves.evaluate(curve, frames)
    return values
