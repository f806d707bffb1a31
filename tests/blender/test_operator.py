# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet as its users call it: what it makes, keeps, remembers and tells."""

from __future__ import annotations

import json
from types import SimpleNamespace

import biped
import fingerprint
import numpy as np
import pytest

FEET = ("foot.L", "foot.R")


@pytest.fixture
def walker(bpy):
    return biped.make_walker(bpy)


@pytest.fixture
def slope(bpy):
    return biped.make_slope(bpy)


@pytest.fixture
def options(bpy):
    """The operator's defaults as plain values, for calling what stands behind it."""
    defaults = bpy.ops.ik2bone.plant_feet.get_rna_type().properties
    values = {p.identifier: p.default for p in defaults if p.identifier != "rna_type"}
    return lambda **changes: SimpleNamespace(**(values | changes))


def _plant(bpy, **given):
    assert bpy.ops.ik2bone.plant_feet(**given) == {"FINISHED"}


def _heads(bpy, armature, frames, bones=FEET):
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        rows.append([armature.matrix_world @ armature.pose.bones[name].head for name in bones])
    return np.array(rows)


def _record(armature):
    return json.loads(armature.animation_data.action["ik2bone"])


def _curves(action, name):
    """Keys of a bone's curves by (path, index)."""
    path = f'pose.bones["{name}"]'
    curves = fingerprint.of_action(action)["curves"]
    return {curve[:2]: curve[6] for curve in curves if curve[0].startswith(path)}


def _values(armature, frames):
    action = armature.animation_data.action
    return {
        (curve.data_path, curve.array_index): [curve.evaluate(frame) for frame in frames]
        for curve in fingerprint.curves_of(action)
    }


def test_feet_stand_on_the_surface_and_stay_there(bpy, walker, slope):
    _plant(bpy)
    report = _record(walker)["report"]
    assert report["before"]["penetration"] > 0.1
    assert report["after"]["penetration"] < 1e-4
    assert report["after"]["drift"] < 1e-4
    for span in report["spans"]:
        toe, ball = f"toe{span['bone'][4:]}", span["part"] == "ball"
        path = _heads(bpy, walker, range(span["start"], span["end"] + 1), (toe,))
        assert not ball or np.ptp(path, axis=0).max() < 1e-4


