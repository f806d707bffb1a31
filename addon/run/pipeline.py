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
from .in_place import InPlace
from .new_action import NewAction
from .outcome import OWN_FLOOR, Outcome, outcome_of, together
from .output import Output
from .present import PresentPose
from .refusals import refuse_numbers, refuse_shared, refuse_uneditable, refuse_unshown
from .stages import Progress, Stages, finish, part_of
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
        task = output.task(find_body(context, armature, options, output.bounds), surfaces)
        yield Progress("sampling", 0.0)
        before = task.sample()
    marks, read = output.marks(task), output.read(task)
    yield Progress("planning", 0.4)
    sole, offset = output.sole(task, before), output.offset(task, before, read)
    plan = yield from part_of(make_plan(task, before, sole, offset, marks), 0.4, 0.6)
    corrected = correct(task, plan.cut(task.part), read, actions.curves_of(output.target))
    yield Progress("writing", 0.6)
    output.write(task, read, corrected)
    warnings = (*_told(task), *output.told(task, read, before))
    yield Progress("reporting", 0.7)
    report = _report(task, plan, warnings)
    output.keep(task, plan, read, report)
    return outcome_of(report.figures, warnings)


def _report(task: Task, plan: Plan, warnings: tuple[str, ...]) -> Report:
    """The report of the scene as it is now, proven by Blender's own evaluation on the frames that it calls worst."""
    after = task.sample()
    report = make_report(task, plan, after.clip, warnings)
    seen = task.proven(after, sorted(set(report.figures["worst"].values())))
    return report if seen is after else make_report(task, plan, seen.clip, warnings)


def _told(task: Task) -> Iterator[str]:
    """Sentences on what is planted, whatever the output."""
    yield from task.body.told
    if not task.surfaces:
        yield OWN_FLOOR
    for frame, before in task.faded_ends:
        yield f"corrections {'fade in from' if before else 'fade out towards'} frame {frame}, within the action"
