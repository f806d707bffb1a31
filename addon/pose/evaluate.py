# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading evaluated poses of an armature on any frame, without a change of the user's scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import bpy
import numpy as np
from bpy.types import ID, AnimData, Depsgraph, Object, PoseBone, Scene
from ik2bone.arrays import Array, Mask
from ik2bone.rotations import turn_vectors
from numpy.typing import NDArray

from ..errors import Refusal
from ..keys import actions
from ..progress import Progress, Stages

Shown, Value = TypeVar("Shown"), TypeVar("Value")
# The name of private scenes and of the empties in them.
PRIVATE = ".ik2bone"


@contextmanager
def stepping(armature: Object) -> Iterator[Callable[[int], Object]]:
    """Provide a function that takes a frame and returns the evaluated armature on this frame.

    Frames are stepped in a private scene that holds only the armature. Its dependency graph includes parents and
    constraint targets but no meshes, and does not write back to the armature, so that the user's frame and a pose set
    by hand stay. The private scene is removed in the end.

    The user's frame-change handlers run with the private scene, because a handler may pose the rig, and playback would
    show that pose. Other data that a handler changes stays changed.
    """
    with private_scene([armature]) as scene:
        yield lambda frame: _in_depsgraph(armature, step_scene(scene, frame))


@contextmanager
def private_scene(objects: Sequence[Object]) -> Iterator[Scene]:
    """A temporary scene that holds only these objects, with time, custom properties, action and drivers as in the
    user's scene. NLA tracks of that scene itself are not followed.
    """
    scene, user = bpy.data.scenes.new(PRIVATE), bpy.context.scene
    try:
        for ob in objects:
            scene.collection.objects.link(ob)
        for name in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(scene.render, name, getattr(user.render, name))
        scene.frame_start, scene.frame_end = user.frame_start, user.frame_end
        _copy_properties(bpy.context.view_layer, scene.view_layers[0])
        _copy_properties(user, scene)
        animated = _copy_animation(user.animation_data, scene) if user.animation_data else ()
        # Handlers may set custom properties on every frame.
        _hand_over(user, scene, ("frame_current", "frame_float", "[", *animated))
        yield scene
    finally:
        if _exists(scene):
            with suppress(ReferenceError):
                _hand_over(scene, user)
            _remove(scene)


def _exists(block: ID) -> bool:
    """Whether a datablock was not removed meanwhile: Blender crashes if `batch_remove` or `user_map` gets another."""
    with suppress(ReferenceError):
        return bool(block.name)
    return False


def _remove(scene: Scene) -> None:
    """Remove a private scene, which windows show if the user's scene was removed meanwhile."""
    if any(window.scene == scene for window in bpy.context.window_manager.windows):
        # The other way would leave these windows without a scene, and Blender would crash.
        bpy.data.scenes.remove(scene)
    else:
        # `scenes.remove` crashes Blender 4.2 if there is no window, for instance in a script on a timer.
        bpy.data.batch_remove([scene])


def _copy_properties(old: Any, new: Any) -> None:
    """Copy custom properties."""
    for name in set(old.keys()) - set(old.bl_rna.properties.keys()):
        new[name] = old[name]


def _copy_animation(data: AnimData, scene: Scene) -> list[str]:
    """Give a scene the action and the drivers of another one, and return the data paths of what they animate."""
    own, played = scene.animation_data_create(), actions.assignment_of(data)
    actions.put(own, played)
    for driver in data.drivers:
        own.drivers.from_existing(src_driver=driver)
    return [curve.data_path for curve in (*played.curves, *data.drivers)]


def _hand_over(old: Scene, new: Scene, paths: tuple[str, ...] = ("",)) -> None:
    """Make drivers that read a property of one scene, whose path begins as one of `paths`, read it of another one.

    The frame and the animation of a scene are evaluated in its own dependency graph alone.
    """
    owners = (getattr(owner, "animation_data", None) for owner in bpy.data.user_map(subset=[old])[old])
    variables = (variable for data in owners if data for curve in data.drivers for variable in curve.driver.variables)
    for target in (target for variable in variables for target in variable.targets):
        if target.id == old and target.data_path.startswith(paths):
            target.id = new


def step_scene(scene: Scene, frame: int) -> Depsgraph:
    """The dependency graph of a private scene, evaluated on a frame."""
    scene.frame_set(int(frame))
    return scene.view_layers[0].depsgraph


