# SPDX-License-Identifier: MIT
"""The slow, readable twin of the solver: one row at a time, float64, every stage by its definition. It decides what is right.

Positions are seen from the root. `line` is the unit direction root to end, `bend` the unit direction from that line to
the mid joint, so that `cross(line, bend)` is the hinge of the limb.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, nan, pi, sin, sqrt

import numpy as np

REACHED, TOO_FAR, TOO_CLOSE, SOFTENED, LIMITED, SINGULAR, INVALID = 0, 1, 2, 4, 8, 16, 32
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Precision:
    """What counts as nothing, in units of the reach."""

    straight: float  # distance of the mid joint from the line root-end
    moved: float  # distance by which a stage moved the end
    parallel: float  # sine of an angle that input rounding alone can make

    @staticmethod
    def of(dtype) -> Precision:
        eps = float(np.finfo(dtype).eps)
        return Precision(1e-5, 1e-6, 16 * eps) if dtype == np.float32 else Precision(1e-12, 1e-12, 16 * eps)


DOUBLE = Precision.of(np.float64)


# Vectors and quaternions (w, x, y, z)


def length(v):
    return float(np.linalg.norm(v))


def unit(v):
    return v / length(v)


def reject(v, axis):
    """The part of v perpendicular to the unit axis."""
    return v - np.dot(v, axis) * axis


def perpendicular(v):
    """A unit vector perpendicular to v that depends on nothing else: v crossed with the axis it has least of."""
    return unit(np.cross(v, np.eye(3)[np.argmin(np.abs(v))]))


def about(axis, angle):
    return np.concatenate([[cos(angle / 2)], sin(angle / 2) * unit(axis)])


def multiply(q, r):
    w, v = q[0], q[1:]
    return np.concatenate([[w * r[0] - np.dot(v, r[1:])], w * r[1:] + r[0] * v + np.cross(v, r[1:])])


def conjugate(q):
    return np.concatenate([q[:1], -q[1:]])


def matrix(q):
    """The rotation matrix of a quaternion of any length; a zero one is the identity."""
    if not np.any(q):
        return np.eye(3)
    w, x, y, z = unit(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion(m):
    """The quaternion of a rotation matrix: the eigenvector of its symmetric 4 x 4 form (Horn 1987), w >= 0."""
    t = np.trace(m)
    v = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    form = np.block([[np.array([[t]]), v[None]], [v[:, None], m + m.T - t * np.eye(3)]])
    q = np.linalg.eigh(form)[1][:, 3]
    return q if q[0] >= 0 else -q


def nearest_rotation(m):
    """The rotation nearest to m (least squares); a mirrored matrix counts as its negative."""
    u, _, vt = np.linalg.svd(m)
    return u @ vt * np.sign(np.linalg.det(u @ vt))


def arc(a, b, axis, precision=DOUBLE):
    """The shortest rotation of direction a onto b, about the axis where they are opposite; whether they were."""
    a, b, axis = unit(a), unit(b), reject(axis, unit(a))
    if length(a + b) > precision.parallel:
        return shortest(a, b), False
    half_turn = np.concatenate([[0.0], unit(axis)])
    return multiply(shortest(-a, b), half_turn), True


def shortest(a, b):
    normal = np.cross(a, b)
    if not np.any(normal):
        return IDENTITY
    return about(normal, 2 * atan2(length(a - b), length(a + b)))


# The limb as it is


@dataclass(frozen=True)
class Limb:
    upper: float
    lower: float
    mid: np.ndarray
    end: np.ndarray
    line: np.ndarray
    bend: np.ndarray
    singular: bool

    @property
    def reach(self):
        return self.upper + self.lower


def measure(mid, lower, hinge, toward, precision):
    """The limb of mid joint, lower bone and optional hinge direction; `toward` the target decides what nothing else does."""
    end, up = mid + lower, unit(mid)
    reach = length(mid) + length(lower)
    side = None if hinge is None else reject(hinge, up)
    if side is not None and length(side) <= precision.parallel * length(hinge):
        side = None
    if not np.any(end):
        line, singular = folded_line(up, side, toward), True
        bend = up
    else:
        line = unit(end)
        height = length(np.cross(mid, lower)) / length(end)
        straight = height <= precision.straight * reach
        singular = straight and side is None
        bend = reject(mid, line)
        if straight:
            bend = perpendicular(line) if side is None else np.cross(side, line)
    return Limb(length(mid), length(lower), mid, end, line, unit(reject(bend, line)), singular)


def folded_line(up, side, toward):
    """The line of a limb whose end lies on its root: across the upper bone, in the hinge's plane or else the target's."""
    if side is not None:
        return unit(np.cross(up, side))
    across = reject(toward, up)
    return unit(across) if length(across) > 1e-12 * length(toward) else perpendicular(up)


# Where the end goes


def legal_distances(limb, min_angle, max_angle):
    """Least and greatest distance of the end from the root, widened to the present one."""
    maximum = min(max(max_angle, 0.0), pi)
    minimum = min(max(min_angle, 0.0), maximum)
    present = length(limb.end)
    return min(distance_at(limb, minimum), present), max(distance_at(limb, maximum), present)


def distance_at(limb, angle):
    if angle >= pi:
        return limb.reach
    return sqrt((limb.upper - limb.lower) ** 2 + 4 * limb.upper * limb.lower * sin(angle / 2) ** 2)


def softened(distance, greatest, soften):
    """The parabola from `soften * greatest`, slope 1, to `greatest`, slope 0, reached at `(2 - soften) * greatest`."""
    soften = min(max(soften, 0.0), 1.0)
    start, arrival = soften * greatest, (2 - soften) * greatest
    if distance <= start or soften == 1.0:
        return distance
    if distance >= arrival:
        return greatest
    return distance - (distance - start) ** 2 / (2 * (arrival - start))


def judge(limb, distance, soft, least, greatest, precision):
    """The flags that the stages set when they move the end."""
    moved, status = precision.moved * limb.reach, REACHED
    if distance - limb.reach > moved:
        status |= TOO_FAR
    if abs(limb.upper - limb.lower) - distance > moved:
        status |= TOO_CLOSE
    if distance - soft > moved:
        status |= SOFTENED
    clamped = min(max(soft, least), greatest)
    bare = min(max(soft, abs(limb.upper - limb.lower)), limb.reach)
    if abs(clamped - bare) > moved:
        status |= LIMITED
    return status


def line_under_still_bone(limb, distance):
    """The line on which the end lies at this distance while the upper bone stays where it is."""
    along, height = triangle(limb, distance)
    up, normal = unit(limb.mid), np.cross(limb.line, limb.bend)
    return (along * up + height * np.cross(up, normal)) / limb.upper


def triangle(limb, distance):
    """Position of the mid joint along and across the line, by the law of cosines in factored form."""
    total, difference = limb.reach, limb.upper - limb.lower
    if distance == 0.0:
        return 0.0, limb.upper
    area = max(total - distance, 0.0) * (total + distance)
    area *= max(distance - difference, 0.0) * max(distance + difference, 0.0)
    return (distance + difference * total / distance) / 2, sqrt(area) / (2 * distance)


# Where the mid joint goes


def carried(limb, line, precision):
    """The bend, carried by the shortest turn of the present line onto the new one; whether they were opposite."""
    turn, opposite = arc(limb.line, line, np.cross(limb.line, limb.bend), precision)
    return unit(reject(matrix(turn) @ limb.bend, line)), opposite


def bent(limb, line, kind, precision):
    """The bend on the new line, and whether something arbitrary decided it."""
    if kind == "nearest":
        side = reject(limb.mid, line)
        if length(side) > precision.straight * limb.reach:
            return unit(side), False
    bend, opposite = carried(limb, line, precision)
    return bend, limb.singular or opposite or kind == "nearest"


def poled(bend, singular, line, pole, amount, precision):
    """The bend turned towards the pole, the shorter way, by that part of the angle."""
    if pole is None or not np.any(pole) or amount == 0.0:
        return bend, singular
    side = reject(unit(pole), line)
    if length(side) <= precision.parallel:
        return bend, True
    side = unit(side)
    if amount == 1.0:
        return side, False
    angle = atan2(np.dot(line, np.cross(bend, side)), np.dot(bend, side))
    opposite = length(bend + side) <= precision.parallel
    return matrix(about(line, amount * angle)) @ bend, singular or opposite


@dataclass(frozen=True)
class Placed:
    """Mid and end joint seen from the root, the bend there, and what happened."""

    mid: np.ndarray
    end: np.ndarray
    normal: np.ndarray
    status: int
    still: bool = False


def place(mid, lower, target, options, precision):
    """Both joints of the limb for the target, all seen from the root: the heart of solve and solve_pose."""
    limb = measure(mid, lower, options["hinge"], target, precision)
    weight = clamp01(options["weight"])
    least, greatest = legal_distances(limb, options["min_angle"], options["max_angle"])
    distance = length(target)
    soft = softened(distance, greatest, options["soften"])
    status = judge(limb, distance, soft, least, greatest, precision)

    pole, twist = options["pole"], weight * options["twist"]
    pole_weight = weight * clamp01(options["pole_weight"])
    poling = pole is not None and np.any(pole) and pole_weight != 0.0
    normal = np.cross(limb.line, limb.bend)
    on_target = np.array_equal(target, limb.end) and soft == distance and not poling and twist == 0.0
    if weight == 0.0 or on_target:
        return Placed(mid, limb.end, normal, status, still=True)

    far = min(max(soft, least), greatest)
    line = target / distance if distance > 0.0 else line_under_still_bone(limb, far)
    on_root = distance == 0.0
    if weight < 1.0:
        goal = limb.end + weight * (far * line - limb.end)
        far, on_root = min(max(length(goal), least), greatest), not np.any(goal)
        line = unit(goal) if not on_root else line_under_still_bone(limb, far)
    if distance == 0.0 or on_root:
        status |= SINGULAR
    if on_root:
        return Placed(mid, far * line, normal, status)

    bend, singular = bent(limb, line, options["bend"], precision)
    bend, singular = poled(bend, singular, line, pole, pole_weight, precision)
    bend = matrix(about(line, twist)) @ bend
    along, height = triangle(limb, far)
    status |= SINGULAR if singular else 0
    return Placed(along * line + height * bend, far * line, np.cross(line, bend), status)


def clamp01(number):
    return min(max(number, 0.0), 1.0)


SOLVE_OPTIONS = dict(
    bend="carried", pole=None, pole_weight=1.0, twist=0.0, hinge=None, soften=1.0, weight=1.0, min_angle=0.0, max_angle=pi
)


def valid(*values):
    return all(np.all(np.isfinite(value)) for value in values if value is not None and not isinstance(value, str))


def arrays(*values):
    return [None if value is None else np.asarray(value, np.float64) for value in values]


def solve(root, mid, end, target, *, precision=DOUBLE, **options):
    """(mid, end, miss, status) of one row."""
    options = SOLVE_OPTIONS | options
    options["pole"], options["hinge"] = arrays(options["pole"], options["hinge"])
    root, mid, end, target = arrays(root, mid, end, target)
    if not valid(root, mid, end, target, *options.values()) or length(mid - root) * length(end - mid) == 0.0:
        return mid, end, nan, INVALID
    placed = place(mid - root, end - mid, target - root, options, precision)
    new_mid, new_end = (mid, end) if placed.still else (root + placed.mid, root + placed.end)
    return new_mid, new_end, length(new_end - target), placed.status


# Corrections


@dataclass(frozen=True)
class Joints:
    """The limb in the root's frame: the space of its parent's aggregate, in which the root's correction turns.

    `frame` maps the root's frame to the outer space, `inner` the mid joint's frame to the root's.
    """

    frame: np.ndarray
    inner: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    hinge: np.ndarray | None  # seen in the mid joint's frame

    @property
    def hinge_in_root(self):
        return None if self.hinge is None else cofactor(self.inner) @ self.hinge


def cofactor(m):
    """The matrix that maps cross products as m maps vectors."""
    return np.linalg.det(m) * np.linalg.inv(m).T


def joints(root_matrix, mid_matrix, end, hinge, root_scale, mid_scale, precision):
    """The limb in the root's frame, or None where a matrix is singular or a bone has no length."""
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
    return Joints(frame, inner, upper, lower, hinge if hinge is not None and np.any(hinge) else None)


