# SPDX-License-Identifier: MIT
"""Many calls with the same numbers, which costs little time, and with other options, words and dtypes each time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.functions import functions
from tests.fuzz import families
from tests.fuzz.calls import Call, limb_numbers, other_numbers, words_of
from tests.fuzz.vectors import Array

Generator = np.random.Generator
SHARES = dict(solve=0.45, solve_pose=0.28, orient=0.12, pole_of=0.05, hinge_of=0.05, multiply=0.05)
CALLS = 40
LIMBS_OWN = ("root_scale", "mid_scale")  # they belong to the matrices of the same row


def numbers_of(rng: Generator, name: str, rows: int, wild: float) -> dict[str, Array]:
    """All arguments of a function for `rows` rows, in float64."""
    function = functions()[name]
    if "end" not in function.positional:
        return other_numbers(rng, function, rows, wild)
    return limb_numbers(rng, function, rows, wild, all_options=True)


def in_kind(rng: Generator, numbers: dict[str, Array], kind: str) -> dict[str, Array]:
    """The numbers in a dtype, repeated once so that options can start at any row; a few rows hold NaN or infinity."""
    doubled = {name: np.concatenate([array, array]).astype(kind) for name, array in numbers.items()}
    spoiled = doubled[str(rng.choice(list(doubled)))]
    if rng.random() < 0.5:
        families.spoil(rng, spoiled.reshape(len(spoiled), -1), most=0.01)
    return doubled


def chosen_options(rng: Generator, options: list[str]) -> list[str]:
    part = rng.choice([0.0, 0.1, 0.3, 0.6, 1.0])
    names = [name for name in options if rng.random() < part]
    return [name for name in options if name in names or (name == "end_matrix" and "end_goal" in names)]


def bulk_calls(rng: Generator, rows: int, name: str | None = None, wild: float | None = None) -> Iterator[Call]:
    """Calls of one function. Each option has the values of the limb's row, or those of rows shifted by a number."""
    name = name or str(rng.choice(list(SHARES), p=list(SHARES.values())))
    function = functions()[name]
    numbers = numbers_of(rng, name, rows, float(rng.choice([0.0, 0.1, 0.5, 1.0])) if wild is None else wild)
    kinds = [in_kind(rng, numbers, kind) for kind in ("f4", "f8")]
    for _ in range(CALLS if function.options else 2):
        doubled = kinds[int(rng.integers(2))]
        names = [n for n in chosen_options(rng, list(function.options)) if n in numbers]
        values = {n: doubled[n][:rows] for n in function.positional}
        for n in names:
            start = int(rng.integers(rows)) if n not in LIMBS_OWN and rng.random() < 0.5 else 0
            values[n] = doubled[n][start : start + rows]
        yield Call(function, (rows,), values, words_of(rng, function, values))
