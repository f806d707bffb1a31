# SPDX-License-Identifier: MIT
"""Limbs that touch: hands and feet on rungs and walls, found by rest and nearness, held there, free between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from climb import RADIUS, SPACING, Climb, ladder, make_climb, wall
from ik2bone.clip import Clip
from ik2bone.contacts.spans import Span, marks_of, spans_of
from ik2bone.curves import runs
from ik2bone.plan import NoGround, Settings, plant
from ik2bone.report import figures
from ik2bone.rotations import move_points
from ik2bone.sole.skin import Skin
from ik2bone.targets.touch import find_touches
from walk import FLAT, HILLS, make_walk, planted

NEAREST = Settings(direction="NEAREST")
HANDS = np.array([False, False, True, True])


def _uneven(climb: Climb, seed: int = 1):
    """A ladder whose rungs lie up to 3 cm off those that the climb was made for."""
    heights = climb.rungs + np.random.default_rng(seed).uniform(-0.03, 0.03, len(climb.rungs))
    return ladder(heights, y=0.03)


def _touching_points(clip: Clip, plan) -> np.ndarray:
    return move_points(clip.foot, plan.sole.ball)


def _distances(points: np.ndarray, ground) -> np.ndarray:
    hits = ground(points.reshape(-1, 3), None)[0].reshape(points.shape)
    return np.linalg.norm(points - hits, axis=-1)


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
def test_limbs_touch_when_they_hold_on(fps: float) -> None:
    climb = make_climb(fps=fps)
    contacts = plant(climb.clip, _uneven(climb), NEAREST).contacts
    assert not contacts[..., 0].any()
    assert (contacts[..., 1] == climb.holding).mean() >= 0.94
    assert all(contacts[climb.holding[:, limb], limb, 1].mean() > 0.98 for limb in range(4))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hands_and_feet_lie_on_the_rungs_and_stay_there(seed: int) -> None:
    climb = make_climb()
    ground = _uneven(climb, seed)
    plan = plant(climb.clip, ground, NEAREST)
    before, after = (_touching_points(clip, plan) for clip in (climb.clip, planted(climb.clip, plan)))
    touching = plan.contacts[..., 1]
    assert _distances(before, ground)[touching].max() > 0.02
    assert _distances(after, ground)[touching].max() < 1e-6
    for limb in range(4):
        for start, end in runs(touching[:, limb]):
            assert np.ptp(after[start:end, limb], axis=0).max() < 1e-6
    report = figures(climb.clip, planted(climb.clip, plan), plan, ground)
    assert report["before"]["float"] > 0.02
    assert report["after"]["float"] < 1e-6 and report["after"]["drift"] < 1e-6
    assert report["after"]["knee_pop"] < 3.0 and report["after"]["short_frames"] == 0


def test_feet_stand_on_top_of_rungs_and_hands_keep_their_side() -> None:
    climb = make_climb()
    ground = _uneven(climb)
    plan = plant(climb.clip, ground, NEAREST)
    points = _touching_points(planted(climb.clip, plan), plan)
    for anchor in plan.anchors:
        limb, frame = anchor.stance.leg, anchor.stance.start
        away = ground(points[frame, limb][None] + [0.0, 0.0, 1e-4], None)[1][0]
        assert (away[2] > 0.97) == (limb < 2)
        assert (anchor.turn == np.eye(3)).all()


def test_limbs_swing_clear_of_the_rungs() -> None:
    climb = make_climb()
    ground = _uneven(climb)
    plan = plant(climb.clip, ground, NEAREST)
    points = _touching_points(planted(climb.clip, plan), plan).reshape(-1, 3)
    hits, normals, _ = ground(points, None)
    assert np.sum((points - hits) * normals, axis=-1).min() > -0.1 * RADIUS


def test_hips_follow_feet_and_not_hands() -> None:
    climb = make_climb()
    ground = ladder(climb.rungs + 0.04)
    both = plant(climb.clip, ground, NEAREST)
    feet = plant(climb.clip.choose(~HANDS), ground, NEAREST)
    assert both.hips_offset == pytest.approx(feet.hips_offset, abs=1e-12)
    assert np.abs(both.hips_offset).max() > 0.01
    assert (plant(climb.clip.choose(HANDS), ground, NEAREST).hips_offset == 0.0).all()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("use_slope", [True, False])
def test_palms_lie_along_a_leaning_wall_if_the_slope_counts(known: bool, use_slope: bool) -> None:
    hands = make_climb().clip.choose(HANDS)
    hands = hands if known else replace(hands, palm=None)
    normal = np.array([0.0, -1.0, 0.12])
    normal = normal / np.linalg.norm(normal)
    place = np.array([0.0, 0.02, np.median(hands.ball[..., 2])])
    low = hands.ball[..., 2].mean(axis=1)
    near = hands.cut(slice(*np.flatnonzero(np.abs(low - place[2]) < 0.4)[[0, -1]]))
    plan = plant(near, wall(place, normal), replace(NEAREST, use_slope=use_slope))
    assert plan.contacts.any(axis=(0, 2)).all()
    turned = use_slope and known
    for anchor in plan.anchors:
        palm = anchor.turn @ [0.0, -1.0, 0.0]
        assert palm == pytest.approx(normal if turned else [0.0, -1.0, 0.0], abs=1e-6)


def _gloved(clip: Clip, thick: float = 0.02) -> Clip:
    """The hands with skin on both sides of the palm, thicker on the one that looks to the wall."""
    side = np.array([[x, y, z] for x in (-0.02, 0.02) for y in (-thick, thick) for z in (0.03, 0.07)])
    side[:, 1] += np.where(side[:, 1] > 0, 0.005, 0.0)
    skin = Skin(side + [0.0, 0.05, 0.0], np.zeros((0, 3)), np.eye(4), np.array([0.0, 0.0, 1.0]))
    return replace(clip, skins=(skin,) * clip.legs)


@pytest.mark.parametrize("known", [True, False])
def test_hands_touch_with_the_skin_of_their_palms(known: bool) -> None:
    hands = _gloved(make_climb().clip.choose(HANDS))
    hands = hands if known else replace(hands, palm=None)
    ground = wall([0.0, 0.02, 0.0], [0.0, -1.0, 0.0])
    plan = plant(hands, ground, NEAREST)
    touching = plan.contacts[..., 1]
    after = planted(hands, plan)
    assert after.ball[touching][:, 1] == pytest.approx(0.02 - 0.025, abs=1e-6)
    assert _distances(_touching_points(after, plan), ground)[touching].max() < 1e-6
    report = figures(hands, after, plan, ground)
    assert report["after"]["float"] < 1e-6 and report["after"]["drift"] < 1e-6
    assert {foot["sole_from"] for foot in report["feet"]} == {"mesh"}
    assert report["feet"][0]["sole_height"] == pytest.approx(0.025)


def test_a_sheet_may_look_either_way() -> None:
    hands = make_climb().clip.choose(HANDS)
    plans = [plant(hands, wall([0.0, 0.02, 0.0], [0.0, side, 0.0]), NEAREST) for side in (-1.0, 1.0)]
    assert plans[0].rotations == pytest.approx(plans[1].rotations, abs=1e-9)


def test_hands_that_sink_into_a_wall_between_contacts_are_kept_out() -> None:
    hands = make_climb().clip.choose(HANDS)
    pushed = replace(hands, **{name: getattr(hands, name).copy() for name in ("foot", "shin", "ball", "tip", "toe")})
    swings = ~plant(hands, wall([0.0, 0.0, 0.0], [0.0, -1.0, 0.0]), NEAREST).contacts[..., 1]
    depth = np.where(swings, 0.16, 0.0)
    depth = np.stack([np.convolve(row, np.ones(7) / 7, "same") for row in depth.T], axis=1)
    for name in ("ball", "tip"):
        getattr(pushed, name)[..., 1] += depth
    for name in ("foot", "toe"):
        getattr(pushed, name)[..., 1, 3] += depth
    ground = wall([0.0, 0.0, 0.0], [0.0, -1.0, 0.0])
    plan = plant(pushed, ground, NEAREST)
    # A hand that does not come back is free after a while.
    before, after = (clip.ball[:215, :, 1].max() for clip in (pushed, planted(pushed, plan)))
    assert before > 0.05
    assert after < 0.003


def test_hands_that_rest_far_from_any_surface_touch_nothing() -> None:
    still = np.zeros((60, 1, 3))
    near, far = np.full((60, 1), 0.05), np.full((60, 1), 0.3)
    assert find_touches(still, near, 30.0).all()
    assert not find_touches(still, far, 30.0).any()
    passing = np.abs(np.linspace(-1.0, 1.0, 60))[:, None]
    assert not find_touches(still + passing[..., None], passing, 30.0).any()


def test_surfaces_out_of_reach_are_refused() -> None:
    climb = make_climb()
    with pytest.raises(NoGround, match="within reach"):
        plant(climb.clip, ladder(climb.rungs, y=1.0), NEAREST)


def test_a_hand_that_never_touches_is_left_alone_and_told() -> None:
    clip = make_climb().clip
    away = replace(
        clip, **{name: getattr(clip, name).copy() for name in ("thigh", "shin", "foot", "toe", "ball", "tip")}
    )
    for name in ("thigh", "shin", "foot", "toe"):
        getattr(away, name)[:, 3, 1, 3] -= 2.0
    for name in ("ball", "tip"):
        getattr(away, name)[:, 3, 1] -= 2.0
    plan = plant(away, ladder(make_climb().rungs + 0.03), NEAREST)
    assert any("1 of 4 limbs never come to rest" in str(note) for note in plan.notes)
    assert np.abs(plan.rotations[:, 3] - [1.0, 0.0, 0.0, 0.0]).max() < 1e-9
    moved = planted(away, plan).ball[:, 3] - away.ball[:, 3]
    assert moved == pytest.approx(plan.hips_offset, abs=1e-9)
    assert np.abs(moved).max() > 0.01


def test_sentences_count_the_limbs_that_were_asked_for() -> None:
    clip = make_climb().clip
    for asked, sentence in (([0, 0, 1, 1], "2 of 2 limbs never come to rest"), ([1, 1, 0, 1], "1 of 3 limbs")):
        marks = marks_of([Span(limb, "ball", 0, clip.frames, "forbidden") for limb in "cd"], "abcd", 0, clip.frames)
        settings = replace(NEAREST, asked=np.array(asked, bool), marks=marks)
        notes = plant(clip, ladder(make_climb().rungs), settings).notes
        assert any(str(note).startswith(sentence) for note in notes)


@pytest.mark.parametrize("asked", [[1, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]])
def test_stored_contacts_that_stand_for_always_do_so_for_all_limbs(asked) -> None:
    climb = make_climb()
    clip, settings = climb.clip, replace(NEAREST, contacts="ALWAYS", asked=np.array(asked, bool))
    plan = plant(clip, ladder(climb.rungs + 0.02), settings)
    marks = marks_of(spans_of(plan.contacts & settings.asked[:, None], "abcd"), "abcd", 0, clip.frames)
    again = plant(clip, ladder(climb.rungs + 0.02), replace(settings, contacts="STORED", marks=marks))
    assert (again.rotations == plan.rotations).all()


def _reaching_for_a_wall(state: str, away: float = 0.15, part: str = "ball"):
    """A climb a fraction of an arm before a wall, whose left hand has a contact there; the wall and the palm after."""
    clip = make_climb().clip.choose(HANDS)
    ground = wall([0.0, clip.ball[..., 1].max() + away, 0.0], [0.0, -1.0, 0.0])
    marks = marks_of([Span("left", part, 64, 75, state)], ["left", "right"], 0, clip.frames)
    plan = plant(clip, ground, replace(NEAREST, contacts="STORED", marks=marks))
    return plan, _distances(_touching_points(planted(clip, plan), plan)[64:76, 0], ground)


@pytest.mark.parametrize("contacts", ["AUTO", "STORED"])
def test_forbidden_limbs_do_not_touch_whichever_part_is_named(contacts) -> None:
    climb = make_climb()
    spans = [Span("d", "heel", 0, climb.clip.frames), Span("d", "ball", 20, 60, "forbidden")]
    marks = marks_of(spans, "abcd", 0, climb.clip.frames)
    plan = plant(climb.clip, _uneven(climb), replace(NEAREST, contacts=contacts, marks=marks))
    assert plan.contacts[:20, 3, 1].any() and plan.contacts[61:, 3, 1].any()
    assert not plan.contacts[20:61, 3].any()


@pytest.mark.parametrize("part", ["heel", "ball"])
def test_hands_reach_for_what_people_want_them_to_touch(part) -> None:
    plan, distances = _reaching_for_a_wall("enforced", part=part)
    assert distances.max() < 1e-6
    assert runs(plan.contacts[:, 0, 1]) == [(64, 76)] and not plan.contacts[:, 1].any()
    assert (plan.enforced == plan.contacts).all()


def test_hands_do_not_reach_far_by_themselves() -> None:
    with pytest.raises(NoGround):
        _reaching_for_a_wall("automatic")


def _walk_along_a_rail() -> tuple[Clip, np.ndarray]:
    """The walk with an arm that twice holds on to something 1.1 high at its side, and when it does so."""
    walk, time = make_walk().clip, np.arange(300) / 60.0
    hip = walk.hip.mean(axis=1)
    start = hip + [0.0, 0.25, 0.3]
    holding = (np.abs(time - 1.5) < 0.3) | (np.abs(time - 3.5) < 0.3)
    palm = start + [0.2, 0.1, -0.1]
    for first, last in runs(holding):
        around = np.clip((np.abs(np.arange(300) - 0.5 * (first + last - 1)) - 0.5 * (last - first)) / 24.0, 0.0, 1.0)
        share = (1.0 - around**2 * (3.0 - 2.0 * around))[:, None]
        middle = (first + last) // 2
        palm = palm + share * (np.array([start[middle, 0] + 0.2, 0.35, 1.13]) - palm)
    arm = _arm(start, palm)
    joined = {name: np.concatenate([getattr(walk, name), arm[name][:, None]], axis=1) for name in arm}
    scale, hands = np.ones((300, 3, 4, 3)), np.array([False, False, True])
    return replace(walk, **joined, scale=scale, has_toe=np.array([True, True, False]), is_hand=hands), holding


def _arm(start: np.ndarray, palm: np.ndarray) -> dict[str, np.ndarray]:
    import ik2bone
    from climb import _axes, _matrices

    wrist = palm - [0.08, 0.0, 0.0]
    bent = start + [0.0, 0.0, -0.3]
    elbow = np.asarray(ik2bone.solve(start, bent, bent + [0.25, 0.0, -0.1], wrist, pole=[-1.0, 0.0, 0.0]).mid)
    level = np.broadcast_to(np.eye(3), (len(palm), 3, 3))
    hand = _matrices(wrist, level)
    return {
        "thigh": _matrices(start, _axes(elbow - start)),
        "shin": _matrices(elbow, _axes(wrist - elbow)),
        "foot": hand, "toe": hand, "ball": palm, "tip": palm,
    }  # fmt: skip


def test_soles_of_a_clip_that_keeps_to_the_ground_are_measured_from_it_whatever_is_below_its_hands() -> None:
    """Against a level floor they tell nothing."""

    def path(xy: np.ndarray) -> np.ndarray:
        return np.where(xy[:, 1] < 0.2, 0.25 * xy[:, 0], np.nan)

    clip, _ = _walk_along_a_rail()
    clip = planted(clip, plant(clip, path))
    soles, own = plant(clip, path).sole, plant(clip.choose(~clip.is_hand), path).sole
    assert soles.source[:2] == own.source == ("clip's floor",) * 2
    assert soles.ball_height[:2] == pytest.approx(own.ball_height)


def test_a_hand_far_from_any_surface_keeps_no_feet_from_being_planted() -> None:
    clip, _ = _walk_along_a_rail()
    plan = plant(clip, HILLS)
    feet = plant(clip.choose(~clip.is_hand), HILLS)
    assert plan.contacts[:, :2] == pytest.approx(feet.contacts)
    assert plan.rotations[:, :2] == pytest.approx(feet.rotations, abs=1e-9)
    assert plan.rotations[:, 2] == pytest.approx(np.broadcast_to([1.0, 0.0, 0.0, 0.0], (clip.frames, 4, 4)), abs=1e-9)
    with pytest.raises(NoGround, match="within reach"):
        plant(clip.choose(clip.is_hand), HILLS)


def _floor_and_rail(points, down):
    """The floor where one looks down, a level sheet at 1.1 where nearness counts."""
    if down is not None:
        return FLAT(points, down)
    return wall([0.0, 0.0, 1.1], [0.0, 0.0, 1.0])(points, None)


def test_hands_touch_under_direction_down_too_while_feet_stand_on_soles() -> None:
    clip, holding = _walk_along_a_rail()

    def table(points, down):
        hits, normals, found = FLAT(points, down)
        high = points[:, 1:2] > 0.2
        return np.where(high, hits + [0.0, 0.0, 1.1], hits), normals, found

    plan = plant(clip, table)
    legs = plant(clip.choose(~clip.is_hand), table)
    assert (plan.contacts[:, :2] == legs.contacts).all()
    assert plan.rotations[:, :2] == pytest.approx(legs.rotations, abs=1e-12)
    assert (plan.contacts[:, 2, 1] == holding).mean() > 0.95
    after = planted(clip, plan)
    assert after.ball[plan.contacts[:, 2, 1], 2, 2] == pytest.approx(1.1, abs=1e-6)


def test_a_hand_is_let_go_between_contacts_and_without_a_jump() -> None:
    clip, holding = _walk_along_a_rail()
    arm = clip.choose(clip.is_hand)
    plan = plant(arm, _floor_and_rail, NEAREST)
    moved = (planted(arm, plan).ball - arm.ball)[:, 0]
    assert np.linalg.norm(moved[holding], axis=-1).min() > 0.02
    assert np.abs(moved[[0, 150, -1]]).max() < 1e-6
    assert np.linalg.norm(np.diff(moved, 2, axis=0), axis=-1).max() < 0.002


def test_every_frame_and_single_poses_lie_on_the_surface() -> None:
    clip = make_climb().clip.choose(HANDS)
    ground = wall([0.0, 0.05, 0.0], [0.0, -1.0, 0.0])
    always = planted(clip, plant(clip, ground, replace(NEAREST, contacts="ALWAYS")))
    assert always.ball[..., 1] == pytest.approx(0.05, abs=1e-6)
    pose = clip.cut(slice(5, 6))
    once = planted(pose, plant(pose, ground, NEAREST))
    assert once.ball[..., 1] == pytest.approx(0.05, abs=1e-6)
    twice = planted(once, plant(once, ground, NEAREST))
    assert twice.ball == pytest.approx(once.ball, abs=1e-6)


def _floor_and_wall(points, _down):
    """A floor 0.2 high and a wall 0.5 aside, whichever is nearer."""
    hits, normals, found = wall([0.0, 0.5, 0.0], [0.0, -1.0, 0.0])(points, None)
    low = (points[:, 2] - 0.2 < 0.5 - points[:, 1])[:, None]
    return np.where(low, points * [1, 1, 0] + [0, 0, 0.2], hits), np.where(low, [0.0, 0.0, 1.0], normals), found


def test_hands_seek_the_surface_from_where_the_hips_take_them() -> None:
    clip, _ = _walk_along_a_rail()
    always = replace(NEAREST, contacts="ALWAYS")
    plan, left = (plant(clip, _floor_and_wall, replace(always, use_hips=moves)) for moves in (True, False))
    assert plan.hips_offset[:, 2].mean() > 0.1
    reached = np.maximum(plan.miss, left.miss)[:, 2] < 1e-6
    palm, lower = (planted(clip, each).ball[reached, 2] for each in (plan, left))
    assert reached.mean() > 0.5 and palm[:, 1] == pytest.approx(0.5, abs=1e-6)
    assert palm - lower == pytest.approx(plan.hips_offset[reached] * [1.0, 0.0, 1.0], abs=1e-6)
    arm, way = clip.choose(clip.is_hand), plan.hips_offset[:, None]
    after = plant(arm, _floor_and_wall, always, offset=way)
    assert after.rotations == pytest.approx(plan.rotations[:, 2:], abs=1e-9)


def test_rungs_far_apart_leave_no_limb_between_them() -> None:
    climb = make_climb()
    ground = ladder(climb.rungs[::2] + 0.5 * SPACING)
    plan = plant(climb.clip, ground, replace(NEAREST, use_hips=False))
    after = _touching_points(planted(climb.clip, plan), plan)
    held = plan.contacts[..., 1] & (plan.miss < 1e-6)
    assert held.any()
    assert _distances(after, ground)[held].max() < 1e-6
