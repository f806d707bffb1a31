# SPDX-License-Identifier: MIT
"""Feet that follow the ground frame by frame, without an anchor: clips in place, single poses, contacts 'ALWAYS'."""

from dataclasses import replace

import numpy as np

from ..anchors.lying import lie_along, own_floor
from ..arrays import Array, Mask, reduce_last
from ..clip import Clip
from ..contacts.stance import ROLL
from ..curves import hann_average, odd_window, quantile, smooth_between
from ..ground.query import Ground, ask
from ..notes import Note
from ..rotations import dot, length_of, matrix_from_vector, shortest_turns, turn_vectors, unit
from ..settings import Settings
from ..sole.measure import Sole, sole_points
from .blend import Targets

# At this height over its floor (leg lengths) a foot follows the ground half as closely as one that stands. Measured on
# 126 runs of clips in place: with 0.15 the straighter knee bends by 0.1 degrees more, and with 0.35 one more knee pops.
NEAR = 0.25
# The height that the ground adds to a foot changes no faster than over this time (s). Measured on 112 of these runs:
# with 0.1 standing soles hang 0.002 leg lengths farther over the ground; with 0.05 knees bend and pop more.
SLOW = 0.07
# It takes more time where it would change by more than this acceleration (leg lengths / s^2), as at edges. On the same
# runs: with 4.5 standing soles hang 0.003 leg lengths lower, and knees pop by 0.2 degrees more.
CALM = 3.0
# Ground is a floor if it moves no sole farther than this (leg lengths) from the move that all soles share. It is half
# of what hips may move over a clip's own floor.
EVEN = 0.01


def follow_ground(clip: Clip, sole: Sole, ground: Ground, settings: Settings) -> tuple[Targets, bool]:
    """Return targets that raise each foot with the ground below it and tilt it with the slope, and whether there is
    ground under any foot. Each foot keeps its own height over the ground.

    Feet that already follow this ground in the clip are not raised and tilted again. On ground as even as the clip's
    own floor, soles may go as deep under the ground as they go under that floor, so that the clip stays as it was made.
    On other ground they do not sink in.
    """
    below = clip.ball - sole.ball_height[:, None] * clip.up
    floor, keep = own_floor(clip, sole, below, ground)
    height = dot(below, clip.up) - floor
    # The ground is looked for from the clip's own floor, because a foot kicked high may be nearer to a roof.
    hits, normals, found = _gentle(ground, below - height[..., None] * clip.up, clip.up, settings.least)
    near = 1.0 / (1.0 + (np.maximum(height, 0.0) / (NEAR * clip.leg)) ** 2)
    rise = np.where(found, dot(hits - below, clip.up) + height, 0.0)
    soles_up, low = turn_vectors(clip.foot, sole.up), near > 0.5
    tilts = settings.use_slope * (1.0 - lie_along(soles_up[low], normals[low], clip.up, keep))
    normals = hann_average(normals, odd_window(ROLL, clip.fps))
    turn = matrix_from_vector(tilts * near[..., None] * shortest_turns(clip.up, normals))
    ball = below + rise[..., None] * clip.up + sole.ball_height[:, None] * (turn @ clip.up)
    targets = replace(Targets.of(clip), ball=ball, turn=turn, rise=rise, level=dot(hits, clip.up))
    points = sole_points(clip, sole)
    # How far the ground moves single points of soles beyond the move that all soles share.
    placed = targets.placed(points - clip.ball[:, :, None])
    uneven = length_of(placed - points - quantile(rise.ravel(), 0.5) * clip.up).max()
    # A single pose does not show on what floor it was made.
    is_floor = max(0.0, 1.0 - float(uneven) / (EVEN * clip.leg)) if clip.frames > 1 else 0.0
    own = is_floor * np.maximum(floor[..., None] - dot(points, clip.up), 0.0)
    # Toes bend up from the ground, so feet with toe bones need not rise for the tips.
    parts = 2 if clip.has_toe.all() else 3
    depths = targets.depths(placed[:, :, :parts], np.ones(rise.shape, bool), ground, clip.up) - own[..., :parts]
    depths[..., 2:][:, clip.has_toe] = -np.inf
    # Swinging feet go from where they stood to where they will stand, and not up and down with the ground below them.
    calm = _calm(clip, rise, rise + reduce_last(np.maximum, depths), near)
    targets = targets.moved((calm - rise)[..., None] * clip.up)
    return replace(targets, rise=calm, sink=own[..., 2]), bool(found.any())


