# SPDX-License-Identifier: MIT
"""Cost of passing obstacles: what a foot has to be lifted over shortly before and after it stands in a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contacts.detect import Stance
from ..curves import SHARPEST, between
from ..model import Array, Clip, Mask
from ..targets.blend import SLOPE_RANGE
from .anchor import shortened
from .footprint import Footprints
from .patch import Patches
from .time import standing_places

# A swing that is lifted, or led aside, with this peak of acceleration (leg lengths / s^2) moves the foot by 0.04 leg
# within 1/30 s, which can just be seen.
HURRY = 40.0
# Times (s) before and after a stance at which the foot is looked at: within the shortest a lift can hardly be seen,
# within the longest there is time to be lifted by half a leg.
TIMES = np.geomspace(0.04, 0.16, 8)
# A sole that dips no deeper than this (leg lengths) meets no edge: those of clips do so where they roll.
DIP = 0.03
# Share of a quintic's peak of acceleration with which a lift passes over something on its flank, instead of at its top.
FLANK = 0.5
# A foot is this far (leg lengths) from its place at this time (s) before touchdown and after lift-off, or a little
# later: in three of four swings of the recorded clips. It is fast there, so frames hardly matter to the instant.
AWAY, DELAY = 0.08, 0.055
# A foot that stays nearer is looked at where it has gone this share of its way.
HALF = 0.5
# Touchdown and lift-off lie within this time (s) of the ends of the contact.
NEAR = 0.1


@dataclass(frozen=True)
class Swings:
    """Heel, ball and tip of M feet beside their stances, T times before and T after: `at` (M, 2T, 3, 2) ahead of and
    beside the standing points, `height` (M, 2T, 3) over their soles, in leg lengths; `tilted` (M, 2T, 3, 2) is how far
    out they follow the slope. `weight` (M, 2T) is the acceleration that a lift by 1 leg takes in the time, 0 where
    the foot is beyond the middle of the swing.
    """

    at: Array
    height: Array
    tilted: Array
    weight: Array


def passing_costs(
    patches: Patches, swings: Swings, rows: tuple[NDArray[np.intp], NDArray[np.intp]], place: Array, slopes: Array
) -> Array:
    """Costs (Q,) in leg lengths of places (Q, 3), ahead, to the left and up, with slopes (Q, 2) along which feet lie.

    `rows` (Q,) each are those of their stances among the patches and among the swings. A foot is looked at as it swings
    in the clip, moved and tilted as where it stands. By what it would be under the ground it has to be lifted in the
    time that is left: acceleration over HURRY costs by the square of what is over.
    """
    patch, swing = rows
    ground = patches.heights(patch[:, None, None], swings.at[swing] + place[:, None, None, :2])
    tilt = (swings.tilted[swing].reshape(len(swing), -1, 2) @ slopes[..., None]).reshape(ground.shape)
    under = (ground - tilt - swings.height[swing]).max(axis=2) - place[:, 2:]
    acceleration = FLANK * SHARPEST * np.maximum(under - DIP, 0.0) * swings.weight[swing]
    return np.asarray(np.maximum(acceleration.max(axis=1) / HURRY - 1.0, 0.0) ** 2)


def swings_beside(clip: Clip, soles: Array, prints: Footprints, instants: Array) -> Swings:
    """How the feet of N stances swing before and after them, by points of the soles (F, L, 3, 3) and the instants
    (N, 2) of touchdown and lift-off in frames.
    """
    legs, away = prints.legs, TIMES * clip.fps
    frames = np.concatenate([instants[:, :1] - away, instants[:, 1:] + away], axis=1)
    inside = _inside(frames, instants, legs, clip.frames)
    points = np.empty((*frames.shape, 3, 3))
    for leg in np.unique(legs):
        rows, last = legs == leg, max(clip.frames - 1, 0)
        points[rows] = between(soles[:, leg], np.clip(frames[rows], 0.0, last).ravel()).reshape(-1, *points.shape[1:])
    ways = points - prints.origin[:, None, None]
    own, tilted = (
        np.einsum("ntpj,nji->ntpi", each, prints.axes) / clip.leg
        for each in (ways, shortened(ways, SLOPE_RANGE * clip.leg))
    )
    height = own[..., 2] + prints.height[:, None, None] / clip.leg
    return Swings(own[..., :2], height, tilted[..., :2], inside / np.tile(TIMES, 2) ** 2)


def _inside(frames: Array, instants: Array, legs: NDArray[np.intp], count: int) -> Mask:
    """Which frames (N, 2T) beside stances a clip has, of so many, before the middle of the swing."""
    first, last = np.zeros(len(legs)), np.full(len(legs), count - 1.0)
    for leg in np.unique(legs):
        rows = np.flatnonzero(legs == leg)
        middle = (instants[rows[:-1], 1] + instants[rows[1:], 0]) / 2
        last[rows[:-1]], first[rows[1:]] = np.minimum(middle, count - 1.0), np.maximum(middle, 0.0)
    return np.asarray((frames >= first[:, None]) & (frames <= last[:, None]))


def standing_instants(
    prints: Footprints, beside: NDArray[np.intp], parts: Array, contacts: Mask, fps: float, leg: float
) -> Array:
    """When feet touch down on their N stances and lift off (N, 2), in frames and between them.

    `beside` (N, 2) are the rows of the same foot's stances before and after, -1 without one; `parts` (F, L, 2, 3) are
    the paths of heels and balls, `contacts` (F, L, 2) tell when those stand. Contacts begin and end with a frame; the
    instants are told from where the foot is some way from its place.
    """
    places, legs = _places(prints.spans, parts, contacts, leg), prints.legs[:, None]
    edges = np.array([(span.start, span.end - 1) for span in prints.spans])
    inner, outer = round((NEAR + DELAY) * fps) + 1, round(4 * NEAR * fps) + 2
    window, instants = np.arange(-inner, outer), edges + [-0.5, 0.5]
    for side, sign in ((0, -1), (1, 1)):
        other = beside[:, side]
        last = np.where(other >= 0, edges[other, 1 - side], (len(parts) - 1) * side)
        frames = sign * (sign * edges[:, side, None] + window)
        frames = sign * np.clip(sign * frames, sign * edges.sum(axis=1)[:, None] // 2, sign * last[:, None])
        ways = np.nanmin(np.linalg.norm(parts[frames, legs] - places[:, None], axis=-1), axis=-1) / leg
        others = np.nanmin(np.linalg.norm(parts[frames, legs] - places[other, None], axis=-1), axis=-1) / leg
        both = np.where(other[:, None] >= 0, np.minimum(ways, others), ways)
        late = _lift_offs(ways, both, inner, fps)
        instants[:, side] = np.where(last == edges[:, side], instants[:, side], edges[:, side] + sign * late)
    return instants


def _places(spans: Sequence[Stance], parts: Array, contacts: Mask, leg: float) -> Array:
    """Where heel and ball stand (N, 2, 3); not a number for a part that does not."""
    places = np.full((len(spans), 2, 3), np.nan)
    for part in (0, 1):
        stands = [span.start + np.flatnonzero(contacts[span.start : span.end, span.leg, part]) for span in spans]
        rows = [row for row, frames in enumerate(stands) if len(frames)]
        paths = [parts[:, spans[row].leg, part] for row in rows]
        places[rows, part] = standing_places(paths, [stands[row] for row in rows])
    return places


def _lift_offs(ways: Array, both: Array, edge: int, fps: float) -> Array:
    """How many frames after the last of its contact a foot lifts off (N,), by how far it is from its place (N, T) and
    from the nearer of its places before and after the swing (N, T), in leg lengths; column `edge` is that last frame.
    """
    row, peak = np.arange(len(ways)), edge + np.argmax(both[:, edge:], axis=1)
    farthest = np.maximum(both[row, peak], 1e-9)
    # A foot that hardly stirs may have crept away as it stood.
    rest = np.maximum(0.0, 1.0 - HALF * farthest / AWAY) * np.minimum(ways[:, edge], farthest)
    way = HALF * (farthest - rest)
    far = np.minimum(AWAY, rest + way)
    near = (ways <= far[:, None]) & (np.arange(ways.shape[1]) < peak[:, None])
    before = ways.shape[1] - 1 - np.argmax(near[:, ::-1], axis=1)
    before = np.where(near.any(axis=1), before, 0)
    start, end = ways[row, before], ways[row, before + 1]
    share = np.clip((far - start) / np.maximum(end - start, 1e-12), 0.0, 1.0)
    quick = fps * np.sqrt(np.minimum(way / AWAY, 1.0))
    return np.asarray(np.clip(before - edge + share - DELAY * quick, 0.5 - NEAR * quick, 0.5 + NEAR * quick))
