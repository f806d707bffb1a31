# SPDX-License-Identifier: MIT
"""The sampled animation that planting reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from .arrays import Array, Indices, Mask, reduce_last
from .curves import quantile
from .joints import aggregate_legs, ball_by_proportion, bones, tip_by_proportion
from .rotations import length_of
from .sole.skin import Skin

# The joints of a leg, in the order of `Plan.rotations` and `Clip.scale`.
JOINTS = ("thigh", "shin", "foot", "toe")
# The greatest frame rate. With more frames a second, double precision does not always suffice to find the optimum of
# the smoothest curves (see native/core/curves.h): of plans for 4 to 400 frames of walks, 3 of 536 failed at 3000, and
# none of 494 at 2000.
FASTEST = 2e3
# The arrays of a clip that have a row for each frame and limb.
ARRAYS = ("thigh", "shin", "foot", "ball", "tip", "toe", "scale")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Clip:
    """An animation of L legs over F frames, sampled at `fps` frames a second, in world space and any one unit of
    length.

    `thigh`, `shin` and `foot` are required: the aggregate transforms (F, L, 4, 4) of root, mid and end joint, with
    column vectors. Their translations are hip, knee and ankle. `Clip.from_points` takes joint positions instead. All
    other arguments are optional and given by keyword:

    toe         aggregate transforms (F, L, 4, 4) of the toe bones; without them toes move with their feet
    ball        the points where the toes bend (F, L, 3); by default the head of the toe bone, or without a toe bone a
                point ahead of the ankle by 0.14 leg lengths, on the side to which the knee bends, and below it by 0.05
    tip         the tips of the toes (F, L, 3); by default ahead of the ball by a third of the level way from ankle to
                ball, or without a toe bone the ball itself
    up          the unit vector against gravity
    scale       own scales of thigh, shin, foot and toe (F, L, 4, 3), by default ones
    has_toe     which legs have a toe bone (L,), by default all if `toe` is given; the other legs' rows of `toe` repeat
                `foot`
    skins       for each leg an `ik2bone.sole.skin.Skin`: the points of the skin that move with its foot and its toe
    floors      heights along `up` at which the clip's own floor may lie, likeliest first, by default 0
    is_hand     which limbs are not legs but arms or others (L,), by default none: their thigh, shin and foot are upper
                arm, forearm and hand, and their `ball` is the point of the palm that touches
    palm        the unit normal of each palm in hand space (L, 3), of either sign, zero where it is not known
    rest_hinge  the hinge of each mid joint in the rest pose, in shin space (L, 3), zero where the limb rests straight

    `pose_starts` is no argument: planting sets it in clips whose held poses flow, to the first frame (F,) of each
    frame's pose; see timing.py.

    Arrays are copied. Lists and float32 arrays are accepted. Raises TypeError if an argument has the wrong kind, and
    ValueError if it has a wrong shape, no inverse, or numbers that are not finite or out of range; both name it.
    """

    fps: float
    thigh: Array
    shin: Array
    foot: Array
    toe: Array
    ball: Array
    tip: Array
    up: Array
    scale: Array
    has_toe: Mask
    skins: tuple[Skin, ...] | None
    floors: tuple[float, ...]
    is_hand: Mask
    palm: Array | None
    rest_hinge: Array | None
    pose_starts: Indices | None = field(default=None, init=False)

    def __init__(
        self,
        fps: float,
        thigh: ArrayLike,
        shin: ArrayLike,
        foot: ArrayLike,
        *,
        toe: ArrayLike | None = None,
        ball: ArrayLike | None = None,
        tip: ArrayLike | None = None,
        up: ArrayLike = (0.0, 0.0, 1.0),
        scale: ArrayLike | None = None,
        has_toe: ArrayLike | None = None,
        skins: Sequence[Skin] | None = None,
        floors: Sequence[float] = (0.0,),
        is_hand: ArrayLike | None = None,
        palm: ArrayLike | None = None,
        rest_hinge: ArrayLike | None = None,
    ) -> None:
        values = vars(self)  # frozen: nothing else writes here
        values["fps"] = frame_rate(fps)
        values["up"] = checks.unit_vector("up", up)
        values["thigh"] = checks.matrices("thigh", thigh, ("frames", "legs", 4, 4))
        frames, legs = self.thigh.shape[:2]
        for name, matrix in (("shin", shin), ("foot", foot), ("toe", foot if toe is None else toe)):
            values[name] = checks.matrices(name, matrix, (frames, legs, 4, 4))
        checks.apart("shin", self.knee, self.hip, "the thigh")
        checks.apart("foot", self.ankle, self.knee, "the shin")
        for name, rows, otherwise in (("has_toe", has_toe, toe is not None), ("is_hand", is_hand, False)):
            values[name] = checks.mask(name, np.full(legs, otherwise) if rows is None else rows, (legs,))
        scales = (frames, legs, len(JOINTS), 3)
        values["scale"] = checks.array("scale", np.ones(scales) if scale is None else scale, scales)
        if not self.scale.all():
            raise ValueError("scale: expected numbers other than zero, got zero")
        self._complete(ball, tip)
        if toe is None and self.has_toe.any():
            raise ValueError("has_toe: expected toe, the transforms of the toe bones, beside it, got None")
        values["palm"] = None if palm is None else checks.directions("palm", palm, legs)
        values["rest_hinge"] = None if rest_hinge is None else checks.array("rest_hinge", rest_hinge, (legs, 3))
        values["floors"] = tuple(checks.array("floors", floors, ("heights",)).tolist())
        checks.kind("skins", skins, Sequence | None, "a sequence of one skin a leg")
        if skins is not None and len(skins) != legs:
            raise ValueError(f"skins: expected one for each of {legs} legs, got {len(skins)}")
        values["skins"] = skins and tuple(_checked(f"skins[{number}]", skin) for number, skin in enumerate(skins))
        values.update({name: value.copy() for name, value in values.items() if isinstance(value, np.ndarray)})

    def __repr__(self) -> str:
        return f"<Clip: {self.frames} frames at {self.fps:g} a second, {self.legs} legs>"

    def _complete(self, ball: ArrayLike | None, tip: ArrayLike | None) -> None:
        """Set balls and tips; those that are not given are estimated by the proportions of people."""
        shape, toes = (self.frames, self.legs, 3), self.has_toe[:, None]
        if ball is None:
            ball = self.toe[..., :3, 3]
            if not toes.all():
                guess = ball_by_proportion(self.fps, self.thigh, self.shin, self.foot, self.up)
                ball = np.where(toes, ball, guess)
        vars(self)["ball"] = checks.array("ball", ball, shape)
        if tip is None:
            tip = np.where(toes, tip_by_proportion(self.foot, self.toe, self.ball, self.up), self.ball)
        vars(self)["tip"] = checks.array("tip", tip, shape)

    @classmethod
    def from_points(
        cls,
        fps: float,
        hip: ArrayLike,
        knee: ArrayLike,
        ankle: ArrayLike,
        ball: ArrayLike,
        *,
        tip: ArrayLike | None = None,
        heel: ArrayLike | None = None,
        up: ArrayLike = (0.0, 0.0, 1.0),
        floors: Sequence[float] = (0.0,),
    ) -> Clip:
        """Return a clip made of joint positions (F, L, 3) alone: `hip`, `knee`, `ankle` and `ball` of the foot.

        The second axis of each bone lies along the bone, and the first axis of thigh and shin along the hinge of the
        knee; a straight knee takes its hinge from the frames around it. With `tip`, the tips of the toes, the legs have
        toe bones. `heel`, a marker on the heel, shows how feet lean to a side; without it feet do not lean. `up` and
        `floors` are as for `Clip`. The joints of `plan.apply(clip)` are its properties hip, knee, ankle, ball and tip.
        """
        rate, up = frame_rate(fps), checks.unit_vector("up", up)
        joints = {"hip": checks.positions("hip", hip, ("frames", "legs", 3))}
        for name, points in (("knee", knee), ("ankle", ankle), ("ball", ball), ("tip", tip), ("heel", heel)):
            if points is not None or name in ("knee", "ankle", "ball"):
                joints[name] = checks.positions(name, points, joints["hip"].shape)  # type: ignore[arg-type]
        for name, above in (("knee", "hip"), ("ankle", "knee"), ("ball", "ankle"), ("tip", "ball")):
            if name in joints:
                checks.apart(name, joints[name], joints[above], f"the {above}")
        legs = joints["hip"], joints["knee"], joints["ankle"], joints["ball"]
        thigh, shin, foot = aggregate_legs(rate, *legs, up, joints.get("heel"))
        toe = None if tip is None else bones(joints["ball"], joints["tip"], foot[..., :3, 0])
        clip = cls(rate, thigh, shin, foot, toe=toe, ball=legs[3], tip=joints.get("tip"), up=up, floors=floors)
        from .timing import find_pose_starts  # built on this module

        # Poses that are held have to be so with the axes of bones, which come from the frames around, too.
        starts = find_pose_starts(clip)
        return clip if starts is None else clip.cut(starts)

    @property
    def frames(self) -> int:
        """Number of frames."""
        return self.foot.shape[0]

    @property
    def legs(self) -> int:
        """Number of legs."""
        return self.foot.shape[1]

    @property
    def hip(self) -> Array:
        """Root joints (F, L, 3)."""
        return self.thigh[..., :3, 3]

    @property
    def knee(self) -> Array:
        """Mid joints (F, L, 3)."""
        return self.shin[..., :3, 3]

    @property
    def ankle(self) -> Array:
        """End joints (F, L, 3)."""
        return self.foot[..., :3, 3]

    @cached_property
    def lengths(self) -> tuple[Array, Array]:
        """Upper and lower lengths (F, L), measured on every frame."""
        return length_of(self.knee - self.hip), length_of(self.ankle - self.knee)

    @cached_property
    def reach(self) -> Array:
        """Upper plus lower length (F, L)."""
        return self.lengths[0] + self.lengths[1]

    @cached_property
    def stretch(self) -> Array:
        """Distances (F, L) of end joints from root joints."""
        return length_of(self.ankle - self.hip)

    @cached_property
    def bend(self) -> Array:
        """Angles (F, L) between upper and lower bones, radians; 0 is straight."""
        return self.bend_at(self.stretch)

    def bend_at(self, stretch: Array) -> Array:
        """The angles (F, L) as in `bend`, if end joints were at distances `stretch` (F, L) from their root joints."""
        upper, lower, twice = self._squares
        cosine = (stretch**2 - upper - lower) / np.maximum(twice, 1e-300)
        return np.arccos(np.minimum(np.maximum(cosine, -1.0), 1.0))

    def stretch_at(self, bend: Array | float) -> Array:
        """The distances (F, L) of end joints from root joints, if the angles between bones were `bend` (F, L)."""
        upper, lower, twice = self._squares
        return np.sqrt(np.maximum(upper + lower + twice * np.cos(bend), 0.0))

    @cached_property
    def _squares(self) -> tuple[Array, Array, Array]:
        """The squares of the upper and lower lengths, and twice the product of both (F, L)."""
        upper, lower = self.lengths
        return upper**2, lower**2, 2 * upper * lower

    @cached_property
    def straightest(self) -> Array:
        """The distances (F, L) at which limbs are as straight as the straightest of the frame."""
        return self.stretch_at(reduce_last(np.minimum, self.bend)[:, None])

    @cached_property
    def rebend(self) -> Array:
        """Angles (F, L) that have only the positive second differences of `bend`, from less bend to more."""
        angles = np.zeros_like(self.bend)
        angles[2:] = np.maximum(np.diff(self.bend, 2, axis=0), 0.0).cumsum(axis=0).cumsum(axis=0)
        return angles

    @cached_property
    def leg(self) -> float:
        """The leg length, to which tolerances are relative: the median reach of legs, or of arms without legs."""
        legs = self.is_hand.all() | ~self.is_hand
        return float(quantile(self.reach[:, legs].ravel(), 0.5))

    @cached_property
    def foot_units(self) -> Array:
        """The length in the scene (L,) of one unit of each foot's local space."""
        return np.asarray(length_of(np.swapaxes(self.foot[..., :3, :3], -1, -2)).mean(axis=(0, 2)))

    def having(self, **values: Any) -> Clip:
        """Return the same clip with other `values`. They are not checked, because they come from those of a clip."""
        clip = object.__new__(Clip)
        vars(clip).update({each.name: getattr(self, each.name) for each in fields(self)} | values)
        return clip

    def moved(self, offset: Array) -> Clip:
        """The same clip moved by an offset (F, 3), or each limb by its own (F, L, 3)."""
        shape = (self.frames, self.legs, 3) if np.ndim(offset) == 3 else (self.frames, 3)
        offset = checks.array("offset", offset, shape)
        each = offset if offset.ndim == 3 else offset[:, None]
        moved = {name: getattr(self, name) + each for name in ("ball", "tip")}
        for name in JOINTS:
            moved[name] = getattr(self, name).copy()
            moved[name][..., :3, 3] += each
        return self.having(**moved)

    def cut(self, frames: slice | Indices) -> Clip:
        """The same clip over some of its frames, each as often as it is named; the clip itself if they are all."""
        if isinstance(frames, slice) and frames.indices(self.frames) == (0, self.frames, 1):
            return self
        checks.part("frames", frames, self.frames)
        rows: dict[str, Any] = {name: getattr(self, name)[frames] for name in ARRAYS}
        if self.pose_starts is not None:
            since = (np.arange(self.frames) - self.pose_starts)[frames]
            rows["pose_starts"] = np.maximum(np.arange(len(since)) - since, 0)
        return self.having(**rows)

    def choose(self, limbs: Mask) -> Clip:
        """The same clip with some of its limbs (L,); the clip itself if these are all limbs."""
        limbs = checks.some("limbs", limbs, self.legs)
        if limbs.all():
            return self
        kept: dict[str, Any] = {name: getattr(self, name)[:, limbs] for name in ARRAYS}
        for name in ("has_toe", "is_hand", "palm", "rest_hinge"):
            row = getattr(self, name)
            kept[name] = None if row is None else row[limbs]
        if self.skins is not None:
            kept["skins"] = tuple(skin for skin, chosen in zip(self.skins, limbs, strict=True) if chosen)
        return self.having(**kept)


def frame_rate(fps: Any) -> float:
    """Return the checked frame rate `fps` as a float."""
    rate = checks.number("fps", fps, "frames a second")
    if not 0.0 < rate <= FASTEST:
        raise ValueError(f"fps: expected frames a second, more than 0 and up to {FASTEST:g}, got {fps}")
    return rate


def _checked(name: str, skin: Skin) -> Skin:
    """Return a skin with checked copies of its arrays. A part may have no points."""
    checks.kind("skins", skin, Skin, "a Skin for each leg")
    foot, toe = (
        np.zeros((0, 3))
        if getattr(points, "shape", None) == (0, 3)
        else checks.array(f"{name}.{part}", points, ("points", 3)).copy()
        for part, points in (("foot", skin.foot), ("toe", skin.toe))
    )
    rest = checks.matrices(f"{name}.rest", skin.rest, (4, 4))
    return Skin(foot, toe, rest.copy(), checks.unit_vector(f"{name}.up", skin.up))
