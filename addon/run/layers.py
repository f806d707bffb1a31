# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers of corrections in the NLA: a strip that combines with the motion under it, and what else that takes.

From bottom to top: the source in a strip, pushed down for the layer where the armature played it by itself; where bones
have a pose that nothing keys, a strip that holds this pose, as the NLA would take defaults for it; the corrections.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import bpy
from bpy.types import Action, AnimData, NlaStrip, NlaTrack, Object

from ..keys import actions
from ..keys.actions import LAYER, PUSHED, SOURCE, Assignment

# Other marks of a layer's actions: one holds corrections over a source that was in a strip before, or the pose that
# nothing keys.
LAID_OVER, POSE = "LAID_OVER", "POSE"
# Values of a strip by name.
Extent = dict[str, Any]
# Takes what brings a change back, with its arguments, as `ExitStack.callback` does.
Keep = Callable[..., Any]


@dataclass(frozen=True)
class Layer:
    """What stands in the NLA of an armature for corrections over a source."""

    armature: Object
    source: Action

    @property
    def data(self) -> AnimData:
        return self.armature.animation_data

    @property
    def tracks(self) -> list[NlaTrack]:
        """The tracks that were made for corrections and pose."""
        tracks = self.data.nla_tracks if self.data else ()
        return [track for track in tracks if any(self._mark(strip) for strip in track.strips)]

    @property
    def corrections(self) -> NlaStrip | None:
        return self._strip(PUSHED, LAID_OVER)

    @property
    def assignment(self) -> Assignment:
        return actions.assignment_of(self.corrections)

    @property
    def pose(self) -> NlaStrip | None:
        """The strip of the pose that nothing keys."""
        return self._strip(POSE)

    @property
    def home(self) -> NlaTrack | None:
        """The track of a source that was pushed down for the layer, unless something else is there too by now.

        It is the nearest one under the layer: people, and importers, give the same action other strips.
        """
        if self._strip(PUSHED) is None:
            return None
        below = takewhile(lambda track: track != self.tracks[0], self.data.nla_tracks)
        tracks = [track for track in below if [strip.action for strip in track.strips] == [self.source]]
        return tracks[-1] if tracks else None

    @property
    def extrapolation(self) -> str:
        """How what the armature plays by itself goes on beyond its frames: held, where no other track is beside it.

        Blender uses the extrapolation that people choose for the action beside tracks only.
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
    """The layer over what an armature plays, or the one that it plays itself in tweak mode, if there is one.

    Where it plays nothing, as people have muted or removed it, the first layer in its NLA.
    """
    action = actions.assigned(armature).action
    action = action or next((found for found in actions.played_by(armature) if LAYER in found), None)
    layer = Layer(armature, action.get(SOURCE) if action and LAYER in action else action)
    return layer if layer.source and layer.corrections else None


def shown_action(armature: Object) -> Action | None:
    """The action with the record of what an armature shows: that of a layer, else the one that it plays."""
    layer = find(armature)
    return layer.corrections.action if layer else actions.assigned(armature).action


def set_aside(keep: Keep, layer: Layer) -> None:
    """Let the armature play the source as if there were no layer."""
    home = layer.home
    for track in [*layer.tracks, *([home] if home else [])]:
        # Blender switches every other track's solo off too.
        _set(keep, track, mute=True, **({"is_solo": False} if track.is_solo else {}))
    if home:
        keep(setattr, layer.data, "action", layer.data.action)
        actions.put(layer.data, actions.assignment_of(home.strips[0]))


def remove(layer: Layer) -> None:
    """Take away what was made for a layer that is set aside."""
    tracks, home = layer.tracks, layer.home
    made = [strip.action for track in tracks for strip in track.strips]
    for track in [*tracks, *([home] if home else [])]:
        layer.data.nla_tracks.remove(track)
    for action in made:
        if not action.users:
            bpy.data.actions.remove(action)


def push_down(keep: Keep, layer: Layer, extent: Extent) -> NlaTrack:
    """Let the armature play in a strip what it plays by itself; the strip's track."""
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
    """Let a strip play an action, one in a new track over another track where it is None; the strip's track."""
    if strip is None:
        strip = _add(keep, data, below, assignment).strips[0]
        # Blender does not heed the influence without this, nor its slider while there are keys.
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
    """The track of a strip."""
    return next(track for track in data.nla_tracks if strip in list(track.strips))


def is_weakened(strip: NlaStrip) -> bool:
    """Whether a strip may have less than its whole influence on some frame."""
    return strip.influence < 1.0 or any(curve.keyframe_points for curve in strip.fcurves)


def _add(keep: Keep, data: AnimData, below: NlaTrack | None, assignment: Assignment) -> NlaTrack:
    """A track with a strip, over another track or over all, named as the action."""
    active = data.nla_tracks.active
    track = data.nla_tracks.new(prev=below)
    keep(data.nla_tracks.remove, track)
    # Blender makes a new track the active one.
    data.nla_tracks.active = active
    track.name = assignment.action.name
    actions.put(track.strips.new(assignment.action.name, 1, assignment.action), assignment)
    return track


def extent(first: int, last: int, extrapolation: str) -> Extent:
    """What lets a strip play its action on its own frames, from the first to the last, and at their own speed."""
    last = max(last, first + 1)
    speed = {"use_animated_time": False, "use_reverse": False, "scale": 1.0, "repeat": 1.0}
    ends = {"action_frame_start": first, "action_frame_end": last, "frame_start": first, "frame_end": last}
    return {"use_sync_length": False, "extrapolation": extrapolation} | speed | ends


def _set(keep: Keep, owner: NlaStrip | NlaTrack, **values: Any) -> None:
    keep(_assign, owner, {name: getattr(owner, name) for name in values})
    _assign(owner, values)


def _assign(owner: NlaStrip | NlaTrack, values: dict[str, Any]) -> None:
    # Twice, because some values limit others.
    for name, value in [*values.items()] * 2:
        setattr(owner, name, value)
