# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting one file of clips, and writing its report and the planted clips."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, count
from math import radians
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Object
from ik2bone.rotations import inverse_of, nearest_rotations
from mathutils import Matrix

from ..errors import Refusal
from ..ground.meshes import is_uneven
from ..ground.motion import find_motions
from ..pose.evaluate import read_poses, stepping
from ..progress import finish
from ..run import layers, records
from .read import BLEND, actions_of, enlarge, last_line, play, read_clip, read_ground

# The collection of the ground. Its name is an unusual one, because `surface` prefers an object of the same name.
GROUND = "ik2bone ground"
REPORT = ".json"
Y_UP = Matrix.Rotation(radians(-90.0), 4, "X")
# The greatest share of the leg by which feet may come to lie elsewhere in a file.
OFF = 1e-3


@dataclass(frozen=True)
class Job:
    """What is asked for each clip of a batch.

    output       the folder that gets one report and the planted clips of each file
    ground       a file of meshes; None plants on what the clip's file holds, or on the clip's own floor
    kind         of the files that are written: .blend, .bvh, .fbx or .glb
    scale        the factor by which a clip is enlarged to the units of the ground
    all_actions  every action of a file is planted, not only the first one
    resume       a file that has a report is left as it is
    options      properties of the operator `ik2bone.plant_feet`
    """

    output: Path
    ground: Path | None = None
    kind: str = BLEND
    scale: float = 1.0
    all_actions: bool = False
    resume: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


def plant_file(clip: Path, job: Job) -> dict[str, Any]:
    """Plant the clips of a file as the job says, and return what its report holds.

    `clip` is the file, `seconds` the time that it took, `written` the names of files made, `error` a sentence where
    the file could not be planted at all, and `actions` one entry for each action: its name, and either `report`, the
    figures as on a planted action, or `error`, why it was not planted or not written. The present file is lost.
    """
    # The report is written last, so that it marks a file as done.
    started, report = time.monotonic(), job.output / (clip.stem + REPORT)
    done = _report_in(report) if job.resume else None
    if done is not None:
        return done
    told: dict[str, Any] = {"clip": str(clip), "actions": [], "written": []}
    job.output.mkdir(parents=True, exist_ok=True)
    try:
        armature, options = _open(clip, job)
        told["actions"] = list(_plant(clip, armature, job, options, told["written"]))
    except Refusal as refusal:
        told["error"] = str(refusal)
    told["seconds"] = round(time.monotonic() - started, 3)
    text = json.dumps(told, indent=1) + "\n"
    try:
        _replace(report, lambda path: path.write_text(text, encoding="utf-8"))
    except OSError as error:
        told["error"] = f"{report.name} cannot be written: {error.strerror}"
    return told


def _report_in(path: Path) -> dict[str, Any] | None:
    """The content of a report of `plant_file`; None if there is no such file or if it holds something else."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError):
        return None
    return told if isinstance(told, dict) and told.keys() >= {"clip", "actions", "written", "seconds"} else None


def lines_of(told: Mapping[str, Any]) -> Iterator[str]:
    """A report of `plant_file` as lines: how many actions were planted, and why others were not."""
    errors = [entry for entry in told["actions"] if "error" in entry]
    count = len(told["actions"])
    yield told.get("error") or f"planted {count - len(errors)} of {count} in {told['seconds']:.1f} s"
    yield from (f"{entry['action']}: {entry['error']}" for entry in errors)


def is_planted(told: Mapping[str, Any]) -> bool:
    """Whether everything in a report of `plant_file` was planted and written."""
    return "error" not in told and all("error" not in entry for entry in told["actions"])


def _open(clip: Path, job: Job) -> tuple[Object, dict[str, Any]]:
    """Read a clip and its ground into an empty file, and return the armature and the operator's options."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    armature = read_clip(clip)
    enlarge(armature, job.scale)
    # `read_clip` sets the scene's frames without a calibration pose, but leaves those of a blend file unchanged.
    options: dict[str, Any] = {} if clip.suffix.lower() == BLEND else {"frame_range": "SCENE"}
    if job.ground is not None:
        collection = bpy.data.collections.new(GROUND)
        bpy.context.scene.collection.children.link(collection)
        for mesh in read_ground(job.ground):
            collection.objects.link(mesh)
        options["surface"] = collection.name
    return armature, options | dict(job.options)


