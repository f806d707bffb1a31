# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as bars in the Dope Sheet and the timeline: one row a foot, with the heel's bars above the ball's."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import blf
import bpy
import gpu
import numpy as np
from bpy.types import Context, Region
from gpu_extras.batch import batch_for_shader

from ..run.contacts import Rows
from .panel import scale_of, shown_record
from .rows import COLOURS, SHORT, Colour, bones_in, rows_on, short_frames, short_names

# Sizes in unscaled pixels: the lower edge of the lowest row, which is above the scroll bar and the markers; the heights
# of a row, of a bar and of names; and the distance from the end of a bar within which the mouse grabs that end.
LOWEST, ROW, BAR, TEXT, GRIP = 46, 22, 9, 10, 6
# The editor's modes that show keys of objects. Its other modes show other rows.
MODES = {"DOPESHEET", "ACTION", "TIMELINE"}
BEHIND, NAME, CHOSEN = (0.0, 0.0, 0.0, 0.45), (1.0, 1.0, 1.0, 0.9), (1.0, 1.0, 1.0, 1.0)

# Maps a frame to its place in a region, in pixels from the left side.
Place = Callable[[float], float]


class Bar(NamedTuple):
    """The rectangle of a contact in pixels of a region, with the contact's number in the list on the action."""

    number: int
    left: float
    right: float
    low: float
    high: float


# The new frames of a contact while it is dragged, by its number; they are stored when the drag ends.
dragged: dict[int, dict[str, int]] = {}


def bars(rows: Rows, place: Place, scale: float) -> list[Bar]:
    """The bars of contacts, each from half a frame before its first to half a frame after its last frame."""
    lanes, shown = _lanes(rows, scale), []
    for number, row in enumerate(rows):
        low = lanes[row["bone"]] + scale * (BAR + 1) * (row["part"] == "heel")
        times = row | dragged.get(number, {})
        shown.append(Bar(number, *_across(times["start"], times["end"], place), low, low + scale * BAR))
    return shown


def short_bars(rows: Rows, short: Iterable[tuple[str, int, int]], place: Place, scale: float) -> list[Bar]:
    """Thin bars above those of a foot, on the frames on which the leg does not reach."""
    lanes = _lanes(rows, scale)
    low, high = 2 * (BAR + 1) * scale, ROW * scale
    return [
        Bar(-1, *_across(start, end, place), lanes[bone] + low, lanes[bone] + high)
        for bone, start, end in short
        if bone in lanes
    ]


def _lanes(rows: Rows, scale: float) -> dict[str, float]:
    """The lower edge of each foot's row; the first foot has the highest row."""
    return {bone: scale * (LOWEST + ROW * lane) for lane, bone in enumerate(reversed(bones_in(rows)))}


def _across(start: int, end: int, place: Place) -> tuple[float, float]:
    return place(start - 0.5), place(end + 0.5)


def hit(shown: Iterable[Bar], x: float, y: float, scale: float) -> tuple[int, tuple[str, ...]] | None:
    """The contact whose bar is at a place in the region, and the ends that a drag from there moves; None beside bars.

    A drag from near an end moves this end, any other drag both. Near means within `GRIP`, but at most a third of the
    bar. Where two bars touch, the one under the mouse is taken.
    """
    found = []
    for bar in shown:
        beside = max(bar.left - x, x - bar.right, 0.0)
        if bar.low <= y <= bar.high and beside <= scale * GRIP:
            grip = min(scale * GRIP, (bar.right - bar.left) / 3)
            ends = ("start",) * (x < bar.left + grip) or ("end",) * (x > bar.right - grip) or ("start", "end")
            found.append((beside, bar.number, ends))
    return min(found)[1:] if found else None


def are_shown(context: Context) -> bool:
    """Whether the present editor shows bars.

    It reads `mode`, because `ui_mode` prints a warning in timelines. Editors of other types may have no modes.
    """
    return bool(context.scene.ik2bone_contacts.bars) and getattr(context.space_data, "mode", None) in MODES


def bars_in(context: Context, region: Region) -> list[Bar]:
    """The bars of the contacts that are shown, in pixels of a region of the Dope Sheet."""
    return bars(rows_on(context), _place_in(region), scale_of(context))


def _place_in(region: Region) -> Place:
    return lambda frame: float(region.view2d.view_to_region(frame, 0.0, clip=False)[0])


def draw() -> None:
    """Draw the bars if they are switched on in the scene."""
    context = bpy.context
    rows = rows_on(context) if are_shown(context) else []
    if not rows:
        return
    active, region, scale = context.scene.ik2bone_contacts.active, context.region, scale_of(context)
    lanes = _lanes(rows, scale)
    top = max(lanes.values()) + scale * ROW
    shown, short = bars_in(context, region), short_frames(shown_record(context)["report"])
    _fill([
        (Bar(-1, 0.0, region.width, scale * (LOWEST - 2), top), BEHIND),
        *((_grown(bar, scale), CHOSEN) for bar in shown if bar.number == active),
        *((bar, COLOURS[rows[bar.number]["state"]]) for bar in shown),
        *((bar, SHORT) for bar in short_bars(rows, short, _place_in(region), scale)),
    ])  # fmt: skip
    for bone, low in lanes.items():
        _write(short_names(tuple(lanes)[::-1])[bone], scale * 8, low + scale * 6, scale)


def _grown(bar: Bar, by: float) -> Bar:
    return Bar(bar.number, bar.left - by, bar.right + by, bar.low - by, bar.high + by)


def _fill(parts: list[tuple[Bar, Colour]]) -> None:
    """Fill rectangles in this order."""
    corners = [((b.left, b.low), (b.right, b.low), (b.right, b.high), (b.left, b.high)) for b, _ in parts]
    points = np.array(corners, np.float32).reshape(-1, 2)
    colours = np.repeat(np.array([colour for _, colour in parts], np.float32), 4, axis=0)
    faces = (4 * np.arange(len(parts))[:, None, None] + [[0, 1, 2], [0, 2, 3]]).reshape(-1, 3).astype(np.int32)
    shader = gpu.shader.from_builtin("FLAT_COLOR")
    gpu.state.blend_set("ALPHA")
    batch: Any = batch_for_shader(shader, "TRIS", {"pos": points, "color": colours}, indices=faces)
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def _write(text: str, x: float, y: float, scale: float) -> None:
    blf.size(0, TEXT * scale)
    blf.color(0, *NAME)
    blf.position(0, x, y, 0.0)
    blf.draw(0, text)
