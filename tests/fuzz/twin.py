# SPDX-License-Identifier: MIT
"""The fast twin, twin.c, which judges rows of results. It is compiled when it is needed, in double or long double."""

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
# The twins that judge a row that differs, until one finds it right: whether in double, and with how many samples. Most
# rows need one or two; the last round is for rows of which one side of a singularity is rare.
TWINS = ((True, 512), (False, 512), (True, 1 << 14))
LAWS = ("status is the twin's", "turns and axes are of unit length", "bones are rigid")
LAWS += ("miss is the distance to the target", "the corrections put the end where position says")


class Column(ctypes.Structure):
    """One argument or result of all rows; a width of 0 stands for a missing one."""

    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_ssize_t), ("width", ctypes.c_ssize_t)]


@cache
def twin(narrow: bool, source: Path) -> ctypes.CDLL:
    """The compiled twin, which computes in double (`narrow`) or in long double."""
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")[0]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "twin.so")
        flags = [*FLAGS, *(["-DNARROW"] if narrow else [])]
        subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
        return ctypes.CDLL(str(library))


def columns(names: tuple[str, ...], arrays: dict[str, Array]) -> ctypes.Array[Column]:
    """The columns of the arrays by the order of `names`. The first axis of an array is its rows, each contiguous."""
    rows = [Column()] * len(names)
    for name, array in arrays.items():
        rows[names.index(name)] = Column(array.ctypes.data, array.strides[0], array.itemsize)
    return (Column * len(names))(*rows)


def judge(call: Call, results: dict[str, Array]) -> Array:
    """The code of what is wrong with each row, 0 where nothing is wrong.

    Rows that differ are judged again with shaken inputs, see twin.c. The solver may lose as many digits as the twin in
    double. Where the twin in double loses more, the twin in long double decides: a row is wrong if all find it wrong.
    """
    given = {name: call.rows(name) for name in call.values}
    codes = judged(True, 0, call, given, results)
    for narrow, samples in TWINS:
        wrong = np.flatnonzero(codes)
        if len(wrong):
            some = [{name: array[wrong] for name, array in arrays.items()} for arrays in (given, results)]
            codes[wrong] = judged(narrow, samples, call, *some)
    return codes


def judged(narrow: bool, samples: int, call: Call, given: dict[str, Array], results: dict[str, Array]) -> Array:
    """The codes of one of the twins, for inputs `given` and `results` by rows."""
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
    """The law that is broken by a row with a code of `judge`."""
    outputs = [name for name in call.function.outputs if name != "status"]
    return f"{outputs[code - 1]} is the twin's" if code <= PARTS else LAWS[code - PARTS - 1]
