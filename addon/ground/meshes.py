# SPDX-License-Identifier: GPL-3.0-or-later
"""From objects of the scene to the ground: evaluated meshes, those that instances show, and how they move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import bpy
import ik2bone
import numpy as np
from bpy.types import Depsgraph, DepsgraphObjectInstance, Object
from ik2bone.ground.surfaces import Surface, Surfaces
from numpy.typing import NDArray

from ..pose.skins import vertices_of
from .choose import deformers, shows_collection
from .motion import Instance, find_inner_motions, find_motions, find_unfollowed, instances_of, shown_by

Array = NDArray[np.float64]
# Gives the mesh of some content, made by a function where it is not at hand.
MeshOf = Callable[[bytes, Callable[[], ik2bone.Mesh]], ik2bone.Mesh]

# Volume of an object's axes over the cube of the longest under which it has no inverse worth the name.
FLAT = 1e-9
# Axes that differ by more than this share are scaled unevenly.
UNEVEN = 1e-4


def make_ground(
    depsgraph: Depsgraph,
    objects: Sequence[Object],
    leg: float,
    frames: Sequence[int] = (),
    nearest: bool = False,
    mesh_of: MeshOf = lambda _, make: make(),
) -> Surfaces:
    """Take the evaluated meshes as ground for feet of legs so long; those without faces are left out.

    Meshes are taken as they are now, objects that move follow their motion over `frames` of the scene. Only with
    `nearest` a ground may be asked for the nearest points: then meshes hold what objects stretch unevenly stretched.
    `mesh_of` may know a mesh of the same content already.
    """
    motions = find_motions(objects, frames)
    gone = [ob.name for ob, motion in motions.items() if any(_is_flat(matrix) for matrix in motion)]
    objects = [ob for ob in objects if ob.name not in gone]
    surfaces = [surface for ob in objects for surface in _surfaces(depsgraph, ob, motions.get(ob), nearest, mesh_of)]
    owners = [ob for ob in objects if shows_collection(ob)]
    surfaces += _instances(depsgraph, owners, motions, find_inner_motions(owners, frames), nearest, mesh_of)
    told = [f"{name} is scaled to nothing on some frames, and was left out" for name in gone]
    inner = [ob for owner in owners for ob in shown_by(owner)]
    told += [*find_unfollowed(list(dict.fromkeys([*objects, *inner])), frames), *_scattered(depsgraph, objects)]
    return Surfaces(tuple(surfaces), leg, tuple(told))


def _surfaces(
    depsgraph: Depsgraph, ob: Object, motion: Array | None, nearest: bool, mesh_of: MeshOf
) -> Iterator[Surface]:
    """The object's own mesh, where it has one with faces."""
    if ob.type != "MESH":
        return
    evaluated = ob.evaluated_get(depsgraph)
    # Not its data: where the graphics card subdivides for the view, that is coarser.
    data = evaluated.to_mesh()
    try:
        if not data.polygons:
            return
        matrix = np.array(evaluated.matrix_world)
        if motion is None and _is_flat(matrix):
            yield Surface(_mesh(data, matrix, mesh_of), ob.name)
        else:
            stretch = _stretch(matrix) if nearest and _is_uneven(matrix) else np.eye(4)
            shrink = np.linalg.inv(stretch)
            placing = (matrix if motion is None else motion) @ shrink
            yield Surface(_mesh(data, stretch, mesh_of), ob.name, placing, shrink)
    finally:
        evaluated.to_mesh_clear()


def _instances(
    depsgraph: Depsgraph,
    owners: Sequence[Object],
    motions: Mapping[Object, Array],
    inner: Mapping[Instance, Array],
    nearest: bool,
    mesh_of: MeshOf,
) -> list[Surface]:
    """The meshes that objects show of their collections, named by those objects, which share what is the same.

    They follow their `inner` motion where they have one, else that of the object.
    """
    if not owners:
        return []
    meshes: dict[tuple[int, bytes], ik2bone.Mesh] = {}
    surfaces = []
    for name, instance in instances_of(depsgraph, owners):
        if instance.object.type != "MESH" or any(True for _ in deformers(instance.object)):
            continue
        mesh, matrix = instance.object.data, np.array(instance.matrix_world)
        if not mesh.polygons or any(_is_flat(each) for each in (matrix, *inner.get(name, ()))):
            continue
        stretch = _stretch(matrix) if nearest and _is_uneven(matrix) else np.eye(4)
        key = mesh.as_pointer(), stretch.tobytes()
        if key not in meshes:
            meshes[key] = _mesh(mesh, stretch, mesh_of)
        owner = instance.parent.original
        placing = _placing(instance, np.linalg.inv(stretch), motions.get(owner), inner.get(name))
        surfaces.append(Surface(meshes[key], owner.name, *placing))
    return surfaces


