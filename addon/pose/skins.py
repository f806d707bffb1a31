# SPDX-License-Identifier: GPL-3.0-or-later
"""The skin of feet: vertices of the character's meshes that foot and toe bones move, in the spaces of these bones."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import depsgraph_update_post, frame_change_post, persistent
from bpy.types import Armature, Depsgraph, Object, Scene
from ik2bone.arrays import Array, Mask
from ik2bone.kept import values_of
from ik2bone.rotations import length_of, move_points
from ik2bone.sole.skin import Skin
from mathutils import Matrix
from numpy.typing import NDArray

from ..bounded import Bounded
from ..keys.fcurves import properties_of
from ..rig.limb import Limb
from .evaluate import PRIVATE, may_move, private_scene, rest_of

# A vertex belongs to a foot whose bones have at least this share of its weights.
MOST = 0.5
# Vertices farther from the ankle than this multiple of the longer of shin and foot do not belong to the foot, but for
# instance to a robe.
NEAR = 1.5
# The end of a leg without a foot: the part of its skin within this share of the shin's length from the far end.
FAR = 0.05


# The limit on the points of kept skins: 24 MB.
POINTS = 1_000_000
# Modifiers whose result depends only on the mesh, their settings and their objects. Others depend on the frame, too.
PLAIN = {"ARMATURE", "EDGE_SPLIT", "MIRROR", "SOLIDIFY", "SUBSURF", "TRIANGULATE", "WEIGHTED_NORMAL"}

# Skins by the data that they were made from, without the meshes and their weights: Blender reports edits of these.
kept: Bounded[tuple[Skin, ...]] = Bounded(POINTS)


@persistent
def forget_edited(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Drop kept skins after an edit of any mesh, of its weights or shape keys.

    In private scenes every mesh is new, so updates there do not count.
    """
    if depsgraph.id_type_updated("MESH") and not depsgraph.scene.name.startswith(PRIVATE):
        kept.clear()


# An edit may be evaluated together with a change of frame.
HANDLERS = [(handlers, forget_edited) for handlers in (depsgraph_update_post, frame_change_post)]


@dataclass(frozen=True)
class Foot:
    """The bones of a foot and of its toes with all descendants, the ankle (3,), and the greatest distance of skin from
    the ankle, in armature space.
    """

    parts: tuple[tuple[str, ...], tuple[str, ...]]
    ankle: Array
    reach: float


def find_skins(armature: Object, limbs: Sequence[Limb], placed: Array | None = None) -> tuple[Skin, ...] | None:
    """The skin of each foot in the rest pose, from the meshes that the armature deforms or carries; None without any.
    `placed` (4, 4) tells how the armature lies in the world, by default as the scene shows it.

    Copies of the meshes are evaluated in a private scene, with all modifiers and without the pose.
    """
    bodies = _bodies(armature)
    if not bodies:
        return None
    made = [_made(body) for body in bodies]
    shown = np.array(armature.matrix_world, float)
    placed = shown if placed is None else placed
    told = values_of((rest_of(armature), shown, placed, tuple(limbs), made))
    # Scripts may clear the lists of handlers.
    tells = all(forget_edited in handlers for handlers, _ in HANDLERS)
    tells = tells and all(_tells_edits(body, armature) for body in bodies)
    if tells and (same := kept.find(told)) is not None:
        return same
    feet = [_foot(armature.data, limb) for limb in limbs]
    with _at_rest(armature, bodies) as (scene, rest, copies):
        scene.view_layers[0].update()
        depsgraph = scene.view_layers[0].depsgraph
        rest = rest.evaluated_get(depsgraph)
        found = [_points(copy.evaluated_get(depsgraph), rest, feet) for copy in copies]
    each = zip(limbs, zip(*found, strict=True), strict=True)
    skins = tuple(_together(armature, limb, rows, Matrix(placed)) for limb, rows in each)
    return kept.put(told, skins, 1 + sum(len(skin.foot) + len(skin.toe) for skin in skins)) if tells else skins


