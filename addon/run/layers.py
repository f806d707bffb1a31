# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers of corrections in the NLA: a COMBINE strip over the motion of the source.

The strips from bottom to top: the source, which is pushed down if it was the armature's own action; if bones have an
unkeyed pose, a strip that holds this pose, because the NLA would use default values; the corrections.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import bpy
from bpy.types import Action, AnimData, NlaStrip, NlaTrack, Object

from ..keys import actions
from ..keys.actions import LAYER, PUSHED, SOURCE, Assignment
from ..keys.fcurves import set_properties

# Further values of the property LAYER: an action with corrections over a source that was in a strip already, and an
# action with the unkeyed pose.
LAID_OVER, POSE = "LAID_OVER", "POSE"
# Properties of a strip by name.
Extent = dict[str, Any]
# Stores a call that undoes a change, as `transaction.on_error` does.
Keep = Callable[..., Any]


@dataclass(frozen=True)
class Layer:
    """The tracks and strips in the NLA of an armature that belong to the layer over a source."""

    armature: Object
    source: Action | None  # None if it was deleted

    @property
    def data(self) -> AnimData:
        return self.armature.animation_data

    @property
    def tracks(self) -> list[NlaTrack]:
        """The tracks of the corrections and of the unkeyed pose."""
        tracks = self.data.nla_tracks if self.data else ()
        return [track for track in tracks if any(self._mark(strip) for strip in track.strips)]

    @property
    def corrections(self) -> NlaStrip | None:
        return self._strip(PUSHED, LAID_OVER)

    @property
    def pose(self) -> NlaStrip | None:
        """The strip of the unkeyed pose, or None."""
        return self._strip(POSE)

    @property
    def home(self) -> NlaTrack | None:
        """The track of a source that was pushed down for the layer; None if it holds other strips too.

        It is the nearest such track under the layer, because users and importers make other strips of the same action.
        """
        if self._strip(PUSHED) is None:
            return None
        below = takewhile(lambda track: track != self.tracks[0], self.data.nla_tracks)
        tracks = [track for track in below if [strip.action for strip in track.strips] == [self.source]]
        return tracks[-1] if tracks else None

    @property
    def extrapolation(self) -> str:
        """The extrapolation of the armature's own action.

        Blender uses the chosen extrapolation only if there are tracks; without other tracks the action is held.
        """
        beside = any(track not in (*self.tracks, self.home) for track in self.data.nla_tracks)
        return self.data.action_extrapolation if beside else "HOLD"

    def _strip(self, *marks: str) -> NlaStrip | None:
        strips = (strip for track in self.tracks for strip in track.strips)
        return next((strip for strip in strips if self._mark(strip) in marks), None)

    def _mark(self, strip: NlaStrip) -> str | None:
        own = strip.action is not None and strip.action.get(SOURCE) == self.source
        return strip.action.get(LAYER) if own else None


def find(armature: Object) -> Layer | None:
    """The layer over the action that an armature plays, or the layer in tweak mode; None without one.

    If the armature plays nothing, because the source was muted or removed, the first layer in its NLA counts.
    """
    action = actions.assigned(armature).action
    action = action or next((found for found in actions.played_by(armature) if LAYER in found), None)
    layer = Layer(armature, action.get(SOURCE) if action and LAYER in action else action)
    return layer if layer.source and layer.corrections else None


def find_without_source(armature: Object) -> Layer | None:
    """The layer whose source was deleted; None without one."""
    layer = Layer(armature, None)
    return layer if layer.corrections else None


def shown_action(armature: Object) -> Action | None:
    """The action with the record of the shown motion: that of a layer, else the action that the armature plays."""
    layer = find(armature)
    return layer.corrections.action if layer else actions.assigned(armature).action


def set_aside(keep: Keep, layer: Layer) -> None:
    """Make the armature play the source as if there were no layer."""
    home = layer.home
    for track in [*layer.tracks, *([home] if home else [])]:
        # Setting `is_solo` switches off the solo of all other tracks.
        _set(keep, track, mute=True, **({"is_solo": False} if track.is_solo else {}))
    if home:
        keep(setattr, layer.data, "action", layer.data.action)
        actions.put(layer.data, actions.assignment_of(home.strips[0]))


def remove(layer: Layer) -> None:
    """Remove the tracks and actions of a layer that was set aside."""
    tracks, home = layer.tracks, layer.home
    made = {strip.action for track in tracks for strip in track.strips}
    for track in [*tracks, *([home] if home else [])]:
        layer.data.nla_tracks.remove(track)
    for action in made:
        if not action.users:
            bpy.data.actions.remove(action)


def push_down(keep: Keep, layer: Layer, extent: Extent) -> NlaTrack:
    """Move the armature's own action to a strip, and return the strip's track."""
    data, played = layer.data, actions.assigned(layer.armature)
    home = layer.home or _add(keep, data, None, played)
    keep(actions.put, data, played)
    data.action = None
    _set(keep, home, mute=False)
    _set(keep, home.strips[0], **extent)
    return home


def put_over(
    keep: Keep, data: AnimData, strip: NlaStrip | None, below: NlaTrack, assignment: Assignment, extent: Extent
) -> NlaTrack:
    """Make a strip play an action, or a new strip over the track `below` if it is None; return the strip's track."""
    if strip is None:
        strip = _add(keep, data, below, assignment).strips[0]
        # Without this Blender ignores the influence, and with keys it ignores the slider.
        strip.use_animated_influence = True
        strip.fcurves.find("influence").keyframe_points.clear()
        strip.influence = 1.0
    keep(actions.put, strip, actions.assignment_of(strip))
    actions.put(strip, assignment)
    track = track_of(data, strip)
    _set(keep, track, mute=False)
    _set(keep, strip, mute=False, **extent)
    return track


def track_of(data: AnimData, strip: NlaStrip) -> NlaTrack:
    """The track that holds a strip."""
    return next(track for track in data.nla_tracks if strip in list(track.strips))


def is_weakened(strip: NlaStrip) -> bool:
    """Whether the influence of a strip may be less than 1 on some frame."""
    return strip.influence < 1.0 or any(curve.keyframe_points for curve in strip.fcurves)


def strengthen(keep: Keep, strip: NlaStrip) -> None:
    """Give a strip its whole influence on every frame, whatever its slider, its keys and its blending say."""
    _set(keep, strip, use_animated_influence=False, blend_in=0.0, blend_out=0.0)


def _add(keep: Keep, data: AnimData, below: NlaTrack | None, assignment: Assignment) -> NlaTrack:
    """Add a track with a strip of the action, above the track `below` or above all, and return the track."""
    active = data.nla_tracks.active
    track = data.nla_tracks.new(prev=below)
    keep(data.nla_tracks.remove, track)
    # Adding a track makes it active.
    data.nla_tracks.active = active
    track.name = assignment.action.name
    actions.put(track.strips.new(assignment.action.name, 1, assignment.action), assignment)
    return track


def extent(first: int, last: int, extrapolation: str) -> Extent:
    """The properties of a strip that plays the frames `first` to `last` of its action at their own times."""
    last = max(last, first + 1)
    speed = {"use_animated_time": False, "use_reverse": False, "scale": 1.0, "repeat": 1.0}
    ends = {"action_frame_start": first, "action_frame_end": last, "frame_start": first, "frame_end": last}
    return {"use_sync_length": False, "extrapolation": extrapolation} | speed | ends


def _set(keep: Keep, owner: NlaStrip | NlaTrack, **values: Any) -> None:
    keep(set_properties, owner, {name: getattr(owner, name) for name in values})
    set_properties(owner, values)
