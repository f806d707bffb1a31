# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that a run has made, and signs with their values, told from those that people made or changed."""

import numpy as np
from bpy.types import FCurve
from ik2bone.arrays import Array, Mask
from numpy.typing import NDArray

from .keyframes import Columns, Frames, Keys, column, inside, number_of, put, read, times

# Pieces of this kind alone use amplitude and period.
WAVE = "ELASTIC"
# The period of keys whose value is zero: the smallest normal number, which tells them from keys without any.
NO_VALUE = np.finfo(np.float32).tiny


def find_handmade(curve: FCurve, source: FCurve | None, frames: Frames) -> tuple[Array, Array]:
    """The frames of keys between the first and the last of `frames` that a tool made and somebody changed since, or
    that neither a tool made nor the source has too; and the frames of those that the source has.
    """
    keys = {name: column(curve, name) for name in ("co", "type", "period")}
    points, generated = keys["co"], keys["type"] == number_of("type", "GENERATED")
    if generated.all() and (keys["period"] == signature(keys)).all():
        # As a run left them, which is what it finds most often.
        return points[:0, 0], points[:0, 0]
    keys |= {name: column(curve, name) for name in ("amplitude", "interpolation")}
    rows = inside(points[:, 0], frames)
    others, copies = rows & ~generated, np.zeros(len(rows), bool)
    if source is not None and others.any():
        # Frame and value of a key as one number, which makes the search 10 times as fast.
        own, known = (both.view(np.int64)[:, 0] for both in (points, column(source, "co")))
        copies = others & np.isin(own, known)
    return points[(rows & _are_changed(keys)) | (others & ~copies), 0], points[copies, 0]


def mark_generated(curve: FCurve, frame: int) -> None:
    """Give the key on a frame, which keeps the type it had before it was inserted again, the type of our keys."""
    keys, here = read(curve), inside(times(curve), np.array([frame]))
    keys["type"][here] = number_of("type", "GENERATED")
    keys[here] = sign(keys[here])
    # In bulk, because setting the type of a single key has the whole action evaluated again.
    put(curve, keys, ("type", "amplitude", "period"))


def sign(keys: Keys) -> Keys:
    """Note the values of keys in their periods, which pieces without waves do not use.

    Blender keeps the type of a key over which another is inserted, so that only this tells that a key was changed.
    """
    plain = ~_are_waves(keys)
    keys["amplitude"][plain] = 0.0
    keys["period"][plain] = signature(keys)[plain]
    return keys


def signature(keys: Columns) -> NDArray[np.float32]:
    """What signed keys have for a period."""
    values = keys["co"][:, 1]
    return np.where(values == 0.0, NO_VALUE, values)


def _are_changed(keys: Columns) -> Mask:
    """Which keys were signed and have other values now; keys that other tools insert have an amplitude."""
    signed = (keys["amplitude"] == 0.0) & (keys["period"] != 0.0) & ~_are_waves(keys)
    return signed & (keys["period"] != signature(keys))


def _are_waves(keys: Columns) -> Mask:
    """Which keys begin pieces that use amplitude and period."""
    return keys["interpolation"] == number_of("interpolation", WAVE)
