# SPDX-License-Identifier: MIT
"""The twin is right to the digits that its input holds, and so is the core: sixty digits, by other formulas, agree.

What an answer may be off is measured, not guessed: by how far the exact answer moves when each number of the input, and
the distance at which the end comes to lie, is off by one rounding.
"""

from __future__ import annotations

from functools import partial

import hard
import ik2bone
import limbs
import numpy as np
import precise
import pytest
import reference
from ik2bone import Status
from reference_vectors import Precision, nearest_rotation

ROWS = 2
ROUNDINGS = 8  # the worst seen is 4.5, of the twin at an angle limit
KINDS = pytest.mark.parametrize("kind", hard.KINDS, ids=lambda kind: kind.__name__)
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def closeness(dtype):
    """In single precision, what is closer than 1e-6 is singular by its own rounding."""
    return [close for close in hard.CLOSE if dtype == np.float64 or close >= 1e-6]


def solvers(dtype):
    """The twin answers in double precision only."""
    return [ik2bone] if dtype == np.float32 else [ik2bone, reference]


def furthest(a, b):
    """Largest difference of any two numbers of two results."""
    return max(float(np.max(abs(x - y))) for x, y in zip(a, b, strict=True))


def cast(row, dtype):
    return {name: value if isinstance(value, str) else np.asarray(value, dtype) for name, value in row.items()}


def shaken(rng, row, step):
    """The row with each number changed by up to a step of its own array."""
    return {
        name: value
        if isinstance(value, str)
        else precise.exact(value) + step(value) * precise.exact(rng.uniform(-1, 1, np.shape(value)))
        for name, value in row.items()
    }


def exact_and_sensitivity(solve, row, step, epsilon):
    """The exact answer, and how far it moves when input and distance are off by one rounding."""
    rng, exact = np.random.default_rng(2), solve(**row)
    return exact, max(
        furthest(solve(**shaken(rng, row, step), rounding=rounding), exact) for rounding in (0, epsilon, -epsilon)
    )


@DTYPES
@KINDS
def test_positions(kind, dtype):
    rng, epsilon = np.random.default_rng(1), float(np.finfo(dtype).eps)
    solve = partial(precise.solve, straight=Precision.of(dtype).straight)
    judged = 0
    for close in ROWS * closeness(dtype):
        row = cast(kind(rng, close), dtype)
        if ik2bone.solve(**row).status & Status.SINGULAR:
            continue
        rounding = epsilon * max(np.max(abs(row[name])) for name in ("root", "mid", "end"))
        exact, moved = exact_and_sensitivity(solve, row, lambda _, size=rounding: size, epsilon)
        for solver in solvers(dtype):
            assert furthest(solver.solve(**row)[:2], exact) <= ROUNDINGS * (moved + rounding)
        judged += 1
    assert judged >= 2 * ROWS


def under_ancestors(rng, row, kind, roll):
    """The row of `solve` as one of `solve_pose`, with an end goal of either hand."""
    frame, inner, tip = limbs.ancestor(rng, 1, kind)[0], *limbs.rotations(rng, 2)
    own = rng.uniform(0.5, 2, (2, 3)) * rng.choice([1.0, -1.0], (2, 3)) if kind == "own_scales" else np.ones((2, 3))
    outer = {name: frame @ value if np.shape(value) == (3,) else value for name, value in row.items()}
    root, mid, end = (outer.pop(name) for name in ("root", "mid", "end"))
    matrices = limbs.affine(
        np.array([frame * own[0], frame @ inner * own[1], frame @ tip, rng.normal(size=(3, 3))]),
        np.array([root, mid, end, end]),
    )
    names = ("root_matrix", "mid_matrix", "end_matrix", "end_goal")
    options = dict(end=end, root_scale=own[0], mid_scale=own[1], hinge=limbs.directions(rng, 1)[0], roll=roll)
    return outer | dict(zip(names, matrices, strict=True)) | options


def corrections(answer, size):
    """Rotation matrices of root, mid and end joint, and the end's position in reaches."""
    turns = (limbs.rotation_matrix(turn) if np.shape(turn) == (4,) else turn for turn in answer[:3])
    return (*turns, answer[3] / size)


@DTYPES
@KINDS
def test_corrections(kind, dtype):
    """Under ancestors of each kind and with both rolls, in turn. A rounding is one of the array's greatest number."""
    rng, epsilon = np.random.default_rng(3), float(np.finfo(dtype).eps)
    judged = 0
    for i, close in enumerate(closeness(dtype)):
        ancestor = limbs.ANCESTORS[(i + hard.KINDS.index(kind)) % len(limbs.ANCESTORS)]
        row = cast(under_ancestors(rng, kind(rng, close), ancestor, ("pose", "hinge")[i % 2]), dtype)
        if ik2bone.solve_pose(**row).status & Status.SINGULAR:
            continue
        size = np.max(abs(row["end"]))
        solve = lambda size=size, **row: corrections(  # noqa: E731
            precise.solve_pose(straight=Precision.of(dtype).straight, **row), size
        )
        exact, moved = exact_and_sensitivity(solve, row, lambda value: epsilon * np.max(abs(value)), epsilon)
        for solver in solvers(dtype):
            assert furthest(corrections(solver.solve_pose(**row), size), exact) <= ROUNDINGS * (moved + epsilon)
        judged += 1
    assert judged >= 1


ORIENT = ("root_matrix", "mid_matrix", "end", "new_mid", "new_end", "hinge", "root_scale", "mid_scale", "roll")


@pytest.mark.parametrize("roll", ["pose", "hinge"])
@KINDS
def test_rotations_from_positions(kind, roll):
    rng, epsilon = np.random.default_rng(4), np.finfo(np.float64).eps
    solve = lambda rounding=0, **row: precise.orient(**row)  # noqa: E731
    judged = 0
    for i, close in enumerate(hard.CLOSE):
        row = kind(rng, close)
        new_mid, new_end = reference.solve(**row)[:2]
        if height(new_mid - row["root"], new_end - row["root"]) < 1e-9:
            continue
        row = under_ancestors(rng, row | dict(new_mid=new_mid, new_end=new_end), limbs.ANCESTORS[i], roll)
        row = {name: row[name] for name in ORIENT}
        exact, moved = exact_and_sensitivity(solve, row, lambda value: epsilon * np.max(abs(value)), epsilon)
        for solver in (ik2bone, reference):
            turns = [limbs.rotation_matrix(turn) for turn in solver.orient(**row)]
            assert furthest(turns, exact) <= ROUNDINGS * (moved + epsilon)
        judged += 1
    assert judged >= 1


def height(mid, end):
    """How far the mid joint is off the line to the end, in lengths of the upper bone."""
    return limbs.length(np.cross(mid, end)) / limbs.length(mid) / limbs.length(end)


@pytest.mark.parametrize("depth", [1.0, 1e-3, 1e-6, 1e-9, -1.0 + 1e-3, -0.5, -1e-3, -1e-6, -1e-9])
def test_the_nearest_rotation(depth):
    """Of matrices of either hand that are this deep where they are two long and one wide."""
    rng, epsilon = np.random.default_rng(5), np.finfo(np.float64).eps
    for _ in range(10):
        left, right = limbs.rotations(rng, 2)
        matrix = left * [2, 1, depth] @ right
        exact = [precise.nearest_rotation(precise.exact(matrix))]
        gap = 1 + depth  # of the two least singular values: what the answer depends on
        assert furthest([nearest_rotation(matrix)], exact) <= 50 * epsilon / gap
