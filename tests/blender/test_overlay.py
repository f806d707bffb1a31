# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints and foot paths: where they lie, and that nothing is left behind. How they look is for `make gui`."""

from __future__ import annotations

import numpy as np
import pytest
from planted import plant, record_of


@pytest.fixture
def overlay(addon):
    return addon("ui.overlay")


@pytest.fixture
def lines(bpy, walker, slope, overlay):
    """The prints of a planted walker, with its contacts and report."""
    plant(bpy)
    record = record_of(walker)
    return overlay.prints(record["contacts"], record["report"]), record["contacts"], record["report"]


def test_every_anchored_contact_has_one_print_round_it(lines):
    prints, rows, report = lines
    shown = sorted(number for line in prints for number in line.contacts)
    assert shown == [number for number, row in enumerate(rows) if row["anchor"]]
    for line in prints:
        low, high = line.points.min(axis=0), line.points.max(axis=0)
        for number in line.contacts:
            assert (low[:2] < rows[number]["anchor"][:2]).all() and (rows[number]["anchor"][:2] < high[:2]).all()


def test_prints_lie_on_the_ground(lines):
    for line in lines[0]:
        assert np.abs(line.points[:, 2] - 0.1 * line.points[:, 1]).max() < 0.02


def test_heel_and_ball_that_stand_at_once_share_a_print(lines):
    prints, rows, _ = lines
    shared = [line for line in prints if len(line.contacts) == 2]
    assert shared
    for line in shared:
        first, second = (rows[number] for number in line.contacts)
        assert first["bone"] == second["bone"] and {first["part"], second["part"]} == {"ball", "heel"}


def test_one_point_has_a_round_print_and_points_over_each_other_too(overlay):
    for ends in ([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]):
        points = overlay.outline(np.array(ends), 2.0)
        assert np.isfinite(points).all() and np.allclose(points[0], points[-1])
        assert np.ptp(points[:, :2]) < 2.0


def test_paths_are_those_of_the_last_run_and_gone_with_it(bpy, walker, slope, addon, overlay):
    plant(bpy)
    report = record_of(walker)["report"]
    before, after = np.array([line.points for line in overlay.paths(walker, report)]).reshape(2, 2, 61, 3)
    assert np.abs(before[..., 2] - 0.02).min() < 1e-3 and np.linalg.norm(after - before, axis=-1).max() > 0.02
    addon("run.kept").forget()
    assert overlay.paths(walker, report) == []
