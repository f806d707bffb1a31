# SPDX-License-Identifier: GPL-3.0-or-later
"""What constraints, drivers and locks make of limbs and hips: refused in a sentence, passed over, or without a say."""

from __future__ import annotations

import pytest
from test_chains import frame_range, load


@pytest.fixture
def walker(bpy, addon, data):
    """A walking CMU skeleton, and its legs."""
    armature = load(bpy, data, "bvh/cmu_131_01_startwalkstop.bvh")
    return armature, addon("rig.find").find_legs(armature, (1, 400))


def test_hips_that_are_locked_or_held_give_way_to_a_free_ancestor(bpy, addon, data):
    armature = load(bpy, data, "gltf/KayKit_Knight.glb:Walking_A")
    chains = addon("rig.find")
    legs = chains.find_legs(armature, frame_range(bpy))
    armature.pose.bones["hips"].lock_location[2] = True
    assert addon("rig.body").find_hips(armature, legs) == "root"
    armature.pose.bones["root"].constraints.new("LIMIT_LOCATION").use_min_x = True
    assert addon("rig.body").find_hips(armature, legs) is None


def constrain(armature, name, kind="COPY_ROTATION"):
    constraint = armature.pose.bones[name].constraints.new(kind)
    if kind in {"COPY_ROTATION", "IK"}:
        constraint.target = armature
        constraint.subtarget = "Hips"
    return constraint


def test_refuses_a_bone_under_an_active_constraint(addon, walker):
    armature, legs = walker
    constraint = constrain(armature, "LeftKnee")
    with pytest.raises(addon("errors").Refusal, match="bone LeftKnee is under the active constraint Copy Rotation"):
        addon("rig.checks").check_chain(armature, legs)
    constraint.mute = True
    addon("rig.checks").check_chain(armature, legs)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("COPY_SCALE", {}),
        ("LIMIT_SCALE", {"use_min_x": True}),
        ("MAINTAIN_VOLUME", {}),
        ("LIMIT_ROTATION", {}),
        ("LIMIT_LOCATION", {}),
        ("COPY_ROTATION", {"use_x": False, "use_y": False, "use_z": False}),
        ("COPY_ROTATION", {"target": None}),
        ("IK", {"target": None}),
        ("DAMPED_TRACK", {}),
    ],
)
def test_constraints_without_effect_on_place_and_rotation_are_no_reason_to_refuse(addon, walker, kind, settings):
    armature, legs = walker
    constraint = constrain(armature, "LeftKnee", kind)
    for name, value in settings.items():
        setattr(constraint, name, value)
    addon("rig.checks").check_chain(armature, legs)


@pytest.mark.parametrize("name", ["use_limit_x", "min_x"])
def test_limits_that_are_keyed_count_as_active_where_they_limit(addon, walker, name):
    armature, legs = walker
    constraint = constrain(armature, "LeftKnee", "LIMIT_ROTATION")
    constraint.use_limit_x = name == "min_x"
    constraint.min_x, constraint.max_x = -4.0, 4.0
    constraint.keyframe_insert(name, frame=1)
    addon("rig.checks").check_chain(armature, legs)
    constraint.use_limit_x, constraint.min_x = True, 0.5
    constraint.keyframe_insert(name, frame=1)
    constraint.max_x = 0.5
    with pytest.raises(addon("errors").Refusal, match="bone LeftKnee is under the active constraint Limit Rotation"):
        addon("rig.checks").check_chain(armature, legs)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("LIMIT_ROTATION", {"use_limit_x": True, "min_x": -3.1415, "max_x": 3.1415, "owner_space": "LOCAL"}),
        ("LIMIT_DISTANCE", {"distance": 1e6}),
        ("TRANSFORM", {}),
    ],
)
def test_limits_that_change_no_frame_are_no_reason_to_refuse(addon, bpy, walker, kind, settings):
    armature, legs = walker
    constraint = constrain(armature, "LeftKnee", kind)
    if hasattr(constraint, "target"):
        constraint.target = bpy.data.objects.new("Place", None)
    for name, value in settings.items():
        setattr(constraint, name, value)
    addon("rig.checks").check_chain(armature, legs)


def test_refuses_a_bone_reached_by_inverse_kinematics_from_below(addon, walker):
    armature, legs = walker
    constraint = constrain(armature, "LFingers", "IK")
    addon("rig.checks").check_chain(armature, [leg for leg in legs if leg.thigh == "LeftHip"])
    constraint.mute = True
    below = constrain(armature, "RightToe", "IK")
    below.use_tail, below.chain_count = False, 2
    with pytest.raises(addon("errors").Refusal, match="bone RightKnee is moved by inverse kinematics on RightToe"):
        addon("rig.checks").check_chain(armature, legs)


