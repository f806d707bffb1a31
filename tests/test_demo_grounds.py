# SPDX-License-Identifier: MIT
"""The heights of the demo's generated grounds."""

from __future__ import annotations

import numpy as np
import pytest

from demo import grounds


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(1).uniform(-40, 40, (20_000, 2))


def test_hills_have_the_height_of_one_wave_of_that_amplitude(points):
    heights = grounds.heights("hills", points)
    assert np.std(heights) * np.sqrt(2) == pytest.approx(0.12, rel=0.05)
    assert np.abs(heights).max() < 3 * 0.12


def test_hills_can_be_walked(points):
    slope = (grounds.heights("hills", points + [1e-4, 0]) - grounds.heights("hills", points)) / 1e-4
    assert np.degrees(np.arctan(np.abs(slope).max())) < 35


def test_hills_hold_no_wave_outside_the_promised_lengths():
    line = np.stack([np.arange(0, 720, 0.1), np.zeros(7200)], axis=1)
    heights = grounds.heights("hills", line) * np.hanning(7200)
    spectrum = np.abs(np.fft.rfft(heights)) ** 2
    # Along a line, a plane wave appears longer than it is, never shorter.
    assert spectrum[np.fft.rfftfreq(7200, 0.1) > 1 / 1.7].sum() < 1e-4 * spectrum.sum()


def test_another_seed_makes_other_hills(points):
    assert np.abs(grounds.heights("hills", points, 1) - grounds.heights("hills", points, 2)).max() > 0.05


def test_steps_are_level_and_of_one_height_and_length():
    line = np.stack([np.arange(-5, 5, 0.01), np.zeros(1000)], axis=1)
    heights = grounds.heights("steps", line)
    rises = np.flatnonzero(np.diff(heights))
    assert np.allclose(np.abs(np.diff(heights)[rises]), 0.18)
    assert np.allclose(np.diff(rises) * 0.01, 0.9, atol=0.011)


def test_the_slope_climbs_by_fifteen_degrees_along_the_heading():
    rise = grounds.heights("slope", np.array([[1.0, 3.0]])) - grounds.heights("slope", np.array([[0.0, -2.0]]))
    assert np.degrees(np.arctan(rise[0])) == pytest.approx(15)


def test_kinds_add_up(points):
    both = grounds.heights("hills+steps", points)
    assert np.allclose(both, grounds.heights("hills", points) + grounds.heights("steps", points))


def test_world_heights_are_turned_moved_and_scaled():
    place = {"centre": (3.0, 4.0), "base_height": 10.0, "leg": 2.0, "heading": np.pi / 2}
    ahead = grounds.world_heights("slope", np.array([[3.0, 4.0], [3.0, 6.0], [9.0, 4.0]]), **place)
    assert np.allclose(ahead, 10 + 2 * np.tan(np.radians(15)) * np.array([0, 1, 0]))


def test_an_unknown_kind_is_named():
    with pytest.raises(ValueError, match="hills, steps, slope, flat, got sand"):
        grounds.heights("hills+sand", np.zeros((1, 2)))
