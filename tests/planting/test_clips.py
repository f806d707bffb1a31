# SPDX-License-Identifier: MIT
"""Clips of transforms and of points: what may be left out of them, and how bones lie between points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from ik2bone import Clip, Settings, find_contacts, plant
from ik2bone.clip import FASTEST
from ik2bone.joints import BALL_AHEAD, BALL_BELOW, TOES_SHARE
from short_walk import LEG, POINTS, WALK, from_points, hills
from walk import FLAT, HILLS, make_walk


def test_clip_takes_lists_and_single_precision() -> None:
    lists = Clip(60, *(matrix[:3].tolist() for matrix in LEG.values()))
    single = Clip(np.float32(60), *(matrix[:3].astype(np.float32) for matrix in LEG.values()), up=[0, 0, 1])
    for clip in (lists, single):
        assert clip.thigh.dtype == np.float64 and clip.fps == 60.0
        assert clip.ankle == pytest.approx(WALK.ankle[:3], abs=1e-6)


def test_frame_rates_may_be_fractions() -> None:
    rate = Fraction(30000, 1001)
    assert Clip(rate, **LEG).fps == float(rate)
    assert Settings(strength=Fraction(1, 2)).strength == 0.5
    paths = WALK.ankle, WALK.ball
    exact, same = (find_contacts(*paths, fps=fps, leg=WALK.leg) for fps in (rate, float(rate)))
    assert (exact == same).all()


def test_a_report_stays_when_the_callers_arrays_change() -> None:
    arrays = {name: LEG[name].copy() for name in LEG} | {"ball": WALK.ball.copy(), "up": np.array([0.0, 0.0, 1.0])}
    mine = plant(Clip(WALK.fps, **arrays), HILLS)
    told = mine.report()
    for array in arrays.values():
        array += 0.1
    assert mine.report() == told


@pytest.mark.parametrize("contacts", ["AUTO", "ALWAYS"])
@pytest.mark.parametrize("frames", [4, 7, 10, 40, 1000])
def test_frames_may_be_as_fast_as_is_told(frames, contacts) -> None:
    clip = make_walk(seconds=frames / FASTEST, fps=FASTEST).clip
    assert np.isfinite(plant(clip, HILLS, Settings(contacts=contacts)).rotations).all()


def test_what_is_left_out_of_a_clip_has_defaults() -> None:
    clip = Clip(WALK.fps, **LEG)
    assert (clip.scale == 1.0).all() and not clip.has_toe.any() and not clip.is_hand.any()
    assert (clip.toe == clip.foot).all() and (clip.tip == clip.ball).all()
    low = np.argsort(clip.ankle[:, 0, 2])[: clip.frames // 4]
    away = np.median((clip.ball - clip.ankle)[low, 0], axis=0) / clip.leg
    assert away == pytest.approx([BALL_AHEAD, 0.0, -BALL_BELOW], abs=0.01)
    assert np.linalg.norm(clip.ball - clip.ankle, axis=-1) == pytest.approx(
        np.linalg.norm(clip.ball - clip.ankle, axis=-1).mean()
    )


def test_the_ball_is_by_default_where_the_toe_bone_begins() -> None:
    clip = Clip(WALK.fps, **LEG, toe=WALK.toe)
    assert clip.has_toe.all() and (clip.ball == WALK.toe[..., :3, 3]).all()
    standing = plant(WALK, FLAT).contacts[:, 0].all(axis=-1)
    foot = (clip.ball - clip.ankle)[standing, 0, :2].mean(axis=0)
    assert (clip.tip - clip.ball)[standing, 0, :2].mean(axis=0) == pytest.approx(TOES_SHARE * foot, rel=0.1)


def test_feet_without_toes_point_where_knees_bend_even_straight_legs_have_some() -> None:
    straight = np.broadcast_to(np.eye(4), (4, 1, 4, 4)).copy()
    thigh, shin, foot = straight.copy(), straight.copy(), straight.copy()
    thigh[..., 2, 3], shin[..., 2, 3], foot[..., 2, 3] = 1.0, 0.55, 0.1
    clip = Clip(30.0, thigh, shin, foot)
    assert np.isfinite(clip.ball).all()
    assert np.linalg.norm((clip.ball - clip.ankle)[..., :2], axis=-1) == pytest.approx(BALL_AHEAD * clip.leg)


def test_a_clip_without_toes_is_planted() -> None:
    clip = Clip(WALK.fps, **LEG)
    report = plant(clip, hills).report()
    assert report["after"]["drift"] < 0.002 < report["before"]["penetration"]


def test_points_alone_are_planted_as_transforms_are(plan) -> None:
    clip = from_points()
    by_points = plant(clip, HILLS)
    assert (by_points.contacts == plan.contacts).mean() > 0.99
    after, wanted = by_points.apply(clip), plan.apply(WALK)
    for name in POINTS:
        assert np.abs(getattr(clip, name) - getattr(WALK, name)).max() < 1e-12
        assert np.abs(getattr(after, name) - getattr(wanted, name)).max() < 0.01
    for above, below in (("hip", "knee"), ("knee", "ankle"), ("ankle", "ball")):
        lengths = [np.linalg.norm(getattr(c, below) - getattr(c, above), axis=-1) for c in (clip, after)]
        assert lengths[0] == pytest.approx(lengths[1], abs=1e-9)


@pytest.mark.parametrize("kind", ["straight", "overstretched"])
def test_bones_from_points_turn_continuously_through_straight_knees(kind) -> None:
    knee = POINTS["knee"].copy()
    middle = 0.5 * (POINTS["hip"] + POINTS["ankle"])
    share = {"straight": 1.0, "overstretched": 1.2}[kind]
    frames = slice(60, 90)
    knee[frames] += share * (middle - knee)[frames]
    steps = _turns(from_points(knee=knee)) - _turns(from_points())
    assert steps[np.r_[62:88]].max() < np.radians(2.0)
    noisy = knee + 1e-6 * np.random.default_rng(0).normal(size=knee.shape)
    assert np.abs(from_points(knee=noisy).shin - from_points(knee=knee).shin)[..., :3].max() < 1e-3


def _turns(clip):
    """Angles between thighs, shins and feet of frames one after the other."""
    angles = []
    for matrices in (clip.thigh, clip.shin, clip.foot):
        turn = np.swapaxes(matrices[:-1, :, :3, :3], -1, -2) @ matrices[1:, :, :3, :3]
        angles.append(np.arccos(np.clip(0.5 * (np.trace(turn, axis1=-2, axis2=-1) - 1.0), -1.0, 1.0)))
    return np.max(angles, axis=(0, 2))


def test_bones_from_points_are_rotations_with_their_axis_along_the_bone_and_the_hinge_across() -> None:
    clip = from_points()
    for matrices, end in ((clip.thigh, clip.knee), (clip.shin, clip.ankle), (clip.foot, clip.ball)):
        axes = matrices[..., :3, :3]
        assert np.swapaxes(axes, -1, -2) @ axes == pytest.approx(np.broadcast_to(np.eye(3), axes.shape), abs=1e-12)
        along = end - matrices[..., :3, 3]
        assert np.cross(axes[..., 1], along) == pytest.approx(0.0, abs=1e-12)
    hinge = np.cross(clip.hip - clip.knee, clip.ankle - clip.knee)
    assert (np.sum(clip.shin[..., :3, 0] * hinge, axis=-1) >= 0.0).all()


def test_a_heel_tells_how_the_foot_leans() -> None:
    lean = np.array([0.0, 0.05, 0.0])
    heel = POINTS["ankle"] + 0.5 * (POINTS["ankle"] - POINTS["ball"]) * [1.0, 1.0, 0.0] - [0.0, 0.0, 0.1] + lean
    leaning = from_points(heel=heel)
    across = np.cross(leaning.ball - heel, leaning.ankle - heel)
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    assert leaning.foot[..., :3, 0] == pytest.approx(across, abs=1e-9)
