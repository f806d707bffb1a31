# SPDX-License-Identifier: MIT
"""The sole of each foot, measured from the clip: where heel and ball lie over the ground, fixed to the foot bone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.detect import LEAST_CONTACT, find_contacts
from ..curves import runs
from ..model import Array, Clip, Mask, Note, level_part
from ..rotations import unit
from ..targets.lock import standing_core
from .heel_strike import heel_behind
from .skin import BALL_HEIGHTS, lay_flat

Frames = NDArray[np.intp]

# A stance is flat in the share of its frames in which the ankle is lowest over the ball.
FLAT_SHARE = 0.3
# The share of a foot's stances, the flattest, that tell how it lies. By the flatter half, heels of recorded clips lie
# up to 0.002 leg lower, and standing feet are pitched up by a degree more.
FLAT_STANCES = 0.25
# The share of the frames, those with the ball lowest, that tell about a foot whose ball never stands.
LOW_SHARE = 0.05
# A foot shorter than this along the ground (leg lengths) has no heading.
SHORTEST = 1e-3
# The heel lies behind the ankle by about this share of the way from ankle to ball (Winter, 2009: foot segment).
HEEL_BEHIND = 0.3
# Feet that stand so much higher than the lowest (leg lengths) do not tell where the floor is: they stand on something.
# Nor do tips of toes tell how toes lie: those are bent up.
ALIKE = 0.03
# On an uneven floor the heights of each foot's stances differ by more than this from their median (leg lengths, on the
# mean). Of the recorded clips those on flat floors have 0.02 at most, those over obstacles 0.05 and more.
UNEVEN = 0.04
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
    """Measure the soles from the skin of the feet, or from the flat parts of the stances.

    Each stance has one vote, however long it lasts, so that soles do not depend on how a clip is trimmed.
    """
    contacts = _contacts(clip)
    flat = [_flat_frames(clip, contacts[:, leg], leg) for leg in range(clip.legs)]
    standing = _standing_heights(clip, contacts[..., 1])
    height, floor, source = _ball_height(clip, standing)
    rows = [_points(clip, leg, parts, height) for leg, parts in enumerate(flat)]
    heel, ball, tip, joint, forward, up, toe_up, lengths = (np.array(column) for column in zip(*rows, strict=True))
    heights, sources = np.full(clip.legs, height), (source,) * clip.legs
    sole = Sole(heights, heel, ball, tip, joint, forward, up, toe_up, lengths, floor, sources)
    sole = _with_struck_heels(clip, sole, contacts[..., 1])
    return sole if clip.skins is None else _with_skins(clip, sole, standing)


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


def apply(matrices: Array, points: Array) -> Array:
    """Points (..., 3) mapped by affine matrices (..., 4, 4)."""
    return (matrices[..., :3, :3] @ points[..., None])[..., 0] + matrices[..., :3, 3]


def _contacts(clip: Clip) -> Mask:
    """Contacts (F, L, 2) of ankles and balls, which are there before a sole is known."""
    return find_contacts(clip.ankle, clip.ball, fps=clip.fps, leg=clip.leg, up=clip.up, exact=False)


def _standing_heights(clip: Clip, balls: Mask) -> list[Array]:
    """For each leg the height of its ball joint in each of its stances (S,), from the contacts (F, L) of balls."""
    heights = clip.ball @ clip.up
    stances = [_stances(clip, balls[:, leg], leg) for leg in range(clip.legs)]
    return [np.array([np.median(heights[frames, leg]) for frames in each]) for leg, each in enumerate(stances)]


def _stances(clip: Clip, stands: Mask, leg: int) -> list[Frames]:
    """The frames of each stance of a foot that stands on some frames (F,); where it never does, those of its lowest.

    What the clip's ends leave of a longer stance is told by others, if there are any.
    """
    heights, found = clip.ball[:, leg] @ clip.up, [np.arange(*run) for run in runs(stands)]
    whole = [frames for frames in found if len(frames) >= LEAST_CONTACT * clip.fps]
    return whole or found or [np.flatnonzero(heights <= np.quantile(heights, LOW_SHARE))]


def _flat_frames(clip: Clip, contacts: Mask, leg: int) -> list[Frames]:
    """The flat frames of the flattest of a foot's stances, from its contacts (F, 2) of heel and ball.

    Stances of the ball alone count where there are no others.
    """
    both = contacts.all(axis=-1)
    drop = (clip.ankle - clip.ball)[:, leg] @ clip.up
    cores = [standing_core(frames) for frames in _stances(clip, both if both.any() else contacts[:, 1], leg)]
    # The tolerance keeps rounding, and so the unit, from choosing among frames that are alike.
    near = 1e-6 * clip.leg
    flat = [core[drop[core] <= np.quantile(drop[core], FLAT_SHARE) + near] for core in cores]
    drops = np.array([drop[frames].mean() for frames in flat])
    least = np.quantile(drops, FLAT_STANCES, method="lower") + near
    return [frames for frames, own in zip(flat, drops, strict=True) if own <= least]


def _ball_height(clip: Clip, standing: list[Array]) -> tuple[float, float, str]:
    """The ball joints' height over the sole, the clip's floor, and where the height was taken from.

    `standing` are the heights (S,) at which the ball joint of each leg stands. All feet have one shape.
    """
    height = _common_height(standing, clip.leg)
    uneven = min(np.mean(np.abs(each - np.median(each))) for each in standing) > UNEVEN * clip.leg
    least, most = BALL_HEIGHTS
    for floor in () if uneven else clip.floors:
        if least * clip.leg <= height - floor <= most * clip.leg:
            return max(height - floor, 0.0), floor, "clip's floor"
    return PROPORTION * clip.leg, height - PROPORTION * clip.leg, "proportion"


def _floor_under(standing: list[Array], ball_heights: Array, leg: float) -> float:
    """The floor under ball joints that stand at some heights (S,) each, by their heights (L,) over the sole."""
    return _common_height([each - height for each, height in zip(standing, ball_heights, strict=True)], leg)


def _common_height(standing: list[Array], leg: float) -> float:
    """The median of the heights (S,) at which each of the feet stands, all feet weighing alike.

    Feet that stay up do not count.
    """
    lowest = min(float(np.median(each)) for each in standing)
    low = [each for each in standing if np.median(each) - lowest < ALIKE * leg]
    heights = np.concatenate(low)
    order = np.argsort(heights)
    share = np.cumsum(np.concatenate([np.full(len(each), 1.0 / len(each)) for each in low])[order]) / len(low)
    # Where the halves part between two heights, as with two feet that stand unlike, it is the mean of both.
    return float(heights[order][np.searchsorted(share, (0.5 - 1e-9, 0.5 + 1e-9))].mean())


def _points(clip: Clip, leg: int, stances: list[Frames], ball_height: float) -> tuple[Array, ...]:
    """Heel, ball, tip, ball joint, forward, up, toe up and lengths of one leg: the means of what its stances tell.

    Stances in which the toes are bent up do not tell how these lie.
    """
    told = [_stance_points(clip, leg, frames, ball_height) for frames in stances]
    rises = np.array([np.median((clip.tip - clip.ball)[frames, leg] @ clip.up) for frames in stances])
    low = rises <= rises.min() + ALIKE * clip.leg
    heel, ball, _, joint, forward, up, _, lengths = _means(told)
    toes = _means([rows for rows, lies in zip(told, low, strict=True) if lies])
    lengths[1] = toes[-1][1]
    return heel, ball, toes[2], joint, unit(forward), unit(up), unit(toes[-2]), lengths


def _means(rows: list[list[Array]]) -> list[Array]:
    """The mean of each column of what stances tell."""
    return [np.mean(column, axis=0) for column in zip(*rows, strict=True)]


def _stance_points(clip: Clip, leg: int, frames: Frames, ball_height: float) -> list[Array]:
    """What `_points` tells, by the flat frames of one stance: medians, since toes bend up on some of them."""
    ankle, ball, tip = clip.ankle[frames, leg], clip.ball[frames, leg], clip.tip[frames, leg]
    forward, length = _headings(clip, leg, frames)
    ahead = np.maximum(np.sum((tip - ball) * forward, axis=-1), 0.0)
    behind, before = ankle - HEEL_BEHIND * length[:, None] * forward, ball + ahead[:, None] * forward
    heel, sole, toe = (_drop(point, ball @ clip.up - ball_height, clip.up) for point in (behind, ball, before))
    foot, toes = np.linalg.inv(clip.foot[frames, leg]), np.linalg.inv(clip.toe[frames, leg])
    rows = [apply(*pair) for pair in ((foot, heel), (foot, sole), (toes, toe), (foot, ball))]
    up = np.broadcast_to(clip.up, forward.shape)
    ways = (foot, forward), (foot, up), (toes, up)
    rows += [unit((space[:, :3, :3] @ way[..., None])[..., 0]) for space, way in ways]
    return [np.median(row, axis=0) for row in (*rows, np.stack([(1 + HEEL_BEHIND) * length, ahead], axis=-1))]


def _headings(clip: Clip, leg: int, frames: Frames) -> tuple[Array, Array]:
    """Level directions (N, 3) in which a foot points on some frames, and the ways (N,) from ankle to ball."""
    level = level_part(clip.ball[frames, leg] - clip.ankle[frames, leg], clip.up)
    length = np.linalg.norm(level, axis=-1)
    if np.median(length) < SHORTEST * clip.leg:
        # A foot without length along the ground has no heading: the axis that lies most level will do for its sole.
        axes = level_part(np.swapaxes(clip.foot[frames, leg, :3, :3], -1, -2), clip.up)
        level = axes[:, np.argmax(np.linalg.norm(axes, axis=-1).mean(axis=0))]
    return unit(level), length


def _drop(points: Array, heights: Array, up: Array) -> Array:
    """Points (N, 3) moved along up (3,) to heights (N,)."""
    return points + (heights - points @ up)[..., None] * up


def _with_struck_heels(clip: Clip, sole: Sole, balls: Mask) -> Sole:
    """The soles with heels where feet turn as they strike, if they do so exactly before their balls (F, L) stand."""
    heel, lengths = sole.heel.copy(), sole.lengths.copy()
    for leg in range(clip.legs):
        forward, size = sole.forward[leg], unit_length(clip, leg)
        length = float(lengths[leg, 0]) / (1 + HEEL_BEHIND) / size
        under = heel[leg] + HEEL_BEHIND * length * forward
        behind = heel_behind(clip.foot[:, leg], under, forward, length, clip.up, balls[:, leg], clip.fps)
        if np.isfinite(behind):
            heel[leg], lengths[leg, 0] = under - behind * forward, size * (length + behind)
    return replace(sole, heel=heel, lengths=lengths)


def unit_length(clip: Clip, leg: int) -> float:
    """The length in the scene of foot space's unit."""
    return float(np.linalg.norm(clip.foot[:, leg, :3, :3], axis=1).mean())


