# SPDX-License-Identifier: MIT
"""Contacts that feet can hold: with enough time to get from one anchor to the next."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..arrays import Array, Mask
from ..checks import ROUNDING
from ..clip import Clip
from ..contacts.stance import HASTY, Stance, stances, standing_core, standing_frames, standing_place
from ..curves import SHARPEST
from .anchor import Anchor


def give_time(clip: Clip, contacts: Mask, anchors: list[Anchor], kept: Mask) -> tuple[Mask, list[Anchor]]:
    """Contacts (F, L, 2) and anchors, without the frames at the ends of stances that feet need to get to their next
    anchors.

    A foot may slide off its place in a stance, and the ground may move two stances by different amounts. Between the
    two stances the foot makes up for both, with an acceleration of at most `HASTY`. Contacts that are `kept` (F, L, 2)
    stay.
    """
    moves = {anchor.stance: anchor.move for anchor in anchors if anchor.part != "swing"}
    timely, spans = contacts.copy(), stances(contacts)
    spots = [standing_place(clip.ball[span.rows], standing_frames(contacts[span.rows])) for span in spans]
    for row, (before, after) in enumerate(pairwise(spans)):
        if before.leg == after.leg:
            climb = moves[after] - moves[before]
            _part(clip, timely, (before, after), (spots[row], spots[row + 1]), climb, kept)
    if (timely == contacts).all():
        return timely, anchors
    stays = timely.any(axis=-1)
    return timely, [a if a.part == "swing" else replace(a, stance=_within(a.stance, stays)) for a in anchors]


def _part(
    clip: Clip, contacts: Mask, spans: tuple[Stance, Stance], spots: tuple[Array, Array], climb: Array, kept: Mask
) -> None:
    """Shorten two stances of a foot (in `contacts` (F, L, 2), in place) until it has time to get from one to the next,
    or only their cores are left. `spots` (3,) are their places in the clip, `climb` (3,) is how much farther the ground
    moves the second.
    """
    path, end, start, cores = clip.ball[:, spans[0].leg], spans[0].end, spans[1].start, None
    while True:
        off = spots[0] - path[end - 1], spots[1] - path[start]
        lacking = float(np.linalg.norm(off[1] - off[0] + climb))
        if SHARPEST * lacking * (clip.fps / (start - end + 1)) ** 2 <= HASTY * clip.leg:
            return
        (_, stays), (begins, _) = cores = cores or [_core(contacts, span, kept) for span in spans]
        if end <= stays and start >= begins:
            return
        beyond = float(np.linalg.norm(off[0]) - np.linalg.norm(off[1]))
        if abs(beyond) < ROUNDING * clip.leg:  # both stances rest there and give the same time
            beyond = float(start - spans[1].start - (spans[0].end - end))
        first = start == begins or (end > stays and beyond > 0.0)
        end, start = (end - 1, start) if first else (end, start + 1)
        contacts[end:start, spans[0].leg] = False


def _core(contacts: Mask, span: Stance, kept: Mask) -> tuple[int, int]:
    """The first frame of a stance's core, and the one after its last: of the frames that give the stance its place, and
    those that are `kept` (F, L, 2).
    """
    taken = standing_core(standing_frames(contacts[span.rows]))
    frames = np.union1d(taken, np.flatnonzero(kept[span.rows].any(axis=-1)))
    return span.start + int(frames[0]), span.start + int(frames[-1]) + 1


def _within(stance: Stance, held: Mask) -> Stance:
    """The stance without the frames at its ends on which its foot is not `held` (F, L)."""
    frames = np.flatnonzero(held[stance.rows])
    return Stance(stance.leg, stance.start + int(frames[0]), stance.start + int(frames[-1]) + 1)
