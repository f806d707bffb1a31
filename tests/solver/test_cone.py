# SPDX-License-Identifier: MIT
"""The cone: the upper bone stays inside, by the nearest way along the circle, else with the least miss."""

from __future__ import annotations

from math import cos, pi, sin

import ik2bone
import limbs
import numpy as np
import pytest
from ik2bone import Status

ROOT, MID, END = [0.0, 0.0, 0.0], [0.0, 0.3, -0.4], [0.0, 0.0, -0.8]
ROWS = 300


def cases(seed, narrow=0.1, wide=1.5):
    """Limbs at the origin, reachable targets, cones round a random axis; and the cones as widened to the pose."""
    rng = np.random.default_rng(seed)
    root, mid, end = limbs.positions(rng, ROWS)
    root, mid, end = root - root, mid - root, end - root
    target = limbs.reachable(rng, root, mid, end, (0.05, 0.95))
    axis, size = limbs.directions(rng, ROWS), rng.uniform(narrow, wide, ROWS)
    return (root, mid, end, target), axis, size, np.maximum(size, limbs.angle(mid, axis))


def circle(points, steps=2000):
    """The mid joints on the circle of solutions, from the wished one on: (steps, ROWS, 3)."""
    turns = np.linspace(-pi, pi, steps + 1)[:, None]
    return ik2bone.solve(*points, twist=turns).mid, turns


def test_the_upper_bone_stays_inside_and_bones_are_rigid():
    points, axis, size, widened = cases(1)
    root, mid, end, _ = points
    s = ik2bone.solve(*points, cone_axis=axis, cone_angle=size)
    assert np.all(limbs.angle(s.mid, axis) <= widened + 1e-12)
    np.testing.assert_allclose(limbs.length(s.mid), limbs.length(mid), rtol=0, atol=1e-15)
    np.testing.assert_allclose(limbs.length(s.end - s.mid), limbs.length(end - mid), rtol=0, atol=1e-15)


def test_bones_of_nearly_straight_limbs_are_rigid():
    """Their bends come from little more than rounding, so they are not quite unit."""
    (root, _, end, target), axis, size, _ = cases(2)
    rng = np.random.default_rng(2)
    mid = end / 2 + 10.0 ** rng.uniform(-12, -8, (ROWS, 1)) * limbs.directions(rng, ROWS)
    s = ik2bone.solve(root, mid, end, target, cone_axis=axis, cone_angle=size)
    assert np.any(s.mid != ik2bone.solve(root, mid, end, target).mid)
    np.testing.assert_allclose(limbs.length(s.mid), limbs.length(mid), rtol=0, atol=1e-15)


def test_where_circle_and_cone_meet_the_target_is_reached_by_the_nearest_legal_mid_joint():
    points, axis, size, widened = cases(2)
    s = ik2bone.solve(*points, cone_axis=axis, cone_angle=size)
    mids, turns = circle(points)
    legal = limbs.angle(mids, axis) <= widened
    meets = legal.any(0)
    assert 50 < meets.sum() < ROWS
    assert np.max(s.miss[meets]) < 1e-14
    assert not np.any(s.status[meets] & Status.MISSED)
    nearest = np.where(legal, abs(turns), 9).min(0)
    wished = ik2bone.solve(*points)
    line = points[3] / limbs.length(points[3])[:, None]
    taken = limbs.angle(*(m - (m * line).sum(-1, keepdims=True) * line for m in (s.mid, wished.mid)))
    assert np.max((taken - nearest)[meets]) < 1e-9
    assert np.max((nearest - taken)[meets]) < 2 * pi / 2000


@pytest.mark.parametrize("limits", [{}, {"min_angle": 1.2, "max_angle": 2.0}])
def test_where_they_do_not_meet_no_legal_upper_bone_misses_less(limits):
    """By brute force: 4,000 legal upper bones, each with the lower bone as near to the goal as its angle allows."""
    points, axis, size, widened = cases(3)
    _, mid, end, _ = points
    free = ik2bone.solve(*points, **limits)
    s = ik2bone.solve(*points, cone_axis=axis, cone_angle=size, **limits)
    apart = np.flatnonzero(s.status & Status.LIMITED & ~free.status)
    assert len(apart) > 20
    rng = np.random.default_rng(0)
    own = limbs.angle(-mid, end - mid)
    for i in apart:
        candidates = in_cap(rng, axis[i], widened[i], 4000) * limbs.length(mid[i])
        lower = limbs.length(end[i] - mid[i])
        low, high = min(limits.get("min_angle", 0), own[i]), max(limits.get("max_angle", pi), own[i])
        best = limbs.length(pointed(candidates, free.end[i], lower, low, high) - free.end[i]).min()
        assert limbs.length(s.end[i] - free.end[i]) <= best + 1e-12


