# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of the operator do again and again: plant, and look at the planted action and at the scene."""

from __future__ import annotations

import json

import fingerprint
import numpy as np
import pytest

FEET = ("foot.L", "foot.R")


def plant(bpy, **given):
    assert bpy.ops.ik2bone.plant_feet(**given) == {"FINISHED"}


def heads(bpy, armature, frames, bones=FEET):
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        rows.append([armature.matrix_world @ armature.pose.bones[name].head for name in bones])
    return np.array(rows)


def record_of(armature):
    return json.loads(armature.animation_data.action["ik2bone"])


def bone_curves(action, name):
    """Keys of a bone's curves by (path, index)."""
    path = f'pose.bones["{name}"]'
    curves = fingerprint.of_action(action)["curves"]
    return {curve[:2]: curve[6] for curve in curves if curve[0].startswith(path)}


def values_of(armature, frames):
    action = armature.animation_data.action
    return {
        (curve.data_path, curve.array_index): [curve.evaluate(frame) for frame in frames]
        for curve in fingerprint.curves_of(action)
    }


def refused(bpy, sentence, operator="plant_feet", **given):
    """Run an operator, expect one short sentence and an unchanged scene, hand-set values of keyed channels included."""
    before = fingerprint.of_scene(bpy)
    with pytest.raises(RuntimeError, match=sentence) as refusal:
        getattr(bpy.ops.ik2bone, operator)(**given)
    told = str(refusal.value).strip()
    assert len(told.splitlines()) == 1 and len(told) < 500
    assert fingerprint.of_scene(bpy) == before
