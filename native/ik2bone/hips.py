# SPDX-License-Identifier: MIT
"""How the hips move over feet that stand elsewhere than in the clip: smoothly, and so that legs stay as straight as
they were.
"""

import numpy as np

from .arrays import Array, Mask, reduce_last
from .clip import Clip
from .curves import between, odd_window, smooth_between, smooth_cover, smooth_path
from .knees import SUDDEN, SUDDEN_IN_PLACE, eased_reach
from .reach import height_and_level, own_reach, pitched
from .rotations import dot, einsum, length_of, level_part, unit
from .settings import DEEPEST
from .targets.blend import Targets

# Changes of the ground that are faster than this (s) do not move the hips, unless legs do not reach. For level shifts
# it is twice this time while one upright leg stands, and 1.15 times this while one slants by 45 degrees. Measured on
# 324 runs of the bench: with 0.2 the pelvis accelerates by 5 % more, in two uneven walks by more than it should, and
# the straighter knee bends by 0.08 degrees less on the mean.
SLOW = 0.205
# A level move of the hips counts as much as this share of it in the length of each leg that stands, so that hips do not
# go far aside where legs cannot keep their lengths. Measured on the same runs: with 1/4 hips go 0.002 leg lengths less
# far on the mean, but the toe of one more run goes under the ground; with 1/4.5 they go 0.001 farther, and shifts on
# steep hills jolt.
PRICE = 1.0 / 4.3
# Hips rise above the mean rise of the ankles by no more than this times the greatest distance that an ankle is moved
# beyond that mean rise. Legs within 63 degrees of upright ask for less, but legs that lie may ask for any height. Of
# 324 runs of the bench the limit takes effect only in those of a dash.
GAIN = 2.0
# The legs of a figure that lands reach the ground this time (s) before their feet stand, so that feet do not drop on
# it. Measured on hops down a slope: a foot pops by 0.037 leg lengths, and by 0.041 without.
LANDING = 0.05
# The number of rounds in which hips come down farther where the knees of standing legs would straighten and bend again
# more suddenly than in the clip. After two, seven of 153 runs of the bench have a knee that pops by 10.3 to 10.9
# degrees; after three, none of these seven.
EASINGS = 3


def hips_offset(
    clip: Clip, targets: Targets, standing: Mask, follows: Mask, early: Array, deepest: float = DEEPEST
) -> Array:
    """The translation (F, 3) of the hips: level with feet that stand elsewhere and so that legs keep their lengths,
    then up or down so that legs reach.

    Hips rise as the ankles do on the mean, with the ground under the feet and with the turn of these feet. They rise
    farther if the straighter leg would otherwise be more bent than in the clip, unless that leg lies rather than
    stands. Only legs that are `standing` (F, L) ask for reach: a swinging foot is drawn to its hip joint instead.
    `follows` (L,) are the legs that follow the ground without an anchor; their knees are eased less. As toe-off nears,
    heels may rise by `early` (F, L) radians before the hips come down. Hips come down to no more than `deepest` leg
    lengths below the mean rise of the ground; what is then missing stays out of reach.
    """
    ground, raised = _mean(targets.rise), pitched(clip, targets, early) if early.any() else targets
    rise = ground + _mean(dot(targets.ankle - targets.ball - targets.to_ankle, clip.up))
    ankles = np.stack([targets.ankle, raised.ankle])
    lowest = ground - deepest * clip.leg
    # The ceiling never lies under this smooth curve over `lowest`, so that the hips can move smoothly between the two.
    bound = smooth_cover(lowest, odd_window(SLOW, clip.fps))
    reaching = standing | _lands(standing, round(LANDING * clip.fps)) & ~follows
    level = _level_offset(clip, ankles, _mean_way(clip, targets, standing), rise, standing, reaching, bound)
    ankles -= level[:, None]
    over, aside = height_and_level(clip, ankles)
    wish = _wished(clip, ankles[0], over[0], aside[0], rise)

    def height_within(reach: Array) -> Array:
        # Legs stretched to `reach` have their ankles in place with heels as they are, or with raised heels.
        highs = (over + np.sqrt(np.maximum(reach**2 - aside, 0.0))).max(axis=0)
        ceiling = reduce_last(np.minimum, np.where(reaching, highs, np.inf))
        return _smooth_under(np.maximum(ceiling, bound), wish, lowest, clip.fps)

    sudden, reach = np.where(follows, SUDDEN_IN_PLACE, SUDDEN), (own := own_reach(clip))
    first = height = height_within(own)
    for _ in range(EASINGS):
        # Hips that come down bend the knees of swinging legs, too. Their knees are measured at the first height, so
        # that they do not ask for still lower hips.
        under, last = np.where(standing, height[:, None], first[:, None]), reach
        hip = clip.hip + under[..., None] * clip.up
        reach = eased_reach(clip, ankles[0] - hip, own, sudden)
        if (reach == last).all():
            break
        height = height_within(reach)
    return level + height[:, None] * clip.up


