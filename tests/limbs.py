# SPDX-License-Identifier: MIT
"""Random limbs and the application of corrections, for the solver's tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def directions(rng, count):
    v = rng.normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def rotations(rng, count):
    """Random rotation matrices, evenly distributed."""
    q, r = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    q = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None]
    return q * np.linalg.det(q)[:, None, None]


def length(v):
    return np.linalg.norm(v, axis=-1)


def angle(a, b):
    """The angle between vectors, in radians. They are scaled first, because products of tiny vectors lose digits."""
    a, b = (np.asarray(v) / np.maximum(np.abs(v).max(-1, keepdims=True), 1e-300) for v in (a, b))
    return np.arctan2(length(np.cross(a, b)), (a * b).sum(-1))


def positions(rng, count, ratio=(0.2, 0.8)):
    """The root, mid and end of random limbs of reach 1, with an upper length in the range `ratio`."""
    upper = rng.uniform(*ratio, count)[:, None]
    root = rng.normal(size=(count, 3))
    mid = root + upper * directions(rng, count)
    return root, mid, mid + (1 - upper) * directions(rng, count)


def reachable(rng, root, mid, end, gap=(0.0, 1.0)):
    """Random targets between the least (0) and the greatest (1) distance that the bones allow, in the range `gap`."""
    upper, lower = length(mid - root), length(end - mid)
    near, part = abs(upper - lower), rng.uniform(*gap, len(root))
    distance = near + part * (upper + lower - near)
    return root + distance[:, None] * directions(rng, len(root))


@dataclass(frozen=True)
class Pose:
    """The aggregate transforms of root, mid and end joint, and the own scales of root and mid joint."""

    root: np.ndarray
    mid: np.ndarray
    end_matrix: np.ndarray
    root_scale: np.ndarray
    mid_scale: np.ndarray

    @property
    def end(self):
        return self.end_matrix[..., :3, 3]

    def astype(self, dtype):
        return Pose(*(getattr(self, name).astype(dtype) for name in self.__dataclass_fields__))


ANCESTORS = ("identity", "rigid", "scaled", "stretched", "sheared", "mirrored", "own_scales")


def affine(linear, translation):
    matrix = np.zeros((len(linear), 4, 4))
    matrix[:, :3, :3], matrix[:, :3, 3], matrix[:, 3, 3] = linear, translation, 1.0
    return matrix


def ancestor(rng, count, kind):
    """The linear parts (N, 3, 3) of random transforms of ancestors, of one kind."""
    if kind == "identity":
        return np.tile(np.eye(3), (count, 1, 1))
    turned = rotations(rng, count)
    if kind == "scaled":
        return turned * rng.uniform(0.5, 2, (count, 1, 1))
    if kind == "stretched":
        return turned * rng.uniform(0.5, 2, (count, 1, 3))
    if kind == "sheared":
        first, last = rng.uniform(0.7, 1.4, (2, count, 1, 3))
        return turned * first @ rotations(rng, count) * last
    if kind == "mirrored":
        return turned * np.array([-1.0, 1.0, 1.0]) * rng.uniform(0.7, 1.4, (count, 1, 3))
    return turned


def poses(rng, count, kind):
    """Random limbs, of reach 1 in the root's frame, under ancestors of this kind."""
    above = ancestor(rng, count, kind)
    root, mid, end = positions(rng, count)
    inner, tip = rotations(rng, count), rotations(rng, count)
    own = np.ones((2, count, 3))
    if kind == "own_scales":
        own = rng.uniform(0.5, 2, (2, count, 3)) * rng.choice([1.0, -1.0], (2, count, 3))
    at = rng.normal(size=(count, 3))
    place = lambda point: at + (above @ (point - root)[..., None])[..., 0]  # noqa: E731
    return Pose(
        affine(above * own[0][:, None], at),
        affine(above @ inner * own[1][:, None], place(mid)),
        affine(above @ tip, place(end)),
        own[0],
        own[1],
    )


def pose_targets(rng, pose, gap=(0.0, 1.0)):
    """Random targets that limbs reach, as measured in the root's frame."""
    frame = pose.root[:, :3, :3] / pose.root_scale[:, None]
    inward = np.linalg.inv(frame)
    mid, end = ((inward @ (p - pose.root[:, :3, 3])[..., None])[..., 0] for p in (pose.mid[:, :3, 3], pose.end))
    target = reachable(rng, np.zeros_like(mid), mid, end, gap)
    return pose.root[:, :3, 3] + (frame @ target[..., None])[..., 0]


def rotation_matrix(q):
    """The matrices of quaternions (w, x, y, z), which are not normalised first."""
    w, x, y, z = np.moveaxis(np.asarray(q, np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def turned(matrix, correction, scale):
    """The aggregate transform of a joint after its correction: M * S^-1 * R * S."""
    matrix = np.asarray(matrix, np.float64).copy()
    turn = rotation_matrix(correction) * np.asarray(scale, np.float64)[..., None, :] / np.asarray(scale)[..., :, None]
    matrix[..., :3, :3] = matrix[..., :3, :3] @ turn
    return matrix


def apply(pose, root, mid, end=None):
    """The aggregate transforms of root, mid and end joint after the corrections, in float64."""
    before = [np.asarray(m, np.float64) for m in (pose.root, pose.mid, pose.end_matrix)]
    local_mid, local_end = np.linalg.inv(before[0]) @ before[1], np.linalg.inv(before[1]) @ before[2]
    new_root = turned(before[0], root, pose.root_scale)
    new_mid = turned(new_root @ local_mid, mid, pose.mid_scale)
    new_end = new_mid @ local_end
    return new_root, new_mid, new_end if end is None else turned(new_end, end, np.ones_like(pose.root_scale))


def same_rotation(a, b):
    """The largest difference between the elements of quaternions, whatever their signs."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return np.minimum(abs(a - b).max(-1), abs(a + b).max(-1)).max()
