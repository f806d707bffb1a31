# SPDX-License-Identifier: MIT
"""Corrections of `orient`: joints land where they were asked to, with the roll that was asked for."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest

ROWS = 200


def in_root_frame(pose, point):
    frame = pose.root[:, :3, :3] / pose.root_scale[:, None]
    return (np.linalg.inv(frame) @ (point - pose.root[:, :3, 3])[..., None])[..., 0]


def new_positions(rng, pose):
    """Positions that keep the bones' lengths in the root's frame."""
    target = limbs.pose_targets(rng, pose, (0.02, 0.98))
    s = ik2bone.solve_pose(pose.root, pose.mid, pose.end, target, root_scale=pose.root_scale, mid_scale=pose.mid_scale)
    _, mid, end = limbs.apply(pose, s.root, s.mid)
    return mid[:, :3, 3], end[:, :3, 3]


def hinge_of(pose, root, mid, end):
    """cross(root - mid, end - mid) in the mid joint's space of new aggregates."""
    return ik2bone.hinge_of(root, mid, end[:, :3, 3])


@pytest.mark.parametrize("roll", ["pose", "hinge"])
@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_joints_land_on_the_new_positions(kind, roll):
    rng = np.random.default_rng(1)
    pose = limbs.poses(rng, ROWS, kind)
    new_mid, new_end = new_positions(rng, pose)
    options = dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale, hinge=limbs.directions(rng, ROWS))
    r = ik2bone.orient(pose.root, pose.mid, pose.end, new_mid, new_end, roll=roll, **options)
    _, mid, end = limbs.apply(pose, r.root, r.mid)
    np.testing.assert_allclose(mid[:, :3, 3], new_mid, rtol=0, atol=1e-13)
    np.testing.assert_allclose(end[:, :3, 3], new_end, rtol=0, atol=1e-13)


@pytest.mark.parametrize("roll", ["pose", "hinge"])
@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_bones_point_as_new_ones_of_other_lengths_do(kind, roll):
    """As measured positions have them: bones are rigid, in the root's frame, and their directions count."""
    rng = np.random.default_rng(5)
    pose = limbs.poses(rng, ROWS, kind)
    root, (new_mid, new_end) = pose.root[:, :3, 3], new_positions(rng, pose)
    upper, lower = (rng.uniform(0.5, 2.0, (ROWS, 1)) * bone for bone in (new_mid - root, new_end - new_mid))
    options = dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale, hinge=limbs.directions(rng, ROWS))
    r = ik2bone.orient(pose.root, pose.mid, pose.end, root + upper, root + upper + lower, roll=roll, **options)
    _, mid, end = limbs.apply(pose, r.root, r.mid)
    np.testing.assert_allclose(mid[:, :3, 3], new_mid, rtol=0, atol=1e-13)
    np.testing.assert_allclose(end[:, :3, 3], new_end, rtol=0, atol=1e-13)


def test_a_lower_bone_points_as_a_much_shorter_new_one_does():
    """As positions in another unit have it: it takes up what rounding left in the root's turn at its own length."""
    rng = np.random.default_rng(8)
    pose = limbs.poses(rng, ROWS, "identity")
    new_mid, new_end = new_positions(rng, pose)
    new_end = new_mid + 1e-3 * (new_end - new_mid)
    given = [array.astype(np.float32) for array in (pose.root, pose.mid, pose.end, new_mid, new_end)]
    r, wide = ik2bone.orient(*given), ik2bone.orient(*(array.astype(float) for array in given))
    assert limbs.same_rotation(r.mid, wide.mid) < 1e-6


@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_hinge_roll_bends_the_knee_about_its_hinge(kind):
    """From any pose whose bend is the hinge's, the new bend is the hinge's again, mirrored matrices included."""
    rng = np.random.default_rng(2)
    pose = limbs.poses(rng, ROWS, kind)
    hinge = ik2bone.hinge_of(pose.root, pose.mid, pose.end)
    new_mid, new_end = new_positions(rng, pose)
    options = dict(root_scale=pose.root_scale, mid_scale=pose.mid_scale, hinge=hinge)
    r = ik2bone.orient(pose.root, pose.mid, pose.end, new_mid, new_end, roll="hinge", **options)
    own = pose.mid_scale * np.prod(np.sign(pose.mid_scale), -1, keepdims=True)
    axis = hinge / own * np.prod(abs(own), -1, keepdims=True)
    axis /= limbs.length(axis)[:, None]
    assert np.max(limbs.length(np.cross(r.mid[:, 1:], axis))) < 1e-11


