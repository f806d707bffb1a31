# SPDX-License-Identifier: MIT
"""When the feet of a clip stand, and whether they stand on spots: what the planner holds, out of what is detected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .clip import Array, Clip, Mask
from .contacts import find_contacts, stances
from .sole import Sole, apply
from .spots import give_time, separate_spots
from .treadmill import floor_velocity

# A foot of a clip in place that never stands on its floor does so where it is this close to it (leg lengths).
LOW = 0.03
NEVER = "no foot ever stands still: planted as a clip in place, by height and slope only"
CARRIED = "a clip in place, its feet carried back as on a treadmill: planted by height and slope only"


@dataclass(frozen=True)
class StandingFeet:
    """Contacts (F, L, 2) of heels and balls, whether they lock feet to spots, and sentences for the user."""

    contacts: Mask
    locked: bool
    told: tuple[str, ...] = ()


def find_standing(clip: Clip, sole: Sole) -> StandingFeet:
    """Detect contacts; in a clip in place they do not lock, since its feet go back with a floor that moves."""
    heel = apply(clip.foot, sole.heel)
    contacts = find_contacts(heel, clip.ball, fps=clip.fps, leg=clip.leg, up=clip.up, exact=False)
    contacts = _without_rolling_heels(clip, sole, heel, contacts)
    carried = floor_velocity(heel, clip.ball, fps=clip.fps, leg=clip.leg, up=clip.up).any()
    if contacts.any() and not carried:
        return StandingFeet(give_time(clip, separate_spots(clip, contacts)), True)
    contacts |= _low(clip, sole, heel) & ~contacts.any(axis=(0, 2))[:, None]
    return StandingFeet(contacts, False, (CARRIED if carried else NEVER,))


def stand_always(clip: Clip) -> StandingFeet:
    """Every foot stands on every frame, wherever it is."""
    return StandingFeet(np.ones((clip.frames, clip.legs, 2), bool), False)


def _without_rolling_heels(clip: Clip, sole: Sole, heel: Array, contacts: Mask) -> Mask:
    """Without heels that are slow while the ball, lower, goes on: they are on their way over a rolling foot."""
    standing = contacts.copy()
    for stance in stances(contacts):
        frames = slice(stance.start, stance.end), stance.leg
        above = (apply(clip.foot, sole.ball)[frames] - heel[frames]) @ clip.up
        if not contacts[*frames, 1].any() and np.median(above) < 0.0:
            standing[frames] = False
    return standing


def _low(clip: Clip, sole: Sole, heel: Array) -> Mask:
    """Where heel and ball (F, L, 2) are close to the clip's own floor."""
    low = LOW * clip.leg + sole.floor
    return np.stack([heel @ clip.up < low, clip.ball @ clip.up < low + sole.ball_height], axis=-1)
