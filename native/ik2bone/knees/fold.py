# SPDX-License-Identifier: MIT
"""Knees that fold no further than knees do: hips rise with feet that stand high, swinging feet are lifted less."""

from __future__ import annotations

import numpy as np

from ..model import Array, Clip, Mask
from ..targets.blend import Targets

# Between thigh and shin of a knee folded as far as people can, 0 is straight; clips that fold theirs further keep that.
# Measured: 141 (American Academy of Orthopaedic Surgeons) and 142.5 degrees (Boone and Azen, 1979), deviation 5.
FOLDED = np.radians(140.0)


def shortest(clip: Clip) -> Array:
    """Distance (F, L) from hip to ankle at which a leg is folded as far as it may be."""
    upper = np.linalg.norm(clip.knee - clip.hip, axis=-1)
    lower = np.linalg.norm(clip.ankle - clip.knee, axis=-1)
    folded = np.sqrt(np.maximum(upper**2 + lower**2 + 2.0 * upper * lower * np.cos(FOLDED), 0.0))
    return np.minimum(folded, np.linalg.norm(clip.ankle - clip.hip, axis=-1))


def lowest(clip: Clip, ankle: Array) -> Array:
    """Least rise (F, L) of the hips at which no leg folds too far over its ankle target; -inf where none does."""
    across = ankle - clip.hip
    height = across @ clip.up
    square = shortest(clip) ** 2 - (np.sum(across**2, axis=-1) - height**2)
    return np.where(square > 0.0, height + np.sqrt(np.maximum(square, 0.0)), -np.inf)


def unfold_swings(clip: Clip, targets: Targets, hip: Array, swings: Mask) -> Targets:
    """The targets with swinging feet (F, L) moved off their hips (F, L, 3) where they would fold their legs too far.

    They move the way that the clip's own ankle lies from its hip, so that they come and go without a jump.
    """
    own = clip.ankle - clip.hip
    own = own / np.maximum(np.linalg.norm(own, axis=-1, keepdims=True), 1e-300)
    line = targets.ankle - hip
    along = np.sum(line * own, axis=-1)
    square = shortest(clip) ** 2 - np.sum(line**2, axis=-1)
    # Where they fold too far, the positive root of |line + way * own| = shortest.
    way = np.sqrt(np.maximum(along**2 + square, 0.0)) - along
    move = np.where(swings & (square > 0.0), way, 0.0)[..., None] * own
    return targets.moved(move)
