# SPDX-License-Identifier: MIT
"""Reach cases, bend, pole, soften, limits and weight of `solve`."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import ik2bone
import limbs
import numpy as np
import pytest
from ik2bone import Status

# A knee bent forward (+y), reach 1.
ROOT, MID, END = [0.0, 0.0, 0.0], [0.0, 0.3, -0.4], [0.0, 0.0, -0.8]
SHORT_LOWER = ([0.0, 0.0, 0.0], [0.0, 0.3, -0.6], [0.0, 0.1, -0.8])


def close(a, b, tolerance=1e-14):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


def test_reachable_target_is_reached():
    s = ik2bone.solve(ROOT, MID, END, [0.1, 0.5, -0.3])
    close(s.end, [0.1, 0.5, -0.3])
    assert s.miss < 1e-15
    assert s.status == Status.REACHED


def test_target_too_far_straightens_towards_it():
    s = ik2bone.solve(ROOT, MID, END, [0.0, 3.0, 0.0])
    close(s.mid, [0, 0.5, 0])
    close(s.end, [0, 1.0, 0])
    close(s.miss, 2.0)
    assert s.status == Status.TOO_FAR


def test_target_too_close_points_the_longer_bone_at_it():
    root, mid, end = map(np.array, SHORT_LOWER)
    upper, lower = limbs.length(mid - root), limbs.length(end - mid)
    s = ik2bone.solve(root, mid, end, [0, 0.1, 0])
    close(s.mid, [0, upper, 0])
    close(s.end, [0, upper - lower, 0])
    assert s.status == Status.TOO_CLOSE


def test_target_too_close_folds_back_a_longer_lower_bone():
    end, mid, root = map(np.array, SHORT_LOWER)
    upper, lower = limbs.length(mid - root), limbs.length(end - mid)
    s = ik2bone.solve(root, mid, end, root + [0, 0.1, 0])
    close(s.mid - root, [0, -upper, 0])
    close(s.end - root, [0, lower - upper, 0])
    assert s.status == Status.TOO_CLOSE


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exactly_full_reach_is_reached(dtype):
    rng = np.random.default_rng(2)
    root, mid, end = (p.astype(dtype) for p in limbs.positions(rng, 200))
    reach = limbs.length(mid.astype(float) - root) + limbs.length(end.astype(float) - mid)
    target = (root + reach[:, None] * limbs.directions(rng, 200)).astype(dtype)
    assert not np.any(ik2bone.solve(root, mid, end, target).status)


def test_carried_bend_keeps_the_side_past_the_knee():
    """A nearly straight leg lifted forward, past its own knee: by the nearest rule the knee turns backwards."""
    pose = ROOT, [0, 0.01, -0.5], [0, 0, -1.0]
    target = [0, 0.3, -0.8]
    hinge = np.cross(*(np.subtract(p, pose[1]) for p in (pose[0], pose[2])))
    for bend, side in (("carried", 1), ("nearest", -1)):
        s = ik2bone.solve(*pose, target, bend=bend)
        assert side * np.dot(np.cross(-s.mid, s.end - s.mid), hinge) > 0


def test_carried_bend_is_turned_by_the_shortest_arc():
    target = [0.8, 0, 0]
    close(ik2bone.solve(ROOT, MID, END, target).mid, [0.4, 0.3, 0])


def test_nearest_bend_is_the_nearest_point_of_the_circle():
    rng = np.random.default_rng(3)
    root, mid, end = limbs.positions(rng, 50)
    target = limbs.reachable(rng, root, mid, end)
    s = ik2bone.solve(root, mid, end, target, bend="nearest")
    nearest = limbs.length(s.mid - mid)
    for twist in np.linspace(0, 2 * pi, 37):
        other = ik2bone.solve(root, mid, end, target, bend="nearest", twist=twist)
        assert np.all(limbs.length(other.mid - mid) >= nearest - 1e-12)


def test_pole_points_the_knee():
    s = ik2bone.solve(ROOT, MID, END, [0, 0, -0.8], pole=[2.0, 0, -5.0])
    close(s.mid, [0.3, 0, -0.4])


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.5, 1.0])
def test_pole_weight_is_a_part_of_the_angle(weight):
    s = ik2bone.solve(ROOT, MID, END, [0, 0, -0.8], pole=[1.0, 0, 0], pole_weight=weight)
    angle = weight * pi / 2
    close(s.mid, [0.3 * sin(angle), 0.3 * cos(angle), -0.4])


def test_zero_pole_is_no_pole():
    s = ik2bone.solve(ROOT, MID, END, END, pole=[0.0, 0, 0])
    assert (s.mid.tolist(), s.status) == (MID, 0)


def test_pole_along_the_target_line_is_singular_and_leaves_the_bend():
    s = ik2bone.solve(ROOT, MID, END, [0, 0, -0.7], pole=[0, 0, 5.0])
    close(s.mid, ik2bone.solve(ROOT, MID, END, [0, 0, -0.7]).mid)
    assert s.status == Status.SINGULAR


def test_opposite_pole_at_partial_weight_is_singular():
    assert ik2bone.solve(ROOT, MID, END, END, pole=[0, -1.0, 0], pole_weight=0.5).status == Status.SINGULAR
    assert ik2bone.solve(ROOT, MID, END, END, pole=[0, -1.0, 0]).status == Status.REACHED


def test_twist_is_right_handed_about_root_to_target():
    s = ik2bone.solve(ROOT, MID, END, END, twist=pi / 2)
    close(s.mid, [0.3, 0, -0.4])


def test_soften_never_runs_ahead_and_arrives():
    target = np.linspace(0.5, 1.5, 401)[:, None] * [0, 0, -1.0]
    s = ik2bone.solve(ROOT, MID, END, target, soften=0.8)
    distance = limbs.length(s.end)
    assert np.all(distance <= limbs.length(target) + 1e-15)
    assert np.all(np.diff(distance) >= -1e-15)
    close(distance[target[:, 2] >= -0.8], limbs.length(target)[target[:, 2] >= -0.8])
    close(distance[target[:, 2] <= -1.2 - 1e-9], 1.0)
    close(ik2bone.solve(ROOT, MID, END, [0, 0, -1.0], soften=0.8).end, [0, 0, -0.95])
    assert ik2bone.solve(ROOT, MID, END, [0, 0, -1.0], soften=0.8).status == Status.SOFTENED


def test_angle_limits_stop_the_end_on_the_target_line():
    s = ik2bone.solve(ROOT, [0, 0.4, -0.3], [0, 0, -0.6], [0, 0, -2.0], max_angle=2.5)
    close(s.end, [0, 0, -2 * 0.5 * sin(2.5 / 2)])
    assert s.status == Status.TOO_FAR | Status.LIMITED
    s = ik2bone.solve(ROOT, MID, END, [0, 0, -0.1], min_angle=pi / 3)
    close(s.end, [0, 0, -0.5])
    assert s.status == Status.LIMITED


def test_angle_limits_are_widened_to_the_pose():
    s = ik2bone.solve(ROOT, MID, END, [0, 0, -0.95], max_angle=1.0)
    close(s.end, END)
    s = ik2bone.solve(ROOT, MID, END, [0, 0, -0.7], min_angle=3.0)
    close(s.end, END)


def test_where_minimum_exceeds_maximum_the_maximum_wins():
    options = dict(target=[0, 0, -0.1], min_angle=2.0, max_angle=1.0)
    close(limbs.length(ik2bone.solve(ROOT, MID, END, **options).end), 2 * 0.5 * sin(0.5))


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.9])
def test_weight_moves_the_end_along_a_straight_line(weight):
    target = np.array([0.3, 0.2, -0.6])
    s = ik2bone.solve(ROOT, MID, END, target, weight=weight)
    close(s.end, END + weight * (target - END))
    close(s.miss, (1 - weight) * limbs.length(target - END))
    assert s.status == Status.REACHED


def test_weight_multiplies_pole_and_twist():
    both = ik2bone.solve(ROOT, MID, END, END, twist=0.4, weight=0.5)
    close(both.mid, ik2bone.solve(ROOT, MID, END, END, twist=0.2).mid)
    poled = ik2bone.solve(ROOT, MID, END, END, pole=[1.0, 0, 0], weight=0.5)
    close(poled.mid, [0.3 * sqrt(0.5), 0.3 * sqrt(0.5), -0.4])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weight_zero_is_the_pose_bit_for_bit(dtype):
    rng = np.random.default_rng(4)
    root, mid, end = (p.astype(dtype) for p in limbs.positions(rng, 200))
    options = dict(pole=rng.normal(size=3), twist=1.0, soften=0.5, max_angle=1.0, bend="nearest")
    s = ik2bone.solve(root, mid, end, rng.normal(size=(200, 3)).astype(dtype), weight=0, **options)
    assert np.array_equal(s.mid, mid)
    assert np.array_equal(s.end, end)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bend", ["carried", "nearest"])
def test_target_on_the_end_is_the_pose_bit_for_bit(dtype, bend):
    rng = np.random.default_rng(5)
    root, mid, end = (p.astype(dtype) for p in limbs.positions(rng, 200))
    s = ik2bone.solve(root, mid, end, end, bend=bend, min_angle=1.0, max_angle=1.5, weight=0.7)
    assert np.array_equal(s.mid, mid)
    assert np.array_equal(s.end, end)
    assert not s.miss.any()
    assert not s.status.any()


@pytest.mark.parametrize("step", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_small_motion_of_the_target_is_followed(step):
    """Peers lose turns below 0.26 degrees, or answer identity (cglm's quat_from_vecs)."""
    target = np.array(END) + [step, 0, 0]
    s = ik2bone.solve(ROOT, MID, END, target)
    close(s.end - END, [step, 0, 0], 1e-15)
    close(s.mid - MID, [step / 2, 0, 0], 1e-15 + step**2)
