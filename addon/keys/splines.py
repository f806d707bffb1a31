# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of F-curves as cubic splines of (frame, value): how Blender reads two keys and their handles, and cuts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# So many points tell the shape of a piece.
SAMPLES = 17


def straight(start: Array, end: Array) -> Array:
    """Control points (4, 2) of a straight piece."""
    return start + np.linspace(0.0, 1.0, 4)[:, None] * (end - start)


def split(points: Array, frame: float) -> Array:
    """Control points (7, 2) of the two pieces into which `points` (4, 2) falls at `frame`."""
    points = shortened(points)
    t = _parameter(points[:, 0], frame)
    # De Casteljau's construction: the points on its two flanks are the control points of the halves.
    rows = [points]
    while len(rows[-1]) > 1:
        rows.append(rows[-1][:-1] + t * np.diff(rows[-1], axis=0))
    return np.array([row[0] for row in rows] + [row[-1] for row in rows[-2::-1]])


def stored(points: Array) -> Array:
    """The piece (4, 2) with the frames of its handles in single precision, as Blender stores them, and its shape kept.

    At frame 5000 the next number is 0.0005 frames away: handles moved by that alone would bend a steep piece. Their
    values make up for it, by least squares.
    """
    start, _, _, end = points
    frames = points[:, 0].copy()
    frames[1:3] = frames[1:3].astype(np.float32)
    weights = np.array([_weights(t) for t in np.linspace(0.0, 1.0, SAMPLES)])
    times, values = (weights @ points).T
    moved = np.array([_weights(_parameter(frames, time)) for time in times[1:-1]])
    wanted = values[1:-1] - moved[:, [0, 3]] @ [start[1], end[1]]
    handles = np.linalg.lstsq(moved[:, 1:3], wanted, rcond=None)[0]
    return np.column_stack([frames, [start[1], *handles, end[1]]])


def _weights(t: float) -> list[float]:
    """Bernstein's polynomials: how much each control point counts at a parameter."""
    r = 1.0 - t
    return [r**3, 3.0 * r * r * t, 3.0 * r * t * t, t**3]


def shortened(points: Array) -> Array:
    """The piece as Blender evaluates it: handles that together are longer than the piece are scaled down to fit."""
    start, first, second, end = points
    length = end[0] - start[0]
    total = abs(first[0] - start[0]) + abs(end[0] - second[0])
    if total <= length:
        return points
    share = length / total
    return np.array([start, start + share * (first - start), end + share * (second - end), end])


def _parameter(frames: Array, frame: float) -> float:
    """The spline parameter at which the piece passes `frame`, by bisection: frames rise along a piece."""
    start, first, second, end = frames.tolist()
    low, high = 0.0, 1.0
    for _ in range(54):  # as many as a double has bits
        t = 0.5 * (low + high)
        rest = 1.0 - t
        if rest**3 * start + 3.0 * rest * t * (rest * first + t * second) + t**3 * end < frame:
            low = t
        else:
            high = t
    return 0.5 * (low + high)