def lay_on_ground(clip: Clip, sole: Sole, ground: Ground, settings: Settings) -> tuple[Targets, bool]:
    """Return targets that lay each sole flat on the surface below its ball, whatever its height and tilt in the clip,
    and whether there is a surface under any foot.
    """
    window = odd_window(ROLL, clip.fps)
    _, normals, found = _gentle(ground, clip.ball, clip.up, settings.least)
    normals = hann_average(normals, window) if settings.use_slope else np.broadcast_to(clip.up, normals.shape)
    over = unit(normals) * sole.ball_height[:, None]
    below = clip.ball - over
    hits, _, _ = ask(ground, below, clip.up)
    rise = np.where(found, dot(hits - below, clip.up), 0.0)
    height = hann_average(dot(hits, clip.up), window)
    ball = np.where(found[..., None], below + (height - dot(below, clip.up))[..., None] * clip.up + over, clip.ball)
    present = turn_vectors(clip.foot, sole.up)
    turn = matrix_from_vector(np.where(found[..., None], shortest_turns(present, normals), 0.0))
    # Bent toes do not count: heel and ball are to lie on the ground.
    targets = replace(Targets.of(clip), ball=ball, turn=turn, rise=rise, level=dot(hits, clip.up))
    placed = targets.placed(sole_points(clip, sole)[:, :, :2] - clip.ball[:, :, None])
    depths = reduce_last(np.maximum, targets.depths(placed, np.ones(rise.shape, bool), ground, clip.up))
    lift = _calm(clip, np.zeros(rise.shape), np.maximum(depths, 0.0), np.ones(rise.shape))
    return targets.moved(lift[..., None] * clip.up), bool(found.any())


def tell_ground_under(targets: Targets, standing: Mask, ground: Ground, up: Array, steepest: float) -> list[Note]:
    """Notes about the frames on which feet that follow the ground stand (F, L) where there is no ground, or where it is
    steeper than `steepest` (radians).
    """
    if not standing.any():
        return []
    _, normals, found = ask(ground, targets.ball, up)
    steep = found & (dot(normals, up) < np.cos(steepest))
    lost, steep = (int(np.count_nonzero(reduce_last(np.logical_or, standing & mask))) for mask in (~found, steep))
    notes = [Note("no_surface_frames", {"frames": lost})] if lost else []
    return notes + ([Note("steep_frames", {"frames": steep, "degrees": float(np.degrees(steepest))})] if steep else [])


def _gentle(ground: Ground, below: Array, up: Array, least: float) -> tuple[Array, Array, Mask]:
    """Ground under points (F, L, 3). Normals point up where it is missing, or too steep to stand on."""
    hits, normals, found = ask(ground, below, up)
    return hits, np.where((found & (dot(normals, up) >= least))[..., None], normals, up), found


def _calm(clip: Clip, wish: Array, floor: Array, weight: Array) -> Array:
    """Heights (F, L) near a `wish` (F, L) and nowhere under a `floor` (F, L). They change over SLOW. If those of a foot
    would change more suddenly than CALM, they take as much more time in the whole clip.
    """
    heights = smooth_between(wish, clip.fps, SLOW, floor, weight=weight)
    sudden = np.abs(np.diff(heights, 2, axis=0)).max(axis=0, initial=0.0) * clip.fps**2 / (CALM * clip.leg)
    for leg in np.flatnonzero(sudden > 1.0):
        # A step over a time t takes an acceleration in proportion to 1 / t^2.
        slow = SLOW * float(np.sqrt(sudden[leg]))
        heights[:, leg] = smooth_between(wish[:, leg], clip.fps, slow, floor[:, leg], weight=weight[:, leg])
    return heights
