# SPDX-License-Identifier: MIT
"""Solved rows agree with float64 and with the twin, as far as they hang on the last digits of their input.

How far that is, is found by shaking the input: rows near a singularity, where results jump, are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.fuzz.exact_laws import is_off
from tests.fuzz.limb_laws import Law
from tests.fuzz.rows import MISSED, SINGULAR, Rows
from tests.fuzz.vectors import Array, cross, largest, length

sys.path.append(str(Path(__file__).parents[1]))  # the twin's modules know each other by their bare names
import reference  # noqa: E402
from reference_vectors import Precision  # noqa: E402

MOST = 3000  # rows of a call that are looked at
TWINS = 3  # rows that the twin solves: it is ten thousand times slower
SHAKE = 1e-4  # of the reach; a thousand times what float32 rounds
POINTS = ("root", "mid", "end", "target")

Numbers = dict[str, Array]


def shaken(rng: np.random.Generator, numbers: Numbers, reach: Array) -> Iterator[Numbers]:
    """The numbers moved one way, and the opposite way."""
    noise = {name: SHAKE * rng.normal(size=values.shape) for name, values in numbers.items()}
    for side in (1, -1):
        yield {name: values + side * moves(name, values, noise[name], reach) for name, values in numbers.items()}


def moves(name: str, values: Array, noise: Array, reach: Array) -> Array:
    """The noise in the size of what it is to move; the last rows of matrices stay."""
    if values.ndim == 1:
        return noise
    if values.ndim == 2:
        return noise * (reach if name in POINTS else length(values))[:, None]
    noise[:, :3, :3] *= length(values[:, 0, :3])[:, None, None]
    noise[:, :3, 3] *= reach[:, None]
    noise[:, 3] = 0
    return noise


def difference(a: Array, b: Array) -> Array:
    """Of points, or of quaternions up to their sign."""
    if a.shape[1] == 3:
        return length(a - b)
    return np.minimum(np.abs(a - b).max(1), np.abs(a + b).max(1))


def joints_of(numbers: Numbers) -> tuple[Array, Array, Array]:
    if "root" in numbers:
        return numbers["root"], numbers["mid"], numbers["end"]
    return numbers["root_matrix"][:, :3, 3], numbers["mid_matrix"][:, :3, 3], numbers["end"]


# The twin keeps half of its digits where a bone turns nearly half round: 3e-10 of the reach was seen, where the core
# agreed with fifty digits.
TWIN_EPS = 1e-9 / 40
# Cosine of half the turn of a bone that turns half round, as far as agreement goes: such turns jump.
HALF_ROUND = 1e-3


@dataclass
class Sample:
    """Some rows of a call: their numbers, what they gave, and what float64 gives for them, shaken and not."""

    rows: Rows
    numbers: Numbers
    got: Numbers
    wide: Numbers
    others: list[Numbers]
    reach: Array
    offset: Array  # largest coordinate, in units of the reach
    condition: Array  # of the matrices: how much they enlarge what rounding leaves
    judged: Array

    def units(self, name: str) -> Array:
        """In what a result is measured: points in reaches."""
        return self.reach if self.got[name].shape[1] == 3 else np.ones_like(self.reach)

    def moved(self, name: str) -> Array:
        """How far a result was shaken."""
        return np.max([difference(each[name], self.wide[name]) for each in self.others], 0)

    def broken(self, name: str, other: Array, eps: float) -> Array:
        """Rows of the call whose float64 result differs from another by more than such a rounding explains."""
        unit, move = self.units(name), self.moved(name)
        rounding = 40 * eps * (self.offset + 1) * self.condition
        off = difference(other, self.wide[name]) > rounding * unit + 1e6 * eps * move
        broken = np.zeros(self.rows.count, bool)
        broken[: len(off)] = self.judged & (move < 0.02 * unit) & off
        return broken


def sampled(rows: Rows) -> Sample:
    """The first rows of a call: those are as random as any."""
    call = rows.call
    numbers = {name: rows.given(name)[:MOST] for name in call.values}
    root, mid, end = joints_of(numbers)
    reach = length(mid - root) + length(end - mid)
    solve = lambda given: named(call.function({**given, **call.words}), rows)  # noqa: E731
    wide = solve(numbers)
    rng = np.random.default_rng(call.count)
    others = [solve(moved) for _ in range(2) for moved in shaken(rng, numbers, reach)]
    got = {name: result[:MOST] for name, result in rows.out.items()}
    offset = np.max([largest(p) for p in (root, mid, end)], 0) / reach
    judged = rows.ordinary[:MOST] & is_clear(root, mid, end)
    for name in ("root", "mid") if wide["mid"].shape[1] == 4 else ():
        judged &= np.abs(wide[name][:, 0]) > HALF_ROUND
    for each in (wide, *others, got):
        judged &= ((each["status"] & SINGULAR) == 0) & ((each["status"] & MISSED) == (wide["status"] & MISSED))
    return Sample(rows, numbers, got, wide, others, reach, offset, condition(numbers, len(reach)), judged)


def condition(numbers: Numbers, count: int) -> Array:
    """Product of the matrices' condition numbers; 1 where there are none, capped where one is singular."""
    result = np.ones(count)
    for name in ("root_matrix", "mid_matrix"):
        if name in numbers:
            sizes = np.linalg.svd(np.nan_to_num(numbers[name][:, :3, :3]), compute_uv=False)
            result = result * sizes[:, 0] / np.maximum(sizes[:, 2], 1e-12 * sizes[:, 0] + 1e-300)
    return np.minimum(result, 1e12)


