# SPDX-License-Identifier: MIT
"""The report in words: one line, a table, or all of it."""

import math
from typing import Any

from .measures import SIDES, SPAN_FIGURES

# The names of one limb and of several, by kind.
LIMBS = {"foot": "feet", "hand": "hands"}
ROWS = (
    ("drift", "drift"),
    ("penetration", "penetration"),
    ("float", "float"),
    ("short", "short of target, worst"),
    ("short_frames", "short of target, frames"),
    ("knee_pop", "knee pop, degrees"),
    ("knee_pop_frames", "knee pop, frames"),
    ("foot_pop", "foot pop"),
    ("foot_pop_frames", "foot pop, frames"),
    ("flexion_median", "flexion, median"),
    ("flexion", "flexion, 95 %"),
    ("hips_offset", "hips, offset"),
    ("hips_change", "hips, largest step"),
    ("hips_peak", "hips, peak acceleration"),
    ("hips_rms", "hips, rms acceleration"),
)
LENGTHS = (*SPAN_FIGURES, "short", "foot_pop", "hips_offset", "hips_change")
NOISE = 1e-6  # of the leg, about what single precision keeps of a place: tables show less as 0
UNITS = "Lengths are in the units of the clip, flexion in degrees, accelerations in leg lengths per second squared."


def summary(report: dict[str, Any]) -> str:
    """One line for the information area."""
    after = report["after"]
    contacts = _count_contacts(report["spans"])
    text = f"Planted {_count_limbs(report['feet'])}, {contacts} contact{'s' * (contacts != 1)}: {changes(report)}"
    if after["short_frames"]:
        text += f", {after['short_frames']} frames short of target by up to {_percent(report, 'after', 'short')} %"
    return "; ".join([text, *report["told"]])


def _count_contacts(spans: list[dict[str, Any]]) -> int:
    """The number of contacts. Spans of one foot that meet, of either part and any state, are one contact."""
    count, ends = 0, dict.fromkeys((span["leg"] for span in spans), -math.inf)
    for leg, start, end in sorted((span["leg"], span["start"], span["end"]) for span in spans):
        count += start > ends[leg] + 1
        ends[leg] = max(ends[leg], end)
    return count


def changes(report: dict[str, Any]) -> str:
    """The figures of contacts before and after in percent of the leg, which can be judged without the scene."""
    pairs = (f"{name} {_percent(report, 'before', name)} to {_percent(report, 'after', name)}" for name in SPAN_FIGURES)
    return f"{', '.join(pairs)} % of the leg"


def _percent(report: dict[str, Any], side: str, name: str) -> str:
    return f"{100 * report[side][name] / report['leg']:.1f}"


def _count_limbs(feet: list[dict[str, Any]]) -> str:
    counts = [(sum(foot["limb"] == one for foot in feet), one, more) for one, more in LIMBS.items()]
    return " and ".join(f"{count} {one if count == 1 else more}" for count, one, more in counts if count)


def table(report: dict[str, Any]) -> str:
    """The figures over all, before and after, as lines of text with units; lengths below rounding are shown as 0."""
    return f"{_table(report, '', report['before'], report['after'])}\n{UNITS}"


def text(report: dict[str, Any]) -> str:
    """The whole report as lines of text: over all, per foot, per contact, and what the user should know."""
    feet = zip(foot_names(report), report["before"]["feet"], report["after"]["feet"], strict=True)
    return "\n\n".join([table(report), *(_table(report, *foot) for foot in feet), _span_table(report), *report["told"]])


def _figure(report: dict[str, Any], name: str, figure: float | None) -> str:
    """A figure of a table; lengths below rounding are 0."""
    if figure is None:
        return " " * 12
    return f"{0.0 if name in LENGTHS and abs(figure) < NOISE * report['leg'] else figure:>12.4g}"


def foot_names(report: dict[str, Any]) -> list[str]:
    """The names of the limbs of a report: those of their bones if the report has them."""
    return [foot.get("bone", f"{foot['limb']} {number}") for number, foot in enumerate(report["feet"], 1)]


def _table(report: dict[str, Any], title: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    """The figures before and after under a title. The table of a foot has no figures of the hips."""
    sides, rows = (before, after), [(name, label) for name, label in ROWS if name in after]
    lines = [f"{label:24}{''.join(_figure(report, name, side[name]) for side in sides)}" for name, label in rows]
    return "\n".join([f"{title:24}{'before':>12}{'after':>12}", *lines])


def _span_table(report: dict[str, Any]) -> str:
    """One line a contact, in the order of their frames."""
    names = foot_names(report)
    width = max([len("contact"), *map(len, names)])
    titles = "".join(f"{label:>24}" for label in SPAN_FIGURES)
    lines = [f"{'contact':{width}}      {'frames':>13}{titles}  before, after"]
    for span in sorted(report["spans"], key=lambda span: (span["leg"], span["start"], span["part"])):
        figures = "".join(_figure(report, name, span[side][name]) for name in SPAN_FIGURES for side in SIDES)
        kind = ", ".join(filter(None, [span["state"], span["support"]]))
        frames = f"{span['start']} to {span['end']}"
        lines.append(f"{names[span['leg']]:{width}} {span['part']:4} {frames:>13}{figures}  {kind}")
    return "\n".join(lines)
