# SPDX-License-Identifier: MIT
"""Queries of the ground. A ground is any callable, or a `MovingGround`, which knows frames because parts of it move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Protocol, runtime_checkable

import numpy as np

from ..arrays import Array, Indices, Mask

# A limb farther than this from every surface (limb lengths) touches nothing: 12 cm for a person's arm.
WITHIN = 0.2


@dataclass(frozen=True)
class Support:
    """What a foot stands on: its `name`, and, if it moves, its `motion` (F, 4, 4) from own space to the world."""

    name: str = ""
    motion: Array | None = None


@runtime_checkable
class MovingGround(Protocol):
    """A ground that lies differently from frame to frame, or that knows its parts."""

    def ask(self, points: Array, down: Array | None, frames: Indices) -> tuple[Array, Array, Mask]:
        """Hits, normals and found of points (N, 3), each on its frame (N,) and along `down`, (3,) or (N, 3)."""

    def support(self, point: Array, frame: int) -> Support:
        """The support to which a point (3,) on the surface belongs on `frame`."""

    def cut(self, frames: slice) -> MovingGround:
        """The same ground over some of the frames."""


# A callable answers as `ik2bone.plant` describes it, with unit normals turned against `down`. Without `down` they are
# the surface's own.
Ground = Callable[[Array, Array | None], tuple[Array, Array, Mask]] | MovingGround


class NoGround(ValueError):
    """There is no surface under the feet, or within reach of the hands."""


def ask(ground: Ground, points: Array, up: Array | None, frames: Indices | None = None) -> tuple[Array, Array, Mask]:
    """Hits and normals (N, ..., 3) and found (N, ...) for points (N, ..., 3). Row n is queried on frame `frames[n]`.

    `frames` (N,) are 0 to N - 1 by default. Hits lie over or under their points along `up` (3,). Without `up` they are
    the nearest points of the surface.
    """
    rows = (np.arange(len(points)) if frames is None else frames).repeat(prod(points.shape[1:-1]))
    flat, down = points.reshape(-1, 3), None if up is None else -up
    # `isinstance` of a protocol takes longer than the query of a batch of points.
    answer = ground.ask(flat, down, rows) if hasattr(ground, "ask") else ground(flat, down)
    return answer[0].reshape(points.shape), answer[1].reshape(points.shape), answer[2].reshape(points.shape[:-1])


def support_of(ground: Ground, point: Array, frame: int) -> Support:
    """The support to which a point (3,) on the surface belongs. That of a plain callable has no name and no motion."""
    return ground.support(point, frame) if hasattr(ground, "support") else Support()


def may_move(ground: Ground) -> bool:
    """Whether parts of a ground may move; a plain callable has no parts."""
    return bool(getattr(ground, "moves", hasattr(ground, "support")))


def cut_ground(ground: Ground, frames: slice) -> Ground:
    """The ground over some of the frames of its clip."""
    return ground.cut(frames) if isinstance(ground, MovingGround) else ground
