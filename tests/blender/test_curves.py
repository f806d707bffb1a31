# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses read from F-curves in bulk are those that the scene shows."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from moved import (
    AWAY,
    SINGLE,
    add_track,
    constrain,
    constrain_the_object,
    curve_of,
    drive,
    drive_the_object,
    error,
    key,
    move_the_object,
    parent_to_a_bone,
    parent_to_a_moving_empty,
    sampled,
)


def nothing(bpy, walker):
    """The walker as it is."""


def set_unkeyed_values(bpy, walker):
    bones = walker.pose.bones
    bones["hips"].scale, bones["thigh.L"].location, bones["shin.R"].scale = (1.1, 0.9, 1.2), (0.1, 0.2, 0), (1, 1.5, 1)


def leave_components_unkeyed(bpy, walker):
    (bag,) = fingerprint.bags_of(walker.animation_data.action)
    bag.fcurves.remove(curve_of(walker, "shin.L", "rotation_quaternion", 2))
    walker.pose.bones["shin.L"].rotation_quaternion.y = 0.2


def add_noise(bpy, walker):
    modifier = curve_of(walker, "thigh.R", "rotation_quaternion", 1).modifiers.new("NOISE")
    modifier.scale, modifier.strength = 7.0, 0.4


def mute_a_curve(bpy, walker):
    curve_of(walker, "thigh.R", "rotation_quaternion", 1).mute = True
    walker.pose.bones["thigh.R"].rotation_quaternion.x = 0.3


def key_off_the_frames(bpy, walker):
    biped.thin(walker)


def key_in_steps(bpy, walker):
    biped.thin(walker, interpolation="CONSTANT")


def take_samples(bpy, walker):
    curve_of(walker, "shin.L", "rotation_quaternion", 1).convert_to_samples(1, biped.LAST + 1)
    walker.animation_data.action.update_tag()


def scale_the_hips(bpy, walker):
    key(walker.pose.bones["hips"], "scale", [(1.3, 0.7, 1.0), (0.6, 1.2, 1.1)])


def scale_the_object(bpy, walker):
    walker.scale, walker.rotation_euler, walker.location = (0.5, 1.4, -0.8), (0.3, 0.2, 1.0), (1, 2, 0.5)
    bpy.context.view_layer.update()


def key_quaternions_of_zeros(bpy, walker):
    key(walker.pose.bones["thigh.L"], "rotation_quaternion", [(0, 0, 0, 0), (1, 0, 0, 0)])


def key_long_quaternions(bpy, walker):
    key(walker.pose.bones["thigh.L"], "rotation_quaternion", [(3, 1, 0, 0), (0.1, 0, 0.2, 0)])


def key_the_location_of_a_connected_bone(bpy, walker):
    with biped.editing(bpy, walker) as bones:
        bones["shin.L"].use_connect = True
    key(walker.pose.bones["shin.L"], "location", [(0.1, 0, 0), (0, 0.2, 0)])


def mute_a_track(bpy, walker):
    add_track(walker, muted=True)


def mute_a_constraint(bpy, walker):
    constrain(bpy, walker, "thigh.L", mute=True)


def constrain_the_head(bpy, walker):
    constrain(bpy, walker, "head", "IK", chain_count=1)


def drive_the_head(bpy, walker):
    drive(walker.pose.bones["head"], "location", index=0)


def play_the_second_slot(bpy, walker):
    action = walker.animation_data.action
    if not hasattr(action, "slots"):
        pytest.skip("this Blender has no action slots")
    other = biped.make_walker(bpy, "Other")
    biped.thin(other, 20.0)
    other.animation_data.action = action
    other.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Other")
    for bone in other.pose.bones:
        key(bone, "rotation_quaternion", [(1, 0.1, 0, 0), (1, 0, 0.5, 0)])
    slots = {slot.identifier: slot for slot in action.slots}
    walker.animation_data.action_slot = slots["OBOther"]


