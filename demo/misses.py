# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding feet that miss the ground on one frame: soles under it, and standing soles over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demo.figure import Foot

Array = NDArray[np.float64]

# A miss is larger than this share of the leg: a sole may be deformed by as much, and the picture does not show less.
TOLERANCE = 0.02
STEEPEST = 0.64  # Cosine of 50 degrees: a steeper surface is a wall, and no foot stands on it.


@dataclass(frozen=True)
class Miss:
    """A foot off the ground: its `place` (3,), and the greatest `height` of its sole over it, negative under it."""

    place: Array
    height: float


def find_misses(armature, feet: list[Foot], spans: list[dict], ground, frame: int, leg: float) -> list[Miss]:
    """The misses of the pose that the scene shows now. `ground` is the ground on this frame.

    `spans` are the contacts that the planted action stores.
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
    """The heel, ball and tip of the toes in world space (3, 3)."""
    world = np.array(armature.matrix_world)
    pose, toe = (world @ np.array(armature.pose.bones[name].matrix) for name in (foot.foot, foot.toe or foot.foot))
    points = ((pose, foot.heel), (pose, foot.ball), (toe, foot.tip))
    return np.array([matrix[:3, :3] @ point + matrix[:3, 3] for matrix, point in points])


def _heights(ground, points: Array) -> Array:
    """The heights (3,) of points over the surface, along its normal; NaN where there is no surface or only a wall."""
    hits, normals, found = ground(points, np.array([0.0, 0.0, -1.0]))
    heights = np.sum((points - hits) * normals, axis=1)
    return np.where(found & (normals[:, 2] >= STEEPEST), heights, np.nan)


def _stands(spans: list[dict], bone: str, part: str, frame: int) -> bool:
    return any(s["bone"] == bone and s["part"] == part and s["start"] <= frame <= s["end"] for s in spans)
