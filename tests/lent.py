# SPDX-License-Identifier: MIT
"""Arguments and outputs of all functions as views of arrays. An array cannot grow while a view of it is in use."""

from __future__ import annotations

from array import array
from math import prod

ROWS = 2


def lend(shape, kind="d"):
    """A view of the numbers 1, 2, 3 ... in a new array, which cannot grow while the view is in use."""
    numbers = array(kind, range(1, prod(shape) + 1))
    return memoryview(numbers).cast("B").cast(kind, shape)


def lend_inputs(function):
    """All arguments of a function, including its options, as views of two rows."""
    return {name: lend((ROWS, *row)) for name, row in function.inputs.items()}


def lend_outputs(function):
    """A buffer for each output, in the form of the argument `out`."""
    views = [lend((ROWS, *row), "B" if name == "status" else "d") for name, row in function.outputs.items()]
    return views[0] if len(views) == 1 else tuple(views)


def each(out):
    """The outputs of a function as a tuple; a single output comes without a tuple."""
    return out if isinstance(out, tuple) else (out,)
