# SPDX-License-Identifier: GPL-3.0-or-later
"""The output for Current Frame: the present pose is planted, and keyed if there is an action."""

from typing import Any

import numpy as np
from bpy.types import Object
from ik2bone.ground.carrier import find_carrier, moved_by
from ik2bone.plan import Plan
from ik2bone.sole.measure import Sole
from ik2bone.targets.touch import measure_limbs

from ..ground.meshes import making_ground
from ..ground.motion import find_motions
from ..keys import actions
from ..keys import channels as keys
from ..keys.actions import Assignment
from ..keys.channels import Channel
from ..pose.sample import Sample, sampling
from ..pose.skins import find_skins
from ..progress import Stages, finish
from ..rig.body import Body
from . import records
from .contacts import Rows
from .output import Output
from .refusals import refuse_between, refuse_unkeyable
from .task import Bounds, Task, action_bounds
from .transaction import keep_curves, on_error, switch_to_copy


class PresentPose(Output):
    """Plants the present pose, including channels that are set by hand."""

    def choose(self) -> None:
        """Use no action as the source: only the pose counts."""
        self.source = self.target = Assignment(None)
        self.record = records.EMPTY

    def find_bounds(self) -> Bounds:
        """The frames on which the action may be keyed. An action without keys may be keyed anywhere."""
        frame = self.context.scene.frame_current
        # The first key of an action goes in by the bone, which needs the action to be the armature's own.
        data = self.armature.animation_data
        is_free = self.played.action is None or (data.action and actions.is_blank(self.played))
        bounds = (frame, frame) if is_free else action_bounds(self.played)
        refuse_between(self.context.scene, self.played, bounds)
        return bounds

    def choose_task(self, body: Body, surfaces: tuple[Object, ...]) -> Task:
        frames = np.array([self.context.scene.frame_current])
        return Task(self.context, self.armature, body, self.options, surfaces, frames, frames, present=True)

    def marks(self) -> None:
        """Return None: in a single pose all feet stand."""

    def sole(self) -> Sole | None:
        """The soles in the action's record, else those measured from the whole action."""
        if self.bounds[1] == self.bounds[0]:
            return None
        whole, limbs = range(self.bounds[0], self.bounds[1] + 1), self.task.body.planned
        sample = finish(sampling(self.task.subject, whole))
        clip = sample.clip.having(skins=find_skins(self.armature, limbs, sample.poses.placed[0]))
        if finish(find_motions(self.task.surfaces, whole)):
            depsgraph, near = self.context.evaluated_depsgraph_get(), self.options.direction == "NEAREST"
            ground = finish(making_ground(depsgraph, self.task.surfaces, clip.leg, whole, near))
            carrier = find_carrier(clip, ground, None if near else clip.up)
            clip = clip if carrier is None else moved_by(carrier.inverse, clip)
        return records.known_sole(limbs, clip, records.read(self.played.action)) or measure_limbs(clip)

    def read(self) -> list[Channel]:
        channels = super().read()
        refuse_unkeyable(self.played.curves, channels)
        return channels

    def trial(self, channels: list[Channel]) -> Stages[Sample]:
        """Sample the pose with these channels set; an error restores it."""
        self._show(channels)
        return self.task.sample()

    def write(self, corrected: list[Channel]) -> Stages[None]:
        """Set the pose without keys: inserting keys evaluates the armature, which resets channels set by hand."""
        yield from ()
        self._show(corrected)
        self.corrected = corrected

    def _show(self, channels: list[Channel]) -> None:
        for channel in channels:
            setattr(self.armature.pose.bones[channel.bone], channel.name, channel.values[0])
        self.context.view_layer.update()

    def keep(self, _plan: Plan, _contacts: Rows, _figures: dict[str, Any]) -> None:
        """Key the pose as it stands, in a copy of the action if that is linked."""
        action = self.played.action
        if action is None:
            return
        if not action.is_editable:
            record, source = self._record_of_copy(), records.source_of(action) or action
            records.store(switch_to_copy(self.undo, self.armature, self.played).action, source, record)
        elif self.played.curves.bag:
            keep_curves(self.undo, self.played, self.corrected)
        else:
            on_error(self.undo, actions.take_first_key_back, self.played, len(action.layers))
        for channel in self.corrected:
            keys.insert(self.armature, channel, int(self.task.frames[0]))

    def _record_of_copy(self) -> records.Record:
        """The record for a copy of a linked action. A planted action keeps its record."""
        action = self.played.action
        if records.source_of(action):
            return records.read(action) | {"armature": self.armature.name}
        curves = self.played.curves
        unkeyed = {
            c.path: c.unkeyed if keys.silent_parts(curves, c.path, len(c.unkeyed)) else None for c in self.channels
        }
        return self.new_record(action, unkeyed)
