# SPDX-License-Identifier: GPL-3.0-or-later
"""The output NLA Layer: the corrections alone go into a COMBINE strip over the unchanged source."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from math import ceil, floor
from typing import Any

import bpy
import numpy as np
from ik2bone import multiply
from ik2bone.arrays import Array
from ik2bone.clip import Clip
from ik2bone.plan import Plan
from ik2bone.rotations import inverse_of, nearest_rotations, turn_vectors, unit

from ..errors import Hint, Refusal
from ..keys import actions, combine, fcurves, rotations
from ..keys import channels as keys
from ..keys.actions import LAYER, Assignment, Curves
from ..keys.channels import Channel
from ..pose.sample import Sample
from ..progress import Stages
from . import layers, records
from .contacts import Rows
from .layers import Keep, Layer
from .output import Derived, write_keys
from .task import Bounds, Task
from .transaction import keep_curves, keep_marks, named, on_end, on_error

CORRECTIONS, POSE = ".layer", ".pose"
NO_TURN = (1.0, 0.0, 0.0, 0.0)


class NlaLayer(Derived):
    """Plants the source by a layer over it. Curves of an existing layer that this run does not write stay."""

    def choose_target(self) -> None:
        if self.options.sparse_keys:
            raise Refusal("a layer needs a key on every frame: switch Sparse Keys off, or choose another output")
        self.again = self.layer is not None
        self.target = actions.assignment_of(self.layer.corrections) if self.layer else Assignment(None)
        # A record on the source itself is of a run in place, whose keys the source keeps.
        self.record = records.read(self.held if self.held != self.source.action else None)
        self.over = Layer(self.armature, self.source.action)
        self.is_pushed = actions.strip_of(self.armature) is None
        if self.is_pushed and self.source.action:
            self._refuse_to_push_down()
        self.pose = actions.assignment_of(self.over.pose) if self.over.pose else None

    def _refuse_to_push_down(self) -> None:
        """Raise `Refusal` for curves that play differently in an NLA strip than in the object's own action."""
        name, curves = self.source.action.name, self.source.curves
        remedy = "or choose another output"
        for group in actions.muted_groups(self.source):
            raise Refusal(f"group {group} of {name} is muted, which counts in the NLA alone: unmute it, {remedy}")
        for bone in (bone for bone in self.armature.pose.bones if bone.rotation_mode == "QUATERNION"):
            silent = keys.silent_parts(curves, bone.path_from_id("rotation_quaternion"), 4)
            if len(silent) < 4 and any(bone.rotation_quaternion[index] != NO_TURN[index] for index in silent):
                raise Refusal(
                    f"{name} keys only some components of the rotation of bone {bone.name}, "
                    f"and the NLA would not keep the others: key all four, {remedy}"
                )

    def trial(self, channels: list[Channel]) -> Stages[Sample]:
        """As for every output, but under a copy of the layer with its whole influence if there is one that holds more
        than these channels. The layer rounds them, so that two runs would differ if only the second tried them there.
        """
        if not self.again or self._replaces_all(channels):
            return (yield from super().trial(channels))
        with actions.temporary_copy(self.target) as copy, ExitStack() as stack:
            yield from self._key(copy, self._differences(channels))
            keep = partial(on_end, stack)
            layers.strengthen(keep, self.over.corrections)
            self._show(keep, copy)
            return (yield from self.task.sample())

    def _replaces_all(self, channels: list[Channel]) -> bool:
        """Whether the layer holds nothing beside these channels on the frames of this run."""
        curves, beside = self.target.curves, np.setdiff1d(self.task.whole, self.task.frames)
        if not {curve.data_path for curve in curves} <= {channel.path for channel in channels}:
            return False
        neutral = ((each.path, combine.neutral(each)) for each in channels if len(beside))
        return all(np.allclose(keys.values_of(curves, path, beside, value), value) for path, value in neutral)

    def told(self) -> Iterator[str]:
        """Sentences about the source's new strip, replaced keys, a weak influence, and frames beyond the layer."""
        name, (first, last) = self.source.action.name, self.bounds
        if self.is_pushed:
            yield Hint(f"{name} plays in an NLA strip under the layer: edit it there in tweak mode")
        if self.layer:
            paths = [channel.path for channel in self.channels]
            handmade = keys.count_handmade(self.target.curves, Curves(None), self.task.frames, paths)
            if handmade:
                yield f"keys made by hand were replaced in the layer: {handmade}"
            if layers.is_weakened(self.layer.corrections):
                yield f"the influence of NLA strip {self.layer.corrections.name} weakens the reported correction"
        if self._goes_on():
            yield f"{name} goes on beyond frames {first} to {last}, and the layer does not"
        yield from self.told_of_players(self.source, False)

    def _goes_on(self) -> bool:
        """Whether the source moves beyond the bounds, by keys outside a manual range or by extrapolation."""
        curves = self.source.curves
        first, last = curves.span() or self.bounds
        return first < self.bounds[0] or last > self.bounds[1] or any(fcurves.goes_on(curve) for curve in curves)

    def write(self, corrected: list[Channel]) -> Stages[None]:
        """Key the differences in the action of the layer, or in a new one, and show the layer."""
        self._open()
        yield from self._key(self.target, self._differences(corrected))
        self._hold_pose()
        self._show(partial(on_error, self.undo), self.target)
        self.armature.update_tag(refresh={"TIME"})
        self.context.view_layer.update()

    def _open(self) -> None:
        """Prepare the action of the layer for keys."""
        self.target = self._own(self.target if self.again else None, CORRECTIONS)
        keep_marks(self.undo, self.target.action)
        marks = {records.SOURCE: self.source.action, LAYER: actions.PUSHED if self.is_pushed else layers.LAID_OVER}
        records.mark(self.target.action, marks)

    def _own(self, present: Assignment | None, suffix: str) -> Assignment:
        """The present action if nothing else uses it, else a copy of it, or a new action if there is none.

        A copied armature uses the same action.
        """
        if present and present.action.users - present.action.use_fake_user == 1:
            keep_curves(self.undo, present)
            return present
        own = actions.copy(present) if present else actions.new(self.armature, suffix)
        on_error(self.undo, bpy.data.actions.remove, own.action)
        own.action.name = named(self.source.action.name, suffix)
        return own

    def _key(self, assignment: Assignment, channels: list[Channel]) -> Stages[None]:
        channels = [replace(channel, unkeyed=combine.neutral(channel)) for channel in channels]
        return write_keys(assignment, self.task, channels, self.bounds)

    def _differences(self, corrected: list[Channel]) -> list[Channel]:
        """The channels of the layer: differences between the corrected channels and the source's.

        Bones may also have rotations of another mode, which an earlier run wrote and this one resets.
        """
        modes = {bone.name: bone.rotation_mode for bone in self.armature.pose.bones}
        shown = {name: rotations.property_of(mode) for name, mode in modes.items()}
        turns = {
            old.bone: combine.turns_between(modes[old.bone], old.values, new.values)
            for old, new in zip(self.channels, corrected, strict=True)
            if old.name == shown[old.bone]
        }
        clip = self.before.clip.choose(self.task.body.chosen).cut(self.task.part)
        _make_attainable(self.task, clip, modes, turns)
        return [
            combine.difference(old, modes[old.bone], turns[old.bone])
            if old.name == shown[old.bone]
            else old.with_values(new.values - old.values + combine.neutral(old))
            for old, new in zip(self.channels, corrected, strict=True)
        ]

    def _hold_pose(self) -> None:
        """Key the unkeyed pose of the source in an action of its own, where the pose differs from the defaults."""
        posed = [(channel, *part) for channel in self.channels for part in self._posed(channel)]
        if not (self.pose or posed):
            return
        self.pose = self._own(self.pose, POSE)
        records.mark(self.pose.action, {records.SOURCE: self.source.action, LAYER: layers.POSE})
        curves, keyed = self.pose.curves, self.source.curves
        for curve in [curve for curve in curves if keyed.find(curve.data_path, curve.array_index)]:
            curves.bag.fcurves.remove(curve)
        for channel, index, value in posed:
            curve = curves.ensure(channel.path, index, channel.bone)
            fcurves.write(curve, np.array(self.bounds[:1]), np.array([value]))

    def _posed(self, channel: Channel) -> Iterator[tuple[int, float]]:
        """The unkeyed components of a property whose values differ from the default, as index and value."""
        default = self.armature.pose.bones[channel.bone].bl_rna.properties[channel.name].default_array
        for index in keys.silent_parts(self.source.curves, channel.path, len(default)):
            value = float(channel.values[0, index])
            if value != default[index]:
                yield index, value

    def _show(self, keep: Keep, corrections: Assignment) -> None:
        """Make the strips play above each other: the source, the unkeyed pose, the corrections."""
        data, moves_on, beyond = self.armature.animation_data, self._goes_on(), self.over.extrapolation
        goes_far = moves_on or bool(actions.playing_strips(self.armature))
        if data.action:
            ends = self._widely() if goes_far else self.bounds
            below = layers.push_down(keep, self.over, layers.extent(*ends, beyond))
        else:
            below = layers.track_of(data, actions.strip_of(self.armature))
        if self.pose:
            extent = layers.extent(*self._widely(), "HOLD")
            below = layers.put_over(keep, data, self.over.pose, below, self.pose, extent)
        extent = layers.extent(*self.bounds, beyond if self.is_pushed and not moves_on else "NOTHING")
        extent |= {"blend_type": "COMBINE"}
        layers.put_over(keep, data, self.over.corrections, below, corrections, extent)

    def _widely(self) -> Bounds:
        """The first and last frame of the action, its curves and the scene together."""
        scene, (first, last) = self.context.scene, self.source.curves.span() or self.bounds
        return min(self.bounds[0], scene.frame_start, floor(first)), max(self.bounds[1], scene.frame_end, ceil(last))

    def keep(self, plan: Plan, contacts: Rows, figures: dict[str, Any]) -> None:
        record = self.full_record(plan, contacts, figures)
        records.mark(self.target.action, {records.RECORD: records.as_text(record)})


