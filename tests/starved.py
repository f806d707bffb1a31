# SPDX-License-Identifier: MIT
"""Calls of all functions, and an import, in which one allocation after the other fails: python tests/starved.py.

Each call must raise MemoryError, or return the right result without this memory, and keep no memory. test_leaks.py runs
this file in a process of its own, because a failing allocation may hit Python itself.
"""

from __future__ import annotations

import _imp
import _testcapi
import gc
import sys
from functools import partial
from itertools import chain

import ik2bone
import numpy as np
from functions import FUNCTIONS
from lent import each, lend_inputs, lend_outputs

ENOUGH = 20  # successful calls in a row after which every allocation of the call has failed once
ROUNDS = 16  # the most rounds: a leak keeps blocks in every round, while Python's own caches were full after at most 8


def starve(call, first, count):
    """The result of a call in which `count` allocations from number `first` on fail, or None for a MemoryError."""
    _testcapi.set_nomemory(first, first + count)
    try:
        return call()
    except MemoryError:
        return None
    finally:
        _testcapi.remove_mem_hooks()


def shortages(call, is_right, count):
    """The number of allocations whose failure makes the call fail. Other calls must return the right result."""
    short = first = well = 0
    while well < ENOUGH:
        result = starve(call, first, count)
        assert result is None or is_right(result)
        short, first, well = (short, first + 1, well + 1) if result is not None else (short + 1, first + 1, 0)
    return short


def same_as(expected):
    kept = [np.array(part) for part in each(expected)]
    return lambda result: all(np.array_equal(a, b, equal_nan=True) for a, b in zip(each(result), kept, strict=True))


def cases():
    """Calls of every function with views and with lists, into given buffers and into new arrays, by name."""
    for function in FUNCTIONS.values():
        views = lend_inputs(function)
        for given in (views, {name: view.tolist() for name, view in views.items()}):
            for out in (lend_outputs(function), None):
                positional = [given[name] for name in function.positional]
                options = {name: given[name] for name in function.options}
                call = partial(getattr(ik2bone, function.name), *function.before, *positional, out=out, **options)
                yield f"{function.name}, {type(positional[0]).__name__}s, {'new' if out is None else 'given'} out", call
        for view in views.values():
            view.release()  # raises BufferError if a failed call still holds the view


def fresh_multiply():
    """The result of `multiply` of a newly imported module, whose first result makes it look for numpy."""
    module = _imp.create_dynamic(ik2bone._core.__spec__)
    _imp.exec_dynamic(module)
    return module.multiply([1.0, 0, 0, 0], [0.0, 1, 0, 0])


def blocks_kept(call, is_right):
    """The shortages and the kept blocks of memory of a round: the first that keeps few blocks, or the last round."""
    for _ in range(ROUNDS):
        blocks = sys.getallocatedblocks()
        short = shortages(call, is_right, 1) + shortages(call, is_right, 10**6)
        gc.collect()
        kept = sys.getallocatedblocks() - blocks
        if kept < short // 2:
            break
    return short, kept


def main():
    for name, call in chain([("import", fresh_multiply)], cases()):
        short, kept = blocks_kept(call, same_as(call()))
        print(f"{name}: {short} shortages, {kept} blocks kept")
        assert kept < short // 2


if __name__ == "__main__":
    main()
