# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of simple solids as plain arrays: capsules and hulls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIDES, CAP_RINGS = 16, 4


class Solid(NamedTuple):
    """Points (N, 3) and faces as lists of point numbers."""

    points: Array
    faces: list[list[int]]


def capsule(start: Array, end: Array, start_radius: float, end_radius: float) -> Solid:
    """A rod with round ends, one perhaps thicker; a ball where start and end are one."""
    length = np.linalg.norm(end - start)
    along = (end - start) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    across = np.linalg.svd(along[None])[2][1:]
    around = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    circle = np.cos(around)[:, None] * across[0] + np.sin(around)[:, None] * np.cross(along, across[0])
    rise = np.linspace(0, np.pi / 2, CAP_RINGS + 1)
    caps = [(start, start_radius, angle) for angle in rise - np.pi / 2] + [(end, end_radius, angle) for angle in rise]
    rings = [place + radius * (np.sin(angle) * along + np.cos(angle) * circle) for place, radius, angle in caps]
    return Solid(np.concatenate(rings), _tube(len(rings)))


def _tube(rings: int) -> list[list[int]]:
    """Quads between rings; the end rings have shrunk to a point, which closes the tube."""
    ring, side = np.divmod(np.arange((rings - 1) * SIDES), SIDES)
    after = (side + 1) % SIDES
    quads = [ring * SIDES + side, ring * SIDES + after, (ring + 1) * SIDES + after, (ring + 1) * SIDES + side]
    return np.stack(quads, axis=1).tolist()


def torus(centre: Array, across: Array, up: Array, radius: float, thickness: float) -> Solid:
    """A ring in the plane of two unit vectors."""
    sides = 3 * SIDES
    around = np.linspace(0, 2 * np.pi, sides, endpoint=False)[:, None, None]
    section = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)[:, None]
    way = np.cos(around) * across + np.sin(around) * up
    points = centre + (radius + thickness * np.cos(section)) * way + thickness * np.sin(section) * np.cross(across, up)
    closed = _tube(sides + 1)
    return Solid(points.reshape(-1, 3), [[point % (sides * SIDES) for point in face] for face in closed])


def hull(points: Array) -> Solid:
    """The convex hull."""
    import bmesh

    work = bmesh.new()
    for point in points:
        work.verts.new(point)
    bmesh.ops.convex_hull(work, input=work.verts, use_existing_faces=False)
    bmesh.ops.delete(work, geom=[vert for vert in work.verts if not vert.link_faces], context="VERTS")
    work.verts.index_update()
    solid = Solid(np.array([vert.co for vert in work.verts]), [[v.index for v in face.verts] for face in work.faces])
    work.free()
    return solid


def sphere_points(centre: Array, radius: float) -> Array:
    """Points on a ball, to build hulls from."""
    points = capsule(centre, centre, radius, radius).points
    return np.unique(points.round(12), axis=0)
