# SPDX-License-Identifier: MIT
"""A short run of the random calls of tests/fuzz: none breaks a law."""

from __future__ import annotations

import pytest

from tests.fuzz.trials import trial

CALLS = 12
ROWS = 3000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_calls_break_no_law(seed):
    findings = [finding for number in range(CALLS) for finding in trial(seed, number, ROWS)[1]]
    assert [f"{finding.call.function.name}: {finding.law}" for finding in findings] == []
