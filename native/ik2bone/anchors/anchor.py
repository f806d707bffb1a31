# SPDX-License-Identifier: MIT
"""Where feet stand: anchors, which ride along with supports that move and carry the figure with them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array, Indices
from ..contacts.stance import Stance
from ..ground.query import Ground, Support, ask, support_of
from ..notes import Note
from ..rotations import inverse_of, length_of, move_points, nearest_rotations, turn_vectors, vector_from_matrix

# A support that turns farther (degrees) under a standing foot twists the leg visibly.
TWIST = 30.0


@dataclass(frozen=True)
class Anchor:
    """One standing of one foot: where `part` of it ("ball" or "heel") stood in the clip and stands now, world space.

    `origin` and `point` (3,) are the joint or heel point before and after, `turn` (3, 3) maps the clip's level ground
    onto the slope, `found` tells whether there was a surface, and `foothold` (3,) where that lies under the point:
    without one that is the point itself. They hold as the foot comes to stand, the figure `carried` (3,) so far by
    then; a `support` that moves takes them along by its `motion` (F, 4, 4) from there.
    """

    stance: Stance
    part: str
    origin: Array
    point: Array
    turn: Array
    found: bool
    foothold: Array
    carried: Array = field(default_factory=lambda: np.zeros(3))
    support: str = ""
    motion: Array | None = None

    def on(self, support: Support, frame: int) -> Anchor:
        """The same anchor on a support where that is on a frame."""
        motion = None if support.motion is None else support.motion @ inverse_of(support.motion[frame])
        return replace(self, support=support.name, motion=motion)

    @property
    def move(self) -> Array:
        """How far the ground moves the foot (3,), apart from what the figure is carried."""
        return self.point - self.origin - self.carried

    def cut(self, first: int, last: int) -> Anchor:
        """The same anchor, its frames counted from the first of [first, last)."""
        motion = None if self.motion is None else self.motion[first:last]
        return replace(self, stance=self.stance.moved(-first), motion=motion)

    def carried_by(self, motion: Array) -> Anchor:
        """The anchor in the world, of a figure carried by a rigid motion (F, 4, 4) that stands still in this."""
        own = np.eye(4) if self.motion is None else self.motion
        return replace(self, motion=motion @ own)

    def delayed(self, count: int) -> Anchor:
        """The anchor with so many frames before it."""
        motion = None if self.motion is None else self.motion[np.maximum(np.arange(-count, len(self.motion)), 0)]
        return replace(self, stance=self.stance.moved(count), motion=motion)

    def points(self, frames: int) -> Array:
        """Where the standing point is (F, 3)."""
        if self.motion is None:
            return np.broadcast_to(self.point, (frames, 3))
        return self.motion[:, :3, :3] @ self.point + self.motion[:, :3, 3]

    def foothold_on(self, frame: int) -> Array:
        """Where the surface lies under it (3,) on a frame."""
        return self.foothold if self.motion is None else move_points(self.motion[frame], self.foothold)

    def turns(self, frames: Indices | slice | int) -> Array:
        """How the foot is turned on some frames (N, 3, 3); (3, 3) on one of them, or where it is the same on all."""
        return self.turn if self.motion is None else nearest_rotations(self.motion[frames, :3, :3]) @ self.turn


def on_supports(anchors: Iterable[Anchor], ground: Ground, frames: Iterable[int]) -> list[Anchor]:
    """The anchors on what their footholds belong to, each where that is on its frame."""
    pairs = zip(anchors, frames, strict=True)
    return [a.on(support_of(ground, a.foothold, frame), frame) if a.found else a for a, frame in pairs]


def ride_of(anchors: Iterable[Anchor], frames: int) -> Array:
    """How far (F, 3) anchors, in order of time, have carried the figure since the first of them came to stand.

    While feet stand it moves as their anchors do on the mean; with no foot on the ground it goes on as it was.
    """
    standing = list(anchors)
    if all(anchor.motion is None for anchor in standing):
        return np.zeros((frames, 3))
    total, count, last = np.zeros((frames, 3)), np.zeros(frames), np.zeros((frames, 3))
    for anchor in standing:
        step = np.diff(anchor.points(frames), axis=0, append=0.0)
        step[-1] = 0.0
        span = slice(anchor.stance.start, anchor.stance.end)
        total[span] += step[span]
        count[span] += 1
        begin = 0 if anchor is standing[0] else anchor.stance.start
        last[begin:] = step[begin:]
    rate = np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], last)
    ride = np.concatenate([np.zeros((1, 3)), np.cumsum(rate[:-1], axis=0)])
    return ride - ride[standing[0].stance.start]


def tell_turns(anchors: Iterable[Anchor]) -> list[Note]:
    """Notes about supports that turn so far under standing feet that the body should turn with them."""
    most: dict[str, float] = {}
    for anchor in anchors:
        if anchor.motion is not None:
            turns = vector_from_matrix(nearest_rotations(anchor.motion[:, :3, :3]))
            angles = np.degrees(length_of(turns))[anchor.stance.start : anchor.stance.end]
            most[anchor.support] = max(most.get(anchor.support, 0.0), float(angles.max(initial=0.0)))
    return [Note("support_turns", {"support": name, "degrees": angle}) for name, angle in most.items() if angle > TWIST]


def tell_steep(anchors: Sequence[Anchor], ground: Ground, up: Array, frames: int, steepest: float) -> list[Note]:
    """A note about standings on ground steeper than feet stand on (radians), of a clip of so many frames."""
    if not anchors:
        return []
    first = np.clip([anchor.stance.start for anchor in anchors], 0, frames - 1)
    places = np.array([anchor.foothold_on(frame) for anchor, frame in zip(anchors, first, strict=True)])
    _, normals, found = ask(ground, places, up, first)
    steep = found & (normals @ up < np.cos(steepest)) & [anchor.found for anchor in anchors]
    data = {"count": int(steep.sum()), "of": len(anchors), "degrees": float(np.degrees(steepest))}
    return [Note("steep_contacts", data)] if steep.any() else []


class StandingAnchors:
    """The anchors on which feet stand, found by foot and frame without a look at all others."""

    def __init__(self, anchors: Iterable[Anchor]) -> None:
        self.legs: dict[int, list[Anchor]] = {}
        for anchor in sorted(anchors, key=lambda anchor: anchor.stance.start):
            if anchor.part != "swing":
                self.legs.setdefault(anchor.stance.leg, []).append(anchor)
        self.starts = {leg: [anchor.stance.start for anchor in own] for leg, own in self.legs.items()}

    def at(self, leg: int, frame: int, part: str = "") -> Anchor | None:
        """The anchor that a foot stands on, by a part of it where one is named."""
        own = self.legs.get(leg, [])
        row = bisect_right(self.starts.get(leg, []), frame) - 1
        stands = row >= 0 and frame < own[row].stance.end and part in ("", own[row].part)
        return own[row] if stands else None

    def unridden(self, leg: int, frames: tuple[int, int], path: Array) -> Array:
        """A path (N, 3) of a foot that stands on frames [first, last), without what its support moves it there."""
        anchor = self.at(leg, frames[0])
        if anchor is None or anchor.motion is None:
            return path
        return move_points(inverse_of(anchor.motion[slice(*frames)]), path)

    def ridden(self, leg: int, frames: tuple[int, int], ways: Array) -> Array:
        """Ways (N, 3) in that path, turned back as its support lies on each frame."""
        anchor = self.at(leg, frames[0])
        return ways if anchor is None or anchor.motion is None else turn_vectors(anchor.motion[slice(*frames)], ways)


def shortened(ways: Array, near: float) -> Array:
    """Ways (..., 3), hardly shortened while they are short, and nowhere longer than `near`."""
    return ways * (near / np.sqrt(np.sum(ways**2, axis=-1, keepdims=True) + near**2))
