# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels of bones: their values are read from curves, corrected, and written back with a key on every frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from bpy.types import FCurve, Object, PoseBone
from ik2bone import multiply
from ik2bone.arrays import Array
from numpy.typing import NDArray

from . import fcurves, rotations
from .actions import Curves, assigned
from .handmade import find_handmade, mark_generated
from .keyframes import SAME_FRAME, Frames

# The transforms of objects and bones, with the number of their components.
TRANSFORMS = {"location": 3, "rotation_quaternion": 4, "rotation_axis_angle": 4, "rotation_euler": 3, "scale": 3}
# Differences of this size (in a channel's own unit) are within the rounding of float32 channels.
SAME_VALUE = 1e-5


@dataclass(frozen=True)
class Channel:
    """One property of a bone over the frames of a run: `values` (F, N) for its N components.

    Keys are written on all frames, or on some `rows` of them, which include the first and the last frame. `unkeyed` is
    the value that the property had so far, if any component has no curve; restoring a pose needs it.
    """

    bone: str
    path: str
    values: Array
    rows: NDArray[np.intp] | None = None
    unkeyed: Sequence[float] | None = None

    @property
    def name(self) -> str:
        """The property's name on the pose bone."""
        return self.path.rpartition(".")[2]

    def with_values(self, values: Array) -> Channel:
        """The same property with other values."""
        return replace(self, values=values)


def read(
    curves: Curves,
    bone: PoseBone,
    name: str,
    frames: Frames,
    known: Mapping[str, Sequence[float]],
    sampled: Mapping[str, Array],
) -> Channel:
    """Read a property of a bone, or copy its values on the frames from those `sampled` by data path.

    Components without a curve take their value from those `known` by data path, or the present one.
    """
    path = bone.path_from_id(name)
    if path in sampled:
        values = sampled[path].copy()
    else:
        values = values_of(curves, path, frames, known.get(path, getattr(bone, name)))
    is_keyed = not silent_parts(curves, path, values.shape[1])
    return Channel(bone.name, path, values, unkeyed=None if is_keyed else values[0].tolist())


def values_of(curves: Curves, path: str, frames: Frames, present: Sequence[float]) -> Array:
    """The values (F, N) of a property. Components without a curve take their value from `present`."""
    values = np.empty((len(frames), len(present)))
    for index, value in enumerate(present):
        curve = curves.listed.get((path, index))
        values[:, index] = value if _is_silent(curve) else fcurves.evaluate(curve, frames)
    return values


def silent_parts(curves: Curves, path: str, size: int) -> list[int]:
    """The components of a property of this size that no curve animates."""
    return [index for index in range(size) if _is_silent(curves.find(path, index))]


def _is_silent(curve: FCurve | None) -> bool:
    return (
        curve is None
        or fcurves.is_muted(curve)
        or not (curve.keyframe_points or curve.sampled_points or curve.modifiers)
    )


def turned(
    channels: Sequence[Channel],
    mode: str,
    turns: Sequence[Array],
    before: Sequence[Array | None],
    rejoins: bool = False,
) -> list[Channel]:
    """The rotations of bones with corrections (F, 4) multiplied on the right; all bones have the same rotation `mode`.

    A bone without any correction keeps its values bit for bit. Other rotations continue without flips and whole turns
    from `before`, the value at the last key before the first frame (None without such a key). With `rejoins`, rotations
    that would end on other numbers for the same rotation are chosen nearest to the present values instead.
    """
    present, corrections = (np.stack(rows, axis=1) for rows in ([channel.values for channel in channels], turns))
    starts = [
        channel.values[0] if value is None or not np.isfinite(value).all() else value
        for channel, value in zip(channels, before, strict=True)
    ]
    after = multiply(rotations.to_quaternions(mode, present), corrections)
    values = rotations.from_quaternions(mode, after, np.array(starts))
    still = np.all(corrections == [1.0, 0.0, 0.0, 0.0], axis=-1)
    same = still & np.all(np.abs(values - present) < SAME_VALUE, axis=-1)
    for bone in np.flatnonzero(~same[-1]) if rejoins else ():
        values[:, bone], same[:, bone] = rotations.beside(mode, after[:, bone], present[:, bone]), still[:, bone]
    values = np.where((same | still.all(axis=0))[..., None], present, values)
    return [channel.with_values(values[:, bone].copy()) for bone, channel in enumerate(channels)]