def test_pose_roll_turns_by_the_shortest_arcs():
    rng = np.random.default_rng(3)
    pose = limbs.poses(rng, ROWS, "identity")
    new_mid, new_end = new_positions(rng, pose)
    r = ik2bone.orient(pose.root, pose.mid, pose.end, new_mid, new_end)
    upper = pose.mid[:, :3, 3] - pose.root[:, :3, 3]
    assert np.max(abs((r.root[:, 1:] * upper).sum(-1))) < 1e-13


def test_the_present_positions_need_no_correction():
    rng = np.random.default_rng(4)
    pose = limbs.poses(rng, ROWS, "sheared")
    r = ik2bone.orient(pose.root, pose.mid, pose.end, pose.mid[:, :3, 3], pose.end)
    for turn in r:
        assert np.array_equal(turn, np.tile([1.0, 0, 0, 0], (ROWS, 1)))


@pytest.mark.parametrize("roll", ["pose", "hinge"])
def test_new_bones_without_length_turn_nothing(roll):
    """Wherever the joint is put, which may be farther from the root than the bone is long."""
    rng = np.random.default_rng(7)
    pose = limbs.poses(rng, ROWS, "sheared")
    root, place, hinge = pose.root[:, :3, 3], rng.normal(size=(ROWS, 3)) * 3, limbs.directions(rng, ROWS)
    for new_mid, new_end in ((place, place), (root, place)):
        r = ik2bone.orient(pose.root, pose.mid, pose.end, new_mid, new_end, roll=roll, hinge=hinge)
        assert np.array_equal(r.root, np.tile([1.0, 0, 0, 0], (ROWS, 1)))
        assert np.array_equal(r.mid, r.root)


def test_opposite_upper_bone_turns_about_the_hinge():
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3] = [0, 0, -0.5]
    r = ik2bone.orient(root, mid, [0, 0, -1.0], [0, 0, 0.5], [0, 0, 1.0], hinge=[1.0, 0, 0])
    np.testing.assert_allclose(abs(r.root), [0, 1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(r.mid, [1, 0, 0, 0], atol=1e-15)


def test_opposite_lower_bone_turns_about_the_hinge():
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3] = [0, 0, -0.5]
    r = ik2bone.orient(root, mid, [0, 0, -1.0], [0, 0, -0.5], [0, 0, 0], hinge=[1.0, 0, 0])
    np.testing.assert_allclose(r.root, [1, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(abs(r.mid), [0, 1, 0, 0], atol=1e-15)


def test_hinge_roll_needs_no_opposite_case():
    """A folded limb that opens has its lower bone turned by half a circle, about the hinge to the last digit."""
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3] = [0, 0, -0.5]
    for angle in np.linspace(3.0, 3.2, 41):
        new_end = np.array([0, 0, -0.5]) + 0.5 * np.array([0, np.sin(angle), -np.cos(angle)])
        r = ik2bone.orient(root, mid, [0, 0, -1.0], [0, 0, -0.5], new_end, hinge=[1.0, 0, 0], roll="hinge")
        np.testing.assert_allclose(r.mid[2:], 0, atol=1e-15)


def test_a_zero_hinge_rolls_as_posed():
    rng = np.random.default_rng(5)
    pose = limbs.poses(rng, ROWS, "rigid")
    new = new_positions(rng, pose)
    none = ik2bone.orient(pose.root, pose.mid, pose.end, *new, roll="hinge", hinge=np.zeros(3))
    plain = ik2bone.orient(pose.root, pose.mid, pose.end, *new)
    assert limbs.same_rotation(none.root, plain.root) == 0
    assert limbs.same_rotation(none.mid, plain.mid) == 0


def test_invalid_rows_are_identity_and_disturb_no_other():
    rng = np.random.default_rng(6)
    pose = limbs.poses(rng, 6, "rigid")
    new_mid, new_end = new_positions(rng, pose)
    good = ik2bone.orient(pose.root, pose.mid, pose.end, new_mid, new_end)
    root, mid, broken = pose.root.copy(), pose.mid.copy(), new_end.copy()
    root[1, :3, 0] = root[1, :3, 1]
    mid[2, :3, 3] = root[2, :3, 3]
    broken[4, 1] = np.nan
    bad = ik2bone.orient(root, mid, pose.end, new_mid, broken)
    for mine, its in zip(bad, good, strict=True):
        assert np.array_equal(mine[[1, 2, 4]], np.tile([1.0, 0, 0, 0], (3, 1)))
        assert np.array_equal(mine[[0, 3, 5]], its[[0, 3, 5]])
