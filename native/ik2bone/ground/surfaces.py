# SPDX-License-Identifier: MIT
"""Triangle meshes as ground: they find the level on which a foot would stand, and the nearest point for a hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices, Mask
from ..checks import ROUNDING
from ..mesh import Mesh, crossed
from ..rotations import cross, inverse_of, length_of, move_points, turn_vectors, unit
from .query import Support

# The cost of a level is its distance (leg lengths) and the following. A level with less than a leg of room over it
# costs this share of the missing room: open treads up to a third of a leg apart are climbed, a bench or a table is
# passed under.
NO_ROOM = 0.5
# A face that looks down costs this in addition, and a level inside a solid costs this share of the missing room. So the
# top of a slab counts even for points below it, and the top of a crate on the floor if it is up to two thirds of a leg
# high. In a room whose faces look outwards the floor counts, and not the top of the roof, if the roof is farther away.
HIDDEN = 2.0


@dataclass(frozen=True)
class Surface:
    """A mesh with a name and a place.

    `motion` maps the mesh's own space to the world: (4, 4) for a surface at rest, (F, 4, 4) for one that moves over F
    frames. Nearest points need a motion that scales evenly. `inside` (4, 4) maps own space to the space of the object
    called `name`, or is None if that object has no space.
    """

    mesh: Mesh
    name: str = ""
    motion: Array = field(default_factory=lambda: np.eye(4))
    inside: Array | None = None

    @property
    def moves(self) -> bool:
        """Whether the surface moves."""
        return self.motion.ndim == 3

    @cached_property
    def inverse(self) -> Array:
        """The map from the world to own space, shaped as `motion`."""
        return inverse_of(self.motion)

    @cached_property
    def box(self) -> Array:
        """A box in the world that holds the surface on all frames, and rounding: least and greatest corner (2, 3)."""
        corners = np.stack(np.meshgrid(*self.mesh.bounds.T, indexing="ij"), axis=-1).reshape(-1, 3)
        places = move_points(self.motion[..., None, :, :], corners).reshape(-1, 3)
        low, high = places.min(axis=0), places.max(axis=0)
        margin = ROUNDING * np.linalg.norm(high - low)
        return np.stack([low - margin, high + margin])

    def cut(self, frames: slice) -> Surface:
        """The same surface over some of the frames."""
        return replace(self, motion=self.motion[frames]) if self.moves else self

    def at(self, frames: Indices) -> tuple[Array, Array]:
        """`motion` and `inverse` on some frames (N,): (4, 4) or (N, 4, 4)."""
        return (self.motion[frames], self.inverse[frames]) if self.moves else (self.motion, self.inverse)

    def crossings(self, points: Array, ways: Array, frames: Indices) -> NDArray[np.void]:
        """The places where lines through `points` (N, 3) along unit vectors `ways`, (3,) or (N, 3), meet this surface
        on `frames` (N,): records of `crossed`.
        """
        return crossed(self.mesh, points, ways, self.at(frames)[1])

    def nearest(self, points: Array, frames: Indices) -> tuple[Array, Array]:
        """The points of the surface nearest to `points` (N, 3) on `frames` (N,), and the unit normals of its faces."""
        motion, inverse = self.at(frames)
        found = self.mesh.nearest(move_points(inverse, points))
        # Normals turn by the inverse transpose of the motion.
        return move_points(motion, found.point), unit(turn_vectors(np.swapaxes(inverse, -1, -2), found.normal))

    def encloses(self, points: Array, down: Array, frames: Indices) -> Mask:
        """Whether points (N, 3) lie inside a solid (N,): all four level rays leave it more often than they enter it."""
        inside = np.ones(len(points), bool)
        for across in _level_axes(down):
            met = self.crossings(points, across, frames)
            for ahead in (1.0, -1.0):
                side = met[ahead * met["distance"] > 0.0]
                leaves = np.where(side["against"], -ahead, ahead)
                inside &= np.bincount(side["row"], leaves, len(points)) > 0.0
        return inside


def _level_axes(down: Array) -> tuple[Array, Array]:
    """Two unit vectors (..., 3) each, perpendicular to each other and to unit vectors `down` (..., 3)."""
    first = unit(cross(down, np.eye(3)[np.argmin(np.abs(down), axis=-1)]))
    return first, cross(down, first)


@dataclass(frozen=True)
class Surfaces:
    """Surfaces as a `MovingGround`, in world space.

    `leg` is the length of a leg, which decides which levels feet can reach. `told` are sentences for the user about
    objects that could not be used as they are.
    """

    surfaces: tuple[Surface, ...]
    leg: float
    told: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the surfaces, each once."""
        return list(dict.fromkeys(surface.name for surface in self.surfaces))

    @property
    def moves(self) -> bool:
        """Whether any of the surfaces moves."""
        return any(surface.moves for surface in self.surfaces)

    @cached_property
    def _boxes(self) -> Array:
        """Least and greatest corners of the surfaces' boxes (2, S, 3)."""
        return np.array([surface.box for surface in self.surfaces]).reshape(-1, 2, 3).swapaxes(0, 1)

    def __call__(self, points: Array, down: Array | None) -> tuple[Array, Array, Mask]:
        """As `ask`, on the first frame."""
        return self.ask(points, down, np.zeros(len(points), np.intp))

    def ask(self, points: Array, down: Array | None, frames: Indices) -> tuple[Array, Array, Mask]:
        """Where the lines through `points` (N, 3) along the unit vectors `down` (3,) or (N, 3) meet the surfaces as
        they lie on `frames` (N,).

        Returns hits (N, 3), unit normals turned against down (N, 3) and found (N,). Of all levels, over and under the
        point, the hit is on the nearest that has room over it. Where nothing is found, the hit is the point itself and
        the normal looks straight up.

        Without `down` the hits are the nearest points in any direction, with the normals of the faces.
        """
        points = np.asarray(points, float)
        if down is None:
            hits, normals, which = self._find_nearest(points, frames)
            return hits, normals, which >= 0
        down = np.asarray(down, float)
        depth, found, normals = np.zeros(len(points)), np.zeros(len(points), bool), np.empty(points.shape)
        normals[...] = -down
        near = self._near(points, down)
        if near:
            met = [self.surfaces[number].crossings(points, down, frames) for number in near]
            levels: Any = met[0]
            if len(met) > 1:  # column by column, because numpy copies whole records slowly
                levels = {name: np.concatenate([each[name] for each in met]) for name in levels.dtype.names}
            best: Any = slice(None)
            if np.bincount(levels["row"], minlength=1).max() > 1:
                best = self._choose(levels, np.repeat(near, list(map(len, met))), points, down, frames)
            line = levels["row"][best]
            depth[line], normals[line], found[line] = levels["distance"][best], levels["normal"][best], True
        return points + depth[:, None] * down, normals, found

    def _find_nearest(self, points: Array, frames: Indices) -> tuple[Array, Array, Indices]:
        """Nearest points (N, 3), normals there (N, 3) and the number of the surface (N,), -1 without any."""
        hits, normals, best = points.copy(), np.zeros_like(points), np.full(len(points), np.inf)
        which = np.full(len(points), -1)
        gaps = _beside(self._boxes, points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf))
        for number in gaps.argsort(kind="stable"):
            if gaps[number] > best.max(initial=0.0):
                break
            rows = np.flatnonzero(_beside(self._boxes[:, number], points, points) <= best)
            found, normal = self.surfaces[number].nearest(points[rows], frames[rows])
            distance = length_of(found - points[rows])
            # Of equally near surfaces the first one counts.
            nearer = (distance < best[rows]) | ((distance == best[rows]) & (number < which[rows]))
            rows = rows[nearer]
            hits[rows], normals[rows], best[rows], which[rows] = found[nearer], normal[nearer], distance[nearer], number
        return hits, normals, which

    def _near(self, points: Array, down: Array) -> list[int]:
        """The indices of the surfaces whose boxes lines in one direction could meet; all, if directions differ."""
        if len(self.surfaces) < 2 or not len(points) or down.ndim > 1:
            return list(range(len(self.surfaces)))
        axes = np.stack(_level_axes(down), axis=-1)
        (low, high), aside = self._boxes, points @ axes
        middle, half = 0.5 * (low + high) @ axes, 0.5 * (high - low) @ np.abs(axes)
        meets = (middle + half >= aside.min(axis=0)) & (middle - half <= aside.max(axis=0))
        return np.flatnonzero(meets.all(axis=1)).tolist()

    def _choose(self, levels: Any, surface: Indices, points: Array, down: Array, frames: Indices) -> Indices:
        """The rows of the cheapest of the `levels` at which each line meets a surface, from columns of records of
        `crossed` and the numbers of their surfaces.
        """
        order = np.lexsort((levels["distance"], levels["row"]))
        line, depth, looks_up = (levels[name][order] for name in ("row", "distance", "against"))
        surface = surface[order]
        over = _over(line, looks_up)
        room = np.where(over < 0, np.inf, depth - depth[over])
        missing = np.minimum(np.maximum(1.0 - room / self.leg, 0.0), 1.0)
        cost = np.abs(depth) / self.leg + np.where(looks_up, NO_ROOM * missing, HIDDEN)
        doubtful = np.flatnonzero((missing > 0.0) & looks_up)
        doubtful = doubtful[surface[over[doubtful]].argsort(kind="stable")]
        starts = 1 + np.flatnonzero(np.diff(surface[over[doubtful]]))
        for rows in filter(len, np.split(doubtful, starts)):
            number, at = surface[over[rows[0]]], line[rows]
            ways = np.broadcast_to(down, points.shape)[at]
            middle = points[at] + 0.5 * (depth[rows] + depth[over[rows]])[:, None] * ways
            buried = self.surfaces[number].encloses(middle, ways, frames[at])
            cost[rows] += (HIDDEN - NO_ROOM) * missing[rows] * buried
        ranked = np.lexsort((cost, line))
        return order[ranked[np.diff(line[ranked], prepend=-1) > 0]]

    def support(self, point: Array, frame: int) -> Support:
        """The support nearest to a point (3,) on a frame; its name is "" if there is no surface at all."""
        number = 0
        if len(self.surfaces) != 1:
            number = int(self._find_nearest(np.asarray(point, float)[None], np.array([frame]))[2][0])
        if number < 0:
            return Support()
        nearest = self.surfaces[number]
        return Support(nearest.name, nearest.motion if nearest.moves else None)

    def local(self, name: str, point: Sequence[float], frame: int) -> list[float] | None:
        """A world point (3,) of a frame, in the space of the object of that name; None if there is no such space."""
        surface = next((surface for surface in self.surfaces if surface.name == name), None)
        if surface is None or surface.inside is None:
            return None
        inverse = surface.inverse[frame] if surface.moves else surface.inverse
        return (surface.inside @ inverse @ [*point, 1.0])[:3].tolist()

    def cut(self, frames: slice) -> Surfaces:
        """The same ground over some of the frames."""
        return replace(self, surfaces=tuple(surface.cut(frames) for surface in self.surfaces))


def _beside(boxes: Array, least: Array, most: Array) -> Array:
    """The distances of boxes, given by their corners (2, ..., 3), from the boxes with corners `least` and `most`."""
    low, high = boxes
    return length_of(np.maximum(np.maximum(low - most, least - high), 0.0))


def _over(line: Indices, looks_up: Mask) -> Indices:
    """The index (N,) of the next level over each that looks up, or -1. Levels are sorted by line, from the top."""
    # Undersides do not limit the room: their solids have tops, and `Surface.encloses` tells what is solid under a top.
    up = np.where(looks_up, np.arange(len(line)), -1)
    over = np.concatenate([[-1], np.maximum.accumulate(up)[:-1]])
    return np.where(line[over] == line, over, -1)
