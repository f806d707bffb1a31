# SPDX-License-Identifier: MIT
"""Tools over time: speeds, runs of frames, averages, smooth curves between bounds, and fades that match velocity."""

from functools import lru_cache
from math import prod

import numpy as np

from . import _core
from ._core import fill_dips, smooth_within
from .arrays import Array, Mask

# Peak of the second derivative of `smoothstep`.
SHARPEST = 10.0 / np.sqrt(3.0)


def odd_window(seconds: float, fps: float) -> int:
    """The number of frames in a window of `seconds`, odd and at least 1."""
    return 2 * round(0.5 * seconds * fps) + 1


def velocity(points: Array, fps: float, window: float = 0.04) -> Array:
    """Velocity (F, ...) of points over time: the slope of a line fitted to `window` seconds around each frame.

    A fit is used instead of a difference, because the noise of motion capture grows with the frame rate. The ends
    continue the path point-symmetrically, so a constant velocity stays constant up to the first and last frame.
    """
    half, count = max(1, round(0.5 * window * fps)), len(points)
    padded, slope = _continued(points, half), np.zeros(points.shape)
    for lag in range(1, half + 1):
        slope += lag * (padded[half + lag :][:count] - padded[half - lag :][:count])
    return slope * (3.0 * fps / (half * (half + 1) * (2 * half + 1)))


def _continued(points: Array, half: int) -> Array:
    steps = np.arange(1, half + 1)
    before, after = (points.take(rows, 0, mode="clip") for rows in (steps[::-1], len(points) - 1 - steps))
    return np.concatenate([2 * points[:1] - before, points, 2 * points[-1:] - after])


def _repeated(values: Array, half: int) -> Array:
    return values[np.minimum(np.maximum(np.arange(-half, len(values) + half), 0), len(values) - 1)]


