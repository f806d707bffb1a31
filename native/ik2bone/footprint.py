# SPDX-License-Identifier: MIT
"""A foot's print on the surface: its height and slope, moved aside where an edge runs under the sole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .clip import Array, Ground, Mask

# Steeper faces (cosine of 50 degrees) are risers: nothing stands on them.
STEEPEST = float(np.cos(np.radians(50.0)))
# A print is even when its points lie this close to its plane (leg lengths).
EVEN = 0.03
# Edges are kept this far from heel and tip (leg lengths), so that a rolling foot stays clear of them; and farther, so
# that a swinging one comes over them, where that costs little.
EDGE = 0.02
WIDE_EDGE = 0.1
WIDE_WEIGHT = 0.1
# How far a print may be moved off an edge, along the foot and aside (leg lengths).
ALONG = (0.04, 0.08, 0.12, 0.16, 0.2, 0.25)
ASIDE = (0.04, 0.08)


@dataclass(frozen=True)
class Footprint:
    """A level sole: the unit headings `forwards` (N, 3) that it takes while it stands, `along` (3,) the places of heel,
    ball and tip on it seen from the standing point, and half its `width`.
    """

    forwards: Array
    along: Array
    width: float

    @property
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
    """A print on the surface: a `point` (3,) on it, the `turn` (3, 3) from level, and whether it was `found`."""

    point: Array
    turn: Array
    found: bool


def place_footprint(footprint: Footprint, below: Array, up: Array, leg: float, ground: Ground) -> Placed:
    """Lay a print on the ground under the standing point `below` (3,), as near as an even place can be found."""
    side = np.cross(up, footprint.forward)
    shifts = [np.zeros(3)]
    shifts += [sign * length * leg * footprint.forward for length in ALONG for sign in (1, -1)]
    shifts += [sign * length * leg * side for length in ASIDE for sign in (1, -1)]
    points = np.concatenate([footprint.points(up, leg), footprint.surroundings(leg)])
    asked = below + np.array(shifts)[:, None] + points
    hits, normals, found = ground(asked.reshape(-1, 3), -up)
    hits, normals, found = hits.reshape(asked.shape), normals.reshape(asked.shape), found.reshape(asked.shape[:2])
    if not found[0, 0]:
        return Placed(below, np.eye(3), False)
    costs = [
        _unevenness(hits[i], normals[i], found[i], up, leg) + np.linalg.norm(shift) / leg
        for i, shift in enumerate(shifts)
    ]
    best = int(np.argmin(costs))
    if not found[best, 0]:
        best = 0
    under = slice(-len(footprint.surroundings(leg)))
    return _lay(hits[best, under], normals[best, under], found[best, under], footprint.forward, up, leg)


def _unevenness(hits: Array, normals: Array, found: Mask, up: Array, leg: float) -> float:
    """Cost of a print: 0 when even, growing with the height (leg lengths) of what sticks out of its plane."""
    if not found[0] or normals[0] @ up < STEEPEST:
        return 10.0
    out = np.abs((hits - hits[0]) @ normals[0]) / leg
    out = np.maximum(out - EVEN, 0.0) * found + (1.0 - found) * 0.1
    return float(10.0 * out[:-2].max() + WIDE_WEIGHT * np.minimum(out[-2:] / EVEN, 1.0).sum())


def _lay(hits: Array, normals: Array, found: Mask, forward: Array, up: Array, leg: float) -> Placed:
    """Turn and height of a print: along the line from heel to ball, across by the mean normal of gentle faces."""
    gentle = found & (normals @ up >= STEEPEST)
    normal = normals[gentle].mean(axis=0) if gentle.any() else up
    normal = normal / np.linalg.norm(normal)
    chord = hits[2] - hits[1]
    even = found[1] and found[2] and abs(chord @ normal) <= EVEN * leg and np.linalg.norm(chord) > 1e-9 * leg
    along = chord if even else forward - up * ((forward @ normal) / max(float(normal @ up), STEEPEST))
    along = along / np.linalg.norm(along)
    side = np.cross(normal, along)
    side /= np.linalg.norm(side)
    slope = np.stack([along, side, np.cross(along, side)], axis=1)
    level = np.stack([forward, np.cross(up, forward), up], axis=1)
    return Placed(hits[0], slope @ level.T, True)