def _placing(
    instance: DepsgraphObjectInstance, shrink: Array, motion: Array | None, inner: Array | None
) -> tuple[Array, Array | None]:
    """Where a mesh that an object shows lies in the world, on every frame if it moves, and in the space of that object.

    The second is None for what moves within it: feet on that do not stand in that space.
    """
    if inner is not None:
        return inner @ shrink, None
    matrix = np.array(instance.matrix_world)
    inside = np.linalg.inv(np.array(instance.parent.matrix_world)) @ matrix @ shrink
    return matrix @ shrink if motion is None else motion @ inside, inside


def _scattered(depsgraph: Depsgraph, objects: Sequence[Object]) -> list[str]:
    """A sentence about meshes on which other things are scattered, which are not stood on."""
    owners = {ob for ob in objects if ob.type == "MESH" and _may_scatter(ob)}
    found: set[str] = set()
    for instance in depsgraph.object_instances if owners else ():
        if instance.is_instance and instance.parent and instance.parent.original in owners:
            found.add(instance.parent.original.name)
            if len(found) == len(owners):
                break
    names = ", ".join(sorted(found))
    return [f"what is scattered on {names} was not taken for ground: make those instances real to stand on"] * bool(
        found
    )


def _may_scatter(ob: Object) -> bool:
    nodes = any(modifier.type in {"NODES", "PARTICLE_SYSTEM"} for modifier in ob.modifiers)
    return nodes or ob.instance_type != "NONE"


def _mesh(data: bpy.types.Mesh, matrix: Array, mesh_of: MeshOf) -> ik2bone.Mesh:
    """The triangles of a mesh moved by a matrix."""
    corners, starts = np.empty(len(data.loops), np.int32), np.empty(len(data.polygons), np.int32)
    data.attributes[".corner_vert"].data.foreach_get("value", corners)
    data.polygons.foreach_get("loop_start", starts)
    vertices = vertices_of(data)
    content = b"".join(part.tobytes() for part in (matrix, starts, corners, vertices))
    return mesh_of(content, lambda: ik2bone.Mesh(*_moved(vertices, _triangles(data), matrix)))


def _triangles(data: bpy.types.Mesh) -> NDArray[np.int32]:
    data.calc_loop_triangles()
    triangles = np.empty((len(data.loop_triangles), 3), np.int32)
    data.loop_triangles.foreach_get("vertices", triangles.ravel())
    return triangles


def _moved(
    vertices: NDArray[np.float32], triangles: NDArray[np.int32], matrix: Array
) -> tuple[Array, NDArray[np.int32]]:
    """Vertices moved by a matrix, without the triangles that broken geometry has at infinity."""
    good = np.isfinite(vertices).all(axis=1)
    vertices = np.where(good[:, None], vertices, 0.0)
    return vertices @ matrix[:3, :3].T + matrix[:3, 3], triangles[good[triangles].all(axis=1)]


def _is_uneven(matrix: Array) -> bool:
    """Whether distances in a matrix's own space tell nothing about those in the world."""
    sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    return bool(sizes[0] > (1.0 + UNEVEN) * sizes[-1])


def _stretch(matrix: Array) -> Array:
    """The matrix (4, 4) without its place and its rotation: symmetric, so that what is left turns and moves."""
    _, sizes, axes = np.linalg.svd(matrix[:3, :3])
    stretch = np.eye(4)
    stretch[:3, :3] = axes.T @ (sizes[:, None] * axes)
    return stretch


def _is_flat(matrix: Array) -> bool:
    """Whether a matrix has no inverse: an axis scaled to nothing."""
    axes = matrix[:3, :3]
    return bool(abs(np.linalg.det(axes)) <= FLAT * np.linalg.norm(axes, axis=0).max() ** 3)
