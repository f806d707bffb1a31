# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs of one clip: planted by the operator on one ground after the other, and judged from the keyed scene."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from ik2bone.clip import Clip

from demo import grounds, session, track
from tests.bench_motion.clips import MADE_HILLS, Entry, Place
from tests.bench_motion.planning import watched
from tests.blender import scene as scenes
from tests.measures import Measures, measure


@dataclass(frozen=True)
class Result:
    """The measures of one clip on one ground, before and after planting.

    `told` are the sentences of the report, `plan_seconds` is the time of the plan alone and `seconds` that of the whole
    operator. `reason` is the known reason if the clip is not good.
    """

    clip: str
    gait: str
    must: bool
    ground: str
    before: Measures
    after: Measures
    told: tuple[str, ...]
    plan_seconds: float
    seconds: float
    reason: str = ""


@dataclass(frozen=True)
class Subject:
    """A clip in the scene: its legs' bones, its frames, the clip sampled from the scene as `source`, and its way."""

    armature: Any
    legs: list[tuple[str, str, str, str]]
    frames: range
    source: Clip
    way: track.Track


def run(bpy, entry: Entry, places: Sequence[Place], data: Path) -> Iterator[Result]:
    """Plant a clip on each ground. Raises RuntimeError with Blender's or our sentence if the clip is refused."""
    session.reset(bpy)
    subject = load(bpy, entry, data)
    for place in places:
        surface = lay(bpy, place, subject.way)
        try:
            yield judge(bpy, entry, place, subject, surface)
        finally:
            bpy.data.meshes.remove(surface.data)


def load(bpy, entry: Entry, data: Path) -> Subject:
    """Import a clip and sample it before planting. Raises RuntimeError if no legs are found."""
    # These modules need mathutils, which can be imported only after bpy.
    from demo import clips, picture

    chains = import_module(f"{session.ADDON}.rig.find")
    with picture.silence():
        armature, scene = clips.load(bpy, data / entry.path, entry.action), bpy.context.scene
    bpy.context.view_layer.objects.active = armature
    frames = range(scene.frame_start, scene.frame_end + 1)
    try:
        found = chains.find_legs(armature, (frames[0], frames[-1]))
    except chains.Refusal as refusal:
        raise RuntimeError(str(refusal)) from None
    bones = armature.data.bones
    legs = [(leg.thigh, leg.shin, leg.foot, scenes.toe_of(bones[leg.foot])) for leg in found]
    source = scenes.watch(scene, armature, legs, frames)
    return Subject(armature, legs, frames, source, way_of(armature, frames))


def way_of(armature, frames: range) -> track.Track:
    """The way of an armature over some frames."""
    chains, sampling = (import_module(f"{session.ADDON}.{name}") for name in ("rig.find", "pose.sample"))
    found = chains.find_legs(armature, (frames[0], frames[-1]))
    return track.find_track(sampling.sample(armature, found, None, frames).clip)


def lay(bpy, place: Place, way: track.Track):
    """Make a ground under the clip's way, at the height of the clip's own floor."""
    options = {"centre": way.centre, "size": way.size, "base_height": way.floor, "heading": way.heading, "leg": way.leg}
    surface = grounds.make_ground(bpy, place.kind, seed=place.seed, **options)
    surface.scale.z = place.height / MADE_HILLS
    bpy.context.view_layer.update()
    return surface


def judge(bpy, entry: Entry, place: Place, subject: Subject, surface) -> Result:
    """Plant by the operator, measure the frames of the keyed scene, and restore the source."""
    from demo import picture

    with picture.silence(), watched() as calls:
        began = time.perf_counter()
        bpy.ops.ik2bone.plant_feet(surface=surface.name)
        seconds = time.perf_counter() - began
    report = scenes.report_of(subject.armature)["report"]
    after = scenes.watch(bpy.context.scene, subject.armature, subject.legs, subject.frames)
    with picture.silence():
        bpy.ops.ik2bone.restore()
    ground, heel = scenes.surface(bpy, surface), np.array([foot["heel"] for foot in report["feet"]])
    before, after = (measure(subject.source, clip, ground, heel) for clip in (subject.source, after))
    return Result(
        entry.name, entry.gait, entry.must, place.name, before, after, tuple(report["told"]),
        sum(call.seconds for call in calls), seconds, entry.reason,
    )  # fmt: skip
