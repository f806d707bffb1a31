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


def test_every_stage_takes_a_part_of_the_operators_time(bpy, data, planting, monkeypatch):
    monkeypatch.setattr(planting, "RIG", next(entry for entry in planting.CLIPS if entry.name == planting.CROWD_CLIP))
    monkeypatch.setattr(planting, "bake", lambda *_: 1e-6)
    (name, *_) = planting.CHARACTERS
    speed = planting.character(bpy, data, name)
    for spent in speed.stages:
        assert sum(spent.values()) == pytest.approx(2.0 * spent["whole"])
    first, again = speed.stages
    assert min(first.values()) > 0.0
    assert again["report"] > 0.0
    assert "missed" in "\n".join(planting.character_tables({name: speed}))


def test_the_metarig_walks_as_the_bare_rig_does(bpy, data, planting, addon):
    from tests.bench import characters

    planting.session.reset(bpy)
    rig = planting.runs.load(bpy, planting.RIG, data).armature
    metarig = characters.metarig(bpy, rig, range(200, 230))
    assert len(metarig.pose.bones) == 159
    legs = addon("rig.find").find_legs(metarig, (200, 229))
    assert [leg.bones[:3] for leg in legs] == planting.METARIG_LEGS
    clip = addon("pose.sample").sample(metarig, legs, "spine", range(200, 230)).clip
    assert (clip.hip[..., 2] > clip.knee[..., 2]).all() and (clip.knee[..., 2] > clip.ankle[..., 2]).all()


def test_the_skin_follows_every_bone(bpy, data, planting):
    from tests.bench import characters

    planting.session.reset(bpy)
    rig = planting.runs.load(bpy, planting.RIG, data).armature
    body = characters.skin(bpy, rig)
    assert len(body.data.vertices) == 50592 and len(body.vertex_groups) == len(rig.pose.bones)
    rig.location.z = 3.0
    bpy.context.view_layer.update()
    shown = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert (shown.matrix_world @ shown.data.vertices[0].co).z > 2.0


def test_a_crowd_is_planted_in_one_run(bpy, data, planting, monkeypatch):
    monkeypatch.setattr(planting, "CROWD", 2)
    found = planting.crowd_seconds(bpy, data)
    assert sorted(found) == [1, 2] and all(value > 0.0 for pair in found.values() for value in pair)
    assert sum(action.name.endswith(".planted") for action in bpy.data.actions) == 2


def test_a_long_run_tells_its_time_and_memory(bpy, data, planting):
    spent, grown = planting.long_run(bpy, data, 700)
    assert spent > 0.0 and grown >= 0.0
    action = next(action for action in bpy.data.actions if action.name.endswith(".planted"))
    assert max(len(curve.keyframe_points) for curve in fingerprint.curves_of(action)) == 700