def _with_skins(clip: Clip, sole: Sole, standing: list[Array]) -> Sole:
    """The soles with those of the skin in the place of all that could be found there."""
    rows, source = {name: value.copy() for name, value in sole.rows()}, list(sole.source)
    for leg, skin in enumerate(clip.skins or ()):
        size = unit_length(clip, leg)
        found = lay_flat(skin, sole.ball_joint[leg], sole.forward[leg], sole.up[leg], clip.leg / size)
        if found is None:
            continue
        under = sole.ball_joint[leg] - found.height * found.up
        into_toe = np.linalg.inv(skin.rest) if clip.has_toe[leg] else np.eye(4)
        measured = {
            "ball_height": size * found.height,
            "lengths": [-size * found.heel, size * found.tip],
            "heel": under + found.heel * found.forward,
            "ball": under,
            "tip": apply(into_toe, under + found.tip * found.forward),
            "toe_up": unit(into_toe[:3, :3] @ found.up),
            "forward": found.forward,
            "up": found.up,
        }
        source[leg] = "mesh"
        for name, value in measured.items():
            rows[name][leg] = value
    by_mesh = [leg for leg, name in enumerate(source) if name == "mesh"]
    if not by_mesh:
        return sole
    floor = _floor_under([standing[leg] for leg in by_mesh], rows["ball_height"][by_mesh], clip.leg)
    return replace(sole, **rows, floor=floor, source=tuple(source))
