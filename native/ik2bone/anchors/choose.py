# SPDX-License-Identifier: MIT
"""Where feet stand: one place a standing, all of a foot's chosen together, and then moved to where they are best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contacts.detect import Stance, stances
from ..ground.query import support_of
from ..model import Array, Clip, Ground, Mask, level_part
from ..sole.measure import Sole, sole_points
from ..targets.blend import SLOPE_RANGE
from ..targets.lock import standing_frames, standing_place
from .anchor import Anchor, ride_of
from .footprint import Footprint, Placed, Slopes, find_places, lay_prints, ways_aside
from .instants import standing_instants
from .lying import leave_lying
from .passing import passing_costs
from .route import choose_places

# Time (s) from one standing to the next, where the clip's beginning or end hides one.
SWING = 0.5
# A foot that does not stand for longer than this (s) follows the ground below it about so often.
LONG = 0.8
# A foot that stands again within this time (s) may have to stand elsewhere to get there.
HURRIED = 0.3
# The places chosen are moved by one of these steps (leg lengths) after the other, where that is better: together they
# reach half way to the next one that could be chosen. What is left of a choice by chance is less than the last.
STEPS = (0.03, 0.015, 0.0075, 0.00375)


@dataclass(frozen=True)
class Standing:
    """A standing that asks for a place: a foot held by `part` on `frames`, at `origin` (3,), `height` over its sole.

    The ground is looked for under the origin, raised by `rise`, as the figure was `carried` (3,) on the first frame.
    """

    stance: Stance
    part: str
    frames: NDArray[np.intp]
    origin: Array
    height: float
    rise: float
    carried: Array
    footprint: Footprint

    @property
    def frame(self) -> int:
        """The frame that tells where supports are."""
        return int(self.frames[0])

    @property
    def place(self) -> Array:
        """Where the foot would stand (3,) if there were no ground."""
        return self.origin + self.carried

    def below(self, up: Array) -> Array:
        """Where the ground is looked for (3,)."""
        return self.place - up * (self.height - self.rise)


@dataclass(frozen=True)
class Search:
    """What places are looked for by: a clip, its soles and heels (F, L, 3), the contacts (F, L, 2) of heels and balls,
    and a ground with the slopes that feet stand on.
    """

    clip: Clip
    sole: Sole
    heel: Array
    contacts: Mask
    ground: Ground
    slopes: Slopes


class Option(NamedTuple):
    """An anchor that a standing may have, and what it costs by itself."""

    anchor: Anchor
    cost: float


@dataclass(frozen=True)
class Way:
    """The way of one leg over a ground: when it comes to its standings and leaves them, in order (`instants` (N, 2), in
    frames), and points of its soles as the clip has them (`soles` (F, P, 3)).
    """

    clip: Clip
    ground: Ground
    soles: Array
    instants: Array

    def options(self, index: int, anchors: list[Anchor]) -> list[Option]:
        """The anchors of a standing with their costs: of the print, and of what lies beside it."""
        near = SLOPE_RANGE * self.clip.leg
        beside = passing_costs(self.clip, self.soles, self.instants, index, anchors, self.ground, near)
        return [Option(anchor, anchor.cost + float(cost)) for anchor, cost in zip(anchors, beside, strict=True)]

    def best(self, options: list[list[Option]]) -> list[Option]:
        """One option a standing, the best together."""
        times = (self.instants[1:, 0] - self.instants[:-1, 1]) / self.clip.fps
        moves = [np.array([option.anchor.move for option in each]) for each in options]
        costs = [np.array([option.cost for option in each]) for each in options]
        chosen = choose_places(times, moves, costs, self.clip.up, self.clip.leg)
        return [each[index] for each, index in zip(options, chosen, strict=True)]


def find_anchors(
    clip: Clip,
    sole: Sole,
    heel: Array,
    contacts: Mask,
    ground: Ground,
    slopes: Slopes,
    ride: Array | None = None,
) -> list[Anchor]:
    """One anchor for each stance, on the surface nearest to where the foot stood, raised as the foot before it was.

    A foot that swings as the clip begins or ends gets one more there, with the part "swing". `ride` (F, 3) is how far
    the figure is carried over the frames, where that is not told by the supports it stands on.
    """
    search = Search(clip, sole, heel, contacts, ground, slopes)
    found, soles = _choices(search, ride), sole_points(clip, sole)
    legs = [
        _chosen(clip, contacts[:, leg], soles[:, leg], [each for each in found if each[0].stance.leg == leg], ground)
        for leg in range(clip.legs)
    ]
    chosen = sorted((anchor for leg in legs for anchor in leg), key=lambda anchor: anchor.stance.start)
    carried = ride_of(chosen, clip.frames) if ride is None else ride
    chosen += _swing_anchors(search, chosen, carried)
    return leave_lying(clip, sole, contacts, chosen)


def _choices(search: Search, ride: Array | None) -> list[tuple[Standing, list[Anchor]]]:
    """The standings of all feet in order of time, each with the anchors that it may have, the best first."""
    found: list[tuple[Standing, list[Anchor]]] = []
    clip, rise, spans = search.clip, 0.0, stances(search.contacts)
    for stance in sorted(spans, key=lambda s: s.start):
        carried = ride_of([anchors[0] for _, anchors in found], clip.frames) if ride is None else ride
        standing = _standing(search, stance, rise, carried)
        anchors = _anchors(clip, search.ground, standing, _is_hurried(stance, spans, clip.fps))
        found.append((standing, anchors))
        # The way goes on from there: the mean of both feet lags behind, which is enough to fall through open stairs.
        rise = float(anchors[0].move @ clip.up) if anchors[0].found else rise
    return found


def _is_hurried(stance: Stance, spans: list[Stance], fps: float) -> bool:
    """Whether the same foot stands shortly before or after."""
    gaps = [max(other.start - stance.end, stance.start - other.end) for other in spans if other.leg == stance.leg]
    return any(0 <= gap < HURRIED * fps for gap in gaps)


def _chosen(
    clip: Clip, contacts: Mask, soles: Array, found: list[tuple[Standing, list[Anchor]]], ground: Ground
) -> list[Anchor]:
    """The anchors of one leg, whose contacts (F, 2) and soles (F, P, 3) are given, of those found for its standings.

    The one that is best of those is moved to where it is better still, if there was a choice.
    """
    if not found:
        return []
    leg = found[0][0].stance.leg
    parts = np.stack([soles[:, 0], clip.ball[:, leg]], axis=1)
    instants = standing_instants([each.stance for each, _ in found], parts, contacts, clip.fps, clip.leg)
    way, options = Way(clip, ground, soles, instants), [[Option(anchors[0], anchors[0].cost)] for _, anchors in found]
    free = {index: standing for index, (standing, anchors) in enumerate(found) if len(anchors) > 1}
    for index in free:
        options[index] = way.options(index, found[index][1])
    return [option.anchor for option in _refined(way, free, way.best(options))]


def _refined(way: Way, free: dict[int, Standing], best: list[Option]) -> list[Option]:
    """The best options, one a standing; those of the `free` standings (by number) moved to where they are better."""
    for step in STEPS if free else ():
        options = [[option] for option in best]
        for index, standing in free.items():
            around = _around(way.clip, way.ground, standing, best[index].anchor, step * way.clip.leg)
            options[index] += way.options(index, around) if around else []
        best = way.best(options)
    return best


def _standing(search: Search, stance: Stance, rise: float, carried: Array) -> Standing:
    """A standing by its contacts: held by the ball where that stands, else by the heel."""
    clip, leg = search.clip, stance.leg
    frames = stance.start + standing_frames(search.contacts[stance.start : stance.end, leg])
    part = "ball" if search.contacts[frames[0], leg, 1] else "heel"
    path, height = (clip.ball, float(search.sole.ball_height[leg])) if part == "ball" else (search.heel, 0.0)
    origin, footprint = standing_place(path[:, leg], frames, clip.leg), _footprint(search, leg, frames, part)
    return Standing(stance, part, frames, origin, height, rise, carried[frames[0]], footprint)


def _swing_anchors(search: Search, anchors: list[Anchor], ride: Array) -> list[Anchor]:
    """Where feet that swing at the clip's first or last frame, or for long, come from or go to: the ground below."""
    clip, found = search.clip, []
    for leg in range(clip.legs):
        mine = [anchor for anchor in anchors if anchor.stance.leg == leg]
        if mine and mine[0].stance.start > 0:
            found.append((0, min(0, mine[0].stance.start - round(SWING * clip.fps)), mine[0]))
        if mine and mine[-1].stance.end < clip.frames:
            last = clip.frames - 1
            found.append((last, max(clip.frames, mine[-1].stance.end + round(SWING * clip.fps)), mine[-1]))
        for before, after in zip(mine, mine[1:], strict=False):
            found += [(frame, frame, near) for frame, near in _passed(before, after, clip.fps)]
    standings = [_swing_standing(search, *place, ride) for place in found]
    return [_anchors(clip, search.ground, standing)[0] for standing in standings]


