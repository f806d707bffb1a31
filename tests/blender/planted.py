# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers for tests of the operator: plant, read the planted action and the scene, and expect a refusal."""

from __future__ import annotations

import json

import biped
import fingerprint
import numpy as np
import pytest

FEET = ("foot.L", "foot.R")
IN_PLACE = {"output": "IN_PLACE"}


def plant(bpy, **given):
    assert bpy.ops.ik2bone.plant_feet(**given) == {"FINISHED"}


def outcome_of(addon, bpy, armatures, options):
    """The outcome of planting these armatures, as the operator gets it."""
    return addon("progress").finish(addon("run.pipeline").planting(bpy.context, armatures, options))


def between(first, last):
    """The options to plant only the frames from `first` to `last`."""
    return {"frame_range": "CUSTOM", "frame_start": first, "frame_end": last}


def written(armature):
    """The curves of legs and hips in the walker's action."""
    names = ("thigh", "shin", "foot", "hips")
    curves = fingerprint.curves_of(armature.animation_data.action)
    return [curve for curve in curves if curve.data_path.split('"')[1].split(".")[0] in names]


def stepped(bpy, armature, frames, bones=None):
    """The world matrices (F, B, 4, 4) of `bones`, by default of all bones, as Blender evaluates them on `frames`."""
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        names = armature.pose.bones.keys() if bones is None else bones
        rows.append([armature.matrix_world @ armature.pose.bones[name].matrix for name in names])
    return np.array(rows)


def heads(bpy, armature, frames, bones=FEET):
    return stepped(bpy, armature, frames, bones)[..., :3, 3]


def joints(bpy, armature):
    """The heads (F, 2, J, 3) of the bones of both legs of a walker on all frames."""
    names = [f"{name}.{side}" for side in biped.SIDES for name in biped.LEG]
    return heads(bpy, armature, range(1, biped.LAST + 1), names).reshape(biped.LAST, 2, len(biped.LEG), 3)


def stood(bpy, armature, rise):
    """The greatest drift of planted points, and the greatest penetration of soles into a slope, during contacts."""
    report, drift, under = record_of(armature)["report"], [], []
    feet, spans = {foot["bone"]: foot for foot in report["feet"]}, report["spans"]
    first, last = min(span["start"] for span in spans), max(span["end"] for span in spans)
    shown = stepped(bpy, armature, range(first, last + 1), feet)
    poses = dict(zip(feet, shown.swapaxes(0, 1), strict=True))
    for span in spans:
        foot, rows = feet[span["bone"]], slice(span["start"] - first, span["end"] + 1 - first)
        axes, place = poses[span["bone"]][rows, :3, :3], poses[span["bone"]][rows, :3, 3]
        drift.append(np.linalg.norm(axes @ foot[span["part"]] + place - span["anchor"], axis=-1).max())
        for point in foot["sole"]:
            sole = axes @ point + place
            under.append((rise * sole[:, 1] - sole[:, 2]).max())
    return max(drift), max(under)


def record_of(armature):
    return json.loads(armature.animation_data.action["ik2bone"])


def bone_curves(action, name):
    """The keys of a bone's curves by (path, index)."""
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
    """Run an operator, and expect one short sentence and an unchanged scene, also in poses that were set by hand."""
    before = fingerprint.of_scene(bpy)
    with pytest.raises(RuntimeError, match=sentence) as refusal:
        getattr(bpy.ops.ik2bone, operator)(**given)
    told = str(refusal.value).strip()
    assert len(told.splitlines()) == 1 and len(told) < 500
    assert fingerprint.of_scene(bpy) == before
