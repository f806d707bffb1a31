# SPDX-License-Identifier: GPL-3.0-or-later
"""The present pose is keyed only where a key would show it, else nothing changes."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from planted import refused

PATH = 'pose.bones["shin.L"].rotation_quaternion'


def _refused(bpy, sentence):
    refused(bpy, sentence, frame_range="CURRENT")


@pytest.mark.parametrize("frame", [0, 62])
def test_a_frame_beyond_the_action_is_refused(bpy, walker, slope, frame):
    bpy.context.scene.frame_set(frame)
    _refused(bpy, f"frame {frame} lies outside of action walk, which covers 1 to 61")


def test_a_time_between_two_frames_is_refused(bpy, walker, slope):
    bpy.context.scene.frame_set(12, subframe=0.5)
    _refused(bpy, "between frames 12 and 13")


def test_any_frame_will_do_where_nothing_is_keyed(bpy, walker, slope):
    walker.animation_data_clear()
    bpy.context.scene.frame_set(500, subframe=0.5)
    assert bpy.ops.ik2bone.plant_feet(frame_range="CURRENT") == {"FINISHED"}


@pytest.mark.parametrize("with_slot", [False, True])
def test_an_action_without_keys_gets_its_first_ones(bpy, walker, slope, with_slot):
    bpy.context.scene.frame_set(12)
    action = _blank_action(bpy, walker, with_slot)
    assert bpy.ops.ik2bone.plant_feet(frame_range="CURRENT") == {"FINISHED"}
    assert walker.animation_data.action == action
    paths = {curve.data_path for curve in fingerprint.curves_of(action)}
    assert paths >= {PATH, 'pose.bones["hips"].location'}
    assert {key.co.x for curve in fingerprint.curves_of(action) for key in curve.keyframe_points} == {12.0}


@pytest.mark.parametrize("with_slot", [False, True])
def test_an_action_without_keys_stays_so_where_another_armature_is_refused(bpy, walker, slope, with_slot):
    other = biped.make_walker(bpy, "Other")
    other.data.pose_position = "REST"
    action = _blank_action(bpy, walker, with_slot)
    bpy.context.view_layer.objects.active = walker
    walker.select_set(True)
    other.select_set(True)
    _refused(bpy, "Other shows its rest position")
    assert not fingerprint.curves_of(action)
    # Up to Blender 4.3 actions have no slots.
    if hasattr(action, "slots"):
        assert [slot.identifier for slot in action.slots] == ["OBWalker"] * with_slot


@pytest.mark.parametrize("with_slot", [False, True])
@pytest.mark.parametrize("keyed", [0, 3])
def test_an_action_without_curves_stays_so_after_an_error(bpy, walker, slope, addon, monkeypatch, with_slot, keyed):
    action = _blank_action(bpy, walker, with_slot)
    before, parts = fingerprint.of_scene(bpy), _parts_of(walker)
    insert, inserted = addon("keys.channels").insert, []

    def fail(*arguments):
        if len(inserted) == keyed:
            raise ArithmeticError("no key")
        inserted.append(insert(*arguments))

    with monkeypatch.context() as patch:
        patch.setattr(addon("keys.channels"), "insert", fail)
        with pytest.raises(RuntimeError, match="ArithmeticError: no key") as error:
            bpy.ops.ik2bone.plant_feet(frame_range="CURRENT")
    assert "AttributeError" not in str(error.value)
    assert fingerprint.of_scene(bpy) == before and not fingerprint.curves_of(action) and _parts_of(walker) == parts


@pytest.mark.parametrize("with_slot", [False, True])
def test_an_action_without_keys_in_a_strip_is_refused(bpy, walker, slope, with_slot):
    action = _blank_action(bpy, walker, with_slot)
    walker.animation_data.action = None
    strip = walker.animation_data.nla_tracks.new().strips.new("blank", 0, action)
    if with_slot and hasattr(action, "slots"):
        strip.action_slot = action.slots[0]
    bpy.context.scene.frame_set(1)
    _refused(bpy, "action blank has no keys for this armature")


def _parts_of(armature):
    """What an action consists of beside curves, and the handle by which its slot is played."""
    data = armature.animation_data
    slots, layers = (len(getattr(data.action, name, ())) for name in ("slots", "layers"))
    return slots, layers, len(fingerprint.bags_of(data.action)), getattr(data, "action_slot_handle", None)


def _blank_action(bpy, armature, with_slot):
    action = bpy.data.actions.new("blank")
    armature.animation_data.action = action
    if with_slot and hasattr(action, "slots"):
        armature.animation_data.action_slot = action.slots.new(id_type="OBJECT", name=armature.name)
    return action


@pytest.mark.parametrize("animated", [False, True], ids=["no action", "an action of one frame"])
@pytest.mark.parametrize("lift", [0.0, 0.05, -0.04])
def test_a_pose_that_is_all_there_is_stands_on_soles_as_the_rest_pose_has_them(bpy, walker, slope, lift, animated):
    bpy.context.scene.frame_set(27)
    walker.animation_data_clear()
    walker.pose.bones["hips"].location.y += lift
    if animated:
        for bone in walker.pose.bones:
            bone.keyframe_insert("rotation_quaternion")
            bone.keyframe_insert("location")
    bpy.ops.ik2bone.plant_feet(frame_range="CURRENT")
    normal = np.array([0.0, -0.1, 1.0]) / np.hypot(0.1, 1.0)
    for name in ("toe.L", "toe.R"):
        for place in (walker.pose.bones[name].head, walker.pose.bones[name].tail):
            assert np.array(walker.matrix_world @ place) @ normal == pytest.approx(0.02, abs=1e-4)
