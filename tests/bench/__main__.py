# SPDX-License-Identifier: MIT
"""Nanoseconds a row (a joint, for aggregate) of the solver's functions, as a page of tables: python -m tests.bench.

Arguments that name functions choose some of them. --publish puts the page into docs/speed.md instead. Times are
processor time, the least of many rounds.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.bench import by_c, cases, lines
from tests.bench.clocks import race
from tests.bench.lines import MILLION, SINGLE, Line
from tests.bench.page import markdown, number, processor, publish

# The number of rows, and whether results go into arrays of the caller (`out=`). Peers that only write into such arrays
# are shown in the columns of many rows, too.
COLUMNS = ((1, False), (1, True), (16, False), (4096, False), (MILLION, False))
AIMS = {"solve": 1.5, "solve_pose": 2.5}  # in times of the bare kernel, at 4,096 rows
CALL_AIMS = {False: 0.9, True: 0.5}  # microseconds of one call of solve on one limb

LEGEND = """\
Nanoseconds a row, over so many rows in one call. `aggregate`: a joint of skeletons of up to 100 joints.
In brackets: the time relative to that of the solver without options, in the same precision."""

# Nanoseconds a row, by the name of the line and the column.
Times = dict[tuple[str, tuple[int, bool]], float]


def runs(line: Line, column: tuple[int, bool]) -> bool:
    rows, into_out = column
    wanted = into_out in line.into_out or (rows > 1 and not into_out)
    return wanted and line.rows[0] <= rows <= line.rows[1]


def timed(function: str, chosen: list[Line]) -> Times:
    """All times of a function. Lines run in turns, but those of a million rows, which need much memory, one by one."""
    result: Times = {}
    for rows, into_out in COLUMNS:
        running = [line for line in chosen if runs(line, (rows, into_out))]
        for group in [[line] for line in running] if rows == MILLION else [running]:
            least = race([line.clock(rows, into_out) for line in group])
            count = cases.make(function, rows, SINGLE).rows
            result |= {(line.name, (rows, into_out)): 1e9 * t / count for line, t in zip(group, least, strict=True)}
    return result


def cell(line: Line, column: tuple[int, bool], times: Times) -> str:
    """The time of a line and, in brackets, its ratio to the time of our line."""
    if (line.name, column) not in times:
        return ""
    time = times[line.name, column]
    ratio = f" ({number(time / times[line.against, column])})" if line.against else ""
    return number(time) + ratio


def table(function: str, shown: list[Line], times: Times) -> Iterator[str]:
    heads = [f"{rows:,}" + (", `out=`" if into_out else "") for rows, into_out in COLUMNS]
    rows = [[line.name, *(cell(line, column, times) for column in COLUMNS)] for line in shown]
    return markdown([[f"`{function}`", *heads], *rows])


def aims(all_times: dict[str, Times]) -> Iterator[str]:
    """A table of the measured values and the aims, in single precision."""
    rows = [["", "measured", "aim"]]
    for function, aim in AIMS.items():
        times = all_times.get(function, {})
        own, bare = times.get((SINGLE, (4096, False))), times.get(("bare tile kernel", (4096, False)))
        if own and bare:
            text = f"{own / bare:.2f} bare kernels of {number(bare)} ns"
            rows.append([f"`{function}`, a row of 4,096", text, f"{aim}"])
    for into_out, aim in CALL_AIMS.items():
        time = all_times.get("solve", {}).get((SINGLE, (1, into_out)))
        if time:
            name = "one call of `solve` on one limb" + (", `out=`" if into_out else "")
            rows.append([name, f"{time / 1000:.2f} microseconds", f"{aim}"])
    return markdown(rows) if len(rows) > 1 else iter(())


def load_library(folder: str) -> ctypes.CDLL | None:
    """The library of the peers in C, or None with a printed line if it cannot be compiled."""
    try:
        library = by_c.load(Path(folder))
    except by_c.NotBuilt as reason:
        print(f"Not measured: one-limb C and the bare tile kernel, as they could not be compiled: {reason}.")
        return None
    print(f"Build in use: {library.bare_build().decode()}.")
    return library


def main(functions: list[str]) -> None:
    print(f"{processor()}, {platform.system()}, Python {platform.python_version()}, numpy {np.__version__}.")
    all_times = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        library, loop = load_library(folder), lines.load_loop()
        if not loop:
            print("Not measured: the mathutils loop, as bpy is not installed.")
        print("", LEGEND, "", sep="\n")
        for function in functions or cases.FUNCTIONS:
            shown = lines.lines_of(function, library, loop)
            all_times[function] = timed(function, shown)
            print(*table(function, shown, all_times[function]), "", sep="\n", flush=True)
    print(*aims(all_times), sep="\n")


def told() -> str:
    """The whole page as text."""
    page = io.StringIO()
    with contextlib.redirect_stdout(page):
        main([])
    return page.getvalue()


if __name__ == "__main__":
    publish("Measured", told()) if sys.argv[1:] == ["--publish"] else main(sys.argv[1:])
