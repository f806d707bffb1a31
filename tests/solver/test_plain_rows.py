# SPDX-License-Identifier: MIT
"""Rows run sixteen at once: the same digits as alone, as strided, and with options that change nothing."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest

ROWS = 1003
IDLE = dict(pole_weight=1.0, twist=0.0)


def awkward(rng, dtype):
    """Generic limbs with all kinds of degenerate rows between."""
    root, mid, end = limbs.positions(rng, ROWS, (0.1, 0.9))
    target = root + rng.normal(size=(ROWS, 3)) * 0.6
    mid[::11] = root[::11] + 0.4 * (end - root)[::11]
    target[3::13] = end[3::13]
    target[5::17] = root[5::17]
    end[7::19] = root[7::19]
    mid[9::23] = root[9::23]
    target[2::29] = np.nan
    target[4::31] = (2 * root - end)[4::31]
    root[6::37, 1] = np.inf
    for points in (root, mid, end, target):
        points[8::41] *= 1e15
        points[10::43] *= 1e-15
    target[12::47] *= 1e18
    return [p.astype(dtype) for p in (root, mid, end, target)]


def awkward_poses(rng, dtype):
    """The same limbs as transforms, some mirrored, uneven or singular, with hinges of all lengths."""
    root, mid, end, target = awkward(rng, np.float64)
    transforms = [limbs.affine(limbs.rotations(rng, ROWS), at) for at in (root, mid)]
    transforms[0][1::7, :3, :3] *= -2.0
    transforms[1][2::7, :3, 0] *= 3.0
    transforms[1][3::53, :3, 1] = 0.0
    transforms[0][4::59, 3, 2] = np.nan
    hinge = np.cross(root - mid, end - mid) + 0.1 * rng.normal(size=(ROWS, 3))
    hinge[5::61], hinge[6::67] = 0.0, (mid - root)[6::67]
    return [a.astype(dtype) for a in (*transforms, end, target, hinge)]


def as_pose(function, rows, hinge, roll, **options):
    root, mid, end, target = rows
    if function == "solve_pose":
        return ik2bone.solve_pose(root, mid, end, target, hinge=hinge, roll=roll, **options)
    return ik2bone.orient(root, mid, end, (mid[..., :3, 3] + target) / 2, target, hinge=hinge, roll=roll, **options)


def same(a, b):
    return all(np.array_equal(x, y, equal_nan=x.dtype != np.uint8) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_options_at_their_defaults_change_no_digit(dtype):
    points = awkward(np.random.default_rng(4), dtype)
    assert same(ik2bone.solve(*points), ik2bone.solve(*points, **IDLE))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, IDLE, dict(bend="nearest"), dict(soften=0.9)])
def test_miss_is_that_of_the_rounded_end(dtype, options):
    points = awkward(np.random.default_rng(9), dtype)
    s = ik2bone.solve(*points, **options)
    good = s.status != ik2bone.Status.INVALID
    off = s.end[good].astype(np.float64) - points[3][good]
    scale = np.abs(off).max(-1, initial=1e-300)
    expected = scale * limbs.length(off / scale[:, None])
    assert np.all(abs(s.miss[good] - expected) <= 0.6 * np.spacing(s.miss[good]) + 1e-15 * expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_alone_gives_the_same_digits(dtype):
    points = awkward(np.random.default_rng(5), dtype)
    whole = ik2bone.solve(*points)
    rows = [ik2bone.solve(*row) for row in zip(*points, strict=True)]
    assert same(whole, [np.stack(column) for column in zip(*rows, strict=True)])


@pytest.mark.parametrize("shape", [(17, 59), (59, 17), (1003, 1), (1, 1003), (59, 17, 1)])
def test_shape_and_strides_change_no_digit(shape):
    points = awkward(np.random.default_rng(6), np.float64)
    whole = ik2bone.solve(*points)
    wide = [np.asfortranarray(p.reshape(*shape, 3)) for p in points]
    wide[1] = np.ascontiguousarray(wide[1][..., ::-1])[..., ::-1]
    found = ik2bone.solve(*wide)
    assert same(whole, [f.reshape(w.shape) for f, w in zip(found, whole, strict=True)])


def test_rows_of_one_limb_and_many_targets_share_their_digits():
    root, mid, end, target = awkward(np.random.default_rng(7), np.float64)
    one = ik2bone.solve(root[1], mid[1], end[1], target)
    many = ik2bone.solve(*(np.broadcast_to(p[1], target.shape).copy() for p in (root, mid, end)), target)
    assert same(one, many)


@pytest.mark.parametrize("into", [0, 1, 2, 3])
def test_results_may_replace_an_input(into):
    points = awkward(np.random.default_rng(8), np.float64)
    expected = ik2bone.solve(*points)
    mid, end = points[into], np.empty((ROWS, 3))
    found = ik2bone.solve(*points, out=(mid, end, np.empty(ROWS), np.empty(ROWS, "u1")))
    assert found.mid is points[into]
    assert same(expected, found)


def given(results):
    return [r for r in results if r is not None]


@pytest.mark.parametrize("roll", ["pose", "hinge"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", ["solve_pose", "orient"])
def test_scales_of_one_change_no_digit(function, dtype, roll):
    *rows, hinge = awkward_poses(np.random.default_rng(10), dtype)
    found = as_pose(function, rows, hinge, roll)
    assert same(given(found), given(as_pose(function, rows, hinge, roll, root_scale=[1.0, 1.0, 1.0])))


@pytest.mark.parametrize("roll", ["pose", "hinge"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", ["solve_pose", "orient"])
def test_a_pose_alone_gives_the_same_digits(function, dtype, roll):
    *rows, hinge = awkward_poses(np.random.default_rng(11), dtype)
    whole = given(as_pose(function, rows, hinge, roll))
    alone = [given(as_pose(function, row, axis, roll)) for *row, axis in zip(*rows, hinge, strict=True)]
    assert same(whole, [np.stack(column) for column in zip(*alone, strict=True)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_whole_weight_among_others_changes_no_digit(dtype):
    rng = np.random.default_rng(12)
    *rows, hinge = awkward_poses(rng, dtype)
    ends = {
        name: limbs.affine(limbs.rotations(rng, ROWS), rows[2]).astype(dtype) for name in ("end_matrix", "end_goal")
    }
    weight, whole = np.where(np.arange(ROWS) % 2, 1.0, 0.5), slice(1, None, 2)
    mixed = as_pose("solve_pose", rows, hinge, "hinge", weight=weight, **ends)
    assert same([r[whole] for r in mixed], [r[whole] for r in as_pose("solve_pose", rows, hinge, "hinge", **ends)])


@pytest.mark.parametrize("layout", ["fortran", "reversed", "wide", "swapped", "misaligned", "one matrix"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layout_of_matrices_changes_no_digit(layout, dtype):
    *rows, hinge = awkward_poses(np.random.default_rng(12), dtype)
    if layout == "one matrix":
        rows[0] = np.broadcast_to(rows[0][0], rows[0].shape)
    whole = as_pose("solve_pose", [np.ascontiguousarray(a) for a in rows], hinge, "hinge")
    root = rows[0]
    laid = {
        "fortran": np.asfortranarray(root),
        "reversed": np.ascontiguousarray(root[::-1, ::-1, ::-1])[::-1, ::-1, ::-1],
        "wide": np.concatenate([root, root], axis=-1)[..., :4],
        "swapped": np.ascontiguousarray(np.swapaxes(root, -1, -2)).swapaxes(-1, -2),
        "misaligned": np.frombuffer(b"x" + root.tobytes(), dtype, root.size, 1).reshape(root.shape),
        "one matrix": root[0],
    }[layout]
    assert same(given(whole), given(as_pose("solve_pose", [laid, *rows[1:]], hinge, "hinge")))


def test_a_list_among_single_arrays_keeps_its_digits():
    *rows, hinge = awkward_poses(np.random.default_rng(13), np.float32)
    root = rows[0][0].astype(np.float64) + 1e-9
    alone = [
        as_pose("solve_pose", [root.tolist(), *row], axis, "pose") for *row, axis in zip(*rows[1:], hinge, strict=True)
    ]
    whole = as_pose("solve_pose", [root.tolist(), *rows[1:]], hinge, "pose")
    assert whole.root.dtype == np.float32
    assert same(given(whole), [np.stack(column) for column in zip(*map(given, alone), strict=True)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("roll", [{}, dict(roll="hinge")])
def test_a_hinge_that_is_no_number_makes_its_row_invalid_though_bent_limbs_need_none(dtype, number, roll):
    rng = np.random.default_rng(12)
    pose = limbs.poses(rng, 50, "rigid")
    target = limbs.pose_targets(rng, pose)
    pose, target, hinge = pose.astype(dtype), target.astype(dtype), limbs.directions(rng, 50).astype(dtype)
    hinge[::3, 1] = number
    bad = np.arange(50) % 3 == 0
    points = pose.root[:, :3, 3], pose.mid[:, :3, 3], pose.end
    assert np.array_equal(ik2bone.solve(*points, target, hinge=hinge).status == ik2bone.Status.INVALID, bad)
    s = ik2bone.solve_pose(pose.root, pose.mid, pose.end, target, hinge=hinge, **roll)
    assert np.array_equal(s.status == ik2bone.Status.INVALID, bad)
    new = ik2bone.solve(*points, target)
    turn = ik2bone.orient(pose.root, pose.mid, pose.end, new.mid, new.end, hinge=hinge, **roll)
    for corrections in (s.root, s.mid, turn.root, turn.mid):
        assert np.array_equal((corrections == [1, 0, 0, 0]).all(-1), bad)
