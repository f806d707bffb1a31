# SPDX-License-Identifier: MIT
"""The targets of feet: held on the surface and along its slope while they stand, and blended smoothly in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..anchors.anchor import Anchor, ride_of, shortened
from ..arrays import Array, Indices, Mask, put_in
from ..clip import Clip
from ..contacts.stance import Stance
from ..curves import smoothstep
from ..ground.query import Ground, ask
from ..notes import Note
from ..rotations import dot, einsum, matrix_from_vector, move_points, nearest_rotations, vector_from_matrix

# A foot farther than this (leg lengths) from where it stands no longer follows the slope on which it stands.
SLOPE_RANGE = 0.35
# The arrays of `Targets` and of `Held` that have a row for each frame and limb.
BY_LEG = ("ball", "turn", "to_ankle", "rise", "level", "sink")
HELD_BY_LEG = ("contacts", "resting", "free", "hurried")


@dataclass(frozen=True)
class Targets:
    """The targets of L legs over F frames, in world space.

    `ball` (F, L, 3) are the ball joints. `turn` (F, L, 3, 3) is multiplied on the left of each foot's orientation.
    `to_ankle` (F, L, 3) is the clip's vector from ball to ankle, before that turn. `rise` (F, L) is the height that the
    ground adds, without the lift that carries swinging feet over obstacles. `level` (F, L) is the height at which to
    look for the ground under each foot. `sink` (F, L) is how deep the tips of toes may lie under the ground before they
    bend up; it is infinite for feet with anchors. `ride` (F, 3) is how far moving supports have carried the figure.
    """

    ball: Array
    turn: Array
    to_ankle: Array
    rise: Array
    level: Array
    sink: Array
    ride: Array
    anchors: tuple[Anchor, ...] = ()

    @cached_property
    def standing(self) -> Indices:
        """The numbers (F, L) of the anchors on which feet stand; -1 where they do not."""
        numbers = np.full(self.rise.shape, -1)
        for number, anchor in enumerate(self.anchors):
            if anchor.part != "swing":
                numbers[anchor.stance.rows] = number
        return numbers

    def anchor_at(self, leg: int, frame: int) -> Anchor | None:
        """The anchor on which a foot stands on a frame, None if there is none."""
        number = self.standing[frame, leg]
        return self.anchors[number] if number >= 0 else None

    def cut(self, first: int, last: int) -> Targets:
        """The targets of frames [first, last), with the anchors of their stances, whose frames count from `first`."""
        standing = [a for a in self.anchors if a.stance.start < last and a.stance.end > first]
        arrays = {name: getattr(self, name)[first:last] for name in (*BY_LEG, "ride")}
        return Targets(**arrays, anchors=tuple(anchor.cut(first, last) for anchor in standing))

    def held(self, starts: Indices) -> Targets:
        """The targets with each frame's row taken from the frame `starts` (F,), and the same anchors."""
        return replace(self, **{name: getattr(self, name)[starts] for name in (*BY_LEG, "ride")})

    def led_by(self, other: Targets) -> Targets:
        """These targets after the frames of `other`."""
        count = len(other.ball)
        arrays = {name: np.concatenate([getattr(other, name), getattr(self, name)]) for name in (*BY_LEG, "ride")}
        return Targets(**arrays, anchors=tuple(anchor.delayed(count) for anchor in self.anchors))

    @classmethod
    def of(cls, clip: Clip) -> Targets:
        """The targets at which the clip has its limbs."""
        turn = np.broadcast_to(np.eye(3), (clip.frames, clip.legs, 3, 3))
        rise, ride = np.zeros((clip.frames, clip.legs)), np.zeros((clip.frames, 3))
        sink = np.full(rise.shape, np.inf)
        return cls(clip.ball, turn, clip.ankle - clip.ball, rise, dot(clip.ball, clip.up), sink, ride)

    @cached_property
    def ankle(self) -> Array:
        """The targets of the ankles (F, L, 3)."""
        return self.placed(self.to_ankle)

    def placed(self, from_ball: Array) -> Array:
        """The places (F, L, ..., 3) of points of the feet, given by the clip's vectors from the ball to them."""
        balls = self.ball.reshape(*self.ball.shape[:2], *[1] * (from_ball.ndim - 3), 3)
        return balls + einsum("flij,fl...j->fl...i", self.turn, from_ball)

    def moved(self, way: Array) -> Targets:
        """The same targets moved by (F, L, 3)."""
        return replace(self, ball=self.ball + way)

    def turned(self, vectors: Array) -> Targets:
        """The same targets with feet turned about their balls by rotation vectors (F, L, 3)."""
        return replace(self, turn=matrix_from_vector(vectors) @ self.turn)

    def copied(self) -> Targets:
        """The same targets with copies of the arrays, those of the anchors included."""
        arrays = {name: getattr(self, name).copy() for name in (*BY_LEG, "ride")}
        return replace(self, **arrays, anchors=tuple(anchor.copied() for anchor in self.anchors))

    def choose(self, limbs: Mask) -> Targets:
        """The targets of some limbs (L,), with their anchors."""
        mine = [anchor for anchor in self.anchors if limbs[anchor.stance.leg]]
        anchors = _renumbered(mine, np.cumsum(limbs) - 1)
        return replace(self, **{name: getattr(self, name)[:, limbs] for name in BY_LEG}, anchors=anchors)

    def beside(self, other: Targets, limbs: Mask) -> Targets:
        """These targets, with `other` put in for the mask `limbs` (L,). Anchors get the new numbers of limbs."""
        rows = {name: put_in(getattr(self, name), getattr(other, name), limbs) for name in BY_LEG}
        anchors = _renumbered(self.anchors, np.flatnonzero(~limbs)) + _renumbered(other.anchors, np.flatnonzero(limbs))
        return replace(self, **rows, anchors=anchors)

    def with_legs(self, legs: Mask, other: Targets) -> Targets:
        """These targets, with those of some `legs` (L,) taken from `other`."""
        return self.choose(~legs).beside(other.choose(legs), legs)

    def carried_by(self, motion: Array) -> Targets:
        """The targets in the world, of a figure carried by a rigid motion (F, 4, 4) that stands still in these."""
        turns = motion[:, None, :3, :3]
        ball, to_ankle = (einsum("flij,flj->fli", turns, vectors) for vectors in (self.ball, self.to_ankle))
        turn = turns @ self.turn @ np.swapaxes(turns, -1, -2)
        anchors = tuple(anchor.carried_by(motion) for anchor in self.anchors)
        return replace(self, ball=ball + motion[:, None, :3, 3], turn=turn, to_ankle=to_ankle, anchors=anchors)

    def depths(self, points: Array, feet: Mask, ground: Ground, up: Array) -> Array:
        """How deep `points` (F, L, P, 3) of some `feet` (F, L) lie under the surface (F, L, P), negative over it.

        The depth is minus infinity where there is no surface, and for all other feet.
        """
        depths, asked = np.full(points.shape[:-1], -np.inf), points[feet]
        if not len(asked):
            return depths
        level = asked + (self.level[feet][:, None] - dot(asked, up))[..., None] * up
        hits, _, found = ask(ground, level, up, np.nonzero(feet)[0])
        depths[feet] = np.where(found, dot(hits - asked, up), -np.inf)
        return depths


