# SPDX-License-Identifier: MIT
"""Where the heel lies of a foot that rolls over it exactly, as animators and formulas have it."""

from __future__ import annotations

import numpy as np

from ..curves import runs
from ..model import Array, Mask

# A foot that strikes with its heel turns about that for about this time (s) before its ball comes to stand.
BEFORE = 0.15
# Exact rolls tell one place, by so many frames or more, within this share of the foot's length. Of the recorded clips
# measured the one that comes nearest to it agrees within 0.03.
LEAST, AGREE = 4, 0.005


def heel_behind(foot: Array, under: Array, forward: Array, length: float, up: Array, ball: Mask, fps: float) -> float:
    """How far behind the point `under` (3,) the ankle a foot (F, 4, 4) turns as its ball comes to stand (F,), or NaN.

    `under`, the unit vector `forward` (3,) along the sole and the results are in foot space, as is the `length` from
    `under` to the ball; `up` is in world space.
    """
    spans = [np.arange(max(start - round(BEFORE * fps), 0), start + 1) for start, _ in runs(ball)]
    frames = np.concatenate([*spans, np.zeros(0, int)])
    frames = frames[frames < len(ball) - 1]
    turned = (foot[frames + 1, :3, :3] - foot[frames, :3, :3]) @ forward
    moved = ((foot[frames + 1] - foot[frames]) @ np.append(under, 1.0))[:, :3]
    falls = -(turned @ up)
    # Turns of less than half the greatest speed tell little, and those between two frames of a landing nothing.
    clear = falls > max(0.5 * float(falls.max(initial=0.0)), 1e-9)
    if clear.sum() < LEAST or length <= 0.0:
        return float("nan")
    behind = np.sum(moved * turned, axis=-1)[clear] / np.sum(turned**2, axis=-1)[clear] / length
    middle = float(np.median(behind))
    agree = np.median(np.abs(behind - middle)) < AGREE
    # No heel lies farther from the ankle than the ball does.
    return middle * length if agree and abs(middle) < 1.0 else float("nan")