def read_frames(
    step: Callable[[int], Shown], frames: Sequence[int], reader: Callable[[Shown], Value]
) -> Stages[list[Value]]:
    """The values that `reader` returns for the result of `step` on each of the frames."""
    rows = []
    for number, frame in enumerate(frames):
        rows.append(reader(step(frame)))
        yield Progress(f"sampling frame {frame}", number / len(frames))
    return rows


def present(armature: Object) -> Object:
    """The evaluated armature of the user's scene, including channels that are set by hand."""
    return _in_depsgraph(armature, bpy.context.evaluated_depsgraph_get())


def _in_depsgraph(armature: Object, depsgraph: Depsgraph) -> Object:
    evaluated = armature.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        raise Refusal(f"{armature.name} is disabled in viewports, so it has no pose to read")
    if evaluated.hide_viewport:
        # By keys or a driver: then Blender evaluates the object without its pose.
        frame = depsgraph.scene.frame_current
        raise Refusal(f"{armature.name} is disabled in viewports on frame {frame}, so it has no pose to read there")
    return evaluated


@dataclass(frozen=True)
class Poses:
    """Poses of B bones over F frames.

    placed      (F, 4, 4) world matrices of the armature
    world       (F, B, 4, 4) world matrices of the bones
    basis       (F, B, 4, 4) channels of the bones as matrices
    scale       (F, B, 3) own scales of the bones, by channels and constraints
    influences  (F, C) influences of constraints
    """

    placed: Array
    world: Array
    basis: Array
    scale: Array
    influences: Array

    def cut(self, rows: slice) -> Poses:
        return Poses(*(values[rows] for values in vars(self).values()))


def read_poses(
    step: Callable[[int], Object],
    names: Sequence[str],
    frames: Sequence[int],
    constraints: Sequence[tuple[str, str]] = (),
) -> Stages[Poses]:
    """Step frames, copy raw numbers on each, and compute poses from them afterwards for all frames at once.

    `constraints` names by bone and name the constraints whose influences are read; a muted one counts as 0.
    """
    rows = yield from read_frames(step, frames, lambda evaluated: _numbers(evaluated, names, constraints))
    placed, pose, basis, scale, influences = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    pose, basis = (flat.reshape(len(rows), -1, 4, 4).swapaxes(2, 3) for flat in (pose, basis))
    return Poses(placed, placed[:, None] @ pose, basis, scale, influences)


def _numbers(
    evaluated: Object, names: Sequence[str], constraints: Sequence[tuple[str, str]]
) -> tuple[NDArray | list[float], ...]:
    # Blender finds the number of a bone by going through all of them.
    rows = {name: row for row, name in enumerate(evaluated.pose.bones.keys())}
    index = [rows[name] for name in names]
    sizes = {"matrix": 16, "matrix_basis": 16, "scale": 3}
    pose, basis, scale = (read(evaluated, name, size)[index] for name, size in sizes.items())
    for row, bone in enumerate(evaluated.pose.bones[name] for name in names):
        if bone.constraints:
            scale[row] = np.copysign(np.linalg.norm(shown_channels(evaluated, bone)[:3, :3], axis=0), scale[row])
    switches = [evaluated.pose.bones[bone].constraints[name] for bone, name in constraints]
    influences = [0.0 if switch.mute else switch.influence for switch in switches]
    return np.array(evaluated.matrix_world, float), pose, basis, scale, influences


def shown_channels(evaluated: Object, bone: PoseBone) -> Array:
    """The channels (4, 4) that would bring the bone to its present pose without constraints."""
    local = evaluated.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
    return np.array(local, float)


def with_parents(ob: Object | None) -> Iterator[Object]:
    """The object and its parents, the nearest first."""
    while ob is not None:
        yield ob
        ob = ob.parent


def may_move(ob: Object, played: actions.Curves | None = None) -> bool:
    """Whether anything could move the object or one of its parents. Animated bones do not move their armature.

    `played` are the curves of the object itself, for a caller that has listed them.
    """
    return any(
        _is_animated(part, played if played and part == ob else actions.assigned(part).curves)
        or part.constraints
        or part.parent_type not in {"OBJECT", "ARMATURE"}
        for part in with_parents(ob)
    )


def _is_animated(ob: Object, played: actions.Curves) -> bool:
    drivers = [driver.data_path for driver in ob.animation_data.drivers] if ob.animation_data else []
    paths = [*drivers, *(path for path, _ in played.listed)]
    return is_layered(ob) or not all([path.startswith("pose.bones[") for path in paths])


