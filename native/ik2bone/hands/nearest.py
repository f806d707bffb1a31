# SPDX-License-Identifier: MIT
"""Places on the nearest surface: where a touching limb comes to rest, and which way it faces there."""

import numpy as np

from ..arrays import Array, Indices, Mask
from ..ground.query import Ground, ask
from ..rotations import cross, dot, length_of, unit
from ..sole.skin import IN_PLANE

# Farther from every surface than this (limb lengths) nothing is touched, only missed: 12 cm for a person's arm.
WITHIN = 0.2
# Half the width of a palm or a sole: 4 cm of a person's arm, 5 cm of a leg. A surface is wide enough to turn one to it
# if places so far around it (limb lengths) lie in its plane; rungs and edges are not.
AROUND = 0.06


def find_spots(
    ground: Ground, points: Array, length: float, up: Array | None, frames: Indices, soles_up: Array | None, near: Array
) -> tuple[Array, Array, Mask, Mask]:
    """The places (N, 3) nearest to the resting points (N, 3) of a limb of some length, each on its frame (N,).

    With `up` (3,) these are over or under the points; `soles_up` (N, 3) are where the soles of a foot look up to. Told
    with their normals (N, 3), whether they are wide (N,), and whether they are there, at most `near` (N,) limb
    lengths away (N,).
    """
    hits, normals, found = ask(ground, points, up, frames)
    found = found & (length_of(hits - points) <= near * length)
    mean, wide = mean_normal(ground, hits, normals, np.full(len(points), length), up, frames)
    if soles_up is not None and up is None:
        # A foot on something narrow, such as a rung, stands on its top, and not on the next one.
        higher, facing, there = ask(ground, hits + 2.0 * AROUND * length * soles_up, up, frames)
        climbs = there & ~wide & (dot(facing - normals, soles_up) > 0.0)
        climbs &= length_of(higher - hits) < AROUND * length
        hits = np.where(climbs[:, None], higher, hits)
    return hits, mean, wide & found, found


def mean_normal(
    ground: Ground, hits: Array, normals: Array, length: Array, up: Array | None, frames: Indices | None = None
) -> tuple[Array, Mask]:
    """The mean normals (F, ..., 3) of places (F, ..., 3) and of those around, and whether it is wide there (F, ...)."""
    other = np.eye(3)[np.abs(normals).argmin(axis=-1)]
    first = unit(cross(normals, other))
    second = cross(normals, first)
    around = hits[..., None, :] + AROUND * length[..., None, None] * np.stack([first, second, -first, -second], axis=-2)
    places, facing, found = ask(ground, around, up, frames)
    even = length_of(places - around) < IN_PLANE * length[..., None]
    return unit(normals + facing.sum(axis=-2)), (found & even).all(axis=-1)


def facing_of(known: Array, axes: Array, normals: Array) -> Array:
    """The direction in a limb's end space (3,) that looks away from what it touches, from its axes (N, 3, 3) there.

    Where it is `known` up to its sign (of palms and soles) that, else the mean of the normals (N, 3), so that only what
    differs from one contact to the other is turned.
    """
    mean = np.einsum("nji,nj->i", axes, normals)
    if known.any():
        return known if known @ mean >= 0.0 else -known
    return unit(mean)
