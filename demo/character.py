# SPDX-License-Identifier: GPL-3.0-or-later
"""The characters of the demo: loading them, sampling their clips as planting does, and placing them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from ik2bone.sole.measure import measure_sole
from mathutils import Matrix
from numpy.typing import NDArray

from demo import clips, figure, session, walker
from demo.track import Track, choose_instants, find_track

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Walker:
    """An armature with its clip, sampled from the scene with a row per frame, the feet to draw, and the clip's way."""

    armature: Any
    clip: Any
    frames: range
    feet: list[figure.Foot]
    way: Track


def load(bpy, clip: str, action: str | None = None) -> Walker:
    """Make the generated walk, or import the file `clip` and play `action` if one is named; then sample the clip."""
    armature = walker.make_walk(bpy) if clip == "walk" else clips.load_walk(bpy, clip, action)
    return look(bpy, armature)


def look(bpy, armature) -> Walker:
    """Sample the armature's clip over the scene's range, as planting does. Raises ValueError if planting refuses."""
    names = ("rig.find", "pose.sample", "pose.skins")
    chains, sampling, skins = (import_module(f"{session.ADDON}.{name}") for name in names)
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    try:
        legs = chains.find_legs(armature, (frames[0], frames[-1]))
        sampled = sampling.sample(armature, legs, None, frames).clip
        sampled = replace(sampled, skins=skins.find_skins(armature, legs))
    except chains.Refusal as refusal:
        raise ValueError(str(refusal)) from None
    return Walker(armature, sampled, frames, _feet(legs, sampled), find_track(sampled))


def _feet(legs, clip) -> list[figure.Foot]:
    """The feet to draw, with their soles as planting measures them."""
    sole = measure_sole(clip)
    return [
        figure.Foot(leg.thigh, leg.shin, leg.foot, leg.toe, *(points if leg.end is None else [np.array(leg.end)] * 3))
        for leg, points in zip(legs, zip(sole.heel, sole.ball, sole.tip, strict=True), strict=True)
    ]


def cross(bpy, clip: str, over: Walker, height: float, action: str | None = None) -> list[Walker]:
    """Raise the character `over` by `height` legs, and load its clip again for one that walks the other way below.

    Return both characters. Raises ValueError if the clip stays in place or takes too few steps.
    """
    if any(instant.shift for instant in choose_instants(over.clip, over.way)):
        raise ValueError(f"a bridge is crossed by a clip that walks on, but {clip} takes too few steps for that")
    under = load(bpy, clip, action)
    over.armature.name, under.armature.name = "over", "under"
    centre = Matrix.Translation((*over.way.centre, 0.0))
    _carry(bpy, over.armature, Matrix.Translation((0.0, 0.0, height * over.way.leg)))
    _carry(bpy, under.armature, centre @ Matrix.Rotation(np.pi, 4, "Z") @ centre.inverted())
    return [look(bpy, over.armature), look(bpy, under.armature)]


def _carry(bpy, armature, matrix: Matrix) -> None:
    """Move the armature by `matrix`: an empty becomes the parent of its outermost parent, so animation stays."""
    carrier = bpy.data.objects.new("carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    outermost = armature
    while outermost.parent:
        outermost = outermost.parent
    outermost.parent, outermost.matrix_parent_inverse = carrier, Matrix()
    carrier.matrix_world = matrix
    bpy.context.view_layer.update()
