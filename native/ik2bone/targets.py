# SPDX-License-Identifier: MIT
"""Where each foot shall go: pinned while it stands, on the surface and along its slope, and smooth in between."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .clip import Array, Clip, Ground, Mask
from .contacts import Stance, stances
from .footprint import Footprint, find_places
from .hold import Hold, standing_frames, standing_place
from .motion import smoothstep
from .rotations import matrix_from_vector, vector_from_matrix
from .route import choose_places
from .sole import Sole
from .spots import give_time

# Time (s) from one standing to the next, where the clip's beginning or end hides one.
SWING = 0.5
# A foot that stands again within this time (s) may have to stand elsewhere to get there.
HURRIED = 0.3
# Farther than this from where it stands (leg lengths), a foot no longer follows the slope it stood on.
SLOPE_RANGE = 0.35


@dataclass(frozen=True)
class Anchor:
    """One standing of one foot: where `part` of it ("ball" or "heel") stood in the clip and stands now, world space.

    `origin` and `point` are the joint or heel point before and after, `turn` (3, 3) maps the clip's level ground onto
    the slope, `found` tells whether there was a surface. `cost` is that of its print, see `Placed`.
    """

    stance: Stance
    part: str
    origin: Array
    point: Array
    turn: Array
    found: bool
    cost: float = 0.0


@dataclass(frozen=True)
class Targets:
    """Targets over F frames and L legs, world space.

    `ball` and `ankle` (F, L, 3); `turn` (F, L, 3, 3) to put before each foot's orientation; `rise` (F, L) is the height
    that the ground asks for, without the lift that carries swinging feet over obstacles.
    """

    ball: Array
    ankle: Array
    turn: Array
    rise: Array
    anchors: tuple[Anchor, ...]

    def cut(self, first: int, last: int) -> Targets:
        """The targets of frames [first, last), with the anchors that stand there, counted from the first."""
        anchors = [
            replace(anchor, stance=anchor.stance.moved(-first))
            for anchor in self.anchors
            if anchor.stance.start < last and anchor.stance.end > first
        ]
        frames = slice(first, last)
        return Targets(self.ball[frames], self.ankle[frames], self.turn[frames], self.rise[frames], tuple(anchors))

    def led_by(self, other: Targets) -> Targets:
        """The same targets after the frames of others."""
        names = ("ball", "ankle", "turn", "rise")
        ball, ankle, turn, rise = (np.concatenate([getattr(other, name), getattr(self, name)]) for name in names)
        shifted = (replace(anchor, stance=anchor.stance.moved(len(other.ball))) for anchor in self.anchors)
        return Targets(ball, ankle, turn, rise, tuple(shifted))

    @classmethod
    def of(cls, clip: Clip) -> Targets:
        """Where the clip has its limbs."""
        turn = np.broadcast_to(np.eye(3), (clip.frames, clip.legs, 3, 3))
        return cls(clip.ball, clip.ankle, turn, np.zeros((clip.frames, clip.legs)), ())

    def moved(self, way: Array) -> Targets:
        """The same targets moved by (F, L, 3)."""
        return replace(self, ball=self.ball + way, ankle=self.ankle + way)

    def choose(self, limbs: Mask) -> Targets:
        """The targets of some limbs (L,), without anchors."""
        rows = {name: getattr(self, name)[:, limbs] for name in ("ball", "ankle", "turn", "rise")}
        return Targets(**rows, anchors=())

    def beside(self, other: Targets, limbs: Mask) -> Targets:
        """These targets with others put in for some limbs (L,), all anchors counted anew."""
        rows = {}
        for name in ("ball", "ankle", "turn", "rise"):
            mine, theirs = getattr(self, name), getattr(other, name)
            rows[name] = np.empty((len(mine), len(limbs), *mine.shape[2:]))
            rows[name][:, ~limbs], rows[name][:, limbs] = mine, theirs
        anchors = (*_renumbered(self.anchors, ~limbs), *_renumbered(other.anchors, limbs))
        return Targets(**rows, anchors=anchors)

    def with_legs(self, legs: Mask, other: Targets) -> Targets:
        """These targets with those of some legs (L,) taken from others."""
        ball, ankle, rise = self.ball.copy(), self.ankle.copy(), self.rise.copy()
        turn = self.turn.copy()
        for mine, theirs in ((ball, other.ball), (ankle, other.ankle), (turn, other.turn), (rise, other.rise)):
            mine[:, legs] = theirs[:, legs]
        return Targets(ball, ankle, turn, rise, self.anchors)


@dataclass(frozen=True)
class Held:
    """How L limbs hold on to surfaces over F frames.

    `contacts` (F, L, 2) are those of heels and balls; hands, and feet that only touch, have the second alone. `free`
    (F, L) is the share in which a limb goes along with the hips instead of holding on to something, `locked` (L,)
    whether contacts hold a spot.
    """

    contacts: Mask
    targets: Targets
    free: Array
    locked: Mask

    def beside(self, other: Held, limbs: Mask) -> Held:
        """The same with others put in for some limbs (L,)."""
        frames, locked = len(self.free), np.empty(len(limbs), bool)
        contacts, free = np.empty((frames, len(limbs), 2), bool), np.empty((frames, len(limbs)))
        contacts[:, ~limbs], contacts[:, limbs] = self.contacts, other.contacts
        free[:, ~limbs], free[:, limbs] = self.free, other.free
        locked[~limbs], locked[limbs] = self.locked, other.locked
        return Held(contacts, self.targets.beside(other.targets, limbs), free, locked)


def _renumbered(anchors: tuple[Anchor, ...], limbs: Mask) -> list[Anchor]:
    """Anchors of some limbs, counted among all (L,)."""
    numbers = np.flatnonzero(limbs)
    stances = [replace(anchor.stance, leg=int(numbers[anchor.stance.leg])) for anchor in anchors]
    return [replace(anchor, stance=stance) for anchor, stance in zip(anchors, stances, strict=True)]


def find_anchors(clip: Clip, sole: Sole, heel: Array, contacts: Mask, ground: Ground, use_slope: bool) -> list[Anchor]:
    """One anchor for each stance, on the surface nearest to where the foot stood, raised as all feet were before it.

    A foot that swings as the clip begins or ends gets one more there, with the part "swing".
    """
    options: list[list[Anchor]] = []
    rise, spans = np.zeros(clip.legs), stances(contacts)
    for stance in sorted(spans, key=lambda s: s.start):
        frames, part = _standing_frames(contacts, stance)
        path, height = (clip.ball, sole.ball_height[stance.leg]) if part == "ball" else (heel, 0.0)
        origin = standing_place(path[:, stance.leg], frames)
        place = part, frames, origin, height, float(rise.mean()), _is_hurried(stance, spans, clip.fps)
        found = _anchors(clip, sole, ground, use_slope, stance, *place)
        rise[stance.leg] = (found[0].point - origin) @ clip.up
        options.append(found)
    anchors = [anchor for leg in range(clip.legs) for anchor in _chosen(clip, options, leg)]
    anchors.sort(key=lambda anchor: anchor.stance.start)
    return anchors + _swing_anchors(clip, sole, ground, use_slope, anchors)


def _is_hurried(stance: Stance, spans: list[Stance], fps: float) -> bool:
    """Whether the same foot stands shortly before or after."""
    gaps = [max(other.start - stance.end, stance.start - other.end) for other in spans if other.leg == stance.leg]
    return any(0 <= gap < HURRIED * fps for gap in gaps)


def _chosen(clip: Clip, options: list[list[Anchor]], leg: int) -> list[Anchor]:
    """The anchors of one leg, of the options for each of its stances."""
    mine = [found for found in options if found[0].stance.leg == leg]
    if not mine:
        return []
    moves = [np.array([anchor.point - anchor.origin for anchor in found]) for found in mine]
    costs = [np.array([anchor.cost for anchor in found]) for found in mine]
    spans = [found[0].stance for found in mine]
    chosen = choose_places(spans, moves, costs, clip.up, clip.fps, clip.leg)
    return [found[index] for found, index in zip(mine, chosen, strict=True)]


def give_anchors_time(clip: Clip, contacts: Mask, anchors: list[Anchor]) -> tuple[Mask, list[Anchor]]:
    """Contacts (F, L, 2) and anchors without frames in which feet climb or come down to where they stand next."""
    standing = [anchor for anchor in anchors if anchor.part != "swing"]
    timely = give_time(clip, contacts, {anchor.stance: anchor.point - anchor.origin for anchor in standing})
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


def _swing_anchors(clip: Clip, sole: Sole, ground: Ground, use_slope: bool, anchors: list[Anchor]) -> list[Anchor]:
    """Where feet that swing at the clip's first or last frame come from or go to: the ground below them there."""
    found = []
    for leg in range(clip.legs):
        mine = [anchor for anchor in anchors if anchor.stance.leg == leg]
        if mine and mine[0].stance.start > 0:
            found.append((0, min(0, mine[0].stance.start - round(SWING * clip.fps)), mine[0]))
        if mine and mine[-1].stance.end < clip.frames:
            last = clip.frames - 1
            found.append((last, max(clip.frames, mine[-1].stance.end + round(SWING * clip.fps)), mine[-1]))
    return [_swing_anchor(clip, sole, ground, use_slope, *place) for place in found]


