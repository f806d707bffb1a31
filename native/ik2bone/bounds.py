# SPDX-License-Identifier: MIT
"""The smooth curve nearest to a wish that stays between a floor and a ceiling, with bounded acceleration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .curves import between, odd_window, smooth_cover
from .model import Array

# Wishes are followed about as slowly as this (s).
SLOW = 0.12
# Knots a second, so that the work does not grow with the frame rate.
KNOTS = 60.0
# Alternating directions (Boyd and others, 2011): weight of the bounds, over-relaxation, rounds, and the error, of a
# unit of the curve, at which they end.
WEIGHT, RELAXATION, ROUNDS, ENOUGH = 3.0, 1.6, 400, 1e-5
# What is left over the ceiling then is taken away over this time (s).
REST_WINDOW = 0.5


def smooth_below(wish: Array, ceiling: Array, fps: float, acceleration: float, floor: Array | float = -np.inf) -> Array:
    """The curve x (F,) under `ceiling` (F,) that minimises the sum of (x - wish)^2 + SLOW^4 x''^2 with |x''| bounded.

    All lengths are of one unit in which curves are of the order of 1, `acceleration` that per s^2. There always is such
    a curve: a constant under all of the ceiling. The bound is kept but for a share of a hundredth or so; `floor` (F,)
    is kept where both let it be.
    """
    stride = max(1, round(fps / KNOTS))
    knots = np.arange(0, len(wish) + stride - 1, stride).clip(max=len(wish) - 1)
    bottom = np.broadcast_to(floor, wish.shape)[knots]
    curve = smooth_between(wish[knots], bottom, ceiling[knots], fps / stride, acceleration, SLOW)
    curve = curve if stride == 1 or len(knots) < 2 else between(curve, np.arange(len(wish)) / stride)
    window = odd_window(REST_WINDOW, fps)
    return curve - smooth_cover(np.maximum(curve - ceiling, 0.0), window)


def smooth_between(
    wish: Array, floor: Array, ceiling: Array, fps: float, acceleration: float | Array, slow: float, soft: float = 1.0
) -> Array:
    """The curve x (F,) with floor <= x <= ceiling and |x''| bounded that minimises the sum of (x - wish)^2 + s x''^2.

    s is `soft` times the fourth power of `slow`, a time (s). The bounds are kept but for small rests. Solved in turns:
    the smooth problem, which is diagonal in cosines, and the bounds.
    """
    count, bound = len(wish), acceleration * slow**2
    bend = -((slow * fps) ** 2) * (2.0 - 2.0 * np.cos(np.pi * np.arange(count + 1) / count))
    share = 1.0 / (1.0 + soft * bend**2 + WEIGHT * (1.0 + bend**2))
    asked, held, flat = _to_cosines(wish), np.clip(wish, floor, ceiling), np.zeros(count)
    over, beyond = np.zeros(count), np.zeros(count)
    for _ in range(ROUNDS):
        spectrum = share * (asked + WEIGHT * (_to_cosines(held - over) + bend * _to_cosines(flat - beyond)))
        curve, bent = _from_cosines(spectrum, count), _from_cosines(bend * spectrum, count)
        over += RELAXATION * curve + (1.0 - RELAXATION) * held
        beyond += RELAXATION * bent + (1.0 - RELAXATION) * flat
        held, flat = np.clip(over, floor, ceiling), np.clip(beyond, -bound, bound)
        over, beyond = over - held, beyond - flat
        if max(np.abs(curve - held).max(), np.abs(bent - flat).max()) < ENOUGH:
            break
    return curve


def _to_cosines(values: Array) -> NDArray[np.complex128]:
    return np.fft.rfft(np.concatenate([values, values[::-1]]))


def _from_cosines(spectrum: NDArray[np.complex128], count: int) -> Array:
    return np.asarray(np.fft.irfft(spectrum, 2 * count)[:count], float)
