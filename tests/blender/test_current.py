# SPDX-License-Identifier: GPL-3.0-or-later
"""The present pose is keyed only where a key would show it, else nothing changes."""

from __future__ import annotations

import fingerprint
import numpy as np
import pytest

PATH = 'pose.bones["shin.L"].rotation_quaternion'


def _refused(bpy, sentence):
    before = fingerprint.of_scene(bpy)
    with pytest.raises(RuntimeError, match=sentence) as refusal:
        bpy.ops.ik2bone.plant_feet(frame_range="CURRENT")
    assert len(str(refusal.value).strip().splitlines()) == 1
    assert fingerprint.of_scene(bpy) == before


def _curve(armature):
    curves = fingerprint.curves_of(armature.animation_data.action)
    return next(curve for curve in curves if (curve.data_path, curve.array_index) == (PATH, 1))


@pytest.mark.parametrize("frame", [0, 62])
def test_a_frame_beyond_the_action_is_refused(bpy, walker, slope, frame):
    bpy.context.scene.frame_set(frame)
    _refused(bpy, f"frame {frame} lies outside of action walk, which covers 1 to 61")


def test_a_time_between_two_frames_is_refused(bpy, walker, slope):
    bpy.context.scene.frame_set(12, subframe=0.5)
    _refused(bpy, "between frames 12 and 13")


def test_any_frame_will_do_where_nothing_is_keyed(bpy, walker, slope):
    walker.animation_data_clear()
    bpy.context.scene.frame_set(500, subframe=0.5)
    assert bpy.ops.ik2bone.plant_feet(frame_range="CURRENT") == {"FINISHED"}


@pytest.mark.parametrize("state", ["is locked", "is muted", "has modifiers", "consists of samples"])
def test_a_curve_that_takes_or_shows_no_key_is_refused(bpy, walker, slope, state):
    curve = _curve(walker)
    curve.lock, curve.mute = state == "is locked", state == "is muted"
    if state == "has modifiers":
        curve.modifiers.new("NOISE").strength = 0.1
    if state == "consists of samples":
        curve.convert_to_samples(1, 62)
    bpy.context.scene.frame_set(12)
    _refused(bpy, f"the F-curve of rotation_quaternion of bone shin.L {state}")


@pytest.mark.parametrize("animated", [False, True], ids=["no action", "an action of one frame"])
@pytest.mark.parametrize("lift", [0.0, 0.05, -0.04])
def test_a_pose_that_is_all_there_is_stands_on_soles_as_the_rest_pose_has_them(bpy, walker, slope, lift, animated):
    bpy.context.scene.frame_set(27)
    walker.animation_data_clear()
    walker.pose.bones["hips"].location.y += lift
    if animated:
        for bone in walker.pose.bones:
            bone.keyframe_insert("rotation_quaternion")
            bone.keyframe_insert("location")
    bpy.ops.ik2bone.plant_feet(frame_range="CURRENT")
    normal = np.array([0.0, -0.1, 1.0]) / np.hypot(0.1, 1.0)
    for name in ("toe.L", "toe.R"):
        for place in (walker.pose.bones[name].head, walker.pose.bones[name].tail):
            assert np.array(walker.matrix_world @ place) @ normal == pytest.approx(0.02, abs=1e-4)
