# SPDX-License-Identifier: GPL-3.0-or-later
"""Several armatures at once: the active one and all selected ones, each with its own action, or none of them."""

from __future__ import annotations

import re
from types import SimpleNamespace

import biped
import fingerprint
import numpy as np
import pytest
from planted import heads, outcome_of, plant, record_of, refused, values_of

FRAMES = np.arange(1, biped.LAST + 1)


def _choose(bpy, active, *selected):
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in selected)
    bpy.context.view_layer.objects.active = active
    bpy.context.view_layer.update()


@pytest.fixture
def pair(bpy, walker, slope):
    """Two walkers with actions of their own, both selected, the second active."""
    other = biped.make_walker(bpy, "Other")
    other.animation_data.action.name = "stroll"
    other.location.x = 2.0
    _choose(bpy, other, walker, other)
    return walker, other


def test_all_selected_armatures_are_planted_each_into_its_own_action(bpy, pair):
    plant(bpy)
    assert [armature.animation_data.action.name for armature in pair] == ["walk.planted", "stroll.planted"]
    for armature, source in zip(pair, ("walk", "stroll"), strict=True):
        assert record_of(armature)["source"] == source
        assert record_of(armature)["report"]["after"]["penetration"] < 1e-4


def test_each_is_planted_as_it_would_be_alone(bpy, pair):
    plant(bpy)
    together = [values_of(armature, FRAMES) for armature in pair]
    for armature in pair:
        _choose(bpy, armature, armature)
        bpy.ops.ik2bone.restore()
        plant(bpy)
    assert [values_of(armature, FRAMES) for armature in pair] == together


def test_the_first_of_them_is_found_without_a_look_at_all_objects(bpy, pair, addon):
    find = addon("rig.armatures").find_armature
    # A context that knows no more than what is active.
    assert find(SimpleNamespace(active_object=pair[1])) == pair[1] == find(bpy.context)


def test_they_are_told_by_name_on_lines_of_their_own_the_active_one_first(bpy, pair, options, addon):
    found = addon("rig.armatures").find_armatures(bpy.context)
    assert found == [pair[1], pair[0]]
    outcome = outcome_of(addon, bpy, found, options())
    lines = outcome.summary.splitlines()
    assert [line.partition("Planted 2 feet, ")[0] for line in lines] == ["Other: ", "Walker: "]


def test_the_status_bar_counts_them(bpy, pair, capfd):
    plant(bpy)
    last = capfd.readouterr().out.strip().splitlines()[-1]
    assert last == "Info: Planted 2 clips: the sidebar has the report of the one that the active armature plays"


def test_a_selected_armature_that_is_not_active_is_planted_beside_the_active_one_only_when_selected(bpy, pair):
    _choose(bpy, pair[1], pair[1])
    plant(bpy)
    assert pair[0].animation_data.action.name == "walk"


def test_selected_armatures_are_planted_though_the_active_object_is_the_ground(bpy, pair):
    _choose(bpy, bpy.data.objects["Slope"], *pair)
    plant(bpy)
    assert [armature.animation_data.action.name for armature in pair] == ["walk.planted", "stroll.planted"]


@pytest.mark.parametrize("has_driver", [False, True])
def test_a_selected_prop_that_plays_nothing_keeps_nobody_from_being_planted(bpy, pair, has_driver):
    prop = bpy.data.objects.new("Prop", bpy.data.armatures.new("Prop"))
    bpy.context.collection.objects.link(prop)
    if has_driver:
        # Then the prop has animation data, but no action.
        prop.driver_add("location", 0)
    _choose(bpy, pair[1], prop, pair[1])
    plant(bpy)
    assert pair[1].animation_data.action.name == "stroll.planted"


def test_a_context_that_names_another_active_object_plants_that(bpy, pair):
    _choose(bpy, pair[1])
    with bpy.context.temp_override(active_object=pair[0]):
        plant(bpy)
    assert [armature.animation_data.action.name for armature in pair] == ["walk.planted", "stroll"]


@pytest.mark.parametrize("given", [{}, {"output": "IN_PLACE"}, {"frame_range": "CURRENT"}])
@pytest.mark.parametrize("before", ["source", "planted"])
def test_none_is_planted_where_one_isrefused(bpy, pair, given, before):
    if before == "planted":
        plant(bpy)
    constraint = pair[0].pose.bones["shin.L"].constraints.new("COPY_ROTATION")
    constraint.target = bpy.data.objects["Slope"]
    bpy.context.scene.frame_set(20)
    refused(bpy, "Walker: bone shin.L is under the active constraint .*; all 2 armatures stay as they were", **given)


