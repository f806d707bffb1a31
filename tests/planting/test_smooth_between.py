# SPDX-License-Identifier: MIT
"""Curves that keep to bounds, or to how suddenly they turn, are the optimum that they claim to be, for any curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ik2bone.curves import smooth_between, without_dips


def slope_of(curve, wish, weight, stiffness):
    """Half the gradient of what is minimised, by dense matrices."""
    bends = np.diff(np.eye(len(curve)), 2, axis=0)
    return weight * (curve - wish) + stiffness * bends.T @ (bends @ curve)


def problem(seed, count):
    """A wandering wish with a ceiling and a floor that bind here and there, or are missing."""
    random = np.random.default_rng(seed)
    wish = np.cumsum(random.normal(size=count)) * 0.02
    ceiling = wish + random.normal(0.05, 0.1, count)
    floor = np.where(random.random(count) < 0.3, ceiling - random.uniform(0.0, 0.2, count), -np.inf)
    return wish, floor, np.where(random.random(count) < 0.7, ceiling, np.inf)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 80), slow=st.sampled_from([0.01, 0.06, 0.2, 1.0]))
def test_curve_is_the_optimum(seed, count, slow) -> None:
    wish, floor, ceiling = problem(seed, count)
    curve = smooth_between(wish, 60.0, slow, floor, ceiling)
    stiffness = (60.0 * slow) ** 4
    slope = slope_of(curve, wish, 1.0, stiffness) / (1.0 + stiffness)
    at_floor, at_ceiling = curve - floor < 1e-5, ceiling - curve < 1e-5
    assert (curve <= ceiling + 1e-9).all() and (curve >= np.minimum(floor, ceiling) - 1e-7).all()
    # Only a bound may hold the curve back: a ceiling from rising, a floor from falling.
    assert np.abs(slope[~at_floor & ~at_ceiling]).max(initial=0.0) < 1e-7
    assert slope[at_ceiling & ~at_floor].max(initial=0.0) < 1e-7
    assert slope[at_floor & ~at_ceiling].min(initial=0.0) > -1e-7


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_unit_does_not_matter(scale) -> None:
    wish, floor, ceiling = problem(3, 200)
    curve = smooth_between(wish, 60.0, 0.2, floor, ceiling)
    assert smooth_between(scale * wish, 60.0, 0.2, scale * floor, scale * ceiling) == pytest.approx(
        scale * curve, abs=1e-6 * scale
    )


def test_many_frames_take_as_few_rounds() -> None:
    wish, floor, ceiling = problem(5, 100_000)
    curve = smooth_between(wish, 120.0, 0.2, floor, ceiling)
    assert (curve <= ceiling + 1e-9).all()


def test_steps_of_very_different_heights_have_an_optimum_at_high_frame_rates() -> None:
    time, heights = np.arange(1800) / 1800, np.array([[0.04], [2e-5], [5e-6], [0.007]])
    floor = np.where(time < 0.5, heights * (np.maximum(time - 0.4, 0.0) / 0.1) ** 2, 0.0)
    ceiling = np.where(time < 0.5, floor, heights)
    curve = smooth_between(floor.ravel(), 1500.0, 0.05, floor.ravel(), ceiling.ravel())
    assert (curve >= floor.ravel() - 1e-7).all() and (curve <= ceiling.ravel() + 1e-9).all()


@pytest.mark.parametrize(("count", "slow"), [(20, 0.4), (20, 1.0), (60, 1.0), (300, 1.0)])
def test_a_cliff_has_an_optimum_at_high_frame_rates(count, slow) -> None:
    floor = np.where(np.arange(count) < 0.3 * count, 0.0, 5.0)
    curve = smooth_between(np.zeros(count), 1000.0, slow, floor)
    assert (curve >= floor - 1e-7).all() and (curve < 10.0).all()


@pytest.mark.parametrize("slow", [100.0, 1e4, 1e6])
def test_a_cliff_has_an_optimum_however_slowly_curves_change(slow) -> None:
    floor = np.where(np.arange(300) < 100, 0.0, 1.0)
    curve = smooth_between(np.zeros(300), 60.0, slow, floor)
    assert (curve >= floor - 1e-7).all() and (curve < 2.0).all()


def test_curve_does_not_depend_on_the_frame_rate() -> None:
    def dip(fps):
        time = np.arange(round(4 * fps)) / fps
        return smooth_between(np.zeros_like(time), fps, 0.2, ceiling=0.1 - 0.3 * np.exp(-(((time - 2.0) / 0.3) ** 4)))

    assert dip(240.0)[::4] == pytest.approx(dip(60.0), abs=0.002)


def test_frames_without_weight_are_bridged_smoothly() -> None:
    told = np.array([1.0] * 10 + [0.0] * 40 + [1.0] * 10)
    curve = smooth_between(np.where(np.arange(60) < 30, 0.0, 1.0), 60.0, 0.05, weight=told)
    assert curve[0] == pytest.approx(0.0, abs=0.02) and curve[-1] == pytest.approx(1.0, abs=0.02)
    assert (np.diff(curve[10:50]) > 0.0).all()


@pytest.mark.parametrize("wish", [np.zeros(0), np.full(1, 2.0), np.full(2, -1.0), np.full(50, 0.25)])
def test_what_needs_no_change_is_kept(wish) -> None:
    assert smooth_between(wish, 60.0, 0.2, floor=wish) == pytest.approx(wish, abs=1e-8)


def test_wish_that_is_level_up_to_rounding_stays_as_level() -> None:
    for level in np.random.default_rng(0).uniform(-1.0, 1.0, 20):
        wish = level * (1.0 + 1e-16 * np.arange(-30, 31) ** 2)
        assert smooth_between(wish, 30.0, 0.4, ceiling=np.append(np.full(60, np.inf), 2.0)) == pytest.approx(wish)
        assert smooth_between(wish, 30.0, 0.4) == pytest.approx(wish, abs=1e-9)


def test_curves_that_are_no_float64_are_refused() -> None:
    from ik2bone._core import smooth_within

    with pytest.raises(ValueError, match="rows: expected float64 of 3 dimensions"):
        smooth_within(np.zeros((4, 1, 3), np.float32), 1.0)
    with pytest.raises(ValueError, match=r"rows: expected shape \(4, C, F\), got \(3, 1, 3\)"):
        smooth_within(np.zeros((3, 1, 3)), 1.0)
    with pytest.raises(TypeError, match="takes 2 arguments, got 0"):
        smooth_within()
    with pytest.raises(ArithmeticError, match="optimum"):
        smooth_within(np.full((4, 1, 3), np.nan), 1.0)


@pytest.mark.parametrize(
    ("row", "value"), [("wish", np.nan), ("weight", np.nan), ("floor", np.inf), ("ceiling", -np.inf), ("wish", 1e308)]
)
def test_curves_with_numbers_that_are_none_have_no_optimum(row, value) -> None:
    from ik2bone._core import smooth_within

    rows = {"wish": np.zeros((1, 9)), "weight": np.ones((1, 9)), "floor": np.full((1, 9), -1.0)}
    rows["ceiling"] = -rows["floor"]
    rows[row][0, 4] = value
    rows["wish"][0, 0] = -abs(np.nan_to_num(value)) if value == 1e308 else 0.0
    with pytest.raises(ArithmeticError, match="optimum"):
        smooth_within(np.stack(list(rows.values())), 1.0)


def test_curves_beside_each_other_are_those_of_each() -> None:
    wish, floor, ceiling = np.stack([problem(seed, 60) for seed in range(3)], axis=-1)
    weight = np.linspace(0.5, 1.0, 60)
    together = smooth_between(wish, 60.0, 0.2, floor, ceiling, weight[:, None])
    alone = [smooth_between(wish[:, i], 60.0, 0.2, floor[:, i], ceiling[:, i], weight) for i in range(3)]
    assert np.array_equal(together, np.stack(alone, axis=1))


def lowest_over(values, most):
    """The lowest curve over the values with second differences up to `most`, frame by frame: by all pairs of frames."""
    curve = values.copy()
    for first in range(len(values)):
        for last in range(first + 2, len(values)):
            before = np.arange(1, last - first)
            chord = values[first] + (values[last] - values[first]) * before / (last - first)
            inside = slice(first + 1, last)
            curve[inside] = np.maximum(curve[inside], chord - 0.5 * most * before * before[::-1])
    return curve


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 40), most=st.sampled_from([0.0, 0.01, 0.3, 10.0]))
def test_curve_without_dips_is_the_lowest_that_turns_no_more_suddenly(seed, count, most) -> None:
    values = np.cumsum(np.random.default_rng(seed).normal(size=(count, 2)), axis=0)
    curve = without_dips(values, 60.0, most * 60.0**2)
    assert np.diff(curve, 2, axis=0).max(initial=-1.0) <= most + 1e-9
    np.testing.assert_allclose(curve, np.stack([lowest_over(column, most) for column in values.T], axis=1), atol=1e-9)


def test_long_clips_have_no_dips_left_either() -> None:
    values = np.random.default_rng(1).normal(size=(100_000, 1))
    curve = without_dips(values, 120.0, 50.0)
    assert (curve >= values).all()
    assert np.diff(curve, 2, axis=0).max() <= 50.0 / 120.0**2 + 1e-9


def test_core_refuses_curves_without_dips_of_another_kind() -> None:
    from ik2bone._core import fill_dips

    with pytest.raises(ValueError, match="values: expected float64"):
        fill_dips(np.zeros(3, np.float32), 1.0)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        fill_dips(np.zeros(3))
    with pytest.raises(TypeError):
        fill_dips(np.zeros(3), None)


def test_dips_are_filled_run_by_run_between_values_that_stay() -> None:
    values, moves = np.random.default_rng(0).normal(size=(60, 2)), np.ones((60, 2), bool)
    moves[[0, 20, 21, 40], 0], moves[59, 1] = False, False
    filled = without_dips(values, 60.0, 1.0, moves)
    assert (filled[~moves] == values[~moves]).all()
    runs = [without_dips(values[rows, :1], 60.0, 1.0) for rows in (slice(0, 21), slice(21, 41), slice(40, 60))]
    assert np.array_equal(np.concatenate(runs[:2] + [runs[2][1:]]), filled[:, :1])
    assert np.array_equal(filled[:, 1:], without_dips(values[:, 1:], 60.0, 1.0))
