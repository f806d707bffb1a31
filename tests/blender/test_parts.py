# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting some frames or one leg: planned from the whole action, written only there, and fitting what stays."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from planted import heads, outcome_of, plant, record_of, values_of

FRAMES = np.arange(1, biped.LAST + 1)
JOINTS = ("foot.L", "toe.L", "foot.R", "toe.R")


def _part(first, last):
    return {"frame_range": "CUSTOM", "frame_start": first, "frame_end": last}


def _largest_change(before, after):
    assert before.keys() == after.keys()
    return max(np.abs(np.subtract(before[name], after[name])).max() for name in before)


@pytest.mark.parametrize(
    "given", [_part(20, 40), _part(25, 26), {"bones": "foot.L"}, {"bones": "foot.R"} | _part(9, 30)]
)
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_planting_a_part_of_a_planted_action_again_changes_nothing(bpy, slope, mode, given):
    walker = biped.make_walker(bpy, mode=mode)
    plant(bpy)
    halves = np.arange(1.0, biped.LAST, 0.5)
    before, feet = values_of(walker, halves), heads(bpy, walker, FRAMES, JOINTS)
    plant(bpy, **given)
    assert _largest_change(before, values_of(walker, halves)) < 1e-5
    np.testing.assert_allclose(heads(bpy, walker, FRAMES, JOINTS), feet, atol=1e-5)
    assert record_of(walker)["report"]["after"]["drift"] < 1e-4


@pytest.mark.parametrize(("mode", "first"), [("QUATERNION", None), ("YZX", {"strength": 0.3})])
def test_planting_a_part_twice_equals_planting_it_once(bpy, slope, mode, first):
    walker = biped.make_walker(bpy, mode=mode)
    biped.thin(walker)
    if first:
        plant(bpy, **first)
    for given in (_part(20, 41), {"bones": "foot.L"} | _part(9, 30), {"use_hips": False} | _part(30, 50)):
        plant(bpy, **given)
        once = fingerprint.of_action(walker.animation_data.action)["curves"]
        for _ in range(2):
            plant(bpy, **given)
            assert fingerprint.of_action(walker.animation_data.action)["curves"] == once


def _leave_keys(armature, first, last, extrapolation):
    """Leave keys of a few frames only on every curve but those of the head, and let it go on beyond them."""
    armature.pose.bones["head"].keyframe_insert("location", frame=1)
    armature.pose.bones["head"].keyframe_insert("location", frame=biped.LAST)
    for curve in fingerprint.curves_of(armature.animation_data.action):
        if "head" not in curve.data_path:
            curve.extrapolation = extrapolation
            for point in [p for p in curve.keyframe_points if not first <= p.co.x <= last][::-1]:
                curve.keyframe_points.remove(point)
            curve.update()


def _check_part(bpy, armature, first, last):
    """Plant some frames, twice: whole frames outside stay, and the second time nothing changes."""
    outside = [frame for frame in FRAMES if not first <= frame <= last]
    before = values_of(armature, outside)
    plant(bpy, **_part(first, last))
    once = fingerprint.of_action(armature.animation_data.action)["curves"]
    after = values_of(armature, outside)
    assert max(np.abs(np.subtract(before[name], after[name])).max() for name in before) <= 1e-6
    plant(bpy, **_part(first, last))
    assert fingerprint.of_action(armature.animation_data.action)["curves"] == once
    assert not any("by hand" in sentence for sentence in record_of(armature)["report"]["told"])


@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT", "BOUNCE", "ELASTIC"])
@pytest.mark.parametrize(("mode", "span"), [("QUATERNION", (20, 40)), ("YZX", (24, 61)), ("AXIS_ANGLE", (25, 26))])
def test_frames_beside_a_part_stay_between_keys_that_lie_far_apart(bpy, slope, mode, span, interpolation):
    walker = biped.make_walker(bpy, mode=mode)
    biped.thin(walker, interpolation=interpolation)
    _check_part(bpy, walker, *span)


@pytest.mark.parametrize("extrapolation", ["CONSTANT", "LINEAR"])
@pytest.mark.parametrize("keyed", [(1, 12), (10, 28), (27, 30), (33, 50), (45, 61)])
def test_frames_beside_a_part_stay_where_there_are_no_keys(bpy, slope, keyed, extrapolation):
    walker = biped.make_walker(bpy)
    _leave_keys(walker, *keyed, extrapolation)
    _check_part(bpy, walker, 20, 40)


def _steps_told(armature):
    return [sentence for sentence in record_of(armature)["report"]["told"] if "within the action" in sentence]


def test_ends_within_the_action_are_told_where_limbs_step(bpy, walker, slope):
    stands = heads(bpy, walker, (20, 40), JOINTS[::2])
    plant(bpy, **_part(20, 40))
    moved = np.linalg.norm(heads(bpy, walker, (20, 40), JOINTS[::2]) - stands, axis=-1).max()
    (sentence,) = _steps_told(walker)
    assert "at frame 20 and 40" in sentence
    assert float(sentence.split("up to ")[1].split()[0]) >= 0.99 * moved
    plant(bpy, **_part(20, 40))
    assert _steps_told(walker) == [sentence]
    plant(bpy)
    assert not _steps_told(walker)
    plant(bpy, **_part(20, 40))
    assert not _steps_told(walker)


