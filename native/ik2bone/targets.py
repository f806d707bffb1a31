# SPDX-License-Identifier: MIT
"""Where each foot shall go: pinned while it stands, on the surface and along its slope, and smooth in between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .clip import Array, Clip, Ground, Mask
from .contacts import Stance, stances
from .footprint import Footprint, place_footprint
from .hold import Hold, standing_place
from .motion import smoothstep
from .rotations import matrix_from_vector, vector_from_matrix
from .sole import Sole

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

    def with_legs(self, legs: Mask, other: Targets) -> Targets:
        """These targets with those of some legs (L,) taken from others."""
        ball, ankle, rise = self.ball.copy(), self.ankle.copy(), self.rise.copy()
        turn = self.turn.copy()
        for mine, theirs in ((ball, other.ball), (ankle, other.ankle), (turn, other.turn), (rise, other.rise)):
            mine[:, legs] = theirs[:, legs]
        return Targets(ball, ankle, turn, rise, self.anchors)


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
    frames = np.arange(stance.start, stance.end)
    balls = frames[contacts[frames, leg, 1]]
    part = "ball" if len(balls) else "heel"
    path, height = (clip.ball[:, leg], sole.ball_height[leg]) if len(balls) else (heel[:, leg], 0.0)
    frames = balls if len(balls) else frames
    origin = standing_place(path, frames)
    print_ = _footprint(clip, sole, leg, frames, part)
    below = origin - clip.up * (height - rise)
    placed = place_footprint(print_, below, clip.up, clip.leg, ground)
    turn = placed.turn if use_slope else np.eye(3)
    return Anchor(
        stance, part, origin, placed.point + turn @ clip.up * height, turn, placed.point, placed.normal, placed.found
    )


def _footprint(clip: Clip, sole: Sole, leg: int, frames: NDArray[np.intp], part: str) -> Footprint:
    """The level footprint round the standing point, turned as the foot is while it stands."""
    axes = clip.foot[frames, leg, :3, :3]
    forward = (axes @ sole.forward[leg]).mean(axis=0)
    forward = forward - (forward @ clip.up) * clip.up
    forward /= max(float(np.linalg.norm(forward)), 1e-300)
    length, ahead = sole.lengths[leg]
    ball = 0.0 if part == "ball" else length
    return Footprint(forward, np.array([ball - length, ball, ball + ahead]), 0.3 * length)


def blend_targets(clip: Clip, hold: Hold, anchors: list[Anchor]) -> Targets:
    """Targets of all frames: each anchor's placing while its foot stands, blended from one to the next in between."""
    ball = np.empty_like(clip.ball)
    turn = np.empty((clip.frames, clip.legs, 3, 3))
    rise = np.zeros((clip.frames, clip.legs))
    for leg in range(clip.legs):
        mine = [anchor for anchor in anchors if anchor.stance.leg == leg]
        if not mine:
            ball[:, leg], turn[:, leg] = clip.ball[:, leg], np.eye(3)
            continue
        ball[:, leg], turn[:, leg], rise[:, leg] = _blend_leg(clip, clip.ball[:, leg] + hold.shift[:, leg], mine)
    turn = turn @ matrix_from_vector(hold.turn)
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
