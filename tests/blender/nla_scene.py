# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers for tests of the NLA: push an action down, read tracks, strips and layers, and expect a refusal."""

from __future__ import annotations

import json

import biped
import fingerprint
import numpy as np
import pytest
from planted import plant, stepped

FRAMES = np.arange(1, biped.LAST + 1)
LEG = biped.THIGH + biped.SHIN
LAYER = {"output": "NLA_LAYER"}
MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")


def poses(bpy, armature, frames=FRAMES):
    """The world matrices (F, B, 4, 4) of all bones in the scene stepped through `frames`."""
    return stepped(bpy, armature, frames)


def apart(these, those):
    """The largest distance between the same joint in two arrays of poses."""
    return np.linalg.norm((these - those)[..., :3, 3], axis=-1).max()


def planted_anew(bpy, armature, *runs, frames=FRAMES):
    """The poses after `runs` into a new action, one after the other. The armature then plays its source again."""
    for given in runs:
        plant(bpy, **given)
    shown = poses(bpy, armature, frames)
    bpy.ops.ik2bone.restore()
    planted = next(action for action in bpy.data.actions if action.name.endswith(".planted"))
    source = planted["ik2bone_source"]
    bpy.data.actions.remove(planted)
    del source["ik2bone"]
    source.use_fake_user = False
    bpy.context.scene.frame_set(1)
    return shown


def layers_of(armature):
    """The strips with corrections: those that are combined with the strips below."""
    tracks = armature.animation_data.nla_tracks
    return [strip for track in tracks for strip in track.strips if strip.blend_type == "COMBINE"]


def record_of(armature):
    return json.loads(layers_of(armature)[0].action["ik2bone"])


def told(armature):
    return record_of(armature)["report"]["told"]


NLA = ("name", "mute", "is_solo", "select", "active")
STRIP = ("name", "mute", "blend_type", "extrapolation", "frame_start", "frame_end", "action_frame_start", "influence")
STRIP += ("action_frame_end", "use_sync_length", "use_animated_influence", "scale", "repeat", "blend_in", "blend_out")


def nla_of(armature):
    """The tracks and strips as plain data, with the action and slot of each strip."""
    return [[getattr(track, name) for name in NLA] + [strip_as_data(strip) for strip in track.strips]
            for track in armature.animation_data.nla_tracks]  # fmt: skip


def strip_as_data(strip):
    slot = getattr(strip, "action_slot", None)
    keys = [[tuple(key.co) for key in curve.keyframe_points] for curve in strip.fcurves]
    return [getattr(strip, name) for name in STRIP] + [strip.action.name, slot and slot.identifier, keys]


def state_of(bpy, armature):
    data = armature.animation_data
    return fingerprint.of_scene(bpy), nla_of(armature), data.action, data.use_tweak_mode, data.use_nla


def refused(bpy, armature, message, **given):
    before = state_of(bpy, armature)
    with pytest.raises(RuntimeError, match=message) as refusal:
        bpy.ops.ik2bone.plant_feet(**given)
    assert len(str(refusal.value).strip().splitlines()) == 1
    assert state_of(bpy, armature) == before


def push_down(armature, start=1):
    """Move the assigned action to a strip of a new NLA track."""
    data = armature.animation_data
    strip = data.nla_tracks.new().strips.new("Walk", start, data.action)
    strip.select = True
    data.action = None
    return strip
