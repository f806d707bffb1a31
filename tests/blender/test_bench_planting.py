# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of planting's speed: what is timed, and what a row says."""

from __future__ import annotations

import fingerprint
import pytest

PAB = "ozz_pab_walk"


@pytest.fixture
def planting(monkeypatch):
    from tests.bench import planting

    monkeypatch.setattr(planting, "ROUNDS", 1)
    return planting


@pytest.fixture
def timed(bpy, data, planting):
    entry = next(entry for entry in planting.CLIPS if entry.name == PAB)
    return planting.plant_seconds(bpy, entry, data)


def test_plan_is_timed_within_the_operator_and_again_with_another_setting(timed) -> None:
    times, call = timed
    assert (times.gait, times.frames) == ("walk", 41)
    assert 0.0 < times.plan < times.operator and 0.0 < times.second_plan < times.second_operator
    assert call.given[0].frames == 41


def test_longer_clips_are_planned_on_the_same_ground(timed, planting) -> None:
    seconds, peak = planting.growth(timed[1], 100)
    assert seconds > 0.0 and peak > 100 * 2 * 4 * 16 * 8


def test_bake_keys_the_legs_of_the_bare_rig(bpy, data, planting) -> None:
    assert planting.bake_seconds(bpy, data, 5) > 0.0
    armature = bpy.context.object
    assert len(armature.data.bones) == 31
    curves = fingerprint.curves_of(armature.animation_data.action)
    assert {curve.data_path.split('"')[1] for curve in curves} == {name for leg in planting.RIG_LEGS for name in leg}
    assert all(len(curve.keyframe_points) == 5 for curve in curves)


def test_row_tells_whether_the_aim_is_missed(planting) -> None:
    times = planting.Times("walk", 50, 0.02, 0.1, 0.01, 0.09)
    rows = "\n".join(planting.table({"slow": times, "fast": planting.replace(times, plan=0.004)}, {50: 0.02}))
    assert "20.0 (1.00) | 0.25 missed" in rows and "4.00 (0.20) |        0.25 |" in rows


def test_sampling_is_timed_in_both_ways_which_agree(bpy, data) -> None:
    from tests.bench import sampling

    times = sampling.measure(bpy, next(entry for entry in sampling.CLIPS if entry.name == PAB), data)
    assert (times.frames, times.bones) == (41, 66)
    assert times.bulk > 0.0 and times.stepped > 0.0 and 0.0 < times.apart < 1e-5
