# SPDX-License-Identifier: MIT
"""How knees bend: about their own hinge, no farther than knees fold, and as smoothly as in the clip."""

from dataclasses import dataclass

import numpy as np

from ._core import hinge_of
from .arrays import Array, Mask
from .clip import Clip
from .curves import smooth_between, smoothstep, without_dips
from .joints import BENT
from .rotations import cross, dot, einsum, length_of, unit

# The greatest bend of a knee (radians, 0 is straight), as far as people can fold it; knees that the clip folds farther
# keep their bend. Measured: 141 (American Academy of Orthopaedic Surgeons) and 142.5 degrees (Boone and Azen, 1979),
# deviation 5.
FOLDED = np.radians(140.0)
# The bend that planting adds to the knee of a swinging leg changes no faster than over this time (s). Measured on 324
# runs of the bench: at 0.024 four more runs have feet that pop.
SLOW = 0.03
# The same for the way by which planting keeps a swinging foot off its hip. With SLOW, feet pop by 0.001 leg more on the
# mean of these runs.
SLOW_UNFOLDING = 0.06
# The added bend is smoothed as the knee's angle to this power: with 1 the angle is smooth, with 2 the length of the
# leg. With 1 two of 63 runs have feet that pop; with 1.5 or more, knees change more suddenly.
EASED_POWER = 1.25
# The knee of a standing leg turns from less bend to more with at most this angular acceleration (rad/s^2) above the
# clip's own: 3.2 degrees a frame at 30 fps, a third of what shows as a pop. Near straight, a leg that lengthens evenly
# straightens its knee ever faster. Measured on 324 runs of the bench: a bound of 4.6 degrees on what planting adds
# restricts knees that turn back in the clip more, and yet they pop by 0.03 degrees more on the mean.
SUDDEN = np.radians(3.2) * 30.0**2
# The same for swinging legs, and for feet that follow the ground below them, which rises and falls. On 112
# runs of clips in place: with 5.5 degrees knees pop by 0.8 degrees more, three more of them by more than 10, and the
# straighter knee bends by 0.6 degrees less on the mean.
SUDDEN_IN_PLACE = np.radians(4.0) * 30.0**2


@dataclass(frozen=True)
class Knees:
    """The bending of the knees of L legs over F frames.

    `hinge` (F, L, 3) is in shin space, zero where it is not known. `usual` (F, L, 3) is the clip's own hinge, in world
    space. `doubt` (F, L), from 0 to 1, is the share by which the usual hinge replaces that of the frame.
    """

    hinge: Array
    usual: Array
    doubt: Array


def find_knees(clip: Clip) -> Knees:
    """Return the hinges of the knees: of the frame where a knee is well bent, else the clip's usual hinge."""
    own = np.asarray(hinge_of(clip.thigh, clip.shin, clip.ankle))
    sine, axes = np.sin(clip.bend), unit(np.swapaxes(clip.shin[..., :3, :3], -1, -2))
    # A mirrored shin reverses the hinge, which is a cross product.
    axes *= np.sign(dot(cross(axes[..., 0, :], axes[..., 1, :]), axes[..., 2, :]))[..., None, None]
    usual = _usual_hinges(clip, own, sine, axes)
    natural = sine * np.sign(dot(own, usual))
    doubt = np.where(usual.any(axis=-1), 1.0 - smoothstep(natural / BENT), 0.0)
    hinge = (1.0 - doubt)[..., None] * own + doubt[..., None] * usual
    return Knees(hinge, einsum("flji,lj->fli", axes, usual), doubt)


def _usual_hinges(clip: Clip, own: Array, sine: Array, axes: Array) -> Array:
    """The clip's usual hinges (L, 3) in shin space: the means of the knees' `own` hinges (F, L, 3), weighted by the
    square of the `sine` of their bend (F, L). The rows of `axes` (F, L, 3, 3) are the axes of the shins.

    A knee that never bends in the clip has the hinge of the rest pose. If it rests straight, too, it has the hinge of a
    knee that bends to where its foot points.
    """
    weight = np.where(sine > BENT, sine, 0.0)[..., None] ** 2
    shown = unit((weight * own).sum(axis=0))
    if shown.any(axis=1).all():
        return shown
    across = np.where(clip.is_hand[:, None], 0.0, cross(clip.ball - clip.ankle, clip.up))
    rest = np.zeros((clip.legs, 3)) if clip.rest_hinge is None else clip.rest_hinge
    told = np.stack([shown, rest, unit(einsum("flij,flj->li", axes, across))])
    return told[told.any(axis=-1).argmax(axis=0), np.arange(clip.legs)]


def shortest(clip: Clip) -> Array:
    """The least distance (F, L) from hip to ankle: that of a fully folded leg, or the clip's own where that is less."""
    return np.minimum(clip.stretch_at(FOLDED), clip.stretch)


def draw_swings(clip: Clip, ankle: Array, hip: Array, swings: Mask, reach: Array) -> Array:
    """How far (F, L, 3) feet are drawn towards their hip joints `hip` (F, L, 3) while they swing (F, L).

    Their ankles, at `ankle` (F, L, 3), come within `reach` (F, L), and their knees do not straighten suddenly into it.
    The bend that the reach and the ground add to that of the clip's knee changes smoothly into the added bend of the
    stances before and after the swing.
    """
    line = ankle - hip
    distance = np.maximum(length_of(line), 1e-300)
    bend = clip.bend_at(np.where(swings, np.minimum(distance, reach), distance))
    source = clip.bend**EASED_POWER
    added = _eased(clip, bend, SUDDEN_IN_PLACE, swings) ** EASED_POWER - source
    eased = smooth_between(added, clip.fps, SLOW, added, np.where(swings, np.inf, added))
    bend = np.maximum(source + eased, 0.0) ** (1.0 / EASED_POWER)
    share = np.where(swings, clip.stretch_at(bend) / distance - 1.0, 0.0)
    return share[..., None] * line


def eased_reach(clip: Clip, line: Array, reach: Array, sudden: Array | float = SUDDEN_IN_PLACE) -> Array:
    """How far (F, L) legs may be stretched so that no knee straightens and bends again more suddenly than in the clip.

    `line` (F, L, 3) goes from hip joint to ankle; where it is longer than `reach` (F, L), a rising heel makes up for
    the difference. Knees may turn more suddenly than in the clip by `sudden` (L,) rad/s^2.
    """
    bend = clip.bend_at(np.minimum(length_of(line), reach))
    return np.minimum(clip.stretch_at(_eased(clip, bend, sudden)), reach)


def _eased(clip: Clip, bend: Array, sudden: Array | float, moves: Mask | None = None) -> Array:
    """The least bends (F, L) nowhere below `bend` (F, L) that turn from less to more no more suddenly than in the clip
    by `sudden` (L,) rad/s^2. If `moves` (F, L) is given, all other bends stay.
    """
    return clip.rebend + without_dips(bend - clip.rebend, clip.fps, sudden, moves)


def unfold_swings(clip: Clip, ankle: Array, hip: Array, swings: Mask) -> Array:
    """How far (F, L, 3) feet with ankles at `ankle` (F, L, 3) are moved away from their hip joints `hip` (F, L, 3)
    while they swing (F, L), so that their knees do not fold too far.

    The feet move in the direction from hip to ankle of the clip, so that the move begins and ends without a jump. They
    begin to move before their knees fold too far, so that it does so smoothly, too.
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
    way = np.where(folds, way, 0.0)
    eased = smooth_between(way, clip.fps, SLOW_UNFOLDING, way, np.where(swings, np.inf, way))
    return np.where(swings, eased, 0.0)[..., None] * own
