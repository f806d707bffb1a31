# SPDX-License-Identifier: GPL-3.0-or-later
"""Sparse keys on controls of inverse kinematics: few enough for hands, and the leg's own bones hardly notice."""

from __future__ import annotations

import biped
import control_rig
import fingerprint
import numpy as np
import pytest
from planted import heads, outcome_of, plant, record_of, refused, values_of

FRAMES = np.arange(1, biped.LAST + 1)
SPARSE = {"sparse_keys": True}
# What the bones of a leg may be off, in leg lengths.
RIGHT = 1e-3

CONTROL = "foot_ik"


@pytest.fixture(params=["pole ahead", "pole aside", "Euler angles", "foot rolls under its control", "Rigify"])
def rig(bpy, request):
    """A rig on a slope, the bones of its leg, and the length of the leg."""
    if request.param == "Rigify":
        request.getfixturevalue("hill")
        armature = control_rig.make_rigify_walker(bpy)
        return armature, [f"DEF-{name}" for name in biped.LEG], control_rig.rigify_leg(armature)
    request.getfixturevalue("slope")
    armature = control_rig.make_ik_walker(bpy, **control_rig.HAND_MADE[request.param])
    return armature, biped.LEG, biped.THIGH + biped.SHIN


def joints(bpy, armature, bones):
    return heads(bpy, armature, FRAMES, [f"{bone}.{side}" for bone in bones for side in "LR"])


def keyed(armature, bone):
    """The frames of the keys of a bone's location, the same for all components."""
    curves = [c for c in fingerprint.curves_of(armature.animation_data.action) if c.data_path.endswith("location")]
    frames = [[point.co.x for point in c.keyframe_points] for c in curves if f'"{bone}"' in c.data_path]
    assert len(frames) == 3 and frames[0] == frames[1] == frames[2]
    return frames[0]


def standing(armature, foot):
    """The first and last frames on which heel and ball of a foot stand both."""
    spans = [span for span in record_of(armature)["report"]["spans"] if span["bone"] == foot]
    both = np.zeros((2, len(FRAMES) + 2), bool)
    for span in spans:
        both[int(span["part"] == "ball"), span["start"] : span["end"] + 1] = True
    changes = np.flatnonzero(np.diff(both.all(axis=0).astype(int)))
    return [(int(start) + 1, int(end)) for start, end in changes.reshape(-1, 2) if end - start > 2]


def test_the_leg_s_own_bones_stay_where_keys_on_every_frame_put_them(bpy, rig):
    armature, bones, leg = rig
    plant(bpy)
    dense = joints(bpy, armature, bones)
    plant(bpy, **SPARSE)
    assert np.linalg.norm(joints(bpy, armature, bones) - dense, axis=-1).max() < RIGHT * leg
    report = record_of(armature)["report"]
    assert max(report["after"][name] for name in ("drift", "penetration")) < RIGHT * leg
    assert all(max(foot["off"]["ankle"], foot["off"]["ball"]) < RIGHT * leg for foot in report["feet"])
    assert len(keyed(armature, f"{CONTROL}.L")) < len(FRAMES) / 3


def test_keys_are_where_feet_come_to_stand_and_leave_and_hold_between(bpy, rig):
    armature, bones, leg = rig
    plant(bpy, **SPARSE)
    values, keys, held = values_of(armature, FRAMES), keyed(armature, f"{CONTROL}.L"), 0
    for start, end in standing(armature, f"{bones[2]}.L"):
        assert {start, end} <= set(keys)
        between = [key for key in keys if start < key < end]
        rows = [v for (path, _), v in values.items() if f'"{CONTROL}.L"' in path and path.endswith("location")]
        moved = max(np.ptp(row[start - 1 : end]) for row in rows)
        # What Rigify generates misses by a little on every pose, which its controls make up for.
        held += not between and moved <= (RIGHT / 4 * leg if "rig_id" in armature.data else 0.0)
    assert held > 0