def invertible(m, precision):
    volume = np.prod(np.linalg.norm(m, axis=0))
    return volume > 0 and abs(np.linalg.det(m)) > precision.parallel * volume


def turning_axis(bone, hinge, other):
    """The axis about which a bone turns half round: its hinge, else the bend's own normal, else any perpendicular."""
    for axis in (hinge, np.cross(other, bone)):
        if axis is not None and length(reject(axis, unit(bone))) > 1e-9 * length(axis):
            return axis
    return perpendicular(bone)


def turn_bones(limb, new_upper, new_lower_end, normal, rolling, precision):
    """Corrections of root and mid joint, and whether something arbitrary decided them; `normal` is the new bend's."""
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
    """The angle about the unit axis from the hinge to the normal."""
    a, b = reject(hinge, axis), reject(normal, axis)
    angle = atan2(np.dot(axis, np.cross(a, b)), np.dot(a, b))
    return angle, length(unit(a) + unit(b)) <= precision.parallel


def bend_about(hinge, toward_root, old, new, precision):
    """The turn of a bone about its hinge, followed by the shortest arc for what the hinge cannot explain."""
    axis = unit(reject(hinge, unit(toward_root)))
    a, b = reject(old, axis), reject(new, axis)
    turn = about(axis, atan2(np.dot(axis, np.cross(a, b)), np.dot(a, b)))
    rest, opposite = arc(matrix(turn) @ old, new, axis if np.any(a) else toward_root, precision)
    return multiply(rest, turn), opposite


