# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet from the options to the report: computed on a draft of the action, which is kept only when all is well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Object
from ik2bone import plant as core
from ik2bone import report
from ik2bone.sole import measure_sole
from numpy.typing import NDArray

from . import actions, keys, records
from .actions import Assignment
from .body import Body, find_body
from .chains import Refusal
from .frames import Bounds, action_bounds, choose_frames
from .keys import Channel
from .properties import OPTIONS, PlantingOptions
from .sample import Sample, sample
from .surfaces import Floor, Ground, find_surfaces, make_ground

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
    """One run over an action: the source of the motion, and the action planted from it before, if there is one."""

    armature: Object
    body: Body
    source: Assignment
    planted: Assignment | None
    frames: NDArray[np.int64]
    bounds: Bounds
    # Location of the hips is written: it moves, or did so in an earlier run.
    writes_hips: bool
    record: records.Record


@dataclass(frozen=True)
class Plan:
    """What the core made of the sampled pose."""

    before: Sample
    ground: Ground | Floor
    planting: core.Planting


def plant_feet(context: Context, armature: Object, options: PlantingOptions) -> Outcome:
    """Plant the feet as the options say; a `Refusal` leaves the scene as it was."""
    refuse_unavailable(options)
    refuse_uneditable(armature)
    surfaces = find_surfaces(context, armature, options.surface)
    plant = _plant_pose if options.frame_range == "CURRENT" else _plant_action
    return plant(context, armature, options, surfaces)


def refuse_unavailable(options: PlantingOptions) -> None:
    """Refuse the values that the properties name already and the code does not know yet."""
    for name, values in UNAVAILABLE.items():
        if getattr(options, name) in values:
            raise Refusal(f"{name} {getattr(options, name)} is not available yet")


def refuse_uneditable(armature: Object) -> None:
    """Refuse data that cannot take keys, and an action that does not play as it is."""
    if armature.override_library:
        raise Refusal(f"{armature.name} is a library override, and planting those is not available yet")
    if not armature.is_editable:
        raise Refusal(f"{armature.name} is linked from a library and cannot be edited")
    action = actions.assigned(armature).action
    if action and not action.is_editable:
        raise Refusal(f"action {action.name} is linked from a library and cannot be edited")
    if actions.is_mixed(armature):
        raise Refusal(f"the NLA of {armature.name} changes what its action shows: leave tweak mode, and let it replace")


def _plant_action(context: Context, armature: Object, options: PlantingOptions, surfaces: list[Object]) -> Outcome:
    with _pose_kept_on_error(context, armature):
        run = _prepare(context, armature, options)
        with _draft(run) as draft:
            curves = actions.curves_of(draft)
            channels, unkeyed = _read_source(run)
            if run.planted:
                _write(run, draft, channels, unkeyed)
            plan = _plan(context, run.armature, run.body, options, surfaces, run.frames)
            corrected = _corrected(run.armature, run.body, channels, plan, curves)
            _write(run, draft, corrected, unkeyed)
            warnings = (*run.body.told, *_warnings(run, surfaces, channels))
            figures = _figures(run.armature, run.body, plan, run.frames, warnings)
    _keep(run, draft, corrected, unkeyed, _record(run, options, figures, unkeyed))
    return _outcome(figures, warnings)


def _outcome(figures: dict[str, Any], warnings: tuple[str, ...]) -> Outcome:
    return Outcome(report.summary(figures), bool(warnings or figures["after"]["short_frames"]), warnings)


def _prepare(context: Context, armature: Object, options: PlantingOptions) -> Run:
    """Find out what is to be planted, looking at the source's motion, not at what an earlier run made of it."""
    present = actions.assigned(armature)
    origin = records.source_of(present.action)
    source = Assignment(origin, present.slot) if origin else present
    planted = present if origin else records.planted_of(armature, source)
    bounds = action_bounds(source)
    frames = choose_frames(context.scene, options, bounds)
    with _playing(armature, source):
        body = find_body(context, armature, options, frames)
    record = records.read(planted.action if planted else None)
    moves = options.use_hips and body.hips is not None
    moved = body.hips is not None and armature.pose.bones[body.hips].path_from_id("location") in record["channels"]
    return Run(armature, body, source, planted, frames, bounds, moves or moved, record)


