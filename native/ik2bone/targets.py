# SPDX-License-Identifier: MIT
"""Where each foot shall go: pinned while it stands, on the surface and along its slope, and smooth in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .anchor import Anchor, ride_of
from .clip import Array, Clip, Ground, Mask
from .contacts import Stance, stances
from .footprint import Footprint, Slopes, find_places
from .ground import support_of
from .hold import Hold, standing_frames, standing_place
from .lying import leave_lying
from .motion import smoothstep
from .passing import passing_costs
from .rotations import matrix_from_vector, vector_from_matrix
from .route import choose_places
from .sole import Sole, sole_points
from .spots import give_time

# Time (s) from one standing to the next, where the clip's beginning or end hides one.
SWING = 0.5
# A foot that does not stand for longer than this (s) follows the ground below it about so often.
LONG = 0.8
# A foot that stands again within this time (s) may have to stand elsewhere to get there.
HURRIED = 0.3
# Farther than this from where it stands (leg lengths), a foot no longer follows the slope it stood on.
SLOPE_RANGE = 0.35
BY_LEG = ("ball", "ankle", "turn", "rise", "level")


@dataclass(frozen=True)
class Targets:
    """Targets over F frames and L legs, world space.

    `ball` and `ankle` (F, L, 3); `turn` (F, L, 3, 3) to put before each foot's orientation; `rise` (F, L) is the height
    that the ground asks for, without the lift that carries swinging feet over obstacles; `level` (F, L) is the height
    at which to look for the ground under each foot. `ride` (F, 3) is how far moving supports have carried the figure.
    """

    ball: Array
    ankle: Array
    turn: Array
    rise: Array
    level: Array
    ride: Array
    anchors: tuple[Anchor, ...] = ()

    def cut(self, first: int, last: int) -> Targets:
        """The targets of frames [first, last), with the anchors that stand there, counted from the first."""
        standing = [a for a in self.anchors if a.stance.start < last and a.stance.end > first]
        arrays = {name: getattr(self, name)[first:last] for name in (*BY_LEG, "ride")}
        return Targets(**arrays, anchors=tuple(anchor.cut(first, last) for anchor in standing))

    def led_by(self, other: Targets) -> Targets:
        """The same targets after the frames of others."""
        count = len(other.ball)
        arrays = {name: np.concatenate([getattr(other, name), getattr(self, name)]) for name in (*BY_LEG, "ride")}
        return Targets(**arrays, anchors=tuple(anchor.delayed(count) for anchor in self.anchors))

    @classmethod
    def of(cls, clip: Clip) -> Targets:
        """Where the clip has its limbs."""
        turn = np.broadcast_to(np.eye(3), (clip.frames, clip.legs, 3, 3))
        rise, ride = np.zeros((clip.frames, clip.legs)), np.zeros((clip.frames, 3))
        return cls(clip.ball, clip.ankle, turn, rise, clip.ball @ clip.up, ride)

    def moved(self, way: Array) -> Targets:
        """The same targets moved by (F, L, 3)."""
        return replace(self, ball=self.ball + way, ankle=self.ankle + way)

    def choose(self, limbs: Mask) -> Targets:
        """The targets of some limbs (L,), with their anchors."""
        mine = [anchor for anchor in self.anchors if limbs[anchor.stance.leg]]
        anchors = tuple(_renumbered(mine, np.cumsum(limbs) - 1))
        return replace(self, **{name: getattr(self, name)[:, limbs] for name in BY_LEG}, anchors=anchors)

    def beside(self, other: Targets, limbs: Mask) -> Targets:
        """These targets with others put in for some limbs (L,), all anchors counted anew."""
        rows = {}
        for name in BY_LEG:
            mine, theirs = getattr(self, name), getattr(other, name)
            rows[name] = np.empty((len(mine), len(limbs), *mine.shape[2:]))
            rows[name][:, ~limbs], rows[name][:, limbs] = mine, theirs
        numbers = np.flatnonzero(~limbs), np.flatnonzero(limbs)
        anchors = (*_renumbered(self.anchors, numbers[0]), *_renumbered(other.anchors, numbers[1]))
        return replace(self, **rows, anchors=anchors)

    def with_legs(self, legs: Mask, other: Targets) -> Targets:
        """These targets with those of some legs (L,) taken from others."""
        arrays = {name: getattr(self, name).copy() for name in BY_LEG}
        for name, mine in arrays.items():
            mine[:, legs] = getattr(other, name)[:, legs]
        return replace(self, **arrays)

    def carried_by(self, motion: Array) -> Targets:
        """The targets in the world, of a figure carried by a rigid motion (F, 4, 4) that stands still in these."""
        turns = motion[:, None, :3, :3]
        ball, ankle = (
            np.einsum("flij,flj->fli", np.broadcast_to(turns, self.turn.shape), path) + motion[:, None, :3, 3]
            for path in (self.ball, self.ankle)
        )
        turn = turns @ self.turn @ np.swapaxes(turns, -1, -2)
        anchors = tuple(anchor.carried_by(motion) for anchor in self.anchors)
        return replace(self, ball=ball, ankle=ankle, turn=turn, anchors=anchors)

    def asking(self, points: Array, up: Array) -> Array:
        """Points (F, L, ..., 3) moved along up to the level at which to look for the ground."""
        level = self.level.reshape(*self.level.shape, *[1] * (points.ndim - 3))
        return points + (level - points @ up)[..., None] * up


@dataclass(frozen=True)
class Held:
    """How L limbs hold on to surfaces over F frames.

    `contacts` (F, L, 2) are those of heels and balls; hands, and feet that only touch, have the second alone. `free`
    (F, L) is the share in which a limb goes along with the hips instead of holding on to something, `locked` (L,)
    whether contacts hold a spot. `told` are sentences for the user.
    """

    contacts: Mask
    targets: Targets
    free: Array
    locked: Mask
    told: tuple[str, ...] = ()

    def beside(self, other: Held, limbs: Mask) -> Held:
        """The same with others put in for some limbs (L,)."""
        frames, locked = len(self.free), np.empty(len(limbs), bool)
        contacts, free = np.empty((frames, len(limbs), 2), bool), np.empty((frames, len(limbs)))
        contacts[:, ~limbs], contacts[:, limbs] = self.contacts, other.contacts
        free[:, ~limbs], free[:, limbs] = self.free, other.free
        locked[~limbs], locked[limbs] = self.locked, other.locked
        return Held(contacts, self.targets.beside(other.targets, limbs), free, locked, self.told + other.told)


def _renumbered(anchors: Sequence[Anchor], numbers: NDArray[np.intp]) -> list[Anchor]:
    """Anchors of limbs that get other `numbers`."""
    stances = [replace(anchor.stance, leg=int(numbers[anchor.stance.leg])) for anchor in anchors]
    return [replace(anchor, stance=stance) for anchor, stance in zip(anchors, stances, strict=True)]


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
    options: list[list[Anchor]] = []
    rise = 0.0
    spans = stances(contacts)
    for stance in sorted(spans, key=lambda s: s.start):
        carried = ride_of([found[0] for found in options], clip.frames) if ride is None else ride
        frames, part = _standing_frames(contacts, stance)
        path, height = (clip.ball, sole.ball_height[stance.leg]) if part == "ball" else (heel, 0.0)
        origin = standing_place(path[:, stance.leg], frames, clip.leg)
        standing = Standing(stance, part, frames, origin, float(height), rise, carried[frames[0]])
        hurried = _is_hurried(stance, spans, clip.fps)
        options.append(_anchors(clip, sole, ground, slopes, standing, hurried))
        # The way goes on from there: the mean of both feet lags behind, which is enough to fall through open stairs.
        rise = float(options[-1][0].move @ clip.up) if options[-1][0].found else rise
    soles = sole_points(clip, sole)
    anchors = [anchor for leg in range(clip.legs) for anchor in _chosen(clip, soles[:, leg], options, leg, ground)]
    anchors.sort(key=lambda anchor: anchor.stance.start)
    carried = ride_of(anchors, clip.frames) if ride is None else ride
    anchors += _swing_anchors(clip, sole, ground, slopes, anchors, carried)
    return leave_lying(clip, sole, contacts, anchors)


def _is_hurried(stance: Stance, spans: list[Stance], fps: float) -> bool:
    """Whether the same foot stands shortly before or after."""
    gaps = [max(other.start - stance.end, stance.start - other.end) for other in spans if other.leg == stance.leg]
    return any(0 <= gap < HURRIED * fps for gap in gaps)


def _chosen(clip: Clip, soles: Array, options: list[list[Anchor]], leg: int, ground: Ground) -> list[Anchor]:
    """The anchors of one leg, whose `soles` (F, P, 3) are given, of the options for each of its stances."""
    mine = [found for found in options if found[0].stance.leg == leg]
    if not mine:
        return []
    moves = [np.array([anchor.move for anchor in found]) for found in mine]
    costs = [np.array([anchor.cost for anchor in found]) for found in mine]
    spans = [found[0].stance for found in mine]
    for index, places in enumerate(mine):
        if len(places) > 1:
            costs[index] += passing_costs(clip, soles, spans, index, places, ground, SLOPE_RANGE * clip.leg)
    chosen = choose_places(spans, moves, costs, clip.up, clip.fps, clip.leg)
    return [found[index] for found, index in zip(mine, chosen, strict=True)]


def give_anchors_time(
    clip: Clip, contacts: Mask, anchors: list[Anchor], kept: Mask | None = None
) -> tuple[Mask, list[Anchor]]:
    """Contacts (F, L, 2) and anchors without frames in which feet climb or come down to where they stand next, unless
    those are `kept` (F, L, 2).
    """
    standing = [anchor for anchor in anchors if anchor.part != "swing"]
    timely = give_time(clip, contacts, {anchor.stance: anchor.move for anchor in standing}, kept)
    shorter = {_within(longer, stances(timely)): longer for longer in (anchor.stance for anchor in standing)}
    by_stance = {longer: stance for stance, longer in shorter.items()}
    return timely, [replace(a, stance=by_stance.get(a.stance, a.stance)) for a in anchors]


def _within(longer: Stance, spans: list[Stance]) -> Stance:
    """The one of the stances that lies within another."""
    return next(s for s in spans if s.leg == longer.leg and s.start >= longer.start and s.end <= longer.end)


def places_of(anchors: list[Anchor]) -> dict[Stance, Array]:
    """Where feet stand in the clip (3,), by stance."""
    return {anchor.stance: anchor.origin for anchor in anchors if anchor.part != "swing"}


def _standing_frames(contacts: Mask, stance: Stance) -> tuple[NDArray[np.intp], str]:
    """The frames and the part by which a foot is held: its ball where that stands, else its heel."""
    frames = stance.start + standing_frames(contacts[stance.start : stance.end, stance.leg])
    return frames, "ball" if contacts[frames[0], stance.leg, 1] else "heel"


def _swing_anchors(
    clip: Clip, sole: Sole, ground: Ground, slopes: Slopes, anchors: list[Anchor], ride: Array
) -> list[Anchor]:
    """Where feet that swing at the clip's first or last frame, or for long, come from or go to: the ground below."""
    found = []
    for leg in range(clip.legs):
        mine = [anchor for anchor in anchors if anchor.stance.leg == leg]
        if mine and mine[0].stance.start > 0:
            found.append((0, min(0, mine[0].stance.start - round(SWING * clip.fps)), mine[0]))
        if mine and mine[-1].stance.end < clip.frames:
            last = clip.frames - 1
            found.append((last, max(clip.frames, mine[-1].stance.end + round(SWING * clip.fps)), mine[-1]))
        for before, after in zip(mine, mine[1:], strict=False):
            found += [(frame, frame, near) for frame, near in _passed(before, after, clip.fps)]
    standings = [_swing_standing(clip, sole, *place, ride) for place in found]
    return [_anchors(clip, sole, ground, slopes, standing)[0] for standing in standings]


