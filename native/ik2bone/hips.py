# SPDX-License-Identifier: MIT
"""How the hips move over feet that stand elsewhere than in the clip: upright and calm at once."""

import numpy as np

from .arrays import Array, Mask
from .clip import Clip
from .curves import odd_window, smooth_between, smooth_cover
from .knees import SUDDEN, SUDDEN_IN_PLACE, eased_reach, straightest
from .reach import height_and_level, own_reach, pitched, toe_off_nears
from .rotations import length_of, level_part
from .settings import DEEPEST
from .targets.blend import Targets

# Changes of the ground that come and go faster than this (s) do not move the hips up or down, unless legs are short.
# Measured on 324 runs of the bench: with 0.195 the straighter knee bends by 0.05 degrees more on the mean, and with
# 0.192 the pelvis accelerates by 2 % more.
SLOW = 0.193
# The same for level shifts, which no leg waits for: about a step.
FOLLOW = 0.4
# On a slope the body leans this share of the way that would bring it over the slope as it was over the level floor. On
# a slope of 15 degrees that shifts the hips by 0.08 leg and bends the straighter knee by 3 to 5 degrees less. People
# lean by a part of the slope alone (Leroux, Fung and Barbeau, 2002), so most of it stays with the legs.
LEAN = 0.3
# Hips rise over the mean rise of the ground by no more than this times the way that an ankle is moved beyond it. Legs
# within 63 degrees of upright ask for less, and legs that lie for any height. Of 324 runs of the bench it binds those
# of a dash alone.
GAIN = 2.0
# Hips come down in so many rounds more where knees that stand would straighten and bend again more suddenly than in the
# clip. After two, seven of 153 runs of the bench have a knee that pops by 10.3 to 10.9 degrees; after three none of
# these.
EASINGS = 3


def hips_offset(
    clip: Clip,
    targets: Targets,
    standing: Mask,
    follows: Mask,
    room: Array,
    deepest: float = DEEPEST,
    leans: bool = True,
    wanted: Mask | None = None,
) -> Array:
    """Translation (F, 3) of the hips: along level with feet that stand elsewhere, then up or down so that legs reach.

    Hips go up with the mean rise of the ground under the feet, and farther where that would leave the straighter leg
    more bent than it is in the clip, unless it lies rather than stands.
    Only legs that are `standing` (F, L) ask for reach: a swinging foot is drawn to its hip instead. Knees of legs that
    `follows` (L,) tells to follow the ground, and not to be held on an anchor, are eased less. Heels may rise by `room`
    (F, L) radians as toe-off nears, before the hips come down; see `reach.heel_room`. Hips come no more than `deepest`
    leg lengths under the mean rise of the ground under the feet, and leave the rest out of reach. Where the body
    `leans`, slopes tilt it. `wanted` (F, L) are the contacts that people enforce, by default none.
    """
    wanted = np.zeros_like(standing) if wanted is None else wanted
    level = _level_offset(clip, targets, standing, LEAN * leans, wanted)
    targets, rise = targets.moved(-level[:, None]), targets.rise.mean(axis=1)
    early = room * toe_off_nears(standing) if room.any() else room
    raised = pitched(clip, targets, early) if early.any() else targets
    over, aside = height_and_level(clip, np.stack([targets.ankle, raised.ankle]))
    lowest = rise - deepest * clip.leg
    # The ceiling of legs that ask for more than the lowest. It is smooth, so that hips between the two are calm.
    bound = smooth_cover(lowest, odd_window(SLOW, clip.fps))

    def heights(reach: Array, side: Array | float = 1.0) -> Array:
        # Where legs, stretched to it, have their ankles in place (2, F, L): with heels as they are, and raised.
        return over + side * np.sqrt(np.maximum(reach**2 - aside, 0.0))

    # Hips under an ankle, as in a high kick or a somersault, are not to go up past it.
    side = np.sign((clip.hip - clip.ankle) @ clip.up)
    moved = length_of(targets.ankle - clip.ankle - rise[:, None, None] * clip.up).max(axis=1)
    wish = np.maximum(rise, np.minimum(heights(straightest(clip), side)[0].min(axis=1), rise + GAIN * moved))

    def height_within(reach: Array) -> Array:
        highs = np.where(standing, heights(reach).max(axis=0), np.inf)
        return smooth_between(wish, clip.fps, SLOW, lowest, np.maximum(highs.min(axis=1), bound))

    sudden, reach = np.where(follows, SUDDEN_IN_PLACE, SUDDEN), (own := own_reach(clip))
    first = height = height_within(own)
    for _ in range(EASINGS):
        # Hips that come down bend knees of swinging feet, too: that is no reason to come down farther.
        under, last = np.where(standing, height[:, None], first[:, None]), reach
        hip = clip.hip + under[..., None] * clip.up
        reach = eased_reach(clip, targets.ankle - hip, own, sudden)
        if (reach == last).all():
            break
        height = height_within(reach)
    return level + height[:, None] * clip.up


def _level_offset(clip: Clip, targets: Targets, standing: Mask, lean: float, wanted: Mask) -> Array:
    """Level translation (F, 3) that follows the feet where they stand elsewhere than in the clip, and tilts by a share
    `lean` with what turns them: the slope, and heels that lie higher than balls.

    It is told by standing feet (F, L) alone, goes smoothly from one to the next, and stays as it is before the first of
    them and after the last.
    """
    ways = level_part(targets.ball - clip.ball + lean * clip.leg * _tilt(clip, targets, wanted), clip.up)
    total = np.where(standing[..., None], ways, 0.0).sum(axis=1)
    if not total.any():
        return np.zeros_like(total)
    known, count = np.flatnonzero(standing.any(axis=1)), standing.sum(axis=1, keepdims=True)
    wish = [np.interp(np.arange(clip.frames), known, column) for column in (total[known] / count[known]).T]
    return smooth_between(np.stack(wish, axis=1), clip.fps, FOLLOW)


def _tilt(clip: Clip, targets: Targets, wanted: Mask) -> Array:
    """Where feet that stood upright have their up (F, L, 3).

    Feet whose contact is `wanted` (F, L) are turned by what the clip tilts them, too: only their slope counts.
    """
    tilt = targets.turn @ clip.up
    for anchor in targets.anchors:
        rows = slice(anchor.stance.start, anchor.stance.end), anchor.stance.leg
        if wanted[rows].any():
            tilt[rows] = anchor.turns(rows[0]) @ clip.up
    return tilt
