# SPDX-License-Identifier: MIT
"""Any buffers, strides, shapes and kinds in; `out` buffers written in place, without numpy where it is not needed."""

from __future__ import annotations

import ctypes
import pickle
import subprocess
import sys
import tracemalloc
from array import array
from fractions import Fraction

import ik2bone
import limbs
import numpy as np
import pytest

POSE = [0.0, 0, 0], [0.0, 0.3, -0.4], [0.0, 0, -0.8]
TARGET = [0.1, 0.2, -0.5]


def batch(rows=6, dtype=np.float64):
    rng = np.random.default_rng(0)
    root, mid, end = limbs.positions(rng, rows)
    return [p.astype(dtype) for p in (root, mid, end, rng.normal(size=(rows, 3)))]


def equal(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def outputs(shape, dtype=np.float64):
    return tuple(
        np.full((*shape, *own), 77, kind) for own, kind in (((3,), dtype), ((3,), dtype), ((), dtype), ((), "u1"))
    )


# Kinds


def test_results_are_float32_only_if_every_array_is():
    points = batch(dtype=np.float32)
    assert ik2bone.solve(*points).mid.dtype == np.float32
    assert ik2bone.solve(*points).status.dtype == np.uint8
    for i in range(4):
        mixed = [p.astype(np.float64) if i == k else p for k, p in enumerate(points)]
        assert ik2bone.solve(*mixed).miss.dtype == np.float64


def test_float32_of_the_other_byte_order_is_float32():
    points = batch(dtype=np.float32)
    swapped = [p.astype(p.dtype.newbyteorder()) for p in points]
    for mixed in (swapped, [*points[:3], swapped[3]]):
        for result, expected in zip(ik2bone.solve(*mixed), ik2bone.solve(*points), strict=True):
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected)
    doubles = [p.astype(np.dtype(np.float64).newbyteorder()) for p in points]
    assert ik2bone.solve(*doubles).mid.dtype == np.float64


def test_lists_numbers_and_options_never_decide_the_kind():
    points = batch(dtype=np.float32)
    assert ik2bone.solve(*points[:3], TARGET, pole=np.ones(3), weight=0.5).end.dtype == np.float32
    assert ik2bone.solve(*POSE, TARGET).end.dtype == np.float64
    assert ik2bone.solve(*POSE, TARGET, pole=np.ones(3, np.float32)).end.dtype == np.float64
    at, turn = np.zeros((1, 3), np.float32), np.ones((1, 4), np.float32)
    assert ik2bone.aggregate(np.array([-1]), at, turn).dtype == np.float32


def test_an_array_of_integers_makes_float64():
    points = batch(dtype=np.float32)
    assert ik2bone.solve(*points[:3], np.ones(3, np.int32)).end.dtype == np.float64


@pytest.mark.parametrize(
    "make",
    [
        lambda v: array("d", v),
        lambda v: memoryview(array("d", v)),
        lambda v: (ctypes.c_double * 3)(*v),
        tuple,
        lambda v: [Fraction(x).limit_denominator(10**6) for x in v],
        lambda v: np.array(v, ">f8"),
        lambda v: np.array(v).view(type("Points", (np.ndarray,), {})),
        lambda v: pickle.loads(pickle.dumps(np.array(v))),
        lambda v: np.array(v, np.longdouble),
        lambda v: np.array([*v, 0.0])[:3],
        lambda v: np.array(v, object),
    ],
)
def test_anything_that_holds_numbers_is_taken(make):
    want = ik2bone.solve(*POSE, TARGET)
    got = ik2bone.solve(*(make(p) for p in POSE), make(TARGET))
    np.testing.assert_allclose(got.mid, want.mid, rtol=0, atol=1e-15)


def test_numpy_scalars_and_booleans_are_numbers():
    half = ik2bone.solve(*POSE, TARGET, weight=0.5)
    for number in (np.float32(0.5), np.float64(0.5), np.array(0.5), Fraction(1, 2)):
        assert equal(half, ik2bone.solve(*POSE, TARGET, weight=number))
    assert equal(ik2bone.solve(*POSE, TARGET), ik2bone.solve(*POSE, TARGET, weight=True))


# Shapes and strides


