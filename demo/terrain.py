# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground as the picture shows it: cut open in front of the feet, so that one sees what stands in it or over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cut:
    """The piece to show: `origin` on the front plane, unit vectors `along` it and `inward`, range, depth, wall."""

    origin: Array
    along: Array
    inward: Array
    start: float
    end: float
    depth: float
    wall: float


@dataclass(frozen=True)
class Terrain:
    """The objects of a piece of ground, and points (N, 3) of its front edge."""

    surface: object
    section: object
    front: Array


def cut_terrain(bpy, grounds: list, cut: Cut) -> Terrain:
    """Add the meshes' part inside the cut, and a wall down from its front edge, as two objects."""
    import bmesh

    work = bmesh.new()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for ground in grounds:
        evaluated = ground.evaluated_get(depsgraph)
        mesh = bpy.data.meshes.new_from_object(evaluated)
        mesh.transform(evaluated.matrix_world)
        work.from_mesh(mesh)
        bpy.data.meshes.remove(mesh)
    _bisect(work, cut)
    edges = _front_edges(work, cut)
    mesh = bpy.data.meshes.new("terrain")
    work.to_mesh(mesh)
    mesh.materials.clear()
    work.free()
    bottom = edges[..., 2].min(initial=np.inf) - cut.wall
    section = _link(bpy, "section", _wall(bpy, edges, bottom))
    return Terrain(_link(bpy, "terrain", mesh), section, edges.reshape(-1, 3))


def _bisect(work, cut: Cut) -> None:
    import bmesh

    sides = (
        (cut.origin, -cut.inward),
        (cut.origin + cut.depth * cut.inward, cut.inward),
        (cut.origin + cut.start * cut.along, -cut.along),
        (cut.origin + cut.end * cut.along, cut.along),
    )
    for point, outward in sides:
        geometry = [*work.verts, *work.edges, *work.faces]
        bmesh.ops.bisect_plane(work, geom=geometry, plane_co=point, plane_no=outward, clear_outer=True)


def _front_edges(work, cut: Cut) -> Array:
    """Ends (N, 2, 3) of the edges in the front plane."""
    work.verts.index_update()
    places = np.array([vert.co for vert in work.verts]).reshape(-1, 3)
    front = np.abs((places - cut.origin) @ cut.inward) < 1e-4 * cut.depth
    ends = [[vert.index for vert in edge.verts] for edge in work.edges if all(front[v.index] for v in edge.verts)]
    return places[np.array(ends, int).reshape(-1, 2)]


def _wall(bpy, edges: Array, bottom: float):
    below = edges[:, ::-1].copy()
    below[..., 2] = bottom
    points = np.concatenate([edges, below], axis=1).reshape(-1, 3)
    mesh = bpy.data.meshes.new("section")
    mesh.from_pydata(points, [], np.arange(len(points)).reshape(-1, 4).tolist())
    return mesh


def _link(bpy, name: str, mesh):
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing
