# SPDX-License-Identifier: MIT
"""What people want of contacts: enforced ones hold, forbidden ones never stand, stored ones stay as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.contacts.spans import Marks, Span, marks_of, no_marks, spans_of
from ik2bone.contacts.standing import NEVER, Contacts, feet_that_stand, hurried
from ik2bone.curves import column_runs, runs
from ik2bone.plan import Settings, plant
from ik2bone.report import contact_spans, figures
from ik2bone.rotations import matrix_from_vector, move_points
from ik2bone.sole.measure import measure_sole, with_own_floor
from walk import FLAT, HILLS, height_field, in_place, make_keyed_walk, make_walk, planted

FEET = ("left", "right")
STEPS = height_field(lambda x, _: 0.15 * np.floor(x / 0.9))


def marked(clip, *spans, base=None) -> Marks:
    stored = [] if base is None else spans_of(base, FEET)
    return marks_of([*stored, *spans], FEET, 0, clip.frames)


def swing_of(plan, share=0.5) -> slice:
    """Frames in the middle of the left foot's first swing between two standings, or at another share of it."""
    stands = plan.contacts[:, 0].any(axis=-1)
    edges = np.flatnonzero(np.diff(stands.astype(int)))
    start = next(edge for edge in edges if not stands[edge + 1])
    end = next(edge for edge in edges if edge > start)
    middle = round(start + share * (end - start))
    return slice(middle - 3, middle + 4)


def paths(clip, plan):
    """Heel and ball of the left foot in the planted clip."""
    after = planted(clip, plan)
    return move_points(after.foot[:, 0], plan.sole.heel[0]), after.ball[:, 0]


@pytest.mark.parametrize("parts", [("ball",), ("heel", "ball"), ("heel",)])
@pytest.mark.parametrize(("mode", "ground"), [("AUTO", HILLS), ("STORED", FLAT)])
def test_enforced_parts_of_a_swinging_foot_stay_where_they_are(ground, parts, mode) -> None:
    clip = make_walk().clip
    plan = plant(clip, ground)
    swing = swing_of(plan)
    wanted = [Span("left", part, swing.start, swing.stop - 1, "enforced") for part in parts]
    marks = marked(clip, *wanted, base=plan.contacts)
    enforced = plant(clip, ground, Settings(contacts=mode, marks=marks, max_slope=1.0))
    assert enforced.contacts[swing, 0][:, [("heel", "ball").index(part) for part in parts]].all()
    for path, part in zip(paths(clip, enforced), ("heel", "ball"), strict=True):
        moved = np.linalg.norm(path[swing] - path[swing].mean(axis=0), axis=-1).max()
        assert (moved < 2e-3) == (part in parts), part
    states = {span["state"] for span in contact_spans(planted(clip, enforced), enforced)}
    assert states == {"automatic", "enforced"}


def enforced_figures(clip, ground, parts, frames) -> list[dict]:
    """Figures of the spans in which parts of the left foot are enforced on some frames."""
    marks = marked(clip, *(Span("left", part, frames.start, frames.stop - 1, "enforced") for part in parts))
    plan = plant(clip, ground, Settings(marks=marks, max_slope=1.0))
    told = figures(clip, planted(clip, plan), plan, ground)["spans"]
    spans = [span["after"] for span in told if span["state"] == "enforced"]
    assert len(spans) == len(parts)
    return spans


@pytest.mark.parametrize("share", [0.3, 0.7])
@pytest.mark.parametrize("parts", [("heel", "ball"), ("heel",)])
def test_feet_that_swing_tilted_lie_on_the_ground_where_their_heels_are_enforced(share, parts) -> None:
    clip = make_walk().clip
    spans = enforced_figures(clip, HILLS, parts, swing_of(plant(clip, HILLS), share))
    assert max(span["penetration"] for span in spans) < 2e-3 * clip.leg
    assert max(span["float"] for span in spans) < 6e-3 * clip.leg


