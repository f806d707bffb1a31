# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of outputs, which decide where motion is read from and where keys are written."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from typing import Any

import numpy as np
from bpy.types import Action, Context, Object
from ik2bone.arrays import Array
from ik2bone.contacts.spans import Marks, Span, read_spans
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
    """One way to output the planted motion.

    undo      calls that restore the scene if the run fails
    source    the motion that is planted
    target    the action whose keys are replaced
    record    the record of an earlier run
    again     whether limbs that this run does not plant stay as an earlier run planted them
    layer     the NLA layer over the played action, which is set aside during the run
    held      the action with the record of the motion that was shown
    task      what the run plants
    before    the sample of the source
    channels  the channels that the run writes, with the source's values
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
        """Set source, target and record for the action that the armature plays."""

    def find_bounds(self) -> Bounds:
        """The first and last frame of the action."""
        return action_bounds(self.source)

    @cached_property
    def rows(self) -> Rows | None:
        """The stored contacts of the shown motion, else those of an earlier run; None without any."""
        rows = records.readable(self.held).get("contacts")
        return self.record.get("contacts") if rows is None else rows

    @cached_property
    def spans(self) -> list[Span]:
        """What the rows of contacts hold."""
        return read_spans(self.rows or [])

    def showing(self) -> AbstractContextManager[None]:
        """A context within which the armature plays the source."""
        return nullcontext()

    def choose_task(self, body: Body, surfaces: tuple[Object, ...]) -> Task:
        """The task of this run: frames of the action, and the share of the correction on each of them."""
        frames = choose_frames(self.context.scene, self.options, self.bounds)
        whole = np.arange(self.bounds[0], self.bounds[1] + 1)
        return Task(self.context, self.armature, body, self.options, surfaces, frames, whole, self.shares(frames))

    def shares(self, frames: Frames) -> Array | None:
        """The share (F,) of its correction that each frame gets, by the options for blending; None if all are 1."""
        return blend(frames, self.bounds, (self.options.blend_in, self.options.blend_out))

    def sample(self) -> Stages[Sample]:
        """Sample the source over the whole action, and keep the sample for the next run."""
        return sampling(*self.task.subject, self.task.whole.tolist(), keep=True)

    def marks(self) -> Marks | None:
        """The edited contacts; None without any."""
        return marks_for(self.task.body, self.task.whole, self.spans, self.options.contacts, self.armature)

    def sole(self) -> Sole | None:
        """The soles that an earlier run measured, or None."""
        return records.known_sole(self.task.body.planned, self.before.clip, records.read(self.source.action))

    def offset(self) -> Stages[Array | None]:
        """The way (F, L, 3) by which an earlier run moved the hip joints, if this run does not move them; else None."""
        yield from ()
        return None

    def read(self) -> list[Channel]:
        """The channels that the run writes, with the source's values: rotations, then locations."""
        return read_channels(self.task, actions.curves_of(self.source), {}, self.before)

    def trial(self, channels: list[Channel]) -> Stages[Sample]:
        """Sample the whole action with these channels written to a copy of it."""
        with self.showing(), actions.copy_playing(self.armature, self.shown) as copy:
            yield from write_keys(copy, self.task, channels, self.bounds, self.unkeyed(channels))
            return (yield from self.task.sample())

    def unkeyed(self, read: list[Channel]) -> dict[str, list[float]]:
        """The values of properties that the source does not animate, by data path."""
        return keys.unkeyed_values(actions.curves_of(self.source), read)

    @property
    def shown(self) -> Assignment:
        """The action with the curves that this run does not write."""
        return self.source

    def told(self) -> Iterator[str]:
        """Sentences about consequences of writing, such as other objects that play the action."""
        return iter(())

    def told_of_players(self, assignment: Assignment, changes: bool) -> Iterator[str]:
        """Sentences about other objects and NLA strips that play an action, and whether they change with it."""
        name = assignment.action.name
        # Unless the action changes, the other armatures of this run get planted actions of their own.
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
        """Write the corrected channels and make the scene show them, for the report."""

    @abstractmethod
    def keep(self, plan: Plan, contacts: Rows, figures: dict[str, Any]) -> None:
        """Store the record, and what else makes the result permanent."""

    def new_record(self, source: Action | None, channels: dict[str, Any]) -> records.Record:
        """The record of this run, without contacts and report."""
        name, settings = source.name if source else None, properties.as_dict(self.options)
        return {"source": name, "armature": self.armature.name, "settings": settings, "channels": channels}

    def full_record(
        self, plan: Plan, source: Action | None, channels: dict[str, Any], found: Rows, figures: dict[str, Any]
    ) -> records.Record:
        """The record with contacts, report and soles; planted feet would no longer show the height of their soles."""
        return self.new_record(source, channels) | {
            "contacts": rows_to_store(self.task, self.spans, self.rows or [], found, self.again),
            "report": figures,
            "soles": self.record["soles"] | records.soles_as_data(self.task.body.planned, plan.sole, plan.clip.leg),
        }


