# SPDX-License-Identifier: MIT
"""Bad arguments: the kind of error, and a message that names the argument, what was expected and what came."""

from __future__ import annotations

import ctypes
import sys
from array import array

import ik2bone
import numpy as np
import pytest

POSE = dict(root=[0.0, 0, 0], mid=[0, 0.3, -0.4], end=[0, 0, -0.8], target=[0.1, 0.2, -0.5])
MATRICES = dict(root_matrix=np.eye(4), mid_matrix=np.eye(4), end=[0.0, 0, -1])
NUMBER = "a number or an array of numbers"
POINT = r"an array of shape \(\.\.\., 3\)"


def solve(**changes):
    return ik2bone.solve(**{**POSE, **changes})


CASES = [
    (dict(mid=None), TypeError, f"mid: expected {POINT}, got NoneType"),
    (dict(target="abc"), TypeError, f"target: expected {POINT}, got str"),
    (dict(target=b"abc"), TypeError, f"target: expected {POINT}, got bytes"),
    (dict(target=bytearray(3)), TypeError, f"target: expected {POINT}, got bytearray"),
    (dict(target=memoryview(b"abc")), TypeError, f"target: expected {POINT}, got memoryview"),
    (dict(target=["1", "2", "3"]), TypeError, f"target: expected {POINT}, got list of <U1"),
    (dict(target=[1, None, 2]), TypeError, f"target: expected {POINT}, got list of object"),
    (dict(target=np.zeros(3, complex)), TypeError, f"target: expected {POINT}, got ndarray"),
    (dict(target=(ctypes.c_longdouble * 3)()), TypeError, f"target: expected {POINT}, got c_longdouble_Array_3"),
    (dict(target=ctypes.pointer(ctypes.c_double())), TypeError, f"target: expected {POINT}, got LP_c_double"),
    (dict(target=object()), TypeError, f"target: expected {POINT}, got object"),
    (dict(target={}), TypeError, f"target: expected {POINT}, got dict"),
    (dict(weight=None), TypeError, f"weight: expected {NUMBER}, got NoneType"),
    (dict(weight="1"), TypeError, f"weight: expected {NUMBER}, got str"),
    (dict(pole_weight=[None]), TypeError, f"pole_weight: expected {NUMBER}, got list"),
    (dict(end=[0.0, 1]), ValueError, rf"end: expected {POINT}, got shape \(2,\)"),
    (dict(end=3.0), ValueError, rf"end: expected {POINT}, got shape \(\)"),
    (dict(pole=1), ValueError, rf"pole: expected {POINT}, got shape \(\)"),
    (dict(target=[]), ValueError, rf"target: expected {POINT}, got shape \(0,\)"),
    (dict(target=[[1, 2, 3], [1, 2]]), ValueError, f"target: expected {POINT}, got a ragged sequence"),
    (dict(target=np.zeros((2, 3)), weight=[1, 1, 1]), ValueError, r"weight: .*broadcast with \(2,\), got \(3,\)"),
    (dict(bend="sideways"), ValueError, "bend: expected 'carried' or 'nearest', got 'sideways'"),
    (dict(bend=1), TypeError, "bend: expected 'carried' or 'nearest', got 1"),
    (dict(weight=10**400), ValueError, "weight: expected a number that fits float64"),
    (dict(twirl=1), TypeError, "unexpected keyword argument 'twirl'"),
    (dict(out=np.zeros(3)), TypeError, "out: expected a tuple of writable buffers, got ndarray"),
    (dict(out=(np.zeros(3),)), ValueError, "out: expected a tuple of 4 buffers, got 1"),
]


@pytest.mark.parametrize(("changes", "error", "message"), CASES)
def test_a_bad_argument_is_named(changes, error, message):
    with pytest.raises(error, match=message):
        solve(**changes)


def test_a_missing_or_surplus_argument_is_told():
    with pytest.raises(TypeError, match=r"solve\(\) missing required argument: 'target'"):
        ik2bone.solve([0.0, 0, 0], [0.0, 0, 1], [0.0, 0, 2])
    with pytest.raises(TypeError, match=r"solve\(\) takes 4 positional arguments but 5 were given"):
        ik2bone.solve(*POSE.values(), "carried")
    with pytest.raises(TypeError, match="multiple values for argument 'root'"):
        ik2bone.solve(POSE["root"], **POSE)


def good_out():
    return [np.full(3, 7.0), np.full(3, 7.0), np.full((), 7.0), np.full((), 7, "u1")]


def read_only():
    array = np.zeros(3)
    array.flags.writeable = False
    return array


def released():
    view = memoryview(bytearray(3))
    view.release()
    return view


