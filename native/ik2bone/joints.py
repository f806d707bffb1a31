# SPDX-License-Identifier: MIT
"""Bones from joint positions, and balls and tips of feet where a rig has none."""

import numpy as np

from .arrays import Array
from .contacts.stance import STEP
from .curves import between, hann_average, odd_window
from .rotations import cross, einsum, inverse_of, length_of, level_part, move_points, unit

# Place of the ball of the foot seen from the ankle, ahead and below (leg lengths): medians of the eight motion-captured
# people of the test clips, who have 0.13 to 0.15 and 0.03 to 0.06.
BALL_AHEAD, BALL_BELOW = 0.14, 0.05
# The toes reach beyond the ball by this share of the level way from ankle to ball: the median of rigs that have a toe
# bone with a tip.
TOES_SHARE = 1.0 / 3.0
# Sine of the bend (9 degrees) below which the bend of a single frame is mostly noise: it may go sideways or backwards.
# With this value thighs made from the joints of the test clips turn in no frame by 25 degrees more than in the clip;
# with a fifth of it, by up to 150 degrees more.
BENT = 0.15


def aggregate_legs(
    fps: float, hip: Array, knee: Array, ankle: Array, ball: Array, up: Array, heel: Array | None
) -> tuple[Array, Array, Array]:
    """Aggregate transforms (F, L, 4, 4) of thigh, shin and foot from their joints (F, L, 3).

    The second axis of each lies along its bone, and the first axis of thigh and shin along the hinge of the knee. The
    first axis of a foot is perpendicular to the plane of `heel`, ankle and ball. Without `heel` it is level for a level
    foot, and turns towards the hinge as the foot gets steeper.
    """
    along = unit(ball - ankle)
    level = cross(along, up)
    hinge = continuous_hinge(fps, hip, knee, ankle, bones(ankle, ball, level)[..., :3, :3], level)
    share = np.maximum(np.sum(level * hinge, axis=-1, keepdims=True), 0.0)
    side = share * level + (1.0 - share) * hinge
    if heel is not None:
        across = unit(cross(ball - heel, ankle - heel))
        side = np.where(across.any(axis=-1, keepdims=True), across, side)
    return bones(hip, knee, hinge), bones(knee, ankle, hinge), bones(ankle, ball, side)


def continuous_hinge(fps: float, hip: Array, knee: Array, ankle: Array, foot: Array, otherwise: Array) -> Array:
    """The hinge of each knee (F, L, 3), a unit vector in the space of the joints (F, L, 3) that changes continuously.

    A bent knee has its own hinge; a straight or overstretched one takes the hinge of the frames around it. The side to
    which a knee bends is that of its mean bend as seen from the `foot` axes (F, L, 3, 3). A knee that never bends has
    the direction `otherwise` (F, L, 3).
    """
    bend = cross(unit(hip - knee), unit(ankle - knee))
    mean = einsum("flij,fli->lj", foot, bend)
    # Averaged over half a stride, so that straight frames have a side too.
    usual = hann_average(_turned_to(bend, unit(einsum("flij,lj->fli", foot, mean))), odd_window(STEP, fps))
    known = length_of(usual) > BENT
    for leg in range(usual.shape[1]):
        usual[:, leg] = between(usual[:, leg], known[:, leg]) if known[:, leg].any() else otherwise[:, leg]
    usual = unit(usual)
    return unit(_turned_to(bend, usual) + BENT * usual)


def _turned_to(vectors: Array, side: Array) -> Array:
    """The vectors (..., 3) without their component opposite to the unit vectors `side` (..., 3)."""
    return vectors - np.minimum(np.sum(vectors * side, axis=-1, keepdims=True), 0.0) * side


def bones(start: Array, end: Array, side: Array) -> Array:
    """Matrices (..., 4, 4) at `start` (..., 3) with the second axis towards `end` and the first nearest to `side`."""
    along = unit(end - start)
    across = side - np.sum(side * along, axis=-1, keepdims=True) * along
    anything = cross(along, np.eye(3)[np.argmin(np.abs(along), axis=-1)])
    across = unit(np.where(across.any(axis=-1, keepdims=True), across, anything))
    matrix = np.zeros((*start.shape[:-1], 4, 4))
    matrix[..., :3, :3] = np.stack([across, along, cross(across, along)], axis=-1)
    matrix[..., :3, 3], matrix[..., 3, 3] = start, 1.0
    return matrix


def ball_by_proportion(fps: float, thigh: Array, shin: Array, foot: Array, up: Array) -> Array:
    """Estimated balls (F, L, 3) of feet without toe bones, fixed to the feet (F, L, 4, 4).

    A ball lies ahead of the ankle, in the direction of the knee, and below it, in the proportions of people.
    """
    hip, knee, ankle = (matrix[..., :3, 3] for matrix in (thigh, shin, foot))
    leg = np.median(length_of(knee - hip) + length_of(ankle - knee))
    hinge = continuous_hinge(fps, hip, knee, ankle, foot[..., :3, :3], cross(level_axes(foot, hip, up), up))
    ahead = unit(cross(up, hinge))
    return _fixed_to(foot, ankle + leg * (BALL_AHEAD * ahead - BALL_BELOW * up), ankle @ up)


def tip_by_proportion(foot: Array, toe: Array, ball: Array, up: Array) -> Array:
    """Estimated tips (F, L, 3) of toes, fixed to toe bones (F, L, 4, 4): ahead of balls by a share of the foot."""
    ahead = level_part(ball - foot[..., :3, 3], up)
    return _fixed_to(toe, ball + TOES_SHARE * ahead, ball @ up)


def level_axes(foot: Array, hip: Array, up: Array) -> Array:
    """The most level axis of each foot (F, L, 3), without height, pointing to where the hips (F, L, 3) go."""
    axes = level_part(np.swapaxes(foot[..., :3, :3], -1, -2), up)
    most = length_of(axes).mean(axis=0).argmax(axis=-1)
    axis = np.take_along_axis(axes, most[None, :, None, None], axis=2)[:, :, 0]
    way = np.sum(axis.mean(axis=0) * (hip[-1] - hip[0]), axis=-1, keepdims=True)
    return axis * np.where(way < 0.0, -1.0, 1.0)


def _fixed_to(matrices: Array, points: Array, height: Array) -> Array:
    """Points (F, L, 3) fixed to `matrices` (F, L, 4, 4) at the mean local place of `points` over the frames in which
    `height` (F, L) is low, because feet stand then.
    """
    low = height <= np.median(height, axis=0)
    local = move_points(inverse_of(matrices), points)
    mean = (local * low[..., None]).sum(axis=0) / low.sum(axis=0)[:, None]
    return move_points(matrices, np.broadcast_to(mean, points.shape))
