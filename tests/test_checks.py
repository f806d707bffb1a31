# SPDX-License-Identifier: MIT
"""The tools of the optional group `check` find no errors in types, in the stub, and in the use of the stable ABI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ik2bone
import pytest

ROOT = Path(__file__).parent.parent
# Type checkers read the stubs of the numpy that is installed, which are written for the Python in use and later ones.
VERSION = ("--python-version", f"{sys.version_info[0]}.{sys.version_info[1]}")
BINARY = Path(ik2bone._core.__file__)

USES = """
import ik2bone
import numpy as np

point, turn, matrix = np.zeros(3), np.zeros(4), np.eye(4)
solved = ik2bone.solve(point, point, point, point, out=(point, point, np.zeros(()), np.zeros((), np.uint8)))
ik2bone.solve(point, point, point, point, out=solved)
ik2bone.multiply(turn, turn, out=turn).sum()
mesh = ik2bone.Mesh(np.zeros((3, 3)), [[0, 1, 2]])
mesh.nearest(point, out=mesh.cast(point, point))
posed = ik2bone.solve_pose(matrix, matrix, point, point, end_matrix=matrix)
for corrected in (posed.root, posed.mid, posed.end):
    turn = ik2bone.multiply(turn, corrected)
ik2bone.solve_pose(matrix, matrix, point, point, end_matrix=matrix, out=posed)
without: None = ik2bone.solve_pose(matrix, matrix, point, point).end
"""


def run(module, *arguments):
    """Run a module of the group `check` and return its output, or skip the test if the module is not installed."""
    pytest.importorskip(module.partition(".")[0], reason=f"{module} is not installed; pip install .[check]")
    stubs = os.environ | dict(MYPYPATH=str(ROOT / "native"))
    command = [sys.executable, "-m", module, *arguments]
    answer = subprocess.run(command, cwd=ROOT, env=stubs, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout + answer.stderr


def test_the_package_is_strictly_typed():
    run("mypy", *VERSION)


def test_arrays_are_typed_as_outs_and_corrections_as_factors(tmp_path):
    """In Python 3.11 this tells most: numpy declares its arrays as buffers to type checkers only from 3.12 on."""
    uses = tmp_path / "uses.py"
    uses.write_text(USES)
    run("mypy", *VERSION, str(uses))


def test_the_stub_matches_the_module():
    run("mypy.stubtest", "ik2bone._core")


def test_the_extension_uses_the_stable_interface_of_3_11_alone():
    if ".abi3." not in BINARY.name:
        pytest.skip(f"{BINARY.name} is built for one Python alone")
    told = run("abi3audit", "--strict", "--summary", "--assume-minimum-abi3", "3.11", str(BINARY))
    assert "1 extensions scanned" in told
