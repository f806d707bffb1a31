# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's ladder: a climb for even rungs is planted on uneven rungs, with hands and feet, and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from ik2bone.report import table

from demo import character, climber, figure, picture, show, track
from demo.misses import Miss

GROUND = "Ladder"  # The collection of the surfaces.
SEED = 1
# The greatest change of a rung's height, and the distance by which all rungs are moved away from the figure (m).
UNEVEN, DEPTH = 0.03, 0.025
LIMBS = "thigh.L, thigh.R, upper_arm.L, upper_arm.R"
# The number of instants in the picture, the time of the first (s), and the time between two (s). Each limb holds on in
# some of them and swings in others.
SHOWN, FIRST, APART = 4, 2.15, 0.4
# A touching point gets a ring if it is farther than this from its anchor (legs).
TOLERANCE = 0.01


def show_climb(bpy, out: Path, samples: int) -> show.Shown:
    """Plant the climb on the ladder, draw the picture and save the planted file."""
    armature = climber.make_climb(bpy)
    ladder = lay_ladder(bpy)
    source = armature.animation_data.action
    walking = character.look(bpy, armature)
    report = plant(bpy, armature)
    folder = out / "climb-ladder"
    folder.mkdir(parents=True, exist_ok=True)
    way = _way(walking)
    rows = _shoot(bpy, walking, source, way, report)
    # The right rail would hide the figure.
    rungs, left_rail, _ = ladder
    picture.draw(bpy, rows, picture.Stage((left_rail,), (rungs,)), way, folder / "picture.png", samples)
    show.save(bpy, walking, rows, folder / "planted.blend")
    return show.Shown(folder, {"report": report}, table(report))


def lay_ladder(bpy) -> list:
    """Make the uneven ladder in a collection of its own, and return its rungs, left rail and right rail."""
    offsets = np.random.default_rng(SEED).uniform(-UNEVEN, UNEVEN, climber.RUNGS)
    ladder = climber.make_ladder(bpy, offsets, DEPTH)
    collection = bpy.data.collections.new(GROUND)
    bpy.context.scene.collection.children.link(collection)
    for part in ladder:
        bpy.context.scene.collection.objects.unlink(part)
        collection.objects.link(part)
        part.data.materials.append(figure.paint(bpy, part.name, picture.PROP if part is ladder[0] else picture.SURFACE))
    return ladder


def plant(bpy, armature) -> dict:
    """Plant all four limbs on the nearest rungs, and return the report in the planted action."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2bone.plant_feet(surface=GROUND, bones=LIMBS, direction="NEAREST")
    return json.loads(armature.animation_data.action["ik2bone"])["report"]


def _way(walking: character.Walker) -> track.Track:
    """The way of the climb, which does not travel along the ground. The figure is seen from its right, facing right."""
    leg, count = walking.clip.leg, walking.clip.frames
    return track.Track(np.zeros(2), np.zeros(2), -np.pi / 2, 0.0, leg, np.zeros(count))


def _shoot(bpy, walking: character.Walker, source, way: track.Track, report: dict) -> list[picture.Row]:
    """Copy the body at the instants of both actions: first the source, then the planted action."""
    bpy.context.scene.frame_set(walking.frames[0])
    body = figure.make_body(bpy, walking.armature, walking.feet)
    planted, rows = walking.armature.animation_data.action, []
    places = (np.arange(SHOWN) - (SHOWN - 1) / 2) * way.slot
    for action, side in ((source, "before"), (planted, "after")):
        show.play(walking.armature, action)
        shots = []
        for place, seconds in zip(places, FIRST + APART * np.arange(SHOWN), strict=True):
            frame = walking.frames[round(float(seconds) * climber.FPS)]
            bpy.context.scene.frame_set(frame)
            instant = track.Instant(frame - walking.frames[0], float(place), float(place))
            found = find_misses(walking.armature, report, frame)
            shots.append(picture.take(bpy, body, instant, way, found))
        caption = (f"climb on uneven ladder, {side}", _caption(report[side], way.leg))
        rows.append(picture.Row(caption, tuple(shots), ("", "ring: holding on beside the rung")))
    return rows


def find_misses(armature, report: dict, frame: int) -> list[Miss]:
    """The touching points of limbs that hold on at `frame` but are farther than TOLERANCE from their anchors."""
    misses, world = [], np.array(armature.matrix_world)
    for foot in report["feet"]:
        held = [s for s in report["spans"] if s["bone"] == foot["bone"] and s["start"] <= frame <= s["end"]]
        matrix = world @ np.array(armature.pose.bones[foot["bone"]].matrix)
        ball = matrix[:3, :3] @ foot["ball"] + matrix[:3, 3]
        away = min((float(np.linalg.norm(ball - span["anchor"])) for span in held), default=0.0)
        if away > TOLERANCE * report["leg"]:
            misses.append(Miss(ball, away))
    return misses


def _caption(side: dict[str, float], leg: float) -> str:
    """A line with the report's figures of one side, before or after, with lengths as shares of the leg."""
    off = max(side["float"], side["penetration"])
    shares = (("off the rungs", off), ("drift", side["drift"]), ("short", side["short"]))
    text = ", ".join(f"{name} {100 * value / leg:.1f} %" for name, value in shares)
    return f"hands and feet, worst, of the leg: {text}; knee pop {side['knee_pop']:.1f} degrees"
