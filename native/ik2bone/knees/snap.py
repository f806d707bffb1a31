# SPDX-License-Identifier: MIT
"""Knees that do not snap: where one would straighten and stop too suddenly, its swinging foot is drawn up a little, or
hips come down to the standing one.
"""

from __future__ import annotations

import numpy as np

from ..bounds import smooth_between
from ..curves import running_maximum, runs, smoothstep
from ..model import Array, Clip, Mask
from ..targets.blend import Targets

# A knee's angle changes its speed by so much (radians / s^2) more than the clip's does nearby: 4 degrees within 1/30 s.
SNAP = np.radians(4.0) * 30.0**2
# The clip's own within this time (s) counts as nearby.
NEARBY = 0.1
# An angle is eased over about this time (s), looking so far (s) into the standings beside a swing.
SLOW = 0.06
BESIDE = 0.15
# What is added goes to nothing within this time (s) of a standing.
SETTLE = 1.0 / 60.0
# Less (radians) is not worth moving the hips for.
LEAST_EXTRA = np.radians(0.2)
# A knee is bent by this much more at the most (radians).
MOST = np.radians(25.0)


def ease_knees(clip: Clip, targets: Targets, hip: Array, swings: Mask) -> Targets:
    """The targets with swinging feet (F, L) drawn to their hips (F, L, 3) where their knees would snap straight.

    Those out of reach are drawn into it.
    """
    move = _drawn_up(clip, targets.ankle, hip, swings)
    return targets.moved(move)


def _drawn_up(clip: Clip, ankle: Array, hip: Array, swings: Mask) -> Array:
    """How far (F, L, 3) `ease_knees` draws feet with these ankles."""
    line = ankle - hip
    distance = np.maximum(np.linalg.norm(line, axis=-1), 1e-300)
    angle, allowed, beside = _angle(clip, distance), _allowed(clip), round(BESIDE * clip.fps)
    extra = np.zeros_like(angle)
    for leg in range(clip.legs):
        for start, end in runs(swings[:, leg]):
            window = slice(max(start - beside, 0), min(end + beside, clip.frames))
            free = np.zeros(clip.frames, bool)
            free[start:end] = True
            extra[window, leg] += _eased(angle[window, leg], free[window], allowed[window, leg], clip.fps)
    drawn = (extra > 0.0) | (swings & (distance > clip.reach))
    share = np.where(drawn, _distance(clip, angle + extra) / distance - 1.0, 0.0)
    return share[..., None] * line


def unsnapped(clip: Clip, ankle: Array, standing: Mask) -> Array:
    """How far from the clip's hips ankles (F, L, 3) may lie so that knees of `standing` legs (F, L) do not snap
    straight: distances (F, L), infinite where they do not. Those of swinging legs are eased.
    """
    ankle = ankle + _drawn_up(clip, ankle, clip.hip, ~standing)
    angle = _angle(clip, np.linalg.norm(ankle - clip.hip, axis=-1))
    allowed, beside = _allowed(clip), round(BESIDE * clip.fps)
    extra, snaps = np.zeros_like(angle), standing & (_bends(angle, clip.fps) > allowed)
    for leg in range(clip.legs):
        for start, end in runs(running_maximum(snaps[:, leg].astype(float), 2 * beside + 1) > 0.0):
            rows = slice(start, end), leg
            curve = _eased_curve(angle[*rows], standing[*rows], allowed[*rows], clip.fps)
            extra[*rows] = np.where(standing[*rows], curve - angle[*rows], 0.0)
    return np.where(standing & (extra > LEAST_EXTRA), _distance(clip, angle + extra), np.inf)


def _lengths(clip: Clip) -> tuple[Array, Array]:
    """Lengths (F, L) of thighs and of shins."""
    return np.linalg.norm(clip.knee - clip.hip, axis=-1), np.linalg.norm(clip.ankle - clip.knee, axis=-1)


def _angle(clip: Clip, distance: Array) -> Array:
    """Angles (F, L) between thigh and shin of legs so long (F, L) from end to end, 0 where they are straight."""
    upper, lower = _lengths(clip)
    cosine = (distance**2 - upper**2 - lower**2) / np.maximum(2 * upper * lower, 1e-300)
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def _distance(clip: Clip, angle: Array) -> Array:
    """How long (F, L) legs are from end to end whose knees are bent by angles (F, L)."""
    upper, lower = _lengths(clip)
    return np.sqrt(np.maximum(upper**2 + lower**2 + 2 * upper * lower * np.cos(angle), 0.0))


def _allowed(clip: Clip) -> Array:
    """How suddenly (F, L) knees may change the speed of their angles (radians / s^2)."""
    source = _angle(clip, np.linalg.norm(clip.ankle - clip.hip, axis=-1))
    return SNAP + _nearby(source, clip.fps)


def _bends(angle: Array, fps: float) -> Array:
    """How suddenly an angle (F, ...) changes its speed, over 1/30 s (radians / s^2); the ends repeat."""
    step = max(1, round(fps / 30))
    ends = np.repeat(angle[:1], step, axis=0), np.repeat(angle[-1:], step, axis=0)
    padded = np.concatenate([ends[0], angle, ends[1]])
    return (padded[2 * step :] - 2 * angle + padded[: -2 * step]) * (fps / step) ** 2


def _nearby(source: Array, fps: float) -> Array:
    """The largest bend (F, L) of the clip's own angles near each frame."""
    window = 2 * round(NEARBY * fps) + 1
    return running_maximum(np.abs(_bends(source, fps)), window)


def _eased(angle: Array, swings: Mask, allowed: Array, fps: float) -> Array:
    """What to add (F,) to an angle (F,) in a swing so that it bends no more suddenly than allowed (F,)."""
    if (np.abs(_bends(angle, fps)) <= allowed)[swings].all():
        return np.zeros_like(angle)
    curve = _eased_curve(angle, swings, allowed, fps)
    return _settled(np.clip(curve - angle, 0.0, MOST), swings, fps)


def _eased_curve(angle: Array, free: Mask, allowed: Array, fps: float) -> Array:
    """The curve over an angle (F,), and on it where it is not `free` (F,), that bends no more suddenly than allowed."""
    return smooth_between(angle, angle, np.where(free, angle + MOST, angle), fps, allowed, SLOW, soft=0.0)


def _settled(extra: Array, swings: Mask, fps: float) -> Array:
    """What is added (F,) brought to nothing beside the standings, where no curve can be had that keeps all bounds."""
    near = np.cumsum(swings), np.cumsum(swings[::-1])[::-1]
    closed = ~swings[0], ~swings[-1]
    for frames, there in zip(near, closed, strict=True):
        if there:
            extra = extra * smoothstep(frames / (SETTLE * fps))
    return np.where(swings, extra, 0.0)
