# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs and hips are found on rigs that nobody here made, and what cannot be planted is refused in one sentence."""

from __future__ import annotations

import math
from itertools import product

import biped
import fingerprint
import pytest

from demo import clips

CMU = ("Left{0}", "Right{0}")
IC = ("CC_Base_L_{0}", "CC_Base_R_{0}")
DOTS = ("{0}.l", "{0}.r")
NAMES = ("UpLeg", "Leg", "Foot", "ToeBase")
JOINTS = ("Hip", "Knee", "Ankle", "Toe")


def sides(pattern, names):
    return {tuple(side.format(name) for name in names) for side in pattern}


FOUND = [
    ("bvh/cmu_131_01_startwalkstop.bvh", sides(CMU, JOINTS), "Hips"),
    ("bvh/ad_cmu_jumping_jacks.bvh", sides(CMU, JOINTS), "Hips"),
    ("bvh/cmu_01_01_hops_turn.bvh", sides(CMU, NAMES), "Hips"),
    ("bvh/cmu_ic_002_01_walk.bvh", sides(IC, ("Thigh", "Calf", "Foot", "ToeBase")), "RL_BoneRoot"),
    ("bvh/cmu_ic_002_03_run.bvh", sides(IC, ("Thigh", "Calf", "Foot", "ToeBase")), "RL_BoneRoot"),
    ("bvh/cmu_ic_003_02_uneven.bvh", sides(IC, ("Thigh", "Calf", "Foot", "ToeBase")), "CC_Base_Hip"),
    ("bvh/cmu_ic_005_02_dance.bvh", sides(IC, ("Thigh", "Calf", "Foot", "ToeBase")), "CC_Base_Hip"),
    ("bvh/cmu_03_02_uneven.bvh", sides(("l{0}", "r{0}"), ("Thigh", "Shin", "Foot")), "hip"),
    ("bvh/ad_zombie_walk.bvh", sides(CMU, NAMES), "Hips"),
    ("bvh/ad_jesse_dance.bvh", sides(CMU, NAMES), "Hips"),
    ("fbx/cmu_07_01_walk.fbx", sides(CMU, NAMES), "Hips"),
    ("fbx/cmu_09_11_run.fbx", sides(CMU, NAMES), "Hips"),
    ("fbx/ozz_pab_walk.fbx", sides(CMU, ("UpLeg", "Leg", "Foot", "FootThumb1")), "Spine"),
    ("fbx/ozz_pab_arnaud_mesh.fbx", sides(CMU, ("UpLeg", "Leg", "Foot", "FootThumb1")), "Spine"),
    ("gltf/CesiumMan_ozz.gltf", {tuple(f"Node_{n + i}" for i in range(4)) for n in (3, 7)}, "Node_2"),
    ("gltf/KayKit_Knight.glb:Walking_A", sides(DOTS, ("upperleg", "lowerleg", "foot", "toes")), "hips"),
    (
        "gltf/KayKit_Knight.glb:Sit_Floor_Down",
        sides(DOTS, ("upperleg", "lowerleg", "foot", "toes")),
        "hips",
    ),
    ("gltf/mannequiny.glb:run", sides(DOTS, ("thigh", "calf", "foot", "ball")), "pelvis"),
    (
        "gltf/Fox.glb:Walk",
        {
            ("b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", "b_LeftFoot02_018"),
            ("b_RightLeg01_019", "b_RightLeg02_020", "b_RightFoot01_021", "b_RightFoot02_022"),
            ("b_LeftUpperArm_09", "b_LeftForeArm_010", "b_LeftHand_011"),
            ("b_RightUpperArm_06", "b_RightForeArm_07", "b_RightHand_08"),
        },
        "b_Hip_01",
    ),
]


ARM = ("Arm", "ForeArm", "Hand")
ARMS = [
    ("bvh/cmu_131_01_startwalkstop.bvh", sides(CMU, ("Shoulder", "Elbow", "Wrist"))),
    ("bvh/cmu_ic_002_01_walk.bvh", sides(IC, ("Upperarm", "Forearm", "Hand"))),
    ("bvh/cmu_03_02_uneven.bvh", sides(("l{0}", "r{0}"), ("Shldr", "ForeArm", "Hand"))),
    ("bvh/ad_jesse_dance.bvh", sides(CMU, ARM)),
    ("fbx/cmu_07_01_walk.fbx", sides(CMU, ARM)),
    ("gltf/CesiumMan_ozz.gltf", {tuple(f"Node_{n + i}" for i in range(3)) for n in (13, 16)}),
    ("gltf/KayKit_Knight.glb:Walking_A", sides(DOTS, ("upperarm", "lowerarm", "wrist"))),
    ("gltf/mannequiny.glb:run", sides(DOTS, ("upperarm", "lowerarm", "hand"))),
    ("gltf/Fox.glb:Walk", set()),
]


