# SPDX-License-Identifier: MIT
"""Which slow spells of a foot have ground under them. The height of the ground is unknown, and it may be uneven."""

import numpy as np

from ..arrays import Array, Mask, reduce_last
from ..curves import quantile
from .paths import ENTER_SPEED, SAME_PLACE, Feet
from .stance import LEAST_CONTACT, STEP, Stance, half_step

# A spell has ground under it within this height (leg lengths) of the lowest spell of any foot nearby in time: treads of
# stairs under two feet differ by this much. On rocks no other foot may be as low. There a foot stands while no lower
# one is slow. Without this rule the two walks over uneven ground lose a fifth of their contacts.
HEIGHT = 0.12
# The speeds of feet that fall with their figure differ by no more than this share: by 0 in falls of animators, by 0.4
# where a tracked dancer's body sinks while one foot stands.
ALIKE = 0.2


def grounded(feet: Feet, spells: list[Stance], height: float) -> list[Stance]:
    """The spells with ground under them, of those in which heel or ball is slow: spells as low as others nearby in
    time, those that carry the figure alone, and those as high as where the same foot carries it. A spell from which the
    whole figure falls on, as after the top of a jump, has none.

    `height` (leg lengths) is as `HEIGHT`.
    """
    spells = _not_falling(feet, spells)
    if not spells:
        return []
    heights = np.array([quantile(feet.lowest[spell.rows], 0.5) for spell in spells])
    if heights.max() < heights.min() + min(height, SAME_PLACE):
        return spells
    legs, starts, ends = np.array([(spell.leg, spell.start, spell.end) for spell in spells]).T
    step = STEP * feet.fps
    crest = _are_crests(starts, ends, heights, height, 0.5 * step)
    carry = _carrying(feet, spells, heights, crest, height)
    near = (starts < ends[:, None] + step) & (ends > starts[:, None] - step)
    low = heights < np.where(near, heights, np.inf).min(axis=1) + height
    # Recordings without markers put the two feet on floors of different heights: a foot that is as high as where it
    # carried the figure stands, even if the other foot is lower.
    level = (np.abs(heights - heights[:, None]) < SAME_PLACE) & (legs == legs[:, None]) & carry
    # A foot that does not carry the figure is held up if it is higher, even by as little as `SAME_PLACE`, than spells
    # before and after. The joint of a ball may lie 0.1 leg over the sole, so heights count from where each part is
    # lowest.
    over = reduce_last(np.minimum, feet.above)
    over = np.array([quantile(over[spell.rows], 0.5) for spell in spells])
    held = _are_crests(starts, ends, over, SAME_PLACE, 0.5 * step)
    keep = carry | (low & ~held) | level.any(axis=1)
    return [spell for spell, kept in zip(spells, keep, strict=True) if kept]


def _not_falling(feet: Feet, spells: list[Stance]) -> list[Stance]:
    """The spells, without those at whose end all feet go down alike and this foot gets lower than it was."""
    # This keeps steps: steps and hops begin upward, and on the way down stairs the other foot stands.
    falls = -feet.climb.reshape(feet.frames, -1)
    least, most = reduce_last(np.minimum, falls), reduce_last(np.maximum, falls)
    sinks = least >= np.maximum(ENTER_SPEED, (1.0 - ALIKE) * most)
    soon = half_step(feet.fps)
    return [
        spell
        for spell in spells
        if spell.end == feet.frames
        or not sinks[spell.end]
        or feet.lowest[spell.end : spell.end + soon, spell.leg].min() >= feet.lowest[spell.rows].min() - SAME_PLACE
    ]


def _are_crests(starts: Array, ends: Array, heights: Array, height: float, least: float) -> Mask:
    """Which spells (S,) are higher, by `height`, than one before and one after of at least `least` frames: the foot may
    swing.
    """
    low = (heights < heights[:, None] - height) & (ends - starts >= least)
    before, after = ends <= starts[:, None], starts >= ends[:, None]
    return np.asarray((low & before).any(axis=1) & (low & after).any(axis=1))


def _carrying(feet: Feet, spells: list[Stance], heights: Array, crest: Mask, most: float) -> Mask:
    """The spells (S,) in which a foot carries the figure alone: for longer if it was lifted, or may swing (`crest`).

    A foot higher than another by `most` (leg lengths) does not carry the figure: it is held up while the other one
    hops.
    """
    level = np.full(feet.lowest.shape, np.inf)
    for spell, height in zip(spells, heights, strict=True):
        level[spell.rows] = height
    low = level < reduce_last(np.minimum, feet.lowest)[:, None] + most
    alone, carry = low & (level == reduce_last(np.minimum, level)[:, None]), np.zeros(len(spells), bool)
    soon, (legs, starts, ends) = half_step(feet.fps), np.array(spells).T[:3]
    for i, (spell, height) in enumerate(zip(spells, heights, strict=True)):
        time = np.count_nonzero(alone[spell.rows]) / feet.fps
        if crest[i] or not LEAST_CONTACT - 1e-9 <= time < STEP:
            carry[i] = time >= STEP
            continue
        before = feet.lowest[max(spell.start - soon, 0) : spell.start + 1, spell.leg]
        after = feet.lowest[spell.end : spell.end + soon, spell.leg]
        # A foot that comes from below was lifted or is at the top of a jump. One that is put down comes from above.
        lifted = before.min() < height - SAME_PLACE and before.max() < max(height, before[-1]) + SAME_PLACE
        # A figure that climbs comes from a lower foot, which stands until this one does, or goes on from there. In both
        # cases it gets no lower: neither this foot nor the next one of the others.
        others = legs != spell.leg
        stood = others & (starts < spell.start) & (ends > spell.start - LEAST_CONTACT * feet.fps) & (heights < height)
        later = np.where(others & (starts > spell.start), starts, feet.frames)
        following = after.min(initial=np.inf), heights[later.argmin()] if later.min() < feet.frames else np.inf
        climbs = (stood.any() or max(following) < np.inf) and min(following) >= height - SAME_PLACE
        carry[i] = climbs or not lifted
    return carry
