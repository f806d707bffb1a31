# SPDX-License-Identifier: MIT
"""The motion that detection reads: paths of heels and balls in leg lengths, their speeds, and the noise in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array, Mask
from ..curves import halved, odd_window, quantile, smoothed, velocity
from ..rotations import dot, einsum, length_of
from .stance import STEP

# A part is slow from the moment its speed falls below the first limit for as long as it stays below the second (leg
# lengths a second). Published limits spread from 4 to 89 cm/s. On the CMU walks 0.20 and 0.30 miss the start and end of
# a stance (42 % of a foot's frames), 0.35 and 0.60 pin feet that still swing.
ENTER_SPEED, LEAVE_SPEED = 0.25, 0.45
# A point at rest is slower than this (leg lengths a second). Noise may leave as much in a speed (root mean square).
REST = 0.1
# Speeds are slopes over the first of these times (s). Noisy paths take a longer time, at most the second.
WINDOWS = (0.04, 0.12)
# Paths of fewer frames do not show which part of them is noise.
LEAST_FRAMES = 15
# A foot that turns rolls about one of its ends while that end is slower than this share of the speed between both ends.
# Force plates show a load on the end for as long. With 0.5 they agree on 1 % fewer frames.
ROLLING_SHARE = 0.55
# The length of a foot that turns differs from its usual length by no more than this share.
STIFF = 0.1
# Heights and places within this distance (leg lengths) are the same: a joint in a shoe moves by as much while the foot
# stands.
SAME_PLACE = 0.05


@dataclass(frozen=True)
class Feet:
    """Heels and balls of L feet over F frames, with paths (F, L, 2, 3) in leg lengths: `paths` as seen from a floor at
    rest, and `given` as the clip has them.

    `velocities` (F, L, 2, 3), in leg lengths a second, are those of `paths`. They are smoothed over `half` frames to
    each side, because of `noise` in the paths (its standard deviation). One frame in `every` comes from the clip, the
    others were put between.
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
        """The speeds of the parts (F, L, 2)."""
        return length_of(self.velocities)

    @cached_property
    def heights(self) -> Array:
        """The heights of the parts (F, L, 2)."""
        return dot(self.paths, self.up)

    @cached_property
    def above(self) -> Array:
        """How high the heels and the balls (F, L, 2) are over where any of the same kind is lowest."""
        return self.heights - self.heights.min(axis=(0, 1))

    @cached_property
    def lowest(self) -> Array:
        """The height of the lower part of each foot (F, L)."""
        return np.minimum(self.heights[..., 0], self.heights[..., 1])

    @cached_property
    def climb(self) -> Array:
        """The upward velocities of the parts (F, L, 2)."""
        return dot(self.velocities, self.up)

    @cached_property
    def rolls(self) -> Mask:
        """Frames (F, L, 2) on which a foot turns about a part that hardly moves."""
        lengths, turning = (length_of(ends[:, :, :1] - ends[:, :, 1:]) for ends in (self.paths, self.velocities))
        usual = quantile(lengths, 0.5)
        turning *= np.abs(lengths - usual) <= STIFF * usual
        return (self.speeds < ROLLING_SHARE * turning) & (turning > LEAVE_SPEED)

    @cached_property
    def travel(self) -> Array:
        """Velocity (F, 3) of the middle of all feet, without their swings, which average out over a stride."""
        window = min(odd_window(2 * STEP, self.fps), 2 * self.frames - 1)
        return velocity(smoothed(einsum("flpi->fi", self.paths), window), self.fps) / (2 * self.paths.shape[1])

    def reversed(self) -> Feet:
        """The same feet seen backwards in time."""
        return replace(self, **{name: getattr(self, name)[::-1] for name in ("given", "paths", "velocities")})

    def over(self, floor: Array) -> Feet:
        """The same feet as seen from a floor that moves at velocities (F, 3)."""
        if not floor.any():
            return self
        way = (np.cumsum(floor, axis=0) - floor[0]) / self.fps
        return replace(self, paths=self.given - way[:, None, None], velocities=self.velocities - floor[:, None, None])


def observe(paths: Array, fps: float, up: Array, noise: float | None = None) -> Feet:
    """The `Feet` of heels and balls (F, L, 2, 3), in leg lengths. `noise` is measured in the paths if it is None."""
    noise = noise_of(paths) if noise is None else noise
    least, most = (max(1, round(0.5 * seconds * fps)) for seconds in WINDOWS)
    half = next((half for half in range(least, most) if tremble(noise, half, fps) <= REST), most)
    return Feet(fps, up, paths, paths, velocity(paths, fps, 2 * half / fps), noise, half)


def finer(feet: Feet) -> Feet:
    """The same feet with a frame between each two, if frames lie far apart: else speeds would be taken over twice the
    time.
    """
    if feet.fps * WINDOWS[0] >= 1.8 or feet.frames < 2:
        return feet
    return replace(observe(halved(feet.paths), 2 * feet.fps, feet.up, feet.noise), every=2)


def noise_of(paths: Array) -> float:
    """Standard deviation of white noise on each coordinate of paths (F, ..., 3), in their unit.

    It is measured in fifth differences. Those of noise have sqrt(252) times its deviation, those of motion are small
    even between frames that lie far apart. The steadiest fifth of the frames decides: of the lengths of normal vectors
    a fifth is shorter than 1.0026 deviations (chi distribution of three degrees of freedom), whichever way the axes
    lie. Too few frames have no steady ones: then the noise is 0.
    """
    if len(paths) < LEAST_FRAMES:
        return 0.0
    steady = quantile(length_of(np.diff(paths, 5, axis=0)), 0.2)
    return float(quantile(steady.ravel(), 0.5)) / (1.0026 * np.sqrt(252.0))


def tremble(noise: float, half: int, fps: float) -> float:
    """The root mean square speed, in three dimensions, of a line fitted to noise over 2 half + 1 frames."""
    count = 2 * half + 1
    return noise * fps * float(np.sqrt(3.0 * 12.0 / (count * (count**2 - 1))))
