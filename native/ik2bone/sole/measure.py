# SPDX-License-Identifier: MIT
"""The sole of each foot, measured from the clip: where heel and ball lie over the ground, fixed to the foot bone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..contacts.detect import find_contacts
from ..curves import runs
from ..model import Array, Clip, Mask, Note, level_part
from ..targets.lock import RESTS, standing_core
from .heel_strike import heel_behind
from .skin import lay_flat

# Share of a contact's frames, those with the ankle lowest over the ball, in which the foot counts as flat.
FLAT_SHARE = 0.3
# Share of the frames of a clip in place in which a ball is as low as its floor lets it be.
LOW_SHARE = 0.05
# A foot shorter than this along the ground (leg lengths) has no heading.
SHORTEST = 1e-3
# The heel lies behind the ankle by about this share of the way from ankle to ball (Winter, 2009: foot segment).
HEEL_BEHIND = 0.3
# Ball joints of the rigs measured stand 0.01 to 0.09 leg over their clip's floor; past this the floor is elsewhere.
HIGHEST_BALL = 0.12
LOWEST_BALL = -0.01
# Feet that stand so much higher than the lowest (leg lengths) do not tell where the floor is.
ALIKE = 0.03
# Nor do those that stand farther than this (leg lengths) from their median height half of the time, on uneven floors.
UNEVEN = 0.06
# Beside the mean of both, a foot that rests at one height keeps so much of its own (leg lengths): good motion stays,
# and both feet of a clip stand alike within 0.003.
OWN = 0.00145
# Of what a foot gives up of its own height, the ball goes all the way and the heel this share, for the foot turns:
# where balls stand 0.0084 apart, ankles then stay within 0.002 leg of their place, and feet within 0.5 degrees.
HEEL_SHARE = 0.4
# Height of the ball joint over the sole by proportion, in leg lengths (a person's ball joint lies 2 to 4 cm high).
PROPORTION = 0.035


@dataclass(frozen=True)
class Sole:
    """Soles of L legs. `ball_height` (L,) is the ball joint's height over the sole of a flat foot, in scene units.

    `heel` and `ball` (L, 3) are points of the sole in foot bone space, `tip` (L, 3) one in toe bone space; `ball_joint`
    (L, 3) is the joint above, in foot bone space. `forward` and `up` (L, 3) are unit vectors of a flat foot in foot
    bone space, `toe_up` (L, 3) that of its toes in toe bone space. `lengths` (L, 2) are the ways from heel to ball and
    from ball to tip, `floor` is the height of the clip's own floor along up, both in scene units; `source` (L) says
    where each sole's height comes from.
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
        """The soles of some of the limbs (L,)."""
        source = tuple(name for name, chosen in zip(self.source, limbs, strict=True) if chosen)
        return replace(self, **{name: value[limbs] for name, value in self.rows()}, source=source)

    def beside(self, other: Sole, limbs: Mask) -> Sole:
        """These soles with others put in for some limbs (L,); the floor stays."""
        rows: dict[str, Any] = {}
        for name, value in self.rows():
            rows[name] = np.empty((len(limbs), *value.shape[1:]))
            rows[name][~limbs], rows[name][limbs] = value, getattr(other, name)
        mine, theirs = iter(self.source), iter(other.source)
        return replace(self, **rows, source=tuple(next(theirs if limb else mine) for limb in limbs))

    def rows(self) -> list[tuple[str, Any]]:
        """What is told for each limb, as arrays by name."""
        return [(name, value) for name, value in vars(self).items() if isinstance(value, np.ndarray)]


def measure_sole(clip: Clip) -> Sole:
    """Measure the soles from the skin of the feet, or from the flattest frames in which the ball stands.

    Where no ball ever stands all frames count.
    """
    contacts = _contacts(clip)
    flat = [_flat_frames(clip, contacts[:, leg], leg) for leg in range(clip.legs)]
    standing = _standing_heights(clip, contacts[..., 1])
    spread = [_spread(clip, contacts[:, leg, 1], leg) for leg in range(clip.legs)]
    heights, turned, floor, source = _ball_heights(clip, standing, np.array(spread))
    rows = [_points(clip, leg, frames, heights[leg], turned[leg]) for leg, frames in enumerate(flat)]
    heel, ball, tip, joint, forward, up, toe_up, lengths = (np.array(column) for column in zip(*rows, strict=True))
    sole = Sole(heights, heel, ball, tip, joint, forward, up, toe_up, lengths, floor, (source,) * clip.legs)
    sole = _with_struck_heels(clip, sole, contacts[..., 1])
    return sole if clip.skins is None else _with_skins(clip, sole, standing)


def _with_struck_heels(clip: Clip, sole: Sole, balls: Mask) -> Sole:
    """The soles with heels where feet turn as they strike, if they do so exactly before their balls (F, L) stand."""
    heel, lengths = sole.heel.copy(), sole.lengths.copy()
    for leg in range(clip.legs):
        forward, unit = sole.forward[leg], _unit_of(clip, leg)
        length = float(lengths[leg, 0]) / (1 + HEEL_BEHIND) / unit
        under = heel[leg] + HEEL_BEHIND * length * forward
        behind = heel_behind(clip.foot[:, leg], under, forward, length, clip.up, balls[:, leg], clip.fps)
        if np.isfinite(behind):
            heel[leg], lengths[leg, 0] = under - behind * forward, unit * (length + behind)
    return replace(sole, heel=heel, lengths=lengths)