@dataclass(frozen=True)
class Held:
    """The contacts and targets of L limbs over F frames.

    `contacts` (F, L, 2) are those of heels and balls; hands, and feet that only touch, have only the second. `resting`
    (F, L, 2) are the contacts without the frames on which the clip itself rolls the foot off its heel. `free` (F, L),
    from 0 to 1, is the share in which a limb goes along with the hips instead of holding on to a surface. `hurried`
    (F, L) are the first frames of stances that are shorter because of contacts that users added. `locked` (L,) tells
    whether the contacts of a limb hold an anchor, `grounded` whether any limb is near a surface. `told` are notes for
    the user.
    """

    contacts: Mask
    resting: Mask
    targets: Targets
    free: Array
    hurried: Mask
    locked: Mask
    grounded: bool
    told: tuple[Note, ...] = ()

    @cached_property
    def standing(self) -> Mask:
        """Which limbs stand or touch (F, L)."""
        return self.contacts[..., 0] | self.contacts[..., 1]

    def choose(self, limbs: Mask) -> Held:
        """The same for some limbs (L,)."""
        if limbs.all():
            return self
        rows = {name: getattr(self, name)[:, limbs] for name in HELD_BY_LEG}
        return replace(self, **rows, targets=self.targets.choose(limbs), locked=self.locked[limbs])

    def cut(self, frames: slice) -> Held:
        """The same on some frames [start, stop)."""
        rows = {name: getattr(self, name)[frames] for name in HELD_BY_LEG}
        return replace(self, **rows, targets=self.targets.cut(frames.start, frames.stop))

    def beside(self, other: Held, limbs: Mask) -> Held:
        """These limbs, with those of `other` put in for the mask `limbs` (L,)."""
        rows = {name: put_in(getattr(self, name), getattr(other, name), limbs) for name in HELD_BY_LEG}
        locked = put_in(self.locked, other.locked, limbs, 0)
        targets, grounded = self.targets.beside(other.targets, limbs), self.grounded or other.grounded
        return Held(**rows, targets=targets, locked=locked, grounded=grounded, told=self.told + other.told)


