# SPDX-License-Identifier: MIT
"""How standing feet are held: feet without length, and heels that stand without their balls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone import Settings, plant
from ik2bone.contacts.spans import no_marks
from ik2bone.contacts.stance import Stance, stances
from ik2bone.rotations import matrix_from_vector, move_points
from ik2bone.targets.lock import hold_feet
from walk import HILLS, make_walk


def test_foot_without_length_is_held_and_not_turned() -> None:
    clip = make_walk(seconds=1.0).clip
    clip = replace(clip, ball=clip.ball[:1] + 0.01 * np.sin(np.arange(clip.frames))[:, None, None])
    places = {Stance(leg, 0, clip.frames): clip.ball[0, leg] for leg in range(2)}
    stands = np.ones((clip.frames, 2, 2), bool)
    shift, turn = hold_feet(clip, clip.ball, stands, places, ~stands[..., 0], ~stands[..., 0], np.zeros(2))
    assert not turn.any()
    assert clip.ball + shift == pytest.approx(np.broadcast_to(clip.ball[:1], clip.ball.shape))


def test_a_heel_that_is_pinned_while_its_ball_swings_to_the_next_step_stays_on_its_anchor() -> None:
    clip = make_walk(seconds=4.0).clip
    _, first, second, _ = (stance for stance in stances(plant(clip, HILLS).contacts) if stance.leg == 0)
    pinned = np.zeros((clip.frames, 2, 2), bool)
    pinned[first.end - 10 : second.start + 10, 0, 0] = True
    plan = plant(clip, HILLS, Settings(marks=replace(no_marks(pinned.shape), enforced=pinned)))
    assert plan.contacts[pinned].all()
    heel = move_points(plan.apply(clip).foot, plan.sole.heel)[pinned[:, 0, 0], 0]
    assert np.ptp(heel, axis=0).max() < 0.02 * clip.leg


def test_heels_that_lie_nearer_to_their_balls_than_these_are_high_are_held_under_them() -> None:
    clip = make_walk(seconds=0.2).clip
    stands = np.ones((clip.frames, 2, 2), bool)
    for seed in range(20):
        ball, away = clip.ball[0], np.random.default_rng(seed).normal(0.0, 0.01, (2, 3))
        held = replace(clip, ball=np.broadcast_to(ball, clip.ball.shape).copy())
        places = {Stance(leg, 0, clip.frames): ball[leg] for leg in range(2)}
        turn = hold_feet(held, held.ball + away, stands, places, stands[..., 0], stands[..., 0], np.full(2, 0.1))[1]
        under = (matrix_from_vector(turn) @ away[..., None])[..., 0]
        assert under[..., 2] == pytest.approx(-np.broadcast_to(np.linalg.norm(away, axis=1), under.shape[:2]))
