# SPDX-License-Identifier: GPL-3.0-or-later
"""Soles kept on an action that was planted in place: feet on hills no longer tell how high they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from ik2bone.clip import Clip
from ik2bone.sole import Sole
from ik2bone.touch import with_floor_of

from .chains import Leg
from .records import Record


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
    names = [field.name for field in fields(Sole) if field.name not in ("floor", "source")]
    complete = all({"leg", "source", *names} <= sole.keys() for sole in known)
    if not complete or not np.allclose([sole["leg"] for sole in known], clip.leg, rtol=1e-3):
        return None
    rows = {name: np.array([sole[name] for sole in known], float) for name in names}
    return with_floor_of(clip, Sole(**rows, floor=0.0, source=tuple(sole["source"] for sole in known)))
