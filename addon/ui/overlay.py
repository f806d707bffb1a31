# SPDX-License-Identifier: GPL-3.0-or-later
"""What the last run did, drawn in the 3D view: a print at every anchor, and the ways of the feet before and after."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
from bpy.types import Object
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from ..rig.body import find_armature
from ..run import kept, records
from ..run.contacts import Rows
from .panel import played_action
from .rows import COLOURS, Colour

Array = NDArray[np.float64]

# Half the width of a print, in leg lengths, about that of a foot, and corners of its rounded ends.
WIDTH, CORNERS = 0.05, 9
# Prints are drawn so far over their anchors (leg lengths) that the ground does not hide them.
RAISED = 0.005
BEFORE, AFTER, SHORT = (0.6, 0.6, 0.6, 0.7), (1.0, 0.65, 0.1, 1.0), (1.0, 0.1, 0.1, 1.0)
THIN, THICK = 1.5, 4.0


class Line(NamedTuple):
    """A line strip in world space, with its colour and the numbers of the contacts that it stands for."""

    points: Array
    colour: Colour
    contacts: tuple[int, ...] = ()


def prints(rows: Rows, report: dict[str, Any]) -> list[Line]:
    """Outlines of the feet where they stand: round the ball and the heel that stand at once, or round either alone."""
    heights = {foot["bone"]: foot.get("sole_height", 0.0) for foot in report.get("feet", ())}
    alone = {number: row for number, row in enumerate(rows) if row.get("anchor")}
    lines = []
    for number in sorted(alone, key=lambda number: alone[number]["part"]):
        if number not in alone:
            continue
        row = alone.pop(number)
        others = [n for n, other in alone.items() if _at_once(row, other)][:1]
        standing = [row, *(alone.pop(other) for other in others)]
        ends = np.array([_on_ground(part, heights) for part in standing])
        lines.append(Line(outline(ends, report["leg"]), COLOURS[row.get("state", "automatic")], (number, *others)))
    return lines


def _on_ground(row: dict[str, Any], heights: dict[str, float]) -> list[float]:
    """The anchor of a contact; that of a ball is as high as its joint is over the sole."""
    x, y, z = row["anchor"]
    return [x, y, z - (heights.get(row["bone"], 0.0) if row["part"] == "ball" else 0.0)]


def _at_once(row: dict[str, Any], other: dict[str, Any]) -> bool:
    same = row["bone"] == other["bone"] and row["part"] != other["part"]
    return bool(same and row["start"] <= other["end"] and other["start"] <= row["end"])


def outline(ends: Array, leg: float) -> Array:
    """A closed line (N, 3) round one point, or round the straight line from the second point to the first."""
    ahead = ends[0] - ends[-1] if len(ends) > 1 else np.array([0.0, 1.0, 0.0])
    ahead = ahead / max(np.hypot(*ahead[:2]), 1e-6 * leg)
    aside = np.array([-ahead[1], ahead[0], 0.0])
    angle = np.linspace(-np.pi / 2, np.pi / 2, CORNERS)[:, None]
    round_ball = np.cos(angle) * ahead - np.sin(angle) * aside
    points = np.concatenate([ends[0] + WIDTH * leg * round_ball, ends[-1] - WIDTH * leg * round_ball])
    return np.concatenate([points, points[:1]]) + (0.0, 0.0, RAISED * leg)


def paths(armature: Object, report: dict[str, Any]) -> list[Line]:
    """The ways of the balls before and after, while the last plan is kept, and their parts that were out of reach."""
    plan = kept.last_plan(armature)
    if plan is None:
        return []
    before, after = plan.clip.ball, plan.apply(plan.clip).ball
    sides, legs = ((before, BEFORE), (after, AFTER)), range(plan.clip.legs)
    lines = [Line(path[:, n], colour) for path, colour in sides for n in legs]
    for n, foot in enumerate(report["after"].get("feet", ())[: plan.clip.legs]):
        for event in foot.get("short_at", ()):
            start, end = (event[name] - report["frames"][0] for name in ("start", "end"))
            lines.append(Line(after[max(start - 1, 0) : end + 2, n], SHORT))
    return lines


@lru_cache(maxsize=4)
def _batches(name: str, text: str, plan: int) -> list[tuple[Line, Any]]:
    """What is drawn for an armature by its name, for a record's text and the identity of the plan that is kept."""
    record = records.read_record(text)[0]
    report = record["report"]
    lines = prints(record.get("contacts") or [], report) + paths(bpy.data.objects[name], report)
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    return [(line, batch_for_shader(shader, "LINE_STRIP", {"pos": line.points.astype(np.float32)})) for line in lines]


def draw() -> None:
    """Draw what the scene's list of contacts asks for, from the record of the action that is played."""
    context = bpy.context
    contacts, action = context.scene.ik2bone_contacts, played_action(context)
    if not contacts.overlay or not records.read(action)["report"]:
        return
    armature = find_armature(context)
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.blend_set("ALPHA")
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    for line, batch in _batches(armature.name, action[records.RECORD], id(kept.last_plan(armature))):
        shader.uniform_float("color", line.colour)
        shader.uniform_float("lineWidth", THICK if contacts.active in line.contacts else THIN)
        batch.draw(shader)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")


def forget() -> None:
    """Keep nothing of what was drawn."""
    _batches.cache_clear()
