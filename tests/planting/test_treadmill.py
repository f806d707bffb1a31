# SPDX-License-Identifier: MIT
"""The velocity of the floor under a clip, from paths of feet alone."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.contacts.paths import observe
from ik2bone.contacts.treadmill import floor_velocities

UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize(("size", "rates", "late"), [((0.2, 0.2), (3, 4), 2), ((0.4, 0.2), (4, 7), 0)])
def test_feet_that_go_to_and_fro_without_rest_are_on_no_treadmill(size, rates, late) -> None:
    time = np.arange(240) / 60.0
    along, aside = (a * np.sin(rate * time + by) for a, rate, by in zip(size, rates, (0, late), strict=True))
    heel = np.stack([np.stack([along, aside + side, 0.0 * time], axis=-1) for side in (0.1, -0.1)], axis=1)
    feet = observe(np.stack([heel, heel + [0.2, 0.0, 0.0]], axis=2), 60.0, UP)
    assert not floor_velocities(feet)[1]


def test_a_floor_that_moves_is_told_the_same_whichever_end_of_a_level_foot_rounding_lowers() -> None:
    """Heel and ball rise alike here but for rounding, which depends on the unit and the axes of a clip."""
    time = np.arange(60)[:, None, None] / 30
    for seed in range(20):
        rng = np.random.default_rng(seed)
        heel = 0.1 * np.sin(time * rng.uniform(0.5, 6.0, (2, 3)) + rng.uniform(0.0, 6.0, (2, 3)))
        ball = heel + [0.2, 0.0, 0.0]
        near = ball + 1e-12 * rng.normal(size=ball.shape)
        (floor, carried), (other, also) = (
            floor_velocities(observe(np.stack([heel, path], axis=2), 30.0, UP)) for path in (ball, near)
        )
        assert carried == also and np.abs(floor - other).max() < 1e-6
