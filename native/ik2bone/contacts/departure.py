# SPDX-License-Identifier: MIT
"""When a standing point departs: how likely each instant is by its own path, and by those of steps like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..model import Array

# Departing, a point gains these powers of time by the end of what is looked at, each about so much, in one of these
# ways: feet speed up, as those do that the other part still holds; formulas also jump to a speed, or an acceleration.
POWERS = 1, 2, 3
WAYS = (0.3, 1.0, 1.0), (1.0, 0.1, 0.1), (0.1, 1.0, 0.1)
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
    """The logarithm of the `evidence` (W, C) for a part to depart in each of W of the WAYS at each of the `instants`
    (C,), multiples of 1 / `parts` frames, and the instant at which its speed has `told` that it did.
    """

    instants: Array
    evidence: Array
    parts: int
    told: float


def evidence_of(path: Array, knots: range, parts: int, bends: bool = False, held: bool = False) -> Array:
    """The logarithm of the evidence (W, C) for a path (N, 3), in leg lengths, to depart in each of W of the WAYS after
    each of the knots, in parts of a frame.

    Standing, a point stays or slides evenly, or its rest `bends`; departing, it gains powers of time by unknown, normal
    amounts. Those and the deviation of the noise are integrated out: the evidence of a linear model (Bishop, Pattern
    Recognition and Machine Learning, 2006, section 3.5). A part that is `held` by the other departs in the first way.
    """
    path = path - path[0]
    rests, ways = BENDS[: 2 if bends else 1], WAYS[: 1 if held else None]
    return np.array(
        [
            np.logaddexp.reduce(np.concatenate([_evidence(path, knots, parts, bend, way) for bend in rests]))
            for way in ways
        ]
    )


def chances(departures: Sequence[Departure]) -> list[Array]:
    """How likely (C,) each of some departures is at each of its instants, where all depart in one unknown way."""
    ways = np.array([np.logaddexp.reduce(each.evidence, axis=1) - np.log(len(each.instants)) for each in departures])
    others = ways.sum(axis=0) - ways
    likely = [np.logaddexp.reduce(each.evidence + way[:, None]) for each, way in zip(departures, others, strict=True)]
    return [np.exp(each - np.logaddexp.reduce(each)) for each in likely]


def _evidence(path: Array, knots: range, parts: int, bend: float, way: tuple[float, ...]) -> Array:
    """The logarithm of the evidence (S, C) for departures of each of the SIZES after each of the knots."""
    restless, bases, lengths = _departures(len(path), knots, parts, bend, way)
    path = restless @ path
    found = np.sum((np.swapaxes(bases, 1, 2) @ path) ** 2, axis=-1)
    gains = SIZES[:, None, None] * lengths**2
    errors = np.sum(path**2) - np.sum(gains / (1.0 + gains) * found, axis=-1)
    errors = np.maximum(errors, 0.0) + len(path) * GIVE**2
    return -1.5 * (np.log1p(gains).sum(axis=-1) + np.log1p(bend) + (len(path) - 2) * np.log(errors))


@lru_cache(maxsize=256)
def _departures(
    count: int, knots: range, parts: int, bend: float, way: tuple[float, ...]
) -> tuple[Array, Array, Array]:
    """What takes lines out of paths, and weighs down their bends (count, count); orthonormal bases of all departures
    (C, count, 3) in one of the WAYS, seen so, with their lengths.
    """
    time = np.arange(count) / count
    gone = np.maximum(time - np.array(knots)[:, None] / (parts * count), 0.0)
    gone = gone / gone[:, -1:]
    slide = np.linalg.qr(np.stack([np.ones(count), time, time**2], axis=-1))[0]
    restless = np.eye(count) - slide * [1.0, 1.0, 1.0 - 1.0 / np.sqrt(1.0 + bend)] @ slide.T
    powers = np.stack([gain * gone**power for power, gain in zip(POWERS, way, strict=True)], axis=-1)
    bases, lengths, _ = np.linalg.svd(restless @ powers, full_matrices=False)
    return restless, bases, lengths


def agreed(departures: Sequence[Departure], fps: float) -> list[float]:
    """The instant of each of some departures that is as likely too late as too early, where most of them depart alike
    as seen from when their speed tells it.
    """
    parts = departures[0].parts
    before, after = (round(seconds * fps) * parts for seconds in REACH)
    places = [_places(departure, before, after) for departure in departures]
    alone, own = chances(departures), np.zeros((len(departures), before + after + 1))
    for row, place, likely in zip(own, places, alone, strict=True):
        row += np.bincount(place, likely, minlength=len(row))
    alike = np.log(_mostly_alike(own, ALIKE * fps * parts))
    others = alike.sum(axis=0) - alike
    others = np.exp(others - others.max(axis=1, keepdims=True))
    prior = _mostly_alike(others / others.sum(axis=1, keepdims=True), ALIKE * fps * parts)
    return [
        _median(departure.instants, likely * row[place])
        for departure, likely, place, row in zip(departures, alone, places, prior, strict=True)
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
