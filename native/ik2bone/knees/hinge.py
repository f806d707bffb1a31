# SPDX-License-Identifier: MIT
"""The hinge that knees bend about: where a knee is too straight to tell it, the whole clip does, else the rest pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._core import hinge_of
from ..curves import smoothstep
from ..model import Array, Clip
from ..rotations import unit

# Sine of the angle (9 degrees) under which a knee's own bend is rather noise: it turns sideways, or over backwards.
BENT = 0.15


@dataclass(frozen=True)
class Knees:
    """How the knees of L legs bend over F frames.

    `hinge` (F, L, 3) is in shin space, zero where nothing tells it. `usual` (F, L, 3) is the clip's own hinge, world
    space. `doubt` (F, L) in [0, 1] is how far each frame's own bend gives way to it.
    """

    hinge: Array
    usual: Array
    doubt: Array

    def poles(self, lines: Array) -> Array:
        """Where the knees point (F, L, 3) by their usual hinge, seen from the lines (F, L, 3) from hip to ankle."""
        return np.cross(self.usual, lines)


def find_knees(clip: Clip) -> Knees:
    """Read the hinges: a frame's own where its knee is well bent, the clip's where it is straight or overstretched.

    Of a knee that never bends in the clip that is the rest pose's.
    """
    own = np.asarray(hinge_of(clip.thigh, clip.shin, clip.ankle))
    sine = knee_sine(clip)
    weight = np.where(sine > BENT, sine, 0.0)[..., None] ** 2
    usual = unit((weight * own).sum(axis=0))
    if clip.rest_hinge is not None:
        usual = np.where(usual.any(axis=-1, keepdims=True), usual, clip.rest_hinge)
    natural = sine * np.sign(np.sum(own * usual, axis=-1))
    doubt = np.where(usual.any(axis=-1), 1.0 - smoothstep(natural / BENT), 0.0)
    hinge = (1.0 - doubt)[..., None] * own + doubt[..., None] * usual
    axes = unit(np.swapaxes(clip.shin[..., :3, :3], -1, -2))
    return Knees(hinge, np.einsum("flji,lj->fli", axes, usual), doubt)


def knee_sine(clip: Clip) -> Array:
    """Sine (F, L) of the angle between thigh and shin."""
    upper, lower = clip.hip - clip.knee, clip.ankle - clip.knee
    lengths = np.linalg.norm(upper, axis=-1) * np.linalg.norm(lower, axis=-1)
    return np.linalg.norm(np.cross(upper, lower), axis=-1) / np.maximum(lengths, 1e-300)
