# SPDX-License-Identifier: MIT
"""The compiled solver agrees with its readable twin, option by option, in both precisions."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest
import reference
from reference_vectors import Precision

ROWS = 60
CONE = ("cone_axis", "cone_angle")
OPTIONS = ("pole", "pole_weight", "twist", "hinge", "soften", "weight", "min_angle", "max_angle", *CONE)
CHOICES = (
    (),
    *((name,) for name in OPTIONS[:-2]),
    CONE,
    ("pole", "pole_weight", "twist"),
    ("min_angle", "max_angle"),
    OPTIONS,
)
TOLERANCE = {np.float64: 1e-12, np.float32: 3e-6}


def random_options(rng, names, dtype):
    """Options over their whole range and a little beyond, where they are clamped."""
    ranges = dict(
        pole=rng.normal(size=(ROWS, 3)),
        pole_weight=rng.uniform(-0.2, 1.2, ROWS),
        twist=rng.normal(size=ROWS),
        hinge=rng.normal(size=(ROWS, 3)),
        soften=rng.uniform(0.4, 1.1, ROWS),
        weight=rng.uniform(-0.2, 1.2, ROWS),
        min_angle=rng.uniform(-0.1, 1.5, ROWS),
        max_angle=rng.uniform(1.0, 3.3, ROWS),
        cone_axis=rng.normal(size=(ROWS, 3)),
        cone_angle=rng.uniform(-0.1, 2.0, ROWS),
    )
    return {name: ranges[name].astype(dtype) for name in names}


def row(options, i):
    return {name: value[i] for name, value in options.items()}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bend", ["carried", "nearest"])
@pytest.mark.parametrize("names", CHOICES, ids="+".join)
def test_solve_agrees_with_the_twin(names, bend, dtype):
    rng = np.random.default_rng(len(names))
    root, mid, end = limbs.positions(rng, ROWS)
    target = root + rng.uniform(0, 1.5, (ROWS, 1)) * limbs.directions(rng, ROWS)
    points = [p.astype(dtype) for p in (root, mid, end, target)]
    options = random_options(rng, names, dtype)
    got = ik2bone.solve(*points, bend=bend, **options)
    for i in range(ROWS):
        want = reference.solve(*(p[i] for p in points), bend=bend, precision=Precision.of(dtype), **row(options, i))
        assert got.status[i] == want[3]
        for mine, its in zip(got[:3], want[:3], strict=True):
            np.testing.assert_allclose(mine[i], its, rtol=0, atol=TOLERANCE[dtype])


def goals(rng):
    """Goals of the end joint: rigid, stretched and mirrored ones."""
    linear = limbs.rotations(rng, ROWS)
    linear[::3] *= rng.uniform(0.5, 2, (ROWS, 1, 3))[::3]
    linear[::2] *= rng.choice([1.0, -1.0], (ROWS, 1, 3))[::2]
    return limbs.affine(linear, np.zeros((ROWS, 3)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("roll", ["pose", "hinge"])
@pytest.mark.parametrize("kind", limbs.ANCESTORS)
@pytest.mark.parametrize("names", [(), ("pole",), ("weight",), CONE], ids="+".join)
def test_solve_pose_agrees_with_the_twin(kind, roll, names, dtype):
    rng = np.random.default_rng(7)
    pose = limbs.poses(rng, ROWS, kind).astype(dtype)
    target = limbs.pose_targets(rng, pose, (-0.3, 1.3)).astype(dtype)
    options = random_options(rng, (*names, "hinge"), dtype)
    options |= dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale, end_matrix=pose.end_matrix)
    options["end_goal"] = goals(rng).astype(dtype)
    got = ik2bone.solve_pose(pose.root, pose.mid, pose.end, target, roll=roll, **options)
    for i in range(ROWS):
        points = (pose.root[i], pose.mid[i], pose.end[i], target[i])
        want = reference.solve_pose(*points, roll=roll, precision=Precision.of(dtype), **row(options, i))
        assert got.status[i] == want[5]
        for mine, its in zip(got[:3], want[:3], strict=True):
            assert limbs.same_rotation(mine[i], its) < 10 * TOLERANCE[dtype]
        np.testing.assert_allclose(got.position[i], want[3], rtol=0, atol=TOLERANCE[dtype])
        np.testing.assert_allclose(got.miss[i], want[4], rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("roll", ["pose", "hinge"])
@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_orient_agrees_with_the_twin(kind, roll):
    rng = np.random.default_rng(11)
    pose = limbs.poses(rng, ROWS, kind)
    target = limbs.pose_targets(rng, pose)
    new = ik2bone.solve(pose.root[:, :3, 3], pose.mid[:, :3, 3], pose.end, target)
    hinge = limbs.directions(rng, ROWS)
    scales = dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale)
    got = ik2bone.orient(pose.root, pose.mid, pose.end, new.mid, new.end, roll=roll, hinge=hinge, **scales)
    for i in range(ROWS):
        options = dict(hinge=hinge[i], root_scale=pose.root_scale[i], mid_scale=pose.mid_scale[i])
        points = (pose.root[i], pose.mid[i], pose.end[i], new.mid[i], new.end[i])
        root, mid = reference.orient(*points, roll=roll, **options)
        assert limbs.same_rotation(got.root[i], root) < 1e-11
        assert limbs.same_rotation(got.mid[i], mid) < 1e-11
