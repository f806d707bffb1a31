# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline of Plant Feet: choose, sample, plan, correct, write, report, keep.

All armatures of a run succeed or fail together: if one is refused, the changes of those before it are undone.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Object
from ik2bone import plan as core
from ik2bone import report
from ik2bone.arrays import Array
from ik2bone.clip import Clip
from ik2bone.contacts.spans import Marks
from ik2bone.ground.surfaces import Surfaces
from ik2bone.plan import Plan
from ik2bone.report.measures import SHORT
from ik2bone.rotations import nearest_rotations, quaternion_from_vector, vector_from_matrix
from ik2bone.sole.measure import Sole
from ik2bone.targets.touch import measure_limbs

from .. import properties
from ..bounded import Bounded
from ..errors import Hint, NoLegs, Refusal, listed
from ..ground.choose import find_surfaces, hidden_grounds
from ..ground.meshes import Floor, making_ground
from ..ground.motion import tell_hidden
from ..keys import channels as keys
from ..keys.actions import Curves
from ..keys.channels import Channel
from ..pose.clip import rest_clip
from ..pose.sample import FRAMES, Sample, proven
from ..pose.skins import find_skins
from ..progress import Progress, Stages, aside, part_of
from ..properties import OPTIONS, PlantingOptions
from ..rig.armatures import active_object
from ..rig.body import find_body
from ..rig.checks import Moving, check_chain
from ..rig.controls_aim import RIGHT
from . import layers, records
from .all_actions import planting_each
from .contacts import Rows, tell_strange
from .controls import steer, tell_controls, turned, wanted, without_idle
from .in_place import InPlace
from .new_action import NewAction
from .nla_layer import NlaLayer
from .output import Output
from .present import PresentPose
from .refusals import (
    refuse_numbers,
    refuse_shared,
    refuse_strips_below,
    refuse_under_layers,
    refuse_uneditable,
    refuse_unshown,
    tell_locks,
)
from .sparse import thin
from .task import Task
from .transaction import keep_pose, on_success

OUTPUTS: dict[str, type[Output]] = {"NEW_ACTION": NewAction, "IN_PLACE": InPlace, "NLA_LAYER": NlaLayer}
OWN_FLOOR = "no surface was found: planted on the clip's own floor"
# A rest pose stands if the hips are above the feet by at least this share of the leg.
UPRIGHT = 0.7
# The least correction (leg lengths) whose sudden start or end is told, and the greatest that counts as none.
STEP, NONE = 1e-3, 1e-5
# The last plan of each armature, by name. The next plan reuses parts of it. The limit counts frames, as for samples.
plans: Bounded[Plan] = Bounded(FRAMES)


class Outcome(NamedTuple):
    """The result of a run: a summary with a line for each armature, whether it is a warning, the warnings of the add-on
    itself, and the figures of each report.
    """

    summary: str
    is_warning: bool
    warnings: tuple[str, ...]
    reports: tuple[dict[str, Any], ...]


def planting(context: Context, armatures: Sequence[Object], options: PlantingOptions) -> Stages[Outcome]:
    """Plant the feet of all armatures.

    Raises `Refusal`, with the scene as it was before, if one cannot be planted. The scene is also restored if the
    generator is closed. Armatures without legs are left out, unless they are active.
    """
    refuse_numbers(options)
    refuse_shared(armatures, options)
    # Before this update, objects that a script has just linked are missing. One update serves all armatures, because an
    # update after each of them would evaluate all others again.
    context.view_layer.update()
    outcomes: list[tuple[str, Outcome]] = []
    apart: list[str] = []
    with ExitStack() as undo:
        for number, armature in enumerate(armatures):
            stages = (_planting_each if options.all_actions else _planting)(context, armature, options, undo)
            try:
                stages = part_of(stages, number / len(armatures), (number + 1) / len(armatures))
                outcomes.append((armature.name, (yield from stages)))
            except Refusal as refusal:
                if len(armatures) == 1:
                    raise
                if not isinstance(refusal, NoLegs) or armature == active_object(context):
                    everyone = f"all {len(armatures)} armatures stay as they were"
                    raise Refusal(f"{armature.name}: {refusal}; {everyone}") from None
                # This may be a prop that is selected together with the characters.
                apart.append(f"left out: {refusal}")
        if not outcomes:
            raise Refusal("; ".join(apart))
        properties.store(context.scene.ik2bone, options)
    return outcomes[0][1] if len(armatures) == 1 else _together(outcomes, apart)


