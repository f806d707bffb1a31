# SPDX-License-Identifier: MIT
"""The solver in sixty digits, by textbook formulas, whose cancellation does no harm here. It is used to check the twin.

The numbers of a row are taken exactly as the floats that they are. There is no code for straight limbs without a hinge,
targets on the root and other singular rows, which have no unique answer. Vectors and matrices are arrays of `mpf`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from mpmath import matrix as mp_matrix
from mpmath import mp, mpf
from reference import ORIENT_OPTIONS, SOLVE_OPTIONS

mp.dps = 60
EYE = np.array([[mpf(int(i == j)) for j in range(3)] for i in range(3)])


def exact(value):
    """The same numbers as `mpf`. Strings and None are returned unchanged."""
    if value is None or isinstance(value, str):
        return value
    wide = np.vectorize(lambda x: x if isinstance(x, mpf) else mpf(float(x)), otypes=[object])(value)
    return wide if wide.shape else wide[()]


def length(v):
    return mp.sqrt(v @ v)


def unit(v):
    return v / length(v)


def reject(v, axis):
    """The part of v perpendicular to the axis."""
    return v - (v @ axis) / (axis @ axis) * axis


def clamp(number, least, greatest):
    return min(max(number, least), greatest)


def skew(v):
    x, y, z = v
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def about(axis, angle):
    """The rotation matrix by Rodrigues' formula."""
    k = skew(unit(axis))
    return EYE + mp.sin(angle) * k + (1 - mp.cos(angle)) * (k @ k)


def arc(a, b):
    """The matrix of the shortest rotation of direction a onto direction b, which must not be opposite."""
    a, b = unit(a), unit(b)
    k = skew(np.cross(a, b))
    return EYE + k + (k @ k) / (1 + a @ b)


def turn(axis, a, b):
    """The angle about the axis from a to b."""
    a, b = reject(a, axis), reject(b, axis)
    return mp.atan2(unit(axis) @ np.cross(a, b), a @ b)


# From a limb and a target, relative to the root, to new positions


@dataclass(frozen=True)
class Limb:
    mid: np.ndarray
    end: np.ndarray
    upper: mpf
    lower: mpf
    line: np.ndarray
    bend: np.ndarray


def measure(mid, end, hinge, straight):
    """The limb. If its height, as a share of its reach, is at most `straight`, its bend comes from the hinge."""
    line, upper, lower = unit(end), length(mid), length(end - mid)
    bend = reject(mid, line)
    if length(bend) <= straight * (upper + lower):
        bend = reject(np.cross(reject(hinge, mid), line), line)
    return Limb(mid, end, upper, lower, line, unit(bend))


def third_side(limb, angle):
    """The distance from root to end at this inner angle of the mid joint."""
    if angle >= pi:
        return limb.upper + limb.lower
    return mp.sqrt(limb.upper**2 + limb.lower**2 - 2 * limb.upper * limb.lower * mp.cos(angle))


def angle_limits(options):
    maximum = clamp(options["max_angle"], mpf(0), mpf(pi))
    return clamp(options["min_angle"], mpf(0), maximum), maximum


def soften(distance, greatest, amount):
    """The softened distance: its slope is 1 up to `amount` and falls linearly from there to 0 at `2 - amount`.

    Both limits are shares of the greatest distance.
    """
    start, arrival = amount * greatest, (2 - amount) * greatest
    x = clamp(distance, start, arrival) - start
    return min(distance, start) + (x - x * x / (2 * (arrival - start)) if x else 0)


def goal(limb, target, options):
    """The position that the end is to have, relative to the root."""
    least, greatest = (third_side(limb, angle) for angle in angle_limits(options))
    present, distance = length(limb.end), length(target)
    least, greatest = min(least, present), max(greatest, present)
    far = clamp(soften(distance, greatest, clamp(options["soften"], mpf(0), mpf(1))), least, greatest)
    weight = clamp(options["weight"], mpf(0), mpf(1))
    end = limb.end + weight * (far / distance * target - limb.end)
    return clamp(length(end), least, greatest) * unit(end) * (1 + options["rounding"])


def bend_at(limb, line, options):
    """The unit bend on the new line: the limb's own bend, turned by pole and twist."""
    weight = clamp(options["weight"], mpf(0), mpf(1))
    part = weight * clamp(options["pole_weight"], mpf(0), mpf(1))
    bend = unit(reject(limb.mid, line)) if options["bend"] == "nearest" else arc(limb.line, line) @ limb.bend
    if options["pole"] is not None:
        bend = about(line, part * turn(line, bend, options["pole"])) @ bend
    return about(line, weight * options["twist"]) @ bend


