# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers among all else in the NLA: the way back, strips, several armatures, what is refused, and what errors leave."""

from __future__ import annotations

import json

import biped
import fingerprint
import numpy as np
import pytest
from nla_scene import (
    FRAMES,
    LAYER,
    LEG,
    apart,
    layers_of,
    nla_of,
    planted_anew,
    poses,
    push_down,
    record_of,
    refused,
    state_of,
    told,
)
from planted import bone_curves, plant


@pytest.mark.parametrize("runs", [1, 2])
def test_restore_leaves_everything_as_it_was_found(bpy, walker, slope, runs):
    walker.animation_data.action_extrapolation = "HOLD_FORWARD"
    other = walker.animation_data.action.copy()
    track = walker.animation_data.nla_tracks.new()
    track.strips.new("Other", 1, other)
    found = state_of(bpy, walker)
    for _ in range(runs):
        plant(bpy, **LAYER)
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    source = walker.animation_data.action
    assert {span["state"] for span in json.loads(source["ik2bone"])["contacts"]} == {"automatic"}
    del source["ik2bone"]
    after = state_of(bpy, walker)
    found[0].pop("settings"), after[0].pop("settings")
    assert after == found


def test_restore_from_the_tweak_mode_of_the_layer_too(bpy, walker, slope):
    before = poses(bpy, walker)
    plant(bpy, **LAYER)
    data = walker.animation_data
    for track in data.nla_tracks:
        track.select = track.strips[0].select = track == data.nla_tracks[-1]
    data.nla_tracks.active = data.nla_tracks[-1]
    data.use_tweak_mode = True
    assert data.action.name == "walk.layer"
    refused(bpy, walker, "action walk.layer is a layer's and no motion")
    bpy.ops.ik2bone.restore()
    assert data.action.name == "walk" and not data.nla_tracks
    np.testing.assert_array_equal(poses(bpy, walker), before)


@pytest.mark.parametrize(
    ("first", "second"), [("NEW_ACTION", "NLA_LAYER"), ("NLA_LAYER", "NEW_ACTION"), ("NLA_LAYER", "IN_PLACE")]
)
def test_another_output_of_the_same_source_takes_the_place_of_the_first(bpy, walker, slope, first, second):
    source, before = walker.animation_data.action, bone_curves(walker.animation_data.action, "thigh.L")
    expected = planted_anew(bpy, walker, {})
    plant(bpy, output=first)
    plant(bpy, output=second)
    assert apart(poses(bpy, walker), expected) < 2e-5 * LEG
    assert len(layers_of(walker)) == (second == "NLA_LAYER")
    assert len(walker.animation_data.nla_tracks) == 2 * (second == "NLA_LAYER")
    shown = {"NEW_ACTION": "walk.planted", "IN_PLACE": "walk"}.get(second)
    assert getattr(walker.animation_data.action, "name", None) == shown
    if second != "IN_PLACE":
        bpy.ops.ik2bone.restore()
        assert walker.animation_data.action == source
        assert bone_curves(source, "thigh.L") == before


def test_a_pose_alone_cannot_be_keyed_under_a_layer(bpy, walker, slope):
    plant(bpy, **LAYER)
    refused(bpy, walker, "a pose keyed in walk would not show under its layer", frame_range="CURRENT")


@pytest.mark.parametrize("output", ["NLA_LAYER", "NEW_ACTION"])
def test_contacts_edited_on_the_layer_count_in_the_next_run(bpy, walker, slope, output):
    plant(bpy, **LAYER)
    row = next(i for i, r in enumerate(record_of(walker)["contacts"]) if (r["bone"], r["part"]) == ("foot.R", "ball"))
    bpy.ops.ik2bone.set_contact(index=row, state="forbidden")
    lifted = record_of(walker)["contacts"][row]
    assert lifted["state"] == "forbidden"
    plant(bpy, output=output, contacts="STORED")
    data = walker.animation_data
    rows = json.loads((data.action or layers_of(walker)[0].action)["ik2bone"])["contacts"]
    kept = [(r["start"], r["end"]) for r in rows if r["state"] == "forbidden"]
    assert kept == [(lifted["start"], lifted["end"])]


def test_the_panel_shows_the_report_of_the_layer_and_its_way_back(bpy, walker, slope, addon):
    panel = addon("ui.panel")
    context = bpy.context
    assert not bpy.ops.ik2bone.restore.poll()
    plant(bpy, **LAYER)
    assert panel.IK2BONE_PT_report.poll(context)
    assert panel.played_action(context) == layers_of(walker)[0].action
    assert bpy.ops.ik2bone.restore.poll()