@contextmanager
def _playing(armature: Object, assignment: Assignment) -> Iterator[None]:
    before = actions.assigned(armature)
    if assignment == before:
        yield
        return
    actions.assign(armature, assignment)
    try:
        yield
    finally:
        actions.assign(armature, before)


@contextmanager
def _draft(run: Run) -> Iterator[Assignment]:
    """A copy of what is to be rewritten, playing; on any error it goes and the armature plays what it did before."""
    before = actions.assigned(run.armature)
    draft = actions.copy(run.planted or run.source)
    actions.assign(run.armature, draft)
    try:
        yield draft
    except BaseException:
        actions.assign(run.armature, before)
        bpy.data.actions.remove(draft.action)
        raise


@contextmanager
def _pose_kept_on_error(context: Context, armature: Object) -> Iterator[None]:
    """Put hand-set values of keyed channels back, which any change of the action throws away."""
    owners = [armature, *armature.pose.bones]
    before = [{name: tuple(getattr(owner, name)) for name in keys.TRANSFORMS} for owner in owners]
    try:
        yield
    except BaseException:
        context.view_layer.update()
        for owner, values in zip(owners, before, strict=True):
            for name, value in values.items():
                setattr(owner, name, value)
        raise


def _read_source(run: Run) -> tuple[list[Channel], dict[str, list[float]]]:
    """The source's channels over the run, those of the hips last, and the values of what nothing animates there."""
    curves, known = actions.curves_of(run.source), run.record["channels"]
    known = {path: values for path, values in known.items() if values is not None}
    bones = [run.armature.pose.bones[name] for leg in run.body.legs for name in leg.bones]
    channels = [keys.read_rotation(curves, bone, run.frames, known) for bone in bones]
    if run.writes_hips:
        channels.append(keys.read_location(curves, run.armature.pose.bones[run.body.hips], run.frames, known))
    return channels, keys.unkeyed_values(curves, channels)


def _plan(
    context: Context,
    armature: Object,
    body: Body,
    options: PlantingOptions,
    surfaces: list[Object],
    frames: NDArray[np.int64],
    present: bool = False,
) -> Plan:
    before = sample(armature, body.legs, body.hips, frames.tolist(), present=present)
    ground = _ground(context, surfaces, before)
    settings = core.Settings(
        contacts="ALWAYS" if present else options.contacts,
        use_hips=options.use_hips and body.hips is not None,
        use_slope=options.use_slope,
        strength=options.strength,
    )
    try:
        return Plan(before, ground, core.plant(before.clip, ground, settings))
    except core.NoGround:
        names = ", ".join(ground.names) or "meshes without faces"
        raise Refusal(f"no surface lies under the feet of {armature.name}: only {names} was looked at") from None


def _ground(context: Context, surfaces: list[Object], before: Sample) -> Ground | Floor:
    if surfaces:
        return make_ground(context.evaluated_depsgraph_get(), surfaces)
    return Floor(measure_sole(before.clip).floor)


def _corrected(
    armature: Object, body: Body, channels: list[Channel], plan: Plan, curves: actions.Curves
) -> list[Channel]:
    """The channels with the plan's corrections, in the same order."""
    rows = iter(channels)
    corrected = []
    for leg, chain in enumerate(body.legs):
        for part, name in enumerate(chain.bones):
            channel, mode = next(rows), armature.pose.bones[name].rotation_mode
            before = keys.value_before(curves, channel, int(plan.before.frames[0]))
            corrected.append(keys.turned(channel, mode, plan.planting.turns[:, leg, part], before))
    return corrected + [keys.moved(hips, plan.before.placing, plan.planting.hips_offset) for hips in rows]


def _write(run: Run, assignment: Assignment, channels: list[Channel], unkeyed: keys.Unkeyed) -> None:
    curves = actions.curves_of(assignment)
    for channel in channels:
        keys.write(curves, channel, run.frames, run.bounds, unkeyed)


