# SPDX-License-Identifier: MIT
"""The plain case in C, compiled as the extension is: one limb a call with cglm, and the bare tile kernel."""

from __future__ import annotations

import contextlib
import ctypes
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.bench.cases import Case
from tests.bench.clocks import Clock, of_loop

Array = NDArray[Any]
ROOT = Path(__file__).parents[2]
LANES = 16
# Elements of a row of each result.
RESULTS = {
    "solve": (3, 3),
    "orient": (4, 4),
    "solve_pose": (4, 4, 3),
    "aggregate": (16,),
    "pole_of": (3,),
}


class NotBuilt(Exception):
    """There is no library, with the reason."""


def compiled(folder: Path) -> Path:
    """The library, made by the command of setup.py: its compiler, its flags, its cglm."""
    from distutils.core import run_setup

    from setuptools import Extension

    with contextlib.chdir(ROOT):
        sources = ["tests/bench/bare.c", "tests/bench/chain.c", "native/core/builds.c"]
        distribution = run_setup("setup.py", stop_after="init")
        distribution.ext_modules = [Extension("peers", sources, include_dirs=["native/core"])]
        command = distribution.get_command_obj("build_ext")
        command.build_lib = command.build_temp = str(folder)
        command.force = True
        command.ensure_finalized()
        command.run()
        return Path(command.get_ext_fullpath("peers")).resolve()


def compiled_in(folder: Path) -> Path:
    """The file of the library, or NotBuilt."""
    try:
        import setuptools  # noqa: F401  # makes distutils its own, which Python 3.13 has not
        from setuptools.errors import BaseError
    except ImportError as error:
        raise NotBuilt("setuptools is missing") from error
    try:
        logging.disable(logging.INFO)  # setuptools tells its commands
        return compiled(folder)
    except (BaseError, OSError, SystemExit) as error:
        raise NotBuilt(str(error)) from error
    finally:
        logging.disable(logging.NOTSET)


def load(folder: Path) -> ctypes.CDLL:
    """The library, or NotBuilt."""
    path = compiled_in(folder)
    try:
        return opened(path)
    except OSError as error:
        raise NotBuilt(str(error)) from error


def opened(path: Path) -> ctypes.CDLL:
    """The library in a file."""
    library = ctypes.CDLL(str(path))
    library.bare_build.restype = ctypes.c_char_p
    return library


def aligned(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Zeros whose memory starts where vectors and cglm's matrices may lie."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + 64, "u1")
    start = -room.ctypes.data % 64
    return room[start : start + size].view(dtype).reshape(shape)


def for_cglm(array: Array) -> Array:
    """The same as cglm has it: matrices by columns."""
    result = aligned(array.shape)
    result[...] = np.swapaxes(array, -1, -2) if array.shape[-2:] == (4, 4) else array
    return result


def address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def chain(library: ctypes.CDLL, case: Case) -> tuple[Clock, list[Array]]:
    """One limb a call over all rows of a plain float32 case, and the arrays that it fills."""
    function = getattr(library, f"chain_{case.function}")
    inputs = [for_cglm(array) for array in case.arrays]
    outputs = [aligned((case.rows, size)) for size in RESULTS[case.function]]
    lengths = [case.rows]
    if case.parents:
        inputs.insert(0, np.asarray(case.parents[0], np.dtype(ctypes.c_long)))
        lengths = [len(inputs[0]), case.rows // len(inputs[0])]
    arrays = [*inputs, *outputs]  # kept by the function
    return of_loop(lambda count: function(*map(address, arrays), *map(ctypes.c_long, [*lengths, count]))), outputs


def bare(library: ctypes.CDLL, points: Sequence[Array]) -> tuple[Clock, Array]:
    """The bare kernel over the whole tiles of rows of root, mid, end and target, and its tiles (tile, element, lane).

    Elements: the four inputs, new mid, new end, and both turns as x, y, z, w.
    """
    tiles = aligned((len(points[0]) // LANES, 26, LANES))
    for i, array in enumerate(points):
        tiles[:, 3 * i : 3 * i + 3] = array.reshape(len(tiles), LANES, 3).swapaxes(1, 2)
    count_of_tiles = ctypes.c_long(len(tiles))
    run = library.bare_solve
    return of_loop(lambda count: run(address(tiles), count_of_tiles, ctypes.c_long(count))), tiles
