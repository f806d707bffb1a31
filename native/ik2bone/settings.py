# SPDX-License-Identifier: MIT
"""What the user wants of planting."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .anchors.footprint import STEEPEST, Slopes
from .contacts.spans import Marks
from .hips import DEEPEST
from .model import Array, Clip, Mask


@dataclass(frozen=True)
class Settings:
    """How to plant. `contacts` is 'AUTO' (detected), 'ALWAYS' (every frame) or 'STORED' (as `marks` say).

    `marks` are what people want of contacts (F, L, 2): under AUTO what they enforce and forbid stays in force.
    `direction` is where surfaces are looked for: 'DOWN', under and over a limb, or 'NEAREST'. `strength` in [0, 1]
    blends it all; it may be an array (F,), for corrections that come and go. Feet do not stand on what is steeper than
    `max_slope` (radians). For the sake of reach hips come down by `max_drop` (leg lengths) at the most; what gives way
    first tells `gives_way`: 'HIPS_HEEL' or 'HEEL_HIPS', or 'HIPS' where heels stay down. `asked` (L,) are the limbs
    that sentences for the user count, all by default.
    """

    contacts: str = "AUTO"
    use_hips: bool = True
    use_slope: bool = True
    strength: float | Array = 1.0
    direction: str = "DOWN"
    max_slope: float = STEEPEST
    max_drop: float = DEEPEST
    gives_way: str = "HEEL_HIPS"
    marks: Marks | None = None
    asked: Mask | None = None

    @property
    def slopes(self) -> Slopes:
        """What soles make of slopes."""
        if not np.isfinite(self.max_slope):
            raise ValueError(f"max_slope: expected an angle in radians, got {self.max_slope}")
        return Slopes(self.use_slope, self.max_slope)

    def always(self, frames: int) -> bool:
        """Whether limbs follow the surface in each of so many frames: a single pose cannot do otherwise."""
        return self.contacts == "ALWAYS" or frames == 1

    def touching(self, clip: Clip) -> Mask:
        """Which limbs (L,) touch with one point; the others stand on soles."""
        return clip.hands | (self.direction == "NEAREST")

    def way_up(self, clip: Clip) -> Array | None:
        """The direction (3,) along which surfaces are looked for; None where the nearest counts."""
        return None if self.direction == "NEAREST" else clip.up

    def cut(self, frames: slice) -> Settings:
        """The same settings for some of the frames."""
        strength = self.strength[frames] if isinstance(self.strength, np.ndarray) else self.strength
        return replace(self, strength=strength, marks=self.marks and self.marks.cut(frames))

    def choose(self, limbs: Mask) -> Settings:
        """The same settings for some of the limbs (L,)."""
        asked = None if self.asked is None else self.asked[limbs]
        return replace(self, marks=self.marks and self.marks.choose(limbs), asked=asked)

    def counts(self, clip: Clip) -> Mask:
        """Which limbs (L,) sentences for the user count."""
        return np.ones(clip.legs, bool) if self.asked is None else self.asked

    def enforced(self, contacts: Mask) -> Mask:
        """Those contacts (F, L, 2) that people enforce; every frame under ALWAYS is nobody's wish."""
        if self.marks is None or self.always(len(contacts)):
            return np.zeros_like(contacts)
        return contacts & self.marks.enforced

    def shares(self, frames: int) -> Array:
        """The strength of each frame (F,)."""
        strength = np.asarray(self.strength, float)
        if strength.shape not in ((), (frames,)) or not ((strength >= 0.0) & (strength <= 1.0)).all():
            raise ValueError(f"strength: expected a number from 0 to 1, or one a frame, got {self.strength}")
        return np.broadcast_to(strength, frames)