OUT_CASES = [
    (0, np.zeros(3, "M8[s]"), TypeError, "out mid: expected a writable buffer, got ndarray"),
    (3, released(), TypeError, "out status: expected a writable buffer, got memoryview"),
    (0, np.zeros(4), ValueError, r"out mid: expected shape \(3,\), got \(4,\)"),
    (1, np.zeros((1, 3)), ValueError, r"out end: expected shape \(3,\), got \(1, 3\)"),
    (0, np.zeros(3, np.float32), TypeError, "out mid: expected a buffer of float64, got format 'f'"),
    (3, np.zeros(()), TypeError, "out status: expected a buffer of uint8, got format 'd'"),
    (1, read_only(), BufferError, "out end: expected a writable buffer, got a read-only ndarray"),
    (0, bytes(3), TypeError, "out mid: expected a buffer of float64, got format 'B'"),
    (2, [0.0], TypeError, "out miss: expected a writable buffer, got list"),
    (0, None, TypeError, "out mid: expected a writable buffer, got NoneType"),
]


@pytest.mark.parametrize(("place", "value", "error", "message"), OUT_CASES)
def test_a_bad_out_is_named_and_nothing_is_written(place, value, error, message):
    out = good_out()
    out[place] = value
    with pytest.raises(error, match=message):
        solve(out=tuple(out))
    for i, other in enumerate(out):
        assert i == place or np.all(other == 7)


def test_a_bad_option_writes_nothing():
    out = good_out()
    with pytest.raises(TypeError, match="soften"):
        solve(soften="much", out=tuple(out))
    assert all(np.all(o == 7) for o in out)


def test_roll_by_hinge_needs_a_hinge():
    for function, rest in ((ik2bone.orient, ([0, 0, -1.0], [0, 0, -2.0])), (ik2bone.solve_pose, ([0, 0, -1.0],))):
        with pytest.raises(ValueError, match="hinge: expected a direction for roll='hinge', got None"):
            function(*MATRICES.values(), *rest, roll="hinge")
        with pytest.raises(ValueError, match="roll: expected 'pose' or 'hinge', got 'rest'"):
            function(*MATRICES.values(), *rest, roll="rest")


def test_matrices_are_told_from_points():
    with pytest.raises(
        ValueError, match=r"mid_matrix: expected an array of shape \(\.\.\., 4, 4\), got shape \(3, 3\)"
    ):
        ik2bone.hinge_of(np.eye(4), np.eye(3), [0, 0, 0])


def test_an_end_correction_without_end_matrix_has_no_out():
    out = (np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(3), np.zeros(()), np.zeros((), "u1"))
    with pytest.raises(TypeError, match="out end: expected None without end_matrix, got ndarray"):
        ik2bone.solve_pose(*MATRICES.values(), [0, 0, -0.8], out=out)
    s = ik2bone.solve_pose(*MATRICES.values(), [0, 0, -0.8], out=(*out[:2], None, *out[3:]))
    assert s.end is None
    assert s.root is out[0]


PARENT_CASES = [
    ([0, 0], ValueError, r"parents\[0\]: expected -1 or the index of an earlier joint, got 0"),
    ([-1, 1], ValueError, r"parents\[1\]: expected -1 or the index of an earlier joint, got 1"),
    ([-2, 0], ValueError, r"parents\[0\]: .*got -2"),
    ([-1.0, 0.0], TypeError, "parents: expected integers, got -1.0"),
    ([[-1, 0]], ValueError, "parents: expected shape"),
    (None, TypeError, "parents: expected a sequence of integers, got NoneType"),
    ("ab", TypeError, "parents: expected a sequence of integers, got str"),
    ([-1], ValueError, r"translation: .* 1 joints as in parents, got shape \(2, 3\)"),
]


@pytest.mark.parametrize(("parents", "error", "message"), PARENT_CASES)
def test_bad_parents_are_told(parents, error, message):
    with pytest.raises(error, match=message):
        ik2bone.aggregate(parents, np.zeros((2, 3)), np.ones((2, 4)))


