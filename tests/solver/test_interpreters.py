# SPDX-License-Identifier: MIT
"""Import, again and again, and by other interpreters, where buffers do without numpy, which may not load there."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
import sysconfig
import weakref
from concurrent.futures import ThreadPoolExecutor

import ik2bone
import pytest

OWN_GIL = sys.version_info >= (3, 13)
LOADS = 100
SOLVE = """
import array, ctypes, ik2bone
for _ in range({times}):
    points = [array.array("d", p) for p in ([0, 0, 0], [0, 0.3, -0.4], [0, 0, -0.8], [0.1, 0.2, -0.5])]
    out = array.array("d", [0] * 3), (ctypes.c_double * 3)(), ctypes.c_double(1), ctypes.c_ubyte(9)
    s = ik2bone.solve(*points, out=out)
    assert type(s) is ik2bone.Solution and s.status.value == 0 and s.miss.value < 1e-15, s
    try:
        ik2bone.solve(*points[:3], None, out=out)
    except TypeError as error:
        assert "target" in str(error)
    else:
        raise AssertionError("None was taken for a target")
    corners = (ctypes.c_double * 3 * 3)((0, 0, 0), (1, 0, 0), (0, 1, 0))
    mesh = ik2bone.Mesh(corners, (ctypes.c_int * 3 * 1)((0, 1, 2)))
    out = (ctypes.c_double * 3)(), (ctypes.c_double * 3)(), ctypes.c_int64(9)
    hits = mesh.nearest((ctypes.c_double * 3)(0.25, 0.25, 2), out=out)
    assert type(hits) is ik2bone.Hits and hits.triangle.value == 0 and list(hits.normal) == [0, 0, 1], hits
"""


def points():
    return [0.0, 0, 0], [0, 0.3, -0.4], [0, 0, -0.8], [0.1, 0.2, -0.5]


def new_module():
    """The extension, loaded anew, with a state of its own."""
    spec = ik2bone._core.__spec__
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_modules_loaded_anew_work_side_by_side():
    modules = [ik2bone._core, new_module(), new_module()]
    assert len({id(module.solve) for module in modules}) == 3
    results = [module.solve(*points()) for module in modules]
    assert all(type(result) is ik2bone.Solution and result.miss < 1e-15 for result in results)


# Free-threaded Python 3.13 keeps modules and their functions for good once a thread was started.
immortal = pytest.mark.skipif(
    sys.version_info[:2] == (3, 13) and bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="modules are immortal in free-threaded Python 3.13",
)


@immortal
def test_a_module_no_longer_used_goes_away():
    module = new_module()
    module.solve(*points())
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None


@immortal
def test_loading_again_and_again_keeps_no_memory():
    def grown():
        blocks = sys.getallocatedblocks()
        for _ in range(LOADS):
            new_module().solve(*points())
        gc.collect()
        return sys.getallocatedblocks() - blocks

    assert any(grown() < LOADS // 2 for _ in range(20))  # caches fill at first
    references = sys.getrefcount(ik2bone.Solution)
    grown()
    references = sys.getrefcount(ik2bone.Solution) - references
    assert references < LOADS // 2


def test_reload_leaves_working_modules():
    before = ik2bone.solve(*points())
    assert importlib.reload(ik2bone._core) is ik2bone._core
    assert importlib.reload(ik2bone) is ik2bone
    after = ik2bone.solve(*points())
    assert type(after) is ik2bone.Solution
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def interpreters():
    """The module that makes interpreters, which has no public name yet."""
    return pytest.importorskip("_interpreters" if OWN_GIL else "_xxsubinterpreters")


def create(kind):
    """An interpreter that shares the lock with all others (legacy) or has one of its own (isolated)."""
    module = interpreters()
    return module.create(kind) if OWN_GIL else module.create(isolated=False)


def run(kind, code):
    """Run code in a new interpreter; what it raises, None where all went well."""
    module, interpreter = interpreters(), create(kind)
    try:
        failure = module.run_string(interpreter, code)
        return failure and failure.formatted
    except module.RunFailedError as error:
        return str(error)
    finally:
        module.destroy(interpreter)


KINDS = ["legacy", pytest.param("isolated", marks=pytest.mark.skipif(not OWN_GIL, reason="needs Python 3.13"))]


@pytest.mark.parametrize("kind", KINDS)
def test_another_interpreter_solves(kind):
    assert run(kind, SOLVE.format(times=3)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_interpreters_come_and_go(kind):
    assert not any([run(kind, SOLVE.format(times=1)) for _ in range(10)])
    assert ik2bone.solve(*points()).miss < 1e-15


@pytest.mark.parametrize("kind", KINDS)
def test_interpreters_solve_at_once(kind):
    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(lambda _: run(kind, SOLVE.format(times=300)), range(4)))