def _together(told: Sequence[tuple[str, Outcome]], apart: Sequence[str]) -> Outcome:
    """One outcome for several armatures or actions by name, with sentences `apart` on those that were left out."""
    return Outcome(
        "\n".join([*(f"{name}: {outcome.summary}" for name, outcome in told), *apart]),
        bool(apart) or any(outcome.is_warning for _, outcome in told),
        (*(f"{name}: {warning}" for name, outcome in told for warning in outcome.warnings), *apart),
        tuple(report for _, outcome in told for report in outcome.reports),
    )


def _planting_each(context: Context, armature: Object, options: PlantingOptions, undo: ExitStack) -> Stages[Outcome]:
    """Plant every action of an armature, with one outcome."""
    # This is undone last: assigning the played action again replaces channels that were set by hand.
    keep_pose(undo, context, armature)
    stages = planting_each(armature, options, undo, lambda own: _planting(context, armature, options, own))
    outcomes, refused = yield from stages
    return _together(list(outcomes.items()), [f"{name} was not planted: {why}" for name, why in refused.items()])


def _planting(context: Context, armature: Object, options: PlantingOptions, undo: ExitStack) -> Stages[Outcome]:
    refuse_uneditable(armature, options)
    refuse_under_layers(armature, options)
    refuse_unshown(context.scene, armature)
    surfaces = tuple(find_surfaces(context, armature, options.surface))
    keep_pose(undo, context, armature)
    chosen = PresentPose if options.frame_range == "CURRENT" else OUTPUTS[options.output]
    output = chosen(context, armature, options, undo)
    if output.layer and chosen is not NlaLayer:
        on_success(undo, layers.remove, output.layer)
    yield Progress("finding limbs", 0.0)
    task = output.task = output.choose_task(find_body(context, armature, options, output.bounds), surfaces)
    before = output.before = yield from part_of(task.sample(keep=True), 0.0, 0.3)
    marks, output.channels = output.marks(), output.read()
    if not task.present:
        refuse_strips_below(armature, output.source, output.channels, task.whole)
    offset = yield from part_of(output.offset(), 0.3, 0.4)
    plan = yield from part_of(_plan(task, before, output.sole(), offset, marks), 0.4, 0.6)
    corrected = _correct(task, before, plan, output.channels, output.target.curves)
    if task.controlled:
        corrected = yield from part_of(steer(output, plan, offset, corrected), 0.6, 0.65)
        output.channels, corrected = without_idle(task, output.record, output.channels, corrected)
    thinned = ()
    if task.is_thinned:
        corrected, *thinned = thin(task, plan, before, corrected)
    locks = tell_locks(armature, output.replaced, output.channels)
    strange = () if task.present else tell_strange(armature, output.spans, options.contacts)
    told = [*_tell(task), *locks, *output.told(), *strange]
    taken = _taken_along(output)
    yield from part_of(output.write(corrected), 0.65, 0.7)
    # Limit constraints that do not affect the source may affect the planted pose.
    check_chain(armature, task.body.limbs)
    after, contacts, figures = yield from part_of(_report(task, before, plan, marks), 0.7, 1.0)
    warnings = (*told, *_tell_steps(task, before.clip, after), *taken(before.clip.leg))
    if task.controlled:
        warnings += tell_controls(task, output.channels, wanted(task, before.clip, plan, offset), after, figures)
    figures["told"] += (*warnings, *thinned)
    figures["hints"] = [sentence for sentence in figures["told"] if isinstance(sentence, Hint)]
    yield Progress("keeping what was written", 1.0)
    output.keep(plan, contacts, figures)
    if not task.present:
        feet = [limb.foot for limb in task.body.planned]
        ways = records.paths_as_text(int(task.whole[0]), feet, before.clip, after)
        records.mark(output.target.action, {records.PATHS: ways})
    worse = any(note["code"].startswith("worse") for note in figures["notes"])
    is_told = any(not isinstance(sentence, Hint) for sentence in warnings)
    is_warning = bool(is_told or worse or figures["after"]["short"])
    return Outcome(report.summary(figures), is_warning, warnings, (figures,))


