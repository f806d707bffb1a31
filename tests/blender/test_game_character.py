# SPDX-License-Identifier: GPL-3.0-or-later
"""Every action of a game figure is planted by the same legs, those too in which it hardly touches the ground."""

from __future__ import annotations

import json

import numpy as np
import pytest
from biped import make_slope
from game_character import LAST, MOTIONS, make_game_character, play

LEGS = [("thigh.L", "leg.L", "foot.L"), ("thigh.R", "leg.R", "foot.R")]


@pytest.fixture
def hero(bpy):
    """A game figure over a slope."""
    armature = make_game_character(bpy)
    make_slope(bpy)
    bpy.context.view_layer.objects.active = armature
    return armature


@pytest.mark.parametrize("action", MOTIONS)
def test_each_action_has_the_same_legs_without_stepping_frames(bpy, addon, hero, monkeypatch, action):
    play(bpy, hero, action)
    monkeypatch.setattr(addon("rig.find"), "heads", lambda *_: pytest.fail("frames are stepped"))
    assert [leg.bones for leg in addon("rig.find").find_legs(hero, (1, LAST))] == LEGS


@pytest.mark.parametrize("action", MOTIONS)
def test_each_action_has_the_same_legs_where_names_tell_nothing(bpy, addon, hero, action):
    play(bpy, hero, action)
    for number, bone in enumerate(list(hero.data.bones)):
        bone.name = f"b{number}"
    roots = {round(hero.data.bones[leg.thigh].head_local.x, 3) for leg in addon("rig.find").find_legs(hero, (1, LAST))}
    assert roots == {0.1, -0.1}


@pytest.mark.parametrize("action", MOTIONS)
def test_each_action_is_planted(bpy, hero, action):
    play(bpy, hero, action)
    assert bpy.ops.ik2bone.plant_feet(surface="Slope") == {"FINISHED"}
    report = json.loads(hero.animation_data.action["ik2bone"])["report"]
    assert report["after"]["penetration"] < 1e-3


@pytest.mark.parametrize("action", ["jump", "fall"])
def test_a_lone_jump_or_fall_is_told_to_stand_nowhere_and_touches_where_it_is_lowest(bpy, hero, action):
    play(bpy, hero, action)
    frames = range(1, LAST + 1)
    heights = np.array([height_of(bpy, hero, frame) for frame in frames])
    assert bpy.ops.ik2bone.plant_feet(surface="Slope") == {"FINISHED"}
    report = json.loads(hero.animation_data.action["ik2bone"])["report"]
    assert any("no foot ever stands still" in sentence for sentence in report["told"])
    touched = {frame for span in report["spans"] for frame in range(span["start"], span["end"] + 1)}
    low = heights < heights.min() + 0.1 * report["leg"]
    assert touched <= set(np.array(frames)[low].tolist())


def height_of(bpy, hero, frame):
    bpy.context.scene.frame_set(frame)
    return (hero.matrix_world @ hero.pose.bones["foot.L"].head).z
