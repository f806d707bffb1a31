# SPDX-License-Identifier: MIT
"""When a standing point was put down and taken up: told from its path, since speeds are smoothed and come late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..curves import runs
from ..model import Array, Mask
from .departure import Departure, agreed, evidence_of
from .paths import Feet

# A point at rest is slower than this (leg lengths a second), or than noise and its own slide make it.
REST = 0.12
# It departs from rest to the speed that ends a contact within the first time (s), within the second where the foot does
# not turn meanwhile, and within the third while the other part holds the foot: there it rolls up slowly. What creeps
# longer slides, or rolls over its toes.
DEPARTURE, LIFT, ROLL = 0.085, 0.12, 0.25
# It has left earlier by up to this share of the time that it takes from rest to that speed.
EARLIER = 0.45
# Time (s) of standing before a departure, and of moving after its speed tells, that place it.
BEFORE, AFTER = 0.2, 0.035
# A speed (leg lengths a second) that all departures pass.
TELLING = 0.35
# A departure between two frames is told to a part of that many a second: the first of them still stands, the other not.
INSTANTS = 240.0
# Points on a straight line within the first (leg lengths) for the second (s) come from formulas and animators, and the
# first off it has left. For a part that rolls up while the other holds the foot they are so for the third: it is sought
# for longer, and what bends one way and then the other is straight for a while between. Feet that bob do so as they
# stand: theirs is straight for the fourth, that of others for as long or for half of their standing.
ON_LINE, LINE, ROLL_LINE, LONG_LINE = 2e-5, 0.1, 0.15, 0.3


@dataclass(frozen=True)
class Run:
    """Frames [start, end) in which a part (0 heel, 1 ball) of a leg is slow; `held` tells whether the other part still
    holds the foot as it ends.
    """

    leg: int
    part: int
    start: int
    end: int
    held: bool


def sharpened(feet: Feet, slow: Mask) -> Mask:
    """Contacts from the frames (F, L, 2) in which parts are slow: from the frame each was put down to that it left."""
    stands = np.zeros_like(slow)
    for run, start, end in _bounds(feet, _run_ends(feet, slow), exact=True):
        stands[start:end, run.leg, run.part] = True
    return stands


def sharpened_where_still(feet: Feet, slow: Mask, still: float) -> Mask:
    """Contacts to the nearest frame, from long runs slower than `still` (leg lengths a second) half of the time, for
    those of their ends that the other part does not hold.
    """
    stands, ends = slow.copy(), []
    for first, last in _run_ends(feet, slow):
        run = slice(last.start, last.end), last.leg, last.part
        if last.end - last.start >= BEFORE * feet.fps and np.median(feet.speeds[run]) <= still:
            stands[run] = False
            ends.append((first, last))
    for (first, last), (_, start, end) in zip(ends, _bounds(feet, ends, exact=False), strict=True):
        stands[last.start if first.held else start : last.end if last.held else end, last.leg, last.part] = True
    return stands


def _run_ends(feet: Feet, slow: Mask) -> list[tuple[Run, Run]]:
    """Each run of slow frames (F, L, 2) as its first end, seen backwards, and its last."""
    frames, ends = feet.frames, []
    for leg, part in np.ndindex(*slow.shape[1:]):
        other = slow[:, leg, 1 - part]
        for start, end in runs(slow[:, leg, part]):
            first = Run(leg, part, frames - end, frames - start, start > 0 and bool(other[start - 1]))
            ends.append((first, Run(leg, part, start, end, end < frames and bool(other[end]))))
    return ends


def _bounds(feet: Feet, ends: Sequence[tuple[Run, Run]], exact: bool) -> list[tuple[Run, int, int]]:
    """The last end of each run with the first frame in which its part stands and the frame after the last."""
    firsts = _left(feet.reversed(), [first for first, _ in ends], exact)
    lasts = _left(feet, [last for _, last in ends], exact)
    return [(last, feet.frames - a, b) for (_, last), a, b in zip(ends, firsts, lasts, strict=True)]


def _left(feet: Feet, ends: Sequence[Run], exact: bool) -> list[int]:
    """The frame after the last in which each part stands; departures of the same part, held or not, tell each other."""
    found = [_end(feet, run, exact) for run in ends]
    left = [end if isinstance(end, int) else 0 for end in found]
    alike: dict[tuple[int, bool], dict[int, Departure]] = defaultdict(dict)
    for i, (run, end) in enumerate(zip(ends, found, strict=True)):
        if isinstance(end, Departure):
            alike[run.part, run.held][i] = end
    for departures in alike.values():
        for i, instant in zip(departures, agreed(list(departures.values()), feet.fps), strict=True):
            left[i] = int(instant) + 1
    return left


def rolled(feet: Feet, stands: Mask) -> Mask:
    """The contacts (F, L, 2) with the frames beside them in which the foot rolls onto or off that part alone."""
    return stands | _rolled_off(feet, stands) | _rolled_off(feet.reversed(), stands[::-1])[::-1]


def _rolled_off(feet: Feet, stands: Mask) -> Mask:
    """Frames (F, L, 2) after contacts in which the foot rolls off that part alone, unless that left a straight line."""
    rolled, free = np.zeros_like(stands), feet.rolls & ~stands.any(axis=-1, keepdims=True)
    for leg, part in np.ndindex(*stands.shape[1:]):
        for first, left in runs(stands[:, leg, part]):
            end = left + int(np.argmin(np.append(free[left:, leg, part], False)))
            if end > left and _off_line(feet, Run(leg, part, first, left, held=False)) != left:
                rolled[left:end, leg, part] = True
    return rolled


def _end(feet: Feet, run: Run, exact: bool) -> int | Departure:
    """The frame after the last in which the part of a run stands, `exact` or by the frame nearest to when it leaves, or
    when it may depart.
    """
    if run.end == feet.frames:
        return run.end
    if exact and (left := _off_line(feet, run)):
        return left
    if not run.held and feet.rolls[run.end, run.leg, run.part]:
        return run.end
    speeds = feet.speeds[:, run.leg, run.part]
    rest = max(REST, 2.0 * feet.tremble, 1.3 * float(np.median(speeds[run.start : run.end])))
    early = max(run.start, run.end - max(1, round(_longest(feet, run) * feet.fps)))
    resting = np.flatnonzero(speeds[early : run.end] <= rest)
    if not run.held and not len(resting):
        return run.end
    return _departure(feet, run, early + int(resting[-1]) if len(resting) else early, exact)


def _longest(feet: Feet, run: Run) -> float:
    """The longest time (s) that the part of a run may take to depart."""
    if run.held:
        return ROLL
    lifted = slice(max(run.end - round(LIFT * feet.fps), 0), run.end + 1)
    return DEPARTURE if feet.turns[lifted, run.leg].any() else LIFT


def _departure(feet: Feet, run: Run, rest: int, exact: bool) -> int | Departure:
    """When the part of a run departs that rests at that frame for the last time.

    The instants reach from a little earlier to as far beyond the run's end, where the speed tells, as speeds are
    smoothed. Where the answer is `exact` they lie between frames, too.
    """
    before, after = (max(2, round(seconds * feet.fps)) for seconds in (BEFORE, AFTER))
    middle, told = (run.start + run.end) // 2, _told(feet, run, rest)
    rest = max(rest - int(EARLIER * (run.end - rest)), min(middle, rest))
    first = max(min(max(middle, rest - before), rest - 2), run.start)
    last = min(run.end + feet.half + after, feet.frames)
    path, parts = feet.paths[first:last, run.leg, run.part], max(1, round(INSTANTS / feet.fps)) if exact else 1
    knots = range(parts * (rest - first), parts * (min(run.end + feet.half, last - 2) - first - 1) + 1)
    if not knots:
        return run.end
    evidence = evidence_of(path, knots, parts, feet.bobs, run.held)
    return Departure(first + np.array(knots) / parts, evidence, parts, told)


def _told(feet: Feet, run: Run, rest: int) -> float:
    """The instant, in frames, at which the speed of a run's part passes TELLING after that frame: by a straight line
    through the speeds about it.
    """
    frames = np.arange(max(rest - 2, 0), min(run.end + max(2, round(AFTER * feet.fps)), feet.frames))
    speeds = feet.speeds[frames, run.leg, run.part]
    near = (speeds > 0.5 * TELLING) & (speeds < 2.0 * TELLING)
    if near.sum() < 2:
        return float(run.end)
    slope, start = np.polyfit(frames[near] - run.end, speeds[near], 1)
    return run.end + (TELLING - start) / slope if slope > 0 else float(run.end)


def _off_line(feet: Feet, run: Run) -> int:
    """The first frame late in a run that is off the straight line through those before it; 0 where none is on one."""
    times = (ROLL_LINE, ROLL) if run.held else (LINE, ROLL)
    span, late, most = (round(seconds * feet.fps) for seconds in (*times, LONG_LINE))
    least = most if feet.bobs else min(most, (run.end - run.start) // 2)
    path, count = feet.given[: run.end + feet.half + 1, run.leg, run.part], max(span, least, 3) + 1
    for frame in range(run.end, max(run.end - late - 1, run.start + 1, count - 1), -1):
        start, speed = _line_fit(count) @ path[frame - count : frame]
        time = np.arange(-count, len(path) - frame)[:, None]
        off = np.linalg.norm(path[frame - count :] - start - speed * time, axis=-1) > ON_LINE
        if not off[:count].any():
            return frame - count + int(np.argmax(off)) if off.any() else 0
    return 0


@lru_cache
def _line_fit(count: int) -> Array:
    """What tells start and speed (2, count) of the line fitted to points at the times -count to -1."""
    return np.linalg.pinv(np.stack([np.ones(count), np.arange(-count, 0)], axis=-1))
