# SPDX-License-Identifier: MIT
"""How far the hips move so that every leg reaches and none folds: a smooth rise with the ground, as far as both let."""

from __future__ import annotations

import numpy as np

from .bounds import smooth_below
from .knees.fold import lowest
from .knees.snap import unsnapped
from .model import Array, Clip, Mask

# The hips' offset accelerates by this at the most (leg lengths / s^2); falling takes 10 or so.
ACCELERATION = 4.5
# A leg is stretched as far as in the clip, but not past this share of its reach, and need not bend more than this.
LONGEST = 0.992
EASY = 0.97
# How far the hips come down for the sake of reach, if not told otherwise (leg lengths).
DEEPEST = 0.4
# Hips come down once more where knees of standing legs snap, so often at the most.
EASINGS = 2


def hips_offset(clip: Clip, ankle: Array, rise: Array, standing: Mask, deepest: float = DEEPEST) -> Array:
    """Translation (F, 3) of the hips, along up, so that every ankle target (F, L, 3) is in reach.

    `rise` (F, L) is how much each foot's ground lies higher than in the clip; the hips come down from its mean by
    `deepest` (leg lengths) at the most, and leave the rest out of reach. Over feet that are `standing` (F, L) the
    hips stay high enough for their knees, where they can, and low enough that these do not snap straight.
    """
    wish = rise.mean(axis=1)
    ceiling = np.maximum(highest(clip, ankle).min(axis=1), wish - deepest * clip.leg)
    floor = np.where(standing, lowest(clip, ankle), -np.inf).max(axis=1)
    offset = _between(clip, wish, ceiling, floor)
    for _ in range(EASINGS):
        reach = unsnapped(clip, ankle - offset[:, None], standing)
        eased = np.minimum(ceiling, highest(clip, ankle, reach).min(axis=1))
        ceiling, before = np.maximum(eased, wish - deepest * clip.leg), ceiling
        if (ceiling == before).all():
            break
        offset = _between(clip, wish, ceiling, floor)
    return offset


def _between(clip: Clip, wish: Array, ceiling: Array, floor: Array) -> Array:
    """Translation (F, 3) of the hips to heights (F,) that are wished, within bounds."""
    wish, ceiling, floor = (height / clip.leg for height in (wish, ceiling, np.minimum(floor, ceiling)))
    return clip.leg * smooth_below(wish, ceiling, clip.fps, ACCELERATION, floor)[:, None] * clip.up


def highest(clip: Clip, ankle: Array, reach: Array | None = None) -> Array:
    """Largest rise (F, L) of the hips at which each leg still reaches its ankle target without overstretching.

    `reach` (F, L) is how far it may be stretched, as `own_reach` if not told otherwise.
    """
    across = ankle - clip.hip
    height = across @ clip.up
    level = np.sum(across**2, axis=-1) - height**2
    return height + np.sqrt(np.maximum((own_reach(clip) if reach is None else reach) ** 2 - level, 0.0))


def own_reach(clip: Clip) -> Array:
    """How far each leg (F, L) may be stretched: as in the clip, within bounds."""
    stretch = np.linalg.norm(clip.ankle - clip.hip, axis=-1) / clip.reach
    return clip.reach * np.clip(stretch, EASY, LONGEST)
