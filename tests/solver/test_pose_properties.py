# SPDX-License-Identifier: MIT
"""What holds for any posed limb: `solve_pose` and `orient` know no preferred space, frame, size, hand or order."""

from __future__ import annotations

from dataclasses import dataclass

import ik2bone
import limbs
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from ik2bone import Status
from reference_vectors import matrix

quick = settings(max_examples=60, deadline=None)
number = st.floats(-1, 1, allow_subnormal=False)
point = arrays(np.float64, 3, elements=number)
turn = arrays(np.float64, 4, elements=number)
scale = arrays(np.float64, 3, elements=st.floats(0.3, 3))
rolls = st.sampled_from(["pose", "hinge"])
bends = st.sampled_from(["carried", "nearest"])
SPACE = np.eye(3)
MIRROR = np.diag([-1.0, 1, 1])


@dataclass(frozen=True)
class Chain:
    """A limb seen in the root's frame, with the rotations of its three joints, a hinge in mid-joint space, a pole."""

    points: tuple[np.ndarray, ...]  # root, mid, end, target
    frames: tuple[np.ndarray, ...]  # (3, 3) of root, mid and end joint
    hinge: np.ndarray
    pole: np.ndarray

    def solved(self, linear=SPACE, move=(0.0, 0.0, 0.0), **options):
        """As seen through an affine map of all space."""
        pose, target = self.pose(linear, move)
        options = dict(hinge=self.hinge, pole=linear @ self.pole, end_matrix=pose.end_matrix) | options
        return ik2bone.solve_pose(pose.root, pose.mid, pose.end, target, **options)

    def pose(self, linear=SPACE, move=(0.0, 0.0, 0.0)):
        outer = [linear @ p + move for p in self.points]
        matrices = (limbs.affine((linear @ f)[None], p)[0] for f, p in zip(self.frames, outer[:3], strict=True))
        return limbs.Pose(*matrices, np.ones(3), np.ones(3)), outer[3]

    def applied(self, s):
        """Joint positions after the corrections."""
        pose, _ = self.pose()
        return [m[:3, 3] for m in limbs.apply(pose, *(unit(q) for q in s[:2]))]


def unit(q):
    return q / np.linalg.norm(q)


@st.composite
def chains(draw):
    """Bent limbs, hinges across their bones, targets off the edges of reach and off the line opposite."""
    root, mid, end, target, hinge, pole = (draw(point) for _ in range(6))
    frames = tuple(matrix(draw(turn)) for _ in range(3))
    upper, lower = mid - root, end - mid
    lengths = limbs.length(upper), limbs.length(lower)
    assume(min(lengths) > 0.05)
    assume(0.2 < limbs.angle(upper, lower) < 2.9)
    near, reach, distance = abs(lengths[0] - lengths[1]), sum(lengths), limbs.length(target - root)
    assume(min(distance, abs(distance - near), abs(distance - reach)) > 0.05)
    assume(limbs.angle(end - root, target - root) < 2.9 and 0.2 < limbs.angle(mid - root, target - root) < 2.9)
    outer = frames[1] @ hinge
    assume(limbs.length(hinge) > 0.1 and all(0.2 < limbs.angle(outer, bone) < 2.9 for bone in (upper, lower)))
    assume(limbs.length(pole) > 0.1 and 0.2 < limbs.angle(pole, target - root) < 2.9)
    return Chain((root, mid, end, target), frames, hinge, pole)


@st.composite
def maps(draw):
    """Affine maps of all space, mirroring ones included."""
    hand = np.diag([draw(st.sampled_from([-1.0, 1.0])), 1, 1])
    return matrix(draw(turn)) @ np.diag(draw(scale)) @ matrix(draw(turn)) @ hand, draw(point)


def settled(s):
    """Neither singular nor close to the half turns that shortest arcs do not survive."""
    return not s.status & Status.SINGULAR and min(abs(s.root[0]), abs(s.mid[0])) > 0.02


