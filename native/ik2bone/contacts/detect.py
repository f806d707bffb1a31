# SPDX-License-Identifier: MIT
"""Contact detection: the frames in which heel or ball of a foot stand on their ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curves import hann_average, odd_window, runs
from ..model import Array, Mask
from .edges import rolled, sharpened, sharpened_where_still
from .footing import OWN_HEIGHT, SAME_PLACE, Spell, find_spells, grounded
from .paths import Feet, finer, observe_over
from .treadmill import floor_velocities, gait_speed

# Speeds in leg lengths a second. Published rules spread from 4 to 89 cm/s; on the CMU walks 0.20 and 0.30 miss the
# start and end of a standing (42 % of a foot's frames), 0.35 and 0.60 pin feet that still swing.
ENTER_SPEED = 0.25
LEAVE_SPEED = 0.45
# Runners' feet slide as they strike: shares of the figure's own speed, where that is more.
ENTER_SHARE, LEAVE_SHARE = 0.12, 0.22
# Feet of clips in place seldom keep to the speed of their floor: a share of it is added.
FLOOR_SHARE = 0.25
# A heel so much higher than in a flat foot, seen from the ball (leg lengths), has left, and the other way round.
LARGEST_RISE = 0.12
# While the other part holds the foot: a ball faster than the first has not landed yet, a heel faster than the second
# has left (leg lengths a second).
LANDED_SPEED = 0.3
RISING_SPEED = 0.1
# Feet that stand so still (leg lengths a second) come from animators and formulas; what moves of them has left.
STILL = 0.03
LEAST_CONTACT = 0.08
# A contact that the clip begins or ends with may be the rest of a longer one (s).
LEAST_REST = 0.03
# Gaps shorter than this (s) close, where the part comes back to its place.
LEAST_GAP = 0.06
VOTE = 0.05
# A part hovers before it lands, or after it left, that is slow for no longer than this time (s), and as close to a
# longer contact of its own that lies so much (leg lengths) lower.
HOVERS, HOVER = 0.15, 0.03


def find_contacts(
    heel: Array,
    ball: Array,
    *,
    fps: float,
    leg: float,
    up: tuple[float, float, float] | Array = (0.0, 0.0, 1.0),
    enter: float = ENTER_SPEED,
    leave: float = LEAVE_SPEED,
    height: float = OWN_HEIGHT,
    least: float = LEAST_CONTACT,
    exact: bool = True,
) -> Mask:
    """Frames in which heel and ball stand: bool (frames, legs, 2), heel first.

    `heel` and `ball` are paths (frames, legs, 3) of joints or markers in any length unit, `leg` is the length of the
    leg in that unit, `fps` samples a second, `up` the unit vector against gravity. No absolute speed or length enters,
    so scale and unit do not matter, and the ground is found from the paths: it may lie at any height, be uneven, carry
    the feet of a clip in place back like a treadmill, and be one that feet slide over evenly on their way, as they do
    where legs were scaled and the way of the hips was not.

    A part is slow from the moment its speed falls under `enter` for as long as it stays under `leave` (leg lengths a
    second; more for runners), while it is less than `height` leg lengths above the lowest place that it has then, and
    a majority over 0.05 s agrees. Slow feet stand where they are as low as nearby in time, or carry the figure alone.
    Gaps under 0.06 s close, and contacts shorter than `least` seconds are dropped. Then each contact gets its first
    and last frame from the path: where it departs from rest, as steps like it do, or has stopped rolling over the
    foot's end. Without `exact` slow frames stay, for holding feet that a recording lets tremble and creep; of a foot
    that rests on one part the other counts only where it is nearly still.
    """
    paths = [_numbers(name, path) for name, path in (("heel", heel), ("ball", ball))]
    _check(paths, fps, leg)
    upward = _direction(up)
    if not paths[0].size:
        return np.zeros((*paths[0].shape[:2], 2), bool)
    floor = floor_velocities(*paths, fps=fps, leg=leg, up=upward)
    feet = observe_over(np.stack(paths, axis=2) / leg, floor / leg, fps, upward)
    gait, slack = gait_speed(feet), FLOOR_SHARE * float(np.linalg.norm(floor, axis=-1).mean()) / leg
    limits = max(enter, ENTER_SHARE * gait) + slack, max(leave, LEAVE_SHARE * gait) + slack
    fine = feet if exact else finer(feet, upward)
    slow = _lasting(fine, _slow(fine, *limits, height), limits[1], least)
    if exact:
        return rolled(feet, sharpened(feet, _down(feet, slow)))
    held = _on_frames(fine, _landed(fine, _settled(fine, slow)), float(np.mean(limits)))
    return sharpened_where_still(feet, held, STILL)


def _numbers(name: str, values: object) -> Array:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected an array of numbers, got {type(values).__name__}") from None


def _check(paths: list[Array], fps: float, leg: float) -> None:
    for name, path in zip(("heel", "ball"), paths, strict=True):
        if path.ndim != 3 or path.shape[-1] != 3 or path.shape != paths[0].shape:
            raise ValueError(f"{name}: expected paths of shape (frames, legs, 3), both alike, got {path.shape}")
        if not np.isfinite(path).all():
            raise ValueError(f"{name}: expected finite numbers, got {path[~np.isfinite(path)][0]}")
    for name, value in (("fps", fps), ("leg", leg)):
        if value is None or isinstance(value, str) or np.ndim(value):
            raise TypeError(f"{name}: expected a number, got {value!r}")
        if not 0 < value < np.inf:
            raise ValueError(f"{name}: expected a positive number, got {value}")


def _direction(up: object) -> Array:
    """The unit vector (3,) against gravity."""
    upward = _numbers("up", up)
    if upward.shape != (3,) or not np.isfinite(upward).all() or not upward.any():
        raise ValueError(f"up: expected three numbers that are not all zero, got {up}")
    return upward / np.linalg.norm(upward)


def hysteresis(slow: Mask, still: Mask) -> Mask:
    """The runs of slow frames (F, ...) that hold a still one, column by column."""
    held = np.zeros(slow.shape, bool)
    columns = (mask.reshape(len(slow), -1).T for mask in (slow, still, held))
    for under, entered, result in zip(*columns, strict=True):
        for start, end in runs(under):
            result[start:end] = entered[start:end].any()
    return held


def _slow(feet: Feet, enter: float, leave: float, height: float) -> Mask:
    """Frames (F, L, 2) in which parts are slow, and neither they nor their foot are off the ground."""
    slow, still = feet.speeds < leave, feet.speeds < enter
    either = [_runs(slow[:, leg].any(axis=-1), still[:, leg].any(axis=-1), feet.fps) for leg in range(feet.legs)]
    spells = grounded(feet, still.any(axis=-1), find_spells(feet, either), height)
    stands, rise = np.zeros_like(slow), _rise(feet, still & _covered(feet, spells))
    for spell in spells:
        for part in range(2):
            at = slice(spell.start, spell.end), spell.leg, part
            lowest = feet.heights[at][slow[at]].min(initial=np.inf)
            low = slow[at] & (feet.heights[at] < lowest + height) & (rise[at] < LARGEST_RISE)
            for start, end in _runs(low, still[at], feet.fps):
                stands[spell.start + start : spell.start + end, spell.leg, part] = True
    return stands


def _covered(feet: Feet, spells: list[Spell]) -> Mask:
    """Frames and legs (F, L, 1) of spells."""
    covered = np.zeros((feet.frames, feet.legs, 1), bool)
    for spell in spells:
        covered[spell.start : spell.end, spell.leg] = True
    return covered


def _runs(slow: Mask, still: Mask, fps: float) -> list[tuple[int, int]]:
    """Runs of slow frames (F,), by majority, that hold a still one."""
    majority = hann_average(slow.astype(float), odd_window(VOTE, fps)) > 0.5
    return [(start, end) for start, end in runs(majority) if still[start:end].any()]


def _rise(feet: Feet, still: Mask) -> Array:
    """How much higher (F, L, 2) each part is, seen from the other, than in the usual foot with both still on ground."""
    both, above = still.all(axis=-1), feet.heights[..., 0] - feet.heights[..., 1]
    usual = [np.median(above[both[:, leg], leg]) if both[:, leg].any() else np.nan for leg in range(feet.legs)]
    rise = np.nan_to_num(above - np.array(usual))
    return np.stack([rise, -rise], axis=-1)


def _lasting(feet: Feet, slow: Mask, leave: float, least: float) -> Mask:
    """The slow frames (F, L, 2) with short gaps closed and short runs dropped; they end where speeds pass `leave`."""
    lasting = slow.copy()
    for leg, part in np.ndindex(*slow.shape[1:]):
        mask, path = lasting[:, leg, part], feet.paths[:, leg, part]
        for start, end in runs(~mask):
            if start > 0 and end < len(mask) and end - start < LEAST_GAP * feet.fps:
                mask[start:end] = np.linalg.norm(path[end] - path[start - 1]) < SAME_PLACE
        for start, end in runs(mask):
            cut = start == 0 or end == len(mask)
            lasts = _time(feet.speeds[:, leg, part], start, end, leave) / feet.fps
            mask[start:end] = lasts >= (min(LEAST_REST, least) if cut else least) - 1e-6
    return lasting


def _time(speeds: Array, start: int, end: int, leave: float) -> float:
    """How long (frames, and parts of them) a run of slow frames [start, end) is: to where speeds (F,) pass `leave`."""
    time = float(end - start - 1)
    for inside, beyond in ((start, start - 1), (end - 1, end)):
        passes = 0 <= beyond < len(speeds) and speeds[inside] < leave < speeds[beyond]
        time += (leave - speeds[inside]) / (speeds[beyond] - speeds[inside]) if passes else 0.5
    return time


def _on_frames(fine: Feet, stands: Mask, slow: float) -> Mask:
    """What stands (F, L, 2), by finer frames, on the given ones, and on the first of them after a foot began to leave
    if it came there slower than `slow`: it is hardly off its spot. One that stood still has left at once.
    """
    found = stands[:: fine.every].copy()
    if fine.every == 1:
        return found
    between, speeds = stands[1::2], fine.speeds[1::2]
    left = ~found[2:].any(axis=-1, keepdims=True) & found[1:-1] & (speeds[:-1] > STILL)
    found[2:] |= left & between[1:] & (speeds[1:] < slow)
    return found


def _settled(feet: Feet, slow: Mask) -> Mask:
    """The slow frames (F, L, 2) without a ball that comes down round a standing heel, and has not landed, and without a
    heel that rises round a standing ball, and has left.
    """
    settled = slow.copy()
    for leg in range(feet.legs):
        heel, ball = settled[:, leg, 0], settled[:, leg, 1]
        for start, end in runs(ball):
            while start < end and heel[start] and feet.speeds[start, leg, 1] > LANDED_SPEED:
                ball[start] = False
                start += 1
        for start, end in runs(heel):
            while start < end and ball[end - 1] and feet.speeds[end - 1, leg, 0] > RISING_SPEED:
                heel[end - 1] = False
                end -= 1
    return settled


def _landed(feet: Feet, settled: Mask) -> Mask:
    """The settled frames (F, L, 2) without a part that only begins to come down as the clip begins, or has just risen
    as it ends, round one that stands: it is slow there, but far from the place where it stands.
    """
    landed = settled.copy()
    for leg, part in np.ndindex(*settled.shape[1:]):
        found, path = runs(settled[:, leg, part]), feet.paths[:, leg, part]
        for (start, end), near in ((found[0], found[1][0]), (found[-1], found[-2][1] - 1)) if len(found) > 1 else ():
            cut = start == 0 or end == feet.frames
            if cut and end - start < LEAST_CONTACT * feet.fps and settled[start:end, leg, 1 - part].all():
                edge = end - 1 if start == 0 else start
                landed[start:end, leg, part] = np.linalg.norm(path[near] - path[edge]) < SAME_PLACE
    return landed


def _down(feet: Feet, slow: Mask) -> Mask:
    """The slow frames (F, L, 2) without those in which a part hovers beside a contact of its own."""
    down, most = slow.copy(), HOVERS * feet.fps
    for leg, part in np.ndindex(*slow.shape[1:]):
        heights = feet.heights[:, leg, part]
        lasting = [(start, end, np.median(heights[start:end])) for start, end in runs(slow[:, leg, part])]
        for start, end, height in lasting:
            beside = [run for run in lasting if run[0] - end <= most and start - run[1] <= most]
            lower = [run for run in beside if run[1] - run[0] > end - start and run[2] < height - HOVER]
            down[start:end, leg, part] = end - start > most or not lower
    return down


@dataclass(frozen=True)
class Stance:
    """One standing of one foot: frames [start, end) in which its heel or its ball stands."""

    leg: int
    start: int
    end: int

    def moved(self, frames: int) -> Stance:
        """The same stance so many frames later."""
        return Stance(self.leg, self.start + frames, self.end + frames)


def stances(contacts: Mask) -> list[Stance]:
    """The stances of each leg in order of time, from contacts (frames, legs, 2)."""
    either = contacts.any(axis=-1)
    return [Stance(leg, *run) for leg in range(either.shape[1]) for run in runs(either[:, leg])]
