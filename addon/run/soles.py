# SPDX-License-Identifier: GPL-3.0-or-later
"""Soles kept on an action that was planted in place: feet on hills no longer tell how high they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from ik2bone.hands.touch import with_floor_of
from ik2bone.model import Clip
from ik2bone.sole.measure import Sole

from ..pose.evaluate import Array
from ..rig.find import Leg
from .records import Record

# What a record tells of one sole in numbers, beside the leg length that it was measured at.
NAMES = [field.name for field in fields(Sole) if field.name not in ("floor", "source")]
# Points and directions have three; these have others.
SHAPES: dict[str, tuple[int, ...]] = {"leg": (), "ball_height": (), "lengths": (2,)}


def soles_as_data(limbs: Sequence[Leg], sole: Sole, leg: float) -> dict[str, Any]:
    """The soles as plain data by foot bone, for runs to come."""
    return {
        limb.foot: {"leg": leg, "source": sole.source[i]} | {name: row[i].tolist() for name, row in sole.rows()}
        for i, limb in enumerate(limbs)
    }


def known_sole(limbs: Sequence[Leg], clip: Clip, record: Record) -> Sole | None:
    """The soles that an earlier run measured, if it knew all feet of this one and they have the same size still.

    Where the floor lies is told by the clip as it is now.
    """
    known = [record.get("soles", {}).get(limb.foot, {}) for limb in limbs]
    numbers = [_numbers(sole) for sole in known]
    if not all(numbers) or not np.allclose([row["leg"] for row in numbers], clip.leg, rtol=1e-3):
        return None
    rows = {name: np.array([row[name] for row in numbers]) for name in NAMES}
    return with_floor_of(clip, Sole(**rows, floor=0.0, source=tuple(str(sole["source"]) for sole in known)))


def _numbers(sole: dict[str, Any]) -> dict[str, Array]:
    """The numbers of one foot's sole; none where any is missing or broken, since people and scripts edit records."""
    try:
        rows = {name: np.array(sole[name], float) for name in ("leg", *NAMES)}
    except (KeyError, TypeError, ValueError):
        return {}
    whole = all(row.shape == SHAPES.get(name, (3,)) and np.isfinite(row).all() for name, row in rows.items())
    return rows if whole and isinstance(sole.get("source"), str) else {}
