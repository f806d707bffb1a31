# SPDX-License-Identifier: GPL-3.0-or-later
"""What outputs are to the pipeline, each in a module of its own: where motion is read, and where keys are written."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from typing import Any

import numpy as np
from bpy.types import Action, Context, Object
from ik2bone.arrays import Array
from ik2bone.contacts.spans import Marks
from ik2bone.plan import Plan
from ik2bone.sole.measure import Sole

from .. import properties
from ..keys import actions, rotations
from ..keys import channels as keys
from ..keys.actions import Assignment, Curves
from ..keys.channels import Channel
from ..keys.keyframes import Frames
from ..pose.sample import Sample, sampling
from ..properties import PlantingOptions
from ..rig.armatures import find_armatures
from ..rig.body import Body
from ..stages import Progress, Stages
from . import layers, records
from .contacts import Rows, marks_for, rows_to_store
from .task import Bounds, Task, action_bounds, blend, choose_frames
from .transaction import on_error


class Output(ABC):
    """One way to put out what is planted. `undo` takes what keeps the scene as it was, should the run fail.

    `source` is the motion that is planted, `target` holds the keys that the written ones replace, `record` tells of an
    earlier run; `again` means that feet that are not planted now stay as that run planted them. A `layer` over what the
    armature plays is set aside; `held` is the action that has the record of what showed. The run adds what it goes on
    by: its `task`, what was sampled of the source `before`, and the `channels` that it writes, as the source has them.
    """

    source: Assignment
    target: Assignment
    record: records.Record
    task: Task
    before: Sample
    channels: list[Channel]
    again = True

    def __init__(self, context: Context, armature: Object, options: PlantingOptions, undo: ExitStack) -> None:
        self.context, self.armature, self.options, self.undo = context, armature, options, undo
        self.played, self.layer = actions.assigned(armature), layers.find(armature)
        self.held = self.layer.corrections.action if self.layer else self.played.action
        if self.layer:
            layers.set_aside(partial(on_error, undo), self.layer)
            records.put_back(armature, records.read(self.held))
        self.choose()
        self.bounds = self.find_bounds()

    @abstractmethod
    def choose(self) -> None:
        """Set source, target and record by what the armature plays."""

    def find_bounds(self) -> Bounds:
        """First and last frame of the action."""
        return action_bounds(self.source)

    @cached_property
    def rows(self) -> Rows | None:
        """The stored contacts that count: those of what the armature shows, else an earlier run's."""
        rows = records.readable(self.held).get("contacts")
        return self.record.get("contacts") if rows is None else rows

    def showing(self) -> AbstractContextManager[None]:
        """The time in which the scene shows the source."""
        return nullcontext()

    def choose_task(self, body: Body, surfaces: tuple[Object, ...]) -> Task:
        """What is planted: frames of the action, and how much of its correction each of them gets."""
        frames = choose_frames(self.context.scene, self.options, self.bounds)
        whole = np.arange(self.bounds[0], self.bounds[1] + 1)
        return Task(self.context, self.armature, body, self.options, surfaces, frames, whole, self.shares(frames))

    def shares(self, frames: Frames) -> Array | None:
        """How much of its correction each frame (F,) gets; None where all of them get the whole.

        Corrections come and go over as many frames as are asked for.
        """
        return blend(frames, self.bounds, (self.options.blend_in, self.options.blend_out))

    def sample(self) -> Stages[Sample]:
        """The source's pose over the whole, kept for a next run."""
        return sampling(*self.task.subject, self.task.whole.tolist(), keep=True)

    def marks(self) -> Marks | None:
        """What people want of contacts."""
        return marks_for(self.task.body, self.task.whole, self.rows, self.options.contacts, self.armature)

    def sole(self) -> Sole | None:
        """The soles, where they are known already."""
        return records.known_sole(self.task.body.planned, self.before.clip, records.read(self.source.action))

    def offset(self) -> Stages[Array | None]:
        """How far an earlier run has moved the hip joints (F, L, 3) that this one leaves where they are."""
        yield from ()
        return None

    def read(self) -> list[Channel]:
        """The channels that the run writes, as the source has them: rotations, then locations."""
        return read_channels(self.task, actions.curves_of(self.source), {}, self.before)

    def trial(self, channels: list[Channel]) -> Stages[Sample]:
        """The pose over the whole as these channels would let it be, seen on a copy."""
        with self.showing(), actions.copy_playing(self.armature, self.shown) as copy:
            yield from write_keys(copy, self.task, channels, self.bounds, self.unkeyed(channels))
            return (yield from self.task.sample())

    def unkeyed(self, read: list[Channel]) -> dict[str, list[float]]:
        """The values of what the source does not animate."""
        return keys.unkeyed_values(actions.curves_of(self.source), read)

    @property
    def shown(self) -> Assignment:
        """The action that holds what this run does not write."""
        return self.source

    def told(self) -> Iterator[str]:
        """Sentences about what else plays or changes with what will be written."""
        return iter(())

    def told_of_players(self, assignment: Assignment, changes: bool) -> Iterator[str]:
        """Sentences about other objects and NLA strips that play an action, which `changes` or not."""
        name = assignment.action.name
        # Those that this run plants too get what they play planted for themselves, unless it changes.
        apart = [self.armature] if changes else [self.armature, *find_armatures(self.context)]
        own = {armature.name for armature in apart}
        others = [other for other in actions.others_playing(assignment, self.armature) if other not in own]
        if others:
            yield f"{', '.join(others)} also plays {name} and {'changes with it' if changes else 'goes on doing so'}"
        strips = actions.strips_of(assignment.action, apart)
        if strips:
            play = f"play {name} and change with it" if changes else f"keep playing {name}"
            yield f"NLA strips {play}: {', '.join(strips)}"

    @abstractmethod
    def write(self, corrected: list[Channel]) -> Stages[None]:
        """Let the scene show the corrected channels, for the report."""

    @abstractmethod
    def keep(self, plan: Plan, contacts: Rows, figures: dict[str, Any]) -> None:
        """Make what was written stay, with its record."""

    def new_record(self, source: Action | None, channels: dict[str, Any]) -> records.Record:
        """A record of this run, without contacts and report."""
        name, settings = source.name if source else None, properties.as_dict(self.options)
        return {"source": name, "armature": self.armature.name, "settings": settings, "channels": channels}

    def full_record(
        self, plan: Plan, source: Action | None, channels: dict[str, Any], found: Rows, figures: dict[str, Any]
    ) -> records.Record:
        """The same with contacts, report, and soles: feet on hills no longer tell how high they stand."""
        return self.new_record(source, channels) | {
            "contacts": rows_to_store(self.task.body, self.rows, found, self.options.contacts, self.again),
            "report": figures,
            "soles": self.record["soles"] | records.soles_as_data(self.task.body.planned, plan.sole, plan.clip.leg),
        }


