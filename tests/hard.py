# SPDX-License-Identifier: MIT
"""Limbs and targets for which formulas lose digits: arguments of `solve`, in one dictionary per row.

Each function makes a row near a case in which a quantity vanishes. `close` is its distance from this case: a share of
the reach, or an angle.
"""

from __future__ import annotations

from math import acos, pi

import limbs
import numpy as np

CLOSE = (1e-2, 1e-4, 1e-6, 1e-9, 1e-12)


def turned(v, angle, rng):
    """The vector v, turned by an angle about a random perpendicular axis."""
    side = np.cross(v, limbs.directions(rng, 1)[0])
    return np.cos(angle) * v + np.sin(angle) * limbs.length(v) * side / limbs.length(side)


def limb(rng, upper=None, distance=None):
    """A limb of reach 1 with its root at the origin, this upper length and this distance of its end, or random ones."""
    upper = rng.uniform(0.2, 0.8) if upper is None else upper
    lower = 1 - upper
    least = abs(upper - lower)
    distance = least + rng.uniform(0.1, 0.9) * (1 - least) if distance is None else distance
    line = limbs.directions(rng, 1)[0]
    along = (distance**2 + upper**2 - lower**2) / (2 * distance)
    height = np.sqrt(max(upper**2 - along**2, 0.0))
    side = np.cross(line, limbs.directions(rng, 1)[0])
    return dict(root=np.zeros(3), mid=along * line + height * side / limbs.length(side), end=distance * line)


def bones(row):
    return limbs.length(row["mid"] - row["root"]), limbs.length(row["end"] - row["mid"])


def least_and_reach(row):
    upper, lower = bones(row)
    return abs(upper - lower), upper + lower


def at_distance(rng, row, distance, **options):
    return row | dict(target=row["root"] + distance * limbs.directions(rng, 1)[0]) | options


def anywhere(rng, row, **options):
    least, reach = least_and_reach(row)
    return at_distance(rng, row, least + rng.uniform(0.1, 0.9) * (reach - least), **options)


def target_nearly_straight(rng, close):
    row = limb(rng)
    return at_distance(rng, row, sum(bones(row)) - close)


def target_nearly_folded(rng, close):
    row = limb(rng)
    return at_distance(rng, row, least_and_reach(row)[0] + close)


def flat(rng, height, side):
    """A limb of this height over the line root-end whose end is ahead of the mid joint (1) or behind it (-1)."""
    line = limbs.directions(rng, 1)[0]
    across = np.cross(line, limbs.directions(rng, 1)[0])
    mid = rng.uniform(0.3, 0.4) * line + height * across / limbs.length(across)
    return dict(root=np.zeros(3), mid=mid, end=(0.35 + side * rng.uniform(0.6, 0.65)) * line)


def pose_nearly_straight(rng, close):
    return anywhere(rng, flat(rng, 3 * close, 1))


def pose_nearly_folded(rng, close):
    return anywhere(rng, flat(rng, 3 * close, -1))


def equal_bones_nearly_on_the_root(rng, close):
    return at_distance(rng, limb(rng, 0.5), close)


def equal_bones_from_nearly_on_the_root(rng, close):
    return anywhere(rng, limb(rng, 0.5, close))


def hundred_to_one(rng, close):
    row = limb(rng, rng.choice([1 / 101, 100 / 101]))
    least, reach = least_and_reach(row)
    gap = close * (reach - least)
    return at_distance(rng, row, rng.choice([least + gap, reach - gap]))


def tiny_move(rng, close):
    row = limb(rng)
    return row | dict(target=row["end"] + close * limbs.directions(rng, 1)[0])


def nearly_opposite_target(rng, close):
    row = limb(rng, rng.uniform(0.4, 0.6))
    return row | dict(target=turned(-0.9 * row["end"], max(close, 1e-9), rng))


def far_from_the_origin(rng, close):
    offset = close**-0.5 * limbs.directions(rng, 1)[0]
    return {name: point + offset for name, point in anywhere(rng, limb(rng)).items()}


