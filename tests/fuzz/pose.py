# SPDX-License-Identifier: MIT
"""The transforms of a row, and what the corrections of root and mid joint make of them, applied here in float64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tests.fuzz.rows import Rows
from tests.fuzz.vectors import Array, apply, columns, determinant, inverse, largest, length, rotation, same, size


@dataclass
class Pose:
    """A row's transforms, and what the corrections of root and mid joint make of them."""

    rows: Rows

    @cached_property
    def root_at(self) -> Array:
        return self.rows.given("root_matrix")[:, :3, 3]

    @cached_property
    def mid_at(self) -> Array:
        return self.rows.given("mid_matrix")[:, :3, 3]

    def linear(self, matrix: str, scale: str) -> Array:
        """The linear part without the joint's own scale."""
        own = self.rows[scale] if scale in self.rows.call.function.inputs else None
        linear = self.rows.given(matrix)[:, :3, :3]
        return linear if own is None else linear / own[:, None]

    @cached_property
    def frame(self) -> Array:
        return self.linear("root_matrix", "root_scale")

    @cached_property
    def mid_frame(self) -> Array:
        return self.linear("mid_matrix", "mid_scale")

    @cached_property
    def inward(self) -> Array:
        return inverse(self.frame)

    @cached_property
    def inner(self) -> Array:
        return self.inward @ self.mid_frame

    def seen(self, start: Array, point: Array) -> Array:
        """A vector between two points in the root's frame."""
        return apply(self.inward, point - start)

    @cached_property
    def upper(self) -> Array:
        return self.seen(self.root_at, self.mid_at)

    @cached_property
    def lower(self) -> Array:
        return self.seen(self.mid_at, self.rows.given("end"))

    @cached_property
    def reach(self) -> Array:
        return length(self.upper) + length(self.lower)

    @cached_property
    def size(self) -> Array:
        """How much longer things are outside than in the root's frame, at most."""
        return size(self.frame)

    @cached_property
    def narrowness(self) -> Array:
        """By which factor rounding grows in these frames."""
        own = [self.frame, self.mid_frame, self.inner]
        return np.prod([size(m) * size(inverse(m)) / 3 for m in own], 0)

    @cached_property
    def turned_mid(self) -> Array:
        """The mid joint after the root's correction, seen from the root in its frame."""
        return apply(rotation(self.rows.wide("root")), self.upper)

    @cached_property
    def turned_inner(self) -> Array:
        """What the mid joint's correction does, in the root's frame."""
        return self.inner @ rotation(self.rows.wide("mid")) @ inverse(self.inner)

    @cached_property
    def turned_end(self) -> Array:
        return self.turned_mid + apply(rotation(self.rows.wide("root")), apply(self.turned_inner, self.lower))

    @cached_property
    def turned_end_matrix(self) -> Array:
        """The linear part of the end joint's matrix after all corrections."""
        delta = self.frame @ rotation(self.rows.wide("root")) @ self.turned_inner @ self.inward
        return delta @ self.rows.given("end_matrix")[:, :3, :3] @ rotation(self.rows.wide("end"))

    @cached_property
    def hinge_in_root(self) -> Array:
        """The hinge in the root's frame: an axis maps as a cross product does, and turns round in a mirrored frame."""
        own, hinge = self.rows["mid_scale"], self.rows.given("hinge")
        if own is not None:
            hinge = hinge * np.prod(own, 1)[:, None] / own
        side = np.sign(determinant(self.inner))[:, None]
        return side * apply(np.swapaxes(inverse(self.inner), 1, 2), hinge)

    @cached_property
    def new_end(self) -> Array:
        return self.root_at + apply(self.frame, self.turned_end)

    @cached_property
    def slack(self) -> Array:
        """What the rounding of places can do, outside."""
        points = self.root_at, self.mid_at, self.rows.given("end"), self.new_end
        return 2 * self.rows.eps * np.max([largest(p) for p in points], 0) + 1e-15 * self.reach * self.size

    @cached_property
    def rigid(self) -> Array:
        """Whether bones keep their lengths: nothing but a rotation and one scale between root and mid joint."""
        product = np.swapaxes(self.inner, 1, 2) @ self.inner
        scale = (product[:, 0, 0] + product[:, 1, 1] + product[:, 2, 2]) / 3
        return size(product - scale[:, None, None] * np.eye(3)) < 20 * self.rows.eps * scale

    @cached_property
    def volumes(self) -> Array:
        """The least volume of a matrix in units of its columns' lengths, of all that must be invertible."""
        names = [n for n in ("root_matrix", "mid_matrix", "end_matrix", "end_goal") if self.rows[n] is not None]
        linear = [self.rows.given(n)[:, :3, :3] for n in names]
        return np.min([abs(determinant(m)) / np.prod(columns(m), 1) for m in linear], 0)

    @cached_property
    def broken(self) -> Array:
        """Rows that are invalid whatever the precision."""
        rows = self.rows
        zero = np.zeros(rows.count, bool)
        for name in ("root_scale", "mid_scale"):
            if rows[name] is not None:
                own = rows.given(name)
                zero |= (own[:, 0] == 0) | (own[:, 1] == 0) | (own[:, 2] == 0)
        return ~rows.finite | zero | same(self.root_at, self.mid_at) | same(self.mid_at, rows.given("end"))
