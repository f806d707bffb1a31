# SPDX-License-Identifier: MIT
"""What multiply and aggregate must give: products, worked out here joint by joint in float64."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.fuzz.limb_laws import Law
from tests.fuzz.rows import Rows
from tests.fuzz.vectors import Array, affine, rotation


def laws_of_multiply(rows: Rows) -> Iterator[Law]:
    q, r = rows.given("q"), rows.given("r")
    a, b, c, d = q.T
    matrix = np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])
    product = np.einsum("ijn,nj->ni", matrix, r)
    size = np.sqrt((q * q).sum(1) * (r * r).sum(1))
    off = np.abs(rows.wide("product") - product).max(1)
    tiny = 4 * np.finfo(rows.call.kind).smallest_subnormal
    large = np.finfo(rows.call.kind).max
    yield "a product is that of its quaternions", rows.ordinary & (size < large) & ~(off <= 4 * rows.eps * size + tiny)


def unit_rotation(q: Array) -> Array:
    """Of a quaternion of any length; zero is the identity."""
    largest = np.abs(q).max(1)
    q = np.where((largest > 0)[:, None], q / np.where(largest > 0, largest, 1.0)[:, None], [1.0, 0, 0, 0])
    return rotation(q / np.sqrt((q * q).sum(1))[:, None])


def laws_of_aggregate(rows: Rows) -> Iterator[Law]:
    """Each joint's transform, and a bound of its rounding that grows along the branch."""
    parents = rows.call.function.before[0]
    base, rest, scale = rows["base"], rows["rest"], rows["scale"]
    whole: list[tuple[Array, Array]] = []
    top = np.broadcast_to(np.eye(4), (rows.count, 4, 4)) if base is None else last_row(base)
    for j, parent in enumerate(parents):
        above, size = whole[parent] if parent >= 0 else (top, np.abs(top))
        turn = unit_rotation(rows.given("rotation")[:, j])
        own = np.ones((rows.count, 1, 3)) if scale is None else scale[:, j][:, None]
        at = rows.given("translation")[:, j]
        steps = [(affine(turn * own, at), np.abs(affine(np.ones_like(turn) * own, at)))]
        steps[:0] = [] if rest is None else [(last_row(rest[:, j]), np.abs(last_row(rest[:, j])))]
        for step, its_size in steps:
            above, size = above @ step, size @ its_size
        whole.append((above, size))
        off = np.abs(rows.wide("matrices")[:, j] - above)
        bound = (rows.eps + 1e-14 * (j + 1)) * size + np.finfo(rows.call.kind).smallest_subnormal
        yield "a transform is the product of those above", rows.ordinary & ~(off <= bound).all((1, 2))


def last_row(m: Array) -> Array:
    """The affine matrix with the last row that it should have."""
    m = m.copy()
    m[:, 3] = 0, 0, 0, 1
    return m
