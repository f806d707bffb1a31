# SPDX-License-Identifier: MIT
"""Processor time of repeated calls: least of several rounds, so that other work on the machine hardly moves it."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Sequence
from typing import Any

# Seconds of so many repetitions of one thing.
Clock = Callable[[int], float]

LEAST = 0.004  # seconds a round, against the clock's own steps
SLOW = 0.1  # seconds a call, from which on few rounds are enough
ROUNDS, SLOW_ROUNDS = 9, 3


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
    count = max(1, int(LEAST / max(clock(1), 1e-6)))
    return max(1, int(count * LEAST / max(clock(count), 1e-6)))


def race(clocks: Sequence[Clock]) -> list[float]:
    """Least seconds of one repetition of each; they take turns, so that all see the same machine."""
    counts = [enough(clock) for clock in clocks]
    least = [float("inf")] * len(clocks)
    for turn in range(ROUNDS):
        for i, (clock, count) in enumerate(zip(clocks, counts, strict=True)):
            if turn < SLOW_ROUNDS or least[i] < SLOW:
                least[i] = min(least[i], clock(count) / count)
    return least
