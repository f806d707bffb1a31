# SPDX-License-Identifier: MIT
"""The plan that planting makes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import checks
from .anchors.anchor import Anchor
from .arrays import Array, Mask
from .clip import JOINTS, Clip
from .ground.query import Ground, cut_ground
from .kept import Kept
from .notes import Note
from .rotations import corrected, move_points
from .sole.measure import Sole
from .targets.blend import Targets

# What a plan holds for every frame.
BY_FRAME = ("rotations", "hips_offset", "contacts", "resting", "enforced", "miss", "strength")


@dataclass(frozen=True, eq=False)
class Plan:
    """What to do to a clip of F frames and L legs so that its feet stand on the ground.

    rotations    corrections of thigh, shin, foot and toe (F, L, 4, 4), quaternions w, x, y, z in the last dimension, to
                 be multiplied on the right of their present local rotations
    hips_offset  how far the hips move (F, 3), world space
    contacts     which heels and balls stand (F, L, 2)
    resting      the same and those that only the ground or the reach of legs keeps from standing (F, L, 2)
    enforced     those contacts (F, L, 2) that people want
    miss         how far from its target each ankle comes to lie (F, L)
    strength     share of the whole correction that each frame gets (F,)
    notes        what the user should know; `str` words a note

    All lengths are in the clip's unit. Besides these, `targets` are where the feet should go, `sole` the soles as they
    were measured. `locked` (L,) is false where limbs follow the ground without an anchor. `nearest` tells whether
    surfaces were looked for in any direction, `max_slope` (radians) how steep ground may be. `clip` and `ground` are
    what was planned, `kept` is what a plan with other settings may take over.
    """

    rotations: Array
    hips_offset: Array
    contacts: Mask
    resting: Mask
    enforced: Mask
    targets: Targets
    sole: Sole
    miss: Array
    strength: Array
    locked: Mask
    nearest: bool
    max_slope: float
    clip: Clip
    ground: Ground
    notes: tuple[Note, ...] = ()
    kept: Kept | None = field(default=None, repr=False)

    @cached_property
    def anchors(self) -> tuple[Anchor, ...]:
        """The anchors of all contacts: where each standing heel or ball is held."""
        return tuple(anchor for anchor in self.targets.anchors if anchor.part != "swing")

    @property
    def touching(self) -> Mask:
        """Which limbs (L,) touch with one point instead of a sole."""
        return self.clip.hands | self.nearest

    def apply(self, clip: Clip) -> Clip:
        """The planted clip: transforms after the corrections and the move of the hips.

        `clip` is the one that was planned, or another that moves alike, as one sampled more exactly.
        """
        checks.kind("clip", clip, Clip, "a Clip")
        if (clip.frames, clip.legs) != self.miss.shape:
            wanted, got = ("{} frames and {} legs".format(*shape) for shape in (self.miss.shape, clip.thigh.shape))
            raise ValueError(f"clip: expected the {wanted} that were planned, got {got}")
        matrices = np.stack([getattr(clip, name) for name in JOINTS], axis=2)
        planted, moves = corrected(matrices, self.rotations, clip.scale, self.hips_offset[:, None])
        ball, tip = move_points(moves[:, :, 2], clip.ball), move_points(moves[:, :, 3], clip.tip)
        return clip.having(**dict(zip(JOINTS, np.moveaxis(planted, 2, 0), strict=True)), ball=ball, tip=tip)

    def report(self) -> dict[str, Any]:
        """Figures of the clip before and after planting, as plain data; `ik2bone.report.text` makes text of them."""
        from .report import figures  # built on this module

        return figures(self.clip, self.apply(self.clip), self, self.ground)

    def cut(self, frames: slice) -> Plan:
        """The same plan over some of its frames, without the anchors that lie outside; itself over all of them."""
        checks.kind("frames", frames, slice, "a slice")
        first, last, step = frames.indices(len(self.miss))
        if (first, last, step) == (0, len(self.miss), 1):
            return self
        checks.part("frames", frames, len(self.miss))
        if step != 1:
            raise ValueError(f"frames: expected a slice of frames that follow one another, got {frames}")
        parts = {name: getattr(self, name)[frames] for name in BY_FRAME}
        parts |= {"clip": self.clip.cut(frames), "ground": cut_ground(self.ground, frames)}
        return replace(self, **parts, targets=self.targets.cut(first, last))

    def choose(self, limbs: Mask) -> Plan:
        """The same plan of some of its limbs (L,); itself where those are all."""
        limbs = checks.some("limbs", limbs, len(self.locked))
        if limbs.all():
            return self
        parts = {name: getattr(self, name)[:, limbs] for name in BY_FRAME if name not in ("hips_offset", "strength")}
        parts |= {name: getattr(self, name).choose(limbs) for name in ("targets", "sole", "clip")}
        return replace(self, **parts, locked=self.locked[limbs])

    def led_by(self, rotations: Array, hips: Array, targets: Targets, miss: Array, strength: Array) -> Plan:
        """The same plan with one frame before it that stands nowhere, with its own move of the hips and strength."""
        nowhere = np.zeros_like(self.contacts[:1])
        first = rotations, hips, nowhere, nowhere, nowhere, miss, strength
        led = {name: np.concatenate([row, getattr(self, name)]) for name, row in zip(BY_FRAME, first, strict=True)}
        return replace(self, **led, targets=self.targets.led_by(targets))

    def noting(self, code: str, **data: Any) -> Plan:
        """The same plan with one more note."""
        return replace(self, notes=(*self.notes, Note(code, data)))
