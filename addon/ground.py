# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces as planting asks them: the level that a foot would stand on, found by rays on one tree a mesh."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np
from ik2bone.ground.query import Support
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

# A line through stacked sheets is followed through at most so many of them on each side of its point.
MAX_LAYERS = 16
# BVHTree works in single precision; rays start this share of the surface's size before their point, so that a point
# that lies on the surface finds it.
RAY_LEAD = 1e-6
# A ray without end in Blender's single precision, which takes infinity for a face at its end.
FAR = 1e30
# What a level costs besides its distance, in leg lengths. A level with less than a leg of room over it costs this share
# of what is missing: open treads up to a third of a leg apart are climbed, a bench or a table is passed under.
NO_ROOM = 0.5
# Inside of a solid it costs more: of a crate on the floor the top counts up to 0.6 leg, the floor inside one higher.
BURIED = 1.5
# A face that looks down costs this. Of a slab the top counts, even from below; a room whose faces look outwards has
# its floor, and not its roof's top, where the roof is farther away.
LOOKS_DOWN = 2.0
# Past the first face that looks up others are looked for within this (leg lengths): the most that it can cost more.
BEYOND = 1.0 + BURIED
DOWN = (0.0, 0.0, -1.0)
# With fewer surfaces all of them are asked.
FEW = 8
# Undersides nearer than this (leg lengths) to the level below stand on it and take no room.
STANDS_ON = 0.005


class Crossings(NamedTuple):
    """Where lines meet surfaces, one row a crossing: the line, the surface, the depth along down, the unit normal
    turned against down, and whether the face looks up.
    """

    line: Indices
    surface: Indices
    depth: Array
    normal: Array
    looks_up: Mask


