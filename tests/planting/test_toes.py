# SPDX-License-Identifier: MIT
"""Toes while the foot rolls over its ball: they stay on the ground, keep their heading, and are let go smoothly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.plan import Settings, plant
from ik2bone.rotations import matrix_from_vector, move_points, turn_vectors
from ik2bone.targets.toes import raise_toes
from walk import FLAT, HILLS, height_field, in_place, make_walk, planted

SLOPE = height_field(lambda x, y: 0.2 * x + 0.1 * y)
STAIRS = height_field(lambda x, y: 0.18 * np.floor(x / 0.62 + 0.37))
ROLL = np.radians(40.0)


@pytest.fixture(scope="module")
def clip():
    return make_walk(roll=ROLL).clip


def tips(clip, plan):
    """Where the soles of the toes' tips are (F, L, 3)."""
    return move_points(clip.toe, plan.sole.tip)


def heights(ground, points):
    hits, normals, _ = ground(points.reshape(-1, 3), np.array([0.0, 0.0, -1.0]))
    return np.sum((points.reshape(-1, 3) - hits) * normals, axis=-1).reshape(points.shape[:-1])


def stiff(plan):
    rotations = plan.rotations.copy()
    rotations[:, :, 3] = [1.0, 0.0, 0.0, 0.0]
    return replace(plan, rotations=rotations)


@pytest.mark.parametrize(("ground", "most"), [(FLAT, 0.0005), (SLOPE, 0.0005), (HILLS, 0.002)])
def test_toes_lie_on_the_ground_while_the_foot_rolls_over_its_ball(clip, ground, most) -> None:
    plan = plant(clip, ground)
    stands = plan.contacts[..., 1]
    lying, sinking = (heights(ground, tips(planted(clip, p), plan))[stands] for p in (plan, stiff(plan)))
    assert sinking.min() < -0.02
    assert np.abs(lying).max() < most


def test_toes_keep_the_heading_of_their_foot(clip) -> None:
    plan = plant(clip, SLOPE)
    after = planted(clip, plan)
    normal = np.array([-0.2, -0.1, 1.0]) / np.linalg.norm([-0.2, -0.1, 1.0])
    ahead = [m[..., :3, 0] - (m[..., :3, 0] @ normal)[..., None] * normal for m in (after.foot, after.toe)]
    ahead = [way / np.linalg.norm(way, axis=-1, keepdims=True) for way in ahead]
    cosine = np.sum(ahead[0] * ahead[1], axis=-1)[plan.contacts[..., 1]]
    assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max() < 1.0


def test_heel_and_foot_roll_as_they_did(clip) -> None:
    plan = plant(clip, FLAT)
    after, rolling = planted(clip, plan), plan.contacts[..., 1] & ~plan.contacts[..., 0]
    pitch = [np.degrees(np.arcsin(-side.foot[..., 2, 0])) for side in (clip, after)]
    assert pitch[1][rolling].max() > 30.0
    assert np.abs(pitch[1] - pitch[0])[rolling].max() < 3.0


def test_toes_are_let_go_smoothly_and_stay_over_the_ground(clip) -> None:
    plan = plant(clip, FLAT)
    after = planted(clip, plan)
    assert heights(FLAT, tips(after, plan)).min() > -0.01
    ahead = after.toe[..., :3, 0]
    bend = np.degrees(np.linalg.norm(ahead[4:] - 2 * ahead[2:-2] + ahead[:-4], axis=-1))
    source = np.degrees(
        np.linalg.norm(clip.toe[4:, ..., :3, 0] - 2 * clip.toe[2:-2, ..., :3, 0] + clip.toe[:-4, ..., :3, 0], axis=-1)
    )
    assert bend.max() < source.max() + 12.0


def test_toes_that_lay_flat_already_are_left_alone() -> None:
    plan = plant(make_walk().clip, FLAT)
    angle = 2.0 * np.degrees(np.arccos(np.clip(np.abs(plan.rotations[:, :, 3][..., 0]), -1.0, 1.0)))
    # Heels rise by up to two degrees more as toe-off nears, which keeps knees from snapping straight.
    assert angle.max() < 3.0