def in_cap(rng, axis, size, count):
    """Unit vectors within an angle of the axis, its rim included."""
    tilt = np.concatenate([np.full(count // 2, size), rng.uniform(0, size, count - count // 2)])[:, None]
    side = np.cross(axis, limbs.directions(rng, count))
    return np.cos(tilt) * axis + np.sin(tilt) * side / limbs.length(side)[:, None]


def pointed(mid, goal, lower, low, high):
    """Ends of lower bones that point at the goal with an inner angle from low to high."""
    up = mid / limbs.length(mid)[:, None]
    across = (goal - mid) - ((goal - mid) * up).sum(-1, keepdims=True) * up
    across /= limbs.length(across)[:, None]
    inner = np.clip(limbs.angle(-mid, goal - mid), low, high)[:, None]
    return mid + lower * (-np.cos(inner) * up + np.sin(inner) * across)


def test_a_limb_outside_its_cone_is_let_be():
    s = ik2bone.solve(ROOT, MID, END, END, cone_axis=[0, 0, 1.0], cone_angle=0.2)
    assert s.mid.tolist() == MID
    assert s.status == Status.REACHED


def test_a_wide_cone_changes_nothing():
    points, axis, _, _ = cases(4)
    plain = ik2bone.solve(*points)
    for options in ({"cone_axis": axis}, {"cone_axis": np.zeros(3), "cone_angle": 0.1}, {"cone_angle": 0.1}):
        assert all(np.array_equal(a, b) for a, b in zip(plain, ik2bone.solve(*points, **options), strict=True))


def test_the_knee_turns_aside_by_the_nearer_way():
    """A leg whose knee may not come within 60 degrees of straight ahead: it turns to the side of its pole."""
    for side in (1, -1):
        pole = [0.1 * side, -1.0, 0]
        s = ik2bone.solve(ROOT, MID, END, [0, 0, -0.8], pole=pole, cone_axis=[0, 0.6, -0.8], cone_angle=0.5)
        np.testing.assert_allclose(limbs.angle(s.mid, np.array([0, 0.6, -0.8])), 0.5, atol=1e-14)
        assert side * s.mid[0] > 0
        assert s.miss < 1e-15


def test_a_target_out_of_the_cone_is_limited():
    """Straight up is 90 degrees from the axis: the thigh goes as far as it may, the shin points on."""
    s = ik2bone.solve(ROOT, MID, END, [0, 2.0, 0], cone_axis=MID, cone_angle=0.2)
    start = np.arctan2(-0.4, 0.3) + 0.2
    np.testing.assert_allclose(s.mid, [0, 0.5 * cos(start), 0.5 * sin(start)], atol=1e-15)
    assert s.status == Status.TOO_FAR | Status.LIMITED


def test_cone_along_the_target_line_is_singular_where_it_decides():
    assert ik2bone.solve(ROOT, MID, END, [0, 0, -0.6], cone_axis=[0, 0, -1.0], cone_angle=0.1).status & Status.SINGULAR


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_cone_about_the_line_lets_the_limb_turn_round_it(kind):
    """The whole circle is as far from the axis as the present mid joint, to which the cone is widened."""
    rng = np.random.default_rng(7)
    root, mid, end = (point.astype(kind) for point in limbs.positions(rng, 3000))
    axis = rng.choice([-1.0, 1.0], (3000, 1)) * (end.astype(float) - root)
    turned = dict(pole=limbs.directions(rng, 3000), pole_weight=rng.random(3000))
    free = ik2bone.solve(root, mid, end, end, **turned)
    s = ik2bone.solve(root, mid, end, end, cone_axis=axis, cone_angle=0.0, **turned)
    assert np.array_equal(s.mid, free.mid)
    assert not s.status.any()


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_cone_along_the_target_line_keeps_the_side_of_the_bend(side):
    limb = [0.0, 0, 0], [0, 0.6 * side, 0.8], [0, 0, 1.6]
    for target in ([0, 0, 1.0], [0, 0, 1.3]):
        mid = ik2bone.solve(*limb, target, cone_axis=[0, 0, 1.0], cone_angle=0.3).mid
        assert mid[1] * side > 0.1


def test_wished_mid_joint_opposite_the_arc_is_singular():
    s = ik2bone.solve(ROOT, MID, END, END, pole=[0, -1.0, 0], cone_axis=[0, 0.6, -0.8], cone_angle=0.5)
    assert s.status == Status.SINGULAR
    assert s.miss < 1e-15


@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_solve_pose_takes_the_axis_in_the_space_of_the_matrices(kind):
    rng = np.random.default_rng(5)
    pose = limbs.poses(rng, ROWS, kind)
    frame = pose.root[:, :3, :3] / pose.root_scale[:, None]
    axis, present = limbs.directions(rng, ROWS), np.linalg.inv(frame) @ (pose.mid - pose.root)[:, :3, 3, None]
    options = dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale, cone_angle=0.7)
    outer = (frame @ axis[..., None])[..., 0]
    s = ik2bone.solve_pose(pose.root, pose.mid, pose.end, limbs.pose_targets(rng, pose), cone_axis=outer, **options)
    new_mid = limbs.apply(pose, s.root, s.mid)[1]
    new = (np.linalg.inv(frame) @ (new_mid - pose.root)[:, :3, 3, None])[..., 0]
    assert np.all(limbs.angle(new, axis) <= np.maximum(0.7, limbs.angle(present[..., 0], axis)) + 1e-12)


@pytest.mark.parametrize("limits", [{}, {"min_angle": 0.3, "max_angle": 1.5}])
def test_bones_keep_their_lengths_where_the_axis_is_nearly_along_the_target_or_the_aim(limits):
    rng = np.random.default_rng(6)
    mid, axis = (limbs.directions(rng, 3000) for _ in range(2))
    end = mid + limbs.directions(rng, 3000)
    aside = 10 ** rng.uniform(-17, -1, (3000, 1)) * limbs.directions(rng, 3000)
    target = axis * rng.uniform(0.1, 2.5, (3000, 1)) + aside
    s = ik2bone.solve(ROOT, mid, end, target, cone_axis=axis, cone_angle=0.0, weight=1.0, **limits)
    np.testing.assert_allclose(limbs.length(s.mid), limbs.length(mid), rtol=0, atol=1e-14)
    np.testing.assert_allclose(limbs.length(s.end - s.mid), limbs.length(end - mid), rtol=0, atol=1e-14)
    assert np.all((s.mid * axis).sum(-1) >= (mid * axis).sum(-1) - 1e-14)


@pytest.mark.parametrize("share", [0.5, 1.5], ids=["folded", "straight"])
def test_a_folded_or_straight_limb_on_the_edge_of_its_cone_does_not_turn_about_itself(share):
    rng = np.random.default_rng(13)
    way, axis = limbs.directions(rng, ROWS), limbs.directions(rng, ROWS)
    length = rng.uniform(0.5, 2, (ROWS, 1))
    mid, end = way * length, way * length * share
    target = end * (rng.uniform(0.1, 0.9, (ROWS, 1)) if share < 1 else 1.5)
    root_matrix = np.tile(np.eye(4), (ROWS, 1, 1))
    mid_matrix = root_matrix.copy()
    mid_matrix[:, :3, 3] = mid
    hinge = np.cross(limbs.directions(rng, ROWS), way)
    turned = ik2bone.solve_pose(
        root_matrix, mid_matrix, end, target, hinge=hinge, roll="hinge", cone_axis=axis, cone_angle=0.0
    )
    np.testing.assert_allclose(abs(turned.root[:, 0]), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("roll", ["hinge", "pose"])
@pytest.mark.parametrize("share", [-0.65, 1.65], ids=["folded", "straight"])
@pytest.mark.parametrize("way", [-1, 1], ids=["half a turn", "no angle"])
def test_a_nearly_folded_or_straight_limb_turns_in_a_cone_of_almost_no_angle_or_half_a_turn(way, share, roll):
    """Cosines cannot tell such angles apart: rounding turned legal limbs, and let others leave the cone by 1e-7."""
    rng = np.random.default_rng(17)
    mid = limbs.directions(rng, ROWS)
    aside = np.cross(mid, limbs.directions(rng, ROWS))
    end = share * mid + 1e-7 * aside / limbs.length(aside)[:, None]
    matrix = np.tile(np.eye(4), (ROWS, 1, 1))
    mid_matrix = matrix.copy()
    mid_matrix[:, :3, 3] = mid
    axis = way * mid + rng.choice([0, 1e-9, 3e-8], (ROWS, 1)) * limbs.directions(rng, ROWS)
    twist, hinge = rng.uniform(-3, 3, ROWS), np.cross(rng.normal(size=(ROWS, 3)), mid)
    limit = np.maximum(1e-7, limbs.angle(mid, axis))
    free = ik2bone.solve(ROOT, mid, end, end, twist=twist)
    s = ik2bone.solve(ROOT, mid, end, end, twist=twist, cone_axis=axis, cone_angle=1e-7)
    assert np.all(limbs.angle(s.mid, axis) <= limit + 1e-14)
    legal = limbs.angle(free.mid, axis) <= limit - 1e-15
    assert legal.sum() > 50
    options = dict(twist=twist, hinge=hinge, roll=roll)
    wished = ik2bone.solve_pose(matrix, mid_matrix, end, end, **options)
    turned = ik2bone.solve_pose(matrix, mid_matrix, end, end, cone_axis=axis, cone_angle=1e-7, **options)
    assert np.array_equal(turned.root[legal], wished.root[legal])


def test_a_mid_joint_opposite_to_the_axis_goes_no_nearer_to_that():
    """All of the circle is legal but for a short arc, whose length one cosine gave with an error of 1e-8."""
    points, _, _, _ = cases(19)
    mid = points[1]
    rng = np.random.default_rng(19)
    axis = 10 ** rng.uniform(-9, -5, (ROWS, 1)) * limbs.directions(rng, ROWS) - mid / limbs.length(mid)[:, None]
    twist = 10 ** rng.uniform(-9, -5, ROWS)
    options = dict(twist=twist * rng.choice([-1, 1], ROWS))
    for end in (points[2], points[2] + 1e-7 * limbs.directions(rng, ROWS)):
        s = ik2bone.solve(*points[:3], end, cone_axis=axis, cone_angle=0.1, **options)
        assert np.all(limbs.angle(s.mid, -axis) >= limbs.angle(mid, -axis) - 1e-14)
    free = ik2bone.solve(*points[:3], end, **options)
    assert np.sum(limbs.angle(free.mid, -axis) < limbs.angle(mid, -axis)) > 50


def test_a_limb_within_rounding_of_the_opposite_of_its_axis_stays_on_its_side():
    """It went to the side of its bend, which says nothing of a limb so nearly folded."""
    mid = np.array([0.6550774, -0.7320829, -0.12258984], np.float32)
    end = np.array([0.64846045, -0.7246881, -0.12135156], np.float32)
    pole, axis = [-0.64836043, 0.72469425, 0.12127983], [-0.65507782, 0.73208201, 0.12259005]
    options = dict(pole=pole, max_angle=0.0, cone_axis=axis, cone_angle=0.0)
    s = ik2bone.solve(np.zeros(3, np.float32), mid, end, np.float32(1.01) * end, **options)
    assert limbs.length(s.mid - mid) < 2e-7
    assert s.status == Status.SINGULAR | Status.LIMITED


def test_a_straight_limb_on_the_edge_of_its_cone_that_folds_has_numbers():
    """In one row of 10^5 the nearest place of the circle is exactly on the cone, and the circle has no radius."""
    rng, rows = np.random.default_rng(29), 200_000
    mid, axis, root = (limbs.directions(rng, rows) for _ in range(3))
    linear = np.eye(3) * [1.85, 1.576, -1.565] * (1 + rng.random((rows, 1, 3)))
    matrices = limbs.affine(linear, root), limbs.affine(linear, root + mid)
    options = dict(max_angle=1.4, cone_axis=axis, cone_angle=0.0, weight=rng.random(rows))
    s = ik2bone.solve_pose(*matrices, root + 100 * mid, root, **options)
    assert np.isfinite(s.root).all()
    assert np.isfinite(s.miss).all()
