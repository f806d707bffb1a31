# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet on the present pose: as it stands, hand-set values included, and keyed where there is an action."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
from bpy.types import Context, Object

from .. import properties
from ..keys import actions
from ..keys import channels as keys
from ..keys.actions import Assignment, Curves
from ..keys.channels import Channel
from ..properties import PlantingOptions
from ..rig.body import find_body
from . import records
from .frames import action_bounds
from .outcome import OWN_FLOOR, Outcome, outcome_of, told_of_locks
from .refusals import refuse_between, refuse_unkeyable
from .task import Task, correct, make_plan, make_report, sole_of_action
from .transaction import curves_kept_on_error, draft_of


def plant_pose(
    context: Context, armature: Object, options: PlantingOptions, surfaces: tuple[Object, ...], undo: ExitStack
) -> Outcome:
    """Plant the pose as it stands, hand-set values included, and key it where there is an action to key."""
    frames = np.array([context.scene.frame_current])
    frame = int(frames[0])
    playing_action = actions.assigned(armature)
    keyed = playing_action.action and not actions.is_blank(playing_action)
    bounds = action_bounds(playing_action) if keyed else (frame, frame)
    refuse_between(context.scene, playing_action, bounds)
    body = find_body(context, armature, options, bounds)
    task = Task(context, armature, body, options, surfaces, frames, whole=frames, present=True)
    sole = sole_of_action(task, bounds) if bounds[1] > bounds[0] else None
    plan = make_plan(task, task.sample(), sole)
    channels = _read_pose(task)
    refuse_unkeyable(actions.curves_of(playing_action), channels)
    corrected = correct(task, plan, channels, Curves(None))
    for channel in corrected:
        keys.show(armature, channel)
    context.view_layer.update()
    warnings = (*body.told, *(() if surfaces else (OWN_FLOOR,)), *told_of_locks(armature, Curves(None), channels))
    _, figures = make_report(task, plan, warnings)
    if playing_action.action:
        _key(task, playing_action, corrected, undo)
    return outcome_of(figures, warnings)


def _read_pose(task: Task) -> list[Channel]:
    nothing, bones = Curves(None), task.armature.pose.bones
    channels = [keys.read_rotation(nothing, bones[name], task.frames, {}) for name in task.turned_bones]
    if task.moves_hips:
        channels.append(keys.read_location(nothing, bones[task.body.hips], task.frames, {}))
    return channels


def _key(task: Task, assignment: Assignment, channels: list[Channel], undo: ExitStack) -> None:
    """Key the pose as it is now, in a copy of the action where that is linked."""
    if assignment.action.is_editable:
        undo.enter_context(curves_kept_on_error(assignment))
    else:
        unkeyed = keys.unkeyed_values(actions.curves_of(assignment), channels)
        copy = undo.enter_context(draft_of(task.armature, assignment))
        copy.action.name = f"{assignment.action.name}.planted"
        written = {channel.path: unkeyed.get(channel.path) for channel in channels}
        record = records.new(assignment.action, task.armature, properties.as_dict(task.options), written)
        records.store(copy.action, assignment.action, records.as_text(record))
    for channel in channels:
        keys.insert(task.armature, channel, int(task.frames[0]))
