# SPDX-License-Identifier: GPL-3.0-or-later
"""The planted action: marked, kept, rewritten from its source, restored, undone."""

from __future__ import annotations

import json
from types import SimpleNamespace

import biped
import fingerprint
import numpy as np
import pytest
from planted import between, bone_curves, heads, joints, outcome_of, plant, record_of, stood, values_of, written


def test_the_planted_action_is_a_marked_copy_of_an_untouched_source(bpy, walker, slope):
    source = walker.animation_data.action
    before = fingerprint.of_action(source)
    plant(bpy)
    planted = walker.animation_data.action
    assert planted.name == "walk.planted"
    assert planted["ik2bone_source"] == source
    assert planted.use_fake_user and source.use_fake_user
    assert fingerprint.of_action(source) == before
    record = record_of(walker)
    assert {"source", "settings", "contacts", "report"} <= record.keys()
    assert record["source"] == "walk"
    assert record["settings"]["use_hips"] is True
    assert {span["support"] for span in record["contacts"]} == {"Slope"}
    assert [foot["bone"] for foot in record["report"]["feet"]] == ["foot.L", "foot.R"]


@pytest.mark.parametrize("count", [2, 4])
def test_poses_that_stepped_keys_hold_are_held_in_the_planted_action(bpy, walker, slope, count):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for number in reversed(range(len(curve.keyframe_points))):
            if (number % count) != 0:
                curve.keyframe_points.remove(curve.keyframe_points[number], fast=True)
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
        curve.update()
    plant(bpy, surface="Slope")
    shown = joints(bpy, walker)
    held = np.flatnonzero(np.arange(1, biped.LAST) % count)
    assert np.abs(np.diff(shown, axis=0)[held]).max() < 1e-6
    assert np.abs(np.diff(shown, axis=0)[count - 1 :: count]).max() > 0.05
    assert stood(bpy, walker, biped.RISE)[1] < 1e-3
    assert {span["bone"] for span in record_of(walker)["report"]["spans"]} == {"foot.L", "foot.R"}


def test_only_leg_rotations_and_the_location_of_the_hips_are_rewritten(bpy, walker, slope):
    walker.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=5, group="chest")
    source = walker.animation_data.action
    plant(bpy)
    planted = walker.animation_data.action
    assert bone_curves(planted, "chest") == bone_curves(source, "chest")
    changed = {path for name in ("hips", "thigh.L", "toe.R") for path, _index in bone_curves(planted, name)}
    assert changed == {
        'pose.bones["hips"].location',
        'pose.bones["thigh.L"].rotation_quaternion',
        'pose.bones["toe.R"].rotation_quaternion',
    }
    assert {curve[2] for curve in fingerprint.of_action(planted)["curves"]} <= set(walker.pose.bones.keys())


def test_a_bone_that_was_renamed_after_planting_is_told(bpy, addon, walker, slope, options):
    walker.pose.bones["head"].name = "Kopf"
    assert not outcome_of(addon, bpy, [walker], options()).warnings
    # Blender renames curves of the planted action, which plays, and not those of its source.
    walker.pose.bones["shin.L"].name = 'Wade "links"'
    told = outcome_of(addon, bpy, [walker], options()).warnings
    assert any("walk animates shin.L, which Walker no longer has" in sentence for sentence in told)
    walker.pose.bones['Wade "links"'].name = "shin.L"
    bpy.ops.ik2bone.restore()
    walker.pose.bones["shin.L"].name = 'Wade "links"'
    assert not outcome_of(addon, bpy, [walker], options()).warnings
    assert 'pose.bones["Wade \\"links\\""].rotation_quaternion' in {path for path, _ in values_of(walker, [1])}


def test_source_and_planted_action_survive_saving_and_loading(bpy, walker, slope, tmp_path):
    before = fingerprint.of_action(walker.animation_data.action)
    plant(bpy)
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
    plant(bpy, **given)
    once, frames = fingerprint.of_action(walker.animation_data.action), values_of(walker, np.arange(1, 62))
    plant(bpy, **given)
    twice = fingerprint.of_action(walker.animation_data.action)
    assert len(bpy.data.actions) == 2
    assert values_of(walker, np.arange(1, 62)) == frames
    assert twice == once


