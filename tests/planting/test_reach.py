# SPDX-License-Identifier: MIT
"""Where legs do not reach the hips come down, heels rise and feet leave their anchors, in the order that is chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from climb import ladder, make_climb
from ik2bone.contacts.spans import no_marks
from ik2bone.curves import runs
from ik2bone.plan import Settings, plant
from ik2bone.reach import heel_room, own_reach, raise_heels_to_reach, toe_off_nears
from ik2bone.sole.measure import measure_sole
from ik2bone.targets.blend import Targets
from measures import pop
from test_calibration_pose import spread_on_its_first_frame
from walk import FLAT, height_field, in_place, make_walk, planted

CLIP = make_walk(3.0).clip
ROOM = np.full(CLIP.hip.shape[:2], 0.5)
EARLY = ROOM * toe_off_nears(make_walk(3.0).standing[..., None])
ALL = np.ones(ROOM.shape, bool)
STAIRS = height_field(lambda x, y: 0.3 * np.floor(x / 1.1))


def gaps(clip, targets, hip):
    """How far (F, L) ankles lie beyond what their legs reach."""
    return np.linalg.norm(targets.ankle - hip, axis=-1) - own_reach(clip)


def test_heels_rise_as_far_as_legs_need() -> None:
    hip = CLIP.hip + [0.0, 0.0, 0.06]
    before = Targets.of(CLIP)
    after, pitch = raise_heels_to_reach(CLIP, before, hip, ALL, ROOM, 0.0 * ROOM)
    assert (gaps(CLIP, before, hip) > 0.01).any()
    assert gaps(CLIP, after, hip)[pitch < 0.49].max() < 1e-7
    assert (pitch[gaps(CLIP, before, hip) > 1e-6] > 0.0).all()
    assert (after.ball == before.ball).all()
    assert (after.ankle - before.ankle)[pitch > 0.01][:, 2].min() > 0.0


def test_heels_stay_where_legs_reach_and_feet_do_not_stand() -> None:
    for standing, lift in ((True, -0.1), (False, 0.1)):
        marks = np.full(CLIP.hip.shape[:2], standing)
        hip, room = CLIP.hip + [0.0, 0.0, lift], (ROOM, ROOM)
        targets, pitch = raise_heels_to_reach(CLIP, Targets.of(CLIP), hip, marks, *room)
        assert not pitch.any() and (targets.ankle == CLIP.ankle).all()


def test_heels_rise_no_farther_in_the_air_than_where_their_feet_stand() -> None:
    standing = make_walk(3.0).standing
    hip = CLIP.hip + [0.0, 0.0, 0.06]
    _, pitch = raise_heels_to_reach(CLIP, Targets.of(CLIP), hip, standing, ROOM, EARLY)
    assert pitch[~standing].max() > 0.04
    for leg in (0, 1):
        for start, end in runs(~standing[:, leg]):
            beside = pitch[[max(start - 1, 0), min(end, CLIP.frames - 1)], leg]
            assert pitch[start:end, leg].max() <= beside.max() + 1e-6


def test_foot_without_length_keeps_its_direction() -> None:
    clip = replace(CLIP, ball=CLIP.ankle.copy())
    targets, pitch = raise_heels_to_reach(clip, Targets.of(clip), clip.hip + [0.0, 0.0, 0.3], ALL, ROOM, ROOM)
    assert not pitch.any() and np.isfinite(targets.turn).all()


def test_heels_rise_early_only_shortly_before_their_foot_leaves_the_ground() -> None:
    contacts = np.zeros((120, 1, 2), bool)
    contacts[20:80] = True
    near = toe_off_nears(contacts)[:, 0]
    assert (near[:20] == 1.0).all() and not near[20:65].any() and near[79] > 0.7
    assert (np.diff(near[20:80]) >= 0.0).all()
    contacts[80:] = True
    assert not toe_off_nears(contacts)[20:].any()


@pytest.mark.parametrize(("left", "first"), [(79, 66), (60, 61), (30, 57)])
def test_heels_may_rise_early_from_where_those_of_the_clip_have_risen(left, first) -> None:
    contacts = np.zeros((120, 1, 2), bool)
    contacts[20:80, :, 1] = contacts[20:left, :, 0] = True
    assert np.flatnonzero(toe_off_nears(contacts)[20:80, 0])[0] + 20 == first


def test_ankles_and_balls_leave_heels_less_room_the_more_they_are_bent() -> None:
    rolling = make_walk(3.0, roll=0.9)
    room = heel_room(rolling.clip, measure_sole(rolling.clip), np.array([True, True]))
    pitch = np.arcsin(np.clip(-rolling.clip.foot[..., 2, 0], -1.0, 1.0))
    flat, raised = rolling.standing & (np.abs(pitch) < 0.02), rolling.standing & (pitch > 0.6)
    assert room[flat].min() > np.radians(30.0) and room[raised].max() < np.radians(35.0)
    assert not heel_room(rolling.clip, measure_sole(rolling.clip), np.array([False, True]))[:, 0].any()


@pytest.fixture(scope="module")
def plans():
    """Plantings on stairs that the hips may follow only a little, by what gives way first."""
    return {order: plant(CLIP, STAIRS, Settings(max_drop=0.05, gives_way=order)) for order in ("HIPS", "HIPS_HEEL")}


def test_heels_give_what_hips_may_not(plans) -> None:
    flat, raised = plans["HIPS"], plans["HIPS_HEEL"]
    assert raised.miss.max() < 0.6 * flat.miss.max()
    assert raised.miss.sum() < 0.3 * flat.miss.sum()
    assert raised.hips_offset == pytest.approx(flat.hips_offset, abs=1e-12)
    stands = raised.contacts[..., 1]
    ball = planted(CLIP, raised).ball
    off = np.linalg.norm(ball - raised.targets.ball, axis=-1)
    assert off[stands & (raised.miss < 1e-9)].max() < 1e-6
    assert (raised.contacts <= flat.contacts).all() and (raised.contacts[..., 1] == flat.contacts[..., 1]).all()


def test_what_gave_way_is_told(plans) -> None:
    assert any("heels rise by up to" in str(note) for note in plans["HIPS_HEEL"].notes)
    assert not any("heels rise" in str(note) for note in plans["HIPS"].notes)
    assert any("feet fall short of their targets by up to" in str(note) for note in plans["HIPS"].notes)
    assert not any("do not reach" in str(note) for note in plant(CLIP, FLAT).notes)


def shortness(plan, code="feet_short"):
    """The data of the note about limbs that fall short."""
    return next((note.data for note in plan.notes if note.code == code), None)


@pytest.mark.parametrize("contacts", ["AUTO", "ALWAYS"])
@pytest.mark.parametrize("place", [lambda clip: clip, in_place, spread_on_its_first_frame])
def test_notes_tell_the_same_misses_as_the_report(place, contacts) -> None:
    clip, pit = place(CLIP), height_field(lambda x, y: np.where(y > 0.0, -0.4, 0.0))
    plan = plant(clip, pit, Settings(use_hips=False, contacts=contacts))
    told, after = shortness(plan), plan.report()["after"]
    assert told["frames"] == after["short_frames"] > 0
    assert told["distance"] == pytest.approx(after["short"], abs=1e-9)


def test_a_part_of_a_plan_tells_the_misses_on_its_own_frames() -> None:
    plan = plant(CLIP, height_field(lambda x, y: np.where(y > 0.0, -0.4, 0.0)), Settings(use_hips=False))
    reached = int((plan.miss < 1e-4).all(axis=1).argmax())
    assert reached > 0 and shortness(plan.cut(slice(reached, reached + 1))) is None
    part = plan.cut(slice(0, reached))
    told, after = shortness(part), part.report()["after"]
    assert 0 < told["frames"] == after["short_frames"] < shortness(plan)["frames"]
    assert told["distance"] == pytest.approx(after["short"], abs=1e-9)


def test_note_about_part_of_a_plan_counts_only_limbs_that_were_asked_for() -> None:
    settings = Settings(asked=[False, True], use_hips=False, gives_way="HIPS")
    plan = plant(CLIP, height_field(lambda x, y: np.where(x > 0.5, -0.3, 0.0)), settings)
    part = plan.cut(slice(1, None))
    assert plan.miss[0].max() < 0.01 * CLIP.leg < plan.miss[:, 0].max()
    assert shortness(part) == shortness(plan)
    assert shortness(plan.choose(np.array([False, True])).cut(slice(1, None))) == shortness(plan)


def test_hands_that_fall_short_are_told_as_hands() -> None:
    climb = make_climb(seconds=3.0)
    away, wanted = np.zeros_like(climb.clip.hip), np.zeros((climb.clip.frames, 4, 2), bool)
    away[:, 2, 1], wanted[:, 2, 1] = -0.45, climb.holding[:, 2]
    marks = replace(no_marks(wanted.shape), enforced=wanted)
    settings = Settings(direction="NEAREST", use_hips=False, marks=marks)
    plan = plant(climb.clip.moved(away), ladder(climb.rungs), settings)
    assert shortness(plan) is None
    assert shortness(plan, "hands_short")["distance"] == pytest.approx(plan.miss[:, 2].max())
    assert any(str(note).startswith("arms do not reach: hands fall short") for note in plan.notes)


def test_notes_count_the_limbs_that_are_asked_for() -> None:
    pit = height_field(lambda x, y: np.where(y > 0.0, -0.4, 0.0))
    settings = Settings(use_hips=False, asked=np.array([False, True]))
    deep, level = plant(CLIP, pit, settings), plant(CLIP, pit, replace(settings, asked=np.array([True, False])))
    assert deep.miss[:, 0].max() > 0.1 > deep.miss[:, 1].max()
    assert shortness(deep) is None and shortness(level)["distance"] == pytest.approx(deep.miss.max())
    assert not any(note.code == "heels_raised" for note in deep.notes)
    assert any(note.code == "heels_raised" for note in level.notes)


def test_heels_are_told_as_far_as_they_rise() -> None:
    degrees = [
        next((note.data["degrees"] for note in plant(CLIP, STAIRS, settings).notes if note.code == "heels_raised"), 0.0)
        for settings in (Settings(max_drop=0.05, strength=strength) for strength in (1.0, 0.5, 0.0))
    ]
    assert degrees == pytest.approx([degrees[0], 0.5 * degrees[0], 0.0]) and degrees[0] > 5.0


def test_heels_that_give_way_first_leave_the_hips_higher() -> None:
    first, second = (plant(CLIP, STAIRS, Settings(gives_way=order)) for order in ("HEEL_HIPS", "HIPS_HEEL"))
    assert first.hips_offset[:, 2].mean() > second.hips_offset[:, 2].mean() + 0.005
    assert first.miss.max() < 1e-4
    heels = [np.degrees(np.arccos(np.clip(plan.targets.turn[..., 2, 2], -1, 1))).max() for plan in (first, second)]
    assert heels[0] > heels[1] + 5.0


def test_hips_come_down_for_feet_in_place_whose_heels_do_not_rise() -> None:
    clip, hills = in_place(CLIP), height_field(lambda x, y: 0.08 * np.sign(y))
    first, second = (plant(clip, hills, Settings(gives_way=order)) for order in ("HEEL_HIPS", "HIPS_HEEL"))
    assert not first.anchors
    assert first.miss.max() < 1e-4 * clip.leg
    np.testing.assert_allclose(first.hips_offset, second.hips_offset)


def test_rising_heels_do_not_jolt(plans) -> None:
    turns = np.degrees(np.arccos(np.clip(plans["HIPS_HEEL"].targets.turn[..., 2, 2], -1, 1)))
    assert pop(np.zeros_like(turns), turns, CLIP.fps) < 17.0
