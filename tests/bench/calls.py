# SPDX-License-Identifier: MIT
"""The times of each option and of typical calls, by the solver's builds: python -m tests.bench.calls.

Nanoseconds a row of 4,096 and, in brackets, the ratio to the time of the bare tile kernel in the same build. Every
build that this processor supports runs in a process of its own, chosen by IK2BONE_BUILD. --publish puts the table into
docs/speed.md instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ik2bone
import numpy as np

from tests.bench import by_c, cases
from tests.bench.clocks import Clock, of_call, race
from tests.bench.page import markdown, number, processor, publish

ROWS = 4096
BUILDS = ("avx512", "avx2", "plain")
BARE = "bare tile kernel"
DEFAULTS = dict(pole_weight=1.0, twist=0.0, soften=1.0, weight=1.0, min_angle=0.0, max_angle=np.pi, cone_angle=np.pi)
# These options have no effect without a second one, for instance a number without its direction.
TOGETHER = {"pole_weight": "pole", "cone_axis": "cone_angle", "cone_angle": "cone_axis", "end_goal": "end_matrix"}
OZZ = ("pole", "hinge", "roll")
ADDON = (*OZZ, "pole_weight", "weight", "end_matrix", "end_goal", "root_scale", "mid_scale")

Times = dict[str, float]  # nanoseconds a row by the name of a call


@dataclass(frozen=True)
class Call:
    """A line of the table. The aim is in times of the bare tile kernel, of the best build."""

    name: str
    clock: Callable[[], Clock]
    aim: float | None = None


def own(
    name: str, function: str, options: Iterator[str] | tuple[str, ...], aim: float | None = None, **more: Any
) -> Call:
    """A call of a function with some of the bench's options, and `more` options or another `kind` of numbers."""
    kind, chosen = more.pop("kind", "float32"), tuple(options)

    def clock() -> Clock:
        case = cases.make(function, ROWS, kind, with_options=True)
        given = {option: case.options[option] for option in chosen} | more
        return of_call(getattr(ik2bone, function), case.arrays, given)

    return Call(f"`{function}`{', ' if name else ''}{name}", clock, aim)


def into(columns: bool) -> Call:
    """A call of `solve` into arrays of the caller, which are columns of one array or separate arrays."""

    def clock() -> Clock:
        case = cases.make("solve", ROWS, "float32")
        whole = np.empty((ROWS, 8), np.float32)
        out = ik2bone.solve(*case.arrays)
        out = (whole[:, :3], whole[:, 3:6], whole[:, 6], out.status) if columns else tuple(out)
        return of_call(ik2bone.solve, case.arrays, {"out": out})

    return Call("`solve`, `out=` " + ("columns of one array" if columns else "arrays of their own"), clock)


def notebook() -> Call:
    """A call of `solve` with one limb of lists and many targets, in double precision."""

    def clock() -> Clock:
        target = cases.make("solve", ROWS, "float64").arrays[3]
        limb = [0.0, 0.0, 1.0], [0.0, -0.05, 0.5], [0.0, 0.0, 0.0]
        return of_call(ik2bone.solve, (*limb, target), {"pole": [0.0, -1.0, 0.0], "soften": 0.95})

    return Call("`solve`, a notebook's: a limb of lists, many targets, pole, soften", clock)


def options_of(function: str) -> list[str]:
    return list(cases.make(function, 1, "float32", with_options=True).options)


def alone(function: str) -> Iterator[Call]:
    """Calls with each option alone, or with the option that it needs."""
    for option in options_of(function):
        partner = "hinge" if option == "roll" else TOGETHER.get(option)
        if option == "cone_angle":
            continue
        names = (option, partner) if partner else (option,)
        yield own(", ".join(names), function, names)
    if function != "orient":
        yield own("bend", function, (), bend="nearest")


def every_call() -> Iterator[Call]:
    for function, plain, defaults, whole in (("solve", 1.5, DEFAULTS, 3.5), ("orient", 2.0, {}, None)):
        yield own("", function, (), plain)
        yield own("float64", function, (), kind="float64")
        if defaults:
            yield own("defaults written out", function, (), plain, **defaults)
        yield from alone(function)
        yield own("every option", function, tuple(options_of(function)), whole)
    yield own("", "solve_pose", (), 2.5)
    yield own("float64", "solve_pose", (), kind="float64")
    yield own("defaults written out", "solve_pose", (), 2.5, **DEFAULTS, roll="pose", bend="carried")
    yield from alone("solve_pose")
    yield own("every option", "solve_pose", tuple(options_of("solve_pose")), 7.0)
    yield own("every option, float64", "solve_pose", tuple(options_of("solve_pose")), kind="float64")
    yield own("the job of ozz's IKTwoBoneJob: pole, hinge, roll", "solve_pose", OZZ, 3.0)
    yield own("that, soften, twist, weight", "solve_pose", (*OZZ, "soften", "twist", "weight"), 4.5)
    yield own("the README's: end_matrix, hinge, roll", "solve_pose", ("end_matrix", "hinge", "roll"), 4.0)
    yield own("the add-on's: that, end_goal, pole, weights, scales", "solve_pose", ADDON)
    yield own("the README's: pole", "solve", ("pole",))
    yield notebook()
    yield into(columns=False)
    yield into(columns=True)


def bare_clock(library: Path) -> Clock:
    points = cases.make("solve", ROWS, "float32").arrays
    return by_c.bare(by_c.opened(library), points)[0]


def measured(library: Path | None) -> Times:
    """The times of all calls in the build of this process. The calls run in turns."""
    calls = list(every_call())
    names = [call.name for call in calls] + ([BARE] if library else [])
    clocks = [call.clock() for call in calls] + ([bare_clock(library)] if library else [])
    return {name: 1e9 * time / ROWS for name, time in zip(names, race(clocks), strict=True)}


def measured_in(build: str, library: Path | None) -> Times:
    """The times of all calls in another process, which uses this build."""
    command = [sys.executable, "-m", "tests.bench.calls", "--measure", *([str(library)] if library else [])]
    answer = subprocess.run(command, env=os.environ | {"IK2BONE_BUILD": build}, stdout=subprocess.PIPE, check=True)
    return json.loads(answer.stdout)


def table(times: dict[str, Times]) -> Iterator[str]:
    rows = [["4,096 rows, float32", *(f"`{build}`" for build in times), "aim"]]
    aims = {call.name: call.aim for call in every_call()} | {BARE: None}
    for name, aim in aims.items():
        cells = [cell(of_build, name) for of_build in times.values() if name in of_build]
        if cells:
            rows.append([name, *cells, f"{aim}" if aim else ""])
    return markdown(rows)


def cell(times: Times, name: str) -> str:
    ratio = f" ({number(times[name] / times[BARE])})" if BARE in times and name != BARE else ""
    return number(times[name]) + ratio


def page() -> str:
    """The table of all builds that this processor supports."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            library = by_c.compiled_in(Path(folder))
        except by_c.NotBuilt as reason:
            library = None
            print(f"Not measured: the bare tile kernel, as it could not be compiled: {reason}.")
        builds = BUILDS[BUILDS.index(ik2bone._core.build) :]
        times = {build: measured_in(build, library) for build in builds}
    lines = [f"{processor()}. In brackets, and as aims: in bare tile kernels of the same build.", "", *table(times)]
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--measure"]:
        print(json.dumps(measured(Path(arguments[1]) if arguments[1:] else None)))
    elif arguments == ["--publish"]:
        publish("Options and calls, measured", page())
    else:
        print(page())


if __name__ == "__main__":
    main(sys.argv[1:])
