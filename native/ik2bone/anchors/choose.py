# SPDX-License-Identifier: MIT
"""Choice of footsteps: one anchor a stance, chosen together, moved to where they cost least, with time between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..contacts.detect import Stance
from ..ground.query import MovingGround, Support, ask, support_of
from ..model import Array, Clip, Ground, Mask
from ..sole.measure import Sole, sole_points
from .anchor import Anchor, ride_of
from .footprint import (
    NOWHERE_COST,
    OUTLINE,
    Footprints,
    Slopes,
    Surface,
    footprints,
    slope_turns,
    stance_footprints,
    unevenness,
)
from .lying import leave_lying
from .passing import Swings, passing_costs, standing_instants, swings_beside
from .patch import Patches, Site, ask_patches
from .route import choose_places, hurry_costs
from .time import give_anchors_time

# Time (s) from one stance to the next, where the clip's beginning or end hides one.
SWING = 0.5
# A foot that does not stand for longer than this (s) follows the ground below it about so often.
LONG = 0.8
# A foot that stands again within this time (s) may have to stand elsewhere to get there: steps of walks take 0.35.
HURRIED = 0.3
# A swing takes this share, or more, of the time between the contacts, wherever the foot seems to touch down.
LEAST = 0.5
# Stances that cost less than this (leg lengths) in their own place stay there: a move costs more than it saves.
SPARED = 0.02
# How far (leg lengths) footprints are moved along eight ways to find a better place: from a third of a foot to steps.
MOVES = (0.04, 0.08, 0.12, 0.16, 0.2, 0.25, 0.32, 0.4)
# What has to be passed beside a place does not matter where the footprint costs so much more (leg lengths) than others:
# more than the farthest move.
EVEN_ENOUGH = 1.0
# The chosen places are moved by these steps (leg lengths) in turn where that costs less: together they reach half way
# to the next one that could be chosen, and the last is how exactly they are found.
STEPS = (0.03, 0.014, 0.0065, 0.003, 0.0014)
# Of places equally far away those ahead are taken, then those to the left, rather than what frames decide by chance:
# moves (leg lengths) ahead and to the left cost by so much less, less so while they are short.
PREFERRED = 0.005 * np.array([np.cos(np.pi / 16), np.sin(np.pi / 16)])
SHORT = 0.05

WAYS = np.array([[np.cos(angle), np.sin(angle)] for angle in np.arange(8) * np.pi / 4])
TRIED = np.concatenate([np.zeros((1, 2)), WAYS])
CANDIDATES = np.concatenate([np.zeros((1, 2)), (np.array(MOVES)[:, None, None] * WAYS).reshape(-1, 2)])


def find_anchors(
    clip: Clip,
    sole: Sole,
    heel: Array,
    contacts: Mask,
    ground: Ground,
    slopes: Slopes,
    ride: Array | None = None,
    kept: Mask | None = None,
) -> tuple[Mask, list[Anchor]]:
    """Contacts (F, L, 2) that feet can hold, and an anchor for each stance of them, on the surface nearest to where the
    foot stood, raised as the foot before it was.

    Frames in which feet need time to get from one anchor to the next are no contacts, unless they are `kept` (F, L, 2).
    A foot that swings as the clip begins or ends, or for long, gets anchors there with the part "swing". `ride` (F, 3)
    is how far the figure is carried over the frames, where that is not told by the supports it stands on.
    """
    if not contacts.any():
        return contacts, []
    prints = stance_footprints(clip, sole, heel, contacts)
    site, carried = _settle(clip, ground, slopes, prints, ride)
    shifts = _shifts(clip, sole, contacts, site, carried, slopes.aligned)
    anchors = _anchors(site, shifts, carried, slopes.aligned)
    ride = ride_of(anchors, clip.frames) if ride is None else ride
    anchors += _swing_anchors(clip, sole, ground, slopes, anchors, ride)
    return give_anchors_time(clip, contacts, leave_lying(clip, sole, contacts, anchors), kept)


def _settle(clip: Clip, ground: Ground, slopes: Slopes, prints: Footprints, ride: Array | None) -> tuple[Site, Array]:
    """The ground under the standing points, and how far (N, 3) the figure was carried as the feet came to stand there.

    Each stance is asked for at the level of the one before it, which matters on stairs without risers and bridges: all
    of them are asked again for as long as what they found changes the level, or what carries the figure, of others.
    """
    count = len(prints.spans)
    rise, carried = np.zeros(count), np.zeros((count, 3)) if ride is None else ride[prints.frame]
    asked, hits, found = np.full((count, 3), np.inf), np.zeros((count, 3)), np.zeros(count, bool)
    for _ in range(count + 1):
        place = prints.origin + carried - prints.height[:, None] * clip.up
        below = place + rise[:, None] * clip.up
        new = np.abs(below - asked).max(axis=1) > 1e-9 * clip.leg
        if not new.any():
            break
        hits[new], _, found[new] = ask(ground, below[new], clip.up, prints.frame[new])
        asked[new] = below[new]
        rise = _last_found((hits - place) @ clip.up, found)
        if ride is None and isinstance(ground, MovingGround):
            anchors = _bare_anchors(ground, prints, hits, found, carried)
            carried = ride_of(anchors, clip.frames)[prints.frame]
    zero = np.where(found[:, None], hits, asked)
    return Site(ground, prints, asked, zero, clip.leg, slopes.least), carried


def _last_found(rises: Array, found: Mask) -> Array:
    """For each stance (N,) how far the last one before it that found ground was raised, 0 for the first."""
    last = np.maximum.accumulate(np.where(found, np.arange(len(found)), -1))
    return np.concatenate([[0.0], np.where(last >= 0, rises[last], 0.0)[:-1]])


def _bare_anchors(ground: Ground, prints: Footprints, hits: Array, found: Mask, carried: Array) -> list[Anchor]:
    """Anchors on the ground under the standing points, which tell by what the figure is carried."""
    rows = zip(prints.spans, prints.parts, prints.origin, hits, found, prints.frame, strict=True)
    anchors = []
    for span, part, origin, hit, there, frame in rows:
        support = support_of(ground, hit, int(frame)) if there else Support()
        anchors.append(Anchor(span, part, origin, hit, np.eye(3), bool(there)).on(support, int(frame)))
    return anchors


@dataclass(frozen=True)
class Chains:
    """The stances of each leg in order: `before` and `after` (N,) are the rows of a stance's neighbours, -1 without
    one; `pause` and `swing` (N,) the times (s) from the one before and to the one after.
    """

    before: NDArray[np.intp]
    after: NDArray[np.intp]
    pause: Array
    swing: Array


def _chains(spans: tuple[Stance, ...], instants: Array, fps: float) -> Chains:
    """The neighbours of N stances that touch down and lift off at instants (N, 2) in frames."""
    legs = np.array([span.leg for span in spans])
    before, after = np.full(len(legs), -1), np.full(len(legs), -1)
    for leg in np.unique(legs):
        rows = np.flatnonzero(legs == leg)
        after[rows[:-1]], before[rows[1:]] = rows[1:], rows[:-1]
    pause = np.where(before >= 0, instants[:, 0] - instants[before, 1], np.inf) / fps
    swing = np.where(after >= 0, instants[after, 0] - instants[:, 1], np.inf) / fps
    return Chains(before, after, pause, swing)


def _shifts(clip: Clip, sole: Sole, contacts: Mask, site: Site, carried: Array, aligned: bool) -> Array:
    """How far ahead and to the left (N, 2) of its own place each foot stands best, in leg lengths."""
    prints, shifts = site.prints, np.zeros((len(site.prints.spans), 2))
    rows = np.arange(len(shifts))
    own = site.ask(rows, prints.points)
    costs = unevenness(prints.points, own.height, own.slope[:, 0], own.gentle[:, 0])
    moves = site.zero - (prints.origin + carried) + prints.height[:, None] * clip.up
    edges = np.array([(span.start, span.end) for span in prints.spans]) + [0.0, -1.0]
    chains = _chains(prints.spans, edges, clip.fps)
    hurry = hurry_costs(moves[chains.after] - moves, chains.swing, clip.up, clip.leg) * (chains.swing < HURRIED)
    costs += hurry + np.where(chains.before >= 0, hurry[chains.before], 0.0)
    free = rows[own.found[:, 0] & (costs > SPARED)]
    if len(free):
        soles = sole_points(clip, sole)
        parts = np.stack([soles[:, :, 0], clip.ball], axis=2)
        beside = np.stack([chains.before, chains.after], axis=1)
        instants = standing_instants(prints, beside, parts, contacts, clip.fps, clip.leg)
        swings = swings_beside(clip, soles, prints, instants)
        search = Search(site, free, ask_patches(site, free), swings, clip.up, aligned)
        exact = _chains(prints.spans, instants, clip.fps)
        pause, swing = np.maximum(exact.pause, LEAST * chains.pause), np.maximum(exact.swing, LEAST * chains.swing)
        best = _searched(search, moves, replace(chains, pause=pause, swing=swing))
        # Where all ground near by is too steep there is nothing to be gained.
        shifts[free] = np.where(search.patches.nodes.gentle.any(axis=(1, 2))[:, None], best, 0.0)
    return shifts


@dataclass(frozen=True)
class Search:
    """What tells the cost of places of the `free` stances (M,), those that may be moved."""

    site: Site
    free: NDArray[np.intp]
    patches: Patches
    swings: Swings
    up: Array
    aligned: bool

    def places(self, shifts: Array, exact: bool) -> tuple[Array, Array]:
        """Costs (M, C) of shifts (M, C, 2) in leg lengths, and how far (M, C, 3) they lie from no shift at all: by what
        lies under the footprints on the patches, or exactly.
        """
        rows = np.arange(len(shifts))[:, None]
        points = self.site.prints.points[self.free][:, None, OUTLINE] + shifts[:, :, None]
        if exact:
            under = self.site.ask(self.free, points)
            heights, slopes, gentle = under.height, under.slope[..., 0, :], under.gentle[..., 0]
        else:
            heights = self.patches.heights(rows[..., None], points)
            slopes, gentle = self.patches.slopes(rows, shifts)
        costs, local = _aside(shifts), np.concatenate([shifts, heights[..., :1]], axis=-1)
        costs += unevenness(points, heights, slopes, gentle)
        passed = np.nonzero(costs < costs.min(axis=1, keepdims=True) + EVEN_ENOUGH)
        tilts = slopes[passed] if self.aligned else np.zeros((len(passed[0]), 2))
        stances = passed[0], self.free[passed[0]]
        passing = np.full_like(costs, NOWHERE_COST)
        passing[passed] = passing_costs(self.patches, self.swings, stances, local[passed], tilts)
        return costs + np.where(gentle, passing, 0.0), self.site.leg * local @ np.swapaxes(self.axes, 1, 2)

    @property
    def axes(self) -> Array:
        """Those of the footprints (M, 3, 3)."""
        return self.site.prints.axes[self.free]


def _aside(shifts: Array) -> Array:
    """Costs (...) of shifts (..., 2): how far they go, a little less where that is preferred (leg lengths)."""
    lengths = np.linalg.norm(shifts, axis=-1)
    return np.asarray(lengths - shifts @ PREFERRED / (lengths + SHORT))


def _searched(search: Search, moves: Array, chains: Chains) -> Array:
    """The best shifts (M, 2) of the free stances: the best of all together, moved on to where they cost least."""
    free, moves = search.free, moves.copy()
    own, shifts = moves[free], np.broadcast_to(CANDIDATES, (len(free), *CANDIDATES.shape))
    costs, away = search.places(shifts, exact=False)
    chosen = _chosen(search, moves, costs, away, chains)
    best, row = CANDIDATES[chosen], np.arange(len(free))
    moves[free] = own + away[row, chosen]
    for step in STEPS:
        around = np.concatenate([best[:, None] + step * TRIED, best[:, None] * np.eye(2)], axis=1)
        costs, away = search.places(around, exact=True)
        for other, time in ((chains.before, chains.pause), (chains.after, chains.swing)):
            changes = own[:, None] + away - moves[other[free]][:, None]
            costs = costs + hurry_costs(changes, time[free][:, None], search.up, search.site.leg)
        chosen = np.argmin(costs, axis=1)
        best = around[row, chosen]
        moves[free] = own + away[row, chosen]
    return best


def _chosen(search: Search, moves: Array, costs: Array, away: Array, chains: Chains) -> NDArray[np.intp]:
    """The candidate (M,) of each free stance, of costs (M, C) that lie some way away (M, C, 3) from their `moves`."""
    chosen, number = np.zeros(len(search.free), np.intp), np.full(len(moves), -1)
    number[search.free] = np.arange(len(search.free))
    for chain in _runs(number, chains):
        options = [moves[row] + (away[number[row]] if number[row] >= 0 else np.zeros((1, 3))) for row in chain]
        each = [costs[number[row]] if number[row] >= 0 else np.zeros(1) for row in chain]
        picks = choose_places(chains.swing[chain[:-1]], options, each, search.up, search.site.leg)
        for row, pick in zip(chain, picks, strict=True):
            if number[row] >= 0:
                chosen[number[row]] = pick
    return chosen


def _runs(number: NDArray[np.intp], chains: Chains) -> list[list[int]]:
    """Rows of free stances (those with a number) that follow on each other, with the fixed ones beside them."""
    result = []
    for row in np.flatnonzero(number >= 0):
        before = chains.before[row]
        if before >= 0 and number[before] >= 0:
            continue
        chain = [int(row)] if before < 0 else [int(before), int(row)]
        while number[chain[-1]] >= 0 and chains.after[chain[-1]] >= 0:
            chain.append(int(chains.after[chain[-1]]))
        result.append(chain)
    return result


def _anchors(site: Site, shifts: Array, carried: Array, aligned: bool) -> list[Anchor]:
    """The anchors of N stances whose feet are shifted (N, 2), as the figure was carried (N, 3) by then."""
    prints, rows = site.prints, np.arange(len(shifts))
    points = prints.points + shifts[:, None]
    surface = site.ask(rows, points)
    turns = slope_turns(prints.axes, points, surface) if aligned else np.tile(np.eye(3), (len(rows), 1, 1))
    turns[~surface.found[:, 0]] = np.eye(3)
    footholds = surface.hits[:, 0]
    points = footholds + prints.height[:, None] * (turns @ prints.axes[0, :, 2])
    return [_anchor(site, row, (points[row], turns[row], footholds[row]), carried[row], surface) for row in rows]


def _anchor(site: Site, row: int, placed: tuple[Array, Array, Array], carried: Array, surface: Surface) -> Anchor:
    """The anchor of one stance by its point, turn and foothold."""
    prints, (point, turn, foothold), found = site.prints, placed, bool(surface.found[row, 0])
    if not found:
        point = foothold = prints.origin[row] + carried
    anchor = Anchor(prints.spans[row], prints.parts[row], prints.origin[row], point, turn, found, foothold, carried)
    frame = int(prints.frame[row])
    return anchor.on(support_of(site.ground, foothold, frame), frame) if found else anchor


def _swing_anchors(
    clip: Clip, sole: Sole, ground: Ground, slopes: Slopes, anchors: list[Anchor], ride: Array
) -> list[Anchor]:
    """Where feet that swing at the clip's first or last frame, or for long, come from or go to: the ground below."""
    passed = [place for leg in range(clip.legs) for place in _passed(clip, [a for a in anchors if a.stance.leg == leg])]
    if not passed:
        return []
    frames, whens, beside = zip(*passed, strict=True)
    spans = [Stance(anchor.stance.leg, when, when) for when, anchor in zip(whens, beside, strict=True)]
    origin = clip.ball[list(frames), [span.leg for span in spans]]
    # The clip's own floor may be uneven: it lies where the foot stands next.
    over = np.array([sole.ball_height[a.stance.leg] if a.part == "heel" else 0.0 for a in beside])
    level = np.array([anchor.origin for anchor in beside]) @ clip.up + over
    origin = origin + (level - origin @ clip.up)[:, None] * clip.up
    prints = footprints(clip, sole, spans, ["swing"] * len(spans), [np.array([frame]) for frame in frames], origin)
    carried = ride[list(frames)]
    rise = np.array([anchor.move for anchor in beside]) @ clip.up
    below = origin + carried + (rise - prints.height)[:, None] * clip.up
    site = Site(ground, prints, below, below, clip.leg, slopes.least)
    return _anchors(site, np.zeros((len(spans), 2)), carried, slopes.aligned)


def _passed(clip: Clip, anchors: list[Anchor]) -> list[tuple[int, int, Anchor]]:
    """Frames on which a foot with such anchors goes by the ground, when it counts as there, and the anchor near by."""
    if not anchors:
        return []
    found, (first, last), away = [], (anchors[0], anchors[-1]), round(SWING * clip.fps)
    if first.stance.start > 0:
        found.append((0, min(0, first.stance.start - away), first))
    if last.stance.end < clip.frames:
        found.append((clip.frames - 1, max(clip.frames, last.stance.end + away), last))
    for before, after in zip(anchors, anchors[1:], strict=False):
        start, end = before.stance.end, after.stance.start
        frames = np.linspace(start, end, round((end - start) / (LONG * clip.fps)) + 1).round().astype(int)[1:-1]
        found += [(int(frame), int(frame), before if 2 * frame < start + end else after) for frame in frames]
    return found