def _passed(before: Anchor, after: Anchor, fps: float) -> list[tuple[int, Anchor]]:
    """Frames between standings far apart, on which the foot goes by the ground below it, each with the nearer one."""
    start, end = before.stance.end, after.stance.start
    count = round((end - start) / (LONG * fps))
    frames = np.linspace(start, end, count + 1).round().astype(int)[1:-1]
    return [(int(frame), before if 2 * frame < start + end else after) for frame in frames]


def _swing_standing(search: Search, frame: int, when: int, beside: Anchor, ride: Array) -> Standing:
    clip, leg = search.clip, beside.stance.leg
    height = float(search.sole.ball_height[leg])
    origin = clip.ball[frame, leg]
    # The clip's own floor may be uneven: it lies where the foot stands next.
    level = beside.origin @ clip.up + (height if beside.part == "heel" else 0.0)
    origin = origin + (level - origin @ clip.up) * clip.up
    rise, frames = float(beside.move @ clip.up), np.array([frame])
    footprint = _footprint(search, leg, frames, "swing")
    return Standing(Stance(leg, when, when), "swing", frames, origin, height, rise, ride[frame], footprint)


def _anchors(clip: Clip, ground: Ground, standing: Standing, spare: bool = False) -> list[Anchor]:
    """Where a foot may stand, with what it stands on there, the best first."""
    below = standing.below(clip.up)
    found = find_places(standing.footprint, below, clip.up, clip.leg, ground, standing.frame, spare)
    return [_anchor(clip, ground, standing, placed) for placed in found]


