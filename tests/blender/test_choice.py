# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs are chosen by the names of bones, by the selection, or by what is planted when nothing is said: the legs."""

from __future__ import annotations

from types import SimpleNamespace

import biped
import pytest
from scene import report_of

from demo import clips

LEGS = ["LeftHip", "RightHip"]
ARMS = ["LeftShoulder", "RightShoulder"]


@pytest.fixture
def walker(bpy, data):
    """A walking CMU skeleton."""
    return clips.load(bpy, data / "bvh/cmu_131_01_startwalkstop.bvh")


@pytest.fixture
def chosen(bpy, walker, addon):
    """A function that gives the uppermost bones of the limbs that are meant."""

    def choose(chains="AUTO", bones="", armature=walker):
        options = SimpleNamespace(chains=chains, bones=bones)
        choice = addon("rig.choose").choose_limbs(bpy.context, armature, options, (1, 400))
        return [limb.thigh for limb in choice.limbs]

    return choose


@pytest.fixture
def refused(addon, chosen):
    """A function that gives the sentence with which a choice is refused."""

    def refuse(**given):
        with pytest.raises(addon("errors").Refusal) as refusal:
            chosen(**given)
        return str(refusal.value)

    return refuse


@pytest.mark.parametrize(
    ("bones", "uppermost"),
    [
        ("Foot, left", LEGS[:1]),
        ("Foot, left,RightAnkle", LEGS),
        (" RightAnkle , Foot, left ", LEGS),
        ("RightAnkle,,", LEGS[1:]),
    ],
)
def test_names_of_bones_may_have_commas_in_them(walker, chosen, bones, uppermost):
    walker.data.bones["LeftAnkle"].name = "Foot, left"
    assert sorted(chosen(bones=bones)) == uppermost


@pytest.mark.parametrize("name", ["LeftAnkle ", " LeftAnkle", "Ankle,", "Left,  Ankle", "RightAnkle, left"])
@pytest.mark.parametrize("text", ["{}", "{},RightAnkle", "RightAnkle,{}", "RightAnkle, {}", " RightAnkle , {}"])
def test_names_of_bones_count_as_they_are(walker, chosen, name, text):
    walker.data.bones["LeftAnkle"].name = name
    assert sorted(chosen(bones=text.format(name))) == LEGS[: 1 + ("," in text)]


def test_a_bone_that_is_called_by_a_space_counts_only_where_it_is_written(addon):
    names_in = addon("errors").names_in
    assert names_in("", [" "]) == [] and names_in("a,,b, ,", [" ", "a", "b"]) == ["a", "b", " "]


def _select(bpy, armature, *names):
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    for bone in armature.pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name in names


@pytest.mark.parametrize(
    ("selected", "uppermost"),
    [
        ([], LEGS),
        (["RightKnee"], ["RightHip"]),
        (["RightToe", "LeftHip"], LEGS),
        (["Head"], LEGS),
        (["LeftElbow"], ["LeftShoulder"]),
        (["LeftElbow", "RightKnee"], ["RightHip", "LeftShoulder"]),
        (["LeftElbow", "RightWrist", "RightKnee", "LeftToe"], LEGS),
    ],
)
def test_auto_takes_the_limbs_of_selected_bones_where_those_are_some_else_the_legs(
    bpy, walker, chosen, selected, uppermost
):
    _select(bpy, walker, *selected)
    assert chosen() == uppermost


def test_legs_takes_all_legs_whatever_is_selected(bpy, walker, chosen):
    _select(bpy, walker, "RightKnee", "LeftElbow")
    assert chosen("LEGS") == LEGS


def test_selected_takes_the_selection_alone(bpy, walker, chosen, refused):
    _select(bpy, walker, "LeftAnkle")
    assert chosen("SELECTED") == ["LeftHip"]
    _select(bpy, walker, "LeftAnkle", "LeftElbow", "Head")
    assert chosen("SELECTED") == ["LeftHip", "LeftShoulder"]
    _select(bpy, walker)
    assert "no bones are selected" in refused(chains="SELECTED")
    _select(bpy, walker, "Head")
    assert "bone Head belongs to no limb" in refused(chains="SELECTED")


def test_three_selected_bones_of_the_trunk_are_no_limb(bpy, addon):
    armature, options = biped.make_walker(bpy), SimpleNamespace(chains="SELECTED", bones="")
    _select(bpy, armature, *armature.pose.bones.keys())
    choice = addon("rig.choose").choose_limbs(bpy.context, armature, options, (1, 61))
    assert [limb.thigh for limb in choice.limbs] == ["thigh.L", "thigh.R"]


def test_named_bones_override_the_selection(bpy, walker, chosen, refused):
    _select(bpy, walker, "LeftAnkle")
    assert chosen("SELECTED", "RightKnee") == ["RightHip"]
    assert chosen(bones=" LeftToe, RightHip ") == LEGS
    assert chosen(bones="LeftWrist,RightElbow") == ARMS
    assert "has no bone named Knee" in refused(bones="RightKnee, Knee")
    assert "bone Head belongs to no limb" in refused(bones="LeftHip, Head")
    assert "bones should be names" in refused(bones=" , ")


