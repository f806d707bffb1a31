# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces that feet stand on: which meshes they are, and where the lines under the feet meet them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Collection, Context, Depsgraph, Object
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from .chains import Refusal

Array = NDArray[np.float64]

# A line through stacked sheets is followed through at most so many of them on each side of its point.
MAX_LAYERS = 16
# BVHTree works in single precision; rays start this share of the surface's size before their point, so that a point
# that lies on the surface finds it.
RAY_LEAD = 1e-6
# The glTF importer keeps its bone shapes here.
IMPORTER_COLLECTION = "glTF_not_exported"


def find_surfaces(context: Context, armature: Object, name: str) -> list[Object]:
    """The meshes to plant on: the named object, those of the named collection, or for "" every visible ground."""
    # Objects that the calling script has just linked are missing from the view layer until then.
    context.view_layer.update()
    if name:
        return _named_surfaces(context, armature, name)
    shapes = bone_shapes()
    return [ob for ob in context.view_layer.objects if ob.visible_get() and _is_solid(ob) and _is_ground(ob, shapes)]


def bone_shapes() -> set[Object]:
    """Every object that some pose bone is drawn with."""
    posed = (ob.pose.bones for ob in bpy.data.objects if ob.pose)
    return {bone.custom_shape for bones in posed for bone in bones if bone.custom_shape}


def _named_surfaces(context: Context, armature: Object, name: str) -> list[Object]:
    chosen = context.view_layer.objects.get(name)
    if chosen is None:
        return _collection_surfaces(context, name)
    if chosen.type != "MESH":
        raise Refusal(f"surface '{name}' should be a mesh, but it is of type {chosen.type}")
    if armature in deformers(chosen):
        raise Refusal(f"surface '{name}' belongs to the character that is to be planted on it")
    if not _is_evaluated(context, chosen):
        raise Refusal(f"surface '{name}' is disabled in viewports, so it has no shape to plant on")
    return [chosen]


def _collection_surfaces(context: Context, name: str) -> list[Object]:
    collection: Collection | None = bpy.data.collections.get(name)
    if collection is None:
        raise Refusal(f"there is no object and no collection named '{name}' to plant on in this view layer")
    inside, shapes = set(context.view_layer.objects), bone_shapes()
    meshes = [ob for ob in collection.all_objects if ob in inside and _is_ground(ob, shapes)]
    found = [ob for ob in meshes if _is_evaluated(context, ob)]
    if not found:
        raise Refusal(f"collection '{name}' holds no mesh to plant on")
    return found


def _is_evaluated(context: Context, ob: Object) -> bool:
    """Whether the scene has worked out the object's shape, which it does not while that is disabled in viewports."""
    return bool(ob.evaluated_get(context.evaluated_depsgraph_get()).is_evaluated)


def _is_solid(ob: Object) -> bool:
    return ob.display_type not in {"WIRE", "BOUNDS"}


def _is_ground(ob: Object, shapes: set[Object]) -> bool:
    if ob.type != "MESH" or ob in shapes:
        return False
    if any(collection.name.startswith(IMPORTER_COLLECTION) for collection in ob.users_collection):
        return False
    return not any(True for _ in deformers(ob))


def deformers(ob: Object) -> Iterator[Object]:
    """Armatures that deform or carry the object or what it is parented to: a character's hair counts as its body."""
    part: Object | None = ob
    while part is not None:
        yield from (m.object for m in part.modifiers if m.type == "ARMATURE" and m.object)
        if part.parent and part.parent.type == "ARMATURE" and part.parent_type in {"ARMATURE", "BONE"}:
            yield part.parent
        part = part.parent


@dataclass(frozen=True)
class Surface:
    """One mesh as evaluated now: `tree` in object space, `matrix` to world space, `corners` (8, 3) of its world box."""

    name: str
    tree: BVHTree
    matrix: Array
    corners: Array

    @cached_property
    def inverse(self) -> Array:
        """World to object space."""
        return np.linalg.inv(self.matrix)

    @cached_property
    def lead(self) -> float:
        """Length by which rays start early, in world units."""
        return RAY_LEAD * float(np.ptp(self.corners, axis=0).max())

    def covers(self, points: Array, down: Array) -> NDArray[np.bool_]:
        """Whether the lines through `points` (N, 3) along `down` pass through the surface's box (N,)."""
        across = np.linalg.svd(down[None])[2][1:].T
        corners, points = self.corners @ across, points @ across
        return np.all((points >= corners.min(axis=0) - self.lead) & (points <= corners.max(axis=0) + self.lead), axis=1)

    def crossings(self, points: Array, down: Array) -> Crossings:
        """The best crossing of each line through `points` (N, 3) along `down` with this surface."""
        linear, offset = self.inverse[:3, :3], self.inverse[:3, 3]
        starts = [((points + sign * self.lead * down) @ linear.T + offset).tolist() for sign in (-1.0, 1.0)]
        rays = _Rays(self.tree, Vector(linear @ down), self.lead)
        # The depth along `down` of a location in object space: down . (matrix @ location) - down . point.
        slope, base = Vector(self.matrix[:3, :3].T @ down), (self.matrix[:3, 3] - points) @ down
        best = Crossings.none(len(points))
        for row in np.flatnonzero(self.covers(points, down)).tolist():
            hit, reach = None, inf
            for start, way in zip(starts, (1.0, -1.0), strict=True):
                found = rays.cast(start[row], way, reach)
                if found is None:
                    continue
                looks_down, location, normal = found
                depth = slope.dot(location) + base[row]
                if hit is None or (looks_down, abs(depth)) < (hit[0], abs(hit[1])):
                    hit = looks_down, depth, normal
                reach = inf if looks_down else abs(depth) + 2.0 * self.lead
            if hit is not None:
                best.put(row, *hit)
        return best.turned(linear, down)


