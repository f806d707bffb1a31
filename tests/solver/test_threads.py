# SPDX-License-Identifier: MIT
"""Threads solve at once with the digits of one, and Python goes on meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Event, Thread
from time import perf_counter

import numpy as np
import pytest
from functions import FUNCTIONS

THREADS = 6
ROWS = 3000
TIMES = 5
function_names = pytest.mark.parametrize("name", FUNCTIONS)


def arguments(function, rows):
    """Random numbers for all arguments, options included; matrices are affine."""
    rng = np.random.default_rng(0)
    given = {name: rng.normal(size=(rows, *row)) for name, row in function.inputs.items()}
    for array in given.values():
        if array.shape[-2:] == (4, 4):
            array[..., 3, :] = 0, 0, 0, 1
    return given


def parts(result):
    return result if isinstance(result, tuple) else (result,)


def same(a, b):
    return all(x.tobytes() == y.tobytes() for x, y in zip(parts(a), parts(b), strict=True))


@function_names
def test_threads_on_shared_inputs_give_the_digits_of_one(name):
    function, start = FUNCTIONS[name], Barrier(THREADS)
    given = arguments(function, ROWS)
    alone = function(given)

    def work():
        start.wait()
        return [function(given) for _ in range(TIMES)]

    with ThreadPoolExecutor(THREADS) as pool:
        together = [pool.submit(work) for _ in range(THREADS)]
        assert all(same(result, alone) for thread in together for result in thread.result())


def test_threads_write_parts_of_one_output():
    function = FUNCTIONS["solve"]
    given = arguments(function, ROWS)
    alone = function(given)
    whole = [np.empty_like(part) for part in alone]

    def work(i):
        rows = slice(i, None, THREADS)
        function({name: array[rows] for name, array in given.items()}, out=tuple(part[rows] for part in whole))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert same(tuple(whole), alone)


def long_call(function):
    """A call that takes some time, over one row of inputs broadcast to many."""
    one, rows, duration = arguments(function, 1), 2**14, 0.0
    while duration < 0.05:
        rows *= 2
        given = {name: np.broadcast_to(array, (rows, *array.shape[1:])) for name, array in one.items()}
        call = partial(function, given, out=function(given))
        start = perf_counter()
        call()
        duration = perf_counter() - start
    return call


def longest_silence(call):
    """Of another thread that notes the time again and again while a call runs: part of the call's duration."""
    ticks, going, stop = [], Event(), Event()

    def work():
        while not stop.is_set():
            ticks.append(perf_counter())
            going.set()

    clock = Thread(target=work)
    clock.start()
    going.wait()
    start = perf_counter()
    call()
    end = perf_counter()
    stop.set()
    clock.join()
    return max(np.diff([start, *(tick for tick in ticks if start < tick < end), end])) / (end - start)


@function_names
def test_python_goes_on_during_a_call(name):
    """A lock held by the call would silence the other thread for nearly all of it."""
    call = long_call(FUNCTIONS[name])
    assert any(longest_silence(call) < 0.9 for _ in range(30))
