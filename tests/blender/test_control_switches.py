# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches between forward and inverse kinematics, and part influences: which controls take keys on which frames."""

from __future__ import annotations

import biped
import control_rig
import numpy as np
import pytest
from biped import RISE, SIDES
from planted import plant, record_of, refused, stood, values_of

FRAMES = range(1, biped.LAST + 1)
LEG = biped.THIGH + biped.SHIN


def key(owner, name, values):
    """Key a property on frames, by its name or the path of one that people have made."""
    for frame, value in values.items():
        if name.startswith("["):
            owner[name[2:-2]] = value
        else:
            setattr(owner, name, value)
        owner.keyframe_insert(name, frame=frame)


def changes(armature, source):
    """On which frames planting has changed the channels of each bone that the source animates."""
    after, found = values_of(armature, FRAMES), {}
    for path, values in source.items():
        name = path[0].split('"')[1]
        changed = ~np.isclose(after[path], values, atol=1e-6)
        found[name] = found.get(name, False) | changed
    return found


def key_forward(bpy, walker):
    """Let the legs' own channels show without inverse kinematics what they do with it."""
    names = [f"{name}.{side}" for side in SIDES for name in ("thigh", "shin", "foot")]
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bones = [walker.pose.bones[name] for name in names]
        options = {"from_space": "POSE", "to_space": "LOCAL"}
        local = [walker.convert_space(pose_bone=bone, matrix=bone.matrix, **options) for bone in bones]
        for bone, matrix in zip(bones, local, strict=True):
            bone.rotation_quaternion = matrix.to_quaternion()
            bone.keyframe_insert("rotation_quaternion", frame=frame)


def test_the_switch_is_respected_frame_by_frame_and_never_changed(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, switch=True)
    key_forward(bpy, walker)
    key(walker.pose.bones["hips"], '["fk"]', {1: 0.0, 30: 0.0, 34: 1.0})
    source = values_of(walker, FRAMES)
    plant(bpy)
    assert max(stood(bpy, walker, RISE)) < 1e-3 * LEG
    changed = changes(walker, source)
    assert changed["foot_ik.L"][:30].any() and not changed["foot_ik.L"][33:].any()
    for name in ("thigh.L", "shin.L", "foot.L"):
        assert changed[name][33:].any() and not changed[name][:30].any()
    path = 'pose.bones["hips"]["fk"]', 0
    np.testing.assert_array_equal(values_of(walker, FRAMES)[path], source[path])


@pytest.mark.parametrize("foot", ["copied", "rolled", "forward", "apart"])
def test_without_the_solver_a_foot_still_follows_what_nothing_switches_off(bpy, slope, foot):
    walker = control_rig.make_ik_walker(bpy, foot=foot)
    for side in SIDES:
        key(walker.pose.bones[f"shin.{side}"].constraints["IK"], "influence", {1: 1.0, 30: 1.0, 31: 0.0})
    bpy.context.scene.frame_set(1)
    plant(bpy)
    assert all(max(foot["off"].values()) < 1e-3 * LEG for foot in record_of(walker)["report"]["feet"])
    assert max(stood(bpy, walker, RISE)) < 1e-3 * LEG


