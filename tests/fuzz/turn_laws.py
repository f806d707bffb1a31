# SPDX-License-Identifier: MIT
"""What must hold for the rows of orient and hinge_of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.fuzz.limb_laws import Law
from tests.fuzz.pose import Pose
from tests.fuzz.pose_laws import are_identity, corrections_are_unit
from tests.fuzz.rows import Rows
from tests.fuzz.vectors import Array, apply, cross, inverse, is_zero, largest, length, same, size, unit


def laws_of_orient(rows: Rows) -> Iterator[Law]:
    pose = Pose(rows)
    new_mid, new_end = rows.given("new_mid"), rows.given("new_end")
    still = pose.broken | same(new_mid, pose.root_at) | same(new_mid, new_end)
    if not rows.rolling:
        still |= rows.ordinary & same(new_mid, pose.mid_at) & same(new_end, rows.given("end"))
    yield from corrections_are_unit(rows, ["root", "mid"])
    yield "a row that stays has corrections of nothing", still & ~are_identity(rows, ["root", "mid"])
    known = rows.ordinary & ~still & (pose.volumes > 1e-3) & (pose.narrowness < 30) & pose.rigid
    yield from direction_laws(pose, known)


def direction_laws(pose: Pose, known: Array) -> Iterator[Law]:
    """Both bones point as the new ones do, whatever lengths those have."""
    rows = pose.rows
    new_mid, new_end = rows.given("new_mid"), rows.given("new_end")
    places = np.max([largest(p) for p in (new_mid, new_end, pose.root_at, pose.mid_at)], 0)
    slack = 20 * rows.eps * (places * size(pose.inward) + pose.reach) + rows.accuracy * pose.reach
    upper = pose.upper, pose.seen(pose.root_at, new_mid), pose.turned_mid
    lower = pose.lower, pose.seen(new_mid, new_end), pose.turned_end - pose.turned_mid
    for name, (before, new, turned) in (("upper", upper), ("lower", lower)):
        off = length(unit(turned) - unit(new)) > 2 * slack / np.minimum(length(before), length(new))
        yield f"the {name} bone gets its new direction", known & off


def laws_of_hinge_of(rows: Rows) -> Iterator[Law]:
    pose, hinge = Pose(rows), rows.wide("hinge")
    none = is_zero(hinge)
    yield "a hinge is of unit length or zero", ~none & (abs(length(hinge) - 1) > 2 * rows.eps)
    yield "an invalid row has no hinge", pose.broken & ~none
    inward = inverse(pose.mid_frame)
    up, low = apply(inward, pose.root_at - pose.mid_at), apply(inward, rows.given("end") - pose.mid_at)
    normal, line = cross(up, low), length(low - up)
    bent = length(normal) > 1e-3 * np.maximum((length(up) + length(low)) * line, length(up) * length(low))
    slack = 1e4 * rows.eps * (1 + (size(pose.mid_frame) * size(inward)) ** 2)
    known = rows.ordinary & ~pose.broken & (pose.volumes > 1e-3)
    yield "a hinge is the normal of the bend", known & bent & ~(length(hinge - unit(normal)) < slack)
