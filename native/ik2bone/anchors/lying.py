# SPDX-License-Identifier: MIT
"""Feet that lie along the ground already, as in clips planted on it before: what it asks for is not asked for twice."""

from dataclasses import replace

import numpy as np

from ..arrays import Array, Mask
from ..clip import Clip
from ..contacts.steady import turned_about
from ..curves import quantile
from ..ground.query import Ground, ask
from ..rotations import dot, level_part, matrix_from_vector, shortest_turns, unit
from ..sole.measure import Sole
from .anchor import Anchor
from .footprint import EVEN

# Soles lie along a slope when their angles to it are at most this share of those to the level.
ALONG = 0.5
# Ground is too level to tell where it slopes by less than this (radians) under so many of the feet as LOW_SHARE says.
LEAST_SLOPE = np.radians(0.5)
# A foot is on the ground in about this share of the frames, those in which it is lowest, and flat in as many of these.
LOW_SHARE = 0.3


def lie_along(soles_up: Array, normals: Array, up: Array) -> bool:
    """Whether soles that look up to directions (N, 3) lie along ground with normals (N, 3) rather than level.

    The frames count in which they do so best: in others feet roll. They have to lean with the ground on the whole, too,
    as feet that always roll are nearer to some slope than to the level by chance.
    """
    if not lean_along(soles_up, normals, up):
        return False
    to_ground, to_level = (_usual_angle(unit(soles_up), other) for other in (normals, up))
    return to_ground < ALONG * to_level


def lean_along(soles_up: Array, normals: Array, up: Array) -> bool:
    """Whether soles (N, 3) lean as ground with normals (N, 3) does, on the whole, however they tilt besides."""
    if not len(soles_up) or _usual_angle(normals, up) <= LEAST_SLOPE:
        return False
    sides, slopes = level_part(unit(soles_up), up), level_part(normals, up)
    return bool((sides * slopes).sum() >= ALONG * (slopes**2).sum())


def _usual_angle(directions: Array, other: Array) -> float:
    """The angle between unit vectors (N, 3) and others, (3,) or (N, 3), on the share of them where it is least."""
    return float(quantile(np.arccos(np.clip(dot(directions, other), -1.0, 1.0)), LOW_SHARE))


def leave_lying(clip: Clip, sole: Sole, contacts: Mask, anchors: list[Anchor]) -> list[Anchor]:
    """The anchors as they shall be where the clip's feet keep to the ground already, up stairs and along slopes.

    Feet that lie along it keep their tilt and their places, and those that swing have it for their own floor. Where
    heights tell that feet keep to the ground, these need not lie along it any better than they lie on a level floor.
    """
    standing = [anchor for anchor in anchors if anchor.part != "swing" and anchor.found]
    if not standing:
        return anchors
    rises = np.array([anchor.move for anchor in standing]) @ clip.up
    # Not of the points themselves, as heels and balls lie unlike over their soles.
    heights = np.ptp(np.array([anchor.foothold for anchor in standing]) @ clip.up)
    keep = bool(np.ptp(rises) <= ALONG * heights)
    if not keep and np.ptp(rises) > EVEN * clip.leg:
        return anchors
    rows = (_flat_frames(clip, sole, contacts, anchor) for anchor in standing)
    soles_up, normals = (np.concatenate(column) for column in zip(*rows, strict=True))
    along = (lean_along if keep else lie_along)(soles_up, normals, clip.up)
    if along or keep:
        rise = rises.mean() * clip.up
        anchors = [a if a.part != "swing" else replace(a, origin=a.point - a.carried - rise) for a in anchors]
    return [_left(clip, sole, anchor) for anchor in anchors] if along else anchors


def _flat_frames(clip: Clip, sole: Sole, contacts: Mask, anchor: Anchor) -> tuple[Array, Array]:
    """Where the sole looks up to (N, 3) while heel and ball stand, and the normals of the ground there."""
    leg, frames = anchor.stance.leg, anchor.stance.start + np.flatnonzero(contacts[anchor.stance.rows].all(axis=-1))
    soles_up = clip.foot[frames, leg, :3, :3] @ sole.up[leg]
    return soles_up, np.broadcast_to(anchor.turns(frames) @ clip.up, soles_up.shape)


def _left(clip: Clip, sole: Sole, anchor: Anchor) -> Anchor:
    """An anchor that leaves the foot's tilt, and its place where it was put aside along the ground."""
    normal = anchor.turn @ clip.up
    aside = anchor.move - (anchor.move @ normal) * normal
    # A foot on a slope is put beside the place under its ball, by no more than the ball is high.
    beside = aside if np.linalg.norm(aside) <= sole.ball_height[anchor.stance.leg] else np.zeros(3)
    return replace(anchor, turn=np.eye(3), point=anchor.point - beside, foothold=anchor.foothold - beside)


def own_floor(clip: Clip, sole: Sole, below: Array, ground: Ground) -> Array:
    """Heights (F, L) of the clip's own floor under feet, points `below` (F, L, 3) their balls.

    That is level, unless the low feet keep to the ground much better: then it is the ground, as high as they have it.
    """
    height = below @ clip.up
    hits, _, found = ask(ground, below, clip.up)
    over = np.where(found, height - hits @ clip.up, np.inf)
    if found.all() and _spread(over) < ALONG * _spread(height):
        return height - over + quantile(over[over <= quantile(over.ravel(), LOW_SHARE)], 0.5)
    return np.full(height.shape, sole.floor)


def as_on_level(clip: Clip, ground: Ground) -> Clip:
    """The clip with its feet put on a level floor as they are on the ground, if the low feet keep to that much better;
    else itself.
    """
    hits, normals, found = ask(ground, clip.ball, clip.up)
    height, feet = clip.ball @ clip.up, ~clip.hands
    over = height - hits @ clip.up
    # A single pose shows no floor, and hands show none.
    if clip.frames == 1 or not feet.any() or not found[:, feet].all():
        return clip
    if _spread(over[:, feet]) >= ALONG * _spread(height[:, feet]):
        return clip
    lift = np.where(feet, clip.floors[0] + dot(clip.ball - hits, normals) - height, 0.0)
    level = clip.moved(lift[..., None] * clip.up)
    normals = np.where(feet[:, None], normals, clip.up)
    return turned_about(level, level.ball, matrix_from_vector(shortest_turns(normals, clip.up)))


def _spread(heights: Array) -> float:
    """How much the heights (F, L) of feet differ while they are low."""
    return float(quantile(heights.ravel(), LOW_SHARE) - quantile(heights.ravel(), 0.02))
