# SPDX-License-Identifier: MIT
"""The peers in the bench do the same work as the solver, without which the ratios of times would mean nothing."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import ik2bone
import numpy as np
import pytest

from tests.bench import __main__ as page
from tests.bench import by_c, by_numpy, cases, clocks, lines

ROWS = 64
# The tolerance for C with cglm, whose shortest arc and acos lose half of the digits of float32.
CLOSE = dict(atol=2e-3)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    try:
        return by_c.load(Path(tmp_path_factory.mktemp("peers")))
    except by_c.NotBuilt as reason:
        pytest.skip(f"the peers in C could not be compiled: {reason}")


def ours(case: cases.Case) -> tuple[Any, ...]:
    """Our results without status, miss and None."""
    found = getattr(ik2bone, case.function)(*case.parents, *case.arrays)
    if isinstance(found, np.ndarray):
        return (found,)
    return tuple(a for a in found if a is not None and a.ndim == 2)


def assert_same(one: Any, other: Any, **tolerance: float) -> None:
    """Assert that the numbers are equal; quaternions may differ in sign."""
    if one.shape[-1] == 4 and one.ndim == 2:
        one = one * np.sign((one * other).sum(-1, keepdims=True))
    np.testing.assert_allclose(one, other, rtol=0, **tolerance)


def rotated(xyzw: Any, v: Any) -> Any:
    return by_numpy.rotated(np.concatenate([xyzw[:, 3:], xyzw[:, :3]], 1).astype(float), v.astype(float))


@pytest.mark.parametrize("function", cases.FUNCTIONS)
def test_one_chain_in_c_solves_as_the_solver_does(library: ctypes.CDLL, function: str) -> None:
    case = cases.make(function, ROWS, "float32")
    run, found = by_c.chain(library, case)
    run(1)
    for own, other in zip(ours(case), found, strict=True):
        if other.shape[-1] == 16:
            other = other.reshape(-1, 4, 4).swapaxes(1, 2).reshape(own.shape)
        elif other.shape[-1] == 4:
            other = other[:, [3, 0, 1, 2]]
        assert_same(own, other, **CLOSE)


@pytest.mark.parametrize("function", cases.FUNCTIONS)
def test_numpy_solves_as_the_solver_does(function: str) -> None:
    case = cases.make(function, ROWS, "float64")
    found = getattr(by_numpy, function)(*case.parents, *case.arrays)
    found = (found,) if isinstance(found, np.ndarray) else [a for a in found if a.ndim == 2]
    for own, other in zip(ours(case), found, strict=True):
        assert_same(own, other, atol=1e-6)


def test_the_bare_kernel_finds_the_solvers_positions_and_turns_to_them(library: ctypes.CDLL) -> None:
    case = cases.make("solve", ROWS, "float32")
    run, tiles = by_c.bare(library, case.arrays)
    run(1)
    rows = tiles.swapaxes(1, 2).reshape(ROWS, 26).astype(float)
    root, mid, end, _, new_mid, new_end = np.split(rows[:, :18], 6, 1)
    for own, other in zip(ours(case), (new_mid, new_end), strict=True):
        assert_same(own, other, atol=5e-6)
    root_turn, mid_turn = rows[:, 18:22], rows[:, 22:]
    upper, lower = rotated(root_turn, mid - root), rotated(root_turn, rotated(mid_turn, end - mid))
    assert_same(root + upper, new_mid, atol=5e-6)
    assert_same(root + upper + lower, new_end, atol=5e-6)


def test_missing_peers_are_told_and_the_rest_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(folder: Path) -> Path:
        raise OSError("no compiler")

    monkeypatch.setattr(by_c, "compiled", fail)
    monkeypatch.setattr(lines, "load_loop", lambda: None)
    monkeypatch.setattr(page, "COLUMNS", page.COLUMNS[:3])
    monkeypatch.setattr(clocks, "BUDGET", 0.0)
    page.main(["pole_of"])
    told = capsys.readouterr().out
    assert "could not be compiled: no compiler" in told and "bpy is not installed" in told
    assert all(f"| {line.name} " in told for line in lines.lines_of("pole_of", None, None))
