# SPDX-License-Identifier: MIT
"""What a foot has to get over beside a place: edges close to it cost more than those farther off."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..curves import SHARPEST, between
from ..ground.query import ask_on
from ..model import Array, Clip, Ground
from .anchor import Anchor, shortened
from .route import HURRY

# Looked at so long (s) before a standing and after it, and no farther than half way to the next one.
TIMES = np.geomspace(0.04, 0.3, 14)
# A sole that dips no deeper than this (leg lengths) meets no edge: those of clips do so where they roll.
DIP = 0.03
# Share of a quintic's peak of acceleration with which a lift gets over something on its flank, instead of at its top.
FLANK = 0.5


def passing_costs(
    clip: Clip, soles: Array, instants: Array, index: int, places: list[Anchor], ground: Ground, near: float
) -> Array:
    """Cost (C,) of each of the places of a leg's standing, in leg lengths put aside, by what lies beside it.

    `soles` (F, P, 3) are points of the leg's soles as the clip has them, `instants` (N, 2) when it comes to its
    standings and leaves them, in frames and in order. The foot is looked at as it swings in the clip, placed as where
    it stands: by what it would be under the ground it has to be lifted in the time that is left. Acceleration over
    HURRY, which can be seen, costs by the square of what is over. Farther than `near` a foot follows the slope no more.
    """
    total = np.zeros(len(places))
    for frames, times in _beside(clip, instants, index):
        points = _placed(between(soles, frames), places, near)
        hits, _, found = ask_on(ground, points, clip.up, places[0].stance.start)
        under = np.where(found, (hits - points) @ clip.up, 0.0).max(axis=2) / clip.leg
        acceleration = FLANK * SHARPEST * np.maximum(under - DIP, 0.0) / times**2
        total += np.maximum(acceleration.max(axis=1, initial=0.0) / HURRY - 1.0, 0.0) ** 2
    return total


def _placed(soles: Array, places: list[Anchor], near: float) -> Array:
    """Points (T, P, 3) as each of the places has them (C, T, P, 3), see `targets.place_path`."""
    moved = np.array([place.point - place.origin for place in places])
    tilts = np.array([place.turn for place in places]) - np.eye(3)
    away = shortened(soles - places[0].origin, near)
    return soles + moved[:, None, None] + np.einsum("cij,tpj->ctpi", tilts, away)


def _beside(clip: Clip, instants: Array, index: int) -> Iterator[tuple[Array, Array]]:
    """Where among the frames to look before and after a standing, each with how far away (s) from it that is."""
    comes, leaves = instants[index]
    first = (instants[index - 1, 1] + comes) / 2 if index else 0.0
    last = (leaves + instants[index + 1, 0]) / 2 if index + 1 < len(instants) else clip.frames - 1.0
    for frames in (comes - TIMES * clip.fps, leaves + TIMES * clip.fps):
        inside = (frames >= max(first, 0.0)) & (frames <= min(last, clip.frames - 1.0))
        if inside.any():
            yield frames[inside], TIMES[inside]
