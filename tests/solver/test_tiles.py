# SPDX-License-Identifier: MIT
"""Calls of 1 to 40 rows, which end anywhere in a tile of sixteen, in any layout and in place: the digits of each row.

Each build of the loops is looked at: AVX2 takes eight lanes of a tile at once, others take it whole.
"""

from __future__ import annotations

import numpy as np
import pytest
from functions import FUNCTIONS
from solver.test_builds import BUILDS, arguments, run

MOST = 40
WIDE = {  # memory of any number of rows, and the rows in it
    "one behind the other": (lambda shape: shape, lambda memory: memory),
    "backwards": (lambda shape: shape, lambda memory: memory[::-1]),
    "every other": (lambda shape: (2 * shape[0], *shape[1:]), lambda memory: memory[::2]),
    "columns": (lambda shape: (*shape, 3), lambda memory: memory[..., 1]),
    "row by row of each component": (lambda shape: shape[::-1], lambda memory: memory.T),
}


def placed(layout, values):
    """The same values in memory laid out like this, which is 7 elsewhere."""
    shape, rows = WIDE[layout]
    memory = np.full(shape(values.shape), 7, values.dtype)
    rows(memory)[...] = values
    return rows(memory), memory


def together(function, result):
    """Results that are there, by name."""
    results = result if isinstance(result, tuple) else (result,)
    return {name: r for name, r in zip(function.outputs, results, strict=True) if r is not None}


def outputs(function, expected, count, make):
    """Memory for the results of so many rows, as `out` takes it."""
    out = [make(name, expected[name][:count]) if name in expected else None for name in function.outputs]
    return tuple(out) if len(out) > 1 else out[0]


def check_layout(function, given, words, expected, count, layout):
    memories = {}

    def make(name, values):
        view, memories[name] = placed(layout, np.full_like(values, 9))
        return view

    inputs = {name: placed(layout, array[:count])[0] for name, array in given.items()}
    out = outputs(function, expected, count, make)
    for name, result in together(function, function(inputs | words, out=out)).items():
        np.testing.assert_array_equal(result, expected[name][:count], f"{function.name} {name} {layout} {count}")
        result[...] = 7
        assert np.all(memories[name] == 7), (function.name, name, layout, count)


def check_in_place(function, given, words, expected, count):
    """Each result takes the place of an input of its shape, where there is one left."""
    inputs = {name: array[:count].copy() for name, array in given.items()}
    free = list(inputs)

    def make(name, values):
        fitting = [n for n in free if inputs[n].shape == values.shape and inputs[n].dtype == values.dtype]
        if not fitting:
            return np.empty_like(values)
        free.remove(fitting[0])
        return inputs[fitting[0]]

    out = outputs(function, expected, count, make)
    for name, result in together(function, function(inputs | words, out=out)).items():
        np.testing.assert_array_equal(result, expected[name][:count], f"{function.name} {name} in place {count}")


def check(function, dtype, every_option):
    rng = np.random.default_rng(1)
    names = function.inputs if every_option else function.positional
    given = {name: array[:MOST] for name, array in arguments(function, rng, dtype).items() if name in names}
    words = {name: choices[1] for name, choices in function.words.items()} if every_option else {}
    alone = [together(function, function({n: a[i] for n, a in given.items()} | words)) for i in range(MOST)]
    expected = {name: np.stack([row[name] for row in alone]) for name in alone[0]}
    for count in range(1, MOST + 1):
        for layout in WIDE:
            check_layout(function, given, words, expected, count, layout)
        check_in_place(function, given, words, expected, count)


def check_all():
    for function in FUNCTIONS.values():
        for dtype in (np.float32, np.float64):
            for every_option in (False, True):
                check(function, dtype, every_option)


@pytest.mark.parametrize("build", BUILDS)
def test_rows_are_as_alone_wherever_a_tile_ends_and_however_they_lie(build):
    answer = run(build, "import solver.test_tiles as t; t.check_all()")
    if "IK2BONE_BUILD: expected" in answer.stderr:
        pytest.skip(f"this processor has no {build}")
    assert answer.returncode == 0, answer.stderr
