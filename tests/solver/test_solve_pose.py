# SPDX-License-Identifier: MIT
"""`solve_pose`: the end comes to its target under any ancestors, and the end joint keeps its orientation."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest
from ik2bone import Status

ROWS = 200
IDENTITY = [1.0, 0.0, 0.0, 0.0]


def scales(pose):
    return dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale)


def solved(pose, target, **options):
    return ik2bone.solve_pose(pose.root, pose.mid, pose.end, target, **scales(pose), **options)


@pytest.mark.parametrize("roll", ["pose", "hinge"])
@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_the_end_lands_on_the_target(kind, roll):
    rng = np.random.default_rng(1)
    pose = limbs.poses(rng, ROWS, kind)
    target = limbs.pose_targets(rng, pose)
    s = solved(pose, target, roll=roll, hinge=limbs.directions(rng, ROWS))
    end = limbs.apply(pose, s.root, s.mid)[2][:, :3, 3]
    np.testing.assert_allclose(end, target, rtol=0, atol=1e-13)
    np.testing.assert_allclose(s.position, end, rtol=0, atol=1e-13)
    assert not np.any(s.status & Status.MISSED)


@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_miss_is_that_of_the_corrections(kind):
    rng = np.random.default_rng(2)
    pose = limbs.poses(rng, ROWS, kind)
    target = limbs.pose_targets(rng, pose, (-0.5, 1.5))
    s = solved(pose, target, weight=rng.uniform(0, 1, ROWS))
    end = limbs.apply(pose, s.root, s.mid)[2][:, :3, 3]
    np.testing.assert_allclose(s.miss, limbs.length(end - target), rtol=0, atol=1e-13)
    assert np.any(s.status & Status.TOO_FAR)
    assert np.any(s.status & Status.TOO_CLOSE)


@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_pole_points_the_knee_in_the_space_of_the_matrices(kind):
    rng = np.random.default_rng(3)
    pose = limbs.poses(rng, ROWS, kind)
    target, pole = limbs.pose_targets(rng, pose, (0.1, 0.9)), limbs.directions(rng, ROWS)
    s = solved(pose, target, pole=pole)
    mid = limbs.apply(pose, s.root, s.mid)[1][:, :3, 3]
    root = pose.root[:, :3, 3]
    plane = np.linalg.det(np.stack([mid - root, target - root, pole], -1))
    np.testing.assert_allclose(plane, 0, atol=1e-12)


@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_hinge_roll_keeps_the_knee_on_its_hinge(kind):
    rng = np.random.default_rng(4)
    pose = limbs.poses(rng, ROWS, kind)
    hinge = ik2bone.hinge_of(pose.root, pose.mid, pose.end)
    s = solved(pose, limbs.pose_targets(rng, pose, (0.05, 0.95)), roll="hinge", hinge=hinge)
    root, mid, end = limbs.apply(pose, s.root, s.mid)
    if kind != "own_scales":
        np.testing.assert_allclose(ik2bone.hinge_of(root, mid, end[:, :3, 3]), hinge, rtol=0, atol=1e-11)


def test_hinge_roll_bends_a_straight_rest_pose_the_natural_way():
    """A straight leg down -z whose knee opens about +x: heel up (-y) is natural, so the knee goes forward (+y)."""
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3] = [0, 0, -0.5]
    s = ik2bone.solve_pose(root, mid, [0, 0, -1.0], [0, 0, -0.8], hinge=[1.0, 0, 0], roll="hinge")
    direction = limbs.rotation_matrix(s.root) @ [0, 0, -1.0]
    np.testing.assert_allclose(direction, [0, 0.6, -0.8], atol=1e-14)
    assert s.status == Status.REACHED


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_weight_multiplies_the_hinge_roll(weight):
    rng = np.random.default_rng(5)
    pose = limbs.poses(rng, ROWS, "rigid")
    hinge = limbs.directions(rng, ROWS)
    full = solved(pose, pose.end, hinge=hinge, roll="hinge")
    part = solved(pose, pose.end, hinge=hinge, roll="hinge", weight=weight)
    angle = 2 * np.arctan2(limbs.length(full.root[:, 1:]), full.root[:, 0])
    np.testing.assert_allclose(
        2 * np.arctan2(limbs.length(part.root[:, 1:]), part.root[:, 0]), weight * angle, atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_target_on_the_end_needs_no_correction(kind, dtype):
    rng = np.random.default_rng(6)
    pose = limbs.poses(rng, ROWS, kind).astype(dtype)
    s = solved(pose, pose.end, end_matrix=pose.end_matrix, hinge=limbs.directions(rng, ROWS), max_angle=1.0)
    for turn in s[:3]:
        assert np.array_equal(turn, np.tile(IDENTITY, (ROWS, 1)))
    assert np.array_equal(s.position, pose.end)
    assert not s.miss.any()
    assert not s.status.any()


@pytest.mark.parametrize("roll", ["pose", "hinge"])
def test_weight_zero_is_the_pose_bit_for_bit(roll):
    rng = np.random.default_rng(7)
    pose = limbs.poses(rng, ROWS, "sheared")
    options = dict(hinge=limbs.directions(rng, ROWS), roll=roll, twist=1.0, pole=limbs.directions(rng, ROWS))
    goal = limbs.affine(limbs.rotations(rng, ROWS), np.zeros((ROWS, 3)))
    target = limbs.pose_targets(rng, pose)
    s = solved(pose, target, weight=0, end_matrix=pose.end_matrix, end_goal=goal, **options)
    for turn in s[:3]:
        assert np.array_equal(turn, np.tile(IDENTITY, (ROWS, 1)))
    assert np.array_equal(s.position, pose.end)
    np.testing.assert_allclose(s.miss, limbs.length(target - pose.end), rtol=1e-14)


@pytest.mark.parametrize("kind", ["identity", "rigid", "scaled", "mirrored"])
def test_the_end_joint_keeps_its_orientation(kind):
    rng = np.random.default_rng(8)
    pose = limbs.poses(rng, ROWS, kind)
    s = solved(pose, limbs.pose_targets(rng, pose), end_matrix=pose.end_matrix)
    end = limbs.apply(pose, *s[:3])[2]
    if kind == "mirrored":  # not rigid: the nearest rotations agree
        assert limbs.same_rotation(polar(end), polar(pose.end_matrix)) < 1e-12
    else:
        np.testing.assert_allclose(end[:, :3, :3], pose.end_matrix[:, :3, :3], rtol=0, atol=1e-13)


def polar(matrix):
    u, _, vt = np.linalg.svd(matrix[:, :3, :3])
    return (u @ vt).reshape(-1, 9)


def test_the_end_joint_takes_the_orientation_of_its_goal():
    rng = np.random.default_rng(9)
    pose = limbs.poses(rng, ROWS, "rigid")
    goal = limbs.affine(limbs.rotations(rng, ROWS), np.zeros((ROWS, 3)))
    stretched = goal @ np.diag([3.0, 3.0, 3.0, 1.0])
    for given in (goal, stretched):
        s = solved(pose, limbs.pose_targets(rng, pose), end_matrix=pose.end_matrix, end_goal=given)
        np.testing.assert_allclose(limbs.apply(pose, *s[:3])[2][:, :3, :3], goal[:, :3, :3], rtol=0, atol=1e-13)


def test_weight_blends_the_end_goal():
    pose = limbs.Pose(np.eye(4)[None], np.eye(4)[None], np.eye(4)[None], np.ones((1, 3)), np.ones((1, 3)))
    pose.mid[0, :3, 3], pose.end_matrix[0, :3, 3] = [0, 0.3, -0.4], [0, 0, -0.8]
    quarter = np.array([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    s = solved(pose, pose.end, end_matrix=pose.end_matrix, end_goal=quarter, weight=0.5)
    angle = np.pi / 8
    np.testing.assert_allclose(s.end[0], [np.cos(angle), 0, 0, np.sin(angle)], atol=1e-15)


def test_without_end_matrix_there_is_no_end_correction():
    rng = np.random.default_rng(10)
    pose = limbs.poses(rng, 3, "rigid")
    assert solved(pose, pose.end).end is None


def test_non_uniform_scale_between_the_joints_shows_in_miss():
    rng = np.random.default_rng(11)
    pose = limbs.poses(rng, ROWS, "rigid")
    pose.mid[:, :3, :3] *= rng.uniform(0.5, 2, (ROWS, 1, 3))
    target = limbs.pose_targets(rng, pose, (0.1, 0.9))
    s = ik2bone.solve_pose(pose.root, pose.mid, pose.end, target)
    end = limbs.apply(pose, s.root, s.mid)[2][:, :3, 3]
    np.testing.assert_allclose(s.miss, limbs.length(end - target), rtol=0, atol=1e-13)
    assert np.median(s.miss) > 1e-3


@pytest.mark.parametrize(
    "what", ["nan", "singular_root", "singular_mid", "singular_end", "upper", "lower", "root_scale"]
)
def test_an_invalid_row_keeps_its_pose_and_disturbs_no_other(what):
    rng = np.random.default_rng(12)
    pose, target = limbs.poses(rng, 5, "rigid"), rng.normal(size=(5, 3))
    good = solved(pose, target, end_matrix=pose.end_matrix)
    broken = {
        "nan": lambda: target.__setitem__((2, 0), np.nan),
        "singular_root": lambda: pose.root.__setitem__((2, slice(0, 3), 1), 0.0),
        "singular_mid": lambda: pose.mid.__setitem__((2, slice(0, 3), 1), 2 * pose.mid[2, :3, 0]),
        "singular_end": lambda: pose.end_matrix.__setitem__((2, slice(0, 3), 1), 0.0),
        "upper": lambda: pose.mid.__setitem__((2, slice(0, 3), 3), pose.root[2, :3, 3]),
        "lower": lambda: pose.mid.__setitem__((2, slice(0, 3), 3), pose.end[2]),
        "root_scale": lambda: pose.root_scale.__setitem__((2, 0), 0.0),
    }
    broken[what]()
    s = solved(pose, target, end_matrix=pose.end_matrix)
    assert s.status[2] == Status.INVALID
    assert np.isnan(s.miss[2])
    assert np.array_equal(s.position[2], pose.end[2])
    for turn in s[:3]:
        assert np.array_equal(turn[2], IDENTITY)
    for mine, its in zip(s, good, strict=True):
        assert np.array_equal(np.delete(mine, 2, 0), np.delete(its, 2, 0))


def test_solve_and_orient_are_the_halves_of_solve_pose():
    rng = np.random.default_rng(13)
    pose = limbs.poses(rng, ROWS, "rigid")
    target, hinge = limbs.pose_targets(rng, pose, (0.02, 1.2)), limbs.directions(rng, ROWS)
    whole = solved(pose, target, hinge=hinge)
    halves = ik2bone.solve(pose.root[:, :3, 3], pose.mid[:, :3, 3], pose.end, target)
    r = ik2bone.orient(pose.root, pose.mid, pose.end, halves.mid, halves.end, hinge=hinge)
    assert limbs.same_rotation(r.root, whole.root) < 1e-12
    assert limbs.same_rotation(r.mid, whole.mid) < 1e-12


def test_a_hinge_roll_of_half_a_turn_is_singular_at_partial_weight():
    """The given hinge is opposite to the pose's own: at full weight the leg turns round, at half weight which way?"""
    root, mid, end = np.eye(4), np.eye(4), [0, 0, -0.8]
    mid[:3, 3] = [0, 0.3, -0.4]
    options = dict(hinge=[-1.0, 0, 0], roll="hinge")
    assert ik2bone.solve_pose(root, mid, end, end, **options).status == Status.REACHED
    assert ik2bone.solve_pose(root, mid, end, end, weight=0.5, **options).status == Status.SINGULAR


