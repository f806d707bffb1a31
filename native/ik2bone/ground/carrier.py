# SPDX-License-Identifier: MIT
"""Figures that move along with a support, such as a ship or a ladder truck. They are planted in its space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from ..arrays import Array, Indices, Mask
from ..checks import ROUNDING
from ..clip import JOINTS, Clip
from ..contacts.stance import STEP
from ..curves import hann_average, odd_window, velocity
from ..notes import Note
from ..rotations import inverse_of, length_of, move_points, nearest_rotations, turn_vectors, unit
from .query import WITHIN, Ground, MovingGround, Support, ask, may_move, support_of

# A clip was made on a support if its feet are slower relative to the support than in the world, by this share of the
# sum of both speeds, on the mean. Of 360 runs of real clips made on platforms that go by 0.02 to 3 leg lengths a
# second, rise, turn or rock, this finds 210, and misses mostly the slowest; of as many made for a floor, it wrongly
# finds 4, all of clips in place.
CALMER = 0.05
# For some time a clip goes along with a support if its feet have a third of their speed in the world there: slower by
# this share of both, on the mean over two steps. Of 1,260 runs of recorded clips and of gaits on platforms, made there
# or for a floor, this tells one that goes along for some time alone.
ABOARD = 0.5


@dataclass(frozen=True)
class Carrier:
    """A support that carries the whole figure: its `name`, and its rigid `motion` (F, 4, 4) since the first frame."""

    name: str
    motion: Array

    @cached_property
    def inverse(self) -> Array:
        """The inverse (F, 4, 4) of `motion`: from the world on each frame to the world on the first."""
        return inverse_of(self.motion)


def _carrier_at(ground: Ground, point: Array, frame: int) -> Carrier | None:
    """The support of a point (3,) on the surface, or None if it does not move."""
    support = support_of(ground, point, frame)
    if support.motion is None:
        return None
    motion = support.motion @ inverse_of(support.motion[0])
    motion[:, :3, :3] = nearest_rotations(motion[:, :3, :3])
    return Carrier(support.name, motion)


def find_carrier(clip: Clip, ground: Ground, up: Array | None) -> Carrier | None:
    """The moving support under the feet relative to which they are slower than in the world, or None.

    It carries the figure from the first frame to the last, so three frames are enough to look for it. Without `up` (3,)
    supports near the feet are looked for instead.
    """
    shares = [(float(calmer.mean()), carrier) for carrier, calmer in _carriers_under(clip, ground, up)]
    share, calmest = max(shares, key=itemgetter(0), default=(0.0, None))
    return calmest if share > CALMER else None


def tell_partly(clip: Clip, ground: Ground, up: Array | None) -> list[Note]:
    """A note about a support with which the clip goes along for some time, and for some time does not."""
    for carrier, calmer in _carriers_under(clip, ground, up):
        shares = hann_average(calmer, odd_window(2 * STEP, clip.fps))
        if shares.max() > ABOARD and shares.min() < -ABOARD:
            return [Note("carried_partly", {"support": carrier.name})]
    return []


def _carriers_under(clip: Clip, ground: Ground, up: Array | None) -> list[tuple[Carrier, Array]]:
    """The supports that move under the feet on the first frame, the last and the one between, and how much slower the
    slowest foot is as seen from each (F,), see `slower`.
    """
    if clip.frames < 3 or not may_move(ground):
        return []
    frames = np.array([0, clip.frames // 2, clip.frames - 1])
    hits, _, met = ask(ground, clip.ball[frames], up, frames)
    under = [_carrier_at(ground, hits[row, leg], int(frames[row])) for row, leg in np.argwhere(met)]

    def least_speed(ball: Array) -> Array:
        return length_of(velocity(ball, clip.fps)).min(axis=1)

    return [
        (carrier, slower(least_speed(move_points(carrier.inverse[:, None], clip.ball)), least_speed(clip.ball)))
        for carrier in filter(None, under)
    ]


def slower(speeds: Array, others: Array) -> Array:
    """How much slower `speeds` are than `others` (...), as a share of their sum, from -1 to 1.

    The share is small in swings and jumps, which are fast relative to anything and do not show on what a clip was made.
    """
    return (others - speeds) / np.maximum(others + speeds, 1e-300)


def find_bearer(clip: Clip, ground: Ground) -> Carrier | None:
    """The one moving support of all limbs that are near a surface on the first frame, or None. It carries along a clip
    that was made for a support at rest.
    """
    if clip.frames < 3 or not may_move(ground):
        return None
    hits, _, met = ask(ground, clip.ball[0], None, np.zeros(clip.legs, np.intp))
    near = met & (length_of(hits - clip.ball[0]) < WITHIN * clip.leg)
    bearers = [_carrier_at(ground, hit, 0) for hit in hits[near]]
    first = bearers[0] if bearers else None
    # Parts of one support move alike.
    return first if all(first and other and _is_still(first.inverse @ other.motion) for other in bearers) else None


def ride_on(bearer: Carrier, clip: Clip) -> Array:
    """How far (F, 3) a bearer carries the middle of the figure from its place on the first frame."""
    middle = clip.hip[0].mean(axis=0)
    return move_points(bearer.motion, middle) - middle


def moved_by(motion: Array, clip: Clip) -> Clip:
    """The clip moved by a rigid motion (F, 4, 4). The inverse of a carrier gives the clip as if the carrier stayed
    where it is on the first frame, and its motion moves that clip back into the world.
    """
    up, each = (motion[:, :3, :3] @ clip.up).mean(axis=0), motion[:, None]
    moved: dict[str, Any] = {name: each @ getattr(clip, name) for name in JOINTS}
    moved |= {name: move_points(each, getattr(clip, name)) for name in ("ball", "tip")}
    return replace(clip, **moved, up=unit(up))


@dataclass(frozen=True)
class GroundSeen:
    """A ground in the space of a carrier, in which the carrier does not move."""

    ground: MovingGround
    carrier: Carrier

    def ask(self, points: Array, down: Array | None, frames: Indices) -> tuple[Array, Array, Mask]:
        """See `MovingGround`."""
        motion, back = self.carrier.motion[frames], self.carrier.inverse[frames]
        along = None if down is None else turn_vectors(motion, np.broadcast_to(down, points.shape))
        hits, normals, found = self.ground.ask(move_points(motion, points), along, frames)
        return move_points(back, hits), turn_vectors(back, normals), found

    def support(self, point: Array, frame: int) -> Support:
        """See `MovingGround`."""
        support = self.ground.support(move_points(self.carrier.motion[frame], point), frame)
        motion = self.carrier.inverse if support.motion is None else self.carrier.inverse @ support.motion
        return Support(support.name, None if _is_still(motion) else motion)

    def cut(self, frames: slice) -> GroundSeen:
        """See `MovingGround`."""
        return GroundSeen(self.ground.cut(frames), replace(self.carrier, motion=self.carrier.motion[frames]))


def _is_still(motion: Array) -> bool:
    """Whether a motion (F, 4, 4) is constant but for rounding."""
    return bool(np.ptp(motion, axis=0).max() < ROUNDING * max(float(np.abs(motion).max()), 1.0))
