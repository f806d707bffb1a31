# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs as generators: between two steps the caller can show the progress, or stop the run."""

from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import closing
from ctypes import c_ulong, py_object, pythonapi
from math import inf
from threading import Thread
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")

# The main thread waits this long (s) for a worker thread before it yields progress.
PIECE = 0.02
# Planning this number of frames takes 0.2 s at most for two legs, which is too short for a thread: that would have to
# wait while the window is drawn.
SHORT = 300


class Progress(NamedTuple):
    """What a run is doing, and the share (0 to 1) of the run that is done."""

    doing: str
    share: float


Stages = Generator[Progress, None, Result]


def finish(stages: Stages[Result]) -> Result:
    """Drive a run to its end without a pause, and return its result."""
    while True:
        try:
            next(stages)
        except StopIteration as end:
            return end.value


def aside(work: Callable[[], Result], progress: Progress, frames: float = inf) -> Stages[Result]:
    """Do work that does not use Blender in a thread, so that the window stays responsive, and return its result.

    If the run is stopped, the thread ends at its next Python instruction. Work on at most SHORT frames needs no thread.
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
    """The same stages as part of a longer run, whose progress goes from `start` to `end` (0 to 1) meanwhile."""
    with closing(stages):
        while True:
            try:
                doing, share = next(stages)
            except StopIteration as last:
                return last.value
            yield Progress(doing, start + share * (end - start))