def _plant(
    clip: Path, armature: Object, job: Job, options: dict[str, Any], written: list[str]
) -> Iterator[dict[str, Any]]:
    """Plant the actions one after the other. A blend file gets all of them, any other file one action."""
    chosen, planted = actions_of(armature) if job.all_actions else {}, False
    for name, action in chosen.items() or [(clip.stem, None)]:
        # Without dots in the second part, action run.fast of walk and action fast of walk.run get different names.
        result = f"{clip.stem}.{name.replace('.', '_')}" if chosen else clip.stem
        if action is not None:
            play(armature, action)
        try:
            entry = {"action": name, "report": _plant_action(armature, options)}
            planted = True
            if job.kind != BLEND:
                _write(result, armature, job, clip, written)
        except Refusal as refusal:
            entry = {"action": name, "error": str(refusal)}
        yield entry
    if job.kind == BLEND and planted:
        _write(clip.stem, armature, job, clip, written)


def _plant_action(armature: Object, options: Mapping[str, Any]) -> dict[str, Any]:
    _select(armature)
    if armature.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        bpy.ops.ik2bone.plant_feet(**options)
    except RuntimeError as error:
        raise Refusal(str(error).removeprefix("Error: ").removeprefix("Not planted: ").strip()) from None
    return records.read(layers.shown_action(armature))["report"]


def _select(armature: Object) -> None:
    """Select only an armature and its children, because every selected armature would be planted."""
    bpy.context.view_layer.objects.active = armature
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob is armature or ob.parent is armature)


def safe_name(name: str) -> str:
    """A name that is valid for files on every system."""
    return "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in name)


def _write(name: str, armature: Object, job: Job, clip: Path, written: list[str]) -> None:
    """Write the planted clip that the armature plays, under a name that is valid on every system and not used yet.

    Raises `Refusal` if the file of the clip or of the ground would be replaced.
    """
    safe = safe_name(name)
    taken, names = {other.casefold() for other in written}, chain([safe], (f"{safe}_{n}" for n in count(2)))
    name = next(free for free in (one + job.kind for one in names) if free.casefold() not in taken)
    path = job.output / name
    if job.kind != BLEND:
        _show(armature)
    try:
        if path.exists() and any(path.samefile(source) for source in (clip, job.ground) if source):
            raise Refusal(
                f"{name} there is the clip or its ground: choose another folder than {job.output} for results"
            )
        _replace(path, lambda path: WRITERS[job.kind](str(path.absolute())))
    except OSError as error:
        raise Refusal(f"{name} cannot be written: {error.strerror}") from None
    except RuntimeError as error:
        raise Refusal(f"{name} cannot be written: {last_line(error)}") from None
    written.append(name)


def _show(armature: Object) -> None:
    """Unhide and select an armature: exporters leave out objects that are hidden, or whose collection is."""
    if not armature.visible_get() and armature.name not in bpy.context.scene.collection.objects:
        bpy.context.scene.collection.objects.link(armature)
    armature.hide_select = False
    armature.hide_set(False)
    armature.select_set(True)


