# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals before a run changes anything: wrong options, data that cannot be keyed, keys that would not show.

Locks and mutes do not prevent keys, so there are sentences about them instead.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from bpy.types import Object, PoseBone, Scene

from ..errors import Refusal, listed
from ..keys import actions, fcurves
from ..keys.actions import Assignment, Curves
from ..keys.channels import Channel, silent_parts
from ..keys.keyframes import Frames
from ..properties import PlantingOptions
from . import layers, records
from .task import Bounds

NUMBERS = {"strength": "a share from 0 to 1", "max_slope": "an angle in radians", "max_drop": "a number of leg lengths"}


def refuse_numbers(options: PlantingOptions) -> None:
    """Refuse infinity and NaN, which scripts can assign to properties."""
    for name, expected in NUMBERS.items():
        value = getattr(options, name)
        if not isfinite(value):
            raise Refusal(f"{name} should be {expected}, but it is {value}")


def refuse_linked(armature: Object) -> None:
    """Refuse an armature of a library, because this file does not save what it plays."""
    if not armature.is_editable:
        raise Refusal(f"{armature.name} is linked from a library and cannot be edited: make a library override of it")


def refuse_uneditable(armature: Object, options: PlantingOptions) -> None:
    """Refuse data that cannot be keyed. A linked action is allowed unless keys would go into the action itself."""
    refuse_linked(armature)
    action, output = actions.assigned(armature).action, None if options.frame_range == "CURRENT" else options.output
    if action is None and output:
        _refuse_several_strips(armature)
        _refuse_follower(armature)
    if action and not action.is_editable and output == "IN_PLACE":
        raise Refusal(f"action {action.name} is linked from a library: only a new action or a layer can take its keys")


def refuse_under_layers(armature: Object, options: PlantingOptions) -> None:
    """Refuse an action of a layer, a pose under a layer, and an NLA that would not show a layer."""
    action, data, layer = actions.assigned(armature).action, armature.animation_data, layers.find(armature)
    if action and actions.LAYER in action:
        raise Refusal(f"action {action.name} is a layer's and no motion: leave tweak mode, or assign another action")
    if layer and options.frame_range == "CURRENT":
        raise Refusal(f"a pose keyed in {layer.source.name} would not show under its layer: restore that action first")
    if not layer and (not action or options.output != "NLA_LAYER" or options.frame_range == "CURRENT"):
        return
    if not data.use_nla:
        raise Refusal(f"the NLA of {armature.name} is off, so no layer in it would show: switch it on")
    if data.use_tweak_mode:
        raise Refusal(f"{armature.name} is in tweak mode, which hides layers over its strip: leave tweak mode")
    solo = next((track.name for track in data.nla_tracks if track.is_solo), None)
    if solo is not None:
        raise Refusal(f"NLA track {solo} of {armature.name} plays solo, which hides layers: switch that off")


def _refuse_several_strips(armature: Object) -> None:
    """Refuse an armature without an action of its own that plays several NLA strips."""
    strips = [strip.name for strip in actions.playing_strips(armature)]
    if len(strips) > 1:
        raise Refusal(
            f"{armature.name} plays {len(strips)} NLA strips, {listed(strips)}: "
            "mute all but one, or set the scene's frame range to one of them"
        )


def _refuse_follower(armature: Object) -> None:
    """Refuse an armature that plays nothing and whose bones follow another armature, as game rigs follow controls."""
    active = [each for bone in armature.pose.bones for each in bone.constraints if each.influence and not each.mute]
    targets = [getattr(each, "target", None) for each in active]
    leaders = {target.name: None for target in targets if target and target.type == "ARMATURE" and target != armature}
    if leaders:
        names = listed(list(leaders))
        raise Refusal(
            f"{armature.name} plays no action, and its bones follow {names} by constraints: plant what they follow"
        )


