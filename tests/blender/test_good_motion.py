# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that stands well on its own flat floor stays as it is."""

from __future__ import annotations

import biped
import numpy as np
import pytest
import scene as scenes
from planted import plant

BIPED = [tuple(f"{bone}.{side}" for bone in biped.LEG) for side in biped.SIDES]


def turns(before, after, bone):
    """Angles (F, L), degrees, from a bone's orientations to the later ones, mirrored or not."""
    axes = [getattr(clip, bone)[..., :3, :3] for clip in (before, after)]
    axes = [a / np.linalg.norm(a, axis=-2, keepdims=True) for a in axes]
    return np.degrees(2.0 * np.arcsin(np.clip(np.linalg.norm(axes[1] - axes[0], axis=(-2, -1)) / np.sqrt(8.0), 0, 1)))


def before_and_after(bpy, armature, legs, frames):
    before = scenes.watch(bpy.context.scene, armature, legs, frames)
    plant(bpy)
    return before, scenes.watch(bpy.context.scene, armature, legs, frames)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (-1.0, 1.0, 1.0)])
def test_walk_with_exact_contacts_is_left_alone_on_its_floor(bpy, walker, scale):
    walker.scale = scale
    biped.make_slope(bpy, rise=0.0)
    bpy.context.view_layer.objects.active = walker
    before, after = before_and_after(bpy, walker, BIPED, range(1, biped.LAST + 1))
    assert np.abs(after.hip - before.hip).max() <= 1e-5
    assert np.abs(after.ball - before.ball).max() <= 1e-5
    assert max(turns(before, after, bone).max() for bone in ("foot", "toe")) <= 0.05


def test_generated_walk_of_the_demo_is_left_alone_on_its_floor(bpy):
    from demo import walker

    armature = walker.make_walk(bpy)
    biped.make_slope(bpy, rise=0.0, size=50.0)
    bpy.context.view_layer.objects.active = armature
    before, after = before_and_after(bpy, armature, BIPED, range(1, bpy.context.scene.frame_end + 1, 3))
    assert np.abs(after.hip - before.hip).max() <= 0.01 * before.leg
    assert np.linalg.norm(after.ball - before.ball, axis=-1).max() <= 0.002 * before.leg
    assert max(turns(before, after, bone).max() for bone in ("foot", "toe")) <= 0.5


def test_hand_made_walk_stays_but_for_what_slides(bpy, data):
    """Its balls stand 0.0084 leg apart in height: each comes half of that to the floor, and the hips less than 0.02.

    Heels strike sliding by 0.041 leg, which is held, and taken from the swing before; balls slide by less.
    """
    from demo import clips, picture

    with picture.silence():
        armature = clips.load(bpy, data / "fbx/ozz_pab_walk.fbx")
    bpy.context.view_layer.objects.active = armature
    biped.make_slope(bpy, rise=0.0)
    bpy.context.view_layer.objects.active = armature
    legs = scenes.leg_names(armature, ["LeftFoot", "RightFoot"])
    before, after = before_and_after(bpy, armature, legs, range(1, 42))
    moved, balls = (
        np.linalg.norm(a - b, axis=-1) / before.leg for a, b in ((after.ankle, before.ankle), (after.ball, before.ball))
    )
    speeds = np.linalg.norm(np.diff(before.ball, axis=0), axis=-1) * before.fps / before.leg
    standing = np.concatenate([speeds[:1], speeds]) < 0.03
    assert np.linalg.norm((after.hip - before.hip).mean(axis=1), axis=-1).max() / before.leg <= 0.02
    assert moved[standing].max() <= 0.006
    assert balls[standing].max() <= 0.006
    assert moved.max() <= 0.05
    assert turns(before, after, "foot").max() <= 0.6
    assert turns(before, after, "toe")[standing].max() <= 3.0