def is_clear(root: Array, mid: Array, end: Array) -> Array:
    """Limbs that both precisions hold for bent, with bones of the same order of size."""
    upper, lower, line = mid - root, end - mid, end - root
    reach = length(upper) + length(lower)
    bent = length(cross(upper, lower)) > 1e-3 * reach * np.maximum(length(line), 1e-2 * reach)
    return bent & (np.minimum(length(upper), length(lower)) > 1e-2 * reach)


def named(results: tuple[Array | None, ...], rows: Rows) -> Numbers:
    return {name: r for name, r in zip(rows.call.function.outputs, results, strict=True) if r is not None}


def laws_of_agreement(rows: Rows) -> Iterator[Law]:
    sample = sampled(rows)
    names = [name for name in sample.wide if name not in ("miss", "status")]
    for name in names if rows.single else ():
        yield (
            f"{name} in float32 is that in float64",
            sample.broken(name, sample.got[name].astype(np.float64), rows.eps),
        )
    some = np.flatnonzero(sample.judged)[:TWINS]
    twin = named(tuple(twins(sample, some)), rows) if len(some) else {}
    for name in twin:
        if name in names:
            its = sample.wide[name].copy()
            its[some] = twin[name]
            yield f"{name} is that of the twin", confirmed(sample, name, sample.broken(name, its, TWIN_EPS))


def confirmed(sample: Sample, name: str, broken: Array) -> Array:
    """Of the rows that break a law, those that sixty digits find wrong, too."""
    call = sample.rows.call
    for row in np.flatnonzero(broken):
        given = {key: values[row] for key, values in sample.numbers.items()} | call.words
        broken[row] = is_off(name, call.function.name, given, sample.wide[name][row])
    return broken


def twins(sample: Sample, some: Array) -> Iterator[Array | None]:
    """What the twin gives for these rows, one array an output."""
    call = sample.rows.call
    solve = getattr(reference, call.function.name)
    results = []
    for row in some:
        given = {name: values[row] for name, values in sample.numbers.items()}
        positional = [given.pop(name) for name in call.function.positional]
        results.append(solve(*positional, precision=Precision.of(np.float64), **given, **call.words))
    for column in zip(*results, strict=True):
        yield None if column[0] is None else np.array(column)