class Derived(Output):
    """An output that leaves its source as it is, and starts from that again and again.

    `again` means that the armature shows what an earlier run made of the source: what this run does not write stays.
    """

    def choose(self) -> None:
        """The source of what the armature plays, or that itself."""
        origin = records.origin_of(self.played.action)
        self.source = actions.counterpart(self.played, origin) if origin else self.played

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Let the armature play the source, in the pose that it does not animate."""
        with actions.playing(self.armature, self.source):
            records.put_back(self.armature, self.record)
            yield

    def read(self) -> list[Channel]:
        """Also what an earlier run wrote of these limbs and their hips and this one does not: as the source has it."""
        known = {path: values for path, values in self.record["channels"].items() if values is not None}
        curves, bones = actions.curves_of(self.source), self.armature.pose.bones
        channels = read_channels(self.task, curves, known, self.before)
        paths = set(self.record["channels"] if self.again else ()) - {channel.path for channel in channels}
        rows = ((bones[bone], name) for bone in self._bones() for name in records.CHANNELS)
        left = [(bone, name) for bone, name in rows if bone.path_from_id(name) in paths]
        return channels + [keys.read(curves, bone, name, self.task.frames, known) for bone, name in left]

    def _bones(self) -> list[str]:
        """Names of the bones of limbs, and above legs where all of them are planted, so that no other needs these."""
        body, bones = self.task.body, self.armature.pose.bones
        tops = [bones[limb.thigh] for limb in body.limbs if limb.is_leg and body.chosen.all()]
        own = [name for limb in body.limbs for name in limb.bones]
        return list(dict.fromkeys([*own, *(bone.name for top in tops for bone in top.parent_recursive)]))

    def record_of_all(self, plan: Plan, contacts: Rows, figures: dict[str, Any]) -> records.Record:
        """A full record; afresh, nothing stays of what earlier runs wrote."""
        unkeyed, channels = self.unkeyed(self.channels), self.record["channels"] if self.again else {}
        channels = channels | {channel.path: unkeyed.get(channel.path) for channel in self.channels}
        return self.full_record(plan, self.source.action, channels, contacts, figures)


def read_channels(
    task: Task, curves: Curves, unkeyed: Mapping[str, list[float]], sample: Sample | None = None
) -> list[Channel]:
    """The rotations of all bones that are turned, the locations of loose feet and of the hips, and the channels of
    controls; those that were sampled from F-curves are not read again.
    """
    sampled = {path: values[task.part] for path, values in sample.channels.items()} if sample else {}
    bones = task.armature.pose.bones
    moved = [limb.foot for limb in task.body.limbs if limb.loose and not limb.controls]
    turned = [name for name, *_ in task.turned] + [control.bone for control in task.controls if control.turns]
    moved += [task.body.hips] if task.moves_hips else []
    moved += [control.bone for control in task.controls if control.moves]
    parts = [(bones[name], rotations.property_of(bones[name].rotation_mode)) for name in dict.fromkeys(turned)]
    parts += [(bones[name], "location") for name in dict.fromkeys(moved)]
    return [
        Channel(bone.name, path, sampled[path].copy())
        if (path := bone.path_from_id(name)) in sampled
        else keys.read(curves, bone, name, task.frames, unkeyed)
        for bone, name in parts
    ]


def write_keys(
    assignment: Assignment, task: Task, channels: list[Channel], bounds: Bounds, unkeyed: keys.Unkeyed
) -> Stages[None]:
    """Key the channels on the frames of a task, in an action of these bounds."""
    curves = actions.curves_of(assignment)
    for number, channel in enumerate(channels):
        yield Progress(f"writing keys of {channel.bone}", number / len(channels))
        keys.write(curves, channel, task.frames, bounds, unkeyed)
