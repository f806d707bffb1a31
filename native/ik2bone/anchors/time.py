# SPDX-License-Identifier: MIT
"""Contacts as the planner can hold them: one anchor a standing, and time enough to get from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..contacts.detect import Stance, stances
from ..curves import SHARPEST, runs
from ..model import Array, Clip, Mask
from ..targets.lock import standing_core, standing_frames, standing_place
from .anchor import Anchor

# A ball that comes down again so far from where it stood (leg lengths), while the heel stands, has its own anchor.
SAME_SPOT = 0.02
# A foot that slides as its contact begins or ends is caught up with outside. Where that takes more acceleration than
# this (leg lengths / s^2), the sliding frames are no contact. 20 move a foot by 0.02 leg within 1/30 s.
HASTY = 20.0


def separate_spots(clip: Clip, contacts: Mask, kept: Mask | None = None) -> Mask:
    """The contacts (F, L, 2) without those of heels on which a foot turns from one anchor of its ball to another.

    What is `kept` (F, L, 2) stays.
    """
    separate = contacts.copy()
    for stance in stances(contacts):
        balls = runs(contacts[stance.start : stance.end, stance.leg, 1])
        for (start, end), (later, last) in zip(balls, balls[1:], strict=False):
            path = clip.ball[stance.start : stance.end, stance.leg]
            places = [standing_place(path, np.arange(*run)) for run in ((start, end), (later, last))]
            if np.linalg.norm(places[1] - places[0]) > SAME_SPOT * clip.leg:
                separate[stance.start + end : stance.start + later, stance.leg] = False
    return separate if kept is None else separate | kept


def give_time(clip: Clip, contacts: Mask, moves: dict[Stance, Array] | None = None, kept: Mask | None = None) -> Mask:
    """The contacts (F, L, 2) without frames at their ends, where a foot needs them to get to its next anchor in time.

    It slides off its anchor there, or climbs: `moves` are how far (3,) the ground moves each stance. What is `kept`
    (F, L, 2) stays.
    """
    timely, spans = contacts.copy(), stances(contacts)
    held = [span.start + standing_frames(contacts[span.start : span.end, span.leg]) for span in spans]
    spots = standing_places([clip.ball[:, span.leg] for span in spans], held)
    for row, (before, after) in enumerate(zip(spans, spans[1:], strict=False)):
        if before.leg == after.leg:
            climb = moves[after] - moves[before] if moves else np.zeros(3)
            _part(clip, timely, (before, after), (spots[row], spots[row + 1]), climb, kept)
    return timely


def _part(
    clip: Clip,
    contacts: Mask,
    spans: tuple[Stance, Stance],
    spots: tuple[Array, Array],
    climb: Array,
    kept: Mask | None,
) -> None:
    """Shorten two stances (of contacts (F, L, 2), in place) until their foot has time to climb (3,) and to get from one
    of its anchors (3,) to the other, or until nothing but their cores is left.
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
        first = start == begins or (end > stays and np.linalg.norm(off[0]) > np.linalg.norm(off[1]))
        end, start = (end - 1, start) if first else (end, start + 1)
        contacts[end:start, spans[0].leg] = False


def _core(contacts: Mask, span: Stance, kept: Mask | None) -> tuple[int, int]:
    """First frame, and the one after the last, of those that a stance takes its place from, or that are kept."""
    rows = slice(span.start, span.end), span.leg
    frames = standing_core(standing_frames(contacts[rows]))
    if kept is not None:
        frames = np.union1d(frames, np.flatnonzero(kept[rows].any(axis=-1)))
    return span.start + int(frames[0]), span.start + int(frames[-1]) + 1


def give_anchors_time(
    clip: Clip, contacts: Mask, anchors: list[Anchor], kept: Mask | None = None
) -> tuple[Mask, list[Anchor]]:
    """Contacts (F, L, 2) and anchors without frames in which feet climb or come down to where they stand next, unless
    those are `kept` (F, L, 2).
    """
    standing = [anchor for anchor in anchors if anchor.part != "swing"]
    timely = give_time(clip, contacts, {anchor.stance: anchor.move for anchor in standing}, kept)
    held = timely.any(axis=-1)
    return timely, [a if a.part == "swing" else replace(a, stance=_within(a.stance, held)) for a in anchors]


def _within(stance: Stance, held: Mask) -> Stance:
    """A stance without the frames at its ends on which its foot (F, L) is not held."""
    frames = np.flatnonzero(held[stance.start : stance.end, stance.leg])
    return Stance(stance.leg, stance.start + int(frames[0]), stance.start + int(frames[-1]) + 1)


def standing_places(paths: Sequence[Array], frames: Sequence[NDArray[np.intp]]) -> Array:
    """The `standing_place` (N, 3) of each path (F, 3) on its frames (indices), all at once."""
    cores = [standing_core(each) for each in frames]
    counts = np.array([len(core) for core in cores], np.intp)
    if not len(counts):
        return np.zeros((0, 3))
    rows = np.concatenate([path[core] for path, core in zip(paths, cores, strict=True)])
    first = np.cumsum(counts) - counts
    return np.asarray(np.add.reduceat(rows, first) / counts[:, None])
