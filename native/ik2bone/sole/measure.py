# SPDX-License-Identifier: MIT
"""The sole of each foot, measured from the clip: points under heel and ball, fixed to the foot bone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, Indices, Mask, put_in
from ..clip import Clip
from ..contacts.detect import detect
from ..contacts.paths import REST
from ..contacts.stance import LEAST_CONTACT, ROLL, STEP, half_step, stances, standing_core
from ..curves import quantile, runs
from ..joints import level_axes
from ..notes import Note, counted
from ..rotations import cross, dot, inverse_of, length_of, level_part, move_points, turn_vectors, unit
from .skin import BALL_HEIGHTS, FlatFoot, find_sole, lay_at_rest

# The share of a stance's frames on which a foot lies flat, those with the ankle lowest over the ball, and the share of
# its stances, the flattest, that show how it lies. With the flatter half of the stances heels of recorded clips lie up
# to 0.002 leg lower, and standing feet are pitched up by a degree more.
FLAT = 0.25
# The share of the frames, those with the ball lowest, that are used for a foot whose ball never stands.
LOW_SHARE = 0.05
# The distance of the heel behind the ankle, as a share of that from ankle to ball (Winter, 2009: foot segment).
HEEL_BEHIND = 0.3
# Ground is even if it lies this close to a plane (leg lengths): 2.5 cm, which shoes hide. Feet that stand higher than
# the lowest by this stand on something, and do not show where the floor is. There is no common floor either if, for
# each foot, the heights of its stances differ from their median by more than this on the mean. Recorded clips on flat
# floors have 0.02 at most, those over obstacles 0.05 and more.
EVEN = 0.03
# A foot lies, rather than stands, if the hips are no higher than this over its ball (leg lengths). In stances of
# KayKit's clips of figures that lie they are 0.07 high at most, in those of walk 131_01 and dance 005_02 0.48 at least.
LIES = 0.3
# A foot lies if it leans on its heel, side or back by more than this (sine of 55 degrees). In the recorded clips heels
# strike at up to 35 degrees, and a dancer's toe rests on its side at 53.
LEANS = 0.82
# A foot also hangs or lies with its toes up by more than this (sine of 40 degrees), if its hip joint is no higher than
# this over its ball (leg lengths). KayKit's figures sit on chairs with 47 degrees and 0.43. Runners in place land with
# up to 52 degrees, and hips at 0.7 at least.
HANGS, SITS = 0.64, 0.5
# A clip whose feet never stand has the floor that it declares, unless that is farther than this under its feet (leg
# lengths). The feet of KayKit's figures hang from chairs at 1.01.
SEAT = 1.5
# Height of the ball joint over the sole by proportion, in leg lengths (a person's ball joint lies 2 to 4 cm high).
PROPORTION = 0.035
# Heel strikes are exact if at least so many frames show a place of the heel, and half of the places agree within this
# share of the distance from heel to ball. The best recorded clip measured reaches 0.03.
LEAST, AGREE = 4, 0.005


@dataclass(frozen=True)
class Sole:
    """Soles of L legs. `ball_height` (L,) is the ball joint's height over the sole of a flat foot, in scene units.

    `heel` and `ball` (L, 3) are points of the sole in foot bone space, and `tip` (L, 3) is one in toe bone space.
    `ball_joint` (L, 3) is the joint above `ball`, in foot bone space. `forward` and `up` (L, 3) are unit vectors of a
    flat foot in foot bone space, and `toe_up` (L, 3) is the up direction of its toes in toe bone space. `lengths`
    (L, 2) are the distances from heel to ball and from ball to tip, and `floor` is the height of the clip's own floor
    along up, both in scene units. `source` (L) says where each sole's height comes from.
    """

    ball_height: Array
    heel: Array
    ball: Array
    tip: Array
    ball_joint: Array
    forward: Array
    up: Array
    toe_up: Array
    lengths: Array
    floor: float
    source: tuple[str, ...]

    def choose(self, limbs: Mask) -> Sole:
        """The soles of some of the limbs (L,); these themselves if they are all."""
        if limbs.all():
            return self
        source = tuple(name for name, chosen in zip(self.source, limbs, strict=True) if chosen)
        return replace(self, **{name: value[limbs] for name, value in self.rows()}, source=source)

    def beside(self, other: Sole, limbs: Mask) -> Sole:
        """These soles with `other` soles in place of those of some limbs (L,). The floor stays."""
        rows: dict[str, Any] = {name: put_in(value, getattr(other, name), limbs, 0) for name, value in self.rows()}
        source = put_in(np.array(self.source), np.array(other.source), limbs, 0)
        return replace(self, **rows, source=tuple(source.tolist()))

    def rows(self) -> list[tuple[str, Any]]:
        """The arrays that have one row for each limb, by name."""
        return [(name, value) for name, value in vars(self).items() if isinstance(value, np.ndarray)]


def measure_sole(clip: Clip) -> Sole:
    """Measure the soles from the skin of the feet, or else from the flat parts of the stances.

    Each stance has one vote, however long it lasts, so that soles do not depend on how a clip is trimmed. The sole of a
    leg whose ball lies at its ankle is that point. Feet are measured without the own scales of their bones, as these
    may make lengths uneven in foot space.
    """
    clip = _unscaled(clip)
    contacts, shown = _contacts(clip)
    height, source = _ball_height(clip, shown[..., 1])
    feet = [_foot(clip, leg, contacts[:, leg], shown[:, leg], height, source) for leg in range(clip.legs)]
    sole, known = _sole_of(clip, feet), np.array([foot.source in ("mesh", "point") for foot in feet])
    rows = known if known.any() else ~known
    return replace(sole, floor=_floor_under(clip.choose(rows), sole.choose(rows), shown[:, rows, 1]))


def _unscaled(clip: Clip) -> Clip:
    """The clip with the own scales of feet and toes taken from the bones and applied to the skins. `scale` stays."""
    if (clip.scale[:, :, 2:] == 1.0).all():
        return clip
    foot, toe, scales = clip.foot.copy(), clip.toe.copy(), clip.scale[:, :, 2:].mean(axis=0)
    foot[..., :3, :3] /= clip.scale[:, :, 2, None]
    toe[..., :3, :3] /= clip.scale[:, :, 3, None]
    skins = clip.skins and tuple(skin.scaled(*own) for skin, own in zip(clip.skins, scales, strict=True))
    return clip.having(foot=foot, toe=toe, skins=skins)


def _sole_of(clip: Clip, feet: Sequence[FlatFoot]) -> Sole:
    """The soles of feet as they lie flat, without the floor. Lengths are in scene units, all else in the spaces of
    bones with their own scales.
    """
    (own, toe), sizes = clip.scale[:, :, 2:].mean(axis=0).swapaxes(0, 1), clip.foot_units
    heel, ball, tip = np.array([[foot.under(at) for at in (foot.heel, 0.0, foot.tip)] for foot in feet]).swapaxes(0, 1)
    forward, up, joint, into_toe = (
        np.array([getattr(foot, name) for foot in feet]) for name in ("forward", "up", "joint", "into_toe")
    )
    return Sole(
        ball_height=sizes * [foot.height for foot in feet],
        heel=heel / own,
        ball=ball / own,
        tip=move_points(into_toe, tip) / toe,
        ball_joint=joint / own,
        forward=unit(forward / own),
        up=unit(up / own),
        toe_up=unit(turn_vectors(into_toe, up) / toe),
        lengths=sizes[:, None] * [(-foot.heel, foot.tip) for foot in feet],
        floor=0.0,
        source=tuple(foot.source for foot in feet),
    )


def with_own_floor(clip: Clip, sole: Sole) -> Sole:
    """Soles measured from another clip of the same limbs, with the floor under the feet of this clip."""
    if clip.is_hand.all():
        return replace(sole, floor=clip.floors[0])
    feet = clip.choose(~clip.is_hand)
    return replace(sole, floor=_floor_under(feet, sole.choose(~clip.is_hand), _contacts(feet)[1][..., 1]))


def lying(clip: Clip, sole: Sole) -> Mask:
    """Which feet (F, L) hang, or lie on their heels, sides or backs, as those of sitting or lying figures do.

    Where the clip shows no other feet, their soles are measured as if these were flat. So a ball over its ankle is
    enough while the hips are hardly higher, or lower, than the foot.
    """
    forward, up = (unit(turn_vectors(clip.foot, axes)) for axes in (sole.forward, sole.up))
    side, toes = dot(cross(forward, up), clip.up), dot(forward, clip.up)
    high = dot(clip.hip - clip.ball, clip.up)
    leans = (toes > np.where(high <= SITS * clip.leg, HANGS, LEANS)) | (np.abs(side) > LEANS)
    lies = (high <= LIES * clip.leg) & (dot(clip.ball - clip.ankle, clip.up) > 0.0)
    return leans | lies | (dot(up, clip.up) < -LEANS)


def tell_doubts(clip: Clip, sole: Sole, asked: Mask) -> list[Note]:
    """Notes about soles of the feet that were `asked` for (L,): those by proportion, and those for which no skin
    counted.
    """
    feet = np.flatnonzero(~clip.is_hand & asked)
    notes = [Note("sole_by_proportion")] if any(sole.source[leg] == "proportion" for leg in feet) else []
    skins = [(clip.skins[leg], sole.source[leg]) for leg in feet] if clip.skins else []
    doubted = sum(len(skin.foot) + len(skin.toe) > 0 and source != "mesh" for skin, source in skins)
    return notes + counted("skin_doubted", doubted, of=len(feet))


def sole_points(clip: Clip, sole: Sole) -> Array:
    """Heel, ball and tip on the sole (F, L, 3, 3) as in the clip, in world space. The tip moves with the toes."""
    heel, ball = (move_points(clip.foot, point) for point in (sole.heel, sole.ball))
    return np.stack([heel, ball, move_points(clip.toe, sole.tip)], axis=2)


def _contacts(clip: Clip) -> tuple[Mask, Mask]:
    """Contacts (F, L, 2) of ankles and balls, which need no sole, and those of them that show how feet lie.

    A ball that stops for a moment as the heel strikes, before it comes down, does not stand yet.
    """
    contacts = detect(clip.ankle, clip.ball, fps=clip.fps, leg=clip.leg, up=clip.up)[0]
    heights, shown = dot(clip.ball, clip.up), contacts.copy()
    for stance in stances(contacts, half_step(clip.fps)):
        balls, height = contacts[stance.rows][:, 1], heights[stance.rows]
        if balls.any():
            contacts[stance.rows][:, 1] = balls & (height <= quantile(height[balls], 0.5) + EVEN * clip.leg)
        # A foot that strikes as the clip ends may not have come down.
        is_last, is_short = stance.end == clip.frames, stance.end - stance.start < STEP * clip.fps
        strikes = is_last and is_short and contacts[: stance.start, stance.leg, 1].any()
        shown[stance.rows] = contacts[stance.rows] & (not strikes)
    return contacts, shown


def _standing_heights(clip: Clip, balls: Mask) -> list[Array]:
    """For each leg the heights (S,) of its ball joint, one for each stance, from the contacts (F, L) of balls."""
    heights = dot(clip.ball, clip.up)
    stances = [_stances(clip, balls[:, leg], leg) for leg in range(clip.legs)]
    return [np.array([quantile(heights[frames, leg], 0.5) for frames in each]) for leg, each in enumerate(stances)]


def _stances(clip: Clip, stands: Mask, leg: int) -> list[Indices]:
    """The frames of each stance of a foot that stands as in a mask (F,). A foot that never stands has one stance: the
    frames on which its ball is lowest.
    """
    high, found = dot(clip.hip[:, leg] - clip.ball[:, leg], clip.up), [np.arange(*run) for run in runs(stands)]
    # Stances in which a figure lies count only if there are no others.
    found = [frames for frames in found if quantile(high[frames], 0.5) > LIES * clip.leg] or found
    if found:
        # Short stances, which the clip's ends have cut off, count only if there are no others.
        return [frames for frames in found if len(frames) >= LEAST_CONTACT * clip.fps] or found
    heights = dot(clip.ball[:, leg], clip.up)
    return [np.flatnonzero(heights <= quantile(heights, LOW_SHARE))]


def _ball_height(clip: Clip, balls: Mask) -> tuple[float, str]:
    """The ball joints' height over the sole, and where it was taken from.

    `balls` (F, L) are the contacts of balls. All feet have one shape.
    """
    standing = _standing_heights(clip, balls)
    height = _common_height(standing, clip.leg)
    least, most = BALL_HEIGHTS
    uneven = min(np.abs(each - quantile(each, 0.5)).mean() for each in standing) > EVEN * clip.leg
    for floor in () if uneven else clip.floors:
        if least * clip.leg <= height - floor <= most * clip.leg:
            return max(height - floor, 0.0), "clip's floor"
    return PROPORTION * clip.leg, "proportion"


def _floor_under(clip: Clip, sole: Sole, balls: Mask) -> float:
    """The height of the floor under feet with contacts (F, L) of balls. A clip whose feet never stand shows no floor:
    then the floor that it declares counts, if it lies below the feet.
    """
    stands = balls & ~lying(clip, sole)
    heights = _standing_heights(clip, stands)
    floor = _common_height([each - height for each, height in zip(heights, sole.ball_height, strict=True)], clip.leg)
    declared = clip.floors[0]
    # Hips may be lower than feet, as in a handstand.
    lowest = min(floor, float((clip.hip @ clip.up).min()))
    return declared if not stands.any() and 0.0 < lowest - declared < SEAT * clip.leg else floor


def _common_height(standing: list[Array], leg: float) -> float:
    """The median of the heights (S,) at which each foot stands. All feet weigh alike, but those that stay up do not
    count.
    """
    middles = [float(quantile(each, 0.5)) for each in standing]
    low = [each for each, middle in zip(standing, middles, strict=True) if middle - min(middles) < EVEN * leg]
    heights = np.concatenate(low)
    order = np.argsort(heights)
    share = np.cumsum(np.concatenate([np.full(len(each), 1.0 / len(each)) for each in low])[order]) / len(low)
    # If half of the weight ends at one height, as with two feet at different heights, the median is the mean of this
    # height and the next one.
    return float(heights[order][np.searchsorted(share, (0.5 - 1e-9, 0.5 + 1e-9))].mean())


def _flat_frames(clip: Clip, contacts: Mask, leg: int) -> list[Indices]:
    """The flat frames of the flattest stances of a foot, from contacts (F, 2): stances on heel and ball, if there are
    any, or stances on the ball.
    """
    both = contacts.all(axis=-1)
    drop = dot((clip.ankle - clip.ball)[:, leg], clip.up)
    cores = [standing_core(frames) for frames in _stances(clip, both if both.any() else contacts[:, 1], leg)]
    # The tolerance keeps rounding, and so the unit of length, from choosing among equal frames.
    near = 1e-6 * clip.leg
    flat = [core[drop[core] <= quantile(drop[core], FLAT) + near] for core in cores]
    drops = np.array([drop[frames].mean() for frames in flat])
    least = np.sort(drops)[int(FLAT * (len(drops) - 1))] + near
    return [frames for frames, own in zip(flat, drops, strict=True) if own <= least]


def _foot(clip: Clip, leg: int, contacts: Mask, shown: Mask, height: float, source: str) -> FlatFoot:
    """How a foot lies flat: by its skin, as it stands in the rest pose, or else laid as its stances have it. Without a
    plausible skin the stances alone count, with the `height` from that `source`.
    """
    skin, size = clip.skins and clip.skins[leg], clip.foot_units[leg]
    joint = quantile(move_points(inverse_of(clip.foot[:, leg]), clip.ball[:, leg]), 0.5)
    if skin and (foot := lay_at_rest(skin, joint, clip.leg / size)):
        return foot
    if (clip.ball[:, leg] == clip.ankle[:, leg]).all():
        height, source = 0.0, "point"
    lying = _flat_foot(clip, leg, shown, height / size, source)
    if skin and (foot := find_sole(skin, lying.forward, lying.up, lying.joint, clip.leg / size)):
        return foot
    return replace(lying, heel=_struck_heel(clip, leg, lying, contacts[:, 1]))


def _flat_foot(clip: Clip, leg: int, contacts: Mask, height: float, source: str) -> FlatFoot:
    """How a foot with contacts (F, 2) lies flat, with the ball joint at this height over the sole: the means of what
    the flat frames of each stance tell. Heights and places are in units of foot space.
    """
    flat = _flat_frames(clip, contacts, leg)
    frames, counts = np.concatenate(flat), np.array([len(each) for each in flat])

    def of_stances(values: Array) -> Array:
        return (np.add.reduceat(values, np.cumsum(counts) - counts).T / counts).T

    ball, bone, heading = clip.ball[frames, leg], clip.foot[frames, leg], _headings(clip, leg, frames)
    into, way = inverse_of(bone), clip.tip[frames, leg] - ball
    ways = move_points(into, ball), unit(turn_vectors(into, heading)), unit(into[:, :3, :3] @ clip.up)
    joint, forward, up = (of_stances(each).mean(axis=0) for each in ways)
    forward, up = unit(forward), unit(up)
    # Stances in which the toes are bent up do not show how the toes lie.
    rises = of_stances(way @ clip.up)
    low = rises <= rises.min() + EVEN * clip.leg
    tip = float(of_stances(np.maximum(dot(way, heading), 0.0))[low].mean()) / clip.foot_units[leg]
    into_toe = of_stances(inverse_of(clip.toe[frames, leg]) @ bone)[low].mean(axis=0)
    heel = -(1.0 + HEEL_BEHIND) * float(joint @ forward)
    return FlatFoot(forward, up, joint, height, heel, tip, into_toe, source)


def _headings(clip: Clip, leg: int, frames: Indices) -> Array:
    """Level unit directions (N, 3) in which a foot points on some frames."""
    level = level_part(clip.ball[frames, leg] - clip.ankle[frames, leg], clip.up)
    if quantile(length_of(level), 0.5) < 1e-3 * clip.leg:
        # A foot without length along the ground has no heading. The bone's axis that is most level takes its place.
        level = level_axes(clip.foot, clip.hip, clip.up)[frames, leg]
    return unit(level)


def _struck_heel(clip: Clip, leg: int, foot: FlatFoot, ball: Mask) -> float:
    """The place of the heel along forward: where the foot turns before its ball comes to stand (F,), if that is exactly
    one place, as in clips by animators and formulas, else where `foot` has it.
    """
    spans = [np.arange(max(start - round(ROLL * clip.fps), 0), start + 1) for start, _ in runs(ball)]
    frames = np.concatenate([*spans, np.zeros(0, int)])
    steps = np.diff(clip.foot[:, leg], axis=0)[frames[frames < len(ball) - 1]]
    turned, moved = steps[:, :3, :3] @ foot.forward, move_points(steps, foot.under(0.0))
    falls = -(turned @ clip.up)
    if foot.heel >= 0.0:
        return foot.heel
    # Turns of less than half the greatest speed show little of the place, and those between two frames of a landing
    # nothing. A ball that rests, seen from its heel, does not fall.
    rest = REST * clip.leg / (-foot.heel * clip.foot_units[leg] * clip.fps)
    clear = falls > max(0.5 * float(falls.max(initial=0.0)), rest)
    if clear.sum() < LEAST:
        return foot.heel
    places = -dot(moved, turned)[clear] / np.sum(turned**2, axis=-1)[clear]
    middle = float(quantile(places, 0.5))
    agree = quantile(np.abs(places - middle), 0.5) < -AGREE * foot.heel
    # No heel lies ahead of the ball, or behind the ankle by more than the ball lies ahead of it.
    return middle if agree and 2.0 * float(foot.joint @ foot.forward) > -middle > 0.0 else foot.heel
