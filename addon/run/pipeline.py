# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet from the options to the report, into an action planted from a source.

All is computed on a draft of the action, which is kept only when every armature was planted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Context, Object

from .. import properties
from ..errors import Refusal
from ..ground.choose import find_surfaces
from ..keys import actions, fcurves
from ..keys import channels as keys
from ..keys.actions import Assignment
from ..keys.channels import Channel
from ..pose.sample import Sample
from ..properties import PlantingOptions
from ..rig.body import find_armatures, find_body
from . import records
from .contacts import kept_rows, marks_for, wanted_rows, wished_rows
from .frames import Bounds, action_bounds, choose_frames
from .in_place import plant_in_place
from .outcome import OWN_FLOOR, Outcome, outcome_of, together, told_of_locks
from .present import plant_pose
from .refusals import refuse_numbers, refuse_shared, refuse_uneditable, refuse_unshown
from .seams import tell_steps
from .soles import known_sole
from .task import Array, Rows, Task, correct, make_plan, make_report
from .transaction import (
    copy_playing,
    curves_kept_on_error,
    draft_of,
    marks_kept_on_error,
    playing,
    pose_kept_on_error,
    settings_kept_on_error,
)


@dataclass(frozen=True)
class Run:
    """A task over an action: the source of the motion, the action planted from it before, if any, and its record.

    `again` means that the armature plays the planted action, so that what this run does not write stays as it is
    there; an armature that plays the source gets it planted afresh. `rows` are the stored contacts that count, `before`
    is the source's motion.
    """

    task: Task
    source: Assignment
    planted: Assignment | None
    again: bool
    record: records.Record
    rows: Rows | None
    before: Sample

    @property
    def bounds(self) -> Bounds:
        """First and last frame of the action."""
        return int(self.task.whole[0]), int(self.task.whole[-1])


@dataclass(frozen=True)
class Source:
    """What the source says on the frames: channels, and the values of those properties that nothing animates."""

    channels: list[Channel]
    unkeyed: dict[str, list[float]]


def plant_feet(context: Context, armature: Object, options: PlantingOptions) -> Outcome:
    """Plant the feet of one armature as the options say; a `Refusal` leaves the scene as it was."""
    return plant_all(context, [armature], options)


def plant_all(context: Context, armatures: Sequence[Object], options: PlantingOptions) -> Outcome:
    """Plant the feet of every armature, or of none: a `Refusal` leaves the scene as it was."""
    refuse_numbers(options)
    refuse_shared(armatures, options)
    # What each armature went through is kept for the case that a later one is refused.
    with settings_kept_on_error(context.scene.ik2bone), ExitStack() as undo:
        outcomes = []
        for armature in armatures:
            try:
                outcomes.append(_plant(context, armature, options, undo))
            except Refusal as refusal:
                raise _of_several(armatures, armature, refusal) from None
        properties.store(context.scene.ik2bone, options)
    return together(armatures, outcomes)


def _of_several(armatures: Sequence[Object], armature: Object, refusal: Refusal) -> Refusal:
    """The refusal of one armature, told for all of them."""
    if len(armatures) == 1:
        return refusal
    return Refusal(f"{armature.name}: {refusal}; all {len(armatures)} armatures stay as they were")


def _plant(context: Context, armature: Object, options: PlantingOptions, undo: ExitStack) -> Outcome:
    refuse_uneditable(armature, options)
    refuse_unshown(context.scene, armature)
    surfaces = tuple(find_surfaces(context, armature, options.surface))
    undo.enter_context(pose_kept_on_error(context, armature))
    plant = _plant_action
    if options.frame_range == "CURRENT":
        plant = plant_pose
    elif options.output == "IN_PLACE":
        plant = plant_in_place
    return plant(context, armature, options, surfaces, undo)


def _plant_action(
    context: Context, armature: Object, options: PlantingOptions, surfaces: tuple[Object, ...], undo: ExitStack
) -> Outcome:
    run = _prepare(context, armature, options, surfaces)
    marks = marks_for(run.task.body, run.task.whole, run.rows, options.contacts, armature)
    source = _read_source(run)
    offset = _offset(run, source)
    draft = undo.enter_context(draft_of(armature, run.planted if run.again else run.source))
    sole = known_sole(run.task.body.planned, run.before.clip, records.read(run.source.action))
    plan = make_plan(run.task, run.before, sole, offset, marks)
    corrected = correct(run.task, plan.cut(run.task.part), source.channels, actions.curves_of(draft))
    _write(run, draft, corrected, source.unkeyed)
    told = tell_steps(run.task, run.before.clip)
    warnings = (*run.task.body.told, *_warnings(run, source.channels), *told)
    contacts, figures = make_report(run.task, plan, warnings)
    _keep(run, draft, records.as_text(_record(run, contacts, figures, source)), undo)
    return outcome_of(figures, warnings)


def _offset(run: Run, source: Source) -> Array | None:
    """How far an earlier run has moved the hip joints (F, L, 3) that this one leaves where they are."""
    if run.planted is None or not run.again or run.task.moves_hips:
        return None
    # Seen on a copy, because what is written twice over a key would round its handles twice.
    with copy_playing(run.task.armature, run.planted) as copy:
        _write(run, copy, source.channels, source.unkeyed)
        return run.task.sample().clip.hip - run.before.clip.hip


