# SPDX-License-Identifier: MIT
"""The twin's stages from a limb and a target to new joint positions.

Positions are relative to the root. `line` is the unit direction from root to end, and `bend` the unit direction from
this line to the mid joint, so that `cross(line, bend)` is the hinge of the limb.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, pi, sin, sqrt

import numpy as np
from reference_vectors import about, arc, clamp, clamp01, length, matrix, perpendicular, reject, unit

REACHED, TOO_FAR, TOO_CLOSE, SOFTENED, LIMITED, SINGULAR, INVALID = 0, 1, 2, 4, 8, 16, 32


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


def measure(mid, lower, end, hinge, toward, precision):
    """The limb of a mid joint, a lower bone and an optional hinge. The target `toward` decides if nothing else does."""
    up = unit(mid)
    reach = length(mid) + length(lower)
    side = None if hinge is None else reject(hinge, up)
    if side is not None and length(side) <= precision.parallel * length(hinge):
        side = None
    if not np.any(end):
        line, singular = folded_line(up, side, toward), True
        bend = up
    else:
        line = unit(end)
        height = length(np.cross(mid, min(lower, end, key=length))) / length(end)  # the longer one may leave no digits
        straight = height <= precision.straight * reach
        singular = straight and side is None
        bend = reject(mid, line)
        if straight:
            bend = perpendicular(line) if side is None else np.cross(side, line)
    return Limb(length(mid), length(lower), mid, end, line, unit(reject(bend, line)), singular)


def folded_line(up, side, toward):
    """The line of a limb whose end lies on its root: perpendicular to the upper bone, by the hinge or the target."""
    if side is not None:
        return unit(np.cross(up, side))
    across = reject(toward, up)
    return unit(across) if length(across) > 1e-12 * length(toward) else perpendicular(up)


# The position of the end


def legal_distances(limb, min_angle, max_angle):
    """The least and the greatest distance of the end from the root, widened to include the present distance."""
    maximum = min(max(max_angle, 0.0), pi)
    minimum = min(max(min_angle, 0.0), maximum)
    present = length(limb.end)
    return min(distance_at(limb, minimum), present), max(distance_at(limb, maximum), present)


def distance_at(limb, angle):
    if angle >= pi:
        return limb.reach
    return sqrt((limb.upper - limb.lower) ** 2 + 4 * limb.upper * limb.lower * sin(angle / 2) ** 2)


def softened(distance, greatest, soften):
    """The softened distance: a parabola from `soften * greatest`, with slope 1, up to `greatest`, with slope 0.

    It arrives there at a distance of `(2 - soften) * greatest`.
    """
    soften = min(max(soften, 0.0), 1.0)
    start, arrival = soften * greatest, (2 - soften) * greatest
    if distance <= start or soften == 1.0:
        return distance
    if distance >= arrival:
        return greatest
    return distance - (distance - start) ** 2 / (2 * (arrival - start))


def judge(limb, distance, soft, least, greatest, precision):
    """The status flags of the stages that move the end."""
    moved, status = precision.moved * limb.reach, REACHED
    if distance - limb.reach > moved:
        status |= TOO_FAR
    if abs(limb.upper - limb.lower) - distance > moved:
        status |= TOO_CLOSE
    if distance - soft > moved:
        status |= SOFTENED
    legal = clamp(distance, least, greatest)
    bare = clamp(distance, abs(limb.upper - limb.lower), limb.reach)
    if abs(legal - bare) > moved:
        status |= LIMITED
    return status


def line_under_still_bone(limb, distance):
    """The line on which the end lies at this distance if the upper bone does not move."""
    along, height = triangle(limb, distance)
    up, normal = unit(limb.mid), np.cross(limb.line, limb.bend)
    return (along * up + height * np.cross(up, normal)) / limb.upper


def triangle(limb, distance):
    """The position of the mid joint along and across the line, by the law of cosines in factored form."""
    total, difference = limb.reach, limb.upper - limb.lower
    if distance == 0.0:
        return 0.0, limb.upper
    area = max(total - distance, 0.0) * (total + distance)
    area *= max(distance - difference, 0.0) * max(distance + difference, 0.0)
    return (distance + difference * total / distance) / 2, sqrt(area) / (2 * distance)


# The position of the mid joint


def carried(limb, line, precision):
    """The bend, carried by the shortest turn of the present line onto the new one, and whether they are opposite."""
    turn, opposite = arc(limb.line, line, np.cross(limb.line, limb.bend), precision)
    return unit(reject(matrix(turn) @ limb.bend, line)), opposite


def bent(limb, line, kind, precision):
    """The bend on the new line, and whether it is arbitrary."""
    if kind == "nearest":
        side = reject(limb.mid, line)
        if length(side) > precision.straight * limb.reach:
            return unit(side), False
    bend, opposite = carried(limb, line, precision)
    return bend, limb.singular or opposite or kind == "nearest"


def poled(bend, singular, line, pole, amount, precision):
    """The bend, turned by a share of the angle to the pole, the shorter way, and whether it is arbitrary."""
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
    """The new mid and end joint relative to the root, the normal of the bend, the status, and whether nothing moved."""

    mid: np.ndarray
    end: np.ndarray
    normal: np.ndarray
    status: int
    still: bool = False


def place(mid, lower, end, target, on_end, options, precision):
    """The joints of the limb for a target, all relative to the root. `on_end` says that the target equals the end."""
    limb = measure(mid, lower, end, options["hinge"], target, precision)
    weight = clamp01(options["weight"])
    least, greatest = legal_distances(limb, options["min_angle"], options["max_angle"])
    target = end if on_end else target
    distance = length(target)
    soft = softened(distance, greatest, options["soften"])
    status = judge(limb, distance, soft, least, greatest, precision)

    pole, twist = options["pole"], weight * options["twist"]
    pole_weight = weight * clamp01(options["pole_weight"])
    poling = pole is not None and np.any(pole) and pole_weight != 0.0
    normal = np.cross(limb.line, limb.bend)
    content = on_end and soft == distance and not poling and twist == 0.0
    if weight == 0.0 or content:
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
    bend = unit(reject(matrix(about(line, twist)) @ bend, line))  # a pole nearly along the line leaves few digits
    along, height = triangle(limb, far)
    status |= SINGULAR if singular else 0
    wished = Placed(along * line + height * bend, far * line, np.cross(line, bend), status)
    if options["cone_axis"] is None or not np.any(options["cone_axis"]):
        return wished
    return in_cone(limb, wished, line, bend, along, height, options, precision)


# The cone


def angle_between(a, b):
    return atan2(length(np.cross(a, b)), np.dot(a, b))


def in_cone(limb, wished, line, bend, along, height, options, precision):
    """The joints with the upper bone inside the cone, which is widened to include the present upper bone."""
    axis = unit(options["cone_axis"])
    limit = max(min(max(options["cone_angle"], 0.0), pi), angle_between(limb.mid, axis))
    if angle_between(wished.mid, axis) <= limit:
        return wished
    across = np.cross(line, bend)
    x, y = np.dot(bend, axis), np.dot(across, axis)
    centre = atan2(y, x)
    towards = height * (cos(centre) * bend + sin(centre) * across)
    near, far = (angle_between(along * line + side * towards, axis) for side in (1, -1))
    if limit < near:
        return beside_cone(limb, wished, line, axis, limit, options, precision)
    # Half of the legal arc, by a half-angle formula of spherical triangles.
    inside = sin((limit + near) / 2) * sin((limit - near) / 2)
    outside = sin((far + limit) / 2) * sin((far - limit) / 2)
    half = 2 * atan2(sqrt(inside), sqrt(max(outside, 0.0)))
    angle = centre - half if centre > 0 else centre + half
    bend = cos(angle) * bend + sin(angle) * across
    status = wished.status | (SINGULAR if x < 0 and abs(y) <= precision.parallel * -x else 0)
    return Placed(along * line + height * bend, wished.end, np.cross(line, bend), status)


def beside_cone(limb, wished, line, axis, limit, options, precision):
    """The joints if no mid joint on the circle is legal: the upper bone lies on the cone, nearest to the circle.

    The lower bone points to the goal.
    """
    towards, status = reject(line, axis), wished.status
    side = 1 if angle_between(wished.mid, line) < angle_between(line, axis) else -1
    if length(towards) <= precision.parallel:
        towards, status, side = reject(wished.mid, axis), status | SINGULAR, 1
    mid = limb.upper * (cos(limit) * axis + side * sin(limit) * unit(towards))
    end = pointed(limb, mid, wished, options, precision)
    status |= LIMITED if length(end - wished.end) > precision.moved * limb.reach else 0
    normal = np.cross(end, mid)
    bent = length(normal) > precision.straight * limb.reach * length(end)
    return Placed(mid, end, unit(normal) if bent else wished.normal, status)


def pointed(limb, mid, wished, options, precision):
    """The end of a lower bone that points to the goal as far as the angle limits allow."""
    maximum = clamp(options["max_angle"], 0.0, pi)
    minimum = clamp(options["min_angle"], 0.0, maximum)
    own = angle_between(-limb.mid, limb.end - limb.mid)
    aim = wished.end - mid
    angle = clamp(angle_between(-mid, aim), min(minimum, own), max(maximum, own))
    across = reject(aim, unit(mid))
    if length(across) <= precision.parallel * limb.lower:
        across = np.cross(mid, wished.normal)
    return mid - limb.lower * cos(angle) * unit(mid) + limb.lower * sin(angle) * unit(across)