@pytest.mark.parametrize("mode", ["AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_every_rotation_mode_is_planted_in_its_own_channels_without_jumps(bpy, slope, mode):
    walker = biped.make_walker(bpy, mode=mode)
    before = _curves(walker.animation_data.action, "shin.L").keys()
    _plant(bpy)
    assert walker.pose.bones["shin.L"].rotation_mode == mode
    assert _curves(walker.animation_data.action, "shin.L").keys() == before
    assert _record(walker)["report"]["after"]["drift"] < 1e-4
    assert _record(walker)["report"]["after"]["penetration"] < 1e-4
    assert max(np.abs(np.diff(row)).max() for row in _values(walker, np.arange(1, 62)).values()) < 0.5


def test_a_moved_turned_and_scaled_armature_is_planted_in_world_space(bpy, walker, slope):
    walker.location, walker.rotation_euler, walker.scale = (2.0, 1.0, 0.4), (0.0, 0.0, 1.2), (2.0, 2.0, 2.0)
    _plant(bpy)
    assert _record(walker)["report"]["after"]["penetration"] < 1e-3
    assert _record(walker)["report"]["after"]["drift"] < 1e-3


def test_the_planted_action_is_a_marked_copy_of_an_untouched_source(bpy, walker, slope):
    source = walker.animation_data.action
    before = fingerprint.of_action(source)
    _plant(bpy)
    planted = walker.animation_data.action
    assert planted.name == "walk.planted"
    assert planted["ik2bone_source"] == source
    assert planted.use_fake_user and source.use_fake_user
    assert fingerprint.of_action(source) == before
    record = _record(walker)
    assert {"source", "settings", "contacts", "report"} <= record.keys()
    assert record["source"] == "walk"
    assert record["settings"]["use_hips"] is True
    assert {span["support"] for span in record["contacts"]} == {"Slope"}
    assert [foot["bone"] for foot in record["report"]["feet"]] == ["foot.L", "foot.R"]


def test_only_leg_rotations_and_the_location_of_the_hips_are_rewritten(bpy, walker, slope):
    walker.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=5)
    source = walker.animation_data.action
    _plant(bpy)
    planted = walker.animation_data.action
    assert _curves(planted, "chest") == _curves(source, "chest")
    changed = {path for name in ("hips", "thigh.L", "toe.R") for path, _index in _curves(planted, name)}
    assert changed == {
        'pose.bones["hips"].location',
        'pose.bones["thigh.L"].rotation_quaternion',
        'pose.bones["toe.R"].rotation_quaternion',
    }
    assert {curve[2] for curve in fingerprint.of_action(planted)["curves"]} <= set(walker.pose.bones.keys())


def test_source_and_planted_action_survive_saving_and_loading(bpy, walker, slope, tmp_path):
    before = fingerprint.of_action(walker.animation_data.action)
    _plant(bpy)
    planted = fingerprint.of_action(walker.animation_data.action)
    path = str(tmp_path / "planted.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    walker = bpy.data.objects["Walker"]
    assert fingerprint.of_action(bpy.data.actions["walk"]) == before
    assert fingerprint.of_action(walker.animation_data.action) == planted
    bpy.ops.ik2bone.restore()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    walker = bpy.data.objects["Walker"]
    assert walker.animation_data.action == bpy.data.actions["walk"]
    assert fingerprint.of_action(bpy.data.actions["walk.planted"]) == planted


@pytest.mark.parametrize(
    "given", [{}, {"use_hips": False}, {"frame_range": "CUSTOM", "frame_start": 9, "frame_end": 40}]
)
def test_planting_twice_equals_planting_once(bpy, walker, slope, given):
    _plant(bpy, **given)
    once, frames = fingerprint.of_action(walker.animation_data.action), _values(walker, np.arange(1, 62))
    _plant(bpy, **given)
    twice = fingerprint.of_action(walker.animation_data.action)
    assert len(bpy.data.actions) == 2
    assert _values(walker, np.arange(1, 62)) == frames
    assert twice == once


def test_planting_after_restoring_rewrites_the_same_planted_action(bpy, walker, slope):
    _plant(bpy)
    once = fingerprint.of_action(walker.animation_data.action)
    bpy.ops.ik2bone.restore()
    assert walker.animation_data.action.name == "walk"
    _plant(bpy)
    assert sorted(bpy.data.actions.keys()) == ["walk", "walk.planted"]
    assert fingerprint.of_action(walker.animation_data.action) == once


def test_another_character_with_the_same_source_gets_a_planted_action_of_its_own(bpy, walker, slope):
    twin = walker.copy()
    twin.location.x = 1.0
    bpy.context.collection.objects.link(twin)
    _plant(bpy)
    first = fingerprint.of_action(walker.animation_data.action)
    assert twin.animation_data.action.name == "walk"
    bpy.context.view_layer.objects.active = twin
    _plant(bpy)
    assert twin.animation_data.action.name == "walk.planted.001"
    assert fingerprint.of_action(walker.animation_data.action) == first


def test_undo_gives_the_old_state_back(bpy, walker, slope):
    bpy.ops.ed.undo_push(message="before")
    before = fingerprint.of_scene(bpy)
    _plant(bpy)
    bpy.ops.ed.undo_push(message="Plant Feet")
    bpy.ops.ed.undo()
    assert fingerprint.of_scene(bpy) == before


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize("planted_before", [False, True])
def test_no_strength_changes_no_value(bpy, slope, mode, planted_before):
    walker = biped.make_walker(bpy, mode=mode)
    frames = np.arange(1, biped.LAST + 1)
    before = _values(walker, frames)
    if planted_before:
        _plant(bpy)
        assert _values(walker, frames) != before
    _plant(bpy, strength=0.0)
    assert _values(walker, frames) == before


def test_strength_blends(bpy, walker, slope):
    frames = range(1, biped.LAST, 10)
    before = _heads(bpy, walker, frames)
    _plant(bpy)
    whole = _heads(bpy, walker, frames) - before
    _plant(bpy, strength=0.5)
    half = _heads(bpy, walker, frames) - before
    np.testing.assert_allclose(half, 0.5 * whole, atol=0.01)


def test_a_later_run_over_some_frames_leaves_the_others_as_they_are(bpy, walker, slope):
    _plant(bpy)
    outside = [*range(1, 20), *range(41, 62)]
    before = _values(walker, outside)
    source = _values(SimpleNamespace(animation_data=SimpleNamespace(action=bpy.data.actions["walk"])), range(20, 41))
    _plant(bpy, strength=0.0, frame_range="CUSTOM", frame_start=20, frame_end=40)
    assert _values(walker, outside) == before
    assert _values(walker, range(20, 41)) == source


def test_a_run_over_one_leg_leaves_the_other_leg_and_the_hips(bpy, walker, slope, options, addon):
    source = bpy.data.actions["walk"]
    outcome = addon("planting").plant_feet(bpy.context, walker, options(bones="shin.L"))
    planted = walker.animation_data.action
    for name in ("thigh.R", "shin.R", "foot.R", "toe.R", "hips"):
        assert _curves(planted, name) == _curves(source, name)
    assert _curves(planted, "shin.L") != _curves(source, "shin.L")
    assert any("the hips stay" in warning for warning in outcome.warnings)


def test_selected_bones_name_their_limb_in_pose_mode(bpy, walker, slope):
    source = bpy.data.actions["walk"]
    bpy.ops.object.mode_set(mode="POSE")
    foot = walker.pose.bones["foot.R"]
    for bone in walker.pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone
        owner.select = bone == foot
    _plant(bpy)
    assert _curves(walker.animation_data.action, "thigh.L") == _curves(source, "thigh.L")
    assert _curves(walker.animation_data.action, "thigh.R") != _curves(source, "thigh.R")


def test_without_hips_only_the_legs_are_written(bpy, walker, slope):
    _plant(bpy, use_hips=False)
    assert _curves(walker.animation_data.action, "hips") == _curves(bpy.data.actions["walk"], "hips")


def test_hips_that_moved_before_go_back_when_they_shall_stay(bpy, walker, slope):
    frames = range(1, biped.LAST + 1)
    before = _heads(bpy, walker, frames, ("hips",))
    _plant(bpy)
    assert np.abs(_heads(bpy, walker, frames, ("hips",)) - before).max() > 0.05
    _plant(bpy, use_hips=False)
    np.testing.assert_array_equal(_heads(bpy, walker, frames, ("hips",)), before)


def _forget_hips(bpy, walker):
    """Let the walker tread on the spot with hips that nothing animates, set by hand 3 cm aside."""
    curves = fingerprint.curves_of(walker.animation_data.action)
    bag = fingerprint.bags_of(walker.animation_data.action)[0]
    for curve in [curve for curve in curves if "hips" in curve.data_path]:
        bag.fcurves.remove(curve)
    walker.pose.bones["hips"].location = (0.03, 0.0, -0.1)


def test_a_pose_that_nothing_animated_comes_back_on_restoring(bpy, walker, slope):
    _forget_hips(bpy, walker)
    _plant(bpy)
    bpy.context.scene.frame_set(40)
    assert tuple(walker.pose.bones["hips"].location) != pytest.approx((0.03, 0.0, -0.1))
    once = _values(walker, range(1, 62))
    _plant(bpy)
    assert _values(walker, range(1, 62)) == once
    bpy.ops.ik2bone.restore()
    bpy.context.scene.frame_set(41)
    assert tuple(walker.pose.bones["hips"].location) == pytest.approx((0.03, 0.0, -0.1))


def test_hand_made_keys_are_counted_before_they_are_replaced(bpy, walker, slope, options, addon):
    _plant(bpy)
    for curve in fingerprint.curves_of(walker.animation_data.action):
        if "foot.L" in curve.data_path:
            curve.keyframe_points[4].type = curve.keyframe_points[8].type = "KEYFRAME"
    outcome = addon("planting").plant_feet(bpy.context, walker, options())
    assert "8 keys made by hand were replaced" in outcome.warnings
    again = addon("planting").plant_feet(bpy.context, walker, options())
    assert not any("by hand" in warning for warning in again.warnings)


def test_whoever_goes_on_playing_the_source_is_told(bpy, walker, slope, options, addon):
    twin = walker.copy()
    bpy.context.collection.objects.link(twin)
    track = twin.animation_data.nla_tracks.new()
    track.strips.new("Walk strip", 1, bpy.data.actions["walk"])
    track.mute = True
    outcome = addon("planting").plant_feet(bpy.context, walker, options())
    assert any("Walker.001 also plays walk" in warning for warning in outcome.warnings)
    assert any("NLA strips keep playing walk: Walk strip" in warning for warning in outcome.warnings)


def test_without_any_surface_the_clip_s_own_floor_is_used_and_told(bpy, walker, options, addon):
    before = _heads(bpy, walker, range(1, biped.LAST + 1))
    outcome = addon("planting").plant_feet(bpy.context, walker, options())
    assert any("own floor" in warning for warning in outcome.warnings)
    assert np.abs(_heads(bpy, walker, range(1, biped.LAST + 1)) - before).max() < 0.03


def test_keys_lie_on_whole_frames_of_the_action_cut_to_the_preview_range(bpy, walker, slope):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in curve.keyframe_points:
            point.co.x += 0.4
        curve.update()
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, -20, 30
    _plant(bpy)
    curve = next(c for c in fingerprint.curves_of(walker.animation_data.action) if "thigh.L" in c.data_path)
    generated = [point.co.x for point in curve.keyframe_points if point.type == "GENERATED"]
    kept = [point.co.x for point in curve.keyframe_points if point.type != "GENERATED"]
    assert generated == list(range(1, 31))
    np.testing.assert_allclose(kept, np.arange(30.4, 62.0), rtol=1e-6)


def test_the_present_pose_is_planted_as_it_was_set_by_hand_and_keyed_in_place(bpy, walker, slope):
    bpy.context.scene.frame_set(12)
    walker.pose.bones["hips"].location.x += 0.2
    bpy.context.view_layer.update()
    before = [tuple(walker.pose.bones[name].head) for name in ("hips", "foot.L")]
    _plant(bpy, frame_range="CURRENT", use_hips=False)
    action = walker.animation_data.action
    assert action.name == "walk" and len(bpy.data.actions) == 1
    bpy.context.view_layer.update()
    foot = walker.pose.bones["foot.L"]
    assert abs(foot.head.x - before[1][0]) < 0.05
    assert abs(foot.head.z - before[1][2]) > 0.005
    keyed = [p for c in fingerprint.curves_of(action) for p in c.keyframe_points if p.type == "GENERATED"]
    assert {point.co.x for point in keyed} == {12.0}
    assert len(keyed) == 4 * 8


def test_without_an_action_the_present_pose_is_only_posed(bpy, walker, slope):
    bpy.context.scene.frame_set(12)
    walker.animation_data_clear()
    before = [tuple(bone.rotation_quaternion) for bone in walker.pose.bones]
    _plant(bpy, frame_range="CURRENT")
    assert walker.animation_data is None or walker.animation_data.action is None
    assert [tuple(bone.rotation_quaternion) for bone in walker.pose.bones] != before


def test_the_user_s_frame_stays(bpy, walker, slope):
    bpy.context.scene.frame_set(17)
    _plant(bpy)
    assert bpy.context.scene.frame_current == 17
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]


def test_the_armature_is_found_from_its_mesh_from_its_parent_or_as_the_only_one(bpy, walker, slope):
    body = biped.make_mesh(bpy, "Body", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    body.modifiers.new("Armature", "ARMATURE").object = walker
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(empty)
    walker.parent = empty
    for active in (body, empty, None):
        bpy.context.view_layer.objects.active = active
        _plant(bpy)
        assert walker.animation_data.action.name == "walk.planted"
        bpy.ops.ik2bone.restore()


def test_a_run_stores_its_options_as_the_panel_s_settings(bpy, walker, slope):
    settings = bpy.context.scene.ik2bone
    _plant(bpy, surface="Slope", use_slope=False, strength=0.75)
    assert (settings.surface_object, settings.use_slope, settings.strength) == (slope, False, 0.75)
    _plant(bpy)
    assert (settings.surface_object, settings.use_slope, settings.strength) == (None, True, 1.0)


def test_only_the_button_starts_from_the_panel_s_settings(bpy, walker, slope, addon):
    settings = bpy.context.scene.ik2bone
    settings.surface_object, settings.use_hips, settings.contacts = slope, False, "ALWAYS"
    _plant(bpy)
    assert _record(walker)["settings"]["use_hips"] is True
    settings.surface_object, settings.use_hips, settings.contacts = slope, False, "ALWAYS"
    # Without a window Blender never calls `invoke`, so it is called here as the button does.
    given = SimpleNamespace(is_property_set=lambda name: name == "contacts")
    pressed = SimpleNamespace(properties=given, contacts="AUTO", execute=lambda _context: {"FINISHED"})
    addon("operators").IK2BONE_OT_plant_feet.invoke(pressed, bpy.context, None)
    assert (pressed.surface, pressed.use_hips, pressed.contacts) == ("Slope", False, "AUTO")


def test_restoring_needs_a_planted_action(bpy, walker, slope):
    with pytest.raises(RuntimeError, match="plays no planted action"):
        bpy.ops.ik2bone.restore()


def test_modifiers_of_written_channels_are_baked(bpy, walker, slope):
    curve = next(c for c in fingerprint.curves_of(bpy.data.actions["walk"]) if "hips" in c.data_path)
    curve.modifiers.new("NOISE").strength = 0.05
    before = _values(walker, range(1, 62))
    _plant(bpy, strength=0.0)
    assert not any(len(c.modifiers) for c in fingerprint.curves_of(walker.animation_data.action))
    assert _values(walker, range(1, 62)) == before


def test_the_info_line_tells_the_figures(bpy, walker, slope, capfd):
    _plant(bpy)
    assert "Planted 2 feet" in capfd.readouterr().out
