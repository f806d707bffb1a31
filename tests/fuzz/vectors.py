# SPDX-License-Identifier: MIT
"""Vectors (rows, 3), matrices (rows, 3, 3) and quaternions (rows, 4), w first, in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def dot(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2]


def largest(v: Array) -> Array:
    """The largest absolute component, without a reduction, because numpy is slow at reducing axes of three."""
    return np.maximum(np.maximum(abs(v[:, 0]), abs(v[:, 1])), abs(v[:, 2]))


def is_zero(v: Array) -> Array:
    return (v[:, 0] == 0) & (v[:, 1] == 0) & (v[:, 2] == 0)


def same(a: Array, b: Array) -> Array:
    return (a[:, 0] == b[:, 0]) & (a[:, 1] == b[:, 1]) & (a[:, 2] == b[:, 2])


def length(v: Array) -> Array:
    """The lengths of vectors of any finite length, without overflow or underflow; NaN stays NaN."""
    square = dot(v, v)
    result = np.sqrt(square)
    odd = np.flatnonzero((square < 1e-280) | (square > 1e280))
    if len(odd):
        scale = largest(v[odd])
        scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
        scaled = v[odd] / scale[:, None]
        result[odd] = np.sqrt(dot(scaled, scaled)) * scale
    return result


def unit(v: Array) -> Array:
    """The unit vectors; NaN for a zero vector."""
    return v / length(v)[:, None]


def cross(a: Array, b: Array) -> Array:
    result = np.empty_like(a)
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        result[:, i] = a[:, j] * b[:, k] - a[:, k] * b[:, j]
    return result


def reject(v: Array, axis: Array) -> Array:
    """The part of v perpendicular to the unit axis."""
    return v - dot(v, axis)[:, None] * axis


def apply(m: Array, v: Array) -> Array:
    return np.matmul(m, v[:, :, None])[:, :, 0]


def columns(m: Array) -> Array:
    """The lengths of a matrix's columns (rows, 3)."""
    return np.sqrt(m[:, 0] ** 2 + m[:, 1] ** 2 + m[:, 2] ** 2)


def size(m: Array) -> Array:
    """The Frobenius norm, a bound for the factor by which a matrix lengthens vectors."""
    return np.sqrt(np.einsum("nij,nij->n", m, m))


def determinant(m: Array) -> Array:
    return dot(m[:, 0], cross(m[:, 1], m[:, 2]))


def rotation(q: Array) -> Array:
    """The rotation matrices of unit quaternions, which are not normalized here."""
    w, x, y, z = q.T
    m = np.empty((len(q), 3, 3))
    m[:, 0, 0], m[:, 0, 1], m[:, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    m[:, 1, 0], m[:, 1, 1], m[:, 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    m[:, 2, 0], m[:, 2, 1], m[:, 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return m


def inverse(m: Array) -> Array:
    """The inverse by cofactors; NaN or infinity where a matrix is singular."""
    a, b, c = m[:, 0], m[:, 1], m[:, 2]
    adjugate = np.stack([cross(b, c), cross(c, a), cross(a, b)], 2)
    return adjugate / dot(a, cross(b, c))[:, None, None]


def affine(linear: Array, at: Array) -> Array:
    m = np.zeros((len(at), 4, 4))
    m[:, :3, :3], m[:, :3, 3], m[:, 3, 3] = linear, at, 1.0
    return m


def nearest_rotation(m: Array) -> Array:
    """The rotation nearest to `m` in the sense of least squares."""
    u, _, v = np.linalg.svd(m)
    u[:, :, 2] *= np.linalg.det(u @ v)[:, None]
    return u @ v


def same_bits(a: Array, b: Array) -> Array:
    """Whether each row is equal in all bits; all NaN are equal."""
    kind = np.dtype(f"u{a.itemsize}")
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    equal = (a.view(kind) == b.view(kind)) | (np.isnan(a) & np.isnan(b))
    good = np.ones(len(a), bool)
    good[np.flatnonzero(~equal) // max(1, math.prod(a.shape[1:]))] = False
    return good
