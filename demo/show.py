# SPDX-License-Identifier: GPL-3.0-or-later
"""All steps of the demo: clip, ground, planting by the operator, picture, and planted file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from ik2bone.report import table

from demo import clips, figure, grounds, misses, picture, scenes, session, track
from demo.character import Walker, cross, load

GROUND = "Demo ground"  # The collection of the surfaces; no object has this name.
SEED = 0
HIGH = np.radians(18.0)  # The elevation of the camera from which the planks of a platform show its turn.


@dataclass(frozen=True)
class Shown:
    """The folder of the results, the reports of the planted actions by file name, and the tables of their figures."""

    folder: Path
    reports: dict[str, dict[str, Any]]
    table: str


def show(bpy, clip: str, ground: str, out: Path, samples: int, action: str | None = None) -> Shown:
    """Plant `clip`, or its action named `action`, on `ground`, draw the picture and save the planted file.

    Raises ValueError, OSError or RuntimeError if that is impossible.
    """
    session.tell(f"reads {clip}")
    walking = load(bpy, clip, action)
    stage, way = lay_stage(bpy, ground, walking), walking.way
    walkers = cross(bpy, clip, walking, scenes.DECK, action) if ground == scenes.BRIDGE else [walking]
    sources = [walking.armature.animation_data.action for walking in walkers]
    count = len(walking.frames)
    session.tell(f"plants {count} frame{'s' * (count > 1)}")
    reports = plant(bpy, [walking.armature for walking in walkers])
    name = f"{Path(clip).stem}-{Path(ground).stem}"
    title = f"{Path(clip).stem} on {Path(ground).stem}"
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    rows = shoot(bpy, walkers, sources, stage, list(reports.values()), title)
    picture.draw(bpy, rows, stage, way, folder / "picture.png", samples)
    save(bpy, walkers[0], rows, folder / "planted.blend")
    if len(reports) > 1:
        tables = (f"{name}\n{table(report)}" for name, report in reports.items())
        return Shown(folder, {f"report-{name}": report for name, report in reports.items()}, "\n\n".join(tables))
    (report,) = reports.values()
    return Shown(folder, {"report": report}, table(report))


def lay_stage(bpy, ground: str, walking: Walker) -> picture.Stage:
    """Make the ground of this name under the clip's whole way, or import the user's file, in one collection."""
    way = walking.way
    if Path(ground).suffix:
        stage = picture.Stage(tuple(clips.read("read_ground", Path(ground))))
        grounds.fit(bpy, stage.grounds, way, Path(ground).name)
    elif ground in scenes.KINDS:
        *around, building = scenes.make(bpy, ground, way, walking.frames)
        moves = ground == scenes.PLATFORM
        stage = picture.Stage(tuple(around), (building,), HIGH if moves else picture.ELEVATION, moves)
    else:
        place = {"centre": way.centre, "base_height": way.floor, "heading": way.heading}
        stage = picture.Stage((grounds.make_ground(bpy, ground, size=way.size, leg=way.leg, seed=SEED, **place),))
    collect(bpy, stage)
    return stage


def collect(bpy, stage: picture.Stage) -> None:
    """Move a stage's objects into the collection of the surfaces, and paint those without materials."""
    collection = bpy.data.collections.new(GROUND)
    bpy.context.scene.collection.children.link(collection)
    for surface in (*stage.grounds, *stage.props):
        for other in surface.users_collection:
            other.objects.unlink(surface)
        collection.objects.link(surface)
        shades = picture.PLANKS if surface in stage.props else (picture.SURFACE,)
        for shade in shades if not surface.data.materials else ():
            surface.data.materials.append(figure.paint(bpy, f"terrain {shade}", shade))


def plant(bpy, armatures: list) -> dict[str, dict[str, Any]]:
    """Run the operator as a user does, and return the reports in the planted actions by the names of armatures."""
    for thing in bpy.context.view_layer.objects:
        thing.select_set(thing in armatures)
    bpy.context.view_layer.objects.active = armatures[0]
    bpy.ops.ik2bone.plant_feet(surface=GROUND, frame_range="SCENE")
    return {ob.name: json.loads(ob.animation_data.action["ik2bone"])["report"] for ob in armatures}


