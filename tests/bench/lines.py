# SPDX-License-Identifier: MIT
"""The lines of the table: the work that is timed, the numbers of rows, and our line with which it is compared."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import ik2bone
import numpy as np

from tests.bench import by_c, by_numpy, cases
from tests.bench.cases import Case
from tests.bench.clocks import Clock, of_call

MILLION = 1_000_000
SINGLE = "float32"


@dataclass(frozen=True)
class Line:
    """A line of the table. `clock` takes the number of rows and whether results go into arrays of the caller."""

    name: str
    clock: Callable[[int, bool], Clock]
    into_out: tuple[bool, ...] = (False, True)  # without `out=` and with it: the ways that exist
    rows: tuple[int, int] = (1, MILLION)  # the least and the greatest number of rows
    against: str | None = None  # the name of our line with which this one is compared


def results(case: Case) -> Any:
    """The arrays for the argument `out`."""
    found = getattr(ik2bone, case.function)(*case.parents, *case.arrays, **case.options)
    return found if isinstance(found, np.ndarray) else tuple(found)


def own_line(function: str, kind: str, layout: str, options: bool) -> Line:
    def clock(rows: int, into_out: bool) -> Clock:
        case = cases.make(function, rows, kind, layout, options)
        out = {"out": results(case)} if into_out else {}
        return of_call(getattr(ik2bone, function), (*case.parents, *case.arrays), {**case.options, **out})

    words = [kind, *(["strided"] if layout == "strided" else []), *(["options"] if options else [])]
    return Line(", ".join(words), clock)


def copy_line(function: str, kind: str) -> Line:
    """Copying an array of as many bytes as the larger of inputs and outputs, to compare with reading and writing."""

    def clock(rows: int, into_out: bool) -> Clock:
        case = cases.make(function, rows, kind)
        found = results(case)
        outputs = [a for a in (found if isinstance(found, tuple) else (found,)) if a is not None]
        size = max(sum(a.nbytes for a in arrays) for arrays in (case.arrays, outputs))
        return of_call(np.copyto, (np.empty(size, "u1"), np.ones(size, "u1")))

    return Line(f"copying the bytes of {kind}", clock, (True,), against=kind)


def numpy_line(function: str, kind: str) -> Line:
    def clock(rows: int, into_out: bool) -> Clock:
        case = cases.make(function, rows, kind)
        return of_call(getattr(by_numpy, function), (*case.parents, *case.arrays))

    return Line(f"numpy, {kind}", clock, (False,), against=kind)


def load_loop() -> ModuleType | None:
    """The module of the loop in Python, or None without Blender, which contains mathutils."""
    try:
        import bpy  # noqa: F401
    except ImportError:
        return None
    from tests.bench import by_loop

    return by_loop


def loop_line(function: str, module: ModuleType) -> Line:
    """The line of the loop in Python. A single row gets an axis of rows, because the loop needs one."""

    def clock(rows: int, into_out: bool) -> Clock:
        case = cases.make(function, rows, SINGLE)
        alone = rows == 1 and not case.parents
        given = [a[None] for a in case.arrays] if alone else case.arrays
        return of_call(getattr(module, function), (*case.parents, *given))

    return Line("mathutils loop", clock, (False,), (1, 4096), against=SINGLE)


def chain_line(function: str, library: ctypes.CDLL) -> Line:
    def clock(rows: int, into_out: bool) -> Clock:
        return by_c.chain(library, cases.make(function, rows, SINGLE))[0]

    return Line("one-limb C, cglm", clock, (True,), against=SINGLE)


def bare_line(library: ctypes.CDLL) -> Line:
    """The line of the bare tile kernel, which takes only positions, in whole tiles."""

    def clock(rows: int, into_out: bool) -> Clock:
        return by_c.bare(library, cases.make("solve", rows, SINGLE).arrays)[0]

    return Line("bare tile kernel", clock, (True,), (by_c.LANES, MILLION), against=SINGLE)


def lines_of(function: str, library: ctypes.CDLL | None, loop: ModuleType | None) -> list[Line]:
    """All lines of a function: our own first, then those of the available peers."""
    kinds = (SINGLE, "float64")
    result = [own_line(function, k, lay, o) for o in (False, True) for k in kinds for lay in ("contiguous", "strided")]
    if library and function in ("solve", "solve_pose"):
        result.append(bare_line(library))
    if library:
        result.append(chain_line(function, library))
    if loop:
        result.append(loop_line(function, loop))
    return [*result, *(make(function, k) for make in (numpy_line, copy_line) for k in kinds)]
