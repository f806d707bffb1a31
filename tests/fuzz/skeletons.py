# SPDX-License-Identifier: MIT
"""The transforms that `aggregate` must return: products, computed here joint by joint in float64."""

from __future__ import annotations

import numpy as np

from tests.fuzz.calls import Call
from tests.fuzz.vectors import Array, affine, rotation


def unit_rotation(q: Array) -> Array:
    """The rotation matrices of quaternions of any length; the identity for zero."""
    largest = np.abs(q).max(1)
    q = np.where((largest > 0)[:, None], q / np.where(largest > 0, largest, 1.0)[:, None], [1.0, 0, 0, 0])
    return rotation(q / np.sqrt((q * q).sum(1))[:, None])


def last_row(m: Array) -> Array:
    """The matrices with (0, 0, 0, 1) as the last row."""
    m = m.copy()
    m[:, 3] = 0, 0, 0, 1
    return m


def ordinary(values: dict[str, Array]) -> Array:
    """The rows whose numbers are all zero or of a size at which products stay in range."""
    good = [(np.abs(v) < 1e60) & ((np.abs(v) > 1e-60) | (v == 0)) for v in values.values()]
    return np.all([g.reshape(len(g), -1).all(1) for g in good], axis=0)


def wrong_transforms(call: Call, result: Array) -> Array:
    """The rows with errors of transforms above the rounding, which grows along a branch."""
    values = {name: call.rows(name).astype(np.float64) for name in call.values}
    eps, tiny = np.finfo(call.kind).eps, np.finfo(call.kind).smallest_subnormal
    base, rest, scale = (values.get(name) for name in ("base", "rest", "scale"))
    got = result.reshape(call.count, *call.function.outputs["matrices"]).astype(np.float64)
    top = np.broadcast_to(np.eye(4), (call.count, 4, 4)) if base is None else last_row(base)
    wrong = np.zeros(call.count, bool)
    whole: list[tuple[Array, Array]] = []
    for j, parent in enumerate(call.function.before[0]):
        above, size = whole[parent] if parent >= 0 else (top, np.abs(top))
        turn = unit_rotation(values["rotation"][:, j])
        own = np.ones((call.count, 1, 3)) if scale is None else scale[:, j][:, None]
        at = values["translation"][:, j]
        steps = [(affine(turn * own, at), np.abs(affine(np.ones_like(turn) * own, at)))]
        steps[:0] = [] if rest is None else [(last_row(rest[:, j]), np.abs(last_row(rest[:, j])))]
        for step, its_size in steps:
            above, size = above @ step, size @ its_size
        whole.append((above, size))
        wrong |= ~(np.abs(got[:, j] - above) <= (eps + 1e-14 * (j + 1)) * size + tiny).all((1, 2))
    return wrong & ordinary(values)
