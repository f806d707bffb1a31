# SPDX-License-Identifier: MIT
"""Where each foot shall go: pinned while it stands, on the surface and along its slope, and smooth in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..anchors.anchor import Anchor, ride_of, shortened
from ..anchors.time import give_time
from ..contacts.detect import Stance, stances
from ..curves import smoothstep
from ..model import Array, Clip, Mask, Note
from ..rotations import matrix_from_vector, vector_from_matrix
from .lock import Hold

# Farther than this from where it stands (leg lengths), a foot no longer follows the slope it stood on.
SLOPE_RANGE = 0.35
BY_LEG = ("ball", "turn", "to_ankle", "rise", "level")


@dataclass(frozen=True)
class Targets:
    """Targets over F frames and L legs, world space.

    `ball` (F, L, 3) are the ball joints; `turn` (F, L, 3, 3) is to be put before each foot's orientation; `to_ankle`
    (F, L, 3) is the vector from ball to ankle as the clip has it, before that turn. `rise` (F, L) is the height that
    the ground asks for, without the lift that carries swinging feet over obstacles; `level` (F, L) is the height at
    which to look for the ground under each foot. `ride` (F, 3) is how far moving supports have carried the figure.
    """

    ball: Array
    turn: Array
    to_ankle: Array
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
        return cls(clip.ball, turn, clip.ankle - clip.ball, rise, clip.ball @ clip.up, ride)

    @cached_property
    def ankle(self) -> Array:
        """The ankles (F, L, 3)."""
        return self.placed(self.to_ankle)

    def placed(self, from_ball: Array) -> Array:
        """Where points of the feet go (F, L, ..., 3), given by their vectors from the ball as the clip has them."""
        balls = self.ball.reshape(*self.ball.shape[:2], *[1] * (from_ball.ndim - 3), 3)
        return balls + np.einsum("flij,fl...j->fl...i", self.turn, from_ball)

    def moved(self, way: Array) -> Targets:
        """The same targets moved by (F, L, 3)."""
        return replace(self, ball=self.ball + way)

    def turned(self, vectors: Array) -> Targets:
        """The same targets with feet turned about their balls by rotation vectors (F, L, 3)."""
        return replace(self, turn=matrix_from_vector(vectors) @ self.turn)

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
        ball, to_ankle = (np.einsum("flij,flj->fli", turns, vectors) for vectors in (self.ball, self.to_ankle))
        turn = turns @ self.turn @ np.swapaxes(turns, -1, -2)
        anchors = tuple(anchor.carried_by(motion) for anchor in self.anchors)
        return replace(self, ball=ball + motion[:, None, :3, 3], turn=turn, to_ankle=to_ankle, anchors=anchors)

    def asking(self, points: Array, up: Array) -> Array:
        """Points (F, L, ..., 3) moved along up to the level at which to look for the ground."""
        level = self.level.reshape(*self.level.shape, *[1] * (points.ndim - 3))
        return points + (level - points @ up)[..., None] * up


@dataclass(frozen=True)
class Held:
    """How L limbs hold on to surfaces over F frames.

    `contacts` (F, L, 2) are those of heels and balls; hands, and feet that only touch, have the second alone. `free`
    (F, L) is the share in which a limb goes along with the hips instead of holding on to something, `locked` (L,)
    whether contacts hold a spot. `told` are notes for the user.
    """

    contacts: Mask
    targets: Targets
    free: Array
    locked: Mask
    told: tuple[Note, ...] = ()

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
    return Targets(ball, turn, clip.ankle - clip.ball, rise, level, ride, tuple(anchors))


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
    """The path (F, 3) of a ball as the anchor places it: rigidly along the slope round where it stands, or is while its
    heel stands; farther than `near` from there it is just moved.
    """
    stands = path[anchor.stance.start : anchor.stance.end].mean(axis=0) if anchor.part == "heel" else anchor.origin
    turned = stands - anchor.origin + shortened(path - stands, near)
    tilted = np.einsum("fij,fj->fi", anchor.turns(len(path)) - np.eye(3), turned)
    return path + (anchor.points(len(path)) - anchor.origin) + tilted
