# SPDX-License-Identifier: MIT
"""The stages of planting a clip in the space in which it was made: contacts, targets, hips, solve."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .anchors.anchor import tell_steep, tell_turns
from .anchors.lying import as_on_level
from .arrays import Array, Mask, by_limbs
from .clip import Clip
from .curves import column_runs, odd_window, smoothed
from .ground.carrier import Carrier, GroundSeen, find_carrier, moved_by
from .ground.query import WITHIN, Ground, MovingGround, NoGround, may_move
from .hips import SLOW, hips_offset
from .kept import Kept, copied
from .knees import Knees, draw_swings, find_knees, unfold_swings
from .limbs import solve_legs, weaken
from .model import Plan
from .notes import Note, counted
from .reach import heel_room, own_reach, raise_heels_to_reach, tell_heels, toe_off_nears
from .rotations import length_of, level_part, quaternion_from_vector
from .settings import Settings
from .sole.measure import Sole, tell_doubts, with_own_floor
from .targets.blend import Held, Targets
from .targets.follow import follow_ground, tell_ground_under
from .targets.heel import held_contacts
from .targets.stand import stand
from .targets.toes import lay_toes, raise_toes
from .targets.touch import lay_palms, limb_lengths, measure_limbs, touch
from .timing import flowing_ways

# Stages get only the settings that they read, so that changes of others do not invalidate their results. GROUND are
# those of how limbs are laid on the ground, BODY also those of how the body follows.
GROUND = ("contacts", "marks", "asked", "direction", "use_slope", "max_slope")
BODY = (*GROUND, "use_hips", "max_drop", "gives_way")


@dataclass(frozen=True)
class Case:
    """A clip to be planted on a ground, both in one space, with what `ik2bone.plant` takes besides. `keep` holds what
    stages have made of it before.
    """

    keep: Kept
    clip: Clip
    ground: Ground
    settings: Settings
    sole: Sole | None
    offset: Array | None

    @property
    def moves_hips(self) -> bool:
        """Whether the hips move in this plan, or were moved by the earlier plan that `offset` comes from."""
        return bool(self.settings.use_hips and (self.offset is None or self.offset.any()))


def plan_stages(case: Case, own: slice | None = None) -> Plan:
    """The plan of a clip without a calibration pose, as a list of the stages. Notes count the `own` frames of a clip
    that is played on, by default all.
    """
    keep, clip, ground, settings, offset = case.keep, case.clip, case.ground, case.settings, case.offset
    moves, strength = case.moves_hips, settings.shares(clip.frames)
    floor, body, sole = settings.only(*GROUND), settings.only(*BODY), find_sole(case)
    held = keep(hold_limbs, clip, sole, ground, floor, moves)
    knees = keep(find_knees, clip)
    notes = keep(_tell, clip, sole, held, knees, floor, ground, own)
    room, early = keep(_find_room, clip, sole, held, settings.only(*GROUND, "gives_way"))
    hips = keep(_find_hips, clip, held, body, early, moves)
    given = None if offset is None else beyond(clip, offset, strength[:, None] * hips)
    moved, way = keep(_ways_of_joints, clip, hips, given)
    held = keep(_hold_moved_hands, clip, sole, held, ground, floor, way)
    reached, pitch = keep(_within_reach, clip, held, floor, way, room, early)
    toes, short = keep(_lay_toes, clip, sole, reached, floor, ground)
    contacts = keep(_find_held, clip, sole, reached, ground, floor)
    turns, miss = solve_legs(clip, reached.targets, moved, hips, knees, strength)
    asked, rows = settings.counts(clip), own or slice(None)
    rises = held.standing & _may_rise(clip, held, floor) & asked
    notes = [*notes, *tell_heels((strength[:, None] * pitch)[rows], rises[rows], early[rows])]
    notes += counted("toes_short", len(column_runs((short & (strength > 0.0)[:, None] & asked)[rows])))
    toes = quaternion_from_vector(strength[:, None, None] * toes)
    return Plan(
        rotations=np.concatenate([turns, toes[:, :, None]], axis=2),
        hips_offset=strength[:, None] * hips if offset is None else np.zeros_like(hips),
        contacts=contacts.copy(),
        resting=held.resting | contacts,
        enforced=settings.enforced(contacts),
        targets=weaken(clip, reached.targets, moved, strength),
        sole=copied(sole),
        miss=miss,
        strength=strength.copy(),
        locked=held.locked.copy(),
        asked=asked.copy(),
        nearest=settings.direction == "NEAREST",
        max_slope=settings.max_slope,
        clip=clip,
        ground=ground,
        notes=tuple(notes),
    )


def plan_pose(case: Case, later: Plan, hips: Array) -> Plan:
    """The plan of the first frame before a `later` plan, without contacts, for hips that at full strength move by
    `hips` (1, 3). Only feet that the ground lifts are moved; if it lifts all, the hips rise along.
    """
    clip, ground, settings, up = case.clip, case.ground, case.settings, case.clip.up
    pose, knees, strength = clip.cut(slice(0, 1)), find_knees(clip), settings.shares(clip.frames)[:1]
    feet = ~settings.touching(clip)

    def given_beyond(hips: Array) -> Array:
        shown = strength[:, None] * hips
        return np.zeros_like(pose.hip) if case.offset is None else beyond(pose, case.offset[:1], shown)

    way = hips[:, None] + given_beyond(hips)
    following, _ = follow_ground(pose.moved(level_part(way, up)), later.sole, ground, settings)
    lift = ((following.ankle - pose.ankle - hips[:, None]) @ up)[0]
    if case.moves_hips and feet.any() and (lift[feet] > 0.0).all():
        hips = hips + lift[feet].min() * up
    given = given_beyond(hips)
    along = Targets.of(pose).moved(hips[:, None] + given)
    lifted = ((following.ankle - along.ankle) @ up > 0.0)[0] & feet
    targets = along.with_legs(lifted, following)
    first = Knees(knees.hinge[:1], knees.usual[:1], knees.doubt[:1])
    turns, miss = solve_legs(pose, targets, given, hips, first, strength)
    toes = np.broadcast_to([1.0, 0.0, 0.0, 0.0], turns[:, :, :1].shape)
    nowhere: dict[str, Any] = dict.fromkeys(("contacts", "resting", "enforced"), np.zeros((1, clip.legs, 2), bool))
    moves = strength[:, None] * hips if case.offset is None else np.zeros_like(hips)
    rotations, targets = np.concatenate([turns, toes], axis=2), weaken(pose, targets, given, strength)
    planned = replace(later, rotations=rotations, hips_offset=moves, targets=targets, miss=miss, strength=strength)
    return replace(planned, **nowhere)


def find_sole(case: Case) -> Sole:
    """The sole that is given, else the one that is measured; with the palms of hands."""
    keep, clip, ground, settings = case.keep, case.clip, case.ground, case.settings
    sole = case.sole or keep(_measure_on, clip, ground, settings.only("direction"))
    return keep(lay_palms, clip, sole, ground, settings.only(*GROUND)) if clip.is_hand.any() else sole


def _measure_on(clip: Clip, ground: Ground, settings: Settings) -> Sole:
    """The soles of limbs. Feet that already follow the ground are measured as if they stood on a level floor."""
    level = clip if settings.direction == "NEAREST" else as_on_level(clip, ground)
    sole = measure_limbs(level)
    return sole if level is clip else with_own_floor(clip, sole)


def hold_limbs(clip: Clip, sole: Sole, ground: Ground, settings: Settings, rides: bool) -> Held:
    """Return when limbs stand or touch, and their targets: feet stand on soles, all other limbs touch with one point.

    If the figure `rides`, it moves along with the supports of its anchors; else its hips stay, and it does not. Raises
    `NoGround` if there is no surface for any limb.
    """
    touching = settings.touching(clip)

    def held_by(hold: Callable[..., Held]) -> Callable[[Mask], Held]:
        return lambda limbs: hold(clip.choose(limbs), sole.choose(limbs), ground, settings.choose(limbs), rides)

    held = by_limbs(touching, held_by(touch), held_by(stand))
    if not held.grounded:
        limbs = "within reach of the limbs" if touching.any() else "under the character's feet"
        raise NoGround(f"There is no surface {limbs}")
    return held


def _may_rise(clip: Clip, held: Held, settings: Settings) -> Mask:
    """Which feet (L,) may raise their heels where legs do not reach: not those of clips in place, without anchors."""
    feet = ~settings.touching(clip)
    return feet & (held.locked | settings.choose(feet).always(clip.frames))


def _find_room(clip: Clip, sole: Sole, held: Held, settings: Settings) -> tuple[Array, Array]:
    """How far heels may rise (F, L), radians, where legs do not reach otherwise, and how far they may rise early, as
    toe-off nears; 0 for heels whose contact users enforce.
    """
    feet = _may_rise(clip, held, settings) & (settings.gives_way != "HIPS")
    if not feet.any():
        return np.zeros((clip.frames, clip.legs)), np.zeros((clip.frames, clip.legs))
    room = np.where(settings.enforced(held.contacts)[..., 0], 0.0, heel_room(clip, sole, feet))
    return room, room * toe_off_nears(held.contacts)


def _find_hips(clip: Clip, held: Held, settings: Settings, early: Array, moves: bool) -> Array:
    """How far the hips move at full strength (F, 3): with supports that carry the figure, and so that legs reach."""
    legs = ~clip.is_hand
    if not legs.any() or not moves:
        return np.zeros((clip.frames, 3))
    clip, held, early = clip.choose(legs), held.choose(legs), early[:, legs] * (settings.gives_way == "HEEL_HIPS")
    ride = held.targets.ride
    if ride.any():
        # Over about the time of a step.
        ride = smoothed(ride, odd_window(2.0 * SLOW, clip.fps))
        held = replace(held, targets=held.targets.moved(-ride[:, None]))
    return ride + hips_offset(clip, held.targets, held.standing, ~held.locked, early, settings.max_drop)


def beyond(clip: Clip, offset: Array, hips: Array) -> Array:
    """How far an earlier plan that has moved the hip joints by an `offset` (F, L, 3) has moved them beyond the move of
    the `hips` (F, 3) that this plan finds.
    """
    given = offset - hips[:, None]
    return given if clip.pose_starts is None else flowing_ways(given, clip)


def _ways_of_joints(clip: Clip, hips: Array, given: Array | None) -> tuple[Array, Array]:
    """How far hip joints (F, L, 3) lie from their places in the clip, before and after the hips move by `hips` (F, 3).
    An earlier plan has moved them by `given`.
    """
    moved = np.zeros_like(clip.hip) if given is None else given
    return moved, hips[:, None] + moved


def _hold_moved_hands(clip: Clip, sole: Sole, held: Held, ground: Ground, settings: Settings, way: Array) -> Held:
    """Return `held` with new contacts and targets of hands, after their root joints are moved by `way` (F, L, 3).

    Hands look for the surface again if they follow it on every frame, or if the hips take them so far along on a moving
    ground that they would be out of reach.
    """
    hands, way = clip.is_hand, way[:, clip.is_hand]
    rides = may_move(ground) and (length_of(way) > WITHIN * limb_lengths(clip)[hands]).any()
    if not (hands.any() and (rides or settings.choose(hands).always(clip.frames))):
        return held
    moved, own, settings = clip.choose(hands).moved(way), sole.choose(hands), settings.choose(hands)
    bearer = find_carrier(moved, ground, settings.way_up(clip)) if rides else None
    if bearer is None:
        again = touch(moved, own, ground, settings)
    else:
        again = _touch_aboard(bearer, moved, own, ground, settings)
    # `_within_reach` moves free limbs along with the hips.
    again = replace(again, targets=again.targets.moved(-again.free[..., None] * way))
    return by_limbs(hands, lambda _: again, held.choose)


def _touch_aboard(bearer: Carrier, clip: Clip, sole: Sole, ground: Ground, settings: Settings) -> Held:
    """As `touch`, for hands on a support that moves, in the space of the support."""
    assert isinstance(ground, MovingGround)
    seen = moved_by(bearer.inverse, clip)
    held = touch(seen, sole, GroundSeen(ground, bearer), settings.moved(bearer.inverse))
    return replace(held, targets=held.targets.carried_by(bearer.motion))


def _within_reach(
    clip: Clip, held: Held, settings: Settings, way: Array, room: Array, early: Array
) -> tuple[Held, Array]:
    """`held` with targets in reach of hip joints moved by `way` (F, L, 3), and the pitches of heels (F, L) for it."""
    targets, joint = held.targets, clip.hip + way
    if held.free.any():
        targets = targets.moved(held.free[..., None] * way)
    swings, pitch = ~held.standing & ~settings.touching(clip), room
    if room.any():
        targets, pitch = raise_heels_to_reach(clip, targets, joint, held.standing, room, early)
    if swings.any():
        targets = targets.moved(unfold_swings(clip, targets.ankle, joint, swings))
        targets = targets.moved(draw_swings(clip, targets.ankle, joint, swings, own_reach(clip)))
    return replace(held, targets=targets), pitch


def _lay_toes(clip: Clip, sole: Sole, held: Held, settings: Settings, ground: Ground) -> tuple[Array, Mask]:
    """As `lay_toes`, for feet that stand on their balls, and `raise_toes` for those that follow the ground."""
    stands = held.contacts[..., 1] & _may_rise(clip, held, settings)
    vectors, short = lay_toes(clip, sole, held.targets, stands, ground, settings.use_slope)
    return vectors + raise_toes(clip, sole, held.targets, ground), short


def _find_held(clip: Clip, sole: Sole, held: Held, ground: Ground, settings: Settings) -> Mask:
    """The contacts (F, L, 2) that remain at the end: all of limbs without anchors, and all that users enforce."""
    feet = (held.locked & ~settings.touching(clip))[:, None]
    if not feet.any():
        return held.contacts
    kept = settings.enforced(held.contacts)
    if settings.contacts == "STORED" and settings.marks:
        # Stored contacts also remain on the frames on which the clip itself rolls the foot off its heel.
        kept |= held.contacts & ~held.resting & settings.marks.standing
    return held_contacts(clip, sole, held.targets, held.contacts & feet, ground) | kept | (held.contacts & ~feet)


def _tell(
    clip: Clip, sole: Sole, held: Held, knees: Knees, settings: Settings, ground: Ground, own: slice | None
) -> list[Note]:
    """Notes for the user about how the `own` frames of this clip were planted, by default all."""
    held = held if own is None else held.cut(own)
    frames = len(held.contacts)
    notes, asked, touching = list(held.told), settings.counts(clip), settings.touching(clip)
    # The last frame of a loop is its first one again.
    notes += counted("contacts_shortened", held.hurried[: None if own is None else -1].sum())
    if not settings.always(frames):
        left = held.locked & ~held.contacts.any(axis=(0, 2)) & touching & asked
        notes += counted("never_rests", left.sum(), of=int(asked.sum()))
    notes += tell_doubts(clip, sole, asked)
    contacts = [a for a in held.targets.anchors if a.part != "swing" and asked[a.stance.leg]]
    code = "no_surface_near" if settings.direction == "NEAREST" else "no_surface_below"
    notes += counted(code, sum(not anchor.found for anchor in contacts), of=len(contacts))
    standing = [anchor for anchor in contacts if not touching[anchor.stance.leg]]
    notes += tell_turns(contacts) + tell_steep(standing, ground, clip.up, frames, settings.max_slope)
    following = held.standing & ~held.locked & ~touching & asked
    notes += tell_ground_under(held.targets, following, ground, clip.up, settings.max_slope)
    if not knees.usual.any(axis=(0, 2))[asked].all() and frames > 1:
        notes.append(Note("side_unknown"))
    return notes
