# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet in place: keys go into the action itself, which has no source then; its keys are read as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from math import ceil, floor
from typing import Any

import numpy as np
from bpy.types import Context, Object
from numpy.typing import NDArray

from .. import properties
from ..errors import Refusal
from ..keys import actions, fcurves
from ..keys import channels as keys
from ..keys.actions import Assignment, Curves
from ..keys.channels import Channel
from ..properties import PlantingOptions
from ..rig.body import find_body
from . import records
from .contacts import kept_rows, marks_for, wanted_rows, wished_rows
from .frames import Bounds, action_bounds, choose_frames, fade
from .outcome import OWN_FLOOR, Outcome, outcome_of, told_of_locks
from .refusals import refuse_unkeyable
from .soles import known_sole, soles_as_data
from .task import Plan, Task, correct, make_plan, make_report
from .transaction import curves_kept_on_error, marks_kept_on_error


def plant_in_place(
    context: Context, armature: Object, options: PlantingOptions, surfaces: tuple[Object, ...], undo: ExitStack
) -> Outcome:
    """Plant the action that the armature plays; keys outside the frames stay, and corrections fade towards them."""
    assignment = actions.assigned(armature)
    bounds = action_bounds(assignment)
    body = find_body(context, armature, options, bounds)
    frames, shares = _frames_and_shares(context, options, assignment, bounds)
    whole = np.arange(bounds[0], bounds[1] + 1)
    task = Task(context, armature, body, options, surfaces, frames, whole, shares=shares)
    curves, old = actions.curves_of(assignment), records.read(assignment.action)
    before, channels = task.sample(), _read(task, curves)
    refuse_unkeyable(curves, channels)
    _refuse_uncut(task, curves, channels)
    marks = marks_for(body, whole, wanted_rows(armature, old), options.contacts, armature)
    plan = make_plan(task, before, known_sole(body.planned, before.clip, old), marks=marks)
    corrected = correct(task, plan.cut(task.part), channels, curves)
    undo.enter_context(curves_kept_on_error(assignment))
    undo.enter_context(marks_kept_on_error(assignment.action))
    _write(task, curves, channels, corrected)
    return _store(task, assignment, plan, old, tuple(told_of_locks(armature, curves, channels)))


def _frames_and_shares(
    context: Context, options: PlantingOptions, assignment: Assignment, bounds: Bounds
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The frames (F,) to plant, and how much of each correction each of them gets (F,)."""
    frames = choose_frames(context.scene, options, bounds)
    render = context.scene.render
    shares = fade(frames, _reach(actions.curves_of(assignment), bounds), render.fps / render.fps_base)
    if not shares.any():
        raise Refusal(
            f"frames {frames[0]} to {frames[-1]} are too few to plant in place: "
            "corrections fade to zero at the ends of a range within the action"
        )
    return frames, shares


def _write(task: Task, curves: Curves, channels: list[Channel], corrected: list[Channel]) -> None:
    """Key what was corrected, as the channels were read."""
    unkeyed, frames = keys.unkeyed_values(curves, channels), task.frames
    for channel in corrected:
        keys.write(curves, channel, frames, (int(frames[0]), int(frames[-1])), unkeyed)


def _store(task: Task, assignment: Assignment, plan: Plan, old: dict[str, Any], told: tuple[str, ...]) -> Outcome:
    """Write the record of a planting over the `old` one, and tell what came of it."""
    body, contacts_from = task.body, task.options.contacts
    warnings = (*body.told, *_warnings(task, assignment), *told)
    contacts, figures = make_report(task, plan, warnings)
    rows = wanted_rows(task.armature, old)
    wished = wished_rows(body.legs, body.numbers, rows, contacts_from)
    record = records.new(None, task.armature, properties.as_dict(task.options))
    record |= {"contacts": [*kept_rows(body.legs, rows, True, contacts_from), *contacts, *wished], "report": figures}
    record["soles"] = old.get("soles", {}) | soles_as_data(body.planned, plan.planned.sole, plan.before.clip.leg)
    records.store(assignment.action, None, records.as_text(record))
    return outcome_of(figures, warnings)


def _reach(curves: Curves, bounds: Bounds) -> Bounds:
    """The action's bounds and beyond them the keys that a manual frame range leaves out."""
    first, last = curves.span() or bounds
    return min(bounds[0], floor(first)), max(bounds[1], ceil(last))


def _read(task: Task, curves: Curves) -> list[Channel]:
    bones = task.armature.pose.bones
    channels = [keys.read_rotation(curves, bones[name], task.frames, {}) for name in task.turned_bones]
    if task.moves_hips:
        channels.append(keys.read_location(curves, bones[task.body.hips], task.frames, {}))
    return channels


def _refuse_uncut(task: Task, curves: Curves, channels: list[Channel]) -> None:
    """Refuse curves that could not keep their shape outside of the frames."""
    for channel in channels:
        for curve in filter(None, (curves.find(channel.path, index) for index in channel.indices)):
            for frame, before in task.faded_ends:
                trouble = fcurves.trouble_beyond(curve, frame, before)
                if trouble:
                    raise Refusal(
                        f"the F-curve of {channel.name} of bone {channel.bone} {trouble}, "
                        f"so it cannot be cut at frame {frame} and keep its shape"
                    )


def _warnings(task: Task, assignment: Assignment) -> Iterator[str]:
    if not task.surfaces:
        yield OWN_FLOOR
    name = assignment.action.name
    for frame, before in task.faded_ends:
        yield f"corrections {'fade in from' if before else 'fade out towards'} frame {frame}, within the action"
    source = records.source_of(assignment.action)
    if source:
        yield f"{name} is planted in place now, and no longer tied to its source {source.name}"
    others = actions.others_playing(assignment, task.armature)
    if others:
        yield f"{', '.join(others)} also plays {name} and changes with it"
    strips = actions.strips_of(assignment.action, task.armature)
    if strips:
        yield f"NLA strips play {name} and change with it: {', '.join(strips)}"
