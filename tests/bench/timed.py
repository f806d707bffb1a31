# SPDX-License-Identifier: GPL-3.0-or-later
"""The seconds of the operator's stages, measured on the functions that do their work."""

from __future__ import annotations

import inspect
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import get_ident
from typing import Any

from demo import session

# For each thread, the seconds of the stages inside each running stage, the innermost last. Threads are kept apart
# because a run goes on in its own thread while it plans in another one.
Within = defaultdict[int, list[float]]

# The functions that do the work of each stage. Those of the add-on begin with a dot. "run" is what the pipeline itself
# does between the other stages.
STAGES = {
    "limbs": (".rig.body.find_body", ".rig.checks.check_chain"),
    "sample": (".pose.sample.sampling",),
    "proof": (".pose.sample.proven",),
    "skins": (".pose.skins.find_skins",),
    "ground": (".ground.meshes.making_ground",),
    "plan": ("ik2bone.plan.plant",),
    "contacts": ("ik2bone.contacts.standing.feet_that_stand",),
    "correct": (".run.pipeline._correct",),
    "keep": (
        ".run.transaction.keep_pose",
        ".run.transaction.keep_curves",
        ".run.transaction.switch_to_copy",
        ".keys.channels.count_handmade",
    ),
    "write": (".run.output.write_keys",),
    "report": (".run.pipeline._report", "ik2bone.report.measures.figures", "ik2bone.report.measures.contact_spans"),
    "record": (".run.records.read_record", ".run.records.store", ".run.records.paths_as_text"),
    "run": (".run.pipeline.planting",),
}


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Collect the seconds of processor time of every stage, without those of other stages inside it.

    What a run takes beyond all of them is Blender's own: its evaluation after the run, and its other threads.
    """
    spent, changed = dict.fromkeys(STAGES, 0.0), []
    within: Within = defaultdict(lambda: [0.0])
    for stage, function in ((stage, function) for stage, own in STAGES.items() for function in own):
        place, _, name = function.rpartition(".")
        plain = getattr(import_module(f"{session.ADDON}{place}" if place.startswith(".") else place), name)
        watched = _watched(plain, stage, spent, within)
        for module in list(sys.modules.values()):
            if getattr(module, "__dict__", {}).get(name) is plain:
                setattr(module, name, watched)
                changed.append((module, name, plain))
    try:
        yield spent
    finally:
        for module, name, plain in changed:
            setattr(module, name, plain)


def _watched(plain: Callable[..., Any], stage: str, spent: dict[str, float], within: Within) -> Callable[..., Any]:
    """The function `plain`, or generator function, with its own time added to that of its stage."""

    def measure(work: Callable[[], Any]) -> Any:
        inner, began = within[get_ident()], time.thread_time()
        inner.append(0.0)
        try:
            return work()
        finally:
            whole = time.thread_time() - began
            spent[stage] += whole - inner.pop()
            inner[-1] += whole

    def steps(*given: Any, **named: Any) -> Iterator[Any]:
        made, end = plain(*given, **named), object()
        result: list[Any] = []

        def ended() -> Iterator[Any]:
            result.append((yield from made))

        run = ended()
        while (step := measure(lambda: next(run, end))) is not end:
            yield step
        return result[0]

    if inspect.isgeneratorfunction(plain):
        return steps
    return lambda *given, **named: measure(lambda: plain(*given, **named))
