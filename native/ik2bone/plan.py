# SPDX-License-Identifier: MIT
"""Planting as a list of stages: contacts, targets, hips, solve. They take and return arrays and do not know Blender."""

from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from . import checks
from .anchors.anchor import tell_steep, tell_turns
from .anchors.lying import as_on_level
from .arrays import Array, Mask
from .clip import Clip
from .curves import odd_window, smoothed
from .ground.carrier import Carrier, GroundSeen, find_bearer, find_carrier, moved_by, ride_on, tell_partly
from .ground.given import as_ground
from .ground.query import Ground, MovingGround, NoGround, cut_ground, may_move
from .hands.nearest import WITHIN
from .hands.touch import lay_palms, limb_lengths, measure_limbs, touch
from .held import find_pose_starts, flowing, flowing_ways
from .hips import SLOW, hips_offset
from .kept import Kept
from .knees import Knees, draw_swings, find_knees, unfold_swings
from .limbs import solve_legs, weaken
from .loops import frames_of_loop
from .model import Plan
from .notes import Note
from .reach import heel_room, own_reach, raise_heels_to_reach, tell_heels, tell_short, toe_off_nears
from .rotations import length_of, quaternion_from_vector, turn_vectors
from .settings import Settings
from .sole.measure import Sole, tell_doubts, with_own_floor
from .targets.blend import Held, Targets
from .targets.follow import follow_ground, tell_ground_under
from .targets.heel import held_contacts
from .targets.stand import stand
from .targets.toes import lay_toes, raise_toes, tell_toes

__all__ = ["NoGround", "Plan", "Settings", "plant"]

# The first frame is a calibration pose if the first step of a joint is longer than any of the next second, by more than
# this (leg lengths). In the clips measured that have one, the first step is 0.19, and the others are less than 0.03.
# Cut at any frame, 30 recorded and animated clips begin with such a step 7 times in 8,800 at 24 frames a second, all
# but one of these in their last 8 frames.
CALIBRATION_JUMP = 0.15
LATER = slice(1, None)
# Stages get only the settings that they read, so that changes of others do not invalidate their results. GROUND are
# those of how limbs are laid on the ground, BODY also those of how the body follows.
GROUND = ("contacts", "marks", "direction", "use_slope", "max_slope")
BODY = (*GROUND, "use_hips", "max_drop", "gives_way")


def plant(
    clip: Clip,
    ground: Any,
    settings: Settings | None = None,
    sole: Sole | None = None,
    offset: Array | None = None,
    previous: Plan | None = None,
) -> Plan:
    """Plan how a clip stands on the ground: `plan.apply(clip)` is the planted clip, `plan.report()` tells how well.

    `ground` is a `Mesh`, a height function or another callable. A height function z(xy (N, 2)) -> (N,) needs a world
    whose up is +z, and returns NaN where there is no ground. Another callable (points (N, 3), down (3,)) -> hits
    (N, 3), normals (N, 3), found (N,) returns, of the places where the line through each point along the unit vector
    `down` meets the ground, before and behind the point, the one nearest to the point. Under direction 'NEAREST',
    `down` is None, and it returns the nearest point of the ground in any direction. Raises `NoGround` if there is no
    ground under any foot.

    `settings` are by default `Settings()`. `sole` is the `sole` of a plan of a longer clip of the same figure, because
    a single pose shows little of the sole. `offset` (F, L, 3) is how far an earlier plan has moved the hip joints from
    their places in the clip. They stay there, and `hips_offset` is zero. An `offset` equal to the one that this
    function would find gives the same rotations.

    With a `previous` plan of an equal clip and the same ground, sole and offset, only what depends on changed settings
    is computed again; the plan is the same as without. A callable is assumed to answer as it did.
    """
    for name, value, kinds, kind in (
        ("clip", clip, Clip, "a Clip"),
        ("settings", settings, Settings | None, "Settings"),
        ("sole", sole, Sole | None, "a Sole"),
        ("previous", previous, Plan | None, "a Plan"),
    ):
        checks.kind(name, value, kinds, kind)
    if offset is not None:
        offset = checks.array("offset", offset, (clip.frames, clip.legs, 3))
    if sole is not None:
        checks.array("sole.ball_height", sole.ball_height, (clip.legs,))
    settings = settings or Settings()
    settings.check(clip)
    keep = _keep(clip, ground, sole, offset, previous)
    own, asked, sole, offset = keep.given
    ground = keep(as_ground, asked, own)
    # Held poses would not ride a support that moves.
    starts = None if may_move(ground) else keep(find_pose_starts, own)
    if starts is None:
        plan = _plant_where_made(keep, own, ground, settings, sole, offset)
    else:
        held, flow = replace(settings, marks=settings.marks and settings.marks.held(starts)), keep(flowing, own, starts)
        plan = _plant_where_made(keep, flow, ground, held, sole, offset).held(starts)
    partly = keep(tell_partly, own, ground, settings.way_up(own))
    short = tell_short(plan.miss * settings.counts(clip), clip.hands, clip.leg)
    return replace(plan, clip=own, ground=ground, kept=keep, notes=(*plan.notes, *partly, *short))


