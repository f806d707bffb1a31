# SPDX-License-Identifier: MIT
"""Choice of footsteps: one anchor a stance, chosen together, moved to where it costs least, with time between them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..arrays import Array, Indices, Mask
from ..checks import ROUNDING
from ..clip import Clip
from ..contacts.spans import Place
from ..contacts.stance import HASTY, Stance, stances, standing_core, standing_frames, standing_place
from ..contacts.standing import Contacts
from ..curves import SHARPEST
from ..ground.query import Ground, may_move, support_of
from ..rotations import einsum, inverse_of, move_points
from ..settings import Settings
from ..sole.measure import EVEN, Sole
from .anchor import Anchor, on_supports, ride_of
from .footprint import SOLE, Footprints, Site, footprints, over_edge, slope_turns, stance_footprints
from .lying import leave_lying
from .search import TOO_DEEP, best_shifts

# A foot that swings for longer than this (s) gets an anchor on the ground below it about once in this time. A foot
# counts as standing this long before its first stance and after its last one, but never within the clip.
LONG = 0.6
# The ground is asked for at this number of places from the standing point to each end of a sole, so that a plank is
# found that is as wide as a quarter of the distance.
ALONG = 4


def find_anchors(
    clip: Clip, sole: Sole, heel: Array, feet: Contacts, ground: Ground, settings: Settings, rides: bool
) -> tuple[Mask, list[Anchor]]:
    """The contacts (F, L, 2) that feet can hold, and an anchor for each of their stances. There has to be at least one
    contact. The anchor lies on the surface nearest to where the foot stood in the clip, raised as the foot before it
    was.

    Contacts are dropped on frames that feet need to get from one anchor to the next, unless they are in `feet.kept`. A
    foot that swings as the clip begins or ends, or for longer than `LONG`, gets anchors there with the part "swing".
    `heel` (F, L, 3) are the heels' paths. If the figure `rides`, it is carried by the supports of the anchors. Places
    where users want feet to stand are kept.
    """
    contacts = feet.standing
    prints = stance_footprints(clip, sole, heel, contacts)
    wished = _wished(ground, prints, settings.places)
    site, carried = _settle(clip, ground, settings.least, prints, rides, wished)
    fixed = np.isfinite(wished).all(axis=1)
    shifts = best_shifts(clip, site, carried, fixed)
    anchors = _anchors(site, shifts, carried, settings.use_slope)
    if fixed.any():
        # On a slope the joint is not vertically above the place where the sole touches the ground.
        rows = fixed & [anchor.found for anchor in anchors]
        away = (np.array([anchor.point for anchor in anchors]) - wished)[rows] / clip.leg
        shifts[rows] -= einsum("ni,nij->nj", away, prints.axes[rows, :, :2])
        anchors = _anchors(site, shifts, carried, settings.use_slope)
    anchors += _swing_anchors(clip, sole, ground, settings, anchors, ride_of(anchors, clip.frames, rides))
    return give_time(clip, contacts, leave_lying(clip, sole, contacts, anchors), feet.kept)


def _wished(ground: Ground, prints: Footprints, places: Sequence[Place]) -> Array:
    """Where users want the standing points (N, 3) as the feet come to stand, NaN without a wish."""
    wished = np.full_like(prints.origin, np.nan)
    for row, (span, part, frame) in enumerate(zip(prints.spans, prints.parts, prints.frame, strict=True)):
        for place in places:
            meets = place.start < span.end and span.start <= place.end
            if meets and (place.leg, place.part) == (span.leg, part):
                point, start = np.array(place.point), max(place.start, 0)
                motion = support_of(ground, point, start).motion
                # The place moves with its support up to the footprint's frame.
                way = np.eye(4) if motion is None else motion[frame] @ inverse_of(motion[start])
                wished[row] = move_points(way, point)
    return wished


def _settle(
    clip: Clip, ground: Ground, least: float, prints: Footprints, rides: bool, wished: Array
) -> tuple[Site, Array]:
    """The ground of N stances, and how far (N, 3) the figure was carried as their feet came to stand. `wished` (N, 3)
    are the places that users want for the standing points, NaN for none.

    The ground under each stance is asked for at the level of those before it, which matters on bridges and on stairs
    without risers. It is asked for again as long as answers change the level, or what carries the figure, of
    other stances.
    """
    count, rows = len(prints.spans), np.arange(len(prints.spans))
    rise, aside, carried = np.zeros(count), np.zeros((count, 2)), np.zeros((count, 3))
    asked, hits, found = np.full((count, 3), np.inf), np.zeros((count, 3)), np.zeros(count, bool)
    for _ in range(count + 1):
        place = prints.origin + carried - prints.height[:, None] * clip.up
        below = place + rise[:, None] * clip.up
        below = np.where(np.isfinite(wished), wished - prints.height[:, None] * clip.up, below)
        new = np.abs(below - asked).max(axis=1) > 1e-9 * clip.leg
        if not new.any():
            break
        asked[new] = below[new]
        site = Site(ground, prints, asked, asked, clip.leg, least)
        hits[new], found[new], aside[new] = _under_soles(site, rows[new])
        rise = _levels((hits - place) @ clip.up, found, TOO_DEEP * clip.leg)
        if rides and may_move(ground):
            anchors = _anchors(replace(site, zero=hits), aside, carried, False)
            if any(anchor.motion is not None for anchor in anchors):
                carried = ride_of(anchors, clip.frames)[prints.frame]
    zero = np.where(found[:, None], hits, asked)
    return Site(ground, prints, asked, zero, clip.leg, least), carried


def _under_soles(site: Site, rows: Indices) -> tuple[Array, Mask, Array]:
    """The ground (M, 3) under the standing points of the stances `rows` (M,), whether there is any (M,), and how far
    ahead and to the left (M, 2) of the points it was found.

    A foot does not fall into a gap that its sole spans, but stays as high as the lower side of the gap. Nor does it
    fall off an edge under its sole by more than TOO_DEEP, if the edge is nearer to the level asked for.
    """
    points = _about_soles(site.prints.points[rows])
    under = site.ask(rows, points)
    climb, own = over_edge(points, under), under.height[:, :1]
    higher = under.found & (climb > EVEN) & (under.height > own)
    heights = np.where(higher, under.height, -np.inf)
    left, right, (behind, ahead) = heights[:, 1], heights[:, 2], heights[:, 3:].reshape(-1, 2, ALONG).max(axis=2).T
    beside = np.maximum(np.minimum(left, right), np.minimum(behind, ahead))
    edges = np.where((climb > TOO_DEEP) & (np.abs(heights) < np.abs(own) - ROUNDING), heights, -np.inf)
    nearest = np.take_along_axis(edges, np.abs(edges).argmin(axis=1)[:, None], axis=1)[:, 0]
    beside = np.where(beside > -np.inf, beside, nearest)
    # Index 0, the standing point, where the sole spans no gap.
    on = np.arange(len(rows)), (heights == beside[:, None]).argmax(axis=1)
    bridged = beside > -np.inf
    level = np.where(bridged, beside, 0.0)[:, None] * site.leg * site.prints.axes[0, :, 2]
    hits = np.where(bridged[:, None], site.below[rows] + level, under.hits[:, 0])
    return hits, under.found[on], points[on]


def _about_soles(points: Array) -> Array:
    """The standing points of footprints (M, P, 2), their sides, and places on the way to heel and tip
    (M, 3 + 2 ALONG, 2).
    """
    ways = points[:, 1:4:2, None] * (np.arange(1, ALONG + 1) / ALONG)[:, None]
    middle, sides = 0.0 * points[:, :1], points[:, SOLE - 2 : SOLE]
    return np.concatenate([middle, sides, ways.reshape(len(points), -1, 2)], axis=1)


def _levels(rises: Array, found: Mask, deep: float) -> Array:
    """For each stance (N,) the rise of the last one before it that found ground, 0 without one. A stance that
    lies more than `deep` under that, as beside a bridge, does not take those after it along, unless the next stance
    lies as deep.
    """
    levels, level, fell = np.zeros(len(rises)), 0.0, False
    for row, (rise, is_found) in enumerate(zip(rises.tolist(), found.tolist(), strict=True)):
        levels[row] = level
        if is_found:
            fell = rise < level - deep and not fell
            level = level if fell else rise
    return levels


def _anchors(site: Site, shifts: Array, carried: Array, aligned: bool) -> list[Anchor]:
    """The anchors of N stances whose feet are shifted (N, 2), in leg lengths ahead and to the left, with the figure
    `carried` (N, 3) by then. `aligned` tells whether soles are turned along slopes.
    """
    prints, points = site.prints, site.prints.points + shifts[:, None]
    patch = site.ask(np.arange(len(shifts)), points) if shifts.any() else site.own
    found = patch.found[:, 0]
    turns = slope_turns(prints.axes, points, patch) if aligned else np.tile(np.eye(3), (len(shifts), 1, 1))
    turns[~found] = np.eye(3)
    holds = np.where(found[:, None], patch.hits[:, 0], prints.origin + carried)
    points = holds + np.where(found, prints.height, 0.0)[:, None] * (turns @ prints.axes[0, :, 2])
    placed = prints.spans, prints.parts, prints.origin, points, turns, found.tolist(), holds, carried
    anchors = (Anchor(*row) for row in zip(*placed, strict=True))
    return on_supports(anchors, site.ground, prints.frame.tolist())


def _swing_anchors(
    clip: Clip, sole: Sole, ground: Ground, settings: Settings, anchors: list[Anchor], ride: Array
) -> list[Anchor]:
    """Anchors with the part "swing" on the ground below feet that swing at the clip's first or last frame, or for
    longer than `LONG`.
    """
    passed = [place for leg in range(clip.legs) for place in _passed(clip, [a for a in anchors if a.stance.leg == leg])]
    if not passed:
        return []
    frames, whens, beside = zip(*passed, strict=True)
    spans = [Stance(anchor.stance.leg, when, when) for when, anchor in zip(whens, beside, strict=True)]
    origin = clip.ball[list(frames), [span.leg for span in spans]]
    # The clip's own floor may be uneven: its height is taken from the stance nearest in time.
    over = np.array([sole.ball_height[a.stance.leg] if a.part == "heel" else 0.0 for a in beside])
    level = np.array([anchor.origin for anchor in beside]) @ clip.up + over
    origin = origin + (level - origin @ clip.up)[:, None] * clip.up
    prints = footprints(clip, sole, spans, ["swing"] * len(spans), [np.array([frame]) for frame in frames], origin)
    carried = ride[list(frames)]
    rise = np.array([anchor.move for anchor in beside]) @ clip.up
    below = origin + carried + (rise - prints.height)[:, None] * clip.up
    site = Site(ground, prints, below, below, clip.leg, settings.least)
    own = _anchors(site, np.zeros((len(spans), 2)), carried, settings.use_slope)
    # Without ground, the foot is moved up or down by as much as in the stance nearest in time.
    goals = [anchor.point + way for anchor, way in zip(own, rise[:, None] * clip.up, strict=True)]
    return [a if a.found else replace(a, point=to, foothold=to) for a, to in zip(own, goals, strict=True)]


def _passed(clip: Clip, anchors: list[Anchor]) -> list[tuple[int, int, Anchor]]:
    """Frames on which a swinging foot with these anchors gets another anchor, each with the frame on which the foot
    counts as standing there, and the anchor nearest in time.
    """
    if not anchors:
        return []
    found, (first, last), away = [], (anchors[0], anchors[-1]), round(LONG * clip.fps)
    if first.stance.start > 0:
        found.append((0, min(0, first.stance.start - away), first))
    if last.stance.end < clip.frames:
        found.append((clip.frames - 1, max(clip.frames, last.stance.end + away), last))
    for before, after in pairwise(anchors):
        start, end = before.stance.end, after.stance.start
        parts = round((end - start) / max(1.0, LONG * clip.fps))
        # Counted from `start`, halves of frames are rounded alike wherever the clip begins.
        frames = start + np.linspace(0, end - start, parts + 1).round().astype(int)[1:-1]
        found += [(int(frame), int(frame), before if 2 * frame < start + end else after) for frame in frames]
    return found


def give_time(clip: Clip, contacts: Mask, anchors: list[Anchor], kept: Mask) -> tuple[Mask, list[Anchor]]:
    """Contacts (F, L, 2) and anchors, without the frames at the ends of stances that feet need to get to their next
    anchors.

    A foot may slide off its place in a stance, and the ground may move two stances by different amounts. Between the
    two stances the foot makes up for both, with an acceleration of at most `HASTY`. Contacts that are `kept` (F, L, 2)
    stay.
    """
    moves = {anchor.stance: anchor.move for anchor in anchors if anchor.part != "swing"}
    timely, spans = contacts.copy(), stances(contacts)
    spots = [standing_place(clip.ball[span.rows], standing_frames(contacts[span.rows])) for span in spans]
    for row, (before, after) in enumerate(pairwise(spans)):
        if before.leg == after.leg:
            climb = moves[after] - moves[before]
            _part(clip, timely, (before, after), (spots[row], spots[row + 1]), climb, kept)
    if (timely == contacts).all():
        return timely, anchors
    stays = timely.any(axis=-1)
    return timely, [a if a.part == "swing" else replace(a, stance=_within(a.stance, stays)) for a in anchors]


def _part(
    clip: Clip, contacts: Mask, spans: tuple[Stance, Stance], spots: tuple[Array, Array], climb: Array, kept: Mask
) -> None:
    """Shorten two stances of a foot (in `contacts` (F, L, 2), in place) until it has time to get from one to the next,
    or only their cores are left. `spots` (3,) are their places in the clip, `climb` (3,) is how much farther the ground
    moves the second.
    """
    path, end, start, cores = clip.ball[:, spans[0].leg], spans[0].end, spans[1].start, None
    while True:
        off = spots[0] - path[end - 1], spots[1] - path[start]
        lacking = float(np.linalg.norm(off[1] - off[0] + climb))
        if SHARPEST * lacking * (clip.fps / (start - end + 1)) ** 2 <= HASTY * clip.leg:
            return
        (_, stays), (begins, _) = cores = cores or [_core(contacts, span, kept) for span in spans]
        if end <= stays and start >= begins:
            return
        beyond = float(np.linalg.norm(off[0]) - np.linalg.norm(off[1]))
        if abs(beyond) < ROUNDING * clip.leg:  # both stances rest there and give the same time
            beyond = float(start - spans[1].start - (spans[0].end - end))
        first = start == begins or (end > stays and beyond > 0.0)
        end, start = (end - 1, start) if first else (end, start + 1)
        contacts[end:start, spans[0].leg] = False


def _core(contacts: Mask, span: Stance, kept: Mask) -> tuple[int, int]:
    """The first frame of a stance's core, and the one after its last: of the frames that give the stance its place, and
    those that are `kept` (F, L, 2).
    """
    taken = standing_core(standing_frames(contacts[span.rows]))
    frames = np.union1d(taken, np.flatnonzero(kept[span.rows].any(axis=-1)))
    return span.start + int(frames[0]), span.start + int(frames[-1]) + 1


def _within(stance: Stance, held: Mask) -> Stance:
    """The stance without the frames at its ends on which its foot is not `held` (F, L)."""
    frames = np.flatnonzero(held[stance.rows])
    return Stance(stance.leg, stance.start + int(frames[0]), stance.start + int(frames[-1]) + 1)
