# SPDX-License-Identifier: MIT
"""Floors that move as seen from standing feet: those of clips in place, and of feet that slide evenly on their way."""

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices, Mask
from ..checks import ROUNDING
from ..curves import quantile
from ..rotations import cross, unit
from .paths import SAME_PLACE, Feet

Level = NDArray[np.complex128]

# A foot goes with a floor when its velocity is that of the floor within this (leg lengths a second), or this share of
# it; a figure stays in place when its feet, on the mean, go slower than that share of the floor.
NEAR = 0.25
# What is slower than this (leg lengths a second) is the creep of standing feet: neither a floor nor a figure goes so.
SLOWEST = 0.15
# Nor does a figure whose feet slide by less than this share of its velocity: such feet are careless.
SLIDES = 0.1
# Low feet go the way of a floor, within 45 degrees, for more than this share of the time. In clips in place, animated
# or made by formula, they do for 0.67 at least, in a dance on the spot whose feet never rest for 0.5.
ONE_WAY = 0.6
# The velocity about which most gather is the mean of ever nearer neighbours, the last within a third of what is near.
CLOSER = np.linspace(1.0, 1 / 3, 8).tolist()


def floor_velocities(feet: Feet) -> tuple[Array, bool]:
    """Velocities (F, 3) of the floor as seen from which standing feet rest, leg lengths a second; and whether it
    carries the feet of a clip in place back.

    The floor under a clip in place goes evenly. Feet of a figure on its way may all slide by the same share of its
    velocity, ahead or aside, as they do where legs were scaled and the way of the hips was not.
    """
    # What is level is told in complex numbers: by one of these a velocity is turned and scaled.
    low, first = _low(feet.heights), unit(cross(feet.up, np.eye(3)[np.abs(feet.up).argmin()]))
    axes = first + 1j * cross(feet.up, first)
    slow, travel = (np.asarray(ways @ axes, complex) for ways in (feet.velocities[low], feet.travel))
    floor = _treadmill(slow, travel.sum() / feet.frames)
    ways = np.full(len(travel), floor) if floor else _slide(slow, np.nonzero(low)[0], travel) * travel
    return np.outer(ways, axes.conj()).real, floor != 0.0


def _treadmill(velocities: Level, way: complex) -> complex:
    """Velocity of the floor of a clip in place, by the velocities (N,) of low feet; zero where it rests.

    It moves when the feet keep their place, but for a velocity on the mean, and low feet mostly go one way, and move
    alike at least twice as often as they rest.
    """
    speeds = abs(velocities)
    rest = np.count_nonzero(speeds <= NEAR) / len(speeds)
    # No foot goes so fast that the figure could be in place, or most rest.
    if abs(way) > NEAR * speeds.max() or rest > 0.5:
        return 0.0
    floor = _mode(velocities)
    speed = abs(floor)
    if speed < SLOWEST or abs(way) > NEAR * speed:
        return 0.0
    along = np.count_nonzero((velocities * floor.conjugate()).real > np.sqrt(0.5) * speed * speeds)
    moves = along > ONE_WAY * len(speeds) and rest <= 0.5 * _share(velocities, floor, _radius(floor))
    return floor if moves else 0.0


def _slide(velocities: Level, frames: Indices, travel: Level) -> complex:
    """The share of the figure's velocity (F,), ahead and aside, by which low feet slide, at velocities (N,) on `frames`
    (N,); zero for none.

    A figure counts as on its way while it is at least half as fast as usual. Its feet slide as one where half of their
    velocities are alike, and twice as many as rest; what goes half as fast as the figure glides with it.
    """
    speeds = abs(travel)
    under_way = speeds[speeds > SLOWEST]
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
    return slide / speed if even and max(SLOWEST, SLIDES * speed) <= size <= 0.5 * speed else 0.0


def _low(heights: Array) -> Mask:
    """Frames, legs and parts (F, L, 2) in which a part of a foot is as low as it gets, and the other is not lower."""
    over = heights - heights.min(axis=0)
    # Heel and ball of a foot that keeps its turn rise alike, but for rounding.
    return (over < SAME_PLACE) & (over <= over[..., ::-1] + ROUNDING)


def _mode(velocities: Level) -> complex:
    """The velocity about which most of some (N,) gather."""
    mode = velocities.sum() / len(velocities)
    # Five steps towards the place with the least sum of distances (Weiszfeld, 1937), which does not depend on the axes.
    for _ in range(5):
        weights = 1.0 / np.maximum(abs(velocities - mode), 1e-3)
        mode = weights @ velocities / weights.sum()
    for closer in CLOSER:
        near = velocities[abs(velocities - mode) <= closer * _radius(mode)]
        if len(near):
            mode = near.sum() / len(near)
    return complex(mode)


def _radius(floor: complex) -> float:
    return NEAR * max(1.0, abs(floor))


def _share(velocities: Level, floor: complex, radius: float) -> float:
    """Share of velocities (N,) that are those of this floor."""
    return np.count_nonzero(abs(velocities - floor) <= radius) / len(velocities)
