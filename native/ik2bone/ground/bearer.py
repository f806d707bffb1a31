# SPDX-License-Identifier: MIT
"""What takes a figure along that holds on to it, of a clip that was made for something at rest."""

from __future__ import annotations

import numpy as np

from ..anchors.anchor import rigid
from ..hands.nearest import WITHIN
from ..model import Array, Clip, Ground
from .carrier import Carrier
from .query import MovingGround, Support, ask_on, support_of

# Parts of one thing move alike, up to so much of their motion (single precision).
ALIKE = 1e-5


def find_bearer(clip: Clip, ground: Ground) -> Carrier | None:
    """The one thing that all limbs are near on the first frame, if it moves."""
    if clip.frames < 3 or not isinstance(ground, MovingGround):
        return None
    hits, _, met = ask_on(ground, clip.ball[0], None, 0)
    near = met & (np.linalg.norm(hits - clip.ball[0], axis=-1) < WITHIN * clip.leg)
    bearers = [_bearer(support_of(ground, hit, 0)) for hit in hits[near]]
    if not bearers or bearers[0] is None:
        return None
    first = bearers[0].motion
    size = ALIKE * max(float(np.abs(first).max()), 1.0)
    alike = all(other is not None and np.abs(other.motion - first).max() < size for other in bearers)
    return bearers[0] if alike else None


def _bearer(support: Support) -> Carrier | None:
    """What a limb holds on to, as something that moves."""
    motion = support.motion
    return None if motion is None else Carrier(support.name, rigid(motion @ np.linalg.inv(motion[0])))


def ride_on(bearer: Carrier, clip: Clip) -> Array:
    """How far a bearer takes the middle of a figure along (F, 3) from where that is on the first frame."""
    middle = clip.hip[0].mean(axis=0)
    return bearer.motion[:, :3, :3] @ middle + bearer.motion[:, :3, 3] - middle
