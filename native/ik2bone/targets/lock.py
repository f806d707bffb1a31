# SPDX-License-Identifier: MIT
"""Standing feet held where they stand, in the clip's own space: what slides or trembles there is taken away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contacts.detect import Stance, stances
from ..curves import come_to_rest, gaps, odd_window, smoothed, smoothstep, velocity
from ..model import Array, Clip, Mask
from ..rotations import matrix_from_vector, shortest_turns

# A foot that comes to rest late, or leaves early, is caught up with over this time (s) outside its contact.
CATCH_UP = 0.3
# The speed at which it does so is lost, or gained, over this time (s): longer, and the foot overshoots.
COME_TO_REST = 0.2
# Turns of a standing foot (radians) up to about these are noise and taken away; a foot that tilts or pivots farther
# does so because the clip wants it. What comes and goes within a shorter time (s) is noise whatever its size.
LARGEST_TILT, LARGEST_PIVOT = np.radians(1.0), np.radians(2.0)
JITTER = 0.05
# Standing feet that are flat but for this (a slant) lie flat; of what is more slanted, ever less is taken.
FLAT = np.sin(np.radians(0.5))
# Points slower than this (leg lengths a second) rest, as animators and formulas have it, which so many frames tell.
STILL, LEAST_FRAMES = 0.03, 3
# They come to lie so close together (leg lengths): noise of motion capture is larger, rounding smaller.
RESTS = 1e-4


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

    Where the ball stands it is held in its place (3,), where the heel stands with it the foot keeps its mean direction.
    Where only the heel stands, before or after, it is held where the ball's first or last frame puts it. A standing
    with frames that are `firm` (F, L) keeps its direction whatever the clip does: that of its other frames. Where there
    are none, or where it is flat but for little, it lies flat, its ball's joint by `ball_height` (L,) over its heel.
    """
    firm = np.zeros((clip.frames, clip.legs), bool) if firm is None else firm
    flat = np.zeros(clip.legs) if ball_height is None else ball_height
    legs = [
        _hold_leg(clip, heel[:, leg], contacts[:, leg], (firm[:, leg], flat[leg]), leg, places)
        for leg in range(clip.legs)
    ]
    shift, turn = (np.stack(parts, axis=1) for parts in zip(*legs, strict=True))
    return Hold(shift, turn)


def _hold_leg(
    clip: Clip, heel: Array, contacts: Mask, lying: tuple[Mask, float], leg: int, places: dict[Stance, Array]
) -> tuple[Array, Array]:
    ball, fps = clip.ball[:, leg], clip.fps
    spans = [(stance.start, stance.end) for stance in stances(contacts[:, None])]
    turn = _hold_direction(clip, heel - ball, contacts.all(axis=-1), *lying, spans)
    away = np.einsum("fij,fj->fi", matrix_from_vector(turn), heel - ball)
    shift, rate, known = np.zeros_like(ball), np.zeros_like(ball), np.zeros(len(ball), bool)
    for start, end in spans:
        frames = np.arange(start, end)
        held = start + standing_frames(contacts[start:end])
        main = ball if contacts[held[0], 1] else ball + away
        shift[held] = places[Stance(leg, start, end)] - main[held]
        rate[held] = -_rates_of(main, held, (start, end), fps, clip.leg)
        for rest, edge in ((frames[frames < held[0]], held[0]), (frames[frames > held[-1]], held[-1])):
            if not len(rest):
                continue
            shift[rest] = (ball + away + shift)[edge] - (ball + away)[rest]
            rate[rest] = -_rates_of(ball + away, rest, (start, end), fps, clip.leg)
            known[rest] = True
        known[held] = True
    _fill(shift, rate, known, fps)
    return shift, turn


def _rates_of(path: Array, frames: NDArray[np.intp], span: tuple[int, int], fps: float, leg: float) -> Array:
    """How far a path (F, 3) goes in each of some frames of a standing [start, end).

    Of a point that rests it is told from the standing alone: what comes before and after has another speed.
    """
    lacking = max(LEAST_FRAMES - (frames[-1] + 1 - frames[0]), 0)
    first, last = max(frames[0] - lacking, span[0]), min(frames[-1] + 1 + lacking, span[1])
    inside = velocity(path[first:last], fps)[frames - first]
    rests = np.median(np.linalg.norm(inside, axis=-1)) < STILL * leg
    return (inside if rests else velocity(path, fps)[frames]) / fps


def _hold_direction(
    clip: Clip, away: Array, both: Mask, firm: Mask, flat: float, spans: list[tuple[int, int]]
) -> Array:
    """Rotation vectors (F, 3) that keep the way from ball to heel (F, 3) in its mean direction where both stand."""
    fps, up = clip.fps, clip.up
    turn, rate, known = np.zeros_like(away), np.zeros_like(away), np.zeros(len(away), bool)
    # Frames beside a stance that tell the speed at its ends.
    beside = max(1, round(0.04 * fps))
    for start, end in spans:
        frames = np.arange(start, end)[both[start:end]]
        if len(frames):
            around = np.arange(max(start - beside, 0), min(end + beside, len(away)))
            mean, first = _lying(away, flat, frames, firm[frames], clip), around[0]
            turns, whole = shortest_turns(away[around], mean), firm[start:end].any()
            noise = turns if whole else _limited(turns, up)
            span = frames[0] - first, frames[-1] + 1 - first
            inside = turns[slice(*span)]
            length = max(float(np.linalg.norm(mean)), 1e-9 * clip.leg)
            rate[frames] = _rates_of(noise, frames - first, span, fps, clip.leg / length)
            turn[frames] = (inside if whole else _without_roll(inside, fps, up))[frames - frames[0]]
            known[frames] = True
    _fill(turn, rate, known, fps)
    return turn


def _lying(away: Array, flat: float, frames: NDArray[np.intp], firm: Mask, clip: Clip) -> Array:
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


def _without_roll(turns: Array, fps: float, up: Array) -> Array:
    """The turns (F, 3) of a standing foot with all of their jitter, and of the rest as much as is noise."""
    slow = smoothed(turns, odd_window(JITTER, fps))
    return turns - slow + _limited(slow, up)


def _limited(turns: Array, up: Array) -> Array:
    """Turns (F, 3) whose tilts and pivots do not go beyond what is noise."""
    pivot = (turns @ up)[:, None] * up
    return _shortened(pivot, LARGEST_PIVOT) + _shortened(turns - pivot, LARGEST_TILT)


def _shortened(turns: Array, largest: float) -> Array:
    """Small turns (F, 3) as they are, large ones shortened to the largest angle."""
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


def _fill(values: Array, rates: Array, known: Mask, fps: float) -> None:
    """Join the known stretches of `values` (F, 3) with matching rates (per frame); far from all of them it is zero."""
    if not known.any():
        return
    far, near = max(round(CATCH_UP * fps), 1), max(round(COME_TO_REST * fps), 1)
    for start, end in gaps(known):
        before, after, count = start > 0, end < len(known), end - start
        time = np.arange(1, count + 1)
        joined = before and after and count <= 2 * far
        for edge, there, away in ((start - 1, before, time), (end, after, time[::-1])):
            if there:
                share = away / (count + 1 if joined else far)
                values[start:end] += (1 - smoothstep(share))[:, None] * values[edge]
                rest = min(near, count + 1) * (1.0 if edge < start else -1.0)
                values[start:end] += rest * come_to_rest(away / abs(rest))[:, None] * rates[edge]
