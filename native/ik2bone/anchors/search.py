# SPDX-License-Identifier: MIT
"""Search for the places where feet stand best: all stances of a foot together, so that there is time between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curves import SHARPEST
from ..model import Array, Clip
from ..rotations import dot, length_of
from .footprint import Site, unevenness
from .time import HASTY

# Feet are moved along so many ways, by so many strides of this length (leg lengths), to find a better place.
WAYS, STRIDES, STRIDE = 8, 5, 0.08
# On so many ways the best place is found exactly, by halving the last stride so often: to 0.0025 leg. With 2 ways feet
# jump from one to another as the ground shifts, more than 3 change nothing.
KEPT, HALVINGS = 3, 5


@dataclass(frozen=True)
class Search:
    """What tells the cost of places of N stances: the `moves` (N, 3) by the ground in their own places, the rows of
    each leg in order, and the times (s) from each of these to the next. Those `free` (M,) may be moved.
    """

    site: Site
    moves: Array
    chains: list[NDArray[np.intp]]
    times: list[Array]
    free: NDArray[np.intp]

    def costs(self, shifts: Array) -> Array:
        """Costs (M, ...) of shifts (M, ..., 2) of the free stances, together with the best shifts of all others."""
        prints, free = self.site.prints, self.free
        flat = shifts.reshape(len(free), -1, 2)
        under = self.site.ask(free, prints.points[free][:, None] + flat[:, :, None])
        length, gentle = length_of(flat), under.gentle[..., 0]
        costs = length + unevenness(prints.points[free][:, None], prints.room[free][:, None], under)
        costs[~gentle & (length > 0.0)] = np.inf
        away = self.site.leg * np.concatenate([flat, under.height[..., :1]], axis=-1)
        moves, prices = list(self.moves[:, None]), [np.zeros(1)] * len(self.moves)
        for row, ways, cost in zip(free, away @ np.swapaxes(prints.axes[free], 1, 2), costs, strict=True):
            moves[row], prices[row] = self.moves[row] + ways, cost
        for chain, times in zip(self.chains, self.times, strict=True):
            together = chain_costs(times, [moves[row] for row in chain], [prices[row] for row in chain], self.site.leg)
            for row, cost in zip(chain, together, strict=True):
                prices[row] = cost
        return np.array([prices[row] for row in free]).reshape(shifts.shape[:-1])

    def best(self) -> Array:
        """The best shifts (M, 2) of the free stances: the best strides, the last of which is halved again and again."""
        angles, lengths = np.arange(WAYS) * 2 * np.pi / WAYS, STRIDE * np.arange(STRIDES + 1)
        ways = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        strides = ways[:, None] * lengths[:, None]
        costs = self.costs(np.broadcast_to(strides, (len(self.free), *strides.shape)))
        kept = np.argsort(costs.min(axis=2), axis=1, kind="stable")[:, :KEPT]
        length, way = lengths[np.take_along_axis(costs.argmin(axis=2), kept, axis=1)], ways[kept]
        for halving in range(1, HALVINGS + 1):
            tries = np.maximum(length[..., None] - [0.0, STRIDE / 2**halving], 0.0)
            costs = self.costs(tries[..., None] * way[:, :, None])
            length = np.take_along_axis(tries, costs.argmin(axis=2)[..., None], axis=2)[..., 0]
        row, chosen = np.arange(len(way)), costs.min(axis=2).argmin(axis=1)
        return np.asarray(length[row, chosen, None] * way[row, chosen])


def best_shifts(clip: Clip, site: Site, carried: Array) -> Array:
    """How far ahead and to the left (N, 2) of its own place each foot stands best, in leg lengths, as the figure was
    `carried` (N, 3) by then. Feet that stand well and in time stay where they are.
    """
    prints, rows = site.prints, np.arange(len(site.prints.spans))
    legs, starts, ends = np.array([(span.leg, span.start, span.end - 1) for span in prints.spans]).T
    chains = [rows[legs == leg] for leg in np.unique(legs)]
    times = [(starts[chain[1:]] - ends[chain[:-1]]) / clip.fps for chain in chains]
    moves = site.zero - (prints.origin + carried) + prints.height[:, None] * clip.up
    own, shifts = site.ask(rows, prints.points), np.zeros((len(rows), 2))
    costs = unevenness(prints.points, prints.room, own)
    for chain, time in zip(chains, times, strict=True):
        hurry = hurry_costs(np.diff(moves[chain], axis=0), time, clip.leg)
        costs[chain[1:]] += hurry
        costs[chain[:-1]] += hurry
    free = rows[own.found[:, 0] & (costs > STRIDE / 2**HALVINGS)]
    if len(free):
        shifts[free] = Search(site, moves, chains, times, free).best()
    return shifts


def chain_costs(times: Sequence[float] | Array, moves: list[Array], costs: list[Array], leg: float) -> list[Array]:
    """What each option (C,) of a foot's stances, in order of time, costs with the best options of all others.

    `times` (s) are those from each to the next, `moves[i]` (C, 3) is how far each of the options moves the foot,
    `costs[i]` (C,) what it costs by itself (Viterbi, 1967, forward and backward).
    """
    steps = zip(moves, moves[1:], times, strict=False)
    hurry = [hurry_costs(later - earlier[:, None], time, leg) for earlier, later, time in steps]
    before, after = [costs[0]], [np.zeros_like(costs[-1])]
    for step, cost in zip(hurry, costs[1:], strict=True):
        before.append((before[-1][:, None] + step).min(axis=0) + cost)
    for step, cost in zip(hurry[::-1], costs[:0:-1], strict=True):
        after.append((step + cost + after[-1]).min(axis=1))
    return [one + other for one, other in zip(before, after[::-1], strict=True)]


def hurry_costs(changes: Array, times: Array | float, leg: float) -> Array:
    """Costs (...) of moving a foot by changes (..., 3) more than the clip does, within times (...) in seconds.

    Acceleration HASTY costs as much as putting a foot 1 leg aside; less costs by its square.
    """
    weight = (SHARPEST / (HASTY * leg)) ** 2 / np.maximum(times, 1e-3) ** 4
    return np.asarray(weight * dot(changes, changes))
