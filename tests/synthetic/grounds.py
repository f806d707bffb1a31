# SPDX-License-Identifier: MIT
"""Grounds made by formula, of named parts that may move. Each part is a plain ground in its own space."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from ik2bone.ground.query import Support


@dataclass(frozen=True)
class Part:
    """A plain ground in its own space, with its motion (F, 4, 4) to the world if it moves."""

    name: str
    ground: object
    motion: np.ndarray | None = None

    def ask(self, points, down, frames):
        if self.motion is None:
            return self.ground(points, down)
        there, back = self.motion[frames], np.linalg.inv(self.motion[frames])
        own = turned(back, points) + back[:, :3, 3]
        along = None if down is None else turned(back, np.broadcast_to(down, points.shape))
        hits, normals, found = self.ground(own, along)
        return turned(there, hits) + there[:, :3, 3], turned(there, normals), found


@dataclass(frozen=True)
class Parts:
    """The nearest of several parts along the line `down` through each point, or in any direction if `down` is None."""

    parts: tuple[Part, ...]
    down: np.ndarray | None = field(default_factory=lambda: np.array([0.0, 0.0, -1.0]))

    def __call__(self, points, down):
        return self.ask(points, down, np.zeros(len(points), int))

    def ask(self, points, down, frames):
        answers = [part.ask(points, down, frames) for part in self.parts]
        away = [np.where(f, np.linalg.norm(h - points, axis=1), np.inf) for h, _, f in answers]
        best, rows = np.argmin(away, axis=0), np.arange(len(points))
        return tuple(np.stack([answer[i] for answer in answers])[best, rows] for i in range(3))

    def support(self, point, frame):
        answers = [part.ask(point[None], self.down, np.array([frame])) for part in self.parts]
        away = [np.linalg.norm(h - point) if f[0] else np.inf for h, _, f in answers]
        part = self.parts[int(np.argmin(away))]
        return Support(part.name, part.motion)

    def cut(self, frames):
        parts = (p if p.motion is None else replace(p, motion=p.motion[frames]) for p in self.parts)
        return replace(self, parts=tuple(parts))


def turned(matrices, vectors):
    """Vectors (N, 3) turned by matrices (N, 4, 4)."""
    return np.einsum("nij,nj->ni", matrices[:, :3, :3], vectors)


def plate(height=0.0, along=(-np.inf, np.inf), rise=0.0):
    """A plane over a range of x, level or rising along x, that is met along any direction `down`."""
    normal = np.array([-rise, 0.0, 1.0]) / np.hypot(rise, 1.0)

    def ground(points, down):
        depth = ((height - points[:, 2] + rise * points[:, 0]) * normal[2]) / (down @ normal)
        hits = points + depth[:, None] * down
        found = (hits[:, 0] >= along[0]) & (hits[:, 0] <= along[1])
        return np.where(found[:, None], hits, points), np.tile(normal, (len(points), 1)), found

    return ground


def moving(time, *, speed=(0.0, 0.0, 0.0), turning=0.0, rocking=0.0, period=3.0):
    """A motion (F, 4, 4) over times (F,): constant speed, a turn about z in radians a second, and rocking about x."""
    matrices = np.tile(np.eye(4), (len(time), 1, 1))
    yaw, roll = turning * time, rocking * np.sin(2 * np.pi * time / period)
    c, s, cr, sr = np.cos(yaw), np.sin(yaw), np.cos(roll), np.sin(roll)
    zero, one = np.zeros_like(time), np.ones_like(time)
    about_z = np.stack([c, -s, zero, s, c, zero, zero, zero, one], axis=-1).reshape(-1, 3, 3)
    about_x = np.stack([one, zero, zero, zero, cr, -sr, zero, sr, cr], axis=-1).reshape(-1, 3, 3)
    matrices[:, :3, :3] = about_z @ about_x
    matrices[:, :3, 3] = np.outer(time, speed)
    return matrices
