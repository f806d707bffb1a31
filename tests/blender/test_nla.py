# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions in the NLA: pushed down or in tweak mode they are planted in their strip, where it shows them as they are."""

from __future__ import annotations

import json

import biped
import fingerprint
import numpy as np
import pytest
from nla_scene import FRAMES, push_down, refused, state_of
from planted import FEET, heads, plant


def tweak(armature):
    armature.animation_data.use_tweak_mode = True
    assert armature.animation_data.use_tweak_mode


def record_of(action):
    return json.loads(action["ik2bone"])


@pytest.fixture
def expected(bpy, walker, slope):
    """Where feet come to stand when the action is planted without any NLA; the walker plays the source again."""
    plant(bpy)
    feet = heads(bpy, walker, FRAMES)
    bpy.ops.ik2bone.restore()
    bpy.data.actions.remove(bpy.data.actions["walk.planted"])
    del walker.animation_data.action["ik2bone"]
    return feet


@pytest.mark.parametrize("mode", ["pushed down", "tweak mode"])
def test_the_action_of_a_strip_is_planted_in_the_strip_and_restored_there(bpy, walker, slope, expected, mode):
    before, source = heads(bpy, walker, FRAMES), walker.animation_data.action
    strip = push_down(walker)
    if mode == "tweak mode":
        tweak(walker)
    for _ in range(2):
        plant(bpy)
        assert strip.action.name == "walk.planted"
        assert walker.animation_data.use_tweak_mode == (mode == "tweak mode")
        assert walker.animation_data.action == (strip.action if mode == "tweak mode" else None)
        np.testing.assert_allclose(heads(bpy, walker, FRAMES), expected, atol=1e-5)
    assert strip.action["ik2bone_source"] == source
    assert not any("NLA strips" in text for text in record_of(strip.action)["report"]["told"])
    bpy.ops.ik2bone.restore()
    assert strip.action == source
    np.testing.assert_array_equal(heads(bpy, walker, FRAMES), before)


@pytest.mark.parametrize("mode", ["pushed down", "tweak mode"])
def test_the_action_of_a_strip_is_planted_in_place(bpy, walker, slope, expected, mode):
    strip = push_down(walker)
    if mode == "tweak mode":
        tweak(walker)
    plant(bpy, output="IN_PLACE")
    assert strip.action.name == "walk"
    np.testing.assert_allclose(heads(bpy, walker, FRAMES), expected, atol=1e-5)
    assert not any("NLA strips" in text for text in record_of(strip.action)["report"]["told"])


@pytest.mark.parametrize("mode", ["pushed down", "tweak mode"])
def test_one_pose_of_a_strip_is_keyed_in_its_action(bpy, walker, slope, mode):
    strip = push_down(walker)
    if mode == "tweak mode":
        tweak(walker)
    bpy.context.scene.frame_set(20)
    other = heads(bpy, walker, [40])
    bpy.context.scene.frame_set(20)
    plant(bpy, frame_range="CURRENT")
    shown = np.array([walker.matrix_world @ walker.pose.bones[name].head for name in FEET])
    np.testing.assert_allclose(heads(bpy, walker, [20])[0], shown, atol=1e-5)
    np.testing.assert_allclose(heads(bpy, walker, [40]), other, atol=1e-6)
    assert [action.name for action in bpy.data.actions] == ["walk"]
    assert strip.action.name == "walk"


def test_the_strip_in_the_scene_s_frame_range_is_meant(bpy, walker, slope):
    first = push_down(walker)
    later = walker.animation_data.nla_tracks[0].strips.new("Later", 200, first.action.copy())
    plant(bpy)
    assert first.action.name == "walk.planted"
    assert later.action.name == "walk.001"


def test_the_strip_in_the_preview_range_is_meant_where_that_is_on(bpy, walker, slope):
    first, scene = push_down(walker), bpy.context.scene
    later = walker.animation_data.nla_tracks[0].strips.new("Later", 200, first.action.copy())
    scene.frame_end, scene.use_preview_range = 300, True
    scene.frame_preview_start, scene.frame_preview_end = 1, 61
    plant(bpy)
    assert first.action.name == "walk.planted"
    assert later.action.name == "walk.001"


def test_the_strip_of_the_track_that_plays_solo_is_meant(bpy, walker, slope):
    first = push_down(walker)
    second = walker.animation_data.nla_tracks.new()
    second.strips.new("Other", 1, first.action.copy())
    walker.animation_data.nla_tracks[0].is_solo = True
    plant(bpy)
    assert first.action.name == "walk.planted"
    assert second.strips[0].action.name == "walk.001"


