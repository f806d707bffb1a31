# SPDX-License-Identifier: MIT
"""The settings of planting."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import checks
from .arrays import Array, Indices, Mask
from .clip import Clip
from .contacts.spans import PARTS, STATES, Marks, Place
from .kept import values_of

CONTACTS = ("AUTO", "ALWAYS", "STORED")
DIRECTIONS = ("DOWN", "NEAREST")
# The order in which heels and hips give way; what both of them cannot give remains as a miss.
ORDERS = ("HEEL_HIPS", "HIPS_HEEL", "HIPS")
# By default nothing stands on faces steeper than this (radians): ramps in scenes are under 45 degrees, risers over 60.
STEEPEST = np.radians(50.0)
# How far the hips come down at most so that legs reach, by default (leg lengths).
DEEPEST = 0.4


@dataclass(frozen=True, eq=False)
class Settings:
    """How to plant. Raises ValueError or TypeError at once if a value is out of range or none of the words listed here.

    contacts   when limbs stand: 'AUTO' (detected), 'ALWAYS' (on every frame) or 'STORED' (as `marks` say)
    direction  where surfaces are looked for: 'DOWN', under and over a limb, or 'NEAREST', around it
    use_hips   whether the hips may move so that legs reach
    use_slope  whether soles are aligned with the surface
    max_slope  the steepest slope on which feet stand (radians)
    max_drop   how far the hips come down at most so that legs reach (leg lengths)
    gives_way  what gives way first where legs do not reach: 'HEEL_HIPS' (heels, then hips), 'HIPS_HEEL' (hips, then
               heels) or 'HIPS' (heels stay down)
    strength   the share of the whole correction that is applied, from 0 to 1; or one share a frame (F,), so that
               corrections fade in and out
    marks      the contacts that users enforce and forbid (F, L, 2), and their places, see `ik2bone.contacts.spans`
    asked      the limbs that users asked for (L,), all by default: notes count these, and contacts of others do not
               decide whether stored ones stand for 'ALWAYS'
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

    def __post_init__(self) -> None:
        checks.one_of("contacts", self.contacts, CONTACTS)
        checks.one_of("direction", self.direction, DIRECTIONS)
        checks.one_of("gives_way", self.gives_way, ORDERS)
        for name in ("use_hips", "use_slope"):
            checks.boolean(name, getattr(self, name))
        slope = checks.number("max_slope", self.max_slope, "an angle in radians")
        if not 0.0 < slope <= 0.5 * np.pi:
            degrees = f"; {slope:g} degrees are {np.radians(slope):.4g} radians" if slope > 0.0 else ""
            raise ValueError(
                f"max_slope: expected an angle over 0 and up to pi / 2, in radians, got {slope:g}{degrees}"
            )
        if checks.number("max_drop", self.max_drop, "leg lengths") < 0.0:
            raise ValueError(f"max_drop: expected leg lengths, 0 or more, got {self.max_drop:g}")
        expected = "a number from 0 to 1, or one a frame"
        given = self.strength
        one = not checks.as_array("strength", given, expected).ndim
        strength = checks.number("strength", given, expected) if one else checks.array("strength", given, ("frames",))
        object.__setattr__(self, "strength", strength)  # `cut` takes some of the frames of an array
        shares = np.atleast_1d(strength)
        beyond = shares[(shares < 0.0) | (shares > 1.0)]
        if beyond.size:
            raise ValueError(f"strength: expected {expected}, got {beyond[0]}")
        if self.asked is not None:
            object.__setattr__(self, "asked", checks.mask("asked", self.asked, ("limbs",)))
        checks.kind("marks", self.marks, Marks | None, "Marks")
        if self.marks is not None:
            masks = {name: getattr(self.marks, name) for name in STATES}
            masks = {name: checks.as_array(f"marks.{name}", mask, "booleans") for name, mask in masks.items()}
            object.__setattr__(self, "marks", replace(self.marks, **masks))
        if self.contacts == "STORED" and self.marks is None:
            raise ValueError("marks: expected those of stored contacts, got None")

    def check(self, clip: Clip) -> None:
        """Raise TypeError or ValueError if the settings do not fit the frames and limbs of the clip."""
        self.shares(clip.frames)
        if self.asked is not None:
            checks.mask("asked", self.asked, (clip.legs,))
        if self.marks is not None:
            for name in STATES:
                checks.mask(f"marks.{name}", getattr(self.marks, name), (clip.frames, clip.legs, 2))
            self.marks.refuse_torn("marks: ", [f"leg {leg}" for leg in range(clip.legs)])
        checks.kind("marks.places", self.places, tuple | list, "Places")
        for number, place in enumerate(self.places):
            _check_place(f"marks.places[{number}]", place, clip.legs)

    @cached_property
    def values(self) -> Any:
        """A value that is equal (==) for equal settings."""
        return values_of(self)

    @property
    def least(self) -> float:
        """The least component along up of the unit normals of ground on which feet stand."""
        return float(np.cos(self.max_slope))

    def always(self, frames: int) -> bool:
        """Whether limbs follow the surface on every frame: with contacts 'ALWAYS', also if these were stored, or if the
        number `frames` is 1.
        """
        if self.contacts == "STORED" and self.marks is not None:
            marks = self.marks if self.asked is None else self.marks.choose(self.asked)
            return marks.always or frames == 1
        return self.contacts == "ALWAYS" or frames == 1

    def touching(self, clip: Clip) -> Mask:
        """Which limbs (L,) touch with one point; the others stand on soles."""
        return clip.is_hand | (self.direction == "NEAREST")

    def way_up(self, clip: Clip) -> Array | None:
        """The direction (3,) along which surfaces are looked for; None if the nearest point counts."""
        return None if self.direction == "NEAREST" else clip.up

    def cut(self, frames: slice | Indices) -> Settings:
        """The same settings for some of the frames."""
        strength = self.strength[frames] if isinstance(self.strength, np.ndarray) else self.strength
        return self._having(strength=strength, marks=self.marks and self.marks.cut(frames))

    def moved(self, motion: Array) -> Settings:
        """The same settings with the places of contacts moved by a motion (F, 4, 4)."""
        return self._having(marks=self.marks.moved(motion)) if self.marks and self.places else self

    @property
    def places(self) -> tuple[Place, ...]:
        """The places where users want feet to stand."""
        return () if self.marks is None else self.marks.places

    def only(self, *names: str) -> Settings:
        """The settings with only those of these `names` kept, and defaults for all others."""
        return DEFAULTS._having(**{name: getattr(self, name) for name in names})

    def choose(self, limbs: Mask) -> Settings:
        """The same settings for some of the limbs (L,). Stored contacts that stand for 'ALWAYS' do so for each."""
        if self.marks is None and self.asked is None:
            return self
        asked = self.asked[limbs] if self.asked is not None and limbs.any() else None
        contacts = "ALWAYS" if self.always(0) else self.contacts
        return self._having(contacts=contacts, marks=self.marks and self.marks.choose(limbs), asked=asked)

    def _having(self, **values: Any) -> Settings:
        """The same settings with other `values`. They are not checked, because they come from those of settings."""
        settings = object.__new__(Settings)
        vars(settings).update({name: getattr(self, name) for name in NAMES} | values)
        return settings

    def counts(self, clip: Clip) -> Mask:
        """Which limbs (L,) notes for the user count."""
        return np.ones(clip.legs, bool) if self.asked is None else self.asked

    def enforced(self, contacts: Mask) -> Mask:
        """The contacts (F, L, 2) that users enforce; none if limbs follow the surface on every frame, as no user asked
        for that.
        """
        if self.marks is None or self.always(len(contacts)):
            return np.zeros_like(contacts)
        wanted = self.marks.enforced
        # A limb that touches with one point has one contact, for which a mark on heel or ball counts.
        return contacts & (wanted | (wanted & ~contacts).any(axis=-1, keepdims=True))

    def shares(self, frames: int) -> Array:
        """The strength of each frame (F,)."""
        if np.ndim(self.strength):
            return checks.array("strength", self.strength, (frames,)).copy()
        return np.full(frames, self.strength)


def _check_place(name: str, place: Place, legs: int) -> None:
    checks.kind(name, place, Place, "a Place")
    checks.one_of(f"{name}.part", place.part, PARTS)
    checks.array(f"{name}.point", place.point, (3,))
    for part in ("leg", "start", "end"):
        checks.whole(f"{name}.{part}", getattr(place, part))
    if place.leg not in range(legs):
        raise ValueError(f"{name}.leg: expected 0 to {legs - 1}, got {place.leg}")


DEFAULTS, NAMES = Settings(), [each.name for each in fields(Settings)]