def test_jump_out_of_a_calibration_pose_is_not_told_where_the_planted_frames_begin(bpy, walker, slope):
    for bone in ("thigh.L", "thigh.R"):
        biped.key_turn(walker.pose.bones[bone], -1.2, 0)
    plant(bpy, **_part(1, biped.LAST))
    assert not record_of(walker)["report"]["told"]


def test_one_leg_of_a_real_walk_planted_again_stays_as_it_was(bpy, data, slope):
    from demo.clips import load

    armature = load(bpy, data / "gltf/KayKit_Knight.glb", "Walking_A")
    bpy.context.view_layer.objects.active = armature
    given = {"surface": slope.name, "strength": 0.7}
    plant(bpy, **given)
    report = record_of(armature)["report"]
    frames = np.arange(report["frames"][0], report["frames"][1] + 1)
    before = values_of(armature, frames)
    for foot in report["feet"]:
        plant(bpy, bones=foot["bone"], **given)
        assert _largest_change(before, values_of(armature, frames)) < 1e-5


def test_a_leg_planted_again_stands_under_hips_that_were_moved(bpy, walker, slope):
    plant(bpy, strength=0.6)
    hips = heads(bpy, walker, FRAMES, ("hips",))
    plant(bpy, bones="foot.L")
    np.testing.assert_array_equal(heads(bpy, walker, FRAMES, ("hips",)), hips)
    after = record_of(walker)["report"]["after"]
    assert after["drift"] < 1e-4 and after["penetration"] < 1e-4


@pytest.mark.parametrize("off", [-2e-5, 2e-5])
def test_keys_that_are_rounded_off_their_frames_add_no_frame_at_the_ends(bpy, walker, slope, off):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in curve.keyframe_points:
            point.co.x += off
    assert walker.animation_data.action.frame_range[:] != (1.0, biped.LAST)
    plant(bpy)
    assert record_of(walker)["report"]["frames"] == [1, biped.LAST]


def test_two_frames_are_planted_like_the_whole_there(bpy, walker, slope):
    plant(bpy)
    whole = heads(bpy, walker, (30, 31), JOINTS)
    plant(bpy, strength=0.0)
    plant(bpy, **_part(30, 31))
    np.testing.assert_allclose(heads(bpy, walker, (30, 31), JOINTS), whole, atol=1e-5)
    assert record_of(walker)["report"]["frames"] == [30, 31]


def test_contacts_are_those_of_the_whole_action_and_of_all_planted_feet(bpy, walker, slope):
    plant(bpy)
    contacts = record_of(walker)["contacts"]
    plant(bpy, bones="foot.R", **_part(30, 31))
    places = [_places(contacts), _places(record_of(walker)["contacts"])]
    assert {place[0] for place in places[0]} == {"foot.L", "foot.R"}
    assert places[1] == places[0]


def _places(spans):
    return sorted((span["bone"], span["leg"], span["part"], span["start"], span["end"]) for span in spans)


def _edit_source(source):
    """Turn the chest, which the source did not do before, and let a hip curve swell."""
    bag = fingerprint.bags_of(source)[0]
    curve = bag.fcurves.new('pose.bones["chest"].rotation_quaternion', index=1)
    for frame in (1, 40):
        curve.keyframe_points.insert(frame, 0.01 * frame, options={"FAST"}).interpolation = "BOUNCE"
    noise = bag.fcurves.find('pose.bones["hips"].location', index=0).modifiers.new("NOISE")
    noise.strength, noise.use_restricted_range, noise.frame_start, noise.frame_end = 0.02, True, 10.0, 20.0
    envelope = curve.modifiers.new("ENVELOPE")
    envelope.control_points.add(5.0)
    envelope.control_points.foreach_set("min", [-0.5])


def test_planting_an_edited_source_takes_everything_afresh(bpy, walker, slope):
    source = walker.animation_data.action
    plant(bpy)
    planted = walker.animation_data.action
    fingerprint.curves_of(planted)[-1].keyframe_points[3].co.y += 1.0
    fingerprint.bags_of(planted)[0].fcurves.new("location", index=1).keyframe_points.insert(3, 1.0)
    bpy.ops.ik2bone.restore()
    _edit_source(source)
    plant(bpy, **_part(10, 50))
    assert walker.animation_data.action == planted and planted.name == "walk.planted"
    rewritten = fingerprint.of_action(planted)["curves"]
    bpy.ops.ik2bone.restore()
    planted.user_clear()
    bpy.data.actions.remove(planted)
    plant(bpy, **_part(10, 50))
    assert fingerprint.of_action(walker.animation_data.action)["curves"] == rewritten


def test_keys_made_by_hand_anywhere_are_counted_before_an_action_is_planted_afresh(bpy, walker, slope, options, addon):
    plant(bpy)
    walker.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=20)
    again = outcome_of(addon, bpy, [walker], options())
    assert not any("by hand" in warning for warning in again.warnings)
    bpy.ops.ik2bone.restore()
    afresh = outcome_of(addon, bpy, [walker], options())
    assert "4 keys made by hand were replaced" in afresh.warnings


def test_untouched_copies_of_the_source_s_keys_are_not_taken_for_hand_made(bpy, walker, slope, options, addon):
    plant(bpy, **_part(20, 40))
    outcome = outcome_of(addon, bpy, [walker], options())
    assert not any("by hand" in warning for warning in outcome.warnings)
