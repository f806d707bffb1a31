# SPDX-License-Identifier: MIT
"""Heels of standing feet are lifted out of the ground, and hold where they keep their places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.rotations import matrix_from_vector, move_points
from ik2bone.sole.measure import measure_sole
from ik2bone.targets.blend import Targets
from ik2bone.targets.heel import held_contacts, raise_heels
from walk import FLAT, make_walk


def toes_up(clip, degrees):
    """The clip with its feet turned about their balls, heels down."""
    turn = matrix_from_vector(np.array([0.0, -np.radians(degrees), 0.0]))
    foot = clip.foot.copy()
    foot[..., :3, :3] = turn @ foot[..., :3, :3]
    foot[..., :3, 3] = clip.ball + (clip.ankle - clip.ball) @ turn.T
    return replace(clip, foot=foot)


def test_heel_does_not_sink() -> None:
    clip = make_walk(seconds=2.0).clip
    sole = measure_sole(clip)
    clip, contacts = toes_up(clip, 6.0), np.ones((clip.frames, 2, 2), bool)
    still = np.abs(np.gradient(clip.ball[..., 0], axis=0)) < 1e-4 * clip.leg
    raised = raise_heels(clip, sole, Targets.of(clip), contacts, ~contacts, FLAT)
    heel = raised.ball + np.einsum("flij,flj->fli", raised.turn, move_points(clip.foot, sole.heel) - clip.ball)
    assert move_points(clip.foot, sole.heel)[still][:, 2].max() < -0.015 * clip.leg
    assert heel[still][:, 2].min() == pytest.approx(0.0, abs=1e-3 * clip.leg)


def test_heel_that_leaves_its_place_does_not_hold_and_the_ball_does() -> None:
    clip = make_walk(seconds=2.0).clip
    sole, contacts = measure_sole(clip), np.zeros((clip.frames, clip.legs, 2), bool)
    still = (np.abs(np.gradient(clip.ball[..., 0], axis=0)) < 1e-4 * clip.leg) & (clip.ball[..., 2] < 0.05 * clip.leg)
    frames = np.flatnonzero(still[:, 0])[:10]
    contacts[frames, 0] = True
    targets = Targets.of(clip)
    assert (held_contacts(clip, sole, targets, contacts, FLAT) == contacts).all()
    raised = np.zeros(clip.ball.shape)
    raised[frames[7:], 0, 1] = np.radians(5.0)
    held = held_contacts(clip, sole, targets.turned(raised), contacts, FLAT)
    assert held[frames[:7], 0].all() and held[frames, 0, 1].all()
    assert not held[frames[7:], 0, 0].any()
