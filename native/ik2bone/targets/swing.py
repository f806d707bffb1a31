# SPDX-License-Identifier: MIT
"""The lifts of swinging feet over the ground: they are smooth, and zero where a foot stands."""

import numpy as np

from ..anchors.lying import kept_rise
from ..arrays import Array, Mask, reduce_last
from ..clip import Clip
from ..curves import column_runs, smooth_between, smoothstep
from ..ground.query import Ground
from ..rotations import dot
from ..sole.measure import Sole, sole_points
from .blend import Targets

# A lift rises and falls over about this time (s), unless the ground asks for a faster one.
SLOW = 0.12
# A swinging sole stays as high over the ground as it is over the clip's floor, up to MARGIN (leg lengths). Over this
# share of the swing next to a stance it keeps less of that height, because the lift would be a jump there.
MARGIN = 0.02
BESIDE = 0.2
# Near a stance a foot is lifted with no more acceleration than this (leg lengths / s^2); its sole goes under the ground
# instead. With 50, the heels of a figure that hops over steps go 0.018 leg under them. With higher values feet pop as
# they land.
ACCELERATION = 80.0


def lift_swings(clip: Clip, sole: Sole, targets: Targets, swings: Mask, ground: Ground) -> Targets:
    """The targets, raised where heel, ball or toes would pass under the ground on the frames of the `swings` (F, L)."""
    under, margin = (height / clip.leg for height in missing_height(clip, sole, targets, swings, ground))
    rise, lift = targets.rise / clip.leg, np.zeros_like(under)
    for leg, start, end in column_runs(swings):
        sides = start > 0, end < clip.frames
        time = np.arange(1, end - start + 1) / (end - start + 1)
        # A sole that lies under the ground in the stance before or after may do so at that end of the swing, too.
        left = (max(under[start - 1, leg], 0.0) if sides[0] else 0.0) * (1 - time) ** 2
        left += (max(under[end, leg], 0.0) if sides[1] else 0.0) * time**2
        inner = np.ones_like(time)
        for side, share in zip(sides, (time, 1 - time), strict=True):
            inner *= smoothstep(share / BESIDE) if side else 1.0
        wanted = under[start:end, leg] - left + margin[start:end, leg] * inner
        climb = rise[end, leg] - rise[start - 1, leg] if all(sides) else 0.0
        lift[start:end, leg] = clear(wanted, climb, (end - start + 1) / clip.fps, sides)
    return targets.moved((clip.leg * lift)[..., None] * clip.up)


def missing_height(clip: Clip, sole: Sole, targets: Targets, swings: Mask, ground: Ground) -> tuple[Array, Array]:
    """How deep (F, L) each sole lies under the ground, negative over it, and how high (F, L) its lowest point should be
    over the ground.

    Depths are known on the frames of the `swings` (F, L) and on the frames next to them. Tips of toes may swing as deep
    under the ground as they do under the clip's own floor, because rigs place them roughly. If stances follow the
    heights of the ground already, it is that floor.
    """
    before = sole_points(clip, sole)
    near = swings.copy()
    near[1:] |= swings[:-1]
    near[:-1] |= swings[1:]
    under = targets.depths(targets.placed(before - clip.ball[:, :, None]), near, ground, clip.up)
    heights = dot(before, clip.up) - sole.floor
    rise = kept_rise(clip, targets.anchors)
    if rise is not None:
        heights = -targets.depths(before + targets.ride[:, None, None] + rise * clip.up, near, ground, clip.up)
    under[..., 2] += np.minimum(heights[..., 2], 0.0)
    return reduce_last(np.maximum, under), np.clip(reduce_last(np.minimum, heights), 0.0, MARGIN * clip.leg)


def clear(wanted: Array, climb: float, duration: float, closed: tuple[bool, bool]) -> Array:
    """The height (F,) to add to a swing of `duration` seconds so that it clears the ground: at least `wanted` (F,), in
    leg lengths, or as much of it as ACCELERATION allows near a stance.

    The swing climbs by `climb` along a quintic over its whole time. Climb and lift together accelerate as little as
    they can, even if nothing is in the way, so that the lift changes continuously with the obstacles. `closed` tells
    whether the foot stands before and after the swing: there the lift begins and ends at rest. Where the clip begins or
    ends instead, the lift keeps its height.
    """
    if climb == 0.0 and not (wanted > 0.0).any():
        return np.zeros_like(wanted)
    time, (before, after) = np.arange(1, len(wanted) + 1) / (len(wanted) + 1), (2 if side else 0 for side in closed)
    if all(closed):
        wanted = np.minimum(wanted, 0.5 * ACCELERATION * (duration * np.minimum(time, 1 - time)) ** 2)
    swing = slice(before, before + len(wanted))
    path, needed = np.zeros((2, before + len(wanted) + after))
    path[swing], path[swing.stop :] = climb * smoothstep(time), climb
    needed[swing] = np.maximum(wanted, 0.0)
    ceiling = path.copy()
    ceiling[swing] = np.inf
    curve = smooth_between(path, (len(wanted) + 1) / duration, SLOW, path + needed, ceiling)
    return (curve - path)[swing]