@pytest.mark.parametrize(
    ("parents", "error", "message"),
    [
        ([2**70], ValueError, r"parents\[0\]: expected -1 or the index of an earlier joint"),
        ([-(2**70)], ValueError, r"parents\[0\]: expected -1 or the index of an earlier joint"),
        (["x"], TypeError, "parents: expected integers, got 'x'"),
        ([b"a"], TypeError, "parents: expected integers, got b'a'"),
        ([[-1]], ValueError, "parents: expected shape"),
        (np.array(-1), ValueError, r"parents: expected shape \(joints,\), got shape \(\)"),
        (memoryview(np.array(-1)), ValueError, r"parents: expected shape \(joints,\), got shape \(\)"),
        (memoryview(np.array([[-1]])), ValueError, r"parents: expected shape \(joints,\), got shape \(1, 1\)"),
        # By numpy 1 and by numpy 2.
        (np.array([-1], "M8[s]"), TypeError, r"parents: expected integers, got (numpy|np)\.datetime64"),
    ],
)
def test_parents_that_are_no_indices_are_named(parents, error, message):
    with pytest.raises(error, match=message):
        ik2bone.aggregate(parents, np.zeros((1, 3)), [[1.0, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("root", "kind"), [(np.zeros(3, complex), "complex128"), ([0, None, 0], "object"), (["a", 1, 2], "<U")]
)
def test_elements_that_are_no_numbers_are_named(root, kind):
    with pytest.raises(TypeError, match=f"root: expected .*, got .* of {kind}"):
        ik2bone.solve(root, [0, 1, 0], [0, 1, 1], [0, 0, 1])


def test_numbers_in_a_view_of_bytes_are_taken():
    """A cast says that they are numbers."""
    target = memoryview(array("d", POSE["target"]).tobytes()).cast("d")
    assert np.array_equal(solve(target=target).mid, solve().mid)
    assert np.array_equal(solve(target=memoryview(array("B", [0, 0, 1]))).mid, solve(target=[0, 0, 1]).mid)


@pytest.mark.parametrize(("name", "row"), [("target", (3,)), ("weight", ())])
def test_too_many_dimensions_are_named(name, row):
    crowded = memoryview(bytearray(24)).cast("d") if row else memoryview(bytearray(8)).cast("d")
    crowded = crowded.cast("B").cast("d", (*[1] * 33, *row) if row else [1] * 33)
    with pytest.raises(ValueError, match=f"^{name}: expected at most 32 leading dimensions, got 33$"):
        solve(**{name: crowded})
    fits = crowded.cast("B").cast("d", (*[1] * 32, *row) if row else [1] * 32)
    with pytest.raises(ValueError, match=r"out mid: expected shape \((1, ){32}3\), got \(3,\)"):
        solve(**{name: fits}, out=tuple(good_out()))


class RaisingNumber(int):
    def __float__(self):
        raise KeyError("no float")


def test_an_exception_of_a_number_s_own_is_passed_on():
    with pytest.raises(KeyError, match="no float"):
        solve(weight=RaisingNumber(1))


class Interrupting:
    """As when a user interrupts while the argument is asked for its numbers."""

    def __array__(self, *_, **__):
        raise KeyboardInterrupt


class InterruptingBuffer(Interrupting):
    def __buffer__(self, flags):
        raise KeyboardInterrupt

    def __array__(self, *_, **__):
        return np.zeros(3)


@pytest.mark.parametrize("fault", [Interrupting(), InterruptingBuffer()])
def test_an_interrupt_is_passed_on(fault):
    if isinstance(fault, InterruptingBuffer) and sys.version_info < (3, 12):
        pytest.skip("classes have buffers from Python 3.12 on")
    with pytest.raises(KeyboardInterrupt):
        solve(target=fault)


class View(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        *(("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t)),
        *(("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int)),
        *(("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t))),
        *(("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p)),
        ("internal", ctypes.c_void_p),
    ]


def mislabelled(numbers, code, count):
    """A view of so many elements whose size is not that of their format."""
    size = len(bytes(numbers)) // count
    shape, strides = (ctypes.c_ssize_t * 1)(count), (ctypes.c_ssize_t * 1)(size)
    view = View(ctypes.addressof(numbers), None, count * size, size, 0, 1, code, shape, strides)
    lend = ctypes.pythonapi.PyMemoryView_FromBuffer
    lend.restype, lend.argtypes = ctypes.py_object, [ctypes.POINTER(View)]
    return lend(ctypes.byref(view)), (shape, strides)


def test_elements_of_another_size_than_their_format_s_are_no_numbers():
    numbers = (ctypes.c_double * 6)(*[7.0] * 6)
    view, _kept = mislabelled(numbers, b"d", 3)
    assert (view.format, view.itemsize) == ("d", 16)
    out = (view, *good_out()[1:])
    with pytest.raises(TypeError, match="out mid: expected a buffer of float64, got format 'd' of 16 bytes"):
        solve(out=out)
    assert list(numbers) == [7.0] * 6
    integers = (ctypes.c_int64 * 2)(-1, -1)
    view, _kept = mislabelled(integers, b"B", 1)
    with pytest.raises(TypeError, match="out status: expected a buffer of uint8, got format 'B' of 16 bytes"):
        solve(out=(*[o[None] for o in good_out()[:3]], view), target=[POSE["target"]])


def test_an_end_goal_needs_an_end_matrix():
    message = r"end_matrix: expected an array of shape \(\.\.\., 4, 4\) for end_goal, got None"
    for more in ({}, dict(end_matrix=None)):
        with pytest.raises(ValueError, match=message):
            ik2bone.solve_pose(*MATRICES.values(), [0, 0, -0.8], end_goal=np.zeros((4, 4)), **more)
    s = ik2bone.solve_pose(*MATRICES.values(), [0, 0, -0.8], end_goal=None)
    assert s.end is None
