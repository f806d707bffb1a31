# SPDX-License-Identifier: GPL-3.0-or-later
"""Overrides, and armatures of the file that play a linked action: it stays in its library and is copied for keys."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from planted import between, heads, outcome_of, plant, record_of, values_of

FRAMES = range(1, biped.LAST + 1)


@pytest.fixture(params=["override", "armature of the file"])
def player(bpy, library, request):
    """Who plays the linked action over a slope: an override of the library's walker, or a walker of this file."""
    if request.param == "override":
        return biped.override_walker(bpy, library)
    walker, _ = biped.make_walker(bpy), biped.make_slope(bpy)
    bpy.data.actions.remove(walker.animation_data.action)
    with bpy.data.libraries.load(library, link=True) as (_source, target):
        target.actions = ["walk"]
    walker.animation_data.action = target.actions[0]
    return walker


def _player_in(bpy):
    return next(ob for ob in bpy.context.view_layer.objects if ob.type == "ARMATURE")


def _side_by_side(bpy, library, count):
    """Selected overrides of the library's walker, the first of which is active."""
    crowd = []
    for number in range(count):
        with bpy.data.libraries.load(library, link=True) as (_source, target):
            target.objects = ["Walker"]
        one = target.objects[0].override_create(remap_local_usages=False)
        bpy.context.collection.objects.link(one)
        one.location.x = 2.0 * number
        one.select_set(True)
        crowd.append(one)
    bpy.context.view_layer.objects.active = crowd[0]
    return crowd


def test_a_linked_action_is_planted_into_a_local_copy(bpy, player):
    source = player.animation_data.action
    before = fingerprint.of_action(source)
    plant(bpy)
    planted = player.animation_data.action
    assert planted.name == "walk.planted" and planted.library is None and planted.use_fake_user
    assert planted["ik2bone_source"] == source and source.library is not None
    assert fingerprint.of_action(source) == before
    assert record_of(player)["report"]["after"]["penetration"] < 1e-4


def test_what_stands_for_an_override_in_its_library_is_not_told(bpy, player, options, addon):
    outcome = outcome_of(addon, bpy, [player], options())
    assert outcome.warnings == ()


def test_planting_twice_equals_planting_once(bpy, player):
    plant(bpy)
    once = fingerprint.of_action(player.animation_data.action)
    plant(bpy)
    assert fingerprint.of_action(player.animation_data.action) == once
    assert sorted(action.name for action in bpy.data.actions) == ["walk", "walk.planted"]


def test_keys_and_the_way_back_survive_saving_and_loading(bpy, player, tmp_path):
    source = heads(bpy, player, FRAMES)
    plant(bpy)
    planted = heads(bpy, player, FRAMES)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    np.testing.assert_array_equal(heads(bpy, _player_in(bpy), FRAMES), planted)
    bpy.ops.ik2bone.restore()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    player = _player_in(bpy)
    assert player.animation_data.action.library is not None
    np.testing.assert_array_equal(heads(bpy, player, FRAMES), source)


def test_a_pose_is_keyed_in_a_local_copy_that_leads_back(bpy, player):
    source = player.animation_data.action
    before = fingerprint.of_action(source)
    bpy.context.scene.frame_set(12)
    plant(bpy, frame_range="CURRENT")
    planted = player.animation_data.action
    assert planted.name == "walk.planted" and planted.library is None
    assert fingerprint.of_action(source) == before
    other = [frame for frame in FRAMES if frame != 12]
    copied = values_of(player, other)
    bpy.ops.ik2bone.restore()
    assert player.animation_data.action == source
    assert values_of(player, other) == copied


def test_a_linked_action_is_not_planted_in_place(bpy, player):
    before = fingerprint.of_scene(bpy)
    with pytest.raises(RuntimeError, match="action walk is linked from a library: only a new action or a layer"):
        bpy.ops.ik2bone.plant_feet(output="IN_PLACE")
    assert fingerprint.of_scene(bpy) == before


def test_contacts_of_a_linked_action_are_not_edited(bpy, player):
    with pytest.raises(RuntimeError, match="action walk is linked from a library and cannot be edited"):
        bpy.ops.ik2bone.add_contact(bone="foot.L", part="ball", start=3, end=9)


def test_a_local_action_on_an_override_is_planted_in_place(bpy, override):
    local = override.animation_data.action.copy()
    override.animation_data.action = local
    plant(bpy, output="IN_PLACE")
    assert override.animation_data.action == local
    assert record_of(override)["report"]["after"]["penetration"] < 1e-4


