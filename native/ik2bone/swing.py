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
# A swinging sole keeps its own height over the clip's floor up to this, in leg lengths.
MARGIN = 0.02
HIGHEST_LIFT = 0.6
# Height of a bump below which a swing is left alone, in leg lengths.
NEGLIGIBLE = 1e-5


def lift_swings(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, ground: Ground) -> Targets:
    """Raise the targets where heel, ball or toes would pass under the ground between two standings."""
    wanted = missing_height(clip, sole, targets, ground)
    lift = np.zeros_like(wanted)
    for leg in range(clip.legs):
        for start, end in gaps(contacts[:, leg].any(axis=-1)):
            needed = wanted[start:end, leg] - _left_over(wanted[:, leg], start, end)
            lift[start:end, leg] = bump(needed / clip.leg, start == 0, end == clip.frames) * clip.leg
    move = lift[..., None] * clip.up
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


def bump(wanted: Array, open_start: bool, open_end: bool) -> Array:
    """The gentlest smooth bump (F,) that is at least `wanted` and starts and ends flat at zero.

    Its flanks are quintics; of all pairs of flank widths the one of least acceleration is taken. An open side, where
    the clip begins or ends, keeps the bump's full height.
    """
    if wanted.max(initial=0.0) < NEGLIGIBLE:
        return np.zeros_like(wanted)
    time = np.arange(1, len(wanted) + 1) / (len(wanted) + 1)
    choices = [_flanks(time, wanted, rise, fall, open_start, open_end) for rise, fall in product(RAMPS, RAMPS)]
    return min(choices, key=lambda choice: choice[0])[1]


def _flanks(
    time: Array, wanted: Array, rise: float, fall: float, open_start: bool, open_end: bool
) -> tuple[float, Array]:
    """Acceleration (up to a constant) and shape of one bump; short of `wanted` only where its flanks begin."""
    shape = (1.0 if open_start else smoothstep(time / rise)) * (1.0 if open_end else smoothstep((1 - time) / fall))
    shape = np.broadcast_to(shape, time.shape)
    height = min(float(np.max(np.where(shape > 0.02, wanted / np.maximum(shape, 0.02), 0.0))), HIGHEST_LIFT)
    short = float(np.max(wanted - height * shape))
    return height / min(rise, fall) ** 2 + 1e3 * max(short, 0.0), height * shape
