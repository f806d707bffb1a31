# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs made by hand whose legs follow controls: planted through these, judged by the legs' own bones."""

from __future__ import annotations

import biped
import control_rig
import fingerprint
import nla_scene
import numpy as np
import pytest
from biped import RISE, SIDES
from control_rig import HAND_MADE
from planted import between, bone_curves, joints, outcome_of, plant, record_of, refused, stepped, stood, values_of

FRAMES = range(1, biped.LAST + 1)
LEG = biped.THIGH + biped.SHIN


@pytest.mark.parametrize("kind", HAND_MADE)
def test_feet_of_hand_made_rigs_stand_where_the_report_says(bpy, slope, kind):
    walker = control_rig.make_ik_walker(bpy, **HAND_MADE[kind])
    plant(bpy)
    report = record_of(walker)["report"]
    assert len(report["spans"]) > 3 and report["before"]["penetration"] > 0.1
    drift, under = stood(bpy, walker, RISE)
    assert drift < 1e-3 * LEG and under < 1e-3 * LEG
    assert all(max(foot["off"].values()) < 1e-3 * LEG for foot in report["feet"])


def test_controls_take_the_keys_and_bones_that_follow_them_get_none(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    plant(bpy)
    action = walker.animation_data.action
    assert not any(bone_curves(action, f"{name}.{side}") for name in ("thigh", "shin", "foot") for side in SIDES)
    keyed = {curve.data_path.split('"')[1] for curve in fingerprint.curves_of(action) if len(curve.keyframe_points) > 1}
    assert {"hips", "foot_ik.L", "foot_ik.R", "toe.L", "toe.R"} <= keyed
    report = record_of(walker)["report"]
    assert report["feet"][0]["controls"] == ["foot_ik.L", "toe.L"]
    assert "foot.L was planted through its controls: foot_ik.L, toe.L" in report["told"]


def test_planting_twice_is_planting_once(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    plant(bpy)
    once = fingerprint.of_action(walker.animation_data.action)["curves"]
    plant(bpy)
    assert fingerprint.of_action(walker.animation_data.action)["curves"] == once


def test_a_control_that_is_needed_no_longer_becomes_what_it_was(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    source = values_of(walker, FRAMES)
    plant(bpy)
    plant(bpy, strength=0.0)
    after = values_of(walker, FRAMES)
    assert all(np.allclose(after[path], values, atol=1e-6) for path, values in source.items())


def test_restore_brings_back_the_source_and_the_pose(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    before = joints(bpy, walker)
    plant(bpy)
    assert np.abs(joints(bpy, walker) - before).max() > 0.05
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert walker.animation_data.action.name == "walk"
    np.testing.assert_allclose(joints(bpy, walker), before, atol=1e-6)


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE"])
def test_an_error_after_the_keys_takes_everything_back(bpy, slope, addon, monkeypatch, output):
    control_rig.make_ik_walker(bpy)
    before = fingerprint.of_scene(bpy)

    def fail(*_):
        raise addon("errors").Refusal("the test stops here")

    monkeypatch.setattr(addon("run.pipeline"), "tell_controls", fail)
    with pytest.raises(RuntimeError, match="the test stops here"):
        bpy.ops.ik2bone.plant_feet(output=output)
    assert fingerprint.of_scene(bpy) == before


def test_in_place_gives_the_same_poses_as_a_new_action(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    plant(bpy)
    planted = joints(bpy, walker)
    bpy.ops.ik2bone.restore()
    plant(bpy, output="IN_PLACE")
    np.testing.assert_allclose(joints(bpy, walker), planted, atol=1e-4)


def test_the_present_pose_is_planted_and_keyed_on_its_frame(bpy, slope, addon, options):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    scene = bpy.context.scene
    scene.frame_set(20)
    outcome = outcome_of(addon, bpy, [walker], options(frame_range="CURRENT"))
    assert all(max(foot["off"].values()) < 1e-3 * LEG for foot in outcome.reports[0]["feet"])
    scene.frame_set(21)
    scene.frame_set(20)
    for side in SIDES:
        ball = walker.pose.bones[f"toe.{side}"].head
        assert ball.z - RISE * ball.y == pytest.approx(0.02, abs=0.002)


def test_a_range_blends_in_and_out(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    before = joints(bpy, walker)
    plant(bpy, frame_range="CUSTOM", frame_start=10, frame_end=50, blend_in=8, blend_out=8)
    moved = np.linalg.norm(joints(bpy, walker) - before, axis=-1).max(axis=(1, 2))
    outside = np.r_[0:10, 49 : len(moved)]
    assert moved[outside].max() < 1e-6 and moved[30] > 0.05
    assert np.abs(np.diff(moved)).max() < 0.05


def test_a_moved_turned_and_scaled_armature_is_planted_in_world_space(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    walker.location, walker.rotation_euler, walker.scale = (2.0, 1.0, 0.4), (0.0, 0.0, 1.2), (2.0, 2.0, 2.0)
    plant(bpy)
    drift, under = stood(bpy, walker, RISE)
    assert drift < 2e-3 * LEG and under < 2e-3 * LEG


@pytest.mark.parametrize("bones", ["shin.L", "foot_ik.L", "knee.L"])
def test_a_control_names_its_leg_and_the_other_leg_stays(bpy, slope, bones):
    walker = control_rig.make_ik_walker(bpy)
    before = joints(bpy, walker)
    plant(bpy, bones=bones)
    moved = np.linalg.norm(joints(bpy, walker) - before, axis=-1).max(axis=(0, 2))
    assert moved[0] > 0.05 and moved[1] < 1e-6
    assert [foot["bone"] for foot in record_of(walker)["report"]["feet"]] == ["foot.L"]


def test_legs_planted_one_after_the_other_both_stand(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    plant(bpy, bones="shin.L, shin.R")
    plant(bpy, bones="shin.L", use_hips=False)
    drift, under = stood(bpy, walker, RISE)
    assert drift < 1e-3 * LEG and under < 1e-3 * LEG


def test_a_hand_is_laid_on_a_wall_through_its_control(bpy):
    walker = control_rig.make_ik_walker(bpy)
    control_rig.add_arms(bpy, walker)
    biped.make_mesh(bpy, "Wall", [(0.45, -10, 0), (0.45, 10, 0), (0.45, 10, 3), (0.45, -10, 3)], [(0, 1, 2, 3)])
    plant(bpy, bones="forearm.L", direction="NEAREST", contacts="ALWAYS")
    foot = record_of(walker)["report"]["feet"][0]
    assert foot["bone"] == "hand.L" and "hand_ik.L" in foot["controls"]
    hand = stepped(bpy, walker, FRAMES, ["hand.L"])[:, 0]
    palm = hand[:, :3, :3] @ foot["ball"] + hand[:, :3, 3]
    np.testing.assert_allclose(palm[:, 0], 0.45, atol=1e-3)


def ik_of(walker, side="L"):
    return walker.pose.bones[f"shin.{side}"].constraints["IK"]


def hold(walker, name):
    """Put a constraint on a bone that no profile explains."""
    walker.pose.bones[name].constraints.new("LIMIT_LOCATION").use_min_x = True


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda walker: setattr(ik_of(walker), "chain_count", 3),
            "bone thigh.L is moved by inverse kinematics on shin.L",
        ),
        (lambda walker: setattr(ik_of(walker), "chain_count", 1), "bone shin.L is under the active constraint IK"),
        (lambda walker: setattr(ik_of(walker), "use_tail", False), "bone thigh.L is moved by inverse kinematics"),
        (lambda walker: hold(walker, "thigh.L"), "bone thigh.L is under the active constraint Limit Location"),
        (lambda walker: hold(walker, "foot.L"), "bone thigh.L is moved by inverse kinematics on shin.L"),
        (lambda walker: hold(walker, "foot_ik.L"), "bone thigh.L is moved by inverse kinematics on shin.L"),
    ],
)
def test_what_no_profile_explains_is_refused(bpy, slope, change, sentence):
    walker = control_rig.make_ik_walker(bpy)
    change(walker)
    bpy.context.view_layer.update()
    refused(bpy, sentence)


def test_a_target_bone_that_was_removed_matters_only_on_the_limb_that_it_moved(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    with biped.editing(bpy, walker) as bones:
        bones.remove(bones["foot_ik.L"])
    refused(bpy, "bone thigh.L is moved by inverse kinematics on shin.L")
    plant(bpy, bones="foot.R")
    assert record_of(walker)["report"]["after"]["drift"] < 0.001


def test_a_target_that_is_another_object_is_refused(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    empty = biped.make_empty(bpy, "Target")
    ik_of(walker).target = empty
    refused(bpy, "bone thigh.L is moved by inverse kinematics on shin.L")


def test_toes_that_no_control_turns_are_told(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    for side in SIDES:
        walker.pose.bones[f"toe.{side}"].lock_rotation = (True, True, True)
    plant(bpy)
    assert (
        "no control turns bone toe.L, so these toes are not laid on the ground" in record_of(walker)["report"]["told"]
    )


@pytest.mark.parametrize("kind", HAND_MADE)
def test_a_layer_gives_the_same_poses_as_a_new_action(bpy, slope, kind):
    walker = control_rig.make_ik_walker(bpy, **HAND_MADE[kind])
    before = joints(bpy, walker)
    plant(bpy)
    expected = joints(bpy, walker)
    bpy.ops.ik2bone.restore()
    for _ in range(2):
        plant(bpy, output="NLA_LAYER")
        assert np.abs(joints(bpy, walker) - expected).max() < 1e-4 * LEG < np.abs(before - expected).max()
    bpy.ops.ik2bone.restore()
    np.testing.assert_array_equal(joints(bpy, walker), before)


@pytest.mark.parametrize("given", [{}, {"bones": "foot.L"}, between(15, 44)], ids=["all", "one leg", "some frames"])
@pytest.mark.parametrize("kind", ["pole ahead", "foot keyed under the shin"])
def test_planting_twice_by_a_layer_is_planting_once(bpy, slope, kind, given):
    walker, found = control_rig.make_ik_walker(bpy, **HAND_MADE[kind]), []
    for _ in range(2):
        plant(bpy, output="NLA_LAYER", **given)
        found.append(fingerprint.of_action(nla_scene.layers_of(walker)[0].action)["curves"])
    assert found[1] == found[0]


@pytest.mark.parametrize("rides", [None, "CHILD_OF"])
def test_a_layer_gives_the_same_poses_where_a_second_run_plants_one_leg(bpy, slope, rides):
    walker = control_rig.make_ik_walker(bpy, rides=rides)
    found = []
    for output in ("NEW_ACTION", "NLA_LAYER"):
        plant(bpy, output=output)
        plant(bpy, output=output, bones="foot.L", use_slope=False)
        found.append(joints(bpy, walker))
        bpy.ops.ik2bone.restore()
    assert np.abs(found[1] - found[0]).max() < 1e-4 * LEG


@pytest.mark.parametrize("again", [{}, {"bones": "foot.L", "use_slope": False}], ids=["both legs", "one leg"])
@pytest.mark.parametrize(
    "weak", [{"influence": 0.3}, {"use_animated_influence": False, "blend_in": biped.LAST}], ids=str
)
def test_a_layer_is_planted_the_same_however_weak_it_is(bpy, slope, again, weak):
    walker = control_rig.make_ik_walker(bpy, rides="CHILD_OF")
    for _ in range(2):
        plant(bpy, output="NLA_LAYER", **again)
    (strip,), expected = nla_scene.layers_of(walker), fingerprint.of_scene(bpy)["actions"]["walk.layer"]["curves"]
    for name, value in weak.items():
        setattr(strip, name, value)
    before = nla_scene.nla_of(walker)
    plant(bpy, output="NLA_LAYER", **again)
    assert fingerprint.of_scene(bpy)["actions"]["walk.layer"]["curves"] == expected
    assert nla_scene.nla_of(walker) == before


def test_controls_of_feet_are_no_trunk_however_many_bones_they_carry(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, foot="rolled")
    plant(bpy)
    action = walker.animation_data.action
    assert bone_curves(action, "hips") and not bone_curves(action, "root")