def _renumbered(anchors: Sequence[Anchor], numbers: NDArray[np.intp]) -> tuple[Anchor, ...]:
    """The anchors with new numbers of their limbs: limb i gets `numbers[i]`."""
    return tuple(replace(a, stance=a.stance._replace(leg=int(numbers[a.stance.leg]))) for a in anchors)


def places_of(anchors: list[Anchor]) -> dict[Stance, Array]:
    """The place (3,) where the foot stands in the clip, for each stance."""
    return {anchor.stance: anchor.origin for anchor in anchors if anchor.part != "swing"}


def blend_targets(clip: Clip, hold: tuple[Array, Array], anchors: list[Anchor], rides: bool) -> Targets:
    """Return the targets of all frames: an anchor places its foot during its stance, and a swing blends the placements
    of the anchors before and after it. `hold` are the results of `hold_feet`. If the figure `rides`, it is carried as
    far as its anchors are.
    """
    (shift, held_turn), ride = hold, ride_of(anchors, clip.frames, rides)
    ball = clip.ball + ride[:, None]
    turn = np.broadcast_to(np.eye(3), (*ball.shape, 3)).copy()
    rise, level = np.zeros(ball.shape[:2]), dot(ball, clip.up)
    if anchors:
        legs, index, share = _beside(clip.frames, [anchor.stance for anchor in anchors])
        turns, *rest = _placed(clip, clip.ball + shift, anchors, legs, index)
        way = vector_from_matrix(np.swapaxes(turns[0], -1, -2) @ turns[1])
        turn[:, legs] = turns[0] @ matrix_from_vector(share[..., None] * way)
        ball[:, legs], rise[:, legs], level[:, legs] = (start + (share.T * (end - start).T).T for start, end in rest)
        rise[:, legs] -= (ride @ clip.up)[:, None]
    turn = turn @ matrix_from_vector(held_turn)
    sink = np.full(rise.shape, np.inf)
    return Targets(ball, turn, clip.ankle - clip.ball, rise, level, sink, ride, tuple(anchors))


def _beside(frames: int, spans: list[Stance]) -> tuple[list[int], Indices, Array]:
    """The M legs that have stances. On each frame, for each of these legs: the numbers (2, F, M) of the stance that its
    foot is in or comes from, and of the one that it is in or goes to, and how far (F, M) the foot has come on its way,
    from 0 to 1 along a quintic.
    """
    time, legs = np.arange(frames), sorted({span.leg for span in spans})
    index, share = np.empty((2, frames, len(legs)), np.intp), np.zeros((frames, len(legs)))
    for column, leg in enumerate(legs):
        order = sorted((number for number, span in enumerate(spans) if span.leg == leg), key=lambda n: spans[n].start)
        numbers, (starts, ends) = np.array(order), np.array([spans[number][1:3] for number in order]).T
        before = np.maximum(np.searchsorted(starts, time, side="right") - 1, 0)
        after = np.minimum(np.searchsorted(ends, time, side="right"), len(order) - 1)
        index[:, :, column] = numbers[before], numbers[after]
        share[:, column] = smoothstep((time - ends[before] + 1) / np.maximum(starts[after] - ends[before] + 1, 1))
    return legs, index, share


def _placed(
    clip: Clip, path: Array, anchors: list[Anchor], legs: list[int], index: Indices
) -> tuple[Array, Array, Array, Array]:
    """Turns (2, F, M, 3, 3), balls (2, F, M, 3), rises and levels (2, F, M) of M legs as two anchors on each frame
    place them.

    `index` (2, F, M) are the numbers of these anchors, and the balls of all legs go along `path` (F, L, 3).
    """
    # The anchor of a heel does not say where the ball is: the mean place of the ball is close enough.
    places = [path[a.stance.rows].mean(axis=0) if a.part == "heel" else a.origin for a in anchors]
    origin, point, foothold, turn = (
        np.array([getattr(anchor, name) for anchor in anchors])[index]
        for name in ("origin", "point", "foothold", "turn")
    )
    stands_at, path = np.array(places)[index], path[:, legs]
    for number, anchor in enumerate(anchors):
        if anchor.motion is not None:
            on = (index == number).nonzero()
            motion = anchor.motion[on[1]]
            point[on], foothold[on] = move_points(motion, point[on]), move_points(motion, foothold[on])
            turn[on] = nearest_rotations(motion[:, :3, :3]) @ turn[on]
    # Near where it stands, the foot turns rigidly about that place; far from there it is only moved.
    way = stands_at - origin + shortened(path - stands_at, SLOPE_RANGE * clip.leg)
    ball = path + (point - origin) + einsum("...ij,...j->...i", turn - np.eye(3), way)
    return turn, ball, dot(point - origin, clip.up), dot(foothold, clip.up)
