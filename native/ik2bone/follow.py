# SPDX-License-Identifier: MIT
"""Feet that follow the ground frame by frame, without being locked: clips in place, single poses, `ALWAYS`."""

from __future__ import annotations

import numpy as np

from .clip import Array, Clip, Ground
from .footprint import STEEPEST
from .motion import hann_average, odd_window, running_maximum
from .rotations import matrix_from_vector
from .sole import Sole, sole_points
from .targets import Targets

# The ground passes under a foot in place at walking speed: its height and slope are averaged over this time (s).
WINDOW = 0.15
# A foot follows the slope fully up to this height over its floor and not at all from the second on (leg lengths).
NEAR, FAR = 0.05, 0.3


def follow_ground(clip: Clip, sole: Sole, ground: Ground, use_slope: bool, on_surface: bool) -> Targets:
    """Targets that raise each foot with the ground below it and tilt it with its slope.

    `on_surface` puts the sole on the surface in every frame; otherwise each foot keeps its height over its floor.
    """
    below = clip.ball - sole.ball_height[:, None] * clip.up
    hits, normals, found = ground(below.reshape(-1, 3), -clip.up)
    hits, normals, found = hits.reshape(below.shape), normals.reshape(below.shape), found.reshape(below.shape[:2])
    height = below @ clip.up - sole.floor
    window = odd_window(WINDOW, clip.fps)
    rise = np.where(found, (hits - below) @ clip.up + (0.0 if on_surface else height), 0.0)
    rise = hann_average(rise, window)
    near = np.ones_like(height) if on_surface else np.clip((FAR - height / clip.leg) / (FAR - NEAR), 0.0, 1.0)
    gentle = found & (normals @ clip.up >= STEEPEST)
    turn = _tilts(
        clip, hann_average(np.where(gentle[..., None], normals, clip.up), window), near if use_slope else 0.0 * near
    )
    ball = below + rise[..., None] * clip.up + sole.ball_height[:, None] * np.einsum("flij,j->fli", turn, clip.up)
    ankle = ball + np.einsum("flij,flj->fli", turn, clip.ankle - clip.ball)
    return _cleared(clip, sole, Targets(ball, ankle, turn, rise, ()), ground, window)


def _tilts(clip: Clip, normals: Array, share: Array) -> Array:
    """Turns (F, L, 3, 3) that carry up onto the normals by so much of the way."""
    normals = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
    axis = np.cross(clip.up, normals)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = np.arctan2(sine, (normals @ clip.up)[..., None])
    vector = axis * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 1.0)
    return matrix_from_vector(vector * share[..., None])


def _cleared(clip: Clip, sole: Sole, targets: Targets, ground: Ground, window: int) -> Targets:
    """The targets raised, smoothly, where heel, ball or toes would lie under the ground."""
    points = sole_points(clip, sole) - clip.ball[:, :, None]
    placed = targets.ball[:, :, None] + np.einsum("flij,flpj->flpi", targets.turn, points)
    hits, _, found = ground(placed.reshape(-1, 3), -clip.up)
    under = np.where(found, (hits - placed.reshape(-1, 3)) @ clip.up, 0.0).reshape(placed.shape[:3]).max(axis=2)
    under = np.maximum(under, 0.0)
    lift = np.stack([hann_average(running_maximum(under[:, leg], window), window) for leg in range(clip.legs)], axis=1)
    move = lift[..., None] * clip.up
    return Targets(targets.ball + move, targets.ankle + move, targets.turn, targets.rise, ())
