# SPDX-License-Identifier: MIT
"""Footprints of many stances at once: where their soles touch level ground, how uneven ground is under them, and how
soles lie along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contacts.detect import Stance, stances
from ..model import Array, Clip, Mask, level_part
from ..rotations import unit
from ..sole.measure import Sole
from ..targets.lock import standing_frames
from .time import standing_places

# Nothing stands on faces steeper than this (radians) by default: scenes' ramps stay under 45 degrees, risers beyond 60.
STEEPEST = np.radians(50.0)
# A footprint is even when its points lie this close to its plane (leg lengths): 2.5 cm, which shoes hide.
EVEN = 0.03
# The slope at the standing point counts as much as a point at this distance (leg lengths): half a foot and more.
TANGENT = 0.2
# Edges are kept this far from heel and tip (leg lengths), so that a rolling foot stays clear of them; and farther, so
# that a swinging one passes over them, where the move costs less than WIDE_WEIGHT (leg lengths) for each edge.
EDGE = 0.02
WIDE_EDGE = 0.1
WIDE_WEIGHT = 0.1
# Half the width of a foot by the distance from its heel to its ball (Winter, 2009: 0.3 and less).
HALF_WIDTH = 0.3
# Cost (leg lengths) of each leg length that a footprint is uneven by, and of ground that is too steep or missing:
# more than any move that is looked at.
UNEVEN_COST, NOWHERE_COST = 10.0, 10.0
# Points of a footprint in order: the standing point; heel, ball and tip; beyond heel and tip along three headings; the
# sides; and farther beyond heel and tip, which a swinging foot passes over.
ALONG_FOOT, SIDES, BESIDE = slice(1, 4), (0, 10, 11), slice(-2, None)
# Those that tell how uneven ground is: heel, ball and tip lie within the outline.
OUTLINE = np.array([0, *range(4, 14)])


@dataclass(frozen=True)
class Slopes:
    """What soles make of slopes: whether they are `aligned` with them, and the `steepest` (radians) they stand on."""

    aligned: bool = True
    steepest: float = STEEPEST

    @property
    def least(self) -> float:
        """The least that a normal of what can be stood on has along up."""
        return float(np.cos(self.steepest))


@dataclass(frozen=True)
class Surface:
    """Ground at points (...): `hits` (..., 3) on it in world space; `height` in leg lengths over its stance's zero; and
    `slope` (..., 2), rise over run ahead and to the left, zero where the ground is not `gentle`: not `found`, or too
    steep to stand on.
    """

    hits: Array
    height: Array
    slope: Array
    gentle: Mask
    found: Mask


@dataclass(frozen=True)
class Footprints:
    """Level soles of N stances in order of time, each held by one of its `parts` ("ball", "heel" or "swing").

    The part is at `origin` (N, 3) in the clip, `height` (N,) over the sole. `frame` (N,) is the first by which the
    foot is held. `axes` (N, 3, 3) have the unit vectors ahead, to the left and up as columns; `points` (N, 14, 2) are
    what the print covers in the first two of them from the standing point, in leg lengths.
    """

    spans: tuple[Stance, ...]
    parts: tuple[str, ...]
    origin: Array
    height: Array
    frame: NDArray[np.intp]
    axes: Array
    points: Array

    @property
    def legs(self) -> NDArray[np.intp]:
        """The leg of each stance (N,)."""
        return np.array([span.leg for span in self.spans], np.intp)


def stance_footprints(clip: Clip, sole: Sole, heel: Array, contacts: Mask) -> Footprints:
    """The footprint of each stance of contacts (F, L, 2): held by the ball where that stands, else by the heel, which
    goes along paths (F, L, 3).
    """
    spans = sorted(stances(contacts), key=lambda span: span.start)
    held = [span.start + standing_frames(contacts[span.start : span.end, span.leg]) for span in spans]
    parts = ["ball" if contacts[frames[0], span.leg, 1] else "heel" for span, frames in zip(spans, held, strict=True)]
    paths = {"ball": clip.ball, "heel": heel}
    held_paths = [paths[part][:, span.leg] for span, part in zip(spans, parts, strict=True)]
    return footprints(clip, sole, spans, parts, held, standing_places(held_paths, held))


def footprints(
    clip: Clip,
    sole: Sole,
    spans: Sequence[Stance],
    parts: Sequence[str],
    held: list[NDArray[np.intp]],
    origin: Array,
) -> Footprints:
    """Footprints of N stances at their origins (N, 3), turned as their feet are on the frames that hold them."""
    legs = np.array([span.leg for span in spans], np.intp)
    ahead, sines = _headings(clip, sole, legs, held)
    axes = np.stack([ahead, np.cross(clip.up, ahead), np.broadcast_to(clip.up, ahead.shape)], axis=-1)
    on_heel = np.array([part == "heel" for part in parts], bool)
    points = _points(sole.lengths[legs] / clip.leg, on_heel, sines)
    height = np.where(on_heel, 0.0, sole.ball_height[legs])
    frame = np.array([frames[0] for frames in held], np.intp)
    return Footprints(tuple(spans), tuple(parts), origin, height, frame, axes, points)


def _headings(clip: Clip, sole: Sole, legs: NDArray[np.intp], held: list[NDArray[np.intp]]) -> tuple[Array, Array]:
    """Mean level headings (N, 3) of feet on the frames that hold them, and sines (N, 2) of the angles from them to the
    headings farthest to the right and left.
    """
    counts = np.array([len(frames) for frames in held])
    rows, leg, first = np.concatenate(held), np.repeat(legs, counts), np.cumsum(counts) - counts
    forwards = unit(level_part((clip.foot[rows, leg, :3, :3] @ sole.forward[leg][..., None])[..., 0], clip.up))
    ahead = unit(np.add.reduceat(forwards, first))
    sines = np.sum(forwards * np.repeat(np.cross(clip.up, ahead), counts, axis=0), axis=-1)
    return ahead, np.stack([np.minimum.reduceat(sines, first), np.maximum.reduceat(sines, first)], axis=-1)


def _points(lengths: Array, on_heel: Mask, sines: Array) -> Array:
    """What prints cover (N, 14, 2), by the ways (N, 2) from heel to ball and from ball to tip in leg lengths."""
    ball = np.where(on_heel, lengths[:, 0], 0.0)
    heel, tip, width = ball - lengths[:, 0], ball + lengths[:, 1], HALF_WIDTH * lengths[:, 0]
    sines = np.concatenate([np.zeros_like(sines[:, :1]), sines], axis=1)
    ways = np.stack([np.sqrt(np.maximum(1.0 - sines**2, 0.0)), sines], axis=-1)
    ends = np.stack([heel - EDGE, tip + EDGE], axis=1)[:, None, :, None] * ways[:, :, None]
    points = np.zeros((len(lengths), 14, 2))
    points[:, ALONG_FOOT, 0] = np.stack([heel, ball, tip], axis=1)
    points[:, 4:10] = ends.reshape(-1, 6, 2)
    points[:, 10, 1], points[:, 11, 1] = width, -width
    points[:, BESIDE, 0] = np.stack([heel - WIDE_EDGE, tip + WIDE_EDGE], axis=1)
    return points


def unevenness(points: Array, heights: Array, slope: Array, gentle: Mask) -> Array:
    """Cost (...) of footprints in leg lengths: 0 when even, growing with what sticks out of the plane through the
    standing point, whose `slope` (..., 2) and gentleness are given, at points (..., P, 2) of some heights (..., P).
    """
    plane = np.einsum("...pi,...i->...p", points - points[..., :1, :], slope)
    out = np.abs(heights - heights[..., :1] - plane) / np.sqrt(1.0 + np.sum(slope**2, axis=-1))[..., None]
    out = np.maximum(out - EVEN, 0.0)
    beside = WIDE_WEIGHT * np.minimum(out[..., BESIDE] / EVEN, 1.0).sum(axis=-1)
    return np.where(gentle, UNEVEN_COST * out[..., : BESIDE.start].max(axis=-1) + beside, NOWHERE_COST)


def slope_turns(axes: Array, points: Array, surface: Surface) -> Array:
    """Rotations (N, 3, 3) that lay level soles with axes (N, 3, 3) along the ground at their points (N, 14): along the
    line that fits heel, ball and tip, across by the normals near the standing point.
    """
    normals = unit(np.concatenate([-surface.slope, np.ones_like(surface.slope[..., :1])], axis=-1))
    # The standing point and the sides: farther along the foot other faces may lie.
    near = (surface.gentle[..., None] * normals)[:, SIDES].sum(axis=1)
    normal = unit(np.where(near.any(axis=-1, keepdims=True), near, [0.0, 0.0, 1.0]))
    incline = _incline(points[:, ALONG_FOOT, 0] - points[:, :1, 0], surface, normal)
    along = unit(np.stack([np.ones_like(incline), np.zeros_like(incline), incline], axis=-1))
    side = unit(np.cross(normal, along))
    slope = np.stack([along, side, np.cross(along, side)], axis=-1)
    return np.asarray(axes @ slope @ np.swapaxes(axes, 1, 2))


def _incline(run: Array, surface: Surface, normal: Array) -> Array:
    """Rise over run (N,) of the line through the standing point that fits heel, ball and tip (N, 3) and the slope.

    Points off the plane of the `normal` (N, 3) lie over an edge and do not count.
    """
    rise = surface.height[:, ALONG_FOOT] - surface.height[:, :1]
    even = surface.gentle[:, ALONG_FOOT] & (np.abs(run * normal[:, :1] + rise * normal[:, 2:]) <= EVEN)
    tangent = -normal[:, 0] / normal[:, 2]
    weighed = np.sum(even * run * rise, axis=1) + TANGENT**2 * tangent
    return np.asarray(weighed / (np.sum(even * run**2, axis=1) + TANGENT**2))