def test_leading_dimensions_broadcast_options_included():
    root, mid, end, _ = batch(4)
    target = np.random.default_rng(1).normal(size=(5, 1, 3))
    weight = np.linspace(0, 1, 3).reshape(3, 1, 1)
    s = ik2bone.solve(root, mid, end, target, weight=weight, pole=[0, 1, 0])
    assert [r.shape for r in s] == [(3, 5, 4, 3), (3, 5, 4, 3), (3, 5, 4), (3, 5, 4)]
    for i, j, k in np.ndindex(3, 5, 4):
        one = ik2bone.solve(root[k], mid[k], end[k], target[j, 0], weight=weight[i, 0, 0], pole=[0, 1, 0])
        assert equal((r[i, j, k] for r in s), one)


def test_a_single_row_has_no_leading_dimensions():
    s = ik2bone.solve(*POSE, TARGET)
    assert [r.shape for r in s] == [(3,), (3,), (), ()]


def test_no_rows_give_no_rows():
    s = ik2bone.solve(np.zeros((0, 3)), *POSE[1:], TARGET)
    assert [r.shape for r in s] == [(0, 3), (0, 3), (0,), (0,)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_strides(dtype):
    points = batch(8, dtype)
    want = ik2bone.solve(*points)
    for lay in (
        lambda p: p[::-1].copy()[::-1],
        lambda p: np.asfortranarray(p),
        lambda p: np.repeat(p, 3, axis=0)[::3],
        lambda p: np.repeat(p, 2, axis=1)[:, ::2],
        lambda p: p[:, ::-1].copy()[:, ::-1],
        lambda p: unaligned(p),
    ):
        assert equal(ik2bone.solve(*map(lay, points)), want)


def unaligned(p):
    record = np.zeros(p.shape, np.dtype([("pad", "u1"), ("value", p.dtype)]))
    record["value"] = p
    return record["value"]


def test_views_of_matrices_are_read_where_they_lie():
    rng = np.random.default_rng(2)
    whole = np.stack([limbs.poses(rng, 7, "rigid").root for _ in range(5)], 1)
    s = ik2bone.solve(*(whole[:, j, :3, 3] for j in range(4)))
    t = ik2bone.solve(*(whole[:, j, :3, 3].copy() for j in range(4)))
    assert equal(s, t)


# Outputs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_out_is_written_and_returned(dtype):
    points = batch(6, dtype)
    out = outputs((6,), dtype)
    s = ik2bone.solve(*points, out=out)
    assert isinstance(s, ik2bone.Solution)
    assert all(a is b for a, b in zip(s, out, strict=True))
    assert equal(s, ik2bone.solve(*points))


def test_a_result_handed_over_as_out_comes_back_itself():
    points = batch(6)
    s = ik2bone.solve(*points)
    want = [part.copy() for part in s]
    for part in s:
        part[...] = 0
    assert ik2bone.solve(*points, out=s) is s
    assert equal(s, want)


def test_out_may_be_a_tuple_of_another_class():
    points, out = batch(6), outputs((6,))
    s = ik2bone.solve(*points, out=type("Parts", (tuple,), {})(out))
    assert type(s) is ik2bone.Solution
    assert all(a is b for a, b in zip(s, out, strict=True))


def test_one_result_takes_one_out():
    rng = np.random.default_rng(3)
    q, r = rng.normal(size=(2, 4, 4))
    out = np.empty((4, 4))
    assert ik2bone.multiply(q, r, out=out) is out
    assert np.array_equal(out, ik2bone.multiply(q, r))


def test_out_may_be_columns_interleaved_with_inputs():
    points = batch()
    whole = np.zeros((6, 20))
    columns = [whole[:, 3 * i : 3 * i + 3] for i in range(6)]
    for column, p in zip(columns, points, strict=False):
        column[...] = p
    miss, status = whole[:, 18], np.zeros(6, "u1")
    ik2bone.solve(*columns[:4], out=(columns[4], columns[5], miss, status))
    assert equal((columns[4], columns[5], miss, status), ik2bone.solve(*points))


def test_aggregate_writes_into_out_by_joints():
    rng = np.random.default_rng(4)
    at, turn = rng.normal(size=(5, 3, 3)), rng.normal(size=(5, 3, 4))
    out = np.zeros((3, 5, 4, 4)).swapaxes(0, 1)
    ik2bone.aggregate([-1, 0, 1], at, turn, out=out)
    assert np.array_equal(out, ik2bone.aggregate([-1, 0, 1], at, turn))


def test_aggregate_may_overwrite_its_rest():
    rng = np.random.default_rng(5)
    at, turn, rest = rng.normal(size=(5, 3, 3)), rng.normal(size=(5, 3, 4)), rng.normal(size=(5, 3, 4, 4))
    rest[..., 3, :] = [0, 0, 0, 1]
    want = ik2bone.aggregate([-1, 0, 1], at, turn, rest=rest)
    assert np.array_equal(ik2bone.aggregate([-1, 0, 1], at, turn, rest=rest, out=rest), want)


def test_aggregate_may_overwrite_its_rest_of_one_joint_whatever_the_stride_along_joints():
    rest = np.tile(np.eye(4), (5, 1, 1))
    want = rest.copy()
    want[:, 0, 3] = 2.0
    views = rest[:, None], rest.reshape(5, 1, 4, 4)
    assert views[0].strides != views[1].strides
    ik2bone.aggregate(
        [-1], np.array([2.0, 0.0, 0.0]).reshape(1, 3), np.array([[1.0, 0, 0, 0]]), rest=views[0], out=views[1]
    )
    assert np.array_equal(rest, want)


OVERLAPS = {
    "shifted": lambda w: (w[1:7, :3], w[:6, 3:6], w[:6, 6]),
    "reversed": lambda w: (w[:6, :3][::-1], w[:6, 3:6], w[:6, 6]),
    "swapped columns": lambda w: (w[:6, :3][:, ::-1], w[:6, 3:6], w[:6, 6]),
    "two outs": lambda w: (w[:6, 3:6], w[:6, 5:8], w[:6, 9]),
    "the same out twice": lambda w: (w[:6, 3:6], w[:6, 3:6], w[:6, 9]),
    "itself": lambda w: (np.lib.stride_tricks.as_strided(w[:, 8:], (6, 3), (8, 8)), w[:6, 3:6], w[:6, 7]),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_any_other_overlap_is_refused_and_writes_nothing(name):
    root, mid, end, target = batch()
    whole = np.random.default_rng(6).normal(size=(8, 24))
    whole[:6, :3] = mid
    before = whole.copy()
    with pytest.raises(ValueError, match=r"out (mid|end).*overlap"):
        ik2bone.solve(root, whole[:6, :3], end, target, out=(*OVERLAPS[name](whole), np.zeros(6, "u1")))
    assert np.array_equal(whole, before)


def windows(rng, memory):
    """A random view of the memory: as many rows and dimensions as any, axes of any order, sign and stride."""
    shape = rng.integers(1, 5, rng.integers(1, 3))
    strides = [int(8 * rng.integers(-3, 13)) + int(rng.choice([0, 0, 0, 4])) for _ in shape]
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
    inner = int(rng.choice([8, 16, -8, 24]))
    low += min(0, 2 * inner)
    base = memory[(-low + 7) // 8 + int(rng.integers(0, 6)) :]
    return np.lib.stride_tricks.as_strided(base, (*shape, 3), (*strides, inner))


def touched(view):
    """The places of all bytes of the elements, an entry each time that one is an element's."""
    start = view.__array_interface__["data"][0]
    places = np.full(view.shape, start)
    for axis, (count, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        places += (np.arange(count) * stride).reshape([-1 if k == axis else 1 for k in range(view.ndim)])
    return (places.ravel()[:, None] + np.arange(view.itemsize)).ravel().tolist()


def is_overlap(out, other):
    """By the bytes themselves: two elements of the output on one, or one shared with another view."""
    bytes_of_out = touched(out)
    steps = [[stride for stride, size in zip(v.strides, v.shape, strict=True) if size > 1] for v in (out, other)]
    same = steps[0] == steps[1] and out.__array_interface__["data"] == other.__array_interface__["data"]
    shared = set(bytes_of_out) & set(touched(other))
    return len(set(bytes_of_out)) < len(bytes_of_out) or (bool(shared) and not same)


def test_overlap_is_told_by_bytes_whatever_the_strides():
    rng, counts = np.random.default_rng(8), {True: 0, False: 0}
    memory = np.zeros(400)
    for _ in range(4000):
        root = windows(rng, memory)
        out = root if rng.random() < 0.1 else windows(rng, memory)
        if out.shape != root.shape:
            continue
        rest = outputs(root.shape[:-1])[1:]
        expected = is_overlap(out, root)
        try:
            ik2bone.solve(root, [0.0, 1, 0], [0.0, 1, 1], [0.0, 0, 1], out=(out, *rest))
            found = False
        except ValueError as error:
            assert "overlap" in str(error)
            found = True
        assert found == expected, (root.strides, out.strides, out.shape)
        counts[found] += 1
    assert min(counts.values()) > 100, counts


def test_telling_columns_apart_takes_no_memory_for_what_lies_between():
    rows, step = 3, 2**17
    memory = np.zeros(rows * step)
    columns = np.lib.stride_tricks.as_strided(memory, (rows, 6), (8 * step, 8))
    columns[:, :3], mid, end, target = batch(rows)
    want = ik2bone.solve(columns[:, :3], mid, end, target)
    out = (columns[:, 3:], *outputs((rows,))[1:])
    tracemalloc.start()
    try:
        s = ik2bone.solve(columns[:, :3], mid, end, target, out=out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert equal(s, want)
    assert peak < 10_000


def test_out_over_a_broadcast_input_is_refused():
    root, mid, end, target = batch()
    with pytest.raises(ValueError, match="overlap with root"):
        ik2bone.solve(mid[0], mid, end, target, out=(mid, *outputs((6,))[1:]))


def test_out_buffers_need_no_numpy():
    """In a fresh interpreter: array and ctypes buffers in and out, and numpy is not imported."""
    code = """
import ctypes, sys
from array import array
import ik2bone
points = [array("d", p) for p in ([0, 0, 0], [0, 0.3, -0.4], [0, 0, -0.8], [0.1, 0.2, -0.5])]
out = array("d", [0] * 3), array("d", [0] * 3), ctypes.c_double(), ctypes.c_ubyte(9)
s = ik2bone.solve(*points, weight=1, out=out)
assert s.status.value == 0 and abs(s.end[2] + 0.5) < 1e-15, s
assert "numpy" not in sys.modules
import numpy
arrays = [numpy.array(p) for p in points]
assert (ik2bone.solve(*arrays, weight=1, out=out).end == s.end) and (ik2bone.solve(*arrays).end == s.end).all()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_arrays_do_without_numpys_c_interface():
    """In a fresh interpreter where its table is not found, as with a version of numpy that has another one."""
    code = """
import sys
import numpy as np
for name in "numpy._core._multiarray_umath", "numpy.core._multiarray_umath":
    sys.modules.pop(name, None)
import ik2bone
points = [np.array([p] * 5, np.float32)[::2] for p in ([0, 0, 0], [0, 0.3, -0.4], [0, 0, -0.8], [0.1, 0.2, -0.5])]
s = ik2bone.solve(*points)
assert s.end.dtype == np.float32 and s.status.dtype == np.uint8 and s.end.shape == (3, 3), s
assert (s.end == points[3]).all() and ik2bone.solve(*points, out=s) is s and ik2bone.solve(*points).mid[2].any()
s.miss.flags.writeable = False
try:
    ik2bone.solve(*points, out=s)
except BufferError as error:
    assert "out miss" in str(error)
else:
    raise AssertionError("a read-only output was taken")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_results_of_broadcast_arrays_are_no_outputs():
    """Numpy warns of writing into them, and calls their buffers read-only."""
    out = outputs((6,))
    shared = np.broadcast_arrays(out[0], np.zeros((6, 1)))[0]
    if not memoryview(shared).readonly:
        pytest.skip("this numpy returns arrays that need no broadcasting as they are")
    with pytest.raises(BufferError, match="out mid: expected a writable buffer"):
        ik2bone.solve(*batch(), out=(shared, *out[1:]))


def test_an_array_may_be_reshaped_while_a_later_argument_is_converted():
    root, mid, end, target = batch()
    want = ik2bone.solve(root, mid, end, target, weight=0.5)
    rows = mid.shape[0]

    class Weight:
        def __array__(self, dtype=None, copy=None):
            mid.shape = (1, rows, 3)
            return np.array(0.5)

    got = ik2bone.solve(root, mid, end, target, weight=Weight())
    assert mid.shape == (1, rows, 3) and equal(got, want)


def test_buffers_are_released():
    points = [bytearray(24) for _ in range(4)]
    views = [memoryview(b).cast("d") for b in points]
    views[1][1] = views[2][2] = 1.0
    ik2bone.solve(*views)
    with pytest.raises(ValueError, match="expected"):
        ik2bone.solve(*views[:3], views[3][:2])
    for view, b in zip(views, points, strict=True):
        view.release()
        b.append(0)  # a BufferError where something still holds it
