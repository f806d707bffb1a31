# SPDX-License-Identifier: MIT
"""A first frame that is a calibration pose is told, keeps its shape, and does not disturb the walk after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.clip import Clip
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


def test_clip_with_a_calibration_pose_takes_a_strength_as_an_array_of_one_number() -> None:
    spread = spread_on_its_first_frame(make_walk(1.0).clip)
    plans = [plant(spread, HILLS, Settings(strength=strength)) for strength in (0.5, np.array(0.5))]
    assert (plans[0].rotations == plans[1].rotations).all()


def test_strength_of_a_calibration_pose_is_its_own() -> None:
    spread = spread_on_its_first_frame(make_walk().clip)
    strength = np.linspace(0.0, 1.0, spread.frames)
    plan = plant(spread, HILLS, Settings(strength=strength))
    assert any("calibration" in str(note) for note in plan.notes)
    assert (plan.rotations[0] == [1.0, 0.0, 0.0, 0.0]).all()
    assert (plan.rotations[-1] == plant(spread, HILLS).rotations[-1]).all()


@pytest.mark.parametrize("strength", [(0.0, 1.0), (0.25, 0.5), (1.0, 0.5), (1.0, 0.0)])
def test_hips_of_a_calibration_pose_move_with_its_own_strength(strength) -> None:
    spread, down = spread_on_its_first_frame(make_walk().clip), height_field(lambda x, y: 0.0 * x - 0.2)
    shares = np.full(spread.frames, 1.0)
    whole = plant(spread, down).hips_offset[0]
    shares[:2] = strength
    plan = plant(spread, down, Settings(strength=shares))
    # Where the second frame leaves the hips where they are, so does the first.
    assert plan.hips_offset[0] == pytest.approx(whole * (strength[0] if strength[1] else 0.0)) and whole[2] < -0.1
    assert (plan.strength[:2] == strength).all()
    after = planted(spread, plan)
    assert (after.thigh[0] - spread.thigh[0])[..., :3, 3] == pytest.approx(np.tile(plan.hips_offset[0], (2, 1)))


def test_calibration_pose_keeps_its_shape_over_a_pit() -> None:
    spread = spread_on_its_first_frame(make_walk().clip)
    pit = height_field(lambda _x, y: np.where(y > 0.25, -0.8, 0.0))
    plan = plant(spread, pit)
    assert any("calibration" in str(note) for note in plan.notes)
    assert (spread.ball[0, :, 1] > 0.25).all() and (spread.ball[1:, :, 1] < 0.25).all()
    assert np.abs(plan.rotations[0] - [1.0, 0.0, 0.0, 0.0]).max() < 1e-9
    assert figures(spread, planted(spread, plan), plan, pit)["after"]["short"] == 0.0


def test_hips_of_a_calibration_pose_rise_with_the_ground_that_lifts_both_feet() -> None:
    spread = spread_on_its_first_frame(make_walk().clip)
    block = height_field(lambda _x, y: np.where(y > 0.25, 0.3, -0.1))
    plan = plant(spread, block)
    # The soles of the two feet differ a little in height.
    assert np.abs(plan.rotations[0] - [1.0, 0.0, 0.0, 0.0]).max() < 0.005
    assert plan.hips_offset[0, 2] == pytest.approx(0.3, abs=0.01) and plan.hips_offset[1, 2] < -0.05
    # Hips that an earlier run has moved there stay there.
    again = plant(spread, block, offset=np.repeat(plan.hips_offset[:, None], 2, axis=1))
    assert again.rotations == pytest.approx(plan.rotations, abs=1e-9)


@pytest.mark.parametrize("strength", [0.25, 0.5, 0.75])
def test_strength_blends_feet_and_hips_of_a_calibration_pose_alike(strength) -> None:
    spread = spread_on_its_first_frame(make_walk().clip)
    block = height_field(lambda _x, y: np.where(y > 0.25, 0.3, -0.1))
    whole, plan = plant(spread, block), plant(spread, block, Settings(strength=strength))
    assert plan.hips_offset[0] == pytest.approx(strength * whole.hips_offset[0])
    moves = [(planted(spread, each).foot - spread.foot)[0, :, :3, 3] for each in (whole, plan)]
    assert moves[1] == pytest.approx(strength * moves[0], abs=1e-9) and (moves[1][:, 2] > 0.05).all()
    again = plant(spread, block, Settings(strength=strength), offset=np.repeat(plan.hips_offset[:, None], 2, axis=1))
    assert again.rotations == pytest.approx(plan.rotations, abs=1e-9) and not again.hips_offset.any()


@pytest.mark.parametrize("strength", [0.001, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("high", [(0.3, 0.3), (0.3, -0.1), (0.0, -0.1), (-0.3, -0.3)])
def test_hips_of_a_calibration_pose_rise_by_a_share_of_their_whole_rise(high, strength) -> None:
    spread = spread_on_its_first_frame(make_walk(2.0).clip)
    block, settings = height_field(lambda _x, y: np.where(y > 0.25, *high)), Settings(strength=strength)
    whole, plan = plant(spread, block), plant(spread, block, settings)
    assert plan.hips_offset == pytest.approx(strength * whole.hips_offset, abs=1e-9)
    assert np.abs(plan.rotations[0] - [1.0, 0.0, 0.0, 0.0]).max() < 0.005
    for other in (settings, Settings(strength=np.append(strength, np.ones(spread.frames - 1)))):
        plan = plant(spread, block, other)
        again = plant(spread, block, other, offset=np.repeat(plan.hips_offset[:, None], 2, axis=1))
        assert again.rotations == pytest.approx(plan.rotations, abs=1e-9)
        assert again.targets.ankle == pytest.approx(plan.targets.ankle, abs=1e-9)


def test_calibration_pose_is_not_told_of_a_part_without_it() -> None:
    plan = plant(spread_on_its_first_frame(make_walk().clip), HILLS)
    assert [note.code for note in plan.cut(slice(0, 9)).notes].count("calibration_pose") == 1
    assert not any(note.code == "calibration_pose" for note in plan.cut(slice(1, None)).notes)


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


def led_by_ever_shorter_steps(walk: Clip) -> Clip:
    """The walk with feet on its first three frames from where they come down by ever shorter steps."""
    led = replace(walk, **{name: getattr(walk, name).copy() for name in ("foot", "toe", "ball", "tip")})
    for name in ("foot", "toe"):
        getattr(led, name)[:3, :, 1, 3] += [[1.55], [0.75], [0.25]]
    for name in ("ball", "tip"):
        getattr(led, name)[:3, :, 1] += [[1.55], [0.75], [0.25]]
    return led


def test_only_the_first_frame_is_a_calibration_pose() -> None:
    """Frames after it are planted, however the clip leaves them."""
    plan = plant(led_by_ever_shorter_steps(make_walk(3.0).clip), HILLS)
    assert [note.code for note in plan.notes].count("calibration_pose") == 1


@pytest.mark.parametrize("fps", [12.0, 15.0, 24.0, 60.0])
def test_walks_may_begin_on_any_frame(fps: float) -> None:
    walk = make_walk(4.0, fps=fps).clip
    starts = range(walk.frames - round(fps))
    assert not any(starts_in_calibration_pose(walk.cut(slice(start, None))) for start in starts)
