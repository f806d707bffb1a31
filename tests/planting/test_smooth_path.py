# SPDX-License-Identifier: MIT
"""Paths that keep to one side of planes are the optimum that they claim to be, for any weights and planes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ik2bone.curves import smooth_between, smooth_path

FPS = 60.0


def problem(seed, count, planes):
    """A wandering wish with weights that are singular here and there, and planes of which some hold the path."""
    random = np.random.default_rng(seed)
    wish = np.cumsum(random.normal(size=(count, 3)), axis=0) * 0.02
    root = random.normal(size=(count, 3, 3)) * np.where(random.random((count, 1, 1)) < 0.3, [1.0, 0.0, 0.0], 1.0)
    weight = root.swapaxes(1, 2) @ root / 3.0
    weight[:: max(count - 1, 1)] += 0.1 * np.eye(3)
    normals = random.normal(size=(count, planes, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    inside = wish + random.normal(size=(count, 3)) * 0.1
    limits = np.einsum("fpi,fi->fp", normals, inside) + random.uniform(0.01, 0.1, (count, planes))
    limits[random.random((count, planes)) < 0.3] = np.inf
    return wish, weight, inside, np.concatenate([normals, limits[..., None]], axis=-1)


def slope_of(path, wish, weight, stiffness):
    """Half the gradient (F, 3) of what is minimised, by dense matrices."""
    bends = np.diff(np.eye(len(path)), 2, axis=0)
    return np.einsum("fij,fj->fi", weight, path - wish) + stiffness * bends.T @ (bends @ path)


def is_pushed(slope, normals, enough):
    """Whether a slope (3,) is held by planes with these normals (N, 3), each of which can only push back."""
    for count in range(min(len(normals), 3) + 1):
        for some in combinations(normals, count):
            push = np.linalg.lstsq(np.reshape(some, (count, 3)).T, -slope, rcond=None)[0] if count else np.zeros(0)
            if (push > -enough).all() and np.abs(push @ np.reshape(some, (count, 3)) + slope).max() < enough:
                return True
    return False


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 50),
    planes=st.integers(0, 3),
    slow=st.sampled_from([0.01, 0.06, 0.2, 1.0]),
)
def test_path_is_the_optimum(seed, count, planes, slow) -> None:
    wish, weight, inside, sides = problem(seed, count, planes)
    path, stiffness = smooth_path(wish, FPS, slow, weight, inside, sides), (FPS * slow) ** 4
    left = sides[..., 3] - np.einsum("fpi,fi->fp", sides[..., :3], path)
    assert left.min(initial=0.0) > -1e-9
    slope = slope_of(path, wish, weight, stiffness) / (1.0 + stiffness)
    # Only planes that the path touches may hold it back.
    assert all(is_pushed(slope[k], sides[k, left[k] < 1e-5, :3], 1e-6) for k in range(count))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_path_under_level_planes_is_a_curve_under_a_ceiling(axis) -> None:
    random, along, limit = np.random.default_rng(2), np.eye(3)[axis], np.eye(4)[3]
    wish, weight = np.cumsum(random.normal(size=200)) * 0.02, random.uniform(0.5, 1.0, 200)
    ceiling = wish + random.uniform(-0.05, 0.1, 200)
    floor = np.minimum(wish - random.uniform(0.05, 0.2, 200), ceiling - 0.02)
    over = np.append(along, 0.0) + ceiling[:, None] * limit
    under = np.append(-along, 0.0) - floor[:, None] * limit
    points = [values[:, None] * along for values in (wish, 0.5 * (floor + ceiling))]
    matrices = weight[:, None, None] * np.eye(3)
    path = smooth_path(points[0], FPS, 0.2, matrices, points[1], np.stack([over, under], axis=1))
    curve = smooth_between(wish, FPS, 0.2, floor, ceiling, weight)
    assert path == pytest.approx(curve[:, None] * along, abs=1e-7)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_unit_does_not_matter(scale) -> None:
    wish, weight, inside, sides = problem(3, 200, 2)
    path = smooth_path(wish, FPS, 0.2, weight, inside, sides)
    scaled = smooth_path(scale * wish, FPS, 0.2, weight, scale * inside, sides * [1.0, 1.0, 1.0, scale])
    assert scaled == pytest.approx(scale * path, abs=1e-6 * scale)


def test_place_inside_does_not_matter() -> None:
    wish, weight, inside, sides = problem(4, 100, 2)
    sides[..., 3] += 0.05
    path = smooth_path(wish, FPS, 0.2, weight, inside, sides)
    assert smooth_path(wish, FPS, 0.2, weight, 0.4 * path + 0.6 * inside, sides) == pytest.approx(path, abs=1e-6)


def test_planes_that_leave_no_room_move_away_from_the_place_inside() -> None:
    wish, weight, inside, sides = problem(5, 60, 2)
    # Two parallel planes that face each other, with the place inside 0.1 beyond both.
    sides[:, 1, :3] = -sides[:, 0, :3]
    sides[..., 3] = np.einsum("fpi,fi->fp", sides[..., :3], inside) - 0.1
    path = smooth_path(wish, FPS, 0.2, weight, inside, sides)
    size = max(np.abs(points - wish[0]).max() for points in (wish, inside))
    assert np.abs(np.einsum("fi,fi->f", sides[:, 0, :3], path - inside)).max() < 3e-3 * size + 1e-9


@pytest.mark.parametrize("away", [0.05, 1.0, 2.0])
def test_frames_that_are_all_one_keep_to_a_plane(away) -> None:
    frames, along = np.ones((3, 1)), np.array([-0.07, 0.0, 1.0])
    wish, weight = frames * [0.0, 0.0, 0.0], np.tile(np.diag([0.055, 0.055, 2.0]), (3, 1, 1))
    sides = np.tile(np.append(along, -away), (3, 1, 1))
    path = smooth_path(wish, FPS, 0.2, weight, frames * [0.0, 0.0, -away - 0.1], sides)
    inverse = along / [0.055, 0.055, 2.0]
    assert path == pytest.approx(frames * (-away * inverse / (along @ inverse)), abs=1e-6)


def test_many_frames_take_as_few_rounds() -> None:
    wish, weight, inside, sides = problem(6, 20_000, 2)
    # Planes that leave less room than this share of the path's size would be moved.
    sides[..., 3] += 3e-3 * np.abs(wish - wish[0]).max()
    path = smooth_path(wish, 120.0, 0.2, weight, inside, sides)
    assert (sides[..., 3] - np.einsum("fpi,fi->fp", sides[..., :3], path)).min() > -1e-9


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_frames_keep_a_wish_that_is_free(count) -> None:
    wish = np.arange(3.0 * count).reshape(count, 3)
    weight, sides = np.tile(np.eye(3), (count, 1, 1)), np.full((count, 2, 4), np.inf)
    sides[..., :3] = 1.0
    for inside in (wish, wish + 1.0):
        assert smooth_path(wish, FPS, 0.2, weight, inside, sides) == pytest.approx(wish, abs=1e-7)


def test_points_that_are_all_one_stay() -> None:
    points, sides = np.full((30, 3), 0.25), np.zeros((30, 1, 4))
    sides[..., 2:] = 1.0
    path = smooth_path(points, FPS, 0.2, np.tile(np.eye(3), (30, 1, 1)), points, sides)
    assert path == pytest.approx(points, abs=1e-7)


@pytest.mark.parametrize("column", range(19))
def test_numbers_that_are_none_have_no_optimum(column) -> None:
    from ik2bone._core import smooth_path as smooth_rows

    rows = np.zeros((9, 19))
    rows[:, 3:12], rows[:, 17:19] = np.eye(3).ravel(), 1.0
    rows[4, column] = np.nan
    with pytest.raises(ArithmeticError, match="optimum"):
        smooth_rows(rows, 1.0)


def test_core_refuses_paths_of_another_kind() -> None:
    from ik2bone._core import smooth_path as smooth_rows

    with pytest.raises(ValueError, match="rows: expected float64"):
        smooth_rows(np.zeros((3, 19), np.float32), 1.0)
    for width in (11, 14, 16, 18):
        with pytest.raises(ValueError, match=r"rows: expected shape \(F, 15 \+ 4 P\), got"):
            smooth_rows(np.zeros((3, width)), 1.0)
    with pytest.raises(TypeError, match="smooth_path\\(\\) takes 2 arguments"):
        smooth_rows(np.zeros((3, 15)))
