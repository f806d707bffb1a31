# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's calls of the planner, and the seconds of these calls alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call of `ik2bone.plan.plant`: its arguments and its seconds."""

    given: tuple[Any, ...]
    named: dict[str, Any]
    seconds: float


@contextmanager
def watched(clock: Callable[[], float] = time.perf_counter) -> Iterator[list[Call]]:
    """Collect every call of the planner from all modules that have it as `plant`, with its seconds by `clock`."""
    plain, calls = import_module("ik2bone.plan").plant, []

    def plant(*given, **named):
        began = clock()
        try:
            return plain(*given, **named)
        finally:
            calls.append(Call(given, named, clock() - began))

    callers = [module for module in list(sys.modules.values()) if getattr(module, "__dict__", {}).get("plant") is plain]
    for module in callers:
        module.plant = plant
    try:
        yield calls
    finally:
        for module in callers:
            module.plant = plain
