# SPDX-License-Identifier: MIT
"""The page of measured speeds: tables as Markdown, and sections of docs/speed.md that are replaced by new ones."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "speed.md"


def processor() -> str:
    """The processor's name for itself, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    known = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":")[1].strip() for line in known if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def number(value: float) -> str:
    """Three digits where there are so many."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def markdown(rows: list[list[str]]) -> Iterator[str]:
    """A table whose columns are as wide as they must be, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for i, row in enumerate(rows):
        first, *others = [f"{text:>{width}}" for text, width in zip(row, widths, strict=True)]
        yield "| " + " | ".join([f"{row[0]:{widths[0]}}", *others]) + " |"
        if i == 0:
            yield "| " + " | ".join(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]) + " |"


def replaced(page: str, heading: str, text: str) -> str:
    """A page whose section of that heading holds a new text, up to the next section."""
    head, found, old = page.partition(f"## {heading}\n\n")
    if not found:
        raise ValueError(f"the page has no section {heading!r}")
    _, following, tail = old.partition("\n## ")
    return head + found + text.rstrip("\n") + "\n" + following + tail


def publish(heading: str, text: str) -> None:
    """Put a text where the section's last one stands."""
    PAGE.write_text(replaced(PAGE.read_text(), heading, text))