class Derived(Output):
    """The base of outputs that leave their source unchanged, so that every run starts from it.

    `again` means that the armature shows the result of an earlier run; curves that this run does not write stay.
    """

    def choose(self) -> None:
        """Set the source: that of the played action, or the played action itself."""
        origin = records.origin_of(self.played.action)
        self.source = actions.counterpart(self.played, origin) if origin else self.played

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Make the armature play the source, with unkeyed properties at their values from before planting."""
        with actions.playing(self.armature, self.source):
            records.put_back(self.armature, self.record)
            yield

    def read(self) -> list[Channel]:
        """Read also the channels of these limbs and hips that only an earlier run wrote, to reset them."""
        known = {path: values for path, values in self.record["channels"].items() if values is not None}
        curves, bones = actions.curves_of(self.source), self.armature.pose.bones
        channels = read_channels(self.task, curves, known, self.before)
        paths = set(self.record["channels"] if self.again else ()) - {channel.path for channel in channels}
        rows = ((bones[bone], name) for bone in self._bones() for name in records.CHANNELS)
        left = [(bone, name) for bone, name in rows if bone.path_from_id(name) in paths]
        return channels + [keys.read(curves, bone, name, self.task.frames, known) for bone, name in left]

    def _bones(self) -> list[str]:
        """The bones of limbs, and those above legs if all legs are planted: then no other leg depends on them."""
        body, bones = self.task.body, self.armature.pose.bones
        tops = [bones[limb.thigh] for limb in body.limbs if limb.is_leg and body.chosen.all()]
        own = [name for limb in body.limbs for name in limb.bones]
        return list(dict.fromkeys([*own, *(bone.name for top in tops for bone in top.parent_recursive)]))

    def record_of_all(self, plan: Plan, contacts: Rows, figures: dict[str, Any]) -> records.Record:
        """The full record. Channels of earlier runs stay in it only if `again` is set."""
        unkeyed, channels = self.unkeyed(self.channels), self.record["channels"] if self.again else {}
        channels = channels | {channel.path: unkeyed.get(channel.path) for channel in self.channels}
        return self.full_record(plan, self.source.action, channels, contacts, figures)


def read_channels(
    task: Task, curves: Curves, unkeyed: Mapping[str, list[float]], sample: Sample | None = None
) -> list[Channel]:
    """Read the rotations of turned bones, the locations of loose feet and hips, and the channels of controls.

    Channels that the sample has read from F-curves are copied from it.
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
    """Write the channels to an action with these bounds, on the frames of the task."""
    curves = actions.curves_of(assignment)
    for number, channel in enumerate(channels):
        yield Progress(f"writing keys of {channel.bone}", number / len(channels))
        keys.write(curves, channel, task.frames, bounds, unkeyed)
