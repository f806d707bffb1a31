# SPDX-License-Identifier: MIT
"""Limbs and targets where something in the geometry vanishes."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest
from ik2bone import Status

# A knee bent forward (+y) and its hinge, cross(root - mid, end - mid).
ROOT, MID, END = [0.0, 0.0, 0.0], [0.0, 0.3, -0.4], [0.0, 0.0, -0.8]
HINGE = [1.0, 0.0, 0.0]
STRAIGHT = ([0.0, 0.0, 0.0], [0.0, 0.0, -0.5], [0.0, 0.0, -1.0])


def close(a, b, tolerance=1e-14):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


def test_straight_limb_bends_by_its_hinge():
    s = ik2bone.solve(*STRAIGHT, [0, 0, -0.8], hinge=HINGE)
    close(s.mid, MID)
    assert s.status == Status.REACHED


def test_straight_limb_bends_by_its_hinge_towards_a_target_aside():
    s = ik2bone.solve(*STRAIGHT, [0.8, 0, 0], hinge=[1.0, 0, 7.0])
    close(s.mid, [0.4, 0.3, 0])


def test_nearly_straight_limb_bends_by_its_hinge_too():
    for dtype, height in ((np.float32, 9e-6), (np.float64, 9e-13)):
        pose = [np.array(p, dtype) for p in (ROOT, [0, -height, -0.5], [0, 0, -1.0])]
        s = ik2bone.solve(*pose, np.array([0, 0, -0.8], dtype), hinge=HINGE)
        assert s.mid[1] > 0


def test_slightly_bent_limb_keeps_its_own_bend():
    for dtype, height in ((np.float32, 1.2e-5), (np.float64, 1.2e-12)):
        pose = [np.array(p, dtype) for p in (ROOT, [0, -height, -0.5], [0, 0, -1.0])]
        s = ik2bone.solve(*pose, np.array([0, 0, -0.8], dtype), hinge=HINGE)
        assert s.mid[1] < 0
        assert s.status == Status.REACHED


def test_straight_limb_without_hinge_is_singular_and_always_bends_the_same_way():
    one = ik2bone.solve(*STRAIGHT, [0, 0, -0.8])
    noisy = ik2bone.solve(STRAIGHT[0], [1e-15, -1e-15, -0.5], STRAIGHT[2], [0, 0, -0.8])
    assert one.status == noisy.status == Status.SINGULAR
    assert one.miss < 1e-15
    close(one.mid, noisy.mid)
    close(limbs.length(one.mid), 0.5)


def test_hinge_along_a_straight_limb_is_none():
    assert ik2bone.solve(*STRAIGHT, [0, 0, -0.8], hinge=[0, 0, 1.0]).status == Status.SINGULAR


def test_folded_limb_bends_by_its_hinge():
    pose = ROOT, [0, 0, -0.6], [0, 0, -0.2]
    s = ik2bone.solve(*pose, [0, 0, -0.8], hinge=[1.0, 0, 0])
    assert s.miss < 1e-15
    assert s.mid[1] > 0.1
    assert s.status == Status.REACHED


def test_end_on_the_root_opens_in_the_plane_of_the_hinge():
    """Equal bones folded: the hinge's plane is z-x, and a target in it is reached there."""
    s = ik2bone.solve(ROOT, [0, 0, -0.5], ROOT, [0.3, 0, 0], hinge=[0, 1.0, 0])
    assert s.miss < 1e-15
    close(s.mid[1], 0)
    assert s.status == Status.SINGULAR


def test_end_on_the_root_without_hinge_opens_towards_the_target():
    s = ik2bone.solve(ROOT, [0, 0, -0.5], ROOT, [0.6, 0, 0])
    close(s.mid, [0.3, 0, -0.4])
    assert s.status == Status.SINGULAR


def test_target_on_the_root_leaves_the_upper_bone():
    s = ik2bone.solve(ROOT, MID, END, ROOT, pole=[1.0, 0, 0], twist=0.3)
    assert s.mid.tolist() == MID
    close(s.end, ROOT)
    assert s.status == Status.SINGULAR


