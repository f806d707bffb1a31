# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a COMBINE strip, which add rotations and locations to those of the strips under it.

Blender (tried with 4.2, 4.5, 5.0 and 5.2) multiplies the quaternions of such a strip on the right of those under it,
once both are normalized and the strip's angle is multiplied by its influence. All other properties are added component
by component, axis-angle rotations too. A property without a key under the strip counts with its default value there,
whatever its value in the pose.
"""

import numpy as np
from ik2bone import multiply
from ik2bone.arrays import Array
from ik2bone.rotations import length_of, unit

from . import rotations
from .channels import Channel

# Blender computes the angle of a strip's quaternion from its cosine in single precision, which has this step below 1.
# So the smallest half angles after 0 are 0.00035 and 0.00049.
STEP = 2.0**-24
# Angles (radians) may be rounded by this much, a tenth of the error in leg lengths that layers may have.
FINE = 1e-5


def neutral(channel: Channel) -> list[float]:
    """The value that changes nothing in a COMBINE strip."""
    size = channel.values.shape[1]
    return [1.0, 0.0, 0.0, 0.0] if channel.name == "rotation_quaternion" else [0.0] * size


def turns_between(mode: str, before: Array, after: Array) -> Array:
    """The quaternions (F, 4) that, multiplied on the right, lead from the rotations `before` (F, 3 or 4) to `after`."""
    start, end = (unit(rotations.to_quaternions(mode, values)) for values in (before, after))
    turns = multiply(start * [1.0, -1.0, -1.0, -1.0], end)
    turns = np.where(turns[:, :1] < 0.0, -turns, turns)
    return np.where(np.all(before == after, axis=1)[:, None], [1.0, 0.0, 0.0, 0.0], turns)


def difference(channel: Channel, mode: str, turns: Array) -> Channel:
    """The values of a strip that turn the rotation of a channel by quaternions (F, 4)."""
    if mode == "QUATERNION":
        return channel.with_values(_exactly_one_long(turns))
    after = rotations.beside(mode, multiply(rotations.to_quaternions(mode, channel.values), turns), channel.values)
    still = np.all(turns == [1.0, 0.0, 0.0, 0.0], axis=1)
    return channel.with_values(np.where(still[:, None], 0.0, after - channel.values))


def _exactly_one_long(turns: Array) -> Array:
    """Unit quaternions (F, 4) whose length in single precision is exactly 1, in whatever order squares are added.

    For another length Blender would round the cosine a second time. Of the components x, y and z Blender uses only the
    direction.
    """
    sine = length_of(turns[:, 1:])[:, None]
    return np.concatenate([turns[:, :1], unit(turns[:, 1:]) * np.sqrt(sine**2 + STEP)], axis=1)


def attainable(turns: Array, axes: Array) -> Array:
    """Quaternions (F, 4) that a strip can apply exactly: those given, turned further about `axes` (F, 3) where needed.

    The extra turn is at most 0.0007. It moves no joint if the axis leads from the bone's head to the next joint, in the
    bone's own space.
    """
    cosine = turns[:, 0]
    steps = np.round((1.0 - cosine) / STEP)
    angle = np.arctan2(length_of(turns[:, 1:]), cosine)
    rough = 2.0 * np.abs(np.arccos(1.0 - steps * STEP) - angle) > FINE
    twist, twisted = _twist(cosine, np.sum(turns[:, 1:] * axes, axis=1))
    rough &= np.any(axes != 0.0, axis=1)
    twist, steps = np.where(rough, twist, 0.0), np.where(rough, twisted, steps)
    turns = multiply(turns, np.column_stack([np.cos(twist), np.sin(twist)[:, None] * axes]))
    sine = np.sqrt(steps * STEP * (2.0 - steps * STEP))
    return np.column_stack([1.0 - steps * STEP, sine[:, None] * unit(turns[:, 1:])])


def _twist(cosine: Array, along: Array) -> tuple[Array, Array]:
    """Half the angles (F,) of the least turns about axes that make the cosine of the half angle a whole number of STEPs
    less than 1, and this number (F,).

    `along` is the component of the vector part along the axis: after a twist the cosine is `reach * cos(present +
    twist)`.
    """
    reach, present = np.hypot(cosine, along), np.arctan2(along, cosine)
    lower = np.floor((1.0 - cosine) / STEP)
    steps = np.stack([lower, lower + 1.0])
    wanted = (1.0 - steps * STEP) / reach
    twists = np.copysign(np.arccos(np.minimum(wanted, 1.0)), present) - present
    chosen = np.where((wanted[0] <= 1.0) & (np.abs(twists[0]) < np.abs(twists[1])), 0, 1)
    rows = np.arange(len(cosine))
    return twists[chosen, rows], steps[chosen, rows]
