# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of bones in bulk: world matrices over all frames from F-curves, where nothing else moves the bones."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain

import bpy
import ik2bone
import numpy as np
from bpy.types import AnimData, Bone, FCurve, Object, PoseBone
from bpy.utils import escape_identifier
from ik2bone.arrays import Array, Mask
from ik2bone.rotations import dot, inverse_of
from numpy.typing import NDArray

from ..keys import actions, channels, rotations
from ..keys.channels import TRANSFORMS
from ..keys.keyframes import Frames
from ..progress import Progress, Stages, part_of
from ..rig.checks import SOLVING, chain_of
from .evaluate import Poses, is_layered, may_move, read_rest, step_worlds, with_parents
from .skins import forget_edited

# The delta transforms that change nothing.
NO_DELTAS = {
    "delta_location": (0.0, 0.0, 0.0),
    "delta_rotation_euler": (0.0, 0.0, 0.0),
    "delta_rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "delta_scale": (1.0, 1.0, 1.0),
}
# Blender reads a quaternion of zeros as a half turn about X.
HALF_TURN = (0.0, 1.0, 0.0, 0.0)


def tell_all(armature: Object, names: Sequence[str], curves: actions.Curves) -> bool:
    """Whether only F-curves, among the played `curves`, can move the bones: those of their channels and ancestors.

    Changes of data between frames, for instance by scripts, are not considered: `proven` compares spot frames.
    """
    bones = _with_ancestors(armature, names)
    return (
        armature.data.pose_position == "POSE"
        and not is_layered(armature)
        and not _is_animated(armature.data.animation_data)
        and _time_is_plain()
        and all(inherits_plainly(bone.bone) and all(c.mute for c in bone.constraints) for bone in bones)
        and not _reached_by_ik(armature, {bone.name for bone in bones})
        and _paths_are_plain(armature, curves, {escape_identifier(bone.name) for bone in bones})
    )


def inherits_plainly(bone: Bone) -> bool:
    """Whether the bone inherits its parent's whole transform."""
    wholly = bone.parent is None or (bone.use_inherit_rotation and bone.inherit_scale == "FULL")
    return wholly and bone.use_local_location


def _is_animated(data: AnimData | None) -> bool:
    return data is not None and bool(data.action or data.drivers or data.nla_tracks)


def _time_is_plain() -> bool:
    render, handlers = bpy.context.scene.render, bpy.app.handlers
    called = {*handlers.frame_change_pre, *handlers.frame_change_post} - {forget_edited}
    return render.frame_map_old == render.frame_map_new and not called


def _reached_by_ik(armature: Object, names: set[str]) -> bool:
    """Whether the chain of an IK constraint, even of a muted one, contains one of the bones."""
    found = ((bone, each) for bone in armature.pose.bones for each in bone.constraints if each.type in SOLVING)
    return any(not names.isdisjoint(chain_of(*solver)) for solver in found)


def _paths_are_plain(armature: Object, curves: actions.Curves, names: set[str]) -> bool:
    """Whether all F-curves of the bones are of channels or custom properties, and no driver is on them."""
    drivers = armature.animation_data.drivers if armature.animation_data else ()
    parts = {path: actions.parts_of(path) for path, _ in curves.listed}
    own = {path: channel for path, (bone, channel) in parts.items() if bone in names and channel is not None}
    return (
        not any(path.startswith("pose") for path, (bone, _) in parts.items() if bone is None)
        and TRANSFORMS.keys() >= set(own.values())
        and all(_is_heard(curve) for (path, _), curve in curves.listed.items() if path in own)
        and not any(actions.parts_of(driver.data_path)[0] in names for driver in drivers)
    )


def _is_heard(curve: FCurve) -> bool:
    """Whether the curve is either muted itself or evaluated by every version of Blender, with keys or samples."""
    group_is_mute = curve.group is not None and curve.group.mute
    has_values = bool(curve.keyframe_points or curve.sampled_points)
    return curve.is_valid and (curve.mute or not group_is_mute) and (has_values or not curve.modifiers)


def _goes_by_curves(ob: Object) -> bool:
    """Whether only F-curves of its own channels move an object within its parent."""
    curves, data = actions.assigned(ob).curves, ob.animation_data
    own = [curve for curve in curves if not curve.data_path.startswith(("pose.bones[", "["))]
    return (
        ob.parent_type in {"OBJECT", "ARMATURE"}
        # A child of a curve object follows the path of the curve.
        and not (ob.parent and ob.parent.type == "CURVE")
        and not (ob.constraints or ob.rigid_body or is_layered(ob))
        and not any(not driver.data_path.startswith("pose.bones[") for driver in (data.drivers if data else ()))
        and all(curve.data_path in TRANSFORMS and _is_heard(curve) for curve in own)
        and all(tuple(getattr(ob, name)) == value for name, value in NO_DELTAS.items())
    )


def playing_alone(armature: Object, names: Sequence[str]) -> AbstractContextManager[None]:
    """Make the armature play within the context only the curves that move these bones and the object: Blender evaluates
    all others on every frame, too.
    """
    bones = {escape_identifier(bone.name) for bone in _with_ancestors(armature, names)} | {None}
    return actions.muting(actions.assigned(armature).curves, lambda path: actions.parts_of(path)[0] not in bones)


