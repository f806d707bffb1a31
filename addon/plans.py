# SPDX-License-Identifier: GPL-3.0-or-later
"""From a pose in the scene to corrected channels, and from the corrected scene to the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Context, Object
from ik2bone import plant as core
from ik2bone import report
from ik2bone.sole import Sole, measure_sole
from numpy.typing import NDArray

from . import keys
from .actions import Curves
from .body import Body
from .chains import Refusal
from .keys import Channel
from .properties import PlantingOptions
from .sample import Sample, sample
from .surfaces import Floor, Ground, make_ground


@dataclass(frozen=True)
class Task:
    """What is planted on what: `surfaces` may be empty, `present` means the pose as it stands instead of the action."""

    context: Context
    armature: Object
    body: Body
    options: PlantingOptions
    surfaces: tuple[Object, ...]
    frames: NDArray[np.int64]
    present: bool = False
    # Measured from the whole action, where the frames are only a part of it.
    sole: Sole | None = None

    @property
    def moves_hips(self) -> bool:
        """Whether the hips may move."""
        return self.options.use_hips and self.body.hips is not None

    @property
    def turned_bones(self) -> list[str]:
        """Names of all bones that are turned: thigh, shin and foot, leg by leg. Toes turn with the foot."""
        return [name for leg in self.body.legs for name in leg.bones[:3]]

    def sample(self) -> Sample:
        """The pose over the frames, as it is now."""
        return sample(self.armature, self.body.legs, self.body.hips, self.frames.tolist(), present=self.present)


@dataclass(frozen=True)
class Plan:
    """What the core made of the sampled pose."""

    before: Sample
    ground: Ground | Floor
    planting: core.Planting


def make_plan(task: Task) -> Plan:
    """Sample the pose and plan how it stands."""
    before = task.sample()
    ground = _find_ground(task, before)
    settings = core.Settings(
        contacts="ALWAYS" if task.present else task.options.contacts,
        use_hips=task.moves_hips,
        use_slope=task.options.use_slope,
        strength=task.options.strength,
    )
    try:
        return Plan(before, ground, core.plant(before.clip, ground, settings, task.sole))
    except core.NoGround:
        names = ", ".join(ground.names) or "meshes without faces"
        raise Refusal(f"no surface lies under the feet of {task.armature.name}: only {names} was looked at") from None


def _find_ground(task: Task, before: Sample) -> Ground | Floor:
    if task.surfaces:
        return make_ground(task.context.evaluated_depsgraph_get(), task.surfaces)
    return Floor((task.sole or measure_sole(before.clip)).floor)


def sole_of_action(armature: Object, body: Body, bounds: tuple[int, int], frames: NDArray[np.int64]) -> Sole | None:
    """The soles by the whole of the action in use, None where the frames are all of it and tell it themselves."""
    if (frames[0], frames[-1]) == bounds:
        return None
    whole = range(bounds[0], bounds[1] + 1)
    return measure_sole(sample(armature, body.legs, body.hips, whole).clip)


def correct(task: Task, plan: Plan, channels: list[Channel], curves: Curves) -> list[Channel]:
    """The channels, rotations in the order of `turned_bones` and the hips' location after them, with corrections.

    `curves` hold the keys before the first frame, which rotations continue.
    """
    turns = plan.planting.turns
    rows = [turns[:, i, part] for i in range(len(task.body.legs)) for part in range(3)]
    bones = [task.armature.pose.bones[name] for name in task.turned_bones]
    first = int(task.frames[0])
    turned = [
        keys.turned(channel, bone.rotation_mode, row, keys.value_before(curves, channel, first))
        for channel, bone, row in zip(channels, bones, rows, strict=False)
    ]
    location = channels[len(rows) :]
    return turned + [keys.moved(hips, plan.before.placing, plan.planting.hips_offset) for hips in location]


def make_figures(task: Task, plan: Plan, warnings: tuple[str, ...]) -> dict[str, Any]:
    """The report of the corrected scene, sampled again, with names of bones and surfaces and all that is told."""
    after = task.sample()
    figures = report.figures(plan.before.clip, after.clip, plan.planting, plan.ground, task.frames.tolist())
    for leg, foot in zip(task.body.legs, figures["feet"], strict=True):
        foot["bone"] = leg.foot
    for span in figures["spans"]:
        span["bone"] = task.body.legs[span["leg"]].foot
        span["support"] = plan.ground.supports(np.array([span["anchor"]]))[0] if span["anchor"] else ""
    return figures | {"surfaces": plan.ground.names, "told": [*figures["told"], *warnings]}
