# SPDX-License-Identifier: MIT
"""What the accuracy section of the contract promises: the miss of the returned corrections, applied in float64."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest

ROWS = 4000
WORST = {np.float32: 1e-6, np.float64: 2e-14}
MEDIAN = {np.float32: 1e-7, np.float64: 1e-15}
GAPS = {"whole": (0, 1), "straight": (1 - 1e-4, 1), "folded": (0, 1e-4), "generic": (0.1, 0.9)}
RATIOS = {"even": (0.45, 0.55), "equal": (0.5, 0.5), "short_upper": (0.01, 0.02), "short_lower": (0.98, 0.99)}


def worst_and_median(dtype, gap, ratio, roll):
    """Of the miss by our own application of the corrections, and by the returned miss."""
    rng = np.random.default_rng(1)
    root, mid, end = limbs.positions(rng, ROWS, ratio)
    count = ROWS
    pose = limbs.Pose(
        limbs.affine(limbs.rotations(rng, count), root),
        limbs.affine(limbs.rotations(rng, count), mid),
        limbs.affine(limbs.rotations(rng, count), end),
        *np.ones((2, count, 3)),
    )
    for matrix in (pose.root, pose.mid, pose.end_matrix):
        matrix[:, :3, 3] -= root
    pose = pose.astype(dtype)
    wide = pose.astype(np.float64)
    target = limbs.reachable(rng, wide.root[:, :3, 3], wide.mid[:, :3, 3], wide.end, gap).astype(dtype)
    hinge = ik2bone.hinge_of(pose.root, pose.mid, pose.end)
    s = ik2bone.solve_pose(pose.root, pose.mid, pose.end, target, roll=roll, hinge=hinge)
    reached = limbs.apply(wide, s.root, s.mid)[2][:, :3, 3]
    miss = limbs.length(reached - target)
    return miss.max(), np.median(miss), s.miss.max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("roll", ["pose", "hinge"])
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("gap", GAPS)
def test_miss_of_reachable_targets(dtype, gap, ratio, roll):
    worst, median, told = worst_and_median(dtype, GAPS[gap], RATIOS[ratio], roll)
    print(f"{dtype.__name__} {gap:9} {ratio:11} {roll:5} worst {worst:.1e} median {median:.1e} told {told:.1e}")
    assert worst <= WORST[dtype]
    assert median <= MEDIAN[dtype]
    assert told <= WORST[dtype]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", limbs.ANCESTORS)
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("ratio", RATIOS)
def test_positions_reach_their_targets_and_keep_lengths(dtype, gap, ratio):
    rng = np.random.default_rng(3)
    root, mid, end = limbs.positions(rng, ROWS, RATIOS[ratio])
    points = [(p - root).astype(dtype) for p in (root, mid, end)]
    wide = [p.astype(np.float64) for p in points]
    target = limbs.reachable(rng, *wide, GAPS[gap]).astype(dtype)
    s = ik2bone.solve(*points, target)
    assert s.miss.max() <= WORST[dtype]
    for a, b, c, d in ((s.mid, wide[0], wide[1], wide[0]), (s.end, s.mid, wide[2], wide[1])):
        stretch = limbs.length(a.astype(np.float64) - b) - limbs.length(c - d)
        assert np.max(abs(stretch)) <= (2e-7 if dtype == np.float32 else 1e-15)
