# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet in place: keys go into the action itself, which has no source then; its keys are read as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from math import ceil, floor

import numpy as np
from bpy.types import Context, Object

from . import actions, fcurves, keys, properties, records
from .actions import Assignment, Curves
from .body import find_body
from .chains import Refusal
from .drafts import curves_kept_on_error, marks_kept_on_error
from .frames import Bounds, action_bounds, choose_frames, fade
from .keys import Channel
from .outcome import OWN_FLOOR, Outcome, outcome_of
from .plans import Task, correct, make_plan, make_report
from .properties import PlantingOptions
from .refusals import refuse_unkeyable
from .soles import known_sole, soles_as_data
from .stored import kept_rows, marks_for, wanted_rows, wished_rows


def plant_in_place(
    context: Context, armature: Object, options: PlantingOptions, surfaces: tuple[Object, ...], undo: ExitStack
) -> Outcome:
    """Plant the action that the armature plays; keys outside the frames stay, and corrections fade towards them."""
    assignment = actions.assigned(armature)
    bounds = action_bounds(assignment)
    frames = choose_frames(context.scene, options, bounds)
    curves = actions.curves_of(assignment)
    render = context.scene.render
    shares = fade(frames, _reach(curves, bounds), render.fps / render.fps_base)
    if not shares.any():
        raise Refusal(
            f"frames {frames[0]} to {frames[-1]} are too few to plant in place: "
            "corrections fade to zero at the ends of a range within the action"
        )
    body = find_body(context, armature, options, bounds)
    whole = np.arange(bounds[0], bounds[1] + 1)
    task = Task(context, armature, body, options, surfaces, frames, whole, shares=shares)
    before, channels = task.sample(), _read(task, curves)
    refuse_unkeyable(curves, channels)
    _refuse_uncut(task, curves, channels)
    old = records.read(assignment.action)
    rows = wanted_rows(armature, old)
    marks = marks_for(body, whole, rows, options.contacts, armature)
    plan = make_plan(task, before, known_sole(body.planned, before.clip, old), marks=marks)
    corrected = correct(task, plan.cut(task.part), channels, curves)
    undo.enter_context(curves_kept_on_error(assignment))
    undo.enter_context(marks_kept_on_error(assignment.action))
    unkeyed = keys.unkeyed_values(curves, channels)
    for channel in corrected:
        keys.write(curves, channel, frames, (int(frames[0]), int(frames[-1])), unkeyed)
    warnings = (*body.told, *_warnings(task, assignment))
    contacts, figures = make_report(task, plan, warnings)
    record = records.new(None, armature, properties.as_dict(options))
    wished = wished_rows(body.legs, body.numbers, rows, options.contacts)
    record |= {"contacts": [*kept_rows(body.legs, rows, True), *contacts, *wished], "report": figures}
    record["soles"] = old.get("soles", {}) | soles_as_data(body.planned, plan.planting.sole, before.clip.leg)
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
    strips = actions.strips_of(assignment.action)
    if strips:
        yield f"NLA strips play {name} and change with it: {', '.join(strips)}"
