# SPDX-License-Identifier: MIT
"""A short run of the random calls of tests/fuzz: none breaks a law."""

from __future__ import annotations

import ik2bone
import numpy as np
import pytest

from tests.fuzz.exact_laws import is_off
from tests.fuzz.trials import mesh_trial, trial

CALLS = 12
ROWS = 3000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_calls_break_no_law(seed):
    findings = [finding for number in range(CALLS) for finding in trial(seed, number, ROWS)[1]]
    assert [f"{finding.call.function.name}: {finding.law}" for finding in findings] == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_meshes_break_no_law(seed):
    assert [law for number in range(100) for law in mesh_trial(seed, number)] == []


@pytest.mark.parametrize("function", ["solve", "solve_pose"])
def test_sixty_digits_tell_a_wrong_result_from_a_right_one(function):
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3] = 0.1, 0.2, -0.5
    points = dict(end=np.array([0.1, 0.3, -0.9]), target=np.array([0.2, -0.1, -0.8]))
    joints = dict(root=root[:3, 3], mid=mid[:3, 3]) if function == "solve" else dict(root_matrix=root, mid_matrix=mid)
    row = joints | points | dict(pole=np.array([0.3, 1.0, 0.2]), bend="carried")
    right = getattr(ik2bone, function)(**row).mid
    assert not is_off("mid", function, row, right)
    assert is_off("mid", function, row, right + [1e-12, *np.zeros(len(right) - 1)])
