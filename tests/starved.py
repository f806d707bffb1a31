# SPDX-License-Identifier: MIT
"""Calls of all functions, and an import, in which one allocation after the other fails: python tests/starved.py.

Each raises MemoryError, or does without that memory and gives its result, and keeps nothing. For test_leaks.py, in a
process of its own, as a failing allocation may hit Python itself.
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

ENOUGH = 20  # calls in a row that went well: all allocations before have failed once
ROUNDS = 16  # at most: a leak keeps blocks in every round, whereas Python's own caches were full after 8 at most


def starve(call, first, count):
    """The result, or None for a MemoryError, of a call in which the allocations from `first` on fail."""
    _testcapi.set_nomemory(first, first + count)
    try:
        return call()
    except MemoryError:
        return None
    finally:
        _testcapi.remove_mem_hooks()


def shortages(call, is_right, count):
    """How many allocations made the call fail; a call that went on all the same must give what it should."""
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
    """Every function with views and with lists, into given buffers and into new arrays."""
    for function in FUNCTIONS.values():
        views = lend_inputs(function)
        for given in (views, {name: view.tolist() for name, view in views.items()}):
            for out in (lend_outputs(function), None):
                positional = [given[name] for name in function.positional]
                options = {name: given[name] for name in function.options}
                call = partial(getattr(ik2bone, function.name), *function.before, *positional, out=out, **options)
                yield f"{function.name}, {type(positional[0]).__name__}s, {'new' if out is None else 'given'} out", call
        for view in views.values():
            view.release()  # a BufferError where a call that failed still holds it


def fresh_multiply():
    """By a new module, whose first result makes it look for numpy."""
    module = _imp.create_dynamic(ik2bone._core.__spec__)
    _imp.exec_dynamic(module)
    return module.multiply([1.0, 0, 0, 0], [0.0, 1, 0, 0])


def blocks_kept(call, is_right):
    """Shortages of a round, and the memory that the first round that keeps little, or the last one, leaves behind."""
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
