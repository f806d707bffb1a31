# SPDX-License-Identifier: MIT
"""Nanoseconds a row (a joint, for aggregate) of the solver's functions, against peers and against copying the bytes.

Processor time, least of several runs: other work on the machine hardly moves it. python -m tests.bench [function ...]
"""

from __future__ import annotations

import itertools
import sys
import time
import timeit
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import ik2bone
import numpy as np

from tests.bench import by_numpy, cases

try:
    import bpy  # noqa: F401  # brings mathutils

    from tests.bench import by_loop as loop
except ImportError:
    loop: ModuleType | None = None

ROWS = (1, 16, 4096, 1_000_000)
SLOWEST = {"numpy": 1_000_000, "loop": 4096}
RUNS = 5
LEAST = 0.004


def timed(function: Callable[..., Any], given: Sequence[Any], options: dict[str, Any] | None = None) -> float:
    """Least processor time in nanoseconds of a call as one would write it, without packing and unpacking."""
    placed = {f"given_{i}": value for i, value in enumerate(given)}
    words = [*placed, *(f"{name}={name}" for name in options or {})]
    names = {"function": function, **placed, **(options or {})}
    timer = timeit.Timer(f"function({', '.join(words)})", timer=time.process_time, globals=names)
    count = max(1, int(LEAST / max(timer.timeit(1), 1e-6)))
    count = max(1, int(count * LEAST / max(timer.timeit(count), 1e-6)))
    return 1e9 * min(timer.repeat(RUNS, count)) / count


def ours(case: cases.Case, **out: Any) -> float:
    function = getattr(ik2bone, case.function)
    return timed(function, (*case.parents, *case.arrays), {**case.options, **out}) / case.rows


def copying(case: cases.Case, out: Any) -> float:
    """Reading and writing as many bytes, each array copied onto another."""
    inputs = [*case.arrays, *(v for v in case.options.values() if isinstance(v, np.ndarray))]
    outputs = [o for o in (out if isinstance(out, tuple) else (out,)) if o is not None]
    size = max(sum(a.nbytes for a in inputs), sum(a.nbytes for a in outputs))
    source, target = np.ones(size, "u1"), np.empty(size, "u1")
    return timed(np.copyto, (target, source)) / case.rows


def peer(name: str, module: ModuleType | None, case: cases.Case) -> float | None:
    if module is None or case.options or case.rows > SLOWEST[name]:
        return None
    function = getattr(module, case.function)
    given = case.arrays
    if module is loop and case.arrays[0].shape in ((3,), (4, 4)):
        given = tuple(a[None] for a in given)
    return timed(function, (*case.parents, *given)) / case.rows


def measure(case: cases.Case) -> dict[str, float | None]:
    results = getattr(ik2bone, case.function)(*case.parents, *case.arrays, **case.options)
    out = results if isinstance(results, np.ndarray) else tuple(results)
    return {
        "new": ours(case),
        "out": ours(case, out=out),
        "copy": copying(case, out),
        "numpy": peer("numpy", by_numpy, case),
        "loop": peer("loop", loop, case),
    }


def line(case: cases.Case, kind: str, layout: str) -> str:
    """One row of the table: times of our calls, and how many times as long the others take."""
    found = measure(case)
    own, out = found["new"], found["out"]
    assert own is not None and out is not None and found["copy"] is not None
    ratio = lambda other: "-" if other is None else f"{other / out:.1f}"  # noqa: E731
    options = "all" if case.options else "none"
    times = f"{own:10.1f} {out:10.1f} {out / found['copy']:8.1f}"
    return (
        f"{case.function:10} {kind:7} {layout:10} {options:7} {case.rows:8} "
        f"{times} {ratio(found['numpy']):>8} {ratio(found['loop']):>8}"
    )


def main(functions: list[str]) -> None:
    print(f"{'function':10} {'kind':7} {'layout':10} {'options':7} {'rows':>8} ", end="")
    print(f"{'ns a row':>10} {'with out':>10} {'/ copy':>8} {'numpy /':>8} {'loop /':>8}")
    for function, kind, layout, options, rows in itertools.product(
        functions or cases.FUNCTIONS, ("float32", "float64"), ("contiguous", "strided"), (False, True), ROWS
    ):
        print(line(cases.make(function, rows, kind, layout, options), kind, layout), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
