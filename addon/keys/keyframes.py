# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading and setting all keys of an F-curve in bulk, each attribute as a column of a structured array."""

from collections.abc import Mapping, Sequence
from functools import cache

import bpy
import numpy as np
from bpy.types import FCurve
from ik2bone.arrays import Array, Mask
from numpy.typing import NDArray

Frames = NDArray[np.int64]
# Blender treats keys that are closer than this (frames) as one key.
SAME_FRAME = 0.01
# The stored attributes of a key, in Blender's own types; reading them into other types takes seven times as long.
KEY = np.dtype(
    [
        *((name, np.float32, 2) for name in ("co", "handle_left", "handle_right")),
        *((name, np.float32) for name in ("amplitude", "back", "period")),
        *((name, np.uint8) for name in ("interpolation", "easing", "type", "handle_left_type", "handle_right_type")),
        *((name, np.bool_) for name in ("select_control_point", "select_left_handle", "select_right_handle")),
    ]
)
# Keys as a structured array of type KEY.
Keys = NDArray[np.void]
# Keys as a structured array, or as a dictionary with some of the attributes.
Columns = Keys | Mapping[str, NDArray]
HANDLES = ("handle_left", "handle_right")


def times(curve: FCurve) -> Array:
    """The frames (K,) of the curve's keys."""
    return column(curve, "co")[:, 0].astype(float)


def whole(frame: float) -> float:
    """The whole frame that this frame is treated as, or the frame itself: files with times in seconds round them."""
    nearest = float(np.round(frame))
    return nearest if abs(frame - nearest) < SAME_FRAME else frame


def inside(keyed: NDArray, frames: Frames) -> Mask:
    """Which of the times of keys in `keyed` lie between the first and the last of `frames`."""
    return (keyed > frames[0] - SAME_FRAME) & (keyed < frames[-1] + SAME_FRAME)


def read(curve: FCurve, names: Sequence[str] = KEY.names) -> Keys:
    """The curve's keys with all or some of their attributes."""
    keys = np.empty(len(curve.keyframe_points), [(name, KEY[name]) for name in names])
    for name in names:
        keys[name] = column(curve, name)
    return keys


def column(curve: FCurve, name: str) -> NDArray:
    """One attribute of all keys."""
    points, kind = curve.keyframe_points, KEY[name]
    values = np.empty((len(points), *kind.shape), kind.base)
    points.foreach_get(name, values.reshape(-1))
    return values


def put(curve: FCurve, keys: Columns, names: Sequence[str]) -> None:
    """Set some attributes of all keys."""
    points = curve.keyframe_points
    for name in names:
        points.foreach_set(name, np.ascontiguousarray(keys[name]).reshape(-1))


@cache
def number_of(name: str, item: str | bool) -> int:
    """Blender's number for an item of an enumeration; a boolean as it is."""
    return item if isinstance(item, bool) else bpy.types.Keyframe.bl_rna.properties[name].enum_items[item].value
