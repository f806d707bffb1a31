# SPDX-License-Identifier: MIT
"""Which slow spells of a foot have ground under them, on a floor whose height nobody told and that need not be even."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .feet import Feet

# A spell lies on the floor within these heights (leg lengths) of the lowest that the same foot, and that any foot, has
# nearby in time (s): within half of a slow step each foot of a walk comes down once.
OWN_HEIGHT = 0.08
HEIGHT = 0.12
NEARBY = 0.6
# On stairs and rocks no other foot is as low, but then for this time (s) no lower one is slow: this one carries.
ALONE = 0.1
# A foot that is put down comes from above. One that came from below by more than the first of these heights (leg
# lengths) within this time (s), and never from more than the second above, is lifted, or at the top of a jump, unless
# it carries for longer than the last.
RISE_DEPTH, RISE_LIFT, RISE_TIME, LIFTED = 0.03, 0.02, 0.25, 0.5
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


def grounded(feet: Feet, spells: list[Spell], own_height: float = OWN_HEIGHT) -> list[Spell]:
    """The spells with ground under them: they lie on the floor nearby, carry the figure alone, or lie as such do."""
    carry = [spell for spell in spells if _carries(spell, spells, feet)]
    return [
        spell
        for spell in spells
        if spell in carry or _on_floor(spell, spells, feet.fps, own_height) or _level_with(spell, carry, feet.fps)
    ]


def _carries(spell: Spell, spells: list[Spell], feet: Feet) -> bool:
    """Whether the figure stands on this foot alone for a while."""
    return _alone(spell, spells) >= (LIFTED if _rises_there(spell, feet) else ALONE) * feet.fps


def _level_with(spell: Spell, carry: list[Spell], fps: float) -> bool:
    """Whether the foot rests for long at a height at which it has carried the figure for long."""
    lasts = [other for other in (spell, *carry) if other.end - other.start >= RESTS * fps and other.leg == spell.leg]
    return spell in lasts and any(abs(other.height - spell.height) < LEVEL for other in lasts if other != spell)


def _on_floor(spell: Spell, spells: list[Spell], fps: float, own_height: float) -> bool:
    reach = NEARBY * fps
    near = [other for other in spells if other.start < spell.end + reach and other.end > spell.start - reach]
    own = min(other.height for other in near if other.leg == spell.leg)
    return spell.height < own + own_height and spell.height < min(other.height for other in near) + HEIGHT


def _alone(spell: Spell, spells: list[Spell]) -> int:
    """Number of the spell's frames in which no lower foot is slow."""
    alone = np.ones(spell.end - spell.start, bool)
    for other in spells:
        if other.leg != spell.leg and other.height < spell.height:
            alone[max(other.start - spell.start, 0) : max(other.end - spell.start, 0)] = False
    return int(alone.sum())


def _rises_there(spell: Spell, feet: Feet) -> bool:
    """Whether the foot comes from below and never from above: it is lifted, or at the top of a jump."""
    before = feet.heights[max(spell.start - max(1, round(RISE_TIME * feet.fps)), 0) : spell.start + 1, spell.leg]
    above = before.min(axis=-1) - spell.height
    return bool(above.min() < -RISE_DEPTH and above.max() < RISE_LIFT)
