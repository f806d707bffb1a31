# SPDX-License-Identifier: MIT
"""A call's numbers and results row by row in float64, as the laws look at them, and the accuracy to expect."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from tests.fuzz.calls import Call
from tests.fuzz.vectors import Array

MISSED, INVALID, SINGULAR, LIMITED = 47, 32, 16, 8


class Rows:
    """`rows["mid"]` is an argument in float64, None where it is not given; `rows.out["mid"]` is a result as it came."""

    def __init__(self, call: Call, results: tuple[Array | None, ...]) -> None:
        self.call = call
        self.count = call.count
        self.single = call.kind == np.dtype("f4")
        self.eps = float(np.finfo(call.kind).eps)
        self.accuracy = 1e-6 if self.single else 2e-14  # in units of the reach, by the contract
        self.moved = 1e-6 if self.single else 1e-12  # by which a stage must move the end to be flagged
        self.straight = 1e-5 if self.single else 1e-12
        shapes = call.function.outputs
        named = zip(shapes, results, strict=True)
        self.out = {n: r.reshape(self.count, *shapes[n]) for n, r in named if r is not None}
        self._kept: dict[str, Array | None] = {}

    def __getitem__(self, name: str) -> Array | None:
        if name not in self._kept:
            given = name in self.call.values
            self._kept[name] = self.call.rows(name).astype(np.float64) if given else None
        return self._kept[name]

    def given(self, name: str) -> Array:
        """An argument that must be given."""
        found = self[name]
        assert found is not None
        return found

    def number(self, name: str, missing: float) -> Array:
        found = self[name]
        return np.full(self.count, missing) if found is None else found

    def wide(self, name: str) -> Array:
        """A result in float64."""
        return self.out[name].astype(np.float64)

    def as_result(self, name: str) -> Array:
        """An argument as it would be returned, bit for bit."""
        return self.call.rows(name).astype(self.call.kind)

    @cached_property
    def finite(self) -> Array:
        """Whether all numbers of a row, options included, are finite."""
        good = np.ones(self.count, bool)
        for name in self.call.values:
            good[self.rows_with(name, ~np.isfinite(self.given(name)))] = False
        return good

    def rows_with(self, name: str, elements: Array) -> Array:
        """Rows that have any of these elements of an argument."""
        return np.flatnonzero(elements) // math.prod(self.call.function.inputs[name])

    @cached_property
    def ordinary(self) -> Array:
        """Whether all numbers are zero or of a size whose products stay in range."""
        good = self.finite.copy()
        for name in self.call.values:
            size = np.abs(self.given(name))
            good[self.rows_with(name, ((size < 1e-60) & (size > 0)) | (size > 1e60))] = False
        return good

    @property
    def rolling(self) -> bool:
        return self.call.words.get("roll") == "hinge"

    @cached_property
    def invalid(self) -> Array:
        return self.out["status"] == INVALID


def same_bits(a: Array, b: Array) -> Array:
    """Rows that are equal to the last bit; any NaN equals any other."""
    kind = np.dtype(f"u{a.itemsize}")
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    equal = (a.view(kind) == b.view(kind)) | (np.isnan(a) & np.isnan(b))
    good = np.ones(len(a), bool)
    good[np.flatnonzero(~equal) // max(1, math.prod(a.shape[1:]))] = False
    return good