def _swing_anchor(
    clip: Clip, sole: Sole, ground: Ground, use_slope: bool, frame: int, when: int, beside: Anchor
) -> Anchor:
    leg, height = beside.stance.leg, float(sole.ball_height[beside.stance.leg])
    origin = clip.ball[frame, leg]
    # The clip's own floor may be uneven: it lies where the foot stands next.
    level = beside.origin @ clip.up + (height if beside.part == "heel" else 0.0)
    origin = origin + (level - origin @ clip.up) * clip.up
    rise = float((beside.point - beside.origin) @ clip.up)
    stance = Stance(leg, when, when)
    return _anchors(clip, sole, ground, use_slope, stance, "swing", np.array([frame]), origin, height, rise, False)[0]


def _anchors(
    clip: Clip,
    sole: Sole,
    ground: Ground,
    use_slope: bool,
    stance: Stance,
    part: str,
    frames: NDArray[np.intp],
    origin: Array,
    height: float,
    rise: float,
    spare: bool,
) -> list[Anchor]:
    """Where a point that stood at `origin`, `height` over its sole, may stand, the foot turned as in `frames`."""
    footprint = _footprint(clip, sole, stance.leg, frames, part)
    below = origin - clip.up * (height - rise)
    anchors = []
    for placed in find_places(footprint, below, clip.up, clip.leg, ground, spare):
        turn = placed.turn if use_slope else np.eye(3)
        point = placed.point + turn @ clip.up * height if placed.found else origin
        anchors.append(Anchor(stance, part, origin, point, turn, placed.found, placed.cost))
    return anchors


