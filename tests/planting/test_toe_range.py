# SPDX-License-Identifier: MIT
"""Toes bend no farther than toes do, unless the clip's own do, and users are told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from ik2bone.plan import plant
from ik2bone.rotations import matrix_from_vector
from walk import FLAT, HILLS, make_walk, planted


def rolling(degrees):
    """A walk whose feet roll over their balls by so much."""
    return make_walk(roll=np.radians(degrees)).clip


def bends(clip):
    """How far toes are bent against their feet (F, L), degrees."""
    return np.degrees(np.arccos(np.clip(np.sum(clip.foot[..., :3, 2] * clip.toe[..., :3, 2], axis=-1), -1.0, 1.0)))


def tells_of_toes(plan):
    return any("toes" in sentence for sentence in map(str, plan.notes))


def test_foot_that_stands_on_its_tip_is_told_and_bends_its_toes_by_a_right_angle_at_most() -> None:
    high = rolling(125.0)
    plan = plant(high, FLAT)
    bent = bends(planted(high, plan))[plan.contacts[..., 1]]
    assert 80.0 < bent.max() <= 90.0 + 1e-6
    assert tells_of_toes(plan)


def test_roll_of_a_walk_is_not_told() -> None:
    assert not tells_of_toes(plant(rolling(40.0), FLAT))


def test_bend_grows_evenly_up_to_the_limit() -> None:
    most = []
    for degrees in (60.0, 70.0, 80.0, 90.0, 125.0):
        clip = rolling(degrees)
        plan = plant(clip, FLAT)
        most.append(bends(planted(clip, plan))[plan.contacts[..., 1]].max())
    steps = np.diff(most)
    assert (steps >= -0.1).all() and (steps <= 10.5).all()
    assert (np.diff(steps) <= 1.5).all() and steps[-1] < 3.0


def test_toes_may_bend_as_far_as_in_the_clip() -> None:
    clip = rolling(30.0)
    toe = clip.toe.copy()
    toe[..., :3, :3] = toe[..., :3, :3] @ matrix_from_vector(np.array([0.0, -np.radians(115.0), 0.0]))
    tip = clip.ball + 0.06 * toe[..., :3, 0]
    bent = replace(clip, toe=toe, tip=tip)
    from ik2bone.sole.measure import measure_sole

    plan = plant(bent, FLAT, sole=measure_sole(clip))
    assert not tells_of_toes(plan)


def test_tips_straight_under_their_balls_do_not_tell_how_toes_bend() -> None:
    clip = rolling(30.0)
    hanging = replace(clip, tip=clip.ball - 0.03 * clip.toe[..., :3, 2])
    plan = plant(hanging, HILLS)
    angles = 2.0 * np.degrees(np.arccos(np.clip(plan.rotations[:, :, 3, 0], -1.0, 1.0)))
    assert not tells_of_toes(plan)
    assert plan.contacts.any() and angles.max() < 40.0
