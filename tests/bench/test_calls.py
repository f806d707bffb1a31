# SPDX-License-Identifier: MIT
"""The table of options and calls has every option, and all of its calls run."""

from __future__ import annotations

import inspect

import ik2bone
import pytest

from tests.bench import calls


@pytest.mark.parametrize("function", ["solve", "orient", "solve_pose"])
def test_every_option_has_a_line_alone_or_with_the_one_that_it_needs(function: str) -> None:
    parameters = inspect.signature(getattr(ik2bone, function)).parameters.values()
    options = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY} - {"out"}
    shown = [call.name.partition("`, ")[2].split(", ") for call in calls.alone(function)]
    assert all(len(names) <= 2 for names in shown)
    assert {name for names in shown for name in names} == options


def test_every_call_runs_and_has_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "ROWS", 16)
    every = list(calls.every_call())
    assert len({call.name for call in every}) == len(every)
    for call in every:
        assert call.clock()(1) >= 0.0


def test_times_of_builds_stand_side_by_side_with_the_bare_kernel_as_unit() -> None:
    times = {build: {"`solve`": 30.0 * k, calls.BARE: 10.0} for k, build in enumerate(calls.BUILDS, 1)}
    head, _, line, bare = calls.table(times)
    assert [cell.strip() for cell in head.split("|")[2:-1]] == ["`avx512`", "`avx2`", "`plain`", "aim"]
    assert [cell.strip() for cell in line.split("|")[1:-1]] == [
        "`solve`",
        "30.0 (3.00)",
        "60.0 (6.00)",
        "90.0 (9.00)",
        "1.5",
    ]
    assert "(" not in bare
