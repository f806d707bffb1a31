# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay in the 3D view: a footprint at every anchor, and the paths of the feet before and after the run."""

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

# Half the width of a print as a share of the distance from heel to ball (Winter, 2009: 0.3 and less); the same in leg
# lengths, for where that distance is not known; and the number of corners of each rounded end.
HALF_WIDTH, WIDTH, CORNERS = 0.3, 0.05, 9
# The height of prints over the ground (leg lengths), so that the ground does not hide them.
RAISED = 0.005
# A contact out of reach has a second outline, with this share of the print's width.
INNER = 0.6
BEFORE, AFTER = (0.6, 0.6, 0.6, 0.7), (1.0, 0.65, 0.1, 1.0)
THIN, THICK = 1.5, 4.0
# The opacity of parts of a print that lie behind something, for instance within a slope.
HIDDEN = 0.3


class Line(NamedTuple):
    """A line strip in world space, its colour, and the numbers of the contacts that it shows."""

    points: Array
    colour: Colour
    contacts: tuple[int, ...] = ()


class Lying(NamedTuple):
    """How a sole lies: its unit vectors `ahead` and `up`, and the lengths from heel to ball and from ball to tip.

    `lengths` is None where they are not known.
    """

    ahead: Array
    up: Array
    lengths: Sequence[float] | None


# The outlines of the footprint that is being moved; its place is stored when the move ends.
moved: list[Line] = []


def prints(record: records.Record) -> list[Line]:
    """The outlines of soles at their anchors.

    Heel and ball that stand at the same time share one outline. Contacts out of reach get a second outline. Soles lie
    level where the record does not contain how they lie.
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
        # The anchor of a ball is at its joint, above the sole.
        height = sole.get("ball_height", 0.0) * lying.up
        ends = np.array([each["anchor"] - height * (each["part"] == "ball") for each in standing])
        whole = [(1.0, COLOURS[row["state"]])]
        sizes = [*whole, (INNER, SHORT)] if any(is_short(each, short) for each in standing) else whole
        lines += [Line(outline(ends, report["leg"], lying, size), colour, (number, *others)) for size, colour in sizes]
    return lines


def _lying(row: dict[str, Any], standing: Rows, sole: dict[str, Any], leg: float) -> Lying:
    """How the sole of a contact lies: as stored with the contact, else level, ahead from its heel to its ball."""
    if row.get("ahead") and row.get("up"):
        return Lying(np.array(row["ahead"]), np.array(row["up"]), sole.get("lengths"))
    anchors = np.array([each["anchor"] for each in standing])
    ahead = anchors[0] - anchors[-1] if len(anchors) > 1 else np.array([0.0, 1.0, 0.0])
    return Lying(ahead / max(np.hypot(*ahead[:2]), 1e-6 * leg), np.array([0.0, 0.0, 1.0]), None)


def outline(ends: Array, leg: float, lying: Lying, size: float = 1.0) -> Array:
    """A closed line (N, 3) around one standing point, or around ball and heel, or around the whole sole if known.

    `size` scales the width of the outline.
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
    """The paths of the balls before and after, and in another colour their parts on which the leg does not reach."""
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
    """All lines for a record and for the paths that are stored beside it."""
    return prints(record) + paths(stored_paths, record["report"])


@lru_cache(maxsize=4)
def _batches(record: str, stored_paths: str) -> list[tuple[Line, Any]]:
    """The lines for a record and for paths as stored texts, each with its batch for the GPU."""
    return [(line, _batch(line)) for line in lines_of(records.read_record(record)[0], stored_paths)]


def _batch(line: Line) -> Any:
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    return batch_for_shader(shader, "LINE_STRIP", {"pos": line.points.astype(np.float32)})


def draw() -> None:
    """Draw the overlay of the played action if it is switched on in the scene."""
    context = bpy.context
    contacts = context.scene.ik2bone_contacts
    action = played_action(context) if contacts.overlay else None
    if not records.read(action)["report"]:
        return
    stored = _batches(action[records.RECORD], str(action.get(records.PATHS)))
    lines = [*stored, *((line, _batch(line)) for line in moved)]
    gpu.state.blend_set("ALPHA")
    _draw(lines, contacts.active, "LESS_EQUAL")
    # This order is needed: pixels of the first pass fail the second depth test, but not the other way round.
    _draw([drawn for drawn in lines if drawn[0].contacts], contacts.active, "GREATER", HIDDEN)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")


def _draw(lines: list[tuple[Line, Any]], active: int, depth: str, share: float = 1.0) -> None:
    """Draw the pixels that pass a depth test, with a share of their opacity; the active contact in thick lines."""
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    gpu.state.depth_test_set(depth)
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    for line, batch in lines:
        shader.uniform_float("color", (*line.colour[:3], share * line.colour[3]))
        shader.uniform_float("lineWidth", THICK if active in line.contacts else THIN)
        batch.draw(shader)


def forget() -> None:
    """Drop all lines and batches."""
    moved.clear()
    _batches.cache_clear()
