# SPDX-License-Identifier: MIT
"""Which slow spells of a foot have ground under them, on ground whose height nobody told and that need not be even."""

from __future__ import annotations

import numpy as np

from ..curves import runs
from ..model import Array, Mask
from .paths import SAME_PLACE, Feet
from .stance import Stance

# A spell lies on the ground within these heights (leg lengths) of the lowest that the same foot, and that any foot, has
# nearby in time (s): within half of a slow step each foot of a walk comes down once.
OWN_HEIGHT, HEIGHT, NEARBY = 0.08, 0.12, 0.6
# On stairs and rocks no other foot is as low, but then for this time (s) no lower one is slow: this one carries.
# Without it the two walks over uneven ground lose a fifth of their contacts. A foot that stirs for less than this, and
# stays in its place, has one spell.
BRIEF = 0.1
# Between two lower stances a foot might swing there as well: it carries when it is nearly still for this time (s).
CREST = 0.2
# A foot that is put down comes from above. One that came from below by more than the first height (leg lengths) within
# this time (s), and never from more than the second above, is lifted, or at the top of a jump, unless it carries for
# longer than the next. Where it also goes down again, having moved by the first height up and down, it is so anyhow.
RISE_DEPTH, RISE_LIFT, RISE_TIME, LIFTED = 0.03, 0.02, 0.25, 0.5
# Recordings without markers put the two feet on floors of their own: a foot that rests for this time (s) within
# RISE_DEPTH of where it carried the figure for as long stands there. A dance from video needs it (8 of 8 good, else 0).
RESTS = 0.3


def find_spells(feet: Feet, either: Mask) -> list[Stance]:
    """The spells of all feet from the frames (F, L) in which heel or ball is slow; those in one place are one."""
    spells: list[Stance] = []
    for leg in range(feet.legs):
        for start, end in runs(either[:, leg]):
            last = spells[-1] if spells and spells[-1].leg == leg else None
            if last and start - last.end < BRIEF * feet.fps and _same_place(feet, last, start):
                start = spells.pop().start
            spells.append(Stance(leg, start, end))
    return spells


def _same_place(feet: Feet, last: Stance, start: int) -> bool:
    """Whether heel or ball is where it was at the end of the last spell."""
    away = feet.paths[start, last.leg] - feet.paths[last.end - 1, last.leg]
    return bool(np.linalg.norm(away, axis=-1).min() < SAME_PLACE)


def grounded(feet: Feet, still: Mask, spells: list[Stance], own_height: float = OWN_HEIGHT) -> list[Stance]:
    """The spells with ground under them: they lie as low as those nearby, carry the figure alone, or lie as such do.

    `still` (F, L) are the frames in which heel or ball is hardly moving.
    """
    if not spells:
        return []
    low = [feet.heights[spell.start : spell.end, spell.leg].min(axis=-1) for spell in spells]
    heights = np.array([np.median(path) for path in low])
    legs, starts, ends = np.array([(spell.leg, spell.start, spell.end) for spell in spells]).T
    crest = _are_crests(starts, ends, heights, feet.fps)
    carry = _carrying(feet, still, spells, heights, crest)
    # Whatever may have ground under it shows where the ground is.
    solid = carry | ~crest
    near = solid & (starts < ends[:, None] + NEARBY * feet.fps) & (ends > starts[:, None] - NEARBY * feet.fps)
    own = np.where(near & (legs == legs[:, None]), heights, np.inf).min(axis=1)
    others = np.where(near, heights, np.inf).min(axis=1)
    floor = (heights < own + own_height) & (heights < np.where(near.any(axis=1), others, -np.inf) + HEIGHT)
    rests = ends - starts >= RESTS * feet.fps
    level = np.abs(heights - heights[:, None]) < RISE_DEPTH
    level &= rests & rests[:, None] & carry & (legs == legs[:, None]) & ~np.eye(len(spells), dtype=bool)
    keep = carry | floor | level.any(axis=1)
    return [spell for spell, kept in zip(spells, keep, strict=True) if kept]


def _are_crests(starts: Array, ends: Array, heights: Array, fps: float) -> Mask:
    """Which spells (S,) have feet standing on lower ground both before and after."""
    low = (heights < heights[:, None] - HEIGHT) & (ends - starts >= CREST * fps)
    before, after = ends <= starts[:, None], starts >= ends[:, None]
    return np.asarray((low & before).any(axis=1) & (low & after).any(axis=1))


def _carrying(feet: Feet, still: Mask, spells: list[Stance], heights: Array, crest: Mask) -> Mask:
    """The spells (S,) in which the figure stands on this foot alone for a while."""
    level = np.full((feet.frames, feet.legs), np.inf)
    for spell, height in zip(spells, heights, strict=True):
        level[spell.start : spell.end, spell.leg] = height
    alone, carry = level == level.min(axis=1, keepdims=True), np.zeros(len(spells), bool)
    for i, spell in enumerate(spells):
        rows = slice(spell.start, spell.end), spell.leg
        time = int(alone[rows].sum()) / feet.fps
        if _rises_there(feet, spell, heights[i]):
            carry[i] = time >= LIFTED and not _hovers(feet, spell, heights[i])
        elif crest[i]:
            carry[i] = int((alone[rows] & still[rows]).sum()) >= CREST * feet.fps
        else:
            carry[i] = time >= BRIEF - 1e-9
    return carry


def _rises_there(feet: Feet, spell: Stance, height: float) -> bool:
    """Whether the foot comes from below and never from above: it is lifted, or at the top of a jump."""
    first = max(spell.start - max(1, round(RISE_TIME * feet.fps)), 0)
    beside = feet.heights[first : spell.start + 1, spell.leg]
    return _is_over(beside, beside[-1], height)


def _hovers(feet: Feet, spell: Stance, height: float) -> bool:
    """Whether a foot that rose to where it is goes down from there, and up and down meanwhile."""
    beside = feet.heights[spell.end - 1 : spell.end + max(1, round(RISE_TIME * feet.fps)), spell.leg]
    low = feet.heights[spell.start : spell.end, spell.leg].min(axis=-1)
    return _is_over(beside, beside[0], height) and bool(np.ptp(low) > RISE_DEPTH)


def _is_over(beside: Array, edge: Array, height: float) -> bool:
    """Whether a foot is below a spell's height beside the spell, at heights (N, 2) of its parts, and never above.

    A spell may begin and end higher than it lies: on the heights (2,) at its edge.
    """
    lowest = beside.min(axis=-1)
    return bool(lowest.min() < height - RISE_DEPTH and lowest.max() < max(height, edge.min()) + RISE_LIFT)