def _footprint(clip: Clip, sole: Sole, leg: int, frames: NDArray[np.intp], part: str) -> Footprint:
    """The level footprint round the standing point, turned as the foot is while it stands."""
    forward = clip.foot[frames, leg, :3, :3] @ sole.forward[leg]
    forward = forward - (forward @ clip.up)[:, None] * clip.up
    forward /= np.maximum(np.linalg.norm(forward, axis=-1, keepdims=True), 1e-300)
    length, ahead = sole.lengths[leg]
    ball = length if part == "heel" else 0.0
    return Footprint(forward, np.array([ball - length, ball, ball + ahead]), 0.3 * length)


def blend_targets(clip: Clip, hold: Hold, anchors: list[Anchor]) -> Targets:
    """Targets of all frames: each anchor's placing while its foot stands, blended from one to the next in between."""
    ball = np.empty_like(clip.ball)
    turn = np.empty((clip.frames, clip.legs, 3, 3))
    rise = np.zeros((clip.frames, clip.legs))
    for leg in range(clip.legs):
        mine = sorted((a for a in anchors if a.stance.leg == leg), key=lambda anchor: anchor.stance.start)
        if not mine:
            ball[:, leg], turn[:, leg] = clip.ball[:, leg], np.eye(3)
            continue
        ball[:, leg], turn[:, leg], rise[:, leg] = _blend_leg(clip, clip.ball[:, leg] + hold.shift[:, leg], mine)
    turn = turn @ matrix_from_vector(hold.turn)
    ankle = ball + np.einsum("flij,flj->fli", turn, clip.ankle - clip.ball)
    return Targets(ball, ankle, turn, rise, tuple(anchors))


def _blend_leg(clip: Clip, path: Array, anchors: list[Anchor]) -> tuple[Array, Array, Array]:
    """Ball targets (F, 3), turns (F, 3, 3) and rises (F,) of one leg."""
    weights = anchor_weights(clip.frames, [anchor.stance for anchor in anchors])
    placed = np.stack([place_path(path, anchor, SLOPE_RANGE * clip.leg) for anchor in anchors], axis=1)
    ball = np.einsum("fa,fai->fi", weights, placed)
    vectors = np.stack([vector_from_matrix(anchor.turn) for anchor in anchors])
    rises = np.array([(anchor.point - anchor.origin) @ clip.up for anchor in anchors])
    return ball, matrix_from_vector(weights @ vectors), weights @ rises


def anchor_weights(frames: int, spans: list[Stance]) -> Array:
    """Share (F, A) of each anchor in each frame: 1 while it stands, then over to the next along a quintic."""
    time = np.arange(frames)
    arrived = [np.ones(frames)]
    for before, after in zip(spans, spans[1:], strict=False):
        arrived.append(smoothstep((time - before.end + 1) / (after.start - before.end + 1)))
    arrived.append(np.zeros(frames))
    return -np.diff(np.stack(arrived, axis=1), axis=1)


def place_path(path: Array, anchor: Anchor, near: float) -> Array:
    """The path (F, 3) as the anchor places it: rigidly along the slope close by, just moved farther away."""
    away = path - anchor.origin
    limited = away * (near / np.sqrt(np.sum(away**2, axis=-1, keepdims=True) + near**2))
    return path + (anchor.point - anchor.origin) + limited @ (anchor.turn - np.eye(3)).T
