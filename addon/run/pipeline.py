# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet from the options to the report: choose, sample, plan, correct, write, report.

All armatures go through it as one: what each went through is kept for the case that a later one is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from bpy.types import Context, Object

from .. import properties
from ..errors import Refusal
from ..ground.choose import find_surfaces
from ..keys import actions
from ..properties import PlantingOptions
from ..rig.body import find_body
from ..stages import Progress, Stages, finish, part_of
from .in_place import InPlace
from .new_action import NewAction
from .outcome import OWN_FLOOR, Outcome, outcome_of, together, told_of_locks
from .output import Output
from .present import PresentPose
from .refusals import refuse_numbers, refuse_shared, refuse_uneditable, refuse_unshown
from .task import Plan, Report, Task, correct, make_plan, make_report
from .transaction import pose_kept_on_error, settings_kept_on_error

OUTPUTS: dict[str, type[Output]] = {"NEW_ACTION": NewAction, "IN_PLACE": InPlace}


def plant_feet(context: Context, armature: Object, options: PlantingOptions) -> Outcome:
    """Plant the feet of one armature as the options say; a `Refusal` leaves the scene as it was."""
    return plant_all(context, [armature], options)


def plant_all(context: Context, armatures: Sequence[Object], options: PlantingOptions) -> Outcome:
    """Plant the feet of every armature, or of none: a `Refusal` leaves the scene as it was."""
    return finish(planting(context, armatures, options))


def planting(context: Context, armatures: Sequence[Object], options: PlantingOptions) -> Stages[Outcome]:
    """As `plant_all`, in stages; closed before its end it leaves the scene as it was."""
    refuse_numbers(options)
    refuse_shared(armatures, options)
    with settings_kept_on_error(context.scene.ik2bone), ExitStack() as undo:
        outcomes = []
        for number, armature in enumerate(armatures):
            stages = _planting(context, armature, options, undo)
            try:
                outcome = yield from part_of(stages, number / len(armatures), (number + 1) / len(armatures))
            except Refusal as refusal:
                raise _of_several(armatures, armature, refusal) from None
            outcomes.append(outcome)
        properties.store(context.scene.ik2bone, options)
    return together(armatures, outcomes)


def _of_several(armatures: Sequence[Object], armature: Object, refusal: Refusal) -> Refusal:
    """The refusal of one armature, told for all of them."""
    if len(armatures) == 1:
        return refusal
    return Refusal(f"{armature.name}: {refusal}; all {len(armatures)} armatures stay as they were")


def _planting(context: Context, armature: Object, options: PlantingOptions, undo: ExitStack) -> Stages[Outcome]:
    refuse_uneditable(armature, options)
    refuse_unshown(context.scene, armature)
    surfaces = tuple(find_surfaces(context, armature, options.surface))
    undo.enter_context(pose_kept_on_error(context, armature))
    chosen = PresentPose if options.frame_range == "CURRENT" else OUTPUTS[options.output]
    output = chosen(context, armature, options, undo)
    with output.showing():
        yield Progress("finding limbs", 0.0)
        task = output.task(find_body(context, armature, options, output.bounds), surfaces)
        before = yield from part_of(task.source(), 0.0, 0.3)
    marks, read = output.marks(task), output.read(task)
    offset = yield from part_of(output.offset(task, before, read), 0.3, 0.4)
    sole = output.sole(task, before)
    plan = yield from part_of(make_plan(task, before, sole, offset, marks), 0.4, 0.6)
    corrected = correct(task, plan.cut(task.part), read, actions.curves_of(output.target))
    told = (*_told(task), *told_of_locks(armature, actions.curves_of(output.source), read))
    yield from part_of(output.write(task, read, corrected), 0.6, 0.7)
    warnings = (*told, *output.told(task, read, before))
    report = yield from part_of(_reporting(task, plan, warnings), 0.7, 1.0)
    yield Progress("keeping what was written", 1.0)
    output.keep(task, plan, read, report)
    return outcome_of(report.figures, warnings)


def _reporting(task: Task, plan: Plan, warnings: tuple[str, ...]) -> Stages[Report]:
    """The report of the scene as it is now, proven by Blender's own evaluation, also on the frames it calls worst."""
    after = yield from part_of(task.sample(prove=False), 0.0, 0.5)
    report = yield from part_of(make_report(task, plan, after.clip, warnings), 0.5, 0.8)
    seen = yield from part_of(task.proven(after, sorted(set(report.figures["worst"].values()))), 0.8, 1.0)
    return report if seen is after else (yield from part_of(make_report(task, plan, seen.clip, warnings), 1.0, 1.0))


def _told(task: Task) -> Iterator[str]:
    """Sentences on what is planted, whatever the output."""
    yield from task.body.told
    if not task.surfaces:
        yield OWN_FLOOR
    for frame, before in task.faded_ends:
        yield f"corrections {'fade in from' if before else 'fade out towards'} frame {frame}, within the action"
