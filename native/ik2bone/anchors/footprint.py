# SPDX-License-Identifier: MIT
"""A foot's print on the surface: its height and slope, moved aside where an edge runs under the sole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..ground.query import ask_on
from ..model import Array, Ground, Mask

# Steeper faces (radians) are risers, if nobody says otherwise: nothing stands on them.
STEEPEST = np.radians(50.0)
# A print is even when its points lie this close to its plane (leg lengths).
EVEN = 0.03
# The slope at the standing point itself counts as much as a point so far from it (leg lengths).
TANGENT = 0.2
# Edges are kept this far from heel and tip (leg lengths), so that a rolling foot stays clear of them; and farther, so
# that a swinging one comes over them, where that costs little.
EDGE = 0.02
WIDE_EDGE = 0.1
WIDE_WEIGHT = 0.1
# Of places equally far aside those ahead are taken, then those to the left, rather than what frames decide by chance:
# far in this direction (ahead, left) costs by so much less. It lies a quarter of the way from ahead to the next of the
# eight ways, so that no two of them are alike to it.
PREFERRED = 0.005 * np.array([np.cos(np.pi / 16), np.sin(np.pi / 16)])
# Nearer than this (leg lengths) directions count for less.
NEAR = 0.05
# How far a print may be moved off an edge, along the foot and other ways (leg lengths).
ALONG = (0.04, 0.08, 0.12, 0.16, 0.2, 0.25, 0.32, 0.4)
ASIDE = (0.04, 0.08, 0.16, 0.25, 0.32)


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
class Footprint:
    """A level sole: the unit headings `forwards` (N, 3) that it takes while it stands, `along` (3,) the places of heel,
    ball and tip on it seen from the standing point, and half its `width`.
    """

    forwards: Array
    along: Array
    width: float
    slopes: Slopes = Slopes()

    @cached_property
    def forward(self) -> Array:
        """The mean heading."""
        mean = self.forwards.mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-300)

    def points(self, up: Array, leg: float) -> Array:
        """What the print covers (P, 3) seen from the standing point: that point, heel, ball, tip, edges and sides."""
        side = np.cross(up, self.forward)
        heel, _, tip = self.along
        # The mean heading, and those farthest to both sides of it.
        turned = self.forwards @ side
        headings = [self.forward, self.forwards[np.argmin(turned)], self.forwards[np.argmax(turned)]]
        ends = [end * heading for heading in headings for end in (heel - EDGE * leg, tip + EDGE * leg)]
        covered = [np.zeros(3), *(self.along[:, None] * self.forward), *ends, side * self.width, -side * self.width]
        return np.array(covered)

    def surroundings(self, leg: float) -> Array:
        """Points (2, 3) farther behind and ahead, that a swinging foot comes over."""
        heel, _, tip = self.along
        return np.array([heel - WIDE_EDGE * leg, tip + WIDE_EDGE * leg])[:, None] * self.forward


@dataclass(frozen=True)
class Placed:
    """A print on the surface: a `point` (3,) on it, the `turn` (3, 3) from level, and whether it was `found`.

    `cost` tells how far it was moved aside (leg lengths), and more where it is uneven; `steep` whether the ground there
    is too steep to stand on.
    """

    point: Array
    turn: Array
    found: bool
    cost: float
    steep: bool = False


def find_places(
    footprint: Footprint, below: Array, up: Array, leg: float, ground: Ground, frame: int, spare: bool = True
) -> list[Placed]:
    """Lay a print on the ground of a frame under the standing point `below` (3,), there and aside, the best first.

    Without `spare` an even place is returned alone: then no other is cheaper. So is the very place where all ground
    near it is steep: there is nothing to be gained aside.
    """
    first = lay_prints(footprint, np.zeros((1, 3)), below, up, leg, ground, frame)
    if not first:
        return [Placed(below, np.eye(3), False, 0.0)]
    if not spare and first[0].cost == 0.0:
        return first
    moved = lay_prints(footprint, _shifts(footprint.forward, up, leg), below, up, leg, ground, frame)
    if all(place.steep for place in first + moved):
        return first
    return sorted(first + moved, key=lambda place: place.cost)


def lay_prints(
    footprint: Footprint, shifts: Array, below: Array, up: Array, leg: float, ground: Ground, frame: int
) -> list[Placed]:
    """The print under a standing point `below` (3,) moved by each of the shifts (S, 3) for which there is ground."""
    surroundings = footprint.surroundings(leg)
    asked = below + shifts[:, None] + np.concatenate([footprint.points(up, leg), surroundings])
    hits, normals, found = ask_on(ground, asked, up, frame)
    under, placed = slice(-len(surroundings)), []
    level = np.stack([footprint.forward, np.cross(up, footprint.forward), up], axis=1)
    asides = _aside(shifts, level, leg)
    for i in np.flatnonzero(found[:, 0]):
        cost = _unevenness(hits[i], normals[i], found[i], footprint, up, leg) + float(asides[i])
        place = _lay(hits[i, under], normals[i, under], found[i, under], footprint, level, leg, cost)
        placed.append(replace(place, steep=bool(normals[i, 0] @ up < footprint.slopes.least)))
    return placed


def _aside(shifts: Array, level: Array, leg: float) -> Array:
    """Costs (S,) of shifts (S, 3) from a print with axes `level` (3, 3): how far they go aside (leg lengths), a little
    less where that is preferred.
    """
    lengths = np.linalg.norm(shifts, axis=-1) / leg
    directions = shifts / (leg * (lengths + NEAR))[:, None]
    return lengths - directions @ (level[:, :2] @ PREFERRED)


def ways_aside(forward: Array, up: Array) -> Array:
    """The ways (8, 3) that a print may be moved: along the foot, aside, and between."""
    side, half = np.cross(up, forward), np.sqrt(0.5)
    diagonals = half * (forward + side), half * (forward - side)
    return np.array([sign * way for way in (side, *diagonals, forward) for sign in (1, -1)])


def _shifts(forward: Array, up: Array, leg: float) -> Array:
    """How a print may be moved (S, 3): by lengths along each way."""
    ways = ways_aside(forward, up)
    lengths = [(way, ASIDE) for way in ways[:-2]] + [(way, ALONG) for way in ways[-2:]]
    return np.array([length * leg * way for way, each in lengths for length in each])


def _unevenness(hits: Array, normals: Array, found: Mask, footprint: Footprint, up: Array, leg: float) -> float:
    """Cost of a print: 0 when even, growing with the height (leg lengths) of what sticks out of its plane."""
    if not found[0] or normals[0] @ up < footprint.slopes.least:
        return 10.0
    out = np.abs((hits - hits[0]) @ normals[0]) / leg
    out = np.maximum(out - EVEN, 0.0) * found + (1.0 - found) * 0.1
    return float(10.0 * out[:-2].max() + WIDE_WEIGHT * np.minimum(out[-2:] / EVEN, 1.0).sum())


def _lay(
    hits: Array, normals: Array, found: Mask, footprint: Footprint, level: Array, leg: float, cost: float
) -> Placed:
    """Turn and height of a print: along the line that fits heel, ball and tip, across by the normals near by.

    `level` (3, 3) are the axes of the level print, in columns: forward, to the left, and up.
    """
    forward, up = level[:, 0], level[:, 2]
    gentle = found & (normals @ up >= footprint.slopes.least)
    # The standing point and its sides: farther along the foot other faces may lie.
    near = gentle & np.isin(np.arange(len(found)), (0, len(found) - 2, len(found) - 1))
    normal = normals[near].mean(axis=0) if near.any() else up
    normal = normal / np.linalg.norm(normal)
    along = forward + up * _incline(hits, gentle, normal, footprint, up, leg)
    along = along / np.linalg.norm(along)
    side = np.cross(normal, along)
    side /= np.linalg.norm(side)
    slope = np.stack([along, side, np.cross(along, side)], axis=1)
    return Placed(hits[0], slope @ level.T, True, cost)


def _incline(hits: Array, gentle: Mask, normal: Array, footprint: Footprint, up: Array, leg: float) -> float:
    """Rise over run, along the print, of the line through the standing point that fits heel, ball, tip and slope.

    Points off the plane of the `normal` lie over an edge and do not count.
    """
    run, there = footprint.along, slice(1, 1 + len(footprint.along))
    rise = (hits[there] - hits[0]) @ up
    even = gentle[there] & (np.abs((hits[there] - hits[0]) @ normal) <= EVEN * leg)
    tangent = -float(footprint.forward @ normal) / max(float(normal @ up), footprint.slopes.least)
    own = (TANGENT * leg) ** 2
    return float((np.sum(even * run * rise) + own * tangent) / (np.sum(even * run * run) + own))
