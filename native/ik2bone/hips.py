# SPDX-License-Identifier: MIT
"""How the hips move over feet that stand elsewhere than in the clip: smoothly, and so that legs stay as straight as
they were.
"""

import numpy as np

from .arrays import Array, Mask
from .clip import Clip
from .curves import odd_window, smooth_between, smooth_cover
from .knees import SUDDEN, SUDDEN_IN_PLACE, eased_reach, straightest
from .reach import height_and_level, own_reach, pitched
from .rotations import dot, length_of, level_part
from .settings import DEEPEST
from .targets.blend import Targets

# Changes of the ground that are faster than this (s) do not move the hips up or down, unless legs do not reach. For
# level shifts it is the same time while both legs slant by 45 degrees, and 2.4 times that while one upright leg stands.
# Measured on 324 runs of the bench: with 0.18 the pelvis accelerates by 14 % more, and with 0.21 the straighter knee
# bends by 0.3 degrees more on the mean.
SLOW = 0.194
# A level move of the hips counts as much as this share of it in the length of a leg, so that hips do not go far aside
# where legs cannot keep their lengths. Measured on 324 runs of the bench: with 1/5 the straighter knee bends by 0.05
# degrees more in walks, and with 1/7 hips of a loop end 0.012 leg lengths from where they began, instead of 0.008.
PRICE = 1.0 / 6.0
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
    ground, raised = targets.rise.mean(axis=1), pitched(clip, targets, early) if early.any() else targets
    rise = ground + ((targets.ankle - targets.ball - targets.to_ankle) @ clip.up).mean(axis=1)
    ankles = np.stack([targets.ankle, raised.ankle])
    level = _level_offset(clip, ankles, _mean_way(clip, targets, standing), standing, rise)
    ankles -= level[:, None]
    over, aside = height_and_level(clip, ankles)
    wish, lowest = _wished(clip, ankles[0], rise), ground - deepest * clip.leg
    # The ceiling never lies under this smooth curve over `lowest`, so that the hips can move smoothly between the two.
    bound = smooth_cover(lowest, odd_window(SLOW, clip.fps))
    reaching = standing | _lands(standing, round(LANDING * clip.fps)) & ~follows

    def height_within(reach: Array) -> Array:
        # Legs stretched to `reach` have their ankles in place with heels as they are, or with raised heels.
        highs = (over + np.sqrt(np.maximum(reach**2 - aside, 0.0))).max(axis=0)
        ceiling = np.where(reaching, highs, np.inf).min(axis=1)
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


def _lands(standing: Mask, count: int) -> Mask:
    """Whether each leg (F, L) of a figure in the air comes to be `standing` (F, L) within a `count` of frames."""
    time = np.arange(len(standing))[:, None]
    following = np.minimum.accumulate(np.where(standing, time, 2 * len(standing))[::-1])[::-1]
    return (following - time <= count) & ~standing.any(axis=1, keepdims=True)


def _smooth_under(ceiling: Array, wish: Array, lowest: Array, fps: float) -> Array:
    """Smooth heights (F,) near a `wish` (F,) and under a `ceiling` (F,), but nowhere under `lowest` (F,)."""
    height = smooth_between(wish, fps, SLOW, ceiling=ceiling)
    # Few hips come down to `lowest`. Where they do not, it plays no part, and another limit gives the same bits.
    return height if (height >= lowest).all() else smooth_between(wish, fps, SLOW, lowest, ceiling)


def _wished(clip: Clip, ankle: Array, rise: Array) -> Array:
    """The heights (F,) that hips take if legs reach: at least the mean `rise` (F,) of the ankles (F, L, 3), and up to
    where the straighter leg is as straight as in the clip. See GAIN.
    """
    over, aside = height_and_level(clip, ankle)
    # Hips under an ankle, as in a high kick or a somersault, must not rise past that ankle.
    side = np.sign((clip.hip - clip.ankle) @ clip.up)
    straight = (over + side * np.sqrt(np.maximum(straightest(clip) ** 2 - aside, 0.0))).min(axis=1)
    moved = length_of(ankle - clip.ankle - rise[:, None, None] * clip.up)
    return np.maximum(rise, np.minimum(straight, rise + GAIN * moved.max(axis=1)))


def _mean_way(clip: Clip, targets: Targets, standing: Mask) -> Array:
    """How far (F, 3) `standing` feet (F, L) are moved level from where they are in the clip, on the mean."""
    ways = np.where(standing[..., None], level_part(targets.ball - clip.ball, clip.up), 0.0)
    return ways.sum(axis=1) / np.maximum(standing.sum(axis=1, keepdims=True), 1)


def _level_offset(clip: Clip, ankles: Array, way: Array, standing: Mask, rise: Array) -> Array:
    """Level translation (F, 3) of the hips: along the mean `way` (F, 3) of standing feet, and from there so that legs
    keep their lengths.

    Only `standing` legs (F, L) count, with `ankles` (2, F, L, 3) as they are and with raised heels, whose mean rise is
    `rise` (F,). The translation goes smoothly from one stance to the next, and does not change before the first stance
    and after the last.
    """
    time, known, offset = np.arange(clip.frames), np.flatnonzero(standing.any(axis=1)), way
    # Hips wish for other heights once they are shifted, and at these heights legs ask for another shift. The second one
    # is found half way: at the end of the first one, it would be too short or too long by about as much as before.
    for _ in range(2):
        offset = 0.5 * (way + offset)
        over = offset + _wished(clip, ankles[0] - offset[:, None], rise)[:, None] * clip.up
        shift, weight = _shift(clip, ankles - clip.hip - over[:, None], standing, offset - way)
        total = way + shift
        if not total.any():
            return total
        asked = np.column_stack([total, weight])[known]
        wish = np.stack([np.interp(time, known, column) for column in asked.T], axis=1)
        offset = smooth_between(wish[:, :3], clip.fps, SLOW, weight=wish[:, 3:])
    return offset


def _shift(clip: Clip, lines: Array, standing: Mask, shift: Array) -> tuple[Array, Array]:
    """The level shift (F, 3) of the hips by which `standing` legs (F, L) are about as long as in the clip, and how much
    it counts on each frame (F,). Legs that are too long may be as straight as the straighter one of the clip.

    `lines` (2, F, L, 3) go from hip joints to ankles, with heels as they are and raised, after an earlier `shift`
    (F, 3). A shift x makes a leg shorter by x @ slant. If all legs slant along one line, x has the least squares of
    what lengths are off by after it, and of its PRICE; else it is shorter. The exact one is no better on the bench.
    """
    lengths, own = length_of(lines), clip.stretch
    slant = level_part(lines[0], clip.up) / np.maximum(lengths[0], 1e-300)[..., None]
    # A heel that rises may give its leg any length between these two.
    shortest, longest = lengths.min(axis=0), lengths.max(axis=0)
    longer = np.maximum(shortest - np.maximum(own, straightest(clip)), 0.0) + np.minimum(longest - own, 0.0)
    asked = (longer + dot(slant, shift[:, None]))[..., None] * slant
    weight = np.where(standing, dot(slant, slant) + PRICE**2, 0.0).sum(axis=1)
    return np.where(standing[..., None], asked, 0.0).sum(axis=1) / np.maximum(weight, 1e-300)[:, None], weight
