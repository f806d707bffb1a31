# SPDX-License-Identifier: MIT
"""How far the hips move so that every leg reaches: a smooth rise with the ground, less what the reach asks for."""

from __future__ import annotations

import numpy as np

from .clip import Array, Clip
from .motion import hann_average, odd_window, running_maximum

# The hips follow the ground under the feet as slowly as this (s).
RISE_WINDOW = 0.5
# The running maximum and the average after it share this width (s): the result is never less than what is asked for.
LOWER_WINDOW = 0.45
# A leg is stretched as far as in the clip, but not past this share of its reach, and need not bend more than this.
LONGEST = 0.992
EASY = 0.97
# What the hips give at the most for one frame (leg lengths).
DEEPEST = 0.4


def hips_offset(clip: Clip, ankle: Array, rise: Array) -> Array:
    """Translation (F, 3) of the hips, along up, so that every ankle target (F, L, 3) is in reach.

    `rise` (F, L) is how much each foot's ground lies higher than in the clip.
    """
    base = hann_average(rise.mean(axis=1), odd_window(RISE_WINDOW, clip.fps))
    excess = np.clip(base[:, None] - highest(clip, ankle), 0.0, DEEPEST * clip.leg).max(axis=1)
    window = odd_window(LOWER_WINDOW, clip.fps)
    lowered = hann_average(running_maximum(excess, window), window)
    return (base - lowered)[:, None] * clip.up


def highest(clip: Clip, ankle: Array) -> Array:
    """Largest rise (F, L) of the hips at which each leg still reaches its ankle target without overstretching."""
    across = ankle - clip.hip
    height = across @ clip.up
    level = np.sum(across**2, axis=-1) - height**2
    stretch = np.linalg.norm(clip.ankle - clip.hip, axis=-1) / clip.reach
    reach = clip.reach * np.clip(stretch, EASY, LONGEST)
    return height + np.sqrt(np.maximum(reach**2 - level, 0.0))
