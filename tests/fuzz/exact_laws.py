# SPDX-License-Identifier: MIT
"""Sixty digits decide where core and twin disagree: the row may hang on the last digits of its input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.vectors import Array, rotation

sys.path.append(str(Path(__file__).parents[1]))  # its modules know each other by their bare names
import precise  # noqa: E402

# How many times what one rounding of the input does a result may be off; the worst seen on hard rows is 4.5.
ROUNDINGS = 30
EPS = float(np.finfo(np.float64).eps)
# Where sixty digits end, too.
SINGULAR = (ZeroDivisionError, ValueError, np.linalg.LinAlgError)


def is_off(name: str, function: str, row: dict[str, Any], result: Array) -> bool:
    """Whether a float64 result is wrong by more than roundings of the row's numbers explain."""
    try:
        exact = answer(name, function, row, 0.0)
        others = [answer(name, function, moved, rounding) for moved, rounding in moves(row)]
    except SINGULAR:
        return False
    sensitivity = max(size(other - exact) for other in others)
    found = rotation(result[None])[0] if result.shape == (4,) else result
    return size(found - exact) > ROUNDINGS * (sensitivity + EPS * size(exact))


def size(values: Array) -> float:
    return max(abs(float(value)) for value in values.ravel())


def answer(name: str, function: str, row: dict[str, Any], rounding: float) -> Array:
    """One of the exact results: a point, or a rotation matrix."""
    results = getattr(precise, function)(**row, rounding=rounding)
    names = ("mid", "end") if function == "solve" else ("root", "mid", "end", "position")
    return results[names.index(name)]


def moves(row: dict[str, Any]) -> Iterator[tuple[dict[str, Any], float]]:
    """The row with each number off by up to a rounding of its array's largest, and a distance that is."""
    rng = np.random.default_rng(2)
    vectors = max(float(np.max(np.abs(value))) for value in row.values() if np.shape(value) == (3,))
    for rounding in (0.0, EPS, -EPS):
        yield {name: moved(rng, value, vectors) for name, value in row.items()}, rounding


def moved(rng: np.random.Generator, value: Any, vectors: float) -> Any:
    """Vectors by a rounding of the row's largest, words not at all."""
    if isinstance(value, str):
        return value
    step = EPS * (vectors if np.shape(value) == (3,) else float(np.max(np.abs(value))))
    return precise.exact(value) + step * precise.exact(rng.uniform(-1, 1, np.shape(value)))