def shoot(
    bpy, walkers: list[Walker], sources: list, stage: picture.Stage, reports: list, name: str
) -> list[picture.Row]:
    """Add the bodies and copy them at the instants of both actions: first the source, then the planted action."""
    bpy.context.scene.frame_set(walkers[0].frames[0])
    bodies = [figure.make_body(bpy, walking.armature, walking.feet) for walking in walkers]
    planted = [walking.armature.animation_data.action for walking in walkers]
    # Restoring resets channels that planting has changed and that the source has no keys for.
    with session.silence():
        bpy.ops.ik2bone.restore()
    rows = []
    for actions, side in ((sources, "before"), (planted, "after")):
        shots = []
        for walking, body, action, report in zip(walkers, bodies, actions, reports, strict=True):
            play(walking.armature, action)
            shots += _shoot(bpy, walking, body, stage, report)
        leg = walkers[0].way.leg
        caption = (f"{name}, {side}: {_ringed(shots, leg)}", _caption([report[side] for report in reports], leg))
        rows.append(picture.Row(caption, tuple(shots)))
    return rows


def _shoot(bpy, walking: Walker, body, stage: picture.Stage, report: dict) -> list[picture.Shot]:
    """Copy one character's body at the instants of the action that it plays."""
    meshes, progress = (import_module(f"{session.ADDON}.{name}") for name in ("ground.meshes", "progress"))
    depsgraph, leg, shots = bpy.context.evaluated_depsgraph_get(), walking.way.leg, []
    ground = progress.finish(meshes.making_ground(depsgraph, [*stage.grounds, *stage.props], leg, walking.frames))
    for instant in track.choose_instants(walking.clip, walking.way, stage.moves):
        frame = walking.frames[instant.row]
        bpy.context.scene.frame_set(frame)
        now = ground.cut(slice(instant.row, instant.row + 1))
        found = misses.find_misses(walking.armature, walking.feet, report["spans"], now, frame, leg)
        shots.append(picture.take(bpy, body, instant, walking.way, found))
    return shots


def play(armature, action) -> None:
    """Let an armature play `action` by its present action's slot: a planted action has the slots of its source."""
    actions = import_module(f"{session.ADDON}.keys.actions")
    actions.assign(armature, actions.counterpart(actions.assigned(armature), action))


def _ringed(shots: list[picture.Shot], leg: float) -> str:
    """A phrase about the feet with rings: their number and their greatest distance from the ground."""
    off = [abs(miss.height) for shot in shots for miss in shot.misses]
    if not off:
        return "every foot that stands is on the ground, no foot is in it"
    feet = "1 foot" if len(off) == 1 else f"{len(off)} feet"
    return f"{feet} ringed, off the ground by up to {100 * max(off) / leg:.0f} % of the leg"


def _caption(sides: list[dict[str, float]], leg: float) -> str:
    """A line with the worst figures of all characters on one side, before or after, with lengths in % of the leg."""
    lengths = ("penetration", "float", "drift", "short")
    shares = ", ".join(f"{name} {100 * max(side[name] for side in sides) / leg:.1f}" for name in lengths)
    return f"all contacts, % of the leg: {shares}; knee pop {max(side['knee_pop'] for side in sides):.1f} degrees"


def save(bpy, walking: Walker, rows: list[picture.Row], path: Path) -> None:
    """Save the planted characters, their ground and the camera, on the first frame and with all objects rendered."""
    for row in rows:
        for shot in row.shots:
            bpy.data.meshes.remove(shot.figure.data)
    for thing in bpy.data.objects:
        thing.hide_render = False
    bpy.context.scene.frame_set(walking.frames[0])
    bpy.context.preferences.filepaths.save_version = 0
    with session.silence():
        bpy.ops.wm.save_as_mainfile(filepath=str(path.resolve()), compress=True)