@dataclass(frozen=True)
class Surface:
    """One mesh as evaluated now: `tree` and least and greatest corner `box` (2, 3) in its own space.

    `motion` maps that space to the world: (4, 4) of a surface at rest, (F, 4, 4) over the frames of one that moves.
    `inside` maps it to the space of the object that is named (4, 4), where that has one.
    """

    name: str
    tree: BVHTree
    box: Array
    motion: Array
    inside: Array | None

    @property
    def moves(self) -> bool:
        """Whether it moves at all."""
        return self.motion.ndim == 3

    @cached_property
    def inverse(self) -> Array:
        """World to own space, as `motion`."""
        return np.linalg.inv(self.motion)

    @cached_property
    def corners(self) -> Array:
        """Corners (8, 3) of the box in the world, on the first frame."""
        places = np.stack(np.meshgrid(*self.box.T, indexing="ij"), axis=-1).reshape(-1, 3)
        return map_points(self.motion[0] if self.moves else self.motion, places)

    @cached_property
    def lead(self) -> float:
        """Length by which rays start early, in world units."""
        return RAY_LEAD * float(np.ptp(self.corners, axis=0).max())

    def cut(self, frames: slice) -> Surface:
        """The same surface over some of the frames."""
        return replace(self, motion=self.motion[frames]) if self.moves else self

    def at(self, frames: Indices) -> tuple[Array, Array]:
        """`motion` and `inverse` on some frames (N,): (4, 4) or (N, 4, 4)."""
        return (self.motion[frames], self.inverse[frames]) if self.moves else (self.motion, self.inverse)

    def crossings(self, number: int, points: Array, down: Array, frames: Indices, leg: float) -> Crossings:
        """The faces that lines through `points` (N, 3) along `down` (N, 3) meet near them, as those of a numbered
        surface."""
        motion, inverse = self.at(frames)
        starts, ways = map_points(inverse, points - self.lead * down), turn_vectors(inverse, down)
        rays = _Rays(self.tree, self.lead, BEYOND * leg)
        lines = np.flatnonzero(self._are_met(starts, ways))
        rows = zip(starts[lines].tolist(), ways[lines].tolist(), strict=True)
        found = [rays.cast(Vector(start), Vector(way)) for start, way in rows]
        line = np.repeat(lines, [len(hits) for hits in found])
        hits = [hit for hits in found for hit in hits]
        if not hits:
            return Crossings(line, line, np.zeros(0), np.zeros((0, 3)), np.zeros(0, bool))
        motion, inverse = (matrix[line] if self.moves else matrix for matrix in (motion, inverse))
        location, normal = (np.array(column) for column in zip(*hits, strict=True))
        depth = np.sum((map_points(motion, location) - points[line]) * down[line], axis=1)
        # Normals transform by the inverse transpose.
        normal = turn_vectors(np.swapaxes(inverse, -1, -2), normal)
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        against = np.sum(normal * down[line], axis=1)
        looks_up = against <= 0.0
        return Crossings(
            line, np.full(len(line), number), depth, np.where(looks_up[:, None], normal, -normal), looks_up
        )

    def least_distance(self, points: Array) -> Array:
        """What points (N, 3) are away from the surface at the least (N,), as its box tells."""
        if self.moves:
            return np.zeros(len(points))
        low, high = self.corners.min(axis=0) - self.lead, self.corners.max(axis=0) + self.lead
        return np.linalg.norm(np.maximum(np.maximum(low - points, points - high), 0.0), axis=1)

    def nearest(self, points: Array, frames: Indices) -> tuple[Array, Array]:
        """The points of the surface nearest to `points` (N, 3) on `frames` (N,), and the unit normals of its faces."""
        motion, inverse = self.at(frames)
        found = [self.tree.find_nearest(Vector(point))[:2] for point in map_points(inverse, points).tolist()]
        location, normal = (np.array(column) for column in zip(*found, strict=True))
        normal = turn_vectors(np.swapaxes(inverse, -1, -2), normal)
        return map_points(motion, location), normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)

    def _are_met(self, starts: Array, ways: Array) -> Mask:
        """Whether lines in own space pass through the box (N,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            times = (self.box[:, None] + self._margin - starts) / ways
        beside = (ways == 0.0) & ((starts < self.box[0] + self._margin[0]) | (starts > self.box[1] + self._margin[1]))
        times = np.where(ways == 0.0, [[[-inf]], [[inf]]], times)
        return (times.min(axis=0).max(axis=1) <= times.max(axis=0).min(axis=1)) & ~beside.any(axis=1)

    @cached_property
    def _margin(self) -> Array:
        """What the box (2, 1, 3) is larger by, so that rounding loses no line along its faces."""
        return np.array([-1.0, 1.0])[:, None, None] * 1e-5 * np.ptp(self.box, axis=0).max()

    def encloses(self, point: Array, down: Array, frame: int) -> bool:
        """Whether a point lies inside of a solid: level lines from it leave through faces seen from behind."""
        inverse = self.at(np.array([frame]))[1].reshape(4, 4)
        start, across = Vector(map_points(inverse, point)), np.linalg.svd(down[None])[2][1:]
        ways = turn_vectors(inverse, np.concatenate([across, -across]))
        return all(self._leaves(start, Vector(way)) for way in ways)

    def _leaves(self, origin: Vector, way: Vector) -> bool:
        """Whether a ray leaves the surface's solids more often than it enters them."""
        out = 0
        for _ in range(MAX_LAYERS):
            location, normal, _face, _length = self.tree.ray_cast(origin, way)
            if location is None:
                break
            out += 1 if normal.dot(way) > 0.0 else -1
            origin = location + self.lead * way
        return out > 0

    def distance(self, point: Array, frame: int) -> float:
        """How far a point is from the surface on a frame."""
        motion, inverse = (matrix.reshape(4, 4) for matrix in self.at(np.array([frame])))
        location = self.tree.find_nearest(Vector(map_points(inverse, point)))[0]
        return float(np.linalg.norm(map_points(motion, np.array(location)) - point))