def _tell(task: Task) -> Iterator[str]:
    """Sentences about limbs, surfaces and fades, for every output."""
    yield from task.body.told
    if not task.surfaces:
        yield OWN_FLOOR
    if not task.options.surface:
        yield from tell_hidden(hidden_grounds(task.context, task.armature), task.whole.tolist())
    for frame, before in task.faded_ends:
        yield f"corrections {'fade in from' if before else 'fade out towards'} frame {frame}, within the action"


def _plan(task: Task, before: Sample, sole: Sole | None, offset: Array | None, marks: Marks | None) -> Stages[Plan]:
    """Plan the sampled clip.

    `sole` are known soles; without them a clip of one frame takes the soles of the rest pose. `offset` (F, L, 3) is the
    way of the hip joints from the sampled ones by an earlier run. `marks` are edited contacts.
    """
    placed = before.poses.placed[0]
    clip = before.clip.having(skins=find_skins(task.armature, task.body.planned, placed))
    sole = sole or (_sole_of_rest(task, placed) if clip.frames == 1 else None)
    ground = yield from part_of(_find_ground(task, clip, sole), 0.0, 0.5)
    settings = _settings(task, offset, marks)
    name = task.armature.name_full
    last = plans.find(name)
    try:
        work = partial(core.plant, clip, ground, settings, sole, offset, last)
        plan = yield from aside(work, Progress("planning", 0.5), clip.frames)
    except core.NoGround:
        raise _no_ground(task, ground) from None
    return plans.put(name, plan, plan.clip.frames)


def _settings(task: Task, offset: Array | None, marks: Marks | None) -> core.Settings:
    """The settings of planting: the options of the same names, and what the task adds to them."""
    options = {each.name: getattr(task.options, each.name) for each in fields(core.Settings) if each.name in OPTIONS}
    options |= {"strength": task.strength, "marks": marks, "asked": task.body.chosen}
    options |= {"use_hips": task.moves_hips} if offset is None else {}
    options |= {"contacts": "ALWAYS"} if task.present else {}
    return core.Settings(**options)


def _no_ground(task: Task, ground: Surfaces) -> Refusal:
    names, chosen = ", ".join(ground.names), listed([ob.name for ob in task.surfaces])
    looked = f"nothing but {names} was looked at" if names else f"there is no mesh with faces among {chosen}"
    stand = task.options.direction == "DOWN" and all(limb.is_leg for limb in task.body.planned)
    where = "under the feet" if stand else "within reach of the limbs"
    return Refusal(f"no surface lies {where} of {task.armature.name}: {'; '.join([looked, *ground.told])}")


def _find_ground(task: Task, clip: Clip, sole: Sole | None) -> Stages[Surfaces | Floor]:
    if task.surfaces:
        graph, near = task.context.view_layer.depsgraph, task.options.direction == "NEAREST"
        ground = making_ground(graph, task.surfaces, clip.leg, task.whole.tolist(), near)
        return (yield from ground)
    return Floor((sole or measure_limbs(clip)).floor)


def _sole_of_rest(task: Task, placed: Array) -> Sole | None:
    """The soles of the rest pose; None if the rest pose does not stand."""
    limbs = task.body.planned
    clip = rest_clip(task.armature, limbs, placed).having(skins=find_skins(task.armature, limbs, placed))
    feet = ~clip.is_hand
    stands = (clip.hip - clip.ball) @ clip.up > UPRIGHT * clip.leg
    sole = measure_limbs(clip)
    if not feet.any() or not stands[:, feet].all() or "proportion" in sole.source:
        return None
    return replace(sole, source=tuple("rest pose" if name == "clip's floor" else name for name in sole.source))


