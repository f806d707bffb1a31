# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet from the options to the report: computed on a draft of the action, which is kept only when all is well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Object, Scene
from ik2bone import report

from . import actions, fcurves, keys, properties, records
from .actions import Assignment, Curves
from .body import find_body
from .chains import Refusal
from .drafts import curves_kept_on_error, draft_of, playing, pose_kept_on_error, settings_kept_on_error
from .frames import Bounds, action_bounds, choose_frames
from .keys import Channel
from .plans import Array, Rows, Task, correct, make_plan, make_report, sole_of_action
from .properties import OPTIONS, PlantingOptions
from .sample import Sample
from .surfaces import find_surfaces

UNAVAILABLE = {"contacts": ("STORED",), "direction": ("NEAREST",), "output": ("IN_PLACE",)}
OWN_FLOOR = "no surface was found: planted on the clip's own floor"


@dataclass(frozen=True)
class Outcome:
    """What the user is told: all in one line, whether it is a warning, and the add-on's own share of it."""

    summary: str
    is_warning: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """A task over an action: the source of the motion, the action planted from it before, if any, and its record.

    `again` means that the armature plays the planted action, so that what this run does not write stays as it is
    there; an armature that plays the source gets it planted afresh. `before` is the source's motion.
    """

    task: Task
    source: Assignment
    planted: Assignment | None
    again: bool
    record: records.Record
    before: Sample

    @property
    def bounds(self) -> Bounds:
        """First and last frame of the action."""
        return int(self.task.whole[0]), int(self.task.whole[-1])


@dataclass(frozen=True)
class Source:
    """What the source says on the frames: channels, and the values of those properties that nothing animates."""

    channels: list[Channel]
    unkeyed: dict[str, list[float]]


def plant_feet(context: Context, armature: Object, options: PlantingOptions) -> Outcome:
    """Plant the feet as the options say; a `Refusal` leaves the scene as it was."""
    refuse_unavailable(options)
    refuse_uneditable(armature)
    refuse_unshown(context.scene, armature)
    surfaces = tuple(find_surfaces(context, armature, options.surface))
    plant = _plant_pose if options.frame_range == "CURRENT" else _plant_action
    with pose_kept_on_error(context, armature), settings_kept_on_error(context.scene.ik2bone):
        return plant(context, armature, options, surfaces)


def _conclude(task: Task, figures: dict[str, Any], warnings: tuple[str, ...]) -> Outcome:
    """What to tell; the options become the panel's, before the first change that could not be taken back."""
    outcome = Outcome(report.summary(figures), bool(warnings or figures["after"]["short_frames"]), warnings)
    settings = task.context.scene.ik2bone
    properties.copy_options(task.options, settings)
    properties.store_surface(settings, task.options.surface)
    return outcome


def refuse_unavailable(options: PlantingOptions) -> None:
    """Refuse the values that the properties name already and the code does not know yet."""
    for name, values in UNAVAILABLE.items():
        if getattr(options, name) in values:
            raise Refusal(f"{name} {getattr(options, name)} is not available yet")
    if not 0.0 <= options.strength <= 1.0:
        raise Refusal(f"strength should be a number from 0 to 1, but it is {options.strength}")


def refuse_uneditable(armature: Object) -> None:
    """Refuse data that cannot take keys."""
    if armature.override_library:
        raise Refusal(f"{armature.name} is a library override, and planting those is not available yet")
    if not armature.is_editable:
        raise Refusal(f"{armature.name} is linked from a library and cannot be edited")
    action = actions.assigned(armature).action
    if action and not action.is_editable:
        raise Refusal(f"action {action.name} is linked from a library and cannot be edited")


def refuse_unshown(scene: Scene, armature: Object) -> None:
    """Refuse an action that does not show as it is."""
    solo = actions.solo_track(armature)
    if solo is not None:
        raise Refusal(f"NLA track {solo} of {armature.name} plays solo in place of the action: switch that off")
    if scene.render.frame_map_old != scene.render.frame_map_new:
        raise Refusal(f"scene {scene.name} remaps time, so keys do not show on their frames: set Old and New equal")
    if actions.is_mixed(armature):
        raise Refusal(f"the NLA of {armature.name} changes what its action shows: leave tweak mode, and let it replace")


