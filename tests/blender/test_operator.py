# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet as its users call it: what it plants, where it looks, and what it tells."""

from __future__ import annotations

from types import SimpleNamespace

import biped
import fingerprint
import numpy as np
import pytest
from planted import bone_curves, heads, outcome_of, plant, record_of, values_of


def test_feet_stand_on_the_surface_and_stay_there(bpy, walker, slope):
    plant(bpy)
    report = record_of(walker)["report"]
    assert report["before"]["penetration"] > 0.1
    assert report["after"]["penetration"] < 1e-4
    assert report["after"]["drift"] < 1e-4
    for span in report["spans"]:
        toe, ball = f"toe{span['bone'][4:]}", span["part"] == "ball"
        path = heads(bpy, walker, range(span["start"], span["end"] + 1), (toe,))
        assert not ball or np.ptp(path, axis=0).max() < 1e-4


def test_heels_give_way_where_the_hips_may_not_come_down(bpy, walker):
    biped.make_slope(bpy, rise=0.25)
    reports = {}
    for order in ("HIPS", "HIPS_HEEL"):
        plant(bpy, max_drop=0.0, gives_way=order)
        reports[order] = record_of(walker)["report"]
    spots, heels = (report["after"]["short"] for report in reports.values())
    assert spots > 0.01 and heels < 0.5 * spots
    assert "feet fall short of their targets" in " ".join(reports["HIPS"]["told"])
    assert "heels rise by up to" in " ".join(reports["HIPS_HEEL"]["told"])


