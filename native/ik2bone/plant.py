# SPDX-License-Identifier: MIT
"""Planting as a list of stages: contacts, targets, hips, solve. Arrays in, arrays out; nothing here knows Blender."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ._core import solve_pose
from .anchor import Anchor, tell_turns
from .bend import ease_knees
from .carrier import Carrier, GroundSeen, find_carrier, seen_from, turn_vectors
from .clip import Array, Clip, Ground, Mask, level_part
from .follow import follow_ground, lay_on_ground
from .footprint import STEEPEST, Slopes
from .ground import MovingGround, NoGround, ask, cut_ground
from .heel import raise_heels, standing_contacts
from .hips import hips_offset
from .hold import hold_feet
from .knee import Knees, find_knees
from .motion import odd_window, smoothed
from .palms import lay_palms
from .rotations import matrix_from_vector, quaternion_from_vector, vector_from_matrix
from .sole import Sole, apply, tell_doubts
from .spans import Marks
from .standing import StandingFeet, feet_that_stand
from .steady import steady_feet
from .swing import lift_swings
from .targets import Held, Targets, blend_targets, find_anchors, give_anchors_time, places_of
from .toes import lay_toes
from .touch import measure_limbs, touch

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
# A calibration pose is left by this way of a joint (leg lengths) and by this multiple of the steps that follow. The
# clips measured leave one by 0.19 and more; walks and runs make steps of up to 0.1 at 24 frames a second.
CALIBRATION_JUMP = 0.15
CALIBRATION_RATIO = 4.0
CALIBRATION_FRAMES = 15
# Supports that start or stop take the hips along as slowly as this (s).
RIDE_WINDOW = 0.3
# Misses larger than this count as out of reach, in leg lengths.
SHORT = 1e-4


@dataclass(frozen=True)
class Settings:
    """How to plant. `contacts` is 'AUTO' (detected), 'ALWAYS' (every frame) or 'STORED' (as `marks` say).

    `marks` are what people want of contacts (F, L, 2): under AUTO what they enforce and forbid stays in force.
    `direction` is where surfaces are looked for: 'DOWN', under and over a limb, or 'NEAREST'. `strength` in [0, 1]
    blends it all; it may be an array (F,), for corrections that come and go. Feet do not stand on what is steeper than
    `max_slope` (radians).
    """

    contacts: str = "AUTO"
    use_hips: bool = True
    use_slope: bool = True
    strength: float | Array = 1.0
    direction: str = "DOWN"
    max_slope: float = STEEPEST
    marks: Marks | None = None

    @property
    def slopes(self) -> Slopes:
        """What soles make of slopes."""
        return Slopes(self.use_slope, self.max_slope)

    def always(self, frames: int) -> bool:
        """Whether limbs follow the surface in each of so many frames: a single pose cannot do otherwise."""
        return self.contacts == "ALWAYS" or frames == 1

    def touching(self, clip: Clip) -> Mask:
        """Which limbs (L,) touch with one point; the others stand on soles."""
        return clip.hands | (self.direction == "NEAREST")

    def cut(self, frames: slice) -> Settings:
        """The same settings for some of the frames."""
        strength = self.strength[frames] if isinstance(self.strength, np.ndarray) else self.strength
        return replace(self, strength=strength, marks=self.marks and self.marks.cut(frames))

    def choose(self, limbs: Mask) -> Settings:
        """The same settings for some of the limbs (L,)."""
        return replace(self, marks=self.marks and self.marks.choose(limbs))

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


@dataclass(frozen=True)
class Planting:
    """What to do to a clip of F frames and L legs.

    `turns` (F, L, 3, 4) are corrections (w, x, y, z) of thigh, shin and foot, to be multiplied on the right of their
    present local rotations, and `toe_turns` (F, L, 4) those of the toes; `hips_offset` (F, 3) moves the hips in world
    space. `contacts` (F, L, 2) tells which heels and balls stand, `enforced` (F, L, 2) which of them because people
    want it, `targets` where the feet shall go, `miss` (F, L) how far from there they come to lie. `locked` (L,) is
    false where limbs follow the ground without holding a spot, `touching` (L,) tells which of them touch it with one
    point instead of a sole, `hands` (L,) which are no feet, `nearest` whether surfaces were looked for in any
    direction. `told` are sentences for the user.
    """

    turns: Array
    toe_turns: Array
    hips_offset: Array
    contacts: Mask
    enforced: Mask
    targets: Targets
    sole: Sole
    miss: Array
    locked: Mask
    touching: Mask
    hands: Mask
    nearest: bool
    slopes: Slopes
    told: list[str] = field(default_factory=list)

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        """The anchors of all contacts."""
        return tuple(anchor for anchor in self.targets.anchors if anchor.part != "swing")

    def cut(self, frames: slice) -> Planting:
        """The same planting over some of its frames, without the anchors that lie outside."""
        first, last, _ = frames.indices(len(self.turns))
        names = ("turns", "toe_turns", "hips_offset", "contacts", "enforced", "miss")
        parts = {name: getattr(self, name)[frames] for name in names}
        return replace(self, **parts, targets=self.targets.cut(first, last))

    def led_by(self, turns: Array, targets: Targets, miss: Array) -> Planting:
        """The same planting with one frame before it that stands nowhere, under the same hips."""
        return replace(
            self,
            turns=np.concatenate([turns, self.turns]),
            toe_turns=np.concatenate([np.zeros_like(self.toe_turns[:1]) + IDENTITY, self.toe_turns]),
            hips_offset=np.concatenate([self.hips_offset[:1], self.hips_offset]),
            contacts=np.concatenate([np.zeros_like(self.contacts[:1]), self.contacts]),
            enforced=np.concatenate([np.zeros_like(self.enforced[:1]), self.enforced]),
            miss=np.concatenate([miss, self.miss]),
            targets=self.targets.led_by(targets),
            told=[*self.told, "the first frame is a calibration pose and was only set on the ground"],
        )

    def carried_by(self, carrier: Carrier) -> Planting:
        """The same planting, made as seen from a carrier, in the world."""
        hips = turn_vectors(carrier.motion, self.hips_offset)
        told = [*self.told, f"the clip moves with {carrier.name} and was planted as seen from there"]
        return replace(self, hips_offset=hips, targets=self.targets.carried_by(carrier.motion), told=told)

    @property
    def feet(self) -> list[dict[str, Any]]:
        """Heel, ball joint and points of the sole of each foot in foot bone space, as plain data.

        Of a hand they are its wrist and, twice, the point of its palm; of a foot that touches, the sole is one point.
        """
        return [
            {
                "limb": "hand" if self.hands[leg] else "foot",
                "heel": self.sole.heel[leg].tolist(),
                "ball": self.sole.ball_joint[leg].tolist(),
                "sole": [point[leg].tolist() for point in self._sole_points(leg)],
                "sole_height": float(self.sole.ball_height[leg]),
                "sole_from": self.sole.source[leg],
            }
            for leg in range(len(self.sole.heel))
        ]

    def _sole_points(self, leg: int) -> list[Array]:
        return [self.sole.ball] if self.touching[leg] else [self.sole.heel, self.sole.ball]


def plant(
    clip: Clip,
    ground: Ground,
    settings: Settings | None = None,
    sole: Sole | None = None,
    offset: Array | None = None,
) -> Planting:
    """Plan how a clip stands on the ground; raises `NoGround` where there is none under any foot.

    `sole` is what `measure_sole` told of a longer clip of the same figure; a single pose tells little. `offset`
    (F, L, 3) is how far the hip joints lie from where the clip has them, when they do so already and shall stay; then
    `hips_offset` is zero.
    """
    settings = settings or Settings()
    carrier = find_carrier(clip, ground)
    if carrier is None:
        return _plant(clip, ground, settings, sole, offset)
    assert isinstance(ground, MovingGround)
    if offset is not None:
        offset = turn_vectors(carrier.inverse[:, None], offset)
    return _plant(seen_from(carrier, clip), GroundSeen(ground, carrier), settings, sole, offset).carried_by(carrier)


def _plant(clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None) -> Planting:
    """As `plant`, for a clip seen from where it was made."""
    if starts_in_calibration_pose(clip):
        rest = slice(1, None)
        later, after = settings.cut(rest), cut_ground(ground, rest)
        planting = _plant(clip.cut(rest), after, later, sole, None if offset is None else offset[rest])
        moved = planting.hips_offset[:1, None] if offset is None else offset[:1]
        return planting.led_by(*_plant_pose(clip, planting.sole, ground, settings, moved))
    strength = settings.shares(clip.frames)
    sole = lay_palms(clip, sole or measure_limbs(clip), ground, settings)
    held = hold_limbs(clip, sole, ground, settings, _given_ride(clip, settings, offset))
    knees = find_knees(clip)
    told = _tell(clip, sole, held, knees, settings)
    hips, legs = np.zeros((clip.frames, 3)), ~clip.hands
    if settings.use_hips and offset is None and legs.any():
        hips = _move_hips(clip.choose(legs), held.targets.choose(legs))
    moved = np.zeros_like(clip.hip) if offset is None else offset
    targets = held.targets.moved(held.free[..., None] * (moved + hips[:, None]))
    swings = ~held.contacts.any(axis=-1) & ~settings.touching(clip)
    targets = ease_knees(clip, targets, clip.hip + moved + hips[:, None], swings)
    turns, miss = solve_legs(clip, targets, moved, hips, knees, strength)
    stands = held.contacts[..., 1] & ~settings.touching(clip) & (held.locked | settings.always(clip.frames))
    toes = strength[:, None, None] * lay_toes(clip, sole, targets, stands, ground)
    return Planting(
        turns,
        quaternion_from_vector(toes),
        strength[:, None] * hips,
        held.contacts,
        settings.enforced(held.contacts),
        weaken(clip, targets, moved, strength),
        sole,
        miss,
        held.locked,
        settings.touching(clip),
        clip.hands,
        settings.direction == "NEAREST",
        settings.slopes,
        told,
    )


def _given_ride(clip: Clip, settings: Settings, offset: Array | None) -> Array | None:
    """How far the figure goes along with supports (F, 3), where hips that stay where they are tell that."""
    if offset is None and settings.use_hips:
        return None
    return np.zeros((clip.frames, 3)) if offset is None else level_part(offset.mean(axis=1), clip.up)


def _move_hips(clip: Clip, targets: Targets) -> Array:
    """How far the hips move (F, 3): along with what carries the figure, and so that its legs reach."""
    ride = smoothed(targets.ride, odd_window(RIDE_WINDOW, clip.fps))
    return ride + hips_offset(clip, targets.ankle - ride[:, None], targets.rise)


def hold_limbs(clip: Clip, sole: Sole, ground: Ground, settings: Settings, ride: Array | None) -> Held:
    """When limbs stand or touch, and where they shall go: feet on their soles, all others by one point."""
    touching = settings.touching(clip)
    parts = [
        hold(clip.choose(limbs), sole.choose(limbs), ground, settings.choose(limbs), ride)
        for limbs, hold in ((~touching, stand), (touching, touch))
        if limbs.any()
    ]
    return parts[0] if len(parts) == 1 else parts[0].beside(parts[1], touching)


def stand(clip: Clip, sole: Sole, ground: Ground, settings: Settings, ride: Array | None) -> Held:
    """When feet stand on their soles, and where they shall go."""
    steady, still = steady_feet(clip)
    mode = "ALWAYS" if settings.always(clip.frames) else settings.contacts
    feet = feet_that_stand(steady, sole, mode, settings.marks)
    if feet.locked:
        targets, contacts = locked_targets(steady, sole, feet, ground, settings, ride)
    else:
        targets, contacts = follow_targets(steady, sole, ground, settings), feet.contacts
    targets = replace(targets, turn=targets.turn @ still)
    return Held(contacts, targets, np.zeros(contacts.shape[:2]), np.full(clip.legs, feet.locked), feet.told)


def starts_in_calibration_pose(clip: Clip) -> bool:
    """Whether the first frame is a pose for the recording's sake, which the clip leaves at a jump."""
    joints = np.concatenate([clip.knee - clip.hip, clip.ankle - clip.hip, clip.ball - clip.hip], axis=1)
    steps = np.linalg.norm(np.diff(joints[:CALIBRATION_FRAMES], axis=0), axis=-1).max(axis=-1, initial=0.0) / clip.leg
    return len(steps) > 2 and bool(steps[0] > CALIBRATION_JUMP and steps[0] > CALIBRATION_RATIO * steps[1:].max())


