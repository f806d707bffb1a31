# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading clips and grounds from files into the present scene."""

from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from io import StringIO
from math import ceil, floor
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Action, FCurve, Object, Scene
from ik2bone.clip import Clip
from ik2bone.plan import starts_in_calibration_pose

from ..errors import Refusal
from ..keys import actions
from ..keys.keyframes import HANDLES, column, put
from ..pose.evaluate import with_parents
from ..pose.sample import sample
from ..rig.find import find_legs

# The number of frames that decide which way up a clip is.
LOOKS = 9
BLEND = ".blend"


def read_clip(path: Path) -> Object:
    """Import a clip and return its armature; of several armatures, the one with the most bones.

    The armature plays the first action of the file, and the scene gets the frames of that action. A blend file replaces
    the present file and is not changed.
    """
    before, known = set(bpy.data.objects), set(bpy.data.actions)
    _read(path, CLIPS, "a clip")
    is_blend = path.suffix.lower() == BLEND
    shown = bpy.context.view_layer.objects
    armatures = [ob for ob in shown if ob.type == "ARMATURE" and (is_blend or ob not in before)]
    if not armatures:
        raise Refusal(f"{path.name} holds no armature{' that its view layer has' if is_blend else ''}")
    armature = max(armatures, key=lambda ob: len(ob.data.bones))
    if not is_blend:
        _put_on_tracks(armature, known)
    found = actions_of(armature)
    if found and not is_blend:
        play(armature, next(iter(found.values())))
    return armature


def _put_on_tracks(armature: Object, known: set[Action]) -> None:
    """Put each action of the armature that nothing plays, and that is not known, on a muted track of its own.

    Importers of fbx files leave all actions but one unplayed.
    """
    known = known.union(*(actions.played_by(ob) for ob in bpy.data.objects))
    for action in [action for action in bpy.data.actions if action not in known][::-1]:
        motion = actions.fitting(armature, action)
        if motion.slot in (None, f"OB{armature.name}") and motion.curves.bones() & set(armature.pose.bones.keys()):
            track = (armature.animation_data or armature.animation_data_create()).nla_tracks.new()
            track.mute = True
            actions.put(track.strips.new(action.name, 1, action), motion)


def read_ground(path: Path) -> list[Object]:
    """Import a ground without moving it, and return its meshes. It moves as in its file, at the scene's frame rate."""
    before, render = set(bpy.data.objects), bpy.context.scene.render
    fps, base = render.fps, render.fps_base
    _read(path, GROUNDS, "a ground")
    found = [ob for ob in bpy.data.objects if ob not in before]
    # The importer of fbx files gives the scene the frame rate of the file.
    longer = (fps / base) / (render.fps / render.fps_base)
    render.fps, render.fps_base = fps, base
    meshes = [ob for ob in found if ob.type == "MESH" and ob.data.polygons]
    for moved in {*found, *(ob.data.shape_keys for ob in meshes)} - {None} if longer != 1.0 else ():
        # The importer of fbx files puts time zero on frame 1.
        _scale_keys(actions.assigned(moved).curves, 0, longer, 1.0)
    if not meshes:
        raise Refusal(f"{path.name} holds no mesh with faces to walk on")
    return meshes


def _scale_keys(curves: Iterable[FCurve], axis: int, factor: float, fixed: float = 0.0) -> None:
    """Multiply the distances of keys and handles from a `fixed` frame (axis 0) or value (axis 1)."""
    for curve in curves:
        for name in ("co", *HANDLES):
            places = column(curve, name).astype(float)
            places[:, axis] = fixed + (places[:, axis] - fixed) * factor
            put(curve, {name: places}, [name])
        curve.update()


def actions_of(armature: Object) -> dict[str, Action]:
    """The actions of an armature by name, in the order of its file.

    The importer of glTF files puts each action on a track and appends the armature's name to the action's name (in
    Blender 4.2 twice). Blender's fbx files have it before the name. The names here are without it, unless two actions
    would have the same name then.
    """
    animation = armature.animation_data
    if animation is None:
        return {}
    found = [animation.action] if animation.action else []
    found += [strip.action for track in reversed(animation.nla_tracks) for strip in track.strips if strip.action]
    found = list(dict.fromkeys(found))
    before, added = f"{armature.name}|", f"_{armature.name}"
    names = [action.name.removeprefix(before).removesuffix(added).removesuffix(added) for action in found]
    return {name if names.count(name) == 1 else each.name: each for name, each in zip(names, found, strict=True)}


def enlarge(armature: Object, factor: float) -> None:
    """Scale the topmost parent of an armature, or the armature itself, together with its keys of location and scale.

    The topmost parent may be animated, and importers of fbx files always key location and scale.
    """
    *_, top = with_parents(armature)
    top.location *= factor
    top.scale *= factor
    for action in actions_of(top).values() if factor != 1.0 else ():
        curves = actions.fitting(top, action).curves
        _scale_keys([curve for curve in curves if curve.data_path in ("location", "scale")], 1, factor)


