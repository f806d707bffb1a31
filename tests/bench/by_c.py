# SPDX-License-Identifier: MIT
"""The plain case in C, compiled like the extension: one limb per call with cglm, and the bare tile kernel."""

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
# The number of elements in a row of each result.
RESULTS = {
    "solve": (3, 3),
    "orient": (4, 4),
    "solve_pose": (4, 4, 3),
    "aggregate": (16,),
    "pole_of": (3,),
}


class NotBuilt(Exception):
    """The exception with the reason why there is no library."""


def compiled(folder: Path) -> Path:
    """Compile the library by the command of setup.py, with its compiler, flags and cglm, and return the path."""
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
    """Compile the library and return its path. Raises NotBuilt if that fails."""
    try:
        import setuptools  # noqa: F401  # provides distutils, which Python 3.13 lacks
        from setuptools.errors import BaseError
    except ImportError as error:
        raise NotBuilt("setuptools is missing") from error
    try:
        logging.disable(logging.INFO)  # setuptools logs its commands
        return compiled(folder)
    except (BaseError, OSError, SystemExit) as error:
        raise NotBuilt(str(error)) from error
    finally:
        logging.disable(logging.NOTSET)


def load(folder: Path) -> ctypes.CDLL:
    """Compile and load the library. Raises NotBuilt if that fails."""
    path = compiled_in(folder)
    try:
        return opened(path)
    except OSError as error:
        raise NotBuilt(str(error)) from error


def opened(path: Path) -> ctypes.CDLL:
    """Load the library from a file and let it choose the best build."""
    library = ctypes.CDLL(str(path))
    library.bare_build.restype = ctypes.c_char_p
    library.bare_build()
    return library


def aligned(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """An array of zeros, aligned for vector instructions and cglm's matrices."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + 64, "u1")
    start = -room.ctypes.data % 64
    return room[start : start + size].view(dtype).reshape(shape)


def for_cglm(array: Array) -> Array:
    """The same array in the layout of cglm, which stores matrices by columns."""
    result = aligned(array.shape)
    result[...] = np.swapaxes(array, -1, -2) if array.shape[-2:] == (4, 4) else array
    return result


def address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def chain(library: ctypes.CDLL, case: Case) -> tuple[Clock, list[Array]]:
    """The clock of one limb per call over all rows of a plain float32 case, and the arrays of its results."""
    function = getattr(library, f"chain_{case.function}")
    inputs = [for_cglm(array) for array in case.arrays]
    outputs = [aligned((case.rows, size)) for size in RESULTS[case.function]]
    lengths = [case.rows]
    if case.parents:
        inputs.insert(0, np.asarray(case.parents[0], np.dtype(ctypes.c_long)))
        lengths = [len(inputs[0]), case.rows // len(inputs[0])]
    arrays = [*inputs, *outputs]  # the function below keeps them alive
    return of_loop(lambda count: function(*map(address, arrays), *map(ctypes.c_long, [*lengths, count]))), outputs


def bare(library: ctypes.CDLL, points: Sequence[Array]) -> tuple[Clock, Array]:
    """The clock of the bare kernel on the points root, mid, end and target, in whole tiles, and these tiles.

    The tiles have the axes tile, element, lane. The elements are the four inputs, the new mid, the new end, and both
    corrections as x, y, z, w.
    """
    tiles = aligned((len(points[0]) // LANES, 26, LANES))
    for i, array in enumerate(points):
        tiles[:, 3 * i : 3 * i + 3] = array.reshape(len(tiles), LANES, 3).swapaxes(1, 2)
    count_of_tiles = ctypes.c_long(len(tiles))
    run = library.bare_solve
    return of_loop(lambda count: run(address(tiles), count_of_tiles, ctypes.c_long(count))), tiles