def _keep(run: Run, draft: Assignment, record: str, undo: ExitStack) -> None:
    """Make the draft the planted action, or an earlier one equal to it: strips and scripts may point to that."""
    undo.enter_context(marks_kept_on_error(run.source.action))
    if run.planted is None:
        draft.action.name = f"{run.source.action.name}.planted"
        records.store(draft.action, run.source.action, record)
        return
    undo.enter_context(curves_kept_on_error(run.planted))
    undo.enter_context(marks_kept_on_error(run.planted.action))
    actions.overwrite(run.planted, draft)
    records.store(run.planted.action, run.source.action, record)
    actions.assign(run.task.armature, run.planted)


def _prepare(context: Context, armature: Object, options: PlantingOptions, surfaces: tuple[Object, ...]) -> Run:
    """Find out what is to be planted, looking at the source's motion, not at what an earlier run made of it."""
    present = actions.assigned(armature)
    origin = records.source_of(present.action)
    source = actions.counterpart(present, origin) if origin else present
    planted = present if origin else records.planted_of(armature, source)
    record = records.read(planted.action if planted else None)
    rows = wanted_rows(armature, record)
    bounds = action_bounds(source)
    frames = choose_frames(context.scene, options, bounds)
    with playing(armature, source):
        records.put_back(armature, record)
        body = find_body(context, armature, options, bounds)
        task = Task(context, armature, body, options, surfaces, frames, np.arange(bounds[0], bounds[1] + 1))
        return Run(task, source, planted, bool(origin), record, rows, task.sample())


def _read_source(run: Run) -> Source:
    """The channels that this run writes: the hips' location too where it moves, or did so in an earlier run."""
    curves, bones = actions.curves_of(run.source), run.task.armature.pose.bones
    known = {path: values for path, values in run.record["channels"].items() if values is not None}
    channels = [keys.read_rotation(curves, bones[name], run.task.frames, known) for name in run.task.turned_bones]
    if run.task.body.hips:
        location = keys.read_location(curves, bones[run.task.body.hips], run.task.frames, known)
        moved = run.task.moves_hips or (run.again and location.path in run.record["channels"])
        channels += [location] if moved else []
    return Source(channels, keys.unkeyed_values(curves, channels))


def _write(run: Run, assignment: Assignment, channels: list[Channel], unkeyed: keys.Unkeyed) -> None:
    curves = actions.curves_of(assignment)
    for channel in channels:
        keys.write(curves, channel, run.task.frames, run.bounds, unkeyed)


def _warnings(run: Run, channels: list[Channel]) -> Iterator[str]:
    if not run.task.surfaces:
        yield OWN_FLOOR
    if run.planted:
        yield from _planted_warnings(run, run.planted, channels)
    yield from _repeating(run, channels)
    yield from told_of_locks(run.task.armature, actions.curves_of(run.source), channels)
    name = run.source.action.name
    # Those that this run plants too get planted actions of their own.
    planted = {armature.name for armature in find_armatures(run.task.context)}
    others = [other for other in actions.others_playing(run.source, run.task.armature) if other not in planted]
    if others:
        yield f"{', '.join(others)} also plays {name} and goes on doing so"
    strips = actions.strips_of(run.source.action)
    if strips:
        yield f"NLA strips keep playing {name}: {', '.join(strips)}"


def _repeating(run: Run, channels: list[Channel]) -> Iterator[str]:
    """A sentence about curves that no longer go on beyond the action where the scene does."""
    scene, curves = run.task.context.scene, actions.curves_of(run.source)
    goes_on = scene.frame_start < run.bounds[0] or scene.frame_end > run.bounds[1]
    paths = {channel.path for channel in channels}
    if goes_on and any(curve.data_path in paths and fcurves.repeats(curve) for curve in curves):
        yield (
            f"planted curves no longer repeat beyond frames {run.bounds[0]} to {run.bounds[1]} of "
            f"{run.source.action.name}: set its manual frame range to all that is to be planted"
        )


def _planted_warnings(run: Run, planted: Assignment, channels: list[Channel]) -> Iterator[str]:
    curves, original = actions.curves_of(planted), actions.curves_of(run.source)
    if run.again:
        handmade = keys.count_handmade(curves, original, run.task.frames, [channel.path for channel in channels])
    else:
        handmade = keys.count_handmade(curves, original, run.task.whole, [curve.data_path for curve in curves])
    if handmade:
        yield f"{handmade} keys made by hand were replaced"
    others = actions.others_playing(planted, run.task.armature)
    if others:
        yield f"{', '.join(others)} also plays {planted.action.name} and changes with it"


def _record(run: Run, contacts: Rows, figures: dict[str, Any], source: Source) -> records.Record:
    written = {channel.path: source.unkeyed.get(channel.path) for channel in source.channels}
    # Planted afresh, the action is a copy of its source without what earlier runs wrote.
    channels = (run.record["channels"] if run.again else {}) | written
    settings = properties.as_dict(run.task.options)
    others = kept_rows(run.task.body.legs, run.rows, run.again, run.task.options.contacts)
    wished = wished_rows(run.task.body.legs, run.task.body.numbers, run.rows, run.task.options.contacts)
    record = records.new(run.source.action, run.task.armature, settings, channels)
    return record | {"contacts": [*others, *contacts, *wished], "report": figures}
