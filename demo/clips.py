# SPDX-License-Identifier: GPL-3.0-or-later
"""Import a recorded clip (bvh, fbx, gltf, glb) into the current scene, ready to be planted."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from math import ceil, floor
from pathlib import Path

import numpy as np

# A figure is taken to stand along the file's Z instead of its Y axis when it is this much longer that way.
Z_UP_RATIO = 1.3
# A first frame is a calibration pose when the figure leaves it by this share of its height, and by this multiple of
# the next frames' median step. Measured on 21 clips: calibration poses 0.18 to 0.57 and 16 to 390, others 0.09 and 1.1.
POSE_JUMP, POSE_JUMP_RATIO, POSE_JUMP_FRAMES = 0.12, 6.0, 14


def load(bpy, path: str | Path, action: str | None = None):
    """Import the clip at `path`, assign `action` (default: its first), and return the armature object.

    The scene takes the clip's range, without a calibration pose on its first frame, and a bvh file's frame rate.
    """
    path = Path(path)
    before = set(bpy.data.objects)
    importer = _IMPORTERS.get(path.suffix.lower())
    if importer is None:
        raise ValueError(f"a clip is expected as .bvh, .fbx, .gltf or .glb, got {path.name}")
    importer(bpy, str(path))
    armature = _largest_armature(set(bpy.data.objects) - before, path)
    _assign(bpy, armature, action)
    _set_range(bpy.context.scene, armature)
    return armature


def _import_bvh(bpy, path: str) -> None:
    """Import with Y up as is usual, and once more with Z up when the figure turns out to lie on its back or face."""
    options = {"filepath": path, "update_scene_fps": True, "update_scene_duration": True}
    _quietly(bpy.ops.import_anim.bvh, **options)
    armature = bpy.context.object
    extent = _median_extent(bpy.context.scene, armature)
    if extent[1] > Z_UP_RATIO * extent[2]:
        _remove(bpy, armature)
        _quietly(bpy.ops.import_anim.bvh, **options, axis_forward="Y", axis_up="Z")


def _quietly(importer, **options) -> None:
    """The bvh importer prints a line for each bone without length."""
    with redirect_stdout(StringIO()):
        importer(**options)


def _import_fbx(bpy, path: str) -> None:
    """Blender 4.5 brought an importer of its own; older ones have the add-on."""
    if "fbx_import" in dir(bpy.ops.wm):
        bpy.ops.wm.fbx_import(filepath=path)
    else:
        bpy.ops.import_scene.fbx(filepath=path)


def _import_gltf(bpy, path: str) -> None:
    bpy.ops.import_scene.gltf(filepath=path)


_IMPORTERS = {".bvh": _import_bvh, ".fbx": _import_fbx, ".gltf": _import_gltf, ".glb": _import_gltf}


def _remove(bpy, armature) -> None:
    action = armature.animation_data.action
    bpy.data.armatures.remove(armature.data)
    bpy.data.actions.remove(action)


def _largest_armature(objects, path: Path):
    armatures = [ob for ob in objects if ob.type == "ARMATURE"]
    if not armatures:
        raise ValueError(f"{path.name} holds no armature")
    return max(armatures, key=lambda ob: len(ob.data.bones))


def _assign(bpy, armature, name: str | None) -> None:
    """Assign one action and mute the NLA tracks, on which the glTF importer puts every clip of the file."""
    actions = _actions(armature)
    if name is not None and name not in actions:
        raise ValueError(f"{armature.name} has no action named {name}, only: {', '.join(actions) or 'none at all'}")
    if not actions:
        return
    animation = armature.animation_data
    for track in animation.nla_tracks:
        track.mute = True
    animation.action = actions[name] if name is not None else next(iter(actions.values()))
    if getattr(animation, "action_slot", True) is None:
        animation.action_slot = animation.action_suitable_slots[0]


def _actions(armature) -> dict:
    """The armature's actions in the file's order, also by the names of the clips that the glTF importer extended."""
    animation = armature.animation_data
    if animation is None:
        return {}
    found = [animation.action] if animation.action else []
    found += [strip.action for track in reversed(animation.nla_tracks) for strip in track.strips]
    named = {action.name: action for action in found}
    return named | {name.removesuffix(f"_{armature.name}"): action for name, action in named.items()}


def _set_range(scene, armature) -> None:
    curves = _curves(armature.animation_data)
    if not curves:
        return
    scene.frame_start = floor(min(curve.range()[0] for curve in curves))
    scene.frame_end = ceil(max(curve.range()[1] for curve in curves))
    if _starts_in_calibration_pose(scene, armature):
        scene.frame_start += 1
    scene.frame_set(scene.frame_start)


def _curves(animation) -> list:
    """The armature's own curves: an action from 4.4 on may hold those of cameras and props beside them."""
    if animation is None or animation.action is None:
        return []
    action = animation.action
    if not hasattr(action, "slots"):
        return list(action.fcurves)
    bags = [strip.channelbag(animation.action_slot) for layer in action.layers for strip in layer.strips]
    return [curve for bag in bags if bag for curve in bag.fcurves]


def _joints(scene, armature, frame: int) -> np.ndarray:
    """World positions of all bone heads on a frame."""
    scene.frame_set(frame)
    world = np.array(armature.matrix_world)
    heads = np.array([bone.head for bone in armature.pose.bones])
    return heads @ world[:3, :3].T + world[:3, 3]


def _median_extent(scene, armature) -> np.ndarray:
    frames = np.linspace(scene.frame_start, scene.frame_end, 9).astype(int)
    return np.median([np.ptp(_joints(scene, armature, int(frame)), axis=0) for frame in frames], axis=0)


def _starts_in_calibration_pose(scene, armature) -> bool:
    frames = range(scene.frame_start, min(scene.frame_start + POSE_JUMP_FRAMES, scene.frame_end + 1))
    joints = np.array([_joints(scene, armature, frame) for frame in frames])
    if len(joints) < 4:
        return False
    steps = np.linalg.norm(np.diff(joints, axis=0), axis=2).max(axis=1)
    height = np.ptp(joints[1], axis=0).max()
    return steps[0] > POSE_JUMP * height and steps[0] > POSE_JUMP_RATIO * np.median(steps[1:])
