# SPDX-License-Identifier: GPL-3.0-or-later
"""Thighs and shins that are made of two bones in a line, as Rigify's deform bones and many game rigs have them."""

from __future__ import annotations

from itertools import product

import biped
import numpy as np
import pytest
from planted import heads, plant, record_of

NAMES = {"numbered": "{0}.{1}.001", "twist": "{0}Twist.{1}", "foreign": "{0[0]}{1}2"}
FRAMES = range(1, 62)


def split(bpy, armature, names, share=0.5):
    """Put a second bone into each thigh and shin, which carries the knee or the foot on."""
    with biped.editing(bpy, armature) as bones:
        for side in "LR":
            for part, below in (("thigh", "shin"), ("shin", "foot")):
                upper, second = bones[f"{part}.{side}"], bones.new(names.format(part, side))
                second.head, second.tail = upper.head.lerp(upper.tail, share), upper.tail.copy()
                second.roll, upper.tail, second.parent = upper.roll, second.head.copy(), upper
                bones[f"{below}.{side}"].parent = second


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_legs_bend_at_hip_and_knee_alone(bpy, walker, slope, names, share):
    plant(bpy)
    feet = heads(bpy, walker, FRAMES)
    bpy.ops.ik2bone.restore()
    split(bpy, walker, names, share)
    plant(bpy)
    np.testing.assert_allclose(heads(bpy, walker, FRAMES), feet, atol=1e-5)
    turned = {path.split('"')[1] for path in record_of(walker)["channels"]}
    assert turned == {"hips", *(f"{part}.{side}" for part in ("thigh", "shin", "foot", "toe") for side in "LR")}


@pytest.mark.parametrize("names", [NAMES["numbered"], NAMES["twist"]])
def test_names_tell_twist_bones_of_legs_that_do_not_move(bpy, walker, slope, addon, names):
    split(bpy, walker, names)
    legs = addon("rig.find").find_legs(walker, (10, 10))
    assert [leg.bones for leg in legs] == [
        tuple(f"{part}.{side}" for part in ("thigh", "shin", "foot", "toe")) for side in "LR"
    ]


NUMBERED = {
    "thigh": ("upperleg01", "upperleg02"),
    "shin": ("lowerleg01", "lowerleg02"),
}
COUNTED = {
    "thigh": ("Hip", "HipPart1"),
    "shin": ("Knee", "KneePart1"),
}


@pytest.mark.parametrize("names", [NUMBERED, COUNTED], ids=["as MakeHuman", "as Advanced Skeleton"])
def test_numbers_tell_the_parts_of_bones_that_are_named_like_legs(bpy, walker, slope, addon, names):
    split(bpy, walker, "{0}.{1}.001")
    for (old, new), side in product(names.items(), "LR"):
        for bone, name in zip((f"{old}.{side}", f"{old}.{side}.001"), new, strict=True):
            walker.data.bones[bone].name = f"{name}.{side}"
    tops = [name for name, _part in names.values()]
    legs = addon("rig.find").find_legs(walker, (10, 10))
    assert [leg.turned for leg in legs] == [tuple(f"{part}.{side}" for part in (*tops, "foot")) for side in "LR"]


def test_numbers_that_go_on_below_the_knee_tell_no_parts(bpy, walker, slope, addon):
    split(bpy, walker, "{0}.{1}.001")
    expected = {}
    for side in "LR":
        for number, bone in enumerate(("thigh", "thigh.001", "shin", "shin.001", "foot", "toe")):
            part, _dot, second = bone.partition(".")
            expected[bone, side] = f"link{number}.{side}"
            walker.data.bones[f"{part}.{side}" + (f".{second}" if second else "")].name = expected[bone, side]
    legs = addon("rig.find").find_legs(walker, FRAMES[:: len(FRAMES) - 1])
    assert [leg.turned for leg in legs] == [
        tuple(expected[bone, side] for bone in ("thigh", "shin", "foot")) for side in "LR"
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_bones_between_that_lie_at_the_next_joint_are_no_knees(bpy, walker, slope, addon, count):
    """Game rigs hang offset bones, named like the leg, over each of its bones, and helper bones beside these."""
    with biped.editing(bpy, walker) as bones:
        for side, name, _number in product("LR", ("shin", "foot"), range(count)):
            bone = bones[f"{name}.{side}"]
            bone.use_connect = False
            bone.parent = biped.add_bone(bones, f"{name}_offset.{side}", bone.parent, bone.head, bone.tail)
        for side in "LR":
            shin = bones[f"shin.{side}"]
            biped.add_bone(bones, f"rear shin.{side}", shin, shin.head.lerp(shin.tail, 0.3), shin.tail)
    legs = addon("rig.find").find_legs(walker, (10, 10))
    assert [leg.bones for leg in legs] == [
        tuple(f"{part}.{side}" for part in ("thigh", "shin", "foot", "toe")) for side in "LR"
    ]


def test_toes_lie_ahead_of_heels(bpy, walker, slope, addon):
    with biped.editing(bpy, walker) as bones:
        for side in "LR":
            foot, toe = bones[f"foot.{side}"], bones[f"toe.{side}"]
            heel = (foot.head.x, -0.05, 0.0)
            biped.add_bone(bones, f"back.{side}", foot, heel, (foot.head.x, -0.1, 0.0))
            toe.parent = biped.add_bone(bones, f"instep.{side}", foot, foot.head.lerp(foot.tail, 0.3), foot.tail)
            biped.add_bone(bones, f"tip.{side}", toe, toe.tail, 2.0 * toe.tail - toe.head)
    assert [leg.toe for leg in addon("rig.find").find_legs(walker, (10, 10))] == ["toe.L", "toe.R"]


def test_tips_of_short_toes_are_no_toes(bpy, walker, slope, addon):
    with biped.editing(bpy, walker) as bones:
        for side in "LR":
            toe = bones[f"toe.{side}"]
            tip = toe.head.lerp(toe.tail, 0.4)
            biped.add_bone(bones, f"tip.{side}", toe, tip, toe.tail)
    assert [leg.toe for leg in addon("rig.find").find_legs(walker, (10, 10))] == ["toe.L", "toe.R"]


def test_toes_begin_after_the_instep(bpy, walker, slope):
    plant(bpy)
    toes = heads(bpy, walker, FRAMES, ("toe.L", "toe.R"))
    bpy.ops.ik2bone.restore()
    with biped.editing(bpy, walker) as bones:
        for side in "LR":
            foot, toe = bones[f"foot.{side}"], bones[f"toe.{side}"]
            instep, tip = bones.new(f"instep.{side}"), bones.new(f"tip.{side}")
            instep.head, instep.tail, instep.parent = foot.head.lerp(foot.tail, 0.3), foot.tail, foot
            tip.head, tip.tail, tip.parent = toe.tail, 2.0 * toe.tail - toe.head, toe
            toe.parent = instep
    plant(bpy)
    np.testing.assert_allclose(heads(bpy, walker, FRAMES, ("toe.L", "toe.R")), toes, atol=1e-5)
    assert {path.split('"')[1] for path in record_of(walker)["channels"]} >= {"toe.L", "toe.R"}


def test_twist_bones_may_twist(bpy, walker, slope):
    split(bpy, walker, NAMES["twist"])
    bone = walker.pose.bones["thighTwist.L"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, -0.4), (61, 0.5)):
        bone.rotation_euler.y = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    plant(bpy)
    after = record_of(walker)["report"]["after"]
    assert after["drift"] < 1e-4 and after["penetration"] < 1e-4