def _passed(before: Anchor, after: Anchor, fps: float) -> list[tuple[int, Anchor]]:
    """Frames between standings far apart, on which the foot goes by the ground below it, each with the nearer one."""
    start, end = before.stance.end, after.stance.start
    count = round((end - start) / (LONG * fps))
    frames = np.linspace(start, end, count + 1).round().astype(int)[1:-1]
    return [(int(frame), before if 2 * frame < start + end else after) for frame in frames]


def _swing_standing(clip: Clip, sole: Sole, frame: int, when: int, beside: Anchor, ride: Array) -> Standing:
    leg, height = beside.stance.leg, float(sole.ball_height[beside.stance.leg])
    origin = clip.ball[frame, leg]
    # The clip's own floor may be uneven: it lies where the foot stands next.
    level = beside.origin @ clip.up + (height if beside.part == "heel" else 0.0)
    origin = origin + (level - origin @ clip.up) * clip.up
    rise = float(beside.move @ clip.up)
    return Standing(Stance(leg, when, when), "swing", np.array([frame]), origin, height, rise, ride[frame])


def _anchors(
    clip: Clip, sole: Sole, ground: Ground, slopes: Slopes, standing: Standing, spare: bool = False
) -> list[Anchor]:
    """Where a foot may stand, with what it stands on there, the best first."""
    footprint = replace(_footprint(clip, sole, standing.stance.leg, standing.frames, standing.part), slopes=slopes)
    place, frame = standing.origin + standing.carried, int(standing.frames[0])
    below = place - clip.up * (standing.height - standing.rise)
    anchors = []
    for placed in find_places(footprint, below, clip.up, clip.leg, ground, frame, spare):
        turn = placed.turn if slopes.aligned else np.eye(3)
        point = placed.point + turn @ clip.up * standing.height if placed.found else place
        at = placed.point if placed.found else place
        origin, carried = standing.origin, standing.carried
        anchor = Anchor(standing.stance, standing.part, origin, point, turn, placed.found, placed.cost, at, carried)
        anchors.append(anchor.on(support_of(ground, at, frame), frame) if placed.found else anchor)
    return anchors


