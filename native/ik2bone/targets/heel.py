# SPDX-License-Identifier: MIT
"""Heels kept out of the ground: the foot pitches about its standing ball, smoothly and no more than it must."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..anchors.anchor import unridden
from ..curves import odd_window, runs, smooth_cover
from ..ground.query import ask
from ..model import Array, Clip, Ground, Mask, level_part
from ..rotations import matrix_from_vector
from ..sole.measure import Sole, apply
from .blend import Targets

# The running maximum and the average after it share this width (s): the pitch is never less than what is needed.
WINDOW = 0.15
STEEPEST_PITCH = np.radians(40.0)
# Heels of soles that are known by proportion alone may lie under the ground as deep as they do under their balls in the
# clip, up to this (leg lengths): lifting them there would tilt feet for the sake of a guess.
SINKS = 0.006
# A heel that leaves its place by more than this (leg lengths) does not stand.
STAYS = 0.001
# Nor does one that is higher over the ground than this (leg lengths).
HANGS = 0.015


def raise_heels(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, enforced: Mask, ground: Ground) -> Targets:
    """Pitch feet about the ball where the heel of a standing foot would lie under the ground.

    Heels that are `enforced` (F, L, 2) to stand are raised no more than they must be, and no sooner.
    """
    pitch = np.zeros(contacts.shape[:2])
    window = odd_window(WINDOW, clip.fps)
    turn, smooth = targets.turn, 1.0 - smooth_cover(enforced[..., 0].astype(float), window)
    # Once more, because pitching moves the heel over other ground.
    for _ in range(2):
        needed, axis = _needed_pitch(clip, sole, replace(targets, turn=turn), ground)
        needed = np.where(contacts.any(axis=-1), np.clip(needed, 0.0, STEEPEST_PITCH), 0.0)
        pitch += needed + smooth * (smooth_cover(needed, window) - needed)
        turn = matrix_from_vector(axis * pitch[..., None]) @ targets.turn
    return replace(targets, turn=turn)


def raise_balls(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, enforced: Mask, ground: Ground) -> Targets:
    """Pitch feet about the heel where that is `enforced` (F, L, 2) to stand alone and the ball would lie under ground.

    Heels that were found alone come down before their balls, which are over the ground then.
    """
    alone = enforced[..., 0] & ~contacts[..., 1]
    if not alone.any():
        return targets
    foot = apply(clip.foot, sole.heel)
    heel, turn = targets.ball + _turned(targets.turn, foot - clip.ball), targets.turn
    pitch = np.zeros(alone.shape)
    # Once more, because pitching moves the ball over other ground.
    for _ in range(2):
        away = _turned(turn, apply(clip.foot, sole.ball) - foot)
        needed, axis = _ball_pitch(clip, targets, heel, away, ground)
        needed = smooth_cover(np.where(alone, needed, 0.0), odd_window(WINDOW, clip.fps))
        pitch += np.where(contacts[..., 1], 0.0, needed)
        turn = matrix_from_vector(axis * pitch[..., None]) @ targets.turn
    return replace(targets, turn=turn, ball=heel + _turned(turn, clip.ball - foot))


def standing_contacts(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, ground: Ground) -> Mask:
    """The contacts without the frames in which a heel leaves its place or hangs over it: there the foot rolls."""
    path = targets.ball + _turned(targets.turn, apply(clip.foot, sole.heel) - clip.ball)
    hits, normals, found = ask(ground, targets.asking(path, clip.up), clip.up)
    hangs = found & (np.sum((path - hits) * normals, axis=-1) > HANGS * clip.leg)
    standing = contacts.copy()
    for leg in range(clip.legs):
        for start, end in runs(contacts[:, leg, 0]):
            places = unridden(targets.anchors, leg, (start, end), path[start:end, leg])
            alone = ~contacts[start:end, leg, 1]
            place = np.median(places[alone if alone.any() else slice(None)], axis=0)
            away = np.linalg.norm(places - place, axis=-1) > STAYS * clip.leg
            standing[start:end, leg, 0] = ~away & ~hangs[start:end, leg]
    return standing


def _needed_pitch(clip: Clip, sole: Sole, targets: Targets, ground: Ground) -> tuple[Array, Array]:
    """Pitch (F, L) that lifts each heel onto the ground, and the level axis (F, L, 3) it turns about."""
    away = _turned(targets.turn, apply(clip.foot, sole.heel) - clip.ball)
    heel = targets.ball + away
    hits, _, found = ask(ground, targets.asking(heel, clip.up), clip.up)
    guessed = np.array([name == "proportion" for name in sole.source])
    lower = (apply(clip.foot, sole.ball) - apply(clip.foot, sole.heel)) @ clip.up
    sunk = np.clip(lower, 0.0, SINKS * clip.leg * guessed)
    under = np.where(found, (hits - heel) @ clip.up - sunk, 0.0)
    length, axis = _level_axis(away, clip)
    return np.arctan2(under, length), axis


def _ball_pitch(clip: Clip, targets: Targets, heel: Array, away: Array, ground: Ground) -> tuple[Array, Array]:
    """Pitch (F, L) that lifts each ball, `away` (F, L, 3) from its heel, onto the ground, and the axis (F, L, 3)."""
    hits, _, found = ask(ground, targets.asking(heel + away, clip.up), clip.up)
    length, axis = _level_axis(away, clip)
    under = np.where(found, (hits - heel - away) @ clip.up, 0.0)
    return np.clip(np.arctan2(under, length), 0.0, STEEPEST_PITCH), axis


def _level_axis(away: Array, clip: Clip) -> tuple[Array, Array]:
    """Level lengths (F, L) of ways (F, L, 3), and the level axes (F, L, 3) about which their ends rise."""
    level = level_part(away, clip.up)
    length = np.maximum(np.linalg.norm(level, axis=-1), 1e-9 * clip.leg)
    return length, np.cross(level, clip.up) / length[..., None]


def _turned(turn: Array, ways: Array) -> Array:
    """Ways (F, L, 3) turned by matrices (F, L, 3, 3)."""
    return np.einsum("flij,flj->fli", turn, ways)