def of_any_size(rng, close):
    size = close ** rng.choice([1.25, -1.25])
    return {name: size * point for name, point in anywhere(rng, limb(rng)).items()}


def where_softening_starts_and_arrives(rng, close):
    soften = rng.uniform(0.5, 0.95)
    edge = rng.choice([soften, 2 - soften])
    return at_distance(rng, limb(rng), edge + rng.choice([close, -close]), soften=soften)


def softened_nearly_straight(rng, close):
    return at_distance(rng, limb(rng), 1.01 - close, soften=0.99)


def at_an_angle_limit(rng, close):
    row = limb(rng, distance=None)
    upper, lower = bones(row)
    least, most = 1e-3, rng.uniform(2, 3)
    edge = np.sqrt(upper**2 + lower**2 - 2 * upper * lower * np.cos(most))
    return at_distance(rng, row, edge + rng.choice([close, -close]), min_angle=least, max_angle=most)


def angle_limits_nearly_straight_and_folded(rng, close):
    distance = rng.choice([0.01, 2.0])
    return at_distance(rng, limb(rng), distance, min_angle=close, max_angle=pi - close)


def pole_nearly_along_the_line(rng, close):
    row = anywhere(rng, limb(rng))
    return row | dict(pole=turned(row["target"], max(close, 1e-9), rng))


def pole_nearly_opposite_the_bend(rng, close):
    row = limb(rng)
    line = row["end"] / limbs.length(row["end"])
    bend = row["mid"] - (row["mid"] @ line) * line
    pole = -bend + max(close, 1e-9) * np.cross(line, bend)
    return row | dict(target=0.95 * row["end"], pole=pole, pole_weight=0.5)


def nearest_with_the_mid_joint_nearly_on_the_line(rng, close):
    row = limb(rng)
    line = turned(row["mid"], max(close, 1e-9), rng) / bones(row)[0]
    least, reach = least_and_reach(row)
    return row | dict(target=line * rng.uniform(least + 0.1 * (reach - least), reach), bend="nearest")


def by_weight_nearly_through_the_root(rng, close):
    row = limb(rng, 0.5)
    return row | dict(target=turned(-row["end"], max(close, 1e-9), rng), weight=0.5)


def straight_with_a_hinge_nearly_along_it(rng, close):
    line = limbs.directions(rng, 1)[0]
    straight = dict(root=np.zeros(3), mid=0.5 * line, end=line)
    return anywhere(rng, limb(rng)) | straight | dict(hinge=turned(line, max(close, 1e-9), rng))


def where_circle_and_cone_part(rng, close):
    """A row whose cone's rim is nearly as far from the line root-target as the mid joint."""
    row = anywhere(rng, limb(rng))
    upper, lower = bones(row)
    distance = limbs.length(row["target"])
    opening = acos((distance**2 + upper**2 - lower**2) / (2 * distance * upper))
    size = rng.uniform(0.1, 0.5)
    axis = turned(row["target"] / distance, opening + size + rng.choice([close, -close]), rng)
    return row | dict(cone_axis=axis, cone_angle=size)


def narrow_cone(rng, close):
    row = anywhere(rng, limb(rng))
    return row | dict(cone_axis=limbs.directions(rng, 1)[0], cone_angle=close)


KINDS = (
    target_nearly_straight,
    target_nearly_folded,
    pose_nearly_straight,
    pose_nearly_folded,
    equal_bones_nearly_on_the_root,
    equal_bones_from_nearly_on_the_root,
    hundred_to_one,
    tiny_move,
    nearly_opposite_target,
    far_from_the_origin,
    of_any_size,
    where_softening_starts_and_arrives,
    softened_nearly_straight,
    at_an_angle_limit,
    angle_limits_nearly_straight_and_folded,
    pole_nearly_along_the_line,
    pole_nearly_opposite_the_bend,
    nearest_with_the_mid_joint_nearly_on_the_line,
    by_weight_nearly_through_the_root,
    straight_with_a_hinge_nearly_along_it,
    where_circle_and_cone_part,
    narrow_cone,
)
