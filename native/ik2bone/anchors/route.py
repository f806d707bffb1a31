# SPDX-License-Identifier: MIT
"""Which of its possible places each standing of a foot takes, so that there is time to get from one to the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..curves import SHARPEST
from ..model import Array

# Moving from one standing's offset to the next with this peak of acceleration (leg lengths / s^2) costs as much as
# putting a foot 1 leg aside; less costs by its square. It moves a foot by 0.04 leg within 1/30 s.
HURRY = 40.0
# A foot that climbs has to be over the edge before it is there: each length up counts as so many aside.
CLIMB = 2.0


def choose_places(
    times: Sequence[float] | Array, moves: list[Array], costs: list[Array], up: Array, leg: float
) -> list[int]:
    """The option that each of a foot's standings takes, in order of time: least cost of all together (Viterbi, 1967).

    `times` (s) are those from each to the next, `moves[i]` (C, 3) is how far each of the options moves the foot,
    `costs[i]` (C,) what it costs by itself.
    """
    moves = [move + (CLIMB - 1.0) * (move @ up)[:, None] * up for move in moves]
    total, back = costs[0], []
    for i in range(1, len(moves)):
        hurried = total[:, None] + _hurry(moves[i - 1], moves[i], times[i - 1], leg)
        back.append(np.argmin(hurried, axis=0))
        total = hurried.min(axis=0) + costs[i]
    return _followed(int(np.argmin(total)), back)


def _hurry(before: Array, after: Array, time: float, leg: float) -> Array:
    """Cost (B, A) of changing from one of the moves (B, 3) to one of the next (A, 3) within a time (s)."""
    change = np.linalg.norm(after[None] - before[:, None], axis=-1) / leg
    return (SHARPEST * change / time**2 / HURRY) ** 2


def _followed(last: int, back: list[NDArray[np.intp]]) -> list[int]:
    """The way back from the last option."""
    chosen = [last]
    for step in reversed(back):
        chosen.append(int(step[chosen[-1]]))
    return chosen[::-1]
