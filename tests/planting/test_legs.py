# SPDX-License-Identifier: MIT
"""Legs brought to their targets, stretched ones too: by plain matrix products ankles lie where they were asked to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.clip import Clip
from ik2bone.knees import find_knees
from ik2bone.limbs import solve_legs
from ik2bone.plan import plant
from ik2bone.targets.blend import Targets
from walk import height_field, make_walk, matrices_of, planted, rotations_of


def _stretched(clip: Clip, factor: float) -> Clip:
    """The clip with thighs stretched along themselves, and shins and feet sheared by that."""
    own = np.diag([1.0, factor, 1.0, 1.0])
    thigh = clip.thigh @ own
    shin, foot = (thigh @ np.linalg.inv(clip.thigh) @ part for part in (clip.shin, clip.foot))
    scale = clip.scale.copy()
    scale[..., 0, 1] = factor
    return replace(clip, thigh=thigh, shin=shin, foot=foot, scale=scale)


def _ankles(clip: Clip, turns: np.ndarray) -> np.ndarray:
    """Ankles (F, L, 3) after corrections of thigh and shin."""
    own, turn = (
        np.zeros((*clip.thigh.shape[:2], 4, 4)),
        matrices_of(np.zeros((*turns.shape[:-1], 3)), rotations_of(turns)),
    )
    own[..., range(3), range(3)], own[..., 3, 3] = clip.scale[..., 0, :], 1.0
    thigh = clip.thigh @ np.linalg.inv(own) @ turn[:, :, 0] @ own
    shin = thigh @ np.linalg.inv(clip.thigh) @ clip.shin @ turn[:, :, 1]
    return (shin @ np.linalg.inv(clip.shin) @ clip.foot)[..., :3, 3]


@pytest.mark.parametrize("factor", [1.0, 1.1, 0.85])
@pytest.mark.parametrize("strength", [1.0, 0.5])
def test_stretched_legs_reach_their_targets(factor: float, strength: float) -> None:
    clip = _stretched(make_walk(seconds=2.0).clip, factor)
    targets = Targets.of(clip).moved(np.array([0.02, 0.01, 0.08]))
    none, shares = np.zeros(clip.ankle.shape), np.full(clip.frames, strength)
    turns, miss = solve_legs(clip, targets, none, none[:, 0], find_knees(clip), shares)
    asked = clip.ankle + strength * (targets.ankle - clip.ankle)
    assert miss.max() < 1e-4 * clip.leg
    np.testing.assert_allclose(_ankles(clip, turns), asked, atol=1e-4 * clip.leg)


def _breathing(clip: Clip) -> Clip:
    """The clip with hip joints that go to and fro along the thighs, which so get longer and shorter by a seventh."""
    share = 0.15 * np.sin(2.0 * np.pi * 0.7 * np.arange(clip.frames) / clip.fps)
    thigh = clip.thigh.copy()
    thigh[..., :3, 3] += share[:, None, None] * (clip.hip - clip.knee)
    return replace(clip, thigh=thigh)


def test_lengths_that_change_over_time_are_kept_and_feet_stand() -> None:
    clip = _breathing(make_walk().clip)
    # Over a curb under the left foot, which folds that leg, the right one is stretched as far as it may be.
    curb = height_field(lambda _, y: 0.25 * (y > 0.0))
    plan = plant(clip, curb)
    after = planted(clip, plan)
    thighs, later = (np.linalg.norm(each.knee - each.hip, axis=-1) for each in (clip, after))
    assert np.ptp(thighs) > 0.25 * thighs.mean()
    np.testing.assert_allclose(later, thighs, rtol=1e-9)
    shins, later = (np.linalg.norm(each.ankle - each.knee, axis=-1) for each in (clip, after))
    np.testing.assert_allclose(later, shins, rtol=1e-9)
    stands = plan.contacts[..., 1]
    under = curb(after.ball[stands], -clip.up)
    heights = np.sum((after.ball[stands] - under[0]) * under[1], axis=-1)
    assert stands.any() and plan.miss[stands].max() < 1e-6 * clip.leg
    assert np.abs(heights - np.median(heights)).max() < 5e-3 * clip.leg