def load(bpy, data, clip):
    path, _, action = clip.partition(":")
    return clips.load(bpy, data / path, action or None)


def frame_range(bpy):
    return bpy.context.scene.frame_start, bpy.context.scene.frame_end


@pytest.mark.parametrize(("clip", "legs", "hips"), FOUND, ids=[row[0] for row in FOUND])
def test_finds_legs_and_hips_of_recorded_clips(bpy, addon, data, clip, legs, hips):
    armature = load(bpy, data, clip)
    found = addon("rig.find").find_legs(armature, frame_range(bpy))
    assert {leg.bones for leg in found} == legs
    assert addon("rig.body").find_hips(armature, found) == hips


@pytest.mark.parametrize(("bones", "found"), [(("thigh", "shin", "foot"), True), (("a", "b", "c"), False)])
def test_names_tell_legs_where_weapons_or_props_hang_lower(bpy, addon, bones, found):
    walker = biped.make_walker(bpy)
    with biped.editing(bpy, walker) as edited:
        biped.add_bone(edited, "spear", edited["chest"], (0.5, 0.0, -0.6), (0.5, 0.0, -0.7))
    for side in "LR":
        for old, new in zip(("thigh", "shin", "foot"), bones, strict=True):
            walker.data.bones[f"{old}.{side}"].name = f"{new}.{side}"
    if not found:
        with pytest.raises(addon("errors").Refusal, match="hangs down to the ground"):
            addon("rig.find").find_legs(walker, frame_range(bpy))
        return
    legs = addon("rig.find").find_legs(walker, frame_range(bpy))
    assert [leg.foot for leg in legs] == ["foot.L", "foot.R"]


@pytest.mark.parametrize(("clip", "arms"), ARMS, ids=[row[0] for row in ARMS])
def test_finds_arms_beside_the_legs(bpy, addon, data, clip, arms):
    armature = load(bpy, data, clip)
    found = addon("rig.find").find_arms(armature, addon("rig.find").find_legs(armature, frame_range(bpy)))
    assert {arm.bones for arm in found[:2]} == arms
    assert not any(arm.is_leg or arm.toe for arm in found)


@pytest.mark.parametrize("kind", ["human", "basic_human"])
def test_finds_arms_of_metarigs(bpy, addon, kind):
    armature = metarig(bpy, kind)
    found = addon("rig.find").find_arms(armature, addon("rig.find").find_legs(armature, (1, 1)))
    assert {arm.bones for arm in found} == sides(("{0}.L", "{0}.R"), ("upper_arm", "forearm", "hand"))


RIGS = [
    "fbx/cmu_07_01_walk.fbx",
    "fbx/ozz_pab_walk.fbx",
    "gltf/CesiumMan_ozz.gltf",
    "gltf/Fox.glb",
    "gltf/KayKit_Knight.glb",
    "gltf/RobotExpressive_raylib.glb",
    "gltf/greenman.glb",
    "gltf/mannequiny.glb",
]


@pytest.mark.parametrize("rig", RIGS)
def test_every_action_of_a_rig_finds_the_same_limbs_and_none_is_stepped(bpy, addon, data, monkeypatch, rig):
    armature, find = load(bpy, data, rig), addon("rig.find")
    monkeypatch.setattr(find, "heads", lambda *_: pytest.fail("frames are stepped"))
    limbs = set()
    for action in bpy.data.actions:
        addon("batch.read").play(armature, action)
        try:
            legs = find.find_legs(armature, (1, 2))
            limbs.add((*legs, *find.find_arms(armature, legs)))
        except addon("errors").Refusal as refusal:
            limbs.add(str(refusal))
    assert len(limbs) == 1


@pytest.mark.parametrize("clip", sorted(row[0] for row in FOUND if row[0].startswith("bvh/")))
def test_legs_that_are_named_are_found_without_stepping_frames(bpy, addon, data, monkeypatch, clip):
    armature, find = load(bpy, data, clip), addon("rig.find")
    monkeypatch.setattr(find, "heads", lambda *_: pytest.fail("frames are stepped"))
    assert {leg.bones for leg in find.find_legs(armature, (1, 2))} == next(row[1] for row in FOUND if row[0] == clip)