@pytest.mark.parametrize("parts", [("heel", "ball"), ("heel",)])
@pytest.mark.parametrize("early", [2, 5])
def test_heels_that_are_enforced_beside_a_roll_stay_on_their_spot(parts, early) -> None:
    clip = make_walk(roll=np.radians(40.0)).clip
    plan = plant(clip, HILLS)
    lifts = next(end for start, end in runs(plan.contacts[:, 0, 1]) if start)
    spans = enforced_figures(clip, HILLS, parts, slice(lifts - early, lifts - early + 8))
    assert max(span["drift"] for span in spans) < 2e-3 * clip.leg
    assert max(span["float"] for span in spans) < 6e-3 * clip.leg


def test_contacts_that_enforced_ones_shorten_are_told() -> None:
    clip = make_walk().clip
    plan = plant(clip, FLAT)
    swing = swing_of(plan)
    stands = np.flatnonzero(plan.contacts[:, 0, 1])
    shortening = Span("left", "ball", swing.start, swing.stop - 1, "enforced")
    idle = Span("left", "ball", int(stands[5]), int(stands[9]), "enforced")
    plans = [plant(clip, FLAT, Settings(marks=marked(clip, span))) for span in (shortening, idle)]
    assert [(plan.contacts & ~other.contacts).any() for other in plans] == [True, False]
    told = [[sentence for sentence in map(str, other.notes) if "shorter" in sentence] for other in plans]
    assert len(told[0]) == 1 and "made 2 others shorter, because a foot needs time" in told[0][0]
    assert not told[1]


@pytest.mark.parametrize(("leg", "count"), [(0, 1), (1, 0)])
def test_contacts_are_told_as_shortened_only_beside_what_people_added(leg, count) -> None:
    standing = np.zeros((40, 2, 2), bool)
    standing[5:15, 0] = standing[18:30, 0] = standing[10:20, 1] = True
    held, added = standing.copy(), np.zeros_like(standing)
    held[13:15, 0], added[18:20, leg, 1] = False, True
    assert hurried(Contacts(standing, standing, True, added, added, added[..., 0]), held).sum() == count


def test_contacts_that_enforced_ones_part_are_told() -> None:
    """The left foot rolls down from its heel. With its ball pinned in the air, the heel is not held between both."""
    clip = make_walk(seconds=1.0).clip
    still = {name: np.repeat(getattr(clip, name)[:1], clip.frames, axis=0) for name in ("thigh", "shin", "toe", "tip")}
    foot, ball = np.repeat(clip.foot[:1], clip.frames, axis=0), np.repeat(clip.ball[:1], clip.frames, axis=0)
    heel = foot[0, 0, :3, 3] - [0.0, 0.0, 0.12]
    turn = matrix_from_vector(
        np.array([0.0, -1.0, 0.0]) * np.maximum(0.6 - 0.05 * np.arange(clip.frames), 0.0)[:, None]
    )
    foot[:, 0, :3, :3] = turn @ foot[:, 0, :3, :3]
    foot[:, 0, :3, 3], ball[:, 0] = (heel + turn @ (at[0, 0] - heel) for at in (foot[..., :3, 3], ball))
    clip = replace(clip, **still, foot=foot, ball=ball)
    sole = replace(measure_sole(make_walk().clip), heel=np.tile([0.0, 0.0, -0.12], (2, 1)))
    told, held = [], []
    for marks in (None, marked(clip, Span("left", "ball", 2, 2, "enforced"))):
        feet = feet_that_stand(clip, sole, "AUTO", marks)
        held.append(feet.standing[:, 0])
        told.append(hurried(feet, feet.standing).sum())
    assert (held[0].any(axis=-1) & ~held[1].any(axis=-1)).any()
    assert told == [0, 1]


def test_heel_that_is_pinned_while_it_stands_stays_where_it_was() -> None:
    """The rest of its stance, in which the foot rolls already, does not tell how it stands."""
    clip = make_walk(4.0, 30.0, roll=0.4).clip
    plan = plant(clip, HILLS)
    for start, end in runs(plan.contacts[:, 0, 0])[1:-1]:
        marks = marked(clip, Span("left", "heel", start, end - 4, "enforced"))
        pinned = plant(clip, HILLS, Settings(marks=marks))
        assert np.abs(paths(clip, pinned)[0] - paths(clip, plan)[0])[start:end].max() < 1e-3
        assert pinned.contacts[start:end, 0].sum() >= plan.contacts[start:end, 0].sum()