def _footprint(clip: Clip, sole: Sole, leg: int, frames: NDArray[np.intp], part: str) -> Footprint:
    """The level footprint round the standing point, turned as the foot is while it stands."""
    forward = clip.foot[frames, leg, :3, :3] @ sole.forward[leg]
    forward = forward - (forward @ clip.up)[:, None] * clip.up
    forward /= np.maximum(np.linalg.norm(forward, axis=-1, keepdims=True), 1e-300)
    length, ahead = sole.lengths[leg]
    ball = length if part == "heel" else 0.0
    return Footprint(forward, np.array([ball - length, ball, ball + ahead]), 0.3 * length)


def blend_targets(clip: Clip, hold: Hold, anchors: list[Anchor], ride: Array | None = None) -> Targets:
    """Targets of all frames: each anchor's placing while its foot stands, blended from one to the next in between.

    `ride` (F, 3) is how far the figure is carried, where that is not told by what it stands on.
    """
    if ride is None:
        ride = ride_of((anchor for anchor in anchors if anchor.part != "swing"), clip.frames)
    ball = clip.ball + ride[:, None]
    turn = np.broadcast_to(np.eye(3), (*ball.shape, 3)).copy()
    rise, level = np.zeros(ball.shape[:2]), ball @ clip.up
    for leg in range(clip.legs):
        mine = sorted((a for a in anchors if a.stance.leg == leg), key=lambda anchor: anchor.stance.start)
        if mine:
            path = clip.ball[:, leg] + hold.shift[:, leg]
            ball[:, leg], turn[:, leg], rise[:, leg], level[:, leg] = _blend_leg(clip, path, mine, ride)
    turn = turn @ matrix_from_vector(hold.turn)
    ankle = ball + np.einsum("flij,flj->fli", turn, clip.ankle - clip.ball)
    return Targets(ball, ankle, turn, rise, level, ride, tuple(anchors))


