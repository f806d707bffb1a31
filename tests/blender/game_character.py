# SPDX-License-Identifier: GPL-3.0-or-later
"""A game figure: its thigh is half as long as its shin, feet have no toes, and the root has control bones at ankles."""

from __future__ import annotations

import numpy as np
from biped import key_turn, leg_turns, make_bones, move

THIGH, SHIN, ANKLE = 0.2, 0.4, 0.08
HIP = ANKLE + THIGH + SHIN
SIDES = {"L": 0.1, "R": -0.1}
LAST = 31


def make_game_character(bpy):
    """An armature with the actions of a game, each from frame 1 to LAST. The last action is assigned."""
    armature = make_bones(bpy, "Hero", _bones())
    bpy.context.scene.frame_end = LAST
    for name, motion in MOTIONS.items():
        armature.animation_data_create().action = None
        for frame in range(1, LAST + 1):
            _key_frame(armature, frame, *motion((frame - 1) / (LAST - 1)))
        armature.animation_data.action.name = name
        armature.animation_data.action.use_fake_user = True
    return armature


def play(bpy, armature, action):
    """Assign one of the actions, and its slot in versions of Blender with slots."""
    data = armature.animation_data
    data.action = bpy.data.actions[action]
    if hasattr(data, "action_slot"):
        data.action_slot = data.action_suitable_slots[0]


def _bones():
    yield "root", None, (0, 0, 0), (0, 0.2, 0)
    yield "hips", "root", (0, 0, HIP + 0.05), (0, 0, HIP + 0.15)
    yield "chest", "hips", (0, 0, HIP + 0.2), (0, 0, HIP + 0.5)
    for side, x in SIDES.items():
        yield f"hip.{side}", "hips", (0.3 * x, 0, HIP + 0.05), (x, 0, HIP)
        yield f"thigh.{side}", f"hip.{side}", (x, 0, HIP), (x, 0, HIP - THIGH)
        yield f"leg.{side}", f"thigh.{side}", (x, 0, HIP - THIGH), (x, 0, ANKLE)
        yield f"foot.{side}", f"leg.{side}", (x, 0, ANKLE), (x, 0.14, 0.02)
        yield f"arm.{side}", "chest", (2 * x, 0, HIP + 0.45), (3.5 * x, 0, HIP + 0.35)
        yield f"forearm.{side}", f"arm.{side}", (3.5 * x, 0, HIP + 0.35), (5 * x, 0, HIP + 0.25)
        yield f"hand.{side}", f"forearm.{side}", (5 * x, 0, HIP + 0.25), (5.5 * x, 0, HIP + 0.2)
        yield f"target.{side}", "root", (x, 0, ANKLE), (x, -0.2, ANKLE)


def _gait(stride, standing, lift):
    """The motion of hips and ankles in a gait of one stride: a foot stands for the share `standing`, then swings."""

    def motion(time):
        ankles = []
        for shift in (0.0, 0.5):
            cycle, part = divmod(time + shift, 1.0)
            swing = max(0.0, (part - standing) / (1.0 - standing))
            forward = cycle + swing**2 * (3.0 - 2.0 * swing) - shift + 0.5 * standing
            ankles.append((stride * forward, ANKLE + lift * np.sin(np.pi * swing) ** 2))
        return (stride * time, HIP - 0.06), ankles

    return motion


def _still(height):
    """The motion of hips and ankles of a figure that moves up and down by `height`, a function of time."""
    return lambda time: (
        (0.0, HIP - 0.06 + height(time)),
        [(0.02, ANKLE + height(time)), (-0.02, ANKLE + height(time))],
    )


MOTIONS = {
    "run": _gait(0.9, 0.3, 0.15),
    "walk": _gait(0.5, 0.6, 0.08),
    "idle": _still(lambda _time: 0.0),
    "jump": _still(lambda time: 1.6 * time * (1.0 - time)),
    "fall": _still(lambda time: 0.9 - 0.6 * time**2),
}


def _key_frame(armature, frame, hips, ankles):
    bones = armature.pose.bones
    move(bones["hips"], (0.0, hips[0], hips[1] - HIP), frame)
    for side, ankle in zip(SIDES, ankles, strict=True):
        turns = leg_turns(np.subtract(ankle, hips), THIGH, SHIN)
        for part, angle in zip(("thigh", "leg", "foot"), turns, strict=True):
            key_turn(bones[f"{part}.{side}"], angle, frame)
