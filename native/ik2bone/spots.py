# SPDX-License-Identifier: MIT
"""Contacts as the planner can hold them: one spot a standing, and time enough to get from one spot to the next."""

from __future__ import annotations

import numpy as np

from .clip import Array, Clip, Mask
from .contacts import LEAST_CONTACT, Stance, stances
from .hold import standing_place
from .motion import SHARPEST, runs

# A ball that comes down again so far from where it stood (leg lengths), while the heel stands, has a spot of its own.
SAME_SPOT = 0.02
# A foot that slides as its contact begins or ends is caught up with outside. Where that takes more acceleration than
# this (leg lengths / s^2), the sliding frames are no contact. 20 move a foot by 0.02 leg within 1/30 s.
HASTY = 20.0


def separate_spots(clip: Clip, contacts: Mask) -> Mask:
    """The contacts (F, L, 2) without those of heels on which a foot turns from one spot of its ball to another."""
    separate = contacts.copy()
    for stance in stances(contacts):
        balls = runs(contacts[stance.start : stance.end, stance.leg, 1])
        for (start, end), (later, last) in zip(balls, balls[1:], strict=False):
            path = clip.ball[stance.start : stance.end, stance.leg]
            places = [standing_place(path, np.arange(*run)) for run in ((start, end), (later, last))]
            if np.linalg.norm(places[1] - places[0]) > SAME_SPOT * clip.leg:
                separate[stance.start + end : stance.start + later, stance.leg] = False
    return separate


def give_time(clip: Clip, contacts: Mask) -> Mask:
    """The contacts (F, L, 2) without frames in which a foot slides off its spot, where the next follows too soon."""
    timely = contacts.copy()
    for leg in range(clip.legs):
        spans = [stance for stance in stances(contacts) if stance.leg == leg]
        for before, after in zip(spans, spans[1:], strict=False):
            _part(clip, timely[:, leg], before, after)
    return timely


def _part(clip: Clip, contacts: Mask, before: Stance, after: Stance) -> None:
    """Shorten two standings (of one leg's contacts (F, 2), in place) until their foot has time between them."""
    path, least = clip.ball[:, before.leg], max(2, round(LEAST_CONTACT * clip.fps))
    end, start = before.end, after.start
    while True:
        off = [_off(path, contacts, span, frame) for span, frame in ((before, end - 1), (after, start))]
        acceleration = SHARPEST * np.linalg.norm(off[1] - off[0]) * (clip.fps / (start - end + 1)) ** 2
        if acceleration <= HASTY * clip.leg:
            return
        first = np.linalg.norm(off[0]) > np.linalg.norm(off[1])
        if (end - before.start if first else after.end - start) <= least:
            return
        end, start = (end - 1, start) if first else (end, start + 1)
        contacts[end:start] = False


def _off(path: Array, contacts: Mask, span: Stance, frame: int) -> Array:
    """How far (3,) the spot of a standing lies from where the clip has the ball on a frame."""
    frames = span.start + np.flatnonzero(contacts[span.start : span.end].any(axis=-1))
    return standing_place(path, frames) - path[frame]
