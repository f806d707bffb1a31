# SPDX-License-Identifier: MIT
"""The plain case in numpy, as in a notebook: generic rows, no options, rigid transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def length(v: Array) -> Array:
    return np.sqrt((v * v).sum(-1, keepdims=True))


def unit(v: Array) -> Array:
    return v / length(v)


def dot(a: Array, b: Array) -> Array:
    return (a * b).sum(-1, keepdims=True)


def solve(root: Array, mid: Array, end: Array, target: Array) -> tuple[Array, ...]:
    """The new mid and end, the miss and the status. The bend is carried along by a reflection."""
    upper, lower = length(mid - root), length(end - mid)
    line, new_line = unit(end - root), unit(target - root)
    bend = unit(mid - root - dot(mid - root, line) * line)
    half = unit(line + new_line)
    bend = unit(bend - 2 * dot(bend, half) * half)
    wanted = length(target - root)
    distance = np.clip(wanted, abs(upper - lower), upper + lower)
    along = (upper**2 - lower**2 + distance**2) / (2 * distance)
    height = np.sqrt(np.maximum(upper**2 - along**2, 0))
    new_end = root + distance * new_line
    status = (wanted > upper + lower).astype("u1") + 2 * (wanted < abs(upper - lower)).astype("u1")
    return root + along * new_line + height * bend, new_end, length(new_end - target)[..., 0], status[..., 0]


def arc(a: Array, b: Array) -> Array:
    """The shortest turn of direction a onto b, as quaternions with w first."""
    a, b = unit(a), unit(b)
    return unit(np.concatenate([1 + dot(a, b), np.cross(a, b)], -1))


def rotated(q: Array, v: Array) -> Array:
    """The vectors v, turned by the quaternions q."""
    once = np.cross(q[..., 1:], v)
    return v + 2 * (q[..., :1] * once + np.cross(q[..., 1:], once))


def into(matrix: Array, v: Array) -> Array:
    """The direction v in the frame of a rigid matrix."""
    return (np.swapaxes(matrix[..., :3, :3], -1, -2) @ v[..., None])[..., 0]


def orient(root_matrix: Array, mid_matrix: Array, end: Array, new_mid: Array, new_end: Array) -> tuple[Array, Array]:
    """The corrections of root and mid joint by shortest arcs."""
    at, mid = root_matrix[..., :3, 3], mid_matrix[..., :3, 3]
    root = arc(into(root_matrix, mid - at), into(root_matrix, new_mid - at))
    inverse = root * np.array([1, -1, -1, -1], root.dtype)
    lower = rotated(inverse, into(root_matrix, new_end - new_mid))
    lower = (root_matrix[..., :3, :3] @ lower[..., None])[..., 0]
    return root, arc(into(mid_matrix, end - mid), into(mid_matrix, lower))


def solve_pose(root_matrix: Array, mid_matrix: Array, end: Array, target: Array) -> tuple[Array, ...]:
    """The corrections of `orient` to the positions of `solve`, then the new end, the miss and the status."""
    new_mid, new_end, miss, status = solve(root_matrix[..., :3, 3], mid_matrix[..., :3, 3], end, target)
    return *orient(root_matrix, mid_matrix, end, new_mid, new_end), new_end, miss, status


def local(translation: Array, rotation: Array) -> Array:
    """The matrices of translations and rotations."""
    w, x, y, z = np.moveaxis(unit(rotation), -1, 0)
    result = np.zeros((*w.shape, 4, 4), rotation.dtype)
    result[..., 0, 0], result[..., 0, 1] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z)
    result[..., 0, 2], result[..., 1, 0] = 2 * (x * z + w * y), 2 * (x * y + w * z)
    result[..., 1, 1], result[..., 1, 2] = 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    result[..., 2, 0], result[..., 2, 1] = 2 * (x * z - w * y), 2 * (y * z + w * x)
    result[..., 2, 2], result[..., 3, 3] = 1 - 2 * (x * x + y * y), 1
    result[..., :3, 3] = translation
    return result


def aggregate(parents: Sequence[int], translation: Array, rotation: Array) -> Array:
    """The aggregate transforms, computed joint by joint for all frames at once."""
    result = local(translation, rotation)
    for joint, parent in enumerate(parents):
        if parent >= 0:
            result[..., joint, :, :] = result[..., parent, :, :] @ result[..., joint, :, :]
    return result


def pole_of(root: Array, mid: Array, end: Array) -> Array:
    """The direction of the bend, perpendicular to the line from root to end."""
    line = unit(end - root)
    return unit(mid - root - dot(mid - root, line) * line)