def _around(clip: Clip, ground: Ground, standing: Standing, anchor: Anchor, length: float) -> list[Anchor]:
    """Where a foot may stand that is moved from an anchor by so much, each way."""
    assert anchor.foothold is not None
    print_, below = standing.footprint, standing.below(clip.up)
    shifts = level_part(anchor.foothold - below, clip.up) + length * ways_aside(print_.forward, clip.up)
    found = lay_prints(print_, shifts, below, clip.up, clip.leg, ground, standing.frame)
    return [_anchor(clip, ground, standing, placed) for placed in found]


def _anchor(clip: Clip, ground: Ground, standing: Standing, placed: Placed) -> Anchor:
    """The anchor of a standing by its print on the ground, with what it stands on there."""
    turn = placed.turn if standing.footprint.slopes.aligned else np.eye(3)
    point = placed.point + turn @ clip.up * standing.height if placed.found else standing.place
    at = placed.point if placed.found else standing.place
    cost, carried = placed.cost, standing.carried
    anchor = Anchor(standing.stance, standing.part, standing.origin, point, turn, placed.found, cost, at, carried)
    return anchor.on(support_of(ground, at, standing.frame), standing.frame) if placed.found else anchor


def _footprint(search: Search, leg: int, frames: NDArray[np.intp], part: str) -> Footprint:
    """The level footprint round the standing point, turned as the foot is while it stands."""
    clip, sole = search.clip, search.sole
    forward = level_part(clip.foot[frames, leg, :3, :3] @ sole.forward[leg], clip.up)
    forward /= np.maximum(np.linalg.norm(forward, axis=-1, keepdims=True), 1e-300)
    length, ahead = sole.lengths[leg]
    ball = length if part == "heel" else 0.0
    return Footprint(forward, np.array([ball - length, ball, ball + ahead]), 0.3 * length, search.slopes)