@pytest.mark.parametrize("mode", ["AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_every_rotation_mode_is_planted_in_its_own_channels_without_jumps(bpy, slope, mode):
    walker = biped.make_walker(bpy, mode=mode)
    before = bone_curves(walker.animation_data.action, "shin.L").keys()
    plant(bpy)
    assert walker.pose.bones["shin.L"].rotation_mode == mode
    assert bone_curves(walker.animation_data.action, "shin.L").keys() == before
    assert record_of(walker)["report"]["after"]["drift"] < 1e-4
    assert record_of(walker)["report"]["after"]["penetration"] < 1e-4
    assert max(np.abs(np.diff(row)).max() for row in values_of(walker, np.arange(1, 62)).values()) < 0.5


def test_a_moved_turned_and_scaled_armature_is_planted_in_world_space(bpy, walker, slope):
    walker.location, walker.rotation_euler, walker.scale = (2.0, 1.0, 0.4), (0.0, 0.0, 1.2), (2.0, 2.0, 2.0)
    plant(bpy)
    assert record_of(walker)["report"]["after"]["penetration"] < 1e-3
    assert record_of(walker)["report"]["after"]["drift"] < 1e-3


@pytest.mark.parametrize(("scale", "told"), [((1.0, 1.2, 0.9), True), ((-1.1, 1.1, 1.1), False)])
def test_an_armature_that_is_scaled_unevenly_is_told(bpy, walker, slope, scale, told):
    walker.scale = scale
    plant(bpy)
    sentences = [sentence for sentence in record_of(walker)["report"]["told"] if "unevenly" in sentence]
    expected = ["Walker is scaled unevenly, by 0.9 to 1.2, so it is planted less exactly"]
    assert sentences == (expected if told else [])


def test_strength_blends(bpy, walker, slope):
    frames = range(1, biped.LAST, 10)
    before = heads(bpy, walker, frames)
    plant(bpy)
    whole = heads(bpy, walker, frames) - before
    plant(bpy, strength=0.5)
    half = heads(bpy, walker, frames) - before
    np.testing.assert_allclose(half, 0.5 * whole, atol=0.01)


def test_a_run_over_one_leg_leaves_the_other_leg_and_the_hips(bpy, walker, slope, options, addon):
    source = bpy.data.actions["walk"]
    outcome = outcome_of(addon, bpy, [walker], options(bones="shin.L"))
    planted = walker.animation_data.action
    for name in ("thigh.R", "shin.R", "foot.R", "toe.R", "hips"):
        assert bone_curves(planted, name) == bone_curves(source, name)
    assert bone_curves(planted, "shin.L") != bone_curves(source, "shin.L")
    assert any("the hips stay" in warning for warning in outcome.warnings)


def test_selected_bones_name_their_limb_in_pose_mode(bpy, walker, slope):
    source = bpy.data.actions["walk"]
    bpy.ops.object.mode_set(mode="POSE")
    foot = walker.pose.bones["foot.R"]
    for bone in walker.pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone
        owner.select = bone == foot
    plant(bpy)
    assert bone_curves(walker.animation_data.action, "thigh.L") == bone_curves(source, "thigh.L")
    assert bone_curves(walker.animation_data.action, "thigh.R") != bone_curves(source, "thigh.R")


def test_without_hips_only_the_legs_are_written(bpy, walker, slope):
    plant(bpy, use_hips=False)
    assert bone_curves(walker.animation_data.action, "hips") == bone_curves(bpy.data.actions["walk"], "hips")


def test_whoever_goes_on_playing_the_source_is_told(bpy, walker, slope, options, addon):
    twin = biped.twin_of(bpy, walker)
    twin.animation_data.nla_tracks.new().strips.new("Walk strip", 1, bpy.data.actions["walk"])
    outcome = outcome_of(addon, bpy, [walker], options())
    assert any("Walker.001 also plays walk" in warning for warning in outcome.warnings)
    assert any("NLA strips keep playing walk: Walk strip" in warning for warning in outcome.warnings)


def test_whoever_shares_the_planted_action_is_told(bpy, walker, slope, options, addon):
    plant(bpy)
    bpy.context.collection.objects.link(walker.copy())
    outcome = outcome_of(addon, bpy, [walker], options())
    assert any("Walker.001 also plays walk.planted and changes with it" in warning for warning in outcome.warnings)


def test_without_any_surface_the_clip_s_own_floor_is_used_and_told(bpy, walker, options, addon):
    before = heads(bpy, walker, range(1, biped.LAST + 1))
    outcome = outcome_of(addon, bpy, [walker], options())
    assert any("own floor" in warning for warning in outcome.warnings)
    assert np.abs(heads(bpy, walker, range(1, biped.LAST + 1)) - before).max() < 0.03


@pytest.mark.parametrize(("shown_again", "told"), [(20, True), (biped.LAST + 1, False)])
def test_a_surface_that_is_hidden_now_and_shows_on_other_frames_is_told(
    bpy, walker, slope, options, addon, shown_again, told
):
    bridge = biped.make_slope(bpy, "Bridge", height=0.2)
    for frame, hidden in ((1, True), (shown_again, False)):
        bridge.hide_viewport = hidden
        bridge.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)
    sentence = "Bridge is hidden on frame 1 and was not planted on, though it shows on others"
    outcome = outcome_of(addon, bpy, [walker], options())
    assert any(sentence in warning for warning in outcome.warnings) == told


@pytest.mark.parametrize("disabled", ["object", "collection"])
def test_a_disabled_part_of_the_chosen_collection_is_no_ground_in_a_second_run_either(bpy, walker, slope, disabled):
    ground, inner = (bpy.data.collections.new(name) for name in ("Ground", "Inner"))
    bpy.context.scene.collection.children.link(ground)
    ground.children.link(inner)
    bridge = biped.make_slope(bpy, "Bridge", height=0.2)
    for ob, collection in ((slope, ground), (bridge, inner)):
        bpy.context.scene.collection.objects.unlink(ob)
        collection.objects.link(ob)
    (bridge if disabled == "object" else inner).hide_viewport = True
    for _ in range(2):
        plant(bpy, surface="Ground")
        assert record_of(walker)["report"]["surfaces"] == ["Slope"]


def test_keys_lie_on_whole_frames_of_the_action_cut_to_the_preview_range(bpy, walker, slope):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in curve.keyframe_points:
            point.co.x += 0.4
        curve.update()
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, -20, 30
    plant(bpy)
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
    plant(bpy, frame_range="CURRENT", use_hips=False)
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
    plant(bpy, frame_range="CURRENT")
    assert walker.animation_data is None or walker.animation_data.action is None
    assert [tuple(bone.rotation_quaternion) for bone in walker.pose.bones] != before


def test_the_user_s_frame_stays(bpy, walker, slope):
    bpy.context.scene.frame_set(17)
    plant(bpy)
    assert bpy.context.scene.frame_current == 17
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]


