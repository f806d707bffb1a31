# SPDX-License-Identifier: MIT
"""What must hold for the rows of solve and pole_of."""

from __future__ import annotations

from collections.abc import Iterator

import ik2bone
import numpy as np

from tests.fuzz.agreement_laws import laws_of_agreement
from tests.fuzz.limb_laws import Law, Limb, status_is_legal
from tests.fuzz.rows import INVALID, Rows, same_bits
from tests.fuzz.vectors import dot, is_zero, largest, length, same, unit


def limb_of(rows: Rows) -> Limb:
    root, mid, end, target = (rows.given(name) for name in ("root", "mid", "end", "target"))
    new_mid, new_end = rows.wide("mid"), rows.wide("end")
    size = np.max([largest(p) for p in (root, new_mid, new_end)], 0)
    return Limb(
        rows,
        upper=mid - root,
        lower=end - mid,
        line=end - root,
        aim=target - root,
        pole=rows["pole"],
        cone_axis=rows["cone_axis"],
        mid=new_mid - root,
        end=new_end - root,
        slack=2 * rows.eps * size,
        known=rows.ordinary & ~rows.invalid,
        on_end=same(target, end),
    )


def laws_of_solve(rows: Rows) -> Iterator[Law]:
    yield from status_is_legal(rows)
    root, mid, end = (rows.given(name) for name in ("root", "mid", "end"))
    sound = rows.finite & ~same(mid, root) & ~same(end, mid)
    yield "rows are invalid that must be, and no others", (rows.finite == rows.ordinary) & (rows.invalid == sound)
    limb = limb_of(rows)
    still = rows.invalid | (limb.still & limb.known)
    kept = same_bits(rows.out["mid"], rows.as_result("mid")) & same_bits(rows.out["end"], rows.as_result("end"))
    yield "a row that stays returns its pose bit for bit", still & ~kept
    miss = length(rows.wide("end") - rows.given("target"))
    off = abs(rows.wide("miss") - miss) > (rows.eps + 1e-15) * miss + np.finfo(rows.call.kind).smallest_subnormal
    yield "miss is the distance from the returned end to the target", ~rows.invalid & np.isfinite(miss) & off
    yield from limb.laws()
    yield from laws_of_agreement(rows)


def laws_of_pole_of(rows: Rows) -> Iterator[Law]:
    pole, points = rows.wide("pole"), [rows.given(name) for name in ("root", "mid", "end")]
    root, mid, end = points
    size, none = length(pole), is_zero(pole)
    yield "a pole is of unit length or zero", ~none & (abs(size - 1) > 2 * rows.eps)
    sound = rows.finite & ~same(mid, root) & ~same(end, mid)
    yield "an invalid row has no pole", ~sound & ~none
    known = rows.ordinary & sound & ~none & ~same(end, root)
    aslant = dot(pole, unit(end - root)) > 4 * rows.eps + 1e-14
    yield "a pole is perpendicular to the line", known & aslant
    reach = length(mid - root) + length(end - mid)
    back = ik2bone.solve(*points, end, pole=pole)
    off = np.maximum(length(back.mid - mid), length(back.end - end))
    slack = rows.accuracy * reach + rows.straight * 2 * reach + 4 * rows.eps * np.max([largest(p) for p in points], 0)
    yield "solving with the pole gives the pose back", known & (back.status != INVALID) & (off > slack)