def test_an_error_in_a_later_one_takes_the_earlier_ones_back(bpy, pair, addon, monkeypatch):
    plant(bpy, strength=0.5)
    core, calls = addon("run.pipeline").core, []

    def fail(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise ArithmeticError("half way")
        return original(*arguments)

    original = core.plant
    before = fingerprint.of_scene(bpy)
    with monkeypatch.context() as patch:
        patch.setattr(core, "plant", fail)
        with pytest.raises(RuntimeError, match="half way"):
            bpy.ops.ik2bone.plant_feet()
    assert len(calls) == 2
    assert fingerprint.of_scene(bpy) == before


def test_twins_with_one_source_get_actions_of_their_own(bpy, walker, slope):
    twin = biped.twin_of(bpy, walker)
    twin.location.x = 1.0
    _choose(bpy, walker, walker, twin)
    plant(bpy)
    assert walker.animation_data.action.name == "walk.planted"
    assert twin.animation_data.action.name == "walk.planted.001"
    once = [fingerprint.of_action(ob.animation_data.action) for ob in (walker, twin)]
    plant(bpy)
    assert [fingerprint.of_action(ob.animation_data.action) for ob in (walker, twin)] == once
    assert sorted(bpy.data.actions.keys()) == ["walk", "walk.planted", "walk.planted.001"]


def test_twins_with_one_source_are_not_told_of_each_other_s_layers(bpy, walker, slope, options, addon):
    twin = biped.twin_of(bpy, walker)
    _choose(bpy, walker, walker, twin)
    for _ in range(2):
        outcome = outcome_of(addon, bpy, [walker, twin], options(output="NLA_LAYER"))
        assert not any("NLA strips keep playing" in warning for warning in outcome.warnings)


def test_a_twin_planted_with_one_that_is_planted_already_takes_the_next_name(bpy, walker, slope):
    twin = biped.twin_of(bpy, walker)
    _choose(bpy, walker, walker)
    plant(bpy)
    _choose(bpy, walker, walker, twin)
    plant(bpy)
    assert twin.animation_data.action.name == "walk.planted.001"


@pytest.mark.parametrize("given", [{"output": "IN_PLACE"}, {"frame_range": "CURRENT"}])
def test_twins_that_would_write_one_action_arerefused(bpy, walker, slope, given):
    twin = biped.twin_of(bpy, walker)
    _choose(bpy, walker, walker, twin)
    refused(bpy, "Walker and Walker.001 both play walk", **given)


def test_twins_that_share_a_planted_action_arerefused(bpy, walker, slope):
    plant(bpy)
    twin = biped.twin_of(bpy, walker)
    _choose(bpy, walker, walker, twin)
    refused(bpy, "Walker and Walker.001 both play walk.planted")


def test_the_chains_are_those_selected_on_each(bpy, pair):
    _choose(bpy, pair[1], *pair)
    bpy.ops.object.mode_set(mode="POSE")
    for armature, name in zip(pair, ("foot.L", "foot.R"), strict=True):
        for bone in armature.pose.bones:
            owner = bone if hasattr(bone, "select") else bone.bone
            owner.select = bone.name == name
    plant(bpy, chains="SELECTED")
    assert [{span["bone"] for span in record_of(armature)["contacts"]} for armature in pair] == [{"foot.L"}, {"foot.R"}]
    for bone in pair[0].pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone
        owner.select = False
    refused(bpy, "Walker: no bones are selected on Walker", chains="SELECTED")


def test_all_are_restored_at_once(bpy, pair):
    before = [heads(bpy, armature, FRAMES) for armature in pair]
    plant(bpy)
    bpy.ops.ik2bone.restore()
    assert [armature.animation_data.action.name for armature in pair] == ["walk", "stroll"]
    for armature, source in zip(pair, before, strict=True):
        np.testing.assert_array_equal(heads(bpy, armature, FRAMES), source)


@pytest.mark.parametrize(
    ("active", "all_actions", "told"),
    [("Other", False, ""), ("Slope", False, ""), ("Other", True, "none of the 1 actions of .* can be planted: .*: ")],
)
def test_an_animated_prop_without_legs_is_left_out_and_told(bpy, pair, active, all_actions, told, options, addon):
    sword = biped.make_bones(bpy, "Sword", [("blade", None, (0, 0, 0), (0, 0, 1))])
    sword.pose.bones["blade"].keyframe_insert("location", frame=1)
    before = fingerprint.of_action(sword.animation_data.action)
    _choose(bpy, bpy.data.objects[active], sword, *pair)
    found = addon("rig.armatures").find_armatures(bpy.context)
    outcome = outcome_of(addon, bpy, found, options(all_actions=all_actions))
    assert sum(bool(re.match(f"left out: {told}Sword has no legs", warning)) for warning in outcome.warnings) == 1
    assert [armature.animation_data.action.name for armature in pair] == ["walk.planted", "stroll.planted"]
    assert fingerprint.of_action(sword.animation_data.action) == before
    _choose(bpy, sword, sword, *pair)
    refused(bpy, "Sword: Sword has no legs.*; all 3 armatures stay as they were")


def test_the_limbs_of_a_crowd_are_found_once(bpy, walker, addon):
    crowd = [biped.twin_of(bpy, walker) for _ in range(30)]
    for number, ob in enumerate(crowd):
        ob.location.x = 0.5 * number
    bpy.context.view_layer.update()
    find, misses = addon("rig.find"), []
    for _ in range(2):
        assert all(find.find_legs(ob, (1, biped.LAST)) for ob in crowd)
        misses.append(find._resting_pairs.cache_info().misses)
    assert misses[0] == misses[1]
