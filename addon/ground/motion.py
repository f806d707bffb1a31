# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of surfaces over the frames of a clip, and sentences on changes that planting does not follow."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import bpy
import numpy as np
from bpy.types import Depsgraph, DepsgraphObjectInstance, FCurve, Object
from ik2bone.arrays import Array, Mask
from ik2bone.rotations import move_points
from numpy.typing import NDArray

from ..keys import actions, fcurves
from ..pose.evaluate import is_layered, may_move, private_scene, read_frames, step_hidden, step_scene, step_worlds
from ..pose.skins import vertices_of
from ..progress import Stages, finish
from .choose import shows_collection

# The name of the object that instances it, and the numbers by which Blender identifies the instance.
Instance = tuple[str, tuple[int, ...]]

# A surface counts as moving, or as changing its shape, if a corner moves by more than this share of its size.
STILL = 1e-6
# The number of frames on which shapes are compared.
SHAPES = 5


def find_motions(objects: Sequence[Object], frames: Sequence[int]) -> Stages[dict[Object, Array]]:
    """The world matrices (F, 4, 4) of objects that move, on whole frames of the scene."""
    candidates = [ob for ob in objects if may_move(ob)]
    if not candidates or len(frames) < 2:
        return {}
    matrices = yield from step_worlds(candidates, frames)
    return {ob: matrix for ob, matrix in zip(candidates, matrices, strict=True) if _moves(ob, matrix)}


def find_inner_motions(owners: Sequence[Object], frames: Sequence[int]) -> Stages[dict[Instance, Array]]:
    """The world matrices (F, 4, 4) of instances that move within the collections that `owners` instance.

    Whole frames are stepped in a private scene that holds only owners of such collections.
    """
    moving = [ob for ob in owners if any(may_move(inner) for inner in shown_by(ob))]
    if not moving or len(frames) < 2:
        return {}
    with private_scene(moving) as scene:
        rows = yield from read_frames(partial(step_scene, scene), frames, lambda graph: _matrices(graph, moving))
    # An instance that is hidden on some frames counts as still.
    always = set.intersection(*(set(row) for row in rows))
    motions = {instance: np.array([row[instance] for row in rows]) for instance in always}
    return {instance: motion for instance, motion in motions.items() if (motion != motion[0]).any()}


def shown_by(owner: Object) -> Iterator[Object]:
    """The objects that an object instances by its collection, and those that they instance in turn."""
    for ob in owner.instance_collection.all_objects:
        yield ob
        if shows_collection(ob):
            yield from shown_by(ob)


def instances_of(depsgraph: Depsgraph, owners: Sequence[Object]) -> Iterator[tuple[Instance, DepsgraphObjectInstance]]:
    """The instances of `owners`, each with its name, which is the same on every frame."""
    wanted = set(owners)
    for instance in depsgraph.object_instances:
        owner = instance.parent.original if instance.is_instance and instance.parent else None
        if owner in wanted:
            yield (owner.name_full, tuple(instance.persistent_id)), instance


def _matrices(depsgraph: Depsgraph, owners: Sequence[Object]) -> dict[Instance, Array]:
    return {name: np.array(instance.matrix_world, float) for name, instance in instances_of(depsgraph, owners)}


def _moves(ob: Object, matrices: Array) -> bool:
    return _vary(move_points(matrices[:, None], np.array(ob.bound_box)))


def _vary(points: Sequence[NDArray]) -> bool:
    """Whether the number of points (N, 3) varies, or one of them moves by more than STILL of their size."""
    counts = {len(each) for each in points}
    if len(counts) > 1 or 0 in counts:
        return len(counts) > 1
    return bool(np.ptp(points, axis=0).max() > STILL * max(np.ptp(points[0], axis=0).max(), 1e-30))


def find_unfollowed(objects: Sequence[Object], frames: Sequence[int]) -> Stages[list[str]]:
    """Sentences about surfaces that change over the frames in ways that planting does not follow."""
    if len(frames) < 2:
        return []
    now = bpy.context.scene.frame_current
    bodies = [ob for ob in objects if ob.rigid_body and ob.rigid_body.type == "ACTIVE"]
    told = [f"{ob.name} is simulated, and was taken where it is on frame {now}: bake it to keys" for ob in bodies]
    hidden = yield from _hidden_on(objects, frames)
    some = [ob for ob, states in hidden.items() if states.any()]
    told += [f"{ob.name} is hidden on some frames, and was planted on as if it showed on all" for ob in some]
    meshes = [ob for ob in objects if ob.type == "MESH"]
    may_change = [ob for ob in meshes if ob.modifiers or ob.data.shape_keys or ob.data.animation_data]
    changing = yield from _changing(may_change, frames)
    return told + [f"{ob.name} changes its shape, and was taken as it is on frame {now}" for ob in changing]


def tell_hidden(objects: Sequence[Object], frames: Sequence[int]) -> list[str]:
    """Sentences about objects that are hidden in viewports now, but visible on some of the frames."""
    now = bpy.context.scene.frame_current
    left = f"is hidden on frame {now} and was not planted on, though it shows on others: plant again on one of those"
    hidden = finish(_hidden_on(objects, frames))
    return [f"{ob.name} {left}" for ob, states in hidden.items() if not states.all()]


def _hidden_on(objects: Sequence[Object], frames: Sequence[int]) -> Stages[dict[Object, Mask]]:
    """For objects whose visibility may change: whether viewports hide them, frame by frame (F,)."""
    # Keys are evaluated directly where nothing else decides, because stepping takes 15 times as long: 0.5 s for 100
    # objects over 200 frames.
    keyed = ((ob, _hiding(actions.assigned(ob).curves)) for ob in objects)
    states = {
        ob: np.array([any(c.evaluate(f) >= 1.0 for c in curves) for f in frames]) for ob, curves in keyed if curves
    }
    stepped = [ob for ob in objects if is_layered(ob) or (ob.animation_data and _hiding(ob.animation_data.drivers))]
    return states | dict(zip(stepped, (yield from step_hidden(stepped, frames)) if stepped else (), strict=True))


def _hiding(curves: Iterable[FCurve]) -> list[FCurve]:
    """The curves of `hide_viewport` that are not muted."""
    return [curve for curve in curves if curve.data_path == "hide_viewport" and not fcurves.is_muted(curve)]


def _changing(objects: Sequence[Object], frames: Sequence[int]) -> Stages[list[Object]]:
    """The objects whose evaluated shape differs between some of the frames."""
    if not objects:
        return []
    rows = np.unique(np.linspace(0, len(frames) - 1, SHAPES).round().astype(int))
    with private_scene(objects) as scene:
        step, some = partial(step_scene, scene), [frames[row] for row in rows]
        shapes = yield from read_frames(
            step, some, lambda graph: [vertices_of(ob.evaluated_get(graph).data) for ob in objects]
        )
    return [ob for ob, *found in zip(objects, *shapes, strict=True) if _vary(found)]