def _unit_of(clip: Clip, leg: int) -> float:
    """Length of foot space's unit in the scene."""
    return float(np.linalg.norm(clip.foot[:, leg, :3, :3], axis=1).mean())


def _with_skins(clip: Clip, sole: Sole, standing: Array) -> Sole:
    """The soles with those of the skin in the place of all that could be found there."""
    assert clip.skins is not None
    rows = {name: value.copy() for name, value in sole.rows()}
    source = list(sole.source)
    for leg, skin in enumerate(clip.skins):
        unit = _unit_of(clip, leg)
        found = lay_flat(skin, sole.ball_joint[leg], sole.forward[leg], sole.up[leg], clip.leg / unit)
        if found is None:
            continue
        source[leg] = "mesh"
        under = sole.ball_joint[leg] - found.height * found.up
        tip = under + found.tip * found.forward
        into_toe = np.linalg.inv(skin.rest) if clip.has_toe[leg] else np.eye(4)
        rows["ball_height"][leg], rows["lengths"][leg] = unit * found.height, (-unit * found.heel, unit * found.tip)
        rows["heel"][leg], rows["ball"][leg] = under + found.heel * found.forward, under
        rows["tip"][leg], rows["toe_up"][leg] = apply(into_toe, tip), _unit(into_toe[:3, :3] @ found.up)
        rows["forward"][leg], rows["up"][leg] = found.forward, found.up
    measured = np.array(source) == "mesh"
    if not measured.any():
        return sole
    floor = _floor_under(standing[measured], rows["ball_height"][measured], clip.leg)
    return replace(sole, **rows, floor=floor, source=tuple(source))


def _floor_under(standing: Array, ball_heights: Array, leg: float) -> float:
    """The floor under balls that stand at some heights (L,); a foot that stays up does not count."""
    floors = standing - ball_heights
    return float(floors[floors - floors.min() < ALIKE * leg].mean())


def with_own_floor(clip: Clip, sole: Sole) -> Sole:
    """Soles that were measured from another clip of the same feet, with the floor of this one."""
    standing = _standing_heights(clip, _contacts(clip)[..., 1])
    return replace(sole, floor=_floor_under(standing, sole.ball_height, clip.leg))


def tell_doubts(clip: Clip, sole: Sole) -> list[Note]:
    """A note about feet whose skin was not believed."""
    feet = zip(clip.skins or (), sole.source, ~clip.hands, strict=False)
    doubted = sum(len(skin.foot) + len(skin.toe) > 0 and name != "mesh" for skin, name, foot in feet if foot)
    return [Note("skin_doubted", {"count": doubted, "of": clip.legs})] if doubted else []


def sole_points(clip: Clip, sole: Sole) -> Array:
    """Heel, ball and tip on the sole (F, L, 3, 3) as the clip has them, world space; the tip moves with the toes."""
    heel, ball = (apply(clip.foot, point) for point in (sole.heel, sole.ball))
    return np.stack([heel, ball, apply(clip.toe, sole.tip)], axis=2)


def _contacts(clip: Clip) -> Mask:
    """Contacts (F, L, 2) of ankles and balls, which are there before a sole is known."""
    return find_contacts(clip.ankle, clip.ball, fps=clip.fps, leg=clip.leg, up=clip.up, exact=False)


def _standing_heights(clip: Clip, balls: Mask) -> Array:
    """Heights (L,) at which the ball joints stand, by when they do (F, L)."""
    return np.array([_standing_height(clip, balls[:, leg], leg) for leg in range(clip.legs)])


def _standing_height(clip: Clip, stands: Mask, leg: int) -> float:
    """Height of the ball joint in the middle of its contacts; where it never stands, of its lowest frames."""
    if not stands.any():
        return float(np.quantile(clip.ball[:, leg] @ clip.up, LOW_SHARE))
    return float(np.median(_heights_in_contact(clip, stands, leg)))


def _spread(clip: Clip, stands: Mask, leg: int) -> float:
    """How far the ball joint is from the median of its heights in the middle of its contacts, in the median."""
    if not stands.any():
        return np.inf
    heights = _heights_in_contact(clip, stands, leg)
    return float(np.median(np.abs(heights - np.median(heights))))


def _heights_in_contact(clip: Clip, stands: Mask, leg: int) -> Array:
    """Heights (N,) of the ball joint on the frames in the middle of its contacts, of which there are some."""
    middles = [standing_core(np.arange(start, end)) for start, end in runs(stands)]
    return clip.ball[np.concatenate(middles), leg] @ clip.up