def is_layered(ob: Object) -> bool:
    """Whether the NLA could show something else than the object's unchanged action."""
    data = ob.animation_data
    if data is None or not data.use_nla:
        return data is not None and data.use_tweak_mode
    played = any(track.is_solo or (track.strips and not track.mute) for track in data.nla_tracks)
    whole = (data.action_blend_type, data.action_extrapolation, data.action_influence) == ("REPLACE", "HOLD", 1.0)
    return data.use_tweak_mode or played or not whole


def step_worlds(objects: Sequence[Object], frames: Sequence[int]) -> Stages[Array]:
    """The world matrices (O, F, 4, 4) of objects on some frames."""
    return (yield from _step(objects, frames, _matrices))


def step_hidden(objects: Sequence[Object], frames: Sequence[int]) -> Stages[Mask]:
    """Whether objects are hidden in viewports on some frames (O, F)."""

    def read(depsgraph: Depsgraph) -> list[bool]:
        return [ob.evaluated_get(depsgraph).hide_viewport for ob in objects]

    return (yield from _step(objects, frames, read))


def _matrices(depsgraph: Depsgraph) -> Array:
    """The world matrices (O, 4, 4) of a scene's objects as they were linked, 20 times as fast as one by one."""
    shown = depsgraph.view_layer_eval.objects
    flat = np.empty((len(shown), 4, 4), np.float32)
    shown.foreach_get("matrix_world", flat.reshape(-1))
    return flat.swapaxes(1, 2).astype(float)


def _step(objects: Sequence[Object], frames: Sequence[int], reader: Callable[[Depsgraph], Any]) -> Stages[NDArray]:
    """The values (O, F, ...) that `reader` returns on each frame of a scene with an empty parented to each object.

    Frames are stepped in a private scene that holds only the empties, so that the user's scene keeps its frame, and
    neither shapes nor poses are evaluated.
    """
    empties = [bpy.data.objects.new(PRIVATE, None) for _ in objects]
    try:
        for ob, empty in zip(objects, empties, strict=True):
            empty.parent = ob
        with private_scene(empties) as scene:
            rows = yield from read_frames(partial(step_scene, scene), frames, reader)
    finally:
        # Every removal searches the whole file for users.
        bpy.data.batch_remove([empty for empty in empties if _exists(empty)])
    return np.array(rows).swapaxes(0, 1)


def heads(armature: Object, frames: list[int]) -> tuple[Array, Mask]:
    """The heads (F, B, 3) of all pose bones, from the armature's origin along the world's axes, and whether each bone's
    channels change (B,).
    """
    joints, bases = [], []
    with stepping(armature) as step:
        for evaluated in map(step, frames):
            joints.append(_along_world(evaluated, read(evaluated, "head", 3)))
            bases.append(read(evaluated, "matrix_basis", 16))
    return np.array(joints), np.ptp(np.array(bases), axis=0).max(axis=-1) > 1e-5


def _along_world(armature: Object, points: Array) -> Array:
    # In Blender 5.2 and later, an array made from a matrix has single precision.
    return turn_vectors(np.array(armature.matrix_world, float), points)


def read(armature: Object, name: str, size: int) -> NDArray[np.float32]:
    """A property (B, size) of all pose bones, 20 times as fast as bone by bone. Matrices are transposed."""
    flat = np.empty(size * len(armature.pose.bones), np.float32)
    armature.pose.bones.foreach_get(name, flat)
    return flat.reshape(-1, size)


def rest_heads(armature: Object) -> Array:
    """The heads (B, 3) of bones in the rest pose, from the armature's origin along the world's axes, in the order of
    `armature.pose.bones`: they are the same wherever the armature stands.
    """
    return _along_world(armature, read_rest(armature, armature.pose.bones.keys(), "head_local", 3))


def read_rest(armature: Object, names: Iterable[str], name: str, size: int) -> Array:
    """A property (B, size) of some bones in the rest pose."""
    bones = armature.data.bones
    flat = np.empty(size * len(bones), np.float32)
    bones.foreach_get(name, flat)
    rows = {bone: row for row, bone in enumerate(bones.keys())}
    return flat.reshape(-1, size)[[rows[bone] for bone in names]].astype(float)


def rest_of(armature: Object) -> tuple[str, list[Array]]:
    """The rest pose as data: names, parents and parenting of the bones, and their matrices and lengths."""
    bones = armature.data.bones
    tree = repr([(bone.name, bone.parent and bone.parent.name, bone.use_relative_parent) for bone in bones])
    return tree, [read_rest(armature, bones.keys(), name, size) for name, size in (("matrix_local", 16), ("length", 1))]
