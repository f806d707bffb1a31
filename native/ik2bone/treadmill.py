# SPDX-License-Identifier: MIT
"""Clips in place: the velocity at which an unseen floor carries standing feet back under a figure that stays."""

from __future__ import annotations

import numpy as np

from .clip import Array, Mask
from .feet import Feet, steady_velocity
from .motion import odd_window, smoothed, velocity

# A foot is low within this height (leg lengths) of its lowest.
LOW = 0.04
# Slower (leg lengths a second) is the slide of a foot that stands, or none.
SLOWEST = 0.2
# A figure stays where it is when its feet, on the mean, travel slower than this share of the floor.
STAYS = 0.25
# A foot stands on a floor when its velocity is that of the floor within the first (leg lengths a second), or this share
# of it; feet keep apart from a resting floor for all but this share as many frames.
NEAR, NEAR_SHARE = 0.25, 0.25
RARELY = 0.5
# A stride's swings average out over this time (s).
STRIDE = 1.0


def floor_velocity(heel: Array, ball: Array, *, fps: float, leg: float, up: Array) -> Array:
    """Velocity (3,) of the floor that the feet of a clip in place stand on, units a second; zero for a resting floor.

    `heel` and `ball` are paths (F, L, 3). The floor moves when the feet keep the same place on the mean, and when they
    are low move alike and are hardly ever at rest.
    """
    paths = np.stack([heel, ball], axis=2) / leg
    up = np.asarray(up, float)
    velocities = steady_velocity(paths, fps)
    low = _low(paths @ up)
    level = velocities - (velocities @ up)[..., None] * up
    floor = _mode(level[low])
    speed, rest = float(np.linalg.norm(floor)), np.zeros(3)
    travel = _travel(paths, fps)
    if speed < SLOWEST or np.linalg.norm(travel - (travel @ up) * up) > STAYS * speed:
        return rest
    return leg * floor if _share(level[low], rest, NEAR) <= RARELY * _share(level[low], floor, _radius(floor)) else rest


def gait_speed(feet: Feet) -> float:
    """How fast the figure goes over its floor, leg lengths a second: the median speed of the middle of its feet."""
    window = odd_window(STRIDE, feet.fps)
    middle = smoothed(feet.paths.mean(axis=(1, 2)), min(window, 2 * feet.frames - 1))
    return float(np.median(np.linalg.norm(velocity(middle, feet.fps), axis=-1))) if feet.frames > 1 else 0.0


def carried(path: Array, floor: Array, fps: float) -> Array:
    """A path (F, L, 3) as it would lie on a floor that rests."""
    return path - (np.arange(len(path)) / fps)[:, None, None] * floor


def _low(heights: Array) -> Mask:
    """Frames, legs and parts (F, L, 2) in which a part of a foot is as low as it gets, and the other is not lower."""
    over = heights - heights.min(axis=0)
    return (over < LOW) & (over == over.min(axis=2, keepdims=True))


def _mode(velocities: Array) -> Array:
    """The velocity (3,) about which most of some (N, 3) gather."""
    mode = np.median(velocities, axis=0)
    for closer in (1.0, 1.0, 1.0, 0.7, 0.5, 0.5, 0.35, 0.35):
        near = np.linalg.norm(velocities - mode, axis=-1) <= closer * _radius(mode)
        if near.any():
            mode = velocities[near].mean(axis=0)
    return mode


def _radius(floor: Array) -> float:
    return max(NEAR, NEAR_SHARE * float(np.linalg.norm(floor)))


def _share(velocities: Array, floor: Array, radius: float) -> float:
    """Share of velocities (N, 3) that are those of this floor."""
    return float((np.linalg.norm(velocities - floor, axis=-1) <= radius).mean())


def _travel(paths: Array, fps: float) -> Array:
    """Mean velocity (3,) of all feet: the slope of the line through their mean path."""
    time = (np.arange(len(paths)) - 0.5 * (len(paths) - 1)) / fps
    return time @ paths.mean(axis=(1, 2)) / max(float(time @ time), 1e-300)