@pytest.mark.parametrize("above", [False, True])
def test_a_strip_is_planted_by_a_layer_right_over_it_and_stays(bpy, addon, walker, slope, above):
    expected, source = planted_anew(bpy, walker, {}), walker.animation_data.action
    strip = push_down(walker)
    if above:
        head = biped.make_action(bpy, addon("keys.actions"), walker, "nod")
        curve = addon("keys.actions").curves_of(head).ensure('pose.bones["head"].rotation_quaternion', 1, "head")
        curve.keyframe_points.insert(200, 0.3)
        walker.animation_data.nla_tracks.new().strips.new("Nod", 200, head.action)
    found, before = nla_of(walker), poses(bpy, walker)
    for _ in range(2):
        plant(bpy, **LAYER)
        tracks = walker.animation_data.nla_tracks
        assert [track.strips[0].blend_type for track in tracks][:2] == ["REPLACE", "COMBINE"]
        assert strip.action == source and walker.animation_data.action is None
        assert apart(poses(bpy, walker), expected) < 2e-5 * LEG
    assert not any("tweak mode" in text for text in told(walker))
    bpy.ops.ik2bone.restore()
    assert nla_of(walker) == found
    np.testing.assert_array_equal(poses(bpy, walker), before)


def test_a_strip_with_a_planted_action_is_planted_by_a_layer_over_its_source(bpy, walker, slope):
    source, strip = walker.animation_data.action, push_down(walker)
    plant(bpy)
    expected = poses(bpy, walker)
    plant(bpy, **LAYER)
    assert strip.action == source
    assert apart(poses(bpy, walker), expected) < 2e-5 * LEG


def test_an_action_over_strips_goes_on_over_them_under_its_layer(bpy, walker, slope):
    data, idle = walker.animation_data, walker.animation_data.action.copy()
    for curve in fingerprint.curves_of(idle):
        curve.keyframe_points.foreach_set("co", np.zeros(2 * len(curve.keyframe_points), np.float32))
        curve.update()
    idle.name = "idle"
    data.nla_tracks.new().strips.new("Idle", 1, idle)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = -10, 90
    frames = np.arange(-10, 91)
    expected = planted_anew(bpy, walker, {}, frames=frames)
    found, before = nla_of(walker), poses(bpy, walker, frames)
    for _ in range(2):
        plant(bpy, **LAYER)
        on = slice(11, 11 + len(FRAMES))
        assert apart(poses(bpy, walker, frames)[on], expected[on]) < 2e-5 * LEG
    layers_of(walker)[0].influence = 0.0
    np.testing.assert_allclose(poses(bpy, walker, frames), before, atol=1e-6)
    bpy.ops.ik2bone.restore()
    assert data.action.name == "walk" and nla_of(walker) == found


def test_the_source_s_strip_of_an_importer_is_not_taken_for_the_layer_s(bpy, walker, slope):
    data = walker.animation_data
    track = data.nla_tracks.new()
    track.name = "Imported"
    track.strips.new("walk", 1, data.action)
    track.mute = True
    found = nla_of(walker)
    for _ in range(2):
        plant(bpy, **LAYER)
        assert len(data.nla_tracks) == 3
    bpy.ops.ik2bone.restore()
    assert nla_of(walker) == found and data.action.name == "walk"


def test_two_layered_actions_of_one_armature_lead_back_one_after_the_other(bpy, walker, slope):
    data, walk = walker.animation_data, walker.animation_data.action
    plant(bpy, **LAYER)
    first = poses(bpy, walker)
    run = walk.copy()
    run.name, data.action = "run", run
    if hasattr(data, "action_slot"):
        data.action_slot = run.slots[0]
    plant(bpy, **LAYER)
    assert [strip.action.name for strip in layers_of(walker)] == ["walk.layer", "run.layer"]
    assert apart(poses(bpy, walker), first) < 2e-5 * LEG
    bpy.ops.ik2bone.restore()
    assert data.action == run and [strip.action.name for strip in layers_of(walker)] == ["walk.layer"]
    data.action = None
    np.testing.assert_array_equal(poses(bpy, walker), first)
    bpy.ops.ik2bone.restore()
    assert data.action == walk and not data.nla_tracks