@quick
@given(chains(), rolls, bends, st.floats(0, 1), st.floats(-0.1, 2), st.floats(1, 3.3), point, st.floats(-0.1, 3.3))
def test_bones_are_rigid_and_limits_hold(chain, roll, bend, weight, least, most, axis, size):
    limits = dict(min_angle=least, max_angle=most, cone_axis=axis, cone_angle=size)
    s = chain.solved(roll=roll, bend=bend, weight=weight, **limits)
    root, mid, end, target = chain.points
    new_root, new_mid, new_end = chain.applied(s)
    np.testing.assert_allclose(limbs.length(new_mid - root), limbs.length(mid - root), rtol=0, atol=1e-14)
    np.testing.assert_allclose(limbs.length(new_end - new_mid), limbs.length(end - mid), rtol=0, atol=1e-14)
    np.testing.assert_allclose(new_end, s.position, rtol=0, atol=1e-14)
    np.testing.assert_allclose(limbs.length(new_end - target), s.miss, rtol=0, atol=1e-14)
    most, own = np.clip(most, 0, np.pi), limbs.angle(root - mid, end - mid)
    inner = limbs.angle(root - new_mid, new_end - new_mid)
    assert min(np.clip(least, 0, most), own) - 1e-6 < inner < max(most, own) + 1e-6
    if np.any(axis):
        assert limbs.angle(new_mid - root, axis) < max(np.clip(size, 0, np.pi), limbs.angle(mid - root, axis)) + 1e-6


@quick
@given(chains(), rolls, bends)
def test_the_end_comes_as_near_as_the_bones_allow(chain, roll, bend):
    s = chain.solved(roll=roll, bend=bend)
    root, mid, end, target = chain.points
    lengths, distance = (limbs.length(mid - root), limbs.length(end - mid)), limbs.length(target - root)
    missing = max(abs(lengths[0] - lengths[1]) - distance, distance - sum(lengths), 0)
    np.testing.assert_allclose(s.miss, missing, rtol=0, atol=1e-14)
    assert (missing == 0) == (not s.status & Status.MISSED)
    for q in s[:3]:
        np.testing.assert_allclose(np.linalg.norm(q), 1, rtol=0, atol=1e-15)


@quick
@given(chains())
def test_the_root_rolls_until_the_bend_is_about_the_hinge(chain):
    """By any hinge whatever: its part across the present upper bone, carried along by the root's correction."""
    s = chain.solved(roll="hinge")
    assume(not s.status & (Status.MISSED | Status.SINGULAR))
    root, mid, end = chain.applied(s)
    upper = chain.frames[1].T @ (chain.points[1] - chain.points[0])
    hinge = chain.hinge - (chain.hinge @ upper) / (upper @ upper) * upper
    pose, _ = chain.pose()
    carried = limbs.apply(pose, unit(s.root), [1.0, 0, 0, 0])[1][:3, :3] @ unit(hinge)
    np.testing.assert_allclose(unit(np.cross(root - mid, end - mid)), carried, rtol=0, atol=1e-9)


@quick
@given(chains(), maps(), rolls, bends, number)
def test_no_map_of_all_space_changes_the_corrections(chain, seen, roll, bend, twist):
    """Rotated, moved, scaled, stretched, sheared or mirrored: the limb is solved in its root's frame."""
    options = dict(roll=roll, bend=bend, twist=twist, soften=0.9, pole_weight=0.4, end_matrix=None)
    s, other = chain.solved(**options), chain.solved(*seen, **options)
    assume(settled(s))
    assert s.status == other.status
    assert limbs.same_rotation(s.root, other.root) < 1e-9
    assert limbs.same_rotation(s.mid, other.mid) < 1e-9
    np.testing.assert_allclose(other.position, seen[0] @ s.position + seen[1], rtol=0, atol=1e-11)


@quick
@given(chains(), st.floats(1e-3, 1e3), rolls, bends)
def test_size_changes_no_correction(chain, size, roll, bend):
    s, other = (chain.solved(k * np.eye(3), roll=roll, bend=bend) for k in (1.0, size))
    assume(settled(s))
    for mine, its in zip(s[:3], other[:3], strict=True):
        assert limbs.same_rotation(mine, its) < 1e-9


@quick
@given(chains(), st.tuples(turn, turn, turn), rolls)
def test_the_joints_own_axes_are_as_good_as_any(chain, turns, roll):
    """A joint whose axes are turned has its correction turned with them."""
    axes = [matrix(t) for t in turns]
    frames = tuple(f @ a for f, a in zip(chain.frames, axes, strict=True))
    s = chain.solved(roll=roll)
    assume(settled(s))
    other = Chain(chain.points, frames, axes[1].T @ chain.hinge, chain.pole).solved(roll=roll)
    assert s.status == other.status
    for q, r, a in zip(s[:3], other[:3], axes, strict=True):
        np.testing.assert_allclose(a @ limbs.rotation_matrix(r) @ a.T, limbs.rotation_matrix(q), rtol=0, atol=1e-9)


