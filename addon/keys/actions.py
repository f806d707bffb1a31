# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions in every version of Blender: F-curves lie in the action itself up to 4.3, and in slots from 4.4 on."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import bpy
from bpy.types import Action, AnimData, FCurve, NlaStrip, NlaTrack, Object, Scene
from bpy.utils import unescape_identifier

from . import fcurves
from .keyframes import whole

# Custom properties of planted actions: a pointer to the source, and on actions that hold only the corrections of an NLA
# layer, how the source was played before.
SOURCE, LAYER = "ik2bone_source", "ik2bone_layer"
# The value of LAYER if the source was the object's action before, and not in a strip.
PUSHED = "PUSHED"


# The bone and its property in a data path; quotes and backslashes in the bone's name are escaped.
BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\](?:\.(.*)|\[.*)$')


@dataclass(frozen=True)
class Assignment:
    """The action that an object or an NLA strip plays and, from 4.4 on, the identifier of its slot."""

    action: Action | None
    slot: str | None = None

    @property
    def curves(self) -> Curves:
        """The curves of an object that plays this action by this slot."""
        if not hasattr(self.action, "slots"):
            return Curves(self.action)
        slot, layers = _slot(self.action, self.slot), self.action.layers
        strip = layers[0].strips[0] if layers and layers[0].strips else None
        return Curves(strip.channelbag(slot) if strip and slot else None)


@dataclass(frozen=True)
class Curves:
    """The F-curves in an action that belong to one object. `bag` holds them in Blender; None if there is none yet."""

    bag: Any

    def __iter__(self) -> Iterator[FCurve]:
        return iter(self.bag.fcurves if self.bag else ())

    @cached_property
    def listed(self) -> dict[tuple[str, int], FCurve]:
        """All curves by data path and index. For many curves this is faster than `find`, which takes 6 microseconds.

        The dictionary must not be used after a curve was removed.
        """
        return {(curve.data_path, curve.array_index): curve for curve in self}

    def find(self, path: str, index: int) -> FCurve | None:
        """The curve of one component of a property, or None."""
        return self.bag.fcurves.find(path, index=index) if self.bag else None

    def of(self, path: str) -> list[FCurve]:
        """The curves of a property, which has up to four components."""
        return list(filter(None, (self.find(path, index) for index in range(4))))

    def ensure(self, path: str, index: int, group: str) -> FCurve:
        """The curve of one component of a property. A new curve is put into the named group, or into none for ""."""
        curve = self.find(path, index)
        if curve is None:
            vars(self).pop("listed", None)
            curve = self.bag.fcurves.new(path, index=index)
            if group:
                curve.group = self.bag.groups.get(group) or self.bag.groups.new(group)
        return curve

    def bones(self) -> set[str]:
        """The names of animated bones, including names of bones that the object does not have."""
        found = {parts_of(curve.data_path)[0] for curve in self} - {None}
        return set(map(unescape_identifier, found))

    def span(self) -> tuple[float, float] | None:
        """The first and last keyed frame of all curves; None without keys."""
        action = self.bag.id_data if self.bag else None
        # Blender's own range is that of all slots, and that of an action without keys is zero.
        if action and len(getattr(action, "slots", [None])) == 1 and any(action.curve_frame_range):
            ranges = [action.curve_frame_range]
        else:
            ranges = [curve.range() for curve in self if curve.keyframe_points or curve.sampled_points]
        if not ranges:
            return None
        starts, ends = zip(*ranges, strict=True)
        return whole(min(starts)), whole(max(ends))


@lru_cache(maxsize=10_000)
def parts_of(path: str) -> tuple[str | None, str | None]:
    """The bone, with its quotes escaped, and the property in a data path; None for what is missing."""
    match = BONE.match(path)
    return (match[1], match[2]) if match else (None, None)


def assigned(ob: Object) -> Assignment:
    """The action that the object plays now, by itself or in its only NLA strip."""
    data = ob.animation_data
    owner = data if data and data.action else strip_of(ob)
    return assignment_of(owner) if owner else Assignment(None)


def assignment_of(owner: AnimData | NlaStrip) -> Assignment:
    """The action of an object's animation data, or of an NLA strip."""
    slot = getattr(owner, "action_slot", None)
    return Assignment(owner.action, slot.identifier if slot else None)


def assign(ob: Object, assignment: Assignment) -> None:
    """Make the object play an action, in its NLA strip if it plays one."""
    data = ob.animation_data or ob.animation_data_create()
    strip, tweaked = strip_of(ob), data.use_tweak_mode
    if tweaked:
        # Blender does not allow a change of a strip's action in tweak mode.
        data.use_tweak_mode = False
    put(strip or data, assignment)
    if tweaked:
        data.use_tweak_mode = True


def strip_of(ob: Object) -> NlaStrip | None:
    """The strip whose action the object plays: the one in tweak mode, or the only one if the object has no action."""
    data = ob.animation_data
    if data is None or (data.action and not data.use_tweak_mode):
        return None
    found = playing_strips(ob)
    if data.use_tweak_mode:
        found = [strip for strip in found if strip.action == data.action]
    return found[0] if len(found) == 1 else None


def playing_strips(ob: Object) -> list[NlaStrip]:
    """The strips that play for an object.

    Of several strips only those in the scene's frame range are returned, and of these only the topmost one that has an
    NLA layer of ours, if there is one.
    """
    found = list(strips(ob))
    if len(found) < 2:
        return found
    scene = bpy.context.scene
    first, last = preview_range(scene) or (scene.frame_start, scene.frame_end)
    found = [strip for strip in found if strip.frame_start <= last and strip.frame_end >= first]
    # The source that was pushed down for a layer of ours still counts as the action that the object plays.
    under = [action.get(SOURCE) for action in played_by(ob) if action.get(LAYER) == PUSHED]
    return [strip for strip in found if strip.action in under][-1:] or found


def preview_range(scene: Scene) -> tuple[int, int] | None:
    """The first and last frame of the scene's preview range, if that is on."""
    return (scene.frame_preview_start, scene.frame_preview_end) if scene.use_preview_range else None


def new(ob: Object, name: str) -> Assignment:
    """A new action without keys, with a slot for the object."""
    action = bpy.data.actions.new(name)
    if not hasattr(action, "slots"):
        action.id_root = "OBJECT"
        return Assignment(action)
    slot = action.slots.new(id_type="OBJECT", name=ob.name)
    action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    return Assignment(action, slot.identifier)


def assignments(ob: Object) -> list[Assignment]:
    """The object's own action, and those of its NLA strips, including muted strips."""
    data = ob.animation_data
    found = [data, *(strip for track in data.nla_tracks for strip in track.strips)] if data else []
    return [assignment_of(owner) for owner in found if owner.action]


def played_by(ob: Object) -> list[Action]:
    """The actions of the object's `assignments`."""
    return [played.action for played in assignments(ob)]


def fitting(ob: Object, action: Action) -> Assignment:
    """An action with the slot that fits an object: that of its present action, that of its name, or the first one."""
    slots = [slot.identifier for slot in getattr(action, "slots", ()) if slot.target_id_type == "OBJECT"]
    wanted = [name for name in (assigned(ob).slot, f"OB{ob.name}") if name in slots]
    return Assignment(action, next(iter([*wanted, *slots]), None))


def put(owner: AnimData | NlaStrip, assignment: Assignment) -> None:
    """Make animation data or an NLA strip play an action by its slot, or by none."""
    owner.action = assignment.action
    # Blender has chosen a slot already, even where there should be none.
    if hasattr(assignment.action, "slots"):
        owner.action_slot = _slot(assignment.action, assignment.slot)


def copy(assignment: Assignment, paths: Container[str] | None = None) -> Assignment:
    """A copy of the action with the same slot, with all of the object's curves or those of some properties."""
    own = Assignment(assignment.action.copy(), assignment.slot)
    curves = own.curves
    for curve in list(curves) if paths is not None else ():
        if curve.data_path not in paths:
            curves.bag.fcurves.remove(curve)
    return own


@contextmanager
def playing(armature: Object, assignment: Assignment) -> Iterator[None]:
    """Make the armature play another action within the context, in which purging would remove the present action if it
    had no fake user.
    """
    before = assigned(armature)
    is_loose = before.action is not None and before.action.is_editable and not before.action.use_fake_user
    try:
        if is_loose:
            before.action.use_fake_user = True
        assign(armature, assignment)
        yield
    finally:
        assign(armature, before)
        if is_loose:
            before.action.use_fake_user = False


@contextmanager
def temporary_copy(original: Assignment) -> Iterator[Assignment]:
    """A copy of an action that is removed at the end of the context."""
    own = copy(original)
    try:
        yield own
    finally:
        bpy.data.actions.remove(own.action)


@contextmanager
def muting(curves: Curves, idle: Callable[[str], bool]) -> Iterator[None]:
    """Mute the curves with these data paths within the context."""
    own = curves.bag.fcurves
    before = [curve.mute for curve in own]
    try:
        own.foreach_set("mute", [mute or idle(curve.data_path) for mute, curve in zip(before, own, strict=True)])
        yield
    finally:
        own.foreach_set("mute", before)


def counterpart(assignment: Assignment, action: Action) -> Assignment:
    """The same slot in the source or a copy of an assignment's action.

    The slot is found by its name, or by its handle if it was renamed.
    """
    own = _slot(assignment.action, assignment.slot) if hasattr(action, "slots") else None
    if own is None or _slot(action, assignment.slot) is not None:
        return Assignment(action, assignment.slot)
    same = next((slot.identifier for slot in action.slots if slot.handle == own.handle), assignment.slot)
    return Assignment(action, same)


def overwrite(target: Assignment, source: Assignment, paths: Container[str] | None = None) -> None:
    """Make the object's curves in `target` equal to those in `source`, for all properties or for some `paths`."""
    new, old = source.curves, target.curves
    ours, theirs = ([c for c in curves if paths is None or c.data_path in paths] for curves in (old, new))
    for curve in [curve for curve in ours if new.find(curve.data_path, curve.array_index) is None]:
        old.bag.fcurves.remove(curve)
    for curve in theirs:
        fcurves.copy(curve, old.ensure(curve.data_path, curve.array_index, curve.group.name if curve.group else ""))
    muted = {group.name: group.mute for group in new.bag.groups} if new.bag else {}
    for group in list(old.bag.groups if old.bag else ()):
        if group.name in muted:
            group.mute = muted[group.name]
        elif paths is None or not group.channels:
            old.bag.groups.remove(group)


def frame_span(assignment: Assignment) -> tuple[float, float] | None:
    """The first and last frame of the action: its manual range if it has one, else the range of the object's curves."""
    action = assignment.action
    if action.use_frame_range:
        return (action.frame_start, action.frame_end)
    return assignment.curves.span()


def muted_groups(assignment: Assignment) -> list[str]:
    """The names of muted groups that hold curves which are not muted themselves.

    From 4.4 on Blender plays such curves in an action, but not in an NLA strip. Editors mute a group together with its
    curves, which makes no difference.
    """
    bag = assignment.curves.bag if hasattr(assignment.action, "slots") else None
    muted = [group for group in bag.groups if group.mute] if bag else []
    return [group.name for group in muted if not all(curve.mute for curve in group.channels)]


def is_blank(assignment: Assignment) -> bool:
    """Whether nothing is keyed for the object, and a first key would go into the assignment's slot."""
    action = assignment.action
    settled = not hasattr(action, "slots") or not action.slots or _slot(action, assignment.slot) is not None
    return settled and assignment.curves.span() is None


def take_first_key_back(assignment: Assignment, layers: int) -> None:
    """Undo what the first key for an object added to an action.

    These are the curves, the slot if the object was assigned none before, and all but the first `layers` layers.
    """
    action, bag = assignment.action, assignment.curves.bag
    if assignment.slot is None:
        # Otherwise the objects would keep the handle of a removed slot.
        for ob in (ob for ob in bpy.data.objects if ob.animation_data and ob.animation_data.action == action):
            ob.animation_data.action_slot = None
        for slot in list(action.slots):
            action.slots.remove(slot)
    elif bag:
        action.layers[0].strips[0].channelbags.remove(bag)
    for layer in list(action.layers)[layers:]:
        action.layers.remove(layer)


def players(assignment: Assignment) -> list[Object]:
    """The objects whose own action is this one with this slot. NLA strips do not count."""
    own = (ob for ob in bpy.data.objects if ob.animation_data and ob.animation_data.action == assignment.action)
    return [ob for ob in own if assigned(ob) == assignment]


def strips_of(action: Action, players: Iterable[Object] = ()) -> list[str]:
    """The names of NLA strips that play the action, without the strips of `players`."""
    own = [strip_of(player) for player in players]
    animated = (ob for ob in bpy.data.objects if ob.animation_data)
    found = (strip for ob in animated for strip in strips(ob) if strip.action == action)
    return [strip.name for strip in found if strip not in own]


def trouble(ob: Object) -> str | None:
    """Why keys of the played action would not show unchanged on their own frames; None if they do."""
    data, strip = ob.animation_data, strip_of(ob)
    if strip is not None:
        name = _strip_trouble(strip)
        return (
            f"NLA strip {strip.name} of {ob.name} {name}, so keys of the action would show otherwise" if name else None
        )
    if data is None:
        return None
    if data.use_tweak_mode:
        return f"the NLA strip of {ob.name} in tweak mode is muted or one of several: leave tweak mode"
    solo = next((track.name for track in data.nla_tracks if track.is_solo), None) if data.use_nla else None
    if data.action and solo is not None:
        return f"NLA track {solo} of {ob.name} plays solo in place of the action: switch that off"
    weakened = data.action_blend_type != "REPLACE" or data.action_influence < 1.0
    if data.action and weakened and any(True for _ in strips(ob)):
        return f"the NLA of {ob.name} changes what its action shows: let it replace, with influence 1"
    return None


def _strip_trouble(strip: NlaStrip) -> str | None:
    shift = strip.frame_start - strip.action_frame_start
    is_timed = strip.use_animated_time or strip.use_reverse or (strip.scale, strip.repeat) != (1.0, 1.0)
    states = {
        "does not replace what lies under it": strip.blend_type != "REPLACE",
        "has an influence of its own": strip.use_animated_influence,
        "blends in or out": max(strip.blend_in, strip.blend_out) > 0.0,
        "has modifiers": any(not modifier.mute for modifier in strip.modifiers),
        "passes over muted groups of its action": bool(muted_groups(assignment_of(strip))),
        "changes the time of its action": is_timed,
        f"plays its action {abs(shift):g} frames too {'late' if shift > 0.0 else 'early'}": abs(shift) > 1e-3,
        "plays a part of its action alone": _is_cut(strip),
    }
    return next((name for name, is_so in states.items() if is_so), None)


def _is_cut(strip: NlaStrip) -> bool:
    """Whether the strip leaves out at least one whole frame of its action.

    Less does not count: planted actions start and end on whole frames, but strips of their sources need not.
    """
    span = frame_span(assignment_of(strip))
    return span is not None and max(strip.frame_start - span[0], span[1] - strip.frame_end) > 1.0 - 1e-3


def strips(ob: Object) -> Iterator[NlaStrip]:
    """The strips that play: not muted, nor on a muted track, nor beside a solo track. Layers of ours are left out."""
    data = ob.animation_data
    tracks = list(data.nla_tracks) if data and data.use_nla else []
    tracks = [track for track in tracks if track.is_solo] or [track for track in tracks if not track.mute]
    found = (strip for track in tracks for strip in track.strips if strip.action and not strip.mute)
    return (strip for strip in found if LAYER not in strip.action)


def strips_on(ob: Object, frames: Sequence[int]) -> list[NlaStrip]:
    """The strips that show on any of these frames, including those that hold their ends there."""
    found = list(strips(ob))
    shown = {_strip_on(track, frame) for track in ob.animation_data.nla_tracks for frame in frames} if found else ()
    return [strip for strip in found if strip in shown]


def _strip_on(track: NlaTrack, frame: int) -> NlaStrip | None:
    """The strip of a track that shows on a frame, or whose end it holds there; None without one."""
    started = [strip for strip in track.strips if strip.frame_start <= frame]
    if not started:
        found = next((strip for strip in track.strips[:1] if strip.extrapolation == "HOLD"), None)
    else:
        goes_on = frame <= started[-1].frame_end or started[-1].extrapolation != "NOTHING"
        found = started[-1] if goes_on else None
    return found if found and _influence(found, frame) > 0.0 else None


def _influence(strip: NlaStrip, frame: int) -> float:
    """The influence of a strip on a frame: by its keys or its slider, which count only if the influence is animated.
    Blender holds a strip's influence along with its ends.
    """
    curve = strip.fcurves.find("influence") if strip.use_animated_influence else None
    if curve is None:
        return 1.0
    if curve.is_empty or curve.mute:
        return strip.influence
    return curve.evaluate(min(max(frame, strip.frame_start), strip.frame_end))


def strips_alone(ob: Object) -> list[NlaStrip]:
    """The strips that play, for an object without an action of its own; else none."""
    data = ob.animation_data
    return [] if data is None or data.action else list(strips(ob))


def _slot(action: Action, identifier: str | None) -> Any:
    return next((slot for slot in action.slots if slot.identifier == identifier), None)
