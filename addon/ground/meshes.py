# SPDX-License-Identifier: GPL-3.0-or-later
"""Making the ground from objects of the scene: their evaluated meshes, their instances, and their motion."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import bpy
import ik2bone
import numpy as np
from bpy.types import Depsgraph, DepsgraphObjectInstance, Object
from ik2bone.arrays import Array
from ik2bone.ground.surfaces import Surface, Surfaces
from ik2bone.rotations import dot, inverse_of, is_flat, length_of, move_points
from numpy.typing import NDArray

from ..bounded import Bounded
from ..pose.skins import vertices_of
from ..progress import Progress, Stages, aside, finish, part_of
from .choose import deformers, shows_collection
from .motion import Instance, find_inner_motions, find_motions, find_unfollowed, instances_of, shown_by

# An object is flat if the volume of its axes over the cube of their size is below this: its transform has no usable
# inverse. A cube scaled to a rope of 100 m by 1 cm has 1e-8; bones with that would be refused.
FLAT = 1e-9
# A scale is uneven if axes differ by more than this share.
UNEVEN = 1e-4
# A quad counts as convex if the cross products of two sides each with the diagonal between them have a dot product
# above this share of all these lengths. Blender compares with 0 in single precision, which rounds by 6e-8.
CONVEX = 1e-4


@dataclass(frozen=True, eq=False)
class Content:
    """The arrays that determine the triangles of a mesh. Contents with the same numbers are equal.

    Comparing the arrays takes a thirtieth of the time of copying and hashing their bytes.
    """

    parts: tuple[NDArray, ...]

    def __hash__(self) -> int:
        """Hash the sizes and some of the vertices."""
        return hash((*(part.size for part in self.parts), self.parts[0][:: 1 + len(self.parts[0]) // 16].tobytes()))

    def __eq__(self, other: object) -> bool:
        """Compare bit for bit."""
        if not isinstance(other, Content):
            return NotImplemented
        # NaN does not equal itself as a float, but does as an integer.
        bits = ([part.view(f"u{part.itemsize}") for part in each.parts] for each in (self, other))
        return all(map(np.array_equal, *bits))

    @property
    def size(self) -> int:
        """The size in bytes."""
        return sum(part.nbytes for part in self.parts)


# The limit on the contents of kept meshes together, in bytes.
BYTES = 100_000_000
# Meshes by their contents.
kept: Bounded[ik2bone.Mesh] = Bounded(BYTES)


def making_ground(
    depsgraph: Depsgraph, objects: Sequence[Object], leg: float, frames: Sequence[int] = (), nearest: bool = False
) -> Stages[Surfaces]:
    """Make the ground of objects for legs of length `leg`, without meshes that have no faces.

    Meshes have their present shape, and objects that move follow their motion over `frames` of the scene. The ground
    answers questions for nearest points only if `nearest` is set: an uneven scale is applied to the vertices then.
    Meshes of earlier runs are reused if their contents are equal.
    """
    lost = [
        ob.name for ob in objects if not np.isfinite(np.array(ob.evaluated_get(depsgraph).matrix_world, float)).all()
    ]
    objects = [ob for ob in objects if ob.name not in lost]
    motions = yield from part_of(find_motions(objects, frames), 0.0, 0.3)
    gone = [ob.name for ob, motion in motions.items() if is_flat(motion[:, :3, :3], FLAT).any()]
    objects = [ob for ob in objects if ob.name not in gone]
    owners, surfaces = [ob for ob in objects if shows_collection(ob)], []
    for ob in objects:
        yield Progress(f"reading {ob.name}", 0.3)
        surfaces += yield from part_of(_surface(depsgraph, ob, motions.get(ob), nearest), 0.3, 0.3)
    inner = yield from part_of(find_inner_motions(owners, frames), 0.3, 0.6)
    surfaces += yield from part_of(_instances(depsgraph, owners, motions, inner, nearest), 0.6, 0.7)
    shown = [ob for owner in owners for ob in shown_by(owner)]
    unfollowed = yield from part_of(find_unfollowed(list(dict.fromkeys([*objects, *shown])), frames), 0.7, 1.0)
    told = [f"the transform of {name} holds infinity or NaN, so it was left out" for name in lost]
    told += [f"{name} is scaled to nothing on some frames, and was left out" for name in gone]
    # A mesh with faces has no triangles only if every face has a corner at infinity or NaN.
    empty = dict.fromkeys(surface.name for surface in surfaces if not len(surface.mesh))
    told += [f"every face of {name} has corners at infinity or NaN, so it was left out" for name in empty]
    surfaces = [surface for surface in surfaces if len(surface.mesh)]
    return Surfaces(tuple(surfaces), leg, (*told, *unfollowed, *_scattered(depsgraph, objects)))


def _surface(depsgraph: Depsgraph, ob: Object, motion: Array | None, nearest: bool) -> Stages[list[Surface]]:
    """The surface of the object's own mesh; none if it has no faces."""
    if ob.type != "MESH":
        return []
    evaluated = ob.evaluated_get(depsgraph)
    matrix = np.array(evaluated.matrix_world, float)
    stays_flat = motion is None and is_flat(matrix[:3, :3], FLAT)
    stretch = matrix if stays_flat else _stretch(matrix, nearest)
    # The object's data would be coarser where the graphics card subdivides.
    data = evaluated.to_mesh()
    try:
        if not data.polygons:
            return []
        content, found = _read(data, stretch)
    finally:
        # This must happen before the next `yield`, because Blender may evaluate the object again meanwhile.
        evaluated.to_mesh_clear()
    mesh = yield from _made(content, found)
    if stays_flat:
        return [Surface(mesh, ob.name)]
    shrink = inverse_of(stretch)
    return [Surface(mesh, ob.name, (matrix if motion is None else motion) @ shrink, shrink)]


