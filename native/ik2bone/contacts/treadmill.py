# SPDX-License-Identifier: MIT
"""Floors that move as seen from standing feet: those of clips in place, and of feet that slide evenly on their way."""

from __future__ import annotations

import numpy as np

from ..curves import odd_window, smoothed, velocity
from ..model import Array, Mask
from .paths import Feet, steady_velocity

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
# A stride's swings average out over the first time (s), and in the speed of each moment over the second.
STRIDE, STRIDES = 1.0, 1.5
# Feet of a figure on its way slide evenly where most are low with the first share or more of its velocity, up to the
# second: legs scaled by s slide by 1 - s of it where the hips still go as they went. More glide with the figure.
SLIDES, GLIDES = 0.1, 1 / 3
# Those slides (leg lengths a second) begin here, and so large a share of the frames in which feet are low tells them.
LEAST_SLIDE, MOSTLY = 0.15, 0.4
# A figure is on its way where it is faster than the first (leg lengths a second), and than this share of its speed.
TRAVELS, ON_ITS_WAY = 0.2, 0.5


def floor_velocity(heel: Array, ball: Array, *, fps: float, leg: float, up: Array) -> Array:
    """Velocity (3,) of the floor that the feet of a clip in place stand on, units a second; zero for a resting floor.

    `heel` and `ball` are paths (F, L, 3). The floor moves when the feet keep the same place on the mean, and when they
    are low move alike and are hardly ever at rest.
    """
    paths = np.stack([heel, ball], axis=2) / leg
    velocities, low = _level(steady_velocity(paths, fps), up), _low(paths @ up)
    floor = _mode(velocities[low])
    speed, rest = float(np.linalg.norm(floor)), np.zeros(3)
    if speed < SLOWEST or np.linalg.norm(_level(_travel(paths, fps), up)) > STAYS * speed:
        return rest
    share = _share(velocities[low], floor, _radius(floor))
    return leg * floor if _share(velocities[low], rest, NEAR) <= RARELY * share else rest


def floor_velocities(heel: Array, ball: Array, *, fps: float, leg: float, up: Array) -> Array:
    """Velocities (F, 3) of the floor as seen from which standing feet rest, units a second.

    That of a clip in place is `floor_velocity` throughout. Feet of a figure on its way may all slide by the same share
    of its velocity, ahead or aside, as they do where legs were scaled and the way of the hips was not.
    """
    floor = floor_velocity(heel, ball, fps=fps, leg=leg, up=up)
    if floor.any():
        return np.broadcast_to(floor, (len(heel), 3))
    paths = np.stack([heel, ball], axis=2) / leg
    window = min(odd_window(STRIDES, fps), 2 * len(paths) - 1)
    travel = _level(velocity(smoothed(paths.mean(axis=(1, 2)), window), fps), up)
    along, aside = _slide(paths, travel, fps, up)
    return leg * (along * travel + aside * np.cross(up, travel))


def _slide(paths: Array, travel: Array, fps: float, up: Array) -> Array:
    """The share (2,) of the figure's velocity (F, 3), ahead and to its left, that low feet slide by; zero for none."""
    speeds, none = np.linalg.norm(travel, axis=-1), np.zeros(2)
    speed = float(np.median(speeds[speeds > TRAVELS])) if (speeds > TRAVELS).any() else np.inf
    low = _low(paths @ up) & (speeds > ON_ITS_WAY * speed)[:, None, None]
    if not low.any():
        return none
    frames = np.nonzero(low)[0]
    axes = np.stack([travel, np.cross(up, travel)], axis=1)[frames] / speeds[frames, None, None] ** 2
    slides = speed * (axes @ steady_velocity(paths, fps)[low][..., None])[..., 0]
    slide = _mode(slides)
    return slide / speed if _is_even(slide, slides, speed) else none


def _is_even(slide: Array, slides: Array, speed: float) -> bool:
    """Whether feet slide as one (2,) at that speed of the figure: neither glide with it nor rest, by all (N, 2)."""
    size = float(np.linalg.norm(slide))
    if not max(LEAST_SLIDE, SLIDES * speed) <= size <= GLIDES * speed:
        return False
    share = _share(slides, slide, _radius(slide))
    return share >= MOSTLY and _share(slides, np.zeros(2), 0.5 * size) <= RARELY * share


def gait_speed(feet: Feet) -> float:
    """How fast the figure goes over its floor, leg lengths a second: the median speed of the middle of its feet."""
    window = odd_window(STRIDE, feet.fps)
    middle = smoothed(feet.paths.mean(axis=(1, 2)), min(window, 2 * feet.frames - 1))
    return float(np.median(np.linalg.norm(velocity(middle, feet.fps), axis=-1))) if feet.frames > 1 else 0.0


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
    for closer in (1.0, 1.0, 1.0, 0.7, 0.5, 0.5, 0.35, 0.35):
        near = np.linalg.norm(velocities - mode, axis=-1) <= closer * _radius(mode)
        if near.any():
            mode = velocities[near].mean(axis=0)
    return mode


def _radius(floor: Array) -> float:
    return max(NEAR, NEAR_SHARE * float(np.linalg.norm(floor)))


def _share(velocities: Array, floor: Array, radius: float) -> float:
    """Share of velocities (N, D) that are those of this floor (D,)."""
    return float((np.linalg.norm(velocities - floor, axis=-1) <= radius).mean())


def _travel(paths: Array, fps: float) -> Array:
    """Mean velocity (3,) of all feet: the slope of the line through their mean path."""
    time = (np.arange(len(paths)) - 0.5 * (len(paths) - 1)) / fps
    return time @ paths.mean(axis=(1, 2)) / max(float(time @ time), 1e-300)
