# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames a run plants: whole ones, and never beyond the action."""

from __future__ import annotations

from math import ceil, floor

import numpy as np
from bpy.types import Scene
from ik2bone.arrays import Array
from ik2bone.curves import smoothstep

from ..errors import Refusal
from ..keys import actions
from ..keys.keyframes import Frames
from ..properties import PlantingOptions

Bounds = tuple[int, int]

# Corrections in place fade over this time (s), about a step, or over half of a shorter range.
FADE = 0.5


def action_bounds(assignment: actions.Assignment) -> Bounds:
    """First and last whole frame of an action, floored and ceiled."""
    if assignment.action is None:
        raise Refusal("the armature plays no action: assign one, or plant the current frame only")
    span = actions.frame_span(assignment)
    if span is None:
        raise Refusal(f"action {assignment.action.name} has no keys for this armature")
    return floor(span[0]), ceil(span[1])


def choose_frames(scene: Scene, options: PlantingOptions, bounds: Bounds) -> Frames:
    """The frames that `options.frame_range` means within the action's bounds."""
    wanted = wanted_frames(scene, options, bounds)
    first, last = max(wanted[0], bounds[0]), min(wanted[1], bounds[1])
    if first > last:
        raise Refusal(
            f"there is no frame to plant: {wanted[0]} to {wanted[1]} was asked for, "
            f"and the action covers {bounds[0]} to {bounds[1]}"
        )
    return np.arange(first, last + 1)


def usual_blend(frames: int, fps: float) -> int:
    """Over how many frames corrections come and go where they have to and nobody says how fast."""
    return max(1, min(round(FADE * fps), (frames - 1) // 2))


def blend(frames: Frames, bounds: Bounds, lengths: tuple[int, int]) -> Array | None:
    """Shares (F,) of corrections that come and go over these lengths, at those ends that lie within the bounds.

    Zero at such an end; None where all frames get the whole. Lengths that overlap are shortened in proportion.
    """
    time, within = np.arange(len(frames)), (frames[0] > bounds[0], frames[-1] < bounds[1])
    wanted = [length * inside for length, inside in zip(lengths, within, strict=True)]
    room = min(1.0, (len(frames) - 1) / max(1, sum(wanted)))
    shares = np.ones(len(frames))
    for length, way in zip(wanted, (time, time[::-1]), strict=True):
        shares *= smoothstep(way / max(1, floor(room * length))) if length else 1.0
    if not shares.any():
        raise Refusal(
            f"frames {frames[0]} to {frames[-1]} are too few: "
            "corrections fade to zero at the ends of a range within the action"
        )
    return shares if (shares < 1.0).any() else None


def wanted_frames(scene: Scene, options: PlantingOptions, bounds: Bounds) -> Bounds:
    """The first and the last frame that are asked for, of an action of these bounds."""
    if options.frame_range == "CUSTOM":
        return options.frame_start, options.frame_end
    if options.frame_range == "SCENE":
        return scene.frame_start, scene.frame_end
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return bounds
