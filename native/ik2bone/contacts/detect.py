# SPDX-License-Identifier: MIT
"""Contact detection: the frames in which heel or ball of a foot stand on the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curves import runs
from ..model import Array, Mask
from .events import refined
from .footing import OWN_HEIGHT, find_spells, grounded
from .paths import SAME_PLACE, Feet, finer, observe_over
from .stance import Stance, stances
from .treadmill import floor_velocities, gait_speed

__all__ = ["ENTER_SPEED", "LEAST_CONTACT", "LEAST_GAP", "LEAVE_SPEED", "Stance", "detect", "find_contacts", "stances"]

# Speeds in leg lengths a second. Published rules spread from 4 to 89 cm/s; on the CMU walks 0.20 and 0.30 miss the
# start and end of a stance (42 % of a foot's frames), 0.35 and 0.60 pin feet that still swing.
ENTER_SPEED = 0.25
LEAVE_SPEED = 0.45
# A runner's foot slides as it strikes the ground: for a figure faster than this (leg lengths a second) both speeds grow
# in proportion to its own.
FAST = 2.1
# Feet of a clip in place seldom keep exactly to the speed of their floor: this share of it is added. Without it the
# KayKit walks and the fox lose up to a third of their contacts.
FLOOR_SHARE = 0.25
# While the other part holds the foot, a ball faster than the first has not landed yet, and a heel faster than the
# second has left (leg lengths a second). Without them 2 to 10 % of the frames of every clip have such a part; with 0.25
# and 0.12 the feet of two walks turn aside by 1 degree more.
LANDED_SPEED, RISING_SPEED = 0.3, 0.1
# Feet that stand so still (leg lengths a second) come from animators and formulas; what moves of them has left.
STILL = 0.03
# The shortest contact (s): of a run at 6 m/s, feet stand for 0.12 s (Novacheck, Gait and Posture 7, 1998), of which
# speeds that are smoothed over 0.04 s show so much.
LEAST_CONTACT = 0.08
# A contact that the clip begins or ends with may be the rest of a longer one (s).
LEAST_REST = 0.03
# Shorter gaps (s) close, where the part comes back to its place.
LEAST_GAP = 0.06


@dataclass(frozen=True)
class Detection:
    """Contacts `standing` (F, L, 2) of heels and balls, and whether a floor that moves has `carried` them back."""

    standing: Mask
    carried: bool


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
    leg in that unit, `fps` samples a second, `up` the direction against gravity. No absolute speed or length enters, so
    scale and unit do not matter. The ground is found from the paths: it may lie at any height, be uneven, carry the
    feet of a clip in place back like a treadmill, or be one that all feet slide over evenly, as they do where legs
    were scaled and the hips' way was not.

    A part is slow from the moment its speed falls below `enter` for as long as it stays below `leave` (leg lengths a
    second; more for runners), while it is less than `height` leg lengths above its lowest place of that time. A slow
    foot stands where it is as low as nearby in time, or carries the figure alone. Gaps under 0.06 s close, and contacts
    shorter than `least` seconds are dropped. With `exact` each contact then begins at its heel strike and ends at its
    toe-off, as force plates would tell them, to the frame. Without, the slow frames stay, which suits foot locking: a
    foot is locked while it is slow; of a foot that rests on one part the other counts only where it is nearly still.
    """
    return detect(
        heel, ball, fps=fps, leg=leg, up=up, enter=enter, leave=leave, height=height, least=least, exact=exact
    ).standing


def detect(
    heel: Array,
    ball: Array,
    *,
    fps: float,
    leg: float,
    up: tuple[float, float, float] | Array,
    enter: float = ENTER_SPEED,
    leave: float = LEAVE_SPEED,
    height: float = OWN_HEIGHT,
    least: float = LEAST_CONTACT,
    exact: bool = False,
) -> Detection:
    """The contacts of `find_contacts` with what else was found on the way."""
    heel, ball = (_numbers(name, path) for name, path in (("heel", heel), ("ball", ball)))
    _check((heel, ball), fps, leg)
    upward = _direction(up)
    if not heel.size:
        return Detection(np.zeros((*heel.shape[:2], 2), bool), False)
    paths = np.stack([heel, ball], axis=2) / leg
    floor, carried = floor_velocities(paths, fps, upward)
    feet = observe_over(paths, floor, fps, upward)
    gait, slack = gait_speed(feet), FLOOR_SHARE * float(np.linalg.norm(floor, axis=-1).mean())
    limits = tuple(speed * max(1.0, gait / FAST) + slack for speed in (enter, leave))
    fine = feet if exact else finer(feet, upward)
    slow = _lasting(fine, _slow(fine, limits[0], limits[1], height), limits[1], least)
    if exact:
        return Detection(refined(feet, slow), carried)
    return Detection(_on_frames(fine, _landed(fine, _settled(fine, slow)), float(np.mean(limits))), carried)


def _numbers(name: str, values: object) -> Array:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected an array of numbers, got {type(values).__name__}") from None


def _check(paths: tuple[Array, Array], fps: float, leg: float) -> None:
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
    either = hysteresis(slow.any(axis=-1), still.any(axis=-1))
    stands = np.zeros_like(slow)
    for spell in grounded(feet, still.any(axis=-1), find_spells(feet, either), height):
        rows = slice(spell.start, spell.end), spell.leg
        lowest = np.where(slow[rows], feet.heights[rows], np.inf).min(axis=0)
        stands[rows] = hysteresis(slow[rows] & (feet.heights[rows] < lowest + height), still[rows])
    return stands


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


def _settled(feet: Feet, slow: Mask) -> Mask:
    """The slow frames (F, L, 2) without those of a ball that still comes down about a standing heel, and of a heel that
    already rises about a standing ball.
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
    as it ends, about one that stands: it is slow there, but far from the place where it stands.
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


def _on_frames(fine: Feet, stands: Mask, slow: float) -> Mask:
    """What stands (F, L, 2), by finer frames, on the given ones, and on the first of them after a foot began to leave
    if it was still slower than `slow` on its way there: it is hardly off its spot. One that stood still left at once.
    """
    found = stands[:: fine.every].copy()
    if fine.every > 1:
        between, speeds = stands[1::2], fine.speeds[1::2]
        leaves = found[1:-1] & ~found[2:].any(axis=-1, keepdims=True) & (speeds[:-1] > STILL)
        found[2:] |= leaves & between[1:] & (speeds[1:] < slow)
    return found
