# SPDX-License-Identifier: MIT
"""Trembling feet are steadied about their ankles: the jitter of a foot whose ball is pinned would go into the knee."""

import numpy as np

from ..arrays import Array
from ..clip import Clip
from ..curves import hann_average, odd_window, smoothstep
from ..rotations import dot, matrix_from_vector, move_points, nearest_rotations, unit, vector_from_matrix
from .stance import ROLL

# A foot trembles where its direction bends to and fro between frames that lie this time (s) apart. At fewer than 50
# samples a second, noise and motion look alike.
LAG = 0.02
# A foot is steadied in part from this size of noise (degrees), and fully from twice that. Of twelve recorded clips one
# trembles by up to 12 degrees, the others hardly anywhere by 0.4.
NOISE = 0.4
# The correlation of one bend with the next is -2/3 for noise, and positive for motion. A foot is steadied in part from
# the first of these sizes of a negative correlation, and fully from the second. With other values the knees of a
# trembling dance pop by 12 degrees.
CORRELATION = (0.1, 0.3)
# Trembling is averaged over this time (s). A trembling foot takes its mean direction over the time of a roll.
NEAR = 0.2


def steady_feet(clip: Clip) -> tuple[Clip, Array]:
    """The clip with its trembling feet steadied, and the turns (F, L, 3, 3) about the ankles that steady them; the
    identity (3, 3) if no foot trembles.
    """
    share = trembling(clip)
    if not share.any():
        return clip, np.eye(3)
    axes, trembles = nearest_rotations(clip.foot[..., :3, :3] / clip.scale[:, :, 2, None]), share > 0.0
    mean = nearest_rotations(hann_average(axes, odd_window(ROLL, clip.fps))[trembles])
    away = vector_from_matrix(mean @ np.swapaxes(axes[trembles], -1, -2))
    turn = np.broadcast_to(np.eye(3), axes.shape).copy()
    turn[trembles] = matrix_from_vector(share[trembles][:, None] * away)
    steady = turned_about(clip, clip.ankle, turn)
    steady.foot[..., :3, 3] = clip.ankle  # without rounding
    return steady, turn


def trembling(clip: Clip) -> Array:
    """How much each foot trembles (F, L), from 0 to 1."""
    lag = int(LAG * clip.fps)
    if not lag or clip.frames <= 3 * lag:
        return np.zeros((clip.frames, clip.legs))
    way = np.degrees(unit(clip.ball - clip.ankle))
    bend = way[2 * lag :] - 2 * way[lag:-lag] + way[: -2 * lag]
    square, product = np.zeros((2, clip.frames, clip.legs))
    square[lag:-lag] = dot(bend, bend)
    product[lag : -2 * lag] = -dot(bend[:-lag], bend[lag:])
    square, product = (hann_average(values, odd_window(NEAR, clip.fps)) for values in (square, product))
    # The second difference of noise has six times the variance of the noise.
    share = smoothstep(np.sqrt(square / 6) / NOISE - 1.0)
    least, most = CORRELATION
    return share * smoothstep((product / np.maximum(square, 1e-12) - least) / (most - least))


def turned_about(clip: Clip, pivot: Array, turn: Array) -> Clip:
    """The clip with each foot and its toes turned by `turn` (F, L, 3, 3) about `pivot` (F, L, 3)."""
    about = np.zeros((*turn.shape[:2], 4, 4))
    about[..., :3, :3], about[..., 3, 3] = turn, 1.0
    about[..., :3, 3] = pivot - (turn @ pivot[..., None])[..., 0]
    foot = about @ clip.foot
    ball, tip = (move_points(about, points) for points in (clip.ball, clip.tip))
    return clip.having(foot=foot, toe=about @ clip.toe, ball=ball, tip=tip)
