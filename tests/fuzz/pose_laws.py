# SPDX-License-Identifier: MIT
"""What must hold for the rows of solve_pose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.fuzz.agreement_laws import laws_of_agreement
from tests.fuzz.limb_laws import Law, Limb, status_is_legal
from tests.fuzz.pose import Pose
from tests.fuzz.rows import Rows, same_bits
from tests.fuzz.vectors import (
    Array,
    apply,
    cross,
    determinant,
    is_zero,
    length,
    nearest_rotation,
    reject,
    rotation,
    same,
    size,
    unit,
)

FEW = 200  # rows whose nearest rotations are looked at: they cost more than all else


def corrections_are_unit(rows: Rows, names: list[str]) -> Iterator[Law]:
    for name in names:
        q = rows.wide(name)
        yield f"{name}'s correction is of unit length", abs(np.sqrt(np.einsum("ni,ni->n", q, q)) - 1) > 2 * rows.eps


def are_identity(rows: Rows, names: list[str]) -> Array:
    q = [rows.out[name] for name in names]
    return np.all([(a[:, 0] == 1) & is_zero(a[:, 1:]) for a in q], 0)


def limb_of(pose: Pose) -> Limb:
    """The limb in the root's frame, where solve_pose solves."""
    rows = pose.rows
    end, target = rows.given("end"), rows.given("target")
    into = lambda name: None if rows[name] is None else apply(pose.inward, rows.given(name))  # noqa: E731
    growth = size(pose.inward)
    return Limb(
        rows,
        upper=pose.upper,
        lower=pose.lower,
        line=pose.seen(pose.root_at, end),
        aim=pose.seen(pose.root_at, target),
        pole=into("pole"),
        cone_axis=into("cone_axis"),
        mid=pose.turned_mid,
        end=pose.turned_end,
        slack=pose.slack * growth + 20 * rows.eps * pose.reach,
        known=rows.ordinary & ~rows.invalid & pose.rigid & (pose.narrowness < 30),
        on_end=same(target, end),
    )


def laws_of_solve_pose(rows: Rows) -> Iterator[Law]:
    pose = Pose(rows)
    limb = limb_of(pose)
    yield from status_is_legal(rows)
    yield from corrections_are_unit(rows, turned_joints(rows))
    sure = pose.broken | (rows.ordinary & (pose.volumes > 1e-3))
    yield "rows are invalid that must be, and no others", sure & (rows.invalid != pose.broken)
    yield "a row that stays returns its pose bit for bit", rows_that_moved(rows, limb)
    yield from place_laws(pose)
    yield from limb.laws()
    yield from laws_of_agreement(rows)
    if rows.rolling:
        yield from roll_laws(pose, limb)
    if "end" in rows.out:
        yield "the end joint takes its orientation", misoriented(pose, limb)


def turned_joints(rows: Rows) -> list[str]:
    return [name for name in ("root", "mid", "end") if name in rows.out]


def rows_that_moved(rows: Rows, limb: Limb) -> Array:
    """Rows that should have stayed: the end joint may still turn to its goal where they are valid."""
    still = limb.weight == 0 if rows.rolling else limb.still
    still = rows.invalid | (rows.ordinary & still)
    kept = are_identity(rows, ["root", "mid"]) & same_bits(rows.out["position"], rows.as_result("end"))
    free = ~rows.invalid & (limb.weight > 0) if rows["end_goal"] is not None else np.zeros(rows.count, bool)
    return still & ~(kept & (free | are_identity(rows, turned_joints(rows))))


def place_laws(pose: Pose) -> Iterator[Law]:
    """The corrections, applied here, do what position and miss say, whatever the frames."""
    rows = pose.rows
    known = rows.ordinary & ~rows.invalid & (pose.narrowness < 1e6)
    whole = pose.reach * pose.size
    tolerance = (rows.accuracy + 1e-13 * pose.narrowness) * whole + pose.slack
    off = length(pose.new_end - rows.wide("position"))
    yield "the corrections put the end where position says", known & (off > tolerance)
    miss = length(pose.new_end - rows.given("target"))
    off = abs(rows.wide("miss") - miss) - (rows.eps + 1e-15) * miss
    yield "miss is the distance from the corrected end to the target", known & (off > tolerance)


def roll_laws(pose: Pose, limb: Limb) -> Iterator[Law]:
    """The hinge, turned with the root, is the normal of the new bend where bones stay rigid."""
    rows, turn = pose.rows, rotation(pose.rows.wide("root"))
    hinge = unit(pose.hinge_in_root)
    across = length(reject(hinge, unit(pose.upper)))
    turned = reject(apply(turn, hinge), unit(pose.turned_mid))
    normal = cross(limb.end, limb.mid)
    height, distance = length(normal) / length(limb.end), length(limb.end)
    clear = limb.known & (limb.weight == 1) & (across > 1e-2) & (np.minimum(height, distance) > 1e-2 * limb.reach)
    near = (1e-3 if rows.single else 1e-9) + 20 * (limb.slack / limb.reach)
    yield "the mid joint bends about the hinge", clear & (length(unit(turned) - unit(normal)) > near)


def misoriented(pose: Pose, limb: Limb) -> Array:
    """Rows whose end joint neither keeps its orientation nor takes the goal's; of matrices that are not mirrored."""
    rows = pose.rows
    matrix = rows.given("end_matrix")[:, :3, :3]
    goal = rows["end_goal"]
    known = rows.ordinary & ~rows.invalid & (pose.narrowness < 30) & (pose.volumes > 1e-2)
    known &= (determinant(matrix) > 0) & (determinant(pose.turned_end_matrix) > 0)
    if goal is not None:
        known &= (limb.weight == 1) & (determinant(goal[:, :3, :3]) > 0)
    some = np.flatnonzero(known)[:FEW]
    turned = nearest_rotation(pose.turned_end_matrix[some])
    wanted = nearest_rotation((matrix if goal is None else goal[:, :3, :3])[some])
    broken = np.zeros(rows.count, bool)
    broken[some] = np.abs(turned - wanted).max((1, 2)) > 1e3 * rows.eps
    return broken