def _plant_action(
    context: Context, armature: Object, options: PlantingOptions, surfaces: tuple[Object, ...]
) -> Outcome:
    run = _prepare(context, armature, options, surfaces)
    source = _read_source(run)
    with draft_of(armature, run.planted if run.again else run.source) as draft:
        offset = None
        if run.again:
            _write(run, draft, source.channels, source.unkeyed)
            offset = _offset(run)
        plan = make_plan(run.task, run.before, offset=offset)
        corrected = correct(run.task, plan.cut(run.task.part), source.channels, actions.curves_of(draft))
        _write(run, draft, corrected, source.unkeyed)
        warnings = (*run.task.body.told, *_warnings(run, source.channels))
        contacts, figures = make_report(run.task, plan, warnings)
        record = records.as_text(_record(run, contacts, figures, source))
        outcome = _conclude(run.task, figures, warnings)
        _keep(run, draft, record)
    return outcome


def _offset(run: Run) -> Array | None:
    """How far an earlier run has moved the hip joints (F, L, 3) that this one leaves where they are."""
    return None if run.task.moves_hips else run.task.sample().clip.hip - run.before.clip.hip


def _keep(run: Run, draft: Assignment, record: str) -> None:
    """Make the draft the planted action, or an earlier one equal to it: strips and scripts may point to that."""
    if run.planted is None:
        draft.action.name = f"{run.source.action.name}.planted"
        records.store(draft.action, run.source.action, record)
        return
    with curves_kept_on_error(run.planted):
        actions.overwrite(run.planted, draft)
        records.store(run.planted.action, run.source.action, record)
    actions.assign(run.task.armature, run.planted)
    bpy.data.actions.remove(draft.action)


def _prepare(context: Context, armature: Object, options: PlantingOptions, surfaces: tuple[Object, ...]) -> Run:
    """Find out what is to be planted, looking at the source's motion, not at what an earlier run made of it."""
    present = actions.assigned(armature)
    origin = records.source_of(present.action)
    source = Assignment(origin, present.slot) if origin else present
    planted = present if origin else records.planted_of(armature, source)
    record = records.read(planted.action if planted else None)
    bounds = action_bounds(source)
    frames = choose_frames(context.scene, options, bounds)
    with playing(armature, source):
        records.put_back(armature, record)
        body = find_body(context, armature, options, bounds)
        task = Task(context, armature, body, options, surfaces, frames, np.arange(bounds[0], bounds[1] + 1))
        return Run(task, source, planted, bool(origin), record, task.sample())


def _read_source(run: Run) -> Source:
    """The channels that this run writes: the hips' location too where it moves, or did so in an earlier run."""
    curves, bones = actions.curves_of(run.source), run.task.armature.pose.bones
    known = {path: values for path, values in run.record["channels"].items() if values is not None}
    channels = [keys.read_rotation(curves, bones[name], run.task.frames, known) for name in run.task.turned_bones]
    if run.task.body.hips:
        location = keys.read_location(curves, bones[run.task.body.hips], run.task.frames, known)
        moved = run.task.moves_hips or (run.again and location.path in run.record["channels"])
        channels += [location] if moved else []
    return Source(channels, keys.unkeyed_values(curves, channels))


def _write(run: Run, assignment: Assignment, channels: list[Channel], unkeyed: keys.Unkeyed) -> None:
    curves = actions.curves_of(assignment)
    for channel in channels:
        keys.write(curves, channel, run.task.frames, run.bounds, unkeyed)


def _warnings(run: Run, channels: list[Channel]) -> Iterator[str]:
    if not run.task.surfaces:
        yield OWN_FLOOR
    if run.planted:
        yield from _planted_warnings(run, run.planted, channels)
    name = run.source.action.name
    others = [ob.name for ob in actions.players(run.source) if ob != run.task.armature]
    if others:
        yield f"{', '.join(others)} also plays {name} and goes on doing so"
    strips = actions.strips_of(run.source.action)
    if strips:
        yield f"NLA strips keep playing {name}: {', '.join(strips)}"


