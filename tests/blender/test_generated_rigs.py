# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that Rigify generates, and rigs with the names of Auto-Rig Pro, planted through their controls."""

from __future__ import annotations

import biped
import control_rig
import numpy as np
import pytest
from biped import RISE, SIDES
from control_rig import RIGIFY
from planted import bone_curves, plant, record_of, refused, stepped, stood

FRAMES = range(1, biped.LAST + 1)
LEG = biped.THIGH + biped.SHIN


@pytest.mark.parametrize("kind", RIGIFY)
def test_legs_that_rigify_generates_are_planted(bpy, hill, kind):
    rig = control_rig.make_rigify_walker(bpy, **RIGIFY[kind])
    leg = control_rig.rigify_leg(rig)
    plant(bpy)
    report = record_of(rig)["report"]
    assert [foot["bone"] for foot in report["feet"]] == ["DEF-foot.L", "DEF-foot.R"]
    assert len(report["spans"]) > 3 and report["before"]["penetration"] > 0.1
    drift, under = stood(bpy, rig, -RISE)
    assert drift < 1e-3 * leg and under < 1e-3 * leg
    assert all(max(foot["off"]["ankle"], foot["off"]["ball"]) < 1e-3 * leg for foot in report["feet"])
    keyed = ("thigh_fk.L", "toe_fk.L") if "forward" in RIGIFY[kind] else ("foot_ik.L", "toe_ik.L")
    assert (report["feet"][0]["controls"][0], report["feet"][0]["controls"][-1]) == keyed


def test_generated_legs_are_planted_without_the_poles_that_they_do_not_use(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy)
    with biped.editing(bpy, rig) as bones:
        for side in SIDES:
            bones.remove(bones[f"thigh_ik_target.{side}"])
    plant(bpy)
    assert stood(bpy, rig, -RISE)[0] < 1e-3 * control_rig.rigify_leg(rig)


def test_stretch_of_generated_legs_is_told(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy)
    plant(bpy)
    assert any("as its bones are stretched by up to" in text for text in record_of(rig)["report"]["told"])


def test_fk_bones_of_a_generated_rig_can_still_be_named(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy, forward=1.0)
    names = [f"{part}_fk.{side}" for side in SIDES for part in ("thigh", "shin", "foot")]
    plant(bpy, bones=", ".join(names))
    report = record_of(rig)["report"]
    assert [foot["bone"] for foot in report["feet"]] == ["foot_fk.L", "foot_fk.R"]
    assert report["after"]["drift"] < 1e-3 * control_rig.rigify_leg(rig)


@pytest.mark.parametrize("forward", [0.0, 1.0])
def test_legs_called_as_auto_rig_pro_calls_them_are_planted(bpy, slope, forward):
    walker = control_rig.make_auto_rig_walker(bpy, forward=forward)
    plant(bpy)
    report = record_of(walker)["report"]
    assert [foot["bone"] for foot in report["feet"]] == ["foot.l", "foot.r"]
    assert report["feet"][0]["controls"][0] == ("c_thigh_fk.l" if forward else "c_foot_ik.l")
    assert len(report["spans"]) > 3 and report["before"]["penetration"] > 0.1
    drift, under = stood(bpy, walker, RISE)
    assert drift < 1e-3 * LEG and under < 1e-3 * LEG
    assert bone_curves(walker.animation_data.action, "c_root_master.x")
    assert walker.pose.bones["c_foot_ik.l"]["ik_fk_switch"] == forward


def test_a_generated_rig_without_legs_is_refused(bpy, hill):
    control_rig.make_rigify(bpy, "shark")
    refused(bpy, "is a generated Rigify rig: name its FK bones", frame_range="CURRENT")


@pytest.mark.parametrize("given", [{}, {"pole": True}, {"forward": 1.0}], ids=["inverse", "pole", "forward"])
def test_paws_that_rigify_generates_are_planted(bpy, hill, given):
    rig = control_rig.make_rigify_quadruped(bpy, **given)
    plant(bpy)
    report = record_of(rig)["report"]
    paws = ["DEF-foot.L", "DEF-foot.R", "DEF-front_foot.L", "DEF-front_foot.R"]
    assert [foot["bone"] for foot in report["feet"]] == paws
    assert report["before"]["penetration"] > 0.05 > 1e-3 * report["leg"] > report["after"]["penetration"]
    off = {name: max(foot["off"][name] for foot in report["feet"]) for name in ("ankle", "ball")}
    # Rigify stretches the hind feet: the more these are bent, the farther their ankles are off.
    assert off["ball"] < 1e-4 * report["leg"] and off["ankle"] < 2.1e-3 * report["leg"]
    told = any(text.startswith("controls do not bring DEF-foot.L quite") for text in report["told"])
    assert told == (report["feet"][0]["off"]["ankle"] > 1e-3 * report["leg"])
    heel, toe = "foot_heel_ik.L" in report["feet"][0]["controls"], "toe.L" in report["feet"][0]["controls"]
    assert (heel, toe) == (("forward" not in given), ("forward" in given))
    if "forward" not in given:
        assert max(stood(bpy, rig, -RISE)) < 2e-3 * report["leg"]


@pytest.mark.parametrize("forward", [0.0, 1.0])
def test_a_generated_hand_is_laid_on_a_wall_through_its_control(bpy, forward):
    rig = control_rig.make_rigify_walker(bpy)
    rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = forward
    wall = 0.9 * rig.data.bones["DEF-hand.L"].head_local.x
    biped.make_mesh(bpy, "Wall", [(wall, -10, 0), (wall, 10, 0), (wall, 10, 3), (wall, -10, 3)], [(0, 1, 2, 3)])
    plant(bpy, bones="DEF-forearm.L", direction="NEAREST", contacts="ALWAYS")
    foot = record_of(rig)["report"]["feet"][0]
    assert foot["bone"] == "DEF-hand.L"
    assert foot["controls"][0] == ("upper_arm_fk.L" if forward else "hand_ik.L")
    hand = stepped(bpy, rig, FRAMES, ["DEF-hand.L"])[:, 0]
    palm = hand[:, :3, :3] @ foot["ball"] + hand[:, :3, 3]
    np.testing.assert_allclose(palm[:, 0], wall, atol=1e-3)