def place(mid, end, target, options, straight):
    """The new mid and end joint, and the normal of the new bend."""
    limb = measure(mid, end, options["hinge"], straight)
    new_end = goal(limb, target, options)
    line, distance = unit(new_end), length(new_end)
    bend = bend_at(limb, line, options)
    along = (distance**2 + limb.upper**2 - limb.lower**2) / (2 * distance)
    height = mp.sqrt(max(limb.upper**2 - along**2, mpf(0)))
    if options["cone_axis"] is not None:
        return in_cone(limb, new_end, along, height, line, bend, options)
    return along * line + height * bend, new_end, np.cross(line, bend)


def in_cone(limb, end, along, height, line, bend, options):
    """The joints with the upper bone in the cone: A cosine + B sine >= C for the angle along the circle.

    The inequality is solved as a quadratic in the tangent of half the angle.
    """
    axis = unit(options["cone_axis"])
    limit = max(clamp(options["cone_angle"], mpf(0), mpf(pi)), mp.acos(clamp(axis @ unit(limb.mid), -1, 1)))
    A, B = height * (bend @ axis), height * (np.cross(line, bend) @ axis)
    C = limb.upper * mp.cos(limit) - along * (line @ axis)
    if A >= C:
        return along * line + height * bend, end, np.cross(line, bend)
    root = A * A + B * B - C * C
    if root < 0:
        return beside_cone(limb, end, line, bend, axis, limit, options)
    turns = (2 * mp.atan2(B + sign * mp.sqrt(root), A + C) for sign in (1, -1))
    turns = (angle - 2 * mp.pi * mp.nint(angle / (2 * mp.pi)) for angle in turns)
    bend = about(line, min(turns, key=abs)) @ bend
    return along * line + height * bend, end, np.cross(line, bend)


def beside_cone(limb, goal, line, bend, axis, limit, options):
    """The joints with the upper bone on the cone in the plane of axis and line: of two, those that miss less."""
    side = unit(reject(line, axis))
    mids = [limb.upper * (mp.cos(limit) * axis + sign * mp.sin(limit) * side) for sign in (1, -1)]
    mid = min(mids, key=lambda m: abs(length(goal - m) - limb.lower))
    least, greatest = angle_limits(options)
    own = mp.acos(-unit(limb.mid) @ unit(limb.end - limb.mid))
    aim = goal - mid
    inner = clamp(mp.acos(-unit(mid) @ unit(aim)), min(least, own), max(greatest, own))
    end = mid + limb.lower * about(np.cross(-mid, aim), inner) @ unit(-mid)
    return mid, end, unit(np.cross(end, mid))


def prepared(options, defaults, rounding):
    """The options as `mpf`, with defaults. `rounding` is a relative error of the end's distance, to see its effect."""
    return {name: exact(value) for name, value in (defaults | options | dict(rounding=rounding)).items()}


def solve(root, mid, end, target, *, straight=1e-12, rounding=0, **options):
    """The new (mid, end) of one row that is not singular."""
    options = prepared(options, SOLVE_OPTIONS, rounding)
    root, mid, end, target = map(exact, (root, mid, end, target))
    new_mid, new_end, _ = place(mid - root, end - root, target - root, options, straight)
    return root + new_mid, root + new_end


# From positions to corrections


