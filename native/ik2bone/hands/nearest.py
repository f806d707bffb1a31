# SPDX-License-Identifier: MIT
"""Places on the nearest surface: where a touching limb comes to rest, and which way it faces there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ground.query import Frames, ask, ask_on
from ..model import Array, Ground, Mask
from ..rotations import unit

# Farther from every surface than this (limb lengths) nothing is touched, only missed: 12 cm for a person's arm.
WITHIN = 0.2
# Half the width of a palm or a sole (limb lengths): 4 cm of a person's arm, 5 cm of a leg. A surface is wide enough to
# turn them to it when points so far around lie on its plane, up to the second. Rungs do not turn hands.
AROUND, EVEN = 0.06, 0.012


@dataclass(frozen=True)
class Spot:
    """A place on a surface: a `point` (3,), the unit `normal` (3,), whether it is `wide` and whether it is there."""

    point: Array
    normal: Array
    wide: bool
    found: bool


def find_spot(
    ground: Ground, point: Array, length: float, up: Array | None, frame: int, sole_up: Array | None, within: float
) -> Spot:
    """The spot nearest to a resting point (3,) of a limb of some length, on a frame.

    With `up` (3,) it is the one over or under the point; `sole_up` (3,) is where the sole of a foot looks up to. It is
    at most `within` limb lengths away.
    """
    hit, normal, found = (row[0] for row in ask_on(ground, point[None], up, frame))
    if not found or np.linalg.norm(hit - point) > within * length:
        return Spot(point, normal, False, False)
    mean, wide = mean_normal(ground, hit[None], normal[None], np.array([length]), up, np.array([frame]))
    if not wide[0] and sole_up is not None and up is None:
        # A foot on something narrow, such as a rung, stands on its top.
        over = hit + 2.0 * AROUND * length * sole_up
        higher, facing, found = (row[0] for row in ask_on(ground, over[None], up, frame))
        if found and facing @ sole_up > normal @ sole_up:
            hit, mean[0] = higher, facing
    return Spot(hit, mean[0], bool(wide[0]), True)


def mean_normal(
    ground: Ground, hits: Array, normals: Array, length: Array, up: Array | None, frames: Frames | None = None
) -> tuple[Array, Mask]:
    """The mean normals (F, ..., 3) of places (F, ..., 3) and of those around, and whether it is wide there (F, ...)."""
    other = np.eye(3)[np.abs(normals).argmin(axis=-1)]
    first = unit(np.cross(normals, other))
    second = np.cross(normals, first)
    around = hits[..., None, :] + AROUND * length[..., None, None] * np.stack([first, second, -first, -second], axis=-2)
    places, facing, found = ask(ground, around, up, frames)
    even = np.linalg.norm(places - around, axis=-1) < EVEN * length[..., None]
    return unit(normals + facing.sum(axis=-2)), (found & even).all(axis=-1)


def unit_axes(matrices: Array) -> Array:
    """Matrices (..., 3, 3) with axes of unit length."""
    return np.swapaxes(unit(np.swapaxes(matrices, -1, -2)), -1, -2)


def facing_of(known: Array, axes: Array, normals: Array) -> Array:
    """The direction in a limb's end space (3,) that looks away from what it touches, from its axes (N, 3, 3) there.

    Where it is `known` up to its sign (of palms and soles) that, else the mean of the normals (N, 3), so that only what
    differs from one contact to the other is turned.
    """
    mean = np.einsum("nji,nj->i", axes, normals)
    if known.any():
        return known if known @ mean >= 0.0 else -known
    return unit(mean)
