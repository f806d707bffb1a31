# SPDX-License-Identifier: MIT
"""Toes turn no farther than toes go, unless the clip's own do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.plan import plant
from ik2bone.rotations import matrix_from_vector
from ik2bone.sole.measure import measure_sole
from ik2bone.targets.toe_range import within_range
from walk import FLAT, make_walk, planted

AXES = {"bend": 1, "aside": 2, "twist": 0}
MOST = {("bend", -1): 90.0, ("bend", 1): 45.0, ("aside", 1): 20.0, ("aside", -1): 20.0, ("twist", 1): 20.0}


@pytest.fixture(scope="module")
def clip():
    return make_walk(seconds=1.0).clip


def kept(clip, axis, degrees):
    """What is left of turns about an axis of the toes, in degrees about the axes of the world, and whether it is told.

    Positive turns about y, the left, bend toes down.
    """
    vector = np.zeros((clip.frames, clip.legs, 3))
    vector[..., axis] = np.radians(degrees)
    level = np.broadcast_to(np.eye(3), (clip.frames, clip.legs, 3, 3))
    flat = replace(clip, **{name: _level(getattr(clip, name)) for name in ("foot", "toe")})
    flat = replace(flat, tip=clip.ball + [0.06, 0.0, 0.0])
    turns, short = within_range(flat, measure_sole(flat), level, vector)
    return np.degrees(turns), short


def _level(matrices):
    matrices = matrices.copy()
    matrices[..., :3, :3] = np.eye(3)
    return matrices


@pytest.mark.parametrize("axis", AXES.values())
@pytest.mark.parametrize("degrees", [-9.0, 9.0])
def test_small_turns_stay_as_they_are(clip, axis, degrees) -> None:
    turns, short = kept(clip, axis, degrees)
    assert turns[..., axis] == pytest.approx(degrees, abs=1e-9)
    assert not short.any()


@pytest.mark.parametrize(("way", "most"), MOST.items())
def test_large_turns_end_where_toes_do(clip, way, most) -> None:
    axis, sign = AXES[way[0]], way[1]
    for degrees in (most + 5.0, most + 40.0):
        turns, short = kept(clip, axis, sign * degrees)
        assert (sign * turns[..., axis] <= most + 1e-9).all()
        assert (sign * turns[..., axis] >= most - 10.0).all()
        assert short.all()


def test_turns_grow_evenly_up_to_where_toes_end(clip) -> None:
    angles = [-kept(clip, 1, -degrees)[0][0, 0, 1] for degrees in np.arange(60.0, 120.0, 1.0)]
    steps = np.diff(angles)
    assert (steps >= 0.0).all() and (steps <= 1.0 + 1e-9).all()
    assert np.abs(np.diff(steps)).max() < 0.12


def test_what_toes_do_in_the_clip_they_may_do(clip) -> None:
    toe = clip.toe.copy()
    toe[..., :3, :3] = matrix_from_vector(np.array([0.0, np.radians(-130.0), np.radians(30.0)])) @ toe[..., :3, :3]
    tip = clip.ball + 0.06 * toe[..., :3, 0]
    bent, none = replace(clip, toe=toe, tip=tip), np.zeros((clip.frames, clip.legs, 3))
    level = np.broadcast_to(np.eye(3), (clip.frames, clip.legs, 3, 3))
    turns, short = within_range(bent, measure_sole(clip), level, none)
    assert (turns == 0.0).all() and not short.any()


def test_foot_that_stands_on_its_tip_is_told_and_bends_its_toes_by_a_right_angle_at_most() -> None:
    high = make_walk(roll=np.radians(125.0)).clip
    plan = plant(high, FLAT)
    after, stands = planted(high, plan), plan.contacts[..., 1]
    bend = np.degrees(np.arccos(np.clip(np.sum(after.foot[..., :3, 2] * after.toe[..., :3, 2], axis=-1), -1.0, 1.0)))
    assert 80.0 < bend[stands].max() <= 90.0 + 1e-6
    assert any("toes" in str(note) for note in plan.notes)
    assert not any("toes" in str(note) for note in plant(make_walk(roll=np.radians(40.0)).clip, FLAT).notes)