def _flat_frames(clip: Clip, contacts: Mask, leg: int) -> Mask:
    """Frames (F,) in which the foot is flattest, of those with the given contacts (F, 2) of heel and ball."""
    stands = contacts.all(axis=-1)
    if not stands.any():
        stands = contacts[:, 1]
    if not stands.any():
        heights = clip.ball[:, leg] @ clip.up
        stands = heights <= np.quantile(heights, FLAT_SHARE)
    drop = (clip.ankle[:, leg] - clip.ball[:, leg]) @ clip.up
    # The tolerance keeps rounding, and so the unit, from choosing among frames that are alike.
    return stands & (drop <= np.quantile(drop[stands], FLAT_SHARE) + 1e-6 * clip.leg)


def _ball_heights(clip: Clip, standing: Array, spread: Array) -> tuple[Array, Array, float, str]:
    """Ball heights (L,) over the sole, how much lower than the ball's the heel's sole lies (L,), the clip's floor, and
    where the height was taken from.

    `standing` (L,) are the heights at which the ball joints stand, `spread` (L,) how far from there they are.
    """
    # Both feet have one shape: the mean of near heights is truer than each. A foot that stays up does not count.
    near = standing - standing.min() < ALIKE * clip.leg
    height = float(standing[near].mean())
    uneven = np.isfinite(spread[near]).any() and spread[near].min() > UNEVEN * clip.leg
    for floor in () if uneven else clip.floors:
        if LOWEST_BALL * clip.leg <= height - floor <= HIGHEST_BALL * clip.leg:
            apart = np.where(near & (spread < RESTS * clip.leg), standing - height, 0.0)
            own = np.clip(apart, -OWN * clip.leg, OWN * clip.leg)
            turned = (1.0 - HEEL_SHARE) * (apart - own)
            return np.maximum(height - floor + own, 0.0), turned, floor, "clip's floor"
    by_proportion = np.full(clip.legs, PROPORTION * clip.leg)
    return by_proportion, np.zeros(clip.legs), height - PROPORTION * clip.leg, "proportion"


def _points(clip: Clip, leg: int, frames: Mask, ball_height: float, turned: float) -> tuple[Array, ...]:
    """Heel, ball, tip, ball joint, forward, up, toe up and lengths of one leg, means over the flat frames.

    The heel's sole lies so much lower as it is `turned` from the ball's.
    """
    ankle, ball, tip = clip.ankle[frames, leg], clip.ball[frames, leg], clip.tip[frames, leg]
    forward, length = _headings(clip, leg, frames)
    ahead = np.maximum(np.sum((tip - ball) * forward, axis=-1), 0.0)
    under = ball @ clip.up - ball_height
    heel = _drop(ankle - HEEL_BEHIND * length[:, None] * forward, under - turned, clip.up)
    sole, toe = (_drop(point, under, clip.up) for point in (ball, ball + ahead[:, None] * forward))
    # Toes may be bent up on some frames of a flat foot, but hardly down.
    rise = (tip - ball) @ clip.up
    flat = rise <= np.median(rise) + 1e-6 * clip.leg
    foot, toes = np.linalg.inv(clip.foot[frames, leg]), np.linalg.inv(clip.toe[frames, leg])[flat]
    up = np.broadcast_to(clip.up, forward.shape)
    places = [apply(*pair).mean(axis=0) for pair in ((foot, heel), (foot, sole), (toes, toe[flat]), (foot, ball))]
    directions = [_mean_direction(*pair) for pair in ((foot, forward), (foot, up), (toes, up[flat]))]
    return (*places, *directions, np.array([(1 + HEEL_BEHIND) * np.median(length), np.median(ahead)]))


def _headings(clip: Clip, leg: int, frames: Mask) -> tuple[Array, Array]:
    """Level directions (N, 3) in which a foot points on some frames, and the ways (N,) from ankle to ball."""
    level = level_part(clip.ball[frames, leg] - clip.ankle[frames, leg], clip.up)
    length = np.linalg.norm(level, axis=-1)
    if np.median(length) < SHORTEST * clip.leg:
        # A foot without length along the ground has no heading: the axis that lies most level will do for its sole.
        axes = level_part(np.swapaxes(clip.foot[frames, leg, :3, :3], -1, -2), clip.up)
        level = axes[:, np.argmax(np.linalg.norm(axes, axis=-1).mean(axis=0))]
    return level / np.maximum(np.linalg.norm(level, axis=-1, keepdims=True), 1e-300), length


def _mean_direction(spaces: Array, directions: Array) -> Array:
    """The mean (3,) of directions (N, 3) seen from spaces, by the matrices (N, 4, 4) into them."""
    return _unit((spaces[:, :3, :3] @ directions[..., None]).mean(axis=0)[:, 0])


def _drop(points: Array, heights: Array, up: Array) -> Array:
    return points + (heights - points @ up)[..., None] * up


def apply(matrices: Array, points: Array) -> Array:
    """Points (..., 3) mapped by affine matrices (..., 4, 4)."""
    return (matrices[..., :3, :3] @ points[..., None])[..., 0] + matrices[..., :3, 3]


def _unit(vector: Array) -> Array:
    return vector / max(float(np.linalg.norm(vector)), 1e-300)
