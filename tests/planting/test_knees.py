# SPDX-License-Identifier: MIT
"""Knees neither snap nor fold too far, and swinging feet are drawn to their hips smoothly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from figures import figure_of
from gaits import make_gait
from ik2bone.clip import Clip
from ik2bone.knees import FOLDED, SUDDEN, SUDDEN_IN_PLACE, draw_swings, eased_reach, shortest, unfold_swings
from ik2bone.plan import plant
from ik2bone.reach import own_reach
from measures import knee_angle, measure
from walk import height_field, make_walk, planted

FPS = 60.0
CLIP = make_walk(1.2).clip


def snapping(drop: float):
    """A walk and ankles of it that are pushed down for a moment, in the middle of each swing, by `drop`."""
    walk = make_walk(fps=FPS)
    clip = walk.clip
    phase = (np.arange(clip.frames)[:, None] / FPS / 1.1 + np.array([0.0, 0.5])) % 1.0
    push = -drop * np.exp(-(((phase - 0.81) / 0.015) ** 2))[..., None] * clip.up
    return clip, clip.ankle + push, ~walk.standing


def drawn(clip, ankle, swings):
    return ankle + draw_swings(clip, ankle, clip.hip, swings, own_reach(clip))


def test_snap_in_a_swing_is_eased() -> None:
    clip, ankle, swings = snapping(0.12)
    sides = (ankle, drawn(clip, ankle, swings))
    angles = [clip.bend_at(np.linalg.norm(side - clip.hip, axis=-1)) for side in sides]
    second = [np.abs(a[4:] - 2 * a[2:-2] + a[:-4]).max() for a in angles]
    assert second[1] < 0.6 * second[0]


def test_foot_of_a_bent_leg_does_not_leap_where_the_clip_has_a_straight_one() -> None:
    """A straight knee bends by 20 degrees while its foot hardly moves; one that is bent by 74 must not do so, too."""
    time = np.arange(60) / FPS
    away = 1.0 - 2.0 * np.maximum(time - 0.5, 0.0) ** 2
    hip, ankle, knee = np.zeros((60, 1, 3)), np.zeros((60, 1, 3)), np.zeros((60, 1, 3))
    ankle[:, 0, 2] = -away
    knee[:, 0, 0], knee[:, 0, 2] = np.sqrt(np.maximum(0.25 - away**2 / 4.0, 0.0)), -0.5 * away
    clip = Clip.from_points(FPS, hip, knee, ankle, ankle + [0.15, 0.0, -0.05])
    swings = np.broadcast_to(time[:, None] > 0.5, (60, 1))
    paths = [side[:, 0, 2] for side in (clip.ankle, drawn(clip, clip.ankle + [0.0, 0.0, 0.2], swings))]
    second = [np.abs(path[4:] - 2 * path[2:-2] + path[:-4]).max() for path in paths]
    assert second[1] < 1.6 * second[0]


def test_standing_feet_keep_their_targets() -> None:
    clip, ankle, swings = snapping(0.12)
    assert (drawn(clip, ankle, swings)[~swings] == ankle[~swings]).all()


def test_feet_are_drawn_towards_their_hips_into_reach() -> None:
    clip, ankle, swings = snapping(0.2)
    lengths = [np.linalg.norm(side - clip.hip, axis=-1) for side in (ankle, drawn(clip, ankle, swings))]
    assert (lengths[1] <= lengths[0] + 1e-9).all() and (lengths[1] < lengths[0] - 1e-3).any()
    assert (lengths[1] <= own_reach(clip) + 1e-9)[swings].all()


def test_motion_of_the_clip_itself_is_left_alone() -> None:
    clip, ankle, swings = snapping(0.0)
    assert drawn(clip, ankle, swings) == pytest.approx(clip.ankle, abs=1e-7)


def test_swinging_leg_does_not_straighten_suddenly_into_reach() -> None:
    """A knee that straightens by nine degrees a frame, and would stop at once where the foot is out of reach."""
    clip, frames = bending(np.full(60, 60.0)), np.arange(60)
    ankle = bending(np.clip(270.0 - 9.0 * frames, 0.0, 130.0)).ankle
    ankle -= np.where(frames > 29, 0.2, 0.0)[:, None, None] * clip.up
    after = ankle + draw_swings(clip, ankle, clip.hip, np.ones((60, 1), bool), 0.995 * clip.reach)
    bend = clip.bend_at(np.linalg.norm(after - clip.hip, axis=-1))[20:, 0]
    assert np.diff(bend, 2).max() < 1.1 * SUDDEN_IN_PLACE / FPS**2


def bending(degrees):
    """A clip of one leg, thigh and shin 0.5 long, whose knee is bent by so many degrees (F,) and whose hip stays."""
    half, (hip, knee, ankle) = np.radians(degrees) / 2.0, np.zeros((3, len(degrees), 1, 3))
    knee[:, 0, 0], knee[:, 0, 2], ankle[:, 0, 2] = 0.5 * np.sin(half), -0.5 * np.cos(half), -np.cos(half)
    return Clip.from_points(FPS, hip, knee, ankle, ankle + [0.15, 0.0, -0.05])


def eased(before, after):
    """Degrees (F,) by which a knee is bent in the end that is bent by these before, and after."""
    clip = bending(before)
    return np.degrees(clip.bend_at(eased_reach(clip, bending(after).ankle, clip.reach, SUDDEN)))[:, 0]


def test_knee_of_a_standing_leg_does_not_straighten_and_bend_again_suddenly() -> None:
    dip = 40.0 - 30.0 * np.exp(-(((np.arange(61) - 30) / 3.0) ** 2))
    level = eased(np.full(61, 40.0), dip)
    assert np.diff(level, 2).max() == pytest.approx(np.degrees(SUDDEN) / FPS**2)
    # As suddenly as in the clip it may.
    assert eased(dip, dip) == pytest.approx(dip)


def test_knee_that_bends_evenly_is_not_bent_for_one_that_turns_back_in_the_clip() -> None:
    peak, level = 10.0 + 30.0 * np.exp(-(((np.arange(61) - 30) / 3.0) ** 2)), np.full(61, 20.0)
    assert eased(peak, level) == pytest.approx(level)


@pytest.mark.parametrize("height", [0.12, 0.18])
def test_knees_do_not_snap_as_feet_land_on_lower_steps(height) -> None:
    steps = height_field(lambda x, _: height * (np.abs((np.floor(x / 0.9 + 0.35) + 3) % 6 - 3) - 1))
    clip = figure_of(make_gait("fast walk", 30.0))
    plan = plant(clip, steps)
    judged = measure(clip, planted(clip, plan), steps, plan.sole.heel)
    assert judged.knee_pop <= 10.5
    assert plan.miss.max() < 1e-6


def near_hips(seed=0):
    """Ankle targets in random directions, from on the hip joint to half a leg from it."""
    random = np.random.default_rng(seed)
    away = random.normal(size=CLIP.hip.shape)
    away *= random.uniform(0.0, 0.5, away.shape[:2])[..., None] / np.linalg.norm(away, axis=-1, keepdims=True)
    return CLIP.hip + away


def test_shortest_leg_is_that_of_the_furthest_fold() -> None:
    assert shortest(CLIP) == pytest.approx(np.full(CLIP.hip.shape[:2], 2 * 0.5 * np.cos(FOLDED / 2)))


def test_clip_that_folds_its_knees_further_keeps_its_own_length() -> None:
    squat = replace(CLIP, foot=CLIP.foot.copy())
    squat.foot[..., :3, 3] = CLIP.hip - [0.0, 0.0, 0.2]
    # The shins of this one are longer, so that it could not fold to less.
    assert shortest(squat) == pytest.approx(np.full(CLIP.hip.shape[:2], 0.2))


def test_swinging_feet_keep_off_their_hips_and_all_else_stays() -> None:
    ankle, swings = near_hips(), np.zeros(CLIP.hip.shape[:2], bool)
    swings[10:40] = True
    move = unfold_swings(CLIP, ankle, CLIP.hip, swings)
    before, after = (np.linalg.norm(side - CLIP.hip, axis=-1) for side in (ankle, ankle + move))
    folded = swings & (before < shortest(CLIP))
    assert folded.any() and (after - shortest(CLIP))[folded].min() > -1e-9
    assert not move[~swings].any()


def test_swinging_feet_come_to_the_furthest_fold_smoothly() -> None:
    """Feet that stop at once where their knees would fold too far, in mid-swing, pop by four times as much."""
    clip, swings = replace(CLIP.cut(slice(0, 40)), fps=60.0), np.ones((40, 2), bool)
    away = np.repeat(0.2 + 0.0008 * (np.arange(40)[:, None] - 20.0) ** 2, 2, axis=1)
    ankle = clip.hip - away[..., None] * clip.up
    kept = np.linalg.norm(ankle + unfold_swings(clip, ankle, clip.hip, swings) - clip.hip, axis=-1)
    pops = [np.abs(np.diff(path, 2, axis=0)).max() for path in (np.maximum(away, shortest(clip)), kept)]
    assert pops[1] < 0.25 * pops[0]


def test_feet_leave_their_hips_without_a_jump() -> None:
    clip, swings = CLIP.cut(slice(0, 1)), np.ones((1, 2), bool)

    def kept(away: float):
        ankle = clip.hip + away * np.array([0.05, 0.0, -1.0])
        return ankle + unfold_swings(clip, ankle, clip.hip, swings)

    path = np.concatenate([kept(away) for away in np.linspace(0.0, 0.6, 601)])
    assert np.linalg.norm(np.diff(path, axis=0), axis=-1).max() < 0.003


def test_walk_up_high_blocks_folds_no_knee_too_far() -> None:
    clip = make_walk().clip
    blocks = height_field(lambda x, y: 0.35 * np.floor(x / 1.2))
    assert knee_angle(clip).max() < np.degrees(FOLDED)
    # Easing a swinging knee back from the furthest may fold it a little on its way.
    assert knee_angle(planted(clip, plant(clip, blocks))).max() <= np.degrees(FOLDED) + 3.0