def _planted_warnings(run: Run, planted: Assignment, channels: list[Channel]) -> Iterator[str]:
    curves, original = actions.curves_of(planted), actions.curves_of(run.source)
    if run.again:
        handmade = keys.count_handmade(curves, original, run.task.frames, [channel.path for channel in channels])
    else:
        handmade = keys.count_handmade(curves, original, run.task.whole, [curve.data_path for curve in curves])
    if handmade:
        yield f"{handmade} keys made by hand were replaced"
    others = [ob.name for ob in actions.players(planted) if ob != run.task.armature]
    if others:
        yield f"{', '.join(others)} also plays {planted.action.name} and changes with it"


def _record(run: Run, contacts: Rows, figures: dict[str, Any], source: Source) -> records.Record:
    options = run.task.options
    written = {channel.path: source.unkeyed.get(channel.path) for channel in source.channels}
    return {
        "source": run.source.action.name,
        "armature": run.task.armature.name,
        "settings": {"surface": options.surface} | {name: getattr(options, name) for name in OPTIONS},
        "contacts": [*_other_contacts(run), *contacts],
        "report": figures,
        "channels": run.record["channels"] | written,
    }


def _other_contacts(run: Run) -> Rows:
    """Contacts that an earlier run found, of feet that this one leaves as they are."""
    feet = {leg.foot for leg in run.task.body.legs}
    return [span for span in run.record.get("contacts", ()) if run.again and span["bone"] not in feet]


def _plant_pose(context: Context, armature: Object, options: PlantingOptions, surfaces: tuple[Object, ...]) -> Outcome:
    """Plant the pose as it stands, hand-set values included, and key it where there is an action to key."""
    frames = np.array([context.scene.frame_current])
    frame = int(frames[0])
    playing_action = actions.assigned(armature)
    bounds = action_bounds(playing_action) if playing_action.action else (frame, frame)
    _refuse_between(context.scene, playing_action, bounds)
    body = find_body(context, armature, options, bounds)
    sole = sole_of_action(armature, body, bounds) if playing_action.action else None
    task = Task(context, armature, body, options, surfaces, frames, whole=frames, present=True)
    plan = make_plan(task, task.sample(), sole)
    channels = _read_pose(task)
    _refuse_unkeyable(actions.curves_of(playing_action), channels)
    corrected = correct(task, plan, channels, Curves(None))
    for channel in corrected:
        keys.show(armature, channel)
    context.view_layer.update()
    warnings = (*body.told, *(() if surfaces else (OWN_FLOOR,)))
    _, figures = make_report(task, plan, warnings)
    outcome = _conclude(task, figures, warnings)
    if playing_action.action:
        with curves_kept_on_error(playing_action):
            for channel in corrected:
                keys.insert(armature, channel, frame)
    return outcome


def _refuse_between(scene: Scene, assignment: Assignment, bounds: Bounds) -> None:
    """Refuse to key a pose of no whole frame of the action."""
    frame = scene.frame_current
    if assignment.action and scene.frame_subframe:
        raise Refusal(f"the scene stands between frames {frame} and {frame + 1}: only whole frames are keyed")
    if not bounds[0] <= frame <= bounds[1]:
        raise Refusal(
            f"frame {frame} lies outside of action {assignment.action.name}, which covers {bounds[0]} to {bounds[1]}"
        )


def _refuse_unkeyable(curves: Curves, channels: list[Channel]) -> None:
    """Refuse F-curves on which a new key would not show, or cannot be put."""
    for channel in channels:
        for curve in filter(None, (curves.find(channel.path, index) for index in channel.indices)):
            trouble = fcurves.trouble(curve)
            if trouble:
                raise Refusal(f"the F-curve of {channel.name} of bone {channel.bone} {trouble}, so no key can be set")


def _read_pose(task: Task) -> list[Channel]:
    nothing, bones = Curves(None), task.armature.pose.bones
    channels = [keys.read_rotation(nothing, bones[name], task.frames, {}) for name in task.turned_bones]
    if task.moves_hips:
        channels.append(keys.read_location(nothing, bones[task.body.hips], task.frames, {}))
    return channels
