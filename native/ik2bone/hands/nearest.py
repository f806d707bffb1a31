# SPDX-License-Identifier: MIT
"""Places on the nearest surface: where a touching limb comes to rest, and which way it faces there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ground.query import ask_on
from ..model import Array, Ground, Mask
from ..rotations import unit

# Farther from every surface than this (limb lengths) nothing is touched, only missed: 12 cm for a person's arm.
WITHIN = 0.2
# Where the user wants a limb to touch, it does so from as far off as it is long.
FAR = 1.0
# A surface is wide enough to turn a palm or a sole to it when points this far around (limb lengths) lie in one plane,
# up to so much (limb lengths), and look one way, up to this cosine (25 degrees). Rungs do not turn hands.
AROUND, EVEN, ALIKE = 0.06, 0.012, 0.906
# A foot on something narrow stands on its top, where that is at most so much farther off (limb lengths). It is found
# by asking again from AROUND over the last answer, so many times.
TOP, CLIMBS = 0.04, 3


@dataclass(frozen=True)
class Spot:
    """A place on a surface: a `point` (3,), the unit `normal` (3,), whether it is `wide` and whether it is there."""

    point: Array
    normal: Array
    wide: bool
    found: bool


def find_spot(
    ground: Ground,
    point: Array,
    length: float,
    up: Array | None,
    frame: int,
    sole_up: Array | None = None,
    within: float = WITHIN,
) -> Spot:
    """The spot nearest to a resting point (3,) of a limb of some length, on a frame.

    With `up` (3,) it is the one over or under the point; `sole_up` (3,) is where the sole of a foot looks up to. It is
    at most `within` limb lengths away.
    """
    hit, normal, found = (row[0] for row in ask_on(ground, point[None], up, frame))
    if not found or np.linalg.norm(hit - point) > within * length:
        return Spot(point, normal, False, False)
    hits, normals, there = ask_on(ground, hit + AROUND * length * across(normal), up, frame)
    mean, wide = mean_normal(hit, normal, hits, normals, there, np.asarray(length))
    if not wide and sole_up is not None and up is None:
        hit, mean = _top(ground, point, (hit, normal), length, frame, sole_up)
    return Spot(hit, mean, bool(wide), True)


def _top(
    ground: Ground, point: Array, nearest: tuple[Array, Array], length: float, frame: int, sole_up: Array
) -> tuple[Array, Array]:
    """The place on something narrow that a sole can lie on, if it is near, else the nearest."""
    hit, normal = nearest
    for _ in range(CLIMBS):
        over = hit + AROUND * length * sole_up
        higher, facing, found = (row[0] for row in ask_on(ground, over[None], None, frame))
        farther = np.linalg.norm(higher - point) - np.linalg.norm(nearest[0] - point)
        if not found or farther > TOP * length or facing @ sole_up <= normal @ sole_up:
            break
        hit, normal = higher, facing
    return hit, normal


def across(normals: Array) -> Array:
    """Four unit directions (..., 4, 3) across each unit normal (..., 3)."""
    other = np.eye(3)[np.abs(normals).argmin(axis=-1)]
    first = unit(np.cross(normals, other))
    second = np.cross(normals, first)
    return np.stack([first, second, -first, -second], axis=-2)


def mean_normal(
    hit: Array, normal: Array, hits: Array, normals: Array, found: Mask, length: Array
) -> tuple[Array, Mask]:
    """Mean normals (..., 3) of places (..., 3) and those around (..., 4, 3), and whether it is wide there (...)."""
    away = hits - hit[..., None, :]
    flat = np.abs(np.sum(away * normal[..., None, :], axis=-1)) < EVEN * length[..., None]
    alike = np.sum(normals * normal[..., None, :], axis=-1) > ALIKE
    apart = np.linalg.norm(away, axis=-1) > 0.5 * AROUND * length[..., None]
    return unit(normal + normals.sum(axis=-2)), (found & flat & alike & apart).all(axis=-1)


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
