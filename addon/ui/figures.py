# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as shown in the sidebar: figures with units, judged by their limits, and notes in order of weight."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor, isfinite, log10
from typing import Any

import blf
import bpy
from bpy.types import UnitSettings
from ik2bone.notes import Note
from ik2bone.reach import SHORT_NOTES
from ik2bone.report import ROWS, summary
from ik2bone.report.measures import FOOT_POP, KNEE_POP, SHORT, SIDES, SPAN_FIGURES, VISIBLE

Figures = dict[str, Any]

DEGREES = ("knee_pop", "flexion", "flexion_median")
ACCELERATIONS = ("hips_peak", "hips_rms")
# The ending of labels that name a unit, which the sidebar shows beside the number instead.
UNIT = ", degrees"
# Limits in leg lengths.
LIMITS = {"drift": VISIBLE, "penetration": VISIBLE, "float": VISIBLE, "short": SHORT, "foot_pop": FOOT_POP}
LENGTHS_IN_NOTES = {
    **dict.fromkeys(SHORT_NOTES, ("distance",)),
    **{f"worse_{name}": SIDES for name in SPAN_FIGURES},
}
GOOD, NEUTRAL, LOOK, BAD, TOLD = "CHECKMARK", "BLANK1", "HIDE_OFF", "ERROR", "INFO"


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure before and after, with the icon that tells whether the figure after is good.

    `before` is empty for figures that a source does not have, `limit` for figures without a limit, and `frame` is None
    where no single frame is the worst one.
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
    """The figures without those that are zero both before and after."""
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
    """The frame on which a figure is worst. A number of frames has the worst frame of the figure that is counted."""
    frames = report.get("worst")
    frame = frames.get(name.removesuffix("_frames")) if isinstance(frames, dict) else None
    return int(frame) if _is_number(frame) else None


def short(reports: Sequence[Figures], units: UnitSettings) -> str:
    """A short form of the reports for the status bar. The sidebar shows the whole."""
    if len(reports) > 1:
        return f"Planted {len(reports)} clips: the sidebar has the report of the one that the active armature plays"
    report = reports[0]
    counted = summary(report | {"told": []}).partition(":")[0]
    after, leg, labels = report["after"], report["leg"], dict(ROWS)
    figures = [f"{labels[name]} {_text(name, after[name], leg, units)}" for name in SPAN_FIGURES]
    notes = len(report["told"])
    told = f"; {notes} note{'s' if notes > 1 else ''} in the sidebar" if notes else ""
    return f"{counted}: {', '.join(figures)}{told}"


def _verdict(report: Figures, name: str) -> str:
    """The icon of a figure: good within its limit; beyond the limit bad if worse than before, else worth a look."""
    limit = _limit(name, report["leg"])
    if limit is None:
        return NEUTRAL
    before, after = (report[side].get(name, 0) for side in SIDES)
    if after <= limit:
        return GOOD
    return BAD if after > before else LOOK


def _limit(name: str, leg: float) -> float | None:
    """The greatest good value of a figure; None for the motion of the hips, which has no limit."""
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
        # `to_string` crashes Blender 4.5 for the unit system NONE.
        return f"{value:.{max(0, digits)}f}"
    length = round(value, digits) * units.scale_length
    return str(bpy.utils.units.to_string(units.system, "LENGTH", length, precision=3))


def notes_of(report: Figures, units: UnitSettings) -> list[tuple[str, str]]:
    """The sentences of a report with their icons: figures that became worse, misses, other warnings, then hints."""
    told, notes = report["told"], report.get("notes", [])
    # The package's sentences come first and have a note each. The add-on's own sentences follow without notes.
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
        # The note on the action was edited from outside.
        return text


class _Length(str):
    """The text of a length, which a template inserts unchanged although it formats a number."""

    def __format__(self, _digits: str) -> str:
        return str(self)


def _weight(report: Figures, code: str, text: str) -> int:
    """The rank of a note: 0 is shown first, and 4, for a figure within its limit, last."""
    if code.startswith("worse_"):
        return 0 if _verdict(report, code.removeprefix("worse_")) == BAD else 4
    hints = report.get("hints")
    is_hint = isinstance(hints, list) and text in hints
    return 1 if code in SHORT_NOTES else 3 if code or is_hint else 2


def sentence(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=256)
def wrapped(text: str, width: float, size: float) -> tuple[str, ...]:
    """The text in lines of at most `width` pixels, in the interface's font of this `size`.

    Cached because panels are drawn often.
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
