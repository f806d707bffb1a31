# SPDX-License-Identifier: MIT
"""Which slow spells of a foot have ground under them, on a floor whose height nobody told and that need not be even."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Array, Mask
from .paths import Feet

# A spell lies on the floor within these heights (leg lengths) of the lowest that the same foot, and that any foot, has
# nearby in time (s): within half of a slow step each foot of a walk comes down once.
OWN_HEIGHT = 0.08
HEIGHT = 0.12
NEARBY = 0.6
# On stairs and rocks no other foot is as low, but then for this time (s) no lower one is slow: this one carries. Where
# feet rest lower before and after, it could swing there as well, and carries when it is still for the second time.
ALONE, CREST = 0.1, 0.2
# A foot that is put down comes from above. One that came from below by more than the first of these heights (leg
# lengths) within this time (s), and never from more than the second above, is lifted, or at the top of a jump, unless
# it carries for longer than the next. Where it also leaves so, and hovers by more than the last height meanwhile, it
# is so however long that takes.
RISE_DEPTH, RISE_LIFT, RISE_TIME, LIFTED, HOVER = 0.03, 0.02, 0.25, 0.5, 0.03
# Recordings without markers put the two feet on floors of their own: a foot that rests for this time (s) within this
# height (leg lengths) of where it carried the figure for as long stands there.
RESTS, LEVEL = 0.3, 0.03
# A foot that stirs for less than this time (s), and stays in its place within this (leg lengths), has one spell.
STIR, SAME_PLACE = 0.1, 0.05


@dataclass(frozen=True)
class Spell:
    """A foot slow over frames [start, end), its lower end at the median `height` (leg lengths)."""

    leg: int
    start: int
    end: int
    height: float


def find_spells(feet: Feet, runs_of_leg: list[list[tuple[int, int]]]) -> list[Spell]:
    """The spells of all feet from the runs of frames in which heel or ball is slow; those in one place are one."""
    spells: list[Spell] = []
    for leg, found in enumerate(runs_of_leg):
        for start, end in found:
            last = spells[-1] if spells and spells[-1].leg == leg else None
            if last and start - last.end < STIR * feet.fps and _same_place(feet, last, start):
                start = spells.pop().start
            spells.append(Spell(leg, start, end, float(np.median(feet.heights[start:end, leg].min(axis=-1)))))
    return spells


def _same_place(feet: Feet, last: Spell, start: int) -> bool:
    """Whether heel or ball is where it was at the end of the last spell."""
    away = feet.paths[start, last.leg] - feet.paths[last.end - 1, last.leg]
    return bool(np.linalg.norm(away, axis=-1).min() < SAME_PLACE)


def grounded(feet: Feet, still: Mask, spells: list[Spell], own_height: float = OWN_HEIGHT) -> list[Spell]:
    """The spells with ground under them: they lie on the floor nearby, carry the figure alone, or lie as such do.

    `still` (F, L) are the frames in which heel or ball is hardly moving.
    """
    carry = [spell for spell in spells if _carries(spell, spells, feet, still)]
    solid = [spell for spell in spells if spell in carry or not _is_crest(spell, spells, feet.fps)]
    return [
        spell
        for spell in spells
        if spell in carry or _on_floor(spell, solid, feet.fps, own_height) or _level_with(spell, carry, feet.fps)
    ]


def _carries(spell: Spell, spells: list[Spell], feet: Feet, still: Mask) -> bool:
    """Whether the figure stands on this foot alone for a while."""
    alone = _alone(spell, spells)
    if _rises_there(spell, feet):
        return not _hovers(spell, feet) and alone.sum() >= LIFTED * feet.fps
    if _is_crest(spell, spells, feet.fps):
        return bool((alone & still[spell.start : spell.end, spell.leg]).sum() >= CREST * feet.fps)
    return bool(alone.sum() >= ALONE * feet.fps)


def _is_crest(spell: Spell, spells: list[Spell], fps: float) -> bool:
    """Whether feet stand on lower floors both before and after a spell."""
    low = [other for other in spells if other.height < spell.height - HEIGHT and other.end - other.start >= CREST * fps]
    return any(other.end <= spell.start for other in low) and any(other.start >= spell.end for other in low)


def _level_with(spell: Spell, carry: list[Spell], fps: float) -> bool:
    """Whether the foot rests for long at a height at which it has carried the figure for long."""
    lasts = [other for other in (spell, *carry) if other.end - other.start >= RESTS * fps and other.leg == spell.leg]
    return spell in lasts and any(abs(other.height - spell.height) < LEVEL for other in lasts if other != spell)


def _on_floor(spell: Spell, solid: list[Spell], fps: float, own_height: float) -> bool:
    """Whether a spell lies as low as those nearby that have, or may have, a floor."""
    reach = NEARBY * fps
    near = [other for other in solid if other.start < spell.end + reach and other.end > spell.start - reach]
    own = min((other.height for other in near if other.leg == spell.leg), default=np.inf)
    any_foot = min((other.height for other in near), default=-np.inf)
    return spell.height < own + own_height and spell.height < any_foot + HEIGHT


def _alone(spell: Spell, spells: list[Spell]) -> Mask:
    """The spell's frames in which no lower foot is slow."""
    alone = np.ones(spell.end - spell.start, bool)
    for other in spells:
        if other.leg != spell.leg and other.height < spell.height:
            alone[max(other.start - spell.start, 0) : max(other.end - spell.start, 0)] = False
    return alone


def _rises_there(spell: Spell, feet: Feet) -> bool:
    """Whether the foot comes from below and never from above: it is lifted, or at the top of a jump."""
    first = max(spell.start - max(1, round(RISE_TIME * feet.fps)), 0)
    return _is_over(spell, feet.heights[first : spell.start + 1, spell.leg], feet.heights[spell.start, spell.leg])


def _hovers(spell: Spell, feet: Feet) -> bool:
    """Whether a foot that rose to where it is goes down from there, and up and down meanwhile."""
    leaving = feet.heights[spell.end - 1 : spell.end + max(1, round(RISE_TIME * feet.fps)), spell.leg]
    heights = feet.heights[spell.start : spell.end, spell.leg].min(axis=-1)
    return _is_over(spell, leaving, leaving[0]) and bool(np.ptp(heights) > HOVER)


def _is_over(spell: Spell, heights: Array, edge: Array) -> bool:
    """Whether a foot is lower beside a spell, at heights (N, 2) of its parts, and never higher.

    A spell may begin and end higher than it lies: on the heights (2,) at its edge.
    """
    lowest = heights.min(axis=-1)
    return bool(lowest.min() < spell.height - RISE_DEPTH and lowest.max() < max(spell.height, edge.min()) + RISE_LIFT)
