# SPDX-License-Identifier: MIT
"""Arguments of all functions, outputs included, as views that are lent: an array cannot grow as long as its one is."""

from __future__ import annotations

from array import array
from math import prod

ROWS = 2


def lend(shape, kind="d"):
    """A view of numbers 1, 2, 3 ... in an array of its own, which cannot grow as long as the view is lent."""
    numbers = array(kind, range(1, prod(shape) + 1))
    return memoryview(numbers).cast("B").cast(kind, shape)


def lend_inputs(function):
    """All arguments, options included, as views over two rows."""
    return {name: lend((ROWS, *row)) for name, row in function.inputs.items()}


def lend_outputs(function):
    """A buffer for each output, as `out` takes them."""
    views = [lend((ROWS, *row), "B" if name == "status" else "d") for name, row in function.outputs.items()]
    return views[0] if len(views) == 1 else tuple(views)


def each(out):
    """The outputs of a function, of which one alone comes without a tuple."""
    return out if isinstance(out, tuple) else (out,)
