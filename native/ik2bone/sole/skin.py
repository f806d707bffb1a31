# SPDX-License-Identifier: MIT
"""The sole as the skin of a foot has it: what a flat floor would touch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..model import Array
from ..rotations import inverse_of

# Heel and front of the sole are the hindmost and foremost places that lie this near to it (leg lengths, 1 cm of a
# person): the backs of heels are round, toes and shoes curve up.
CURVED = 0.012
# How high ball joints lie over the sole (leg lengths): those of the rigs measured 0.01 to 0.1. A skin, or a floor, that
# lies elsewhere is no sole.
BALL_HEIGHTS = (-0.005, 0.12)
# A sole is not believed that is tilted by more than this (radians) from how the foot stands in the rest pose or in the
# clip: high heels tilt by 10 degrees.
STEEPEST = np.radians(25.0)


@dataclass(frozen=True)
class Skin:
    """Points of the skin that go with one foot: `foot` (V, 3) in foot bone space, `toe` (T, 3) in toe bone space.

    `rest` (4, 4) maps toe bone space to foot bone space in the rest pose, `up` (3,) is the world's up in foot bone
    space there.
    """

    foot: Array
    toe: Array
    rest: Array
    up: Array


@dataclass(frozen=True)
class FlatFoot:
    """One foot as it lies flat, in foot bone space: unit vectors `forward` and `up` (3,), the ball `joint` (3,) and its
    `height` over the sole, and the places of `heel` and `tip` along forward from the joint. `into_toe` (4, 4) maps to
    toe bone space.
    """

    forward: Array
    up: Array
    joint: Array
    height: float
    heel: float
    tip: float
    into_toe: Array

    def under(self, along: float) -> Array:
        """The point (3,) of the sole that lies so far ahead of the joint."""
        return self.joint - self.height * self.up + along * self.forward


def lay_flat(skin: Skin, foot: FlatFoot, leg: float) -> FlatFoot | None:
    """The foot with the sole of its skin: as it stands in the rest pose, if it does, else as the clip's flat feet lie.

    `leg` is the leg's length in foot bone space. None where the skin has no sole that could be believed.
    """
    ahead = foot.joint - (foot.joint @ skin.up) * skin.up
    size = float(np.linalg.norm(ahead))
    resting = replace(foot, forward=ahead / size, up=skin.up) if size > 0.0 else foot
    return find_sole(skin, resting, leg) or find_sole(skin, foot, leg)


def find_sole(skin: Skin, foot: FlatFoot, leg: float) -> FlatFoot | None:
    """Lay the skin of a foot flat, on the edge of its outline, as seen from the side, that it would stand on.

    The foot tells about how it lies, with the ankle in the origin of its space. A paw, with nothing under the ankle,
    stays as it lies.
    """
    points = np.concatenate([skin.foot, skin.toe @ skin.rest[:3, :3].T + skin.rest[:3, 3]]) - foot.joint
    if not len(points):
        return None
    side = np.stack([foot.forward, foot.up])
    edge = _standing_edge(points @ side.T, -0.5 * side @ foot.joint)
    forward, up = edge @ side, np.array([-edge[1], edge[0]]) @ side
    height = -float((points @ up).min())
    near, places = points @ up + height < CURVED * leg, points @ forward
    heel, tip = float(places[near].min()), float(places[near].max(initial=0.0))
    least, most = (limit * leg for limit in BALL_HEIGHTS)
    if edge[0] < np.cos(STEEPEST) or not least <= height <= most or heel >= 0.0:
        return None
    into_toe = inverse_of(skin.rest) if len(skin.toe) else foot.into_toe
    return replace(foot, forward=forward, up=up, height=height, heel=heel, tip=tip, into_toe=into_toe)


def _standing_edge(points: Array, middle: Array) -> Array:
    """The unit vector (2,) along the edge on which the lower hull of points (N, 2) stands with its weight in a place
    (2,): of the edges that this lies over, the most level one. Level where there is none.
    """
    hull: list[Array] = []
    for point in points[np.lexsort((points[:, 1], points[:, 0]))]:
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    start, way = np.array(hull[:-1]).reshape(-1, 2), np.diff(hull, axis=0)
    along = np.sum((middle - start) * way, axis=1)
    ways = way[(along >= 0.0) & (along < np.sum(way**2, axis=1))]
    edges = np.array([[1.0, 0.0]]) if not len(ways) else ways / np.linalg.norm(ways, axis=1, keepdims=True)
    return np.asarray(edges[np.argmax(edges[:, 0])])


def _turns_down(first: Array, second: Array, third: Array) -> bool:
    way, other = second - first, third - first
    return bool(way[0] * other[1] - way[1] * other[0] <= 0.0)
