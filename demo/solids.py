# SPDX-License-Identifier: GPL-3.0-or-later
"""Simple solids as plain arrays: capsules, rings, prisms, boxes and hulls; and mesh objects made of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIDES, CAP_RINGS = 16, 4


class Solid(NamedTuple):
    """The points (N, 3) of a solid, and its faces as lists of point numbers."""

    points: Array
    faces: list[list[int]]


def capsule(start: Array, end: Array, start_radius: float, end_radius: float) -> Solid:
    """A rod with round ends of two radii, or a ball if start and end are equal."""
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
    """The quads between neighbouring rings. The first and last ring of a capsule are points, which closes the tube."""
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
    """The convex hull of points (N, 3)."""
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
    """Points (N, 3) on a sphere, for making hulls."""
    points = capsule(centre, centre, radius, radius).points
    return np.unique(points.round(12), axis=0)


def prism(outline: Array, axis: int, low: float, high: float) -> Solid:
    """The prism of an outline (N, 2), extruded from `low` to `high` along an axis: 0 (x), 1 (y) or 2 (z).

    The outline has the two other coordinates, in their order, and runs counterclockwise as they are plotted. The faces
    look outwards.
    """
    points = np.concatenate([np.insert(outline, axis, place, axis=1) for place in (low, high)])
    count = len(outline)
    around = [[i, (i + 1) % count, count + (i + 1) % count, count + i] for i in range(count)]
    faces = [*around, list(range(count))[::-1], list(range(count, 2 * count))]
    # An outline that is counterclockwise in a plot of x and z is clockwise when seen against y.
    return Solid(points, [face[::-1] for face in faces] if axis == 1 else faces)


def box(low: Array, high: Array) -> Solid:
    """The block between its least corner (3,) and its greatest corner (3,)."""
    (x, y, z), (far_x, far_y, far_z) = low, high
    return prism(np.array([[x, y], [far_x, y], [far_x, far_y], [x, far_y]]), 2, z, far_z)


def add_object(bpy, name: str, solids: list[Solid]):
    """Add one mesh object of several solids, and return it."""
    starts = np.cumsum([0] + [len(solid.points) for solid in solids])
    faces = [
        [int(start + i) for i in face] for start, solid in zip(starts, solids, strict=False) for face in solid.faces
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.concatenate([solid.points for solid in solids]), [], faces)
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing
