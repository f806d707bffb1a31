# SPDX-License-Identifier: GPL-3.0-or-later
"""What outputs are to the pipeline, each in a module of its own: where motion is read, and where keys are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import numpy as np
from bpy.types import Action, Context, Object
from ik2bone.contacts.spans import Marks
from ik2bone.sole.measure import Sole

from .. import properties
from ..keys import actions
from ..keys import channels as keys
from ..keys.actions import Assignment, Curves
from ..keys.channels import Channel
from ..pose.sample import Sample
from ..properties import PlantingOptions
from ..rig.body import Body
from ..stages import Progress, Stages
from . import records
from .contacts import Rows, kept_rows, marks_for, wanted_rows, wished_rows
from .frames import Bounds, action_bounds, choose_frames
from .soles import known_sole
from .task import Array, Plan, Report, Task


class Output(ABC):
    """One way to put out what is planted. `undo` takes what keeps the scene as it was, should the run fail.

    `source` is the motion that is planted, `target` holds the keys that the written ones replace, `record` tells of an
    earlier run, `rows` are the stored contacts that count.
    """

    source: Assignment
    target: Assignment
    record: records.Record

    def __init__(self, context: Context, armature: Object, options: PlantingOptions, undo: ExitStack) -> None:
        self.context, self.armature, self.options, self.undo = context, armature, options, undo
        self.choose(actions.assigned(armature))
        self.bounds = self.find_bounds()

    @abstractmethod
    def choose(self, played: Assignment) -> None:
        """Set source, target and record by what the armature plays."""

    def find_bounds(self) -> Bounds:
        """First and last frame of the action."""
        return action_bounds(self.source)

    @property
    def rows(self) -> Rows | None:
        """The stored contacts that count."""
        return wanted_rows(self.armature, self.record)

    def showing(self) -> AbstractContextManager[None]:
        """The time in which the scene shows the source."""
        return nullcontext()

    def task(self, body: Body, surfaces: tuple[Object, ...]) -> Task:
        """What is planted: frames of the action, and how much of its correction each of them gets."""
        frames = choose_frames(self.context.scene, self.options, self.bounds)
        whole = np.arange(self.bounds[0], self.bounds[1] + 1)
        return Task(self.context, self.armature, body, self.options, surfaces, frames, whole, self.shares(frames))

    def shares(self, _frames: keys.Frames) -> Array | None:
        """How much of its correction each frame (F,) gets; None where all of them get the whole."""
        return None

    def marks(self, task: Task) -> Marks | None:
        """What people want of contacts."""
        return marks_for(task.body, task.whole, self.rows, self.options.contacts, self.armature)

    def sole(self, task: Task, before: Sample) -> Sole | None:
        """The soles, where they are known already."""
        return known_sole(task.body.planned, before.clip, records.read(self.source.action))

    def offset(self, _task: Task, _before: Sample, _read: list[Channel]) -> Stages[Array | None]:
        """How far an earlier run has moved the hip joints (F, L, 3) that this one leaves where they are."""
        yield from ()
        return None

    def read(self, task: Task) -> list[Channel]:
        """The channels that the run writes, as the source has them: rotations, then locations."""
        return read_channels(task, actions.curves_of(self.source), {}, task.moves_hips)

    @abstractmethod
    def write(self, task: Task, read: list[Channel], corrected: list[Channel]) -> Stages[None]:
        """Let the scene show the corrected channels, for the report."""

    @abstractmethod
    def told(self, task: Task, read: list[Channel], before: Sample) -> Iterator[str]:
        """Sentences about what else plays or changes with what is written, once it is."""

    @abstractmethod
    def keep(self, task: Task, plan: Plan, read: list[Channel], report: Report) -> None:
        """Make what was written stay, with its record."""

    def new_record(self, source: Action | None, channels: dict[str, Any]) -> records.Record:
        """A record of this run, without contacts and report."""
        return records.new(source, self.armature, properties.as_dict(self.options), channels)

    def all_rows(self, task: Task, contacts: Rows, again: bool) -> Rows:
        """The contacts to store; `again` where feet that are not planted now stay as they were planted before."""
        legs, rows, mode = task.body.legs, self.rows, self.options.contacts
        return [*kept_rows(legs, rows, again, mode), *contacts, *wished_rows(legs, task.body.numbers, rows, mode)]


def read_channels(task: Task, curves: Curves, unkeyed: Mapping[str, list[float]], with_hips: bool) -> list[Channel]:
    """The rotations of all bones that are turned, and the locations of loose feet and of the hips."""
    bones, hips = task.armature.pose.bones, task.body.hips
    moved = [leg.foot for leg in task.body.legs if leg.loose] + ([hips] if with_hips and hips else [])
    channels = [keys.read_rotation(curves, bones[name], task.frames, unkeyed) for name in task.turned_bones]
    return channels + [keys.read_location(curves, bones[name], task.frames, unkeyed) for name in moved]


def write_keys(
    assignment: Assignment, task: Task, channels: list[Channel], bounds: Bounds, unkeyed: keys.Unkeyed
) -> Stages[None]:
    """Key the channels on the frames of a task, in an action of these bounds."""
    curves = actions.curves_of(assignment)
    for number, channel in enumerate(channels):
        yield Progress(f"writing keys of {channel.bone}", number / len(channels))
        keys.write(curves, channel, task.frames, bounds, unkeyed)
