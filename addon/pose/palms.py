# SPDX-License-Identifier: GPL-3.0-or-later
"""The palm of a hand, or the point of any other limb's end, that touches: where it lies, and which way it looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from bpy.types import Bone, Object
from ik2bone.arrays import Array

from ..rig.limb import Limb

# Knuckles are the first joints of the fingers that lie at least this share of the forearm from the wrist, 0.3 to 0.5 on
# the data folder's figures: bones of the palm begin at 0.15. Of shorter fingers the last joint counts, from the second.
KNUCKLES, NEAREST, FARTHEST = 0.28, 0.12, 0.8
# Knuckles more than this aside of the others' mean direction (cosine of 35 degrees) are the thumb's.
BESIDE = 0.82
# Without knuckles the palm is the tail of the bone, where that is so far from the wrist, else so much ahead.
TAIL, AHEAD = (0.1, 0.7), 0.3
# So many knuckles, spread by at least this share of their distance from the wrist, tell the plane of the palm: of two
# one may be the thumb's.
FINGERS, SPREAD = 3, 0.3


@dataclass(frozen=True)
class Palm:
    """The touching `point` (3,) in the space of the end bone, and the `normal` (3,) there, zero where unknown."""

    point: Array
    normal: Array


NO_PALM = Palm(np.zeros(3), np.zeros(3))


def find_palm(armature: Object, limb: Limb) -> Palm:
    """The middle of the knuckles, as the rest pose shows them; without fingers a point on the bone's line."""
    bone, above = armature.data.bones[limb.foot], armature.data.bones[limb.shin]
    lower = float((bone.head_local - above.head_local).length)
    knuckles = np.array(list(_knuckles(bone, lower))).reshape(-1, 3)
    if len(knuckles):
        return _palm(knuckles)
    if TAIL[0] * lower < bone.length < TAIL[1] * lower:
        return Palm(np.array([0.0, bone.length, 0.0]), np.zeros(3))
    along = np.array(bone.matrix_local.to_3x3().transposed() @ (bone.head_local - above.head_local))
    return Palm(AHEAD * along, np.zeros(3))


def _knuckles(hand: Bone, lower: float) -> Iterator[Array]:
    """The knuckle (3,) of each finger, in the hand's space."""
    inverse = hand.matrix_local.inverted()
    ahead = list(hand.children)
    while ahead:
        bone = ahead.pop()
        head = inverse @ bone.head_local
        if head.length < KNUCKLES * lower and bone.children:
            ahead += bone.children
        elif NEAREST * lower < head.length < FARTHEST * lower:
            yield np.array(head)


def _palm(knuckles: Array) -> Palm:
    directions = knuckles / np.linalg.norm(knuckles, axis=1, keepdims=True)
    middle = np.median(directions, axis=0)
    fingers = knuckles[directions @ (middle / np.linalg.norm(middle)) > BESIDE]
    fingers = fingers if len(fingers) else knuckles
    point = fingers.mean(axis=0)
    across = fingers[:, None] - fingers
    widest = across.reshape(-1, 3)[np.linalg.norm(across, axis=-1).argmax()]
    normal = np.cross(point, widest)
    size = np.linalg.norm(normal)
    known = len(fingers) >= FINGERS and size > SPREAD * float(point @ point)
    return Palm(point, normal / size if known else np.zeros(3))
