# SPDX-License-Identifier: MIT
"""Tools over time, each against the plainest way to the same."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.contacts.detect import hysteresis
from ik2bone.curves import hann_average, quantile, running_maximum, runs, velocity

RANDOM = np.random.default_rng(20261122)


@pytest.mark.parametrize("count", [1, 2, 5, 40])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.75, 1.0])
def test_quantiles_are_those_of_numpy(count, share) -> None:
    values = RANDOM.normal(size=(count, 2, 3))
    np.testing.assert_allclose(quantile(values, share), np.quantile(values, share, axis=0), atol=1e-15)


@pytest.mark.parametrize("window", [1, 3, 5, 7, 19, 41])
def test_running_maximum_is_the_largest_around_each_frame(window) -> None:
    values, half = RANDOM.normal(size=(30, 2)), window // 2
    around = [values[max(k - half, 0) : k + half + 1].max(axis=0) for k in range(30)]
    np.testing.assert_array_equal(running_maximum(values, window), around)


@pytest.mark.parametrize("window", [1, 3, 9])
def test_an_average_weighs_frames_by_a_raised_cosine(window) -> None:
    values, half = RANDOM.normal(size=(30, 2, 3)), window // 2
    weights = 1.0 + np.cos(np.pi * np.arange(-half, half + 1) / (half + 1))
    padded = np.concatenate([values[:1].repeat(half, axis=0), values, values[-1:].repeat(half, axis=0)])
    wanted = [np.average(padded[k : k + window], axis=0, weights=weights) for k in range(30)]
    np.testing.assert_allclose(hann_average(values, window), wanted, atol=1e-14)


@pytest.mark.parametrize("half", [1, 2, 5])
def test_velocity_is_the_slope_of_the_line_fitted_around_each_frame(half) -> None:
    points = RANDOM.normal(size=(30, 2))
    slopes = [
        np.polyfit(np.arange(-half, half + 1), points[k - half : k + half + 1], 1)[0] for k in range(half, 30 - half)
    ]
    np.testing.assert_allclose(velocity(points, 60.0, 2 * half / 60.0)[half:-half], 60.0 * np.array(slopes), atol=1e-11)


@pytest.mark.parametrize("shape", [(40,), (40, 3), (40, 2, 2)])
def test_hysteresis_keeps_the_runs_that_are_entered(shape) -> None:
    slow = RANDOM.random(shape) < 0.7
    still = slow & (RANDOM.random(shape) < 0.2)
    wanted = np.zeros_like(slow)
    for column in np.ndindex(*shape[1:]):
        for start, end in runs(slow[(slice(None), *column)]):
            wanted[(slice(start, end), *column)] = still[(slice(start, end), *column)].any()
    np.testing.assert_array_equal(hysteresis(slow, still), wanted)


def test_runs_are_told_by_first_frame_and_the_one_after_the_last() -> None:
    assert runs(np.array([True, False, True, True, False, True])) == [(0, 1), (2, 4), (5, 6)]
    assert runs(np.zeros(3, bool)) == [] and runs(np.ones(3, bool)) == [(0, 3)] and runs(np.zeros(0, bool)) == []
