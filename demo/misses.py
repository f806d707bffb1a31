# SPDX-License-Identifier: GPL-3.0-or-later
"""Where feet miss the ground at one instant: soles that stick in it, or float while the foot stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demo.figure import Foot

Array = NDArray[np.float64]

TOLERANCE = 0.02  # Of the leg; a sole may be deformed by so much. Less is not to be seen in the picture either.
STEEPEST = 0.64  # Cosine of 50 degrees: what is steeper is a wall to pass, not a ground to stand on.


@dataclass(frozen=True)
class Miss:
    """`place` of the foot, and the largest height of its sole over the ground, negative where it is under."""

    place: Array
    height: float


def find_misses(armature, feet: list[Foot], spans: list[dict], ground, frame: int, leg: float) -> list[Miss]:
    """Misses of the pose that the scene shows now, and of the ground as it lies now; `spans` are the contacts that the
    planted action stores.
    """
    misses = []
    for foot in feet:
        soles = _soles(armature, foot)
        heights = _heights(ground, soles)
        standing = [part for part in ("heel", "ball") if _stands(spans, foot.foot, part, frame)]
        over = np.nanmax([heights[("heel", "ball").index(part)] for part in standing] or [0.0])
        under = np.nanmin(heights, initial=0.0)
        worst = under if -under > over else over
        if abs(worst) > TOLERANCE * leg:
            misses.append(Miss(soles.mean(axis=0), float(worst)))
    return misses


def _soles(armature, foot: Foot) -> Array:
    """Heel, ball and tip of the toes in world space (3, 3)."""
    world = np.array(armature.matrix_world)
    pose, toe = (world @ np.array(armature.pose.bones[name].matrix) for name in (foot.foot, foot.toe or foot.foot))
    points = ((pose, foot.heel), (pose, foot.ball), (toe, foot.tip))
    return np.array([matrix[:3, :3] @ point + matrix[:3, 3] for matrix, point in points])


def _heights(ground, points: Array) -> Array:
    """Heights over the surface along its normal; NaN where there is none or it is a wall."""
    hits, normals, found = ground(points, np.array([0.0, 0.0, -1.0]))
    heights = np.sum((points - hits) * normals, axis=1)
    return np.where(found & (normals[:, 2] >= STEEPEST), heights, np.nan)


def _stands(spans: list[dict], bone: str, part: str, frame: int) -> bool:
    return any(s["bone"] == bone and s["part"] == part and s["start"] <= frame <= s["end"] for s in spans)
