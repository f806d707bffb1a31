# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of one frame: the present pose, as it stands, is planted, and keyed where there is an action."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from bpy.types import Object
from ik2bone.sole.measure import Sole

from ..keys import actions
from ..keys import channels as keys
from ..keys.actions import Assignment, Curves
from ..keys.channels import Channel
from ..pose.sample import Sample
from ..rig.body import Body
from ..stages import Stages
from . import records
from .frames import Bounds, action_bounds
from .output import Output, read_channels
from .refusals import refuse_between, refuse_unkeyable
from .task import Plan, Report, Task, sole_of_action
from .transaction import curves_kept_on_error, draft_of


class PresentPose(Output):
    """Plants the pose with all that is set by hand."""

    def choose(self, played: Assignment) -> None:
        """The pose counts, whatever keys it has."""
        self.source = self.target = Assignment(None)
        self.played, self.record = played, records.EMPTY

    def find_bounds(self) -> Bounds:
        """The frames on which the action may be keyed: where it has no keys, any."""
        frame = self.context.scene.frame_current
        keyed = self.played.action and not actions.is_blank(self.played)
        bounds = action_bounds(self.played) if keyed else (frame, frame)
        refuse_between(self.context.scene, self.played, bounds)
        return bounds

    def task(self, body: Body, surfaces: tuple[Object, ...]) -> Task:
        """The current frame alone."""
        frames = np.array([self.context.scene.frame_current])
        return Task(self.context, self.armature, body, self.options, surfaces, frames, frames, present=True)

    def marks(self, _task: Task) -> None:
        """A pose stands with all its feet."""

    def sole(self, task: Task, _before: Sample) -> Sole | None:
        """As the whole action tells them."""
        return sole_of_action(task, self.bounds) if self.bounds[1] > self.bounds[0] else None

    def read(self, task: Task) -> list[Channel]:
        """What the bones have now."""
        channels = read_channels(task, Curves(None), {}, task.moves_hips)
        refuse_unkeyable(actions.curves_of(self.played), channels)
        return channels

    def write(self, task: Task, _read: list[Channel], corrected: list[Channel]) -> Stages[None]:
        """Pose only: keys would have all else evaluated again that was set by hand."""
        yield from ()
        for channel in corrected:
            keys.show(task.armature, channel)
        self.context.view_layer.update()
        self.corrected = corrected

    def told(self, _task: Task, _read: list[Channel], _before: Sample) -> Iterator[str]:
        """Nothing."""
        return iter(())

    def keep(self, task: Task, _plan: Plan, read: list[Channel], _report: Report) -> None:
        """Key the pose as it is now, in a copy of the action where that is linked."""
        action = self.played.action
        if action is None:
            return
        if action.is_editable:
            self.undo.enter_context(curves_kept_on_error(self.played))
        else:
            self._play_copy(read)
        for channel in self.corrected:
            keys.insert(task.armature, channel, int(task.frames[0]))

    def _play_copy(self, read: list[Channel]) -> None:
        source = self.played.action
        unkeyed = keys.unkeyed_values(actions.curves_of(self.played), read)
        copy = self.undo.enter_context(draft_of(self.armature, self.played))
        copy.action.name = f"{source.name}.planted"
        record = self.new_record(source, {channel.path: unkeyed.get(channel.path) for channel in read})
        records.store(copy.action, source, records.as_text(record))
