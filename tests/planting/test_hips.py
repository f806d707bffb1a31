# SPDX-License-Identifier: MIT
"""The body over the feet: upright and calm at once, along with feet that are moved, and left alone on its own floor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone import Clip, solve
from ik2bone.contacts.spans import no_marks
from ik2bone.contacts.stance import stances
from ik2bone.hips import hips_offset
from ik2bone.plan import Settings, plant
from ik2bone.reach import own_reach
from ik2bone.targets.blend import Targets
from measures import knee_angle
from walk import FLAT, HILLS, height_field, in_place, make_walk, planted

from demo.grounds import heights

WALK = make_walk(6.0)
CLIP = WALK.clip
STEPS = height_field(lambda x, _: 0.15 * np.floor(x / 0.9))


def slope(degrees):
    return height_field(lambda x, y: np.tan(np.radians(degrees)) * x)


def accelerations(offset, fps):
    """Lengths of second differences of a path over 1/30 s, per s^2."""
    step = max(1, round(fps / 30))
    bend = offset[2 * step :] - 2 * offset[step:-step] + offset[: -2 * step]
    return np.linalg.norm(bend, axis=-1) * (fps / step) ** 2


def flexion(before, after):
    """How much more (F,) the straighter knee is bent than in the source, degrees."""
    return knee_angle(after).min(axis=1) - knee_angle(before).min(axis=1)


def test_figure_on_the_floor_that_it_was_made_for_keeps_its_pose() -> None:
    plan = plant(CLIP, FLAT)
    after = planted(CLIP, plan)
    assert np.linalg.norm(plan.hips_offset, axis=-1).max() < 0.01 * CLIP.leg
    assert np.abs(flexion(CLIP, after)).max() < 3.5


@pytest.mark.parametrize(
    ("ground", "peak", "rms", "bend"),
    [(HILLS, 2.2, 0.8, 5.0), (STEPS, 3.5, 1.2, 10.0), (slope(15.0), 4.0, 1.5, 10.0), (slope(-15.0), 1.8, 0.6, 5.0)],
)
def test_walk_stays_upright_and_calm(ground, peak, rms, bend) -> None:
    plan = plant(CLIP, ground)
    bends = accelerations(plan.hips_offset / CLIP.leg, CLIP.fps)
    assert bends.max() <= peak and np.sqrt((bends**2).mean()) <= rms
    assert np.median(flexion(CLIP, planted(CLIP, plan))) <= bend
    assert plan.miss.max() < 1e-6


def test_shifts_and_heights_of_the_hips_do_not_jolt_each_other_on_hills() -> None:
    clip = in_place(CLIP)
    steep = height_field(lambda x, y: 2.5 * heights("hills", np.stack([x, y], axis=-1), 1))
    assert accelerations(plant(clip, steep).hips_offset / clip.leg, clip.fps).max() < 1.5


def test_standing_legs_are_not_stretched_beyond_what_the_clip_or_ease_allows() -> None:
    after = planted(CLIP, plant(CLIP, slope(15.0)))
    length = np.linalg.norm(after.ankle - after.hip, axis=-1)
    assert (length <= own_reach(CLIP) + 1e-6).all()


def test_feet_that_follow_the_ground_ask_for_reach_only_where_they_stand() -> None:
    clip = in_place(CLIP)
    swings, follows = ~WALK.standing, np.ones(2, bool)
    targets = Targets.of(clip).moved(-0.2 * swings[..., None] * clip.up)
    assert np.abs(hips_offset(clip, targets, ~swings, follows, np.zeros(swings.shape))).max() < 1e-6
    assert hips_offset(clip, targets, swings, follows, np.zeros(swings.shape))[:, 2].min() < -0.1


def test_hips_go_up_with_feet_that_are_held_over_the_ground() -> None:
    lifted, follows = Targets.of(CLIP).moved(0.1 * CLIP.up), np.ones(2, bool)
    for standing in (WALK.standing, np.zeros_like(WALK.standing)):
        offset = hips_offset(CLIP, lifted, standing, follows, np.zeros(standing.shape))
        assert offset == pytest.approx(np.tile(0.1 * CLIP.up, (CLIP.frames, 1)), abs=1e-6)


def test_hips_stay_where_feet_are_over_them_as_in_the_clip() -> None:
    joints = (CLIP.hip, CLIP.knee, CLIP.ankle, CLIP.ball)
    upside_down = Clip.from_points(CLIP.fps, *(points * [1.0, 1.0, -1.0] for points in joints))
    free = np.zeros_like(WALK.standing)
    offset = hips_offset(upside_down, Targets.of(upside_down), free, np.ones(2, bool), np.zeros(free.shape))
    assert np.abs(offset).max() < 1e-6


def test_hips_of_a_figure_that_lies_do_not_go_up_to_straighten_its_legs() -> None:
    places = [(0.0, 0.15), (0.48, 0.2), (0.95, 0.1), (1.0, 0.3)]
    joints = (np.array([[(x, y, z) for y in (0.1, -0.1)]]) for x, z in places)
    lying = Clip.from_points(60.0, *joints).cut(np.zeros(120, int))
    # Feet that turn about their balls bring their ankles nearer.
    targets = Targets.of(lying).turned(np.full((120, 2, 1), 0.3) * [0.0, 1.0, 0.0])
    assert (lying.ankle - targets.ankle)[..., 0].min() > 0.04
    standing = np.ones((120, 2), bool)
    offset = hips_offset(lying, targets, standing, ~standing[0], np.zeros(standing.shape))
    assert offset[:, 2].max() < 0.15


def standing_figure():
    """Two seconds of a figure of leg length 1 that stands with bent knees, its feet side by side."""
    side = np.array([0.12, -0.12])
    hip, ankle, ball = (
        np.stack([x + 0.0 * side, side, z + 0.0 * side], -1) for x, z in ((0, 1.03), (-0.05, 0.08), (0.1, 0.02))
    )
    knee = solve(hip, hip + [0.1, 0.0, -0.5], hip + [0.0, 0.0, -0.99], ankle, pole=[1.0, 0.0, 0.0]).mid
    return Clip.from_points(30.0, *(np.tile(points, (60, 1, 1)) for points in (hip, knee, ankle, ball)))


@pytest.mark.parametrize("degrees", [5.0, 15.0, 25.0])
@pytest.mark.parametrize("turn", [0.0, 90.0, 180.0])
def test_figure_that_stands_keeps_its_weight_over_its_feet_on_a_slope(degrees, turn) -> None:
    clip, way = standing_figure(), np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
    plan = plant(clip, height_field(lambda x, y: np.tan(np.radians(degrees)) * (way[0] * x + way[1] * y)))
    assert np.abs(plan.hips_offset[:, :2]).max() < 0.025
    bends = knee_angle(planted(clip, plan)) - knee_angle(clip)
    if turn == 90.0:
        # The slope rises to the left: the left leg bends more, and the right one takes the weight.
        assert (bends[:, 0] > 2.0).all() and (bends[:, 1] < -2.0).all()
    else:
        assert np.abs(bends).max() < 0.5


@pytest.mark.parametrize("degrees", [-15.0, 15.0])
@pytest.mark.parametrize("clip", [CLIP, in_place(CLIP)], ids=["going", "in place"])
def test_hips_shift_down_a_slope_where_legs_would_be_too_short(degrees, clip) -> None:
    # Feet of a clip in place have no anchors.
    plan = plant(clip, slope(degrees))
    assert 0.03 < -np.sign(degrees) * np.median(plan.hips_offset[60:-60, 0]) < 0.2


def test_hips_shift_towards_a_foot_out_of_reach_rather_than_come_down_all_the_way() -> None:
    # For 20 frames the left foot stands 0.7 ahead and 0.2 lower. Without regard to reach, hips come down by 0.4.
    clip = standing_figure().cut(np.zeros(120, int))
    move, standing = np.zeros((120, 2, 3)), np.ones((120, 2), bool)
    move[50:70, 0] = 0.7, 0.0, -0.2
    offset = hips_offset(clip, Targets.of(clip).moved(move), standing, np.zeros(2, bool), np.zeros((120, 2)))
    assert offset[:, 2].min() > -0.35 and offset[:, 0].max() > 0.4
    assert accelerations(offset, clip.fps).max() < 8.0


def test_hips_do_not_depend_on_how_high_the_hill_is() -> None:
    # The whole walk comes down by 16. Its frames alone come down by 3.
    clip, some = make_walk(40.0, fps=30.0).clip, np.arange(480, 720)
    whole, alone = plant(clip, slope(-20.0)).hips_offset[some], plant(clip.cut(some), slope(-20.0)).hips_offset
    assert np.abs(whole - alone)[60:-60].max() < 0.01


def test_knees_of_feet_that_follow_the_ground_do_not_snap() -> None:
    # The waves go up and down under a foot while it stands; without easing it is 37 degrees from frame to frame.
    clip = in_place(make_walk(4.0, fps=30.0).clip)
    angle = knee_angle(planted(clip, plant(clip, height_field(lambda x, _: 0.15 * np.sin(10.0 * x)))))
    assert np.diff(angle - knee_angle(clip), n=2, axis=0).max() < 13.0


def test_hips_stay_as_the_last_standing_foot_tells_them() -> None:
    # Two frames tell where a foot is moved; what they tell is not to be carried on at that rate.
    way, standing = np.zeros((CLIP.frames, 2, 3)), np.zeros_like(WALK.standing)
    way[30, 0, 1], way[31, 0, 1], standing[30:32, 0] = 0.1, 0.2, True
    offset = hips_offset(CLIP, Targets.of(CLIP).moved(way), standing, np.ones(2, bool), np.zeros(standing.shape))
    assert offset[:, 1].min() > 0.09 and offset[:, 1].max() < 0.21


def test_body_does_not_lean_with_feet_that_are_always_laid_on_level_ground() -> None:
    # The clip raises its heels as toe-off comes; laid down, they make legs longer behind the body than before it.
    clip = make_walk(roll=0.8).clip
    plan = plant(clip, FLAT, Settings(contacts="ALWAYS"))
    assert np.abs(plan.hips_offset[:, 0]).max() < 0.1
    assert np.abs(np.median(flexion(clip, planted(clip, plan)))) < 2.5


def test_hips_follow_feet_that_are_moved_aside() -> None:
    # A ditch that both feet of the walk would stand in by half: they are moved out of it, all to one side.
    trench = height_field(lambda x, y: np.where(np.abs(y - 0.1) < 0.04, -0.3, 0.0))
    plan = plant(CLIP, trench)
    moves = np.array([anchor.move[1] for anchor in plan.anchors if anchor.stance.leg == 0])
    aside = np.median(plan.hips_offset[60:-60, 1])
    assert np.abs(moves).max() > 0.03
    assert np.sign(aside) == np.sign(moves.mean()) and abs(aside) < np.abs(moves).max()


def test_heels_rise_before_hips_come_down() -> None:
    heels, hips = (plant(CLIP, slope(12.0), Settings(gives_way=order)) for order in ("HEEL_HIPS", "HIPS"))
    assert heels.hips_offset[:, 2].mean() > hips.hips_offset[:, 2].mean() + 0.01
    assert heels.miss.max() < 1e-6
    stands = heels.contacts[..., 1]
    ball = planted(CLIP, heels).ball
    assert np.linalg.norm(ball - heels.targets.ball, axis=-1)[stands].max() < 1e-6


def test_hips_come_down_no_farther_than_they_may() -> None:
    cliff = height_field(lambda x, y: np.where(x > 2.0, -0.5, 0.0))
    for drop in (0.0, 0.1):
        plan = plant(CLIP, cliff, Settings(max_drop=drop))
        under = plan.targets.rise.mean(axis=1) - plan.hips_offset[:, 2]
        assert under.max() == pytest.approx(drop * CLIP.leg, abs=1e-4)


@pytest.mark.parametrize("high", [1e4, -1e4, 1e6, -1e6])
def test_cliff_of_any_height_has_a_plan(high) -> None:
    plan = plant(CLIP, height_field(lambda x, y: np.where(x > 1.0, high, 0.0)), Settings(contacts="ALWAYS"))
    assert np.abs(plan.hips_offset).max() < 2.0 * abs(high)


@pytest.mark.parametrize("high", [0.1, 100.0, 1e4, 1e6])
@pytest.mark.parametrize("contacts", ["AUTO", "ALWAYS"])
@pytest.mark.parametrize("fps", [1e4, 1e6])
def test_cliff_has_a_plan_at_any_frame_rate(fps, contacts, high) -> None:
    cliff = height_field(lambda x, y: np.where(x > 0.7, high, 0.0))
    plan = plant(CLIP.having(fps=fps), cliff, Settings(contacts=contacts))
    assert np.abs(plan.hips_offset).max() < 2.0 * max(high, CLIP.leg)


def test_feet_out_of_reach_draw_the_hips_aside_by_less_than_a_leg() -> None:
    plan = plant(CLIP, height_field(lambda x, y: np.where(x > 1.0, 10.0, 0.0)), Settings(contacts="ALWAYS"))
    assert np.abs(plan.hips_offset[:, :2]).max() < CLIP.leg


def test_legs_reach_shortly_before_a_figure_lands() -> None:
    # In the air both feet are drawn down by the ground, lower than where they land.
    lands, low = np.arange(CLIP.frames) >= 60, np.where(np.arange(CLIP.frames) < 60, -0.2, -0.05)
    targets, standing = Targets.of(CLIP).moved(low[:, None, None] * CLIP.up), np.stack([lands, lands], axis=1)
    offset = hips_offset(CLIP, targets, standing, np.zeros(2, bool), np.zeros(standing.shape))
    length = np.linalg.norm(targets.ankle - CLIP.hip - offset[:, None], axis=-1)
    assert (length <= own_reach(CLIP) + 1e-6)[57:60].all()


def test_hips_that_come_down_for_a_moment_do_not_go_on_coming_down_towards_the_end_of_the_clip() -> None:
    # Feet that stand far apart on two frames, seven frames after the first.
    aside, standing = np.zeros((CLIP.frames, 2, 3)), np.ones((CLIP.frames, 2), bool)
    aside[7:9, :, 1] = 0.8, -0.8
    targets, follows = Targets.of(CLIP).moved(aside), np.ones(2, bool)
    offset = hips_offset(CLIP, targets, standing, follows, np.zeros(standing.shape), deepest=0.3)
    assert offset[7:9, 2] == pytest.approx(-0.3)
    assert offset[:, 2].min() > -0.301


@pytest.mark.parametrize("count", [3, 10, 20])
def test_knees_that_swing_over_hips_which_come_down_do_not_bring_these_farther_down(count) -> None:
    # Both feet swing as the clip begins, and come to stand a little lower than in the clip.
    stands = np.arange(CLIP.frames) >= count
    targets = Targets.of(CLIP).moved(np.where(stands, -0.1, 0.0)[:, None, None] * CLIP.up)
    standing = np.stack([stands, stands], axis=1)
    offset = hips_offset(CLIP, targets, standing, np.zeros(2, bool), np.zeros(standing.shape))
    assert offset[:, 2].min() > -0.17


def test_ground_that_is_shifted_a_little_moves_the_hips_a_little() -> None:
    offsets = [
        plant(CLIP, height_field(lambda x, y, s=s: 0.1 * np.sin(2.1 * (x + s)))).hips_offset for s in (0.0, 0.005)
    ]
    assert np.abs(offsets[1] - offsets[0]).max() < 0.01


def test_body_does_not_lean_with_a_foot_that_people_lay_down() -> None:
    # Its heel is up as the foot leaves the ground, and enforced contacts lay it flat.
    clip = make_walk(roll=0.8).clip
    enforced = np.zeros((clip.frames, clip.legs, 2), bool)
    enforced[stances(plant(clip, FLAT).contacts)[2].end - 3 :][:6, 0] = True
    plan = plant(clip, FLAT, Settings(marks=replace(no_marks(enforced.shape), enforced=enforced)))
    assert plan.contacts[enforced].all()
    # It makes its leg so long that hips come down by 0.08 leg, and they shift by a part of that.
    assert np.abs(plan.hips_offset[:, 0]).max() < 0.03