def test_toes_over_an_edge_lie_in_the_plane_of_their_foot(clip) -> None:
    plan = plant(clip, STAIRS)
    after, stands = planted(clip, plan), plan.contacts[..., 1]
    tilt = np.degrees(np.arcsin(np.clip(after.toe[..., 2, 0], -1.0, 1.0)))[stands]
    assert np.abs(tilt).max() < 12.0


def test_feet_without_toes_and_strength_zero_turn_no_toes(clip) -> None:
    toeless = replace(clip, toe=clip.foot.copy(), tip=clip.ball.copy(), has_toe=np.zeros(2, bool))
    for plan in (plant(toeless, FLAT), plant(clip, FLAT, Settings(strength=0.0))):
        assert (plan.rotations[:, :, 3] == [1.0, 0.0, 0.0, 0.0]).all()


def test_a_toe_bone_with_a_scale_of_its_own_lies_as_flat(clip) -> None:
    scale = clip.scale.copy()
    scale[..., 3, :] = (1.3, 0.8, 1.1)
    toe = clip.toe.copy()
    toe[..., :3, :3] = toe[..., :3, :3] * scale[..., 3, None, :]
    scaled = replace(clip, toe=toe, scale=scale)
    plan = plant(scaled, FLAT)
    turned = plan.targets.turn @ clip.toe[..., :3, :3]
    w, x, y, z = np.moveaxis(plan.rotations[:, :, 3], -1, 0)
    # The first column of the correction is where the toe's own x axis goes.
    way = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1)
    ahead = np.einsum("flij,flj->fli", turned, way)
    assert np.degrees(np.abs(np.arcsin(ahead[plan.contacts[..., 1]][:, 2]))).max() < 4.0


def test_always_lays_toes_too(clip) -> None:
    plan = plant(clip, SLOPE, Settings(contacts="ALWAYS"))
    after = planted(clip, plan)
    assert np.abs(heights(SLOPE, tips(after, plan))).max() < 0.002


def test_toes_of_feet_that_are_drawn_down_after_they_followed_the_ground_bend_up_over_it(clip) -> None:
    walk = in_place(clip)
    plan = plant(walk, HILLS)
    low = plan.targets.moved(np.array([0.0, 0.0, -0.03]))
    depths = []
    for vectors in (np.zeros(walk.ball.shape), raise_toes(walk, plan.sole, low, HILLS)):
        tip = turn_vectors(walk.toe @ _affine(matrix_from_vector(vectors)), plan.sole.tip)
        depths.append(-heights(HILLS, low.placed(tip)).min())
    assert depths[0] > 0.02
    assert depths[1] < 0.001


def test_toes_of_feet_that_their_legs_push_into_the_ground_bend_up() -> None:
    """Hips that stay over ground 0.6 leg higher: knees that fold no farther pushed tips 0.09 leg deep."""
    walk = in_place(make_walk(roll=ROLL).clip)
    high = height_field(lambda x, y: 0.0 * x + 0.6)
    plan = plant(walk, high, Settings(use_hips=False))
    own = heights(FLAT, tips(walk, plan)).min()
    assert heights(high, tips(planted(walk, stiff(plan)), plan)).min() < own - 0.05
    assert heights(high, tips(planted(walk, plan), plan)).min() > own


def test_toes_whose_tips_lie_straight_under_their_balls_do_not_bend_up(clip) -> None:
    """Rounding chose between no bend and more than a right angle."""
    walk = in_place(clip)
    plan = plant(walk, HILLS)
    low = plan.targets.moved(np.array([0.0, 0.0, -0.03]))
    under = move_points(np.linalg.inv(walk.toe), walk.ball - 0.05 * turn_vectors(walk.toe, plan.sole.toe_up))[0]
    assert raise_toes(walk, plan.sole, low, HILLS).any()
    assert not raise_toes(walk, replace(plan.sole, tip=under), low, HILLS).any()


def _affine(turns):
    matrices = np.zeros((*turns.shape[:2], 4, 4))
    matrices[..., :3, :3], matrices[..., 3, 3] = turns, 1.0
    return matrices
