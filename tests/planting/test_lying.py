# SPDX-License-Identifier: MIT
"""Planting what was planted before: feet that lie along the ground already are neither tilted nor raised again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.anchors.lying import as_on_level, lie_along, own_floor
from ik2bone.contacts.spans import Marks
from ik2bone.contacts.steady import turned_about
from ik2bone.ground.given import as_ground
from ik2bone.plan import Settings, plant
from ik2bone.rotations import matrix_from_vector, move_points, turn_vectors
from ik2bone.sole.measure import with_own_floor
from ik2bone.targets.touch import measure_limbs
from walk import CYCLE, FLAT, HILLS, height_field, in_place, make_walk, planted

UP = np.array([0.0, 0.0, 1.0])
SLOPE = height_field(lambda x, y: 0.3 * x + 2.0)
STAIRS = height_field(lambda x, y: 0.14 * np.floor((x + 0.4) / 0.62))
LEVEL = height_field(lambda x, y: 0.0 * x + 0.7)


def _planted_twice(clip, ground, settings=None):
    """A clip planted once, and that planted again with the soles as the first run measured them."""
    sole = measure_limbs(clip)
    once = planted(clip, plant(clip, ground, settings, sole))
    return once, planted(once, plant(once, ground, settings, with_own_floor(once, sole)))


def _apart(path, other):
    """How far paths (300, L, 3) lie apart, but for the steps at either end."""
    return np.linalg.norm(path - other, axis=-1)[30:240].max()


@pytest.mark.parametrize("ground", [SLOPE, HILLS, STAIRS, LEVEL], ids=["slope", "hills", "stairs", "level"])
@pytest.mark.parametrize("make", [lambda clip: clip, in_place], ids=["walk", "in place"])
def test_planting_again_changes_little(ground, make) -> None:
    once, again = _planted_twice(make(make_walk(roll=0.4).clip), ground)
    tip = np.array([0.0, 0.0, 0.2])
    # Feet in place hover over edges, and their soles are measured again there.
    assert _apart(again.hip, once.hip) < 0.02
    # Heels that rise for reach rise a little more.
    assert _apart(again.ankle, once.ankle) < 0.02
    assert _apart(
        move_points(again.foot, tip) - again.ankle, move_points(once.foot, tip) - once.ankle
    ) < 0.2 * np.radians(3.0)


@pytest.mark.parametrize("roll", [0.4, 0.8])
@pytest.mark.parametrize("ground", [SLOPE, HILLS, STAIRS, LEVEL], ids=["slope", "hills", "stairs", "level"])
def test_planting_again_in_place_moves_nothing_however_far_feet_roll(ground, roll) -> None:
    clip = in_place(make_walk(roll=roll).clip)
    first = plant(clip, ground)
    once = first.apply(clip)
    again = plant(once, ground, None, with_own_floor(once, first.sole)).apply(once)
    for name in ("hip", "ankle", "ball"):
        assert np.abs(getattr(again, name) - getattr(once, name)).max() < 1e-6


def test_a_clip_in_place_over_ground_that_lies_lower_is_moved_down_to_it_as_it_is() -> None:
    clip = in_place(make_walk(roll=0.8).clip)
    first = plant(clip, HILLS)
    once = first.apply(clip)
    lower = plant(once.moved(np.tile([0.0, 0.0, 0.3], (once.frames, 1))), HILLS, None, first.sole)
    assert lower.hips_offset == pytest.approx(np.tile([0.0, 0.0, -0.3], (once.frames, 1)), abs=1e-3)


def test_feet_that_point_down_in_a_hop_swing_as_low_over_the_slope_again() -> None:
    pose, air = make_walk(1.0, 30.0).clip.cut(np.full(45, 15)), np.maximum(0.0, 1.0 - ((np.arange(45) - 22) / 9.0) ** 2)
    hop = pose.moved((0.1 * air)[:, None] * UP)
    pointed = matrix_from_vector(np.tile((1.2 * air)[:, None, None] * [0.0, 1.0, 0.0], (1, 2, 1)))
    once, again = _planted_twice(turned_about(hop, hop.ankle, pointed), SLOPE)
    assert np.abs(again.ball - once.ball).max() < 0.002
    assert np.abs(again.hip - once.hip).max() < 0.002


def test_feet_keep_to_the_ground_if_their_balls_do_while_tips_point_into_it() -> None:
    along = np.linspace(0.0, 1.0, 50)
    clip = make_walk(1.0, 30.0).clip.cut(np.full(50, 15)).moved(along[:, None] * [1.0, 0.0, 0.0])
    clip = clip.moved((0.3 * clip.ball[..., 0] + 2.0 - clip.ball[..., 2])[..., None] * UP)
    pitch = np.tile(np.where(along > 0.9, 1.2, 0.0)[:, None, None] * [0.0, 1.0, 0.0], (1, 2, 1))
    pointed = turned_about(clip, clip.ball, matrix_from_vector(pitch))
    sole = measure_limbs(clip)
    long_toes = replace(sole, tip=sole.tip * [4.0, 1.0, 1.0])
    assert own_floor(pointed, long_toes, clip.ball, as_ground(SLOPE, clip))[1]


def test_feet_in_place_change_continuously_with_the_slope_that_they_may_keep_to() -> None:
    clip = in_place(make_walk((round(CYCLE * 30.0) + 1) / 30.0, 30.0, roll=0.4).clip)
    slopes = (height_field(lambda x, _, rise=rise: rise * x) for rise in np.arange(0.028, 0.034, 0.00025))
    ankles = [planted(clip, plant(clip, slope)).ankle for slope in slopes]
    assert np.linalg.norm(np.diff(ankles, axis=0), axis=-1).max() < 0.004 * clip.leg


def test_heights_that_differ_by_millimetres_do_not_show_on_what_a_clip_stands() -> None:
    walk = make_walk(4.0).clip
    for rise, shown in ((0.001, False), (0.02, True)):
        clip = walk.moved((rise * walk.hip[:, 0, 0])[:, None] * UP)
        ground = as_ground(height_field(lambda x, _, rise=rise: rise * x), clip)
        assert (as_on_level(clip, ground) is not clip) == shown


@pytest.mark.parametrize("degrees", [-6.0, 9.0])
def test_body_does_not_lean_again_over_soles_that_the_clip_has_tilted_as_far_as_the_ground(degrees) -> None:
    # Both feet stand on their inner edges, as recorded ones do by some degrees.
    clip, sole = make_walk(roll=0.4).clip, measure_limbs(make_walk(roll=0.4).clip)
    turn = np.swapaxes(matrix_from_vector(np.radians(degrees) * np.array([[[1.0, 0, 0], [-1.0, 0, 0]]])), -1, -2)
    bones = {name: getattr(clip, name).copy() for name in ("foot", "toe")}
    for bone in bones.values():
        bone[..., :3, :3] = turn @ bone[..., :3, :3]
    ball, tip = (clip.ankle + turn_vectors(turn, point - clip.ankle) for point in (clip.ball, clip.tip))
    bones["toe"][..., :3, 3] = ball
    tilted = replace(clip, **bones, ball=ball, tip=tip)
    once = plant(tilted, HILLS, None, sole).apply(tilted)
    assert np.abs(plant(once, HILLS, None, sole).hips_offset).max() < 0.01


@pytest.mark.parametrize("make", [lambda clip: clip, in_place], ids=["walk", "in place"])
def test_level_feet_are_tilted_by_the_second_run_if_the_first_did_not(make) -> None:
    clip = make(make_walk().clip)
    sole = measure_limbs(clip)
    level = planted(clip, plant(clip, SLOPE, Settings(use_slope=False), sole))
    again = planted(level, plant(level, SLOPE, None, with_own_floor(level, sole)))
    once = planted(clip, plant(clip, SLOPE, None, sole))
    turns = [np.einsum("flij,j->fli", foot[..., :3, :3], UP) for foot in (again.foot, once.foot)]
    assert np.median(np.linalg.norm(turns[0] - turns[1], axis=-1)) < np.radians(1.0)


def test_a_clip_made_on_level_ground_is_tilted_wherever_its_feet_roll() -> None:
    clip = make_walk(roll=0.4).clip
    for rise in (-0.3, -0.05, 0.05, 0.3):
        anchors = plant(clip, height_field(lambda x, y, rise=rise: rise * x)).anchors
        assert all(
            np.degrees(np.arccos(anchor.turn[2, 2])) > 0.9 * np.degrees(np.arctan(abs(rise))) for anchor in anchors
        )


def test_soles_lie_along_what_they_are_nearer_to() -> None:
    normal = np.array([-0.2, 0.0, 1.0]) / np.hypot(0.2, 1.0)
    rows = np.tile(normal, (10, 1))
    assert lie_along(rows, rows, UP)
    assert not lie_along(np.tile(UP, (10, 1)), rows, UP)
    assert not lie_along(rows[:0], rows[:0], UP)
    assert not lie_along(np.tile(UP, (10, 1)), np.tile(UP, (10, 1)), UP)


def test_soles_that_roll_past_the_slope_lie_along_it_only_if_feet_keep_to_its_heights() -> None:
    normal, away = (np.array([x, 0.0, 1.0]) / np.hypot(x, 1.0) for x in (-0.2, 0.5))
    soles_up, normals = np.repeat([normal, away], [4, 6], axis=0), np.tile(normal, (10, 1))
    assert not lie_along(soles_up, normals, UP)
    assert lie_along(soles_up, normals, UP, keep=True)


@pytest.mark.parametrize("roll", [0.0, 0.4])
@pytest.mark.parametrize("ground", [SLOPE, HILLS, STAIRS], ids=["slope", "hills", "stairs"])
def test_soles_of_a_clip_that_keeps_to_the_ground_are_measured_from_it(ground, roll) -> None:
    """Against a level floor they tell nothing: feet stood up to 0.5 elsewhere by soles that were guessed."""
    clip = make_walk(roll=roll).clip
    first = plant(clip, ground)
    once = planted(clip, first)
    again = plant(once, ground)
    assert again.sole.ball_height == pytest.approx(first.sole.ball_height, abs=1e-4)
    moved = np.linalg.norm(planted(once, again).ball - once.ball, axis=-1)
    assert moved[again.contacts.any(axis=-1)].max() < 5e-3


@pytest.mark.parametrize("rise", [-0.27, -0.2, 0.2, 0.27])
def test_feet_of_a_clip_that_keeps_to_high_steps_stand_on_all_of_them_again(rise) -> None:
    clip = make_walk().clip
    steps = height_field(lambda x, _: rise * np.floor((x + 0.4) / 0.62))
    first = plant(clip, steps)
    once = planted(clip, first)
    again = plant(once, steps)
    stood = first.contacts.any(axis=-1)
    # A foot that comes down just before the clip ends may do so a frame later.
    assert np.count_nonzero(stood & ~again.contacts.any(axis=-1)) <= 1
    assert np.linalg.norm(planted(once, again).ball - once.ball, axis=-1)[stood].max() < 2e-3


def test_both_feet_of_a_figure_that_stands_still_across_a_step_stand_again() -> None:
    pose = make_walk().clip.cut(np.full(60, 60))
    assert plant(pose, FLAT).contacts[:, :, 1].all()
    step = height_field(lambda x, _: 0.2 * (x > pose.ball[0, :, 0].mean()))
    once = planted(pose, plant(pose, step))
    again = plant(once, step)
    assert again.contacts[:, :, 1].all()
    assert np.abs(planted(once, again).ball - once.ball).max() < 2e-3


def test_flat_ground_stays_flat() -> None:
    once, again = _planted_twice(make_walk(roll=0.4).clip, FLAT)
    assert _apart(again.ankle, once.ankle) < 2e-3


@pytest.mark.parametrize("ground", [lambda x, _: 0.0 * x, lambda x, _: 0.2 * np.floor(x)], ids=["level", "steps"])
def test_feet_that_swing_as_a_clip_begins_go_as_far_as_all_others_with_ground_that_lies_lower(ground) -> None:
    clip = make_walk(seconds=3.0).clip.cut(slice(50, None))
    sole = measure_limbs(clip)
    clip = plant(clip, height_field(ground)).apply(clip)
    contacts = plant(clip, FLAT).contacts.copy()
    assert not contacts[0, 0].any()
    last = np.flatnonzero(~contacts[:, 1].any(axis=-1))[-1] + 1
    contacts[last:, 1, 1] = False  # the last standing, on the heel alone
    nothing = np.zeros_like(contacts)
    stored = Settings(contacts="STORED", marks=Marks(contacts, nothing, nothing))
    grounds = [height_field(lambda x, y, at=at: ground(x, y) + at) for at in (0.0, -0.5)]
    here, lower = (plant(clip, ground, stored, sole) for ground in grounds)
    assert {anchor.part for anchor in here.anchors} == {"heel", "ball"}
    assert lower.apply(clip).ankle == pytest.approx(here.apply(clip).ankle - [0.0, 0.0, 0.5], abs=1e-6)
