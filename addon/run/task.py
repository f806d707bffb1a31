# SPDX-License-Identifier: GPL-3.0-or-later
"""What one armature's run plants: limbs, frames, surfaces, and how much of its correction each frame gets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bpy.types import Context, Object
from ik2bone.arrays import Array

from ..keys.keyframes import Frames
from ..pose.sample import Sample, sampling
from ..properties import PlantingOptions
from ..rig.body import Body
from ..rig.limb import Control, Limb
from ..stages import Stages


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
    frames: Frames
    whole: Frames
    shares: Array | None = None
    present: bool = False

    @property
    def strength(self) -> float | Array:
        """How much of the correction is applied, on each frame of the whole where that differs."""
        if self.shares is None:
            return self.options.strength
        whole = np.zeros(len(self.whole))
        whole[self.part] = self.options.strength * self.shares
        return whole

    @property
    def faded_ends(self) -> list[tuple[int, bool]]:
        """Those ends of the frames at which corrections fade to zero, each with whether it is the first."""
        ends = [] if self.shares is None else [(0, True), (-1, False)]
        return [(int(self.frames[row]), first) for row, first in ends if self.shares[row] == 0.0]

    @property
    def is_thinned(self) -> bool:
        """Whether keys are left out that the motion hardly needs."""
        return bool(self.options.sparse_keys) and not self.present

    @property
    def moves_hips(self) -> bool:
        """Whether the hips may move."""
        return self.options.use_hips and self.body.hips is not None

    @property
    def turned(self) -> list[tuple[str, int, int]]:
        """The bones that are turned, each with its limb and its place in that: first all but toes.

        Those of limbs with controls are none of them.
        """
        limbs = [(number, limb) for number, limb in enumerate(self.body.limbs) if not limb.controls]
        bones = [(name, number, place) for number, limb in limbs for place, name in enumerate(limb.turned)]
        return bones + [(limb.toe, number, 3) for number, limb in limbs if limb.toe in self.body.toes]

    @property
    def controlled(self) -> list[Limb]:
        """The limbs that are planted through controls."""
        return [limb for limb in self.body.limbs if limb.controls]

    @property
    def controls(self) -> list[Control]:
        """The controls of these."""
        return [control for limb in self.controlled for control in limb.controls]

    @property
    def part(self) -> slice:
        """The rows of `frames` among those of `whole`."""
        first = int(self.frames[0] - self.whole[0])
        return slice(first, first + len(self.frames))

    @property
    def subject(self) -> tuple[Object, tuple[Limb, ...], str | None]:
        """What is sampled: the armature, the limbs that are looked at, and the hips."""
        return self.armature, self.body.planned, self.body.hips

    def sample(self, prove: bool = True) -> Stages[Sample]:
        """The pose over the whole, as the armature plays it now."""
        return sampling(*self.subject, self.whole.tolist(), present=self.present, prove=prove)