@quick
@given(chains(), rolls, bends, number)
def test_the_mirrored_limb_is_solved_in_the_mirror(chain, roll, bend, twist):
    """Left and right: points and frames mirrored, the hinge, a turn's axis, mirrored and reversed, as is the twist."""
    points = tuple(MIRROR @ p for p in chain.points)
    frames = tuple(MIRROR @ f @ MIRROR for f in chain.frames)
    mirrored = Chain(points, frames, -MIRROR @ chain.hinge, MIRROR @ chain.pole)
    s = chain.solved(roll=roll, bend=bend, twist=twist, pole_weight=0.4)
    assume(settled(s))
    other = mirrored.solved(roll=roll, bend=bend, twist=-twist, pole_weight=0.4)
    assert s.status == other.status
    for q, r in zip(s[:3], other[:3], strict=True):
        assert limbs.same_rotation(q * [1, 1, -1, -1], r) < 1e-9


@quick
@given(chains())
def test_the_pole_of_a_pose_gives_it_back(chain):
    root, mid, end, _ = chain.points
    still = Chain((root, mid, end, end), chain.frames, chain.hinge, ik2bone.pole_of(root, mid, end))
    s = still.solved()
    for q in s[:3]:
        assert limbs.same_rotation(q, [1, 0, 0, 0]) < 1e-13
    assert s.status == Status.REACHED


@quick
@given(chains(), maps(), rolls)
def test_orient_puts_the_joints_where_solve_has_them(chain, seen, roll):
    s = ik2bone.solve(*chain.points)
    assume(not s.status)
    pose, _ = chain.pose(*seen)
    new = [seen[0] @ p + seen[1] for p in s[:2]]
    r = ik2bone.orient(pose.root, pose.mid, pose.end, *new, roll=roll, hinge=chain.hinge)
    joints = limbs.apply(pose, r.root, r.mid)
    for joint, point in zip(joints[1:], new, strict=True):
        np.testing.assert_allclose(joint[:3, 3], point, rtol=0, atol=1e-12)
    whole = chain.solved(roll=roll, pole=None)
    assume(settled(whole))
    assert limbs.same_rotation(r.root, whole.root) < 1e-9
    assert limbs.same_rotation(r.mid, whole.mid) < 1e-9


def same(a, b):
    return all(np.array_equal(x, y, equal_nan=np.asarray(x).dtype != np.uint8) for x, y in zip(a, b, strict=True))


@quick
@given(
    st.integers(1, 40),
    st.integers(0, 2**31),
    rolls,
    st.sampled_from(limbs.ANCESTORS),
    st.sampled_from("fd"),
    st.booleans(),
)
def test_a_batch_equals_a_loop_in_any_order(rows, seed, roll, kind, dtype, plain):
    rng = np.random.default_rng(seed)
    pose = limbs.poses(rng, rows, kind)
    arguments = [pose.root, pose.mid, pose.end, limbs.pose_targets(rng, pose, (-0.3, 1.3))]
    options = dict(hinge=rng.normal(size=(rows, 3)), root_scale=pose.root_scale, mid_scale=pose.mid_scale)
    if not plain:
        options |= dict(weight=rng.uniform(0, 1, rows), twist=rng.normal(size=rows), pole=rng.normal(size=(rows, 3)))
        options |= dict(end_matrix=pose.end_matrix, end_goal=pose.mid[::-1], cone_axis=rng.normal(size=(rows, 3)))
        options |= dict(cone_angle=rng.uniform(0.2, 2, rows), max_angle=rng.uniform(1, 3.2, rows))
    arguments = [a.astype(dtype) for a in arguments]
    options = {name: value.astype(dtype) for name, value in options.items()}
    call = lambda i: ik2bone.solve_pose(*(a[i] for a in arguments), roll=roll, **{k: v[i] for k, v in options.items()})  # noqa: E731
    batch, order = call(slice(None)), rng.permutation(rows)
    kept = [value for value in batch if value is not None]
    assert same([value[order] for value in kept], [value for value in call(order) if value is not None])
    for i in range(rows):
        assert same([value[i] for value in kept], [value for value in call(i) if value is not None])