def hann_average(values: Array, window: int) -> Array:
    """Average (F, ...) with a raised-cosine `window` (frames, odd). Beyond the ends the outer values repeat."""
    return _weighed(_repeated(values, window // 2), window)


def smoothed(values: Array, window: int) -> Array:
    """As `hann_average`, but the ends continue point-symmetrically: a constant velocity stays to the last frame."""
    return _weighed(_continued(values, window // 2), window)


def _weighed(padded: Array, window: int) -> Array:
    if window < 3:
        return padded
    averages = np.empty((len(padded) - window + 1, *padded.shape[1:]))
    columns = zip(averages.reshape(len(averages), -1).T, padded.reshape(len(padded), -1).T, strict=True)
    for average, column in columns:
        average[...] = np.correlate(column, _hann_weights(window), "valid")
    return averages


@lru_cache
def _hann_weights(window: int) -> Array:
    """The weights (window,) of a raised cosine, whose sum is 1."""
    weights = np.hanning(window + 2)[1:-1]
    return np.asarray(weights / weights.sum())


def running_maximum(values: Array, window: int) -> Array:
    """The largest of the values (F, ...) within a `window` (frames, odd) around each frame."""
    largest, width = _repeated(values, window // 2), 1
    while width < window:
        step = min(width, window - width)
        largest, width = np.maximum(largest[:-step], largest[step:]), width + step
    return largest


def smooth_cover(values: Array, window: int) -> Array:
    """A smooth curve (F, ...) nowhere less than the values: their running maximum, averaged over the same window."""
    return hann_average(running_maximum(values, window), window)


def quantile(values: Array, share: float) -> Array:
    """The quantile of values (N, ...) for a `share` from 0 to 1. `numpy.quantile` takes ten times as long for few."""
    return quantiles(values, share)[0]


def quantiles(values: Array, *shares: float) -> list[Array]:
    """As `quantile`, for some `shares`."""
    last, ranked = len(values) - 1, np.array(values)
    places = [(share * last, int(share * last)) for share in shares]
    ranked.partition([min(row, last) for _, low in places for row in (low, low + 1)], axis=0)
    return [
        np.asarray(ranked[low] + (place - low) * (ranked[min(low + 1, last)] - ranked[low])) for place, low in places
    ]


def runs(mask: Mask) -> list[tuple[int, int]]:
    """Runs of True in a mask (F,): pairs of first frame and the frame after the last."""
    return [(start, end) for _, start, end in column_runs(mask)]


def column_runs(mask: Mask) -> list[tuple[int, int, int]]:
    """The `runs` of every column of a mask (F, ...), as column number, first frame and the frame after the last. Three
    times faster than one column at a time.
    """
    count = len(mask) + 2
    padded = np.zeros((prod(mask.shape[1:]), count), bool)
    padded[:, 1:-1] = mask.reshape(len(mask), len(padded)).T
    flat = padded.ravel()
    edges = (flat[1:] != flat[:-1]).nonzero()[0].tolist()
    return [(*divmod(start, count), end % count) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def smoothstep(t: Array) -> Array:
    """Quintic from 0 to 1 over t in [0, 1], first and second derivatives zero at both ends (Perlin, 2002)."""
    t = np.minimum(np.maximum(t, 0.0), 1.0)
    return t * t * t * (10.0 + t * (6.0 * t - 15.0))


def come_to_rest(t: Array) -> Array:
    """Quintic over t in [0, 1] from 0 with slope 1 to 0 with slope 0; its second derivative is zero at both ends."""
    t = np.minimum(np.maximum(t, 0.0), 1.0)
    return t - t**3 * (6.0 - t * (8.0 - 3.0 * t))


def fade(values: Array, known: Mask, length: float, rates: Array | None = None) -> Array:
    """Return the `values` (F, L, 3) where they are `known` (F, L), and fades out of them and into them elsewhere.

    A fade takes `length` frames, or the whole gap if that is shorter. Next to the known values it changes by `rates`
    (F, L, 3) a frame: by default the first and last steps of each run of known values.
    """
    if known.all():
        return values
    index, rates = np.arange(len(known))[:, None], _end_rates(values, known) if rates is None else rates
    last = np.maximum.accumulate(np.where(known, index, -1))
    following = np.minimum.accumulate(np.where(known, index, len(known))[::-1])[::-1]
    time = np.minimum(max(length, 1.0), np.where((last < 0) | (following == len(known)), np.inf, following - last))
    faded = np.where(known[..., None], values, 0.0)
    for sign, edge in ((1.0, last), (-1.0, following)):
        rows, legs = np.nonzero(~known & (edge >= 0) & (edge < len(known)))
        frames, edges = time[rows, legs, None], edge[rows, legs]
        share = np.abs(rows - edges)[:, None] / frames
        faded[rows, legs] += (1.0 - smoothstep(share)) * values[edges, legs]
        faded[rows, legs] += sign * frames * come_to_rest(share) * rates[edges, legs]
    return faded


def _end_rates(values: Array, known: Mask) -> Array:
    """The steps (F, L, 3) of the values from frame to frame, at the ends of the runs of `known` values (F, L)."""
    rates, both = np.zeros_like(values), known[1:] & known[:-1]
    steps = np.where(both[..., None], np.diff(values, axis=0), 0.0)
    rates[:-1] = steps
    rates[1:][both] = steps[both]
    return rates


def between(values: Array, known: Mask) -> Array:
    """The values (F, C), and those between the rows that are `known` (F,) on straight lines from one to the next."""
    time, rows, lines = np.arange(len(known)), known.nonzero()[0], np.empty(values.shape)
    for line, column in zip(lines.T, values[rows].T, strict=True):
        line[...] = np.interp(time, rows, column)
    return lines


def halved(values: Array) -> Array:
    """Values (2 F - 1, ...) on the frames of `values` (F, ...) and halfway between, on cubics with the slopes of
    Catmull and Rom (1974).
    """
    padded, finer = _continued(values, 1), np.empty((2 * len(values) - 1, *values.shape[1:]))
    slopes = 0.5 * (padded[2:] - padded[:-2])
    finer[::2] = values
    finer[1::2] = 0.5 * (values[:-1] + values[1:]) + 0.125 * (slopes[:-1] - slopes[1:])
    return finer


def smooth_between(
    wish: Array,
    fps: float,
    slow: float,
    floor: Array | float = -np.inf,
    ceiling: Array | float = np.inf,
    weight: Array | float = 1.0,
) -> Array:
    """The curves x (F,) or (F, C) that minimise the sum of weight (x - wish)^2 + slow^4 x''^2, with floor <= x <=
    ceiling.

    `slow` is a time (s): changes of the wish that are faster are smoothed away. `wish` has the shape of x, to which
    floor, ceiling and weight broadcast. Weights are from 0 to about 1, and at least two are positive. Where floor
    and ceiling cross, the ceiling counts. The optimum is exact, see native/core/curves.h.
    """
    rows = np.empty((4, prod(wish.shape[1:]), len(wish)))
    columns = rows.swapaxes(1, 2).reshape(4, *wish.shape)
    for column, values in zip(columns, (wish, weight, floor, ceiling), strict=True):
        column[...] = values
    smooth_within(rows, (slow * fps) ** 4)
    return rows[0].T.reshape(wish.shape)


def smooth_path(wish: Array, fps: float, slow: float, weight: Array, inside: Array, planes: Array) -> Array:
    """The path x (F, 3) that minimises the sum of dot(x - wish, weight (x - wish)) + slow^4 |x''|^2, on one side of
    planes.

    `slow` is a time (s), as in `smooth_between`. The weights (F, 3, 3) are symmetric with no negative eigenvalues. Each
    of the `planes` (F, P, 4) has a normal and a limit, which dot(normal, x) does not exceed; infinity for no plane. The
    points `inside` (F, 3) do not exceed the limits; others move as far as these points. The optimum is exact, see
    native/core/curves.h.
    """
    parts = (wish, weight, inside, planes)
    rows = np.concatenate([part.reshape(len(wish), prod(part.shape[1:])) for part in parts], axis=1)
    _core.smooth_path(rows, (slow * fps) ** 4)
    return rows[:, :3].copy()


def without_dips(values: Array, fps: float, most: Array | float, moves: Mask | None = None) -> Array:
    """The lowest curves (F, L) nowhere below `values` (F, L) whose second derivatives are at most `most` (L,).

    `most` has the unit of the values / s^2. Peaks keep their values. Closed form, see native/core/curves.h. If `moves`
    (F, L) is given, all other values stay, and what lies between them is filled run by run.
    """
    filled, limits = np.array(values.T, order="C"), np.full(values.shape[1], most) / fps**2
    spans = [(leg, 0, len(values)) for leg in range(len(filled))] if moves is None else column_runs(moves)
    for leg, start, end in spans:
        fill_dips(filled[leg, max(start - 1, 0) : end + 1], limits[leg])
    return filled.T