def play(armature: Object, action: Action) -> None:
    """Make the armature play one action alone, and set the scene to its frames without a calibration pose."""
    animation, scene = armature.animation_data, bpy.context.scene
    for track in animation.nla_tracks:
        track.mute = True
    actions.put(animation, actions.fitting(armature, action))
    span = actions.assigned(armature).curves.span()
    if span is not None:
        scene.frame_start, scene.frame_end = floor(span[0]), ceil(span[1])
        scene.frame_start += _starts_in_calibration_pose(scene, armature)
        scene.frame_set(scene.frame_start)


def _read(path: Path, readers: dict[str, Callable[[str], Any]], what: str) -> None:
    """Import a file by its suffix. Raises `Refusal` with the file's name if Blender cannot read it."""
    kind = path.suffix.lower()
    if not path.is_file():
        raise Refusal(f"there is no file {path}")
    if kind not in readers:
        raise Refusal(f"{what} is expected as one of {', '.join(readers)}, got {path.name}")
    try:
        # The importer of bvh files prints a line for each bone of length zero.
        with redirect_stdout(StringIO()):
            # Blender resolves relative paths by the variable PWD, which may differ from the working directory.
            readers[kind](str(path.absolute()))
    except RuntimeError as error:
        raise Refusal(f"{path.name} cannot be read as a {kind} file: {_why(error)}") from None


def _why(error: RuntimeError) -> str:
    """What an importer raised, with an explanation."""
    why = last_line(error)
    # Importers written in Python raise these where a file ends early.
    return f"it is damaged or cut off ({why})" if why.startswith(("IndexError:", "ValueError:", "KeyError:")) else why


def last_line(error: RuntimeError) -> str:
    """The last line of an operator's error, without the location in Blender's code that follows it."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("Location:")]
    return lines[-1].removeprefix("Error: ").strip() if lines else "Blender does not tell why"


def _read_bvh(path: str) -> None:
    """Import with Y up, which is usual. If the figure lies then, import again with Z up."""
    options = {"filepath": path, "update_scene_fps": True, "update_scene_duration": True}
    bpy.ops.import_anim.bvh(**options)
    armature = bpy.context.object
    if _lies(bpy.context.scene, armature):
        action = armature.animation_data.action
        bpy.data.armatures.remove(armature.data)
        bpy.data.actions.remove(action)
        bpy.ops.import_anim.bvh(**options, axis_forward="Y", axis_up="Z")


def _read_fbx(path: str) -> None:
    """Use the importer of Blender 4.5 and later, or the add-on of older ones."""
    if "fbx_import" in dir(bpy.ops.wm):
        bpy.ops.wm.fbx_import(filepath=path)
    else:
        bpy.ops.import_scene.fbx(filepath=path)


CLIPS: dict[str, Callable[[str], Any]] = {
    ".bvh": _read_bvh,
    ".fbx": _read_fbx,
    ".gltf": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    BLEND: lambda path: bpy.ops.wm.open_mainfile(filepath=path, load_ui=False),
}
GROUNDS: dict[str, Callable[[str], Any]] = {
    ".obj": lambda path: bpy.ops.wm.obj_import(filepath=path),
    ".ply": lambda path: bpy.ops.wm.ply_import(filepath=path),
    ".stl": lambda path: bpy.ops.wm.stl_import(filepath=path),
    ".fbx": _read_fbx,
    ".gltf": CLIPS[".gltf"],
    ".glb": CLIPS[".glb"],
}


def _legs_on(armature: Object, frames: Iterable[int]) -> Clip | None:
    """The clip of the legs on some frames of the scene; None without legs, or where they cannot be sampled."""
    scene = bpy.context.scene
    try:
        legs = find_legs(armature, (scene.frame_start, scene.frame_end))
        return sample(armature, legs, None, list(frames)).clip
    except Refusal:
        return None


def _lies(scene: Scene, armature: Object) -> bool:
    """Whether the legs extend farther along Y than along Z, so that the figure lies on its back or face."""
    clip = _legs_on(armature, np.linspace(scene.frame_start, scene.frame_end, LOOKS).astype(int).tolist())
    along = np.zeros(3) if clip is None else np.median(clip.hip - clip.ankle, axis=(0, 1))
    return bool(abs(along[1]) > abs(along[2]))


def _starts_in_calibration_pose(scene: Scene, armature: Object) -> bool:
    second = scene.frame_start + scene.render.fps + 3
    clip = _legs_on(armature, range(scene.frame_start, min(second, scene.frame_end) + 1))
    return clip is not None and starts_in_calibration_pose(clip)
