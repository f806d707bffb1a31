# SPDX-License-Identifier: MIT
"""Departures: when a point that stands or slides leaves, by its own path and by those of like steps."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.contacts.departure import Departure, agreed, chances, evidence_of

FRAMES, PARTS = 40, 2
KNOTS = range(30, 71)


def leaving(instant: float, power: float = 2.0, noise: float = 0.0, seed: int = 0):
    """A path (40, 3) that slides evenly until that instant, in frames, and gains a power of time after it."""
    time = np.arange(FRAMES)[:, None]
    gone = np.maximum(time - instant, 0.0) / 10.0
    path = 0.001 * time * [1.0, 0.0, 0.0] + gone**power * [0.03, 0.0, 0.02] + [3.0, -5.0, 2.0]
    return path + np.random.default_rng(seed).normal(0.0, 1.0, path.shape) * noise


def departure(path, told: float = 27.0) -> Departure:
    return Departure(np.array(KNOTS) / PARTS, evidence_of(path, KNOTS, PARTS), PARTS, told)


def chances_of(path) -> np.ndarray:
    return chances([departure(path)])[0]


@pytest.mark.parametrize("instant", [20.0, 22.5, 25.0])
@pytest.mark.parametrize("power", [1.0, 2.0, 2.5, 3.0])
def test_departure_is_told_from_the_path(instant, power) -> None:
    likely = chances_of(leaving(instant, power))
    assert likely.sum() == pytest.approx(1.0)
    assert KNOTS[int(np.argmax(likely))] / PARTS == pytest.approx(instant, abs=1.5)


def test_noise_makes_chances_wide_not_wrong() -> None:
    instants, deviations = np.array(KNOTS) / PARTS, []
    for noise in (0.0005, 0.006):
        likely = np.mean([chances_of(leaving(22.0, 2.5, noise, seed)) for seed in range(6)], axis=0)
        mean = instants @ likely
        deviations.append(np.sqrt((instants - mean) ** 2 @ likely))
        assert mean == pytest.approx(22.0, abs=deviations[-1])
    assert deviations[1] > 1.5 * deviations[0]


def test_chances_depend_neither_on_place_nor_on_an_even_slide_nor_on_direction() -> None:
    path = leaving(24.0, noise=0.001)
    turn = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.8, -0.6]])
    moved = path @ turn.T + [40.0, -7.0, 900.0] + 0.02 * np.arange(FRAMES)[:, None]
    assert chances_of(moved) == pytest.approx(chances_of(path), abs=1e-6)


def test_like_steps_tell_each_other_when_they_depart() -> None:
    shifts = np.array([0.0, 1.0, 3.0, -2.0, 2.0, -1.0])
    alone, together = [], []
    for seed in range(5):
        steps = [
            departure(leaving(22.0 + shift, noise=0.006, seed=10 * seed + i), 27.0 + shift)
            for i, shift in enumerate(shifts)
        ]
        together.append(np.array(agreed(steps, 60.0)) - shifts)
        alone.append(np.array([agreed([step], 60.0)[0] for step in steps]) - shifts)
    assert np.std(together, axis=1).mean() < 0.5 * np.std(alone, axis=1).mean()
    assert np.mean(together) == pytest.approx(22.0, abs=2.0)


def test_step_unlike_the_others_keeps_its_own_departure() -> None:
    steps = [departure(leaving(22.0, noise=0.0005, seed=seed), 27.0) for seed in range(6)]
    strange = departure(leaving(28.0, noise=0.0005, seed=9), 27.0)
    assert agreed([*steps, strange], 60.0)[-1] == pytest.approx(28.0, abs=1.5)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_like_steps_tell_each_other_in_which_way_they_depart(power) -> None:
    steps = [departure(leaving(22.0, power, noise=0.004, seed=seed)) for seed in range(6)]
    instants, middle = steps[0].instants, (chances([step])[0] for step in steps)
    alone = [abs(instants - 22.0) @ likely for likely in middle]
    together = [abs(instants - 22.0) @ likely for likely in chances(steps)]
    assert np.mean(together) < np.mean(alone)
