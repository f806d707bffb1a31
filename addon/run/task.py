# SPDX-License-Identifier: GPL-3.0-or-later
"""From a pose in the scene to corrected channels, and from the corrected scene to the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Object
from ik2bone import plan as core
from ik2bone import report
from ik2bone.contacts.spans import Marks
from ik2bone.ground.carrier import as_made
from ik2bone.ground.surfaces import Floor, Surfaces
from ik2bone.hands.touch import measure_limbs
from ik2bone.model import Clip
from ik2bone.rotations import nearest_rotations, quaternion_from_vector, vector_from_matrix
from ik2bone.sole.measure import Sole
from numpy.typing import NDArray

from ..errors import Refusal
from ..ground.meshes import make_ground
from ..ground.motion import find_motions
from ..keys import channels as keys
from ..keys.actions import Curves
from ..keys.channels import Channel
from ..pose.sample import Sample, proven, rest_clip, sample, sampling
from ..pose.skins import find_skins
from ..properties import PlantingOptions
from ..rig.body import Body
from ..rig.find import Leg
from ..stages import Progress, Stages, aside
from . import kept
from .contacts import Rows

Array = NDArray[np.float64]
# Hips lie over the feet by at least this share of the leg where a rest pose stands.
UPRIGHT = 0.7


@dataclass(frozen=True)
class Task:
    """What is planted on what: `surfaces` may be empty, `present` means the pose as it stands instead of the action.

    `frames` are those to be written, `whole` all of the action: contacts and the places where feet stand are told from
    the whole, so that no choice of frames changes them. `shares` of the frames tell where corrections fade.
    """

    context: Context
    armature: Object
    body: Body
    options: PlantingOptions
    surfaces: tuple[Object, ...]
    frames: NDArray[np.int64]
    whole: NDArray[np.int64]
    shares: Array | None = None
    present: bool = False

    @property
    def strength(self) -> float | Array:
        """How much of the correction is applied, on each frame of the whole where that differs."""
        return self.options.strength if self.shares is None else self.options.strength * self._spread(self.shares)

    @property
    def faded_ends(self) -> list[tuple[int, bool]]:
        """Those ends of the frames at which corrections fade to zero, each with whether it is the first."""
        if self.shares is None:
            return []
        ends = ((int(self.frames[0]), True, self.shares[0]), (int(self.frames[-1]), False, self.shares[-1]))
        return [(frame, first) for frame, first, share in ends if share == 0.0]

    def _spread(self, values: Array) -> Array:
        """Values of the frames over the whole, zero elsewhere."""
        whole = np.zeros(len(self.whole))
        whole[self.part] = values
        return whole

    @property
    def moves_hips(self) -> bool:
        """Whether the hips may move."""
        return self.options.use_hips and self.body.hips is not None

    @property
    def stands(self) -> bool:
        """Whether there are feet that stand on soles, instead of limbs that touch the nearest surface."""
        return self.options.direction == "DOWN" and any(leg.is_leg for leg in self.body.legs)

    @property
    def turned_bones(self) -> list[str]:
        """Names of all bones that are turned: thigh, shin and foot, leg by leg, and then toes."""
        return [name for leg in self.body.legs for name in leg.turned] + list(self.body.toes)

    @property
    def part(self) -> slice:
        """The rows of `frames` among those of `whole`."""
        first = int(self.frames[0] - self.whole[0])
        return slice(first, first + len(self.frames))

    def source(self) -> Stages[Sample]:
        """As `sample`, of motion that is likely to be sampled again by a next run."""
        if self.present:
            return self.sample()
        return kept.sampled(self.armature, self.body.planned, self.body.hips, self.whole.tolist())

    def sample(self) -> Stages[Sample]:
        """The pose over the whole, as the armature plays it now."""
        return sampling(self.armature, self.body.planned, self.body.hips, self.whole.tolist(), present=self.present)

    def proven(self, found: Sample, frames: Sequence[int]) -> Stages[Sample]:
        """A sample itself if Blender's evaluation agrees with it on some of its frames, else the same by stepping."""
        return proven(found, self.armature, self.body.planned, self.body.hips, frames)


