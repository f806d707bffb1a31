# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of outputs, which decide where motion is read from and where keys are written."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property, partial
from typing import Any

import numpy as np
from bpy.types import Action, Context, Object, PoseBone
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
from ..pose.sample import Sample
from ..progress import Progress, Stages
from ..properties import PlantingOptions
from ..rig.armatures import find_armatures
from ..rig.body import Body
from . import layers, records
from .contacts import Rows, marks_for, rows_to_store
from .task import Bounds, Task, action_bounds, blend, choose_frames
from .transaction import keep_marks, on_error, switch


class Output(ABC):
    """One way to output the planted motion.

    undo      calls that restore the scene if the run fails
    source    the motion that is planted
    origin    the source that a record names; None if the source itself is changed
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
    origin: Action | None = None
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

    def choose_task(self, body: Body, surfaces: tuple[Object, ...]) -> Task:
        """The task of this run: frames of the action, and the share of the correction on each of them."""
        frames = choose_frames(self.context.scene, self.options, self.bounds)
        whole = np.arange(self.bounds[0], self.bounds[1] + 1)
        return Task(self.context, self.armature, body, self.options, surfaces, frames, whole, self.shares(frames))

    def shares(self, frames: Frames) -> Array | None:
        """The share (F,) of its correction that each frame gets, by the options for blending; None if all are 1."""
        return blend(frames, self.bounds, (self.options.blend_in, self.options.blend_out))

    def marks(self) -> Marks | None:
        """The edited contacts; None without any."""
        return marks_for(self.task.body, self.task.whole, self.spans, self.options.contacts, self.armature)

    def sole(self) -> Sole | None:
        """The soles that an earlier run measured, or None."""
        return records.known_sole(self.task.body.planned, self.before.clip, records.read(self.source.action))

    def offset(self) -> Stages[Array | None]:
        """The way (F, L, 3) by which an earlier run moved the hip joints, if this run does not move them; else None.

        It is measured on a copy, because writing twice over a key would round its handles twice.
        """
        if self.origin is None or not self.again or self.task.moves_hips:
            return None
        moved = yield from self.trial(self.channels)
        return moved.clip.hip - self.before.clip.hip

    def read(self) -> list[Channel]:
        """The channels that the run writes, with the source's values.

        Among them are those of these limbs and hips that only an earlier run wrote, to reset them.
        """
        known, written, bones, curves = {}, {}, self.armature.pose.bones, self.source.curves
        if self.origin:
            known, written = records.unkeyed(self.record), self.record["channels"] if self.again else {}
        earlier = ((bones[bone], name) for bone in self._bones() for name in records.CHANNELS)
        earlier = (each for each in earlier if each[0].path_from_id(each[1]) in written)
        sampled = {path: values[self.task.part] for path, values in self.before.channels.items()}
        return [
            keys.read(curves, bone, name, self.task.frames, known, sampled)
            for bone, name in dict.fromkeys([*_properties_of(self.task), *earlier])
        ]

    def _bones(self) -> list[str]:
        """The bones of limbs, and those above legs if all legs are planted: then no other leg depends on them."""
        body, bones = self.task.body, self.armature.pose.bones
        tops = [bones[limb.thigh] for limb in body.limbs if limb.is_leg and body.chosen.all()]
        own = [name for limb in body.limbs for name in limb.bones]
        return [*own, *(bone.name for top in tops for bone in top.parent_recursive)]

    def trial(self, channels: list[Channel]) -> Stages[Sample]:
        """Sample the whole action with these channels written to a copy of it."""
        with actions.temporary_copy(self.shown) as copy, actions.playing(self.armature, copy):
            yield from write_keys(copy, self.task, channels, self.bounds)
            return (yield from self.task.sample())

    @property
    def shown(self) -> Assignment:
        """The action with the curves that this run does not write."""
        return self.source

    @property
    def replaced(self) -> list[Curves]:
        """The curves that this run replaces where it writes."""
        return [self.target.curves]

    def told(self) -> Iterator[str]:
        """Sentences about consequences of writing, such as other objects that play the action."""
        return iter(())

    def told_of_players(self, assignment: Assignment, changes: bool) -> Iterator[str]:
        """Sentences about other objects and NLA strips that play an action, and whether they change with it."""
        name = assignment.action.name
        # Unless the action changes, the other armatures of this run get planted actions of their own.
        apart = [self.armature] if changes else [self.armature, *find_armatures(self.context)]
        library = self.armature.override_library
        own = {*apart, library.reference if library else None}
        others = [other.name for other in actions.players(assignment) if other not in own]
        if others:
            yield f"{', '.join(others)} also plays {name} and {'changes with it' if changes else 'goes on doing so'}"
        strips = actions.strips_of(assignment.action, apart)
        if strips:
            play = f"play {name} and change with it" if changes else f"keep playing {name}"
            yield f"NLA strips {play}: {', '.join(strips)}"

    @abstractmethod
    def write(self, corrected: list[Channel]) -> Stages[None]:
        """Write the corrected channels and make the scene show them, for the report."""

    def keep(self, plan: Plan, contacts: Rows, figures: dict[str, Any]) -> None:
        """Store the record, and what else makes the result permanent."""
        for action in filter(None, (self.origin, self.target.action)):
            keep_marks(self.undo, action)
        records.store(self.target.action, self.origin, self.full_record(plan, contacts, figures))

    def new_record(self, source: Action | None, channels: dict[str, Any]) -> records.Record:
        """The record of this run, without contacts and report."""
        name, settings = source.name if source else None, properties.as_dict(self.options)
        return {"source": name, "armature": self.armature.name, "settings": settings, "channels": channels}

    def full_record(self, plan: Plan, found: Rows, figures: dict[str, Any]) -> records.Record:
        """The record with contacts, report and soles; planted feet would no longer show the height of their soles."""
        earlier = self.record if self.again else records.EMPTY
        written = {channel.path: channel.unkeyed for channel in self.channels}
        return self.new_record(self.origin, earlier["channels"] | written | records.unkeyed(earlier)) | {
            "contacts": rows_to_store(self.task, self.rows or [], found, self.again),
            "report": figures,
            "soles": self.record["soles"] | records.soles_as_data(self.task.body.planned, plan.sole, plan.clip.leg),
        }


class Derived(Output):
    """The base of outputs that leave their source unchanged, so that every run starts from it.

    `again` means that the armature shows the result of an earlier run; curves that this run does not write stay.
    """

    def choose(self) -> None:
        """Find the source: that of the played action, or the played action itself.

        The armature plays it until keys are written, with unkeyed properties at their values from before planting.
        """
        origin = records.origin_of(self.played.action)
        self.source = actions.counterpart(self.played, origin) if origin else self.played
        self.origin = self.source.action
        self.choose_target()
        switch(self.undo, self.armature, self.source)
        records.put_back(self.armature, self.record)

    @abstractmethod
    def choose_target(self) -> None:
        """Set target, record and `again` for the source."""


def _properties_of(task: Task) -> Iterator[tuple[PoseBone, str]]:
    """Rotations of turned bones, locations of loose feet and hips, and the properties of controls."""
    bones = task.armature.pose.bones
    moved = [limb.foot for limb in task.body.limbs if limb.loose and not limb.controls]
    turned = [name for name, *_ in task.turned] + [control.bone for control in task.controls if control.turns]
    moved += [task.body.hips] if task.moves_hips else []
    moved += [control.bone for control in task.controls if control.moves]
    yield from ((bones[name], rotations.property_of(bones[name].rotation_mode)) for name in turned)
    yield from ((bones[name], "location") for name in moved)


def write_keys(assignment: Assignment, task: Task, channels: list[Channel], bounds: Bounds) -> Stages[None]:
    """Write the channels to an action with these bounds, on the frames of the task."""
    for number, channel in enumerate(channels):
        yield Progress(f"writing keys of {channel.bone}", number / len(channels))
        # The curves are asked for anew, because the action may be purged meanwhile if the armature does not play it.
        keys.write(assignment.curves, channel, task.frames, bounds)
