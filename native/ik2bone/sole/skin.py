# SPDX-License-Identifier: MIT
"""The sole as the skin of a foot shows it: the part that a flat floor would touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..rotations import dot, inverse_of, length_of, unit

# Places this near to a plane (limb lengths, 1 cm for a person's leg) lie in it. The hindmost and foremost places of a
# sole in its plane are its heel and front, as the backs of heels are round, and toes and shoes curve up.
IN_PLANE = 0.012
# The range of heights of ball joints over the sole (leg lengths). In the rigs measured they are 0.01 to 0.1. A skin or
# a floor that gives another height is no sole.
BALL_HEIGHTS = (-0.005, 0.12)
# A sole is rejected if it is tilted by more than this (radians) from how the foot stands in the rest pose or in the
# clip. High heels tilt by 10 degrees.
STEEPEST = np.radians(25.0)


@dataclass(frozen=True)
class Skin:
    """Points of the skin that move with one foot: `foot` (V, 3) in foot bone space, `toe` (T, 3) in toe bone space.

    `rest` (4, 4) maps toe bone space to foot bone space in the rest pose, and `up` (3,) is the unit vector of the
    world's up direction in foot bone space there.
    """

    foot: Array
    toe: Array
    rest: Array
    up: Array

    def scaled(self, foot: Array, toe: Array) -> Skin:
        """The same skin under own scales (3,) of the foot and toe bones."""
        rest = np.append(foot, 1.0)[:, None] * self.rest / np.append(toe, 1.0)
        return Skin(self.foot * foot, self.toe * toe, rest, unit(self.up / foot))


@dataclass(frozen=True)
class FlatFoot:
    """One foot as it lies flat, in foot bone space: unit vectors `forward` and `up` (3,), the ball `joint` (3,) and its
    `height` over the sole, whose `source` is as in `Sole`. `heel` and `tip` are places along forward from the joint.
    `into_toe` (4, 4) maps foot bone space to toe bone space.
    """

    forward: Array
    up: Array
    joint: Array
    height: float
    heel: float
    tip: float
    into_toe: Array
    source: str

    def under(self, along: float) -> Array:
        """The point (3,) of the sole at a distance `along` forward from the joint."""
        return self.joint - self.height * self.up + along * self.forward


def lay_at_rest(skin: Skin, joint: Array, leg: float) -> FlatFoot | None:
    """The foot with its ball joint (3,) as it stands in the rest pose. None if it does not stand there, see
    `find_sole`.

    `leg` is the leg's length in foot bone space.
    """
    ahead = joint - (joint @ skin.up) * skin.up
    return find_sole(skin, unit(ahead), skin.up, joint, leg)


def find_sole(skin: Skin, forward: Array, up: Array, joint: Array, leg: float) -> FlatFoot | None:
    """Lay the skin of a foot flat, on the edge of its side-view outline on which it would stand.

    The foot lies about as `forward`, `up` and its ball `joint` (3,) say, with the ankle at the origin of its space. A
    paw, which has nothing under the ankle, stays as it lies. None if no plausible sole is found.
    """
    points = np.concatenate([skin.foot, skin.toe @ skin.rest[:3, :3].T + skin.rest[:3, 3]]) - joint
    if not len(points):
        return None
    side = np.stack([forward, up])
    edge = _standing_edge(points @ side.T, -0.5 * side @ joint)
    forward, up = edge @ side, np.array([-edge[1], edge[0]]) @ side
    heights, places = dot(points, up), dot(points, forward)
    height = -float(heights.min())
    near = heights + height < IN_PLANE * leg
    heel, tip = float(places[near].min()), float(places[near].max(initial=0.0))
    least, most = (limit * leg for limit in BALL_HEIGHTS)
    if edge[0] < np.cos(STEEPEST) or not least <= height <= most or heel >= 0.0:
        return None
    return FlatFoot(forward, up, joint, height, heel, tip, inverse_of(skin.rest), "mesh")


def _standing_edge(points: Array, middle: Array) -> Array:
    """The unit vector (2,) along the edge of the lower hull of points (N, 2) on which they stand with their weight at
    `middle` (2,): the most level of the edges below `middle`. It is level if there is none.
    """
    points = points[np.lexsort(points.T[::-1])]
    (x, y), corners = points.T.copy(), [0]
    while (ahead := int(x.searchsorted(x[corners[-1]], "right"))) < len(x):
        climb = (y[ahead:] - y[corners[-1]]) / (x[ahead:] - x[corners[-1]])
        # Of points in one line the farthest is the corner.
        corners.append(len(x) - 1 - int(climb[::-1].argmin()))
    start, way = points[corners[:-1]], np.diff(points[corners], axis=0)
    along = dot(middle - start, way)
    ways = way[(along >= 0.0) & (along < dot(way, way))]
    edges = ways / length_of(ways)[:, None] if len(ways) else np.array([[1.0, 0.0]])
    return np.asarray(edges[edges[:, 0].argmax()])