def play_no_action(bpy, walker):
    walker.animation_data.action = None
    walker.pose.bones["thigh.L"].rotation_quaternion = (1, 0.3, 0, 0)


@pytest.mark.parametrize(
    "change",
    [
        nothing, set_unkeyed_values, leave_components_unkeyed, add_noise, mute_a_curve, key_off_the_frames,
        key_in_steps, take_samples, scale_the_hips, scale_the_object, key_quaternions_of_zeros, key_long_quaternions,
        key_the_location_of_a_connected_bone, move_the_object, drive_the_object, constrain_the_object,
        parent_to_a_moving_empty, parent_to_a_bone, mute_a_track, mute_a_constraint, constrain_the_head,
        drive_the_head, play_the_second_slot, play_no_action,
    ],
)  # fmt: skip
def test_curves_that_tell_all_are_read_in_bulk(bpy, addon, walker, change):
    change(bpy, walker)
    sample = sampled(addon, walker)
    assert sample.in_bulk
    assert error(bpy, walker, sample) < SINGLE


def hang_under_a_row_of_empties(bpy, walker):
    """Under empties that turn in other ways, the second one in another place than the first one's."""
    row = [walker]
    for name, mode, prop, values in (
        ("Under", "ZXY", "rotation_euler", [(0.4, 0, 1), (-1, 2, 0.3)]),
        ("Over", "QUATERNION", "rotation_quaternion", [(1, 0.2, 0, 0.7), (0.3, 0, 2, 0)]),
        ("Top", "AXIS_ANGLE", "rotation_axis_angle", [(1, 0, 0.5, 1), (4, 1, 0, 1)]),
    ):
        empty = biped.make_empty(bpy, name, AWAY)
        empty.rotation_mode = mode
        key(empty, prop, values)
        bpy.context.view_layer.update()
        row[-1].parent, row[-1].matrix_parent_inverse = empty, empty.matrix_world.inverted()
        row.append(empty)
    key(row[1], "scale", [(1, 1.2, 1), (0.7, 1, 1)])


def repeat_the_way_of_the_object(bpy, walker):
    key(walker, "location", [(0, 0, 0), (1, 0.5, 0.2)])
    for curve in fingerprint.curves_of(walker.animation_data.action):
        if curve.data_path == "location":
            curve.modifiers.new("NOISE").strength = 0.1


def key_what_does_not_move_the_object(bpy, walker):
    parent_to_a_moving_empty(bpy, walker)
    walker["mood"] = 0.0
    walker.keyframe_insert('["mood"]', frame=3)


@pytest.mark.parametrize(
    "change",
    [
        move_the_object, parent_to_a_moving_empty, hang_under_a_row_of_empties, repeat_the_way_of_the_object,
        key_what_does_not_move_the_object,
    ],
)  # fmt: skip
def test_the_way_of_an_object_is_read_in_bulk(bpy, addon, walker, monkeypatch, change):
    change(bpy, walker)
    monkeypatch.setattr(addon("pose.curves"), "step_worlds", None)
    sample = sampled(addon, walker)
    assert sample.in_bulk
    assert np.ptp(sample.poses.placed, axis=0).max() > 0.1
    assert error(bpy, walker, sample) < SINGLE


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_every_rotation_mode_is_read_in_bulk(bpy, addon, mode):
    walker = biped.make_walker(bpy, mode=mode)
    name, size = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}.get(
        mode, ("rotation_euler", 3)
    )
    key(walker.pose.bones["thigh.L"], name, [(0.5, 1.2, -0.7, 0.2)[:size], (-2.0, 0.1, 4.0, 0.9)[:size]])
    sample = sampled(addon, walker)
    assert sample.in_bulk
    assert error(bpy, walker, sample) < SINGLE


def test_part_of_a_sample_in_bulk_is_in_bulk(addon, walker):
    part = sampled(addon, walker).cut(slice(10, 20))
    assert part.in_bulk and part.frames.tolist() == list(range(11, 21))
