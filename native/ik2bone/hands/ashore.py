# SPDX-License-Identifier: MIT
"""Limbs of a carried figure that hold on to what stays behind, as a hand on the quay from a boat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..curves import velocity
from ..ground.carrier import GroundSeen, move_points, moved_by, slower
from ..model import Array, Clip, Ground, Mask
from ..settings import Settings
from ..sole.measure import Sole, apply
from ..targets.blend import Held
from .nearest import WITHIN
from .touch import away_from, limb_lengths, touch


def touch_seen(clip: Clip, sole: Sole, ground: Ground, settings: Settings, _ride: Array | None) -> Held:
    """As `touch`; of a clip seen from a carrier, limbs that rest in the world while they touch are held there."""
    if not isinstance(ground, GroundSeen) or settings.always(clip.frames):
        return touch(clip, sole, ground, settings)
    ashore = find_ashore(clip, sole, ground, settings)
    if not ashore.any():
        return touch(clip, sole, ground, settings)
    world = moved_by(ground.carrier.motion, clip.choose(ashore))
    held = touch(world, sole.choose(ashore), ground.ground, settings.choose(ashore))
    held = replace(held, targets=held.targets.carried_by(ground.carrier.inverse))
    if ashore.all():
        return held
    aboard = touch(clip.choose(~ashore), sole.choose(~ashore), ground, settings.choose(~ashore))
    return aboard.beside(held, ashore)


def find_ashore(clip: Clip, sole: Sole, ground: GroundSeen, settings: Settings) -> Mask:
    """Which limbs (L,) move less in the world than aboard, on the frames on which they are near a surface."""
    aboard = apply(clip.foot, sole.ball)
    near = away_from(ground, aboard, settings.way_up(clip))[0] < WITHIN * limb_lengths(clip)
    paths = aboard, move_points(ground.carrier.motion[:, None], aboard)
    speeds = (np.linalg.norm(velocity(path, clip.fps), axis=-1) for path in paths)
    return np.sum(slower(*speeds) * near, axis=0) < 0.0
