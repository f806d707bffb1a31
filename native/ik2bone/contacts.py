# SPDX-License-Identifier: MIT
"""Contact detection: the frames in which heel or ball of a foot stand still on their ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .clip import Array, Mask
from .motion import hann_average, odd_window, runs, velocity

# Speeds in leg lengths a second. Published rules spread from 4 to 89 cm/s; on the CMU walks 0.20 and 0.30 miss the
# start and end of a standing (42 % of a foot's frames), 0.35 and 0.60 pin feet that still swing.
ENTER_SPEED = 0.25
LEAVE_SPEED = 0.45
# A standing point lies within these heights (leg lengths) of the lowest point that the same foot, and that either foot,
# reaches nearby.
OWN_HEIGHT = 0.08
HEIGHT = 0.12
# Half of a slow step: within it each foot of a walk comes down once.
FLOOR_WINDOW = 1.2
# While the other part holds the foot: a ball faster than the first has not landed yet, a heel faster than the second
# has left (leg lengths a second).
LANDED_SPEED = 0.3
RISING_SPEED = 0.1
LEAST_CONTACT = 0.08
LEAST_GAP = 0.06
VOTE = 0.05


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
) -> Mask:
    """Frames in which heel and ball stand: bool (frames, legs, 2), heel first.

    `heel` and `ball` are paths (frames, legs, 3) of joints or markers in any length unit, `leg` is the length of the
    leg in that unit, `fps` samples a second, `up` the unit vector against gravity. A part stands from the moment its
    speed falls under `enter` for as long as it stays under `leave` (leg lengths a second), while it is less than
    `height` leg lengths above the lowest place that it reaches within 0.6 s (and 0.12 above that of either foot); a
    majority over 0.05 s settles flickering, gaps under 0.06 s close, and contacts shorter than `least` seconds are
    dropped. While one part holds the foot the other one counts only where it is nearly still. No absolute speed or
    length enters, so scale and unit do not matter.
    """
    paths = [np.asarray(path, float) for path in (heel, ball)]
    _check(paths, fps, leg)
    stands = [_standing(path, fps, leg, np.asarray(up, float), (enter, leave, height, least)) for path in paths]
    speeds = [np.linalg.norm(velocity(path, fps), axis=-1) / leg for path in paths]
    _settle((stands[0], stands[1]), (speeds[0], speeds[1]))
    return np.stack(stands, axis=-1)


def _check(paths: list[Array], fps: float, leg: float) -> None:
    for name, path in zip(("heel", "ball"), paths, strict=True):
        if path.ndim != 3 or path.shape[-1] != 3 or path.shape != paths[0].shape:
            raise ValueError(f"{name}: expected paths of shape (frames, legs, 3), both alike, got {path.shape}")
    for name, value in (("fps", fps), ("leg", leg)):
        if not value > 0:
            raise ValueError(f"{name}: expected a positive number, got {value}")


def _standing(path: Array, fps: float, leg: float, up: Array, limits: tuple[float, float, float, float]) -> Mask:
    enter, leave, height, least = limits
    speed = np.linalg.norm(velocity(path, fps), axis=-1) / leg
    heights = path @ up
    # Only slow frames tell where the floor is: a calibration pose before the first frame jumps away at once.
    resting = np.where(speed < leave, heights, np.inf)
    low = heights < _lowest(resting.min(axis=1, keepdims=True), fps) + HEIGHT * leg
    low &= heights < _lowest(resting, fps) + height * leg
    slow = _majority((speed < leave) & low, fps)
    columns = zip(slow.T, (speed < enter).T, strict=True)
    return np.stack([_spans(*column, fps, least) for column in columns], axis=1)


def _lowest(heights: Array, fps: float) -> Array:
    """Lowest of the heights (F, L) within FLOOR_WINDOW of each frame."""
    half = odd_window(FLOOR_WINDOW, fps) // 2
    padded = np.pad(heights, ((half, half), (0, 0)), constant_values=np.inf)
    return sliding_window_view(padded, 2 * half + 1, axis=0).min(axis=-1)


def _majority(mask: Mask, fps: float) -> Mask:
    return hann_average(mask.astype(float), odd_window(VOTE, fps)) > 0.5


def _spans(slow: Mask, still: Mask, fps: float, least: float) -> Mask:
    """Runs of slow frames that hold a still one, short gaps closed, short runs dropped."""
    stands = np.zeros_like(slow)
    for start, end in runs(slow):
        stands[start:end] = still[start:end].any()
    for start, end in runs(~stands):
        if start > 0 and end < len(stands) and end - start < LEAST_GAP * fps:
            stands[start:end] = True
    for start, end in runs(stands):
        stands[start:end] = end - start >= least * fps - 1e-6
    return stands


def _settle(stands: tuple[Mask, Mask], speeds: tuple[Array, Array]) -> None:
    """While one part holds the foot, the other counts only where it is still: a ball that comes down round a standing
    heel has not landed, a heel that rises round a standing ball has left.
    """
    (heel, ball), (heel_speed, ball_speed) = stands, speeds
    for leg in range(heel.shape[1]):
        for start, end in runs(ball[:, leg]):
            while start < end and heel[start, leg] and ball_speed[start, leg] > LANDED_SPEED:
                ball[start, leg] = False
                start += 1
        for start, end in runs(heel[:, leg]):
            while start < end and ball[end - 1, leg] and heel_speed[end - 1, leg] > RISING_SPEED:
                heel[end - 1, leg] = False
                end -= 1


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
