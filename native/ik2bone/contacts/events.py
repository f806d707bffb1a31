# SPDX-License-Identifier: MIT
"""Gait events: the frames of heel strike and toe-off, found from paths, since smoothed speeds show them late."""

from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..arrays import Array, Mask
from ..curves import column_runs, quantile, velocity
from ..rotations import length_of
from .paths import REST, WINDOWS, Feet, tremble
from .stance import HASTY, LEAST_CONTACT, STEP, Stance, half_step, part_stances

# A path within this distance (leg lengths) of a straight line comes from a formula or an animator, and the part has
# left on the first frame off the line. Paths in single precision, far from the origin, are as rough.
ON_LINE = 2e-5
# A part rests if it gets no farther than that in this time (s), or from one frame to the next. Recorded clips have up
# to 120 frames a second. In shorter times, parts that turn round or only slow down get no farther either.
MOMENT = 1.0 / 120.0


def refined(feet: Feet, slow: Mask) -> Mask:
    """Contacts (F, L, 2) from heel strike to toe-off, from the frames (F, L, 2) on which heels and balls are slow."""
    stands = np.zeros_like(slow)
    back = feet.reversed()
    for run in part_stances(slow):
        mirrored = run._replace(start=feet.frames - run.end, end=feet.frames - run.start)
        first = feet.frames - _left(back, slow[::-1], mirrored)
        stands[first : _left(feet, slow, run), run.leg, run.part] = True
    stands |= _rolled_off(feet, stands) | _rolled_off(back, stands[::-1])[::-1]
    return stands | _loaded(feet, stands)


def _left(feet: Feet, slow: Mask, run: Stance) -> int:
    """The frame after the last one on which the part of a slow run stands."""
    if run.end == feet.frames:
        return run.end
    # A part takes at most `LEAST_CONTACT` from rest to the speed that ends its contact, or half a step if the other
    # part holds the foot, as the part then rolls up slowly. A part that creeps for longer slides.
    held = bool(slow[run.end, run.leg].any())
    if left := _off_line(feet, run):
        return left
    speeds = feet.speeds[:, run.leg, run.part]
    noise = tremble(feet.noise, feet.half, feet.fps)
    rest = max(REST, 2.0 * noise, 1.3 * float(quantile(speeds[run.start : run.end], 0.5)))
    early = max(run.start, run.end - max(1, round((0.5 * STEP if held else LEAST_CONTACT) * feet.fps)))
    resting = np.flatnonzero(speeds[early : run.end] <= rest)
    if not held and not len(resting):
        return run.end
    return _departure(feet, run, early + int(resting[-1]) if len(resting) else early)


def held_while_still(feet: Feet, slow: Mask) -> Mask:
    """The slow frames (F, L, 2), with other ends for parts that rest exactly for some frames, as in clips by animators
    and by formulas: these leave the ground when the clip shows it. Parts that creep along the ground or tremble are
    best held.
    """
    count = max(1, round(MOMENT * feet.fps))
    rests = length_of(feet.paths[count:] - feet.paths[:-count]) < ON_LINE
    held = slow.copy()
    for run in part_stances(slow):
        still = run.start + rests[run.start : max(run.start, run.end - count), run.leg, run.part].nonzero()[0]
        # The shortest contact has more steps of this length. Noise makes a part rest for fewer now and then.
        if len(still) > max(1, LEAST_CONTACT * feet.fps - 1 - count):
            held[run.cells] = False
            path, heights = feet.paths[:, run.leg, run.part], feet.heights[:, run.leg, run.part]
            first, last = int(still[0]), int(still[-1])
            begin = first + 1 - _rest(path[first::-1], heights[run.start : first + 1][::-1])
            held[begin : last + _rest(path[last:], heights[last : run.end]), run.leg, run.part] = True
    return held


def _rest(path: Array, heights: Array) -> int:
    """For how many frames a part on a path (F, 3) stays near its first place, where it rests, or creeps from there
    along the ground or down while it is slow, at heights (N,). It may stay for longer than it is slow, since speeds are
    smoothed.
    """
    seen = len(heights)
    # Later frames of a long clip are looked at only as far as the part stays.
    while not (left := (away := length_of(path[: seen + 1] - path[0])) >= ON_LINE).any():
        if seen >= len(path):
            return len(path)
        seen *= 2
    # A part that comes back to its place, as held poses do, lies as high there but for rounding.
    away = away[: len(heights)]
    creeps = (heights - heights[0] <= 0.5 * away) | (away < ON_LINE)
    return max(int(left.argmax()), 1 + int(creeps.nonzero()[0][-1]))


def _off_line(feet: Feet, run: Stance) -> int:
    """The first frame on which the part of a run leaves a straight line that it followed in the last half step; 0 if
    there is no such line or frame.
    """
    path = feet.given[: run.end + feet.half + 1, run.leg, run.part]
    count = max(round(LEAST_CONTACT * feet.fps), 3) + 1
    first = max(run.end - half_step(feet.fps), run.start + 2, count)
    if first > run.end:
        return 0
    # Each row holds the frames before one candidate. A line fitted to straight rows leaves no residue.
    windows, (fit, residues) = sliding_window_view(path[first - count : run.end], count, axis=0), _line_fit(count)
    straight = length_of(np.swapaxes(windows @ residues, 1, 2)).max(axis=1) < ON_LINE
    if not straight.any():
        return 0
    last = first + int(np.flatnonzero(straight)[-1])
    origin, slope = fit @ path[last - count : last]
    ahead = path[last:] - origin - slope * np.arange(len(path) - last)[:, None]
    off = length_of(ahead) > ON_LINE
    return last + int(np.argmax(off)) if off.any() else 0