def _keep(clip: Clip, ground: Any, sole: Sole | None, offset: Array | None, previous: Plan | None) -> Kept:
    """What a `previous` plan has kept if it was made of equal data, else nothing yet, about copies of what is given."""
    # Without cached lengths, because users may have edited the arrays since the clip computed them.
    clip, last = clip.having(), None if previous is None else previous.kept
    keep = Kept.of(clip, ground, sole, offset, previous=last)
    if keep is last:
        return keep
    # Users may edit their arrays later, too.
    clip, sole, offset = deepcopy((clip, sole, offset))
    return replace(keep, given=(clip, ground, sole, offset))


def _plant_where_made(
    keep: Kept, clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None
) -> Plan:
    """As `plant`. A clip that was made on a moving support is planted in the space of that support."""
    # Stored poses are rounded: an offset as small as rounding means that the hips have not been moved.
    if offset is not None and np.abs(offset).max() < checks.ROUNDING * clip.leg:
        offset = np.zeros_like(offset)
    carrier = keep(find_carrier, clip, ground, settings.way_up(clip))
    if carrier is not None:
        plan = _plant_aboard(keep, carrier, clip, ground, settings, sole, offset)
        return plan.noting("carried", support=carrier.name)
    climbs = settings.direction == "NEAREST" and _moves_hips(settings, offset)
    bearer = keep(find_bearer, clip, ground) if climbs else None
    if bearer is None:
        return _plant(keep, clip, ground, settings, sole, offset)
    # The clip was made for a support at rest, so it is moved along with the bearer.
    ride, share = keep(ride_on, bearer, clip), settings.shares(clip.frames)[:, None]
    offset = None if offset is None else offset - (share * ride)[:, None]
    plan = _plant_aboard(keep, bearer, keep(Clip.moved, clip, ride), ground, settings, sole, offset)
    hips = plan.hips_offset + share * ride if offset is None else plan.hips_offset
    return replace(plan, hips_offset=hips, targets=plan.targets.moved(((share - 1.0) * ride)[:, None]))


def _plant_aboard(
    keep: Kept, bearer: Carrier, clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None
) -> Plan:
    """As `plant`, for a clip that was made on the moving support `bearer`."""
    assert isinstance(ground, MovingGround)
    if offset is not None:
        offset = turn_vectors(bearer.inverse[:, None], offset)
    seen = keep(moved_by, bearer.inverse, clip)
    plan = _plant(keep, seen, keep(GroundSeen, ground, bearer), settings.moved(bearer.inverse), sole, offset)
    hips = turn_vectors(bearer.motion, plan.hips_offset)
    return replace(plan, hips_offset=hips, targets=plan.targets.carried_by(bearer.motion))


def _moves_hips(settings: Settings, offset: Array | None) -> bool:
    """Whether the hips move in this plan, or were moved by the earlier plan that `offset` comes from."""
    return bool(settings.use_hips and (offset is None or offset.any()))


def _plant_motion(
    keep: Kept, clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None
) -> Plan:
    """As `plant`, for a clip without a calibration pose in the space in which it was made: the list of stages."""
    moves, strength = _moves_hips(settings, offset), settings.shares(clip.frames)
    floor, body = settings.only(*GROUND), settings.only(*BODY)
    sole = _find_sole(keep, clip, ground, settings, sole)
    held = keep(hold_limbs, clip, sole, ground, floor, moves)
    knees = keep(find_knees, clip)
    notes = keep(_tell, clip, sole, held, knees, settings.only(*GROUND, "asked"), ground)
    room, early = keep(_find_room, clip, sole, held, settings.only(*GROUND, "gives_way"))
    hips = keep(_find_hips, clip, held, body, early, moves)
    given = None if offset is None else _beyond(clip, offset, strength[:, None] * hips)
    moved, way = keep(_ways_of_joints, clip, hips, given)
    held = keep(_hold_moved_hands, clip, sole, held, ground, floor, way)
    reached, pitch = keep(_within_reach, clip, held, floor, way, room, early)
    toes, short = keep(_lay_toes, clip, sole, reached, floor, ground)
    contacts = keep(_find_held, clip, sole, reached, ground, floor)
    turns, miss = solve_legs(clip, reached.targets, moved, hips, knees, strength)
    asked = settings.counts(clip)
    rises = held.standing & _may_rise(clip, held, floor) & asked
    notes = [*notes, *tell_heels(strength[:, None] * pitch, rises, early)]
    notes += tell_toes(short & (strength > 0.0)[:, None] & asked)
    toes = quaternion_from_vector(strength[:, None, None] * toes)
    return Plan(
        rotations=np.concatenate([turns, toes[:, :, None]], axis=2),
        hips_offset=strength[:, None] * hips if offset is None else np.zeros_like(hips),
        contacts=contacts.copy(),
        resting=held.resting | contacts,
        enforced=settings.enforced(contacts),
        targets=weaken(clip, reached.targets, moved, strength),
        sole=replace(sole, **{name: value.copy() for name, value in sole.rows()}),
        miss=miss,
        strength=strength.copy(),
        locked=held.locked.copy(),
        nearest=settings.direction == "NEAREST",
        max_slope=settings.max_slope,
        clip=clip,
        ground=ground,
        notes=tuple(notes),
    )


