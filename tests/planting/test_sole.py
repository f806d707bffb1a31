# SPDX-License-Identifier: MIT
"""Soles measured from stances, each with one vote, so that neither a long idle nor a cut changes them."""

from __future__ import annotations

from dataclasses import replace

import ik2bone
import numpy as np
import pytest
from gaits import EASES
from ik2bone.clip import ARRAYS, Clip
from ik2bone.ground.carrier import moved_by
from ik2bone.plan import plant
from ik2bone.rotations import matrix_from_vector
from ik2bone.sole.measure import Sole, measure_sole, sole_points, with_own_floor
from walk import ANKLE, BALL, FLAT, FOOT, make_keyed_walk, make_walk, planted

WALK = make_walk(seconds=6.0, roll=0.4)
# A frame of the walk on which both feet stand.
STANDING = int(np.flatnonzero(WALK.standing.all(axis=1))[len(WALK.standing) // 40])


def idle_after(clip: Clip, seconds: float, rise: float) -> Clip:
    """The clip with a pose held after it, `rise` higher than it was."""
    index = np.concatenate([np.arange(clip.frames), np.full(round(seconds * clip.fps), STANDING)])
    longer = replace(clip, **{name: getattr(clip, name)[index] for name in ARRAYS})
    return longer.moved(np.outer(np.arange(len(index)) >= clip.frames, [0.0, 0.0, rise]))


def assert_alike(sole: Sole, other: Sole, leg: float, near: float = 0.002, angle: float = 0.5) -> None:
    """Soles whose points lie within `near` (leg lengths) and whose directions within an angle in degrees."""
    for name in ("ball_height", "heel", "ball", "tip", "floor"):
        assert np.abs(getattr(sole, name) - getattr(other, name)).max() <= near * leg, name
    for name in ("forward", "up", "toe_up"):
        cosine = np.sum(getattr(sole, name) * getattr(other, name), axis=-1).min()
        assert np.degrees(np.arccos(min(cosine, 1.0))) <= angle, name


@pytest.mark.parametrize("rise", [-0.02, 0.02])
@pytest.mark.parametrize("seconds", [2.0, 30.0])
def test_long_idle_at_another_height_does_not_move_the_sole(seconds, rise) -> None:
    clip = WALK.clip
    sole, idle = measure_sole(clip), measure_sole(idle_after(clip, seconds, rise))
    assert_alike(idle, sole, clip.leg)


@pytest.mark.parametrize("cut", [slice(40, None), slice(0, 300), slice(70, 280)])
def test_cut_walk_has_the_soles_of_the_whole(cut) -> None:
    clip = WALK.clip
    assert_alike(measure_sole(clip.cut(cut)), measure_sole(clip), clip.leg, 1e-6, 1e-3)


@pytest.mark.parametrize("fps", [24.0, 60.0])
@pytest.mark.parametrize("seconds", [5.3, 6.2, 7.3])
def test_balls_that_stop_as_heels_strike_do_not_show_the_sole(fps, seconds) -> None:
    """Some of the clips end in such a strike."""
    clip = make_keyed_walk(fps, seconds)
    sole, flat = measure_sole(clip), clip.ball[..., 2] < 0.02 + 1e-6
    assert sole.source == ("clip's floor",) * 2
    assert sole.ball_height == pytest.approx([0.02, 0.02], abs=0.002)
    heel = sole_points(clip, sole)[:, :, 0]
    assert heel[flat][:, 2] == pytest.approx(0.0, abs=0.002)


@pytest.mark.parametrize("back", [0.0, 0.1])
def test_feet_that_turn_without_heel_strikes_have_heels_by_proportion(back) -> None:
    """They step round in place under hips that turn evenly, by 0.7 radians a second, and stay level."""
    ease, fps = EASES["quintic"], 24.0
    time = 0.8 * np.arange(96)[:, None] / fps
    number, phase = np.divmod(time + [0.0, 0.5], 1.0)
    swing = np.clip((phase - 0.62) / 0.38, 0.0, 1.0)
    feet, body = 0.9 * (number + ease(swing) + [0.31, -0.19]), 0.9 * np.broadcast_to(time, phase.shape)
    (ahead, beside), (front, side) = (
        np.array([[np.cos(way), np.sin(way), 0.0 * way], [-np.sin(way), np.cos(way), 0.0 * way]]).transpose(0, 2, 3, 1)
        for way in (feet, body)
    )
    apart, up = np.array([[0.1], [-0.1]]), np.array([0.0, 0.0, 1.0])
    ankle = apart * beside - back * ahead + (0.09 + 0.06 * np.sin(np.pi * swing[..., None]) ** 2) * up
    ball, hip = ankle + 0.14 * ahead - 0.07 * up, apart * side + 0.95 * up
    knee = ik2bone.solve(hip, hip + [0.1, 0.0, -0.5], hip + [0.0, 0.0, -0.98], ankle, pole=front).mid
    sole = measure_sole(Clip.from_points(fps, hip, knee, ankle, ball))
    assert sole.lengths[:, 0] == pytest.approx(1.3 * 0.14, abs=1e-3)


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0])
def test_heel_strike_at_the_end_of_a_clip_counts_as_others(fps) -> None:
    """Four seconds of a walk show each heel in few frames; the strikes are exact."""
    heels = [measure_sole(make_walk(seconds, fps).clip).lengths[:, 0] for seconds in (4.0, 8.0)]
    assert heels[0] == pytest.approx(heels[1], abs=1e-3)