@pytest.mark.parametrize("mode", ["AUTO", "STORED"])
def test_forbidden_parts_never_stand(mode) -> None:
    clip = make_walk().clip
    plan = plant(clip, HILLS)
    stances = [span for span in contact_spans(planted(clip, plan), plan) if span["leg"] == 1 and span["part"] == "ball"]
    start, end = stances[1]["start"], stances[1]["end"]
    wanted = [Span("right", part, start - 9, end + 8, "forbidden") for part in ("heel", "ball")]
    marks = marked(clip, *wanted, base=plan.contacts)
    for given in (marks, replace(marks, automatic=plan.contacts)):
        forbidden = plant(clip, HILLS, Settings(contacts=mode, marks=given))
        assert not forbidden.contacts[start - 9 : end + 9, 1].any()
        assert (forbidden.contacts[:, 0] == plan.contacts[:, 0]).mean() > 0.99


def test_stored_contacts_are_taken_as_they_are() -> None:
    clip = make_walk(slide=0.04).clip
    plan = plant(clip, HILLS)
    stored = plant(clip, HILLS, Settings(contacts="STORED", marks=marked(clip, base=plan.contacts)))
    assert (stored.contacts == plan.contacts).all()
    again = plant(clip, HILLS, Settings(contacts="STORED", marks=marked(clip, base=stored.contacts)))
    assert (again.rotations == stored.rotations).all()
    shifted = np.roll(plan.contacts, 4, axis=0)
    moved = plant(clip, FLAT, Settings(contacts="STORED", marks=marked(clip, base=shifted)))
    assert (moved.contacts == shifted).all()


@pytest.mark.parametrize("name", ["contacts", "resting"])
@pytest.mark.parametrize("ground", [HILLS, STEPS], ids=["hills", "steps"])
def test_contacts_stored_without_an_edit_give_the_same_plan(ground, name) -> None:
    clip = make_walk(slide=0.04, roll=0.4).clip
    plan = plant(clip, ground)
    stored = plant(clip, ground, Settings(contacts="STORED", marks=marked(clip, base=getattr(plan, name))))
    assert (stored.rotations == plan.rotations).all()
    assert (stored.hips_offset == plan.hips_offset).all()
    assert (stored.contacts == plan.contacts).all()


@pytest.mark.parametrize("name", ["contacts", "resting"])
@pytest.mark.parametrize("make", [lambda clip: clip, in_place], ids=["walk", "in place"])
@pytest.mark.parametrize("states", [["enforced"], ["forbidden"], ["enforced", "forbidden"]])
def test_contacts_stored_with_edits_give_the_plan_of_these_edits(states, make, name) -> None:
    clip = make(make_walk(slide=0.04, roll=0.4).clip)
    edits = [
        Span("left", "ball", 52, 62, states[0], (1.8, 0.2, 0.0) if states[0] == "enforced" else None),
        Span("right", "heel", 100, 130, states[-1]),
        Span("left", "ball", 190, 205, states[-1]),
    ]
    plan = plant(clip, HILLS, Settings(marks=marked(clip, *edits)))
    stored = marked(clip, *edits, base=getattr(plan, name) & ~plan.enforced)
    again = plant(clip, HILLS, Settings(contacts="STORED", marks=stored))
    assert (again.contacts == plan.contacts).all()
    assert again.rotations == pytest.approx(plan.rotations, abs=1e-12)
    assert again.hips_offset == pytest.approx(plan.hips_offset, abs=1e-12)


def test_feet_far_from_an_edited_stored_contact_stay_as_they_were() -> None:
    clip = make_walk(roll=0.4).clip
    plan = plant(clip, HILLS)
    edited = plan.contacts.copy()
    leg, _, end = column_runs(edited.any(axis=-1))[0]
    edited[end - 3 : end, leg] = False
    stored = plant(clip, HILLS, Settings(contacts="STORED", marks=marked(clip, base=edited)))
    assert not stored.contacts[end - 3 : end, leg].any()
    far = slice(end + int(clip.fps), None)
    assert np.abs(stored.apply(clip).ball - plan.apply(clip).ball)[far].max() < 1e-5


