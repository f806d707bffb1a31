# SPDX-License-Identifier: MIT
"""Rotations and motions over arrays: matrices, rotation vectors and quaternions (w, x, y, z)."""

from inspect import unwrap

import numpy as np

from ._core import aggregate
from .arrays import Array, Mask

# `median_point` looks at no more than this number of points, spread evenly over all, because its time grows with the
# square of their number.
SOME = 200

# Newton's iteration for rotations ends when a round changes no number by more than SETTLED: the changes of the next
# round would be as small as the square of that, which is below rounding. Of the measured matrices that have an inverse,
# the worst take six rounds.
SETTLED, ROUNDS = 1e-8, 12

# `numpy.einsum` without its search for arrays of other libraries, which takes a quarter of its time on few vectors.
einsum = unwrap(np.einsum)

# A matrix whose determinant is at most this share of its norm's cube has no usable inverse. An axis that was scaled to
# zero keeps about that much in single precision.
FLAT = 1e-7

# The indices of the next axis and of the one after it, for each axis.
NEXT, LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def dot(vectors: Array, others: Array) -> Array:
    """Dot products (...) of vectors (..., D), in less than half the time that `numpy.sum` takes along short axes.

    For vectors (F, L, 3) and one direction, `@` calls OpenBLAS once a frame, which takes three times as long; for
    thousands of vectors (N, 3) it wakes a thread of OpenBLAS, which then spins until planting ends.
    """
    return np.asarray(einsum("...i,...i->...", vectors, others))


def length_of(vectors: Array) -> Array:
    """Lengths (...) of vectors (..., D), in less than half the time that `numpy.linalg.norm` takes along short axes."""
    return np.sqrt(einsum("...i,...i->...", vectors, vectors))


def unit(vectors: Array) -> Array:
    """Unit vectors (..., 3); zero where they are zero."""
    return vectors / np.maximum(length_of(vectors), 1e-300)[..., None]


def level_part(vectors: Array, up: Array) -> Array:
    """The vectors (..., 3) without their component along `up`."""
    return vectors - einsum("...i,i->...", vectors, up)[..., None] * up