def _correct(task: Task, before: Sample, plan: Plan, read: list[Channel], curves: Curves) -> list[Channel]:
    """The channels with corrections, except channels of controls.

    Rotations continue the keys in `curves` before the first frame without whole turns.
    """
    part, limbs = plan.choose(task.body.chosen).cut(task.part), task.body.limbs
    turns = [
        _turns_in_world(part, number)
        if limbs[number].loose and name == limbs[number].foot
        else part.rotations[:, number, place]
        for name, number, place in task.turned
    ]
    corrected = turned(task, read[: len(turns)], turns, curves)
    loose = [(number, limb.foot) for number, limb in enumerate(limbs) if limb.loose and not limb.controls]
    ways = {foot: _way(task, part, number) for number, foot in loose} | {task.body.hips: part.hips_offset}
    for channel in read[len(corrected) :]:
        way = ways.get(channel.bone) if channel.name == "location" else None
        placing = None if way is None else before.placing[channel.bone][task.part]
        corrected.append(channel if way is None else keys.moved(channel, placing, way))
    return corrected


def _turns_in_world(part: Plan, number: int) -> Array:
    """Corrections (F, 4) of a loose foot, which does not follow the bones of its leg."""
    axes = nearest_rotations(part.clip.foot[:, number, :3, :3])
    vectors = vector_from_matrix(part.targets.turn[:, number])
    return quaternion_from_vector((vectors[:, None] @ axes)[:, 0])


def _way(task: Task, part: Plan, number: int) -> Array:
    """The way (F, 3) of a loose foot, without the way of the hips if it hangs under them."""
    way = part.targets.ankle[:, number] - part.clip.ankle[:, number]
    above = {bone.name for bone in task.armature.data.bones[task.body.limbs[number].foot].parent_recursive}
    return way - part.hips_offset if task.body.hips in above else way


def _tell_steps(task: Task, before: Clip, after: Clip) -> list[str]:
    """A sentence about planted frames whose neighbours in the action are unchanged; none without such frames.

    Next to a calibration pose there is none: the clip itself jumps there.
    """
    joints = [np.array([clip.hip, clip.knee, clip.ankle])[:, :, task.body.chosen] for clip in (before, after)]
    moved = np.linalg.norm(joints[1] - joints[0], axis=-1).max(axis=(0, 2)) / before.leg
    beyond = {task.part.start: task.part.start - 1, task.part.stop - 1: task.part.stop}
    first = int(core.starts_in_calibration_pose(before))
    steps = [row for row, next_row in beyond.items() if first <= next_row < len(moved) and moved[next_row] <= NONE]
    steps = [row for row in steps if moved[row] > STEP]
    if not steps:
        return []
    where, most = " and ".join(str(task.whole[row]) for row in steps), before.leg * moved[steps].max()
    return [f"planted frames end within the action: corrections of up to {most:.3g} start or stop at frame {where}"]


def _taken_along(output: Output) -> Callable[[float], Iterator[str]]:
    """A function that, after writing, yields a sentence about limbs of an earlier run that the hips take along.

    It takes the leg's length.
    """
    body, frames = output.task.body, output.task.frames
    # Only planting writes reports: contacts alone may come from a planted action whose source was restored.
    rows = (output.rows or []) if output.again and body.hips and output.record["report"] else []
    planned = {limb.foot for limb in body.planned}
    rows = [row for row in rows if row.get("anchor") and row["bone"] not in planned]
    carried = Moving(output.armature).carried_by(body.hips) if rows else set()
    rows = [row for row in rows if row["bone"] in carried]
    before = _keyed_hips(output) if rows else None

    def tell(leg: float) -> Iterator[str]:
        if before is None:
            return
        way = output.armature.matrix_world.median_scale * (_keyed_hips(output) - before)
        moved = frames[np.linalg.norm(way, axis=1) > STEP * leg]
        along = {row["bone"] for row in rows if ((row["start"] <= moved) & (moved <= row["end"])).any()}
        if along:
            yield f"the hips took {listed(sorted(along))} along, off what they held on to: plant them again"

    return tell


