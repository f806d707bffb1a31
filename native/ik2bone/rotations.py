# SPDX-License-Identifier: MIT
"""Rotations over arrays: matrices to and from rotation vectors and quaternions (w, x, y, z)."""

from __future__ import annotations

import numpy as np

from .model import Array


def unit(vectors: Array) -> Array:
    """Unit vectors (..., 3); zero where they are zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)


def matrix_from_vector(vectors: Array) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3), radians (Rodrigues)."""
    vectors = np.asarray(vectors, float)
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*vectors.shape[:-1], 3, 3)
    first = np.sinc(angle / np.pi)
    second = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    return np.eye(3) + first * cross + second * (cross @ cross)


def vector_from_matrix(matrix: Array) -> Array:
    """Rotation vectors (..., 3) of rotation matrices (..., 3, 3) that turn by less than pi."""
    matrix = np.asarray(matrix, float)
    skew = matrix - np.swapaxes(matrix, -1, -2)
    sine = 0.5 * np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
    length = np.linalg.norm(sine, axis=-1)
    angle = np.arctan2(length, 0.5 * (np.trace(matrix, axis1=-2, axis2=-1) - 1.0))
    return sine * np.where(length > 1e-12, angle / np.maximum(length, 1e-300), 1.0)[..., None]


def quaternion_from_vector(vectors: Array) -> Array:
    """Quaternions (..., 4) of rotation vectors (..., 3); none at all is exactly 1, 0, 0, 0."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)


def shortest_turns(vectors: Array, directions: Array) -> Array:
    """Rotation vectors (..., 3) of the shortest turns of vectors (..., 3) onto directions (..., 3), of any length."""
    axis = np.cross(vectors, directions)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = np.arctan2(sine, np.sum(vectors * directions, axis=-1, keepdims=True))
    return axis * np.where(sine > 0.0, angle / np.maximum(sine, 1e-300), 0.0)


def nearest_rotations(matrices: Array) -> Array:
    """The nearest rotations to matrices (..., 3, 3), of mirrored ones to their negatives."""
    left, _, right = np.linalg.svd(matrices)
    nearest = left @ right
    return nearest * np.sign(np.linalg.det(nearest))[..., None, None]