def test_target_on_the_root_folds_unequal_bones_along_the_upper_one():
    mid, end = np.array([0, 0.3, -0.6]), np.array([0, 0.1, -0.8])
    s = ik2bone.solve(ROOT, mid, end, ROOT)
    assert np.array_equal(s.mid, mid)
    up = mid / limbs.length(mid)
    close(s.end, mid - up * limbs.length(end - mid))
    assert s.status == Status.SINGULAR | Status.TOO_CLOSE


def test_target_on_the_root_keeps_an_angle_limit():
    s = ik2bone.solve(ROOT, MID, END, ROOT, min_angle=1.0)
    assert s.mid.tolist() == MID
    close(limbs.length(s.end), 2 * 0.5 * np.sin(0.5))
    close(limbs.length(s.end - s.mid), 0.5)
    assert s.status == Status.SINGULAR | Status.LIMITED


def test_passing_through_the_root_by_weight_leaves_the_upper_bone():
    s = ik2bone.solve(ROOT, MID, END, [0, 0, 0.8], weight=0.5)
    assert s.mid.tolist() == MID
    close(s.end, ROOT)
    assert s.status == Status.SINGULAR


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_target_opposite_to_the_end_turns_about_the_hinge(dtype):
    rng = np.random.default_rng(0)
    root, mid, end = limbs.positions(rng, 100, (0.45, 0.55))
    root, mid, end = (root - root).astype(dtype), (mid - root).astype(dtype), (end - root).astype(dtype)
    s = ik2bone.solve(root, mid, end, (-0.9 * end).astype(dtype))
    reached = s.status & Status.MISSED == 0
    root, mid, end, s = root[reached], mid[reached], end[reached], s._replace(mid=s.mid[reached], end=s.end[reached])
    hinge, new = np.cross(-mid, end - mid), np.cross(-s.mid, s.end - s.mid)
    cosine = (hinge * new).sum(-1) / limbs.length(hinge) / limbs.length(new)
    assert np.all(cosine > 1 - 1e-5)
    assert len(root) > 80
    assert np.all(s.status & Status.SINGULAR)


def test_nearest_with_the_knee_on_the_target_line_is_singular():
    target = 1.2 * np.array(MID)
    s = ik2bone.solve(ROOT, MID, END, target, bend="nearest")
    assert s.miss < 1e-15
    assert s.status == Status.SINGULAR


@pytest.mark.parametrize("side, status", [(0.5e-5, ik2bone.Status.SINGULAR), (2e-5, ik2bone.Status.REACHED)])
def test_nearest_measures_a_short_upper_bone_by_the_whole_reach(side, status):
    """A bone of a hundredth of the reach may be well off the target line by its own length, and yet be on it."""
    root, mid, end, target = np.array([[0, 0, 0], [0.01, 0, 0], [0.01, 0.99, 0], [0.985, 0, 0]], np.float32)
    target[1] = 100 * side
    assert ik2bone.solve(root, mid, end, target, bend="nearest").status == status


@pytest.mark.parametrize("which", ["upper", "lower"])
def test_bone_without_length_is_invalid_and_keeps_its_pose(which):
    mid = ROOT if which == "upper" else END
    s = ik2bone.solve(ROOT, mid, END, [0, 0.3, 0])
    assert (s.mid.tolist(), s.end.tolist(), s.status) == (mid, END, Status.INVALID)
    assert np.isnan(s.miss)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["root", "mid", "end", "target", "pole", "hinge", "weight", "twist", "soften"])
def test_a_bad_row_is_invalid_and_disturbs_no_other(where, bad):
    rng = np.random.default_rng(1)
    root, mid, end = limbs.positions(rng, 5)
    arguments = dict(root=root, mid=mid, end=end, target=rng.normal(size=(5, 3)), pole=rng.normal(size=(5, 3)))
    arguments |= dict(hinge=rng.normal(size=(5, 3)), weight=np.full(5, 0.7), twist=np.zeros(5), soften=np.ones(5))
    good = ik2bone.solve(**arguments)
    arguments[where] = arguments[where].copy()
    arguments[where][2, ...] = bad
    s = ik2bone.solve(**arguments)
    assert s.status[2] == Status.INVALID
    assert np.isnan(s.miss[2])
    np.testing.assert_array_equal(s.mid[2], arguments["mid"][2])
    np.testing.assert_array_equal(s.end[2], arguments["end"][2])
    for mine, its in zip(s, good, strict=True):
        assert np.array_equal(np.delete(mine, 2, 0), np.delete(its, 2, 0))


