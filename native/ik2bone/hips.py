# SPDX-License-Identifier: MIT
"""How the hips move over feet that stand elsewhere than in the clip: smoothly, and so that legs stay as straight."""

import numpy as np

from .arrays import Array, Mask
from .clip import Clip
from .curves import odd_window, smooth_between, smooth_cover
from .knees import SUDDEN, SUDDEN_IN_PLACE, eased_reach, straightest
from .reach import height_and_level, own_reach, pitched
from .rotations import length_of, level_part
from .settings import DEEPEST
from .targets.blend import Targets

# Changes of the ground that are faster than this (s) do not move the hips up or down, unless legs do not reach.
# Measured on 324 runs of the bench: with 0.196 one knee pops by 10.01 degrees, and with 0.193 the pelvis accelerates by
# 2 % more.
SLOW = 0.194
# The same time for level shifts of the hips: about that of a step. They may be slower, because the height of the hips
# alone lets legs reach.
FOLLOW = 0.4
# On a slope the hips shift by this share of the way that would bring them as squarely over the slope as they were over
# the level floor. On a slope of 15 degrees they shift by 0.1 leg. With 0.35, the straighter knee bends by 0.03 degrees
# more on the mean of 324 runs of the bench. People lean by only a part of the slope (Leroux, Fung and Barbeau, 2002),
# so legs take most of it.
LEAN = 0.4
# Hips rise above the mean rise of the ground by no more than this times the greatest distance that an ankle is moved
# beyond that mean rise. Legs within 63 degrees of upright ask for less, but legs that lie may ask for any height. Of
# 324 runs of the bench the limit takes effect only in those of a dash.
GAIN = 2.0
# The number of rounds in which hips come down farther where the knees of standing legs would straighten and bend again
# more suddenly than in the clip. After two, seven of 153 runs of the bench have a knee that pops by 10.3 to 10.9
# degrees; after three, none of these seven.
EASINGS = 3


def hips_offset(
    clip: Clip,
    targets: Targets,
    standing: Mask,
    follows: Mask,
    early: Array,
    deepest: float = DEEPEST,
    leans: bool = True,
    wanted: Mask | None = None,
) -> Array:
    """The translation (F, 3) of the hips: level with feet that stand elsewhere, then up or down so that legs reach.

    Hips rise with the mean rise of the ground under the feet. They rise farther if the straighter leg would otherwise
    be more bent than in the clip, unless that leg lies rather than stands. Only legs that are `standing` (F, L) ask for
    reach: a swinging foot is drawn to its hip joint instead. `follows` (L,) are the legs that follow the ground without
    an anchor; their knees are eased less. As toe-off nears, heels may rise by `early` (F, L) radians before the hips
    come down. Hips come down to no more than `deepest` leg lengths below the mean rise of the
    ground; what is then missing stays out of reach. If the body `leans`, slopes tilt it. `wanted` (F, L) are the
    contacts that users enforce, by default none.
    """
    wanted = np.zeros_like(standing) if wanted is None else wanted
    level = _level_offset(clip, targets, standing, LEAN * leans, wanted)
    targets, rise = targets.moved(-level[:, None]), targets.rise.mean(axis=1)
    raised = pitched(clip, targets, early) if early.any() else targets
    over, aside = height_and_level(clip, np.stack([targets.ankle, raised.ankle]))
    lowest = rise - deepest * clip.leg
    # The ceiling never lies under this smooth curve over `lowest`, so that the hips can move smoothly between the two.
    bound = smooth_cover(lowest, odd_window(SLOW, clip.fps))

    def heights(reach: Array, side: Array | float = 1.0) -> Array:
        # The heights of the hips (2, F, L) at which legs stretched to `reach` have their ankles in place: with heels as
        # they are, and with raised heels.
        return over + side * np.sqrt(np.maximum(reach**2 - aside, 0.0))

    # Hips under an ankle, as in a high kick or a somersault, must not rise past that ankle.
    side = np.sign((clip.hip - clip.ankle) @ clip.up)
    wish = _wished(clip, targets, rise, heights(straightest(clip), side)[0].min(axis=1))

    def height_within(reach: Array) -> Array:
        highs = np.where(standing, heights(reach).max(axis=0), np.inf)
        return _smooth_under(np.maximum(highs.min(axis=1), bound), wish, lowest, clip.fps)

    sudden, reach = np.where(follows, SUDDEN_IN_PLACE, SUDDEN), (own := own_reach(clip))
    first = height = height_within(own)
    for _ in range(EASINGS):
        # Hips that come down bend the knees of swinging legs, too. Their knees are measured at the first height, so
        # that they do not ask for still lower hips.
        under, last = np.where(standing, height[:, None], first[:, None]), reach
        hip = clip.hip + under[..., None] * clip.up
        reach = eased_reach(clip, targets.ankle - hip, own, sudden)
        if (reach == last).all():
            break
        height = height_within(reach)
    return level + height[:, None] * clip.up


def _smooth_under(ceiling: Array, wish: Array, lowest: Array, fps: float) -> Array:
    """Smooth heights (F,) near a `wish` (F,) and under a `ceiling` (F,), but nowhere under `lowest` (F,)."""
    height = smooth_between(wish, fps, SLOW, ceiling=ceiling)
    # Few hips come down to `lowest`. Where they do not, it plays no part, and another limit gives the same bits.
    return height if (height >= lowest).all() else smooth_between(wish, fps, SLOW, lowest, ceiling)


def _wished(clip: Clip, targets: Targets, rise: Array, straight: Array) -> Array:
    """The heights (F,) that hips take if legs reach: at least the mean `rise` (F,) of the ground, and up to `straight`
    (F,), where the straighter leg is as straight as in the clip. See GAIN.
    """
    moved = targets.ankle - clip.ankle - rise[:, None, None] * clip.up
    return np.maximum(rise, np.minimum(straight, rise + GAIN * length_of(moved).max(axis=1)))


def _level_offset(clip: Clip, targets: Targets, standing: Mask, lean: float, wanted: Mask) -> Array:
    """Level translation (F, 3) of the hips: they follow feet that stand elsewhere than in the clip, and shift by a
    share `lean` of the tilt of the feet, which comes from the slope and from heels that lie higher than balls.

    Only `standing` feet (F, L) count. The translation goes smoothly from one stance to the next, and does not change
    before the first stance and after the last.
    """
    ways = level_part(targets.ball - clip.ball + lean * clip.leg * _tilt(clip, targets, wanted), clip.up)
    total = np.where(standing[..., None], ways, 0.0).sum(axis=1)
    if not total.any():
        return np.zeros_like(total)
    known, count = np.flatnonzero(standing.any(axis=1)), standing.sum(axis=1, keepdims=True)
    wish = [np.interp(np.arange(clip.frames), known, column) for column in (total[known] / count[known]).T]
    return smooth_between(np.stack(wish, axis=1), clip.fps, FOLLOW)


def _tilt(clip: Clip, targets: Targets, wanted: Mask) -> Array:
    """The directions (F, L, 3) in which feet would look up that looked straight up before the turn of their target.

    Where a contact is `wanted` (F, L), the turn also takes out the clip's own tilt of the foot: only the slope counts.
    """
    tilt = targets.turn @ clip.up
    for anchor in targets.anchors:
        rows = slice(anchor.stance.start, anchor.stance.end), anchor.stance.leg
        if wanted[rows].any():
            tilt[rows] = anchor.turns(rows[0]) @ clip.up
    return tilt