def metarig(bpy, kind):
    import addon_utils

    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    return bpy.context.object


@pytest.mark.parametrize(
    ("kind", "legs"),
    [
        ("human", ["thigh.L shin.L foot.L toe.L"]),
        ("basic_human", ["thigh.L shin.L foot.L toe.L"]),
        ("basic_quadruped", ["front_thigh.L front_shin.L front_foot.L front_toe.L", "thigh.L shin.L foot.L toe.L"]),
        ("horse", ["upper_arm.L forearm.L forefoot.L f_toe.L", "thigh.L lower_leg.L hind_foot.L r_toe.L"]),
        ("cat", ["upper_arm.L forearm.L hand.L f_toe.L", "thigh.L shin.L foot.L r_toe.L"]),
        ("bird", ["thigh.L shin.L foot.L toe.L"]),
    ],
)
def test_finds_legs_of_metarigs_without_animation(bpy, addon, kind, legs):
    found = addon("rig.find").find_legs(metarig(bpy, kind), (1, 1))
    both = {tuple(side.split()) for leg in legs for side in (leg, leg.replace(".L", ".R"))}
    assert {leg.bones for leg in found} == both


def test_refuses_an_animal_without_legs(bpy, addon):
    with pytest.raises(addon("errors").Refusal, match="metarig has no legs: no mirrored pair"):
        addon("rig.find").find_legs(metarig(bpy, "shark"), (1, 1))


def test_refuses_an_armature_without_bones(bpy, addon):
    bpy.ops.object.armature_add()
    with biped.editing(bpy, bpy.context.object) as bones:
        bones.remove(bones[0])
    with pytest.raises(addon("errors").Refusal, match="has no bones"):
        addon("rig.find").find_legs(bpy.context.object, (1, 1))


def test_refuses_a_generated_rig(bpy, addon):
    rig = metarig(bpy, "basic_human")
    # Rigify marks its rigs so; generating one in a test keeps bpy 4.5 from ending its process.
    rig.data["rig_id"] = "1a2b3c"
    with pytest.raises(addon("errors").Refusal, match="generated Rigify rig"):
        addon("rig.find").find_legs(rig, (1, 1))


@pytest.fixture
def walker(bpy, addon, data):
    """A walking CMU skeleton, its legs, and the module under test."""
    armature = load(bpy, data, "bvh/cmu_131_01_startwalkstop.bvh")
    return armature, addon("rig.find").find_legs(armature, (1, 400)), addon("rig.find")


def test_names_do_not_matter(bpy, walker):
    armature, legs, chains = walker
    renamed = {bone.name: f"b{(7 * index) % 31:02}" for index, bone in enumerate(armature.data.bones)}
    for bone in list(armature.data.bones):
        bone.name = "old " + bone.name
    for old, new in renamed.items():
        armature.data.bones["old " + old].name = new
    expected = [tuple(renamed[name] for name in leg.bones) for leg in legs]
    assert [leg.bones for leg in chains.find_legs(armature, (1, 400))] == expected


def test_place_turn_and_scale_of_the_object_do_not_matter(bpy, walker):
    armature, legs, chains = walker
    armature.location, armature.rotation_euler.z, armature.scale = (30, -7, -100), 2.0, (0.01, 0.01, 0.01)
    assert chains.find_legs(armature, (1, 400)) == legs


def test_characters_of_one_rig_share_what_is_known_of_its_rest_pose(bpy, walker):
    """Finding limbs in a rest pose takes 2 to 10 ms, so that a crowd would take as long as its planning."""
    armature, _, chains = walker
    here = chains.rest_tree(armature)
    armature.location = (30.3, -7.1, -100.7)
    bpy.context.view_layer.update()
    assert chains.rest_tree(armature) is here


def test_a_pose_of_nan_does_not_hide_the_legs(bpy, walker):
    armature, legs, chains = walker
    curve = next(iter(fingerprint.curves_of(armature.animation_data.action)))
    curve.keyframe_points[0].co.y = math.nan
    curve.update()
    assert chains.find_legs(armature, (1, 400)) == legs


def add_bones(bpy, armature, parent, joints, name):
    """A row of unkeyed bones under a bone, at rest positions in armature space."""
    with biped.editing(bpy, armature) as bones:
        above = bones[parent]
        for index, (head, tail) in enumerate(zip(joints, joints[1:], strict=False)):
            bone = bones.new(f"{name}{index}")
            bone.head, bone.tail, bone.parent = head, tail, above
            above = bone