def test_a_refused_override_stays_as_it_was(bpy, override):
    bpy.data.objects["Slope"].location.x = 100.0
    before = fingerprint.of_scene(bpy)
    with pytest.raises(RuntimeError, match="no surface lies under"):
        bpy.ops.ik2bone.plant_feet()
    assert fingerprint.of_scene(bpy) == before


def test_a_crowd_of_overrides_is_planted_at_once_with_one_report(bpy, library, addon, options):
    crowd = _side_by_side(bpy, library, 3)
    bpy.context.scene.render.fps = 30
    biped.make_slope(bpy)
    outcome = outcome_of(addon, bpy, crowd, options())
    played = [one.animation_data.action for one in crowd]
    assert len(set(played)) == 3 and all(action.library is None for action in played)
    assert len(outcome.reports) == 3 and outcome.summary.count("Planted 2 feet") == 3
    assert all(report["after"]["penetration"] < 1e-3 for report in outcome.reports)


@pytest.fixture
def planted_pair(bpy, walker, slope, tmp_path):
    """Two overrides beside each other of a walker that was planted in its library."""
    plant(bpy)
    path = str(tmp_path / "planted.blend")
    bpy.data.libraries.write(path, {walker})
    bpy.data.batch_remove({walker, *bpy.data.actions})
    slope.select_set(False)
    return _side_by_side(bpy, path, 2)


def test_a_linked_armature_is_not_restored_and_neither_is_one_beside_it(bpy, planted_pair):
    linked, own = planted_pair[0].override_library.reference, planted_pair[1]
    bpy.context.collection.objects.link(linked)
    planted_pair[0].select_set(False)
    linked.select_set(True)
    before, played = fingerprint.of_scene(bpy), linked.animation_data.action
    with pytest.raises(RuntimeError, match="Walker is linked from a library and cannot be edited"):
        bpy.ops.ik2bone.restore()
    assert fingerprint.of_scene(bpy) == before
    assert linked.animation_data.action == own.animation_data.action == played


@pytest.mark.parametrize("given", [{}, {"frame_range": "CURRENT"}, {"output": "NLA_LAYER"}])
def test_a_linked_planted_action_stays_as_it_is(bpy, planted_pair, slope, given):
    linked = {action: fingerprint.of_action(action) for action in bpy.data.actions}
    slope.location.z = -0.05
    bpy.context.view_layer.update()
    plant(bpy, **given)
    assert {action: fingerprint.of_action(action) for action in linked} == linked
    played = [one.animation_data.action for one in planted_pair]
    assert all(action is None or action.library is None for action in played)
    assert played[0] is None or played[0] != played[1]


def test_a_linked_planted_action_is_planted_again_in_copies(bpy, planted_pair, slope):
    one, source = planted_pair[0], planted_pair[0].animation_data.action["ik2bone_source"]
    before = heads(bpy, one, FRAMES)
    slope.location.z = -0.05
    plant(bpy, **between(20, 40))
    after = heads(bpy, one, FRAMES)
    np.testing.assert_allclose(after[20:38, ..., 2].min(axis=1), before[20:38, ..., 2].min(axis=1) - 0.05, atol=1e-3)
    np.testing.assert_array_equal(np.delete(after, slice(19, 40), axis=0), np.delete(before, slice(19, 40), axis=0))
    assert one.animation_data.action.name == "walk.planted" and one.animation_data.action["ik2bone_source"] == source
    once = fingerprint.of_action(one.animation_data.action)
    plant(bpy, **between(20, 40))
    assert fingerprint.of_action(one.animation_data.action) == once
    bpy.ops.ik2bone.restore()
    assert [ob.animation_data.action for ob in planted_pair] == [source, source]


def test_a_pose_keyed_in_a_copy_of_a_linked_planted_action_stays_planted_from_its_source(bpy, planted_pair, slope):
    one, linked = planted_pair[0], planted_pair[0].animation_data.action
    source = linked["ik2bone_source"]
    bpy.context.scene.frame_set(12)
    slope.location.z = -0.05
    plant(bpy, frame_range="CURRENT")
    action = one.animation_data.action
    assert action.library is None and action.use_fake_user and action.name == "walk.planted"
    assert action["ik2bone_source"] == source and record_of(one)["contacts"]
    plant(bpy)
    assert one.animation_data.action == action and action["ik2bone_source"] == source
    after = values_of(one, FRAMES)
    bpy.ops.ik2bone.restore()
    assert one.animation_data.action == source
    plant(bpy)
    assert values_of(one, FRAMES) == after