def test_each_slot_of_a_shared_action_gets_a_layer_of_its_own(bpy, walker, slope):
    action = walker.animation_data.action
    if not hasattr(action, "slots"):
        pytest.skip("actions have no slots in this version")
    twin = biped.make_walker(bpy, "Twin")
    alone = twin.animation_data.action
    slot = action.slots.new(id_type="OBJECT", name="Twin")
    bag = action.layers[0].strips[0].channelbag(slot, ensure=True)
    for curve in fingerprint.curves_of(alone):
        new = bag.fcurves.new(curve.data_path, index=curve.array_index)
        for key in curve.keyframe_points:
            new.keyframe_points.insert(key.co.x, key.co.y)
    twin.animation_data.action, twin.animation_data.action_slot = action, slot
    twin.location.x = 1.0
    bpy.context.view_layer.update()
    walker.select_set(True), twin.select_set(True)
    before = fingerprint.of_action(action)
    plant(bpy, **LAYER)
    assert fingerprint.of_action(action) == before
    assert [ob.animation_data.nla_tracks[0].strips[0].action_slot.identifier for ob in (walker, twin)] == [
        "OBWalker",
        "OBTwin",
    ]
    ways = (poses(bpy, twin) - poses(bpy, walker))[..., :3, 3]
    np.testing.assert_allclose(ways, np.broadcast_to([1.0, 0.0, 0.0], ways.shape), atol=1e-5)
    bpy.ops.ik2bone.restore()
    assert [ob.animation_data.action_slot.identifier for ob in (walker, twin)] == ["OBWalker", "OBTwin"]


def test_two_armatures_that_share_an_action_get_a_layer_each(bpy, walker, slope):
    twin = walker.copy()
    twin.location.x = 1.0
    bpy.context.collection.objects.link(twin)
    bpy.context.view_layer.update()
    walker.select_set(True), twin.select_set(True)
    plant(bpy, **LAYER)
    assert [len(layers_of(ob)) for ob in (walker, twin)] == [1, 1]
    assert layers_of(walker)[0].action != layers_of(twin)[0].action
    ways = (poses(bpy, twin) - poses(bpy, walker))[..., :3, 3]
    np.testing.assert_allclose(ways, np.broadcast_to([1.0, 0.0, 0.0], ways.shape), atol=1e-5)
    bpy.ops.ik2bone.restore()
    assert [ob.animation_data.action.name for ob in (walker, twin)] == ["walk", "walk"]
    assert sorted(bpy.data.actions.keys()) == ["walk"]


def test_a_copied_character_gets_a_layer_action_of_its_own_when_it_is_planted(bpy, walker, slope):
    plant(bpy, **LAYER)
    shown, twin = poses(bpy, walker), walker.copy()
    bpy.context.collection.objects.link(twin)
    twin.location.y = 1.0
    bpy.context.view_layer.objects.active = twin
    walker.select_set(False)
    plant(bpy, **LAYER)
    assert layers_of(twin)[0].action != layers_of(walker)[0].action
    np.testing.assert_array_equal(poses(bpy, walker), shown)
    bpy.ops.ik2bone.restore()
    assert len(layers_of(walker)) == 1 and not layers_of(twin)


def test_a_linked_action_of_an_override_stays_linked_under_a_layer(bpy, override):
    armature = override
    before, source = poses(bpy, armature), armature.animation_data.action
    plant(bpy)
    expected = poses(bpy, armature)
    bpy.ops.ik2bone.restore()
    for _ in range(2):
        plant(bpy, **LAYER)
        assert apart(poses(bpy, armature), expected) < 2e-5 * LEG
    assert source.library is not None and layers_of(armature)[0].action.library is None
    bpy.ops.ik2bone.restore()
    assert armature.animation_data.action == source and not armature.animation_data.nla_tracks
    np.testing.assert_array_equal(poses(bpy, armature), before)


def test_a_linked_strip_of_an_override_is_planted_by_a_local_layer(bpy, walker, tmp_path):
    from demo import session

    push_down(walker)
    library = str(tmp_path / "strips.blend")
    bpy.data.libraries.write(library, {walker})
    session.reset(bpy)
    with bpy.data.libraries.load(library, link=True) as (_source, target):
        target.objects = ["Walker"]
    armature = bpy.data.objects["Walker"].override_create(remap_local_usages=True)
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.render.fps, bpy.context.scene.frame_end = 30, biped.LAST
    biped.make_slope(bpy)
    before = poses(bpy, armature)
    for _ in range(2):
        plant(bpy, **LAYER)
        assert len(layers_of(armature)) == 1 and apart(poses(bpy, armature), before) > 0.01
    assert record_of(armature)["report"]["after"]["penetration"] < 1e-4
    bpy.ops.ik2bone.restore()
    assert not layers_of(armature)
    np.testing.assert_array_equal(poses(bpy, armature), before)


