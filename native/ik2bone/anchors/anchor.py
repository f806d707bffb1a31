# SPDX-License-Identifier: MIT
"""Where feet stand: anchors, which move with their supports, and how far moving supports carry the figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array, Indices
from ..contacts.stance import Stance
from ..ground.query import Ground, Support, ask, support_of
from ..notes import Note, counted
from ..rotations import inverse_of, length_of, move_points, nearest_rotations, vector_from_matrix

# A support that turns by more than this (degrees) under a standing foot twists the leg visibly.
TWIST = 30.0


@dataclass(frozen=True)
class Anchor:
    """One stance of one foot: where its `part` ("ball" or "heel") stood in the clip and where it stands now, in world
    space. The part "swing" marks a place over which a foot swings.

    `origin` (3,) is the ball joint or heel point in the clip, and `point` (3,) the place where it shall be. `turn`
    (3, 3) maps the clip's level ground onto the slope. `found` tells whether there was a surface. `foothold` (3,) is
    the place on the surface under `point`, or `point` itself if there was no surface. `carried` (3,) is how far
    supports had carried the figure. All of these hold for the frame on which the foot comes to stand. From there a
    moving `support` takes them along by its `motion` (F, 4, 4).
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
        """The same anchor on a support. Its motion counts from the pose that the support has on `frame`."""
        motion = None if support.motion is None else support.motion @ inverse_of(support.motion[frame])
        return replace(self, support=support.name, motion=motion)

    @property
    def move(self) -> Array:
        """The move (3,) of the foot that the ground asks for, without how far the figure is carried."""
        return self.point - self.origin - self.carried

    def copied(self) -> Anchor:
        """The same anchor with copies of its places and its turn. The motion is the support's own."""
        names = ("origin", "point", "turn", "foothold", "carried")
        return replace(self, **{name: getattr(self, name).copy() for name in names})

    def cut(self, first: int, last: int) -> Anchor:
        """The same anchor in frames [first, last) of the clip, counted from `first`."""
        motion = None if self.motion is None else self.motion[first:last]
        start, end = max(self.stance.start, first), min(self.stance.end, last)
        return replace(self, stance=self.stance._replace(start=start, end=end).moved(-first), motion=motion)

    def carried_by(self, motion: Array) -> Anchor:
        """The same anchor moved by a rigid `motion` (F, 4, 4), such as a carrier's."""
        own = np.eye(4) if self.motion is None else self.motion
        return replace(self, motion=motion @ own)

    def delayed(self, count: int) -> Anchor:
        """The same anchor with `count` frames put before the first, on which the support rests."""
        motion = None if self.motion is None else self.motion[np.maximum(np.arange(-count, len(self.motion)), 0)]
        return replace(self, stance=self.stance.moved(count), motion=motion)

    def points(self, frames: int) -> Array:
        """The path (F, 3) of the standing point."""
        if self.motion is None:
            return np.broadcast_to(self.point, (frames, 3))
        return self.motion[:, :3, :3] @ self.point + self.motion[:, :3, 3]

    def foothold_on(self, frame: int) -> Array:
        """The place (3,) of the surface under the standing point on a frame."""
        return self.foothold if self.motion is None else move_points(self.motion[frame], self.foothold)

    def turns(self, frames: Indices | slice | int) -> Array:
        """The turns of the foot on some frames (N, 3, 3); (3, 3) for one frame, or if all turns are the same."""
        return self.turn if self.motion is None else nearest_rotations(self.motion[frames, :3, :3]) @ self.turn


def on_supports(anchors: Iterable[Anchor], ground: Ground, frames: Iterable[int]) -> list[Anchor]:
    """The anchors on the supports of their footholds, each looked up on its own frame."""
    pairs = zip(anchors, frames, strict=True)
    return [a.on(support_of(ground, a.foothold, frame), frame) if a.found else a for a, frame in pairs]


def ride_of(anchors: Iterable[Anchor], frames: int, rides: bool = True) -> Array:
    """How far (F, 3) supports have carried a figure that `rides` since the first of the anchors, in order of time, came
    to stand.

    While feet stand, the figure moves by the mean motion of their anchors. While no foot stands, it moves on with the
    support of the stance that began last; before the first stance, with that of the first.
    """
    standing = [anchor for anchor in anchors if anchor.part != "swing"]
    if not rides or all(anchor.motion is None for anchor in standing):
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
    """Notes about supports that turn by more than `TWIST` under standing feet: the body should turn with them."""
    most: dict[str, float] = {}
    for anchor in anchors:
        if anchor.motion is not None:
            turns = vector_from_matrix(nearest_rotations(anchor.motion[:, :3, :3]))
            angles = np.degrees(length_of(turns))[anchor.stance.start : anchor.stance.end]
            most[anchor.support] = max(most.get(anchor.support, 0.0), float(angles.max(initial=0.0)))
    return [Note("support_turns", {"support": name, "degrees": angle}) for name, angle in most.items() if angle > TWIST]


def tell_steep(anchors: Sequence[Anchor], ground: Ground, up: Array, frames: int, steepest: float) -> list[Note]:
    """A note about stances on ground steeper than `steepest` (radians), in a clip of `frames` frames."""
    if not anchors:
        return []
    first = np.clip([anchor.stance.start for anchor in anchors], 0, frames - 1)
    places = np.array([anchor.foothold_on(frame) for anchor, frame in zip(anchors, first, strict=True)])
    _, normals, found = ask(ground, places, up, first)
    steep = found & (normals @ up < np.cos(steepest)) & [anchor.found for anchor in anchors]
    return counted("steep_contacts", steep.sum(), of=len(anchors), degrees=float(np.degrees(steepest)))


def unridden(anchor: Anchor | None, rows: slice, path: Array) -> Array:
    """The path (N, 3) of a foot on the frames `rows` of a stance, without the motion of the anchor's support."""
    if anchor is None or anchor.motion is None:
        return path
    return move_points(inverse_of(anchor.motion[rows]), path)


def shortened(ways: Array, near: float) -> Array:
    """Vectors (..., 3) limited in length: short ones hardly change, and none is longer than `near`."""
    return ways * (near / np.sqrt(np.sum(ways**2, axis=-1, keepdims=True) + near**2))