def _replace(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file under another name, then rename it, so that a stopped process leaves no incomplete file."""
    beside = path.with_name(f".{path.name}")
    try:
        write(beside)
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink()


def _write_bvh(path: str) -> None:
    """Write bones in world space with Y up, as readers of bvh files expect; Blender's exporter does neither."""
    armature = bpy.context.view_layer.objects.active
    frames = _show_planted(armature)
    if finish(find_motions([armature], frames)):
        raise Refusal(f"{armature.name} moves as an object, and bvh files hold bones alone: choose another kind")
    if armature.matrix_world.is_negative or is_uneven(np.array(armature.matrix_world, float)):
        raise Refusal(
            f"{armature.name} is mirrored or scaled unevenly, and bvh files hold neither: choose another kind"
        )
    place, rotation, scale = armature.matrix_world.decompose()
    if _most_off(armature, frames, scale.x) > OFF:
        raise Refusal(f"{armature.name} has scaled bones, and bvh files hold no scale: choose another kind")
    placing = Y_UP @ Matrix.LocRotScale(place / scale.x, rotation, None)
    _turn(armature, placing)
    try:
        bpy.ops.export_anim.bvh(
            filepath=path,
            frame_start=frames[0],
            frame_end=frames[-1],
            rotate_mode="NATIVE",
            global_scale=scale.x,
        )
    finally:
        _turn(armature, placing.inverted())


def _show_planted(armature: Object) -> range:
    """Make the scene show all planted frames, because bvh and fbx files hold those of the scene, and return these."""
    scene, report = bpy.context.scene, records.read(layers.shown_action(armature))["report"]
    # A single pose leaves no report.
    first, last = report.get("frames", (scene.frame_start, scene.frame_end))
    scene.frame_start, scene.frame_end = min(scene.frame_start, first), max(scene.frame_end, last)
    if first < scene.frame_start:
        raise Refusal(f"planted frames begin at {first}, and bvh and fbx files begin at 0: choose another kind")
    return range(scene.frame_start, scene.frame_end + 1)


def _most_off(armature: Object, frames: Sequence[int], size: float) -> float:
    """How far planted feet come to lie elsewhere at most if no bone above them is scaled, as a share of the leg."""
    report, bones = records.read(layers.shown_action(armature))["report"], armature.pose.bones
    feet = [bones[foot["bone"]] for foot in report.get("feet", ())]
    lines, off = [[*reversed(foot.parent_recursive), foot] for foot in feet], 0.0
    with stepping(armature) as step:
        for line in lines:
            world = finish(read_poses(step, [bone.name for bone in line], frames)).world
            above = world[:, :-1, :3, :3]
            ways = (inverse_of(world[:, :-1]) @ world[:, 1:])[..., :3, 3:]
            lost = ((above - size * nearest_rotations(above)) @ ways).sum(axis=1)
            off = max(off, float(np.linalg.norm(lost, axis=1).max()))
    return off and off / report["leg"]


def _turn(armature: Object, matrix: Matrix) -> None:
    """Transform the bones of an armature, and with them their animation."""
    armature.data.transform(matrix)
    armature.data.update_tag()
    bpy.context.view_layer.update()


def _write_fbx(path: str) -> None:
    _show_planted(bpy.context.view_layer.objects.active)
    only_this = {"bake_anim_use_all_actions": False, "bake_anim_use_nla_strips": False}
    # By default the exporter drops keys that change a value by less than 0.1 %, which is 10 cm at 100 m.
    bpy.ops.export_scene.fbx(filepath=path, use_selection=True, bake_anim_simplify_factor=0.0, **only_this)


def _write_glb(path: str) -> None:
    """Export what the NLA plays as a scene: without an active action the usual mode would export no animation."""
    plays_action = bpy.context.view_layer.objects.active.animation_data.action
    mode = "ACTIVE_ACTIONS" if plays_action else "SCENE"
    render = bpy.context.scene.render
    base = render.fps_base
    try:
        # The exporter multiplies by the base, by which Blender divides.
        render.fps_base = 1.0 / base
        bpy.ops.export_scene.gltf(filepath=path, use_selection=True, export_animation_mode=mode)
    finally:
        render.fps_base = base


WRITERS: dict[str, Callable[[str], Any]] = {
    BLEND: lambda path: bpy.ops.wm.save_as_mainfile(filepath=path, copy=True),
    ".bvh": _write_bvh,
    ".fbx": _write_fbx,
    ".glb": _write_glb,
}