def copy_legs(bpy, armature, legs):
    """Further bones in the places of legs, and by the names of these theirs."""
    for leg in legs:
        joints = [tuple(armature.data.bones[name].head_local) for name in leg.bones]
        above = armature.data.bones[leg.thigh].parent.name
        add_bones(bpy, armature, above, [*joints, (0, 0, -20)], "LegFoot" + leg.thigh)
    return {name: f"LegFoot{leg.thigh}{index}" for leg in legs for index, name in enumerate(leg.bones)}


def test_a_still_copy_of_the_legs_is_not_taken_for_them(bpy, walker):
    armature, legs, chains = walker
    copy_legs(bpy, armature, legs)
    assert chains.find_legs(armature, (1, 400)) == legs


def test_legs_are_found_anew_when_a_copy_of_them_gets_their_keys(bpy, walker):
    armature, legs, chains = walker
    copies = copy_legs(bpy, armature, legs)
    assert chains.find_legs(armature, (1, 400)) == legs
    for curve in fingerprint.curves_of(armature.animation_data.action):
        for name, copy in copies.items():
            curve.data_path = curve.data_path.replace(f'"{name}"', f'"{copy}"')
    expected = [tuple(copies[name] for name in leg.bones) for leg in legs]
    assert [leg.bones for leg in chains.find_legs(armature, (1, 400))] == expected


@pytest.mark.parametrize("change", ["place", "parent"])
def test_legs_are_found_anew_after_a_change_of_the_rest_pose(bpy, walker, addon, change):
    armature, legs, chains = walker
    with biped.editing(bpy, armature) as bones:
        for leg in legs:
            if change == "place":
                # A thigh ten times as long as the shin.
                bones[leg.shin].head = bones[leg.thigh].head.lerp(bones[leg.foot].head, 10.0 / 11.0)
            else:
                bones[leg.foot].parent = bones[leg.thigh]
    try:
        assert chains.find_legs(armature, (1, 400)) != legs
    except addon("errors").NoLegs:
        pass


def test_a_skirt_is_not_taken_for_legs(bpy, walker):
    armature, legs, chains = walker
    for side in (-1.5, 1.5):
        add_bones(bpy, armature, "Hips", [(side, 0, -height) for height in (1, 5.5, 10, 14.5, 18)], f"Leg{side}")
    assert chains.find_legs(armature, (1, 400)) == legs


def test_wings_that_spread_from_above_the_hips_are_no_legs(bpy, addon):
    armature = biped.make_walker(bpy)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        joints = [(sign * (0.2 + 0.5 * step), -0.2, 1.4 - 0.4 * step) for step in range(4)]
        add_bones(bpy, armature, "chest", [*joints, (sign * 2.2, -0.2, 0.1)], f"wing.{side}")
    assert [leg.foot for leg in addon("rig.find").find_legs(armature, (1, biped.LAST))] == ["foot.L", "foot.R"]


def test_six_legs_on_one_bone_are_all_found(bpy, addon):
    bones = [("body", None, (0.0, -0.5, 0.6), (0.0, 0.5, 0.6))]
    for leg, (sign, y) in enumerate(product((1.0, -1.0), (0.5, 0.0, -0.5))):
        joints = [(sign * x, y, z) for x, z in ((0.2, 0.6), (0.35, 0.45), (0.3, 0.1), (0.35, 0.0))]
        names = ["body", f"upper{leg}", f"lower{leg}", f"end{leg}"]
        bones += zip(names[1:], names, joints, joints[1:], strict=False)
    armature = biped.make_bones(bpy, "Insect", bones)
    found = {leg.foot for leg in addon("rig.find").find_legs(armature, (1, 1))}
    assert found == {f"end{leg}" for leg in range(6)}


def test_tails_that_stand_behind_named_legs_on_their_bone_are_no_legs(bpy, addon):
    armature = biped.make_walker(bpy)
    for side, x in (("L", 0.2), ("R", -0.2)):
        add_bones(bpy, armature, "hips", [(x, 0.6 + 0.1 * step, 0.9 - 0.4 * step) for step in range(4)], f"tail.{side}")
    assert [leg.foot for leg in addon("rig.find").find_legs(armature, (1, biped.LAST))] == ["foot.L", "foot.R"]
