# SPDX-License-Identifier: MIT
"""Whatever fails, and wherever: no reference and no buffer of any argument is kept, and no memory."""

from __future__ import annotations

import subprocess
import sys
from array import array
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import pytest
from functions import FUNCTIONS, Function
from lent import ROWS, each, lend, lend_inputs, lend_outputs

TIMES = 100
ERRORS = (TypeError, ValueError, BufferError, RuntimeError)
CASES = [(function, name) for function in FUNCTIONS.values() for name in function.inputs]
OUT_CASES = [(function, place) for function in FUNCTIONS.values() for place in range(len(function.outputs))]
name_of = lambda case: case.name if isinstance(case, Function) else str(case)  # noqa: E731


class RaisingArray:
    def __array__(self, *_, **__):
        raise RuntimeError("no array")


class RaisingSequence:
    def __len__(self):
        raise RuntimeError("no length")

    def __getitem__(self, place):
        raise RuntimeError("no item")


class RaisingBuffer:
    def __buffer__(self, flags):
        raise RuntimeError("no buffer")  # asked for from Python 3.12 on


def released():
    view = memoryview(array("d", [1.0, 2.0, 3.0]))
    view.release()
    return view


def wrong_inputs(row):
    """What cannot be an argument whose rows have this shape, in every way that there is."""
    shapes = [lend((ROWS, *row[:-1], row[-1] + 1)), lend(row[:-1])] if row else []
    return [
        *("text", b"bytes", bytearray(8), object(), {}, 1j, 10**400, released(), lend((ROWS + 1, *row))),
        *(["1"], [None], [[1.0, 2.0], [3.0]], np.zeros((ROWS, *row), complex), np.zeros((ROWS, *row), "M8[s]")),
        *(RaisingArray(), RaisingSequence(), RaisingBuffer(), lend((*[1] * 40, *row)), lend((*[1] * 33, *row))),
        *shapes,
    ]


# From a good output.
WRONG_OUTPUTS = (
    lambda good: "text",
    lambda good: [1.0],
    lambda good: bytes(good),
    lambda good: good.toreadonly(),
    lambda good: lend((ROWS + 1, *good.shape[1:]), good.format),
    lambda good: np.zeros(good.shape, "f2"),
    lambda good: lend((*[1] * 40, *good.shape), good.format),
    lambda good: released(),
    lambda good: RaisingBuffer(),
    lambda good: np.lib.stride_tricks.as_strided(np.zeros(1, good.format), good.shape, [0] * good.ndim),
)


def fails(function, arguments, out):
    try:
        function(arguments, out=out)
    except ERRORS:
        return True
    return False


def growth(function, arguments, out):
    """Blocks of memory that many calls leave behind."""
    blocks = sys.getallocatedblocks()
    for _ in range(TIMES):
        fails(function, arguments, out)
    return sys.getallocatedblocks() - blocks


def leaks(function, arguments, out):
    """Whether calls leave memory behind, each time that many are made: caches fill now and then."""
    return all(growth(function, arguments, out) >= TIMES // 2 for _ in range(9))


def check(function, arguments, out, fault=None, shall_fail=True):
    """Call often; nothing is kept, and where calls fail nothing is written."""
    views = {id(v): v for v in (*arguments.values(), *each(out)) if isinstance(v, memoryview) and v is not fault}
    before = [bytes(view) for view in views.values()]
    objects = [*arguments.values(), *each(out)]
    counts = [sys.getrefcount(o) for o in objects]
    assert fails(function, arguments, out) == shall_fail
    assert not leaks(function, arguments, out)
    changes = [sys.getrefcount(o) - count for o, count in zip(objects, counts, strict=True)]
    assert max(map(abs, changes)) < TIMES // 2, changes  # None and text have other users
    if shall_fail:
        assert before == [bytes(view) for view in views.values()]
    for view in views.values():
        numbers = view.obj
        view.release()  # a BufferError where something still holds it
        numbers.append(0)


@pytest.mark.parametrize(("function", "name"), CASES, ids=name_of)
def test_a_failing_argument_leaves_nothing_behind(function, name):
    faults = wrong_inputs(function.inputs[name]) + ([] if function.takes_none(name) else [None])
    for fault in faults:
        check(function, lend_inputs(function) | {name: fault}, lend_outputs(function), fault)


def replaced(out, place, wrong):
    return (*out[:place], wrong, *out[place + 1 :]) if isinstance(out, tuple) else wrong


@pytest.mark.parametrize(("function", "place"), OUT_CASES, ids=name_of)
def test_a_failing_output_leaves_nothing_behind(function, place):
    for make in WRONG_OUTPUTS:
        out = lend_outputs(function)
        fault = make(each(out)[place])
        check(function, lend_inputs(function), replaced(out, place, fault), fault)


@pytest.mark.parametrize(("function", "place"), OUT_CASES, ids=name_of)
def test_a_refused_overlap_leaves_nothing_behind(function, place):
    out, memory = lend_outputs(function), np.zeros(1000)
    shape, kind = each(out)[place].shape, each(out)[place].format
    for name, row in function.inputs.items():
        numbers = memory[1 : 1 + ROWS * prod(row)].reshape(ROWS, *row)
        overlapping = np.ndarray(shape, kind, memory, offset=0 if kind == "d" else 8)
        check(function, lend_inputs(function) | {name: numbers}, replaced(lend_outputs(function), place, overlapping))
    assert not memory.any()


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=name_of)
def test_a_failing_call_leaves_nothing_behind(function):
    """Unknown words and names, missing arguments, and an `out` of the wrong make."""
    for more in [dict(unknown=1), *({word: wrong} for word in function.words for wrong in ("unknown", 1, None, []))]:
        check(function, lend_inputs(function) | more, lend_outputs(function))
    for missing in list(function.positional)[: 2 if function.name == "aggregate" else None]:
        given = lend_inputs(function)
        del given[missing]
        check(function, given, lend_outputs(function))
    for out in (object(), [], (), (*each(lend_outputs(function)), None)):
        check(function, lend_inputs(function), out)


@pytest.mark.parametrize("parents", ([0, 1, 2], [-1, 0], [-1, 0, 2**70], [-1, 0, 0.5], [-1, "0", 1], "abc", None, 3))
def test_failing_parents_leave_nothing_behind(parents):
    check(
        replace(FUNCTIONS["aggregate"], before=(parents,)), lend_inputs(FUNCTIONS["aggregate"]), lend((ROWS, 3, 4, 4))
    )


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=name_of)
def test_a_call_that_succeeds_leaves_nothing_behind(function):
    lists = {name: view.tolist() for name, view in lend_inputs(function).items()}
    check(function, lend_inputs(function), lend_outputs(function), shall_fail=False)
    check(function, lend_inputs(function), None, shall_fail=False)
    check(function, lists, None, shall_fail=False)


def test_memory_that_is_not_there_is_told_and_keeps_nothing():
    if not hasattr(pytest.importorskip("_testcapi"), "set_nomemory"):
        pytest.skip("this Python cannot make allocations fail")
    answer = subprocess.run([sys.executable, Path(__file__).parents[1] / "starved.py"], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