@dataclass(frozen=True)
class Plan:
    """What the core made of the sampled pose, for all limbs that were planned, and what people want of contacts."""

    before: Sample
    ground: Surfaces | Floor
    planned: core.Plan
    marks: Marks | None

    def cut(self, rows: slice) -> Plan:
        """The same plan over some of its frames."""
        ground = self.ground.cut(rows) if isinstance(self.ground, Surfaces) else self.ground
        parts = {"before": self.before.cut(rows), "planned": self.planned.cut(rows)}
        return replace(self, ground=ground, marks=self.marks and self.marks.cut(rows), **parts)

    def choose(self, limbs: NDArray[np.bool_]) -> Plan:
        """The same plan for some of its limbs (L,)."""
        before = replace(self.before, clip=self.before.clip.choose(limbs))
        marks = self.marks and self.marks.choose(limbs)
        return replace(self, before=before, planned=self.planned.choose(limbs), marks=marks)

    def standing_on(self, rows: NDArray[np.bool_]) -> Plan:
        """The same plan with the contacts of some of its frames only: where corrections fade, feet slide."""
        return replace(self, planned=replace(self.planned, contacts=self.planned.contacts & rows[:, None, None]))


class Report(NamedTuple):
    """The contacts of the whole, and the figures of the written frames, in plain data."""

    contacts: Rows
    figures: dict[str, Any]


def make_plan(task: Task, before: Sample, sole: Sole | None, offset: Array | None, marks: Marks | None) -> Stages[Plan]:
    """Plan how the sampled pose stands.

    `sole` is measured from the action where the pose is a single one of it; a pose that is all there is takes that of
    the rest pose. `offset` (F, L, 3) is how far the hip joints lie from the sampled ones already. `marks` are what
    people want of contacts.
    """
    clip = replace(before.clip, skins=find_skins(task.armature, task.body.planned))
    sole = sole or (_sole_of_rest(task) if clip.frames == 1 else None)
    ground = _find_ground(task, clip, sole)
    settings = core.Settings(
        contacts="ALWAYS" if task.present else task.options.contacts,
        use_hips=task.moves_hips if offset is None else task.options.use_hips,
        use_slope=task.options.use_slope,
        max_slope=task.options.max_slope,
        max_drop=task.options.max_drop,
        gives_way=task.options.gives_way,
        strength=task.strength,
        direction=task.options.direction,
        marks=marks,
        asked=task.body.chosen,
    )
    try:
        planned = yield from aside(
            lambda: core.plant(clip, ground, settings, sole, offset, kept.last_plan()), Progress("planning", 0.0)
        )
        return Plan(before, ground, kept.keep_plan(planned), marks)
    except core.NoGround:
        names = ", ".join(ground.names) or "meshes without faces"
        stands = task.stands and all(limb.is_leg for limb in task.body.planned)
        where = "under the feet" if stands else "within reach of the limbs"
        told = "".join(f"; {sentence}" for sentence in ground.told)
        looked = f"nothing but {names} was looked at{told}"
        raise Refusal(f"no surface lies {where} of {task.armature.name}: {looked}") from None


def _find_ground(task: Task, clip: Clip, sole: Sole | None) -> Surfaces | Floor:
    if task.surfaces:
        graph, near = task.context.evaluated_depsgraph_get(), task.options.direction == "NEAREST"
        return make_ground(graph, task.surfaces, clip.leg, task.whole.tolist(), near, kept.mesh)
    return Floor((sole or measure_limbs(clip)).floor)


def sole_of_action(task: Task, bounds: tuple[int, int]) -> Sole:
    """The soles by the whole of the action in use, wherever that was made."""
    whole, legs = range(bounds[0], bounds[1] + 1), task.body.planned
    clip = replace(sample(task.armature, legs, task.body.hips, whole).clip, skins=find_skins(task.armature, legs))
    if find_motions(task.surfaces, whole):
        depsgraph, near = task.context.evaluated_depsgraph_get(), task.options.direction == "NEAREST"
        ground = make_ground(depsgraph, task.surfaces, clip.leg, whole, near)
        clip = as_made(clip, ground, None if near else clip.up)
    return measure_limbs(clip)


def _sole_of_rest(task: Task) -> Sole | None:
    """The soles by the rest pose, if that stands: the only other one there is where nothing is animated."""
    limbs = task.body.planned
    clip = replace(rest_clip(task.armature, limbs), skins=find_skins(task.armature, limbs))
    feet = ~clip.hands
    stands = (clip.hip - clip.ball) @ clip.up > UPRIGHT * clip.leg
    sole = measure_limbs(clip)
    if not feet.any() or not stands[:, feet].all() or "proportion" in sole.source:
        return None
    return replace(sole, source=tuple("rest pose" if name == "clip's floor" else name for name in sole.source))


