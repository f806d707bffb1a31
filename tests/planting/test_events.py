# SPDX-License-Identifier: MIT
"""Departures: how likely each instant is for a point that stands or slides to leave."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.contacts.events import chances_of

FRAMES = 40
KNOTS = range(15, 36)


def leaving(instant: float, power: float = 2.0, noise: float = 0.0, seed: int = 0):
    """A path (40, 3) that slides evenly until that instant, in frames, and gains a power of time after it."""
    time = np.arange(FRAMES)[:, None]
    gone = np.maximum(time - instant, 0.0) / 10.0
    path = 0.001 * time * [1.0, 0.0, 0.0] + gone**power * [0.03, 0.0, 0.02] + [3.0, -5.0, 2.0]
    return path + np.random.default_rng(seed).normal(0.0, 1.0, path.shape) * noise


@pytest.mark.parametrize("power", [1.0, 2.0, 2.5, 3.0])
def test_departure_is_told_from_the_path(power) -> None:
    for instant in (20.0, 22.5, 25.0):
        likely = chances_of(leaving(instant, power), KNOTS)
        assert likely.sum() == pytest.approx(1.0)
        assert KNOTS[int(np.argmax(likely))] == pytest.approx(instant, abs=2.0)


def test_noise_makes_chances_wide_not_wrong() -> None:
    instants, deviations = np.array(KNOTS), []
    for noise in (0.0005, 0.006):
        paths = [leaving(22.0, 2.5, noise, seed) for seed in range(6)]
        likely = np.mean([chances_of(path, KNOTS) for path in paths], axis=0)
        mean = instants @ likely
        deviations.append(np.sqrt((instants - mean) ** 2 @ likely))
        assert mean == pytest.approx(22.0, abs=deviations[-1])
    assert deviations[1] > 1.5 * deviations[0]


def test_chances_depend_neither_on_place_nor_on_an_even_slide_nor_on_direction() -> None:
    path = leaving(24.0, noise=0.001)
    turn = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.8, -0.6]])
    moved = path @ turn.T + [40.0, -7.0, 900.0] + 0.02 * np.arange(FRAMES)[:, None]
    assert chances_of(moved, KNOTS) == pytest.approx(chances_of(path, KNOTS), abs=1e-6)