def _instances(
    depsgraph: Depsgraph,
    owners: Sequence[Object],
    motions: Mapping[Object, Array],
    inner: Mapping[Instance, Array],
    nearest: bool,
) -> Stages[list[Surface]]:
    """The surfaces of meshes in collections that `owners` instance, named after these owners.

    Instances of one mesh share its triangles. An instance follows its `inner` motion if it has one, else its owner's.
    """
    meshes: dict[tuple[int, bytes], ik2bone.Mesh] = {}
    surfaces = []
    for name, instance in instances_of(depsgraph, owners) if owners else ():
        if instance.object.type != "MESH" or any(True for _ in deformers(instance.object)):
            continue
        mesh, matrix = instance.object.data, np.array(instance.matrix_world, float)
        if not mesh.polygons or any(is_flat(each[:3, :3], FLAT) for each in (matrix, *inner.get(name, ()))):
            continue
        stretch = _stretch(matrix, nearest)
        key = mesh.as_pointer(), stretch.tobytes()
        if key not in meshes:
            meshes[key] = finish(_made(*_read(mesh, stretch)))
        owner = instance.parent.original
        placing = _placing(instance, inverse_of(stretch), motions.get(owner), inner.get(name))
        surfaces.append(Surface(meshes[key], owner.name, *placing))
    yield Progress("reading instances", 1.0)
    return surfaces


def _placing(
    instance: DepsgraphObjectInstance, shrink: Array, motion: Array | None, inner: Array | None
) -> tuple[Array, Array | None]:
    """The transforms of an instanced mesh in the world, for every frame if it moves, and in the space of its owner.

    The second one is None for an instance that moves within its owner, because feet on it do not move with the owner.
    """
    if inner is not None:
        return inner @ shrink, None
    matrix = np.array(instance.matrix_world, float)
    inside = inverse_of(np.array(instance.parent.matrix_world, float)) @ matrix @ shrink
    return matrix @ shrink if motion is None else motion @ inside, inside


def _scattered(depsgraph: Depsgraph, objects: Sequence[Object]) -> list[str]:
    """A sentence about meshes with scattered instances, which are not part of the ground; none without such meshes."""
    scatters = {"NODES", "PARTICLE_SYSTEM"}
    meshes = [ob for ob in objects if ob.type == "MESH"]
    owners = {ob for ob in meshes if ob.instance_type != "NONE" or any(each.type in scatters for each in ob.modifiers)}
    found: set[str] = set()
    for instance in depsgraph.object_instances if owners else ():
        if instance.is_instance and instance.parent and instance.parent.original in owners:
            found.add(instance.parent.original.name)
            if len(found) == len(owners):
                break
    names = ", ".join(sorted(found))
    return [f"objects scattered on {names} do not count as ground: make these instances real to stand on them"] * bool(
        found
    )


