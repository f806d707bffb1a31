# SPDX-License-Identifier: MIT
"""Walks whose feet stand, roll and leave exactly as a formula has it stay as they are on their own floor."""

from __future__ import annotations

import numpy as np
import pytest
from figures import figure_of
from gaits import FOOT, SIDES, Gait, make_gait
from ik2bone.plan import plant
from ik2bone.rotations import move_points, vector_from_matrix
from ik2bone.sole.measure import measure_sole
from walk import FLAT, height_field, planted

# Leg lengths, and degrees, on every frame.
HIPS, FEET, TURN = 0.003, 0.001, 0.2
WALKS = ("walk", "gentle walk", "flat-footed walk", "slow walk", "fast walk", "backward walk", "walk on tiptoe", "run")
SECONDS = 4.0


@pytest.mark.parametrize("ankle_ahead", [0.02, 0.09])
@pytest.mark.parametrize("fps", [30.0, 120.0])
@pytest.mark.parametrize("style", WALKS)
def test_exact_walk_stays_as_it_is_on_its_floor(style, fps, ankle_ahead) -> None:
    clip = figure_of(make_gait(style, fps, seconds=SECONDS), ankle_ahead)
    after = planted(clip, plant(clip, FLAT))
    turns = vector_from_matrix(after.foot[..., :3, :3] @ np.swapaxes(clip.foot[..., :3, :3], -1, -2))
    for at, limit in (("hip", HIPS), ("ankle", FEET), ("ball", FEET)):
        assert np.linalg.norm(getattr(after, at) - getattr(clip, at), axis=-1).max() <= limit * clip.leg, at
    assert np.degrees(np.linalg.norm(turns, axis=-1)).max() <= TURN


@pytest.mark.parametrize("ankle_ahead", [0.02, 0.05, 0.09])
def test_heel_lies_where_exact_feet_turn_as_they_strike(ankle_ahead) -> None:
    gait = make_gait("walk", seconds=SECONDS)
    clip = figure_of(gait, ankle_ahead)
    sole = measure_sole(clip)
    assert np.abs(move_points(clip.foot, sole.heel) - gait.heel).max() < 1e-6
    assert sole.lengths[:, 0] == pytest.approx(FOOT)


def test_heel_of_trembling_feet_lies_by_proportion() -> None:
    clip = figure_of(make_gait("walk", seconds=SECONDS, noise=0.003), 0.02)
    assert measure_sole(clip).lengths[:, 0] == pytest.approx((FOOT - 0.02) * 1.3, rel=0.05)


def test_clip_that_begins_with_toes_in_the_air_keeps_them_there() -> None:
    """They begin to come down, slowly, as the clip begins."""
    gait = make_gait("slow walk", 30.0, seconds=SECONDS)
    assert gait.ball[0, 0, 2] > 0.07
    plan = plant(figure_of(gait), FLAT)
    assert plan.contacts[0, 0].tolist() == [True, False]


def test_feet_that_land_and_slide_to_their_rest_stand_from_the_landing_on() -> None:
    """As after a jump: down within 0.4 s, aside by 0.06 leg within 0.3 s, and still."""
    fps, frame = 24.0, np.arange(48.0)
    down, aside = np.clip(1.0 - frame / 10.0, 0.0, 1.0), np.clip((frame - 10.0) / 8.0, 0.0, 1.0)
    path = np.zeros((48, 2, 3))
    path[..., 1] = (1.0 - 0.6 * aside[:, None]) * SIDES
    path[..., 2] = 0.4 * down[:, None] ** 2
    gait = Gait(path - [FOOT, 0.0, 0.0], path, np.ones((48, 2, 2), bool), fps, 1.0)
    plan = plant(figure_of(gait), FLAT)
    assert plan.contacts[11:].all()
    assert not plan.contacts[:8].any()


def test_heel_on_which_a_clip_ends_stays_on_its_anchor_on_a_slope() -> None:
    clip = figure_of(make_gait("slow walk", 30.0, seconds=3.0))
    plan = plant(clip, height_field(lambda x, _: 0.25 * x))
    (anchor,) = [anchor for anchor in plan.anchors if anchor.part == "heel"]
    frames, leg = slice(anchor.stance.start, anchor.stance.end), anchor.stance.leg
    heel = move_points(planted(clip, plan).foot[frames, leg], plan.sole.heel[leg])
    assert plan.contacts[frames, leg, 0].all() and anchor.stance.end == clip.frames
    assert np.linalg.norm(heel - anchor.points(clip.frames)[frames], axis=-1).max() < 5e-4 * clip.leg