def _make_attainable(task: Task, clip: Clip, modes: dict[str, str], turns: dict[str, Array]) -> None:
    """Round turns (F, 4) of bones to those that a strip can apply, without moving a joint: each bone makes up for the
    rounding of the bone above.
    """
    bones = np.stack([clip.thigh, clip.shin, clip.foot, clip.toe])
    ends = np.stack([clip.knee, clip.ankle, clip.ball, clip.tip])
    last = None
    for name, number, place in sorted(task.turned, key=lambda item: item[1:]):
        bone, hangs = bones[place, :, number], last == (number, place - 1)
        if not hangs or (place == 2 and task.body.limbs[number].loose):
            excess = np.tile([1.0, 0.0, 0.0, 0.0], (len(bone), 1))
        else:
            seen = nearest_rotations((inverse_of(bones[place - 1, :, number]) @ bone)[:, :3, :3])
            excess = np.concatenate([excess[:, :1], -(excess[:, None, 1:] @ seen)[:, 0]], axis=1)
        wanted = multiply(excess, turns[name])
        turns[name] = wanted
        if modes[name] == "QUATERNION":
            axes = unit(turn_vectors(inverse_of(bone), ends[place, :, number] - bone[:, :3, 3]))
            turns[name] = combine.attainable(wanted, axes)
        excess, last = multiply(wanted * [1.0, -1.0, -1.0, -1.0], turns[name]), (number, place)
