# SPDX-License-Identifier: MIT
"""A walk of three seconds, by points and by transforms, and hills to plant it on."""

from __future__ import annotations

import numpy as np
from ik2bone import Clip
from walk import make_walk

WALK = make_walk(seconds=3.0).clip
POINTS = {name: getattr(WALK, name) for name in ("hip", "knee", "ankle", "ball", "tip")}
LEG = {name: getattr(WALK, name) for name in ("thigh", "shin", "foot")}


def hills(xy):
    return 0.1 * np.sin(2.1 * xy[:, 0] + 0.4) + 0.07 * np.cos(1.7 * xy[:, 1] - 0.9 * xy[:, 0])


def from_points(**changes) -> Clip:
    return Clip.from_points(WALK.fps, **(POINTS | changes))
