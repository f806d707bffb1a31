# SPDX-License-Identifier: GPL-3.0-or-later
"""How the surfaces move over the frames of a clip, and which of them change in ways that planting does not follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np
from bpy.types import Object, Scene
from numpy.typing import NDArray

from .poses import private_scene

Array = NDArray[np.float64]

# A surface moves, or changes its shape, when a corner does by more than this share of its size.
STILL = 1e-6
# Frames on which shapes are compared.
SHAPES = 5


def find_motions(objects: Sequence[Object], frames: Sequence[int]) -> dict[Object, Array]:
    """World matrices (F, 4, 4) on whole scene frames of those objects that move.

    Frames are stepped in a scene of its own that holds only an empty under each of them, so that the user's scene
    stays where it is and no shape is worked out.
    """
    candidates = [ob for ob in objects if _may_move(ob)]
    if not candidates or len(frames) < 2:
        return {}
    with _followers(candidates) as (scene, empties):
        rows = [_matrices(scene, empties, frame) for frame in frames]
    matrices = np.array(rows).swapaxes(0, 1)
    return {ob: matrix for ob, matrix in zip(candidates, matrices, strict=True) if _moves(ob, matrix)}


def _may_move(ob: Object) -> bool:
    """Whether anything could move the object or what carries it."""
    part: Object | None = ob
    while part is not None:
        if part.animation_data or part.constraints or part.parent_type not in {"OBJECT", "ARMATURE"}:
            return True
        part = part.parent
    return False


@contextmanager
def _followers(objects: Sequence[Object]) -> Iterator[tuple[Scene, list[Object]]]:
    scene, empties = private_scene([]), []
    try:
        for ob in objects:
            empty = bpy.data.objects.new(".ik2bone", None)
            empties.append(empty)
            empty.parent = ob
            scene.collection.objects.link(empty)
        yield scene, empties
    finally:
        for empty in empties:
            bpy.data.objects.remove(empty)
        bpy.data.scenes.remove(scene)


def _matrices(scene: Scene, objects: Sequence[Object], frame: int) -> list[Array]:
    scene.frame_set(int(frame))
    depsgraph = scene.view_layers[0].depsgraph
    return [np.array(ob.evaluated_get(depsgraph).matrix_world) for ob in objects]


def _moves(ob: Object, matrices: Array) -> bool:
    corners = np.append(np.array(ob.bound_box), np.ones((8, 1)), axis=1)
    places = (matrices @ corners.T)[:, :3]
    size = np.ptp(places[0], axis=-1).max(initial=1e-30)
    return bool(np.ptp(places, axis=0).max() > STILL * size)


def find_unfollowed(objects: Sequence[Object], frames: Sequence[int]) -> list[str]:
    """Sentences about surfaces that change in ways that are not followed over the frames."""
    if len(frames) < 2:
        return []
    now = bpy.context.scene.frame_current
    bodies = [ob for ob in objects if ob.rigid_body and ob.rigid_body.type == "ACTIVE"]
    told = [f"{ob.name} is simulated, and was taken where it is on frame {now}: bake it to keys" for ob in bodies]
    changing = _changing([ob for ob in objects if _may_change(ob)], frames)
    return told + [f"{ob.name} changes its shape, and was taken as it is on frame {now}" for ob in changing]


def _may_change(ob: Object) -> bool:
    return ob.type == "MESH" and bool(ob.modifiers or ob.data.shape_keys or ob.data.animation_data)


def _changing(objects: Sequence[Object], frames: Sequence[int]) -> list[Object]:
    """Those of the objects whose evaluated shape is not the same on all of some frames."""
    if not objects:
        return []
    scene = private_scene(objects)
    try:
        chosen = [frames[i] for i in np.unique(np.linspace(0, len(frames) - 1, SHAPES).round().astype(int))]
        shapes = [_shapes(scene, objects, frame) for frame in chosen]
    finally:
        bpy.data.scenes.remove(scene)
    return [ob for i, ob in enumerate(objects) if any(_differ(shapes[0][i], shape[i]) for shape in shapes[1:])]


def _shapes(scene: Scene, objects: Sequence[Object], frame: int) -> list[Array]:
    scene.frame_set(int(frame))
    depsgraph = scene.view_layers[0].depsgraph
    shapes = []
    for ob in objects:
        vertices = ob.evaluated_get(depsgraph).data.vertices
        points = np.empty(3 * len(vertices), np.float32)
        vertices.foreach_get("co", points)
        shapes.append(points.reshape(-1, 3))
    return shapes


def _differ(before: Array, after: Array) -> bool:
    if before.shape != after.shape:
        return True
    size = np.ptp(before, axis=0).max(initial=1e-30) if len(before) else 1.0
    return bool(len(before) and np.abs(after - before).max() > STILL * size)
