# SPDX-License-Identifier: GPL-3.0-or-later
"""One stride of normal walking in the sagittal plane, from measured joint-angle curves; plain numpy.

Points of the plane are complex numbers: forward + i * up. Pitch is positive for toes up and thigh forward. A rotation
by a pitch is a multiplication by exp(i * angle). Phase 0 is the heel strike of the leg.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

# Pitch of the thigh, flexion of the knee and pitch of the sole over the stride, in degrees: coefficients c of the real
# part of sum c[k] exp(2 pi i k phase). TOE_OFF is the share of the stride for which a foot stands. fit_gait.py fits
# these numbers by least squares to the strides of three people: OpenSim's gait2354 (S. Delp, D. Thelen, F. Anderson,
# A. Seth and co-authors, CC BY 3.0) and two walks of the CMU collection ("The data used in this project was obtained
# from mocap.cs.cmu.edu. The database was created with funding from NSF EIA-0196217."). The root mean square difference
# between people and curves is 5 degrees (thigh and sole) and 9 degrees (knee).
THIGH = (10.2, 24.0 - 1.6j, -3.7 + 3.3j, -0.5 - 2.8j, -0.3 + 0.3j, -0.4 - 0.1j, 0.3 - 0.3j)
KNEE = (29.8, 7.1 + 17.1j, -17.9 - 0.1j, -1.9 - 6.6j, -1.6 + 0.1j, -0.9 - 0.6j, 0.5 - 0.7j)
FOOT = (-12.1, 16.3 - 25.1j, 18.8 + 9.1j, -0.7 + 5.8j, 2.3 - 1.2j, 2.2 + 1.5j, -0.2 + 0.3j)
TOE_OFF = 0.63
DOUBLE_SUPPORT = TOE_OFF - 0.5  # The share of the stride for which both feet stand; there are two in a stride.
FLAT_ZONE = np.radians(3.0)  # A standing foot with less pitch is flat: the curves are accurate to a few degrees.
CLEARANCE = 0.02  # Least height of the sole in mid-swing, in legs. Toes of the same walks rise by 0.015 to 0.05.
# The share that is kept of the speed changes that rigid legs would cause at the hips. They then are 10 % of the speed,
# like those of the pelvis of gait2354.
SURGE = 0.6
LONGEST = 0.995  # Greatest distance from hip to ankle, in thigh plus shin: a walking knee stays a few degrees bent.


@dataclass(frozen=True)
class Leg:
    """The lengths of thigh and shin, and the heel, ball and tip of the toes of a flat foot, relative to its ankle.

    Heel and tip lie on the sole; the ball is the joint of the toes, on the sole or above it.
    """

    thigh: float
    shin: float
    heel: complex
    ball: complex
    tip: complex


@dataclass(frozen=True)
class Stride:
    """One stride of one leg at N even phases. The other leg makes the same stride half a stride later.

    `hips` is the path of the hip joints' centre; the next stride begins at `hips[0] + length`. `thigh`, `shin` and
    `foot` are pitches, and `toes` is the bend of the toes relative to the foot.
    """

    length: float
    hips: Complex
    thigh: Real
    shin: Real
    foot: Real
    toes: Real


def walk(leg: Leg, sway: Complex) -> Stride:
    """One stride with the phases of `sway`, an even number. The floor is at height 0.

    `sway` is the path of the leg's own hip joint relative to the centre of both, from turn and drop of the pelvis.
    """
    phases = len(sway)
    thigh, knee, foot = (np.radians(curve(terms, phases)) for terms in (THIGH, KNEE, FOOT))
    foot = _flatten(foot)
    ankles = _pitch(-1j * leg.thigh, thigh) + _pitch(-1j * leg.shin, thigh - knee)
    hips, length = _carry(ankles + _rocker(leg, foot) + 1j * leg.heel.imag)
    toes = _toe_bend(foot)
    ankles = _swing(leg, hips + ankles, _stand(leg, hips + ankles, foot), foot, toes)
    hips = hips - 1j * _drop(leg, ankles - hips - sway)
    thigh, shin = _bend(leg, ankles - hips - sway)
    return Stride(length, hips, thigh, shin, foot, toes)


def curve(terms: tuple[complex, ...], phases: int) -> Real:
    """The degrees at even phases of a curve with these coefficients."""
    waves = np.exp(2j * np.pi * np.outer(np.arange(len(terms)), np.arange(phases) / phases))
    return (np.array(terms) @ waves).real


def _pitch(point: complex, angle: Real) -> Complex:
    return point * np.exp(1j * angle)


def _flatten(pitch: Real) -> Real:
    """Pitches of the foot that are 0 within FLAT_ZONE while it stands, unchanged above twice FLAT_ZONE, and smooth."""
    flattened = pitch * _smooth(np.abs(pitch) / FLAT_ZONE - 1)
    return np.where(np.arange(len(pitch)) < TOE_OFF * len(pitch), flattened, pitch)


def _rocker(leg: Leg, foot: Real) -> Complex:
    """Vectors from the ankle to its place with the foot rolled flat, about the heel if toes are up, else the ball."""
    pivot = np.where(foot > 0, leg.heel, leg.ball)
    return pivot * np.exp(1j * foot) - pivot


def _weight(phases: int) -> Real:
    """The share of the body's weight on the leg. The shares of both legs add up to one."""
    phase = np.arange(phases) / phases
    return _smooth(phase / DOUBLE_SUPPORT) * (1 - _smooth((phase - TOE_OFF) / DOUBLE_SUPPORT + 1))


