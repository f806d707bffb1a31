# SPDX-License-Identifier: MIT
"""Aggregate transforms: many rows at once, one row alone, strided, broadcast or in place give the same digits."""

from __future__ import annotations

import array
import ctypes
import itertools

import ik2bone
import numpy as np
import pytest
from reference_vectors import matrix

JOINTS = 37
KINDS = [np.float32, np.float64]


def skeleton(rng, joints=JOINTS):
    """Parents of a random tree with some roots."""
    return [int(rng.integers(-1, j)) if j else -1 for j in range(joints)]


def awkward(rng, rows, kind, joints=JOINTS):
    """Translations, rotations, scales, rests and bases, all kinds of odd ones among them."""
    at, turn = rng.normal(size=(rows, joints, 3)), rng.normal(size=(rows, joints, 4))
    scale, rest = rng.uniform(0.5, 2, (rows, joints, 3)), rng.normal(size=(rows, joints, 4, 4))
    odd = lambda share: rng.random((rows, joints)) < share  # noqa: E731
    turn[odd(0.1)] = 0
    turn[odd(0.1)] *= 1e-15
    turn[odd(0.1)] *= 1e15
    turn[odd(0.1)] *= 1e-160 if kind == np.float64 else 1e-37
    turn[odd(0.02)] *= 1e150 if kind == np.float64 else 1e18
    at[odd(0.1)] *= 1e15
    at[odd(0.1)] *= 1e-15
    scale[odd(0.05), 1] = 0
    scale[odd(0.05), 2] *= -1
    turn[odd(0.01), 2] = np.nan
    at[odd(0.01), 0] = np.inf
    rest[..., 3, :] = np.nan
    base = rng.normal(size=(rows, 4, 4))
    return [a.astype(kind) for a in (at, turn, scale, rest, base)]


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


def aggregate(parents, at, turn, scale, rest, base, **out):
    return ik2bone.aggregate(parents, at, turn, scale, rest=rest, base=base, **out)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [(), (2,), (3,), (4,), (2, 3, 4)])
@pytest.mark.parametrize("rows", [1, 7, 8, 15, 16, 17, 40])
def test_a_row_alone_gives_the_same_digits(rows, options, kind):
    rng = np.random.default_rng(rows)
    parents, given = skeleton(rng), awkward(rng, rows, kind)
    given = [a if i < 2 or i in options else None for i, a in enumerate(given)]
    whole = aggregate(parents, *given)
    for row in range(rows):
        assert same(whole[row], aggregate(parents, *(a if a is None else a[row] for a in given)))


@pytest.mark.parametrize("joints", [1, 2, 7, 8, 9, 16, 17, 64])
def test_any_number_of_joints_is_the_product_down_the_skeleton(joints):
    rng = np.random.default_rng(joints)
    parents = skeleton(rng, joints)
    at, turn, scale = (rng.normal(size=(20, joints, n)) for n in (3, 4, 3))
    for rows in (slice(0, 1), slice(0, 20)):
        got = ik2bone.aggregate(parents, at[rows], turn[rows], scale[rows])
        for row, result in enumerate(got):
            want = []
            for j, parent in enumerate(parents):
                own = np.eye(4)
                own[:3, :3], own[:3, 3] = matrix(turn[row, j]) * scale[row, j], at[row, j]
                want.append(own if parent < 0 else want[parent] @ own)
                size = np.prod([abs(want[p]).max() + 1 for p in ancestors(parents, j)])
                np.testing.assert_allclose(result[j], want[-1], rtol=0, atol=1e-14 * size)


def ancestors(parents, j):
    """The joint and all above it."""
    return [j, *ancestors(parents, parents[j])] if j >= 0 else []


@pytest.mark.parametrize("rows", [1, 40])
def test_single_precision_is_double_precision_rounded_once(rows):
    rng = np.random.default_rng(2)
    parents, given = skeleton(rng), awkward(rng, rows, np.float32)
    wide = aggregate(parents, *(a.astype(np.float64) for a in given))
    with np.errstate(over="ignore"):
        assert same(aggregate(parents, *given), wide.astype(np.float32))


def test_arrays_of_both_precisions_may_be_mixed():
    rng = np.random.default_rng(3)
    parents, given = skeleton(rng), awkward(rng, 40, np.float32)
    want = aggregate(parents, *(a.astype(np.float64) for a in given))
    for wide in range(5):
        mixed = [a.astype(np.float64) if i == wide else a for i, a in enumerate(given)]
        found = aggregate(parents, *mixed)
        with np.errstate(over="ignore"):
            assert same(found, want.astype(found.dtype))


def strided(a):
    """Every second element."""
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    wide[..., ::2] = a
    return wide[..., ::2]


def misaligned(a):
    """One byte off."""
    buffer = np.zeros(a.nbytes + 1, np.uint8)
    view = np.frombuffer(buffer.data[1:], a.dtype).reshape(a.shape)
    view[...] = a
    return view


