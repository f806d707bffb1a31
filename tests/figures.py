# SPDX-License-Identifier: MIT
"""A clip of a figure whose feet follow the paths of a gait made by formula."""

from __future__ import annotations

import ik2bone
import numpy as np
from gaits import Gait
from ik2bone.clip import Clip
from walk import matrices_of, pointing

UPPER, LOWER, ANKLE_HEIGHT, TOE, HIP_HEIGHT, STRETCH = 0.5, 0.47, 0.09, 0.06, 0.93, 0.985


def figure_of(gait: Gait, ankle_ahead: float = 0.05) -> Clip:
    """A clip of `gait` by a figure whose ankles lie `ankle_ahead` ahead of their heels, in the gait's unit.

    Its toes stay level while the feet pitch. Its hips move evenly, as high as both legs allow.
    """
    axes = _foot_axes(gait)
    ankle = gait.heel + ankle_ahead * axes[..., 1] + ANKLE_HEIGHT * axes[..., 2]
    hip = _hips(gait, ankle)
    straight = hip - [0.0, 0.0, UPPER + LOWER]
    knee = np.asarray(ik2bone.solve(hip, hip + [0.05, 0.0, -UPPER], straight, ankle, pole=[1.0, 0.0, 0.0]).mid)
    level = axes[..., 1] * [1.0, 1.0, 0.0]
    level /= np.linalg.norm(level, axis=-1, keepdims=True)
    up = np.broadcast_to([0.0, 0.0, 1.0], level.shape)
    toe = matrices_of(gait.ball, np.stack([np.cross(level, up), level, up], axis=-1))
    thigh, shin = matrices_of(hip, pointing(hip, knee)), matrices_of(knee, pointing(knee, ankle))
    return Clip(gait.fps, thigh, shin, matrices_of(ankle, axes), toe=toe, tip=gait.ball + TOE * level)


def _foot_axes(gait: Gait) -> np.ndarray:
    """The axes (F, 2, 3, 3) of the feet: sideways, from heel to ball, and up from the instep."""
    along = gait.ball - gait.heel
    along = along / np.linalg.norm(along, axis=-1, keepdims=True)
    side = np.cross(along, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    return np.stack([side, along, np.cross(side, along)], axis=-1)


def _hips(gait: Gait, ankle: np.ndarray) -> np.ndarray:
    time = np.arange(len(ankle))
    way = np.polyval(np.polyfit(time, ankle[..., 0].mean(axis=1), 1), time)
    hip = np.stack([np.broadcast_to(way[:, None], ankle.shape[:2]), ankle[..., 1], 0 * ankle[..., 2]], axis=-1)
    apart = np.linalg.norm((ankle - hip)[..., :2], axis=-1)
    highest = ankle[..., 2] + np.sqrt((STRETCH * (UPPER + LOWER)) ** 2 - apart**2)
    hip[..., 2] = min(HIP_HEIGHT, float(highest.min()))
    return hip
