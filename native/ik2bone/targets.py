# SPDX-License-Identifier: MIT
"""Where each foot shall go: pinned while it stands, on the surface and along its slope, and smooth in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .clip import Array, Clip, Mask
from .contacts import Stance, stances
from .footprint import Footprint, place_footprint
from .motion import gaps, quintic, smoothstep, velocity
from .rotations import matrix_from_vector, vector_from_matrix
from .sole import Sole

Ground = Callable[[Array, Array], tuple[Array, Array, Mask]]

# A foot that comes to rest late, or leaves early, is caught up with over this time (s) outside its contact.
CATCH_UP = 0.3
# Farther than this from where it stands (leg lengths), a foot no longer follows the slope it stood on.
SLOPE_RANGE = 0.35


@dataclass(frozen=True)
class Anchor:
    """One standing of one foot: where `part` of it stood in the clip and where it stands now, world space.

    `origin` and `point` are the joint or heel point before and after, `turn` (3, 3) maps the clip's level ground onto
    the slope, `ground` is the point of the surface below, `found` tells whether there was a surface.
    """

    stance: Stance
    part: str
    origin: Array
    point: Array
    turn: Array
    ground: Array
    normal: Array
    found: bool


@dataclass(frozen=True)
class Targets:
    """Targets over F frames and L legs, world space.

    `ball` and `ankle` (F, L, 3); `turn` (F, L, 3, 3) to put before each foot's orientation; `rise` (F, L) is the height
    that the ground asks for, without the lift that carries swinging feet over obstacles.
    """

    ball: Array
    ankle: Array
    turn: Array
    rise: Array
    anchors: tuple[Anchor, ...]


def steady(clip: Clip, heel: Array, contacts: Mask) -> Array:
    """Translations (F, L, 3) of the feet that make standing points stand, and fade out where nothing stands.

    In frames in which the ball stands it is held at its mean place; where only the heel stands, before or after, the
    heel is held where the ball's first or last frame puts it. Between contacts the translation joins both with
    matching velocity, or dies out.
    """
    shift = np.zeros_like(clip.ball)
    for leg in range(clip.legs):
        known = np.zeros(clip.frames, bool)
        rate = np.zeros((clip.frames, 3))
        paths = {"heel": heel[:, leg], "ball": clip.ball[:, leg]}
        speeds = {part: velocity(path, clip.fps) / clip.fps for part, path in paths.items()}
        for stance in (s for s in stances(contacts) if s.leg == leg):
            _hold(shift[:, leg], rate, known, stance, contacts[:, leg], paths, speeds)
        _fill(shift[:, leg], rate, known, round(CATCH_UP * clip.fps))
    return shift


def _hold(
    shift: Array,
    rate: Array,
    known: Mask,
    stance: Stance,
    contacts: Mask,
    paths: dict[str, Array],
    speeds: dict[str, Array],
) -> None:
    """Fill in `shift`, its `rate` and `known` in the frames of one stance."""
    inside = np.zeros_like(known)
    inside[stance.start : stance.end] = True
    ball = inside & contacts[:, 1]
    main = "ball" if ball.any() else "heel"
    frames = ball if ball.any() else inside
    shift[frames] = standing_place(paths[main], frames) - paths[main][frames]
    rate[frames] = -speeds[main][frames]
    known |= frames
    if main == "heel":
        return
    first, last = np.flatnonzero(ball)[[0, -1]]
    for rest, edge in ((np.arange(stance.start, first), first), (np.arange(last + 1, stance.end), last)):
        shift[rest] = paths["heel"][edge] + shift[edge] - paths["heel"][rest]
        rate[rest] = -speeds["heel"][rest]
        known[rest] = True


def standing_place(path: Array, frames: Mask) -> Array:
    """Mean place (3,) over the middle three fifths of the frames in which a point stands."""
    index = np.flatnonzero(frames)
    trim = len(index) // 5
    return path[index[trim : len(index) - trim]].mean(axis=0)


def _fill(shift: Array, rate: Array, known: Mask, reach: int) -> None:
    """Join the known stretches of `shift` (F, 3) with matching velocity; far from all of them it is zero."""
    if not known.any():
        return
    zero = np.zeros(3)
    for start, end in gaps(known):
        before, after, count = start > 0, end < len(known), end - start
        if before and after and count <= 2 * reach:
            shift[start:end] = quintic(shift[start - 1], rate[start - 1], shift[end], rate[end], count)
            continue
        inner = min(count, reach)
        if before:
            shift[start : start + inner] = quintic(shift[start - 1], rate[start - 1], zero, zero, inner)
        if after:
            shift[end - inner : end] = quintic(zero, zero, shift[end], rate[end], inner)


def find_anchors(clip: Clip, sole: Sole, heel: Array, contacts: Mask, ground: Ground, use_slope: bool) -> list[Anchor]:
    """One anchor for each stance, on the surface nearest to where the foot stood, raised as the last one was."""
    anchors: list[Anchor] = []
    rise = np.zeros(clip.legs)
    for stance in sorted(stances(contacts), key=lambda s: s.start):
        anchor = _anchor(clip, sole, heel, contacts, ground, use_slope, stance, float(rise.mean()))
        rise[stance.leg] = (anchor.point - anchor.origin) @ clip.up
        anchors.append(anchor)
    return anchors


def _anchor(
    clip: Clip, sole: Sole, heel: Array, contacts: Mask, ground: Ground, use_slope: bool, stance: Stance, rise: float
) -> Anchor:
    leg = stance.leg
    inside = np.zeros(clip.frames, bool)
    inside[stance.start : stance.end] = True
    ball = inside & contacts[:, leg, 1]
    part = "ball" if ball.any() else "heel"
    path, height = (clip.ball[:, leg], sole.ball_height[leg]) if part == "ball" else (heel[:, leg], 0.0)
    frames = ball if part == "ball" else inside
    origin = standing_place(path, frames)
    print_ = _footprint(clip, sole, leg, frames, part)
    below = origin - clip.up * (height - rise)
    placed = place_footprint(print_, below, clip.up, clip.leg, ground)
    turn = placed.turn if use_slope else np.eye(3)
    return Anchor(
        stance, part, origin, placed.point + turn @ clip.up * height, turn, placed.point, placed.normal, placed.found
    )


def _footprint(clip: Clip, sole: Sole, leg: int, frames: Mask, part: str) -> Footprint:
    """The level footprint round the standing point, turned as the foot is while it stands."""
    axes = clip.foot[frames, leg, :3, :3]
    forward = (axes @ sole.forward[leg]).mean(axis=0)
    forward = forward - (forward @ clip.up) * clip.up
    forward /= max(float(np.linalg.norm(forward)), 1e-300)
    length, ahead = sole.lengths[leg]
    ball = 0.0 if part == "ball" else length
    return Footprint(forward, np.array([ball - length, ball, ball + ahead]), 0.3 * length)


def blend_targets(clip: Clip, shift: Array, anchors: list[Anchor]) -> Targets:
    """Targets of all frames: each anchor's placing while its foot stands, blended from one to the next in between."""
    ball = np.empty_like(clip.ball)
    turn = np.empty((clip.frames, clip.legs, 3, 3))
    rise = np.zeros((clip.frames, clip.legs))
    for leg in range(clip.legs):
        mine = [anchor for anchor in anchors if anchor.stance.leg == leg]
        ball[:, leg], turn[:, leg], rise[:, leg] = _blend_leg(clip, clip.ball[:, leg] + shift[:, leg], mine)
    ankle = ball + np.einsum("flij,flj->fli", turn, clip.ankle - clip.ball)
    return Targets(ball, ankle, turn, rise, tuple(anchors))


