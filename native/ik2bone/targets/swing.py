# SPDX-License-Identifier: MIT
"""Swinging feet carried over the ground: smooth lifts that vanish where a foot stands."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..curves import gaps, odd_window, smooth_cover, smoothstep
from ..model import Array, Clip, Ground, Mask
from ..sole.measure import Sole, sole_points
from .blend import Targets

# Shares of a swing over which a bump rises or falls, and by which its climb may begin later or end earlier: a grid, not
# tuned. A coarser one shows in hips that differ by 0.02 leg from one frame rate to another.
FLANKS = np.linspace(0.15, 0.5, 5)
EARLIER = (0.25, 0.5)
# A lift may also keep to where it is wanted and this long (s) before and after.
AROUND = (0.1, 0.3)
# A swinging sole keeps its own height over the clip's floor up to this, in leg lengths; beside where it stands, over
# this share of the swing, it may dip into the ground instead. Lifting it there would take a jump.
MARGIN = 0.02
DIP = 0.001
BESIDE = 0.2
# Tips of toes, which rigs tell roughly, may swing under the ground as deep as they do in the clip, up to this.
TIP = 0.025
# A bump may exceed what is wanted of it by this factor, where that lets its flanks be gentler.
EXCESS = 1.5
# What weighs the same: so much acceleration (the root of the integral of its square, leg lengths / s^1.5: a foot that
# rises by 0.1 leg within 0.15 s takes 7) and so much of the sole under ground (leg lengths). With 11, soles of a
# recorded walk on steps go 0.06 leg under ground; with 30, knees of a dance pop by 2 degrees more.
ACCELERATION = 20.0
SHORT = 0.006
# A lift that costs so large a share more than the best weighs a third of it. Where the best alone was taken, a little
# more or less of the ground beside a foot would send it another way, by half a leg on a slope.
ALIKE = 0.1
# Integral of the squared second derivative of `smoothstep`.
QUINTIC = 120 / 7
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
    """Height (F,) to add to a swing of so many seconds so that it clears the ground, about `wanted`, in leg lengths.

    The swing climbs by `climb` along a quintic over its whole time. Climbing earlier, or coming down later, with a bump
    on top, and lifting it only around where that is wanted, are all weighed by their acceleration and by what they
    leave under ground. `closed` tells whether the foot stands before and after; where the clip begins or ends instead,
    a lift keeps its full height.
    """
    if wanted.max(initial=0.0) < NEGLIGIBLE:
        return np.zeros_like(wanted)
    time = np.arange(1, len(wanted) + 1) / (len(wanted) + 1)
    families = _bumps(wanted, time, climb, closed), _covers(wanted, time, duration, closed)
    lifts, energies = (np.concatenate(parts) for parts in zip(*families, strict=True))
    short = np.maximum(wanted - lifts, 0.0).max(axis=1)
    costs = np.sqrt(energies / duration**3) / ACCELERATION + short / SHORT
    weights = np.exp((costs.min() - costs) / max(ALIKE * float(costs.min()), 1e-300))
    return np.asarray(weights @ lifts / weights.sum())


def _bumps(wanted: Array, time: Array, climb: float, closed: tuple[bool, bool]) -> tuple[Array, Array]:
    """Lifts (N, F) that climb within part of the time, each with a bump as high as it must be, within reason.

    Also the integrals (N,) of their squared acceleration beyond that of the plain climb, for a swing of a second.
    """
    rising, falling = np.array(list(product(FLANKS, FLANKS))).T[..., None]
    bumps = _closing(time, rising, (closed[0], False)) * _closing(time, falling, (False, closed[1]))
    spans = [(0.0, 1.0), *((0.0, 1.0 - share) for share in EARLIER), *((share, 1.0) for share in EARLIER)]
    begins, ends = np.array(spans if abs(climb) > NEGLIGIBLE else spans[:1]).T[..., None]
    shifts = climb * (smoothstep((time - begins) / (ends - begins)) - smoothstep(time))
    asked = (wanted - shifts)[:, None]
    heights = np.clip((asked / np.maximum(bumps, 0.1)).max(axis=-1), 0.0, EXCESS * np.maximum(asked.max(axis=-1), 0.0))
    energies = QUINTIC * (heights**2 * (rising**-3.0 + falling**-3.0)[:, 0] + climb**2 * ((ends - begins) ** -3 - 1.0))
    return np.concatenate(shifts[:, None] + heights[..., None] * bumps), np.concatenate(energies)


def _covers(wanted: Array, time: Array, duration: float, closed: tuple[bool, bool]) -> tuple[Array, Array]:
    """Lifts (N, F) only around where they are wanted, more and less sudden, and the same integrals (N,)."""
    fps, needed, around = (len(wanted) + 1) / duration, np.maximum(wanted, 0.0), np.array(AROUND)
    covers = np.stack([smooth_cover(needed, odd_window(seconds, fps)) for seconds in AROUND])
    covers *= _closing(time, around[:, None] / duration, closed)
    first, last = (0.0 if side else 1.0 for side in closed)
    paths = np.concatenate([first * covers[:, :1], covers, last * covers[:, -1:]], axis=1)
    bends = np.diff(paths, 2) * (len(wanted) + 1) ** 2
    return covers, np.sum(bends**2, axis=1) / (len(wanted) + 1)