class _Rays(NamedTuple):
    """Rays in object space along `down`, whose length stands for one world unit."""

    tree: BVHTree
    down: Vector
    lead: float

    def cast(self, start: list[float], way: float, reach: float) -> tuple[bool, Vector, Vector] | None:
        """The first face along `way` (1 or -1) times `down` that looks up, else the first at all, within `reach`.

        Returns whether it looks down, location and normal. `reach` is in world units.
        """
        direction, origin = way * self.down, Vector(start)
        left, first = reach * self.down.length, None
        for _ in range(MAX_LAYERS):
            location, normal, _face, length = self.tree.ray_cast(origin, direction, left)
            if location is None:
                break
            # Normals transform by the inverse transpose, so this is the sign of their product with `down` in the world.
            if normal.dot(self.down) <= 0.0:
                return False, location, normal
            first = first or (True, location, normal)
            origin, left = location + self.lead * direction, left - length
        return first


@dataclass(frozen=True)
class Crossings:
    """Where N lines meet a surface: signed depth along `down`, normal, whether that looks down, and whether at all."""

    depth: Array
    normal: Array
    looks_down: NDArray[np.bool_]
    found: NDArray[np.bool_]

    @classmethod
    def none(cls, count: int) -> Crossings:
        """No crossing yet, to be put in row by row."""
        return cls(np.zeros(count), np.zeros((count, 3)), np.zeros(count, bool), np.zeros(count, bool))

    def put(self, row: int, looks_down: bool, depth: float, normal: Vector) -> None:
        """Set one row."""
        self.depth[row], self.normal[row], self.looks_down[row], self.found[row] = depth, normal, looks_down, True

    def turned(self, linear: Array, down: Array) -> Crossings:
        """The same with normals, so far in object space, as unit vectors of the world that look against `down`."""
        normal = self.normal @ linear
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
        return replace(self, normal=np.where((normal @ down > 0.0)[:, None], -normal, normal))

    def better(self, other: Crossings) -> Crossings:
        """Row by row the better of two: found, looking up, near."""
        nearer = np.abs(other.depth) < np.abs(self.depth)
        upward = other.looks_down < self.looks_down
        same = other.looks_down == self.looks_down
        take = other.found & (~self.found | upward | (same & nearer))
        return Crossings(
            np.where(take, other.depth, self.depth),
            np.where(take[:, None], other.normal, self.normal),
            np.where(take, other.looks_down, self.looks_down),
            self.found | other.found,
        )


@dataclass(frozen=True)
class Ground:
    """The surfaces as planting asks them, in world space, with one tree per object."""

    surfaces: tuple[Surface, ...]

    @property
    def names(self) -> list[str]:
        """Names of the surfaces."""
        return [surface.name for surface in self.surfaces]

    def __call__(self, points: Array, down: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Where the lines through `points` (N, 3) along the unit vector `down` (3,) meet the surfaces.

        Returns hits (N, 3), unit normals turned against `down` (N, 3) and found (N,). Of all crossings, before and
        behind the point, the nearest counts; faces that look up are preferred to those that look down. Where nothing
        is found the hit is the point itself and the normal looks straight up.
        """
        points, down = np.asarray(points, float), np.asarray(down, float)
        best = Crossings.none(len(points))
        for surface in self.surfaces:
            best = best.better(surface.crossings(points, down))
        normals = np.where(best.found[:, None], best.normal, -down)
        return points + best.depth[:, None] * down, normals, best.found

    def supports(self, points: Array) -> list[str]:
        """The name of the surface nearest to each of `points` (N, 3), "" where there is no surface at all."""
        return [self._nearest(point) for point in np.asarray(points, float)]

    def _nearest(self, point: Array) -> str:
        return min(self.surfaces, key=lambda surface: _distance(surface, point)).name if self.surfaces else ""


@dataclass(frozen=True)
class Floor:
    """A level floor without end, for scenes without ground: asked like `Ground`."""

    height: float

    @property
    def names(self) -> list[str]:
        """No surface has a name."""
        return []

    def __call__(self, points: Array, down: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """The points moved along the unit vector `down` onto the floor, as `Ground` does."""
        points, down = np.asarray(points, float), np.asarray(down, float)
        depth = -self.height - points @ down
        return points + depth[:, None] * down, np.tile(-down, (len(points), 1)), np.ones(len(points), bool)

    def supports(self, points: Array) -> list[str]:
        """An empty name for each of `points` (N, 3)."""
        return [""] * len(points)


def make_ground(depsgraph: Depsgraph, objects: Iterable[Object]) -> Ground:
    """Build the trees of the evaluated meshes; those without faces are left out."""
    surfaces = (_surface(depsgraph, ob) for ob in objects)
    return Ground(tuple(surface for surface in surfaces if surface is not None))


def _surface(depsgraph: Depsgraph, ob: Object) -> Surface | None:
    evaluated = ob.evaluated_get(depsgraph)
    if not evaluated.data.polygons:
        return None
    matrix = np.array(evaluated.matrix_world)
    corners = np.array(evaluated.bound_box) @ matrix[:3, :3].T + matrix[:3, 3]
    return Surface(ob.name, BVHTree.FromObject(ob, depsgraph), matrix, corners)


def _distance(surface: Surface, point: Array) -> float:
    location = surface.tree.find_nearest(Vector(surface.inverse[:3, :3] @ point + surface.inverse[:3, 3]))[0]
    return float(np.linalg.norm(surface.matrix[:3, :3] @ location + surface.matrix[:3, 3] - point))
