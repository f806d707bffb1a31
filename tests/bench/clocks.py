# SPDX-License-Identifier: MIT
"""Processor time of repeated calls: least of several rounds, so that other work on the machine hardly moves it."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Sequence
from typing import Any

# Seconds of so many repetitions of one thing.
Clock = Callable[[int], float]

ROUND = 0.001  # seconds: many of the clock's own steps, and short enough to fall between other work
BUDGET = 0.15  # seconds for one thing, in rounds
ROUNDS = 2  # at least, however long they take


def of_call(function: Callable[..., Any], given: Sequence[Any], options: dict[str, Any] | None = None) -> Clock:
    """A call as one would write it, without packing and unpacking."""
    placed = {f"given_{i}": value for i, value in enumerate(given)}
    words = [*placed, *(f"{name}={name}" for name in options or {})]
    names = {"function": function, **placed, **(options or {})}
    return timeit.Timer(f"function({', '.join(words)})", timer=time.process_time, globals=names).timeit


def of_loop(loop: Callable[[int], Any]) -> Clock:
    """Something that repeats itself so many times."""

    def clock(count: int) -> float:
        start = time.process_time()
        loop(count)
        return time.process_time() - start

    return clock


def enough(clock: Clock) -> int:
    """Repetitions that fill a round; the first ones warm up."""
    count = max(1, int(ROUND / max(clock(1), 1e-6)))
    return 1 if count == 1 else max(1, int(count * ROUND / max(clock(count), 1e-6)))


def race(clocks: Sequence[Clock]) -> list[float]:
    """Least seconds of one repetition of each; they take turns, so that all see the same machine."""
    counts = [enough(clock) for clock in clocks]
    least, spent = [float("inf")] * len(clocks), [0.0] * len(clocks)
    rounds = 0
    while rounds < ROUNDS or min(spent) < BUDGET:
        for i, (clock, count) in enumerate(zip(clocks, counts, strict=True)):
            if rounds < ROUNDS or spent[i] < BUDGET:
                time_taken = clock(count)
                least[i], spent[i] = min(least[i], time_taken / count), spent[i] + time_taken
        rounds += 1
    return least