@pytest.mark.parametrize("ground", [HILLS, STEPS], ids=["hills", "steps"])
def test_stances_that_people_joined_stay_as_they_are_stored_and_so_do_those_beside_them(ground) -> None:
    clip = make_walk(roll=0.4).clip
    joined = plant(clip, ground).contacts.copy()
    (leg, _, end), (other, later, _) = column_runs(joined.any(axis=-1))[:2]
    assert leg == other
    joined[end:later, leg] = True
    stored = plant(clip, ground, Settings(contacts="STORED", marks=marked(clip, base=joined)))
    assert stored.resting[joined].all()


def test_a_stored_stance_that_people_made_longer_is_no_longer_what_was_found() -> None:
    found = np.zeros((10, 1, 2), bool)
    nothing, shorter, longer = np.zeros_like(found), found.copy(), found.copy()
    shorter[3:5] = found[2:6] = longer[2:7] = True
    assert (Marks(shorter, nothing, nothing, alone=(shorter, found)).standing_with(found) == found).all()
    assert (Marks(longer, nothing, nothing, alone=(shorter, found)).standing_with(found) == longer).all()


def test_stored_contacts_without_any_follow_the_ground_and_tell() -> None:
    clip = make_walk().clip
    plan = plant(clip, HILLS, Settings(contacts="STORED", marks=no_marks((clip.frames, 2, 2))))
    assert not plan.contacts.any()
    assert not plan.locked.any()
    assert any("stored" in str(note) for note in plan.notes)


def test_stored_contacts_are_needed() -> None:
    with pytest.raises(ValueError, match="marks: expected those of stored contacts, got None"):
        plant(make_walk(1.0).clip, FLAT, Settings(contacts="STORED"))


def test_clip_in_place_stands_without_being_locked_and_tells_so() -> None:
    walk = make_walk()
    clip = in_place(walk.clip)
    plan = plant(clip, HILLS)
    assert not plan.locked.any()
    assert (plan.contacts.any(axis=-1) == walk.standing).mean() > 0.9
    assert any("treadmill" in str(note) for note in plan.notes)
    stored = plant(clip, HILLS, Settings(contacts="STORED", marks=marked(clip, base=plan.contacts)))
    assert not stored.locked.any()
    assert (stored.contacts == plan.contacts).all()
    assert stored.notes == plan.notes


def with_scaled_legs(clip, scale):
    """The clip with its legs scaled below hips that go on as before."""
    hips, moved = clip.thigh[..., :3, 3], {}
    for name in ("ball", "tip"):
        moved[name] = hips + scale * (getattr(clip, name) - hips)
    for name in ("thigh", "shin", "foot", "toe"):
        moved[name] = getattr(clip, name).copy()
        moved[name][..., :3, 3] = hips + scale * (moved[name][..., :3, 3] - hips)
    return replace(clip, **moved)


@pytest.mark.parametrize("scale", [0.8, 1.2])
def test_walk_that_slides_since_its_legs_were_scaled_is_locked_to_spots(scale) -> None:
    walk = make_walk()
    clip = with_scaled_legs(walk.clip, scale)
    plan = plant(clip, FLAT)
    assert plan.locked.all() and not any("in place" in str(note) for note in plan.notes)
    stands = plan.contacts[..., 1]
    assert (stands == walk.standing).mean() > 0.93
    before, after = (np.linalg.norm(np.diff(path, axis=0), axis=-1) for path in (clip.ball, planted(clip, plan).ball))
    held = stands[1:] & stands[:-1]
    assert np.median(after[held]) < 0.05 * np.median(before[held])


def test_clip_in_place_is_locked_where_that_is_enforced() -> None:
    clip = in_place(make_walk().clip)
    marks = marked(clip, Span("left", "ball", 60, 90, "enforced"))
    plan = plant(clip, FLAT, Settings(marks=marks))
    assert plan.locked.all()
    assert plan.contacts.sum() == 31
    ball = planted(clip, plan).ball[60:91, 0]
    assert np.linalg.norm(ball - ball[0], axis=-1).max() < 1e-3


def test_flying_clip_is_told_to_have_no_contact() -> None:
    clip = make_walk().clip
    time = np.arange(clip.frames)[:, None, None] / clip.fps
    moved = {name: getattr(clip, name) + time * [3.0, 0.0, 0.0] for name in ("ball", "tip")}
    for name in ("thigh", "shin", "foot", "toe"):
        moved[name] = getattr(clip, name).copy()
        moved[name][..., :3, 3] += time * [3.0, 0.0, 0.0]
    clip = replace(clip, **moved)
    feet = feet_that_stand(clip, measure_sole(clip), "AUTO", None)
    assert not feet.locked
    assert any("no foot ever stands still" in sentence for sentence in map(str, feet.notes))