def _plant_round(
    keep: Kept, clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None
) -> Plan:
    """As `_plant_motion`. A loop is planned as part of a clip that plays it over and over, so that its end leads to its
    beginning. On a ground that moves, no round is like another: there the clip is planned alone.
    """
    settings = _with_compared_marks(keep, clip, ground, settings, sole, offset)
    plan = _plant_motion(keep, clip, ground, settings, sole, offset)
    loop = keep(frames_of_loop, clip) if not may_move(ground) else None
    if loop is None:
        return plan
    (frames, own), inner = loop, keep(Kept.of, clip)
    sole, longer = _find_sole(keep, clip, ground, settings, sole), inner(Clip.cut, clip, frames)
    closed = replace(settings, marks=settings.marks and settings.marks.closed())
    stages = partial(_plant_motion, inner, longer, ground, closed.cut(frames), sole)
    ways = None if offset is None else offset[frames]
    if offset is not None and offset.any():
        # The hips of the rounds before and after are a little elsewhere, as only one side of them is played on.
        hips = stages(None).hips_offset
        ways = hips[:, None] + _beyond(clip, offset, hips[own])[frames]
    again = stages(ways)
    # Anchors of feet that are found to stand only as the loop is played on would not bring its end to its beginning.
    if (again.locked != plan.locked).any():
        return plan
    # Notes count the frames of the clip itself.
    return replace(again.cut(own), notes=plan.notes)


def _with_compared_marks(
    keep: Kept, clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None
) -> Settings:
    """The settings; if they ask for stored contacts, their marks know which ones a plan without these would store."""
    if settings.contacts != "STORED" or not settings.marks:
        return settings
    without = replace(settings, contacts="AUTO", marks=settings.marks.edits).only(*BODY)
    alone = keep(_contacts_alone, clip, ground, without, sole, offset)
    return replace(settings, marks=settings.marks.compared(*alone, clip.pose_starts)) if alone else settings


def _contacts_alone(
    clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None
) -> tuple[Mask, Mask] | None:
    """The least and the most contacts (F, L, 2) that a plan would store; None if there is no ground."""
    try:
        plan = _plant_round(Kept.of(), clip, ground, settings, sole, offset)
    except NoGround:
        return None
    return plan.contacts, plan.resting


def _plant(keep: Kept, clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None) -> Plan:
    """As `plant`, for a clip in the space in which it was made. A calibration pose on the first frame keeps its shape
    as far as it can. Its hips move as on the second frame, each of the two with the strength of its frame.
    """
    if not starts_in_calibration_pose(clip):
        return _plant_round(keep, clip, ground, settings, sole, offset)
    later, after = keep(Clip.cut, clip, LATER), keep(cut_ground, ground, LATER)
    plan = _plant_round(keep, later, after, settings.cut(LATER), sole, None if offset is None else offset[LATER])
    first, second = strength = settings.shares(clip.frames)[:2]
    hips = plan.hips_offset[:1] * (first / second if second > 0.0 else 0.0)
    moved = np.broadcast_to(hips[:, None] if offset is None else offset[:1], clip.hip[:1].shape)
    turns, targets, miss = _plant_pose(clip, plan.sole, ground, settings, moved)
    return plan.led_by(turns, hips, targets, miss, strength[:1]).noting("calibration_pose")


