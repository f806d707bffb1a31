# SPDX-License-Identifier: MIT
"""The page of measured speeds: tables in Markdown, and the replacement of sections in docs/speed.md."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "speed.md"


def processor() -> str:
    """The processor's model name if the system tells it, else the name that Python knows."""
    cpuinfo = Path("/proc/cpuinfo")
    known = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":")[1].strip() for line in known if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def number(value: float) -> str:
    """A number with three significant digits, or all of its integer digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def markdown(rows: list[list[str]]) -> Iterator[str]:
    """The lines of a table whose columns are as wide as needed, with numbers aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for i, row in enumerate(rows):
        first, *others = [f"{text:>{width}}" for text, width in zip(row, widths, strict=True)]
        yield "| " + " | ".join([f"{row[0]:{widths[0]}}", *others]) + " |"
        if i == 0:
            yield "| " + " | ".join(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]) + " |"


def replaced(page: str, heading: str, text: str) -> str:
    """The page with a new text in the section of this heading. Raises ValueError if there is no such section."""
    head, found, old = page.partition(f"## {heading}\n\n")
    if not found:
        raise ValueError(f"the page has no section {heading!r}")
    _, following, tail = old.partition("\n## ")
    return head + found + text.rstrip("\n") + "\n" + following + tail


def publish(heading: str, text: str) -> None:
    """Replace the text of a section in docs/speed.md."""
    PAGE.write_text(replaced(PAGE.read_text(), heading, text))