def _mean(values: Array) -> Array:
    """The mean (F,) of values (F, L) over the legs."""
    return reduce_last(np.add, values) / values.shape[1]


def _lands(standing: Mask, count: int) -> Mask:
    """Whether each leg (F, L) of a figure in the air comes to be `standing` (F, L) within a `count` of frames."""
    time = np.arange(len(standing))[:, None]
    following = np.minimum.accumulate(np.where(standing, time, 2 * len(standing))[::-1])[::-1]
    return (following - time <= count) & ~reduce_last(np.logical_or, standing)[:, None]


def _smooth_under(ceiling: Array, wish: Array, lowest: Array, fps: float) -> Array:
    """Smooth heights (F,) near a `wish` (F,) and under a `ceiling` (F,), but nowhere under `lowest` (F,)."""
    height = smooth_between(wish, fps, SLOW, ceiling=ceiling)
    # Few hips come down to `lowest`. Where they do not, it plays no part, and another limit gives the same bits.
    return height if (height >= lowest).all() else smooth_between(wish, fps, SLOW, lowest, ceiling)


def _wished(clip: Clip, ankle: Array, over: Array, aside: Array, rise: Array) -> Array:
    """The heights (F,) that hips take if legs reach: at least the mean `rise` (F,) of the ankles (F, L, 3), and up to
    where the straighter leg is as straight as in the clip. `over` and `aside` (F, L) are those of `height_and_level`.
    See GAIN.
    """
    # Hips under an ankle, as in a high kick or a somersault, must not rise past that ankle.
    side = np.sign(dot(clip.hip - clip.ankle, clip.up))
    straight = reduce_last(np.minimum, over + side * np.sqrt(np.maximum(clip.straightest**2 - aside, 0.0)))
    moved = length_of(ankle - clip.ankle - rise[:, None, None] * clip.up)
    return np.maximum(rise, np.minimum(straight, rise + GAIN * reduce_last(np.maximum, moved)))


def _mean_way(clip: Clip, targets: Targets, standing: Mask) -> Array:
    """How far (F, 3) `standing` feet (F, L) are moved level from where they are in the clip, on the mean."""
    ways = np.where(standing[..., None], level_part(targets.ball - clip.ball, clip.up), 0.0)
    return ways.sum(axis=1) / np.maximum(standing.sum(axis=1, keepdims=True), 1)


def _level_offset(
    clip: Clip, ankles: Array, way: Array, rise: Array, standing: Mask, reaching: Mask, bound: Array
) -> Array:
    """Level translation (F, 3) of the hips: along the mean `way` (F, 3) of standing feet, and from there so that legs
    keep their lengths and reach. It is found together with heights of the hips, which are found again after it.

    Only `standing` legs (F, L) ask for lengths, with `ankles` (2, F, L, 3) as they are and with raised heels, whose
    mean rise is `rise` (F,). Only `reaching` legs (F, L) hold the hips, and not under the heights `bound` (F,).
    """
    known = reduce_last(np.logical_or, standing)
    if not known.any():
        return way
    way = between(way, known)
    level = way
    # Legs change their lengths otherwise at the end of the path, so that it is found a second time, about half way: at
    # its end, it would be too short or too long by about as much as before.
    for _ in range(2):
        seen = ankles - level[:, None]
        over, aside = height_and_level(clip, seen)
        height = _wished(clip, seen[0], over[0], aside[0], rise)
        path = level + height[:, None] * clip.up
        wish, weight = _asked(clip, ankles - clip.hip - path[:, None], standing, path, way, height)
        planes, ceiling = _planes(clip, seen, over, aside, reaching, bound, level)
        # Any place under the ceiling leads to the same path.
        inside = level + (np.minimum(height, ceiling) - 0.1 * clip.leg)[:, None] * clip.up
        shift = level_part(smooth_path(wish, clip.fps, SLOW, weight, inside, planes), clip.up)
        level = 0.5 * (way + shift)
    return shift


