# SPDX-License-Identifier: GPL-3.0-or-later
"""Planted by an NLA layer: corrections alone over a source that stays as it is, live by the strip's influence."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from nla_scene import (
    FRAMES,
    LAYER,
    LEG,
    MODES,
    apart,
    layers_of,
    nla_of,
    planted_anew,
    poses,
    record_of,
    state_of,
    told,
)
from planted import plant
from scene import report_of
from test_every_clip import show


@pytest.mark.parametrize("mode", MODES)
def test_the_scene_shows_what_a_new_action_does_over_an_untouched_source(bpy, slope, mode):
    walker = biped.make_walker(bpy, mode=mode)
    source, before = walker.animation_data.action, poses(bpy, walker)
    expected = planted_anew(bpy, walker, {})
    untouched = fingerprint.of_action(source)
    plant(bpy, **LAYER)
    (strip,) = layers_of(walker)
    assert apart(poses(bpy, walker), expected) < 2e-5 * LEG < 0.01 < apart(before, expected)
    assert fingerprint.of_action(source) == untouched
    assert strip.action["ik2bone_source"] == source and record_of(walker)["source"] == "walk"


@pytest.mark.parametrize("mode", MODES)
def test_the_influence_of_the_strip_is_a_live_strength(bpy, slope, mode):
    walker = biped.make_walker(bpy, mode=mode)
    before = poses(bpy, walker)
    plant(bpy, **LAYER)
    after, (strip,) = poses(bpy, walker), layers_of(walker)
    strip.influence = 0.0
    np.testing.assert_array_equal(poses(bpy, walker), before)
    strip.influence = 0.5
    half = poses(bpy, walker)
    assert apart(half, (before + after) / 2) < 0.03 * apart(after, before)


def test_the_influence_can_be_animated(bpy, walker, slope):
    before = poses(bpy, walker)
    plant(bpy, **LAYER)
    after, (strip,) = poses(bpy, walker), layers_of(walker)
    for frame, influence in ((20, 0.0), (21, 1.0)):
        strip.influence = influence
        strip.keyframe_insert("influence", frame=frame)
    seen = poses(bpy, walker)
    np.testing.assert_array_equal(seen[:20], before[:20])
    np.testing.assert_array_equal(seen[20:], after[20:])


@pytest.mark.parametrize("rise", [1e-4, 1e-3])
def test_corrections_too_small_for_a_quaternion_of_the_nla_are_shown_too(bpy, walker, rise):
    """Half angles below 0.00035 are none there, and others are rounded to as much: feet would be that far off."""
    biped.make_slope(bpy, rise=rise)
    expected = planted_anew(bpy, walker, {})
    plant(bpy, **LAYER)
    assert apart(poses(bpy, walker), expected) < 2e-5 * LEG


@pytest.mark.parametrize("state", ["locked", "modified"])
def test_toes_are_laid_whatever_keeps_keys_out_of_the_curves_of_the_source(bpy, walker, slope, state):
    for curve in (c for c in fingerprint.curves_of(walker.animation_data.action) if '"toe.' in c.data_path):
        curve.lock = state == "locked"
        if state == "modified":
            curve.modifiers.new("CYCLES")
    expected = planted_anew(bpy, walker, {})
    plant(bpy, **LAYER)
    np.testing.assert_allclose(poses(bpy, walker), expected, atol=1e-3)
    assert not any("not laid on the ground" in sentence for sentence in told(walker))


def test_the_pose_shows_at_once(bpy, walker, slope):
    plant(bpy, **LAYER)
    seen = np.array([bone.matrix for bone in walker.pose.bones])
    np.testing.assert_array_equal(seen, poses(bpy, walker, [bpy.context.scene.frame_current])[0])


@pytest.mark.parametrize(
    "given",
    [
        {"frame_range": "CUSTOM", "frame_start": 15, "frame_end": 40},
        {"frame_range": "CUSTOM", "frame_start": 15, "frame_end": 40, "blend_in": 8, "blend_out": 5},
        {"frame_range": "CUSTOM", "frame_start": 30, "frame_end": 90},
        {"strength": 0.5},
        {"bones": "foot.L"},
        {"use_hips": False},
    ],
)
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_frames_blends_strength_and_limbs_count_as_in_a_new_action(bpy, slope, mode, given):
    walker = biped.make_walker(bpy, mode=mode)
    expected = planted_anew(bpy, walker, given)
    plant(bpy, **LAYER, **given)
    assert apart(poses(bpy, walker), expected) < 2e-5 * LEG


def test_an_action_between_frames_is_planted_on_whole_ones(bpy, walker, slope):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in curve.keyframe_points:
            point.co.x += 0.4
        curve.update()
    frames = np.arange(1, biped.LAST + 2)
    expected = planted_anew(bpy, walker, {}, frames=frames)
    plant(bpy, **LAYER)
    assert apart(poses(bpy, walker, frames), expected) < 2e-5 * LEG


def test_beyond_the_action_its_last_pose_stays_planted(bpy, walker, slope):
    bpy.context.scene.frame_end = 90
    expected = planted_anew(bpy, walker, {}, frames=[80])
    plant(bpy, **LAYER)
    assert apart(poses(bpy, walker, [80]), expected) < 2e-5 * LEG


@pytest.mark.parametrize("extrapolation", ["HOLD_FORWARD", "NOTHING"])
def test_an_action_that_plays_without_tracks_is_held_whatever_its_extrapolation(bpy, walker, slope, extrapolation):
    walker.animation_data.action_extrapolation = extrapolation
    frames = [-5, 30, 80]
    expected = planted_anew(bpy, walker, {}, frames=frames)
    plant(bpy, **LAYER)
    assert apart(poses(bpy, walker, frames), expected) < 2e-5 * LEG


def test_curves_that_repeat_do_so_without_the_layer_which_is_told(bpy, walker, slope):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        curve.modifiers.new("CYCLES")
    bpy.context.scene.frame_end = 100
    frames = [*FRAMES, 80, 100]
    before, expected = poses(bpy, walker, frames), planted_anew(bpy, walker, {})
    plant(bpy, **LAYER)
    after = poses(bpy, walker, frames)
    assert apart(after[:-2], expected) < 2e-5 * LEG
    np.testing.assert_allclose(after[-2:], before[-2:], atol=1e-6)
    assert "walk goes on beyond frames 1 to 61, and the layer does not" in told(walker)


def test_keys_beyond_a_manual_range_show_without_the_layer(bpy, walker, slope):
    action = walker.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, 10, 40
    before, expected = poses(bpy, walker), planted_anew(bpy, walker, {})
    for _ in range(2):
        plant(bpy, **LAYER)
        after = poses(bpy, walker)
        assert apart(after, expected) < 2e-5 * LEG
        np.testing.assert_allclose(after[:9], before[:9], atol=1e-6)
    bpy.ops.ik2bone.restore()
    np.testing.assert_array_equal(poses(bpy, walker), before)


def take_keys(armature, *names):
    """Take all keys of some bones away."""
    for bag in fingerprint.bags_of(armature.animation_data.action):
        for curve in [c for c in bag.fcurves if any(f'"{name}"' in c.data_path for name in names)]:
            bag.fcurves.remove(curve)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_a_pose_that_nothing_keys_stays_under_the_layer(bpy, slope, mode):
    from mathutils import Quaternion

    walker = biped.make_walker(bpy, mode=mode)
    take_keys(walker, "toe.L", "foot.R")
    bone = walker.pose.bones["foot.R"]
    turn = Quaternion((1.0, 0.0, 0.0), 0.2)
    bone.rotation_quaternion, bone.rotation_euler = turn, turn.to_euler(bone.rotation_mode if mode == "XYZ" else "XYZ")
    bone.rotation_axis_angle = (0.2, 1.0, 0.0, 0.0)
    before = poses(bpy, walker)
    expected = planted_anew(bpy, walker, {})
    found = state_of(bpy, walker)
    for _ in range(2):
        plant(bpy, **LAYER)
        assert apart(poses(bpy, walker), expected) < 2e-5 * LEG
    (strip,) = layers_of(walker)
    strip.influence = 0.0
    np.testing.assert_allclose(poses(bpy, walker), before, atol=1e-6)
    bpy.ops.ik2bone.restore()
    np.testing.assert_array_equal(poses(bpy, walker), before)
    assert nla_of(walker) == found[1] and sorted(bpy.data.actions.keys()) == ["walk"]


def test_keys_set_meanwhile_for_what_nothing_keyed_count(bpy, addon, walker, slope):
    take_keys(walker, "toe.L")
    toe = walker.pose.bones["toe.L"]
    toe.rotation_quaternion = (0.98, 0.2, 0.0, 0.0)
    plant(bpy, **LAYER)
    curves = addon("keys.actions").assigned(walker).curves
    for index, value in enumerate((0.98, -0.2, 0.0, 0.0)):
        curves.ensure(toe.path_from_id("rotation_quaternion"), index, "toe.L").keyframe_points.insert(1, value)
    plant(bpy, **LAYER)
    again = poses(bpy, walker)
    bpy.ops.ik2bone.restore()
    assert apart(again, planted_anew(bpy, walker, {})) < 2e-5 * LEG


def test_an_action_of_one_frame_is_planted(bpy, walker, slope):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        value = curve.evaluate(20)
        curve.keyframe_points.clear()
        curve.keyframe_points.insert(20, value)
    expected = planted_anew(bpy, walker, {}, frames=[20])
    plant(bpy, **LAYER)
    assert apart(poses(bpy, walker, [20]), expected) < 2e-5 * LEG


@pytest.mark.parametrize(
    ("clip", "action"),
    [("bvh/cmu_ic_002_03_run.bvh", None), ("gltf/Fox.glb", "Walk"), ("gltf/CesiumMan_ozz.gltf", None)],
)
def test_real_clips_show_what_a_new_action_does_and_come_back(bpy, data, clip, action):
    armature, ground = show(bpy, data / clip, action)
    first, last = armature.animation_data.action.frame_range
    frames, found = np.arange(np.floor(first), np.ceil(last) + 1, 3), nla_of(armature)
    before = poses(bpy, armature, frames)
    plant(bpy, surface=ground.name)
    expected, leg = poses(bpy, armature, frames), report_of(armature)["report"]["leg"]
    bpy.ops.ik2bone.restore()
    plant(bpy, surface=ground.name, **LAYER)
    assert apart(poses(bpy, armature, frames), expected) < 2e-5 * leg < apart(before, expected)
    bpy.ops.ik2bone.restore()
    np.testing.assert_array_equal(poses(bpy, armature, frames), before)
    assert nla_of(armature) == found


@pytest.mark.parametrize(
    "given", [{}, {"bones": "foot.R"}, {"use_hips": False}, {"frame_range": "CUSTOM", "frame_end": 30}]
)
def test_planting_twice_equals_planting_once(bpy, walker, slope, given):
    plant(bpy, **LAYER, **given)
    once, nla = fingerprint.of_action(layers_of(walker)[0].action), nla_of(walker)
    plant(bpy, **LAYER, **given)
    assert fingerprint.of_action(layers_of(walker)[0].action) == once
    assert nla_of(walker) == nla and sorted(bpy.data.actions.keys()) == ["walk", "walk.layer"]


@pytest.mark.parametrize(
    "runs",
    [
        [{}, {"use_hips": False}],
        [{"bones": "foot.L"}, {"bones": "foot.R"}],
        [{"frame_range": "CUSTOM", "frame_end": 30}, {"frame_range": "CUSTOM", "frame_start": 31}],
        [{}, {"strength": 0.0}],
        [{}, {"bones": "foot.L", "use_hips": False, "use_slope": False}],
    ],
)
def test_several_runs_add_up_as_in_a_new_action(bpy, walker, slope, runs):
    expected = planted_anew(bpy, walker, *runs)
    for given in runs:
        plant(bpy, **LAYER, **given)
    assert apart(poses(bpy, walker), expected) < 2e-5 * LEG


@pytest.mark.parametrize("modes", [("QUATERNION", "XYZ"), ("ZYX", "QUATERNION"), ("QUATERNION", "AXIS_ANGLE")])
def test_a_layer_is_planted_again_in_another_rotation_mode(bpy, slope, modes):
    walker = biped.make_walker(bpy, mode=modes[0])
    plant(bpy, **LAYER)
    thigh = walker.pose.bones["thigh.L"]
    thigh.rotation_mode = modes[1]
    plant(bpy, **LAYER)
    again = poses(bpy, walker)
    bpy.ops.ik2bone.restore()
    plant(bpy, **LAYER)
    np.testing.assert_allclose(poses(bpy, walker), again, atol=1e-6)
    thigh.rotation_mode = modes[0]
    bpy.ops.ik2bone.restore()
    expected = planted_anew(bpy, walker, {})
    thigh.rotation_mode = modes[1]
    plant(bpy, **LAYER)
    thigh.rotation_mode = modes[0]
    plant(bpy, **LAYER)
    assert apart(poses(bpy, walker), expected) < 2e-5 * LEG


def test_what_the_user_has_set_of_the_strip_stays(bpy, walker, slope):
    plant(bpy, **LAYER)
    (strip,) = layers_of(walker)
    strip.name, strip.influence = "Feet", 0.4
    plant(bpy, **LAYER)
    assert (strip.name, strip.influence) == ("Feet", pytest.approx(0.4))
    assert "the influence of NLA strip Feet weakens the reported correction" in told(walker)


def test_hips_posed_by_hand_stay_so_after_a_run_in_place_whose_keys_were_deleted(bpy, walker, slope):
    for height, given in ((-0.125, {"output": "IN_PLACE"}), (-0.25, LAYER | {"use_hips": False})):
        (bag,) = fingerprint.bags_of(walker.animation_data.action)
        for curve in [curve for curve in bag.fcurves if '"hips"' in curve.data_path]:
            bag.fcurves.remove(curve)
        walker.pose.bones["hips"].location = (0.0, height, 0.0)
        plant(bpy, **given)
    assert tuple(walker.pose.bones["hips"].location) == (0.0, -0.25, 0.0)


@pytest.mark.parametrize(("name", "value"), [("scale", 1.5), ("use_reverse", True), ("use_animated_time", True)])
def test_a_layer_plays_at_its_own_speed_again(bpy, walker, slope, name, value):
    plant(bpy, **LAYER)
    shown = poses(bpy, walker)
    setattr(layers_of(walker)[0], name, value)
    assert apart(poses(bpy, walker), shown) > 0.01
    plant(bpy, **LAYER)
    np.testing.assert_array_equal(poses(bpy, walker), shown)


def test_a_muted_layer_plays_again(bpy, walker, slope):
    plant(bpy, **LAYER)
    shown = poses(bpy, walker)
    walker.animation_data.nla_tracks[-1].mute = True
    plant(bpy, **LAYER)
    np.testing.assert_array_equal(poses(bpy, walker), shown)


def test_a_source_that_was_edited_meanwhile_is_planted_as_it_is(bpy, walker, slope):
    plant(bpy, **LAYER)
    for index, curve in enumerate(fingerprint.curves_of(bpy.data.actions["walk"])):
        if "hips" in curve.data_path:
            for point in curve.keyframe_points:
                point.co.y += 0.05 * (index + 1)
            curve.update()
    plant(bpy, **LAYER)
    again = poses(bpy, walker)
    bpy.ops.ik2bone.restore()
    assert apart(again, planted_anew(bpy, walker, {})) < 2e-5 * LEG


def test_keys_made_by_hand_in_the_layer_are_counted_before_they_go(bpy, walker, slope):
    plant(bpy, **LAYER)
    curve = next(c for c in fingerprint.curves_of(layers_of(walker)[0].action) if "thigh.L" in c.data_path)
    curve.keyframe_points.insert(10, 0.5)
    plant(bpy, **LAYER)
    assert "keys made by hand were replaced in the layer: 1" in told(walker)