def _plant_pose(
    clip: Clip, sole: Sole, ground: Ground, settings: Settings, offset: Array
) -> tuple[Array, Targets, Array]:
    """Turns, targets and misses of the first frame, by height and slope of the ground alone."""
    pose, knees = clip.cut(slice(0, 1)), find_knees(clip)
    strength = settings.shares(clip.frames)[:1]
    touching = settings.touching(clip)
    targets = Targets.of(pose).moved(offset)
    if not touching.all():
        standing = follow_ground(pose.choose(~touching), sole.choose(~touching), ground, settings.slopes)
        targets = standing.beside(targets.choose(touching), touching)
    first = Knees(knees.hinge[:1], knees.usual[:1], knees.doubt[:1])
    turns, miss = solve_legs(pose, targets, offset, np.zeros((1, 3)), first, strength)
    return turns, weaken(pose, targets, offset, strength), miss


def follow_targets(clip: Clip, sole: Sole, ground: Ground, settings: Settings) -> Targets:
    """Where the feet shall go when they follow the ground frame by frame."""
    _require_ground(ask(ground, clip.ball, clip.up)[2])
    follow = lay_on_ground if settings.always(clip.frames) else follow_ground
    return follow(clip, sole, ground, settings.slopes)


def locked_targets(
    clip: Clip, sole: Sole, feet: StandingFeet, ground: Ground, settings: Settings, ride: Array | None
) -> tuple[Targets, Mask]:
    """Where feet shall go that stand on anchors and swing from one to the next, and when they really stand.

    `ride` (F, 3) is how far the figure goes along with supports, where those do not tell it.
    """
    heel = apply(clip.foot, sole.heel)
    anchors = find_anchors(clip, sole, heel, feet.contacts, ground, settings.slopes, ride)
    _require_ground(np.array([anchor.found for anchor in anchors]))
    contacts, anchors = give_anchors_time(clip, feet.contacts, anchors, feet.kept)
    targets = blend_targets(clip, hold_feet(clip, heel, contacts, places_of(anchors), feet.firm), anchors, ride)
    targets = raise_heels(clip, sole, targets, contacts, ground)
    targets = lift_swings(clip, sole, targets, contacts, ground)
    contacts = standing_contacts(clip, sole, targets, contacts, ground) | feet.kept
    lost = ~contacts.any(axis=(0, 2))
    if lost.any():
        carried = clip.moved(level_part(targets.ride, clip.up))
        targets = targets.with_legs(lost, follow_ground(carried, sole, ground, settings.slopes))
    return targets, contacts


