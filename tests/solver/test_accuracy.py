# SPDX-License-Identifier: MIT
"""What the accuracy section of the contract promises: the miss of the returned corrections, applied in float64."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest

from tests import accuracy

ROWS = 4000
WORST = {np.float32: 1e-6, np.float64: 2e-14}
MEDIAN = {np.float32: 1e-7, np.float64: 1e-15}
DTYPES = pytest.mark.parametrize("dtype", accuracy.DTYPES)
ANCESTORS = pytest.mark.parametrize("kind", limbs.ANCESTORS)


@DTYPES
@pytest.mark.parametrize("name", accuracy.CLASSES)
@pytest.mark.parametrize("function", accuracy.FUNCTIONS)
def test_miss_of_targets_within_reach(function, name, dtype):
    worst, median = accuracy.worst_and_median(function, name, dtype, ROWS)
    assert worst <= WORST[dtype]
    assert median <= MEDIAN[dtype]


@DTYPES
@ANCESTORS
def test_miss_under_any_ancestors(dtype, kind):
    rng = np.random.default_rng(2)
    pose = limbs.poses(rng, ROWS, kind)
    for matrix in (pose.mid, pose.end_matrix, pose.root):
        matrix[:, :3, 3] -= pose.root[:, :3, 3]
    pose = pose.astype(dtype)
    wide = pose.astype(np.float64)
    target = limbs.pose_targets(rng, wide, (0.001, 0.999)).astype(dtype)
    options = dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale)
    s = ik2bone.solve_pose(pose.root, pose.mid, pose.end, target, **options)
    reach = limbs.length(wide.mid[:, :3, 3]) + limbs.length(wide.end - wide.mid[:, :3, 3])
    miss = limbs.length(limbs.apply(wide, s.root, s.mid)[2][:, :3, 3] - target) / reach
    print(f"{dtype.__name__} {kind:10} worst {miss.max():.1e} median {np.median(miss):.1e}")
    assert np.median(miss) <= MEDIAN[dtype]
    assert miss.max() <= WORST[dtype]


@DTYPES
@ANCESTORS
@pytest.mark.parametrize("roll", ["pose", "hinge"])
def test_the_miss_told_is_that_of_the_corrections(roll, kind, dtype):
    """To the rounding of the number itself, at any distance from the origin, out of reach, too."""
    rng = np.random.default_rng(4)
    pose = limbs.poses(rng, ROWS, kind)
    offset = np.array([0, 0, 30, 1000.0])[rng.integers(4, size=ROWS), None] * limbs.directions(rng, ROWS)
    target = limbs.pose_targets(rng, pose, (-0.2, 1.2)) + offset
    for matrix in (pose.root, pose.mid, pose.end_matrix):
        matrix[:, :3, 3] += offset
    pose, target = pose.astype(dtype), target.astype(dtype)
    options = dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale, weight=rng.choice([0.5, 1.0], ROWS))
    hinge = ik2bone.hinge_of(pose.root, pose.mid, pose.end)
    s = ik2bone.solve_pose(pose.root, pose.mid, pose.end, target, roll=roll, hinge=hinge, **options)
    end = limbs.apply(pose.astype(np.float64), *(unit(q) for q in s[:2]))[2][:, :3, 3]
    assert np.all(abs(limbs.length(end - target) - s.miss) <= 0.51 * np.spacing(s.miss) + 1e-12)


def unit(quaternions):
    """Their rotations: what single precision leaves of their length is no part of it."""
    wide = quaternions.astype(np.float64)
    return wide / np.linalg.norm(wide, axis=-1, keepdims=True)


@DTYPES
@pytest.mark.parametrize("offset", [0, 30, 1000])
def test_the_miss_told_is_that_of_the_positions(offset, dtype):
    rng = np.random.default_rng(5)
    points = [(p + offset).astype(dtype) for p in (*limbs.positions(rng, ROWS), rng.normal(size=(ROWS, 3)))]
    for options in ({}, dict(soften=0.9), dict(bend="nearest")):
        s = ik2bone.solve(*points, **options)
        off = s.end.astype(np.float64) - points[3]
        assert np.all(abs(limbs.length(off) - s.miss) <= 0.51 * np.spacing(s.miss) + 1e-15 * s.miss)
