# SPDX-License-Identifier: MIT
"""Search for the places where feet stand best, all stances of a foot together, so that there is time between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curves import SHARPEST
from ..model import Array
from .footprint import CELL, Site, unevenness

# A swing that is led aside with this peak of acceleration (leg lengths / s^2) moves the foot by 0.04 leg within
# 1/30 s, which can just be seen.
HURRY = 40.0
# Feet are moved along so many ways, up to so many cells.
WAYS, FARTHEST = 8, 5
KEPT = 3
# Places are found as exactly as this (leg lengths).
FINEST = CELL / 32


@dataclass(frozen=True)
class Search:
    """What tells the cost of places of N stances: the `moves` (N, 3) by the ground in their own places, the rows of
    each leg in order, and the times (s) from each of these to the next.
    """

    site: Site
    moves: Array
    chains: list[NDArray[np.intp]]
    times: list[Array]

    def costs(self, free: NDArray[np.intp], shifts: Array) -> Array:
        """Costs (M, ...) of shifts (M, ..., 2) of the free stances, with the best shifts of all others.
        """
        prints, site = self.site.prints, self.site
        flat = shifts.reshape(len(free), -1, 2)
        points = prints.points[free][:, None] + flat[:, :, None]
        under = site.ask(free, points)
        away, gentle = np.linalg.norm(flat, axis=-1), under.gentle[..., 0]
        costs = away + unevenness(points, prints.room[free, None], under.height, under.slope[..., 0, :], gentle)
        costs[~gentle & (away > 0.0)] = np.inf
        local = np.concatenate([flat, under.height[..., :1]], axis=-1)
        away = self.moves[free][:, None] + site.leg * local @ np.swapaxes(prints.axes[free], 1, 2)
        own = dict(zip(free, range(len(free)), strict=True))
        for chain, times in zip(self.chains, self.times, strict=True):
            options = [away[own[row]] if row in own else self.moves[row, None] for row in chain]
            prices = [costs[own[row]] if row in own else np.zeros(1) for row in chain]
            for row, total in zip(chain, chain_costs(times, options, prices, site.leg), strict=True):
                if row in own:
                    costs[own[row]] = total
        return costs.reshape(shifts.shape[:-1])

    def best(self, free: NDArray[np.intp]) -> Array:
        """The best shifts (M, 2) of free stances."""
        angles = 2 * np.pi / WAYS * np.arange(WAYS)
        ways = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        lengths = CELL * np.arange(FARTHEST + 1)
        costs = self.costs(free, np.broadcast_to(ways[:, None] * lengths[:, None], (len(free), WAYS, len(lengths), 2)))
        kept = np.argsort(costs.min(axis=2), axis=1, kind="stable")[:, :KEPT]
        length = lengths[np.take_along_axis(costs.argmin(axis=2), kept, axis=1)]
        way, step = ways[kept], CELL / 2
        while step >= FINEST:
            tries = np.maximum(length[..., None] - step * np.arange(2), 0.0)
            costs = self.costs(free, tries[..., None] * way[:, :, None])
            length = np.take_along_axis(tries, costs.argmin(axis=2)[..., None], axis=2)[..., 0]
            step /= 2
        row, chosen = np.arange(len(free)), costs.min(axis=2).argmin(axis=1)
        return length[row, chosen, None] * way[row, chosen]


def chain_costs(
    times: Sequence[float] | Array, moves: list[Array], costs: list[Array], leg: float
) -> list[Array]:
    """What each option of a foot's stances, in order of time, costs with the best options of all others (Viterbi, 1967).

    `times` (s) are those from each to the next, `moves[i]` (C, 3) is how far each of the options moves the foot,
    `costs[i]` (C,) what it costs by itself.
    """
    hurry = [
        hurry_costs(after - before[:, None], time, leg)
        for before, after, time in zip(moves, moves[1:], times, strict=False)
    ]
    before, after = [costs[0]], [np.zeros_like(costs[-1])]
    for each, cost in zip(hurry, costs[1:], strict=True):
        before.append((before[-1][:, None] + each).min(axis=0) + cost)
    for each, cost in zip(hurry[::-1], costs[:0:-1], strict=True):
        after.append((each + cost + after[-1]).min(axis=1))
    return [one + other for one, other in zip(before, after[::-1], strict=True)]


def hurry_costs(changes: Array, times: Array | float, leg: float) -> Array:
    """Costs (...) of moving a foot by changes (..., 3) more than the clip does, within times (...) in seconds.

    Acceleration HURRY costs as much as putting a foot 1 leg aside; less costs by its square.
    """
    return np.asarray((SHARPEST / (HURRY * leg)) ** 2 / np.maximum(times, 1e-3) ** 4 * np.sum(changes**2, axis=-1))