def _keyed_hips(output: Output) -> Array:
    """The keyed locations (F, 3) of the hips in the target, on the frames of the task."""
    path = output.armature.pose.bones[output.task.body.hips].path_from_id("location")
    return keys.values_of(output.target.curves, path, output.task.frames, (0.0, 0.0, 0.0))


def _report(task: Task, before: Sample, plan: Plan, marks: Marks | None) -> Stages[tuple[Clip, Rows, dict[str, Any]]]:
    """The clip of the scene as it is now, the contacts of the whole action, and the figures of the written frames.

    The clip is compared with Blender's evaluation on some frames, among them the worst ones of the figures.
    """
    after = yield from part_of(task.sample(before=before), 0.0, 0.5)
    made = yield from part_of(_measure(task, plan, marks, after.clip), 0.5, 0.8)
    seen = yield from part_of(proven(after, task.subject, sorted(set(made[1]["worst"].values()))), 0.8, 1.0)
    if seen is not after:
        made = yield from part_of(_measure(task, plan, marks, seen.clip), 1.0, 1.0)
    return seen.clip, *made


def _measure(task: Task, plan: Plan, marks: Marks | None, after: Clip) -> Stages[tuple[Rows, dict[str, Any]]]:
    """The contacts to store and the figures, measured on the clip `after` writing."""
    wanted = _wanted(plan, marks, task.options.contacts).choose(task.body.chosen)
    after, plan = after.choose(task.body.chosen), plan.choose(task.body.chosen)
    part = plan.cut(task.part)
    if task.shares is not None:
        # Feet slide on frames on which corrections fade.
        part = replace(part, contacts=part.contacts & (task.shares == 1.0)[:, None, None])

    # With sparse keys of controls, legs may miss by up to RIGHT on purpose.
    allowed = RIGHT if task.is_thinned and task.controlled else SHORT

    def measure() -> tuple[Rows, dict[str, Any]]:
        figures = report.figures(part.clip, after.cut(task.part), part, part.ground, task.frames.tolist(), allowed)
        spans = report.contact_spans(after, wanted)
        placed = [span for span in spans if span["anchor"]]
        for span, ways in zip(placed, records.lying(plan, placed), strict=True):
            span.update(ways)
        return spans, figures

    contacts, figures = yield from aside(measure, Progress("measuring", 0.0), after.frames)
    surfaces = plan.ground if isinstance(plan.ground, Surfaces) else Surfaces((), plan.clip.leg)
    _put_in_names(task, surfaces, contacts, figures)
    return contacts, figures | {"surfaces": surfaces.names, "told": [*figures["told"], *surfaces.told]}


def _put_in_names(task: Task, surfaces: Surfaces, contacts: Rows, figures: dict[str, Any]) -> None:
    """Fill in the scene's names of limbs, its frame numbers, and anchors in the spaces of their supports."""
    for limb, foot in zip(task.body.limbs, figures["feet"], strict=True):
        foot["bone"] = limb.foot
        if limb.end is not None:
            foot |= {"heel": list(limb.end), "ball": list(limb.end), "sole": [list(limb.end)] * 2}
    for span in contacts:
        span["start"], span["end"] = int(task.whole[span["start"]]), int(task.whole[span["end"] - 1])
    for span in (*figures["spans"], *contacts):
        span["bone"], row = task.body.limbs[span["leg"]].foot, span["start"] - int(task.whole[0])
        span["local"] = surfaces.local(span["support"], span["anchor"], row) if span["anchor"] else None
    for span in contacts:
        span["leg"] = task.body.numbers[span["leg"]]


def _wanted(plan: Plan, marks: Marks | None, mode: str) -> Plan:
    """The plan with the contacts to store: edited ones as edited, and others as detected."""
    if marks is None:
        return replace(plan, contacts=plan.resting)
    contacts = marks.standing if mode == "STORED" else plan.resting | marks.enforced
    return replace(plan, contacts=contacts, enforced=marks.enforced)
