# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks and mutes on bones and curves: told where keys pass over them, refused where keys would be lost."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from planted import heads, outcome_of, plant, record_of, refused, values_of

FRAMES = np.arange(1, biped.LAST + 1)


def told(armature):
    return record_of(armature)["report"]["told"]


def curve_of(armature, bone, index=0):
    bag = fingerprint.bags_of(armature.animation_data.action)[0]
    return bag.fcurves.find(f'pose.bones["{bone}"].rotation_quaternion', index=index)


def test_nothing_is_told_of_locks_where_there_are_none(bpy, walker, slope):
    plant(bpy)
    assert "locked" not in " ".join(told(walker)) and "muted" not in " ".join(told(walker))


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE"])
def test_locks_on_bones_are_told_by_name(bpy, walker, slope, output):
    for name in ("shin.L", "foot.R"):
        walker.pose.bones[name].lock_rotation = (False, True, False)
    walker.pose.bones["chest"].lock_rotation = (True, True, True)
    plant(bpy, output=output)
    assert [text for text in told(walker) if "locked" in text] == [
        "locked channels were keyed on the bones: shin.L, foot.R"
    ]


@pytest.mark.parametrize(("mode", "counts"), [("QUATERNION", True), ("XYZ", False)])
def test_the_lock_of_w_counts_where_there_is_one(bpy, slope, mode, counts):
    walker = biped.make_walker(bpy, mode=mode)
    walker.pose.bones["shin.L"].lock_rotation_w = True
    plant(bpy)
    assert ("locked channels were keyed on the bones: shin.L" in told(walker)) == counts


def test_locks_on_bones_are_told_of_a_pose_too(bpy, walker, slope, options, addon):
    walker.pose.bones["shin.L"].lock_rotation = (True, True, True)
    outcome = outcome_of(addon, bpy, [walker], options(frame_range="CURRENT"))
    assert "locked channels were keyed on the bones: shin.L" in outcome.warnings


@pytest.mark.parametrize("owner", ["curve", "group"])
def test_locked_curves_are_told_and_stay_locked_in_the_source(bpy, walker, slope, owner):
    curve, source = curve_of(walker, "shin.L"), walker.animation_data.action
    (curve if owner == "curve" else curve.group).lock = True
    before = fingerprint.of_action(source)["curves"]
    plant(bpy)
    assert "locked F-curves were replaced on the bones: shin.L" in told(walker)
    assert fingerprint.of_action(source)["curves"] == before
    bpy.ops.ik2bone.restore()
    refused(bpy, "the F-curve of .*shin.L is locked", output="IN_PLACE")


def test_muted_curves_are_told_and_heard_in_the_planted_action_alone(bpy, walker, slope):
    for index in range(4):
        curve_of(walker, "shin.L", index).mute = True
    before = values_of(walker, FRAMES)
    plant(bpy)
    assert "muted F-curves were replaced on the bones: shin.L" in told(walker)
    assert not curve_of(walker, "shin.L").mute
    bpy.ops.ik2bone.restore()
    assert curve_of(walker, "shin.L").mute
    assert values_of(walker, FRAMES) == before
    refused(bpy, "the F-curve of .*shin.L is muted", output="IN_PLACE")


def test_a_second_run_tells_the_same_of_locked_and_muted_curves(bpy, walker, slope):
    curve_of(walker, "shin.L").lock = curve_of(walker, "shin.R").mute = True
    plant(bpy)
    once = record_of(walker)
    plant(bpy)
    assert record_of(walker) == once
    curve_of(walker, "foot.L").lock = True
    plant(bpy)
    assert "locked F-curves were replaced on the bones: shin.L, foot.L" in told(walker)


def test_a_muted_group_is_planted_as_blender_shows_it(bpy, walker, slope):
    source = walker.animation_data.action
    moved = heads(bpy, walker, FRAMES)
    fingerprint.bags_of(source)[0].groups["shin.L"].mute = True
    passed_over = np.abs(heads(bpy, walker, FRAMES) - moved).max() > 1e-3
    plant(bpy)
    assert ("muted F-curves were replaced on the bones: shin.L" in told(walker)) == passed_over
    assert fingerprint.bags_of(source)[0].groups["shin.L"].mute
    report = record_of(walker)["report"]
    assert report["after"]["penetration"] < 1e-4
    once = heads(bpy, walker, FRAMES)
    plant(bpy)
    np.testing.assert_allclose(heads(bpy, walker, FRAMES), once, atol=1e-6)
