# SPDX-License-Identifier: MIT
"""What detection looks at: heel and ball of every foot in leg lengths, how fast they are and how much they tremble."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array, Mask
from ..curves import halved, odd_window, quantile, smoothed, velocity
from ..rotations import length_of
from .stance import STEP

# A part is slow from the moment its speed falls below the first for as long as it stays below the second (leg lengths a
# second). Published rules spread from 4 to 89 cm/s; on the CMU walks 0.20 and 0.30 miss the start and end of a stance
# (42 % of a foot's frames), 0.35 and 0.60 pin feet that still swing.
ENTER_SPEED, LEAVE_SPEED = 0.25, 0.45
# A point at rest is slower than this (leg lengths a second); noise may leave as much in a speed (root mean square).
REST = 0.1
# Speeds are slopes over the shorter of these times (s), or as much longer as noise asks for, up to the other.
WINDOWS = (0.04, 0.12)
# Paths of fewer frames do not tell noise from motion.
LEAST_FRAMES = 15
# A foot that turns rolls about that end of it which is slower than this share of the speed between its ends: force
# plates feel it until then. With 0.5 they agree on 1 % fewer frames.
ROLLING_SHARE = 0.55
# A foot that turns keeps its usual length, but for this share.
STIFF = 0.1
# Heights and places within this (leg lengths) are the same: so much a joint in a shoe moves while the foot stands.
SAME_PLACE = 0.05


@dataclass(frozen=True)
class Feet:
    """Heel and ball of L feet over F frames: `paths` (F, L, 2, 3) in leg lengths, on a floor that rests, or as `given`.

    `velocities` (F, L, 2, 3) are theirs, leg lengths a second, smoothed over `half` so many frames to each side because
    of the `noise` in the paths (its standard deviation). Only one in `every` so many frames was given.
    """

    fps: float
    up: Array
    given: Array
    paths: Array
    velocities: Array
    noise: float
    half: int
    every: int = 1

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.paths)

    @cached_property
    def speeds(self) -> Array:
        """How fast they are (F, L, 2)."""
        return length_of(self.velocities)

    @cached_property
    def heights(self) -> Array:
        """How high they are (F, L, 2)."""
        return self.paths @ self.up

    @cached_property
    def lowest(self) -> Array:
        """How high the lower part of each foot is (F, L)."""
        return np.minimum(self.heights[..., 0], self.heights[..., 1])

    @cached_property
    def climb(self) -> Array:
        """How fast they go up (F, L, 2)."""
        return self.velocities @ self.up

    @cached_property
    def rolls(self) -> Mask:
        """When a foot turns about that part (F, L, 2), which hardly moves."""
        lengths, turning = (length_of(ends[:, :, :1] - ends[:, :, 1:]) for ends in (self.paths, self.velocities))
        usual = quantile(lengths, 0.5)
        turning *= np.abs(lengths - usual) <= STIFF * usual
        return (self.speeds < ROLLING_SHARE * turning) & (turning > LEAVE_SPEED)

    @cached_property
    def travel(self) -> Array:
        """Velocity (F, 3) of the middle of all feet, without their swings, which average out over a stride."""
        window = min(odd_window(2 * STEP, self.fps), 2 * self.frames - 1)
        return velocity(smoothed(self.paths.mean(axis=(1, 2)), window), self.fps)

    def reversed(self) -> Feet:
        """The same feet seen backwards in time."""
        return replace(self, **{name: getattr(self, name)[::-1] for name in ("given", "paths", "velocities")})

    def over(self, floor: Array) -> Feet:
        """The same feet as seen from a floor that goes at these velocities (F, 3)."""
        if not floor.any():
            return self
        way = (np.cumsum(floor, axis=0) - floor[0]) / self.fps
        return replace(self, paths=self.given - way[:, None, None], velocities=self.velocities - floor[:, None, None])


def observe(paths: Array, fps: float, up: Array, noise: float | None = None) -> Feet:
    """Look at heels and balls (F, L, 2, 3), in leg lengths, with the noise that is told, or else found in them."""
    noise = noise_of(paths) if noise is None else noise
    least, most = (max(1, round(0.5 * seconds * fps)) for seconds in WINDOWS)
    half = next((half for half in range(least, most) if tremble(noise, half, fps) <= REST), most)
    return Feet(fps, up, paths, paths, velocity(paths, fps, 2 * half / fps), noise, half)


def finer(feet: Feet) -> Feet:
    """The same feet with a frame between each two that lie far apart: else speeds are taken over twice the time."""
    if feet.fps * WINDOWS[0] >= 1.8 or feet.frames < 2:
        return feet
    return replace(observe(halved(feet.paths), 2 * feet.fps, feet.up, feet.noise), every=2)


def noise_of(paths: Array) -> float:
    """Standard deviation of white noise on each coordinate of paths (F, ..., 3), in their unit.

    From fifth differences, which noise has with sqrt(252) times its deviation, and motion hardly has, even between
    frames that lie far apart. A fifth of the frames, the steadiest, decides: of the lengths of normal vectors a fifth
    is shorter than 1.0026 deviations (chi distribution of three degrees of freedom), whichever way the axes lie. Too
    few frames have no steady ones, and tell of none.
    """
    if len(paths) < LEAST_FRAMES:
        return 0.0
    steady = quantile(length_of(np.diff(paths, 5, axis=0)), 0.2)
    return float(quantile(steady.ravel(), 0.5)) / (1.0026 * np.sqrt(252.0))


def tremble(noise: float, half: int, fps: float) -> float:
    """Root mean square length of the slope, in three dimensions, of a line fitted to noise over 2 half + 1 frames."""
    count = 2 * half + 1
    return noise * fps * float(np.sqrt(3.0 * 12.0 / (count * (count**2 - 1))))
