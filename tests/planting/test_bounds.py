# SPDX-License-Identifier: MIT
"""Smooth curves under a ceiling: never above, never too sudden, no lower than they must be, at any frame rate."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.bounds import smooth_below

LIMIT = 4.5


def acceleration(curve, fps) -> float:
    step = max(1, round(fps / 30))
    bend = curve[2 * step :] - 2 * curve[step:-step] + curve[: -2 * step]
    return float(np.abs(bend).max() * (fps / step) ** 2)


def stairs(fps):
    """A wish of zero for four seconds and a ceiling that comes down by a fifth for half a second."""
    time = np.arange(round(4 * fps)) / fps
    return np.zeros_like(time), np.where((time > 1.75) & (time < 2.25), -0.2, 0.1)


@pytest.mark.parametrize("fps", [12.0, 24.0, 30.0, 60.0, 120.0, 240.0])
def test_curve_stays_under_its_ceiling_within_its_acceleration(fps) -> None:
    wish, ceiling = stairs(fps)
    curve = smooth_below(wish, ceiling, fps, LIMIT)
    assert (curve <= ceiling + 1e-12).all()
    assert acceleration(curve, fps) <= 1.05 * LIMIT
    assert curve.min() >= -0.215
    assert np.abs(curve[: round(fps)]).max() < 0.02 and np.abs(curve[-round(fps) :]).max() < 0.02


def test_curve_does_not_depend_on_the_frame_rate() -> None:
    slow, fast = (smooth_below(*stairs(fps), fps, LIMIT) for fps in (60.0, 240.0))
    assert fast[::4] == pytest.approx(slow, abs=0.004)


def test_wish_under_its_ceiling_is_kept() -> None:
    time = np.arange(300) / 60.0
    wish = 0.1 * np.cos(2.0 * time * np.pi / 5.0)
    curve = smooth_below(wish, wish + 1.0, 60.0, LIMIT)
    assert curve == pytest.approx(wish, abs=1e-3)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_frames_stay_under_their_ceiling_too(count) -> None:
    curve = smooth_below(np.zeros(count), np.full(count, -0.1), 120.0, LIMIT)
    assert curve == pytest.approx(np.full(count, -0.1), abs=1e-3) and (curve <= -0.1 + 1e-12).all()