def test_the_strip_of_another_object_that_plays_the_source_is_told_once(bpy, walker, slope):
    strip = push_down(walker)
    twin = biped.twin_of(bpy, walker)
    twin.animation_data.nla_tracks[0].strips[0].name = "Twin"
    plant(bpy)
    told = record_of(strip.action)["report"]["told"]
    assert [text for text in told if "playing walk" in text or "plays walk" in text] == [
        "NLA strips keep playing walk: Twin"
    ]


def test_several_strips_in_the_scene_s_frame_range_are_refused_by_name(bpy, walker, slope):
    first = push_down(walker)
    walker.animation_data.nla_tracks.new().strips.new("Other", 1, first.action.copy())
    refused(bpy, walker, "Walker plays 2 NLA strips, Walk, Other: mute all but one, or set the scene's frame range")
    walker.animation_data.nla_tracks[1].mute = True
    plant(bpy)
    assert first.action.name == "walk.planted"


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE", "NLA_LAYER"])
@pytest.mark.parametrize(("bone", "name"), [("hips", "location"), ("thigh.L", "rotation_quaternion")])
def test_a_strip_that_moves_what_the_action_over_it_does_not_key_is_refused(bpy, walker, slope, bone, name, output):
    own = walker.animation_data.action.copy()
    push_down(walker)
    walker.animation_data.action = own
    bag, path = fingerprint.bags_of(own)[0], walker.pose.bones[bone].path_from_id(name)
    for curve in [curve for curve in bag.fcurves if curve.data_path == path]:
        bag.fcurves.remove(curve)
    refused(bpy, walker, f"animates the {name} of bone {bone}, which {own.name} does not key", output=output)
    walker.animation_data.nla_tracks[0].mute = True
    plant(bpy, output=output)


@pytest.mark.parametrize(
    ("start", "extrapolation", "shows"),
    [
        (200, "HOLD", True),
        (200, "HOLD_FORWARD", False),
        (200, "NOTHING", False),
        (-100, "HOLD_FORWARD", True),
        (-100, "NOTHING", False),
    ],
)
def test_a_strip_is_refused_only_where_it_shows_on_the_frames(bpy, walker, slope, start, extrapolation, shows):
    own = walker.animation_data.action
    strip = walker.animation_data.nla_tracks.new().strips.new("Other", start, own.copy())
    strip.extrapolation, bag = extrapolation, fingerprint.bags_of(own)[0]
    for curve in [curve for curve in bag.fcurves if curve.data_path == 'pose.bones["hips"].location']:
        bag.fcurves.remove(curve)
    shown = heads(bpy, walker, FRAMES)
    strip.mute = True
    assert shows == (np.abs(heads(bpy, walker, FRAMES) - shown).max() > 1e-5)
    strip.mute = False
    if shows:
        refused(bpy, walker, "NLA strip Other of Walker animates the location of bone hips")
    else:
        plant(bpy)


@pytest.mark.parametrize(
    ("slider", "keys", "shows"), [(0.0, (), False), (1.0, (0.0, 0.0), False), (0.0, (0.0, 1.0), True)]
)
def test_a_strip_is_refused_only_where_it_has_influence(bpy, walker, slope, slider, keys, shows):
    own = walker.animation_data.action
    strip, bag = walker.animation_data.nla_tracks.new().strips.new("Other", 1, own.copy()), fingerprint.bags_of(own)[0]
    for curve in [curve for curve in bag.fcurves if curve.data_path == 'pose.bones["hips"].location']:
        bag.fcurves.remove(curve)
    strip.use_animated_influence = True
    points = strip.fcurves.find("influence").keyframe_points
    points.clear()
    strip.influence = slider
    for frame, value in zip((1, biped.LAST), keys, strict=False):
        points.insert(frame, value)
    if shows:
        refused(bpy, walker, "NLA strip Other of Walker animates the location of bone hips")
    else:
        plant(bpy)
    assert shows == (np.ptp(heads(bpy, walker, FRAMES, ["hips"])[:, 0, 1]) > 0.1)


@pytest.mark.parametrize(
    ("start", "keys", "shows"),
    [(-100, {-40: 1.0, -39: 0.0}, True), (200, {199: 0.0, 200: 1.0}, True), (1, {1: -1.0, biped.LAST: -1.0}, False)],
    ids=["held after its end", "held before its start", "negative"],
)
def test_a_strip_has_the_influence_that_blender_gives_it(bpy, walker, slope, start, keys, shows):
    own = walker.animation_data.action
    strip, bag = (
        walker.animation_data.nla_tracks.new().strips.new("Other", start, own.copy()),
        fingerprint.bags_of(own)[0],
    )
    for curve in [curve for curve in bag.fcurves if curve.data_path == 'pose.bones["hips"].location']:
        bag.fcurves.remove(curve)
    strip.use_animated_influence = True
    points = strip.fcurves.find("influence").keyframe_points
    points.clear()
    for frame, value in keys.items():
        points.insert(frame, value)
    shown = heads(bpy, walker, FRAMES, ["hips"])
    strip.mute = True
    assert shows == (np.abs(heads(bpy, walker, FRAMES, ["hips"]) - shown).max() > 0.05)
    strip.mute = False
    if shows:
        refused(bpy, walker, "NLA strip Other of Walker animates the location of bone hips")
    else:
        plant(bpy)


