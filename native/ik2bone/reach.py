# SPDX-License-Identifier: MIT
"""What gives way where a standing foot is out of its leg's reach: the hips, the heel, and what is left, the spot."""

from __future__ import annotations

import numpy as np

from .curves import odd_window, smooth_cover
from .hips import own_reach
from .model import Array, Clip, Mask, Note, level_part
from .targets.blend import Targets

# In which order hips and heel give way; what neither of them gives is missed.
ORDERS = ("HIPS_HEEL", "HEEL_HIPS", "HIPS")
# A heel rises by this at the most (radians), as far as it does in a slow step down.
HIGHEST_HEEL = np.radians(30.0)
# Misses larger than this count (leg lengths).
SHORT = 1e-4
# The running maximum and the average after it share this width (s): the pitch is never less than what is needed.
WINDOW = 0.15
# A heel that is pitched by more than this (radians) does not stand.
STANDS = np.radians(0.5)


def refuse_order(order: str) -> None:
    """Raise ValueError for what is none of the orders."""
    if order not in ORDERS:
        raise ValueError(f"gives_way: expected one of {', '.join(ORDERS)}, got {order!r}")


def raise_heels_to_reach(clip: Clip, targets: Targets, hip: Array, standing: Mask) -> tuple[Targets, Array]:
    """Pitch feet about their ball where standing ones (F, L) are out of reach of their hip joints (F, L, 3).

    Returns the targets and the pitches (F, L), radians.
    """
    needed, axis = _needed_pitch(clip, targets, hip)
    needed = np.where(standing, needed, 0.0)
    if not needed.any():
        return targets, needed
    pitch = smooth_cover(needed, odd_window(WINDOW, clip.fps))
    return pitched(clip, targets, axis * pitch[..., None]), pitch


def raise_heels_fully(clip: Clip, targets: Targets, feet: Mask) -> Targets:
    """Targets with the heels of these feet (L,) as high as they go: what hips can count on.

    Swinging ones too, as those are drawn into reach.
    """
    return pitched(clip, targets, _pitch_axis(clip, targets) * np.where(feet, HIGHEST_HEEL, 0.0)[:, None])


def pitched(clip: Clip, targets: Targets, turns: Array) -> Targets:
    """The targets with feet turned about their balls by rotation vectors (F, L, 3)."""
    return targets.turned(turns)


def _pitch_axis(clip: Clip, targets: Targets) -> Array:
    """The level axis (F, L, 3) about which a heel rises; zero for a foot without length along the ground."""
    away = level_part(targets.ankle - targets.ball, clip.up)
    length = np.linalg.norm(away, axis=-1, keepdims=True)
    return np.where(length > 1e-6 * clip.leg, np.cross(away, clip.up) / np.maximum(length, 1e-300), 0.0)


def _needed_pitch(clip: Clip, targets: Targets, hip: Array) -> tuple[Array, Array]:
    """The least pitch (F, L) up to the highest that brings each ankle within reach, and its axis (F, L, 3).

    The ankle turns about the ball: its component towards the hip joint is middle + swing * cos(pitch - best).
    """
    axis, away, line = _pitch_axis(clip, targets), targets.ankle - targets.ball, hip - targets.ball
    reach = own_reach(clip)
    middle = np.sum(line * axis, axis=-1) * np.sum(away * axis, axis=-1)
    across = np.sum(line * away, axis=-1) - middle
    aside = np.sum(line * np.cross(axis, away), axis=-1)
    wanted = 0.5 * (np.sum(line**2, axis=-1) + np.sum(away**2, axis=-1) - reach**2) - middle
    swing, best = np.hypot(across, aside), np.arctan2(aside, across)
    share = np.clip(wanted / np.maximum(swing, 1e-300), -1.0, 1.0)
    pitch = np.clip(best - np.arccos(share), 0.0, HIGHEST_HEEL)
    short = np.linalg.norm(targets.ankle - hip, axis=-1) > reach * (1.0 + 1e-9)
    return np.where(short & axis.any(axis=-1) & (best > 0.0), pitch, 0.0), axis


def without_raised(contacts: Mask, pitch: Array) -> Mask:
    """The contacts (F, L, 2) without heels that are pitched (F, L) off the ground."""
    kept = contacts.copy()
    kept[..., 0] &= pitch <= STANDS
    return kept


def tell_reach(pitch: Array, missed: Array, standing: Mask) -> list[Note]:
    """Notes about what gave way beside the hips: pitches and misses (F, L), of feet that stand (F, L)."""
    notes = []
    raised, left = standing & (pitch > STANDS), standing & (missed > 0.0)
    if raised.any():
        degrees = float(np.degrees(pitch[raised].max()))
        notes.append(Note("heels_raised", {"degrees": degrees, "frames": _frames(raised)}))
    if left.any():
        notes.append(Note("feet_short", {"distance": float(missed[left].max()), "frames": _frames(left)}))
    return notes


def _frames(mask: Mask) -> int:
    return int(mask.any(axis=1).sum())
