# SPDX-License-Identifier: GPL-3.0-or-later
"""A run as a generator of small steps, so that whoever drives it can show progress between them, or stop there."""

from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import closing
from ctypes import c_ulong, py_object, pythonapi
from math import inf
from threading import Thread
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")

# Work without Blender's data is waited for in pieces of this length (s).
PIECE = 0.02
# So many frames are planned in 0.05 s: a thread would only wait for a processor, on which a window is drawn meanwhile.
SHORT = 300


class Progress(NamedTuple):
    """What a run is at, and how much of the whole is done (0 to 1)."""

    doing: str
    share: float


Stages = Generator[Progress, None, Result]


def finish(stages: Stages[Result]) -> Result:
    """Drive a run to its end at once."""
    while True:
        try:
            next(stages)
        except StopIteration as end:
            return end.value


def aside(work: Callable[[], Result], progress: Progress, frames: float = inf) -> Stages[Result]:
    """The result of work that knows nothing of Blender, done in a thread so that a window stays alive meanwhile.

    When the run is stopped, so is the work, at its next step in Python. That of few `frames` is done at once.
    """
    if frames <= SHORT:
        return work()
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.join(PIECE) or thread.is_alive():
            yield progress
    except GeneratorExit:
        pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread.ident), py_object(SystemExit))
        raise
    return future.result()


def part_of(stages: Stages[Result], start: float, end: float) -> Stages[Result]:
    """The same stages as a part of a longer run, from `start` to `end` of it (0 to 1)."""
    with closing(stages):
        while True:
            try:
                doing, share = next(stages)
            except StopIteration as last:
                return last.value
            yield Progress(doing, start + share * (end - start))