def test_angles_and_twist_are_measured_in_the_root_frame():
    """Under an ancestor stretched tenfold along y, a right-angled knee may not open."""
    stretch = np.diag([1.0, 10.0, 1.0, 1.0])
    root, mid = stretch.copy(), stretch.copy()
    mid[:3, 3] = stretch[:3, :3] @ [0, 0.5, -0.5]
    s = ik2bone.solve_pose(root, mid, [0, 0, -1.0], [0, 0, -1.2], max_angle=np.pi / 2)
    np.testing.assert_allclose(s.position, [0, 0, -1.0], atol=1e-15)
    assert s.status == Status.LIMITED


def test_nearly_half_turns_have_unit_length_where_rounding_changes_lengths():
    """Frames so stretched that the rounding of what is seen in them changes lengths from pose to solution by 1e-9."""
    rng, count = np.random.default_rng(11), 20000
    root, mid = (np.tile(np.eye(4, dtype=np.float32), (count, 1, 1)) for _ in range(2))
    root[:, :3, :3] = limbs.rotations(rng, count) * [2e7, 1.0, 1.0]
    frame = root[:, :3, :3].astype(float)
    outer = lambda point: np.einsum("nij,nj->ni", frame, point)  # noqa: E731
    mid[:, :3, 3] = outer(rng.uniform([0.2, 0.4, -0.1], [0.4, 0.6, 0.1], (count, 3)))
    upper = np.linalg.solve(frame, mid[:, :3, 3, None].astype(float))[:, :, 0]
    along = upper * [0.0, 1.0, 1.0]
    along /= limbs.length(along)[:, None]
    aside = rng.choice([-0.1, 0.1], (count, 1)) * np.cross([1.0, 0.0, 0.0], along)
    end, target = (outer(line).astype(np.float32) for line in (0.9 * (along + aside), -1.5 * (along - aside)))
    opposite = 10.0 ** rng.uniform(-3.4, -2.6, (count, 1)) * limbs.directions(rng, count) - upper
    turns = ik2bone.solve_pose(root, mid, end, target, pole=outer(opposite), max_angle=0.5).root.astype(float)
    assert np.median(abs(turns[:, 0])) < 1e-3
    assert abs(limbs.length(turns) - 1.0).max() < 2 * np.finfo(np.float32).eps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-15, 1e-4, 1e4, 1e15])
@pytest.mark.parametrize("where", ["scale", "lengths"])
def test_sizes_of_any_kind_give_the_same_corrections(where, size, dtype):
    """A character scaled by an ancestor, and one whose bones are that long under rigid matrices."""
    rng = np.random.default_rng(14)
    pose = limbs.poses(rng, ROWS, "sheared")
    target = limbs.pose_targets(rng, pose, (0.05, 0.95))
    hinge = limbs.directions(rng, ROWS)
    plain = solved(pose, target, hinge=hinge, roll="hinge", end_matrix=pose.end_matrix)
    big = limbs.Pose(*(m.copy() for m in (pose.root, pose.mid, pose.end_matrix)), pose.root_scale, pose.mid_scale)
    for matrix in (big.root, big.mid, big.end_matrix):
        matrix[:, :3, 3 if where == "lengths" else slice(None)] *= size
    big = big.astype(dtype)
    s = solved(big, (size * target).astype(dtype), hinge=hinge, roll="hinge", end_matrix=big.end_matrix)
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    assert not s.status.any()
    for mine, its in zip(s[:3], plain[:3], strict=True):
        assert limbs.same_rotation(mine, its) < tolerance