def moved(channel: Channel, placing: Array, offset: Array) -> Channel:
    """The location moved by a world-space `offset` (F, 3); `placing` (F, 3, 3) maps locations to world space."""
    return channel.with_values(channel.values + np.linalg.solve(placing, offset[..., None])[..., 0])


def value_before(curves: Curves, channel: Channel, frame: int) -> Array | None:
    """The property's value on the frame before `frame`; None if no component has a key before `frame`."""
    if not any(fcurves.span(curve)[0] < frame - SAME_FRAME for curve in curves.of(channel.path)):
        return None
    return values_of(curves, channel.path, np.array([frame - 1]), channel.values[0])[0]


def count_handmade(curves: Curves, source: Curves, frames: Frames, paths: Iterable[str]) -> int:
    """The number of keys within the frames that were neither made by a tool nor copied from the source.

    A copied key counts too if another component of the same property has a key made by hand on that frame.
    """
    found: dict[str, list[tuple[Array, Array]]] = {path: [] for path in paths}
    for curve in (curve for curve in curves if curve.data_path in found):
        original = source.find(curve.data_path, curve.array_index)
        found[curve.data_path].append(find_handmade(curve, original, frames))
    rows = (map(np.concatenate, zip(*row, strict=True)) for row in found.values() if row)
    return sum(len(made) + int(np.isin(copies, made).sum()) for made, copies in rows if len(made))


def write(curves: Curves, channel: Channel, frames: Frames, bounds: tuple[int, int]) -> None:
    """Replace all keys between the first and the last frame by a key on every frame, or on the channel's `rows`.

    `bounds` are the first and last frame of the whole action. Modifiers are baked over the bounds. Values on whole
    frames outside `frames` stay: an unkeyed property keeps its value there. Of the curves of an earlier run,
    those that users muted keep their keys, and those that they emptied are held. Where corrections do not fade, the
    neighbouring frames get keys too. Between `rows` the curve is smooth.
    """
    for index, values in enumerate(channel.values.T):
        curve = curves.ensure(channel.path, index, channel.bone)
        if channel.unkeyed is None:
            fcurves.unmute(curve)
        if _is_silent(curve):
            _wake(curve, values[0] if channel.unkeyed is None else channel.unkeyed[index], frames, bounds)
        fcurves.bake(curve, bounds)
        fcurves.keep_beside(curve, frames, values, bounds)
        fcurves.write(curve, frames, values, channel.rows)


def _wake(curve: FCurve, value: float, frames: Frames, bounds: tuple[int, int]) -> None:
    """Unmute and empty a silent curve, and key its `value` so far beside the frames, where the action goes on there."""
    fcurves.clear(curve)
    fcurves.unmute(curve)
    around = np.array([frame for frame in (frames[0] - 1, frames[-1] + 1) if bounds[0] <= frame <= bounds[1]])
    if len(around):
        fcurves.write(curve, around, np.full(len(around), value))


def insert(armature: Object, channel: Channel, frame: int) -> None:
    """Key the property's present value on one frame, without an evaluation that would reset the rest of the pose.

    For an action in an NLA strip the key is put into the curves directly, because inserting it by the bone would give
    the armature a new action.
    """
    if armature.animation_data.action:
        bone = armature.pose.bones[channel.bone]
        bone.keyframe_insert(channel.name, frame=frame, group=channel.bone, keytype="GENERATED")
    curves = assigned(armature).curves
    for index, value in enumerate(channel.values[0]):
        curve = curves.ensure(channel.path, index, channel.bone)
        if not armature.animation_data.action:
            curve.keyframe_points.insert(frame, value)
        mark_generated(curve, frame)
