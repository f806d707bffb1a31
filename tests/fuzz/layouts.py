# SPDX-License-Identifier: MIT
"""The same numbers as many kinds of objects: any strides, misaligned, interleaved, or not of numpy at all.

Each object comes with the whole memory that it lies in, so that the bytes around it can be checked after a call.
"""

from __future__ import annotations

import ctypes
from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.vectors import Array

Generator = np.random.Generator
FEW = 300  # the greatest number of elements in lists and in objects without strides


@dataclass(frozen=True)
class Placed:
    """An object `given` to a call, a numpy view of its numbers, and the whole memory; None if it cannot be written."""

    given: Any
    view: Array | None
    memory: Array | None


def view_of(memory: Array, offset: int, values: Array, strides: tuple[int, ...]) -> Array:
    view = np.ndarray(values.shape, values.dtype, memory, offset, strides)
    view[...] = values
    return view


def guarded(size: int) -> Array:
    return np.full(size, 0xA5, np.uint8)


def strided(rng: Generator, values: Array, aligned: bool) -> Placed:
    """The values with axes in any order, forwards or backwards, and gaps of any number of bytes if not `aligned`."""
    strides, span, low = [0] * values.ndim, values.itemsize, 0
    for axis in rng.permutation(values.ndim):
        gap = int(rng.integers(0, 4)) * (values.itemsize if aligned else 1)
        step = (span + gap) * int(rng.choice([-1, 1]))
        strides[axis] = step
        reach = step * (values.shape[axis] - 1)
        span, low = span + abs(reach) + gap, low + min(reach, 0)
    lead = 0 if aligned else int(rng.integers(1, 8))
    memory = guarded(span + lead + 8)
    view = view_of(memory, lead - low, values, tuple(strides))
    return Placed(view, view, memory)


def contiguous(values: Array, read_only: bool = False) -> Placed:
    memory = guarded(values.nbytes + 16)
    view = view_of(memory, 8, values, np.zeros(values.shape, values.dtype).strides)
    given = view.view()
    given.flags.writeable = not read_only
    return Placed(given, view, memory)


def plain_memory(values: Array) -> Placed:
    """The values in an `array.array`, under a memoryview if they have several axes."""
    numbers = array(values.dtype.char if values.dtype.char in "fd" else "B")
    numbers.frombytes(values.tobytes())
    memory = np.frombuffer(numbers, np.uint8)
    given = numbers if values.ndim == 1 else memoryview(numbers).cast("B").cast(numbers.typecode, values.shape)
    return Placed(given, memory.view(values.dtype).reshape(values.shape), memory)


def c_types(values: Array) -> Placed:
    """The values in a ctypes array, which has no strides."""
    kind: Any = {"f": ctypes.c_float, "d": ctypes.c_double, "B": ctypes.c_ubyte}[values.dtype.char]
    for size in reversed(values.shape):
        kind = kind * size
    given = kind.from_buffer_copy(values.tobytes())
    memory = np.frombuffer(given, np.uint8)
    return Placed(given, memory.view(values.dtype).reshape(values.shape), memory)


def place(rng: Generator, values: Array, *, output: bool = False) -> Placed:
    """The values in a random layout, always writable for an `output`."""
    small = 0 < values.size <= FEW and values.ndim > 0
    kinds = ["contiguous", "strided", "strided", "misaligned"] + ["plain memory", "ctypes"] * small
    kind = rng.choice(kinds if values.size else kinds[:1])
    if kind == "strided" or kind == "misaligned":
        return strided(rng, values, aligned=kind == "strided")
    if kind == "plain memory":
        return plain_memory(values)
    if kind == "ctypes":
        return c_types(values)
    return contiguous(values, read_only=not output and rng.random() < 0.5)


def columns(rng: Generator, arrays: dict[str, Array], lead: int) -> dict[str, Placed]:
    """All arrays as columns of one memory, in any order and with gaps. They share the first `lead` axes, the rows."""
    own = {name: int(np.prod(a.shape[lead:])) * a.itemsize for name, a in arrays.items()}
    offsets, record = {}, 0
    for name in rng.permutation(list(arrays)):
        offsets[name] = record + int(rng.integers(0, 4))
        record = offsets[name] + own[name]
    shape = next(iter(arrays.values())).shape[:lead]
    outer = np.zeros((*shape, record), np.uint8).strides[:lead]
    memory = guarded(int(np.prod(shape)) * record)
    result = {}
    for name, values in arrays.items():
        inner = np.zeros(values.shape[lead:], values.dtype).strides
        view = view_of(memory, offsets[name], values, outer + inner)
        result[name] = Placed(view, view, memory)
    return result
