# SPDX-License-Identifier: MIT
"""The palms of hands, laid on their skin: on the side that faces what they touch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..clip import Clip
from ..ground.query import Ground
from ..rotations import nearest_rotations
from ..settings import Settings
from ..sole.measure import Sole
from .nearest import AROUND, WITHIN, facing_of
from .touch import limb_lengths, touches_of


def lay_palms(clip: Clip, sole: Sole, ground: Ground, settings: Settings) -> Sole:
    """The soles with the palms of hands on their skin, where that is known and the hands touch anything."""
    if clip.skins is None or not clip.hands.any():
        return sole
    ball, height, source = sole.ball.copy(), sole.ball_height.copy(), list(sole.source)
    touches, _, normals = touches_of(clip, clip.ball, ground, settings)
    for leg in np.flatnonzero(clip.hands & touches.any(axis=0)):
        frames, unit = touches[:, leg], clip.foot_units[leg]
        away = facing_of(sole.up[leg], nearest_rotations(clip.foot[frames, leg, :3, :3]), normals[frames, leg])
        depth = palm_depth(clip.skins[leg].foot, sole.ball_joint[leg], away, limb_lengths(clip)[leg] / unit)
        if depth > 0.0:
            ball[leg], height[leg], source[leg] = sole.ball_joint[leg] - depth * away, unit * depth, "mesh"
    return replace(sole, ball=ball, ball_height=height, source=tuple(source))


def palm_depth(skin: Array, palm: Array, away: Array, length: float) -> float:
    """How deep the skin (V, 3) lies under a point of the palm (3,), against the unit direction that looks away (3,).

    All in the end's space, `length` is the limb's; zero where there is no skin near, or none that could be believed.
    """
    local = skin - palm
    depth = -(local @ away)
    aside = np.linalg.norm(local + depth[:, None] * away, axis=1)
    deepest = float(depth[aside < AROUND * length].max(initial=0.0))
    return deepest if deepest < WITHIN * length else 0.0