@pytest.mark.parametrize("given", [{}, {"frame_range": "CUSTOM", "frame_start": 9, "frame_end": 40}])
@pytest.mark.parametrize(
    "change", [lambda curve: curve.keyframe_points.clear(), lambda curve: setattr(curve, "mute", True)]
)
def test_curves_that_were_emptied_or_muted_after_planting_are_written_again(bpy, walker, slope, given, change):
    plant(bpy)
    frames = range(given.get("frame_start", 1), given.get("frame_end", 61) + 1)
    once = values_of(walker, frames)
    for curve in fingerprint.curves_of(walker.animation_data.action):
        if "thigh" in curve.data_path or curve.data_path.endswith("location"):
            change(curve)
    plant(bpy, **given)
    assert values_of(walker, frames) == once
    assert not any(curve.mute for curve in fingerprint.curves_of(walker.animation_data.action))


def test_curves_that_were_muted_after_planting_keep_their_keys_on_other_frames(bpy, walker, slope):
    plant(bpy)
    once, curves = values_of(walker, range(1, 62)), fingerprint.curves_of(walker.animation_data.action)
    for curve in curves:
        curve.mute = "thigh" in curve.data_path or curve.data_path.endswith("location")
    plant(bpy, **between(9, 40))
    assert values_of(walker, range(1, 62)) == once
    assert not any(curve.mute for curve in curves)


def test_planting_after_restoring_rewrites_the_same_planted_action(bpy, walker, slope):
    plant(bpy)
    once = fingerprint.of_action(walker.animation_data.action)
    bpy.ops.ik2bone.restore()
    assert walker.animation_data.action.name == "walk"
    plant(bpy)
    assert sorted(bpy.data.actions.keys()) == ["walk", "walk.planted"]
    assert fingerprint.of_action(walker.animation_data.action) == once


def test_planting_afresh_forgets_what_earlier_runs_wrote(bpy, walker, slope):
    plant(bpy)
    bpy.ops.ik2bone.restore()
    plant(bpy, use_hips=False)
    once = fingerprint.of_action(walker.animation_data.action)
    plant(bpy, use_hips=False)
    assert fingerprint.of_action(walker.animation_data.action) == once


def test_another_character_with_the_same_source_gets_a_planted_action_of_its_own(bpy, walker, slope):
    twin = biped.twin_of(bpy, walker)
    twin.location.x = 1.0
    plant(bpy)
    first = fingerprint.of_action(walker.animation_data.action)
    assert twin.animation_data.action.name == "walk"
    bpy.context.view_layer.objects.active = twin
    plant(bpy)
    assert twin.animation_data.action.name == "walk.planted.001"
    assert fingerprint.of_action(walker.animation_data.action) == first


@pytest.mark.parametrize("renamed", ["planted", "source"])
@pytest.mark.parametrize("restored", [False, True])
def test_slots_may_be_renamed(bpy, walker, slope, renamed, restored):
    if not hasattr(walker.animation_data.action, "slots"):
        pytest.skip("actions have no slots in this version")
    plant(bpy)
    source, planted = bpy.data.actions["walk"], bpy.data.actions["walk.planted"]
    once = values_of(walker, range(1, 62))
    {"planted": planted, "source": source}[renamed].slots[0].name_display = "Renamed"
    if restored:
        bpy.ops.ik2bone.restore()
        assert walker.animation_data.action_slot == source.slots[0]
    plant(bpy)
    assert walker.animation_data.action == planted and walker.animation_data.action_slot == planted.slots[0]
    assert values_of(walker, range(1, 62)) == once
    assert sorted(bpy.data.actions.keys()) == ["walk", "walk.planted"]


