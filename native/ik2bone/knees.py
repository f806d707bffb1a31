# SPDX-License-Identifier: MIT
"""How knees bend: about their own hinge, no farther than knees fold, and as smoothly as in the clip."""

from dataclasses import dataclass

import numpy as np

from ._core import hinge_of
from .arrays import Array, Mask
from .clip import Clip
from .curves import smooth_between, smoothstep, without_dips
from .rotations import cofactors, cross, dot, length_of, unit

# Sine of the angle (9 degrees) under which a knee's own bend is rather noise: it turns sideways, or over backwards.
BENT = 0.15
# Between thigh and shin of a knee folded as far as people can, 0 is straight; clips that fold theirs further keep that.
# Measured: 141 (American Academy of Orthopaedic Surgeons) and 142.5 degrees (Boone and Azen, 1979), deviation 5.
FOLDED = np.radians(140.0)
# What planting adds to a swinging leg's knee comes and goes no faster than this (s).
# Measured on 270 runs of the bench: at 0.022 knees pop by 0.6 degrees more, at 0.035 the straighter one bends by 0.1
# more.
SLOW = 0.03
# It is told by the knee's angle to this power: 1 is smooth in the angle, 2 in the length of the leg. With 1 two of 63
# runs have feet that pop, with 1.5 and more knees change more suddenly.
EASED_POWER = 1.25
# A standing leg's knee turns from less bend to more no more suddenly than this (rad/s^2) over what it does in the clip:
# by 3.2 degrees a frame at 30 fps, a third of what shows as a pop. Near straight, a leg that lengthens evenly
# straightens its knee ever faster. Measured on 324 runs of the bench: bounding what planting adds, by 4.6 degrees, asks
# more of knees that turn back in the clip, and yet they pop by 0.03 degrees more on the mean.
SUDDEN = np.radians(3.2) * 30.0**2
# The same for feet that follow the ground below them, which goes up and down under them while they stand. With 6.5
# degrees seven more of these runs have a knee that pops, and the straighter one bends by 0.07 less on the mean. It
# holds for what heels give, too: with SUDDEN those of a walk on stairs rise by 0.025 leg more when it is planted twice.
SUDDEN_IN_PLACE = np.radians(5.5) * 30.0**2


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
        return cross(self.usual, lines)


def find_knees(clip: Clip) -> Knees:
    """Read the hinges: a frame's own where its knee is well bent, the clip's where it is straight or overstretched."""
    own = np.asarray(hinge_of(clip.thigh, clip.shin, clip.ankle))
    sine, axes = knee_sine(clip), unit(np.swapaxes(clip.shin[..., :3, :3], -1, -2))
    # A hinge is a cross product, which a mirrored shin turns round.
    axes *= np.sign(cofactors(axes)[1])[..., None, None]
    usual = _usual_hinges(clip, own, sine, axes)
    natural = sine * np.sign(dot(own, usual))
    doubt = np.where(usual.any(axis=-1), 1.0 - smoothstep(natural / BENT), 0.0)
    hinge = (1.0 - doubt)[..., None] * own + doubt[..., None] * usual
    return Knees(hinge, np.einsum("flji,lj->fli", axes, usual), doubt)


def _usual_hinges(clip: Clip, own: Array, sine: Array, axes: Array) -> Array:
    """The clip's hinges (L, 3) in shin space, whose axes (F, L, 3, 3) are given as rows: the mean of a knee's `own`
    (F, L, 3), by the sine of its bend (F, L).

    Of a knee that never bends in the clip it is the rest pose's; of one that rests straight too, that of a knee that
    bends to where its foot points.
    """
    weight = np.where(sine > BENT, sine, 0.0)[..., None] ** 2
    across = np.where(clip.hands[:, None], 0.0, cross(clip.ball - clip.ankle, clip.up))
    rest = np.zeros((clip.legs, 3)) if clip.rest_hinge is None else clip.rest_hinge
    told = np.stack([unit((weight * own).sum(axis=0)), rest, unit(np.einsum("flij,flj->li", axes, across))])
    return told[told.any(axis=-1).argmax(axis=0), np.arange(clip.legs)]


