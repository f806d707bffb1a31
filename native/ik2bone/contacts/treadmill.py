# SPDX-License-Identifier: MIT
"""Floors that move under standing feet: in clips in place, and where all feet of a figure on its way slide evenly."""

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices, Mask
from ..checks import ROUNDING
from ..curves import quantile
from ..rotations import cross, einsum, unit
from .paths import REST, SAME_PLACE, Feet

Level = NDArray[np.complex128]

# A foot moves with a floor if its velocity differs from the floor's by no more than this (leg lengths a second), or by
# this share of the floor's speed. A figure is in place if the mean velocity of its feet is below this share of that
# speed.
NEAR = 0.25
# Feet that slide by less than this share of the figure's velocity count as careless, not as sliding evenly.
SLIDES = 0.1
# Low feet move in the direction of a floor, within 45 degrees, for more than this share of the time. In clips in place,
# animated or made by formula, they do so for 0.67 at least, in a dance on the spot whose feet never rest for 0.5.
ONE_WAY = 0.6
# The velocity at which most velocities gather is the mean of those within a radius. The radius shrinks in these steps
# to a third of `_radius`.
CLOSER = np.linspace(1.0, 1 / 3, 8).tolist()


def floor_velocities(feet: Feet) -> tuple[Array, bool]:
    """Velocities (F, 3), in leg lengths a second, of the floor on which standing feet rest, and whether it carries the
    feet of a clip in place back.

    The floor under a clip in place moves evenly. Feet of a figure on its way may all slide by the same share of its
    velocity, ahead or aside, as they do where legs were scaled and the path of the hips was not.
    """
    # Level velocities are complex numbers: a product with a complex number turns and scales them.
    low, first = _low(feet.heights), unit(cross(feet.up, np.eye(3)[np.abs(feet.up).argmin()]))
    axes = first + 1j * cross(feet.up, first)
    # See `rotations.dot` on why this is no `@`.
    slow, travel = (np.asarray(einsum("...i,i", ways, axes)) for ways in (feet.velocities[low], feet.travel))
    floor = _treadmill(slow, travel.sum() / feet.frames)
    ways = np.full(len(travel), floor) if floor else _slide(slow, np.nonzero(low)[0], travel) * travel
    return np.outer(ways, axes.conj()).real, floor != 0.0


def _treadmill(velocities: Level, way: complex) -> complex:
    """The velocity of the floor of a clip in place, from the velocities (N,) of low feet; zero if the floor rests.

    The floor moves if the mean velocity of the feet, `way`, is small beside the floor's, if low feet mostly go one way,
    and if they move alike at least twice as often as they rest.
    """
    rest = _share(velocities, 0.0, NEAR)
    # Such clips would not pass the conditions after the search either: this saves them the search.
    if rest > 0.5 or abs(way) > NEAR * abs(velocities).max():
        return 0.0
    floor = _mode(velocities)
    speed = abs(floor)
    if speed < REST or abs(way) > NEAR * speed or rest > 0.5 * _share(velocities, floor, _radius(floor)):
        return 0.0
    along = (velocities * floor.conjugate()).real > np.sqrt(0.5) * speed * abs(velocities)
    return floor if np.mean(along) > ONE_WAY else 0.0


def _slide(velocities: Level, frames: Indices, travel: Level) -> complex:
    """The share of the figure's velocity `travel` (F,), ahead and aside, by which low feet slide; zero if they do not
    slide evenly. `velocities` (N,) are those of low feet on `frames` (N,).

    A figure counts as on its way while it is at least half as fast as usual. Its feet slide evenly if half of their
    velocities are alike, and these are at least twice as many as those that rest. Feet that move at more than half the
    figure's speed glide along with it, and do not count.
    """
    speeds = np.abs(travel)
    under_way = speeds[speeds > REST]
    if not len(under_way):
        return 0.0
    speed = float(quantile(under_way, 0.5))
    counts = speeds[frames] > 0.5 * speed
    if not counts.any():
        return 0.0
    slides = speed * velocities[counts] / travel[frames[counts]]
    slide = _mode(slides)
    size, share = abs(slide), _share(slides, slide, _radius(slide))
    even = share >= 0.5 and _share(slides, 0.0, 0.5 * size) <= 0.5 * share
    return slide / speed if even and max(REST, SLIDES * speed) <= size <= 0.5 * speed else 0.0


def _low(heights: Array) -> Mask:
    """Where (F, L, 2) a part of a foot is near its lowest height in the clip, and the other part is not lower."""
    over = heights - heights.min(axis=0)
    # Heel and ball of a foot that does not turn rise alike, but for rounding.
    return (over < SAME_PLACE) & (over <= over[..., ::-1] + ROUNDING)


def _mode(velocities: Level) -> complex:
    """The velocity at which most of some velocities (N,) gather."""
    mode = velocities.sum() / len(velocities)
    # Five steps towards the place with the least sum of distances (Weiszfeld, 1937), which does not depend on the axes.
    for _ in range(5):
        weights = 1.0 / np.maximum(abs(velocities - mode), 1e-3)
        mode = (weights * velocities).sum() / weights.sum()
    for closer in CLOSER:
        near = velocities[abs(velocities - mode) <= closer * _radius(mode)]
        if len(near):
            mode = near.sum() / len(near)
    return complex(mode)


def _radius(floor: complex) -> float:
    return NEAR * max(1.0, abs(floor))


def _share(velocities: Level, floor: complex, radius: float) -> float:
    """The share of velocities (N,) that lie within a radius of the floor's."""
    return np.count_nonzero(abs(velocities - floor) <= radius) / len(velocities)
