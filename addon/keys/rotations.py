# SPDX-License-Identifier: GPL-3.0-or-later
"""A bone's rotation channels as quaternions and back, in any rotation mode, over all frames at once.

Channels hold (w, x, y, z), (angle, x, y, z), or X, Y and Z angles that are applied in the order of the mode.
Quaternions are (w, x, y, z). `before` is the value of the channels just before the first frame.
"""

import numpy as np
from ik2bone import multiply
from ik2bone.arrays import Array
from ik2bone.rotations import unit

# Below this cosine of the middle angle, the first and the last angle turn about the same axis (double precision).
GIMBAL_LOCK = 1e-9


def property_of(mode: str) -> str:
    """The property of a pose bone that holds its rotation in a mode."""
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")


def to_quaternions(mode: str, channels: Array) -> Array:
    """The quaternions (..., 4) of channels (..., 3 or 4). Those of quaternion channels keep their length."""
    if mode == "QUATERNION":
        return channels
    if mode == "AXIS_ANGLE":
        half = channels[..., :1] / 2.0
        return np.concatenate([np.cos(half), np.sin(half) * unit(channels[..., 1:])], axis=-1)
    first, middle, last = (_about("XYZ".index(axis), channels) for axis in mode)
    return multiply(last, multiply(middle, first))


def from_quaternions(mode: str, quaternions: Array, before: Array) -> Array:
    """The channels of quaternions (F, B, 4), continued from `before` (B, 3 or 4) without flips and whole turns."""
    if mode == "QUATERNION":
        return _same_side(quaternions, before)
    if mode == "AXIS_ANGLE":
        each = zip(quaternions.swapaxes(0, 1), before, strict=True)
        return np.stack([_axis_angles(*bone) for bone in each], axis=1)
    return _eulers(mode, unit(quaternions), before)


def beside(mode: str, quaternions: Array, values: Array) -> Array:
    """The channels of quaternions (F, 4), on each frame those nearest to the present channels `values` (F, 3 or 4)."""
    if mode == "QUATERNION":
        return quaternions * _side(quaternions, values)
    if mode == "AXIS_ANGLE":
        turn = unit(quaternions)
        sine = np.linalg.norm(turn[:, 1:], axis=1, keepdims=True)
        axes = np.where(sine > 0.0, unit(turn[:, 1:]), unit(values[:, 1:]))
        axes = axes * _side(axes, values[:, 1:])
        angles = 2.0 * np.arctan2(np.sum(turn[:, 1:] * axes, axis=1), turn[:, 0])
        return np.column_stack([_whole_turns_near(angles, values[:, 0]), axes])
    both = _whole_turns_near(_euler_candidates(mode, unit(quaternions)), values[:, None])
    nearest = np.abs(both - values[:, None]).sum(axis=-1).argmin(axis=1)
    return both[np.arange(len(both)), nearest]


def _side(vectors: Array, others: Array) -> Array:
    """The sign (F, 1), 1 or -1, by which a vector points to the same side as the other vector of its row."""
    return np.where(np.sum(vectors * others, axis=1, keepdims=True) < 0.0, -1.0, 1.0)


def _whole_turns_near(angles: Array, others: Array | float) -> Array:
    return angles + 2.0 * np.pi * np.round((others - angles) / (2.0 * np.pi))


def _about(axis: int, angles: Array) -> Array:
    """Quaternions (..., 4) about one coordinate axis, by the angle of this axis in `angles` (..., 3)."""
    half, turns = angles[..., axis] / 2.0, np.zeros((*angles.shape[:-1], 4))
    turns[..., 0], turns[..., 1 + axis] = np.cos(half), np.sin(half)
    return turns


def _same_side(vectors: Array, before: Array) -> Array:
    """Each vector or its opposite, so that no vector points away from the one before it."""
    chain = np.concatenate([before[None], vectors])
    apart = np.sum(chain[1:] * chain[:-1], axis=-1) < 0.0
    return vectors * np.where(np.cumsum(apart, axis=0) % 2 == 1, -1.0, 1.0)[..., None]


def _axis_angles(quaternions: Array, before: Array) -> Array:
    sine = np.linalg.norm(quaternions[:, 1:], axis=1)
    known = np.where(sine > 0.0, np.arange(1, len(sine) + 1), 0)
    # A rotation by zero has no axis; it takes that of the frame before.
    axes = np.concatenate([unit(before[None, 1:]), unit(quaternions[:, 1:])])[np.maximum.accumulate(known)]
    sided = _same_side(axes, before[1:])
    angles = 2.0 * np.arctan2(np.sum(quaternions[:, 1:] * sided, axis=1), quaternions[:, 0])
    return np.column_stack([np.unwrap(np.append(before[0], angles))[1:], sided])


def _eulers(order: str, quaternions: Array, before: Array) -> Array:
    both = _euler_candidates(order, quaternions.reshape(-1, 4)).reshape(*quaternions.shape[:2], 2, 3)
    first, second = both[:, :, 0], both[:, :, 1]
    last = np.concatenate([before[None], first[:-1]])
    # From a first candidate to the second one of the next frame it is as far as from the second to the next first one.
    # So where to swap does not depend on which of the two is followed, and all swaps are found at once.
    swaps = _ways(second, last) < _ways(first, last)
    chosen = np.where((np.cumsum(swaps, axis=0) % 2 == 1)[..., None], second, first)
    return np.unwrap(np.concatenate([before[None], chosen]), axis=0)[1:]


def _ways(angles: Array, others: Array) -> Array:
    """How far it is (...) from some Euler angles (..., 3) to others, whole turns aside."""
    return np.asarray(np.abs(_whole_turns_near(angles - others, 0.0)).sum(axis=-1))


def _euler_candidates(order: str, quaternions: Array) -> Array:
    """The two triples of Euler angles (F, 2, 3) for the rotation of each unit quaternion (F, 4), up to whole turns.

    They are stored angle by angle, which makes later operations on them twice as fast.
    """
    i, j, k = ("XYZ".index(axis) for axis in order)
    # For an odd permutation of the axes, the angles are those of the mirrored rotation with the opposite sign.
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    w, *axes = np.ascontiguousarray(quaternions.T) * [[sign], [1.0], [1.0], [1.0]]
    x, y, z = axes[i], axes[j], axes[k]
    # Sine and cosine of the last angle, both multiplied by the cosine of the middle angle.
    rise, run = 2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)
    cosine = np.hypot(rise, run)
    locked = cosine < GIMBAL_LOCK
    first = np.where(locked, w * x - y * z, w * x + y * z), np.where(locked, x * x + z * z, x * x + y * y)
    angles = np.empty((3, 2, len(quaternions)))
    angles[i, 0] = sign * np.arctan2(2.0 * first[0], 1.0 - 2.0 * first[1])
    angles[j, 0] = sign * np.arctan2(2.0 * (w * y - x * z), cosine)
    angles[k, 0] = np.where(locked, 0.0, sign * np.arctan2(rise, run))
    angles[:, 1] = angles[:, 0] + np.pi
    angles[j, 1] = np.pi - angles[j, 0]
    return angles.transpose(2, 1, 0)
