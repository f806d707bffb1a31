# SPDX-License-Identifier: MIT
"""The sampled animation that planting reads: arrays over frames and legs, in world space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
# (points (N, 3), down (3,)) -> hits (N, 3), normals (N, 3), found (N,): for each point the surface nearest to it on the
# line through it along `down`, in both directions; unit normals, turned against `down`. World space.
Ground = Callable[[Array, Array], tuple[Array, Array, Mask]]
JOINTS = ("thigh", "shin", "foot", "toe")


@dataclass(frozen=True)
class Clip:
    """An animation sampled at even times: F frames, L legs, world space, any length unit.

    `fps` is samples a second. `thigh`, `shin` and `foot` are aggregate transforms (F, L, 4, 4) of root, mid and end
    joint; their translations are hip, knee and ankle. `ball` is the joint where the toes bend (F, L, 3): the head of
    the toe bone, or the tail of the foot bone of a leg without toes. `tip` is the tip of the toes (F, L, 3), equal to
    `ball` without a toe bone. `scale` holds the own scales of thigh, shin, foot and toe (F, L, 4, 3), ones by default.
    `toe` holds the toe bones' aggregate transforms (F, L, 4, 4), `has_toe` (L,) tells which of them are real; rows
    that are not repeat the foot's. `up` is the unit vector against gravity. `sole` (L,) is the measured height of the
    ball joint over the sole, where something (a skinned mesh) tells it, else None. `floors` are heights along up at
    which the clip's own floor may lie, likeliest first.
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
    sole: Array | None = None
    floors: tuple[float, ...] = (0.0,)

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

    @property
    def reach(self) -> Array:
        """Upper plus lower length (F, L), measured on every frame."""
        upper = np.linalg.norm(self.knee - self.hip, axis=-1)
        return upper + np.linalg.norm(self.ankle - self.knee, axis=-1)

    @property
    def leg(self) -> float:
        """Median reach of all legs: the length that every tolerance is relative to."""
        return float(np.median(self.reach))

    def cut(self, frames: slice) -> Clip:
        """The same clip over some of its frames."""
        arrays = ("thigh", "shin", "foot", "ball", "tip", "toe", "scale")
        return replace(self, **{name: getattr(self, name)[frames] for name in arrays})
