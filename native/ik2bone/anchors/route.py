# SPDX-License-Identifier: MIT
"""Viterbi choice of footsteps: which of its places each stance of a foot takes, so that there is time between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..curves import SHARPEST
from ..model import Array
from .passing import HURRY

# A foot that climbs has to be over the edge before it is there: each length up counts as so many aside.
CLIMB = 2.0


def choose_places(
    times: Sequence[float] | Array, moves: list[Array], costs: list[Array], up: Array, leg: float
) -> list[int]:
    """The option that each of a foot's stances takes, in order of time: least cost of all together (Viterbi, 1967).

    `times` (s) are those from each to the next, `moves[i]` (C, 3) is how far each of the options moves the foot,
    `costs[i]` (C,) what it costs by itself.
    """
    moves = [_stretched(move, up) for move in moves]
    squares = [np.sum(move**2, axis=1) for move in moves]
    total, back = costs[0], []
    for i in range(1, len(moves)):
        ways = squares[i - 1][:, None] + squares[i] - 2.0 * moves[i - 1] @ moves[i].T
        hurried = total[:, None] + _weight(times[i - 1], leg) * ways
        back.append(np.argmin(hurried, axis=0))
        total = hurried.min(axis=0) + costs[i]
    return _followed(int(np.argmin(total)), back)


def hurry_costs(changes: Array, times: Array | float, up: Array, leg: float) -> Array:
    """Costs (...) of moving a foot by changes (..., 3) more than the clip does, within times (...) in seconds.

    Acceleration HURRY costs as much as putting a foot 1 leg aside; less costs by its square.
    """
    return np.asarray(np.sum(_stretched(changes, up) ** 2, axis=-1) * _weight(times, leg))


def _stretched(moves: Array, up: Array) -> Array:
    """Moves (..., 3) in which lengths up count as those aside."""
    return np.asarray(moves + (CLIMB - 1.0) * (moves @ up)[..., None] * up)


def _weight(times: Array | float, leg: float) -> Array:
    """Cost of the square of a way, in scene units, within times (...)."""
    return np.asarray((SHARPEST / (HURRY * leg)) ** 2 / np.maximum(times, 1e-3) ** 4)


def _followed(last: int, back: list[NDArray[np.intp]]) -> list[int]:
    """The way back from the last option."""
    chosen = [last]
    for step in reversed(back):
        chosen.append(int(step[chosen[-1]]))
    return chosen[::-1]
