# SPDX-License-Identifier: MIT
"""`end_goal` of any kind: the end joint takes the rotation nearest to it, a mirrored joint that of its negative."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest

ROWS = 100
HANDS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


def corrected(rotation, goal, side=1, dtype=np.float64):
    """The linear part of a limb's end joint, given as `side * rotation`, after its correction for this goal."""
    count = len(goal)
    pose = limbs.poses(np.random.default_rng(0), count, "identity")
    end = limbs.affine(side * rotation, pose.end).astype(dtype)
    goal = limbs.affine(goal, np.zeros((count, 3))).astype(dtype)
    points = (m.astype(dtype) for m in (pose.root, pose.mid, pose.end))
    s = ik2bone.solve_pose(*points, pose.end.astype(dtype), end_matrix=end, end_goal=goal)
    assert not s.status.any()
    return end[:, :3, :3].astype(np.float64) @ limbs.rotation_matrix(s.end)


def close(a, b, tolerance=1e-14):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


@pytest.mark.parametrize("side", [1, -1])
def test_a_rigid_goal_of_the_joints_hand_is_taken_as_it_is(side):
    rng = np.random.default_rng(1)
    rotation, goal = limbs.rotations(rng, ROWS), limbs.rotations(rng, ROWS)
    close(corrected(rotation, side * goal, side), side * goal)


@pytest.mark.parametrize(("joint", "goal"), HANDS)
def test_no_rotation_is_nearer_to_the_goal(joint, goal):
    """Of 20,000 evenly spread ones, and of those one hundredth of a radian away."""
    rng = np.random.default_rng(2)
    linear = rng.normal(size=(ROWS, 3, 3))
    linear *= goal * np.sign(np.linalg.det(linear))[:, None, None]
    taken = joint * corrected(limbs.rotations(rng, ROWS), linear, joint)
    close(np.linalg.det(taken), 1)
    agreement = np.einsum("nij,nij->n", taken, joint * linear)
    others = np.einsum("kij,nij->nk", limbs.rotations(rng, 20000), joint * linear)
    assert np.all(others.max(1) < agreement)
    small = np.concatenate([np.ones((500, 1)), 0.005 * limbs.directions(rng, 500)], 1)
    small = limbs.rotation_matrix(small / np.linalg.norm(small, axis=1, keepdims=True))
    assert np.all(np.einsum("nij,kjl,nil->nk", taken, small, joint * linear).max(1) < agreement)


@pytest.mark.parametrize("thin", [1, 2])
@pytest.mark.parametrize("width", [1, 0.5, 0.1, 1e-2, 1e-4, 1e-6])
def test_a_narrow_goal_gives_the_rotation_between_its_stretches(width, thin):
    """Flat or like a needle, to the digits that its inverse has."""
    rng = np.random.default_rng(4)
    stretch = np.array([1, 1, width]) if thin == 1 else np.array([1, width, 0.7 * width])
    first, last = limbs.rotations(rng, ROWS), limbs.rotations(rng, ROWS)
    taken = corrected(limbs.rotations(rng, ROWS), first * stretch @ last)
    close(taken, first @ last, 1e-14 / stretch[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_goal_mirrored_along_x_counts_as_the_one_that_is_not(dtype):
    """An empty of scale (-1, 1, 1), or (-2, 2, 2), far down a tree of joints in single precision."""
    rng = np.random.default_rng(3)
    goal = limbs.rotations(rng, ROWS)
    for _ in range(8):
        goal = (goal.astype(dtype) @ limbs.rotations(rng, ROWS).astype(dtype)).astype(np.float64)
    for scale in (1.0, 2.0):
        taken = corrected(limbs.rotations(rng, ROWS), scale * goal * [-1, 1, 1], dtype=dtype)
        close(taken, goal, 1e-5 if dtype == np.float32 else 1e-13)


def test_a_nearly_flat_mirrored_goal_is_its_flat_self():
    goal = np.stack([np.diag([1, 1, -depth]) for depth in (1e-3, 1e-6, 0.5)])
    close(corrected(np.tile(np.eye(3), (3, 1, 1)), goal), np.tile(np.eye(3), (3, 1, 1)))


@pytest.mark.parametrize(
    ("stretch", "kept"),
    [
        ([-1, 1, 1], [1, 1, 1]),  # all equal: x is the axis that gives way
        ([1, -1, 1], [-1, -1, 1]),
        ([2, -1, 1], [1, 1, 1]),  # y and z are equal and least: y
        ([2, 1, -1], [1, -1, -1]),
        ([-1, 2, 1], [1, 1, 1]),  # x and z: x
        ([-1, 1, 2], [1, 1, 1]),  # x and y: x
        ([1, 2, -1.01], [-1, 1, -1]),  # x alone
        ([3, 2, -1], [1, 1, 1]),  # z alone
    ],
)
def test_where_many_rotations_are_nearest_the_goals_axes_decide_in_their_order(stretch, kept):
    rng = np.random.default_rng(4)
    goal = limbs.rotations(rng, ROWS)
    noise = 1e-7 * rng.normal(size=(ROWS, 3, 3))
    close(corrected(limbs.rotations(rng, ROWS), goal * stretch + noise), goal * kept, 3e-4)


def test_a_mirrored_joint_that_follows_its_unmirrored_self_stays():
    """The joint is mirrored along its x axis, the goal is not: they are one orientation, as the other way round."""
    rng = np.random.default_rng(5)
    rotation = limbs.rotations(rng, ROWS)
    close(corrected(-rotation * [-1, 1, 1], rotation, -1), rotation * [-1, 1, 1], 1e-13)


def nearest_rotation(linear):
    """Of a matrix, or of its negative if it is mirrored."""
    u, _, v = np.linalg.svd(linear)
    return u @ v * np.linalg.det(u @ v)[:, None, None]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 5e-7), (np.float64, 2e-14)])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("own_shear", [0, 0.3])
