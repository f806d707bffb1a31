# SPDX-License-Identifier: MIT
"""Trembling feet steadied about their ankles: once a ball is pinned, jitter of its foot would go into the knee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..curves import hann_average, odd_window, smoothstep
from ..model import Array, Clip
from ..rotations import matrix_from_vector, nearest_rotations, vector_from_matrix

# A foot trembles where its bends of direction over LAG (s) alternate: the correlation of one with the next is -2/3 for
# noise, and positive for motion. It is steadied between these two, and between these sizes of noise (degrees): of
# twelve recorded clips one trembles by up to 12, the others hardly anywhere by 0.4.
LAG, NEAR = 1 / 60, 0.2
CORRELATION = (0.1, 0.3)
NOISE = (0.4, 0.8)
# The trembling foot takes its mean direction over this time (s).
WINDOW = 0.15
# At fewer samples a second noise and motion look alike.
LEAST_FPS = 45.0


def steady_feet(clip: Clip) -> tuple[Clip, Array]:
    """The clip with its trembling feet steadied, and the turns (F, L, 3, 3) that do it, about the ankles."""
    turn = np.broadcast_to(np.eye(3), (clip.frames, clip.legs, 3, 3))
    share = trembling(clip)
    if not share.any():
        return clip, turn
    axes = nearest_rotations(clip.foot[..., :3, :3])
    mean = hann_average(axes, odd_window(WINDOW, clip.fps))
    away = vector_from_matrix(nearest_rotations(mean) @ np.swapaxes(axes, -1, -2))
    turn = matrix_from_vector(share[..., None] * away)
    return _turned(clip, turn), turn


def trembling(clip: Clip) -> Array:
    """How much each foot trembles (F, L), from 0 to 1."""
    lag = round(LAG * clip.fps)
    if clip.fps < LEAST_FPS or clip.frames <= 3 * lag:
        return np.zeros((clip.frames, clip.legs))
    way = clip.ball - clip.ankle
    way = np.degrees(way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-300))
    bend = way[2 * lag :] - 2 * way[lag:-lag] + way[: -2 * lag]
    square, product = np.zeros((2, clip.frames, clip.legs))
    square[lag:-lag] = np.sum(bend**2, axis=-1)
    product[lag : -2 * lag] = -np.sum(bend[:-lag] * bend[lag:], axis=-1)
    window = odd_window(NEAR, clip.fps)
    square, product = hann_average(square, window), hann_average(product, window)
    # The variance of such a bend of noise is six times that of the noise.
    return _between(product / np.maximum(square, 1e-12), CORRELATION) * _between(np.sqrt(square / 6), NOISE)


def _between(values: Array, ends: tuple[float, float]) -> Array:
    return smoothstep((values - ends[0]) / (ends[1] - ends[0]))


def _turned(clip: Clip, turn: Array) -> Clip:
    """The clip with each foot and its toes turned about the ankle."""
    toe, foot = clip.toe.copy(), clip.foot.copy()
    for matrices in (toe, foot):
        matrices[..., :3, :3] = turn @ matrices[..., :3, :3]
    toe[..., :3, 3] = _carried(clip, turn, clip.toe[..., :3, 3])
    return replace(clip, foot=foot, toe=toe, ball=_carried(clip, turn, clip.ball), tip=_carried(clip, turn, clip.tip))


def _carried(clip: Clip, turn: Array, points: Array) -> Array:
    return clip.ankle + (turn @ (points - clip.ankle)[..., None])[..., 0]