def test_undo_gives_the_old_state_back(bpy, walker, slope):
    bpy.ops.ed.undo_push(message="before")
    before = fingerprint.of_scene(bpy)
    plant(bpy)
    bpy.ops.ed.undo_push(message="Plant Feet")
    bpy.ops.ed.undo()
    assert fingerprint.of_scene(bpy) == before


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize("planted_before", [False, True])
def test_no_strength_changes_no_value(bpy, slope, mode, planted_before):
    walker = biped.make_walker(bpy, mode=mode)
    frames = np.arange(1, biped.LAST + 1)
    before = values_of(walker, frames)
    if planted_before:
        plant(bpy)
        assert values_of(walker, frames) != before
    plant(bpy, strength=0.0)
    assert values_of(walker, frames) == before


def test_a_later_run_over_some_frames_leaves_the_others_as_they_are(bpy, walker, slope):
    plant(bpy)
    outside = [*range(1, 20), *range(41, 62)]
    before = values_of(walker, outside)
    source = values_of(SimpleNamespace(animation_data=SimpleNamespace(action=bpy.data.actions["walk"])), range(20, 41))
    plant(bpy, strength=0.0, frame_range="CUSTOM", frame_start=20, frame_end=40)
    assert values_of(walker, outside) == before
    assert values_of(walker, range(20, 41)) == source


def test_hips_that_moved_before_go_back_when_they_shall_stay(bpy, walker, slope):
    frames = range(1, biped.LAST + 1)
    before = heads(bpy, walker, frames, ("hips",))
    plant(bpy)
    assert np.abs(heads(bpy, walker, frames, ("hips",)) - before).max() > 0.05
    plant(bpy, use_hips=False)
    np.testing.assert_array_equal(heads(bpy, walker, frames, ("hips",)), before)


def _forget_hips(bpy, walker):
    """Let the walker tread on the spot with hips that nothing animates, set by hand 3 cm aside."""
    curves = fingerprint.curves_of(walker.animation_data.action)
    bag = fingerprint.bags_of(walker.animation_data.action)[0]
    for curve in [curve for curve in curves if "hips" in curve.data_path]:
        bag.fcurves.remove(curve)
    walker.pose.bones["hips"].location = (0.03, 0.0, -0.1)


def test_a_pose_that_nothing_animated_comes_back_on_restoring(bpy, walker, slope):
    _forget_hips(bpy, walker)
    plant(bpy)
    bpy.context.scene.frame_set(40)
    assert tuple(walker.pose.bones["hips"].location) != pytest.approx((0.03, 0.0, -0.1))
    once = values_of(walker, range(1, 62))
    plant(bpy)
    assert values_of(walker, range(1, 62)) == once
    bpy.ops.ik2bone.restore()
    bpy.context.scene.frame_set(41)
    assert tuple(walker.pose.bones["hips"].location) == pytest.approx((0.03, 0.0, -0.1))


def test_hand_made_keys_are_counted_before_they_are_replaced(bpy, walker, slope, options, addon):
    plant(bpy)
    for curve in fingerprint.curves_of(walker.animation_data.action):
        if "foot.L" in curve.data_path:
            curve.keyframe_points[4].type = curve.keyframe_points[8].type = "KEYFRAME"
    outcome = outcome_of(addon, bpy, [walker], options())
    assert "8 keys made by hand were replaced" in outcome.warnings
    again = outcome_of(addon, bpy, [walker], options())
    assert not any("by hand" in warning for warning in again.warnings)