def _blend_leg(clip: Clip, path: Array, anchors: list[Anchor], ride: Array) -> tuple[Array, Array, Array, Array]:
    """Ball targets (F, 3), turns (F, 3, 3), rises and levels (F,) of one leg."""
    arrived = arrivals(clip.frames, [anchor.stance for anchor in anchors])
    weights = -np.diff(arrived, axis=1)
    placed = np.stack([place_path(path, anchor, SLOPE_RANGE * clip.leg) for anchor in anchors], axis=1)
    ball = np.einsum("fa,fai->fi", weights, placed)
    rises = np.stack([(a.points(clip.frames) - a.origin - ride) @ clip.up for a in anchors], axis=1)
    levels = np.stack([a.footholds(clip.frames) @ clip.up for a in anchors], axis=1)
    return ball, _blend_turns(arrived, anchors), np.sum(weights * rises, axis=1), np.sum(weights * levels, axis=1)


def _blend_turns(arrived: Array, anchors: list[Anchor]) -> Array:
    """Turns (F, 3, 3) of one leg: slopes are near enough to each other to be mixed, turns of supports are not."""
    if all(anchor.motion is None for anchor in anchors):
        weights: Array = -np.diff(arrived, axis=1)
        return matrix_from_vector(weights @ np.stack([vector_from_matrix(anchor.turn) for anchor in anchors]))
    turns = [anchor.turns(len(arrived)) for anchor in anchors]
    blended = turns[0]
    for share, turn in zip(arrived.T[1:], turns[1:], strict=False):
        way = vector_from_matrix(np.swapaxes(blended, 1, 2) @ turn)
        blended = blended @ matrix_from_vector(share[:, None] * way)
    return blended


def anchor_weights(frames: int, spans: list[Stance]) -> Array:
    """Share (F, A) of each anchor in each frame: 1 while it stands, then over to the next along a quintic."""
    return -np.diff(arrivals(frames, spans), axis=1)


def arrivals(frames: int, spans: list[Stance]) -> Array:
    """How far (F, A + 1) each anchor is arrived at in each frame, from 0 to 1 along a quintic while its foot swings.

    The first is 1 always and a last column 0, so that differences are the shares of the anchors.
    """
    time = np.arange(frames)
    arrived = [np.ones(frames)]
    for before, after in zip(spans, spans[1:], strict=False):
        arrived.append(smoothstep((time - before.end + 1) / (after.start - before.end + 1)))
    arrived.append(np.zeros(frames))
    return np.stack(arrived, axis=1)


def place_path(path: Array, anchor: Anchor, near: float) -> Array:
    """The path (F, 3) as the anchor places it: rigidly along the slope close by, just moved farther away."""
    away = path - anchor.origin
    limited = away * (near / np.sqrt(np.sum(away**2, axis=-1, keepdims=True) + near**2))
    tilted = np.einsum("fij,fj->fi", anchor.turns(len(path)) - np.eye(3), limited)
    return path + (anchor.points(len(path)) - anchor.origin) + tilted
