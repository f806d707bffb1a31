# SPDX-License-Identifier: MIT
"""Swinging feet carried over the ground: smooth bumps that vanish where a foot stands."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..curves import SHARPEST, gaps, odd_window, smooth_cover, smoothstep
from ..ground.query import ask
from ..model import Array, Clip, Ground, Mask
from ..sole.measure import Sole, sole_points
from .blend import Targets

# Shares of a swing over which a bump rises or falls.
RAMPS = (0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
# Shares of a swing between which it climbs or comes down.
CLIMBS = (
    (0.0, 1.0),
    *((0.0, end) for end in (0.875, 0.75, 0.625, 0.5)),
    *((begin, 1.0) for begin in (0.125, 0.25, 0.375, 0.5)),
)
# A swinging sole keeps its own height over the clip's floor up to this, in leg lengths; beside where it stands, over
# this share of the swing, it may dip into the ground instead. Lifting it there would take a jump.
MARGIN = 0.02
DIP = 0.001
BESIDE = 0.2
# Tips of toes, which rigs tell roughly, may swing under the ground as deep as they do in the clip, up to this.
TIP = 0.025
# A bump may exceed what is wanted of it by this factor, where that lets its flanks be gentler.
EXCESS = 1.5
# What weighs the same: so much acceleration (leg lengths / s^2) and so much of the sole under ground (leg lengths).
# 40 legs / s^2 move a foot 0.04 leg within 1/30 s from where it was heading, which can just be seen.
ACCELERATION = 40.0
SHORT = 0.006
# Lifts that cost so large a share more than the best weigh a third of it. Where the best alone was taken, a little more
# or less of the ground beside a foot would send it another way, by half a leg on a slope.
ALIKE = 0.1
# A foot that swings for longer than this (s) is lifted where it needs it, within one of these times (s).
LONG = 1.0
ROUND = (0.1, 0.2, 0.4)
# Height of a bump below which a swing is left alone, in leg lengths.
NEGLIGIBLE = 1e-5


def lift_swings(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, ground: Ground) -> Targets:
    """Raise the targets where heel, ball or toes would pass under the ground between two standings."""
    under, margin = (height / clip.leg for height in missing_height(clip, sole, targets, ground))
    rise, lift = targets.rise / clip.leg, np.zeros_like(under)
    for leg in range(clip.legs):
        for start, end in gaps(contacts[:, leg].any(axis=-1)):
            sides = start > 0, end < clip.frames
            inner = _inner(end - start, *sides)
            wanted = under[start:end, leg] - _left_over(under[:, leg], start, end)
            wanted += margin[start:end, leg] * inner - DIP * (1 - inner)
            climb = rise[end, leg] - rise[start - 1, leg] if all(sides) else 0.0
            lift[start:end, leg] = clear(wanted, climb, (end - start + 1) / clip.fps, sides)
    return targets.moved((clip.leg * lift)[..., None] * clip.up)


def _inner(count: int, closed_start: bool, closed_end: bool) -> Array:
    """1 in the middle of a swing (count,), 0 beside the standings that close it."""
    time = np.arange(1, count + 1) / (count + 1)
    start, end = smoothstep(time / BESIDE), smoothstep((1 - time) / BESIDE)
    return (start if closed_start else np.ones(count)) * (end if closed_end else np.ones(count))


def missing_height(clip: Clip, sole: Sole, targets: Targets, ground: Ground) -> tuple[Array, Array]:
    """How deep (F, L) each sole lies under the ground, negative over it, and how high its lowest point may stay."""
    before = sole_points(clip, sole)
    after = targets.ball[:, :, None] + np.einsum("flij,flpj->flpi", targets.turn, before - clip.ball[:, :, None])
    hits, _, found = ask(ground, targets.asking(after, clip.up), clip.up)
    under = (hits - after) @ clip.up
    # How deep the clip has its own toes.
    under[..., 2] -= np.clip(sole.floor - before[..., 2, :] @ clip.up, 0.0, TIP * clip.leg)
    margin = np.clip((before @ clip.up - sole.floor).min(axis=2), 0.0, MARGIN * clip.leg)
    return np.where(found, under, -np.inf).max(axis=2), margin


def _left_over(wanted: Array, start: int, end: int) -> Array:
    """What the standing frames beside a swing [start, end) leave under the ground, fading along the swing."""
    before = max(wanted[start - 1], 0.0) if start > 0 else 0.0
    after = max(wanted[end], 0.0) if end < len(wanted) else 0.0
    time = np.arange(1, end - start + 1) / (end - start + 1)
    return before * (1 - time) ** 2 + after * time**2


def clear(wanted: Array, climb: float, duration: float, closed: tuple[bool, bool]) -> Array:
    """Height (F,) to add to a swing of so many seconds so that it clears the ground, about `wanted`, in leg lengths.

    The swing climbs by `climb` along a quintic over its whole time. Climbing earlier, or coming down later, and a bump
    on top are tried together; those that cost least by acceleration and by what they leave under ground are mixed.
    `closed` tells whether the foot stands before and after; where the clip begins or ends instead, a bump keeps its
    full height.
    """
    if wanted.max(initial=0.0) < NEGLIGIBLE:
        return np.zeros_like(wanted)
    time = np.arange(1, len(wanted) + 1) / (len(wanted) + 1)
    bumps, sharpness = _bumps(time, closed)
    lifts, costs = [], []
    for begin, end in CLIMBS if abs(climb) > NEGLIGIBLE else CLIMBS[:1]:
        shifted = climb * (smoothstep((time - begin) / (end - begin)) - smoothstep(time))
        heights, short = _heights(wanted - shifted, bumps)
        acceleration = SHARPEST / duration**2 * (heights * sharpness + abs(climb) / (end - begin) ** 2)
        lifts.append(shifted + heights[:, None] * bumps)
        costs.append(acceleration / ACCELERATION + short / SHORT)
    chosen = _mixed(np.concatenate(lifts), np.concatenate(costs))
    if duration > LONG:
        return min([chosen, *_local(wanted, duration, closed)], key=lambda lift: _cost(lift, wanted, duration))
    return chosen


def _mixed(lifts: Array, costs: Array) -> Array:
    """The mean (F,) of the lifts (N, F) that cost hardly more than the best: its cost is no more than their mean."""
    least = float(costs.min())
    weights = np.exp((least - costs) / max(ALIKE * least, 1e-300))
    return np.asarray(weights @ lifts / weights.sum())


def _local(wanted: Array, duration: float, closed: tuple[bool, bool]) -> list[Array]:
    """Lifts (F,) only where, and round where, they are wanted, more and less sudden."""
    fps = (len(wanted) + 1) / duration
    time = np.arange(1, len(wanted) + 1) / fps
    lifts = []
    for seconds in ROUND:
        window = odd_window(seconds, fps)
        lift = smooth_cover(np.maximum(wanted, 0.0), window)
        lift = lift * smoothstep(time / seconds) if closed[0] else lift
        lifts.append(lift * smoothstep((duration - time) / seconds) if closed[1] else lift)
    return lifts


def _cost(lift: Array, wanted: Array, duration: float) -> float:
    """What a lift (F,) costs by acceleration and by what it leaves under ground."""
    bends = np.diff(np.concatenate([lift[:1], lift, lift[-1:]]), 2) * ((len(lift) + 1) / duration) ** 2
    return float(np.abs(bends).max() / ACCELERATION + np.maximum(wanted - lift, 0.0).max() / SHORT)


def _bumps(time: Array, closed: tuple[bool, bool]) -> tuple[Array, Array]:
    """Bumps (B, F) of height 1 with quintic flanks, and how sharp (B,) they are.

    A flank is so by 1 / width^2. Both count, so that one is no steeper than it must be beside a steeper other.
    """
    flanks = np.array(list(product(RAMPS, RAMPS)))
    rising = smoothstep(time / flanks[:, :1]) if closed[0] else np.ones((len(flanks), len(time)))
    falling = smoothstep((1 - time) / flanks[:, 1:]) if closed[1] else np.ones((len(flanks), len(time)))
    return rising * falling, np.linalg.norm(flanks**-2.0, axis=1)


def _heights(wanted: Array, bumps: Array) -> tuple[Array, Array]:
    """Least heights (B,) with which bumps reach what is wanted, within reason, and by how much they are short."""
    asked = np.where(bumps > 0.1, wanted / np.maximum(bumps, 0.1), 0.0).max(axis=1)
    heights = np.clip(asked, 0.0, EXCESS * max(float(wanted.max()), 0.0))
    return heights, np.maximum(wanted - heights[:, None] * bumps, 0.0).max(axis=1)
