# SPDX-License-Identifier: MIT
"""The sampled animation that planting reads: arrays over frames and legs, in world space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .sole.skin import Skin

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
# (points (N, 3), down (3,)) -> hits (N, 3), normals (N, 3), found (N,): for each point the surface nearest to it on the
# line through it along `down`, in both directions; unit normals, turned against `down`. World space. Under direction
# 'NEAREST' `down` is None: the nearest point of the surface in any direction, normals as the surface's own.
Ground = Callable[[Array, Array | None], tuple[Array, Array, Mask]]
JOINTS = ("thigh", "shin", "foot", "toe")
# What a clip holds for every frame and limb.
ARRAYS = ("thigh", "shin", "foot", "ball", "tip", "toe", "scale")


@dataclass(frozen=True)
class Clip:
    """An animation sampled at even times: F frames, L legs, world space, any length unit.

    `fps` is samples a second. `thigh`, `shin` and `foot` are aggregate transforms (F, L, 4, 4) of root, mid and end
    joint; their translations are hip, knee and ankle. `ball` is the joint where the toes bend (F, L, 3): the head of
    the toe bone, or the tail of the foot bone of a leg without toes. `tip` is the tip of the toes (F, L, 3), equal to
    `ball` without a toe bone. `scale` holds the own scales of thigh, shin, foot and toe (F, L, 4, 3), ones by default.
    `toe` holds the toe bones' aggregate transforms (F, L, 4, 4), `has_toe` (L,) tells which of them are real; rows
    that are not repeat the foot's. `up` is the unit vector against gravity. `skins` (L) are the points of the skin that
    go with the feet, of figures that have one. `floors` are heights along up at which the clip's own floor may lie,
    likeliest first.

    A limb may be an arm, or any other chain of three: `is_hand` (L,) tells which. Then thigh, shin and foot are upper
    arm, forearm and hand, and the ball is the point of the palm that touches. `palm` (L, 3) is the unit normal of the
    palm in hand space, of either sign, zero where it is not known. `rest_hinge` (L, 3) is the hinge of each mid joint
    in the rest pose, in shin space, unit or, where the limb rests straight, zero.
    """

    fps: float
    thigh: Array
    shin: Array
    foot: Array
    ball: Array
    tip: Array
    toe: Array
    has_toe: Mask
    scale: Array
    up: Array
    skins: tuple[Skin, ...] | None = None
    floors: tuple[float, ...] = (0.0,)
    is_hand: Mask | None = None
    palm: Array | None = None
    rest_hinge: Array | None = None

    @property
    def hands(self) -> Mask:
        """Which limbs are no legs (L,)."""
        return np.zeros(self.legs, bool) if self.is_hand is None else self.is_hand

    @property
    def frames(self) -> int:
        """Number of frames."""
        return self.foot.shape[0]

    @property
    def legs(self) -> int:
        """Number of legs."""
        return self.foot.shape[1]

    @property
    def hip(self) -> Array:
        """Root joints (F, L, 3)."""
        return self.thigh[..., :3, 3]

    @property
    def knee(self) -> Array:
        """Mid joints (F, L, 3)."""
        return self.shin[..., :3, 3]

    @property
    def ankle(self) -> Array:
        """End joints (F, L, 3)."""
        return self.foot[..., :3, 3]

    @cached_property
    def reach(self) -> Array:
        """Upper plus lower length (F, L), measured on every frame."""
        upper = np.linalg.norm(self.knee - self.hip, axis=-1)
        return upper + np.linalg.norm(self.ankle - self.knee, axis=-1)

    @cached_property
    def leg(self) -> float:
        """Median reach of all legs, or of all arms where there are only arms: what tolerances are relative to."""
        return float(np.median(self.reach if self.hands.all() else self.reach[:, ~self.hands]))

    def moved(self, offset: Array) -> Clip:
        """The same clip moved as a whole by an offset (F, 3)."""
        points = {name: getattr(self, name) + offset[:, None] for name in ("ball", "tip")}
        matrices = {name: getattr(self, name).copy() for name in ("thigh", "shin", "foot", "toe")}
        for matrix in matrices.values():
            matrix[..., :3, 3] += offset[:, None]
        return replace(self, **points, **matrices)

    def cut(self, frames: slice) -> Clip:
        """The same clip over some of its frames."""
        return replace(self, **{name: getattr(self, name)[frames] for name in ARRAYS})

    def choose(self, limbs: Mask) -> Clip:
        """The same clip with some of its limbs (L,)."""
        kept: dict[str, Any] = {name: getattr(self, name)[:, limbs] for name in ARRAYS}
        for name in ("has_toe", "is_hand", "palm", "rest_hinge"):
            row = getattr(self, name)
            kept[name] = None if row is None else row[limbs]
        if self.skins is not None:
            kept["skins"] = tuple(skin for skin, chosen in zip(self.skins, limbs, strict=True) if chosen)
        return replace(self, **kept)


def level_part(vectors: Array, up: Array) -> Array:
    """Vectors (..., 3) without what they have along up."""
    return vectors - (vectors @ up)[..., None] * up
