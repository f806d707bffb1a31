# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's whole way: clip, ground, planting by the operator, picture, and the planted file."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ik2bone.report import table
from ik2bone.sole import measure_sole

from demo import clips, figure, grounds, misses, picture, session, track, walker

GROUND = "Ground"  # The collection that the surfaces lie in.
SEED = 0


@dataclass(frozen=True)
class Shown:
    """Where the results lie, the report that the planted action stores, and its figures before and after as text."""

    folder: Path
    report: dict[str, Any]
    table: str


@dataclass(frozen=True)
class Walker:
    """The armature with its clip as sampled from the scene, one row a frame, and the feet to draw."""

    armature: Any
    clip: Any
    frames: range
    feet: list[figure.Foot]


def show(bpy, clip: str, ground: str, out: Path, samples: int) -> Shown:
    """Plant `clip` on `ground`, draw and save; ValueError, OSError or RuntimeError where that cannot be."""
    walking = load(bpy, clip)
    way = track.find_track(walking.clip)
    surfaces = lay_ground(bpy, ground, way)
    source = walking.armature.animation_data.action
    report = plant(bpy, walking.armature)
    name = f"{Path(clip).stem}-{Path(ground).stem}"
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    rows = shoot(bpy, walking, source, surfaces, way, report, name.replace("-", " on "))
    picture.draw(bpy, rows, surfaces, way, folder / "picture.png", samples)
    save(bpy, walking, rows, folder / "planted.blend")
    return Shown(folder, report, table(report))


def load(bpy, clip: str) -> Walker:
    """Make or import the clip, and look at it as planting will."""
    armature = walker.make_walk(bpy) if clip == "walk" else clips.load(bpy, clip)
    chains, sampling, skins = (import_module(f"{session.ADDON}.{name}") for name in ("chains", "sample", "skins"))
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    try:
        legs = chains.find_legs(armature, (frames[0], frames[-1]))
        sampled = sampling.sample(armature, legs, None, frames).clip
        sampled = replace(sampled, skins=skins.find_skins(armature, legs))
    except chains.Refusal as refusal:
        raise ValueError(str(refusal)) from None
    bpy.context.view_layer.objects.active = armature
    return Walker(armature, sampled, frames, feet_of(legs, sampled))


def feet_of(legs, clip) -> list[figure.Foot]:
    """The feet to draw, with soles as planting measures them."""
    sole = measure_sole(clip)
    return [
        figure.Foot(leg.thigh, leg.shin, leg.foot, leg.toe, sole.heel[row], sole.ball[row], sole.tip[row])
        for row, leg in enumerate(legs)
    ]


def lay_ground(bpy, ground: str, way: track.Track) -> list:
    """Make the named ground under the whole way, or import the user's; all in one collection."""
    if Path(ground).suffix:
        surfaces = grounds.load_ground(bpy, Path(ground))
    else:
        place = {"centre": way.centre, "base_height": way.floor, "heading": way.heading}
        surfaces = [grounds.make_ground(bpy, ground, size=way.size, leg=way.leg, seed=SEED, **place)]
    collection = bpy.data.collections.new(GROUND)
    bpy.context.scene.collection.children.link(collection)
    for surface in surfaces:
        for other in surface.users_collection:
            other.objects.unlink(surface)
        collection.objects.link(surface)
        if not surface.data.materials:
            surface.data.materials.append(figure.paint(bpy, "terrain", picture.SURFACE))
    return surfaces


def plant(bpy, armature) -> dict[str, Any]:
    """Run the operator as a user does, and return the report that it stores on the planted action."""
    bpy.ops.ik2bone.plant_feet(surface=GROUND, frame_range="SCENE")
    return json.loads(armature.animation_data.action["ik2bone"])["report"]


def shoot(bpy, walking: Walker, source, surfaces: list, way: track.Track, report, name: str) -> list[picture.Row]:
    """Add the body and copy it at the instants under both actions, the planted one last."""
    bpy.context.scene.frame_set(walking.frames[0])
    body = figure.make_body(bpy, walking.armature, walking.feet)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    ground = import_module(f"{session.ADDON}.scenery").make_ground(depsgraph, surfaces, way.leg)
    planted = walking.armature.animation_data.action
    rows = []
    for action, side in ((source, "before"), (planted, "after")):
        play(walking.armature, action)
        caption = (f"{name}, {side}", _caption(report[side], way.leg))
        shots = []
        for instant in track.choose_instants(walking.clip, way):
            frame = walking.frames[instant.row]
            bpy.context.scene.frame_set(frame)
            found = misses.find_misses(walking.armature, walking.feet, report["spans"], ground, frame, way.leg)
            shots.append(picture.take(bpy, body, instant, way, found))
        rows.append(picture.Row(caption, tuple(shots)))
    return rows


def play(armature, action) -> None:
    """Assign an action with the slot that the armature plays now: a planted action has its source's."""
    slot = armature.animation_data.action_slot.identifier
    armature.animation_data.action = action
    armature.animation_data.action_slot = action.slots[slot]


def _caption(side: dict[str, float], leg: float) -> str:
    """The figures of one side, lengths in shares of the leg."""
    lengths = (("under ground", "penetration"), ("over it", "float"), ("sliding", "drift"), ("out of reach", "short"))
    shares = ", ".join(f"{text} {100 * side[name] / leg:.1f} %" for text, name in lengths)
    return f"worst, of the leg: {shares}; knee pop {side['knee_pop']:.1f} degrees"


def save(bpy, walking: Walker, rows: list[picture.Row], path: Path) -> None:
    """Leave the planted character, its ground and the camera on the first frame, everything to be rendered."""
    for row in rows:
        for shot in row.shots:
            bpy.data.meshes.remove(shot.figure.data)
    for thing in bpy.data.objects:
        thing.hide_render = False
    bpy.context.scene.frame_set(walking.frames[0])
    bpy.context.preferences.filepaths.save_version = 0
    with picture.silence():
        bpy.ops.wm.save_as_mainfile(filepath=str(path.resolve()), compress=True)