@pytest.mark.parametrize("size", [1e-15, 1e-6, 1.0, 1e6, 1e15])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths_of_any_size(size, dtype):
    rng = np.random.default_rng(2)
    root, mid, end = limbs.positions(rng, 50)
    root, mid, end = root - root, mid - root, end - root
    target = limbs.reachable(rng, root, mid, end, (0.01, 0.99))
    one = ik2bone.solve(*(p.astype(dtype) for p in (root, mid, end, target)))
    s = ik2bone.solve(*((size * p).astype(dtype) for p in (root, mid, end, target)))
    assert np.array_equal(s.status, one.status)
    assert np.all(s.miss <= size * (1e-6 if dtype == np.float32 else 2e-14))
    close(s.mid / size, one.mid, 1e-5 if dtype == np.float32 else 1e-12)


def test_a_target_very_far_away_is_pointed_at():
    for far in (1e20, 1e200, 1e300):
        s = ik2bone.solve(ROOT, MID, END, [0, far, 0])
        close(s.end, [0, 1.0, 0])
        assert s.status == Status.TOO_FAR
        close(s.miss / far, 1.0)


@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize("far", [[1.1e308, 1.1e308, 1.1e308], [-1.7e308, 1.7e308, 1.7e308]])
def test_a_target_whose_distance_is_beyond_all_numbers_is_pointed_at(far, rows):
    target = np.tile(far, (rows, 1))
    points = ik2bone.solve(ROOT, MID, END, target)
    pose = ik2bone.solve_pose(np.eye(4), limbs.affine(np.eye(3)[None], MID), END, target)
    np.testing.assert_allclose(points.end, np.sign(target) / np.sqrt(3), rtol=0, atol=1e-14)
    np.testing.assert_allclose(pose.position, points.end, rtol=0, atol=1e-14)
    for s in points, pose:
        assert (s.status == Status.TOO_FAR).all()
        assert (s.miss == np.inf).all()


@pytest.mark.parametrize("rows", [1, 40])
def test_a_target_whose_place_from_the_root_is_no_number_is_invalid(rows):
    root, mid, end = ([-1e308 + x, y, 0.0] for x, y in ((0.0, 0.0), (1e300, 2e299), (2e300, 0.0)))
    target = np.tile([1e308, 0.0, 0.0], (rows, 1))
    points = ik2bone.solve(root, mid, end, target)
    pose = ik2bone.solve_pose(limbs.affine(np.eye(3)[None], root), limbs.affine(np.eye(3)[None], mid), end, target)
    for s in points, pose:
        assert (s.status == Status.INVALID).all()
        assert np.isnan(s.miss).all()
    assert (points.end == end).all()
    assert (pose.position == end).all()
    assert (pose.root == [1, 0, 0, 0]).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_numbers_near_the_largest_give_turns_all_the_same(scale):
    root, mid = np.diag([scale, scale, scale, 1.0]), np.eye(4)
    mid[:3, 3] = 0, 0.6, 0.8
    limb = root, mid, [0.0, 0, 1.6]
    plain = ik2bone.solve_pose(*limb, [0, 0.3, 1.0], pole=[1.0, 0, 0], cone_axis=[0, 0.1, 1.0], cone_angle=1.0)
    far = ik2bone.solve_pose(*limb, [0, 0.3, 1.0], pole=[1e307, 0, 0], cone_axis=[0, 1e306, 1e307], cone_angle=1.0)
    for name in ("root", "mid", "position"):
        np.testing.assert_allclose(getattr(far, name), getattr(plain, name), rtol=0, atol=1e-14)
    near, away = (ik2bone.solve_pose(*limb, [0, size, 0]) for size in (1e6, 1e307))
    np.testing.assert_allclose(away.position, near.position, rtol=0, atol=1e-14)
    assert away.status == Status.TOO_FAR
    turned = ik2bone.orient(*limb, [0, 0.8, 0.6], [0, 1e307, 0])
    assert abs(limbs.length(turned.mid) - 1) < 1e-14


