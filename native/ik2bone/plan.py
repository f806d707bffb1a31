# SPDX-License-Identifier: MIT
"""Planting: each clip is brought into the space in which the stages work, and its plan back from there. Stages take and
return arrays and do not know Blender.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from . import checks
from .arrays import Array, Indices, Mask
from .clip import Clip
from .ground.carrier import Carrier, GroundSeen, find_bearer, find_carrier, moved_by, ride_on, tell_partly
from .ground.given import as_ground, check_frames
from .ground.query import Ground, MovingGround, NoGround, cut_ground, may_move
from .kept import Kept, copied
from .model import Plan
from .notes import Note, counted
from .reach import tell_short
from .rotations import length_of, turn_vectors
from .settings import Settings
from .sole.measure import Sole
from .stages import BODY, Case, beyond, find_sole, plan_pose, plan_stages
from .timing import find_pose_starts, flowing, frames_of_loop, planted_rows

__all__ = ["NoGround", "Plan", "Settings", "plant"]

# The first frame is a calibration pose if the first step of a joint is longer than any of the next second, by more than
# this (leg lengths). In the clips measured that have one, the first step is 0.19, and the others are less than 0.03.
# Cut at any frame, 30 recorded and animated clips begin with such a step 7 times in 8,800 at 24 frames a second, all
# but one of these in their last 8 frames.
CALIBRATION_JUMP = 0.15
LATER = slice(1, None)


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

    `settings` are by default `Settings()`. `sole` is the `sole` of another plan of the same figure: of a longer clip,
    because a single pose shows little of the sole, or of the plan that made this clip, because planted feet may no
    longer show how high their soles are. `offset` (F, L, 3) is how far an earlier plan has moved the hip joints from
    their places in the clip. They stay there, and `hips_offset` is zero. An `offset` equal to the one that this
    function would find gives the same rotations.

    With a `previous` plan of an equal clip and the same ground, sole and offset, only what depends on changed settings
    is computed again; the plan is the same as without. A callable is assumed to answer as it did.
    """
    checks.kind("clip", clip, Clip, "a Clip")
    checks.kind("settings", settings, Settings | None, "Settings")
    checks.kind("sole", sole, Sole | None, "a Sole")
    checks.kind("previous", previous, Plan | None, "a Plan")
    if offset is not None:
        offset = checks.array("offset", offset, (clip.frames, clip.legs, 3))
    if sole is not None:
        checks.array("sole.ball_height", sole.ball_height, (clip.legs,))
    settings = settings or Settings()
    settings.check(clip)
    keep = _keep(clip, ground, sole, offset, previous)
    own, asked, sole, offset = keep.given
    ground = keep(as_ground, asked, own)
    check_frames(ground, own, settings.way_up(own))
    # Held poses would not ride a support that moves.
    starts = None if may_move(ground) else keep(find_pose_starts, own)
    case = Case(keep, own, ground, settings, sole, offset)
    if starts is None:
        plan = _plant_where_made(case)
    else:
        marks = settings.marks and settings.marks.held(starts)
        held = replace(settings, marks=marks, strength=settings.shares(own.frames)[starts])
        flow = keep(flowing, own, starts)
        plan = _plant_where_made(replace(case, clip=flow, settings=held))
        plan = plan.held(starts, _planted_rows(flow))
    notes = [*plan.notes, *_tell_places(own, settings), *keep(tell_partly, own, ground, settings.way_up(own))]
    notes += tell_short(plan.miss * settings.counts(clip), clip.is_hand, clip.leg)
    return replace(plan, clip=own, ground=ground, kept=keep, notes=tuple(notes))


def _planted_rows(flow: Clip) -> Indices:
    """As `planted_rows`. A calibration pose is no part of a loop that follows it."""
    if not starts_in_calibration_pose(flow):
        return planted_rows(flow)
    return np.append(0, planted_rows(flow.cut(LATER)) + 1)


def _tell_places(clip: Clip, settings: Settings) -> list[Note]:
    """A note that counts the places that users gave for limbs that do not stand on soles."""
    asked, touching = settings.counts(clip), settings.touching(clip)
    unused = [touching[place.leg] for place in settings.places if asked[place.leg]]
    return counted("places_unused", sum(unused), of=len(unused))


def _keep(clip: Clip, ground: Any, sole: Sole | None, offset: Array | None, previous: Plan | None) -> Kept:
    """What a `previous` plan has kept if it was made of equal data, else nothing yet, about copies of what is given."""
    last = None if previous is None else previous.kept
    keep = Kept.of(clip, ground, sole, offset, previous=last)
    if keep is last:
        return keep
    # Users may have edited their arrays since the clip cached its lengths, and may edit them later.
    clip, sole, offset = copied((clip, sole, offset))
    return replace(keep, given=(clip, ground, sole, offset))