def test_hand_made_keys_count_in_all_components_though_some_equal_the_source(bpy, walker, options, addon):
    biped.make_slope(bpy, rise=0.0, height=0.05)
    plant(bpy)
    path = 'pose.bones["thigh.L"].rotation_quaternion'
    for curve in (c for c in fingerprint.curves_of(walker.animation_data.action) if c.data_path == path):
        for row in (10, 20, 30):
            curve.keyframe_points[row].type = "KEYFRAME"
    warnings = outcome_of(addon, bpy, [walker], options()).warnings
    assert "12 keys made by hand were replaced" in warnings


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_keys_inserted_over_planted_ones_are_counted(bpy, slope, options, addon, mode):
    walker = biped.make_walker(bpy, mode=mode)
    plant(bpy)
    bone, name = walker.pose.bones["shin.R"], "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
    bpy.context.scene.frame_set(10)
    getattr(bone, name)[:] = [value + 0.1 for value in getattr(bone, name)]
    for frame in (10, 20, 20.5):
        bone.keyframe_insert(name, frame=frame)
    warnings = outcome_of(addon, bpy, [walker], options()).warnings
    assert f"{3 * len(getattr(bone, name))} keys made by hand were replaced" in warnings
    again = outcome_of(addon, bpy, [walker], options())
    assert not any("by hand" in warning for warning in again.warnings)


def test_keys_inserted_over_planted_ones_count_where_they_equal_the_source(bpy, walker, slope, options, addon):
    plant(bpy)
    bone = walker.pose.bones["thigh.L"]
    bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bone.keyframe_insert("rotation_quaternion", frame=9)
    warnings = outcome_of(addon, bpy, [walker], options()).warnings
    assert "4 keys made by hand were replaced" in warnings


@pytest.mark.parametrize("letter", ["x", "ß"])
def test_the_name_of_a_planted_action_ends_alike_however_long_that_of_the_source_is(bpy, walker, slope, letter):
    source = walker.animation_data.action
    source.name = 300 * letter
    plant(bpy)
    planted = walker.animation_data.action
    stem = planted.name.removesuffix(".planted")
    assert stem != planted.name and source.name.startswith(stem) and len(stem) > 20
    bpy.ops.ik2bone.restore()
    assert walker.animation_data.action == source
    plant(bpy)
    assert walker.animation_data.action == planted and len(bpy.data.actions) == 2


@pytest.mark.parametrize("mode", ["XYZ", "ZYX"])
def test_angles_of_any_order_that_nothing_animated_come_back(bpy, slope, mode):
    walker = biped.make_walker(bpy, mode=mode)
    bag, shin = fingerprint.bags_of(walker.animation_data.action)[0], walker.pose.bones["shin.L"]
    for curve in [curve for curve in bag.fcurves if "shin.L" in curve.data_path and curve.array_index == 2]:
        bag.fcurves.remove(curve)
    shin.rotation_euler.z = 0.1
    plant(bpy)
    once = fingerprint.of_action(walker.animation_data.action)
    plant(bpy)
    assert fingerprint.of_action(walker.animation_data.action) == once
    bpy.ops.ik2bone.restore()
    assert shin.rotation_mode == mode and shin.rotation_euler.z == pytest.approx(0.1)


def test_restoring_passes_over_a_bone_that_was_renamed(bpy, walker, slope):
    _forget_hips(bpy, walker)
    thigh = fingerprint.bags_of(walker.animation_data.action)[0]
    for curve in [curve for curve in thigh.fcurves if "thigh.L" in curve.data_path]:
        thigh.fcurves.remove(curve)
    plant(bpy)
    walker.data.bones["thigh.L"].name = "upper.L"
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert walker.animation_data.action.name == "walk"
    assert tuple(walker.pose.bones["hips"].location) == pytest.approx((0.03, 0.0, -0.1))


@pytest.mark.parametrize("broken", [5, [1], None, {"foot.L": 5}, {'pose.bones["hips"].location': [1]}])
@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE"])
def test_a_record_with_broken_parts_is_as_good_as_one_without_them(bpy, walker, slope, broken, output):
    plant(bpy, output=output)
    once, action = values_of(walker, range(1, 62)), walker.animation_data.action
    action["ik2bone"] = json.dumps(record_of(walker) | {"channels": broken, "soles": broken})
    plant(bpy, output=output)
    if output == "NEW_ACTION":
        assert values_of(walker, range(1, 62)) == once
        assert bpy.ops.ik2bone.restore() == {"FINISHED"}


