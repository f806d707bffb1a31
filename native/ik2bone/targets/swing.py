# SPDX-License-Identifier: MIT
"""Swinging feet carried over the ground: smooth lifts that vanish where a foot stands."""

from __future__ import annotations

import numpy as np

from ..curves import gaps, smooth_between, smoothstep
from ..model import Array, Clip, Ground, Mask
from ..sole.measure import Sole, sole_points
from .blend import Targets

# A lift comes and goes about as slowly as this (s), where the ground lets it.
SLOW = 0.12
# A swinging sole keeps its own height over the clip's floor up to this, in leg lengths; beside where it stands, over
# this share of the swing, it may dip into the ground instead. Lifting it there would take a jump.
MARGIN = 0.02
DIP = 0.001
BESIDE = 0.2
# Tips of toes, which rigs tell roughly, may swing under the ground as deep as they do in the clip, up to this.
TIP = 0.025
# Beside where it stands a foot is lifted no faster than this (leg lengths / s^2); its sole goes under ground instead.
# With 50, heels of a figure that hops over steps go 0.018 leg under them; more shows as pops of feet as they land.
ACCELERATION = 80.0
# So many frames of a stance tell a lift to begin and end at rest.
PINNED = 3
# Heights below this (leg lengths) are left alone.
NEGLIGIBLE = 1e-5


def lift_swings(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, ground: Ground) -> Targets:
    """The targets raised where heel, ball or toes would pass under the ground while the foot does not stand."""
    swings = ~contacts.any(axis=-1)
    under, margin = (height / clip.leg for height in missing_height(clip, sole, targets, swings, ground))
    rise, lift = targets.rise / clip.leg, np.zeros_like(under)
    for leg in range(clip.legs):
        for start, end in gaps(~swings[:, leg]):
            sides = start > 0, end < clip.frames
            inner = _inner(end - start, sides)
            wanted = under[start:end, leg] - _left_over(under[:, leg], start, end)
            wanted += margin[start:end, leg] * inner - DIP * (1 - inner)
            climb = rise[end, leg] - rise[start - 1, leg] if all(sides) else 0.0
            lift[start:end, leg] = clear(wanted, climb, (end - start + 1) / clip.fps, sides)
    return targets.moved((clip.leg * lift)[..., None] * clip.up)


def missing_height(clip: Clip, sole: Sole, targets: Targets, swings: Mask, ground: Ground) -> tuple[Array, Array]:
    """How deep (F, L) each sole lies under the ground, negative over it, and how high its lowest point may stay.

    Told on the frames of the `swings` (F, L) and those beside them.
    """
    before = sole_points(clip, sole)
    near = swings.copy()
    near[1:] |= swings[:-1]
    near[:-1] |= swings[1:]
    under = targets.depths(targets.placed(before - clip.ball[:, :, None]), near, ground, clip.up)
    heights = before @ clip.up - sole.floor
    under[..., 2] -= np.clip(-heights[..., 2], 0.0, TIP * clip.leg)
    return under.max(axis=2), np.clip(heights.min(axis=2), 0.0, MARGIN * clip.leg)


def _inner(count: int, closed: tuple[bool, bool]) -> Array:
    """1 in the middle of a swing (count,), 0 beside the standings that close it."""
    time = np.arange(1, count + 1) / (count + 1)
    return _closing(time, BESIDE, closed)


def _closing(time: Array, length: Array | float, closed: tuple[bool, bool]) -> Array:
    """1, but rising from 0 and falling to 0 at the ends of time from 0 to 1 that are closed, each within a length."""
    rising = smoothstep(time / length) if closed[0] else np.ones_like(time / length)
    return rising * smoothstep((1 - time) / length) if closed[1] else rising


def _left_over(wanted: Array, start: int, end: int) -> Array:
    """What the standing frames beside a swing [start, end) leave under the ground, fading along the swing."""
    before = max(wanted[start - 1], 0.0) if start > 0 else 0.0
    after = max(wanted[end], 0.0) if end < len(wanted) else 0.0
    time = np.arange(1, end - start + 1) / (end - start + 1)
    return before * (1 - time) ** 2 + after * time**2


def clear(wanted: Array, climb: float, duration: float, closed: tuple[bool, bool]) -> Array:
    """Height (F,) to add to a swing of so many seconds so that it clears the ground: at least `wanted`, in leg lengths.

    The swing climbs by `climb` along a quintic over its whole time; climb and lift together accelerate as little as can
    be. `closed` tells whether the foot stands before and after, where the lift vanishes; where the clip begins or ends
    instead, a lift keeps its height.
    """
    if wanted.max(initial=0.0) < NEGLIGIBLE:
        return np.zeros_like(wanted)
    fps, beside = (len(wanted) + 1) / duration, [PINNED if side else 0 for side in closed]
    time = np.arange(1, len(wanted) + 1) / (len(wanted) + 1)
    path = np.pad(climb * smoothstep(time), beside, constant_values=(0.0, climb))
    needed = np.pad(np.maximum(_in_time(wanted, time * duration, duration, closed), 0.0), beside)
    free = np.pad(np.ones(len(wanted), bool), beside)
    curve = smooth_between(path, fps, SLOW, path + needed, np.where(free, np.inf, path))
    return (curve - path)[beside[0] : beside[0] + len(wanted)]


def _in_time(wanted: Array, since: Array, duration: float, closed: tuple[bool, bool]) -> Array:
    """What is wanted (F,) so long (s) into a swing, as far as a foot can be there from where it stands.

    Where the clip begins or ends in a swing, its foot may be anywhere.
    """
    if not all(closed):
        return wanted
    return np.minimum(wanted, 0.5 * ACCELERATION * np.minimum(since, duration - since) ** 2)
