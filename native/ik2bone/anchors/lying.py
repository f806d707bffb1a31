# SPDX-License-Identifier: MIT
"""Feet that lie along the ground already, as in clips that were planted on it before. They are not corrected twice."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Array, Mask, reduce_last
from ..clip import Clip
from ..contacts.steady import turned_about
from ..curves import quantile, quantiles
from ..ground.query import Ground, ask
from ..rotations import dot, level_part, matrix_from_vector, shortest_turns, unit
from ..sole.measure import EVEN, Sole, sole_points
from .anchor import Anchor

# Soles lie along a slope if their angles to it are at most the first of these shares of their angles to the level, and
# not at all from the second on; between the two they do so in part, so that results are continuous.
ALONG, LOOSE = 0.5, 0.6
# Heights of standing feet that differ by less than this (leg lengths) do not show on what they stand: a recorded walk
# on a level floor, whose feet stand at heights that differ by 0.004, would keep to slopes from 1.5 degrees on.
ROUGH = 0.002
# Ground that slopes by less than this (radians) under a share `LOW_SHARE` of the feet does not show whether they lie
# along it.
LEAST_SLOPE = np.radians(0.5)
# A foot is on the ground on about this share of the frames, the lowest ones, and lies flat on about this share of
# these.
LOW_SHARE = 0.3
# The lowest feet are those of this share of the frames: a single frame may lie lower by an error.
LOWEST = 0.02


def lie_along(soles_up: Array, normals: Array, up: Array, keep: float = 0.0) -> float:
    """How much soles with up directions (N, 3) lie along ground with normals (N, 3), rather than level, from 0 to 1.

    They should be much nearer to the ground than to the level; only the rows with the smallest angles count, because
    feet roll on other frames. They should also lean with the ground on the whole: feet that always roll are nearer to
    some slope than to the level by chance. As far as the feet `keep` to the heights of the ground, one of the two is
    enough, because soles may tilt besides.
    """
    if not len(soles_up) or _usual_angle(normals, up) <= LEAST_SLOPE:
        return 0.0
    to_ground, to_level = (_usual_angle(unit(soles_up), other) for other in (normals, up))
    sides, slopes = level_part(unit(soles_up), up), level_part(normals, up)
    near, leans = _nearer(to_ground, to_level), _nearer(1.0 - (sides * slopes).sum() / (slopes**2).sum(), 1.0)
    return keep * max(near, leans) + (1.0 - keep) * min(near, leans)


def _nearer(one: float, other: float) -> float:
    """How much one distance is less than the other, from 0 to 1, see `ALONG`."""
    return min(max((LOOSE - one / max(other, 1e-300)) / (LOOSE - ALONG), 0.0), 1.0)


def _usual_angle(directions: Array, other: Array) -> float:
    """The quantile `LOW_SHARE` of the angles between unit vectors (N, 3) and others, (3,) or (N, 3)."""
    return float(quantile(np.arccos(np.clip(dot(directions, other), -1.0, 1.0)), LOW_SHARE))


def leave_lying(clip: Clip, sole: Sole, contacts: Mask, anchors: list[Anchor]) -> list[Anchor]:
    """The anchors, changed if the clip's feet keep to the ground already, up stairs and along slopes.

    If soles lie along the ground (`lie_along`), standing feet keep the tilt and the places that they have in the clip.
    Then, or if the heights of stances follow the ground, the ground also counts as the clip's own floor under swinging
    feet.
    """
    standing = [anchor for anchor in anchors if anchor.part != "swing" and anchor.found]
    if not standing:
        return anchors
    rises = np.array([anchor.move for anchor in standing]) @ clip.up
    keep = kept_rise(clip, standing) is not None
    if not keep and np.ptp(rises) > EVEN * clip.leg:
        return anchors
    rows = (_flat_frames(clip, sole, contacts, anchor) for anchor in standing)
    soles_up, normals = (np.concatenate(column) for column in zip(*rows, strict=True))
    along = lie_along(soles_up, normals, clip.up, keep) == 1.0
    if along or keep:
        rise = rises.mean() * clip.up
        anchors = [a if a.part != "swing" else replace(a, origin=a.point - a.carried - rise) for a in anchors]
    return [_left(clip, sole, anchor) for anchor in anchors] if along else anchors


def kept_rise(clip: Clip, anchors: Sequence[Anchor]) -> float | None:
    """How far the ground raises the stances of a clip whose heights follow it already; None for any other clip."""
    standing = [anchor for anchor in anchors if anchor.part != "swing" and anchor.found]
    if not standing:
        return None
    # Heights of the footholds, since heel points and ball joints differ in height over the sole.
    rises, heights = (np.array([getattr(a, name) for a in standing]) @ clip.up for name in ("move", "foothold"))
    return float(rises.mean()) if np.ptp(rises) + ROUGH * clip.leg <= ALONG * np.ptp(heights) else None


def _flat_frames(clip: Clip, sole: Sole, contacts: Mask, anchor: Anchor) -> tuple[Array, Array]:
    """The up directions (N, 3) of the sole while heel and ball stand, and the normals (N, 3) of the ground there."""
    leg, frames = anchor.stance.leg, anchor.stance.start + np.flatnonzero(contacts[anchor.stance.rows].all(axis=-1))
    soles_up = clip.foot[frames, leg, :3, :3] @ sole.up[leg]
    return soles_up, np.broadcast_to(anchor.turns(frames) @ clip.up, soles_up.shape)


def _left(clip: Clip, sole: Sole, anchor: Anchor) -> Anchor:
    """The anchor without its turn, and without its move along the ground if that is no longer than the ball is high."""
    normal = anchor.turn @ clip.up
    aside = anchor.move - (anchor.move @ normal) * normal
    # On a slope, the tilt alone puts a foot beside the place under its ball, by no more than the ball's height over the
    # sole.
    beside = aside if np.linalg.norm(aside) <= sole.ball_height[anchor.stance.leg] else np.zeros(3)
    return replace(anchor, turn=np.eye(3), point=anchor.point - beside, foothold=anchor.foothold - beside)


def own_floor(clip: Clip, sole: Sole, below: Array, ground: Ground) -> tuple[Array, float]:
    """Heights (F, L) of the clip's own floor under feet, from points (F, L, 3) below the balls, and how much the low
    feet keep to the ground, from 0 to 1.

    The floor is level, unless the low feet keep to the ground much better. Then it is the ground itself if they touch
    it, else it follows the ground as high over it or as deep under it as they are.
    """
    # Soles that lie on the ground touch it with their heels or tips, too. But tips that point into it hide that balls
    # keep to it.
    points = np.concatenate([below[:, :, None], sole_points(clip, sole)], axis=2)
    hits, _, found = ask(ground, points, clip.up)
    heights, under = dot(points, clip.up), dot(hits, clip.up)
    floor, most = np.full(below.shape[:2], sole.floor), 0.0
    for parts in (slice(1), slice(None)) if found.all() else ():
        over = reduce_last(np.minimum, (heights - under)[..., parts])
        keep = _keep_to(over, reduce_last(np.minimum, heights[..., parts]), clip.leg)
        if keep > 0.0:
            lowest, usual = map(float, quantiles(over.ravel(), LOWEST, 0.5 * LOW_SHARE))
            floor = floor + keep * (under[:, :, 0] + min(max(lowest, 0.0), usual) - floor)
            most = max(most, keep)
    return floor, most


def as_on_level(clip: Clip, ground: Ground) -> Clip:
    """The clip with its feet put on a level floor as they are on the ground, if the low feet keep to the ground much
    better; else the clip itself.
    """
    hits, normals, found = ask(ground, clip.ball, clip.up)
    height, feet = dot(clip.ball, clip.up), ~clip.is_hand
    over = height - dot(hits, clip.up)
    # A single pose does not show on what floor it was made, and neither do hands.
    if clip.frames == 1 or not feet.any() or not (found | ~feet).all():
        return clip
    if _keep_to(over[:, feet], height[:, feet], clip.leg) < 1.0:
        return clip
    lift = np.where(feet, clip.floors[0] + dot(clip.ball - hits, normals) - height, 0.0)
    level = clip.moved(lift[..., None] * clip.up)
    normals = np.where(feet[:, None], normals, clip.up)
    return turned_about(level, level.ball, matrix_from_vector(shortest_turns(normals, clip.up)))


def _keep_to(over: Array, heights: Array, leg: float) -> float:
    """How much low feet keep to the ground rather than to a level, from 0 to 1: from their heights (F, L) over both."""
    # How far over the lowest heights of all feet each foot gets while it is low, on the mean.
    both = np.stack([over, heights], axis=1)
    usual, least = quantiles(both, LOW_SHARE, LOWEST)
    spreads = usual.mean(axis=1) - least.min(axis=1)
    return _nearer(float(spreads[0]) + ROUGH * leg, float(spreads[1]))
