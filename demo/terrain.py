# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground in the picture, cut in front of the feet so that soles under or over its surface are visible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


# Shares of a cut's depth: points nearer than this to the front plane lie in it; points nearer to each other are merged.
NEAR, SAME = 1e-4, 1e-6


@dataclass(frozen=True)
class Cut:
    """The piece of ground to show.

    origin      a point (3,) of the front plane
    along       unit vector (3,) along the front plane
    inward      unit vector (3,) away from the camera
    start, end  range of the piece along the front plane
    depth       extent of the piece behind the front plane
    wall        extent of the wall below the lowest point of an open mesh's front edge
    """

    origin: Array
    along: Array
    inward: Array
    start: float
    end: float
    depth: float
    wall: float


@dataclass(frozen=True)
class Terrain:
    """The surface and the section of a piece of ground, as objects, and the points (N, 3) of its front edge."""

    surface: object
    section: object
    front: Array


def cut_terrain(bpy, ground, cut: Cut) -> Terrain:
    """Add the part of an object's mesh inside the cut, as the scene shows the mesh now, and the section of that part.

    The section of a closed mesh is its intersection with the front plane, that of an open mesh a wall below its front
    edge.
    """
    import bmesh

    evaluated = ground.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = bpy.data.meshes.new_from_object(evaluated)
    mesh.transform(evaluated.matrix_world)
    work = bmesh.new()
    work.from_mesh(mesh)
    # Faces in files often have separate points. Two walls under two edges in one place would flicker.
    bmesh.ops.remove_doubles(work, verts=work.verts, dist=SAME * cut.depth)
    is_closed = all(edge.is_manifold for edge in work.edges)
    _bisect(work, cut, is_closed)
    edges = _front_edges(work, cut)
    work.to_mesh(mesh)
    work.free()
    bottom = edges[..., 2].min(initial=np.inf) - cut.wall
    section = _face(bpy, edges, NEAR * cut.depth) if is_closed else _wall(bpy, edges, bottom)
    return Terrain(_link(bpy, "terrain", mesh), _link(bpy, "section", section), edges.reshape(-1, 3))


def _bisect(work, cut: Cut, is_closed: bool) -> None:
    """Remove the parts outside the cut. A closed mesh is closed again on all sides but the front plane."""
    import bmesh

    sides = (
        (cut.origin + cut.depth * cut.inward, cut.inward),
        (cut.origin + cut.start * cut.along, -cut.along),
        (cut.origin + cut.end * cut.along, cut.along),
        (cut.origin, -cut.inward),
    )
    for point, outward in sides:
        geometry = [*work.verts, *work.edges, *work.faces]
        found = bmesh.ops.bisect_plane(work, geom=geometry, plane_co=point, plane_no=outward, clear_outer=True)
        if is_closed and point is not cut.origin:
            edges = [part for part in found["geom_cut"] if isinstance(part, bmesh.types.BMEdge)]
            bmesh.ops.edgeloop_fill(work, edges=edges)


def _front_edges(work, cut: Cut) -> Array:
    """The ends (N, 2, 3) of the edges in the front plane."""
    work.verts.index_update()
    places = np.array([vert.co for vert in work.verts]).reshape(-1, 3)
    front = np.abs((places - cut.origin) @ cut.inward) < NEAR * cut.depth
    ends = [[vert.index for vert in edge.verts] for edge in work.edges if all(front[v.index] for v in edge.verts)]
    return places[np.array(ends, int).reshape(-1, 2)]


def _face(bpy, edges: Array, near: float):
    """The faces enclosed by loops of edges (N, 2, 3) in a plane. Ends nearer than `near` to each other are merged."""
    import bmesh

    work = bmesh.new()
    for ends in edges:
        work.edges.new([work.verts.new(end) for end in ends])
    bmesh.ops.remove_doubles(work, verts=work.verts, dist=near)
    bmesh.ops.edgeloop_fill(work, edges=work.edges)
    mesh = bpy.data.meshes.new("section")
    work.to_mesh(mesh)
    work.free()
    return mesh


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