def test_the_number_of_keys_is_told_and_is_no_warning(bpy, slope, addon, options):
    walker = control_rig.make_ik_walker(bpy)
    outcome = outcome_of(addon, bpy, [walker], options(sparse_keys=True))
    count = len(keyed(walker, "foot_ik.L"))
    told = [text for text in outcome.reports[0]["told"] if text.startswith("keys left on 61 frames: ")]
    assert f"foot_ik.L {count}," in told[0] and not outcome.is_warning


def test_what_left_out_keys_miss_is_not_out_of_reach(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    plant(bpy, sparse_keys=True)
    after = record_of(walker)["report"]["after"]
    assert after["short"] == after["short_frames"] == 0 and not any(foot["short_at"] for foot in after["feet"])


def test_out_of_reach_is_told_of_sparse_keys_too(bpy):
    high = biped.make_slope(bpy, height=-0.3)
    walker = control_rig.make_ik_walker(bpy)
    plant(bpy, surface=high.name, use_hips=False, sparse_keys=True)
    after = record_of(walker)["report"]["after"]
    assert after["short"] > 0.1 and after["short_frames"] > 0 and all(foot["short_at"] for foot in after["feet"])


def test_what_a_leg_without_controls_misses_is_out_of_reach(bpy, walker):
    """By less than what left-out keys may miss: no keys are left out here."""
    low = biped.make_slope(bpy, height=-0.15156)
    plant(bpy, surface=low.name, use_hips=False)
    report = record_of(walker)["report"]
    assert 1e-4 < report["after"]["short"] / report["leg"] < RIGHT
    plant(bpy, surface=low.name, use_hips=False, sparse_keys=True)
    assert record_of(walker)["report"]["after"] == report["after"]


def test_all_but_controls_of_inverse_kinematics_keep_keys_on_every_frame(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy, forward=1.0)
    plant(bpy, **SPARSE)
    assert len(keyed(rig, "torso")) == len(FRAMES)
    path = 'pose.bones["thigh_fk.L"].rotation_quaternion'
    curves = [c for c in fingerprint.curves_of(rig.animation_data.action) if c.data_path == path]
    assert all(len(curve.keyframe_points) == len(FRAMES) for curve in curves)
    told = record_of(rig)["report"]["told"]
    assert "keys are not sparse: no control of inverse kinematics takes any" in told


def test_planting_twice_is_planting_once_and_dense_keys_come_back(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)

    def curves(**given):
        plant(bpy, **given)
        return fingerprint.of_action(walker.animation_data.action)["curves"]

    dense, once, twice, again = curves(), curves(**SPARSE), curves(**SPARSE), curves()
    assert once == twice != dense and again == dense


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE"])
def test_what_lies_outside_of_a_range_stays(bpy, slope, output):
    walker = control_rig.make_ik_walker(bpy)
    before = values_of(walker, FRAMES)
    plant(bpy, output=output, frame_range="CUSTOM", frame_start=10, frame_end=50, blend_in=8, blend_out=8, **SPARSE)
    after = values_of(walker, FRAMES)
    outside = np.r_[0:10, 49 : len(FRAMES)]
    assert max(np.abs(np.subtract(after[path], values))[outside].max() for path, values in before.items()) < 1e-6
    inside = [key for key in keyed(walker, "foot_ik.L") if 10 <= key <= 50]
    assert len(inside) < 41 / 2


def test_a_sparse_key_that_somebody_moved_is_counted_before_it_is_replaced(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    plant(bpy, **SPARSE)
    path = 'pose.bones["foot_ik.L"].location'
    curve = next(c for c in fingerprint.curves_of(walker.animation_data.action) if c.data_path == path)
    curve.keyframe_points[2].co.y += 0.1
    plant(bpy, **SPARSE)
    assert any("made by hand was replaced" in text for text in record_of(walker)["report"]["told"])


def test_a_layer_cannot_be_sparse(bpy, slope):
    control_rig.make_ik_walker(bpy)
    refused(bpy, "a layer needs a key on every frame: switch Sparse Keys off", output="NLA_LAYER", **SPARSE)
