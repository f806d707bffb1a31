# SPDX-License-Identifier: MIT
"""The report as a picture over frames: what stands when, and how well, before and after; needs matplotlib.

In a notebook `plot(report)` as the last line of a cell shows it; `plot(report).savefig("report.png")` writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise ImportError("a report is plotted by matplotlib, which is missing: pip install ik2bone[plot]") from error

from .measures import FRAME_FIGURES, SIDES
from .text import ROWS, foot_names

Row = dict[str, Any]

# Inches, and pixels an inch.
WIDTH, HEAD, FOOT_HEIGHT, DENSITY = 13.0, 0.8, 2.9, 110
FAINT, INK, PAPER, SMALL = "#e4e4e4", "#444444", "#ffffff", 8
SIDE_COLOURS = {"before": "#e9b384", "after": "#1f6f9f"}
STATE_COLOURS = {"automatic": "#9cc3ac", "enforced": "#47825f"}
TEXT_COLOURS = {"automatic": INK, "enforced": PAPER}
EVENT_COLOURS = {"short": "#c0392b", "knee_pop": "#7d3c98", "foot_pop": "#b7950b"}
# Where contacts lie, from the bottom, and what went wrong.
LANES, HEIGHT = {"ball": 0.0, "heel": 1.0}, 0.8
EVENT_LANES, EVENT_HEIGHT = {"foot_pop": 2.0, "knee_pop": 2.3, "short": 2.6}, 0.25
# A letter of the name of a support is as wide as this share of all frames.
LETTER = 0.006


class ReportFigure(Figure):
    """A figure that notebooks show without a plotting session."""

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


def plot(report: Row) -> Figure:
    """Draw a report as `report.figures` makes it and planted actions store it; lengths are scene units.

    For each foot, over the frames: contacts of heel and ball, automatic and enforced, with the names of their supports,
    and over them the frames that are out of reach or pop; the drift of every contact; how high it floats and how deep
    it sinks in. Pale is before, dark is after.
    """
    names = foot_names(report)
    figure = ReportFigure(figsize=(WIDTH, HEAD + FOOT_HEIGHT * len(names)), dpi=DENSITY, layout="constrained")
    heights = (1.1, 0.9, 1.2) * len(names)
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    for leg, name in enumerate(names):
        contacts, drift, ground = axes[3 * leg : 3 * leg + 3]
        spans = [span for span in report["spans"] if span["leg"] == leg]
        _draw_contacts(contacts, name, spans, report)
        _draw_events(contacts, report["after"]["feet"][leg])
        _draw_drift(drift, spans)
        _draw_heights(ground, spans)
    for row in axes:
        _tidy(row, report["frames"])
    for rows in (axes[1::3], axes[2::3]):
        _share_limits(rows)
    axes[-1].set_xlabel("frame", fontsize=SMALL)
    figure.suptitle(_title(report), fontsize=SMALL + 1, color=INK)
    figure.legend(handles=_legend(report), loc="outside lower center", ncols=9, fontsize=SMALL, frameon=False)
    return figure


def _draw_contacts(axes: Axes, name: str, spans: list[Row], report: Row) -> None:
    axes.set_title(name, loc="left", fontsize=SMALL + 3, fontweight="bold", color=INK)
    axes.set_yticks([lane + HEIGHT / 2 for lane in LANES.values()], list(LANES))
    axes.set_ylim(-0.2, 3.0)
    for span in spans:
        axes.broken_barh([_extent(span)], (LANES[span["part"]], HEIGHT), facecolors=STATE_COLOURS[span["state"]])
        _write_support(axes, span, report["frames"])
    if not spans:
        axes.text(0.5, 0.3, "no contacts", transform=axes.transAxes, ha="center", fontsize=SMALL, color=INK)


def _write_support(axes: Axes, span: Row, frames: list[int]) -> None:
    """The name of what a contact stands on, where it is wide enough."""
    start, width = _extent(span)
    if len(span["support"]) * LETTER * (frames[1] - frames[0]) < width:
        place, colour = (start + width / 2, LANES[span["part"]] + HEIGHT / 2), TEXT_COLOURS[span["state"]]
        axes.annotate(span["support"], place, ha="center", va="center", fontsize=SMALL - 1, color=colour)


def _draw_events(axes: Axes, foot: Row) -> None:
    for name, lane in EVENT_LANES.items():
        extents = [_extent(event) for event in foot[f"{name}_at"]]
        axes.broken_barh(extents, (lane, EVENT_HEIGHT), facecolors=EVENT_COLOURS[name])


def _draw_drift(axes: Axes, spans: list[Row]) -> None:
    axes.set_ylabel("drift", fontsize=SMALL, color=INK)
    held = [span for span in spans if span["drift"] is not None]
    _draw_bars(axes, held, lambda figures: (0.0, figures["drift"]))
    if spans and not held:
        axes.text(0.5, 0.4, "no spot is held", transform=axes.transAxes, ha="center", fontsize=SMALL, color=INK)


def _draw_heights(axes: Axes, spans: list[Row]) -> None:
    axes.set_ylabel("under | over", fontsize=SMALL, color=INK)
    _draw_bars(axes, spans, lambda figures: (-figures["penetration"], figures["float"]))
    axes.axhline(0.0, color=INK, linewidth=0.6)


def _draw_bars(axes: Axes, spans: list[Row], extremes: Callable[[Row], tuple[float, float]]) -> None:
    """Bars as wide as contacts, of heel and ball over one another; those before are seen through those after."""
    for side, filled in (("before", True), ("after", True), ("before", False)):
        colour = SIDE_COLOURS[side]
        for span in spans:
            low, high = extremes(span[side])
            fill, edge = (colour, "none") if filled else ("none", colour)
            axes.broken_barh([_extent(span)], (low, high - low), facecolors=fill, edgecolors=edge, linewidth=0.8)


def _share_limits(rows: Sequence[Axes]) -> None:
    """Give axes the same limits, so that feet can be compared."""
    limits = [row.get_ylim() for row in rows]
    for row in rows:
        row.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _extent(row: Row) -> tuple[float, float]:
    """First place and width of frames from start to end, each of which is one wide."""
    return row["start"] - 0.5, row["end"] - row["start"] + 1.0


def _tidy(axes: Axes, frames: list[int]) -> None:
    axes.set_xlim(frames[0] - 0.5, frames[1] + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(labelsize=SMALL, length=0, labelcolor=INK)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)


def _title(report: Row) -> str:
    """The figures over all."""
    before, after = report["before"], report["after"]
    changes = [f"{label} {before[name]:.3g} to {after[name]:.3g}" for name, label in ROWS[:3]]
    return f"before to after, worst: {', '.join(changes)}; leg {report['leg']:.3g}"


def _legend(report: Row) -> list[Patch]:
    """What the colours mean, as far as they are there."""
    states = {span["state"] for span in report["spans"]}
    feet = report["after"]["feet"]
    events = [name for name in FRAME_FIGURES if any(foot[f"{name}_at"] for foot in feet)]
    labels = {"short": "out of reach", "knee_pop": "knee pop", "foot_pop": "foot pop"}
    return [
        *(Patch(color=SIDE_COLOURS[side], label=side) for side in SIDES),
        *(Patch(color=STATE_COLOURS[state], label=f"{state} contact") for state in STATE_COLOURS if state in states),
        *(Patch(color=EVENT_COLOURS[name], label=labels[name]) for name in events),
    ]