def test_a_tiny_limb_points_at_a_target_very_far_away():
    tiny = [1e-15 * np.array(p) for p in (ROOT, MID, END)]
    s = ik2bone.solve(*tiny, [0, 1e300, 0])
    close(s.end * 1e15, [0, 1.0, 0])
    assert s.status == Status.TOO_FAR


def test_offset_of_a_thousand_reaches_loses_nothing_but_rounding():
    rng = np.random.default_rng(3)
    root, mid, end = limbs.positions(rng, 200)
    target = limbs.reachable(rng, root, mid, end, (0.05, 0.95))
    near = [p.astype(np.float32) for p in (root, mid, end, target)]
    far = [(p.astype(np.float64) + 1000).astype(np.float32) for p in near]
    s = ik2bone.solve(*far)
    assert np.max(s.miss) <= np.spacing(np.float32(1000)) * 1.01
    exact = ik2bone.solve(*(p.astype(np.float64) for p in far))
    assert np.max(abs(s.mid - exact.mid)) <= np.spacing(np.float32(1000))


@pytest.mark.parametrize("options", [{}, dict(twist=0.0), dict(bend="nearest")])
def test_bones_keep_their_lengths_where_rounding_alone_tells_the_fold(options):
    """Equal bones, end and target nearer to the root than lengths have digits."""
    rng = np.random.default_rng(5)
    mid = limbs.directions(rng, 10000)
    end, target = rng.normal(size=(2, 10000, 3)) * 1e-17
    s = ik2bone.solve([0.0, 0, 0], mid, end, target, **options)
    close(limbs.length(s.mid), limbs.length(mid))
    close(limbs.length(s.end - s.mid), limbs.length(end - mid))


@pytest.mark.parametrize("size", [1e-14, 1e-16, 1e-18, 1e-30])
def test_target_on_the_root_of_a_limb_with_nearly_no_upper_bone(size):
    rng = np.random.default_rng(6)
    mid, end = size * limbs.directions(rng, 1000), limbs.directions(rng, 1000)
    s = ik2bone.solve([0.0, 0, 0], mid, end, [0.0, 0, 0])
    assert np.array_equal(s.mid, mid)
    close(limbs.length(s.end - s.mid), limbs.length(end - mid))
    assert np.all(s.status == Status.SINGULAR | Status.TOO_CLOSE)


@pytest.mark.parametrize("size", [1e-14, 1e-16, 1e-18, 1e-30])
@pytest.mark.parametrize("short", ["upper", "lower"])
def test_bones_of_any_ratio_are_turned_to_far_targets(short, size):
    rng = np.random.default_rng(9)
    bones = limbs.directions(rng, 1000) * (size if short == "upper" else 1), limbs.directions(rng, 1000)
    bones = bones[0], bones[1] * (size if short == "lower" else 1)
    mid, end = bones[0], bones[0] + bones[1]
    eye = np.eye(3) + np.zeros((1000, 3, 3))
    wild = (limbs.length(end - mid) > 0) & (limbs.length(mid) > 0)
    s = ik2bone.solve_pose(np.eye(4), limbs.affine(eye, mid)[wild], end[wild], -3 * end[wild], twist=0.3)
    assert np.all(s.status & ~Status.SINGULAR == Status.TOO_FAR)
    close(limbs.length(s.position), 1, 5e-14)
    close(s.miss, 2, 5e-14)


@pytest.mark.parametrize("options", ["pole", "nearest"])
def test_a_bend_that_is_hardly_told_keeps_the_bones_lengths(options):
    """By a pole, or by the present mid joint, nearly along the target line."""
    rng = np.random.default_rng(10)
    mid = limbs.directions(rng, 10000)
    end = mid + limbs.directions(rng, 10000)
    near = mid + 10 ** rng.uniform(-17, -6, (10000, 1)) * limbs.directions(rng, 10000)
    given = dict(pole=near) if options == "pole" else dict(bend="nearest")
    s = ik2bone.solve([0.0, 0, 0], mid, end, 1.3 * mid, **given)
    close(limbs.length(s.mid), limbs.length(mid))
    close(limbs.length(s.end - s.mid), limbs.length(end - mid))
    s = ik2bone.solve([0.0, 0, 0], mid, end, 1.3 * near, **given)
    close(limbs.length(s.mid), limbs.length(mid))
    close(limbs.length(s.end - s.mid), limbs.length(end - mid))