@lru_cache
def _line_fit(count: int) -> tuple[Array, Array]:
    """Two matrices for points at the times -count to -1: (2, count) gives the value at time 0 and the slope of the line
    fitted to them, (count, count) takes that line out of them.
    """
    line = np.stack([np.ones(count), np.arange(-count, 0)], axis=-1)
    return (fit := np.linalg.pinv(line)), np.eye(count) - line @ fit


def _departure(feet: Feet, run: Stance, rest: int) -> int:
    """The frame after the last one on which a part stands. `rest` is the last frame on which the part rests."""
    before, after = (max(2, round(seconds * feet.fps)) for seconds in (0.5 * STEP, WINDOWS[0]))
    middle = (run.start + run.end) // 2
    first = max(min(max(middle, rest - before), rest - 2), run.start)
    last = min(run.end + feet.half + after, feet.frames)
    knots = range(rest - first, min(run.end + feet.half, last - 2) - first)
    if not knots:
        return run.end
    chances = np.cumsum(chances_of(feet.paths[first:last, run.leg, run.part], knots))
    return first + knots[int(np.searchsorted(chances, 0.5 * chances[-1]))] + 1


def chances_of(path: Array, knots: range) -> Array:
    """The probabilities (C,) that a path (N, 3), in leg lengths, departs from rest after each of the knots, in frames.

    A standing point stays or slides evenly. A departing point gains powers of time. The amounts of these motions and
    the deviation of the noise are integrated out, with any amount and any magnitude as likely as the others beforehand.
    """
    lineless, bases = _departures(len(path), knots)
    path = lineless @ (path - path[0])
    count, gained = 3 * (len(path) - 2), 3 * bases.shape[-1]
    explained = np.sum((np.swapaxes(bases, 1, 2) @ path) ** 2, axis=(1, 2))
    left = 1.0 - explained / (np.sum(path**2) + count * ON_LINE**2)
    evidence = -0.5 * (count - gained) * np.log(left)
    return np.exp(evidence - np.logaddexp.reduce(evidence))


@lru_cache(maxsize=256)
def _departures(count: int, knots: range) -> tuple[Array, Array]:
    """A matrix (count, count) that takes lines out of paths, and for each knot an orthonormal basis (C, count, 3) of
    departures without lines.
    """
    time = np.arange(count) / count
    gone = np.maximum(time - np.array(knots)[:, None] / count, 0.0)
    gone /= gone[:, -1:]
    powers = np.stack([gone, gone**2, gone**3], axis=-1)
    residues = _line_fit(count)[1]
    return residues, np.linalg.svd(residues @ powers, full_matrices=False)[0]


def _rolled_off(feet: Feet, stands: Mask) -> Mask:
    """Frames (F, L, 2) right after contacts of a part, on which the foot rolls off that part and no part stands."""
    rolled, free = np.zeros_like(stands), feet.rolls & ~stands.any(axis=-1, keepdims=True)
    for run in part_stances(stands):
        end = run.end + int(np.argmin(np.append(free[run.end :, run.leg, run.part], False)))
        rolled[run.end : end, run.leg, run.part] = True
    return rolled


def _loaded(feet: Feet, stands: Mask) -> Mask:
    """Frames (F, L, 2) before stances on which the foot is loaded already, from the moment of its impact."""
    # The impact is where the upward acceleration is greatest (Handsaker and others, J. Biomechanics 49, 2016: 3 ms late
    # on force plates). It comes before the foot is slow, by as long as the loading of shoe and heel pad takes.
    loaded, window = np.zeros_like(stands), max(1, round(LEAST_CONTACT * feet.fps))
    braking = velocity(feet.climb, feet.fps, 2 * feet.half / feet.fps)
    for leg, start, _ in column_runs(stands.any(axis=-1)):
        rows = slice(max(start - window, 0), start + 1), leg
        hits = np.where(feet.climb[rows] < 0.0, braking[rows], 0.0)
        if not (hits > HASTY).any():
            continue
        # Where one end is hasty the other one may have touched the ground before it, gently: in a jog at 2 m/s heels
        # brake by 10 to 15, and balls slap down 30 ms later.
        first = np.argmax(hits, axis=0)
        peaks = np.where((first > 0) | (hits[0] > HASTY), rows[0].start + first, start)
        part = int(np.argmin(peaks))
        loaded[_after_peak(braking[:, leg, part], int(peaks[part])) : start, leg, part] = start > 0
    return loaded


def _after_peak(values: Array, peak: int) -> int:
    """The first frame after the top of the parabola through the peak of some values (F,) and its two neighbours."""
    if not 0 < peak < len(values) - 1:
        return peak
    before, at, after = values[peak - 1 : peak + 2]
    return peak + int(after > before and after < at)
