# SPDX-License-Identifier: MIT
"""When a standing point departs: how likely each instant is by its own path, and by those of steps like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .clip import Array

# Departing, a point gains these powers of time, each about so much by the end of what is looked at: feet speed up, they
# seldom jump to a speed.
POWERS, GAINS = (1, 2, 3), (0.3, 1.0, 1.0)
# How large these gains may be: their variances, where that of the noise is 1.
SIZES = 10.0 ** np.arange(-4, 11)
# How large the bend of a rest may be, likewise, where hips bob that feet hang from.
BENDS = 0.0, 1e3
# Feet at rest give way, and paths bend, by about this (leg lengths).
GIVE = 3e-4
# Steps of a gait depart alike within this time (s) of the instant at which their speed tells it, for so large a share
# of them; within these (s) before and after that instant.
ALIKE, SHARE = 0.012, 0.9
REACH = 0.35, 0.15


@dataclass(frozen=True)
class Departure:
    """`chances` (C,) of a part to depart at each of the `instants` (C,), multiples of 1 / `parts` frames, and the
    instant at which its speed has `told` that it did.
    """

    instants: Array
    chances: Array
    parts: int
    told: float


def chances(path: Array, knots: range, parts: int, bends: bool = False) -> Array:
    """How likely (C,) a path (N, 3), in leg lengths, departs after each of the knots, in parts of a frame.

    Standing, a point stays or slides evenly, or its rest `bends`; departing, it gains powers of time by unknown, normal
    amounts. Those and the deviation of the noise are integrated out: the evidence of a linear model (Bishop, Pattern
    Recognition and Machine Learning, 2006, section 3.5).
    """
    path = path - path[0]
    evidence = np.concatenate([_evidence(path, knots, parts, bend) for bend in BENDS[: 2 if bends else 1]])
    likely = np.exp(evidence - evidence.max()).sum(axis=0)
    return likely / likely.sum()


def _evidence(path: Array, knots: range, parts: int, bend: float) -> Array:
    """The logarithm of the evidence (S, C) for departures of each of the SIZES after each of the knots."""
    restless, bases, lengths = _departures(len(path), knots, parts, bend)
    path = restless @ path
    found = np.sum((np.swapaxes(bases, 1, 2) @ path) ** 2, axis=-1)
    gains = SIZES[:, None, None] * lengths**2
    errors = np.sum(path**2) - np.sum(gains / (1.0 + gains) * found, axis=-1)
    errors = np.maximum(errors, 0.0) + len(path) * GIVE**2
    return -1.5 * (np.log1p(gains).sum(axis=-1) + np.log1p(bend) + (len(path) - 2) * np.log(errors))


@lru_cache(maxsize=256)
def _departures(count: int, knots: range, parts: int, bend: float) -> tuple[Array, Array, Array]:
    """What takes lines out of paths, and weighs down their bends (count, count); orthonormal bases of all departures
    (C, count, 3) seen so, with their lengths.
    """
    time = np.arange(count) / count
    gone = np.maximum(time - np.array(knots)[:, None] / (parts * count), 0.0)
    gone = gone / gone[:, -1:]
    slide = np.linalg.qr(np.stack([np.ones(count), time, time**2], axis=-1))[0]
    restless = np.eye(count) - slide * [1.0, 1.0, 1.0 - 1.0 / np.sqrt(1.0 + bend)] @ slide.T
    powers = np.stack([gain * gone**power for power, gain in zip(POWERS, GAINS, strict=True)], axis=-1)
    bases, lengths, _ = np.linalg.svd(restless @ powers, full_matrices=False)
    return restless, bases, lengths


def agreed(departures: Sequence[Departure], fps: float) -> list[float]:
    """The instant of each of some departures that is as likely too late as too early, where most of them depart alike
    as seen from when their speed tells it.
    """
    parts = departures[0].parts
    before, after = (round(seconds * fps) * parts for seconds in REACH)
    places = [_places(departure, before, after) for departure in departures]
    own = np.zeros((len(departures), before + after + 1))
    for row, place, departure in zip(own, places, departures, strict=True):
        row += np.bincount(place, departure.chances, minlength=len(row))
    likely = np.log(_mostly_alike(own, ALIKE * fps * parts))
    others = likely.sum(axis=0) - likely
    others = np.exp(others - others.max(axis=1, keepdims=True))
    prior = _mostly_alike(others / others.sum(axis=1, keepdims=True), ALIKE * fps * parts)
    return [
        _median(departure.instants, departure.chances * row[place])
        for departure, place, row in zip(departures, places, prior, strict=True)
    ]


def _median(instants: Array, weights: Array) -> float:
    total = np.cumsum(weights)
    return float(instants[np.searchsorted(total, 0.5 * total[-1])])


def _places(departure: Departure, before: int, after: int) -> NDArray[np.intp]:
    """The instants (C,) counted in parts of a frame from the first that other steps are asked about."""
    parts = np.round((departure.instants - departure.told) * departure.parts)
    return np.clip(parts, -before, after).astype(int) + before


def _mostly_alike(likely: Array, deviation: float) -> Array:
    """Distributions (S, T) of steps as those of steps like them: spread by a deviation, and now and then anywhere."""
    reach = int(4.0 * deviation) + 1
    spread = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    blurred = np.array([np.convolve(row, spread / spread.sum())[reach:-reach] for row in likely])
    return SHARE * blurred + (1.0 - SHARE) / likely.shape[1]
