# SPDX-License-Identifier: MIT
"""Gaits made by formula, with known contacts of heel and ball: feet stand exactly, slide, sink or tremble.

A foot is a rigid line from heel to ball. It lands on one end or flat, lies flat, rises about the ball and swings to its
next footprint. Lengths are shares of the leg until `Gait.leg` scales them. The figure walks along x, z is up, and times
are in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ease = Callable[[Array], Array]

EASES: dict[str, Ease] = {
    "smooth": lambda t: t * t * (3 - 2 * t),
    "quintic": lambda t: t**3 * (10 - t * (15 - 6 * t)),
    "cycloid": lambda t: t - np.sin(2 * np.pi * t) / (2 * np.pi),
    "straight": lambda t: t,
}
BUMPS: dict[str, Ease] = {
    "sine": lambda t: np.sin(np.pi * t),
    "squared sine": lambda t: np.sin(np.pi * t) ** 2,
    "parabola": lambda t: 4 * t * (1 - t),
}


@dataclass(frozen=True)
class Style:
    """The parameters of a walk: shares of the cycle, lengths in legs, pitches in radians (toes up is positive)."""

    cycle: float
    flat: float  # The whole sole is down from this share of the cycle on; the foot lands at 0.
    heel_off: float
    toe_off: float
    stride: float
    lift: float = 0.1
    climb: float = 0.0  # Height gained with every step.
    turn: float = 0.0  # Heading gained with every step, radians.
    landing: float = 0.35
    leaving: float = 0.6
    tilt: float = 0.0  # Pitch of the foot in the middle of its standing; below zero the heel never comes down.
    ease: str = "smooth"
    bump: str = "sine"


STYLES = {
    "walk": Style(1.1, 0.08, 0.4, 0.62, 1.3),
    "gentle walk": Style(1.15, 0.1, 0.42, 0.62, 1.2, ease="quintic", bump="squared sine"),
    "flat-footed walk": Style(1.1, 0.0, 0.62, 0.62, 1.24, 0.16, landing=0.0, leaving=0.0, ease="cycloid",
                              bump="squared sine"),
    "slow walk": Style(1.9, 0.1, 0.5, 0.7, 0.8, ease="cycloid"),
    "fast walk": Style(0.85, 0.07, 0.36, 0.58, 1.7, bump="parabola"),
    "backward walk": Style(1.2, 0.1, 0.55, 0.65, -0.9, landing=-0.3, leaving=0.2),
    "run": Style(0.7, 0.05, 0.2, 0.36, 2.4, 0.25),
    "run on the balls": Style(0.66, 0.15, 0.2, 0.36, 2.6, 0.3, landing=-0.5, leaving=0.9, tilt=-0.3),
    "walk on tiptoe": Style(1.0, 0.1, 0.4, 0.6, 0.9, landing=-0.6, leaving=0.8, tilt=-0.4),
    "upstairs": Style(1.3, 0.1, 0.5, 0.64, 0.7, 0.15, climb=0.2, landing=-0.1),
    "downstairs": Style(1.2, 0.12, 0.5, 0.62, 0.7, 0.1, climb=-0.2, landing=-0.35),
    "turn on the spot": Style(1.2, 0.0, 0.68, 0.68, 0.0, 0.06, turn=0.6, landing=0.0, leaving=0.0),
    "shuffle": Style(1.5, 0.0, 0.64, 0.64, 0.5, 0.008, landing=0.0, leaving=0.0),
    "dragged feet": Style(1.5, 0.0, 0.64, 0.64, 0.6, 0.0, landing=0.0, leaving=0.0, ease="quintic"),
}  # fmt: skip
FOOT = 0.22
SIDES = (0.1, -0.1)


@dataclass(frozen=True)
class Gait:
    """Paths (F, 2, 3) of heels and balls, their true contacts `standing` (F, 2 feet, 2 parts), and the leg's length."""

    heel: Array
    ball: Array
    standing: NDArray[np.bool_]
    fps: float
    leg: float


def make_gait(
    style: str | Style,
    fps: float = 60.0,
    *,
    seconds: float = 6.0,
    slide: float = 0.0,
    sink: float = 0.0,
    noise: float = 0.0,
    leg: float = 1.0,
    seed: int = 0,
) -> Gait:
    """A gait. Standing feet slide ahead and sink by shares of the leg; all points tremble with deviation `noise`."""
    style = STYLES[style] if isinstance(style, str) else style
    time = np.arange(round(seconds * fps)) / fps
    # Without this offset landings would fall on frames at all frame rates alike.
    feet = [_foot(style, time + 0.0137, index, slide, sink) for index in range(2)]
    heel, ball, standing = (np.stack(rows, axis=1) for rows in zip(*feet, strict=True))
    tremble = np.random.default_rng(seed).normal(0.0, 1.0, (2, *heel.shape)) * noise
    return Gait(leg * (heel + tremble[0]), leg * (ball + tremble[1]), standing, fps, leg)


def make_loose_gait(fps: float = 60.0, *, ease: str = "smooth", bump: str = "sine", noise: float = 0.0) -> Gait:
    """A slow walk whose heels and balls stand and swing independently, so that feet change their length."""
    time, cycle, stride = np.arange(round(8.0 * fps)) / fps + 0.0137, 1.65, 1.0
    paths = np.zeros((2, len(time), 2, 3))
    standing = np.zeros((len(time), 2, 2), bool)
    for part, leg in np.ndindex(2, 2):
        lands, leaves = ((0.0, 0.42), (0.08, 0.62))[part]
        step, phase = np.divmod(time / cycle + 0.5 * leg - lands, 1.0)
        swing = np.clip((phase - (leaves - lands)) / (1.0 - (leaves - lands)), 0.0, 1.0)
        paths[part, :, leg, 0] = (step + EASES[ease](swing)) * stride + FOOT * part
        paths[part, :, leg, 1] = SIDES[leg]
        paths[part, :, leg, 2] = 0.12 * BUMPS[bump](swing)
        standing[:, leg, part] = swing == 0.0
    heel, ball = paths + np.random.default_rng(0).normal(0.0, 1.0, paths.shape) * noise
    return Gait(heel, ball, standing, fps, 1.0)


