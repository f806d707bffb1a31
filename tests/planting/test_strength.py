# SPDX-License-Identifier: MIT
"""A share of the correction, the same on all frames or another on each."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.plan import Settings, plant
from walk import HILLS, height_field, make_walk, overstretched, planted


def test_strength_that_is_no_share_is_an_error() -> None:
    for strength in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="strength: expected"):
            plant(make_walk().clip, HILLS, Settings(strength=strength))
    with pytest.raises(ValueError, match="strength: expected"):
        plant(make_walk().clip, HILLS, Settings(strength=np.ones(7)))


@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_feet_that_are_not_wholly_brought_to_their_places_slide_no_farther_than_in_the_clip(strength) -> None:
    report = plant(make_walk(slide=0.02).clip, HILLS, Settings(strength=strength)).report()
    assert report["after"]["drift"] == pytest.approx((1.0 - strength) * report["before"]["drift"], abs=2e-4)
    assert not any(note["code"] == "worse_drift" for note in report["notes"])


def test_strength_zero_changes_nothing_at_all() -> None:
    plan = plant(make_walk().clip, HILLS, Settings(strength=0.0))
    assert (plan.rotations == [1.0, 0.0, 0.0, 0.0]).all()
    assert (plan.hips_offset == 0.0).all()


def test_strength_half_goes_half_the_way() -> None:
    walk = make_walk()
    ground = height_field(lambda x, y: 0.0 * x - 0.1)
    half = planted(walk.clip, plant(walk.clip, ground, Settings(strength=0.5)))
    assert (walk.clip.ball - half.ball)[..., 2][walk.standing] == pytest.approx(0.05, abs=4e-3)


def test_strength_of_each_frame_fades_corrections_without_a_jump() -> None:
    clip = overstretched(make_walk().clip)
    strength = np.clip(np.arange(clip.frames) / 60.0 - 1.0, 0.0, 1.0)
    plan, whole = plant(clip, HILLS, Settings(strength=strength)), plant(clip, HILLS)
    still = strength == 0.0
    assert (plan.rotations[still] == [1.0, 0.0, 0.0, 0.0]).all() and (plan.hips_offset[still] == 0.0).all()
    assert (plan.rotations[strength == 1.0] == whole.rotations[strength == 1.0]).all()
    assert plan.miss.max() <= 1e-9
    nearly = plant(clip, HILLS, Settings(strength=1e-6))
    assert np.abs(nearly.rotations - [1.0, 0.0, 0.0, 0.0]).max() < 1e-4


def test_strength_zero_leaves_a_leg_as_it_is_under_hips_that_were_moved() -> None:
    clip = make_walk().clip
    offset = np.repeat(plant(clip, HILLS).hips_offset[:, None], 2, axis=1)
    turns = plant(clip, HILLS, Settings(strength=0.0), offset=offset).rotations
    assert (turns == [1.0, 0.0, 0.0, 0.0]).all()