def test_counts_the_bones_that_inverse_kinematics_moves(bpy, addon, data):
    armature = load(bpy, data, "bvh/cmu_ic_002_01_walk.bvh")
    chains = addon("rig.find")
    legs = chains.find_legs(armature, frame_range(bpy))
    constraint = armature.pose.bones["CC_Base_L_BigToe1"].constraints.new("IK")
    constraint.target, constraint.chain_count = bpy.data.objects.new("Goal", None), 1
    addon("rig.checks").check_chain(armature, legs)
    constraint.chain_count = 3
    with pytest.raises(
        addon("errors").Refusal, match="bone CC_Base_L_Foot is moved by inverse kinematics on CC_Base_L_BigToe1"
    ):
        addon("rig.checks").check_chain(armature, legs)


def test_refuses_a_bone_with_a_driver(addon, walker):
    armature, legs = walker
    armature.pose.bones["RightAnkle"].driver_add("rotation_euler", 0)
    with pytest.raises(addon("errors").Refusal, match="bone RightAnkle has a driver on its rotation euler"):
        addon("rig.checks").check_chain(armature, legs)


def test_refuses_a_shin_that_does_not_inherit_rotation(addon, walker):
    armature, legs = walker
    armature.data.bones["RightKnee"].use_inherit_rotation = False
    with pytest.raises(addon("errors").Refusal, match="bone RightKnee does not inherit"):
        addon("rig.checks").check_chain(armature, legs)


def test_refuses_an_armature_that_shows_its_rest_position(addon, walker):
    armature, legs = walker
    armature.data.pose_position = "REST"
    with pytest.raises(addon("errors").Refusal, match="rest position"):
        addon("rig.checks").refuse_unposed(armature)


@pytest.fixture
def knight(bpy, addon, data):
    """An armature with a free bone above its hips, and its legs."""
    armature = load(bpy, data, "gltf/KayKit_Knight.glb:Walking_A")
    return armature, addon("rig.find").find_legs(armature, frame_range(bpy))


def test_hips_with_a_driver_on_their_location_give_way_to_a_free_ancestor(addon, knight):
    armature, legs = knight
    driver = armature.pose.bones["hips"].driver_add("location", 1)
    assert addon("rig.body").find_hips(armature, legs) == "root"
    driver.mute = True
    assert addon("rig.body").find_hips(armature, legs) == "hips"


@pytest.mark.parametrize(("kind", "expected"), [("COPY_LOCATION", None), ("LIMIT_ROTATION", "hips")])
def test_hips_stay_where_a_constraint_places_them(bpy, addon, knight, kind, expected):
    armature, legs = knight
    constraint = armature.pose.bones["hips"].constraints.new(kind)
    constraint.influence = 0.5
    if kind == "COPY_LOCATION":
        constraint.target = bpy.data.objects.new("Place", None)
    assert addon("rig.body").find_hips(armature, legs) == expected


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [("LIMIT_LOCATION", "use_min_x", None), ("LIMIT_ROTATION", "use_limit_x", "RL_BoneRoot")],
)
def test_hips_stay_where_a_constraint_places_a_bone_between_them_and_the_thighs(
    bpy, addon, data, kind, limit, expected
):
    armature = load(bpy, data, "bvh/cmu_ic_002_01_walk.bvh")
    legs = addon("rig.find").find_legs(armature, frame_range(bpy))
    setattr(armature.pose.bones["CC_Base_Pelvis"].constraints.new(kind), limit, True)
    assert addon("rig.body").find_hips(armature, legs) == expected


@pytest.mark.parametrize(("count", "expected"), [(1, "hips"), (0, None)])
def test_hips_stay_where_inverse_kinematics_turns_them(addon, knight, count, expected):
    armature, legs = knight
    constraint = armature.pose.bones["head"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = armature, "root", count
    assert addon("rig.body").find_hips(armature, legs) == expected


@pytest.mark.parametrize("name", ["influence", "enabled"])
@pytest.mark.parametrize("how", ["keyed", "driven"])
@pytest.mark.parametrize("kind", ["COPY_ROTATION", "IK"])
def test_a_constraint_counts_where_the_animation_switches_it_on_for_a_few_frames(addon, walker, name, how, kind):
    armature, legs = walker
    constraint = constrain(armature, "LeftKnee", kind)
    constraint.enabled, constraint.influence = name == "influence", float(name == "enabled")
    driver = constraint.driver_add(name).driver if how == "driven" else None
    _switch(constraint, name, driver, "0", {1: 0})
    addon("rig.checks").check_chain(armature, legs)
    _switch(constraint, name, driver, "frame == 201", {200: 0, 201: 1, 202: 0})
    with pytest.raises(addon("errors").Refusal, match="LeftKnee"):
        addon("rig.checks").check_chain(armature, legs)


def _switch(constraint, name, driver, expression, keys):
    """Drive a property by an expression, or key it where it has no driver."""
    if driver:
        driver.expression = expression
        return
    for frame, value in keys.items():
        setattr(constraint, name, value)
        constraint.keyframe_insert(name, frame=frame)


def test_a_driver_on_a_channel_that_planting_does_not_key_does_not_count(addon, walker):
    armature, legs = walker
    unused = "rotation_quaternion" if armature.pose.bones["RightAnkle"].rotation_mode != "QUATERNION" else "location"
    for channel in ("scale", unused):
        armature.pose.bones["RightAnkle"].driver_add(channel, 0)
    addon("rig.checks").check_chain(armature, legs)
