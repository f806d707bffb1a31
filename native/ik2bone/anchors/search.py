# SPDX-License-Identifier: MIT
"""Search for the places where feet stand best. The stances of a foot are searched together, so that there is time
between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Indices, Mask
from ..checks import ROUNDING
from ..clip import Clip
from ..contacts.stance import HASTY
from ..curves import SHARPEST
from ..rotations import dot
from ..settings import DEEPEST
from ..sole.measure import EVEN
from .footprint import SOLE, UNEVEN_COST, Site, unevenness

# The number of directions in which feet are moved to find a better place, and the lengths of these moves (leg lengths).
# The first lengths are small, as the treads of stairs leave hardly any room ahead of a foot and behind it.
WAYS, LENGTHS = 8, np.array([0.0, 0.02, 0.04, 0.07, 0.1, 0.13, 0.16, 0.2, 0.24, 0.32, 0.4])
# In this number of best directions the best place is found exactly, by this number of steps back or forth, each half as
# long as the one before: the last one is 0.0006 leg for the shortest moves. With 2 directions feet jump from one place
# to another as the ground shifts, and more than 3 change nothing.
KEPT, HALVINGS = 3, 5
# Ground is too deep (leg lengths) if it is farther down than hips come by default. Steps of just that depth are not, at
# any height of the ground and however their edges are rounded.
TOO_DEEP = DEEPEST + ROUNDING


@dataclass(frozen=True)
class Search:
    """The costs of places for N stances on a `site`.

    `moves` (N, 3) are how far the ground moves the feet in their own places. `chains` are the rows of each leg's
    stances in order of time, and `times` (s) those from each of these stances to the next. The stances `free` (M,) may
    be moved along their `ways` (N, WAYS, 2). `over_gap` (N,) tells which own places lie over a gap that the sole spans.
    """

    site: Site
    moves: Array
    chains: list[Indices]
    times: list[Array]
    ways: Array
    free: Indices
    over_gap: Mask

    def look(self, number: Indices, length: Array) -> tuple[Array, Array]:
        """The costs (M, C) of moving each free stance by lengths (M, C) along the ways of some numbers (M, C), by
        itself, and the moves (M, C, 3) of the feet. `number` and `length` are broadcast.
        """
        prints, free = self.site.prints, self.free
        shifts = length[..., None] * self.ways[free[:, None], number]
        under = self.site.ask(free, prints.points[free][:, None] + shifts[:, :, None])
        # Each way costs a little more than the one before, so that rounding does not choose among equal ones. For later
        # feet the addition is up to twice as large, and grows with the length: else two feet might exchange their ways,
        # or parts of these, at the same cost.
        later = ROUNDING * (number + length) * (1.0 + free / len(self.moves))[:, None]
        prices = length + later + unevenness(prints.points[free][:, None], prints.room[free][:, None], under)
        prices[~under.gentle[..., 0] & (length > 0.0)] = np.inf
        # No place is worse than one down in the gap that the sole spans, or, under the level of feet before, down an
        # edge by more than TOO_DEEP. Ground that is lower only by its own slope is neither.
        drop = np.minimum(dot(shifts, under.slope[..., 0, :]), 0.0) - under.height[..., 0]
        prices[self.over_gap[free, None] & (drop > EVEN)] += UNEVEN_COST
        over = (self.site.zero - self.site.below)[free] @ prints.axes[0, :, 2] / self.site.leg
        prices += UNEVEN_COST * np.where(np.minimum(drop, drop - over[:, None]) > TOO_DEEP, drop, 0.0)
        away = self.site.leg * np.concatenate([shifts, under.height[..., :1]], axis=-1)
        return prices, self.moves[free][:, None] + away @ np.swapaxes(prints.axes[free], 1, 2)

    def together(self, prices: Array, moves: Array) -> Array:
        """The costs (M, ...) of places of the free stances, with the best places of all other stances. `prices`
        (M, ...) and `moves` (M, ..., 3) of these places come from `look`.
        """
        every, costs = list(self.moves[:, None]), [np.zeros(1)] * len(self.moves)
        for row, way, price in zip(self.free, moves.reshape(len(prices), -1, 3), prices, strict=True):
            every[row], costs[row] = way, price.ravel()
        for chain, times in zip(self.chains, self.times, strict=True):
            whole = chain_costs(times, [every[row] for row in chain], [costs[row] for row in chain], self.site.leg)
            for row, cost in zip(chain, whole, strict=True):
                costs[row] = cost
        return np.array([costs[row] for row in self.free]).reshape(prices.shape)

    def best(self) -> Array:
        """The best shifts (M, 2) of the free stances: the best lengths along their best ways, refined by shorter and
        shorter steps.
        """
        numbers, lengths = np.divmod(np.arange(WAYS * len(LENGTHS)), len(LENGTHS))
        looked = self.look(numbers, LENGTHS[lengths])
        costs = self.together(*looked).reshape(-1, WAYS, len(LENGTHS))
        kept = np.argsort(costs.min(axis=2), axis=1)[:, :KEPT]
        row, place = np.ogrid[: len(kept), :KEPT]
        last = costs.argmin(axis=2)[row, kept]
        prices, moves = (each[row, kept * len(LENGTHS) + last] for each in looked)
        costs, length, gap = costs[row, kept, last], LENGTHS[last], np.diff(LENGTHS, prepend=0.0)[last]
        for halving in range(1, HALVINGS + 1) if length.any() else ():
            step = gap / 2**halving
            lengths = np.stack([length, length - step, length + step], axis=2)
            tried = self.look(np.repeat(kept, 2, axis=1), lengths[..., 1:].reshape(len(kept), -1))
            prices, moves = (
                np.concatenate([now[:, :, None], new.reshape(*now.shape[:2], 2, *now.shape[2:])], axis=2)
                for now, new in zip((prices, moves), tried, strict=True)
            )
            costs = self.together(prices, moves)
            better = costs.argmin(axis=2)
            length, prices, moves, costs = (each[row, place, better] for each in (lengths, prices, moves, costs))
        chosen = row[:, 0], costs.argmin(axis=1)
        return np.asarray(length[chosen][:, None] * self.ways[self.free, kept[chosen]])


def best_shifts(clip: Clip, site: Site, carried: Array, fixed: Mask) -> Array:
    """The shifts (N, 2) ahead and to the left, in leg lengths, from each foot's own place to where it stands best.
    `carried` (N, 3) is how far the figure was carried by then. Feet that stand well and in time, or are `fixed` (N,),
    stay where they are.
    """
    prints, rows = site.prints, np.arange(len(site.prints.spans))
    legs, starts, ends = np.array([(span.leg, span.start, span.end - 1) for span in prints.spans]).T
    chains = [rows[legs == leg] for leg in np.unique(legs)]
    times = [(starts[chain[1:]] - ends[chain[:-1]]) / clip.fps for chain in chains]
    moves = site.zero - (prints.origin + carried) + prints.height[:, None] * clip.up
    shifts, free = np.zeros((len(rows), 2)), np.zeros(len(rows), bool)
    costs = unevenness(prints.points, prints.room, site.own)
    for chain, time in zip(chains, times, strict=True):
        hurry = hurry_costs(np.diff(moves[chain], axis=0), time, clip.leg)
        costs[chain[1:]] += hurry
        costs[chain[:-1]] += hurry
        # A move saves no more than the costs of the stances that it changes, and moving each of them costs at least the
        # shortest length. So a stance is free only within a run of stances whose mean cost is at least that.
        total = np.append(0.0, np.cumsum(costs[chain] - LENGTHS[1]))
        free[chain] = np.maximum.accumulate(total[:0:-1])[::-1] >= np.minimum.accumulate(total[:-1])
    free = rows[site.own.found[:, :SOLE].any(axis=1) & free & ~fixed]
    if len(free):
        shifts[free] = Search(site, moves, chains, times, _ways(clip, site), free, site.own.height[:, 0] < -EVEN).best()
    return shifts


def _ways(clip: Clip, site: Site) -> Array:
    """The unit vectors (N, WAYS, 2) along which each foot may be moved: first ahead, then round towards the foot's own
    side.
    """
    # Left and right feet go round in opposite senses, so that a mirrored clip is planted as the mirror image.
    angles, prints = np.arange(WAYS) * 2 * np.pi / WAYS, site.prints
    hips, legs = clip.hip[prints.frame], [span.leg for span in prints.spans]
    own = dot(hips[np.arange(len(legs)), legs] - hips.mean(axis=1), prints.axes[..., 1])
    side = np.where(own < -ROUNDING * clip.leg, -1.0, 1.0)
    return np.stack(np.broadcast_arrays(np.cos(angles), side[:, None] * np.sin(angles)), axis=-1)


def chain_costs(times: Sequence[float] | Array, moves: list[Array], costs: list[Array], leg: float) -> list[Array]:
    """The cost of each option (C,) of a foot's stances, in order of time, with the best options of all other stances.

    `times` (s) are those from each stance to the next. For stance i, `moves[i]` (C, 3) are how far the options move the
    foot, and `costs[i]` (C,) their costs by themselves (Viterbi, 1967, forward and backward).
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

    The cost grows with the square of the acceleration. Acceleration `HASTY` costs as much as moving a foot by 1 leg.
    """
    weight = (SHARPEST / (HASTY * leg)) ** 2 / np.maximum(times, 1e-3) ** 4
    return np.asarray(weight * dot(changes, changes))
