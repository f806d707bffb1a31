# SPDX-License-Identifier: MIT
"""How far toes go: bent up and down at their ball, turned aside and twisted, seen from their foot."""

from __future__ import annotations

import numpy as np

from ..model import Array, Clip, Mask
from ..rotations import matrix_from_vector, unit, vector_from_matrix
from ..sole.measure import Sole, apply

# Great toes bend up by 70 degrees when an examiner bends them, by 85 at most, and down by 45 (orthopaedic tables of the
# first metatarsophalangeal joint); walking takes 42 to 65. Characters get a little more, since feet of rigs are stiff.
# Aside and about their length toes only follow the ground a little.
BENT_UP, BENT_DOWN, ASIDE = np.radians([90.0, 45.0, 20.0])
# The last of that (radians) is come to slowly, so that toes do not stop with a jolt.
EASE = np.radians(10.0)
# Toes kept from turning farther than this (radians) do not lie as they should.
TELLING = np.radians(3.0)


def within_range(clip: Clip, sole: Sole, feet: Array, turns: Array) -> tuple[Array, Mask]:
    """Rotation vectors (F, L, 3), world space, that turn toes no farther than toes go, and which (F, L) are kept short.

    `feet` (F, L, 3, 3) turn the clip's feet, with their toes, to where they stand, `turns` the toes from there. What a
    clip's own toes do they may do.
    """
    foot, toe = (_foot_axes(clip, sole, feet), _toe_axes(clip, sole, feet))
    own, asked = (_angles(foot, axes) for axes in (toe, matrix_from_vector(turns) @ toe))
    least, most = np.array([-BENT_DOWN, -ASIDE, -ASIDE]), np.array([BENT_UP, ASIDE, ASIDE])
    given = _between(asked, np.minimum(least, own - EASE), np.maximum(most, own + EASE))
    changed = np.abs(given - asked).max(axis=-1)
    kept = vector_from_matrix(_axes(foot, given) @ np.swapaxes(toe, -1, -2))
    return np.where((changed > 0.0)[..., None], kept, turns), changed > TELLING


def _foot_axes(clip: Clip, sole: Sole, feet: Array) -> Array:
    """Axes (F, L, 3, 3) of the soles, in columns: forward, aside to the left, up."""
    up, forward = (unit(np.einsum("flij,lj->fli", clip.foot[..., :3, :3], way)) for way in (sole.up, sole.forward))
    return feet @ _frame(forward, up)


def _toe_axes(clip: Clip, sole: Sole, feet: Array) -> Array:
    """The same of the toes."""
    up = unit(np.einsum("flij,lj->fli", clip.toe[..., :3, :3], sole.toe_up))
    return feet @ _frame(apply(clip.toe, sole.tip) - clip.ball, up)


def _frame(forward: Array, up: Array) -> Array:
    """Axes (F, L, 3, 3) in columns: what of a way forward is level, to the left of it, up. Any level way will do where
    there is none.
    """
    level = forward - np.sum(forward * up, axis=-1, keepdims=True) * up
    length = np.linalg.norm(level, axis=-1, keepdims=True)
    spare = np.cross(up, np.eye(3)[np.argmin(np.abs(up), axis=-1)])
    level = unit(np.where(length > 1e-6 * np.linalg.norm(forward, axis=-1, keepdims=True), level, spare))
    return np.stack([level, np.cross(up, level), up], axis=-1)


def _angles(foot: Array, toe: Array) -> Array:
    """How far toes are bent up, turned to the left and twisted (F, L, 3), in this order, seen from their foot."""
    forward, up = (np.einsum("flji,flj->fli", foot, toe[..., axis]) for axis in (0, 2))
    bend, aside = np.arctan2(forward[..., 2], forward[..., 0]), np.arcsin(np.clip(forward[..., 1], -1.0, 1.0))
    plain = _bent(bend, aside)
    twist = np.arctan2(np.sum(up * plain[..., 1], axis=-1), np.sum(up * plain[..., 2], axis=-1))
    return np.stack([bend, aside, twist], axis=-1)


def _axes(foot: Array, angles: Array) -> Array:
    """Axes (F, L, 3, 3) of toes with such angles."""
    axes, twist = _bent(angles[..., 0], angles[..., 1]), angles[..., 2, None]
    left = np.cos(twist) * axes[..., 1] - np.sin(twist) * axes[..., 2]
    up = np.cos(twist) * axes[..., 2] + np.sin(twist) * axes[..., 1]
    return foot @ np.stack([axes[..., 0], left, up], axis=-1)


def _bent(bend: Array, aside: Array) -> Array:
    """Axes (F, L, 3, 3) in the foot's space of toes bent up and turned to the left."""
    cb, sb, ca, sa, zero = np.cos(bend), np.sin(bend), np.cos(aside), np.sin(aside), np.zeros_like(bend)
    rows = [ca * cb, -sa * cb, -sb, sa, ca, zero, ca * sb, -sa * sb, cb]
    return np.stack(rows, axis=-1).reshape(*bend.shape, 3, 3)


def _between(values: Array, least: Array, most: Array) -> Array:
    """Values within bounds: as they are up to EASE before one, from there on ever more slowly towards it."""
    over, under = np.maximum(values - (most - EASE), 0.0), np.maximum(least + EASE - values, 0.0)
    return values - (over - EASE * np.tanh(over / EASE)) + (under - EASE * np.tanh(under / EASE))
