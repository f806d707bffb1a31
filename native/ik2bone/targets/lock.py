# SPDX-License-Identifier: MIT
"""Foot lock in the clip's own space: it removes the sliding and trembling of standing feet."""

import numpy as np

from ..arrays import Array, Mask
from ..clip import Clip
from ..contacts.paths import REST
from ..contacts.stance import Stance, stances, standing_frames, standing_place
from ..curves import fade, quantile, velocity
from ..rotations import einsum, length_of, level_part, matrix_from_vector, shortest_turns, unit

# The hold of a foot fades in before its contact, and out after it, within this time (s).
FADE = 0.2
# A standing foot is turned by no more than this (radians), which is about what noise turns it by. A foot that tilts or
# pivots farther does so in the motion itself.
LARGEST_TURN = np.radians(1.0)


def hold_feet(
    clip: Clip,
    heel: Array,
    contacts: Mask,
    places: dict[Stance, Array],
    firm: Mask,
    added: Mask,
    ball_height: Array,
) -> tuple[Array, Array]:
    """How to hold standing points in place: shifts (F, L, 3) of the balls, and rotation vectors (F, L, 3) of the feet
    about their balls, multiplied on the left. Where nothing stands, they are joined with matching velocity.

    While the ball stands (`contacts` (F, L, 2)), it is held at its place (3,) of the stance. While the `heel` (F, L, 3)
    stands with it, the foot keeps its mean direction. While only the heel stands, it is held where the frames of the
    ball before and after put it. A stance with frames that are `firm` (F, L) keeps its direction, however far the clip
    turns the foot: the direction of the frames in which the foot stands in the clip, which are all but those `added`
    (F, L). If there are no such frames, the foot lies flat, with its ball joint `ball_height` (L,) over its heel.
    """
    spans = stances(contacts)
    turn = _hold_direction(clip, heel - clip.ball, contacts, spans, firm, added, ball_height)
    heel = clip.ball + einsum("flij,flj->fli", matrix_from_vector(turn), heel - clip.ball)
    shift, known = np.zeros_like(heel), contacts[..., 0] | contacts[..., 1]
    slides = np.where(contacts[..., 1:], velocity(clip.ball, clip.fps), velocity(heel, clip.fps))
    steps = [length_of(path[1:] - path[:-1]) for path in (heel, clip.ball)]
    for span in spans:
        rows = span.rows
        held = standing_frames(contacts[rows])
        first, last, behind = held[0], held[-1], heel[rows]
        part = int(contacts[rows][first, 1])
        moved, main = shift[rows], (heel, clip.ball)[part][rows]
        moved[held] = places[span] - main[held]
        alone, heels = np.flatnonzero(~contacts[rows][:, part]), behind[held] + moved[held]
        at = np.interp(alone, held, np.arange(len(held)))
        before, after = np.floor(at).astype(int), np.ceil(at).astype(int)
        moved[alone] = heels[before] + (at - before)[:, None] * (heels[after] - heels[before]) - behind[alone]
        for by, start, end in ((0, 0, first), (part, first, last + 1), (0, last + 1, len(moved))):
            if start < end:
                more = int(end - start < 2)
                own = steps[by][span.start : span.end - 1, span.leg][max(start - more, 0) : end + more - 1]
                # Points of animators and formulas rest: their speed at the ends belongs to the swings around.
                slides[rows][start:end] *= len(own) > 0 and quantile(own, 0.5) >= REST * clip.leg / clip.fps
    return fade(shift, known, FADE * clip.fps, -slides / clip.fps), turn


def _hold_direction(
    clip: Clip, away: Array, contacts: Mask, spans: list[Stance], firm: Mask, added: Mask, flat: Array
) -> Array:
    """Rotation vectors (F, L, 3) that keep the vectors `away` (F, L, 3) from ball to heel at the mean of a stance."""
    both, goal, whole = contacts[..., 0] & contacts[..., 1], away.copy(), np.zeros_like(firm)
    for span in spans:
        frames = span.start + np.flatnonzero(both[span.rows])
        if len(frames):
            own = frames[~added[frames, span.leg]]
            mean = standing_place(away[:, span.leg], own if len(own) else frames)
            goal[frames, span.leg] = mean if len(own) else _laid_flat(mean, flat[span.leg], clip.up)
            whole[span.rows] = firm[span.rows].any()
    turns = shortest_turns(away, goal)
    angle = np.maximum(length_of(turns), 1e-300)[..., None]
    limited = turns * (LARGEST_TURN * np.tanh(angle / LARGEST_TURN) / angle)
    return fade(np.where(whole[..., None], turns, limited), both, FADE * clip.fps, 0.0 * turns)


def _laid_flat(away: Array, ball_height: float, up: Array) -> Array:
    """The vector `away` (3,) from ball to heel, turned about the ball until the ball is `ball_height` over the heel."""
    level, low = level_part(away, up), min(ball_height, float(np.linalg.norm(away)))
    return unit(level) * np.sqrt(max(float(away @ away) - low**2, 0.0)) - low * up if level.any() else away