def _read(data: bpy.types.Mesh, matrix: Array) -> tuple[Content, ik2bone.Mesh | Callable[[], ik2bone.Mesh]]:
    """The content of a mesh transformed by a matrix, and the kept mesh with this content or a function that builds it.

    The content holds the vertex and the edge of each corner instead of the faces, because these are read 100 times as
    fast. They determine the faces: the edge of a face's last corner leads back to its first vertex.
    """
    corners = np.empty((2, len(data.loops)), np.int32)
    for name, values in zip((".corner_vert", ".corner_edge"), corners, strict=True):
        data.attributes[name].data.foreach_get("value", values)
    edges = np.empty((len(data.edges), 2), np.int32)
    data.attributes[".edge_verts"].data.foreach_get("value", edges.reshape(-1))
    vertices = vertices_of(data)
    content = Content((vertices, matrix, edges, corners))
    if (found := kept.find(content)) is not None:
        return content, found
    triangles = _triangles(data, vertices, corners[0])
    return content, lambda: _moved(vertices, triangles, matrix)


def _made(content: Content, found: ik2bone.Mesh | Callable[[], ik2bone.Mesh]) -> Stages[ik2bone.Mesh]:
    """The result of `_read` as a mesh, which is kept."""
    if isinstance(found, ik2bone.Mesh):
        return found
    made = yield from aside(found, Progress("building the ground", 0.0))
    return kept.put(content, made, content.size)


def _triangles(data: bpy.types.Mesh, vertices: NDArray[np.float32], corners: NDArray[np.int32]) -> NDArray[np.int32]:
    """The vertices of each triangle (T, 3), from the positions of vertices and the vertices of corners."""
    data.calc_loop_triangles()
    faces = np.empty(len(data.loop_triangles), np.int32)
    data.loop_triangle_polygons.foreach_get("value", faces)
    sizes = np.bincount(faces) + 2
    starts = np.cumsum(sizes) - sizes
    if sizes.max(initial=0) <= 4 and _are_convex(vertices, corners[starts[sizes == 4] + np.arange(4)[:, None]]):
        second = np.arange(1, 1 + len(faces)) + 2 * faces
        return corners[np.stack([starts[faces], second, second + 1], axis=1)]
    # Reading these takes four times as long as the above.
    triangles = np.empty((len(faces), 3), np.int32)
    data.loop_triangles.foreach_get("loops", triangles.ravel())
    return corners[triangles]


@np.errstate(all="ignore")
def _are_convex(vertices: NDArray[np.float32], quads: NDArray[np.int32]) -> bool:
    """Whether all quads (4, N) are convex beyond doubt: Blender splits these from their first to their third corner."""
    first, *others = (vertices.take(quad, 0) for quad in quads)
    second, third, last = (corner - first for corner in others)
    square, least = dot(third, third), CONVEX * length_of(second) * length_of(last)
    return bool((dot(second, third) * dot(third, last) - dot(second, last) * square > least * square).all())


def _moved(vertices: NDArray[np.float32], triangles: NDArray[np.int32], matrix: Array) -> ik2bone.Mesh:
    """The mesh of vertices transformed by a matrix, without triangles that have a corner at infinity or NaN."""
    if not np.isfinite(vertices).all():
        good = np.isfinite(vertices).all(axis=1)
        vertices, triangles = np.where(good[:, None], vertices, 0.0), triangles[good[triangles].all(axis=1)]
    stays = (matrix == np.eye(4)).all()
    return ik2bone.Mesh(vertices if stays else move_points(matrix, vertices), triangles)


def is_uneven(matrix: Array) -> bool:
    """Whether a transform scales its axes differently, so that distances in its space are not those in the world."""
    sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    return bool(sizes[0] > (1.0 + UNEVEN) * sizes[-1])


def _stretch(matrix: Array, nearest: bool) -> Array:
    """The symmetric factor (4, 4) of an uneven transform, if its space is asked for nearest points; else the identity.

    The other factor only rotates and moves.
    """
    stretch = np.eye(4)
    if nearest and is_uneven(matrix):
        _, sizes, axes = np.linalg.svd(matrix[:3, :3])
        stretch[:3, :3] = axes.T @ (sizes[:, None] * axes)
    return stretch


@dataclass(frozen=True)
class Floor:
    """A level floor without end at a height on the third axis, asked like `Surfaces`."""

    height: float

    def __call__(self, points: Array, down: Array | None) -> tuple[Array, Array, NDArray[np.bool_]]:
        """The points (N, 3) moved along the unit vector `down` onto the floor, with normals and found."""
        down = np.array((0.0, 0.0, -1.0)) if down is None else down
        depth = -self.height - dot(points, down)
        return points + depth[:, None] * down, np.tile(-down, (len(points), 1)), np.ones(len(points), bool)