def test_target_on_the_root_of_a_limb_whose_bend_is_hardly_told_keeps_its_lengths():
    rng = np.random.default_rng(8)
    mid = limbs.directions(rng, 10000)
    end = 2 * mid + 10 ** rng.uniform(-12, -8, (10000, 1)) * limbs.directions(rng, 10000)
    s = ik2bone.solve([0.0, 0, 0], mid, end, [0.0, 0, 0], min_angle=1.3)
    close(limbs.length(s.end - s.mid), limbs.length(end - mid))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_hinge", [False, True])
def test_half_turns_of_nearly_straight_limbs_are_exact(dtype, with_hinge):
    """The axis is what little there is of the bend, or of a hinge nearly along the bone."""
    rng = np.random.default_rng(7)
    upper = limbs.directions(rng, 3000)
    aside = 10 ** rng.uniform(-17, -1, (3000, 1)) * limbs.directions(rng, 3000)
    eye = np.eye(3) + np.zeros((3000, 3, 3))
    end = (2 * upper + aside).astype(dtype)
    root, mid = (limbs.affine(eye, at).astype(dtype) for at in (0 * upper, upper))
    options = dict(hinge=(upper + aside[::-1]).astype(dtype)) if with_hinge else {}
    s = ik2bone.solve_pose(root, mid, end, -1.5 * end, **options)
    wide = [m.astype(np.float64) for m in (root, mid)]
    reached = limbs.apply(limbs.Pose(*wide, limbs.affine(eye, end), *np.ones((2, 3000, 3))), s.root, s.mid)[2]
    bones = limbs.length(wide[1][:, :3, 3]), limbs.length(end - wide[1][:, :3, 3])
    wanted = -end.astype(np.float64) * (sum(bones) / limbs.length(end.astype(np.float64)))[:, None]
    close(reached[:, :3, 3], wanted, 1e-6 if dtype == np.float32 else 2e-14)


@pytest.mark.parametrize("size", [1e-308, 1e-310, 5e-324])
def test_lengths_whose_inverse_would_overflow_make_no_nan(size):
    straight = ik2bone.solve(ROOT, MID, END, [0.1, 0.2, -0.5])
    turned = ik2bone.solve(ROOT, MID, END, [0.1, 0.2, -0.5], cone_axis=[0, 0, -size], cone_angle=0.3)
    same = ik2bone.solve(ROOT, MID, END, [0.1, 0.2, -0.5], cone_axis=[0, 0, -1.0], cone_angle=0.3)
    close(turned.mid, same.mid)
    assert np.any(turned.mid != straight.mid)
    near = ik2bone.solve(ROOT, MID, END, [size, size, 0])
    close(near.mid, ik2bone.solve(ROOT, MID, END, ROOT).mid)
    folded = ik2bone.solve([0.0, 0, 0], [0, 0, 1.0], [size, 0, 0], [0.1, 0.2, 0.5], weight=[0.5, 1.0])
    assert np.all(np.isfinite([folded.mid, folded.end]))
    close(limbs.length(folded.mid), 1)
    mid = limbs.affine(np.eye(3), [0, 0.6, 0.8])
    turns = [ik2bone.orient(np.eye(4), mid, [0, 0, 1.6], [length, 0, 0], [length, 0, 1.0]).root for length in (size, 1)]
    close(*turns)


@pytest.mark.parametrize("rows", [1, 40])
def test_hinge_whose_length_is_beyond_all_numbers_counts_as_its_direction(rows):
    mid_matrix = np.eye(4)
    mid_matrix[:3, 3] = 0.5, 0.1, 0.0
    end, target = (np.tile(point, (rows, 1)) for point in ([1.0, 0.0, 0.0], [0.7, 0.3, 0.2]))
    huge, plain = (
        ik2bone.solve_pose(np.eye(4), mid_matrix, end, target, hinge=(size, size, size), roll="hinge")
        for size in (1.7e308, 1.0)
    )
    assert (huge.status == plain.status).all()
    np.testing.assert_allclose(huge.root, plain.root, atol=1e-14)
    np.testing.assert_allclose(huge.mid, plain.mid, atol=1e-14)
