# SPDX-License-Identifier: GPL-3.0-or-later
"""The characters of a demo: loaded, looked at as planting will, and carried to where they shall walk."""

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
    """The armature with its clip as sampled from the scene, one row a frame, the feet to draw and the way it takes."""

    armature: Any
    clip: Any
    frames: range
    feet: list[figure.Foot]
    way: Track


def load(bpy, clip: str, action: str | None = None) -> Walker:
    """Make or import the clip, one action of the file where it is named, and look at it as planting will."""
    armature = walker.make_walk(bpy) if clip == "walk" else clips.load_walk(bpy, clip, action)
    return look(bpy, armature)


def look(bpy, armature) -> Walker:
    """Sample the clip that the armature plays over the scene's range."""
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
    """The feet to draw, with soles as planting measures them."""
    sole = measure_sole(clip)
    return [
        figure.Foot(leg.thigh, leg.shin, leg.foot, leg.toe, *(points if leg.end is None else [np.array(leg.end)] * 3))
        for leg, points in zip(legs, zip(sole.heel, sole.ball, sole.tip, strict=True), strict=True)
    ]


def cross(bpy, clip: str, over: Walker, height: float, action: str | None = None) -> list[Walker]:
    """Raise a character by so many legs, and load its clip again to walk the other way below it."""
    if any(instant.shift for instant in choose_instants(over.clip, over.way)):
        raise ValueError(f"a bridge is crossed by a clip that walks on, but {clip} takes too few steps for that")
    under = load(bpy, clip, action)
    over.armature.name, under.armature.name = "over", "under"
    centre = Matrix.Translation((*over.way.centre, 0.0))
    _carry(bpy, over.armature, Matrix.Translation((0.0, 0.0, height * over.way.leg)))
    _carry(bpy, under.armature, centre @ Matrix.Rotation(np.pi, 4, "Z") @ centre.inverted())
    return [look(bpy, over.armature), look(bpy, under.armature)]


def _carry(bpy, armature, matrix: Matrix) -> None:
    """Put what carries the armature under an empty that moves it by the matrix, whatever it plays itself."""
    carrier = bpy.data.objects.new("carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    outermost = armature
    while outermost.parent:
        outermost = outermost.parent
    outermost.parent, outermost.matrix_parent_inverse = carrier, Matrix()
    carrier.matrix_world = matrix
    bpy.context.view_layer.update()