def knee_sine(clip: Clip) -> Array:
    """Sine (F, L) of the angle between thigh and shin."""
    upper, lower = clip.hip - clip.knee, clip.ankle - clip.knee
    lengths = length_of(upper) * length_of(lower)
    return length_of(cross(upper, lower)) / np.maximum(lengths, 1e-300)


def _distance(clip: Clip, bend: Array | float) -> Array:
    """How long (F, L) legs are from end to end whose knees are bent by angles (F, L)."""
    upper, lower = clip.lengths
    return np.sqrt(np.maximum(upper**2 + lower**2 + 2 * upper * lower * np.cos(bend), 0.0))


def shortest(clip: Clip) -> Array:
    """Distance (F, L) from hip to ankle at which a leg is folded as far as it may be."""
    return np.minimum(_distance(clip, FOLDED), clip.stretch)


def straightest(clip: Clip) -> Array:
    """Distance (F, L) from hip to ankle at which each leg is as straight as the straightest of them is in the clip."""
    return _distance(clip, clip.bend.min(axis=1, keepdims=True))


def draw_swings(clip: Clip, ankle: Array, hip: Array, swings: Mask, reach: Array) -> Array:
    """How far (F, L, 3) swinging feet (F, L) with these ankles (F, L, 3) are drawn towards their hips (F, L, 3).

    They come within `reach` (F, L), and what that and the ground add to the bend of the clip's knee goes smoothly over
    into what the stances beside the swing have.
    """
    line = ankle - hip
    distance = np.maximum(length_of(line), 1e-300)
    source = clip.bend**EASED_POWER
    added = clip.bend_at(np.where(swings, np.minimum(distance, reach), distance)) ** EASED_POWER - source
    eased = smooth_between(added, clip.fps, SLOW, added, np.where(swings, np.inf, added))
    bend = np.maximum(source + eased, 0.0) ** (1.0 / EASED_POWER)
    share = np.where(swings, _distance(clip, bend) / distance - 1.0, 0.0)
    return share[..., None] * line


def eased_reach(clip: Clip, line: Array, reach: Array, sudden: Array | float = SUDDEN_IN_PLACE) -> Array:
    """How far (F, L) legs may be stretched so that no knee straightens and bends again more suddenly than in the clip.

    `line` (F, L, 3) goes from hip to ankle, of which heels that rise bring as much as is over the `reach` (F, L).
    Knees may turn more suddenly than in the clip by `sudden` (L,) rad/s^2.
    """
    bend, own = clip.bend_at(np.minimum(length_of(line), reach)), np.zeros_like(clip.bend)
    # A bend that makes the clip's own turns from less bend to more, and none of those from more to less.
    own[2:] = np.maximum(np.diff(clip.bend, 2, axis=0), 0.0).cumsum(axis=0).cumsum(axis=0)
    return np.minimum(_distance(clip, own + without_dips(bend - own, clip.fps, sudden)), reach)


def unfold_swings(clip: Clip, ankle: Array, hip: Array, swings: Mask) -> Array:
    """How far (F, L, 3) swinging feet (F, L) with these ankles are moved off their hips (F, L, 3), so as not to fold.

    They move the way that the clip's own ankle lies from its hip, so that they come and go without a jump.
    """
    line = ankle - hip
    square = shortest(clip) ** 2 - dot(line, line)
    folds = swings & (square > 0.0)
    if not folds.any():
        return np.zeros_like(line)
    own = unit(clip.ankle - clip.hip)
    along = dot(line, own)
    # Where they fold too far, the positive root of |line + way * own| = shortest.
    way = np.sqrt(np.maximum(along**2 + square, 0.0)) - along
    return np.where(folds, way, 0.0)[..., None] * own