class _Rays(NamedTuple):
    """Rays in a surface's own space, whose direction's length stands for one world unit."""

    tree: BVHTree
    lead: float
    beyond: float

    def cast(self, start: Vector, down: Vector) -> list[tuple[Vector, Vector]]:
        """Location and normal of each face below the start, and of each above it, that could be a level to stand on."""
        below, depth = self._walk(start, down, down, FAR)
        return below + self._walk(start, -down, down, depth + self.beyond)[0]

    def _walk(
        self, origin: Vector, way: Vector, down: Vector, reach: float
    ) -> tuple[list[tuple[Vector, Vector]], float]:
        """The faces along a way within a reach (world units), and how far the first is that looks up."""
        found: list[tuple[Vector, Vector]] = []
        unit, step, gone, first = down.length, self.lead * way, 0.0, FAR
        while gone < reach and len(found) < MAX_LAYERS:
            location, normal, _face, length = self.tree.ray_cast(origin, way, (reach - gone) * unit)
            if location is None:
                break
            found.append((location, normal))
            gone += length / unit + self.lead
            if first == FAR and normal.dot(down) <= 0.0:
                first, reach = gone, min(reach, gone + self.beyond)
            origin = location + step
        return found, first


@dataclass(frozen=True)
class Ground:
    """The surfaces as planting asks them, in world space; lengths are weighed against the leg's.

    `told` are sentences for the user about what could not be taken as it is.
    """

    surfaces: tuple[Surface, ...]
    leg: float
    told: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the surfaces, each once."""
        return list(dict.fromkeys(surface.name for surface in self.surfaces))

    def __call__(self, points: Array, down: Array | None) -> tuple[Array, Array, Mask]:
        """As `ask`, on the first frame."""
        return self.ask(points, down, np.zeros(len(points), np.intp))

    def ask(self, points: Array, down: Array | None, frames: Indices) -> tuple[Array, Array, Mask]:
        """Where the lines through `points` (N, 3) along the unit vectors `down` (3,) or (N, 3) meet the surfaces as
        they lie on `frames` (N,).

        Returns hits (N, 3), unit normals turned against down (N, 3) and found (N,). Of all levels, over and under the
        point, the nearest counts that has room over it. Where nothing is found the hit is the point itself and the
        normal looks straight up.

        Without `down` the hits are the nearest points in any direction, with normals as the faces have them.
        """
        points = np.asarray(points, float)
        if down is None:
            return self._ask_nearest(points, frames)
        down = np.broadcast_to(np.asarray(down, float), points.shape)
        near = np.flatnonzero(self._near(points, down)).tolist()
        parts = [self.surfaces[i].crossings(i, points, down, frames, self.leg) for i in near]
        hits, normals, found = points.copy(), -down, np.zeros(len(points), bool)
        if parts:
            crossings = Crossings(*(np.concatenate(column) for column in zip(*parts, strict=True)))
            best = self._choose(crossings, points, down, frames)
            line = crossings.line[best]
            hits[line] += crossings.depth[best, None] * down[line]
            normals[line], found[line] = crossings.normal[best], True
        return hits, normals, found

    def _ask_nearest(self, points: Array, frames: Indices) -> tuple[Array, Array, Mask]:
        hits, normals, best = points.copy(), np.zeros_like(points), np.full(len(points), inf)
        for surface in self.surfaces:
            rows = np.flatnonzero(surface.least_distance(points) < best)
            if not len(rows):
                continue
            found, normal = surface.nearest(points[rows], frames[rows])
            distance = np.linalg.norm(found - points[rows], axis=1)
            nearer = distance < best[rows]
            rows = rows[nearer]
            hits[rows], normals[rows], best[rows] = found[nearer], normal[nearer], distance[nearer]
        return hits, normals, np.isfinite(best)

    def _near(self, points: Array, down: Array) -> Mask:
        """Which surfaces any of the lines could meet (S,): those that move, and those beside no common direction."""
        near = np.ones(len(self.surfaces), bool)
        if len(near) < FEW or not len(points) or np.ptp(down, axis=0).any():
            return near
        across = np.linalg.svd(down[:1])[2][1:].T
        margin = np.array([[surface.lead] for surface in self.surfaces]) * (1e-5 / RAY_LEAD)
        corners, points = self._corners @ across, points @ across
        near = (corners.max(axis=1) + margin >= points.min(axis=0)) & (
            corners.min(axis=1) - margin <= points.max(axis=0)
        )
        return near.all(axis=1) | np.array([surface.moves for surface in self.surfaces])

    @cached_property
    def _corners(self) -> Array:
        """World corners (S, 8, 3) of the surfaces' boxes."""
        return np.array([surface.corners for surface in self.surfaces])

    def _choose(self, crossings: Crossings, points: Array, down: Array, frames: Indices) -> Indices:
        """The row of the cheapest crossing of each line that has any."""
        order = np.lexsort((crossings.depth, crossings.line))
        line, depth, looks_up = (column[order] for column in (crossings.line, crossings.depth, crossings.looks_up))
        room, over = self._room(line, depth, looks_up)
        missing = np.clip(1.0 - room / self.leg, 0.0, 1.0)
        cost = np.abs(depth) / self.leg + np.where(looks_up, NO_ROOM * missing, LOOKS_DOWN)
        # Under a face seen from behind there may be a solid.
        for row in np.flatnonzero((missing > 0.0) & looks_up & (over >= 0) & looks_up[over]):
            at = line[row]
            middle = points[at] + 0.5 * (depth[row] + depth[over[row]]) * down[at]
            if self.surfaces[crossings.surface[order[over[row]]]].encloses(middle, down[at], int(frames[at])):
                cost[row] += (BURIED - NO_ROOM) * missing[row]
        ranked = np.lexsort((cost, line))
        return order[ranked[np.diff(line[ranked], prepend=-1) > 0]]

    def _room(self, line: Indices, depth: Array, looks_up: Mask) -> tuple[Array, Indices]:
        """Room over each of the crossings, which are sorted from the top of each line, and the crossing over it or -1.

        What stands on a level takes no room.
        """
        room, over = np.full(len(line), inf), np.full(len(line), -1)
        for back in (2, 1):
            if len(line) <= back:
                continue
            gap = depth[back:] - depth[:-back]
            counts = (line[back:] == line[:-back]) & (looks_up[:-back] | (gap > STANDS_ON * self.leg))
            room[back:] = np.where(counts, gap, room[back:])
            over[back:] = np.where(counts, np.arange(len(gap)), over[back:])
        return room, over

    def support(self, point: Array, frame: int) -> Support:
        """The surface nearest to a point on a frame, "" where there is no surface at all."""
        if not self.surfaces:
            return Support()
        nearest = min(self.surfaces, key=lambda surface: surface.distance(point, frame))
        return Support(nearest.name, nearest.motion if nearest.moves else None)

    def local(self, name: str, point: Array, frame: int) -> list[float] | None:
        """A point (3,) of a frame in the space of the object of that name; None where it has none."""
        surface = next((surface for surface in self.surfaces if surface.name == name), None)
        if surface is None or surface.inside is None:
            return None
        inverse = surface.at(np.array([frame]))[1].reshape(4, 4)
        return map_points(surface.inside @ inverse, point).tolist()

    def cut(self, frames: slice) -> Ground:
        """The same ground over some of the frames."""
        return replace(self, surfaces=tuple(surface.cut(frames) for surface in self.surfaces))


@dataclass(frozen=True)
class Floor:
    """A level floor without end, for scenes without ground: asked like `Ground`."""

    height: float
    told: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """No surface has a name."""
        return []

    def __call__(self, points: Array, down: Array | None) -> tuple[Array, Array, Mask]:
        """The points moved along the unit vector `down` onto the floor, as `Ground` does."""
        points, down = np.asarray(points, float), np.asarray(DOWN if down is None else down, float)
        depth = -self.height - points @ down
        return points + depth[:, None] * down, np.tile(-down, (len(points), 1)), np.ones(len(points), bool)


def map_points(matrix: Array, points: Array) -> Array:
    """Points (N, 3) or (3,) mapped by (4, 4) or (N, 4, 4)."""
    return turn_vectors(matrix, points) + matrix[..., :3, 3]


def turn_vectors(matrix: Array, vectors: Array) -> Array:
    """Vectors (N, 3) or (3,) turned by the linear part of (4, 4) or (N, 4, 4)."""
    return (matrix[..., :3, :3] @ vectors[..., None])[..., 0]