def _made(body: Object) -> tuple[Any, ...]:
    """What a skin takes from a mesh, besides the mesh itself and its weights."""
    modifiers = repr(list(map(properties_of, body.modifiers)))
    matrices = [body.matrix_basis, body.matrix_parent_inverse] if body.parent else [body.matrix_world]
    carried = body.parent_type, body.parent_bone, np.array(matrices, float)
    shape = body.data.name_full, body.show_only_shape_key and body.active_shape_key_index
    return *carried, *shape, tuple(body.vertex_groups.keys()), modifiers


def _tells_edits(body: Object, armature: Object) -> bool:
    """Whether Blender would have reported an edit of a mesh, which it does not for hidden meshes, and nothing else than
    the mesh, its modifiers and the rest pose decides on its place and shape.
    """
    rides = body.parent == armature or not (body.parent or may_move(body) or may_move(armature))
    others = [value for modifier in body.modifiers for value in properties_of(modifier).values()]
    return (
        body.evaluated_get(bpy.context.view_layer.depsgraph).is_evaluated
        and rides
        and not (body.constraints or body.animation_data)
        and PLAIN.issuperset(modifier.type for modifier in body.modifiers)
        and all(other == armature for other in others if isinstance(other, Object))
    )


def find_end(armature: Object, limb: Limb) -> tuple[float, ...]:
    """The end of a leg without a foot, in shin space: the middle of the far end of its skin, else the bone's tail."""
    skins, length = find_skins(armature, [limb]), armature.data.bones[limb.shin].length
    if skins is None or not len(skins[0].foot):
        return 0.0, length, 0.0
    along = skins[0].foot[:, 1]
    last = skins[0].foot[along > along.max() - FAR * length]
    return tuple((0.5 * (last.min(axis=0) + last.max(axis=0))).tolist())


def _foot(bones: Armature, limb: Limb) -> Foot:
    foot, toes = (
        {name, *(child.name for child in bones.bones[name].children_recursive)} if name else set()
        for name in (limb.foot, limb.toe)
    )
    ankle, knee = (np.array(bones.bones[name].head_local, float) for name in (limb.foot, limb.shin))
    length = sum(bones.bones[name].length for name in (limb.foot, limb.toe) if name)
    parts = (tuple(sorted(foot - toes)), tuple(sorted(toes))) if limb.end is None else ((), ())
    return Foot(parts, ankle, NEAR * max(float(np.linalg.norm(knee - ankle)), length))


def _bodies(armature: Object) -> list[Object]:
    """The meshes of all scenes that the armature deforms or carries, except shapes of its bones."""
    found = [ob for ob in bpy.data.objects if ob.type == "MESH" and _is_body(ob, armature)]
    shown = set().union(*(scene.objects for scene in bpy.data.scenes if found)) - bone_shapes_of(armature)
    return [ob for ob in found if ob in shown]


def _is_body(ob: Object, armature: Object) -> bool:
    """Whether the armature deforms the mesh, or it or one of its bones carries it."""
    deformed = any(m.type == "ARMATURE" and m.object == armature and m.show_viewport for m in ob.modifiers)
    return deformed or (ob.parent == armature and ob.parent_type in {"ARMATURE", "BONE"})


def bone_shapes_of(armature: Object) -> set[Object]:
    """The objects that are custom shapes of the armature's bones."""
    return {bone.custom_shape for bone in armature.pose.bones} - {None}


