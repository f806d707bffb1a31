# SPDX-License-Identifier: MIT
"""Toes that lie on the ground while the ball of their foot stands, however far the foot rolls over them."""

import numpy as np

from ..arrays import Array, Mask
from ..checks import ROUNDING
from ..clip import Clip
from ..curves import fade, smooth_between
from ..ground.query import Ground
from ..rotations import (
    angle_to_gain,
    cross,
    dot,
    einsum,
    length_of,
    matrix_from_vector,
    move_points,
    nearest_rotations,
    shortest_turns,
    turn_vectors,
    unit,
    vector_from_matrix,
)
from ..sole.measure import EVEN, Sole
from .blend import Targets
from .follow import SLOW
from .lock import FADE, LARGEST_TURN

# Toes bend by no more than this (radians). The great toe bends up by 42 degrees in walking (Nawoczenski et al., 1999)
# and by 90 under a figure on tiptoe; it bends down by 45 (American Academy of Orthopaedic Surgeons).
BENT_UP, BENT_DOWN = np.radians([90.0, 45.0])
# Bent tips have other ground under them, so the ground is queried again. After two rounds, tips of clips in place sink
# in by 0.006 leg on a slope; after four, by less than 0.001.
ROUNDS = 4


def lay_toes(
    clip: Clip, sole: Sole, targets: Targets, stands: Mask, ground: Ground, aligned: bool
) -> tuple[Array, Mask]:
    """Rotation vectors (F, L, 3) in toe bone space that lay the toes of standing balls (F, L) on the surface, and where
    (F, L) toes cannot bend far enough for that.

    Toes turn about the ball by the shortest way, so that they keep their heading. Toes of feet that are not `aligned`
    with slopes bend up over the ground, but not down to it. Feet without toe bones have zeros.
    """
    stands, vectors, short = stands & clip.has_toe, np.zeros(clip.ball.shape), np.zeros_like(stands)
    if not stands.any():
        return vectors, short
    own, legs = targets.turn[stands], np.nonzero(stands)[1]
    feet, toes = (own @ bones[stands][:, :3, :3] for bones in (clip.foot, clip.toe))
    up, forward, toe_up = (
        unit(turn_vectors(axes, ways[legs]))
        for axes, ways in ((feet, sole.up), (feet, sole.forward), (toes, sole.toe_up))
    )
    tip = turn_vectors(own, (move_points(clip.toe, sole.tip) - clip.ball)[stands])
    normals = _normals(clip, targets, stands, up)
    turns = _laid(clip, targets, stands, ground, (toe_up, tip, normals), sole.ball_height[legs], aligned)
    turns, short[stands] = _within_range((up, forward), (toe_up, tip), turns)
    axes = nearest_rotations(toes / clip.scale[stands][:, 3, None])
    vectors[stands] = einsum("nji,nj->ni", axes, vector_from_matrix(turns))
    return fade(vectors, stands, FADE * clip.fps), short


def raise_toes(clip: Clip, sole: Sole, targets: Targets, ground: Ground) -> Array:
    """Rotation vectors (F, L, 3) in toe bone space that bend toes up, smoothly and as far as toes bend, where their
    tips would lie deeper under the ground than the `sink` of the targets.
    """
    feet, angles = np.isfinite(targets.sink) & clip.has_toe, np.zeros(targets.sink.shape)
    if not feet.any():
        return np.zeros(clip.ball.shape)
    (axis, room), tip = _bending(clip, sole), move_points(clip.toe, sole.tip) - clip.ball
    up = einsum("flji,j->fli", targets.turn, clip.up)
    level, aside = up - dot(up, axis)[..., None] * axis, cross(up, axis)
    tips = tip
    for _ in range(ROUNDS):
        depths = targets.depths(targets.placed(tips)[:, :, None], feet, ground, clip.up)[..., 0] - targets.sink
        feet = (depths > ROUNDING * clip.leg) & (angles < room)
        if not feet.any():
            break
        height = dot(tips, level)
        rises = angle_to_gain(height, dot(tips, aside), height + depths)
        angles = np.minimum(angles + np.where(feet, rises, 0.0), room)
        tips = turn_vectors(matrix_from_vector(angles[..., None] * axis), tip)
    if not angles.any():
        return np.zeros(clip.ball.shape)
    angles = smooth_between(np.zeros(angles.shape), clip.fps, SLOW, angles, room)
    axes = nearest_rotations(clip.toe[..., :3, :3] / clip.scale[:, :, 3, None])
    return angles[..., None] * einsum("flji,flj->fli", axes, axis)


