# SPDX-License-Identifier: MIT
"""The report as a plot over frames: which parts stand when, and how well, before and after; needs matplotlib.

In a notebook `plot(report)` as the last line of a cell shows it; `plot(report).savefig("report.png")` writes a file.
"""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise ImportError("a report is plotted by matplotlib, which is missing: pip install matplotlib") from error

from ..targets.heel import VISIBLE
from .measures import FRAME_FIGURES, SIDES
from .text import changes, foot_names

Row = dict[str, Any]

FAINT, INK = "#e4e4e4", "#444444"
SIDE_COLOURS = {"before": "#e9b384", "after": "#1f6f9f"}
STATE_COLOURS = {"automatic": "#9cc3ac", "enforced": "#47825f"}
# In order from the bottom, above the contacts.
EVENT_COLOURS = {"foot_pop": "#b7950b", "knee_pop": "#7d3c98", "short": "#c0392b"}


class ReportFigure(Figure):
    """A figure that notebooks show without a plotting session."""

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


def plot(report: Row) -> Figure:
    """Draw a report that `report.figures` returned or a planted action stores; lengths are scene units.

    For each foot, over the frames: contacts of heel and ball, automatic and enforced, with the names of their supports;
    above them the frames that are short or pop; the drift of every contact; its float upwards and its penetration
    downwards. Pale colours are before, dark colours after.
    """
    names = foot_names(report)
    figure = ReportFigure(figsize=(13.0, 0.8 + 2.9 * len(names)), dpi=110, layout="constrained")
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
        limits = np.array([row.get_ylim() for row in rows])
        for row in rows:
            # Values too small to be seen in the clip would fill a plot that is scaled to them.
            row.set_ylim(limits.min(), max(limits.max(), VISIBLE * report["leg"]))
    axes[-1].set_xlabel("frame", fontsize="small")
    # The title has the length of the leg, because lengths in the plot can be judged by it.
    title = f"worst, before to after: {changes(report)}, which is {report['leg']:.3g} long"
    figure.suptitle(title, fontsize="medium", color=INK)
    figure.legend(handles=_legend(report), loc="outside lower center", ncols=9, fontsize="small", frameon=False)
    return figure


def _draw_contacts(axes: Axes, name: str, spans: list[Row], report: Row) -> None:
    """Bars of the ball, above them bars of the heel, with the names of supports where the bars are wide enough."""
    axes.set_title(name, loc="left", fontsize="large", fontweight="bold", color=INK)
    axes.set_yticks([0.4, 1.4], ["ball", "heel"])
    axes.set_ylim(-0.2, 3.0)
    first, last = report["frames"]
    for span in spans:
        (start, width), bottom = _extent(span), float(span["part"] == "heel")
        axes.broken_barh([(start, width)], (bottom, 0.8), facecolors=STATE_COLOURS[span["state"]])
        # A letter takes about 0.006 of the width of all frames.
        if 0.006 * len(span["support"]) * (last - first) < width:
            place, colour = (start + 0.5 * width, bottom + 0.4), "white" if span["state"] == "enforced" else INK
            axes.annotate(span["support"], place, ha="center", va="center", fontsize="x-small", color=colour)
    if not spans:
        _say(axes, "no contacts")


def _say(axes: Axes, words: str) -> None:
    axes.text(0.5, 0.3, words, transform=axes.transAxes, ha="center", fontsize="small", color=INK)


def _draw_events(axes: Axes, foot: Row) -> None:
    for row, (name, colour) in enumerate(EVENT_COLOURS.items()):
        extents = [_extent(event) for event in foot[f"{name}_at"]]
        axes.broken_barh(extents, (2.0 + 0.3 * row, 0.25), facecolors=colour)


def _draw_drift(axes: Axes, spans: list[Row]) -> None:
    axes.set_ylabel("drift", fontsize="small", color=INK)
    held = [span for span in spans if span["drift"] is not None]
    _draw_bars(axes, held, lambda figures: (0.0, figures["drift"]))
    if spans and not held:
        _say(axes, "no anchor is held")


def _draw_heights(axes: Axes, spans: list[Row]) -> None:
    axes.set_ylabel("penetration | float", fontsize="x-small", color=INK)
    _draw_bars(axes, spans, lambda figures: (-figures["penetration"], figures["float"]))
    axes.axhline(0.0, color=INK, linewidth=0.6)


def _draw_bars(axes: Axes, spans: list[Row], extremes: Callable[[Row], tuple[float, float]]) -> None:
    """Bars as wide as contacts, heel and ball over one another; the outlines of "before" are drawn over "after"."""
    for side, filled in (("before", True), ("after", True), ("before", False)):
        colour = SIDE_COLOURS[side]
        for span in spans:
            low, high = extremes(span[side])
            fill, edge = (colour, "none") if filled else ("none", colour)
            axes.broken_barh([_extent(span)], (low, high - low), facecolors=fill, edgecolors=edge, linewidth=0.8)


def _extent(row: Row) -> tuple[float, float]:
    """Left edge and width of a bar over the frames from start to end, each of which is one wide."""
    return row["start"] - 0.5, row["end"] - row["start"] + 1.0


def _tidy(axes: Axes, frames: list[int]) -> None:
    axes.set_xlim(frames[0] - 0.5, frames[1] + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(labelsize="small", length=0, labelcolor=INK)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)


def _legend(report: Row) -> list[Patch]:
    """The legend entries of the colours that the report uses."""
    states = {span["state"] for span in report["spans"]}
    feet = report["after"]["feet"]
    events = [name for name in FRAME_FIGURES if any(foot[f"{name}_at"] for foot in feet)]
    labels = {"short": "short of target", "knee_pop": "knee pop", "foot_pop": "foot pop"}
    return [
        *(Patch(color=SIDE_COLOURS[side], label=side) for side in SIDES),
        *(Patch(color=STATE_COLOURS[state], label=f"{state} contact") for state in STATE_COLOURS if state in states),
        *(Patch(color=EVENT_COLOURS[name], label=labels[name]) for name in events),
    ]
