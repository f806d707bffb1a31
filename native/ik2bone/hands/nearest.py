# SPDX-License-Identifier: MIT
"""Places on the nearest surface: where a touching limb comes to rest, and which way it faces there."""

import numpy as np

from ..arrays import Array, Indices, Mask
from ..ground.query import Ground, ask
from ..rotations import cross, dot, einsum, length_of, unit
from ..sole.skin import IN_PLANE

# A limb farther than this from every surface (limb lengths) touches nothing: 12 cm for a person's arm.
WITHIN = 0.2
# Half the width of a palm or a sole: 4 cm for a person's arm, 5 cm for a leg. A surface is wide enough to turn a palm
# or sole along it if the places at this distance around (limb lengths) lie in its plane; rungs and edges are not.
AROUND = 0.06


def find_spots(
    ground: Ground,
    points: Array,
    axes: Array,
    ahead: Array,
    length: float,
    up: Array | None,
    frames: Indices,
    soles_up: Array | None,
    near: Array,
) -> tuple[Array, Array, Mask, Mask]:
    """The places (N, 3) on the surface that are nearest to the resting points (N, 3) of a limb, each on its frame (N,).

    With `up` (3,) a place is over or under its point. `length` is that of the limb. Its end points `ahead` (N, 3) and
    has the `axes` (N, 3, 3). `soles_up` (N, 3) are the up directions of the soles of a foot, None for a hand. Also
    returns the normals (N, 3), whether the surface is wide there (N,), and whether there is one at most `near` (N,)
    limb lengths away (N,).
    """
    hits, normals, found = ask(ground, points, up, frames)
    found = found & (length_of(hits - points) <= near * length)
    mean, wide = mean_normal(ground, hits, normals, axes, ahead, np.full(len(points), length), up, frames)
    if soles_up is not None and up is None:
        # A foot on something narrow, such as a rung, stands on top of it, but not on the next rung.
        higher, facing, there = ask(ground, hits + 2.0 * AROUND * length * soles_up, up, frames)
        climbs = there & ~wide & (dot(facing - normals, soles_up) > 0.0)
        climbs &= length_of(higher - hits) < AROUND * length
        hits = np.where(climbs[:, None], higher, hits)
    return hits, mean, wide & found, found


def mean_normal(
    ground: Ground,
    hits: Array,
    normals: Array,
    axes: Array,
    ahead: Array,
    length: Array,
    up: Array | None,
    frames: Indices | None = None,
) -> tuple[Array, Mask]:
    """The mean normals (F, ..., 3) of places `hits` (F, ..., 3) and of the places around them, and whether the surface
    is wide there (F, ...). The places around lie ahead, to the sides and behind: the limb's end points `ahead`
    (F, ..., 3) and has the `axes` (F, ..., 3, 3).
    """
    least = np.abs(einsum("...ij,...i->...j", axes, normals)).argmin(axis=-1)
    least = np.take_along_axis(axes, least[..., None, None], axis=-1)[..., 0]
    # An end that points at the surface rather than along it tells no direction there.
    other = np.where((np.abs(dot(ahead, normals)) < np.sqrt(0.5))[..., None], ahead, least)
    first = unit(cross(normals, other))
    second = cross(normals, first)
    around = hits[..., None, :] + AROUND * length[..., None, None] * np.stack([first, second, -first, -second], axis=-2)
    places, facing, found = ask(ground, around, up, frames)
    even = length_of(places - around) < IN_PLANE * length[..., None]
    return unit(normals + facing.sum(axis=-2)), (found & even).all(axis=-1)


def facing_of(known: Array, axes: Array, normals: Array) -> Array:
    """The direction (3,), in the space of a limb's end, that looks away from what the limb touches. `axes` (N, 3, 3)
    are those of the end in its contacts, `normals` (N, 3) those of the surface.

    For palms and soles this direction is `known` (3,) up to its sign. Where `known` is zero it is the mean of the
    normals, so that the end is turned only by what differs from one contact to the other.
    """
    mean = einsum("nji,nj->i", axes, normals)
    if known.any():
        return known if known @ mean >= 0.0 else -known
    return unit(mean)
