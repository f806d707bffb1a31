# SPDX-License-Identifier: MIT
"""Floors that move as seen from standing feet: those of clips in place, and of feet that slide evenly on their way."""

from math import hypot

import numpy as np

from ..arrays import Array, Indices, Mask
from ..checks import ROUNDING
from ..curves import quantile
from ..rotations import cross, length_of, level_part
from .paths import SAME_PLACE, Feet

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
    low, travel = _low(feet.heights), level_part(feet.travel, feet.up)
    slow = level_part(feet.velocities[low], feet.up)
    floor = _treadmill(slow, travel.sum(axis=0) / feet.frames)
    if floor.any():
        return np.broadcast_to(floor, travel.shape), True
    aside = cross(feet.up, travel)
    shares = _slide(slow, np.nonzero(low)[0], travel, aside)
    return shares[0] * travel + shares[1] * aside, False


def _treadmill(velocities: Array, way: Array) -> Array:
    """Velocity (3,) of the floor of a clip in place, by the level velocities (N, 3) of low feet; zero where it rests.

    It moves when the feet keep their place, but for a velocity (3,) on the mean, and low feet mostly go one way, and
    move alike at least twice as often as they rest.
    """
    none, speeds = np.zeros(3), length_of(velocities)
    rest = np.count_nonzero(speeds <= NEAR) / len(speeds)
    # No foot goes so fast that the figure could be in place, or most rest.
    if hypot(*way) > NEAR * speeds.max() or rest > 0.5:
        return none
    floor = _mode(velocities)
    speed = hypot(*floor)
    if speed < SLOWEST or hypot(*way) > NEAR * speed:
        return none
    along = np.count_nonzero(velocities @ floor > np.sqrt(0.5) * speed * speeds)
    moves = along > ONE_WAY * len(speeds) and rest <= 0.5 * _share(velocities, floor, _radius(floor))
    return floor if moves else none


def _slide(velocities: Array, frames: Indices, travel: Array, aside: Array) -> Array:
    """The share (2,) of the figure's velocity (F, 3), ahead and `aside`, by which low feet slide, at level velocities
    (N, 3) on `frames` (N,); zero for none.

    A figure counts as on its way while it is at least half as fast as usual. Its feet slide as one where half of their
    velocities are alike, and twice as many as rest; what goes half as fast as the figure glides with it.
    """
    speeds, none = length_of(travel), np.zeros(2)
    under_way = speeds[speeds > SLOWEST]
    if not len(under_way):
        return none
    speed = float(quantile(under_way, 0.5))
    counts = speeds[frames] > 0.5 * speed
    if not counts.any():
        return none
    frames = frames[counts]
    axes = np.stack([travel, aside], axis=1)[frames] / speeds[frames, None, None] ** 2
    slides = speed * (axes @ velocities[counts][..., None])[..., 0]
    slide = _mode(slides)
    size, share = hypot(*slide), _share(slides, slide, _radius(slide))
    even = share >= 0.5 and _share(slides, none, 0.5 * size) <= 0.5 * share
    return slide / speed if even and max(SLOWEST, SLIDES * speed) <= size <= 0.5 * speed else none


def _low(heights: Array) -> Mask:
    """Frames, legs and parts (F, L, 2) in which a part of a foot is as low as it gets, and the other is not lower."""
    over = heights - heights.min(axis=0)
    # Heel and ball of a foot that keeps its turn rise alike, but for rounding.
    return (over < SAME_PLACE) & (over <= over[..., ::-1] + ROUNDING)


def _mode(velocities: Array) -> Array:
    """The velocity (D,) about which most of some (N, D) gather."""
    mode = velocities.sum(axis=0) / len(velocities)
    # Five steps towards the place with the least sum of distances (Weiszfeld, 1937), which does not depend on the axes.
    for _ in range(5):
        weights = 1.0 / np.maximum(length_of(velocities - mode), 1e-3)
        mode = weights @ velocities / weights.sum()
    for closer in CLOSER:
        near = length_of(velocities - mode) <= closer * _radius(mode)
        count = np.count_nonzero(near)
        if count:
            mode = near.astype(float) @ velocities / count
    return mode


def _radius(floor: Array) -> float:
    return NEAR * max(1.0, hypot(*floor))


def _share(velocities: Array, floor: Array, radius: float) -> float:
    """Share of velocities (N, D) that are those of this floor (D,)."""
    return np.count_nonzero(length_of(velocities - floor) <= radius) / len(velocities)
