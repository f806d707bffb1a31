# SPDX-License-Identifier: MIT
"""Swinging feet carried over the ground: smooth bumps that vanish where a foot stands."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from .clip import Array, Clip, Ground, Mask
from .motion import gaps, smoothstep
from .sole import Sole, apply
from .targets import Targets

# Shares of a swing over which a bump rises or falls.
RAMPS = (0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
# Shares of a swing between which it climbs or comes down.
CLIMBS = ((0.0, 1.0), (0.0, 0.8), (0.0, 0.65), (0.0, 0.5), (0.2, 1.0), (0.35, 1.0), (0.5, 1.0))
# A swinging sole keeps its own height over the clip's floor up to this, in leg lengths.
MARGIN = 0.02
HIGHEST_LIFT = 0.6
# Height of a bump below which a swing is left alone, in leg lengths.
NEGLIGIBLE = 1e-5


def lift_swings(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, ground: Ground) -> Targets:
    """Raise the targets where heel, ball or toes would pass under the ground between two standings."""
    wanted = missing_height(clip, sole, targets, ground) / clip.leg
    rise, lift = targets.rise / clip.leg, np.zeros_like(wanted)
    for leg in range(clip.legs):
        for start, end in gaps(contacts[:, leg].any(axis=-1)):
            needed = wanted[start:end, leg] - _left_over(wanted[:, leg], start, end)
            swing = rise[end, leg] - rise[start - 1, leg] if start > 0 and end < clip.frames else 0.0
            lift[start:end, leg] = clear(needed, swing, start == 0, end == clip.frames)
    move = (clip.leg * lift)[..., None] * clip.up
    return replace(targets, ball=targets.ball + move, ankle=targets.ankle + move)


def sole_points(clip: Clip, sole: Sole) -> Array:
    """Heel, ball and tip on the sole (F, L, 3, 3) as the clip has them, world space; the tip moves with the toes."""
    heel, ball = (apply(clip.foot, point) for point in (sole.heel, sole.ball))
    return np.stack([heel, ball, apply(clip.toe, sole.tip)], axis=2)


def missing_height(clip: Clip, sole: Sole, targets: Targets, ground: Ground) -> Array:
    """How much (F, L) each foot must rise for its sole to clear the ground; negative where it clears it well."""
    before = sole_points(clip, sole)
    after = targets.ball[:, :, None] + np.einsum("flij,flpj->flpi", targets.turn, before - clip.ball[:, :, None])
    hits, _, found = ground(after.reshape(-1, 3), -clip.up)
    under = ((hits - after.reshape(-1, 3)) @ clip.up).reshape(after.shape[:-1])
    margin = np.clip(before @ clip.up - sole.floor, 0.0, MARGIN * clip.leg)
    return np.where(found.reshape(under.shape), under + margin, -np.inf).max(axis=2)


def _left_over(wanted: Array, start: int, end: int) -> Array:
    """What the standing frames beside a swing [start, end) leave under the ground, fading along the swing."""
    before = max(wanted[start - 1], 0.0) if start > 0 else 0.0
    after = max(wanted[end], 0.0) if end < len(wanted) else 0.0
    time = np.arange(1, end - start + 1) / (end - start + 1)
    return before * (1 - time) ** 2 + after * time**2


def clear(wanted: Array, climb: float, open_start: bool, open_end: bool) -> Array:
    """The gentlest height (F,) to add to a swing so that it clears the ground: at least `wanted`.

    The swing climbs by `climb` along a quintic over its whole time. Climbing earlier, or coming down later, and a bump
    on top are tried together; of those that clear the ground the one of least acceleration is taken. An open side,
    where the clip begins or ends, keeps the bump's full height.
    """
    if wanted.max(initial=0.0) < NEGLIGIBLE:
        return np.zeros_like(wanted)
    time = np.arange(1, len(wanted) + 1) / (len(wanted) + 1)
    bumps, sharpness = _bumps(time, open_start, open_end)
    best, chosen = np.inf, wanted
    for begin, end in CLIMBS if abs(climb) > NEGLIGIBLE else CLIMBS[:1]:
        shifted = climb * (smoothstep((time - begin) / (end - begin)) - smoothstep(time))
        heights, short = _heights(wanted - shifted, bumps)
        costs = heights * sharpness + abs(climb) / (end - begin) ** 2 + 1e3 * short
        index = int(np.argmin(costs))
        if costs[index] < best:
            best, chosen = costs[index], shifted + heights[index] * bumps[index]
    return chosen


def _bumps(time: Array, open_start: bool, open_end: bool) -> tuple[Array, Array]:
    """Bumps (B, F) of height 1 with quintic flanks, and their accelerations (B,) up to a constant."""
    flanks = np.array(list(product(RAMPS, RAMPS)))
    rising = np.ones((len(flanks), len(time))) if open_start else smoothstep(time / flanks[:, :1])
    falling = np.ones((len(flanks), len(time))) if open_end else smoothstep((1 - time) / flanks[:, 1:])
    return rising * falling, 1.0 / flanks.min(axis=1) ** 2


def _heights(wanted: Array, bumps: Array) -> tuple[Array, Array]:
    """Least heights (B,) with which the bumps reach what is wanted, and by how much they are short where they begin."""
    asked = np.where(bumps > 0.02, wanted / np.maximum(bumps, 0.02), 0.0).max(axis=1)
    heights = np.clip(asked, 0.0, HIGHEST_LIFT)
    return heights, np.maximum(wanted - heights[:, None] * bumps, 0.0).max(axis=1)