def _figures(
    armature: Object,
    body: Body,
    plan: Plan,
    frames: NDArray[np.int64],
    warnings: tuple[str, ...],
    present: bool = False,
) -> dict[str, Any]:
    """The report of the keyed result, sampled again, with the names of bones and surfaces and all that is told."""
    after = sample(armature, body.legs, body.hips, frames.tolist(), present=present)
    figures = report.figures(plan.before.clip, after.clip, plan.planting, plan.ground, frames.tolist())
    for leg, foot in zip(body.legs, figures["feet"], strict=True):
        foot["bone"] = leg.foot
    for span in figures["spans"]:
        span["bone"] = body.legs[span["leg"]].foot
        span["support"] = plan.ground.supports(np.array([span["anchor"]]))[0] if span["anchor"] else ""
    return figures | {"surfaces": plan.ground.names, "told": [*figures["told"], *warnings]}


def _warnings(run: Run, surfaces: list[Object], channels: list[Channel]) -> Iterator[str]:
    if not surfaces:
        yield OWN_FLOOR
    handmade = keys.count_handmade(actions.curves_of(run.planted), channels, run.frames) if run.planted else 0
    if handmade:
        yield f"{handmade} keys made by hand were replaced"
    name = run.source.action.name
    others = [ob.name for ob in actions.players(run.source) if ob != run.armature]
    if others:
        yield f"{', '.join(others)} also plays {name} and goes on doing so"
    sharing = [ob.name for ob in actions.players(run.planted) if ob != run.armature] if run.planted else []
    if sharing:
        yield f"{', '.join(sharing)} also plays {run.planted.action.name} and changes with it"
    strips = actions.strips_of(run.source.action)
    if strips:
        yield f"NLA strips keep playing {name}: {', '.join(strips)}"


def _record(run: Run, options: PlantingOptions, figures: dict[str, Any], unkeyed: keys.Unkeyed) -> records.Record:
    written = {channel.path: unkeyed.get(channel.path) for channel in _read_source(run)[0]}
    return {
        "source": run.source.action.name,
        "armature": run.armature.name,
        "settings": {"surface": options.surface} | {name: getattr(options, name) for name in OPTIONS},
        "contacts": figures["spans"],
        "report": figures,
        "channels": run.record["channels"] | written,
    }


def _keep(run: Run, draft: Assignment, channels: list[Channel], unkeyed: keys.Unkeyed, record: records.Record) -> None:
    """Make the draft the planted action, or write into the one that is there, which others may point to."""
    source = run.source.action
    if run.planted:
        _write(run, run.planted, channels, unkeyed)
        actions.assign(run.armature, run.planted)
        bpy.data.actions.remove(draft.action)
    else:
        draft.action.name = f"{source.name}.planted"
    records.store((run.planted or draft).action, source, record)


def _plant_pose(context: Context, armature: Object, options: PlantingOptions, surfaces: list[Object]) -> Outcome:
    """Plant the pose as it stands, hand-set values included, and key it where there is an action to key."""
    frames = np.array([context.scene.frame_current])
    with _pose_kept_on_error(context, armature):
        body = find_body(context, armature, options, frames)
        channels = _read_pose(armature, body, options, frames)
        plan = _plan(context, armature, body, options, surfaces, frames, present=True)
        corrected = _corrected(armature, body, channels, plan, actions.Curves(None))
        for channel in corrected:
            keys.show(armature, channel)
        context.view_layer.update()
        warnings = (*body.told, *(() if surfaces else (OWN_FLOOR,)))
        figures = _figures(armature, body, plan, frames, warnings, present=True)
    if actions.assigned(armature).action:
        for channel in corrected:
            keys.insert(armature, channel, int(frames[0]))
    return _outcome(figures, warnings)


def _read_pose(armature: Object, body: Body, options: PlantingOptions, frames: NDArray[np.int64]) -> list[Channel]:
    nothing, bones = actions.Curves(None), armature.pose.bones
    names = [name for leg in body.legs for name in leg.bones]
    channels = [keys.read_rotation(nothing, bones[name], frames, {}) for name in names]
    moves = options.use_hips and body.hips is not None
    return channels + ([keys.read_location(nothing, bones[body.hips], frames, {})] if moves else [])
