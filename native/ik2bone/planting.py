# SPDX-License-Identifier: MIT
"""What planting makes of a clip: corrections, and what they are for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .anchors.anchor import Anchor
from .anchors.footprint import Slopes
from .ground.carrier import Carrier, turn_vectors
from .model import Array, Mask
from .sole.measure import Sole
from .targets.blend import Targets

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Planting:
    """What to do to a clip of F frames and L legs.

    `turns` (F, L, 3, 4) are corrections (w, x, y, z) of thigh, shin and foot, to be multiplied on the right of their
    present local rotations, and `toe_turns` (F, L, 4) those of the toes; `hips_offset` (F, 3) moves the hips in world
    space. `contacts` (F, L, 2) tells which heels and balls stand, `enforced` (F, L, 2) which of them because people
    want it, `targets` where the feet shall go, `miss` (F, L) how far from there they come to lie. `locked` (L,) is
    false where limbs follow the ground without holding a spot, `touching` (L,) tells which of them touch it with one
    point instead of a sole, `hands` (L,) which are no feet, `nearest` whether surfaces were looked for in any
    direction. `told` are sentences for the user.
    """

    turns: Array
    toe_turns: Array
    hips_offset: Array
    contacts: Mask
    enforced: Mask
    targets: Targets
    sole: Sole
    miss: Array
    locked: Mask
    touching: Mask
    hands: Mask
    nearest: bool
    slopes: Slopes
    told: list[str] = field(default_factory=list)

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        """The anchors of all contacts."""
        return tuple(anchor for anchor in self.targets.anchors if anchor.part != "swing")

    def cut(self, frames: slice) -> Planting:
        """The same planting over some of its frames, without the anchors that lie outside."""
        first, last, _ = frames.indices(len(self.turns))
        names = ("turns", "toe_turns", "hips_offset", "contacts", "enforced", "miss")
        parts = {name: getattr(self, name)[frames] for name in names}
        return replace(self, **parts, targets=self.targets.cut(first, last))

    def choose(self, limbs: Mask) -> Planting:
        """The same planting of some of its limbs (L,)."""
        by_frame = ("turns", "toe_turns", "contacts", "enforced", "miss")
        parts = {name: getattr(self, name)[:, limbs] for name in by_frame}
        rows = {name: getattr(self, name)[limbs] for name in ("locked", "touching", "hands")}
        return replace(self, **parts, **rows, targets=self.targets.choose(limbs), sole=self.sole.choose(limbs))

    def led_by(self, turns: Array, targets: Targets, miss: Array) -> Planting:
        """The same planting with one frame before it that stands nowhere, under the same hips."""
        return replace(
            self,
            turns=np.concatenate([turns, self.turns]),
            toe_turns=np.concatenate([np.zeros_like(self.toe_turns[:1]) + IDENTITY, self.toe_turns]),
            hips_offset=np.concatenate([self.hips_offset[:1], self.hips_offset]),
            contacts=np.concatenate([np.zeros_like(self.contacts[:1]), self.contacts]),
            enforced=np.concatenate([np.zeros_like(self.enforced[:1]), self.enforced]),
            miss=np.concatenate([miss, self.miss]),
            targets=self.targets.led_by(targets),
            told=[*self.told, "the first frame is a calibration pose and was only kept over the ground"],
        )

    def carried_by(self, carrier: Carrier) -> Planting:
        """The same planting, made as seen from a carrier, in the world."""
        hips = turn_vectors(carrier.motion, self.hips_offset)
        return replace(self, hips_offset=hips, targets=self.targets.carried_by(carrier.motion))

    def moved(self, hips: Array, targets: Array) -> Planting:
        """The same planting with hips and targets moved on by (F, 3)."""
        return replace(self, hips_offset=self.hips_offset + hips, targets=self.targets.moved(targets[:, None]))

    def telling(self, sentence: str) -> Planting:
        """The same planting with one more sentence for the user."""
        return replace(self, told=[*self.told, sentence])

    @property
    def feet(self) -> list[dict[str, Any]]:
        """Heel, ball joint and points of the sole of each foot in foot bone space, as plain data.

        Of a hand they are its wrist and, twice, the point of its palm; of a foot that touches, the sole is one point.
        """
        return [
            {
                "limb": "hand" if self.hands[leg] else "foot",
                "heel": self.sole.heel[leg].tolist(),
                "ball": self.sole.ball_joint[leg].tolist(),
                "sole": [point[leg].tolist() for point in self._sole_points(leg)],
                "sole_height": float(self.sole.ball_height[leg]),
                "sole_from": self.sole.source[leg],
            }
            for leg in range(len(self.sole.heel))
        ]

    def _sole_points(self, leg: int) -> list[Array]:
        return [self.sole.ball] if self.touching[leg] else [self.sole.heel, self.sole.ball]