def test_a_joint_keeps_its_orientation_whether_its_ancestors_are_rigid_nearly_so_or_sheared(
    own_shear, side, dtype, tolerance
):
    """One call has all of them. From sheared frames to rigid ones, the rotation is found in two ways."""
    rng = np.random.default_rng(6)
    shear = np.repeat([0, 1e-10, 1e-8, 3e-8, 1e-7, 1e-6, 3e-6, 1e-5, 1e-3, 0.3], ROWS)
    rng.shuffle(shear)
    count = len(shear)
    pose = limbs.poses(rng, count, "identity")
    size = side * 10 ** rng.uniform(-3, 3, (2, count, 1, 1))
    linear = limbs.rotations(rng, 2 * count).reshape(2, count, 3, 3) * size
    linear = linear @ (np.eye(3) + shear[:, None, None] * rng.uniform(-1, 1, (2, count, 3, 3)))
    root, mid = (limbs.affine(m, at[:, :3, 3]) for m, at in zip(linear, (pose.root, pose.mid), strict=True))
    own = limbs.rotations(rng, count) @ (np.eye(3) + own_shear * rng.uniform(-1, 1, (count, 3, 3)))
    given = (root, mid, pose.end, rng.normal(size=(count, 3)), limbs.affine(own, pose.end))
    root, mid, at, target, end = (array.astype(dtype) for array in given)
    s = ik2bone.solve_pose(root, mid, at, target, end_matrix=end)
    carried, before = end[:, :3, :3].astype(np.float64), end[:, :3, :3].astype(np.float64)
    for frame, turn in ((mid, s.mid), (root, s.root)):
        turn = turn / np.linalg.norm(turn.astype(np.float64), axis=1, keepdims=True)
        frame = frame[:, :3, :3].astype(np.float64)
        carried = frame @ limbs.rotation_matrix(turn) @ np.linalg.solve(frame, carried)
    close(nearest_rotation(carried) @ limbs.rotation_matrix(s.end), nearest_rotation(before), tolerance)


def test_a_joint_keeps_its_orientation_under_frames_so_flat_that_the_carried_joint_is_a_needle():
    """Some carried joints are so narrow, 1e-11, that rounding leaves few digits of their rotations, but never none."""
    rng = np.random.default_rng(7)
    count = 20 * ROWS
    pose = limbs.poses(rng, count, "identity")
    first, last = limbs.rotations(rng, 6 * count).reshape(2, 3, count, 3, 3)
    linear = first * np.array([1, 0.1, 1e-4]) @ last
    root, mid, end = map(limbs.affine, linear, (pose.root[:, :3, 3], pose.mid[:, :3, 3], pose.end))
    s = ik2bone.solve_pose(root, mid, pose.end, rng.normal(size=(count, 3)), end_matrix=end)
    carried = linear[2]
    for frame, turn in ((linear[1], s.mid), (linear[0], s.root)):
        carried = frame @ limbs.rotation_matrix(turn) @ np.linalg.solve(frame, carried)
    close(nearest_rotation(carried) @ limbs.rotation_matrix(s.end), nearest_rotation(linear[2]), 0.01)