def median_point(points: Array) -> Array:
    """The point of `points` (N, D) with the least sum of distances from the others, the mean if several are as good.

    Unlike medians of coordinates it does not depend on the axes.
    """
    some = points[:: 1 + len(points) // SOME]
    # Axis by axis is several times as fast as vector by vector.
    away = np.sqrt(sum((places[:, None] - places) ** 2 for places in some.T)).sum(axis=0)
    near = some[away <= (1.0 + 1e-9) * away.min()]
    return np.asarray(near.sum(axis=0) / len(near))


def turn_vectors(motion: Array, vectors: Array) -> Array:
    """Vectors (..., 3) turned by a motion (4, 4) or (..., 4, 4)."""
    axes = motion[..., :3, :3]
    if vectors.ndim < axes.ndim - 1:
        # `einsum` takes two to five times as long for vectors that it has to repeat.
        vectors = vectors + np.zeros(axes.shape[:-1])
    return np.asarray(einsum("...ij,...j->...i", axes, vectors))


def move_points(motion: Array, points: Array) -> Array:
    """Points (..., 3) moved by a motion (4, 4) or (..., 4, 4)."""
    return turn_vectors(motion, points) + motion[..., :3, 3]


def cross(vectors: Array, others: Array) -> Array:
    """Cross products (..., 3) of vectors (..., 3), for few vectors in a tenth of the time that `numpy.cross` takes."""
    return vectors.take(NEXT, -1) * others.take(LAST, -1) - vectors.take(LAST, -1) * others.take(NEXT, -1)


def cofactors(matrices: Array) -> tuple[Array, Array]:
    """Cofactors (..., 3, 3) and determinants (...) of matrices (..., 3, 3); their ratio is the inverse, transposed."""
    rows = cross(matrices.take(NEXT, -2), matrices.take(LAST, -2))
    return rows, dot(matrices[..., 0, :], rows[..., 0, :])


def is_flat(axes: Array, least: float = FLAT) -> Mask:
    """Whether axes (..., 3, 3) span almost no volume."""
    # Whole components are several times as fast as matrix by matrix.
    x, y, z = rows = np.ascontiguousarray(np.moveaxis(axes, (-2, -1), (0, 1)))
    volume = sum(x[i - 2] * (y[i - 1] * z[i] - y[i] * z[i - 1]) for i in range(3))
    size = einsum("ij...,ij...->...", rows, rows)
    return np.asarray(np.abs(volume) <= least * size * np.sqrt(size))


def inverse_of(motion: Array) -> Array:
    """Inverses (..., 4, 4) of affine maps (..., 4, 4), in closed form.

    `numpy.linalg.inv` spreads even such small matrices over threads, which takes ten times as long on a busy machine.
    """
    result = np.zeros(motion.shape)
    rows, determinant = cofactors(motion[..., :3, :3])
    result[..., :3, :3] = np.swapaxes(rows, -1, -2) / determinant[..., None, None]
    result[..., :3, 3] = -turn_vectors(result, motion[..., :3, 3])
    result[..., 3, 3] = 1.0
    return result


def matrix_from_vector(vectors: Array) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3), radians."""
    return matrix_from_quaternion(quaternion_from_vector(np.asarray(vectors, float)))


def vector_from_matrix(matrix: Array) -> Array:
    """Rotation vectors (..., 3) of rotation matrices (..., 3, 3) that turn by less than pi."""
    matrix = np.asarray(matrix, float)
    sine = 0.5 * (matrix - matrix.swapaxes(-1, -2))[..., LAST, NEXT]
    length, trace = length_of(sine), matrix[..., 0, 0] + matrix[..., 1, 1] + matrix[..., 2, 2]
    angle = np.arctan2(length, 0.5 * (trace - 1.0))
    return sine * np.where(length > 1e-12, angle / np.maximum(length, 1e-300), 1.0)[..., None]


def quaternion_from_vector(vectors: Array) -> Array:
    """Quaternions (..., 4) of rotation vectors (..., 3); that of a zero vector is exactly 1, 0, 0, 0."""
    angle = length_of(vectors)[..., None]
    half = 0.5 * angle
    return np.concatenate([np.cos(half), np.sin(half) / np.maximum(angle, 1e-300) * vectors], axis=-1)


def shortest_turns(vectors: Array, directions: Array) -> Array:
    """Rotation vectors (..., 3) of the shortest turns of vectors (..., 3) onto directions (..., 3), of any length."""
    axis = cross(vectors, directions)
    sine, cosine = length_of(axis)[..., None], dot(vectors, directions)[..., None]
    angle = np.arctan2(sine, cosine)
    return axis * np.where(sine > 0.0, angle / np.maximum(sine, 1e-300), 0.0)


def angle_to_gain(along: Array, aside: Array, wanted: Array) -> Array:
    """The least angles (...), 0 or more, at which along * cos(angle) + aside * sin(angle) is as large as `wanted`, or
    else as large as it gets; 0 where a small positive angle makes it smaller.
    """
    share = wanted / np.maximum(np.hypot(along, aside), 1e-300)
    return np.maximum(np.arctan2(aside, along) - np.arccos(np.minimum(np.maximum(share, -1.0), 1.0)), 0.0)


def nearest_rotations(matrices: Array) -> Array:
    """The rotations nearest to matrices (..., 3, 3); for a mirrored matrix, the rotation nearest to its negative.

    Newton's iteration for the polar decomposition, scaled by norms (Higham, SIAM J. Sci. Stat. Comput. 7, 1986).
    `numpy.linalg.svd` spreads such small matrices over threads, as `inv` does, and is used only if there is no inverse.
    """
    flat = is_flat(matrices)
    turns = np.where(flat[..., None, None], np.eye(3), matrices)
    for _ in range(ROUNDS):
        last, (rows, determinant) = turns, cofactors(turns)
        inverse = rows / determinant[..., None, None]
        sizes = [np.sqrt(einsum("...ij,...ij->...", each, each)) for each in (inverse, turns)]
        share = np.sqrt(sizes[0] / sizes[1])[..., None, None]
        turns = 0.5 * (share * turns + inverse / share)
        if np.abs(turns - last).max(initial=0.0) < SETTLED:
            break
    signs = np.sign(determinant)
    if flat.any():
        left, _, right = np.linalg.svd(matrices[flat])
        turns[flat] = left @ right
        signs[flat] = np.sign(np.linalg.det(turns[flat]))
    return turns * signs[..., None, None]


def matrix_from_quaternion(quaternions: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4): w, x, y, z."""
    return np.asarray(aggregate((-1,), np.zeros((1, 3)), quaternions[..., None, :])[..., 0, :3, :3])


def corrected(matrices: Array, corrections: Array, scale: Array, offset: Array) -> tuple[Array, Array]:
    """Aggregate transforms (..., J, 4, 4) of a chain of joints after corrections (..., J, 4), and moves of the joints.

    Each joint's own `scale` (..., J, 3) acts before its rotation, and each joint is carried along by its parent; the
    first joint is also moved by `offset` (..., 3). A move (..., J, 4, 4) maps points that are fixed to its joint from
    their old places to their new ones.
    """
    local = np.zeros_like(matrices)
    # S^-1 R S, with S = diag(scale)
    local[..., :3, :3] = matrix_from_quaternion(corrections) * scale[..., None, :] / scale[..., :, None]
    local[..., 3, 3] = 1.0
    moves = matrices @ local @ inverse_of(matrices)
    moves[..., 0, :3, 3] += offset
    for joint in range(1, moves.shape[-3]):
        moves[..., joint, :, :] = moves[..., joint - 1, :, :] @ moves[..., joint, :, :]
    return moves @ matrices, moves