def _with_ancestors(armature: Object, names: Sequence[str]) -> list[PoseBone]:
    """The bones and all their ancestors; parents come before children."""
    bones = armature.pose.bones
    lines = ([*reversed(bones[name].parent_recursive), bones[name]] for name in names)
    return list({bone.name: bone for bone in chain.from_iterable(lines)}.values())


@dataclass(frozen=True)
class Channels:
    """Bones and their ancestors with what they are placed by: parents (B,), those `connected` to them (B,), rest poses
    in these (B, 4, 4), and over the frames location, rotation by its mode and scale of each bone, (F, 3) or (F, 4),
    which have these data paths.

    `rows` are those of the bones that were asked for, `placed` (F, 4, 4) is where the armature lies in the world.
    """

    rows: list[int]
    parents: NDArray[np.int64]
    connected: Mask
    rest: Array
    modes: list[str]
    paths: list[tuple[str, ...]]
    local: list[tuple[Array, ...]]
    placed: Array

    @property
    def values(self) -> dict[str, Array]:
        """The values that were read, by data path."""
        return dict(zip(chain.from_iterable(self.paths), chain.from_iterable(self.local), strict=True))

    @property
    def poses(self) -> Poses:
        """The poses of the requested bones."""
        locations, turns, scales = zip(*self.local, strict=True)
        by_bone = np.stack(locations), self._quaternions(turns), np.stack(scales)
        # Blender ignores the location of connected bones.
        by_bone[0][self.connected] = 0.0
        local = [np.swapaxes(channel, 0, 1) for channel in by_bone]
        world = ik2bone.aggregate(self.parents, *local, rest=self.rest, base=self.placed)[:, self.rows]
        local = [channel[:, self.rows] for channel in local]
        basis = ik2bone.aggregate(np.full(len(self.rows), -1), *local)
        return Poses(self.placed, world, basis, local[2], np.empty((len(world), 0)))

    def _quaternions(self, turns: Sequence[Array]) -> Array:
        """Quaternions (B, F, 4) of the rotations, converted together for all bones of one mode."""
        found = np.empty((len(turns), len(self.placed), 4))
        for mode in set(self.modes):
            rows = [row for row, own in enumerate(self.modes) if own == mode]
            found[rows] = rotations.to_quaternions(mode, np.stack([turns[row] for row in rows]))
        found[dot(found, found) == 0.0] = HALF_TURN
        return found


def read(armature: Object, names: Sequence[str], frames: Sequence[int], curves: actions.Curves) -> Stages[Channels]:
    """Read the channels of bones that only F-curves move. Properties without a curve have their present value."""
    bones = _with_ancestors(armature, names)
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones])
    rest = read_rest(armature, index, "matrix_local", 16).reshape(-1, 4, 4).swapaxes(1, 2).copy()
    rest = np.where((parents >= 0)[:, None, None], inverse_of(rest[parents]) @ rest, rest)
    connected = np.array([bone.bone.use_connect for bone in bones])
    found = yield from part_of(_local(bones, curves, np.array(frames)), 0.0, 0.5)
    paths, local = [tuple(each) for each in found], [tuple(each.values()) for each in found]
    placed = yield from part_of(_placed(armature, frames, curves), 0.5, 1.0)
    modes = [bone.rotation_mode for bone in bones]
    return Channels([index[name] for name in names], parents, connected, rest, modes, paths, local, placed)


def _placed(armature: Object, frames: Sequence[int], played: actions.Curves) -> Stages[Array]:
    """The world matrices (F, 4, 4) of the armature, from F-curves, or by stepping if other things may move it."""
    line = [*with_parents(armature)][::-1]
    if not may_move(armature, played):
        return np.tile(np.array(armature.matrix_world, np.float64), (len(frames), 1, 1))
    if not all(map(_goes_by_curves, line)):
        return (yield from step_worlds([armature], frames))[0]
    found = (_channels(ob, actions.assigned(ob).curves, np.array(frames)) for ob in line)
    by_object = [each.values() for each in found]
    locations, turns, scales = zip(*by_object, strict=True)
    turns = [rotations.to_quaternions(ob.rotation_mode, turn) for ob, turn in zip(line, turns, strict=True)]
    rest = np.array([ob.matrix_parent_inverse if ob.parent else np.eye(4) for ob in line], np.float64)
    local = (np.stack(values, axis=1) for values in (locations, turns, scales))
    return ik2bone.aggregate(np.arange(len(line)) - 1, *local, rest=rest)[:, -1]


def _local(bones: Sequence[PoseBone], curves: actions.Curves, frames: Frames) -> Stages[list[dict[str, Array]]]:
    rows = []
    for number, bone in enumerate(bones):
        yield Progress(f"reading the F-curves of {bone.name}", number / len(bones))
        rows.append(_channels(bone, curves, frames))
    return rows


def _channels(owner: Object | PoseBone, curves: actions.Curves, frames: Frames) -> dict[str, Array]:
    """Location, rotation in the present mode, and scale over the frames, by data path."""
    names = "location", rotations.property_of(owner.rotation_mode), "scale"
    paths = {owner.path_from_id(name): getattr(owner, name) for name in names}
    return {path: channels.values_of(curves, path, frames, present) for path, present in paths.items()}
