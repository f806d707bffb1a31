# SPDX-License-Identifier: MIT
"""Tools over time: speeds, windows and joints of curves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ik2bone.curves import (
    column_runs,
    come_to_rest,
    fade,
    hann_average,
    odd_window,
    quantile,
    running_maximum,
    runs,
    smoothstep,
    velocity,
)
from ik2bone.rotations import matrix_from_vector, shortest_turns, vector_from_matrix
from ik2bone.targets.swing import clear

RANDOM = np.random.default_rng(20261122)
numbers = st.floats(-1.0, 1.0)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_runs_cover_a_mask_exactly(values) -> None:
    mask, rebuilt = np.array(values), np.zeros(len(values), bool)
    for start, end in runs(mask):
        assert mask[start:end].all()
        rebuilt[start:end] = True
    assert (rebuilt == mask).all()


@pytest.mark.parametrize("shape", [(0, 2), (1, 2), (7, 3), (40, 2, 2), (5, 0)])
def test_runs_of_all_columns_are_those_of_each(shape) -> None:
    mask = RANDOM.random(shape) < 0.6
    columns = mask.reshape(len(mask), int(np.prod(shape[1:]))).T
    assert column_runs(mask) == [(number, *run) for number, column in enumerate(columns) for run in runs(column)]


@settings(deadline=None)
@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=60), st.integers(0, 7))
def test_average_of_the_running_maximum_is_never_less_than_the_values(values, half) -> None:
    values, window = np.array(values), 2 * half + 1
    assert (hann_average(running_maximum(values, window), window) >= values - 1e-9).all()


@pytest.mark.parametrize("fps", [24.0, 120.0])
def test_velocity_of_a_line_is_its_slope_up_to_the_ends(fps) -> None:
    path = np.arange(20)[:, None] / fps * np.array([1.0, -2.0, 0.5])
    assert velocity(path, fps) == pytest.approx(np.tile([1.0, -2.0, 0.5], (20, 1)))


def test_velocity_of_two_frames_is_their_difference() -> None:
    assert velocity(np.array([[0.0], [1.0]]), 30.0) == pytest.approx(30.0)


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


def test_coming_to_rest_starts_with_slope_one_and_ends_at_rest() -> None:
    curve = come_to_rest(np.linspace(0.0, 1.0, 401))
    assert curve[[0, -1]] == pytest.approx(0.0, abs=1e-12)
    assert np.diff(curve)[[0, -1]] * 400 == pytest.approx([1.0, 0.0], abs=1e-3)
    assert np.abs(np.diff(curve, 2)[[0, -1]]).max() < 1e-4


def test_fade_keeps_what_is_known_and_joins_it_without_a_jolt() -> None:
    known = np.zeros((200, 1), bool)
    known[40:60] = known[120:140] = True
    values = np.where(known[..., None], np.sin(np.arange(200) / 15.0)[:, None, None] * [1.0, -2.0, 0.5], 0.0)
    faded = fade(values, known, 20.0)
    assert (faded[known] == values[known]).all()
    assert np.abs(np.diff(faded, 2, axis=0)).max() < 0.06
    assert not faded[:20].any() and not faded[80:99].any() and not faded[161:].any()


def test_fade_over_a_short_gap_stays_between_equal_values() -> None:
    known = np.ones((30, 2), bool)
    known[10:14] = False
    values = np.full((30, 2, 3), 0.7)
    assert fade(values, known, 20.0) == pytest.approx(values)


def test_smoothstep_is_flat_at_both_ends() -> None:
    assert smoothstep(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])) == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])
    assert smoothstep(np.array([1e-3])) < 1e-7


def test_window_is_odd_and_never_empty() -> None:
    assert [odd_window(seconds, 30.0) for seconds in (0.0, 0.1, 0.45)] == [1, 5, 15]


@settings(deadline=None)
@given(vectors)
def test_rotation_vectors_come_back(vector) -> None:
    assert vector_from_matrix(matrix_from_vector(vector)) == pytest.approx(vector, abs=1e-7)


@settings(deadline=None)
@given(vectors)
def test_matrices_are_those_of_the_formula_of_rodrigues(vector) -> None:
    angle, across = np.linalg.norm(vector), np.cross(np.eye(3), vector)
    share = np.sinc(angle / np.pi), 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    expected = np.eye(3) + share[0] * across + share[1] * across @ across
    np.testing.assert_allclose(matrix_from_vector(vector), expected, atol=1e-14)
    assert (matrix_from_vector(0.0 * vector) == np.eye(3)).all()


@settings(deadline=None)
@given(vectors, vectors)
def test_shortest_turns_carry_onto_the_direction(vector, direction) -> None:
    if min(np.linalg.norm(vector), np.linalg.norm(direction)) < 1e-3:
        return
    turned = matrix_from_vector(shortest_turns(vector, direction)) @ vector / np.linalg.norm(vector)
    if np.dot(vector, direction) > -0.999 * np.linalg.norm(vector) * np.linalg.norm(direction):
        assert turned == pytest.approx(direction / np.linalg.norm(direction), abs=1e-7)


def test_bump_covers_an_obstacle_and_starts_and_ends_flat() -> None:
    wanted = np.where(np.abs(np.arange(60) - 25) < 8, 0.1, -1.0)
    lift = clear(wanted, 0.0, 0.6, (True, True))
    assert (lift >= wanted - 0.01).all()
    assert max(lift[0], lift[-1]) < 0.01


def test_no_obstacle_no_bump() -> None:
    assert (clear(np.full(30, -0.2), 0.0, 0.6, (True, True)) == 0.0).all()


@pytest.mark.parametrize("climb", [-0.3, 0.0, 0.3])
def test_bump_grows_continuously_as_an_obstacle_does(climb) -> None:
    bumps = [clear(np.full(30, height), climb, 0.6, (True, True)) for height in (-0.2, -1e-9, 1e-9, 1e-6)]
    assert bumps[1] == pytest.approx(bumps[0], abs=1e-8)
    assert bumps[2] == pytest.approx(bumps[1], abs=1e-6)
    assert bumps[3] == pytest.approx(bumps[2], abs=1e-4)
    assert max(np.abs(bump).max() for bump in bumps) < 0.1 * abs(climb) + 1e-4


def test_open_side_keeps_the_full_height() -> None:
    lift = clear(np.concatenate([np.full(10, 0.1), np.full(20, -1.0)]), 0.0, 0.6, (False, True))
    assert lift[0] >= 0.1 - 1e-9


def test_bump_before_a_late_obstacle_rises_slowly() -> None:
    time = np.arange(1, 60) / 60
    late = np.where((time > 0.75) & (time < 0.85), 0.1, -1.0)
    lift = clear(late, 0.0, 0.6, (True, True))
    assert (lift >= late - 0.01).all()
    rising, falling = np.abs(np.diff(lift, 2)[:25]).max(), np.abs(np.diff(lift, 2)[35:]).max()
    assert 3.0 * rising < falling
