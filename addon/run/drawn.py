# SPDX-License-Identifier: GPL-3.0-or-later
"""What the 3D view draws of a run, kept on the action so that files have it: how soles lie, and the paths of feet."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from ik2bone.arrays import Array
from ik2bone.clip import Clip
from ik2bone.plan import Plan

# Decimals of stored directions: a print of a foot is then off by less than a thousandth of its length.
DECIMALS = 4
# How numbers of paths are stored: single precision, the same on every machine.
NUMBERS = "<f4"


class Paths(NamedTuple):
    """The paths (F, L, 3) of the balls of feet before and after a run, from a first frame on, and their bones."""

    first: int
    bones: tuple[str, ...]
    before: Array
    after: Array


def lying(plan: Plan, span: dict[str, Any]) -> dict[str, list[float]]:
    """How a sole lies in the middle of a contact on frames [start, end) of a plan: unit vectors ahead and up."""
    leg, middle = span["leg"], (span["start"] + span["end"] - 1) // 2
    anchor = plan.targets.standing.at(leg, middle)
    up = plan.clip.up if anchor is None else anchor.turns(middle) @ plan.clip.up
    ahead = plan.targets.turn[middle, leg] @ plan.clip.foot[middle, leg, :3, :3] @ plan.sole.forward[leg]
    ahead = ahead - (ahead @ up) * up
    ahead = ahead / max(np.linalg.norm(ahead), 1e-6)
    return {"ahead": ahead.round(DECIMALS).tolist(), "up": up.round(DECIMALS).tolist()}


def paths_as_text(first: int, bones: Sequence[str], before: Clip, after: Clip) -> str:
    """The paths of the balls of two clips as they are stored."""
    paths = np.stack([before.ball, after.ball]).astype(NUMBERS)
    return json.dumps({"first": first, "bones": list(bones), "paths": b64encode(paths.tobytes()).decode()})


@lru_cache(maxsize=2)
def paths_in(text: Any) -> Paths | None:
    """The paths in a text; None where it is none that has any."""
    try:
        data = json.loads(text)
        first, bones = int(data["first"]), tuple(map(str, data["bones"]))
        before, after = np.frombuffer(b64decode(data["paths"]), NUMBERS).astype(float).reshape(2, -1, len(bones), 3)
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return None
    return Paths(first, bones, before, after) if len(before) and np.isfinite([before, after]).all() else None