def _find_sole(keep: Kept, clip: Clip, ground: Ground, settings: Settings, sole: Sole | None) -> Sole:
    """The `sole` that is given, else the one that is measured; with the palms of hands."""
    sole = sole or keep(_measure_on, clip, ground, settings.only("direction"))
    return keep(lay_palms, clip, sole, ground, settings.only(*GROUND))


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
    touching, ride = settings.touching(clip), None if rides else np.zeros((clip.frames, 3))
    parts = [
        hold(clip.choose(limbs), sole.choose(limbs), ground, settings.choose(limbs), ride)
        for limbs, hold in ((~touching, stand), (touching, touch))
        if limbs.any()
    ]
    held = parts[0] if len(parts) == 1 else parts[0].beside(parts[1], touching)
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
    legs = ~clip.hands
    if not legs.any() or not moves:
        return np.zeros((clip.frames, 3))
    clip, held, early = clip.choose(legs), held.choose(legs), early[:, legs] * (settings.gives_way == "HEEL_HIPS")
    ride = held.targets.ride
    if ride.any():
        ride = smoothed(ride, odd_window(2.0 * SLOW, clip.fps))
        held = replace(held, targets=held.targets.moved(-ride[:, None]))
    return ride + hips_offset(clip, held.targets, held.standing, ~held.locked, early, settings.max_drop)


def _beyond(clip: Clip, offset: Array, hips: Array) -> Array:
    """How far an earlier plan that has moved the hip joints by an `offset` (F, L, 3) has moved them beyond the move of
    the `hips` (F, 3) that this plan finds.
    """
    given = offset - hips[:, None]
    return given if clip.pose_starts is None else flowing_ways(given, clip.pose_starts, clip.fps)


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
    hands, way = clip.hands, way[:, clip.hands]
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
    return again if hands.all() else held.choose(~hands).beside(again, hands)


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


def starts_in_calibration_pose(clip: Clip) -> bool:
    """Whether the first frame is a calibration pose of the recording, from which the clip jumps to its motion."""
    seen = slice(0, 3 + int(clip.fps))
    joints = np.concatenate([joint[seen] - clip.hip[seen] for joint in (clip.knee, clip.ankle, clip.ball)], axis=1)
    steps = length_of(np.diff(joints, axis=0)).max(axis=-1, initial=0.0) / clip.leg
    return len(steps) > 1 and bool(steps[0] > steps[1:].max() + CALIBRATION_JUMP)


def _plant_pose(
    clip: Clip, sole: Sole, ground: Ground, settings: Settings, offset: Array
) -> tuple[Array, Targets, Array]:
    """Rotations, targets and misses of the first frame. Only feet that the ground lifts are moved."""
    pose, knees = clip.cut(slice(0, 1)), find_knees(clip)
    strength = settings.shares(clip.frames)[:1]
    along = Targets.of(pose).moved(offset)
    following, _ = follow_ground(pose, sole, ground, settings)
    lifted = ((following.ankle - along.ankle) @ clip.up > 0.0)[0] & ~settings.touching(clip)
    targets = along.with_legs(lifted, following)
    first = Knees(knees.hinge[:1], knees.usual[:1], knees.doubt[:1])
    turns, miss = solve_legs(pose, targets, offset, np.zeros((1, 3)), first, strength)
    toes = np.broadcast_to([1.0, 0.0, 0.0, 0.0], turns[:, :, :1].shape)
    return np.concatenate([turns, toes], axis=2), weaken(pose, targets, offset, strength), miss


def _tell(clip: Clip, sole: Sole, held: Held, knees: Knees, settings: Settings, ground: Ground) -> list[Note]:
    """Notes for the user about how this clip was planted."""
    notes = list(held.told)
    asked, touching = settings.counts(clip), settings.touching(clip)
    left = int((held.locked & ~held.contacts.any(axis=(0, 2)) & touching & asked).sum())
    if left and not settings.always(clip.frames):
        notes.append(Note("never_rests", {"count": left, "of": int(asked.sum())}))
    places = [bool(touching[place.leg]) for place in settings.places if asked[place.leg]]
    if any(places):
        notes.append(Note("places_unused", {"count": sum(places), "of": len(places)}))
    notes += tell_doubts(clip, sole, asked)
    contacts = [a for a in held.targets.anchors if a.part != "swing" and asked[a.stance.leg]]
    lost = sum(not anchor.found for anchor in contacts)
    if lost:
        code = "no_surface_near" if settings.direction == "NEAREST" else "no_surface_below"
        notes.append(Note(code, {"count": lost, "of": len(contacts)}))
    standing = [anchor for anchor in contacts if not touching[anchor.stance.leg]]
    notes += tell_turns(contacts) + tell_steep(standing, ground, clip.up, clip.frames, settings.max_slope)
    following = held.standing & ~held.locked & ~touching & asked
    notes += tell_ground_under(held.targets, following, ground, clip.up, settings.max_slope)
    if not knees.usual.any(axis=(0, 2))[asked].all() and clip.frames > 1:
        notes.append(Note("side_unknown"))
    return notes
