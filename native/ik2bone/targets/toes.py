# SPDX-License-Identifier: MIT
"""Toes that lie on the ground while the ball of their foot stands, however far the foot rolls over them."""

from __future__ import annotations

import numpy as np

from ..anchors.footprint import EVEN
from ..curves import fade, runs
from ..model import Array, Clip, Ground, Mask, Note
from ..rotations import (
    dot,
    length_of,
    matrix_from_vector,
    move_points,
    nearest_rotations,
    shortest_turns,
    unit,
    vector_from_matrix,
)
from ..sole.measure import Sole
from .blend import Targets
from .lock import FADE, LARGEST_TURN

# Toes bend by this at the most (radians). The great toe bends up by 42 degrees in walking (Nawoczenski et al., 1999)
# and by 90 under a figure on tiptoe; it bends down by 45 (American Academy of Orthopaedic Surgeons).
BENT_UP, BENT_DOWN = np.radians([90.0, 45.0])


def lay_toes(
    clip: Clip, sole: Sole, targets: Targets, stands: Mask, ground: Ground, aligned: bool
) -> tuple[Array, Mask]:
    """Rotation vectors (F, L, 3) in toe bone space that lay the toes of standing balls (F, L) on the surface, and which
    of those (F, L) they only lay as far as toes bend.

    They turn about the ball by the shortest way, so that they keep their heading. Toes of feet that are not `aligned`
    with slopes bend up over the ground, and not down to it. Feet without toe bones have zeros.
    """
    stands, vectors, short = stands & clip.has_toe, np.zeros(clip.ball.shape), np.zeros_like(stands)
    if not stands.any():
        return vectors, short
    turns, short[stands] = _within_range(
        clip, sole, targets, stands, _laid(clip, sole, targets, stands, ground, aligned)
    )
    axes = nearest_rotations(targets.turn[stands] @ clip.toe[stands][:, :3, :3] / clip.scale[stands][:, 3, None])
    vectors[stands] = np.einsum("nji,nj->ni", axes, vector_from_matrix(turns))
    return fade(vectors, stands, FADE * clip.fps), short


def tell_toes(short: Mask) -> list[Note]:
    """A note about toes (F, L) that would have had to turn farther than toes go."""
    count = sum(len(runs(short[:, leg])) for leg in range(short.shape[1]))
    return [Note("toes_short", {"count": count})] if count else []


def _laid(clip: Clip, sole: Sole, targets: Targets, stands: Mask, ground: Ground, aligned: bool) -> Array:
    """Turns (N, 3, 3), world space, that lay the toes of standing feet (F, L) along the ground, tips on the surface."""
    normals, up = _normals(clip, sole, targets)[stands], _directions(clip.toe, sole.toe_up, targets, stands)
    upright = matrix_from_vector(shortest_turns(up, normals))
    tip = np.einsum("nij,nj->ni", upright, _tips(clip, sole, targets, stands))
    aside, length = unit(np.cross(tip, normals)), np.maximum(length_of(tip), 1e-300)
    # The tip's height over the ball's joint along the normal, as it is and as it should be.
    present, goal = dot(tip, normals), -sole.ball_height[np.nonzero(stands)[1]]
    facing, points = np.maximum(normals @ clip.up, 1e-3), np.zeros((*stands.shape, 1, 3))
    points[stands, 0] = targets.ball[stands] + tip
    lift = targets.depths(points, stands, ground, clip.up)[stands, 0] - (goal - present) / facing
    lift = lift if aligned else np.maximum(lift, 0.0)
    # Past an edge toes stay in the plane of their foot.
    asked = goal + np.where(np.abs(lift) <= EVEN * clip.leg, lift, 0.0) * facing
    pitch = np.arcsin(np.clip(asked / length, -1.0, 1.0)) - np.arcsin(np.clip(present / length, -1.0, 1.0))
    return matrix_from_vector(pitch[:, None] * aside) @ upright


def _normals(clip: Clip, sole: Sole, targets: Targets) -> Array:
    """What the soles lie along (F, L, 3): the slopes of anchors, else how the foot is turned."""
    normals = unit(np.einsum("flij,lj->fli", targets.turn @ clip.foot[..., :3, :3], sole.up))
    for anchor in targets.anchors:
        if anchor.part != "swing":
            span = slice(anchor.stance.start, anchor.stance.end)
            normals[span, anchor.stance.leg] = anchor.cut(span.start, span.stop).turns(span.stop - span.start) @ clip.up
    return normals


def _directions(bones: Array, own: Array, targets: Targets, stands: Mask) -> Array:
    """World directions (N, 3) of vectors (L, 3) of the bones (F, L, 4, 4) of standing feet (F, L)."""
    return unit(np.einsum("nij,nj->ni", targets.turn[stands] @ bones[stands][:, :3, :3], own[np.nonzero(stands)[1]]))


def _tips(clip: Clip, sole: Sole, targets: Targets, stands: Mask) -> Array:
    """Vectors (N, 3) from the balls of standing feet (F, L) to the tips of their toes, before these turn."""
    return np.einsum("nij,nj->ni", targets.turn[stands], (move_points(clip.toe, sole.tip) - clip.ball)[stands])


def _within_range(clip: Clip, sole: Sole, targets: Targets, stands: Mask, turns: Array) -> tuple[Array, Mask]:
    """The turns (N, 3, 3) of the toes of standing feet (F, L), none farther than toes bend, and which were too far.

    Toes may bend as far as in the clip, whatever that is.
    """
    up, forward = (_directions(clip.foot, way, targets, stands) for way in (sole.up, sole.forward))
    toe_up, toe = _directions(clip.toe, sole.toe_up, targets, stands), _tips(clip, sole, targets, stands)
    toe = toe - np.sum(toe * toe_up, axis=-1, keepdims=True) * toe_up
    own, asked = (np.arctan2(dot(way, up), dot(way, forward)) for way in (toe, np.einsum("nij,nj->ni", turns, toe)))
    back = asked - np.clip(asked, np.minimum(-BENT_DOWN, own), np.maximum(BENT_UP, own))
    return matrix_from_vector(back[:, None] * np.cross(up, forward)) @ turns, np.abs(back) > LARGEST_TURN
