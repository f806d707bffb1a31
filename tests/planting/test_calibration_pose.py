# SPDX-License-Identifier: MIT
"""A first frame that is a calibration pose is told, keeps its shape, and does not disturb the walk after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.model import Clip
from ik2bone.plan import Settings, plant, starts_in_calibration_pose
from ik2bone.report import figures
from walk import HILLS, height_field, make_walk, planted


def spread_on_its_first_frame(walk: Clip) -> Clip:
    """The walk with legs spread on its first frame, as in a calibration pose."""
    spread = replace(walk, **{name: getattr(walk, name).copy() for name in ("shin", "foot", "toe", "ball", "tip")})
    for name, move in (("shin", 0.3), ("foot", 0.5), ("toe", 0.5)):
        getattr(spread, name)[0, :, 1, 3] += move
    spread.ball[0, :, 1] += 0.5
    spread.tip[0, :, 1] += 0.5
    return spread


def test_strength_of_a_calibration_pose_is_its_own() -> None:
    spread = spread_on_its_first_frame(make_walk().clip)
    strength = np.linspace(0.0, 1.0, spread.frames)
    plan = plant(spread, HILLS, Settings(strength=strength))
    assert any("calibration" in str(note) for note in plan.notes)
    assert (plan.rotations[0] == [1.0, 0.0, 0.0, 0.0]).all()
    assert (plan.rotations[-1] == plant(spread, HILLS).rotations[-1]).all()


def test_calibration_pose_keeps_its_shape_over_a_pit() -> None:
    spread = spread_on_its_first_frame(make_walk().clip)
    pit = height_field(lambda _x, y: np.where(y > 0.25, -0.8, 0.0))
    plan = plant(spread, pit)
    assert any("calibration" in str(note) for note in plan.notes)
    assert (spread.ball[0, :, 1] > 0.25).all() and (spread.ball[1:, :, 1] < 0.25).all()
    assert np.abs(plan.rotations[0] - [1.0, 0.0, 0.0, 0.0]).max() < 1e-9
    assert figures(spread, planted(spread, plan), plan, pit)["after"]["short"] == 0.0


def test_calibration_pose_before_a_walk_does_not_disturb_it() -> None:
    walk = make_walk().clip
    spread = spread_on_its_first_frame(walk)
    alone, led = plant(walk.cut(slice(1, None)), HILLS), plant(spread, HILLS)
    assert led.rotations[1:] == pytest.approx(alone.rotations, abs=1e-12)
    assert not led.contacts[0].any()
    pose = planted(spread, led).cut(slice(0, 1))
    below = HILLS(pose.ball.reshape(-1, 3), -pose.up)[0]
    assert (pose.ball.reshape(-1, 3)[:, 2] >= below[:, 2]).all()
    assert any("calibration" in str(note) for note in led.notes)
    assert not starts_in_calibration_pose(walk)
