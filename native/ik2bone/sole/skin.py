# SPDX-License-Identifier: MIT
"""The sole as the skin of a foot has it: what a flat floor would touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Array

# Heel and front of the sole are the hindmost and foremost places that lie this near to it (leg lengths, 1 cm of a
# person): the backs of heels are round, toes and shoes curve up.
CURVED = 0.012
# How high ball joints lie over the sole (leg lengths): those of the rigs measured 0.01 to 0.1. A skin, or a floor, that
# lies elsewhere is no sole.
BALL_HEIGHTS = (-0.005, 0.12)
# A sole is not believed that is tilted by more than this (radians) from how the clip's flattest feet stand: high heels
# tilt by 10 degrees.
STEEPEST = np.radians(40.0)
# A rest pose is one that a figure stands in if its soles are level up to this (radians).
STANDS = np.radians(15.0)
# Laying the foot flat shows another side of it; the second time by a degree, the third by less than 0.1.
ROUNDS = 3


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
class SkinSole:
    """The sole of one foot, seen from its ball joint: `height` under it, unit vectors `forward` and `up` (3,) of the
    flat foot, and places of `heel` and `tip` along forward.
    """

    height: float
    forward: Array
    up: Array
    heel: float
    tip: float


def find_sole(skin: Skin, ball: Array, forward: Array, up: Array, leg: float) -> SkinSole | None:
    """Lay the skin of a foot flat, on the edge of its lower hull between ankle and ball as seen from the side.

    All is in foot bone space, with the ankle in its origin and the ball joint at `ball` (3,); `forward` and `up` (3,)
    tell about how the foot lies, `leg` is the leg's length. A paw, with nothing under the ankle, stays as it lies. None
    where the skin has no sole that could be believed.
    """
    points = np.concatenate([skin.foot, skin.toe @ skin.rest[:3, :3].T + skin.rest[:3, 3]]) - ball
    if not len(points):
        return None
    along, over = forward, up
    for _ in range(ROUNDS):
        edge = _edge_under(np.stack([points @ along, points @ over], axis=1), -0.5 * float(ball @ along))
        if edge is not None:
            rise = (edge[1] - edge[0]) / np.linalg.norm(edge[1] - edge[0])
            along, over = rise[0] * along + rise[1] * over, rise[0] * over - rise[1] * along
    height = -float((points @ over).min())
    near, places = points @ over + height < CURVED * leg, points @ along
    heel, tip = float(places[near].min()), float(places[near].max(initial=0.0))
    least, most = (limit * leg for limit in BALL_HEIGHTS)
    if over @ up < np.cos(STEEPEST) or not least <= height <= most or heel >= 0.0:
        return None
    return SkinSole(height, along, over, heel, tip)


def _edge_under(points: Array, place: float) -> Array | None:
    """The edge (2, 2), from rear to front, of the lower hull of points (N, 2) that passes under a place along."""
    hull: list[Array] = []
    for point in points[np.lexsort((points[:, 1], points[:, 0]))]:
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    pairs = [np.array(pair) for pair in zip(hull, hull[1:], strict=False) if pair[0][0] <= place < pair[1][0]]
    return pairs[0] if pairs else None


def _turns_down(first: Array, second: Array, third: Array) -> bool:
    way, other = second - first, third - first
    return bool(way[0] * other[1] - way[1] * other[0] <= 0.0)


def lay_flat(skin: Skin, ball: Array, forward: Array, up: Array, leg: float) -> SkinSole | None:
    """The sole of a skin, as `find_sole`: in the rest pose, if one stands in it, else as the clip's flat feet lie."""
    ahead = ball - (ball @ skin.up) * skin.up
    size = float(np.linalg.norm(ahead))
    if size > 0.0:
        standing = find_sole(skin, ball, ahead / size, skin.up, leg)
        if standing is not None and standing.up @ skin.up >= np.cos(STANDS):
            return standing
    return find_sole(skin, ball, forward, up, leg)
