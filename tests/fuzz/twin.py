# SPDX-License-Identifier: MIT
"""The fast twin, twin.c: compiled when it is needed, in both widths, it judges rows of results."""

from __future__ import annotations

import ctypes
import shlex
import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from tests.fuzz.calls import Call
from tests.fuzz.vectors import Array

SOURCE = Path(__file__).with_name("twin.c")
FUNCTIONS = ("solve", "solve_pose", "orient", "pole_of", "hinge_of", "multiply")
FLAGS = ["-std=c11", "-O2", "-w", "-shared", "-fPIC"]
PARTS = 5
SAMPLES = 512  # most rows that need some are right after one or two
LAWS = ("status is the twin's", "turns and axes are of unit length", "bones are rigid")
LAWS += ("miss is the distance to the target", "the corrections put the end where position says")


class Column(ctypes.Structure):
    """One argument or result of all rows; a width of 0 is none."""

    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_ssize_t), ("width", ctypes.c_ssize_t)]


@cache
def twin(narrow: bool, source: Path) -> ctypes.CDLL:
    """The compiled twin, which computes in double or in long double."""
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")[0]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "twin.so")
        flags = [*FLAGS, *(["-DNARROW"] if narrow else [])]
        subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
        return ctypes.CDLL(str(library))


def columns(names: tuple[str, ...], arrays: dict[str, Array]) -> ctypes.Array[Column]:
    """The arrays, of one row in each of their first places, whose rows lie in one piece, in this order."""
    rows = [Column()] * len(names)
    for name, array in arrays.items():
        rows[names.index(name)] = Column(array.ctypes.data, array.strides[0], array.itemsize)
    return (Column * len(names))(*rows)


def judge(call: Call, results: dict[str, Array]) -> Array:
    """What is wrong with each row, by number, 0 where nothing is.

    Rows that differ are shaken, see twin.c. What the twin in double loses, the solver may lose, and where it loses
    more, the one in long double decides: a row is wrong where both find it so.
    """
    given = {name: call.rows(name) for name in call.values}
    codes = judged(True, 0, call, given, results)
    for narrow in (True, False):
        wrong = np.flatnonzero(codes)
        if len(wrong):
            some = [{name: array[wrong] for name, array in arrays.items()} for arrays in (given, results)]
            codes[wrong] = judged(narrow, SAMPLES, call, *some)
    return codes


def judged(narrow: bool, samples: int, call: Call, given: dict[str, Array], results: dict[str, Array]) -> Array:
    """The codes of one of the twins."""
    judging = twin(narrow, SOURCE)
    outputs = [name for name in call.function.outputs if name != "status"]
    slots = (*outputs, *[""] * (PARTS - len(outputs)), "status")
    count = len(next(iter(given.values())))
    codes = np.zeros(count, np.uint8)
    judging.twin_judge(
        FUNCTIONS.index(call.function.name),
        call.kind == np.dtype("f4"),
        call.words.get("bend") == "nearest",
        call.words.get("roll") == "hinge",
        samples,
        ctypes.c_size_t(count),
        columns(names_of(judging), given),
        columns(slots, results),
        codes.ctypes.data_as(ctypes.c_void_p),
    )
    return codes


@cache
def names_of(judging: ctypes.CDLL) -> tuple[str, ...]:
    text = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(judging, "twin_inputs")))
    return tuple(text.decode().lower().split())


def law_of(call: Call, code: int) -> str:
    """What a number of `judge` says."""
    outputs = [name for name in call.function.outputs if name != "status"]
    return f"{outputs[code - 1]} is the twin's" if code <= PARTS else LAWS[code - PARTS - 1]
