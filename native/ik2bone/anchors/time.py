# SPDX-License-Identifier: MIT
"""Contacts as the planner can hold them: one spot a standing, and time enough to get from one spot to the next."""

from __future__ import annotations

import numpy as np

from ..contacts.detect import Stance, stances
from ..curves import SHARPEST, runs
from ..model import Array, Clip, Mask
from ..targets.lock import standing_core, standing_frames, standing_place

# A ball that comes down again so far from where it stood (leg lengths), while the heel stands, has a spot of its own.
SAME_SPOT = 0.02
# A foot that slides as its contact begins or ends is caught up with outside. Where that takes more acceleration than
# this (leg lengths / s^2), the sliding frames are no contact. 20 move a foot by 0.02 leg within 1/30 s.
HASTY = 20.0


def separate_spots(clip: Clip, contacts: Mask, kept: Mask | None = None) -> Mask:
    """The contacts (F, L, 2) without those of heels on which a foot turns from one spot of its ball to another.

    What is `kept` (F, L, 2) stays.
    """
    separate = contacts.copy()
    for stance in stances(contacts):
        balls = runs(contacts[stance.start : stance.end, stance.leg, 1])
        for (start, end), (later, last) in zip(balls, balls[1:], strict=False):
            path = clip.ball[stance.start : stance.end, stance.leg]
            places = [standing_place(path, np.arange(*run), clip.leg) for run in ((start, end), (later, last))]
            if np.linalg.norm(places[1] - places[0]) > SAME_SPOT * clip.leg:
                separate[stance.start + end : stance.start + later, stance.leg] = False
    return separate if kept is None else separate | kept


def give_time(clip: Clip, contacts: Mask, moves: dict[Stance, Array] | None = None, kept: Mask | None = None) -> Mask:
    """The contacts (F, L, 2) without frames at their ends, where a foot needs them to get to its next spot in time.

    It slides off its spot there, or climbs: `moves` are how far (3,) the ground moves each standing. What is `kept`
    (F, L, 2) stays.
    """
    timely = contacts.copy()
    for leg in range(clip.legs):
        spans = [stance for stance in stances(contacts) if stance.leg == leg]
        for before, after in zip(spans, spans[1:], strict=False):
            climb = moves[after] - moves[before] if moves else np.zeros(3)
            cores = [_core(timely, span, kept) for span in (before, after)]
            _part(clip, timely[:, leg], (before, after), cores, climb)
    return timely


def _part(clip: Clip, contacts: Mask, spans: tuple[Stance, Stance], cores: list[tuple[int, int]], climb: Array) -> None:
    """Shorten two standings (of one leg's contacts (F, 2), in place) until their foot has time between them, or until
    nothing but their cores is left.
    """
    (before, after), ((_, stays), (begins, _)) = spans, cores
    end, start = before.end, after.start
    while end > stays or start < begins:
        off = [_off(clip, contacts, span, frame) for span, frame in ((before, end - 1), (after, start))]
        acceleration = SHARPEST * np.linalg.norm(off[1] - off[0] + climb) * (clip.fps / (start - end + 1)) ** 2
        if acceleration <= HASTY * clip.leg:
            return
        first = start == begins or (end > stays and np.linalg.norm(off[0]) > np.linalg.norm(off[1]))
        end, start = (end - 1, start) if first else (end, start + 1)
        contacts[end:start] = False


def _core(contacts: Mask, span: Stance, kept: Mask | None) -> tuple[int, int]:
    """First frame, and the one after the last, of those that a standing takes its place from, or that are kept."""
    rows = slice(span.start, span.end), span.leg
    frames = standing_core(standing_frames(contacts[rows]))
    if kept is not None:
        frames = np.union1d(frames, np.flatnonzero(kept[rows].any(axis=-1)))
    return span.start + int(frames[0]), span.start + int(frames[-1]) + 1


def _off(clip: Clip, contacts: Mask, span: Stance, frame: int) -> Array:
    """How far (3,) the spot of a standing lies from where the clip has the ball on a frame."""
    path, frames = clip.ball[:, span.leg], span.start + standing_frames(contacts[span.start : span.end])
    return standing_place(path, frames, clip.leg) - path[frame]