LAYOUTS = [
    np.asfortranarray,
    strided,
    misaligned,
    lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1],
    lambda a: np.ascontiguousarray(a[::-1])[::-1],
    lambda a: np.ascontiguousarray(a[:, ::-1])[:, ::-1],
    lambda a: np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2),
    lambda a: np.repeat(a, 2, 1)[:, ::2],
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_strides_change_no_digit(layout, rows, kind):
    rng = np.random.default_rng(4)
    parents, given = skeleton(rng), awkward(rng, rows, kind)
    want = aggregate(parents, *given)
    assert same(aggregate(parents, *map(layout, given)), want)
    out = layout(np.zeros_like(want))
    assert aggregate(parents, *given, out=out) is out
    assert same(out, want)


@pytest.mark.parametrize("alone", [0, 1, 2, 3, 4])
def test_what_is_given_once_goes_for_all_rows(alone):
    rng = np.random.default_rng(5)
    parents, given = skeleton(rng), awkward(rng, 21, np.float64)
    once = [a[3] if i == alone else a for i, a in enumerate(given)]
    repeated = [np.repeat(a[3:4], 21, 0) if i == alone else a for i, a in enumerate(given)]
    assert same(aggregate(parents, *once), aggregate(parents, *repeated))


@pytest.mark.parametrize("shape", [(6, 7), (2, 3, 7), (1, 42), (42, 1)])
def test_more_dimensions_are_as_one(shape):
    rng = np.random.default_rng(6)
    parents, given = skeleton(rng), awkward(rng, 42, np.float64)
    want = aggregate(parents, *given)
    deep = [a.reshape(*shape, *a.shape[1:]) for a in given]
    assert same(aggregate(parents, *deep), want.reshape(*shape, JOINTS, 4, 4))
    deep[0] = np.asfortranarray(deep[0])
    assert same(aggregate(parents, *deep), want.reshape(*shape, JOINTS, 4, 4))


@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_the_result_may_replace_the_rest(layout, rows):
    rng = np.random.default_rng(7)
    parents, given = skeleton(rng), awkward(rng, rows, np.float64)
    want = aggregate(parents, *given)
    given[3] = layout(given[3])
    assert same(aggregate(parents, *given, out=given[3]), want)


@pytest.mark.parametrize("rows", [2, 24])
def test_a_row_that_is_not_finite_disturbs_no_other(rows):
    rng = np.random.default_rng(8)
    parents = skeleton(rng)
    at, turn = rng.normal(size=(rows, JOINTS, 3)), rng.normal(size=(rows, JOINTS, 4))
    want = ik2bone.aggregate(parents, at, turn)
    at[1, 0, 0], turn[1, 1, 3] = np.nan, np.inf
    found = ik2bone.aggregate(parents, at, turn)
    others = np.arange(rows) != 1
    assert same(found[others], want[others])
    assert np.isnan(found[1, 0, 0, 3])
    assert np.isnan(found[1, 1, :3, :3]).all()


@pytest.mark.parametrize(("kind", "power"), [*itertools.product(KINDS, (-100, -1, 1, 100)), (np.float64, -980)])
def test_the_length_of_a_rotation_does_not_matter(power, kind):
    rng = np.random.default_rng(9)
    at, turn = np.zeros((40, 3, 3), kind), rng.normal(size=(40, 3, 4)).astype(kind)
    want = ik2bone.aggregate([-1, 0, 1], at, turn)
    assert same(ik2bone.aggregate([-1, 0, 1], at, turn * kind(2.0**power)), want)


@pytest.mark.parametrize("rows", [1, 16])
def test_a_rotation_of_no_length_is_the_identity(rows):
    got = ik2bone.aggregate([-1, 0], np.ones((rows, 2, 3)), np.zeros((rows, 2, 4)))
    assert same(got[:, 1], np.tile(np.array([[1, 0, 0, 2], [0, 1, 0, 2], [0, 0, 1, 2], [0, 0, 0, 1]]), (rows, 1, 1)))


def test_no_joints_and_no_rows_give_nothing():
    assert ik2bone.aggregate([], np.zeros((5, 0, 3)), np.zeros((5, 0, 4))).shape == (5, 0, 4, 4)
    assert ik2bone.aggregate([-1], np.zeros((0, 1, 3)), np.zeros((0, 1, 4))).shape == (0, 1, 4, 4)


TREE = [-1, 0, 1, 1, -1, 4]
SEQUENCES = [
    tuple(TREE),
    *(np.array(TREE, kind) for kind in ("b", "i2", "i4", "i8", "l", ">i4", ">i8")),
    np.repeat(TREE, 3)[::3],
    np.array(TREE)[::-1].copy()[::-1],
    array.array("i", TREE),
    memoryview(array.array("q", TREE)),
    (ctypes.c_int * 6)(*TREE),
    [np.int16(p) for p in TREE],
]


@pytest.mark.parametrize("parents", SEQUENCES)
def test_parents_may_be_any_sequence_of_integers(parents):
    rng = np.random.default_rng(10)
    at, turn = rng.normal(size=(6, 3)), rng.normal(size=(6, 4))
    assert same(ik2bone.aggregate(parents, at, turn), ik2bone.aggregate(TREE, at, turn))


@pytest.mark.parametrize("parents", [np.array([0, 0], "u1"), np.array([-1, 1], "i1"), np.array([-1, 2**40])])
def test_parents_in_arrays_are_checked(parents):
    with pytest.raises(ValueError, match=r"parents\[[01]\]: expected -1 or the index of an earlier joint, got"):
        ik2bone.aggregate(parents, np.zeros((2, 3)), np.ones((2, 4)))
