# SPDX-License-Identifier: MIT
"""Floors that move as seen from standing feet: those of clips in place, and of feet that slide evenly on their way."""

from __future__ import annotations

import numpy as np

from ..curves import odd_window, smoothed, velocity
from ..model import Array, Mask
from .paths import Feet, steady_velocity

# A foot is low within this height (leg lengths) of its lowest.
LOW = 0.04
# What is slower than this (leg lengths a second) is the creep of standing feet: neither a floor nor a figure goes so.
SLOWEST = 0.15
# A foot goes with a floor when its velocity is that of the floor within this (leg lengths a second), or this share of
# it; a figure stays in place when its feet, on the mean, go slower than that share of the floor.
NEAR = 0.25
# A stride's swings average out over this time (s).
STRIDE = 1.5
# Legs scaled by s slide by 1 - s of the figure's velocity where the hips still go as they went: from the first share of
# it to the second, for so large a share of the frames in which feet are low. What goes faster glides with the figure.
SLIDES, GLIDES, MOSTLY = 0.1, 1 / 3, 0.4


def floor_velocities(paths: Array, fps: float, up: Array) -> tuple[Array, bool]:
    """Velocities (F, 3) of the floor as seen from which standing feet rest, leg lengths a second, from paths of heels
    and balls (F, L, 2, 3) in leg lengths; and whether it carries the feet of a clip in place back.

    The floor under a clip in place goes evenly. Feet of a figure on its way may all slide by the same share of its
    velocity, ahead or aside, as they do where legs were scaled and the way of the hips was not.
    """
    velocities, low = steady_velocity(paths, fps), _low(paths @ up)
    floor = _treadmill(paths, _level(velocities[low], up), fps, up)
    if floor.any():
        return np.broadcast_to(floor, (len(paths), 3)), True
    travel = _level(_travel(paths, fps), up)
    along, aside = _slide(velocities, low, travel, up)
    return along * travel + aside * np.cross(up, travel), False


def _treadmill(paths: Array, velocities: Array, fps: float, up: Array) -> Array:
    """Velocity (3,) of the floor of a clip in place, by the level velocities (N, 3) of low feet; zero where it rests.

    It moves when the feet keep their place on the mean, and low feet move alike at least twice as often as they rest.
    """
    floor, rest = _mode(velocities), np.zeros(3)
    speed = float(np.linalg.norm(floor))
    if speed < SLOWEST or np.linalg.norm(_level(_mean_velocity(paths, fps), up)) > NEAR * speed:
        return rest
    alike = _share(velocities, floor, _radius(floor))
    return floor if _share(velocities, rest, NEAR) <= 0.5 * alike else rest


def _slide(velocities: Array, low: Mask, travel: Array, up: Array) -> Array:
    """The share (2,) of the figure's velocity (F, 3), ahead and to its left, by which low feet slide; zero for none.

    A figure counts as on its way while it is at least half as fast as usual.
    """
    speeds, none = np.linalg.norm(travel, axis=-1), np.zeros(2)
    speed = float(np.median(speeds[speeds > SLOWEST])) if (speeds > SLOWEST).any() else np.inf
    low = low & (speeds > 0.5 * speed)[:, None, None]
    if not low.any():
        return none
    frames = np.nonzero(low)[0]
    axes = np.stack([travel, np.cross(up, travel)], axis=1)[frames] / speeds[frames, None, None] ** 2
    slides = speed * (axes @ velocities[low][..., None])[..., 0]
    slide = _mode(slides)
    return slide / speed if _is_even(slide, slides, speed) else none


def _is_even(slide: Array, slides: Array, speed: float) -> bool:
    """Whether feet slide as one (2,) at that speed of the figure: neither glide with it nor rest, by all (N, 2)."""
    size = float(np.linalg.norm(slide))
    if not max(SLOWEST, SLIDES * speed) <= size <= GLIDES * speed:
        return False
    share = _share(slides, slide, _radius(slide))
    return share >= MOSTLY and _share(slides, np.zeros(2), 0.5 * size) <= 0.5 * share


def gait_speed(feet: Feet) -> float:
    """How fast the figure goes over its floor, leg lengths a second: the median speed of the middle of its feet."""
    return float(np.median(np.linalg.norm(_travel(feet.paths, feet.fps), axis=-1)))


def _travel(paths: Array, fps: float) -> Array:
    """Velocity (F, 3) of the middle of all feet, without their swings."""
    window = min(odd_window(STRIDE, fps), 2 * len(paths) - 1)
    return velocity(smoothed(paths.mean(axis=(1, 2)), window), fps)


def _level(vectors: Array, up: Array) -> Array:
    """Vectors (..., 3) without what of them points up."""
    return vectors - (vectors @ up)[..., None] * up


def _low(heights: Array) -> Mask:
    """Frames, legs and parts (F, L, 2) in which a part of a foot is as low as it gets, and the other is not lower."""
    over = heights - heights.min(axis=0)
    return (over < LOW) & (over == over.min(axis=2, keepdims=True))


def _mode(velocities: Array) -> Array:
    """The velocity (D,) about which most of some (N, D) gather."""
    mode = np.median(velocities, axis=0)
    # Means of ever nearer neighbours, the last within a third of what counts as near.
    for closer in np.linspace(1.0, 1 / 3, 8):
        near = np.linalg.norm(velocities - mode, axis=-1) <= closer * _radius(mode)
        if near.any():
            mode = velocities[near].mean(axis=0)
    return mode


def _radius(floor: Array) -> float:
    return NEAR * max(1.0, float(np.linalg.norm(floor)))


def _share(velocities: Array, floor: Array, radius: float) -> float:
    """Share of velocities (N, D) that are those of this floor (D,)."""
    return float((np.linalg.norm(velocities - floor, axis=-1) <= radius).mean())


def _mean_velocity(paths: Array, fps: float) -> Array:
    """Mean velocity (3,) of all feet: the slope of the line through their mean path."""
    time = (np.arange(len(paths)) - 0.5 * (len(paths) - 1)) / fps
    return time @ paths.mean(axis=(1, 2)) / max(float(time @ time), 1e-300)
