# SPDX-License-Identifier: MIT
"""The twin's functions of vectors and quaternions (w, x, y, z), and the sizes that count as zero in each precision."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, sin

import numpy as np

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Precision:
    """The greatest sizes that count as zero; lengths are in units of the reach."""

    straight: float  # distance of the mid joint from the line root-end
    moved: float  # distance by which a stage moved the end
    parallel: float  # sine of an angle that the rounding of the input alone can cause

    @staticmethod
    def of(dtype) -> Precision:
        eps = float(np.finfo(dtype).eps)
        return Precision(1e-5, 1e-6, 16 * eps) if dtype == np.float32 else Precision(1e-12, 1e-12, 16 * eps)


DOUBLE = Precision.of(np.float64)


def clamp(number, least, greatest):
    return min(max(number, least), greatest)


def clamp01(number):
    return clamp(number, 0.0, 1.0)


def length(v):
    return float(np.linalg.norm(v))


def unit(v):
    return v / length(v)


def reject(v, axis):
    """The part of v perpendicular to the unit axis."""
    return v - np.dot(v, axis) * axis


def perpendicular(v):
    """A unit vector perpendicular to v that depends only on v: v crossed with the axis of its least component."""
    return unit(np.cross(v, np.eye(3)[np.argmin(np.abs(v))]))


def about(axis, angle):
    return np.concatenate([[cos(angle / 2)], sin(angle / 2) * unit(axis)])


def multiply(q, r):
    w, v = q[0], q[1:]
    return np.concatenate([[w * r[0] - np.dot(v, r[1:])], w * r[1:] + r[0] * v + np.cross(v, r[1:])])


def conjugate(q):
    return np.concatenate([q[:1], -q[1:]])


def matrix(q):
    """The rotation matrix of a quaternion of any length. A zero quaternion gives the identity."""
    if not np.any(q):
        return np.eye(3)
    w, x, y, z = unit(q / np.max(np.abs(q)))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion(m):
    """The quaternion of a rotation matrix: the eigenvector of its symmetric 4 x 4 form (Horn 1987), w >= 0."""
    t = np.trace(m)
    v = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    form = np.block([[np.array([[t]]), v[None]], [v[:, None], m + m.T - t * np.eye(3)]])
    q = np.linalg.eigh(form)[1][:, 3]
    return q if q[0] >= 0 else -q


def handedness(m):
    """1, or -1 for a mirrored matrix."""
    return 1.0 if np.linalg.det(m) > 0 else -1.0


def nearest_rotation(m):
    """The rotation nearest to m by least squares (Kabsch 1976).

    For a mirrored m, the result is the polar factor of -m with half a turn. The turn's axis is the first of m's own
    axes x, y, z that lies within 60 degrees of the vectors of the least singular values, projected onto these vectors.
    Singular values that differ by at most 1e-5 of the greatest count as equal; many rotations are then as near.
    """
    u, s, vt = np.linalg.svd(m)
    if handedness(u @ vt) > 0:
        return u @ vt
    least = vt[s - s[2] <= 1e-5 * s[0]]
    axis = next(v for v in (least.T @ least) if length(v) > 0.5)
    return u @ vt @ (np.eye(3) - 2 * np.outer(unit(axis), unit(axis)))


def arc(a, b, axis, precision=DOUBLE):
    """The shortest rotation of direction a onto b, about `axis` if they are opposite, and whether they are."""
    a, b, axis = unit(a), unit(b), reject(axis, unit(a))
    if length(a + b) > precision.parallel:
        return shortest(a, b), False
    half_turn = np.concatenate([[0.0], unit(axis)])
    return multiply(shortest(-a, b), half_turn), True


def shortest(a, b):
    """The shortest rotation of unit vector a onto unit vector b.

    Its axis comes from the shorter one of sum and difference and is perpendicular to a, which makes it exact for nearly
    opposite vectors, too.
    """
    across = a + b if length(a + b) < length(b - a) else b - a
    normal = reject(np.cross(a, across), a)
    if not np.any(normal):
        return IDENTITY
    return about(normal, 2 * atan2(length(a - b), length(a + b)))
