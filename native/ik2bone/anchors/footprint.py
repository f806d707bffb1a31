# SPDX-License-Identifier: MIT
"""Footprints of many stances at once: the ground under them, how uneven it is, and how soles are tilted along it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, Indices, Mask, reduce_last
from ..clip import Clip
from ..contacts.stance import Stance, stances, standing_frames, standing_place
from ..ground.query import Ground, ask
from ..rotations import cross, dot, level_part, unit
from ..sole.measure import EVEN, Sole

# Half the width of a foot, as a share of the distance from its heel to its ball (Winter, 2009: 0.3 and less).
HALF_WIDTH = 0.3
# Behind the heel and ahead of the tip the ground may rise by up to this (rise over run), as a foot comes to its place
# and leaves it. Measured on steps: at 1 feet stand closer to risers (0.046 leg from the clip's place instead of 0.058),
# but are lifted more suddenly, and a heel comes under a nosing.
APPROACH = 0.6
# Cost (leg lengths) of each leg length by which a footprint is uneven: more than that of any move that is tried.
# Missing or too steep ground costs as much as a hole one leg deep.
UNEVEN_COST = 10.0
# The number of points of a footprint that lie under the sole.
SOLE = 6


@dataclass(frozen=True)
class Footprints:
    """The level soles of N stances, each held by one of its `parts` ("ball", "heel" or "swing").

    `origin` (N, 3) is the place of the part in the clip, `height` (N,) its height over the sole, and `frame` (N,) the
    first frame on which it holds the foot. `axes` (N, 3, 3) have the unit vectors ahead, to the left and up as columns.
    `points` (N, P, 2) are places that show how well a foot stands: ahead and to the left of the standing point, in leg
    lengths.

    The first `SOLE` points lie under the sole: the standing point, beyond the heel, the middle, beyond the tip, and the
    two sides. There the ground may leave the plane of the sole by `room` (N, P). Over the others, behind and ahead, the
    foot swings: there only ground that rises counts, and it has more `room`. The last point is the tip itself.
    """

    spans: tuple[Stance, ...]
    parts: tuple[str, ...]
    origin: Array
    height: Array
    frame: Indices
    axes: Array
    points: Array
    room: Array


@dataclass(frozen=True)
class Patch:
    """The ground at points (...): `hits` (..., 3) in world space, `height` in leg lengths over the stance's zero, and
    `slope` (..., 2), rise over run ahead and to the left. The slope is zero where the ground is not `gentle`: not
    `found`, or too steep to stand on.
    """

    hits: Array
    height: Array
    slope: Array
    gentle: Mask
    found: Mask


@dataclass(frozen=True)
class Site:
    """The ground of N stances, asked for at the points `below` (N, 3) on the frames of their footprints. Heights count
    from `zero` (N, 3), the ground under the standing points. `leg` is the leg's length. Feet can stand on ground whose
    normals have at least `least` along up.
    """

    ground: Ground
    prints: Footprints
    below: Array
    zero: Array
    leg: float
    least: float

    @cached_property
    def own(self) -> Patch:
        """The ground at all footprints in their own places."""
        return self.ask(np.arange(len(self.below)), self.prints.points)

    def ask(self, rows: Indices, at: Array) -> Patch:
        """The ground of the stances `rows` (M,), at places (M, ..., 2) in leg lengths ahead and to the left of the
        standing points.
        """
        count, axes, up = len(rows), self.prints.axes[rows], self.prints.axes[0, :, 2]
        away = self.leg * (at.reshape(count, -1, 2) @ np.swapaxes(axes[:, :, :2], 1, 2))
        points = (self.below[rows][:, None] + away).reshape(*at.shape[:-1], 3)
        hits, normals, found = ask(self.ground, points, up, self.prints.frame[rows])
        height = (dot(hits.reshape(count, -1, 3) - self.zero[rows][:, None], up) / self.leg).reshape(found.shape)
        own = (normals.reshape(count, -1, 3) @ axes).reshape(points.shape)
        gentle = found & (own[..., 2] >= self.least)
        slope = np.where(gentle[..., None], -own[..., :2] / np.maximum(own[..., 2:], self.least), 0.0)
        # Missing ground is as bad as a hole one leg deep.
        return Patch(hits, np.where(found, height, -1.0), slope, gentle, found)


def stance_footprints(clip: Clip, sole: Sole, heel: Array, contacts: Mask) -> Footprints:
    """The footprints of the stances of contacts (F, L, 2), in order of time: held by the ball where that stands, else
    by the heel, which has the paths (F, L, 3).
    """
    spans = sorted(stances(contacts), key=lambda span: span.start)
    held = [span.start + standing_frames(contacts[span.rows]) for span in spans]
    parts = ["ball" if contacts[frames[0], span.leg, 1] else "heel" for span, frames in zip(spans, held, strict=True)]
    paths = {"ball": clip.ball, "heel": heel}
    held_by = zip(spans, parts, held, strict=True)
    places = [standing_place(paths[part][:, span.leg], frames) for span, part, frames in held_by]
    return footprints(clip, sole, spans, parts, held, np.array(places))


def footprints(
    clip: Clip, sole: Sole, spans: Sequence[Stance], parts: Sequence[str], held: list[Indices], origin: Array
) -> Footprints:
    """The footprints of N stances at their origins (N, 3), in the mean direction of their feet on the frames `held`."""
    legs = np.array([span.leg for span in spans], np.intp)
    ahead = _headings(clip, sole, legs, held)
    axes = np.stack([ahead, cross(clip.up, ahead), np.broadcast_to(clip.up, ahead.shape)], axis=-1)
    on_heel = np.array([part == "heel" for part in parts], bool)
    points, room = _points(sole.lengths[legs] / clip.leg, on_heel)
    height = np.where(on_heel, 0.0, sole.ball_height[legs])
    frame = np.array([frames[0] for frames in held], np.intp)
    return Footprints(tuple(spans), tuple(parts), origin, height, frame, axes, points, room)


def _headings(clip: Clip, sole: Sole, legs: Indices, held: list[Indices]) -> Array:
    """The mean level headings (N, 3) of feet on the frames that hold them."""
    counts = np.array([len(frames) for frames in held])
    rows, leg = np.concatenate(held), np.repeat(legs, counts)
    forwards = unit(level_part((clip.foot[rows, leg, :3, :3] @ sole.forward[leg][..., None])[..., 0], clip.up))
    return unit(np.add.reduceat(forwards, np.cumsum(counts) - counts))


def _points(lengths: Array, on_heel: Mask) -> tuple[Array, Array]:
    """The points (N, P, 2) of footprints and their room (N, P). `lengths` (N, 2) are the distances from heel to ball
    and from ball to tip, in leg lengths; `on_heel` (N,) tells which feet are held by the heel.
    """
    ball = np.where(on_heel, lengths[:, 0], 0.0)
    beyond, width = lengths.sum(axis=1, keepdims=True) * np.arange(1, 5) / 4, HALF_WIDTH * lengths[:, 0]
    # Heel and tip keep this distance from edges, so that a rolling foot stays clear of them.
    heel, tip = (ball - lengths[:, 0] - EVEN)[:, None], (ball + lengths[:, 1] + EVEN)[:, None]
    zero = np.zeros((len(lengths), 1))
    sole = [zero, heel, 0.5 * (heel + tip), tip, zero, zero]
    ahead = np.concatenate([*sole, heel - beyond, tip + beyond, tip - EVEN], axis=1)
    points = np.stack([ahead, 0.0 * ahead], axis=-1)
    points[:, SOLE - 2 : SOLE, 1] = np.stack([width, -width], axis=1)
    return points, EVEN + APPROACH * np.concatenate([*[zero] * SOLE, beyond, beyond, zero], axis=1)


def unevenness(points: Array, room: Array, patch: Patch) -> Array:
    """The costs (...) of footprints in leg lengths, from their points (..., P, 2) and the `patch` (..., P) there. The
    cost is 0 if no edge exceeds the `room` (..., P) of its point. Ground that rises into the tip costs twice: where a
    tread is too short for heel and tip, the heel stands over its edge rather than the toes in the riser ahead.
    """
    out = np.maximum(over_edge(points, patch) - room, 0.0)
    most = reduce_last(np.maximum, out) + out[..., -1]
    return np.asarray(UNEVEN_COST * np.where(patch.gentle[..., 0], most, 1.0))


def over_edge(points: Array, patch: Patch) -> Array:
    """How far (..., P) the ground at points (..., P, 2) is over or under the plane of the ground at the first of them:
    over an edge.

    Curved ground has no edge: its height is between those that the slopes at both points predict. Points that are not
    under the sole count only where the ground is higher.
    """
    slope, away = patch.slope, points - points[..., :1, :]
    here, there = dot(away, slope[..., :1, :]), dot(away, slope)
    climb = patch.height - patch.height[..., :1]
    out, under = climb - np.maximum(here, there), np.minimum(here, there) - climb
    out[..., :SOLE] = np.maximum(out, under)[..., :SOLE]
    return np.asarray(out)


def slope_turns(axes: Array, points: Array, patch: Patch) -> Array:
    """Rotations (N, 3, 3) that lay level soles with axes (N, 3, 3) along the ground at their points (N, P, 2). The
    normal is the mean of the normals under the sole, without points beyond an edge.
    """
    normals = unit(np.concatenate([-patch.slope, np.ones_like(patch.slope[..., :1])], axis=-1))[:, :SOLE]
    even = patch.gentle[:, :SOLE] & (over_edge(points, patch)[:, :SOLE] <= EVEN)
    normal = unit(np.where(even.any(axis=1)[:, None], (even[..., None] * normals).sum(axis=1), normals[:, 0]))
    along = unit(np.stack([normal[:, 2], 0.0 * normal[:, 0], -normal[:, 0]], axis=-1))
    slope = np.stack([along, cross(normal, along), normal], axis=-1)
    return np.asarray(axes @ slope @ np.swapaxes(axes, 1, 2))
