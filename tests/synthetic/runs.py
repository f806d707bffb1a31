# SPDX-License-Identifier: MIT
"""Runs as laboratories measure them: markers on shoes that brake as they land and roll over the toes as they leave.

Unlike in the gaits of `gaits`, no point of a foot ever stands exactly. A foot strikes the ground while it still moves
ahead and down, and its shoe gives way. Its heel rises from the middle of the stance on, and in the end its ball leaves
the ground with the toes still down. The paths are low-pass filtered. Durations and speeds are those of runners at 3 to
4.5 m/s with rear-foot strike (Novacheck, The biomechanics of running, Gait and Posture 7, 1998). Lengths are in legs,
and the figure runs along x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gaits import FOOT, SIDES, Array, Gait

TOES = 0.075


@dataclass(frozen=True)
class RunStyle:
    """The parameters of a run: speeds in legs a second, times in shares of the stance, pitches in radians (toes up)."""

    speed: float = 4.33  # 3.9 m/s by a leg of 0.9 m.
    cycle: float = 0.69
    duty: float = 0.37
    pitch: float = 0.26  # Pitch of the foot as it strikes; below zero the ball strikes first.
    flat: float = 0.2
    heel_off: float = 0.5
    ball_off: float = 0.8
    leaving: float = 1.15
    toes: float = 0.7  # Pitch of the toes as they leave.
    brakes: float = 0.14  # The time until which the shoe slides and sinks.
    strike: tuple[float, float] = (1.5, -1.0)  # Velocity of the striking end, ahead and up.
    creep: float = 0.012


RUNS = {
    "rear-foot run": RunStyle(),
    "fore-foot run": RunStyle(pitch=-0.2, flat=0.25, heel_off=0.4),
    "slow run": RunStyle(speed=3.2, cycle=0.74, duty=0.41, leaving=1.0),
    "fast run": RunStyle(speed=5.5, cycle=0.64, duty=0.31, leaving=1.25),
}


def make_run(
    style: str = "rear-foot run", fps: float = 120.0, *, seconds: float = 5.0, noise: float = 1e-3, cutoff: float = 15.0
) -> Gait:
    """A run. Markers tremble with deviation `noise` (legs) before a low-pass filter with a `cutoff` (Hz)."""
    kind, fine = RUNS[style], 960.0
    time = np.arange(-96, round(seconds * fine) + 96) / fine
    feet = [_foot(kind, time + 0.0137, index) for index in range(2)]
    heel, ball, down = (np.stack(rows, axis=1) for rows in zip(*feet, strict=True))
    every, paths = round(fine / fps), np.stack([heel, ball])
    tremble = np.random.default_rng(5).normal(0.0, noise, paths[:, ::every].shape)
    paths = _low_pass(paths, fine, cutoff)[:, ::every] + _low_pass(tremble, fps, min(cutoff, 0.3 * fps))
    first = -(-96 // every)
    rows = slice(first, first + round(seconds * fps))
    standing = np.repeat(down[::every][rows, :, None], 2, axis=2)
    return Gait(paths[0, rows], paths[1, rows], standing, fps, 1.0)


def _low_pass(paths: Array, fps: float, cutoff: float) -> Array:
    """Paths (P, F, ...) after a Gaussian filter without lag that has half power at `cutoff` (Hz)."""
    deviation = np.sqrt(np.log(2.0)) / (2.0 * np.pi * cutoff) * fps
    lags = np.arange(-int(4 * deviation) - 1, int(4 * deviation) + 2)
    weights = np.exp(-0.5 * (lags / deviation) ** 2)
    padded = np.pad(paths, ((0, 0), (len(lags) // 2,) * 2, (0, 0), (0, 0)), mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, len(lags), axis=1) @ (weights / weights.sum())


def _foot(kind: RunStyle, time: Array, index: int) -> tuple[Array, Array, Array]:
    """The paths (F, 3) of heel and ball of one foot, and whether any of its sole is on the ground (F,)."""
    stride, phase = np.divmod(time / kind.cycle + 0.5 * index, 1.0)
    start = kind.cycle * kind.speed * (stride - 0.5 * index)
    stance = phase < kind.duty
    swing = (phase - kind.duty) / (1 - kind.duty)
    parts = [
        np.where(stance, landed, _swing(kind, swing, heel=heel))
        for heel, landed in enumerate(_stance(kind, phase / kind.duty))
    ]
    ball, heel = (np.stack([start + x, np.full(len(time), SIDES[index]), z], axis=-1) for x, z in (parts[0], parts[1]))
    return heel, ball, stance


def _stance(kind: RunStyle, share: Array) -> Array:
    """The places (2, 2, F) of ball and heel, ahead and up, at shares of the stance (F,)."""
    time = kind.duty * kind.cycle
    left = np.maximum(1.0 - np.maximum(share, 0.0) / kind.brakes, 0.0)
    # While the shoe brakes, the speed of the striking end falls linearly to zero, apart from the creep.
    brake = 0.5 * kind.brakes * time * left**2
    x, z = -kind.strike[0] * brake + kind.creep * share, -kind.strike[1] * brake
    landing = kind.pitch * np.maximum(1.0 - share / kind.flat, 0.0) ** 1.5
    rising = np.maximum(share - kind.heel_off, 0.0) / (1.0 - kind.heel_off)
    toes = kind.toes * (np.maximum(share - kind.ball_off, 0.0) / (1.0 - kind.ball_off)) ** 1.5
    pitch = landing - kind.leaving * rising**1.7
    roll = np.where(share > kind.ball_off, toes, 0.0)
    tip = np.stack([x + FOOT + TOES, z])
    ball = tip + TOES * np.stack([-np.cos(roll), np.sin(roll)])
    heel = ball - FOOT * np.stack([np.cos(pitch), np.sin(pitch)])
    # A foot whose toes are up turns about its heel.
    tilted = np.stack([x, z])
    about_heel = tilted + FOOT * np.stack([np.cos(landing), np.sin(landing)])
    up = (kind.pitch > 0) & (share < kind.flat)
    return np.stack([np.where(up, about_heel, ball), np.where(up, tilted, heel)])


def _swing(kind: RunStyle, share: Array, heel: int) -> Array:
    """The place (2, F) of ball or heel, ahead and up, at shares of the swing (F,): two cubics that meet halfway."""
    stance, swing = kind.duty * kind.cycle, (1 - kind.duty) * kind.cycle
    step = 1e-4
    end, before = (_stance(kind, np.array([at]))[heel, :, 0] for at in (1.0, 1.0 - step))
    begin, after = (_stance(kind, np.array([at]))[heel, :, 0] for at in (0.0, step))
    speeds = (end - before) / (step * stance), (after - begin) / (step * stance)
    goal = begin + [kind.cycle * kind.speed, 0.0]
    middle = 0.5 * (end + goal) * [1.0, 0.0] + [0.0, 0.3 + 0.2 * heel]
    pace = 1.35 * (goal - end)[0] / swing
    first = _cubic(end, speeds[0], middle, np.array([pace, 0.0]), 0.5 * swing, 2.0 * share)
    second = _cubic(middle, np.array([pace, 0.0]), goal, speeds[1], 0.5 * swing, 2.0 * share - 1.0)
    return np.where(share < 0.5, first, second)


def _cubic(start: Array, leaves: Array, end: Array, arrives: Array, seconds: float, share: Array) -> Array:
    """The points (2, F) on the cubic from `start` with velocity `leaves` to `end` with velocity `arrives`."""
    t = share
    bases = (1 + 2 * t) * (1 - t) ** 2, t * (1 - t) ** 2, t * t * (3 - 2 * t), t * t * (t - 1)
    rows = start, seconds * leaves, end, seconds * arrives
    return np.sum([np.outer(row, basis) for row, basis in zip(rows, bases, strict=True)], axis=0)