def test_strips_in_a_row_may_animate_what_the_planted_one_does_not_key(bpy, walker, slope):
    other, strip = walker.animation_data.action.copy(), push_down(walker)
    bag = fingerprint.bags_of(strip.action)[0]
    for curve in [curve for curve in bag.fcurves if curve.data_path == 'pose.bones["hips"].location']:
        bag.fcurves.remove(curve)
    for start in (1 - biped.LAST, 1 + biped.LAST):
        walker.animation_data.nla_tracks[0].strips.new("Other", start, other)
    plant(bpy)
    assert strip.action.name == "walk.planted"


def test_a_pose_between_several_strips_is_planted_and_not_keyed(bpy, walker, slope):
    first = push_down(walker)
    walker.animation_data.nla_tracks.new().strips.new("Other", 1, first.action.copy())
    before = [fingerprint.of_action(action) for action in bpy.data.actions]
    plant(bpy, frame_range="CURRENT")
    assert [fingerprint.of_action(action) for action in bpy.data.actions] == before


@pytest.mark.parametrize("mode", ["pushed down", "tweak mode"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"blend_type": "ADD"}, "does not replace what lies under it"),
        ({"use_animated_influence": True}, "has an influence of its own"),
        ({"blend_in": 5.0}, "blends in or out"),
        ({"scale": 2.0}, "changes the time of its action"),
        ({"use_reverse": True}, "changes the time of its action"),
        ({"repeat": 2.0}, "changes the time of its action"),
        ({"frame_start_ui": 31.0}, "plays its action 30 frames too late"),
        ({"use_sync_length": False, "action_frame_end": 30.0}, "plays a part of its action alone"),
    ],
)
def test_strips_that_show_their_action_otherwise_are_refused(bpy, walker, slope, mode, changes, message):
    strip = push_down(walker)
    for name, value in changes.items():
        setattr(strip, name, value)
    if mode == "tweak mode":
        tweak(walker)
    bpy.context.view_layer.update()
    refused(bpy, walker, f"NLA strip Walk of Walker {message}")


@pytest.mark.parametrize("mode", ["pushed down", "tweak mode"])
def test_an_error_half_way_leaves_the_strip_as_it_was(bpy, walker, slope, addon, monkeypatch, mode):
    push_down(walker)
    if mode == "tweak mode":
        tweak(walker)
    report = addon("run.pipeline").report

    def fail(*_arguments):
        raise ArithmeticError("half way")

    before = state_of(bpy, walker)
    with monkeypatch.context() as patch:
        patch.setattr(report, "figures", fail)
        with pytest.raises(RuntimeError, match="half way"):
            bpy.ops.ik2bone.plant_feet()
    assert state_of(bpy, walker) == before


@pytest.mark.parametrize("change", ["muted", "twice"])
def test_a_strip_in_tweak_mode_that_is_muted_or_shares_its_action_is_refused(bpy, walker, slope, change):
    strip = push_down(walker)
    if change == "twice":
        walker.animation_data.nla_tracks.new().strips.new("Again", 1, strip.action)
    tweak(walker)
    strip.mute = change == "muted"
    refused(bpy, walker, "NLA strip of Walker in tweak mode is muted or one of several: leave tweak mode")


def test_the_panel_finds_the_record_of_a_strip(bpy, walker, slope, addon):
    push_down(walker)
    plant(bpy)
    assert addon("ui.panel").IK2BONE_PT_report.poll(bpy.context)
    assert bpy.ops.ik2bone.restore.poll()
    assert bpy.ops.ik2bone.set_contact(index=0, state="enforced") == {"FINISHED"}


def test_a_strip_whose_keys_begin_and_end_between_frames_is_planted_again(bpy, walker, slope):
    biped.thin(walker)
    strip, shown = push_down(walker), []
    for _ in range(2):
        plant(bpy)
        shown.append(heads(bpy, walker, range(1, biped.LAST)))
    assert strip.action.name == "walk.planted" and strip.frame_end % 1.0
    np.testing.assert_allclose(*shown, atol=1e-6)
