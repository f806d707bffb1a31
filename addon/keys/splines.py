# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of F-curves as cubic Bezier curves of (frame, value): evaluating, cutting and fitting as Blender does it."""

from itertools import pairwise, product

import numpy as np
from ik2bone.arrays import Array
from numpy.typing import NDArray

# Parameters at which the misfit of a piece is measured. They are Chebyshev points, denser towards the ends, with which
# least squares keep the largest misfit small.
DENSER_AT_ENDS = 0.5 - 0.5 * np.cos(np.pi * np.arange(2, 15) / 16)


def straight(start: Array, end: Array) -> Array:
    """Control points (4, 2) of a straight piece."""
    return start + np.linspace(0.0, 1.0, 4)[:, None] * (end - start)


def split(points: Array, frame: float) -> tuple[Array, Array]:
    """The control points (4, 2) of the two parts of a piece that is cut at `frame`, rounded as Blender stores them."""
    first, second = halves(points, frame)
    return _stored(first, points), _stored(second, points)


def halves(points: Array, frame: float) -> tuple[Array, Array]:
    """The control points (4, 2) of the two parts of a piece that is cut at `frame`, by De Casteljau's construction."""
    rows = [shortened(points)]
    t = _parameters(rows[0][:, 0], np.array([frame]))
    while len(rows[-1]) > 1:
        rows.append(rows[-1][:-1] + t * np.diff(rows[-1], axis=0))
    rows[-1][0, 0] = frame
    return np.array([row[0] for row in rows]), np.array([row[-1] for row in rows[::-1]])


def has_room(points: Array) -> bool:
    """Whether no handle is longer than the piece. Cutting a piece with long handles may leave such handles."""
    return np.allclose(points, shortened(points), rtol=0.0, atol=1e-6 * (points[3, 0] - points[0, 0]))


def shortened(points: Array) -> Array:
    """The piece as Blender evaluates it: a handle longer than the piece is scaled down to the length of the piece."""
    start, first, second, end = points
    length = end[0] - start[0]
    shares = [length / max(length, abs(first[0] - start[0])), length / max(length, abs(end[0] - second[0]))]
    return np.array([start, start + shares[0] * (first - start), end + shares[1] * (second - end), end])


def fit(values: Array, rows: NDArray[np.intp]) -> tuple[Array, Array]:
    """Fit pieces between some `rows` to values (F, N) by least squares.

    Returns the values of the inner control points (G, 2, N), whose frames divide a piece into thirds, and the fitted
    values (F, N).
    """
    inner, shown = np.empty((len(rows) - 1, 2, values.shape[1])), values.copy()
    for piece, (start, end) in enumerate(pairwise(rows.tolist())):
        weights = _weights(np.linspace(0.0, 1.0, end - start + 1))
        even = straight(values[start], values[end])
        # The fit adds to a straight piece, because one or two frames do not determine both points.
        inner[piece] = even[1:3] + np.linalg.pinv(weights[:, 1:3]) @ (values[start : end + 1] - weights @ even)
        shown[start : end + 1] = weights[:, [0, 3]] @ even[[0, 3]] + weights[:, 1:3] @ inner[piece]
    return inner, shown


def _stored(half: Array, whole: Array) -> Array:
    """A part of a piece with the frames of its handles in single precision, as Blender stores them.

    At frame 5000 the spacing of numbers is 0.0005 frames, and a handle rounded by that would bend a steep piece. So
    every choice of neighbouring numbers is tried with handle values by least squares, and the best is taken. Curves of
    walks stay within 1e-6 up to frame 5000, and within 2e-6 at frame 10000.
    """
    frames = half[0, 0] + (half[3, 0] - half[0, 0]) * DENSER_AT_ENDS
    values = _values(shortened(whole), frames)
    times = _single_near(half[1:3, 0])
    fits = np.tile(half, (len(times), 1, 1))
    fits[:, 1:3, 0] = times
    weights = _weights(_parameters(fits[..., 0], frames))
    wanted = values - weights[..., [0, 3]] @ half[[0, 3], 1]
    fits[:, 1:3, 1] = (np.linalg.pinv(weights[..., 1:3]) @ wanted[..., None])[..., 0]
    misfits = np.abs((weights @ fits[..., 1:])[..., 0] - values).max(axis=-1)
    return fits[misfits.argmin()]


def _single_near(times: Array) -> Array:
    """All pairs (N, 2) of numbers in single precision that are nearest or next to two times."""
    near = times.astype(np.float32)
    rows = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return np.array(list(product(*np.transpose(rows))), float)


def _values(points: Array, frames: Array) -> Array:
    return _weights(_parameters(points[:, 0], frames)) @ points[:, 1]


def _weights(t: Array) -> Array:
    """The weights (..., 4) of the control points at some parameters (...): Bernstein polynomials."""
    r = 1.0 - t
    return np.stack([r**3, 3.0 * r * r * t, 3.0 * r * t * t, t**3], axis=-1)


def _parameters(times: Array, frames: Array) -> Array:
    """The parameters (..., F) at which pieces with control points at `times` (..., 4) reach some frames.

    They are found by bisection, because frames rise along a piece. The coefficients are in single precision, as in
    Blender, which rounds by 0.00001 frames on a piece that passes frame 512, and by 0.0001 past 4096.
    """
    a, b, c, d = np.moveaxis(times.astype(np.float32), -1, 0)[..., None]
    three, two = np.float32(3.0), np.float32(2.0)
    terms = (a, three * (b - a), three * (a - two * b + c), d - a + three * (b - c))
    start, slope, bend, twist = (term.astype(np.float64) for term in terms)
    t = np.full(np.broadcast_shapes(start.shape, frames.shape), 0.5)
    for power in range(2, 55):  # as many as a double has bits
        before = start + t * (slope + t * (bend + t * twist)) < frames
        t += np.where(before, 0.5**power, -(0.5**power))
    return t