def _plant_where_made(case: Case) -> Plan:
    """The plan of a case in world space. A clip that was made on a moving support is planted in the space of that
    support.
    """
    keep, clip, ground, settings, offset = case.keep, case.clip, case.ground, case.settings, case.offset
    # Stored poses are rounded: an offset as small as rounding means that the hips have not been moved.
    if offset is not None and np.abs(offset).max() < checks.ROUNDING * clip.leg:
        offset = np.zeros_like(offset)
    case = replace(case, offset=offset)
    carrier = keep(find_carrier, clip, ground, settings.way_up(clip))
    if carrier is not None:
        return _plant_aboard(case, carrier).noting("carried", support=carrier.name)
    bearer = keep(find_bearer, clip, ground) if settings.direction == "NEAREST" and case.moves_hips else None
    if bearer is None:
        return _plant(case)
    # The clip was made for a support at rest, so it is moved along with the bearer.
    ride, share = keep(ride_on, bearer, clip), settings.shares(clip.frames)[:, None]
    offset = None if offset is None else offset - (share * ride)[:, None]
    plan = _plant_aboard(replace(case, clip=keep(Clip.moved, clip, ride), offset=offset), bearer)
    hips = plan.hips_offset + share * ride if offset is None else plan.hips_offset
    return replace(plan, hips_offset=hips, targets=plan.targets.moved(((share - 1.0) * ride)[:, None]))


def _plant_aboard(case: Case, bearer: Carrier) -> Plan:
    """The plan of a clip that was made on the moving support `bearer`."""
    assert isinstance(case.ground, MovingGround)
    aboard = replace(
        case,
        clip=case.keep(moved_by, bearer.inverse, case.clip),
        ground=case.keep(GroundSeen, case.ground, bearer),
        settings=case.settings.moved(bearer.inverse),
        offset=None if case.offset is None else turn_vectors(bearer.inverse[:, None], case.offset),
    )
    plan = _plant(aboard)
    hips = turn_vectors(bearer.motion, plan.hips_offset)
    return replace(plan, hips_offset=hips, targets=plan.targets.carried_by(bearer.motion))


def _plant(case: Case) -> Plan:
    """The plan of a clip in the space in which it was made. A calibration pose on the first frame keeps its shape as
    far as it can. Its hips move as on the second frame, each of the two with the strength of its frame.
    """
    clip, ground, settings, offset = case.clip, case.ground, case.settings, case.offset
    if not starts_in_calibration_pose(clip):
        return _plant_round(case)
    later = replace(
        case,
        clip=case.keep(Clip.cut, clip, LATER),
        ground=case.keep(cut_ground, ground, LATER),
        settings=settings.cut(LATER),
        offset=None if offset is None else offset[LATER],
    )
    plan = _plant_round(later)
    # An earlier plan has moved the hips as a plan without it would.
    free = plan if offset is None or not case.moves_hips else _plant_round(replace(later, offset=None))
    pose = plan_pose(case, plan, free.hips_offset[:1] / (settings.shares(clip.frames)[1] or 1.0))
    return plan.led_by(pose).noting("calibration_pose")


def _plant_round(case: Case) -> Plan:
    """The plan of a clip without a calibration pose. A loop is planned as part of a clip that plays it over and over,
    so that its end leads to its beginning. On a ground that moves, no round is like another: there the clip is planned
    alone.
    """
    case = _with_compared_marks(case)
    clip, settings, offset = case.clip, case.settings, case.offset
    loop = case.keep(frames_of_loop, clip) if not may_move(case.ground) else None
    if loop is None:
        return plan_stages(case)
    (frames, own), inner = loop, case.keep(Kept, (clip,), None)
    closed = replace(settings, marks=settings.marks and settings.marks.closed()).cut(frames)
    longer = Case(inner, inner(Clip.cut, clip, frames), case.ground, closed, find_sole(case), None)
    if offset is not None:
        ways = offset[frames]
        if offset.any():
            # The hips of the rounds before and after are a little elsewhere, as only one side of them is played on.
            hips = plan_stages(longer).hips_offset
            ways = hips[:, None] + beyond(clip, offset, hips[own])[frames]
        longer = replace(longer, offset=ways)
    return plan_stages(longer, own).cut(own)


def _with_compared_marks(case: Case) -> Case:
    """The same case; if it asks for stored contacts, its marks know which ones a plan without these would store."""
    settings = case.settings
    if settings.contacts != "STORED" or not settings.marks:
        return case
    without = replace(settings, contacts="AUTO", marks=settings.marks.edits).only(*BODY)
    alone = case.keep(_contacts_alone, case.clip, case.ground, without, case.sole, case.offset)
    marks = settings.marks.compared(*alone, case.clip.pose_starts) if alone else settings.marks
    return replace(case, settings=replace(settings, marks=marks))


def _contacts_alone(
    clip: Clip, ground: Ground, settings: Settings, sole: Sole | None, offset: Array | None
) -> tuple[Mask, Mask] | None:
    """The least and the most contacts (F, L, 2) that a plan would store; None if there is no ground."""
    try:
        plan = _plant_round(Case(Kept.of(), clip, ground, settings, sole, offset))
    except NoGround:
        return None
    return plan.contacts, plan.resting


def starts_in_calibration_pose(clip: Clip) -> bool:
    """Whether the first frame is a calibration pose of the recording, from which the clip jumps to its motion."""
    seen = slice(0, 3 + int(clip.fps))
    joints = np.concatenate([joint[seen] - clip.hip[seen] for joint in (clip.knee, clip.ankle, clip.ball)], axis=1)
    steps = length_of(np.diff(joints, axis=0)).max(axis=-1, initial=0.0) / clip.leg
    return len(steps) > 1 and bool(steps[0] > steps[1:].max() + CALIBRATION_JUMP)
