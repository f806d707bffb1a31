# SPDX-License-Identifier: MIT
"""The processor time of repeated calls: the least of several rounds, which other work on the machine hardly changes."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Sequence
from typing import Any

# A function that runs work a number of times and returns its seconds.
Clock = Callable[[int], float]

ROUND = 0.001  # seconds of a round: many steps of the clock, and short enough to fall between other work
BUDGET = 0.15  # seconds in rounds for each clock
ROUNDS = 2  # the least number of rounds, however long they take


def of_call(function: Callable[..., Any], given: Sequence[Any], options: dict[str, Any] | None = None) -> Clock:
    """The clock of a call as users write it, without packing and unpacking of arguments."""
    placed = {f"given_{i}": value for i, value in enumerate(given)}
    words = [*placed, *(f"{name}={name}" for name in options or {})]
    names = {"function": function, **placed, **(options or {})}
    return timeit.Timer(f"function({', '.join(words)})", timer=time.process_time, globals=names).timeit


def of_loop(loop: Callable[[int], Any]) -> Clock:
    """The clock of a function that repeats its work by itself, a given number of times."""

    def clock(count: int) -> float:
        start = time.process_time()
        loop(count)
        return time.process_time() - start

    return clock


def enough(clock: Clock) -> int:
    """The number of repetitions that fill a round. The first repetitions warm up caches."""
    count = max(1, int(ROUND / max(clock(1), 1e-6)))
    return 1 if count == 1 else max(1, int(count * ROUND / max(clock(count), 1e-6)))


def race(clocks: Sequence[Clock]) -> list[float]:
    """The least seconds of one repetition by each clock. Clocks run in turns, so that all meet the same load."""
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