def inverse(m):
    a, b, c = m.T
    rows = np.array([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
    return rows / (a @ rows[0])


def cofactor(m):
    a, b, c = m
    return np.array([np.cross(b, c), np.cross(c, a), np.cross(a, b)])


@dataclass(frozen=True)
class Joints:
    """The limb in the root's frame. `inner` maps the mid joint's frame to the root's frame."""

    frame: np.ndarray
    inner: np.ndarray
    at: np.ndarray
    mid: np.ndarray
    end: np.ndarray
    hinge: np.ndarray | None  # in the mid joint's frame

    def inward(self, point):
        return inverse(self.frame) @ (point - self.at)

    @property
    def hinge_in_root(self):
        return None if self.hinge is None else cofactor(self.inner) @ self.hinge


def joints(root_matrix, mid_matrix, end, options):
    one = exact(np.ones(3))
    root_scale, mid_scale = (one if options[k] is None else options[k] for k in ("root_scale", "mid_scale"))
    frame, at = root_matrix[:3, :3] / root_scale, root_matrix[:3, 3]
    inward = inverse(frame)
    hinge = None if options["hinge"] is None else cofactor(EYE * mid_scale) @ options["hinge"]
    inner = inward @ (mid_matrix[:3, :3] / mid_scale)
    return Joints(frame, inner, at, inward @ (mid_matrix[:3, 3] - at), inward @ (end - at), hinge)


def frame_of(first, second):
    """A right-handed frame with x along `first`, and with `second` in the plane of x and y."""
    x, y = unit(first), unit(reject(second, first))
    return np.array([x, y, np.cross(x, y)]).T


def root_turn(limb, new_mid, normal, rolling):
    if rolling == 1:
        return frame_of(new_mid, normal) @ frame_of(limb.mid, limb.hinge_in_root).T
    turned = arc(limb.mid, new_mid)
    if rolling == 0:
        return turned
    return about(new_mid, rolling * turn(new_mid, turned @ limb.hinge_in_root, normal)) @ turned


def turn_bones(limb, new_mid, new_end, normal, rolling):
    """The matrices of the corrections of root and mid joint."""
    root = root_turn(limb, new_mid, normal, rolling)
    inward = inverse(limb.inner)
    old, new = inward @ (limb.end - limb.mid), inward @ root.T @ (new_end - new_mid)
    if not rolling:
        return root, arc(old, new)
    axis = reject(limb.hinge, inward @ limb.mid)
    bent = about(axis, turn(axis, old, new))
    return root, arc(bent @ old, new) @ bent


def nearest_rotation(m):
    """The rotation nearest to m, which may be mirrored, by the quaternion that agrees best with m (Horn 1987)."""
    trace, v = m[0, 0] + m[1, 1] + m[2, 2], [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    form = mp_matrix(4)
    form[0, 0] = trace
    for i in range(3):
        form[0, i + 1] = form[i + 1, 0] = v[i]
        for j in range(3):
            form[i + 1, j + 1] = m[i, j] + m[j, i] - (trace if i == j else 0)
    values, vectors = mp.eigsy(form)
    best = max(range(4), key=lambda i: values[i])
    q = [vectors[i, best] for i in range(4)]
    v = np.array(q[1:])
    return about(v, 2 * mp.atan2(length(v), q[0])) if length(v) else EYE


def rotation_part(rotation, part):
    """The rotation about the same axis by a share of the angle."""
    k = (rotation - rotation.T) / 2
    v = np.array([k[2, 1], k[0, 2], k[1, 0]])
    angle = mp.atan2(length(v), (rotation[0, 0] + rotation[1, 1] + rotation[2, 2] - 1) / 2)
    return about(v, part * angle) if length(v) else EYE


def end_turn(turned, end_matrix, end_goal, weight):
    side = -1 if end_matrix[0] @ np.cross(end_matrix[1], end_matrix[2]) < 0 else 1
    wanted = nearest_rotation(side * end_matrix)
    if end_goal is not None:
        wanted = wanted @ rotation_part(wanted.T @ nearest_rotation(side * end_goal[:3, :3]), weight)
    return nearest_rotation(side * turned).T @ wanted


def orient(root_matrix, mid_matrix, end, new_mid, new_end, **options):
    """The corrections (root, mid) of one row, as rotation matrices."""
    options = prepared(options, ORIENT_OPTIONS, 0)
    root_matrix, mid_matrix, end, new_mid, new_end = map(exact, (root_matrix, mid_matrix, end, new_mid, new_end))
    limb = joints(root_matrix, mid_matrix, end, options)
    mid, end = limb.inward(new_mid), limb.inward(new_end)
    return turn_bones(limb, mid, end, np.cross(end, mid), int(options["roll"] == "hinge"))


def solve_pose(root_matrix, mid_matrix, end, target, *, straight=1e-12, rounding=0, **options):
    """The corrections root, mid and end of one row, as rotation matrices, and the end's position.

    The end's correction is None without `end_matrix`.
    """
    options = prepared(options, SOLVE_OPTIONS | ORIENT_OPTIONS | dict(end_matrix=None, end_goal=None), rounding)
    root_matrix, mid_matrix, end, target = map(exact, (root_matrix, mid_matrix, end, target))
    limb = joints(root_matrix, mid_matrix, end, options)
    inside = options | dict(hinge=limb.hinge_in_root)
    inside |= {n: inverse(limb.frame) @ options[n] for n in ("pole", "cone_axis") if options[n] is not None}
    weight = clamp(options["weight"], mpf(0), mpf(1))
    placed = place(limb.mid, limb.end, limb.inward(target), inside, straight)
    root, mid = turn_bones(limb, *placed, weight if options["roll"] == "hinge" else 0)
    middle = limb.inner @ mid @ inverse(limb.inner)
    position = limb.at + limb.frame @ root @ (limb.mid + middle @ (limb.end - limb.mid))
    if options["end_matrix"] is None:
        return root, mid, None, position
    matrix = options["end_matrix"][:3, :3]
    turned = limb.frame @ root @ middle @ inverse(limb.frame) @ matrix
    return root, mid, end_turn(turned, matrix, options["end_goal"], weight), position
