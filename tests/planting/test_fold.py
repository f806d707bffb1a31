# SPDX-License-Identifier: MIT
"""Knees fold as far as knees do and no further, unless the clip folds them so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.bounds import smooth_below
from ik2bone.knees.fold import FOLDED, lowest, shortest, unfold_swings
from ik2bone.plan import plant
from ik2bone.targets.blend import Targets
from measures import knee_angle
from walk import height_field, make_walk, planted

CLIP = make_walk(1.2).clip
FURTHEST = np.degrees(FOLDED)


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


def test_hips_at_their_lowest_fold_the_leg_just_so_far() -> None:
    ankle = near_hips()
    rise = lowest(CLIP, ankle)
    bounded = np.isfinite(rise)
    assert bounded.mean() > 0.3
    distance = np.linalg.norm(CLIP.hip + np.where(bounded, rise, 0.0)[..., None] * CLIP.up - ankle, axis=-1)
    assert distance[bounded] == pytest.approx(shortest(CLIP)[bounded])
    assert (np.linalg.norm((ankle - CLIP.hip)[..., :2], axis=-1)[~bounded] >= shortest(CLIP)[~bounded]).all()


def test_swinging_feet_keep_off_their_hips_and_all_else_stays() -> None:
    ankle, swings = near_hips(), np.zeros(CLIP.hip.shape[:2], bool)
    swings[10:40] = True
    targets = Targets.of(CLIP).moved(ankle - CLIP.ankle)
    kept = unfold_swings(CLIP, targets, CLIP.hip, swings)
    before, after = (np.linalg.norm(side.ankle - CLIP.hip, axis=-1) for side in (targets, kept))
    folded = swings & (before < shortest(CLIP))
    assert folded.any() and after[folded] == pytest.approx(shortest(CLIP)[folded])
    assert (kept.ankle[~folded] == targets.ankle[~folded]).all()
    assert kept.ball - kept.ankle == pytest.approx(targets.ball - targets.ankle)


def test_feet_leave_their_hips_without_a_jump() -> None:
    clip = CLIP.cut(slice(0, 1))
    swings = np.ones((1, 2), bool)

    def kept(away: float):
        moved = clip.hip + away * np.array([0.05, 0.0, -1.0]) - clip.ankle
        return unfold_swings(clip, Targets.of(clip).moved(moved), clip.hip, swings).ankle

    path = np.concatenate([kept(away) for away in np.linspace(0.0, 0.6, 601)])
    assert np.linalg.norm(np.diff(path, axis=0), axis=-1).max() < 0.003


def test_hips_stay_over_their_floor_where_reach_and_acceleration_let_them() -> None:
    time = np.arange(180) / 60.0
    floor = np.where(np.abs(time - 1.5) < 0.2, 0.2, -np.inf)
    ceiling = np.where(time > 2.4, 0.05, 0.6)
    curve = smooth_below(np.zeros(180), ceiling, 60.0, 4.5, floor)
    assert (curve >= floor - 0.01).all()
    assert (curve <= ceiling + 1e-12).all()
    assert curve[0] == pytest.approx(0.0, abs=0.01)


def test_walk_up_high_blocks_folds_no_knee_too_far() -> None:
    clip = make_walk().clip
    blocks = height_field(lambda x, y: 0.35 * np.floor(x / 1.2))
    assert knee_angle(clip).max() < FURTHEST
    # Easing a swinging knee back from the furthest may fold it a little on its way.
    assert knee_angle(planted(clip, plant(clip, blocks))).max() <= FURTHEST + 3.0
