# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the knees of legs point that follow controls, which poles or the bones themselves decide."""

from __future__ import annotations

from types import SimpleNamespace

import biped
import control_rig
import numpy as np
import pytest
from control_rig import HAND_MADE
from ik2bone.clip import Clip
from planted import bone_curves, joints, plant, record_of

FRAMES = range(1, biped.LAST + 1)
LEG = biped.THIGH + biped.SHIN


@pytest.mark.parametrize("pole", ["ahead", "aside", None])
def test_knees_stay_on_their_side(bpy, slope, pole):
    walker = control_rig.make_ik_walker(bpy, pole=pole)
    before = joints(bpy, walker)
    plant(bpy)
    after = joints(bpy, walker)
    bends = [rows[:, :, 1] - (rows[:, :, 0] + rows[:, :, 2]) / 2.0 for rows in (before, after)]
    cosine = np.sum(bends[0] * bends[1], axis=-1) / np.prod([np.linalg.norm(bend, axis=-1) for bend in bends], axis=0)
    assert np.degrees(np.arccos(cosine.min())) < 25.0
    assert record_of(walker)["report"]["after"]["knee_pop_frames"] == 0


def test_a_pole_moves_only_where_the_knee_would_turn_aside(bpy, slope):
    moved = {}
    for pole in ("ahead", "aside"):
        walker = control_rig.make_ik_walker(bpy, pole=pole)
        source = walker.animation_data.action
        plant(bpy)
        pairs = [bone_curves(action, "knee.L") for action in (source, walker.animation_data.action)]
        moved[pole] = pairs[0] != pairs[1]
        bpy.data.objects.remove(walker)
    assert moved == {"ahead": False, "aside": True}


@pytest.fixture
def bank(bpy):
    """A large plane that rises to the side, so that legs lean and knees would turn aside."""
    corners = [(-10, -10), (10, -10), (10, 10), (-10, 10)]
    return biped.make_mesh(bpy, "Bank", [(x, y, 0.5 * x) for x, y in corners], [(0, 1, 2, 3)])


@pytest.mark.parametrize("kind", ["pole ahead", "no pole", "foot keyed under the shin", "the foot is the target"])
def test_knees_point_where_they_are_planned_to_also_across_a_slope(bpy, bank, kind):
    walker = control_rig.make_ik_walker(bpy, **HAND_MADE[kind])
    plant(bpy)
    report = record_of(walker)["report"]
    assert all(max(foot["off"].values()) < 1e-3 * LEG for foot in report["feet"])
    bones = ["thigh.L", "shin.L"] if kind == "no pole" else []
    assert set(bones) <= set(report["feet"][0]["controls"])


@pytest.mark.parametrize("pole", [False, True])
def test_knees_of_generated_legs_point_where_they_are_planned_to(bpy, addon, bank, monkeypatch, pole):
    rig, seen = control_rig.make_rigify_walker(bpy, pole=pole), []
    pipeline, aim = addon("run.pipeline"), addon("rig.controls_aim").Aim
    tell = pipeline.tell_controls

    def keep(task, written, goal, after, figures):
        clip, moves = SimpleNamespace(clip=after.cut(task.part)), np.ones(len(task.frames), bool)
        seen.extend(np.abs(aim(None, None, leg, clip, goal, moves, None, again=True)._angle).max() for leg in (0, 1))
        return tell(task, written, goal, after, figures)

    monkeypatch.setattr(pipeline, "tell_controls", keep)
    plant(bpy)
    assert max(seen) < np.radians(0.5)
    name = "thigh_ik_target.L" if pole else "thigh_ik.L"
    assert name in record_of(rig)["report"]["feet"][0]["controls"]


def test_the_turn_of_a_knee_goes_on_evenly_where_the_leg_is_straight(addon):
    seen, wanted = (leg_bent_and_straight(turned) for turned in (0.0, 0.3))
    moves = np.ones(seen.frames, bool)
    aim = addon("rig.controls_aim").Aim(None, None, 0, SimpleNamespace(clip=seen), wanted, moves, None, again=True)
    np.testing.assert_allclose(aim._angle, -0.3, atol=1e-3)


def leg_bent_and_straight(turned):
    """A leg of 41 frames, bent towards an angle about the vertical but straight on some, in single precision."""
    bend = np.maximum(0.0, np.abs(np.linspace(-0.2, 0.2, 41)) - 0.05)
    joints = np.zeros((41, 1, 4, 3))
    joints[..., 2] = [0.9, 0.45, 0.0, 0.0]
    joints[:, 0, 1, 0], joints[:, 0, 1, 1] = bend * np.cos(turned), bend * np.sin(turned)
    joints[:, 0, 3, 0] = 0.15
    joints += 1e-7 * np.random.default_rng(1).normal(size=joints.shape)
    return Clip.from_points(30.0, *np.moveaxis(joints, 2, 0))