def _smooth(x: Real) -> Real:
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)


def _carry(feet: Complex) -> tuple[Complex, float]:
    """The path of the hips that keeps loaded feet in place, and the length of the stride."""
    phases = len(feet)
    weight = _weight(phases)
    speed = _both_legs(-weight * _rate(feet).real)
    height = _both_legs(-weight * feet.imag)
    length = float(speed.mean() * phases)
    surge = SURGE * np.cumsum(_low_pass(speed) - speed.mean())
    forward = length * np.arange(phases) / phases + surge - surge.mean()
    return forward + 1j * _low_pass(height), length


def _rate(path: Complex) -> Complex:
    """The change per phase of a periodic path."""
    return (np.roll(path, -1) - np.roll(path, 1)) / 2


def _both_legs(one: Real) -> Real:
    return one + np.roll(one, len(one) // 2)


def _low_pass(path: Real) -> Real:
    """The path with at most two oscillations per step: a heavy body makes no faster ones."""
    spectrum = np.fft.rfft(path)
    spectrum[5:] = 0
    return np.fft.irfft(spectrum, len(path))


def _toe_bend(foot: Real) -> Real:
    """The bend of toes that lie on the floor while the foot rolls over the ball, and stretch again in early swing."""
    phase = np.arange(len(foot)) / len(foot)
    return np.maximum(-foot, 0) * (1 - _smooth((phase - TOE_OFF) / DOUBLE_SUPPORT))


def _stand(leg: Leg, ankles: Complex, foot: Real) -> Complex:
    """The path of the ankle of a foot that rolls on its footprint without sliding. It is meaningless in the swing."""
    weight = _weight(len(foot))
    rocker = _rocker(leg, foot)
    footprint = np.average((ankles + rocker).real, weights=weight)
    return footprint - 1j * leg.heel.imag - rocker


def _swing(leg: Leg, ankles: Complex, standing: Complex, foot: Real, toes: Real) -> Complex:
    """The path of the ankle: `standing` in the stance, then the swing of `ankles`, moved by a cubic to join the stance.

    The swing starts with the place and speed of the stance and ends at its place. Feet land with the speed of the
    curves, because no measured foot stops in the air. Mid-swing is raised to CLEARANCE.
    """
    phases = len(ankles)
    off = round(TOE_OFF * phases)
    error = standing - ankles
    s = np.linspace(0, 1, phases - off, endpoint=False)
    leave = (error[off] - error[off - 1]) * len(s)
    path = ankles[off:] + _hermite(s, error[off], leave, error[0])
    middle = np.abs(s - 0.5) < 0.25
    lowest = _sole(leg, path, foot[off:], toes[off:]).imag.min(axis=0)[middle].min()
    lift = max(CLEARANCE * (leg.thigh + leg.shin) - lowest, 0) * (4 * s * (1 - s)) ** 2
    return np.concatenate([standing[:off], path + 1j * lift])


def _hermite(s: Real, start: complex, leave: complex, end: complex) -> Complex:
    """The cubic from `start` to `end`, with slope `leave` at its start and slope 0 at its end."""
    t = 1 - s
    return t * t * ((1 + 2 * s) * start + s * leave) + s * s * (1 + 2 * t) * end


def _sole(leg: Leg, ankles: Complex, foot: Real, toes: Real) -> Complex:
    ball = ankles + _pitch(leg.ball, foot)
    return np.stack([ankles + _pitch(leg.heel, foot), ball, ball + _pitch(leg.tip - leg.ball, foot + toes)])


def _drop(leg: Leg, step: Complex) -> Real:
    """How far the hips come down, smoothly over the step, so that both legs reach their ankles at every phase."""
    reach = LONGEST * (leg.thigh + leg.shin)
    excess = np.maximum(-step.imag - np.sqrt(reach**2 - step.real**2), 0)
    both = np.maximum(excess, np.roll(excess, len(excess) // 2))
    drop = _low_pass(both)
    return drop + np.max(both - drop)


def _bend(leg: Leg, step: Complex) -> tuple[Real, Real]:
    """The pitches of thigh and shin that place the ankle at `step` from the hip, with the knee in front."""
    distance = np.abs(step)
    cosine = (leg.thigh**2 + distance**2 - leg.shin**2) / (2 * leg.thigh * distance)
    thigh = np.angle(1j * step) + np.arccos(np.clip(cosine, -1, 1))
    return thigh, np.angle(1j * (step - _pitch(-1j * leg.thigh, thigh)))