@pytest.mark.parametrize(("seconds", "stands"), [(2.0, False), (0.5, True)])
def test_figure_that_hovers_for_a_moment_as_its_clip_ends_stands_on_no_spot(seconds, stands) -> None:
    pose = make_walk(fps=30.0).clip.cut(slice(0, 1))
    frames = round(30.0 * seconds)
    clip = pose.cut(np.zeros(frames, int))
    way = np.maximum(frames - 4 - np.arange(frames), 0)[:, None] / 30.0 * [0.0, 4.0, 1.0]
    feet = feet_that_stand(clip.moved(way), measure_sole(clip), "AUTO", None)
    assert feet.locked == stands
    assert (NEVER in feet.notes) != stands
    stored = feet_that_stand(clip.moved(way), measure_sole(clip), "STORED", marked(clip, base=feet.standing))
    assert (stored.locked, stored.notes) == (feet.locked, feet.notes)


@pytest.mark.parametrize("fps", [24.0, 60.0])
@pytest.mark.parametrize("seconds", [5.1, 6.1, 7.5])
def test_balls_that_stop_as_heels_strike_are_not_pressed_down(fps, seconds) -> None:
    """The first two clips end in such a strike, 0.1 s after it. Balls stop 0.08 over their places."""
    clip = make_keyed_walk(fps, seconds)
    plan = plant(clip, FLAT)
    assert not plan.contacts[..., 1][clip.ball[..., 2] > 0.02 + 0.05].any()
    assert plan.contacts[..., 1][clip.ball[..., 2] < 0.02 + 1e-6].mean() > 0.95
    assert np.abs(planted(clip, plan).ball - clip.ball).max() < 0.02


@pytest.mark.parametrize("roll", [0.6, 0.8])
def test_heel_that_is_up_while_toes_point_down_is_no_contact(roll) -> None:
    """Poses that are held for some frames show a rolling foot at rest: its heel went through the floor, ball first."""
    clip = make_walk(seconds=4.0, roll=roll).clip
    held = clip.cut(np.arange(clip.frames) // 4 * 4)
    after = plant(held, lambda xy: 0.0 * xy[:, 0]).apply(held)
    assert (held.ball - after.ball)[..., 2].max() < 0.06


@pytest.mark.parametrize("height", [0.0, 0.2])
@pytest.mark.parametrize("declared", [0.0, -0.5])
def test_figure_whose_feet_hang_from_a_chair_keeps_its_height_over_its_declared_floor(height, declared) -> None:
    walk = make_walk().clip
    row = np.abs(walk.ankle - walk.hip)[..., 0].max(axis=1).argmin()
    pose = walk.cut(np.full(60, row)).having(floors=(declared,))
    # Toes point up by 47 degrees, hips are 0.4 leg over the balls.
    chair = bent(bent(pose, "hip", 80.0, "thigh", "shin"), "knee", -33.0, "shin")
    sole = with_own_floor(chair, measure_sole(walk))
    plan = plant(chair, height_field(lambda x, _: 0.0 * x + height), sole=sole)
    assert not plan.locked.any() and NEVER in plan.notes
    moved = planted(chair, plan).ball - chair.ball
    np.testing.assert_allclose(moved, np.zeros_like(moved) + [0.0, 0.0, height - declared], atol=1e-6)


def bent(clip, joint, degrees, *bones):
    """The clip with `bones`, feet and toes turned by an angle about a joint, so that toes rise."""
    turn = np.eye(4)
    turn[:3, :3] = matrix_from_vector(np.radians([0.0, -degrees, 0.0]))
    way = np.tile(np.eye(4), (*clip.hip.shape[:2], 1, 1))
    way[..., :3, 3] = getattr(clip, joint)
    way = way @ turn @ np.linalg.inv(way)
    matrices = {name: way @ getattr(clip, name) for name in (*bones, "foot", "toe")}
    return clip.having(**matrices, **{name: move_points(way, getattr(clip, name)) for name in ("ball", "tip")})