def test_a_foot_that_copies_half_a_rotation_is_turned_for_the_other_half(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    for side in SIDES:
        walker.pose.bones[f"foot.{side}"].constraints["Copy Rotation"].influence = 0.5
    plant(bpy)
    feet = record_of(walker)["report"]["feet"]
    assert {"foot_ik.L", "foot.L"} < set(feet[0]["controls"])
    assert all(max(foot["off"].values()) < 1e-3 * LEG for foot in feet)


def test_inverse_kinematics_of_half_influence_is_keyed_both_ways(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    for side in SIDES:
        walker.pose.bones[f"shin.{side}"].constraints["IK"].influence = 0.5
    plant(bpy)
    report = record_of(walker)["report"]
    assert {"foot_ik.L", "thigh.L", "shin.L"} < set(report["feet"][0]["controls"])
    off = max(max(foot["off"].values()) for foot in report["feet"])
    assert off < 0.03 * LEG and any(text.startswith("controls do not bring foot.L quite") for text in report["told"])


def test_inverse_kinematics_that_turns_the_shin_after_its_target_is_refused(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    walker.pose.bones["shin.L"].constraints["IK"].use_rotation = True
    refused(bpy, "bone thigh.L is moved by inverse kinematics on shin.L")


def test_only_the_controls_that_the_switch_lets_show_take_keys(bpy, hill):
    changed = {}
    for forward in (0.0, 1.0):
        rig = control_rig.make_rigify_walker(bpy, forward=forward)
        source = values_of(rig, FRAMES)
        plant(bpy)
        changed[forward] = {name for name, frames in changes(rig, source).items() if frames.any()}
        assert rig.pose.bones["thigh_parent.L"]["IK_FK"] == forward
        bpy.data.objects.remove(rig)
    fk = {f"{name}_fk.{side}" for name in ("thigh", "shin", "foot") for side in SIDES}
    assert changed == {0.0: {"torso", "foot_ik.L", "foot_ik.R"}, 1.0: {"torso"} | fk}


def test_a_switch_of_rigify_that_is_keyed_is_respected_frame_by_frame(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy)
    for side in SIDES:
        key(rig.pose.bones[f"thigh_parent.{side}"], '["IK_FK"]', {1: 0.0, 30: 0.0, 31: 1.0})
    bpy.context.scene.frame_set(1)
    source = values_of(rig, FRAMES)
    plant(bpy)
    changed = changes(rig, source)
    assert changed["foot_ik.L"][:30].any() and not changed["foot_ik.L"][30:].any()
    assert changed["thigh_fk.L"][30:].any() and not changed["thigh_fk.L"][:30].any()
    assert not changed["thigh_parent.L"].any()
    assert max(stood(bpy, rig, -RISE)) < 2e-3 * control_rig.rigify_leg(rig)


def test_feet_of_rigify_that_change_their_parent_half_way_are_planted(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy)
    key_torso_turns(rig)
    ride(bpy, rig, {1: 1, 29: 1, 30: 4})
    source = values_of(rig, FRAMES)
    plant(bpy)
    report, leg = record_of(rig)["report"], control_rig.rigify_leg(rig)
    assert all(max(foot["off"]["ankle"], foot["off"]["ball"]) < 1e-3 * leg for foot in report["feet"])
    assert max(stood(bpy, rig, -RISE)) < 1e-3 * leg and report["before"]["penetration"] > 0.1
    assert not changes(rig, source)["thigh_parent.L"].any()


def key_torso_turns(rig):
    """Let the torso turn to and fro, so that what rides on it must be turned back."""
    torso = rig.pose.bones["torso"]
    torso.rotation_mode = "XYZ"
    for frame in FRAMES:
        key(torso, "rotation_euler", {frame: (0.0, 0.0, 0.2 * np.sin(frame / 8.0))})


def ride(bpy, rig, parents):
    """Key what carries the feet, by its number in Rigify's list, and let the feet go where they went before."""
    feet, places = [rig.pose.bones[f"foot_ik.{side}"] for side in SIDES], {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        places[frame] = [foot.matrix.copy() for foot in feet]
    for side in SIDES:
        key(rig.pose.bones[f"thigh_parent.{side}"], '["IK_parent"]', parents)
    for frame, matrices in places.items():
        bpy.context.scene.frame_set(frame)
        for foot, matrix in zip(feet, matrices, strict=True):
            foot.matrix = matrix
            bpy.context.view_layer.update()
            for name in ("location", "rotation_quaternion"):
                foot.keyframe_insert(name, frame=frame)
    bpy.context.scene.frame_set(1)
