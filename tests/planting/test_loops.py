# SPDX-License-Identifier: MIT
"""A loop is planted so that it can be played over and over: its end leads to its beginning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone import Mesh, stages
from ik2bone.clip import ARRAYS
from ik2bone.contacts.spans import Marks, Place
from ik2bone.plan import Settings, plant
from ik2bone.timing import find_pose_starts, frames_of_loop
from test_again import values
from test_calibration_pose import spread_on_its_first_frame
from walk import CYCLE, FLAT, HILLS, height_field, in_place, make_walk, planted

FPS = 30.0
ROUND = round(CYCLE * FPS)
LOOP = in_place(make_walk((ROUND + 1) / FPS, FPS).clip)
GROUNDS = {
    "hills": HILLS,
    "slope": height_field(lambda x, _: 0.27 * x),
    "step": height_field(lambda x, _: 0.18 * (x > -0.5)),
}
FLOOR = Mesh([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]], [[0, 1, 2]])


def with_hands(clip):
    """The clip of a figure whose hands go as its feet do."""
    limbs = {name: np.concatenate([getattr(clip, name)] * 2, axis=1) for name in ARRAYS}
    return clip.having(**limbs, has_toe=np.repeat(clip.has_toe, 2), is_hand=np.array([False, False, True, True]))


TWOS = LOOP.cut(np.append(np.arange(ROUND) // 2 * 2, 0))
LOOPS = {
    "ones": LOOP,
    "from another pose": LOOP.cut((np.arange(ROUND + 1) + ROUND // 3) % ROUND),
    "few frames": in_place(make_walk(25 / 22.0, 22.0).clip),
    "twos": TWOS,
    "twos that hold the last pose": LOOP.cut(np.arange(ROUND + 1) // 2 * 2),
    "twos that end in a still": TWOS.cut(np.append(np.arange(ROUND), np.zeros(6, int))),
    "slow, on all fours": with_hands(LOOP.cut(np.append(np.arange(6, ROUND + 6, 2), 6) % ROUND).having(fps=5.0)),
}


def seam(before, after) -> float:
    """How far the joints of the last frame are from where those of the first are, less how far they are in `before`."""
    paths = [np.concatenate([clip.hip, clip.knee, clip.ankle, clip.ball], axis=1) for clip in (before, after)]
    offsets = paths[1] - paths[0]
    return float(np.linalg.norm(offsets[-1] - offsets[0], axis=-1).max()) / before.leg


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
@pytest.mark.parametrize("contacts", ["AUTO", "ALWAYS"])
def test_the_last_pose_of_a_loop_is_planted_where_the_first_is(ground, contacts) -> None:
    plan = plant(LOOP, ground, Settings(contacts=contacts))
    assert not plan.locked.any()
    assert seam(LOOP, planted(LOOP, plan)) < 0.003


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_a_loop_is_planted_alike_wherever_it_begins(ground) -> None:
    begins = ROUND // 3
    order = (np.arange(ROUND + 1) + begins) % ROUND
    whole, rest = (planted(clip, plant(clip, ground)) for clip in (LOOP, LOOP.cut(order)))
    same = whole.cut(order)
    for name in ("hip", "knee", "ankle", "ball"):
        assert np.abs(getattr(rest, name) - getattr(same, name)).max() < 0.004 * LOOP.leg


@pytest.mark.parametrize("place", [False, True], ids=["", "place"])
@pytest.mark.parametrize(
    "span", [slice(*ends) for ends in ((10, 18), (0, 8), (26, None), (None,), (1,), (ROUND, None))], ids=str
)
@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_a_loop_stays_one_if_users_pin_its_feet(ground, span, place) -> None:
    nothing = np.zeros((LOOP.frames, LOOP.legs, 2), bool)
    enforced = nothing.copy()
    enforced[span, 0, 1] = True
    start, end, _ = span.indices(LOOP.frames)
    point = tuple(LOOP.ball[start, 0] + [0.05, 0.03, 0.0])
    marks = Marks(nothing, enforced, nothing, (Place(0, "ball", start, end - 1, point),) if place else ())
    plan = plant(LOOP, ground, Settings(marks=marks))
    assert plan.locked.all() and plan.enforced[enforced].all()
    assert all(0 <= anchor.stance.start < anchor.stance.end <= LOOP.frames for anchor in plan.anchors)
    assert seam(LOOP, planted(LOOP, plan)) < 0.02


def test_feet_of_a_loop_swing_over_the_same_places_in_each_round() -> None:
    enforced = np.zeros((LOOP.frames, LOOP.legs, 2), bool)
    enforced[24:28, 1, 1] = True
    marks = Marks(np.zeros_like(enforced), enforced, np.zeros_like(enforced))
    plan = plant(LOOP, GROUNDS["step"], Settings(marks=marks))
    assert seam(LOOP, planted(LOOP, plan)) < 0.005


def make_jump():
    """A jump in place, in the air on frames 14 to 30 of 45."""
    pose = make_walk(1.0, FPS).clip.cut(np.full(45, 15))
    height = np.maximum(0.0, 0.4 * (1.0 - ((np.arange(45) - 22) / 9.0) ** 2))
    return pose.moved(height[:, None] * [0.0, 0.0, 1.0])


@pytest.mark.parametrize("ground", [GROUNDS["slope"], HILLS], ids=["slope", "hills"])
def test_a_jump_in_place_ends_where_it_begins(ground) -> None:
    jump = make_jump()
    plan = plant(jump, ground)
    assert plan.locked.all() and plan.contacts[[0, -1]].any(axis=-1).all()
    assert not plan.contacts[18:27].any()
    assert seam(jump, planted(jump, plan)) < 0.003


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_feet_of_a_loop_stand_as_they_do_while_it_is_played_on(ground) -> None:
    short = LOOP.cut(np.array([30, 5, 13, 21, 29, 30])).having(fps=60.0)
    assert seam(short, planted(short, plant(short, ground))) < 0.002


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
@pytest.mark.parametrize("still", [2, 5, 9])
def test_a_loop_on_twos_that_ends_in_a_still_stays_one(ground, still) -> None:
    clip = TWOS.cut(np.append(np.arange(ROUND), np.zeros(still, int)))
    assert find_pose_starts(clip) is not None
    after = planted(clip, plant(clip, ground))
    assert seam(clip, after) < 0.002
    assert np.abs(np.diff(after.ankle[-still:], axis=0)).max() < 1e-9


def test_a_loop_on_twos_stays_one_after_a_calibration_pose() -> None:
    clip = TWOS.cut(np.append(np.arange(ROUND), np.zeros(6, int)))
    spread = spread_on_its_first_frame(clip.cut(np.append(0, np.arange(clip.frames))))
    alone, led = plant(clip, HILLS), plant(spread, HILLS)
    assert any(note.code == "calibration_pose" for note in led.notes)
    assert led.rotations[1:] == pytest.approx(alone.rotations, abs=1e-12)


def test_the_last_pose_of_a_loop_takes_its_strength_from_its_first_frame() -> None:
    clip = TWOS.cut(np.append(np.arange(ROUND), np.zeros(6, int)))
    strength = np.where(np.arange(clip.frames) < clip.frames - 2, 1.0, 0.0)
    plan, whole = (plant(clip, HILLS, Settings(strength=share)) for share in (strength, 1.0))
    assert plan.strength.all()
    assert planted(clip, plan).ankle == pytest.approx(planted(clip, whole).ankle, abs=1e-12)


def test_a_long_loop_is_played_on_for_a_few_seconds_and_closes_all_the_same() -> None:
    long = LOOP.cut(np.append(np.tile(np.arange(ROUND), 9), ROUND))
    frames, own = frames_of_loop(long)
    assert len(frames) - long.frames == 2 * own.start < long.frames
    assert (frames == np.arange(-own.start, long.frames + own.start) % (9 * ROUND))[: own.stop - 1].all()
    assert seam(long, planted(long, plant(long, HILLS))) < 0.0003


def test_only_a_clip_that_comes_back_to_its_first_pose_is_a_loop() -> None:
    frames, own = frames_of_loop(LOOP)
    assert (frames[own] == np.arange(LOOP.frames)).all()
    assert (np.diff(frames) % ROUND == 1).all()
    assert frames_of_loop(LOOP.cut(slice(0, -3))) is None
    assert frames_of_loop(make_walk((ROUND + 1) / FPS, FPS).clip) is None
    assert frames_of_loop(LOOP.cut(np.zeros(10, int))) is None
    assert frames_of_loop(LOOP.cut(slice(0, 1))) is None


def with_a_glitch(clip):
    """The clip with everything 2 leg lengths aside on a frame."""
    away = np.zeros((clip.frames, 3))
    away[clip.frames // 2, 1] = 2.0 * clip.leg
    return clip.moved(away)


def test_a_glitch_of_a_frame_does_not_make_a_clip_a_loop_and_a_loop_stays_one() -> None:
    assert frames_of_loop(with_a_glitch(LOOP.cut(slice(0, -3)))) is None
    assert frames_of_loop(with_a_glitch(LOOP)) is not None


def test_a_loop_that_mostly_rests_is_one() -> None:
    rests = LOOP.cut(np.append(np.arange(ROUND + 1), np.zeros(4 * ROUND, int)))
    assert frames_of_loop(rests) is not None


def test_notes_of_a_loop_count_its_own_frames() -> None:
    def ends(points, down):
        hits, normals, found = FLAT(points, down)
        return hits, normals, found & (points[:, 0] < -0.2)

    notes = {note.code: note.data for note in plant(LOOP, ends).notes}
    assert 0 < notes["no_surface_frames"]["frames"] <= LOOP.frames


def test_notes_of_a_loop_count_each_place_once() -> None:
    enforced = np.zeros((LOOP.frames, LOOP.legs, 2), bool)
    enforced[:8, 0, 1] = True
    marks = Marks(
        np.zeros_like(enforced), enforced, ~enforced & False, (Place(0, "ball", 0, 7, tuple(LOOP.ball[0, 0])),)
    )
    notes = {note.code: note.data for note in plant(LOOP, FLOOR, Settings(direction="NEAREST", marks=marks)).notes}
    assert notes["places_unused"] == {"count": 1, "of": 1}


@pytest.mark.parametrize("clip", [LOOP, make_walk(2.0, FPS).clip], ids=["loop", "walk"])
def test_places_at_one_point_are_told_one_by_one(clip) -> None:
    nothing = np.zeros((clip.frames, clip.legs, 2), bool)
    places = tuple(Place(0, "ball", start, start + 5, tuple(clip.ball[0, 0])) for start in (0, 20))
    settings = Settings(direction="NEAREST", marks=Marks(nothing, nothing, nothing, places))
    notes = {note.code: note.data for note in plant(clip, FLOOR, settings).notes}
    assert notes["places_unused"] == {"count": 2, "of": 2}


@pytest.mark.parametrize("begins", [0, 20, 30, 31, 32])
def test_a_shortened_contact_of_a_loop_is_told_once_wherever_the_loop_begins(begins) -> None:
    order = (np.arange(45) + begins) % 44
    nothing = np.zeros((45, 2, 2), bool)
    enforced = nothing.copy()
    enforced[24:26, 0, 1] = True
    plan = plant(make_jump().cut(order), HILLS, Settings(marks=Marks(nothing, enforced[order], nothing)))
    assert [note.data["count"] for note in plan.notes if note.code == "contacts_shortened"] == [1]


def test_a_loop_is_planned_only_as_it_is_played_on(monkeypatch) -> None:
    frames, stand = [], stages.stand
    monkeypatch.setattr(stages, "stand", lambda clip, *given: frames.append(clip.frames) or stand(clip, *given))
    plant(LOOP, HILLS)
    assert frames == [len(frames_of_loop(LOOP)[0])]


def test_settings_of_single_frames_hold_on_these_frames_of_a_loop() -> None:
    strength, forbidden = np.linspace(0.0, 1.0, LOOP.frames), np.zeros((LOOP.frames, LOOP.legs, 2), bool)
    forbidden[20:24] = True
    marks = Marks(np.zeros_like(forbidden), np.zeros_like(forbidden), forbidden)
    plan = plant(LOOP, HILLS, Settings(strength=strength, marks=marks))
    assert (plan.strength == strength).all()
    assert plan.contacts.any() and not plan.contacts[forbidden].any()
    moved = plant(LOOP, HILLS).hips_offset
    assert np.abs(plan.hips_offset[0]).max() == 0.0 and np.abs(moved[0]).max() > 0.01


@pytest.mark.parametrize("clip", LOOPS.values(), ids=LOOPS)
def test_hips_that_an_earlier_plan_of_a_loop_moved_stay(clip) -> None:
    settings = Settings(strength=np.linspace(0.2, 1.0, clip.frames))
    first = plant(clip, GROUNDS["step"], settings)
    offset = np.repeat(first.hips_offset[:, None], clip.legs, axis=1)
    again = plant(clip, GROUNDS["step"], settings, offset=offset)
    assert np.abs(again.rotations - first.rotations).max() < 1e-9 and not again.hips_offset.any()


@pytest.mark.parametrize("contacts", ["AUTO", "ALWAYS"])
@pytest.mark.parametrize("clip", [*LOOPS.values(), make_walk(3.0).clip], ids=[*LOOPS, "no loop"])
def test_stored_contacts_plan_a_clip_again_as_it_was(clip, contacts) -> None:
    first = plant(clip, GROUNDS["step"], Settings(contacts=contacts))
    nothing = np.zeros_like(first.contacts)
    stored = Settings(contacts="STORED", marks=Marks(first.contacts, nothing, nothing))
    again = plant(clip, GROUNDS["step"], stored)
    assert (again.contacts == first.contacts).all()
    assert np.abs(again.rotations - first.rotations).max() < 1e-9


@pytest.mark.parametrize("gives_way", ["HEEL_HIPS", "HIPS"])
def test_stored_contacts_of_feet_that_always_stood_plan_them_again_beside_hands_that_touch_nothing(gives_way) -> None:
    clip = with_hands(make_walk(3.0, FPS).clip)
    clip = clip.moved(np.broadcast_to(3.0 * clip.is_hand[:, None] * clip.up, clip.hip.shape))
    settings = Settings(contacts="ALWAYS", gives_way=gives_way, max_drop=0.02)
    first = plant(clip, GROUNDS["step"], settings)
    nothing = np.zeros_like(first.contacts)
    assert first.contacts[:, ~clip.is_hand].all() and not first.contacts[:, clip.is_hand].any()
    again = plant(
        clip, GROUNDS["step"], replace(settings, contacts="STORED", marks=Marks(first.contacts, nothing, nothing))
    )
    assert np.abs(again.rotations - first.rotations).max() < 1e-9
    assert np.abs(again.hips_offset - first.hips_offset).max() < 1e-9


def test_poses_of_a_loop_on_twos_stay_held() -> None:
    assert find_pose_starts(TWOS) is not None
    plan = plant(TWOS, HILLS)
    assert np.abs(plan.rotations[2:32:2] - plan.rotations[3:33:2]).max() == 0.0
    assert seam(TWOS, planted(TWOS, plan)) < 0.003


def test_a_loop_in_place_stays_one_if_hands_are_planted_too() -> None:
    raised = with_hands(LOOP)
    assert seam(LOOP, planted(raised, plant(raised, HILLS)).choose(~raised.is_hand)) < 0.003


@pytest.mark.parametrize(
    "other", [{"strength": 0.5}, {"max_drop": 0.01}, {"contacts": "ALWAYS"}, {"direction": "NEAREST"}]
)
def test_a_second_plan_of_a_loop_is_that_of_a_fresh_run(other) -> None:
    first = plant(LOOP, HILLS)
    assert values(plant(LOOP, HILLS, Settings(**other), previous=first)) == values(
        plant(LOOP, HILLS, Settings(**other))
    )


def test_a_second_plan_of_a_loop_holds_feet_as_the_first(monkeypatch) -> None:
    first = plant(LOOP, HILLS)
    monkeypatch.setattr(stages, "stand", None)
    plant(LOOP, HILLS, Settings(strength=0.5), previous=first)
