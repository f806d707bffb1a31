# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused over and under a layer, and that refusals, errors, Esc and undo leave the NLA as it was."""

from __future__ import annotations

import fingerprint
import numpy as np
import pytest
from nla_scene import (
    LAYER,
    poses,
    push_down,
    refused,
    state_of,
)
from planted import plant

HIDDEN = {
    "tweak mode": "Walker is in tweak mode, which hides layers over its strip: leave tweak mode",
    "solo": "NLA track NlaTrack of Walker plays solo, which hides layers: switch that off",
    "off": "the NLA of Walker is off, so no layer in it would show: switch it on",
}


def hide(armature, how):
    """Bring the NLA into a state that hides layers over its first strip."""
    data = armature.animation_data
    track = data.nla_tracks[0]
    if how == "tweak mode":
        data.nla_tracks.active, track.strips[0].select = track, True
        data.use_tweak_mode = True
        assert data.action == track.strips[0].action
    elif how == "solo":
        track.is_solo = True
    else:
        data.action, data.use_nla = track.strips[0].action, False


@pytest.mark.parametrize("how", HIDDEN)
def test_an_nla_that_would_hide_the_layer_is_refused(bpy, walker, slope, how):
    push_down(walker)
    hide(walker, how)
    refused(bpy, walker, HIDDEN[how], **LAYER)


@pytest.mark.parametrize("output", ["NLA_LAYER", "NEW_ACTION", "IN_PLACE"])
@pytest.mark.parametrize("how", ["tweak mode", "solo"])
def test_an_nla_that_hides_a_layer_is_refused_by_every_output(bpy, walker, slope, how, output):
    plant(bpy, **LAYER)
    walker.animation_data.nla_tracks[0].name = "NlaTrack"
    hide(walker, how)
    refused(bpy, walker, HIDDEN[how], output=output)


def test_a_pose_alone_cannot_be_keyed_under_a_layer(bpy, walker, slope):
    plant(bpy, **LAYER)
    refused(bpy, walker, "a pose keyed in walk would not show under its layer", frame_range="CURRENT")


def test_a_pose_under_a_layer_whose_source_is_muted_is_refused(bpy, walker, slope):
    plant(bpy, **LAYER)
    walker.animation_data.nla_tracks[0].mute = True
    refused(bpy, walker, "a pose keyed in walk would not show under its layer", frame_range="CURRENT")


def test_an_armature_without_an_action_is_refused(bpy, walker, slope):
    walker.animation_data_clear()
    refused_plainly = "the armature plays no action: assign one"
    with pytest.raises(RuntimeError, match=refused_plainly):
        bpy.ops.ik2bone.plant_feet(**LAYER)


def test_a_rotation_that_is_keyed_in_part_is_refused_where_the_nla_would_show_another(bpy, walker, slope):
    path = walker.pose.bones["foot.L"].path_from_id("rotation_quaternion")
    bag = fingerprint.bags_of(walker.animation_data.action)[0]
    for index in (3, 1):
        bag.fcurves.remove(bag.fcurves.find(path, index=index))
        walker.pose.bones["foot.L"].rotation_quaternion[index] = 0.0
    shown = poses(bpy, walker)
    plant(bpy, **LAYER, strength=0.0)
    np.testing.assert_allclose(poses(bpy, walker), shown, atol=1e-6)
    bpy.ops.ik2bone.restore()
    walker.pose.bones["foot.L"].rotation_quaternion[1] = 0.1
    bpy.context.view_layer.update()
    refused(
        bpy, walker, "walk keys only some components of the rotation of bone foot.L, and the NLA would not", **LAYER
    )
    plant(bpy)


@pytest.mark.parametrize("where", ["action", "strip"])
def test_a_muted_group_is_refused_where_the_nla_alone_passes_over_it(bpy, walker, slope, where):
    curves = fingerprint.curves_of(walker.animation_data.action)
    next(curve.group for curve in curves if "thigh.L" in curve.data_path).mute = True
    if where == "strip":
        push_down(walker)
    if not hasattr(bpy.types, "ActionSlot"):
        # Up to Blender 4.3 actions pass over it too.
        plant(bpy, **LAYER)
    elif where == "strip":
        refused(bpy, walker, "NLA strip Walk of Walker passes over muted groups of its action", **LAYER)
    else:
        refused(bpy, walker, "group thigh.L of walk is muted, which counts in the NLA alone: unmute it", **LAYER)
        plant(bpy)


@pytest.mark.parametrize("where", ["action", "strip"])
def test_a_group_that_is_muted_with_its_curves_is_planted(bpy, walker, slope, where):
    curves = fingerprint.curves_of(walker.animation_data.action)
    group = next(curve.group for curve in curves if "thigh.L" in curve.data_path)
    group.mute = True
    for curve in group.channels:
        curve.mute = True
    if where == "strip":
        push_down(walker)
    shown = poses(bpy, walker)
    plant(bpy, **LAYER, strength=0.0)
    np.testing.assert_allclose(poses(bpy, walker), shown, atol=1e-6)
    plant(bpy, **LAYER)


def test_a_quaternion_that_is_keyed_in_part_is_no_reason_where_the_bone_turns_by_another_mode(bpy, walker, slope):
    chest, bag = walker.pose.bones["chest"], fingerprint.bags_of(walker.animation_data.action)[0]
    for curve in [curve for curve in bag.fcurves if '"chest"' in curve.data_path]:
        bag.fcurves.remove(curve)
    bag.fcurves.new(chest.path_from_id("rotation_quaternion"), index=0).keyframe_points.insert(1, 1.0)
    chest.rotation_mode, chest.rotation_quaternion = "XYZ", (1.0, 0.1, 0.0, 0.0)
    shown = poses(bpy, walker)
    plant(bpy, **LAYER, strength=0.0)
    np.testing.assert_allclose(poses(bpy, walker), shown, atol=1e-6)


@pytest.mark.parametrize("planted_before", [None, "NLA_LAYER", "NEW_ACTION"])
@pytest.mark.parametrize("output", ["NLA_LAYER", "NEW_ACTION", "IN_PLACE"])
@pytest.mark.parametrize("where", ["action", "strip"])
def test_an_error_at_the_end_leaves_everything_as_it_was(
    bpy, walker, slope, addon, monkeypatch, planted_before, output, where
):
    if where == "strip":
        push_down(walker)
    if planted_before:
        plant(bpy, output=planted_before)
    pipeline = addon("run.pipeline")

    def fail(*_arguments):
        raise ArithmeticError("in the end")

    before, shown = state_of(bpy, walker), poses(bpy, walker, [1, 20])
    bpy.context.scene.frame_set(1)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline.report, "summary", fail)
        with pytest.raises(RuntimeError, match="in the end"):
            bpy.ops.ik2bone.plant_feet(output=output)
    assert state_of(bpy, walker) == before
    np.testing.assert_array_equal(poses(bpy, walker, [1, 20]), shown)


def test_stopped_at_any_stage_it_leaves_everything_as_it_was(bpy, walker, slope, addon, options):
    plant(bpy, **LAYER)
    plant(bpy, **LAYER, use_hips=False)
    before, planting = state_of(bpy, walker), addon("run.pipeline").planting
    for share in (0.0, 0.2, 0.35, 0.4, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0):
        stages = planting(bpy.context, [walker], options(**LAYER, use_slope=False))
        while next(stages).share < share:
            pass
        stages.close()
        assert state_of(bpy, walker) == before
