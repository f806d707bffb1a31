# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as people read it: figures with units, each judged by its limit, and notes in order of weight."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor, isfinite, log10
from typing import Any

import blf
import bpy
from bpy.types import UnitSettings
from ik2bone.notes import Note
from ik2bone.report import ROWS, summary
from ik2bone.report.measures import FOOT_POP, KNEE_POP, SHORT, SIDES, SPAN_FIGURES, VISIBLE

Figures = dict[str, Any]

DEGREES = ("knee_pop", "flexion", "flexion_median")
ACCELERATIONS = ("hips_peak", "hips_rms")
# The package's labels name the unit where figures are shown without one.
UNIT = ", degrees"
# Of what is told in leg lengths.
LIMITS = {"drift": VISIBLE, "penetration": VISIBLE, "float": VISIBLE, "short": SHORT, "foot_pop": FOOT_POP}
SHORT_NOTES = ("feet_short", "hands_short")
LENGTHS_IN_NOTES = {
    **dict.fromkeys(SHORT_NOTES, ("distance",)),
    **{f"worse_{name}": SIDES for name in SPAN_FIGURES},
}
GOOD, NEUTRAL, LOOK, BAD, TOLD = "CHECKMARK", "BLANK1", "HIDE_OFF", "ERROR", "INFO"


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure before and after, with the icon that tells whether the figure after is good.

    `before` is empty where a source has no such figure, `limit` where hips may move as they like, and `frame` is None
    where no single one is the worst.
    """

    label: str
    before: str
    after: str
    icon: str
    limit: str
    frame: int | None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def rows_of(report: Figures, units: UnitSettings) -> Iterator[Row]:
    """The figures that are not zero on both sides."""
    for name, label in ROWS:
        values = [report[side].get(name, 0) for side in SIDES]
        if not any(values):
            continue
        zero, before, after = (_text(name, value, report["leg"], units) for value in (0, *values))
        if before != zero or after != zero:
            shown, limit = before if name in SPAN_FIGURES else "", _limit(name, report["leg"])
            good = "" if limit is None else _text(name, limit, report["leg"], units)
            frame = _worst_frame(report, name)
            yield Row(sentence(label.removesuffix(UNIT)), shown, after, _verdict(report, name), good, frame)


def _worst_frame(report: Figures, name: str) -> int | None:
    """The frame on which a figure is worst; that of frames which are counted is the one of what they are counted by."""
    frames = report.get("worst")
    frame = frames.get(name.removesuffix("_frames")) if isinstance(frames, dict) else None
    return int(frame) if _is_number(frame) else None


def short(reports: Sequence[Figures], units: UnitSettings) -> str:
    """What the status bar has room for; all of it is in the sidebar."""
    if len(reports) > 1:
        return f"Planted {len(reports)} armatures: the sidebar has the report of the active one"
    report = reports[0]
    counted = summary(report | {"told": []}).partition(":")[0]
    after, leg, labels = report["after"], report["leg"], dict(ROWS)
    figures = [f"{labels[name]} {_text(name, after[name], leg, units)}" for name in SPAN_FIGURES]
    notes = len(report["told"])
    told = f"; {notes} note{'s' if notes > 1 else ''} in the sidebar" if notes else ""
    return f"{counted}: {', '.join(figures)}{told}"


def _verdict(report: Figures, name: str) -> str:
    """The icon of a figure: good within its limit; over that to be looked at, and bad where it is worse than before."""
    limit = _limit(name, report["leg"])
    if limit is None:
        return NEUTRAL
    before, after = (report[side].get(name, 0) for side in SIDES)
    if after <= limit:
        return GOOD
    return BAD if after > before else LOOK


def _limit(name: str, leg: float) -> float | None:
    """Up to where a figure is good; how hips move has no limit, it is a means to the other figures."""
    if name in DEGREES:
        return KNEE_POP
    if name.endswith("_frames"):
        return 0.0
    return LIMITS[name] * leg if name in LIMITS else None


def _text(name: str, value: float, leg: float, units: UnitSettings) -> str:
    """A figure with its unit."""
    if name.endswith("_frames"):
        return str(int(value))
    if name in DEGREES:
        return f"{value:.1f}°"
    return f"{value:.1f} leg/s²" if name in ACCELERATIONS else _length(value, leg, units)


def _length(value: float, leg: float, units: UnitSettings) -> str:
    """A length in the scene's units, to about a thousandth of the leg."""
    digits = 3 - floor(log10(leg))
    if units.system == "NONE":
        # Blender 4.5 crashes when it is asked for the text of a length without units.
        return f"{value:.{max(0, digits)}f}"
    length = round(value, digits) * units.scale_length
    return str(bpy.utils.units.to_string(units.system, "LENGTH", length, precision=3))


def notes_of(report: Figures, units: UnitSettings) -> list[tuple[str, str]]:
    """What the user should know, each sentence with its icon: damage first, then misses and other warnings, then what
    was done, which is no warning.
    """
    told, notes = report["told"], report.get("notes", [])
    # What the add-on itself tells has no note and follows what the package tells.
    notes = [*notes, *({} for _ in told[len(notes) :])]
    pairs = zip(notes, told, strict=False)
    weighed = [
        (_weight(report, str(n.get("code", "")), text), _with_units(n, text, report["leg"], units)) for n, text in pairs
    ]
    return [(sentence(text), BAD if weight < 3 else TOLD) for weight, text in sorted(weighed, key=lambda w: w[0])]


def _with_units(note: Figures, text: str, leg: float, units: UnitSettings) -> str:
    """The text of a note with its lengths in the scene's units."""
    code = str(note.get("code", ""))
    lengths = {name: note.get(name) for name in LENGTHS_IN_NOTES.get(code, ())}
    if not lengths or not all(map(_is_number, lengths.values())):
        return text
    try:
        return str(Note(code, note | {name: _Length(_length(value, leg, units)) for name, value in lengths.items()}))
    except (KeyError, ValueError):
        # Someone has changed the note.
        return text


class _Length(str):
    """The text of a length in place of its number, whatever digits that is given."""

    def __format__(self, _digits: str) -> str:
        return str(self)


def _weight(report: Figures, code: str, text: str) -> int:
    """The place of a note in the order; one about a figure that is within its limit comes last."""
    if code.startswith("worse_"):
        return 0 if _verdict(report, code.removeprefix("worse_")) == BAD else 4
    hints = report.get("hints")
    is_hint = isinstance(hints, list) and text in hints
    return 1 if code in SHORT_NOTES else 3 if code or is_hint else 2


def sentence(text: str) -> str:
    """The same text with a capital."""
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=256)
def wrapped(text: str, width: float, size: float) -> tuple[str, ...]:
    """Lines of a text that are no wider than so many pixels in the interface's font of this size.

    Cached because panels ask on every redraw.
    """
    blf.size(0, size)
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and blf.dimensions(0, longer)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return tuple(lines)