def test_the_armature_is_found_from_its_mesh_from_its_parent_or_as_the_only_one(bpy, walker, slope):
    body = biped.make_mesh(bpy, "Body", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    body.modifiers.new("Armature", "ARMATURE").object = walker
    empty = biped.make_empty(bpy, "Empty")
    walker.parent = empty
    for active in (body, empty, None):
        bpy.context.view_layer.objects.active = active
        plant(bpy)
        assert walker.animation_data.action.name == "walk.planted"
        bpy.ops.ik2bone.restore()


@pytest.mark.parametrize("place", ["hidden", "removed", "other scene"])
def test_of_armatures_under_the_active_object_the_visible_one_is_planted(bpy, walker, slope, place):
    unseen, empty = walker.copy(), biped.make_empty(bpy, "Empty")
    unseen.name = "A name before the walker's"
    unseen.use_fake_user = True
    if place == "hidden":
        bpy.context.collection.objects.link(unseen)
        unseen.hide_set(True)
    elif place == "other scene":
        bpy.data.scenes.new("Other").collection.objects.link(unseen)
    walker.parent = unseen.parent = empty
    walker.select_set(False)
    bpy.context.view_layer.objects.active = empty
    plant(bpy)
    assert "ik2bone_source" in walker.animation_data.action
    assert "ik2bone_source" not in unseen.animation_data.action


def test_a_run_stores_its_options_as_the_panel_s_settings(bpy, walker, slope):
    settings = bpy.context.scene.ik2bone
    plant(bpy, surface="Slope", use_slope=False, strength=0.75)
    assert (settings.surface_object, settings.use_slope, settings.strength) == (slope, False, 0.75)
    plant(bpy)
    assert (settings.surface_object, settings.use_slope, settings.strength) == (None, True, 1.0)


def test_the_panel_s_settings_name_only_objects_of_their_scene(bpy, walker, slope):
    collection = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(slope)
    elsewhere = bpy.data.objects.new("Ground", slope.data)
    bpy.data.scenes.new("Other").collection.objects.link(elsewhere)
    plant(bpy, surface="Ground")
    settings = bpy.context.scene.ik2bone
    assert (settings.surface_object, settings.surface_collection) == (None, collection)


def test_the_panel_s_collection_is_planted_on_even_if_an_object_has_its_name(bpy, walker, slope, addon):
    settings, collection = bpy.context.scene.ik2bone, bpy.data.collections.new("Slope")
    bpy.context.scene.collection.children.link(collection)
    for ob in (slope, biped.make_slope(bpy, "Bridge, new", height=0.2), biped.make_empty(bpy, "Light")):
        collection.objects.link(ob)
    settings.surface_collection = collection
    for _ in range(2):
        plant(bpy, surface=addon("properties").surface_name(settings))
        assert record_of(walker)["report"]["surfaces"] == ["Slope", "Bridge, new"]
        assert (settings.surface_object, settings.surface_collection) == (None, collection)


def test_such_a_collection_is_planted_on_by_the_rules_of_collections_and_stays_the_setting(bpy, walker, slope, addon):
    settings, collection = bpy.context.scene.ik2bone, bpy.data.collections.new("Slope")
    bpy.context.scene.collection.children.link(collection)
    settings.surface_collection = collection
    with pytest.raises(RuntimeError, match="surface should be names of objects or collections"):
        plant(bpy, surface=addon("properties").surface_name(settings))
    bridge, boots, broken = (biped.make_slope(bpy, name) for name in ("Bridge", "Boots", "Broken"))
    boots.parent, boots.parent_type, broken.hide_viewport = walker, "ARMATURE", True
    for ob in (bridge, boots, broken):
        collection.objects.link(ob)
    plant(bpy, surface=addon("properties").surface_name(settings))
    assert record_of(walker)["report"]["surfaces"] == ["Bridge"]
    assert (settings.surface_object, settings.surface_collection) == (None, collection)
    assert not addon("properties").has_changed(settings, record_of(walker)["settings"])


def test_only_the_button_starts_from_the_panel_s_settings(bpy, walker, slope, addon):
    settings = bpy.context.scene.ik2bone
    settings.surface_object, settings.use_hips, settings.contacts = slope, False, "ALWAYS"
    plant(bpy)
    assert record_of(walker)["settings"]["use_hips"] is True
    settings.surface_object, settings.use_hips, settings.contacts = slope, False, "ALWAYS"
    # Without a window Blender never calls `invoke`, so it is called here as the button does.
    given = SimpleNamespace(is_property_set=lambda name: name == "contacts")
    pressed = SimpleNamespace(properties=given, contacts="AUTO", execute=lambda _context: {"FINISHED"})
    addon("ui.operators").IK2BONE_OT_plant_feet.invoke(pressed, bpy.context, None)
    assert (pressed.surface, pressed.use_hips, pressed.contacts) == ("Slope", False, "AUTO")


def test_the_info_line_tells_the_figures(bpy, walker, slope, capfd):
    plant(bpy)
    assert "Info: Planted 2 feet" in capfd.readouterr().out
    plant(bpy, bones="thigh.L")
    told = capfd.readouterr().out
    assert "Warning: Planted 1 foot" in told and "the hips stay" in told


def test_the_last_line_has_room_in_the_status_bar_and_units(bpy, walker, slope, capfd):
    plant(bpy, bones="thigh.L")
    whole, last = capfd.readouterr().out.strip().splitlines()[-2:]
    assert last == (
        "Warning: Planted 1 foot, 2 contacts: drift 0 m, penetration 0 m, float 0 m; 2 notes in the sidebar"
    )
    assert "the hips stay" in whole
