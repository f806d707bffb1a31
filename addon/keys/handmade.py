# SPDX-License-Identifier: GPL-3.0-or-later
"""Telling keys that a run has made from keys that people made or changed. Keys of a run are signed by their values."""

import numpy as np
from bpy.types import FCurve
from ik2bone.arrays import Array, Mask
from numpy.typing import NDArray

from .keyframes import Columns, Frames, Keys, column, inside, number_of, put, read, times

# The only interpolation that uses amplitude and period.
WAVE = "ELASTIC"
# The period that signs keys of value zero: the smallest normal number, because unsigned keys have the period zero.
NO_VALUE = np.finfo(np.float32).tiny


def find_handmade(curve: FCurve, source: FCurve | None, frames: Frames) -> tuple[Array, Array]:
    """The frames of keys made by hand, and of keys copied from the source, between the first and last of `frames`.

    A key counts as made by hand if a run made it and somebody changed it since, or if it is neither of a tool nor in
    the source.
    """
    keys = {name: column(curve, name) for name in ("co", "type", "period")}
    points, generated = keys["co"], keys["type"] == number_of("type", "GENERATED")
    if generated.all() and (keys["period"] == signature(keys)).all():
        # The usual case: all keys are as a run left them.
        return points[:0, 0], points[:0, 0]
    keys |= {name: column(curve, name) for name in ("amplitude", "interpolation")}
    rows = inside(points[:, 0], frames)
    others, copies = rows & ~generated, np.zeros(len(rows), bool)
    if source is not None and others.any():
        # Frame and value of a key are compared as one integer, which is 10 times as fast.
        own, known = (both.view(np.int64)[:, 0] for both in (points, column(source, "co")))
        copies = others & np.isin(own, known)
    return points[(rows & _are_changed(keys)) | (others & ~copies), 0], points[copies, 0]


def mark_generated(curve: FCurve, frame: int) -> None:
    """Sign the key on a frame and make its type GENERATED; Blender keeps the old type when a key is inserted again."""
    keys, here = read(curve), inside(times(curve), np.array([frame]))
    keys["type"][here] = number_of("type", "GENERATED")
    keys[here] = sign(keys[here])
    # The type is set in bulk, because setting that of a single key evaluates the whole action again.
    put(curve, keys, ("type", "amplitude", "period"))


def sign(keys: Keys) -> Keys:
    """Store the values of keys in their periods, which only elastic interpolation uses.

    Blender keeps the type of a key when another key is inserted over it, so that only the period shows the change.
    """
    plain = ~_are_waves(keys)
    keys["amplitude"][plain] = 0.0
    keys["period"][plain] = signature(keys)[plain]
    return keys


def signature(keys: Columns) -> NDArray[np.float32]:
    """The periods of signed keys."""
    values = keys["co"][:, 1]
    return np.where(values == 0.0, NO_VALUE, values)


def _are_changed(keys: Columns) -> Mask:
    """Which keys were signed and have other values now. Keys that other tools insert have an amplitude."""
    signed = (keys["amplitude"] == 0.0) & (keys["period"] != 0.0) & ~_are_waves(keys)
    return signed & (keys["period"] != signature(keys))


def _are_waves(keys: Columns) -> Mask:
    """Which keys have an interpolation that uses amplitude and period."""
    return keys["interpolation"] == number_of("interpolation", WAVE)