def test_sole_lies_under_heel_and_ball_of_a_flat_foot() -> None:
    """The feet of this walk are lifted by up to 0.006 where its legs do not reach."""
    sole = measure_sole(make_walk(seconds=6.0).clip)
    assert sole.source == ("clip's floor",) * 2
    assert sole.ball_height == pytest.approx([BALL, BALL], abs=0.006)
    assert sole.ball == pytest.approx(np.tile([FOOT, 0.0, -ANKLE], (2, 1)), abs=0.006)
    assert sole.heel[:, 2] == pytest.approx([-ANKLE, -ANKLE], abs=0.006)
    assert sole.up == pytest.approx(np.tile([0.0, 0.0, 1.0], (2, 1)), abs=0.01)


def test_feet_that_stand_unlike_share_the_height_between_them() -> None:
    clip = make_walk(seconds=6.0).clip
    higher = {name: getattr(clip, name).copy() for name in ("foot", "toe", "ball", "tip")}
    for name, values in higher.items():
        values[:, 1, 2, *([3] if name in ("foot", "toe") else [])] += 0.01
    between = measure_sole(clip).ball_height + 0.005
    assert measure_sole(replace(clip, **higher)).ball_height == pytest.approx(between, abs=1e-4)


def test_floor_is_found_anew_under_a_clip_that_was_moved() -> None:
    clip = WALK.clip
    moved = clip.moved(np.tile([0.0, 0.0, 0.3], (clip.frames, 1)))
    assert with_own_floor(moved, measure_sole(clip)).floor == pytest.approx(0.3, abs=1e-6)


def test_idle_figure_keeps_its_pose_on_its_own_floor() -> None:
    clip = idle_after(WALK.clip, 3.0, 0.0)
    after = planted(clip, plant(clip, FLAT))
    still = slice(-100, None)
    assert np.abs(after.ball - clip.ball)[still].max() < 0.004 * clip.leg
    assert np.abs(after.hip - clip.hip)[still].max() < 0.02 * clip.leg
    axes = np.einsum("flji,fljk->flik", clip.foot[still, :, :3, :3], after.foot[still, :, :3, :3])
    cosine = (np.trace(axes, axis1=-2, axis2=-1).min() - 1.0) / 2.0
    assert np.degrees(np.arccos(min(cosine, 1.0))) < 0.5


def test_legs_whose_balls_lie_at_their_ankles_stand_on_that_point() -> None:
    clip = WALK.clip
    pegs = clip.having(ball=clip.ankle, tip=clip.ankle, toe=clip.foot, has_toe=np.zeros(2, bool), floors=(-7.0,))
    sole = measure_sole(pegs)
    assert sole.source == ("point",) * 2
    assert not sole.ball_height.any() and not sole.lengths.any()
    assert sole.floor == pytest.approx(ANKLE, abs=0.01)
    plan = plant(pegs, hills)
    after = plan.apply(pegs).ball
    standing = plan.contacts[..., 1]
    assert standing.any(axis=0).all()
    assert after[standing][:, 2] == pytest.approx(hills(after[standing][:, :2]), abs=1e-3 * clip.leg)
    assert (after[..., 2] - hills(after[..., :2].reshape(-1, 2)).reshape(standing.shape)).min() > -0.01 * clip.leg