def correct(task: Task, plan: Plan, channels: list[Channel], curves: Curves) -> list[Channel]:
    """The channels, rotations in the order of `turned_bones` and locations after them, with corrections.

    `plan` is that of the frames to be written, `curves` hold the keys before the first, which rotations continue.
    """
    chosen, legs = plan.choose(task.body.chosen), task.body.legs
    rows = [turn for i, leg in enumerate(legs) for turn in _turns(chosen, leg, i)]
    rows += [chosen.planned.rotations[:, i, 3] for i, leg in enumerate(legs) if leg.toe in task.body.toes]
    bones = [task.armature.pose.bones[name] for name in task.turned_bones]
    turned = [
        keys.turned(channel, bone.rotation_mode, row, _value_before(task, curves, channel), _rejoins(task))
        for channel, bone, row in zip(channels, bones, rows, strict=False)
    ]
    moves = {leg.foot: _way(task, chosen, leg, i) for i, leg in enumerate(legs) if leg.loose}
    moves |= {task.body.hips: plan.planned.hips_offset}
    places = channels[len(rows) :]
    return turned + [keys.moved(place, plan.before.placing[place.bone], moves[place.bone]) for place in places]


def _turns(plan: Plan, leg: Leg, number: int) -> list[Array]:
    """Corrections (F, 4) of those bones of a leg that are turned, the plan's leg of this number."""
    turns = [plan.planned.rotations[:, number, part] for part in range(len(leg.turned))]
    if leg.loose:
        axes = nearest_rotations(plan.before.clip.foot[:, number, :3, :3])
        vectors = vector_from_matrix(plan.planned.targets.turn[:, number])
        turns[2] = quaternion_from_vector((vectors[:, None] @ axes)[:, 0])
    return turns


def _way(task: Task, plan: Plan, leg: Leg, number: int) -> Array:
    """How far a loose foot moves (F, 3) from where it would be, which may be with the hips."""
    way = plan.planned.targets.ankle[:, number] - plan.before.clip.ankle[:, number]
    above = {bone.name for bone in task.armature.data.bones[leg.foot].parent_recursive}
    return way - plan.planned.hips_offset if task.body.hips in above else way


def _value_before(task: Task, curves: Curves, channel: Channel) -> Array | None:
    """What the first value continues: itself where corrections fade in from it, else the last key before it."""
    first = int(task.frames[0])
    return channel.values[0] if (first, True) in task.faded_ends else keys.value_before(curves, channel, first)


def _rejoins(task: Task) -> bool:
    return (int(task.frames[-1]), False) in task.faded_ends


def make_report(task: Task, plan: Plan, after: Clip, warnings: tuple[str, ...]) -> Stages[Report]:
    """The report of a plan, from the corrected scene sampled again.

    Names of bones and surfaces and all that is told are put in. Contacts are those that stand and those that people
    want.
    """
    wanted = _wanted(plan, task.options.contacts).choose(task.body.chosen)
    after, plan = after.choose(task.body.chosen), plan.choose(task.body.chosen)
    part = plan.cut(task.part)
    if task.shares is not None:
        part = part.standing_on(task.shares == 1.0)

    def measure() -> tuple[dict[str, Any], Rows]:
        before, cut, frames = part.before.clip, after.cut(task.part), task.frames.tolist()
        figures = report.figures(before, cut, part.planned, part.ground, frames)
        return figures, report.contact_spans(after, wanted)

    figures, contacts = yield from aside(measure, Progress("measuring", 0.0))
    for leg, foot in zip(task.body.legs, figures["feet"], strict=True):
        foot["bone"] = leg.foot
        if leg.end is not None:
            foot |= {"heel": list(leg.end), "ball": list(leg.end), "sole": [list(leg.end)] * 2}
    for span in contacts:
        span["start"], span["end"] = int(task.whole[span["start"]]), int(task.whole[span["end"] - 1])
    for span in (*figures["spans"], *contacts):
        _name_span(task, plan, span)
    for span in contacts:
        span["leg"] = task.body.numbers[span["leg"]]
    told = [*figures["told"], *plan.ground.told, *warnings]
    return Report(contacts, figures | {"surfaces": plan.ground.names, "told": told})


def _wanted(plan: Plan, mode: str) -> core.Plan:
    """The plan with the contacts that people want as they want them, even where heels had to rise for reach."""
    marks = plan.marks
    if marks is None:
        return plan.planned
    contacts = marks.standing if mode == "STORED" else plan.planned.contacts | marks.enforced
    return replace(plan.planned, contacts=contacts, enforced=marks.enforced)


def _name_span(task: Task, plan: Plan, span: dict[str, Any]) -> None:
    """Put in the foot bone, and where the anchor is in the space of its support."""
    span["bone"] = task.body.legs[span["leg"]].foot
    span["local"] = None
    if span["anchor"] and isinstance(plan.ground, Surfaces):
        span["local"] = plan.ground.local(span["support"], np.array(span["anchor"]), span["start"] - int(task.whole[0]))