def _require_ground(found: Mask) -> None:
    if not found.any():
        raise NoGround("There is no surface under the character's feet")


def weaken(clip: Clip, targets: Targets, offset: Array, strength: Array) -> Targets:
    """The targets blended with the clip, its hip joints moved by `offset`: `strength` (F,) of the way from there."""
    share = strength[:, None, None]
    present = clip.ankle + offset
    ankle = present + share * (targets.ankle - present)
    turn = matrix_from_vector(share * vector_from_matrix(targets.turn))
    ball = ankle + np.einsum("flij,flj->fli", turn, clip.ball - clip.ankle)
    return replace(targets, ball=ball, ankle=ankle, turn=turn, rise=strength[:, None] * targets.rise)


def solve_legs(
    clip: Clip, targets: Targets, offset: Array, hips: Array, knees: Knees, strength: Array
) -> tuple[Array, Array]:
    """Corrections (F, L, 3, 4) that bring ankles to their targets and feet to their slopes, and misses (F, L).

    The hip joints lie moved by `offset` (F, L, 3) already; `hips` (F, 3) moves them on. `strength` (F,) blends the
    corrections and the move: a leg in reach at both ends of the blend is so all along it.
    """
    thigh, shin, foot = (_moved(matrix, offset) for matrix in (clip.thigh, clip.shin, clip.foot))
    goal = foot.copy()
    goal[..., :3, :3] = targets.turn @ foot[..., :3, :3]
    # Seen from the hips as they will lie, which makes the blend linear in the world too.
    target, share = targets.ankle - hips[:, None], strength[:, None]
    solution = solve_pose(
        thigh,
        shin,
        foot[..., :3, 3],
        target,
        end_matrix=foot,
        end_goal=goal,
        hinge=knees.hinge,
        roll="hinge",
        pole=knees.poles(target - thigh[..., :3, 3]),
        pole_weight=knees.doubt,
        weight=share,
        root_scale=clip.scale[..., 0, :],
        mid_scale=clip.scale[..., 1, :],
    )
    assert solution.end is not None
    asked = foot[..., :3, 3] + share[..., None] * (target - foot[..., :3, 3])
    miss = np.linalg.norm(np.asarray(solution.position) - asked, axis=-1)
    return np.stack([solution.root, solution.mid, solution.end], axis=2), miss


def _moved(matrices: Array, offset: Array) -> Array:
    moved = np.array(matrices)
    moved[..., :3, 3] += offset
    return moved


def _tell(clip: Clip, sole: Sole, held: Held, knees: Knees, settings: Settings) -> list[str]:
    """What the user should know about how this clip was planted."""
    told = list(held.told)
    left = int((held.locked & ~held.contacts.any(axis=(0, 2)) & settings.touching(clip)).sum())
    if left and not settings.always(clip.frames):
        told.append(f"{left} of {clip.legs} limbs never come to rest near a surface and are left alone")
    if "proportion" in sole.source:
        told.append("the height of the soles was taken by proportion")
    told += tell_doubts(clip, sole)
    contacts = [anchor for anchor in held.targets.anchors if anchor.part != "swing"]
    lost = sum(not anchor.found for anchor in contacts)
    if lost:
        where = "near and keep their place" if settings.direction == "NEAREST" else "below and keep their height"
        told.append(f"{lost} of {len(contacts)} contacts have no surface {where}")
    told += tell_turns(contacts)
    if not knees.usual.any(axis=(0, 2)).all() and clip.frames > 1:
        told.append("a knee or elbow never bends, so its side is not known")
    return told
