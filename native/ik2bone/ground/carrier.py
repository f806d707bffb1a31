# SPDX-License-Identifier: MIT
"""Clips made on a support that moves, as by a character parented to a ship: planted as seen from there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..anchors.anchor import rigid
from ..curves import velocity
from ..model import Array, Clip, Ground, Mask
from .query import Frames, MovingGround, Support, ask, support_of

# Frames on which it is looked what lies under the feet.
LOOKS = 16
# Speeds (leg lengths a second) well over this are all alike: swings and jumps do not tell what a clip was made on.
RESTLESS = 0.5
# What a motion in single precision leaves of none.
STILL = 1e-6
# A clip was made on a support if its feet are calmer there than in the world by this factor.
CALMER = 0.95


@dataclass(frozen=True)
class Carrier:
    """A support that carries the whole figure: its `name`, and its rigid `motion` (F, 4, 4) since the first frame."""

    name: str
    motion: Array

    @property
    def inverse(self) -> Array:
        """World as of each frame to world as of the first."""
        return np.linalg.inv(self.motion)


def find_carrier(clip: Clip, ground: Ground, up: Array | None) -> Carrier | None:
    """The support that moves under the feet and on which they are calmer than in the world, if there is one.

    Without `up` (3,) it is one that moves near them.
    """
    if clip.frames < 3 or not isinstance(ground, MovingGround):
        return None
    best, found = CALMER * _restlessness(clip, clip.ball), None
    for support in _moving_supports(clip, ground, up):
        assert support.motion is not None
        carrier = Carrier(support.name, rigid(support.motion @ np.linalg.inv(support.motion[0])))
        restless = _restlessness(clip, map_points(carrier.inverse, clip.ball))
        if restless < best:
            best, found = restless, carrier
    return found


def _moving_supports(clip: Clip, ground: Ground, up: Array | None) -> list[Support]:
    """What moves under or near the feet, each support once."""
    hits, _, met = ask(ground, clip.ball, up)
    frames = np.unique(np.linspace(0, clip.frames - 1, LOOKS).round().astype(int))
    places = [(hits[frame, leg], int(frame)) for frame in frames for leg in range(clip.legs) if met[frame, leg]]
    supports = [support_of(ground, *place) for place in places]
    return list({id(support.motion): support for support in supports if support.motion is not None}.values())


def _restlessness(clip: Clip, ball: Array) -> float:
    """From 0 to 1: how much the calmest foot moves, on the mean over all frames."""
    speed = np.linalg.norm(velocity(ball, clip.fps), axis=-1).min(axis=1) / clip.leg
    return float(np.mean(speed / (speed + RESTLESS)))


def seen_from(carrier: Carrier, clip: Clip) -> Clip:
    """The clip as it would be if its carrier stayed where it is on the first frame."""
    return _moved(clip, carrier.inverse)


def seen_back(carrier: Carrier, clip: Clip) -> Clip:
    """A clip that is seen from a carrier, in the world."""
    return _moved(clip, carrier.motion)


def _moved(clip: Clip, motion: Array) -> Clip:
    """The clip moved by a rigid motion (F, 4, 4)."""
    up = (motion[:, :3, :3] @ clip.up).mean(axis=0)
    thigh, shin, foot, toe = (motion[:, None] @ matrix for matrix in (clip.thigh, clip.shin, clip.foot, clip.toe))
    ball, tip = map_points(motion, clip.ball), map_points(motion, clip.tip)
    up = up / np.linalg.norm(up)
    return replace(clip, thigh=thigh, shin=shin, foot=foot, toe=toe, ball=ball, tip=tip, up=up)


def as_made(clip: Clip, ground: Ground, up: Array | None) -> Clip:
    """The clip as seen from where it was made: from what carries it, if anything does; see `find_carrier`."""
    carrier = find_carrier(clip, ground, up)
    return clip if carrier is None else seen_from(carrier, clip)


@dataclass(frozen=True)
class GroundSeen:
    """A ground as seen from a carrier, which does not move there."""

    ground: MovingGround
    carrier: Carrier

    def __call__(self, points: Array, down: Array | None) -> tuple[Array, Array, Mask]:
        """As `ask`, on the first frame."""
        return self.ask(points, down, np.zeros(len(points), np.intp))

    def ask(self, points: Array, down: Array | None, frames: Frames) -> tuple[Array, Array, Mask]:
        """See `MovingGround`."""
        motion, back = self.carrier.motion[frames], self.carrier.inverse[frames]
        along = None if down is None else turn_vectors(motion, np.broadcast_to(down, points.shape))
        hits, normals, found = self.ground.ask(move_points(motion, points), along, frames)
        return move_points(back, hits), turn_vectors(back, normals), found

    def support(self, point: Array, frame: int) -> Support:
        """See `MovingGround`."""
        support = self.ground.support(move_points(self.carrier.motion[frame], point), frame)
        motion = self.carrier.inverse if support.motion is None else self.carrier.inverse @ support.motion
        still = np.ptp(motion, axis=0).max() < STILL * max(float(np.abs(motion).max()), 1.0)
        return Support(support.name, None if still else motion)

    def cut(self, frames: slice) -> GroundSeen:
        """See `MovingGround`."""
        return GroundSeen(self.ground.cut(frames), replace(self.carrier, motion=self.carrier.motion[frames]))


def map_points(motion: Array, points: Array) -> Array:
    """Points (F, L, 3) moved by a motion (F, 4, 4)."""
    return move_points(motion[:, None], points)


def turn_vectors(motion: Array, vectors: Array) -> Array:
    """Vectors (..., 3) turned by a motion (4, 4) or (..., 4, 4)."""
    if motion.ndim == 2:
        return vectors @ motion[:3, :3].T
    return (motion[..., :3, :3] @ vectors[..., None])[..., 0]


def move_points(motion: Array, points: Array) -> Array:
    """Points (..., 3) moved by a motion (4, 4) or (..., 4, 4)."""
    return turn_vectors(motion, points) + motion[..., :3, 3]
