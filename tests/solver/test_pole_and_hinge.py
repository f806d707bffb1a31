# SPDX-License-Identifier: MIT
"""`pole_of` and `hinge_of` read from a pose what gives that pose back; `multiply` and `aggregate` put it together."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import pytest
from reference_vectors import matrix
from reference_vectors import multiply as reference_multiply


def test_pole_of_gives_the_pose_back():
    rng = np.random.default_rng(1)
    root, mid, end = limbs.positions(rng, 500)
    pole = ik2bone.pole_of(root, mid, end)
    s = ik2bone.solve(root, mid, end, end, pole=pole)
    np.testing.assert_allclose(limbs.length(pole), 1, atol=1e-15)
    np.testing.assert_allclose(s.mid, mid, rtol=0, atol=1e-13)
    np.testing.assert_allclose(s.end, end, rtol=0, atol=1e-13)
    assert not s.status.any()


@pytest.mark.parametrize("height", [1e-4, 1e-7, 1e-10])
def test_pole_of_gives_a_nearly_straight_pose_back(height):
    mid, end = [0, height, -0.5], [0, 0, -1.0]
    s = ik2bone.solve([0.0, 0, 0], mid, end, end, pole=ik2bone.pole_of([0.0, 0, 0], mid, end))
    np.testing.assert_allclose(s.mid, mid, rtol=0, atol=1e-15)


def test_pole_of_a_straight_limb_is_its_hinges_or_none():
    straight = [0.0, 0, 0], [0, 0, -0.5], [0, 0, -1.0]
    np.testing.assert_allclose(ik2bone.pole_of(*straight, hinge=[2.0, 0, 1.0]), [0, 1, 0], atol=1e-15)
    assert not ik2bone.pole_of(*straight).any()


def test_pole_of_bad_rows_is_none():
    root, mid, end = np.zeros((3, 3)), np.tile([0, 0.3, -0.4], (3, 1)), np.tile([0, 0, -0.8], (3, 1))
    mid[1], end[2, 0] = 0, np.nan
    assert ik2bone.pole_of(root, mid, end).tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("kind", limbs.ANCESTORS)
def test_hinge_of_is_the_cross_product_in_mid_joint_space(kind):
    rng = np.random.default_rng(2)
    pose = limbs.poses(rng, 100, kind)
    inward = np.linalg.inv(pose.mid)
    root, end = (inward @ m[..., None] for m in (pose.root[:, :, 3], pose.end_matrix[:, :, 3]))
    want = np.cross(root[:, :3, 0], end[:, :3, 0])
    want /= limbs.length(want)[:, None]
    np.testing.assert_allclose(ik2bone.hinge_of(pose.root, pose.mid, pose.end), want, rtol=0, atol=1e-12)


def test_hinge_of_a_straight_limb_is_zero():
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3] = [0, 0, -0.5]
    assert not ik2bone.hinge_of(root, mid, [0, 0, -1.0]).any()
    assert not ik2bone.hinge_of(root, mid, [0, 0, -0.5]).any()


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [0, 1])
def test_product_with_what_is_no_number_is_none_and_disturbs_no_other_row(kind, bad, which):
    pair = np.random.default_rng(4).normal(size=(2, 40, 4)).astype(kind)
    whole = ik2bone.multiply(*pair)
    pair[which, 7] = bad
    got = ik2bone.multiply(*pair)
    assert not np.isfinite(got[7]).any()
    assert np.array_equal(np.delete(got, 7, 0), np.delete(whole, 7, 0))
    assert not np.isfinite(ik2bone.multiply(*pair[:, 7])).any()


def test_multiply_is_the_quaternion_product():
    rng = np.random.default_rng(3)
    q, r = rng.normal(size=(2, 50, 4))
    got = ik2bone.multiply(q, r)
    for i in range(50):
        np.testing.assert_allclose(got[i], reference_multiply(q[i], r[i]), rtol=0, atol=1e-14)


PARENTS = [-1, 0, 1, -1, 1]


def local(rng):
    shape = (4, len(PARENTS))
    translation, rotation = rng.normal(size=(*shape, 3)), rng.normal(size=(*shape, 4))
    rest = limbs.affine(rng.normal(size=(len(PARENTS), 3, 3)), rng.normal(size=(len(PARENTS), 3)))
    return translation, rotation, rng.uniform(0.5, 2, (*shape, 3)), rest


def test_aggregate_is_the_product_down_the_skeleton():
    rng = np.random.default_rng(4)
    translation, rotation, scale, rest = local(rng)
    rotation[1, 2] = 0
    base = limbs.affine(rng.normal(size=(4, 3, 3)), rng.normal(size=(4, 3)))
    got = ik2bone.aggregate(PARENTS, translation, rotation, scale, rest=rest, base=base)
    for f in range(4):
        want = []
        for j, parent in enumerate(PARENTS):
            own = np.eye(4)
            own[:3, :3], own[:3, 3] = matrix(rotation[f, j]) * scale[f, j], translation[f, j]
            want.append((base[f] if parent < 0 else want[parent]) @ rest[j] @ own)
            np.testing.assert_allclose(got[f, j], want[-1], rtol=1e-12, atol=1e-12)


def test_aggregate_of_an_unrotated_chain_adds_translations():
    at = np.array([[0.0, 0, 1], [0, 0, 2], [0, 0, 4]])
    got = ik2bone.aggregate(np.array([-1, 0, 1]), at, np.tile([2.0, 0, 0, 0], (3, 1)))
    assert got[:, 2, 3].tolist() == [1, 3, 7]


def test_the_example_of_the_contract_puts_the_foot_on_its_goal():
    """Local transforms in, corrections multiplied on the right, aggregate again: the end is at the goal, unturned."""
    rng = np.random.default_rng(5)
    frames, hip, knee, foot = 20, 1, 2, 3
    parents, at = [-1, 0, 1, 2], np.array([[0, 0, 1.0], [0.1, 0, 0], [0, 0.02, -0.5], [0, -0.03, -0.5]])
    rotation = rng.normal(size=(frames, 4, 4)) * 0.2 + [1, 0, 0, 0]
    rotation /= np.linalg.norm(rotation, axis=-1, keepdims=True)
    A = ik2bone.aggregate(parents, at, rotation)
    goals = A[:, foot, :3, 3] + [0.05, 0.1, 0.15]
    hinge = ik2bone.hinge_of(A[0, hip], A[0, knee], A[0, foot, :3, 3])
    s = ik2bone.solve_pose(
        A[:, hip], A[:, knee], A[:, foot, :3, 3], goals, end_matrix=A[:, foot], hinge=hinge, roll="hinge"
    )
    for joint, turn in ((hip, s.root), (knee, s.mid), (foot, s.end)):
        rotation[:, joint] = ik2bone.multiply(rotation[:, joint], turn)
    B = ik2bone.aggregate(parents, at, rotation)
    reached = s.status & ik2bone.Status.MISSED == 0
    assert reached.sum() > 10
    np.testing.assert_allclose(B[reached, foot, :3, 3], goals[reached], rtol=0, atol=1e-14)
    np.testing.assert_allclose(B[:, foot, :3, :3], A[:, foot, :3, :3], rtol=0, atol=1e-14)


@pytest.mark.parametrize("which", ["root", "mid"])
def test_there_is_no_hinge_where_solve_pose_calls_a_matrix_singular(which):
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3] = 0, 0.3, -0.4
    assert np.any(ik2bone.hinge_of(root, mid, [0, 0, -0.8]))
    (root if which == "root" else mid)[:3, :3] = np.outer([1, 2, 3], [1, 1, 1])
    assert ik2bone.solve_pose(root, mid, [0, 0, -0.8], [0.1, 0.2, -0.5]).status == ik2bone.Status.INVALID
    assert not np.any(ik2bone.hinge_of(root, mid, [0, 0, -0.8]))