def refuse_shared(armatures: Sequence[Object], options: PlantingOptions) -> None:
    """Refuse two armatures of one run if keys for one of them would change what the other one plays."""
    played: list[Assignment] = []
    for armature in armatures:
        present = actions.assigned(armature)
        if present in played:
            other = armatures[played.index(present)].name
            raise Refusal(f"{other} and {armature.name} both play {present.action.name}: keys for one would move both")
        action = present.action
        afresh = options.output == "NEW_ACTION" and records.source_of(action) is None
        kept = options.frame_range != "CURRENT" and (afresh or options.output == "NLA_LAYER")
        # Keys for a linked action go into a copy.
        kept |= action is None or not action.is_editable
        played.append(Assignment(None, armature.name) if kept else present)


def refuse_unshown(scene: Scene, armature: Object) -> None:
    """Refuse an action whose keys would not show unchanged on their frames."""
    if scene.render.frame_map_old != scene.render.frame_map_new:
        raise Refusal(f"scene {scene.name} remaps time, so keys do not show on their frames: set Old and New equal")
    trouble = actions.trouble(armature)
    if trouble:
        raise Refusal(trouble)


def refuse_between(scene: Scene, assignment: Assignment, bounds: Bounds) -> None:
    """Refuse to key a pose between two frames or outside of the action."""
    frame = scene.frame_current
    if assignment.action and scene.frame_subframe:
        raise Refusal(f"the scene stands between frames {frame} and {frame + 1}: only whole frames are keyed")
    if not bounds[0] <= frame <= bounds[1]:
        raise Refusal(
            f"frame {frame} lies outside of action {assignment.action.name}, which covers {bounds[0]} to {bounds[1]}"
        )


def refuse_unkeyable(curves: Curves, channels: Iterable[Channel]) -> None:
    """Refuse F-curves in which a new key would have no effect."""
    for channel in channels:
        for curve in curves.of(channel.path):
            trouble = fcurves.trouble(curve)
            if trouble:
                raise Refusal(f"the F-curve of {channel.name} of bone {channel.bone} {trouble}, so no key can be set")


def refuse_strips_below(armature: Object, source: Assignment, channels: Iterable[Channel], frames: Frames) -> None:
    """Refuse NLA strips that animate on these frames what the source does not key, so it does not tell the values."""
    played = actions.strip_of(armature)
    strips = [strip for strip in actions.strips_on(armature, frames.tolist()) if strip != played]
    for channel in channels if strips else ():
        size = channel.values.shape[1]
        silent = silent_parts(source.curves, channel.path, size)
        for strip in strips:
            if set(silent).difference(silent_parts(actions.assignment_of(strip).curves, channel.path, size)):
                raise Refusal(
                    f"NLA strip {strip.name} of {armature.name} animates the {channel.name} of bone {channel.bone}, "
                    f"which {source.action.name} does not key: key it there, or mute that strip"
                )


def tell_locks(armature: Object, replaced: Sequence[Curves], channels: Sequence[Channel]) -> Iterator[str]:
    """Sentences about locked or muted bones and F-curves that get keys nevertheless."""
    bones = {channel.bone: None for channel in channels if _is_locked(armature.pose.bones[channel.bone], channel.name)}
    if bones:
        yield f"locked channels were keyed on the bones: {listed(list(bones))}"
    written = [(channel.bone, curves.of(channel.path)) for channel in channels for curves in replaced]
    for name, is_so in (("locked", fcurves.is_locked), ("muted", fcurves.is_muted)):
        found = {bone: None for bone, own in written if any(map(is_so, own))}
        if found:
            yield f"{name} F-curves were replaced on the bones: {listed(list(found))}"


def _is_locked(bone: PoseBone, name: str) -> bool:
    """Whether any component of the bone's location or rotation is locked."""
    if name == "location":
        return any(bone.lock_location)
    return any(bone.lock_rotation) or (name != "rotation_euler" and bone.lock_rotation_w)
