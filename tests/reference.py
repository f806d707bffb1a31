# SPDX-License-Identifier: MIT
"""The slow, readable twin of the solver: one row at a time, in float64, every stage by its definition.

Its results count as right. Its stages are in reference_limb.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, nan, pi

import numpy as np
from reference_limb import INVALID, SINGULAR, place
from reference_vectors import (
    DOUBLE,
    IDENTITY,
    about,
    arc,
    clamp01,
    handedness,
    length,
    matrix,
    multiply,
    nearest_rotation,
    perpendicular,
    quaternion,
    reject,
    unit,
)

SOLVE_OPTIONS = dict(
    bend="carried",
    pole=None,
    pole_weight=1.0,
    twist=0.0,
    hinge=None,
    soften=1.0,
    weight=1.0,
    min_angle=0.0,
    max_angle=pi,
    cone_axis=None,
    cone_angle=pi,
)


def valid(*values):
    return all(np.all(np.isfinite(value)) for value in values if value is not None and not isinstance(value, str))


def arrays(*values):
    return [None if value is None else np.asarray(value, np.float64) for value in values]


def solve(root, mid, end, target, *, precision=DOUBLE, **options):
    """The new (mid, end, miss, status) of one row."""
    options = SOLVE_OPTIONS | options
    for name in ("pole", "hinge", "cone_axis"):
        options[name] = arrays(options[name])[0]
    root, mid, end, target = arrays(root, mid, end, target)
    if not valid(root, mid, end, target, *options.values()) or length(mid - root) * length(end - mid) == 0.0:
        return mid, end, nan, INVALID
    on_end = np.array_equal(target, end)
    placed = place(mid - root, end - mid, end - root, target - root, on_end, options, precision)
    new_mid, new_end = (mid, end) if placed.still else (root + placed.mid, root + placed.end)
    return new_mid, new_end, length(new_end - target), placed.status


@dataclass(frozen=True)
class Joints:
    """The limb in the root's frame: that of its aggregate without its own scale, in which its correction turns.

    `frame` maps the root's frame to the outer space, and `inner` the mid joint's frame to the root's frame.
    """

    frame: np.ndarray
    inner: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    end: np.ndarray
    hinge: np.ndarray | None  # in the mid joint's frame

    @property
    def hinge_in_root(self):
        return None if self.hinge is None else cofactor(self.inner) @ self.hinge


def cofactor(m):
    """The matrix that maps the cross product of two vectors to that of the vectors mapped by m."""
    return np.linalg.det(m) * np.linalg.inv(m).T


def joints(root_matrix, mid_matrix, end, hinge, root_scale, mid_scale, precision):
    """The limb in the root's frame, or None if a matrix is singular or a scale or a bone's length is zero."""
    root_scale = np.ones(3) if root_scale is None else root_scale
    mid_scale = np.ones(3) if mid_scale is None else mid_scale
    if not (invertible(root_matrix[:3, :3], precision) and invertible(mid_matrix[:3, :3], precision)):
        return None
    if not (np.all(root_scale) and np.all(mid_scale)):
        return None
    frame = root_matrix[:3, :3] / root_scale
    inner = np.linalg.inv(frame) @ (mid_matrix[:3, :3] / mid_scale)
    upper = np.linalg.inv(frame) @ (mid_matrix[:3, 3] - root_matrix[:3, 3])
    lower = np.linalg.inv(frame) @ (end - mid_matrix[:3, 3])
    if not np.any(upper) or not np.any(lower):
        return None
    if hinge is not None:
        hinge = cofactor(np.diag(mid_scale)) @ hinge
    line = np.linalg.inv(frame) @ (end - root_matrix[:3, 3])
    return Joints(frame, inner, upper, lower, line, hinge if hinge is not None and np.any(hinge) else None)


def invertible(m, precision):
    volume = np.prod(np.linalg.norm(m, axis=0))
    return volume > 0 and abs(np.linalg.det(m)) > precision.parallel * volume


def turning_axis(bone, hinge, other):
    """The axis of a half turn of a bone: its hinge, else the normal of the bend, else any perpendicular axis."""
    for axis in (hinge, np.cross(other, bone)):
        if axis is not None and length(reject(axis, unit(bone))) > 1e-9 * length(axis):
            return axis
    return perpendicular(bone)


def turn_bones(limb, new_upper, new_lower_end, normal, rolling, precision):
    """The corrections of root and mid joint, and whether the row is singular. `normal` is that of the new bend."""
    hinge = limb.hinge_in_root
    side = turning_axis(limb.upper, hinge, limb.lower)
    root, singular = arc(limb.upper, new_upper, side, precision)
    if rolling and hinge is not None and normal is not None:
        roll, opposite = roll_angle(matrix(root) @ hinge, normal, unit(new_upper), precision)
        root = multiply(about(new_upper, rolling * roll), root)
        singular = (opposite and rolling < 1.0) or (singular and rolling < 1.0)
    inner = np.linalg.inv(limb.inner)
    old = inner @ limb.lower
    new = inner @ matrix(root).T @ (new_lower_end - matrix(root) @ limb.upper)
    if rolling and limb.hinge is not None:
        mid, opposite = bend_about(limb.hinge, -inner @ limb.upper, old, new, precision)
    else:
        axis = turning_axis(old, limb.hinge, inner @ limb.upper)
        mid, opposite = arc(old, new, axis, precision)
    return root, mid, singular or opposite


def roll_angle(hinge, normal, axis, precision):
    """The angle about the unit axis from the hinge to the normal, and whether the two are opposite."""
    a, b = reject(hinge, axis), reject(normal, axis)
    angle = atan2(np.dot(axis, np.cross(a, b)), np.dot(a, b))
    return angle, length(unit(a) + unit(b)) <= precision.parallel


def bend_about(hinge, toward_root, old, new, precision):
    """The turn of a bone about its hinge, then by the shortest arc for the rest, and whether this is a half turn."""
    axis = unit(reject(hinge, unit(toward_root)))
    a, b = reject(old, axis), reject(new, axis)
    turn = about(axis, atan2(np.dot(axis, np.cross(a, b)), np.dot(a, b)))
    rest, opposite = arc(matrix(turn) @ old, new, axis if np.any(a) else toward_root, precision)
    return multiply(rest, turn), opposite


ORIENT_OPTIONS = dict(roll="pose", hinge=None, root_scale=None, mid_scale=None)


def orient(root_matrix, mid_matrix, end, new_mid, new_end, *, precision=DOUBLE, **options):
    """The corrections (root, mid) of one row."""
    options = ORIENT_OPTIONS | options
    hinge, root_scale, mid_scale = arrays(options["hinge"], options["root_scale"], options["mid_scale"])
    root_matrix, mid_matrix, end, new_mid, new_end = arrays(root_matrix, mid_matrix, end, new_mid, new_end)
    if not valid(root_matrix, mid_matrix, end, new_mid, new_end, hinge, root_scale, mid_scale):
        return IDENTITY, IDENTITY
    limb = joints(root_matrix, mid_matrix, end, hinge, root_scale, mid_scale, precision)
    root = root_matrix[:3, 3]
    if limb is None or np.array_equal(new_mid, root) or np.array_equal(new_mid, new_end):
        return IDENTITY, IDENTITY
    upper = np.linalg.solve(limb.frame, new_mid - root)
    lower = np.linalg.solve(limb.frame, new_end - new_mid)
    line = np.linalg.solve(limb.frame, new_end - root)
    normal = np.cross(min(line, lower, key=length), upper)  # the product with the longer one may be only rounding
    reach = length(upper) + length(lower)
    straight = np.any(line) and length(normal) <= precision.straight * reach * length(line)
    rolling = 1.0 if options["roll"] == "hinge" else 0.0
    new_end = upper * (length(limb.upper) / length(upper)) + lower
    return turn_bones(limb, upper, new_end, None if straight else normal, rolling, precision)[:2]


def end_correction(turned, end_matrix, end_goal, weight):
    """The end joint's correction. `turned` is its matrix after the corrections of root and mid joint.

    If the joint is mirrored, its matrices and its goal are negated.
    """
    side = handedness(end_matrix)
    present = nearest_rotation(side * turned)
    wanted = nearest_rotation(side * end_matrix)
    if end_goal is not None:
        step = quaternion(wanted.T @ nearest_rotation(side * end_goal[:3, :3]))
        angle = 2 * atan2(length(step[1:]), step[0])
        if angle:
            wanted = wanted @ matrix(about(step[1:], weight * angle))
    return quaternion(present.T @ wanted)


def solve_pose(root_matrix, mid_matrix, end, target, *, precision=DOUBLE, **options):
    """The results (root, mid, end, position, miss, status) of one row; `end` is None without `end_matrix`."""
    options = SOLVE_OPTIONS | ORIENT_OPTIONS | dict(end_matrix=None, end_goal=None) | options
    for name in ("pole", "hinge", "cone_axis", "root_scale", "mid_scale", "end_matrix", "end_goal"):
        options[name] = arrays(options[name])[0]
    root_matrix, mid_matrix, end, target = arrays(root_matrix, mid_matrix, end, target)
    end_matrix, end_goal = options["end_matrix"], options["end_goal"]
    invalid = IDENTITY, IDENTITY, None if end_matrix is None else IDENTITY, end, nan, INVALID
    if not valid(root_matrix, mid_matrix, end, target, *options.values()):
        return invalid
    limb = joints(
        root_matrix, mid_matrix, end, options["hinge"], options["root_scale"], options["mid_scale"], precision
    )
    if limb is None or any(m is not None and not invertible(m[:3, :3], precision) for m in (end_matrix, end_goal)):
        return invalid
    weight, root = clamp01(options["weight"]), root_matrix[:3, 3]
    inward = np.linalg.inv(limb.frame)
    inside = options | dict(hinge=limb.hinge_in_root)
    inside |= {name: inward @ options[name] for name in ("pole", "cone_axis") if options[name] is not None}
    on_end = np.array_equal(target, end)
    placed = place(limb.upper, limb.lower, limb.end, inward @ (target - root), on_end, inside, precision)
    rolling = weight if options["roll"] == "hinge" else 0.0
    turn_root, turn_mid, singular = turn_bones(limb, placed.mid, placed.end, placed.normal, rolling, precision)
    position = end
    if placed.still and not (rolling and limb.hinge is not None):
        turn_root = turn_mid = IDENTITY
    else:
        reached = matrix(turn_root) @ (
            limb.upper + limb.inner @ matrix(turn_mid) @ np.linalg.inv(limb.inner) @ limb.lower
        )
        position = root + limb.frame @ reached
    turn_end = None
    if end_matrix is not None:
        middle = limb.inner @ matrix(turn_mid) @ np.linalg.inv(limb.inner)
        delta = limb.frame @ matrix(turn_root) @ middle @ inward
        turn_end = end_correction(delta @ end_matrix[:3, :3], end_matrix[:3, :3], end_goal, weight)
    status = placed.status | (SINGULAR if singular else 0)
    return turn_root, turn_mid, turn_end, position, length(position - target), status