def hills(xy):
    return 0.06 * np.sin(2.0 * xy[:, 0]) + 0.04 * np.sin(3.0 * xy[:, 1] + 1.0)


def about(point, vectors):
    """Motions (F, 4, 4) that turn by vectors (F, 3) about a point."""
    motion = np.zeros((len(vectors), 4, 4))
    motion[:, :3, :3], motion[:, 3, 3] = matrix_from_vector(vectors), 1.0
    motion[:, :3, 3] = point - motion[:, :3, :3] @ point
    return motion


def make_fall(axis, relaxed=0.0) -> Clip:
    """A figure that stands for a second, falls to its back or side, and lies with feet `relaxed` by so many degrees."""
    places = [(0.0, 0.95), (0.03, 0.52), (0.0, 0.09), (0.15, 0.03), (0.22, 0.03)]
    hip, knee, ankle, ball, tip = (np.array([[(x, y, z) for y in (0.1, -0.1)]]) for x, z in places)
    pose = Clip.from_points(60.0, hip, knee, ankle, ball, tip=tip).cut(np.zeros(200, int))
    angle = np.interp(np.arange(200), (60, 90), (0.0, 0.5 * np.pi))[:, None]
    heel, up = np.array([-0.05, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    extended = about(ankle[0, 0], np.radians(relaxed) * np.sin(angle) * [0.0, 1.0, 0.0])
    feet = moved_by(extended, pose)
    motion = about(heel, angle * {"back": [0.0, -1.0, 0.0], "side": [1.0, 0.0, 0.0]}[axis])
    # Feet leave the ground as it falls, and come to lie on it.
    motion[:, 2, 3] += 0.2 * np.sin(2.0 * angle[:, 0]) - (motion @ extended @ [*heel, 1.0])[:, 2]
    standing = pose.having(foot=feet.foot, toe=feet.toe, ball=feet.ball, tip=feet.tip)
    return moved_by(motion, standing).having(up=up)


@pytest.mark.parametrize(("axis", "relaxed"), [("back", 0.0), ("back", 50.0), ("back", 65.0), ("side", 0.0)])
def test_figure_that_falls_and_lies_keeps_its_feet_as_they_are(axis, relaxed) -> None:
    clip = make_fall(axis, relaxed)
    assert_alike(measure_sole(clip), measure_sole(clip.cut(slice(0, 60))), clip.leg)
    plan = plant(clip, hills)
    assert plan.contacts[:40].all() and not plan.contacts[90:, :, int(relaxed > 0.0) :].any()
    after = plan.apply(clip).foot[95:, :, :3, :3]
    turned = np.trace(np.swapaxes(after, -1, -2) @ clip.foot[95:, :, :3, :3], axis1=-2, axis2=-1)
    assert np.degrees(np.arccos(0.5 * (turned.min() - 1.0))) < 10.0


def make_handstand() -> Clip:
    """A figure that stands on its hands, with toes up: it never shows how its feet stand."""
    half_turns, over = np.full((60, 3), [0.0, np.pi, 0.0]), np.array([0.0, 0.0, 0.9])
    return moved_by(about(over, half_turns), make_fall("back").cut(slice(0, 60))).having(up=np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize("height", [0.0, 0.4])
@pytest.mark.parametrize("clip", [make_fall("back").cut(slice(95, None)), make_handstand()], ids=["lies", "handstand"])
def test_figure_that_never_shows_its_feet_on_the_ground_keeps_its_height_over_its_declared_floor(clip, height) -> None:
    plan = plant(clip, lambda xy: 0.0 * xy[:, 0] + height)
    assert not plan.locked.any()
    moved = plan.apply(clip).ball - clip.ball
    np.testing.assert_allclose(moved, np.zeros_like(moved) + [0.0, 0.0, height], atol=1e-6)