def test_any_three_bones_under_one_another_are_a_limb(bpy, walker, chosen, refused, addon):
    line = [bone.name for bone in reversed(walker.data.bones["Head"].parent_recursive)] + ["Head"]
    three = line[-4], line[-2], line[-1]
    assert chosen(bones=",".join(three)) == [three[0]]
    _select(bpy, walker, "LeftAnkle", *three)
    assert chosen("SELECTED") == ["LeftHip", three[0]]
    assert "belongs to no limb" in refused(bones=",".join(line[-2:]))
    assert "belongs to no limb" in refused(bones=",".join(line[-4:]))


def test_a_figure_of_arms_alone_has_limbs_too(bpy, chosen, refused):
    walker = biped.make_walker(bpy)
    with biped.editing(bpy, walker) as bones:
        for name in [bone.name for bone in bones if bone.name.split(".")[0] == "toe"]:
            bones.remove(bones[name])
        # Turned over, the legs reach up.
        for bone in bones:
            bone.head.z, bone.tail.z = -bone.head.z, -bone.tail.z
    walker.animation_data_clear()
    for side in "LR":
        for old, new in (("thigh", "a"), ("shin", "b"), ("foot", "c")):
            walker.data.bones[f"{old}.{side}"].name = f"{new}.{side}"
    assert "has no legs" in refused(armature=walker)
    assert chosen(bones="c.L", armature=walker) == ["a.L"]


@pytest.mark.parametrize("line", [("RightKnee", "RightAnkle", "RightToe"), ("RHipJoint", "RightHip", "RightAnkle")])
def test_three_named_bones_are_the_limb_as_it_is_named(bpy, walker, addon, line):
    choice = addon("rig.choose").choose_limbs(
        bpy.context, walker, SimpleNamespace(chains="AUTO", bones=",".join(reversed(line))), (1, 400)
    )
    assert [limb.bones[:3] for limb in choice.limbs] == [line]
    assert [limb.is_leg for limb in choice.limbs] == [True]
    assert {limb.thigh for limb in choice.every if limb.is_leg} == {"LeftHip", line[0]}


def test_three_named_bones_that_are_a_leg_keep_its_toes(bpy, walker, addon):
    options = SimpleNamespace(chains="AUTO", bones="LeftHip, LeftKnee, LeftAnkle")
    choice = addon("rig.choose").choose_limbs(bpy.context, walker, options, (1, 400))
    assert [limb.bones for limb in choice.limbs] == [("LeftHip", "LeftKnee", "LeftAnkle", "LeftToe")]
    assert choice.every[0] in choice.limbs and len(choice.every) == 2


FK = [f"{part}_fk.{side}" for side in "LR" for part in ("thigh", "shin", "foot")]


@pytest.fixture
def generated(bpy):
    """A walker with bones named and marked like those of a rig that Rigify generated, a control inside of its toes."""
    rig = biped.make_walker(bpy)
    for bone in rig.data.bones:
        part, dot, side = bone.name.partition(".")
        if dot:
            bone.name = f"MCH-toe_fk.{side}" if part == "toe" else f"{part}_fk.{side}"
    with biped.editing(bpy, rig) as bones:
        for side in "LR":
            control, outer = bones.new(f"toe_fk.{side}"), bones[f"MCH-toe_fk.{side}"]
            control.head, control.tail, control.parent = outer.head, outer.tail, outer
    rig.data["rig_id"] = "1a2b3c"
    return rig


@pytest.mark.parametrize(("named", "count"), [(FK, 2), (FK[:3], 1)])
def test_named_bones_that_look_like_legs_on_both_sides_are_legs(bpy, addon, generated, named, count):
    options = SimpleNamespace(chains="AUTO", bones=", ".join(named))
    choice = addon("rig.choose").choose_limbs(bpy.context, generated, options, (1, biped.LAST))
    assert [limb.bones for limb in choice.limbs] == [(*FK[:3], "toe_fk.L"), (*FK[3:], "toe_fk.R")][:count]
    assert all(limb.is_leg for limb in choice.limbs)
    assert {limb.thigh for limb in choice.every if limb.is_leg} == {"thigh_fk.L", "thigh_fk.R"}


def test_named_legs_of_a_generated_rig_stand_on_heels_and_balls(bpy, generated, slope):
    assert bpy.ops.ik2bone.plant_feet(bones=", ".join(FK)) == {"FINISHED"}
    report = report_of(generated)["report"]
    assert [foot["limb"] for foot in report["feet"]] == ["foot", "foot"]
    assert {span["part"] for span in report["spans"]} == {"heel", "ball"}
    assert report["after"]["drift"] < 0.002 and report["after"]["penetration"] < 0.002


def test_the_only_leg_of_a_figure_is_one_where_its_bones_are_named_so(bpy, addon):
    rig = biped.make_walker(bpy)
    with biped.editing(bpy, rig) as bones:
        for name in [bone.name for bone in bones if bone.name.endswith(".R")]:
            bones.remove(bones[name])
    options = SimpleNamespace(chains="AUTO", bones="thigh.L, shin.L, foot.L")
    choice = addon("rig.choose").choose_limbs(bpy.context, rig, options, (1, biped.LAST))
    assert [(limb.bones, limb.is_leg) for limb in choice.limbs] == [(("thigh.L", "shin.L", "foot.L", "toe.L"), True)]
