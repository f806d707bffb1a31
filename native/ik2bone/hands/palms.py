# SPDX-License-Identifier: MIT
"""The palms of hands, laid on their skin: on the side that faces what they touch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model import Array, Clip, Ground, Mask
from ..settings import Settings
from ..sole.measure import Sole
from .nearest import facing_of, palm_depth, unit_axes
from .touch import away_from, find_touches, limb_lengths


def lay_palms(clip: Clip, sole: Sole, ground: Ground, settings: Settings) -> Sole:
    """The soles with the palms of hands on their skin, where that is known and the hands touch anything."""
    if clip.skins is None or not clip.hands.any():
        return sole
    ball, height, source = sole.ball.copy(), sole.ball_height.copy(), list(sole.source)
    touches, normals = _touches(clip, ground, settings)
    for leg in np.flatnonzero(clip.hands & touches.any(axis=0)):
        frames, unit = touches[:, leg], _unit(clip, leg)
        away = facing_of(sole.up[leg], unit_axes(clip.foot[frames, leg, :3, :3]), normals[frames, leg])
        depth = palm_depth(clip.skins[leg].foot, sole.ball_joint[leg], away, limb_lengths(clip)[leg] / unit)
        if depth > 0.0:
            ball[leg], height[leg], source[leg] = sole.ball_joint[leg] - depth * away, unit * depth, "mesh"
    return replace(sole, ball=ball, ball_height=height, source=tuple(source))


def _touches(clip: Clip, ground: Ground, settings: Settings) -> tuple[Mask, Array]:
    """When palms touch (F, L), as far as the joints tell, and the surface's normals (F, L, 3)."""
    up = settings.way_up(clip)
    distance, normals = away_from(ground, clip.ball, up)
    distance = distance / limb_lengths(clip)
    if settings.always(clip.frames):
        return distance < 1.0, normals
    return find_touches(clip.ball / limb_lengths(clip)[:, None], distance, clip.fps), normals


def _unit(clip: Clip, leg: int) -> float:
    """What a unit of the end's space measures in the world."""
    return float(np.linalg.norm(clip.foot[:, leg, :3, :3], axis=1).mean())