def _blend_leg(clip: Clip, path: Array, anchors: list[Anchor]) -> tuple[Array, Array, Array]:
    """Ball targets (F, 3), turns (F, 3, 3) and rises (F,) of one leg."""
    weights = anchor_weights(clip.frames, [anchor.stance for anchor in anchors])
    placed = np.stack([_placed(path, anchor, SLOPE_RANGE * clip.leg) for anchor in anchors], axis=1)
    ball = np.einsum("fa,fai->fi", weights, placed)
    vectors = np.stack([vector_from_matrix(anchor.turn) for anchor in anchors])
    rises = np.array([(anchor.point - anchor.origin) @ clip.up for anchor in anchors])
    return ball, matrix_from_vector(weights @ vectors), weights @ rises


def anchor_weights(frames: int, spans: list[Stance]) -> Array:
    """Share (F, A) of each anchor in each frame: 1 while it stands, then over to the next along a quintic."""
    weights = np.zeros((frames, len(spans)))
    for index, span in enumerate(spans):
        start = 0 if index == 0 else span.start
        end = frames if index == len(spans) - 1 else span.end
        weights[start:end, index] = 1.0
        if index:
            before = spans[index - 1].end
            step = smoothstep(np.arange(1, span.start - before + 1) / (span.start - before + 1))
            weights[before : span.start, index] = step
            weights[before : span.start, index - 1] = 1 - step
    return weights


def _placed(path: Array, anchor: Anchor, near: float) -> Array:
    """The path (F, 3) as the anchor places it: rigidly along the slope close by, just moved farther away."""
    away = path - anchor.origin
    limited = away * (near / np.sqrt(np.sum(away**2, axis=-1, keepdims=True) + near**2))
    return path + (anchor.point - anchor.origin) + limited @ (anchor.turn - np.eye(3)).T
