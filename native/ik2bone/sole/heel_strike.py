# SPDX-License-Identifier: MIT
"""Where the heel of a foot lies that rolls over it exactly, as animators and formulas have it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..curves import runs
from ..model import Array, Mask

# Before a ball comes to stand (s), and on its first frames, a foot that struck with its heel turns about that, faster
# than this (radians a second).
BEFORE, AFTER, SLOWEST = 0.15, 0.03, 0.7
# A turn is about a point of the sole that moves by less than this share of what it moves the ball. Of exact rolls at
# least half of so many turns are, and their points agree within the last share of the foot's length. Of the recorded
# clips measured none comes near.
STILL, LEAST, AGREE = 0.15, 6, 0.01
# How far behind the ankle a heel can lie, in lengths of the foot from ankle to ball.
RANGE = (-0.2, 1.0)


def heel_behind(foot: Array, under: Array, forward: Array, length: float, up: Array, ball: Mask, fps: float) -> float:
    """How far behind the point `under` (3,) the ankle a foot (F, 4, 4) rolls as its ball comes to stand (F,), or NaN.

    `under`, the unit vector `forward` (3,) along the sole and the results are in foot space, as is the `length` from
    `under` to the ball; `up` is in world space.
    """
    frames = _landings(ball, fps)
    turned = (foot[frames + 1, :3, :3] - foot[frames, :3, :3]) @ forward
    moved = (foot[frames + 1] - foot[frames]) @ np.append(under, 1.0)
    unit = np.linalg.norm(foot[frames, :3, :3] @ forward, axis=-1)
    way = np.sum(turned**2, axis=-1)
    falls = -(turned @ up) * fps > SLOWEST * unit
    behind = np.sum(moved[:, :3] * turned, axis=-1)[falls] / way[falls]
    left = np.linalg.norm(moved[falls, :3] - behind[:, None] * turned[falls], axis=-1)
    exact = left < STILL * length * np.sqrt(way[falls])
    return _agreed(behind[exact] / length, len(exact)) * length


def _landings(ball: Mask, fps: float) -> NDArray[np.intp]:
    """Frames, the last excluded, round those on which a ball (F,) comes to stand."""
    spans = [np.arange(start - round(BEFORE * fps), start + round(AFTER * fps)) for start, _ in runs(ball)]
    frames = np.concatenate([*spans, np.zeros(0, int)])
    return frames[(frames >= 0) & (frames < len(ball) - 1)]


def _agreed(shares: Array, turns: int) -> float:
    """The one share that most of so many turns agree on, else NaN."""
    if len(shares) < max(LEAST, 0.5 * turns):
        return float("nan")
    middle = float(np.median(shares))
    agree = np.median(np.abs(shares - middle)) < AGREE and RANGE[0] < middle < RANGE[1]
    return middle if agree else float("nan")
