# SPDX-License-Identifier: MIT
"""Foot lock in the clip's own space: what slides or trembles in a standing foot is taken away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contacts.detect import Stance, stances
from ..curves import fade, smoothstep, velocity
from ..model import Array, Clip, Mask
from ..rotations import matrix_from_vector, shortest_turns

# What holds a foot fades in before its contact, and out after it, within this time (s).
FADE = 0.2
# A point slower than this (leg lengths a second) in the median over a stance rests, and its speed as the
# stance begins and ends belongs to what comes before and after; one that is twice as fast slides.
STILL = 0.03
# Turns of a standing foot (radians) up to about these are noise and taken away; a foot that tilts or pivots farther
# does so because the clip wants it.
LARGEST_TILT, LARGEST_PIVOT = np.radians([1.0, 2.0])
# Feet that stand pitched by less than this (radians) are levelled; the correction fades out by twice as much.
FLAT = np.radians(0.5)
# Frames on which a point is within this distance (leg lengths) of its median rest: noise of motion capture is larger,
# rounding smaller. It takes so many of them to tell.
RESTS, LEAST_FRAMES = 1e-4, 3


@dataclass(frozen=True)
class Hold:
    """What makes a clip's standing feet stand where they are: `shift` (F, L, 3) moves each ball, `turn` (F, L, 3) is a
    rotation vector about the ball, put before the foot's orientation.
    """

    shift: Array
    turn: Array


def hold_feet(
    clip: Clip,
    heel: Array,
    contacts: Mask,
    places: dict[Stance, Array],
    firm: Mask | None = None,
    ball_height: Array | None = None,
) -> Hold:
    """Hold standing points, and join the holds with matching velocity where nothing stands.

    Where the ball stands (`contacts` (F, L, 2)) it is held in its place (3,), and where the `heel` (F, L, 3) stands
    with it the foot keeps its mean direction. Where only the heel stands, before or after, it is held where the ball's
    first or last frame puts it. A stance with frames that are `firm` (F, L) keeps its direction whatever the clip does:
    that of its other frames. Where there are none, or where it is nearly flat, it lies flat, its ball joint by
    `ball_height` (L,) over its heel.
    """
    firm = np.zeros((clip.frames, clip.legs), bool) if firm is None else firm
    flat, spans = np.zeros(clip.legs) if ball_height is None else ball_height, stances(contacts)
    turn = _hold_direction(clip, heel - clip.ball, contacts, spans, firm, flat)
    heel = clip.ball + np.einsum("flij,flj->fli", matrix_from_vector(turn), heel - clip.ball)
    shift, known = np.zeros_like(heel), np.zeros((clip.frames, clip.legs), bool)
    slides = np.where(contacts[..., 1:], velocity(clip.ball, clip.fps), velocity(heel, clip.fps))
    for span in spans:
        rows = slice(span.start, span.end), span.leg
        held = standing_frames(contacts[rows])
        first, last, ball, behind = held[0], held[-1], clip.ball[rows], heel[rows]
        moved, steady = shift[rows], known[rows]
        moved[held] = places[span] - (ball if contacts[rows][first, 1] else behind)[held]
        moved[:first] = behind[first] + moved[first] - behind[:first]
        moved[last + 1 :] = behind[last] + moved[last] - behind[last + 1 :]
        steady[:first], steady[held], steady[last + 1 :] = True, True, True
        speed = np.median(np.linalg.norm(slides[rows][held], axis=-1))
        slides[rows] *= smoothstep(speed / (STILL * clip.leg) - 1.0)
    return Hold(fade(shift, known, FADE * clip.fps, -slides / clip.fps), turn)


def _hold_direction(clip: Clip, away: Array, contacts: Mask, spans: list[Stance], firm: Mask, flat: Array) -> Array:
    """Rotation vectors (F, L, 3) that keep the ways from ball to heel (F, L, 3) as they are on the mean of a stance."""
    both, goal, whole = contacts.all(axis=-1), away.copy(), np.zeros_like(firm)
    for span in spans:
        rows = slice(span.start, span.end), span.leg
        frames = span.start + np.flatnonzero(both[rows])
        if len(frames):
            goal[frames, span.leg] = _lying(clip, away[:, span.leg], frames, firm[frames, span.leg], flat[span.leg])
            whole[rows] = firm[rows].any()
    turns = shortest_turns(away, goal)
    turns = np.where(whole[..., None], turns, _limited(turns, clip.up))
    return fade(turns, both, FADE * clip.fps, 0.0 * turns)


def _lying(clip: Clip, away: Array, frames: NDArray[np.intp], firm: Mask, flat: float) -> Array:
    """The way from ball to heel (3,) of a foot that stands on some frames (indices), of which some are firm."""
    own = frames[~firm]
    mean = standing_place(away, own if len(own) else frames, clip.leg)
    slant = (mean @ clip.up + flat) / max(float(np.linalg.norm(mean)), 1e-9 * clip.leg)
    share = 1.0 - smoothstep(np.abs(slant) / FLAT - 1.0) if len(own) else 1.0
    return mean + share * (_laid_flat(mean, flat, clip.up) - mean)


def _laid_flat(away: Array, ball_height: float, up: Array) -> Array:
    """The way (3,) from ball to heel turned about the ball, until the ball is so high over the heel."""
    level = away - (away @ up) * up
    length, whole = float(np.linalg.norm(level)), float(np.linalg.norm(away))
    if length <= 1e-9 * whole:
        return away
    low = min(ball_height, whole)
    return level * (np.sqrt(whole**2 - low**2) / length) - low * up


def _limited(turns: Array, up: Array) -> Array:
    """Turns (F, L, 3) whose tilts and pivots do not go beyond what is noise."""
    pivot = (turns @ up)[..., None] * up
    return _shortened(pivot, LARGEST_PIVOT) + _shortened(turns - pivot, LARGEST_TILT)


def _shortened(turns: Array, largest: float) -> Array:
    """Small turns (F, L, 3) as they are, large ones shortened to the largest angle."""
    angle = np.maximum(np.linalg.norm(turns, axis=-1, keepdims=True), 1e-300)
    return turns * (largest * np.tanh(angle / largest) / angle)


def standing_frames(contacts: Mask) -> NDArray[np.intp]:
    """Frames of a standing (N, 2) by which its foot is held: those of the ball, of the heel where no ball stands."""
    balls = np.flatnonzero(contacts[:, 1])
    return balls if len(balls) else np.flatnonzero(contacts[:, 0])


def standing_core(frames: NDArray[np.intp]) -> NDArray[np.intp]:
    """The middle three fifths of some frames."""
    trim = len(frames) // 5
    return frames[trim : len(frames) - trim]


def standing_place(path: Array, frames: NDArray[np.intp], leg: float) -> Array:
    """Mean place (3,) over the middle three fifths of the frames (indices) in which a point stands.

    Of a point that rests there but creeps away before or after, only the frames count in which it rests.
    """
    core = path[standing_core(frames)]
    rests = np.linalg.norm(core - np.median(core, axis=0), axis=-1) < RESTS * leg
    return core[rests if rests.sum() >= LEAST_FRAMES and 2 * rests.sum() > len(core) else slice(None)].mean(axis=0)
