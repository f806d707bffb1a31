# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place that knows how actions differ between Blender's versions: plain curves up to 4.3, slots from 4.4 on."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.types import Action, FCurve, NlaStrip, Object

from . import fcurves


@dataclass(frozen=True)
class Assignment:
    """What an object plays: an action and, from 4.4 on, the identifier of its slot."""

    action: Action | None
    slot: str | None = None


@dataclass(frozen=True)
class Curves:
    """The F-curves that one object takes from an action; `bag` is whatever holds them, None while there are none."""

    bag: Any

    def __iter__(self) -> Iterator[FCurve]:
        return iter(self.bag.fcurves if self.bag else ())

    def find(self, path: str, index: int) -> FCurve | None:
        """The curve of one component of a property."""
        return self.bag.fcurves.find(path, index=index) if self.bag else None

    def ensure(self, path: str, index: int, group: str) -> FCurve:
        """The same curve, made in the named group (or none: "") where there is none yet."""
        curve = self.find(path, index)
        if curve is None:
            curve = self.bag.fcurves.new(path, index=index)
            if group:
                curve.group = self.bag.groups.get(group) or self.bag.groups.new(group)
        return curve

    def span(self) -> tuple[float, float] | None:
        """First and last keyed frame of all curves, None where nothing is keyed."""
        ranges = [curve.range() for curve in self if curve.keyframe_points or curve.sampled_points]
        return (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else None


def assigned(ob: Object) -> Assignment:
    """What the object plays now."""
    data = ob.animation_data
    if data is None or data.action is None:
        return Assignment(None)
    slot = getattr(data, "action_slot", None)
    return Assignment(data.action, slot.identifier if slot else None)


def assign(ob: Object, assignment: Assignment) -> None:
    """Let the object play an action, by the slot of that name."""
    data = ob.animation_data or ob.animation_data_create()
    data.action = assignment.action
    if assignment.slot is not None:
        data.action_slot = _slot(assignment.action, assignment.slot)


def curves_of(assignment: Assignment) -> Curves:
    """The curves that an object with this assignment plays."""
    action = assignment.action
    if not hasattr(action, "slots"):
        return Curves(action)
    slot = _slot(action, assignment.slot)
    strip = action.layers[0].strips[0] if action.layers and action.layers[0].strips else None
    return Curves(strip.channelbag(slot) if strip and slot else None)


def create(ob: Object, name: str) -> Assignment:
    """A new action, ready to take curves for the object."""
    action = bpy.data.actions.new(name)
    if not hasattr(action, "slots"):
        return Assignment(action)
    slot = action.slots.new(id_type="OBJECT", name=ob.name)
    action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    return Assignment(action, slot.identifier)


def copy(assignment: Assignment) -> Assignment:
    """A copy of the whole action, to be played by the slot of the same name."""
    return Assignment(assignment.action.copy(), assignment.slot)


def counterpart(assignment: Assignment, action: Action) -> Assignment:
    """The same slot in an action of which the assignment's is a copy, or the other way round.

    It has the same name, or at least the same handle: people rename slots.
    """
    own = _slot(assignment.action, assignment.slot) if hasattr(action, "slots") else None
    if own is None or _slot(action, assignment.slot) is not None:
        return Assignment(action, assignment.slot)
    same = next((slot.identifier for slot in action.slots if slot.handle == own.handle), assignment.slot)
    return Assignment(action, same)


def overwrite(target: Assignment, source: Assignment, paths: Container[str] | None = None) -> None:
    """Make the object's curves in one action the same as those in another, keeping both actions.

    Where `paths` are given, the actions differ in no other property, which saves a millisecond for each other curve.
    """
    new, old = curves_of(source), curves_of(target)
    for curve in [curve for curve in old if new.find(curve.data_path, curve.array_index) is None]:
        old.bag.fcurves.remove(curve)
    for curve in new:
        if paths is None or curve.data_path in paths:
            fcurves.copy(curve, old.ensure(curve.data_path, curve.array_index, curve.group.name if curve.group else ""))
    names = {group.name for group in new.bag.groups} if new.bag else set()
    for group in [group for group in old.bag.groups if group.name not in names]:
        old.bag.groups.remove(group)


def frame_span(assignment: Assignment) -> tuple[float, float] | None:
    """First and last frame of the action: its manual range where it has one, else that of the object's curves."""
    action = assignment.action
    if action.use_frame_range:
        return (action.frame_start, action.frame_end)
    return curves_of(assignment).span()


def is_blank(assignment: Assignment) -> bool:
    """Whether nothing is keyed for the object, and a first key would go where the assignment says."""
    action = assignment.action
    settled = not hasattr(action, "slots") or not action.slots or _slot(action, assignment.slot) is not None
    return settled and curves_of(assignment).span() is None


def make_blank(action: Action) -> None:
    """Take away slots and layers, which an action without any gets with its first key."""
    for part in ("slots", "layers"):
        for item in list(getattr(action, part, ())):
            getattr(action, part).remove(item)


def players(assignment: Assignment) -> list[Object]:
    """Every object that plays these curves, strips of the NLA apart."""
    return [ob for ob in bpy.data.objects if assigned(ob) == assignment]


def others_playing(assignment: Assignment, ob: Object) -> list[str]:
    """Names of the other objects that play these curves; what an override stands for in its library is no other."""
    own = {ob, ob.override_library.reference if ob.override_library else None}
    return [other.name for other in players(assignment) if other not in own]


def strips_of(action: Action) -> list[str]:
    """Names of the NLA strips that play the action."""
    return [strip.name for ob in bpy.data.objects for strip in _strips(ob) if strip.action == action]


def is_mixed(ob: Object) -> bool:
    """Whether the NLA shows the object's action otherwise than it is: blended, weakened or in tweak mode."""
    data = ob.animation_data
    if data is None:
        return False
    weakened = data.action_blend_type != "REPLACE" or data.action_influence < 1.0
    return data.use_tweak_mode or (weakened and any(True for _ in _strips(ob)))


def solo_track(ob: Object) -> str | None:
    """The name of the NLA track that plays solo, instead of the object's action."""
    data = ob.animation_data
    return next((track.name for track in data.nla_tracks if track.is_solo), None) if data and data.use_nla else None


def _strips(ob: Object) -> Iterator[NlaStrip]:
    """Strips that are not muted."""
    data = ob.animation_data
    tracks = data.nla_tracks if data and data.use_nla else ()
    return (strip for track in tracks if not track.mute for strip in track.strips if not strip.mute)


def _slot(action: Action, identifier: str | None) -> Any:
    return next((slot for slot in action.slots if slot.identifier == identifier), None)
