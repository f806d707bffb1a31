# SPDX-License-Identifier: MIT
"""Keeps heels out of the ground, and finds which heels stand at the end. A foot pitches about the part that stands,
smoothly and no more than it must. A foot that has to keep its turn is raised instead.
"""

from dataclasses import replace

import numpy as np

from ..anchors.anchor import Anchor, unridden
from ..arrays import Array, Mask, reduce_last
from ..clip import Clip
from ..contacts.stance import ROLL
from ..curves import column_runs, odd_window, smooth_cover
from ..ground.query import Ground
from ..rotations import cross, einsum, length_of, level_part, matrix_from_vector, median_point, move_points
from ..sole.measure import Sole, sole_points
from .blend import Targets

# A pitched foot has other ground under its end, so the ground is queried once more.
ROUNDS = 2
# A heel that moves from its place by more than this (leg lengths) does not stand: 1 mm of a person's leg can just be
# seen.
VISIBLE = 0.001
# A heel that is higher over the ground than this (leg lengths) does not stand either.
HANGS = 0.015


def raise_heels(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, enforced: Mask, ground: Ground) -> Targets:
    """The targets with feet pitched where heel or ball would lie under the ground during their `contacts` (F, L, 2).

    A foot pitches about its ball. If its heel is `enforced` (F, L, 2) and stands without the ball, the foot pitches
    about the heel. Enforced heels are raised no more than they must be, and no sooner.
    """
    heel, ball = (move_points(clip.foot, point) - clip.ball for point in (sole.heel, sole.ball))
    freely = 1.0 - smooth_cover(enforced[..., 0].astype(float), odd_window(ROLL, clip.fps))
    targets = _pitched(clip, targets, (0.0 * heel, heel), contacts[..., 0] | contacts[..., 1], freely, ground)
    alone, free = enforced[..., 0] & ~contacts[..., 1], (~contacts[..., 1]).astype(float)
    return _pitched(clip, targets, (heel, ball), alone, free, ground)


def _pitched(
    clip: Clip, targets: Targets, ends: tuple[Array, Array], feet: Mask, freely: Array, ground: Ground
) -> Targets:
    """The targets with some `feet` (F, L) pitched about the first of two `ends` until the second lies on the ground.

    Both ends (F, L, 3) are the clip's vectors from the ball. `freely` (F, L), from 0 to 1, is the share of the pitch
    that is spread over the frames around.
    """
    if not feet.any():
        return targets
    pivot, window = targets.placed(ends[0]), odd_window(ROLL, clip.fps)
    turn, pitch = targets.turn, np.zeros(feet.shape)
    for _ in range(ROUNDS):
        away = einsum("flij,flj->fli", turn, ends[1] - ends[0])
        # A foot that the last round did not pitch has the same ground under it as before.
        asked = feet if turn is targets.turn else feet & (pitch > 0.0)
        depth = targets.depths((pivot + away)[:, :, None], asked, ground, clip.up)[..., 0]
        level = level_part(away, clip.up)
        length = np.maximum(length_of(level), 1e-9 * clip.leg)
        needed = np.arctan2(np.maximum(depth, 0.0), length)
        if not needed.any():
            break
        pitch += needed + freely * (smooth_cover(needed, window) - needed)
        axis = cross(level, clip.up) / length[..., None]
        turn = matrix_from_vector(axis * pitch[..., None]) @ targets.turn
    return replace(targets, turn=turn, ball=pivot - einsum("flij,flj->fli", turn, ends[0]))


def raise_anchors(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, ground: Ground) -> list[Anchor]:
    """The anchors of targets whose feet keep their turn, raised where heel or ball would lie under the ground."""
    ways = sole_points(clip, sole)[:, :, :2] - clip.ball[:, :, None]
    stands = contacts[..., 0] | contacts[..., 1]
    deep = reduce_last(np.maximum, targets.depths(targets.placed(ways), stands, ground, clip.up))
    return [replace(a, point=a.point + deep[a.stance.rows].max(initial=0.0) * clip.up) for a in targets.anchors]


def held_contacts(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, ground: Ground) -> Mask:
    """The contacts (F, L, 2) without the frames on which a heel moves from its place or hangs over the ground."""
    path = targets.placed(move_points(clip.foot, sole.heel) - clip.ball)
    depth = targets.depths(path[:, :, None], contacts[..., 0], ground, clip.up)[..., 0]
    held = resting_contacts(clip, path, targets, contacts)
    held[..., 0] &= ~(np.isfinite(depth) & (depth < -HANGS * clip.leg))
    return held


def resting_contacts(clip: Clip, path: Array, targets: Targets, contacts: Mask) -> Mask:
    """The contacts (F, L, 2) without the frames on which a heel, on a `path` (F, L, 3), moves from its place."""
    held = contacts.copy()
    for leg, start, end in column_runs(contacts[..., 0]):
        places = unridden(targets.anchor_at(leg, start), slice(start, end), path[start:end, leg])
        # The heel's place is where it stands without the ball, if it ever does.
        alone = ~contacts[start:end, leg, 1]
        place = median_point(places[alone] if alone.any() else places)
        held[start:end, leg, 0] &= length_of(places - place) <= VISIBLE * clip.leg
    return held
