# SPDX-License-Identifier: GPL-3.0-or-later
"""What the last run did, drawn in the 3D view: a print at every anchor, and the paths of the feet before and after."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from ik2bone.arrays import Array

from ..run import records
from ..run.contacts import Rows, at_once
from .panel import played_action
from .rows import COLOURS, SHORT, Colour, is_short, short_frames

# Half the width of a print by the distance from heel to ball (Winter, 2009: 0.3 and less), or where that is not known
# in leg lengths; and corners of its rounded ends.
HALF_WIDTH, WIDTH, CORNERS = 0.3, 0.05, 9
# Prints are drawn so far over the ground (leg lengths) that it does not hide them.
RAISED = 0.005
# What is out of reach has a second, smaller outline, whose half width is this share of the print's.
INNER = 0.6
BEFORE, AFTER = (0.6, 0.6, 0.6, 0.7), (1.0, 0.65, 0.1, 1.0)
THIN, THICK = 1.5, 4.0
# How visible those parts of a print are that lie behind something, as a level print in a slope does.
HIDDEN = 0.3


class Line(NamedTuple):
    """A line strip in world space, with its colour and the numbers of the contacts that it stands for."""

    points: Array
    colour: Colour
    contacts: tuple[int, ...] = ()


class Lying(NamedTuple):
    """How a sole lies: unit vectors ahead and up from it, and the two ways from its heel to the ball and on to the tip;
    None where they are not known.
    """

    ahead: Array
    up: Array
    lengths: Sequence[float] | None


# What is being moved: it is drawn over all else, and stored at the end.
moved: list[Line] = []


def prints(record: records.Record) -> list[Line]:
    """Outlines of the soles where they stand, of heel and ball that stand at once together; out of reach, two of each.

    A record of which no run has told how soles lie has them lie level.
    """
    report, soles = record["report"], record["soles"]
    alone = {number: row for number, row in enumerate(record.get("contacts") or []) if row.get("anchor")}
    short, lines = short_frames(report), []
    for number in sorted(alone, key=lambda number: alone[number]["part"]):
        if number not in alone:
            continue
        row = alone.pop(number)
        others = [n for n, other in alone.items() if at_once(row, other)][:1]
        standing = [row, *(alone.pop(other) for other in others)]
        sole = soles.get(row["bone"], {})
        lying = _lying(row, standing, sole, report["leg"])
        ends = _on_ground(standing, lying, sole.get("ball_height", 0.0))
        whole = [(1.0, COLOURS[row.get("state", "automatic")])]
        sizes = [*whole, (INNER, SHORT)] if any(is_short(each, short) for each in standing) else whole
        lines += [Line(outline(ends, report["leg"], lying, size), colour, (number, *others)) for size, colour in sizes]
    return lines


def _lying(row: dict[str, Any], standing: Rows, sole: dict[str, Any], leg: float) -> Lying:
    """How the sole of a contact lies, by the run that found it if the contact tells."""
    if row.get("ahead") and row.get("up"):
        return Lying(np.array(row["ahead"]), np.array(row["up"]), sole.get("lengths"))
    anchors = np.array([each["anchor"] for each in standing])
    ahead = anchors[0] - anchors[-1] if len(anchors) > 1 else np.array([0.0, 1.0, 0.0])
    return Lying(ahead / max(np.hypot(*ahead[:2]), 1e-6 * leg), np.array([0.0, 0.0, 1.0]), None)


def _on_ground(standing: Rows, lying: Lying, height: float) -> Array:
    """The anchors of contacts (N, 3) on the ground; that of a ball is as high as its joint is over the sole."""
    return np.array([row["anchor"] - height * lying.up * (row["part"] == "ball") for row in standing])


def outline(ends: Array, leg: float, lying: Lying, size: float = 1.0) -> Array:
    """A closed line (N, 3) round a standing point, or round ball and heel; round the whole sole where that is known.

    `size` is the share of the width that it has.
    """
    width, front, back = size * WIDTH * leg, ends[0], ends[-1]
    if lying.lengths is not None:
        width = size * HALF_WIDTH * lying.lengths[0]
        if len(ends) > 1:
            front = front + max(lying.lengths[1] - width, 0.0) * lying.ahead
            back = back + width * lying.ahead
    angle = np.linspace(-np.pi / 2, np.pi / 2, CORNERS)[:, None]
    aside = np.cross(lying.up, lying.ahead)
    round_front = np.cos(angle) * lying.ahead - np.sin(angle) * aside
    points = np.concatenate([front + width * round_front, back - width * round_front])
    return np.concatenate([points, points[:1]]) + RAISED * leg * lying.up


def paths(text: Any, report: dict[str, Any]) -> list[Line]:
    """The paths of the balls before and after, and their parts where a foot was short of its target."""
    found = records.paths_in(text)
    if found is None:
        return []
    sides, feet = ((found.before, BEFORE), (found.after, AFTER)), range(len(found.bones))
    lines = [Line(path[:, n], colour) for path, colour in sides for n in feet]
    for bone, start, end in short_frames(report):
        if bone in found.bones:
            frames = slice(max(start - found.first - 1, 0), end - found.first + 2)
            lines.append(Line(found.after[frames, found.bones.index(bone)], SHORT))
    return lines


def lines_of(record: records.Record, stored_paths: Any) -> list[Line]:
    """All that is drawn of a record, and of the paths that are stored beside it."""
    return prints(record) + paths(stored_paths, record["report"])


@lru_cache(maxsize=4)
def _batches(record: str, stored_paths: str) -> list[tuple[Line, Any]]:
    """What is drawn for the texts of a record and of paths."""
    return [(line, _batch(line)) for line in lines_of(records.read_record(record)[0], stored_paths)]


def _batch(line: Line) -> Any:
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    return batch_for_shader(shader, "LINE_STRIP", {"pos": line.points.astype(np.float32)})


def draw() -> None:
    """Draw what the scene's list of contacts asks for, from the record of the action that is played."""
    context = bpy.context
    contacts, action = context.scene.ik2bone_contacts, played_action(context)
    if not contacts.overlay or not records.read(action)["report"]:
        return
    stored = _batches(action[records.RECORD], str(action.get(records.PATHS)))
    lines = [*stored, *((line, _batch(line)) for line in moved)]
    gpu.state.blend_set("ALPHA")
    _draw(lines, contacts.active, "LESS_EQUAL")
    # In this order, as a line that has been drawn would pass the first test again, and does not pass the second.
    _draw([drawn for drawn in lines if drawn[0].contacts], contacts.active, "GREATER", HIDDEN)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")


def _draw(lines: list[tuple[Line, Any]], active: int, depth: str, share: float = 1.0) -> None:
    """Draw what passes a test of depth, so much of its colour; what stands for the active contact in thick lines."""
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    gpu.state.depth_test_set(depth)
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    for line, batch in lines:
        shader.uniform_float("color", (*line.colour[:3], share * line.colour[3]))
        shader.uniform_float("lineWidth", THICK if active in line.contacts else THIN)
        batch.draw(shader)


def forget() -> None:
    """Keep nothing of what was drawn."""
    moved.clear()
    _batches.cache_clear()