ORIENT_OPTIONS = dict(roll="pose", hinge=None, root_scale=None, mid_scale=None)


def orient(root_matrix, mid_matrix, end, new_mid, new_end, *, precision=DOUBLE, **options):
    """(root, mid) corrections of one row."""
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
    normal = np.cross(lower, upper)
    reach = length(upper) + length(lower)
    line = length(upper + lower)
    straight = line > 0 and length(normal) <= precision.straight * reach * line
    rolling = 1.0 if options["roll"] == "hinge" else 0.0
    return turn_bones(limb, upper, upper + lower, None if straight else normal, rolling, precision)[:2]


def end_correction(turned, end_matrix, end_goal, weight):
    """The end joint's correction: `turned` is its matrix after the others' corrections."""
    present = nearest_rotation(turned)
    wanted = nearest_rotation(end_matrix)
    if end_goal is not None:
        step = quaternion(wanted.T @ nearest_rotation(end_goal[:3, :3]))
        angle = 2 * atan2(length(step[1:]), step[0])
        if angle:
            wanted = wanted @ matrix(about(step[1:], weight * angle))
    return quaternion(present.T @ wanted)


def solve_pose(root_matrix, mid_matrix, end, target, *, precision=DOUBLE, **options):
    """(root, mid, end, position, miss, status) of one row; the end's correction is None without `end_matrix`."""
    options = SOLVE_OPTIONS | ORIENT_OPTIONS | dict(end_matrix=None, end_goal=None) | options
    for name in ("pole", "hinge", "root_scale", "mid_scale", "end_matrix", "end_goal"):
        options[name] = arrays(options[name])[0]
    root_matrix, mid_matrix, end, target = arrays(root_matrix, mid_matrix, end, target)
    end_matrix, end_goal = options["end_matrix"], options["end_goal"]
    invalid = IDENTITY, IDENTITY, None if end_matrix is None else IDENTITY, end, nan, INVALID
    if not valid(root_matrix, mid_matrix, end, target, *options.values()):
        return invalid
    limb = joints(root_matrix, mid_matrix, end, options["hinge"], options["root_scale"], options["mid_scale"], precision)
    if limb is None or any(m is not None and not invertible(m[:3, :3], precision) for m in (end_matrix, end_goal)):
        return invalid
    weight, root = clamp01(options["weight"]), root_matrix[:3, 3]
    inward = np.linalg.inv(limb.frame)
    pole = None if options["pole"] is None else inward @ options["pole"]
    inside = options | dict(pole=pole, hinge=limb.hinge_in_root)
    placed = place(limb.upper, limb.lower, inward @ (target - root), inside, precision)
    rolling = weight if options["roll"] == "hinge" else 0.0
    turn_root, turn_mid, singular = turn_bones(limb, placed.mid, placed.end, placed.normal, rolling, precision)
    position = end
    if placed.still and not (rolling and limb.hinge is not None):
        turn_root = turn_mid = IDENTITY
    else:
        reached = matrix(turn_root) @ (limb.upper + limb.inner @ matrix(turn_mid) @ np.linalg.inv(limb.inner) @ limb.lower)
        position = root + limb.frame @ reached
    turn_end = None
    if end_matrix is not None:
        middle = limb.inner @ matrix(turn_mid) @ np.linalg.inv(limb.inner)
        delta = limb.frame @ matrix(turn_root) @ middle @ inward
        turn_end = end_correction(delta @ end_matrix[:3, :3], end_matrix[:3, :3], end_goal, weight)
    status = placed.status | (SINGULAR if singular else 0)
    return turn_root, turn_mid, turn_end, position, length(position - target), status