def make_rest(fps: float = 60.0, *, seconds: float = 4.0, noise: float = 0.0, seed: int = 0) -> Gait:
    """A figure that stands still."""
    ball = np.zeros((round(seconds * fps), 2, 3)) + np.array([[0.0, side, 0.0] for side in SIDES])
    tremble = np.random.default_rng(seed).normal(0.0, 1.0, (2, *ball.shape)) * noise
    heel = ball - [FOOT, 0.0, 0.0]
    return Gait(heel + tremble[0], ball + tremble[1], np.ones((*ball.shape[:2], 2), bool), fps, 1.0)


def on_treadmill(gait: Gait, style: str) -> Gait:
    """The same gait carried back at its mean speed."""
    style_ = STYLES[style]
    time = np.arange(len(gait.heel)) / gait.fps
    back = gait.leg * style_.stride / style_.cycle * time[:, None, None] * np.array([1.0, 0.0, 0.0])
    return replace(gait, heel=gait.heel - back, ball=gait.ball - back)


def retargeted(gait: Gait, style: str, scale: float, radius: float = np.inf, bob: float = 0.0) -> Gait:
    """The same gait with legs scaled by `scale` under hips that move as before.

    The way may be a curve of a `radius`, and the hips may go up and down by `bob` with every step, both in legs.
    """
    time = np.arange(len(gait.heel))[:, None] / gait.fps
    height = 1.0 + bob * np.sin(4 * np.pi * time / STYLES[style].cycle)
    hips = gait.leg * (STYLES[style].stride / STYLES[style].cycle * time * [1.0, 0.0, 0.0] + height * [0.0, 0.0, 1.0])
    heel, ball, hips = (_bent(path, gait.leg * radius) for path in (gait.heel, gait.ball, hips[:, None]))
    return replace(gait, heel=hips + scale * (heel - hips), ball=hips + scale * (ball - hips), leg=scale * gait.leg)


def _bent(path: Array, radius: float) -> Array:
    """A path (F, L, 3) along x, bent so that the x axis lies on a circle that turns left."""
    if np.isinf(radius):
        return path
    angle, reach = path[..., 0] / radius, radius - path[..., 1]
    return np.stack([reach * np.sin(angle), radius - reach * np.cos(angle), path[..., 2]], axis=-1)


def _foot(style: Style, time: Array, index: int, slide: float, sink: float) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The paths (F, 3) of heel and ball of one foot, and whether each stands (F, 2)."""
    stride, phase = np.divmod(time / style.cycle + 0.5 * index, 1.0)
    swing = np.clip((phase - style.toe_off) / (1 - style.toe_off), 0.0, 1.0)
    pitch = _pitch(style, phase, swing)
    before, after = (_footprint(style, stride + step, index) for step in (0, 1))
    ease = EASES[style.ease](swing)[:, None]
    forward, side = (a + ease * (b - a) for a, b in zip(before[1:], after[1:], strict=True))
    share = np.minimum(phase, style.toe_off)[:, None] / style.toe_off * (1 - ease)
    flat = before[0] + ease * (after[0] - before[0]) + share * (slide * forward + [0.0, 0.0, -sink])
    flat[:, 2] += style.lift * BUMPS[style.bump](swing)
    along = np.cos(pitch)[:, None] * forward + np.sin(pitch)[:, None] * [0.0, 0.0, 1.0]
    # The foot turns about the heel while the toes are up, and about the ball while the heel is up.
    heel = np.where(pitch[:, None] > 0, flat, flat + FOOT * (forward - along))
    landed = phase < style.toe_off
    heels, balls = (_parts(style, phase) & landed[:, None]).T
    return heel, heel + FOOT * along, np.stack([heels, balls], axis=-1)


def _parts(style: Style, phase: Array) -> NDArray[np.bool_]:
    """Whether heel and ball are down (F, 2), by the phase alone."""
    first, second = phase >= 0, phase >= style.flat
    heel, ball = (second, first) if style.landing < 0 else (first, second)
    return np.stack([heel & (phase < style.heel_off) & (style.tilt == 0), ball], axis=-1)


def _pitch(style: Style, phase: Array, swing: Array) -> Array:
    ease = EASES[style.ease]
    down = ease(np.clip(phase / max(style.flat, 1e-9), 0.0, 1.0))
    up = ease(np.clip((phase - style.heel_off) / max(style.toe_off - style.heel_off, 1e-9), 0.0, 1.0))
    standing = style.landing + (style.tilt - style.landing) * down - (style.leaving + style.tilt) * up
    return np.where(swing > 0, -style.leaving + ease(swing) * (style.landing + style.leaving), standing)


def _footprint(style: Style, stride: Array, index: int) -> tuple[Array, Array, Array]:
    """The place (F, 3) of the heel of a flat foot, its heading and its side, by the number of its `stride` (F,)."""
    step = 2 * stride - index
    heading = style.turn * step
    forward = np.stack([np.cos(heading), np.sin(heading), np.zeros_like(heading)], axis=-1)
    side = np.stack([-forward[:, 1], forward[:, 0], forward[:, 2]], axis=-1)
    place = SIDES[index] * side - 0.5 * FOOT * forward
    return place + np.stack([0.5 * style.stride * step, 0 * step, style.climb * step], axis=-1), forward, side