def _asked(clip: Clip, lines: Array, standing: Mask, path: Array, way: Array, height: Array) -> tuple[Array, Array]:
    """Where the hips wish to be (F, 3), and how much each direction counts (F, 3, 3): at a `height` (F,), along the
    `way` (F, 3), see PRICE, and where `standing` legs (F, L) are as long as in the clip. Legs that are too long may be
    as straight as the straighter one of the clip.

    Legs change their lengths as they do near the `path` (F, 3), from which `lines` (2, F, L, 3) go to ankles with heels
    as they are and raised. While no leg stands, the level wish goes from that of one stance to that of the next.
    """
    lengths, own, upright = length_of(lines), clip.stretch, np.outer(clip.up, clip.up)
    along = np.where(standing[..., None], lines[0] / np.maximum(lengths[0], 1e-300)[..., None], 0.0)
    # A heel that rises may give its leg any length between these two.
    shortest, longest = lengths.min(axis=0), lengths.max(axis=0)
    longer = np.minimum(np.maximum(shortest - np.maximum(own, clip.straightest), 0.0), own)
    longer += np.minimum(longest - own, 0.0)
    price, level = PRICE**2 * reduce_last(np.add, standing.astype(int)), np.eye(3) - upright
    known = reduce_last(np.logical_or, standing)
    weight = einsum("fli,flj->fij", along, along) + price[:, None, None] * level + upright
    weight[~known] = np.eye(3)
    asked = einsum("fl,fli->fi", longer + dot(along, path[:, None]), along)
    wish = np.linalg.solve(weight, (asked + price[:, None] * way + height[:, None] * clip.up)[..., None])[..., 0]
    if known.all():
        return wish, weight
    lines = between(np.concatenate([wish, 0.5 * einsum("fij,ij->f", weight, level)[:, None]], axis=1), known)
    held = lines[:, 3:, None] * level + upright
    wish = level_part(lines[:, :3], clip.up) + dot(wish, clip.up)[:, None] * clip.up
    return wish, np.where(known[:, None, None], weight, held)


def _planes(
    clip: Clip, ankles: Array, over: Array, aside: Array, reaching: Mask, bound: Array, level: Array
) -> tuple[Array, Array]:
    """Planes (F, L, 4) of a normal and a limit that hold the hips where legs reach, and the height (F,) of the lowest
    of them over the hips shifted by `level` (F, 3), from which `ankles` (2, F, L, 3) are seen. `over` and `aside`
    (2, F, L) are their `height_and_level`.

    A `reaching` leg (F, L) reaches up to a sphere about its ankle, with its heel as it is or raised. Its plane touches
    that sphere straight over the hips, or passes through the height `bound` (F,) there if that is higher.
    """
    highs = over + np.sqrt(np.maximum(own_reach(clip) ** 2 - aside, 0.0))
    ankle, high = np.where((highs[0] < highs[1])[..., None], ankles[1], ankles[0]), highs.max(axis=0)
    normals = unit(clip.hip + high[..., None] * clip.up - ankle)
    high = np.maximum(high, bound[:, None])
    limits = np.where(reaching, dot(normals, level[:, None] + high[..., None] * clip.up), np.inf)
    lowest = reduce_last(np.minimum, np.where(reaching, high, np.inf))
    return np.concatenate([normals, limits[..., None]], axis=-1), lowest