def _bending(clip: Clip, sole: Sole) -> tuple[Array, Array]:
    """The axes (F, L, 3) about which toes bend up in the clip, unit length, and how much farther they bend (F, L),
    radians; 0 for feet without toe bones, and for tips straight under balls, which do not show how toes bend.
    """
    forward, up = (unit(turn_vectors(clip.foot, way)) for way in (sole.forward, sole.up))
    toe_up, tip = unit(turn_vectors(clip.toe, sole.toe_up)), move_points(clip.toe, sole.tip) - clip.ball
    way = _along_toes(toe_up, tip)
    room = BENT_UP - np.arctan2(dot(way, up), dot(way, forward))
    return unit(cross(forward, up)), np.where(clip.has_toe & way.any(axis=-1), np.maximum(room, 0.0), 0.0)


def _normals(clip: Clip, targets: Targets, stands: Mask, soles_up: Array) -> Array:
    """The normals (N, 3) of the ground under standing feet (F, L): those of anchors, else the directions `soles_up`."""
    normals = np.zeros((*stands.shape, 3))
    normals[stands] = soles_up
    for anchor in targets.anchors:
        if anchor.part != "swing":
            normals[anchor.stance.rows] = anchor.turns(anchor.stance.rows[0]) @ clip.up
    return normals[stands]


def _laid(
    clip: Clip,
    targets: Targets,
    stands: Mask,
    ground: Ground,
    toes: tuple[Array, Array, Array],
    heights: Array,
    aligned: bool,
) -> Array:
    """Turns (N, 3, 3), world space, that lay the toes of standing feet (F, L) along the ground, tips on the surface.

    `toes` are their up directions, the vectors from their balls to their tips, and the normals of their ground, (N, 3)
    each. `heights` (N,) are the heights of the ball joints over the sole.
    """
    up, way, normals = toes
    upright = matrix_from_vector(shortest_turns(up, normals))
    tip = turn_vectors(upright, way)
    aside, length = unit(_beyond_rounding(cross(tip, normals), tip)), np.maximum(length_of(tip), 1e-300)
    # The tip's height over the ball's joint along the normal, as it is and as it should be.
    present, goal = dot(tip, normals), -heights
    facing, points = np.maximum(normals @ clip.up, 1e-3), np.zeros((*stands.shape, 1, 3))
    points[stands, 0] = targets.ball[stands] + tip
    lift = targets.depths(points, stands, ground, clip.up)[stands, 0] - (goal - present) / facing
    lift = lift if aligned else np.maximum(lift, 0.0)
    # Past an edge toes stay in the plane of their foot.
    asked = goal + np.where(np.abs(lift) <= EVEN * clip.leg, lift, 0.0) * facing
    pitch = np.arcsin(np.clip(asked / length, -1.0, 1.0)) - np.arcsin(np.clip(present / length, -1.0, 1.0))
    return matrix_from_vector(pitch[:, None] * aside) @ upright


def _within_range(foot: tuple[Array, Array], toes: tuple[Array, Array], turns: Array) -> tuple[Array, Mask]:
    """The turns (N, 3, 3) of toes, limited to the range in which toes bend, and which of them (N,) went too far.

    `foot` are the up and forward directions of the feet, `toes` the up directions of the toes and the vectors to their
    tips, (N, 3) each. Toes may always bend as far as in the clip. Tips straight under balls do not show how toes bend.
    """
    (up, forward), (toe_up, tip) = foot, toes
    way = _along_toes(toe_up, tip)
    own, asked = (np.arctan2(dot(ahead, up), dot(ahead, forward)) for ahead in (way, turn_vectors(turns, way)))
    back = asked - np.clip(asked, np.minimum(-BENT_DOWN, own), np.maximum(BENT_UP, own))
    return matrix_from_vector(back[:, None] * cross(up, forward)) @ turns, np.abs(back) > LARGEST_TURN


def _along_toes(toe_up: Array, tip: Array) -> Array:
    """The part (..., 3) of the vectors `tip` from balls to tips that lies along the toes; zero for tips straight under
    balls.
    """
    return _beyond_rounding(tip - dot(tip, toe_up)[..., None] * toe_up, tip)


def _beyond_rounding(vectors: Array, others: Array) -> Array:
    """The vectors (..., 3), or zero where they are no more than the rounding of `others` (..., 3)."""
    return np.where((length_of(vectors) > ROUNDING * length_of(others))[..., None], vectors, 0.0)