def test_what_turns_a_twist_bone_is_refused(bpy, walker, slope, addon):
    split(bpy, walker, NAMES["twist"])
    legs = addon("rig.find").find_legs(walker, (1, 61))
    constraint = walker.pose.bones["thighTwist.L"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = walker, "foot.L"
    with pytest.raises(addon("errors").Refusal, match="bone thighTwist.L is under the active constraint Copy Rotation"):
        addon("rig.checks").check_chain(walker, legs)
    walker.pose.bones["thighTwist.L"].constraints.remove(constraint)
    walker.data.bones["shinTwist.R"].use_inherit_rotation = False
    with pytest.raises(addon("errors").Refusal, match="bone shinTwist.R does not inherit"):
        addon("rig.checks").check_chain(walker, legs)


def test_bones_in_one_place_are_one_knee(bpy, walker, slope):
    plant(bpy)
    feet = heads(bpy, walker, FRAMES)
    bpy.ops.ik2bone.restore()
    with biped.editing(bpy, walker) as bones:
        for side in "LR":
            thigh, shin = bones[f"thigh.{side}"], bones[f"shin.{side}"]
            shin.use_connect = False
            shin.parent = biped.add_bone(bones, f"double.{side}", thigh, shin.head, (0.0, 0.3, 0.5))
    with np.errstate(all="raise", under="ignore"):
        plant(bpy)
    np.testing.assert_allclose(heads(bpy, walker, FRAMES), feet, atol=1e-5)


def _small_figure(bpy, leg, arm):
    """A figure in a T pose with short straight limbs, broad shoulders and long feet, so that any bones in a row may be
    the two of a limb by their lengths.
    """
    rows = [("hips", None, (0, 0, 0.49), (0, 0, 0.6)), ("chest", "hips", (0, 0, 0.6), (0, 0, 1.1))]
    for side, x in (("Left", 1.0), ("Right", -1.0)):
        places = [(0.1 * x, 0, 0.49), (0.1 * x, 0, 0.29), (0.1 * x, 0, 0.09), (0.1 * x, -0.14, 0), (0.1 * x, -0.25, 0)]
        wide = [(0.03 * x, 0, 1), (0.2 * x, 0, 1), (0.4 * x, 0, 1), (0.6 * x, 0, 1), (0.7 * x, 0, 1)]
        for names, joints, parent in ((leg, places, "hips"), (arm, wide, "chest")):
            for name, head in zip(names, joints, strict=True):
                rows.append((side + name, parent, head, np.add(head, (0, 0, 0.05))))
                parent = side + name
    return biped.make_bones(bpy, "Figure", rows)


@pytest.mark.parametrize(
    "leg",
    [("UpLeg", "Leg"), ("Leg", "LowerLeg"), ("Leg1", "Leg2")],
    ids=["as Mixamo", "lower leg", "numbers"],
)
def test_lower_bones_named_after_upper_ones_are_no_parts_of_them(bpy, addon, leg):
    arm, find = ("Arm", "ForeArm", "Hand"), addon("rig.find")
    figure = _small_figure(bpy, (*leg, "Foot", "Toe", "End"), ("Shoulder", *arm, "Finger"))
    legs = find.find_legs(figure, (1, 1))
    for limbs, names in ((legs, (*leg, "Foot")), (find.find_arms(figure, legs), arm)):
        assert [limb.turned for limb in limbs] == [tuple(side + name for name in names) for side in ("Left", "Right")]
