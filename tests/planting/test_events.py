# SPDX-License-Identifier: MIT
"""Gait events: how likely each instant is for a point that stands or slides to leave, and when feet strike."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.contacts.detect import find_contacts
from ik2bone.contacts.events import chances_of, held_while_still
from ik2bone.contacts.paths import observe
from ik2bone.contacts.stance import stances

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


def jogging(fps: int):
    """Heel and ball (F, 1, 3) of a foot that strikes gently with its heel half a second from the start, slides on in
    its shoe, slaps down its ball within 40 ms, and stands.
    """
    time = np.arange(1000) / 1000.0 - 0.5

    def speed(*knots: tuple[float, float]):
        return np.interp(time, *np.array(knots).T)

    slide, still = speed((-0.15, 4.0), (0.0, 1.0), (0.03, 0.3), (0.06, 0.0)), np.zeros_like(time)
    turn = speed((-0.05, 0.0), (0.0, 0.3), (0.04, 0.0))
    heel = np.stack([slide, still, speed((-0.02, -0.55), (0.02, 0.0))], axis=-1)
    ball = np.stack([slide + turn, still, speed((-0.06, 0.0), (0.01, -1.7), (0.04, 0.0))], axis=-1)
    ends = np.array([0.0, 0.0, 0.0]), np.array([0.22, 0.0, 0.0])
    return [
        (end - np.cumsum(path[::-1], axis=0)[::-1] / 1000.0)[:: 1000 // fps, None]
        for path, end in zip((heel, ball), ends, strict=True)
    ]


@pytest.mark.parametrize("fps", [50, 100, 125, 200, 250])
def test_foot_that_slaps_down_stands_from_its_gentle_heel_strike_on(fps) -> None:
    """Jogs on force plates: contacts began at the slap of the ball, 30 ms late, as heels brake below the limit."""
    (stance,) = stances(find_contacts(*jogging(fps), fps=fps, leg=1.0))
    assert stance.start / fps == pytest.approx(0.5, abs=0.0201)


@pytest.mark.parametrize("rounding", [-1e-16, 0.0, 1e-16])
def test_a_part_that_comes_back_to_its_place_rests_until_then_whatever_rounding_says(rounding) -> None:
    # It comes down until frame 8, lies a little lower on frame 9, and rests from frame 10 on.
    heights = np.concatenate([0.01 * np.arange(8.0, 0.0, -1.0), [rounding, -2.1e-5], np.zeros(30)])
    paths = np.zeros((len(heights), 1, 2, 3))
    paths[..., 2] = heights[:, None, None]
    slow = np.broadcast_to(np.arange(len(heights)) >= 5, (1, 2, len(heights))).transpose(2, 0, 1)
    held = held_while_still(observe(paths, 120.0, np.array([0.0, 0.0, 1.0])), slow)
    assert held[8:].all() and not held[:8].any()