@contextmanager
def _at_rest(armature: Object, bodies: Sequence[Object]) -> Iterator[tuple[Scene, Object, list[Object]]]:
    """A private scene with copies of the armature in its rest pose and of its meshes, within the context."""
    rest, bones = armature.copy(), armature.data.copy()
    rest.data, bones.pose_position = bones, "REST"
    copies = [body.copy() for body in bodies]
    for copy in copies:
        # Blender evaluates nothing that is hidden in viewports, be it by keys.
        copy.animation_data_clear()
        copy.hide_viewport = False
        if copy.parent == armature:
            # Blender clears this matrix with every new parent.
            inverse = copy.matrix_parent_inverse.copy()
            copy.parent, copy.matrix_parent_inverse = rest, inverse
        for modifier in copy.modifiers:
            if modifier.type == "ARMATURE" and modifier.object == armature:
                modifier.object = rest
    try:
        with private_scene([rest, *copies]) as scene:
            yield scene, rest, copies
    finally:
        # Every removal searches the whole file for users.
        bpy.data.batch_remove([rest, *copies, bones])


def vertices_of(mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """The positions (V, 3) of vertices, read from their attribute, 100 times as fast as from their properties."""
    points = np.empty((len(mesh.vertices), 3), np.float32)
    if len(points):
        mesh.attributes["position"].data.foreach_get("vector", points.reshape(-1))
    return points


def _points(body: Object, rest: Object, feet: Sequence[Foot]) -> list[list[Array]]:
    """For each foot, the points (N, 3) of one evaluated mesh that belong to it and to its toes, in armature space."""
    mesh, to_armature = body.to_mesh(), np.array(rest.matrix_world.inverted() @ body.matrix_world, np.float64)
    points = move_points(to_armature, vertices_of(mesh).astype(float))
    if body.parent_type == "BONE":
        found = [[points if body.parent_bone in part else points[:0] for part in foot.parts] for foot in feet]
    else:
        found = _weighed(body, mesh, points, set(rest.data.bones.keys()), feet)
    body.to_mesh_clear()
    return found


def _weighed(
    body: Object, mesh: bpy.types.Mesh, points: Array, bones: set[str], feet: Sequence[Foot]
) -> list[list[Array]]:
    """For each foot, the nearby points that belong to it and to its toes by the weights of bones."""
    parts = (bones, *(part for foot in feet for part in foot.parts))
    groups = [[group.index for group in body.vertex_groups if group.name in names] for names in parts]
    near = [length_of(points - foot.ankle) < foot.reach for foot in feet]
    rows = np.flatnonzero(np.any(near, axis=0) & any(map(len, groups[1:])))
    vertices = mesh.vertices
    of_row = [vertices[row].groups.values() for row in rows.tolist()]
    number, elements = np.repeat(np.arange(len(rows)), list(map(len, of_row))), list(chain.from_iterable(of_row))
    group = np.array([element.group for element in elements])
    weight = np.array([element.weight for element in elements])
    every, *parts = [np.bincount(number, weight * np.isin(group, own), len(rows)) for own in groups]
    return [
        [points[rows[near[foot][rows] & is_own]] for is_own in _most(parts[2 * foot], parts[2 * foot + 1], every)]
        for foot in range(len(feet))
    ]


def _most(foot: Array, toes: Array, every: Array) -> tuple[Mask, Mask]:
    """Which vertices belong to a foot and which to its toes, by their weights and the weight of every bone (V,)."""
    have = foot + toes >= MOST * np.maximum(every, 1e-30)
    return have & (foot >= toes), have & (foot < toes)


def _together(armature: Object, limb: Limb, rows: Sequence[list[Array]], placed: Matrix) -> Skin:
    """The skin of one foot from the points of all meshes, in the spaces of foot and toe bone."""
    foot, toe = (armature.data.bones[name].matrix_local for name in (limb.foot, limb.toe or limb.foot))
    columns = zip(zip(*rows, strict=True), (foot.inverted(), toe.inverted()), strict=True)
    points = [move_points(np.array(inverse, float), np.concatenate(column)) for column, inverse in columns]
    up = np.array((placed @ foot).to_3x3().normalized().inverted_safe(), float)[:, 2]
    return Skin(*points, np.array(foot.inverted() @ toe, float), up / np.linalg.norm(up))
