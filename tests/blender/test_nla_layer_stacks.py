# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers among all else in the NLA: strips, slots, several armatures, links, and files."""

from __future__ import annotations

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
    told,
)
from planted import plant


@pytest.mark.parametrize("above", [False, True])
def test_a_strip_is_planted_by_a_layer_right_over_it_and_stays(bpy, addon, walker, slope, above):
    expected, source = planted_anew(bpy, walker, {}), walker.animation_data.action
    strip = push_down(walker)
    if above:
        head = addon("keys.actions").new(walker, "nod")
        curve = head.curves.ensure('pose.bones["head"].rotation_quaternion', 1, "head")
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
    twin = biped.twin_of(bpy, walker)
    twin.location.x = 1.0
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
    armature = biped.override_walker(bpy, library)
    bpy.context.scene.frame_end = biped.LAST
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
