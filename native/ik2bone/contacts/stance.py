# SPDX-License-Identifier: MIT
"""Stances: the intervals in which a foot stands, and the frames on which its heel or ball holds it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, Indices, Mask
from ..curves import column_runs

# The shortest contact (s). In a run at 6 m/s, feet stand for 0.12 s (Novacheck, Gait and Posture 7, 1998). Speeds that
# are smoothed over 0.04 s show this much of it. Shorter gaps are closed if the part comes back to its place.
LEAST_CONTACT = 0.08
# The time of a step (s): one foot of a walk comes down in it, and a foot is put down or rolls off in half of it.
STEP = 0.5
# The time of a roll (s): a foot turns about its heel for about this long before its ball comes to stand. Pitches of
# heels, and slopes and heights under feet that follow the ground, are smoothed over it.
ROLL = 0.15
# Feet accelerate by more than this (leg lengths / s^2, twice gravity at a leg of 0.9 m) only as they strike the ground.
# At 30 frames a second it changes a foot's displacement per frame by 0.02 leg.
HASTY = 20.0


class Stance(NamedTuple):
    """One stance of one foot: the frames [start, end) on which its heel or ball stands. With `part` 0 (heel) or 1
    (ball), the frames on which that part stands.
    """

    leg: int
    start: int
    end: int
    part: int = -1

    @property
    def rows(self) -> tuple[slice, int]:
        """The index of the stance's frames and foot in arrays (F, L, ...)."""
        return slice(self.start, self.end), self.leg

    @property
    def cells(self) -> tuple[slice, int, int]:
        """The index of the frames, foot and part of a part's stance in arrays (F, L, 2, ...)."""
        return slice(self.start, self.end), self.leg, self.part

    def moved(self, frames: int) -> Stance:
        """The same stance, later by this number of frames."""
        return self._replace(start=self.start + frames, end=self.end + frames)


def stances(contacts: Mask, apart: int = 1) -> list[Stance]:
    """The stances of each leg in order of time, from contacts (frames, legs, parts). Those that are fewer than `apart`
    frames apart count as one.
    """
    stands = contacts[..., 0] | contacts[..., -1]
    for leg, start, end in column_runs(~stands) if apart > 1 else ():
        stands[start:end, leg] = start > 0 and end < len(stands) and end - start < apart
    return [Stance(*run) for run in column_runs(stands)]


def half_step(fps: float) -> int:
    """The frames of half a step, at least one."""
    return max(1, round(0.5 * STEP * fps))


def part_stances(contacts: Mask) -> list[Stance]:
    """The stances of each heel and each ball, from contacts (frames, legs, 2)."""
    return [Stance(column // 2, start, end, column % 2) for column, start, end in column_runs(contacts)]


def standing_frames(contacts: Mask) -> Indices:
    """The frames on which a foot is held in a stance with contacts (N, 2): those of the ball, or of the heel if no ball
    stands.
    """
    heels, balls = (stands.nonzero()[0] for stands in contacts.T)
    return balls if len(balls) else heels


def standing_core(frames: Indices) -> Indices:
    """The middle three fifths of some frames."""
    trim = len(frames) // 5
    return frames[trim : len(frames) - trim]


def standing_place(path: Array, frames: Indices) -> Array:
    """Mean place (3,) over the middle three fifths of the frames (indices) in which a point stands."""
    core = path[standing_core(frames)]
    return np.asarray(core.sum(axis=0) / len(core))