def test_a_source_that_was_remapped_to_the_planted_action_counts_as_removed(bpy, walker, slope):
    source = walker.animation_data.action
    plant(bpy)
    planted = walker.animation_data.action
    source.user_remap(planted)
    assert planted["ik2bone_source"] == planted
    assert not bpy.ops.ik2bone.restore.poll()
    plant(bpy)
    assert walker.animation_data.action["ik2bone_source"] == planted
    bpy.ops.ik2bone.restore()
    assert walker.animation_data.action == planted


def test_restoring_needs_a_planted_action(bpy, walker, slope):
    with pytest.raises(RuntimeError, match="plays no planted action"):
        bpy.ops.ik2bone.restore()


def test_samples_of_written_channels_become_keys(bpy, walker, slope):
    plant(bpy)
    expected = heads(bpy, walker, range(1, 62))
    bpy.ops.ik2bone.restore()
    bpy.data.actions.remove(bpy.data.actions["walk.planted"])
    for curve in written(walker):
        curve.convert_to_samples(1, 62)
    plant(bpy)
    assert not any(len(curve.sampled_points) for curve in written(walker))
    np.testing.assert_allclose(heads(bpy, walker, range(1, 62)), expected, atol=1e-5)


def test_modifiers_of_written_channels_are_baked(bpy, walker, slope):
    curve = next(c for c in fingerprint.curves_of(bpy.data.actions["walk"]) if "hips" in c.data_path)
    curve.modifiers.new("NOISE").strength = 0.05
    before = values_of(walker, range(1, 62))
    plant(bpy, strength=0.0)
    assert not any(len(c.modifiers) for c in fingerprint.curves_of(walker.animation_data.action))
    assert values_of(walker, range(1, 62)) == before


def test_curves_that_repeat_are_told_and_planted_over_a_manual_range(bpy, walker, slope):
    source = walker.animation_data.action
    for curve in fingerprint.curves_of(source):
        curve.modifiers.new("CYCLES")
    plant(bpy)
    assert not any("repeat" in sentence for sentence in record_of(walker)["report"]["told"])
    bpy.context.scene.frame_end = 90
    plant(bpy)
    assert "no longer repeat beyond frames 1 to 61 of walk" in "; ".join(record_of(walker)["report"]["told"])
    source.use_frame_range, source.frame_start, source.frame_end = True, 1, 90
    plant(bpy)
    report = record_of(walker)["report"]
    assert report["frames"] == [1, 90] and not any("repeat" in sentence for sentence in report["told"])


def test_of_the_planted_action_alone_what_moves_the_legs_is_evaluated(bpy, walker, slope, addon, monkeypatch):
    """Not the source, whose memory it doubles, nor curves of other bones, of which a rig may have hundreds."""
    walker.pose.bones["chest"].keyframe_insert("location", frame=1)
    plant(bpy)
    module, actions, names, paths = addon("pose.evaluate"), addon("keys.actions"), set(), set()
    step = module.step_scene
    actions.assigned(walker).curves.find('pose.bones["chest"].location', 1).mute = True

    def watched(scene, frame):
        depsgraph = step(scene, frame)
        names.update(block.name for block in depsgraph.ids if isinstance(block, bpy.types.Action))
        evaluated = walker.evaluated_get(depsgraph)
        paths.update(curve.data_path for curve in actions.assigned(evaluated).curves if not curve.mute)
        return depsgraph

    monkeypatch.setattr(module, "step_scene", watched)
    plant(bpy, strength=0.5)
    assert len(names) == 1 and "walk" not in names
    assert any("thigh" in path for path in paths) and not any("chest" in path for path in paths)
    planted = actions.assigned(walker)
    assert planted.action.name == "walk.planted" and planted.action["ik2bone_source"] == bpy.data.actions["walk"]
    muted = [curve.array_index for curve in planted.curves if curve.mute]
    assert muted == [1] and len([curve for curve in planted.curves if "chest" in curve.data_path]) == 3
