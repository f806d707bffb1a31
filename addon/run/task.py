# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of one armature's run: limbs, surfaces, frames, and the share of the correction on each frame."""

from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
from bpy.types import Context, Object, Scene
from ik2bone.arrays import Array
from ik2bone.curves import smoothstep

from ..errors import Refusal
from ..keys import actions
from ..keys.keyframes import Frames
from ..pose.sample import Sample, Subject, sampling
from ..progress import Stages
from ..properties import PlantingOptions
from ..rig.body import Body
from ..rig.limb import Control, Limb
from .records import LAST_FRAME

Bounds = tuple[int, int]

# Corrections fade over this time (s), about that of a step, or over half of a shorter range, where no blend is chosen.
FADE = 0.5


@dataclass(frozen=True)
class Task:
    """What a run plants, and on what.

    surfaces  objects to plant on; may be empty
    frames    frames that are written
    whole     all frames of the action, from which contacts and anchors are found, whatever `frames` are
    shares    (F,) share of the correction on each of `frames`; None if all are 1
    present   whether the present pose is planted instead of the action
    """

    context: Context
    armature: Object
    body: Body
    options: PlantingOptions
    surfaces: tuple[Object, ...]
    frames: Frames
    whole: Frames
    shares: Array | None = None
    present: bool = False

    @property
    def strength(self) -> float | Array:
        """The share of the correction that is applied: a number, or one for each frame of `whole`."""
        if self.shares is None:
            return self.options.strength
        whole = np.zeros(len(self.whole))
        whole[self.part] = self.options.strength * self.shares
        return whole

    @property
    def faded_ends(self) -> list[tuple[int, bool]]:
        """The first or last frame, or both, if corrections fade to zero there, each with whether it is the first."""
        ends = [] if self.shares is None else [(0, True), (-1, False)]
        return [(int(self.frames[row]), first) for row, first in ends if self.shares[row] == 0.0]

    @property
    def is_thinned(self) -> bool:
        """Whether keys are sparse."""
        return bool(self.options.sparse_keys) and not self.present

    @property
    def moves_hips(self) -> bool:
        return self.options.use_hips and self.body.hips is not None

    @property
    def turned(self) -> list[tuple[str, int, int]]:
        """The bones that are turned, each with the number of its limb and its place in the limb; toes come last.

        Bones of limbs with controls are not turned themselves.
        """
        limbs = [(number, limb) for number, limb in enumerate(self.body.limbs) if not limb.controls]
        bones = [(name, number, place) for number, limb in limbs for place, name in enumerate(limb.turned)]
        return bones + [(limb.toe, number, 3) for number, limb in limbs if limb.toe in self.body.toes]

    @property
    def controlled(self) -> list[Limb]:
        return [limb for limb in self.body.limbs if limb.controls]

    @property
    def controls(self) -> list[Control]:
        return [control for limb in self.controlled for control in limb.controls]

    @property
    def part(self) -> slice:
        """The rows of `frames` among those of `whole`."""
        first = int(self.frames[0] - self.whole[0])
        return slice(first, first + len(self.frames))

    @property
    def subject(self) -> Subject:
        """What is sampled."""
        return Subject(self.armature, self.body.planned, self.body.hips)

    def sample(self, **options: Any) -> Stages[Sample]:
        """Sample the whole action as the armature plays it, or the present pose, with options of `sampling`."""
        return sampling(self.subject, self.whole.tolist(), present=self.present, **options)


def action_bounds(assignment: actions.Assignment) -> Bounds:
    """The first and last whole frame of an action, rounded outwards."""
    if assignment.action is None:
        raise Refusal("the armature plays no action: assign one, or plant the current frame only")
    span = actions.frame_span(assignment)
    if span is None or assignment.curves.bag is None:
        raise Refusal(f"action {assignment.action.name} has no keys for this armature")
    keyed = assignment.curves.span() or span
    # Blender ends the range of an action that has a key beyond its last frame, or at infinity, at that frame.
    if not all(-LAST_FRAME < frame < LAST_FRAME for frame in (*span, *keyed)):
        raise Refusal(
            f"action {assignment.action.name} has a key, or an end of its frame range, beyond Blender's frames "
            f"-{LAST_FRAME - 1} to {LAST_FRAME - 1}, or at infinity or NaN"
        )
    return floor(span[0]), ceil(span[1])


def choose_frames(scene: Scene, options: PlantingOptions, bounds: Bounds) -> Frames:
    """The frames within the action's bounds that `options.frame_range` chooses."""
    wanted = wanted_frames(scene, options, bounds)
    first, last = max(wanted[0], bounds[0]), min(wanted[1], bounds[1])
    if first > last:
        raise Refusal(
            f"there is no frame to plant: {wanted[0]} to {wanted[1]} was asked for, "
            f"and the action covers {bounds[0]} to {bounds[1]}"
        )
    return np.arange(first, last + 1)


def usual_blend(frames: int, fps: float) -> int:
    """The number of frames over which corrections fade where no blend is chosen."""
    return max(1, min(round(FADE * fps), (frames - 1) // 2))


def blend(frames: Frames, bounds: Bounds, lengths: tuple[int, int]) -> Array | None:
    """The shares (F,) of corrections that fade over `lengths` at the ends of the frames; None if all are 1.

    Only ends inside the bounds fade, and the share there is 0. Lengths that overlap are shortened in proportion.
    """
    time, within = np.arange(len(frames)), (frames[0] > bounds[0], frames[-1] < bounds[1])
    wanted = [length * inside for length, inside in zip(lengths, within, strict=True)]
    room = min(1.0, (len(frames) - 1) / max(1, sum(wanted)))
    shares = np.ones(len(frames))
    for length, way in zip(wanted, (time, time[::-1]), strict=True):
        shares *= smoothstep(way / max(1, floor(room * length))) if length else 1.0
    if not shares.any():
        raise Refusal(
            f"frames {frames[0]} to {frames[-1]} are too few: "
            "corrections fade to zero at the ends of a range within the action"
        )
    return shares if (shares < 1.0).any() else None


def wanted_frames(scene: Scene, options: PlantingOptions, bounds: Bounds) -> Bounds:
    """The first and last frame that the options ask for; `bounds` are those of the action."""
    if options.frame_range == "CUSTOM":
        return options.frame_start, options.frame_end
    if options.frame_range == "SCENE":
        return scene.frame_start, scene.frame_end
    return actions.preview_range(scene) or bounds
