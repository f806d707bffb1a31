# SPDX-License-Identifier: GPL-3.0-or-later
"""Import a recorded clip (bvh, fbx, gltf, glb) into the current scene, ready to be planted."""

from __future__ import annotations

from math import ceil, floor
from pathlib import Path

import numpy as np

# A figure is taken to stand along the file's Z instead of its Y axis when it is this much longer that way.
Z_UP_RATIO = 1.3
# A first frame is a calibration pose when the figure leaves it by this share of its height, and by this multiple of
# the next frames' steps. Measured on the data folder: calibration poses 0.1 to 0.5 and 20 to 300, others 0.03 and 2.
POSE_JUMP, POSE_JUMP_RATIO = 0.06, 8.0


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
    bpy.ops.import_anim.bvh(**options)
    armature = bpy.context.object
    extent = _median_extent(bpy.context.scene, armature)
    if extent[1] > Z_UP_RATIO * extent[2]:
        _remove(bpy, armature)
        bpy.ops.import_anim.bvh(**options, axis_forward="Y", axis_up="Z")


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
    animation = armature.animation_data
    if animation is None:
        if name is not None:
            raise ValueError(f"{armature.name} has no action named {name}: it has none at all")
        return
    actions = [strip.action for track in animation.nla_tracks for strip in track.strips]
    actions += [animation.action] if animation.action else []
    if not actions:
        return
    for track in animation.nla_tracks:
        track.mute = True
    names = [action.name for action in actions]
    if name is not None and name not in names:
        raise ValueError(f"{armature.name} has no action named {name}: it has {', '.join(names)}")
    animation.action = actions[names.index(name) if name is not None else 0]
    if getattr(animation, "action_slot", True) is None:
        animation.action_slot = animation.action_suitable_slots[0]


def _set_range(scene, armature) -> None:
    animation = armature.animation_data
    if animation is None or animation.action is None:
        return
    start, end = animation.action.frame_range
    scene.frame_start, scene.frame_end = floor(start), ceil(end)
    if _starts_in_calibration_pose(scene, armature):
        scene.frame_start += 1
    scene.frame_set(scene.frame_start)


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
    frames = range(scene.frame_start, min(scene.frame_start + 6, scene.frame_end + 1))
    joints = np.array([_joints(scene, armature, frame) for frame in frames])
    if len(joints) < 4:
        return False
    steps = np.linalg.norm(np.diff(joints, axis=0), axis=2).max(axis=1)
    height = np.ptp(joints[1], axis=0).max()
    return steps[0] > POSE_JUMP * height and steps[0] > POSE_JUMP_RATIO * np.median(steps[1:])
