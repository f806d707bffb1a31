# SPDX-License-Identifier: MIT
"""Which contacts are really held: what the stages after the contacts did to them, told once at the end."""

from __future__ import annotations

import numpy as np

from ..anchors.anchor import unridden
from ..curves import runs
from ..model import Array, Clip, Ground, Mask
from ..sole.measure import Sole, apply
from .blend import Targets

# A heel that leaves its place by more than this (leg lengths) does not stand: 1 mm of a person's leg.
STAYS = 0.001
# Nor does one that is higher over the ground than this (leg lengths).
HANGS = 0.015


def held_contacts(clip: Clip, sole: Sole, targets: Targets, contacts: Mask, ground: Ground) -> Mask:
    """The contacts (F, L, 2) without the frames in which a heel leaves its place or hangs over it: the foot rolls."""
    path = targets.placed(apply(clip.foot, sole.heel) - clip.ball)
    depth = targets.depths(path[:, :, None], contacts[..., 0], ground, clip.up)[..., 0]
    held = contacts.copy()
    held[..., 0] &= ~(np.isfinite(depth) & (depth < -HANGS * clip.leg))
    for leg in range(clip.legs):
        for start, end in runs(contacts[:, leg, 0]):
            places = unridden(targets.anchors, leg, (start, end), path[start:end, leg])
            held[start:end, leg, 0] &= _stays(places, ~contacts[start:end, leg, 1], STAYS * clip.leg)
    return held


def _stays(places: Array, alone: Mask, near: float) -> Mask:
    """Whether a heel's places (N, 3) are near where it is at first: while it stands alone (N,), if it ever does."""
    place = np.median(places[alone] if alone.any() else places, axis=0)
    return np.linalg.norm(places - place, axis=-1) <= near