def test_layers_survive_saving_and_loading(bpy, walker, slope, tmp_path):
    plant(bpy, **LAYER)
    shown, path = poses(bpy, walker), str(tmp_path / "layer.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    walker = bpy.data.objects["Walker"]
    np.testing.assert_array_equal(poses(bpy, walker), shown)
    layers_of(walker)[0].influence = 0.5
    assert apart(poses(bpy, walker), shown) > 0.01
    bpy.ops.ik2bone.restore()
    assert walker.animation_data.action.name == "walk" and sorted(bpy.data.actions.keys()) == ["walk"]


HIDDEN = {
    "tweak mode": "Walker is in tweak mode, which hides layers over its strip: leave tweak mode",
    "solo": "NLA track NlaTrack of Walker plays solo, which hides layers: switch that off",
    "off": "the NLA of Walker is off, so no layer in it would show: switch it on",
}


def hide(armature, how):
    """Bring the NLA into a state that hides layers over its first strip."""
    data = armature.animation_data
    track = data.nla_tracks[0]
    if how == "tweak mode":
        data.nla_tracks.active, track.strips[0].select = track, True
        data.use_tweak_mode = True
        assert data.action == track.strips[0].action
    elif how == "solo":
        track.is_solo = True
    else:
        data.action, data.use_nla = track.strips[0].action, False


@pytest.mark.parametrize("how", HIDDEN)
def test_an_nla_that_would_hide_the_layer_is_refused(bpy, walker, slope, how):
    push_down(walker)
    hide(walker, how)
    refused(bpy, walker, HIDDEN[how], **LAYER)


@pytest.mark.parametrize("output", ["NLA_LAYER", "NEW_ACTION", "IN_PLACE"])
@pytest.mark.parametrize("how", ["tweak mode", "solo"])
def test_an_nla_that_hides_a_layer_is_refused_by_every_output(bpy, walker, slope, how, output):
    plant(bpy, **LAYER)
    walker.animation_data.nla_tracks[0].name = "NlaTrack"
    hide(walker, how)
    refused(bpy, walker, HIDDEN[how], output=output)


def test_an_armature_without_an_action_is_refused(bpy, walker, slope):
    walker.animation_data_clear()
    refused_plainly = "the armature plays no action: assign one"
    with pytest.raises(RuntimeError, match=refused_plainly):
        bpy.ops.ik2bone.plant_feet(**LAYER)


@pytest.mark.parametrize("planted_before", [None, "NLA_LAYER", "NEW_ACTION"])
@pytest.mark.parametrize("output", ["NLA_LAYER", "NEW_ACTION", "IN_PLACE"])
@pytest.mark.parametrize("where", ["action", "strip"])
def test_an_error_at_the_end_leaves_everything_as_it_was(
    bpy, walker, slope, addon, monkeypatch, planted_before, output, where
):
    if where == "strip":
        push_down(walker)
    if planted_before:
        plant(bpy, output=planted_before)
    pipeline = addon("run.pipeline")

    def fail(*_arguments):
        raise ArithmeticError("in the end")

    before, shown = state_of(bpy, walker), poses(bpy, walker, [1, 20])
    bpy.context.scene.frame_set(1)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline.report, "summary", fail)
        with pytest.raises(RuntimeError, match="in the end"):
            bpy.ops.ik2bone.plant_feet(output=output)
    assert state_of(bpy, walker) == before
    np.testing.assert_array_equal(poses(bpy, walker, [1, 20]), shown)


def test_stopped_at_any_stage_it_leaves_everything_as_it_was(bpy, walker, slope, addon, options):
    plant(bpy, **LAYER)
    plant(bpy, **LAYER, use_hips=False)
    before, planting = state_of(bpy, walker), addon("run.pipeline").planting
    for share in (0.0, 0.2, 0.35, 0.4, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0):
        stages = planting(bpy.context, [walker], options(**LAYER, use_slope=False))
        while next(stages).share < share:
            pass
        stages.close()
        assert state_of(bpy, walker) == before


def test_undo_gives_the_old_state_back(bpy, walker, slope):
    bpy.ops.ed.undo_push(message="before")
    before = fingerprint.of_scene(bpy)
    plant(bpy, **LAYER)
    bpy.ops.ed.undo_push(message="Plant Feet")
    bpy.ops.ed.undo()
    assert fingerprint.of_scene(bpy) == before
