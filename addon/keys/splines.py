# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of F-curves as cubic splines of (frame, value): how Blender reads two keys and their handles, and cuts."""

from itertools import pairwise, product

import numpy as np
from ik2bone.arrays import Array
from numpy.typing import NDArray

# Places that tell the shape of a piece, denser towards its ends as Chebyshev's points are, at which least squares keep
# the largest misfit small.
DENSER_AT_ENDS = 0.5 - 0.5 * np.cos(np.pi * np.arange(2, 15) / 16)


def straight(start: Array, end: Array) -> Array:
    """Control points (4, 2) of a straight piece."""
    return start + np.linspace(0.0, 1.0, 4)[:, None] * (end - start)


def split(points: Array, frame: float) -> tuple[Array, Array]:
    """Control points (4, 2) of the two pieces into which `points` falls at `frame`, as Blender can store them."""
    first, second = halves(points, frame)
    return _stored(first, points), _stored(second, points)


def halves(points: Array, frame: float) -> tuple[Array, Array]:
    """The same without regard to what can be stored, by De Casteljau's construction."""
    rows = [shortened(points)]
    t = _parameters(rows[0][:, 0], np.array([frame]))
    while len(rows[-1]) > 1:
        rows.append(rows[-1][:-1] + t * np.diff(rows[-1], axis=0))
    rows[-1][0, 0] = frame
    return np.array([row[0] for row in rows]), np.array([row[-1] for row in rows[::-1]])


def has_room(points: Array) -> bool:
    """Whether no handle is longer than the piece, as those may be into which long handles are cut."""
    return np.allclose(points, shortened(points), rtol=0.0, atol=1e-6 * (points[3, 0] - points[0, 0]))


def shortened(points: Array) -> Array:
    """The piece as Blender evaluates it: each handle that is longer than the piece is scaled down to its length."""
    start, first, second, end = points
    length = end[0] - start[0]
    shares = [length / max(length, abs(first[0] - start[0])), length / max(length, abs(end[0] - second[0]))]
    return np.array([start, start + shares[0] * (first - start), end + shares[1] * (second - end), end])


def fit(values: Array, rows: NDArray[np.intp]) -> tuple[Array, Array]:
    """The values of the inner control points (G, 2, N) of pieces between some rows of values (F, N), by least squares,
    and what they make of the values. The inner points lie at a third and two thirds of the frames of a piece.
    """
    inner, shown = np.empty((len(rows) - 1, 2, values.shape[1])), values.copy()
    for piece, (start, end) in enumerate(pairwise(rows.tolist())):
        weights = _weights(np.linspace(0.0, 1.0, end - start + 1))
        even = straight(values[start], values[end])
        # From a straight piece on, because one or two frames do not tell both points.
        inner[piece] = even[1:3] + np.linalg.pinv(weights[:, 1:3]) @ (values[start : end + 1] - weights @ even)
        shown[start : end + 1] = weights[:, [0, 3]] @ even[[0, 3]] + weights[:, 1:3] @ inner[piece]
    return inner, shown


def _stored(half: Array, whole: Array) -> Array:
    """A part of a piece with the frames of its handles in single precision, as Blender stores them.

    At frame 5000 the next number is 0.0005 frames away: handles moved by that alone would bend a steep piece. Of the
    numbers near, those are taken whose values, by least squares, make up best for the difference. Curves of walks stay
    within 1e-6 so up to there, and within 2e-6 at frame 10000.
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
    """Every choice (N, 2) of numbers in single precision next to two times."""
    near = times.astype(np.float32)
    rows = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return np.array(list(product(*np.transpose(rows))), float)


def _values(points: Array, frames: Array) -> Array:
    return _weights(_parameters(points[:, 0], frames)) @ points[:, 1]


def _weights(t: Array) -> Array:
    """Bernstein's polynomials: how much each control point counts at some parameters (..., 4)."""
    r = 1.0 - t
    return np.stack([r**3, 3.0 * r * r * t, 3.0 * r * t * t, t**3], axis=-1)


def _parameters(times: Array, frames: Array) -> Array:
    """The spline parameters (..., F) at which pieces with points at `times` (..., 4) pass some frames, by bisection:
    frames rise along a piece.

    The coefficients are in single precision, as in Blender, which rounds them where the numbers that hold frames get
    coarser: by 0.00001 frames on a piece that goes past frame 512, by 0.0001 past 4096.
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
