# SPDX-License-Identifier: MIT
"""Limbs that touch a surface with one point: hands on walls and rungs, and feet where the nearest surface counts.

A foot under direction DOWN stands on its sole, over heel and ball. All other limbs touch: the point under the ball of a
foot, or the palm of a hand, comes to lie on the nearest surface while it rests there. The tilt of a sole and footprints
do not matter, so limbs touch rungs as well as walls.
"""

from dataclasses import replace
from itertools import groupby

import numpy as np

from ..anchors.anchor import Anchor, on_supports
from ..arrays import Array, Indices, Mask, by_limbs
from ..clip import Clip
from ..contacts.detect import hysteresis
from ..contacts.paths import ENTER_SPEED, LEAVE_SPEED
from ..contacts.spans import no_marks
from ..contacts.stance import LEAST_CONTACT, ROLL, Stance, stances, standing_place
from ..curves import column_runs, fade, hann_average, odd_window, velocity
from ..ground.carrier import GroundSeen, moved_by, slower
from ..ground.query import WITHIN, Ground, ask
from ..rotations import (
    cross,
    dot,
    einsum,
    inverse_of,
    length_of,
    matrix_from_vector,
    move_points,
    nearest_rotations,
    shortest_turns,
    unit,
    vector_from_matrix,
)
from ..settings import STEEPEST, Settings
from ..sole.measure import Sole, measure_sole
from ..sole.skin import IN_PLANE
from .blend import Held, Targets, blend_targets, places_of
from .lock import hold_feet
from .swing import clear

# Half the width of a palm or a sole: 4 cm for a person's arm, 5 cm for a leg. A surface is wide enough to turn a palm
# or sole along it if the places at this distance around (limb lengths) lie in its plane; rungs and edges are not.
AROUND = 0.06
# A hand is free this time (s) after it has touched, and this time before it touches again.
RELEASE = 0.4


def measure_limbs(clip: Clip) -> Sole:
    """The soles of feet by `measure_sole`. Hands have no soles: their palm is the point that touches."""
    return by_limbs(clip.is_hand, lambda own: _palms(clip.choose(own)), lambda own: measure_sole(clip.choose(own)))


def _palms(clip: Clip) -> Sole:
    """Soles without height for hands: the wrist is the heel, the palm is ball and tip."""
    nothing = np.zeros((clip.legs, 3))
    palm, tip = (np.median(move_points(inverse_of(matrix), clip.ball), axis=0) for matrix in (clip.foot, clip.toe))
    up = nothing if clip.palm is None else clip.palm
    lengths, source = np.zeros((clip.legs, 2)), ("palm",) * clip.legs
    return Sole(lengths[:, 0], nothing, palm, tip, palm, unit(palm), up, up, lengths, clip.floors[0], source)


def lay_palms(clip: Clip, sole: Sole, ground: Ground, settings: Settings) -> Sole:
    """The soles, with the palms of hands put on their skin if it is known, on the side that faces what they touch."""
    if clip.skins is None:
        return sole
    ball, height, source = sole.ball.copy(), sole.ball_height.copy(), list(sole.source)
    touches, _, normals = touches_of(clip, clip.ball, ground, settings)
    for leg in np.flatnonzero(clip.is_hand & touches.any(axis=0)):
        frames, size = touches[:, leg], clip.foot_units[leg]
        away = _facing_of(sole.up[leg], nearest_rotations(clip.foot[frames, leg, :3, :3]), normals[frames, leg])
        depth = _palm_depth(clip.skins[leg].foot, sole.ball_joint[leg], away, limb_lengths(clip)[leg] / size)
        if depth > 0.0:
            ball[leg], height[leg], source[leg] = sole.ball_joint[leg] - depth * away, size * depth, "mesh"
    return replace(sole, ball=ball, ball_height=height, source=tuple(source))


def _palm_depth(skin: Array, palm: Array, away: Array, length: float) -> float:
    """How deep the skin (V, 3) lies under the point `palm` (3,), against the unit direction `away` (3,) from the
    surface.

    All of them are in the space of the limb's end, and `length` is the limb's length there. Zero if no skin is near, or
    if the depth is not plausible.
    """
    local = skin - palm
    depth = -(local @ away)
    aside = np.linalg.norm(local + depth[:, None] * away, axis=1)
    deepest = float(depth[aside < AROUND * length].max(initial=0.0))
    return deepest if deepest < WITHIN * length else 0.0


def touch(clip: Clip, sole: Sole, ground: Ground, settings: Settings, _rides: bool = False) -> Held:
    """When the limbs of a clip touch, and where they shall do so.

    In a clip that is seen from a carrier, limbs that rest in the world while they touch are held in the world, as a
    hand on the quay from a boat.
    """
    if not isinstance(ground, GroundSeen) or settings.always(clip.frames):
        return _touch(clip, sole, ground, settings)
    carrier = ground.carrier

    def ashore(limbs: Mask) -> Held:
        world = moved_by(carrier.motion, clip.choose(limbs))
        held = _touch(world, sole.choose(limbs), ground.ground, settings.choose(limbs))
        return replace(held, targets=held.targets.carried_by(carrier.inverse))

    def aboard(limbs: Mask) -> Held:
        return _touch(clip.choose(limbs), sole.choose(limbs), ground, settings.choose(limbs))

    return by_limbs(_find_ashore(clip, sole, ground, settings), ashore, aboard)


def _find_ashore(clip: Clip, sole: Sole, ground: GroundSeen, settings: Settings) -> Mask:
    """Which limbs (L,) move less in the world than on the carrier, on the frames on which they are near a surface."""
    aboard = move_points(clip.foot, sole.ball)
    near = touches_of(clip, aboard, ground, settings)[1] < WITHIN
    paths = aboard, move_points(ground.carrier.motion[:, None], aboard)
    speeds = (length_of(velocity(path, clip.fps)) for path in paths)
    return np.sum(slower(*speeds) * near, axis=0) < 0.0


def _touch(clip: Clip, sole: Sole, ground: Ground, settings: Settings) -> Held:
    """As `touch`, for limbs that all touch `ground` in the space in which the clip is given."""
    up, path = settings.way_up(clip), move_points(clip.foot, sole.ball)
    if settings.always(clip.frames):
        return _follow(clip, sole, ground, up, settings.use_slope)
    touches, distance, _ = touches_of(clip, path, ground, settings)
    # A mark on heel or ball counts for a limb that touches.
    marks = (settings.marks or no_marks((*touches.shape, 2))).each(lambda mask: mask.any(axis=-1, keepdims=True))
    # For enforced contacts a limb reaches surfaces up to its own length away.
    within = np.where(marks.enforced[..., 0], 1.0, WITHIN)
    wanted = marks.applied(touches[..., None], LEAST_CONTACT * clip.fps)
    stands = marks.standing_with(wanted) if settings.contacts == "STORED" else wanted
    contacts = np.concatenate([np.zeros_like(stands), stands], axis=-1)
    limbs = [list(spans) for _, spans in groupby(stances(contacts), key=lambda span: span.leg)]
    anchors = [anchor for spans in limbs for anchor in _anchors(clip, sole, path, spans, ground, settings, within)]
    targets, free = _blend(clip, contacts, anchors)
    cleared = _clear_swings(clip, sole, targets, contacts, free, ground, up)
    near = bool((distance < within).any())
    return Held(contacts, contacts, cleared, free, np.zeros_like(touches), np.ones(clip.legs, bool), near)


def touches_of(clip: Clip, path: Array, ground: Ground, settings: Settings) -> tuple[Mask, Array, Array]:
    """Frames (F, L) on which limbs touch the ground with the points of a path (F, L, 3); the distances (F, L) of these
    points from the ground in limb lengths, infinite where there is none; and the normals (F, L, 3) of the ground.
    """
    length = limb_lengths(clip)
    hits, normals, found = ask(ground, path, settings.way_up(clip))
    distance = np.where(found, length_of(path - hits) / length, np.inf)
    if settings.always(clip.frames):
        return distance < 1.0, distance, normals
    return find_touches(path / length[:, None], distance, clip.fps), distance, normals


def limb_lengths(clip: Clip) -> Array:
    """The median length of each limb (L,)."""
    return np.median(clip.reach, axis=0)


def find_touches(path: Array, distance: Array, fps: float) -> Mask:
    """Frames (F, L) on which points rest on a surface, from their paths (F, L, 3) and distances (F, L) to it.

    Lengths are limb lengths. Near the surface, a point touches from when its speed falls below the limit to enter of
    `find_contacts` until it exceeds the limit to leave.
    """
    speed = length_of(velocity(path, fps))
    touches = hysteresis((speed < LEAVE_SPEED) & (distance < WITHIN), speed < ENTER_SPEED)
    for leg, start, end in column_runs(~touches):
        touches[start:end, leg] = start > 0 and end < len(touches) and end - start < LEAST_CONTACT * fps
    for leg, start, end in column_runs(touches):
        touches[start:end, leg] = end - start >= LEAST_CONTACT * fps - 1e-6
    return touches


def _anchors(
    clip: Clip, sole: Sole, path: Array, spans: list[Stance], ground: Ground, settings: Settings, within: Array
) -> list[Anchor]:
    """The anchors of one limb's stances. They bring the limb's point of the path (F, L, 3) onto a surface that is at
    most `within` (F, L) limb lengths away.
    """
    # Palms and soles are laid along a surface that is wide enough.
    leg, rows = spans[0].leg, [np.arange(span.start, span.end) for span in spans]
    middles = np.array([(span.start + span.end) // 2 for span in spans])
    ways = path[:, leg], clip.ball[:, leg]
    points, origins = (np.array([standing_place(way, own) for own in rows]) for way in ways)
    axes = nearest_rotations(np.array([clip.foot[own, leg, :3, :3].mean(axis=0) for own in rows]))
    soles_up = None if clip.is_hand[leg] else axes @ sole.up[leg]
    near, length = np.array([within[own, leg].max() for own in rows]), float(limb_lengths(clip)[leg])
    up, ahead = settings.way_up(clip), axes @ sole.forward[leg]
    spots, normals, wide, found = _find_spots(ground, points, axes, ahead, length, up, middles, soles_up, near)
    wide &= settings.use_slope
    turns = _turns_onto(sole.up[leg], axes, normals, wide)
    goals = np.where(found[:, None], spots + einsum("nij,nj->ni", turns, origins - points), origins)
    holds = np.where(found[:, None], spots, origins)
    placed = spans, ["ball"] * len(spans), origins, goals, turns, found.tolist(), holds
    return on_supports((Anchor(*row) for row in zip(*placed, strict=True)), ground, middles.tolist())


def _find_spots(
    ground: Ground,
    points: Array,
    axes: Array,
    ahead: Array,
    length: float,
    up: Array | None,
    frames: Indices,
    soles_up: Array | None,
    near: Array,
) -> tuple[Array, Array, Mask, Mask]:
    """The places (N, 3) on the surface that are nearest to the resting points (N, 3) of a limb, each on its frame (N,).

    With `up` (3,) a place is over or under its point. `length` is that of the limb. Its end points `ahead` (N, 3) and
    has the `axes` (N, 3, 3). `soles_up` (N, 3) are the up directions of the soles of a foot, None for a hand. Also
    returns the normals (N, 3), whether the surface is wide there (N,), and whether there is one at most `near` (N,)
    limb lengths away (N,).
    """
    hits, normals, found = ask(ground, points, up, frames)
    found = found & (length_of(hits - points) <= near * length)
    mean, wide = _mean_normal(ground, hits, normals, axes, ahead, length, up, frames)
    if soles_up is not None and up is None:
        # A foot on something narrow, such as a rung, stands on top of it, but not on the next rung.
        higher, facing, there = ask(ground, hits + 2.0 * AROUND * length * soles_up, up, frames)
        climbs = there & ~wide & (dot(facing - normals, soles_up) > 0.0)
        climbs &= length_of(higher - hits) < AROUND * length
        hits = np.where(climbs[:, None], higher, hits)
    return hits, mean, wide & found, found


def _mean_normal(
    ground: Ground,
    hits: Array,
    normals: Array,
    axes: Array,
    ahead: Array,
    length: Array | float,
    up: Array | None,
    frames: Indices | None = None,
) -> tuple[Array, Mask]:
    """The mean normals (F, ..., 3) of places `hits` (F, ..., 3) and of the places around them, and whether the surface
    is wide there (F, ...). The places around lie ahead, to the sides and behind: the limb's end points `ahead`
    (F, ..., 3) and has the `axes` (F, ..., 3, 3).
    """
    least = np.abs(einsum("...ij,...i->...j", axes, normals)).argmin(axis=-1)
    least = np.take_along_axis(axes, least[..., None, None], axis=-1)[..., 0]
    # An end that points at the surface rather than along it tells no direction there.
    other = np.where((np.abs(dot(ahead, normals)) < np.sqrt(0.5))[..., None], ahead, least)
    first = unit(cross(normals, other))
    second = cross(normals, first)
    lengths = np.asarray(length)[..., None]
    around = hits[..., None, :] + AROUND * lengths[..., None] * np.stack([first, second, -first, -second], axis=-2)
    places, facing, found = ask(ground, around, up, frames)
    even = length_of(places - around) < IN_PLANE * lengths
    return unit(normals + facing.sum(axis=-2)), (found & even).all(axis=-1)


def _facing_of(known: Array, axes: Array, normals: Array) -> Array:
    """The direction (3,), in the space of a limb's end, that looks away from what the limb touches. `axes` (N, 3, 3)
    are those of the end in its contacts, `normals` (N, 3) those of the surface.

    For palms and soles this direction is `known` (3,) up to its sign. Where `known` is zero it is the mean of the
    normals, so that the end is turned only by what differs from one contact to the other.
    """
    mean = einsum("nji,nj->i", axes, normals)
    if known.any():
        return known if known @ mean >= 0.0 else -known
    return unit(mean)


def _turns_onto(known: Array, axes: Array, normals: Array, wide: Mask, window: int = 1) -> Array:
    """Turns (N, 3, 3) that lay a limb's end with these axes (N, 3, 3) along a surface with normals (N, 3), where that
    is `wide` (N,), averaged over a window of so many frames. `known` (3,) is as in `_facing_of`.

    An end that would have to turn farther than feet do on a slope is not turned.
    """
    vectors = shortest_turns(axes @ _facing_of(known, axes[wide], normals[wide]), normals)
    lies = wide & (length_of(vectors) <= STEEPEST)
    return matrix_from_vector(hann_average(np.where(lies[:, None], vectors, 0.0), window))


def _blend(clip: Clip, contacts: Mask, anchors: list[Anchor]) -> tuple[Targets, Array]:
    """Targets of all frames, and the share (F, L) to which limbs are free: hands that are long off, and limbs that
    never touch.
    """
    stands, never = contacts[..., 1], np.zeros(contacts.shape[:2], bool)
    hold = hold_feet(clip, clip.ankle, contacts, places_of(anchors), never, never, np.zeros(clip.legs))
    targets = blend_targets(clip, hold, anchors, rides=False)
    ones = np.ones((*stands.shape, 1))
    near = fade(ones, stands, RELEASE * clip.fps, 0.0 * ones)[..., 0]
    share = np.where(clip.is_hand, near, stands.any(axis=0).astype(float))
    own = clip.ball + hold[0]
    turn = matrix_from_vector(share[..., None] * vector_from_matrix(targets.turn))
    ball = own + share[..., None] * (targets.ball - own)
    return replace(targets, ball=ball, turn=turn, rise=share * targets.rise), 1.0 - share


def _clear_swings(
    clip: Clip, sole: Sole, targets: Targets, contacts: Mask, free: Array, ground: Ground, up: Array | None
) -> Targets:
    """The targets, moved out of the surface where a touching point would get into it between two contacts."""
    path = targets.placed(move_points(clip.foot, sole.ball) - clip.ball)
    hits, normals, found = ask(ground, path, up)
    length = limb_lengths(clip)
    height, root = (dot(points - hits, normals) / length for points in (path, clip.hip))
    near = found & (length_of(path - hits) < WITHIN * length)
    move = np.zeros_like(path)
    for leg, start, end in column_runs((free < 1.0) & ~contacts[..., 1]):
        rows = slice(start, end), leg
        # If limb and root both lie behind a sheet, its normals point the wrong way.
        side = -1.0 if all(np.sum(away[rows][found[rows]]) < 0.0 for away in (height, root)) else 1.0
        under = np.where(near[rows], -side * height[rows], 0.0)
        lift = clear(under, 0.0, (end - start + 1) / clip.fps, (start > 0, end < clip.frames))
        move[rows] = (length[leg] * lift)[:, None] * unit(np.maximum(under, 0.0) @ (side * normals[rows]))
    return targets.moved(move)


def _follow(clip: Clip, sole: Sole, ground: Ground, up: Array | None, use_slope: bool) -> Held:
    """The limbs held on every frame on the nearest surface, whatever their height over it."""
    path, length, window = move_points(clip.foot, sole.ball), limb_lengths(clip), odd_window(ROLL, clip.fps)
    (hits, normals, found), axes = ask(ground, path, up), nearest_rotations(clip.foot[..., :3, :3])
    found &= length_of(path - hits) < length
    wide = np.zeros_like(found)
    if use_slope:
        ahead = einsum("flij,lj->fli", axes, sole.forward)
        normals, wide = _mean_normal(ground, hits, normals, axes, ahead, length, up)
    wide &= found
    limbs = ((sole.up[leg], axes[:, leg], normals[:, leg], wide[:, leg]) for leg in range(clip.legs))
    turn = np.stack([_turns_onto(*limb, window) for limb in limbs], axis=1)
    shift = hann_average(np.where(found[..., None], hits - path, 0.0), window)
    shift = np.where(found[..., None], ask(ground, path + shift, up)[0] - path, 0.0)
    ball = path + shift + einsum("flij,flj->fli", turn, clip.ball - path)
    targets = replace(Targets.of(clip), ball=ball, turn=turn, rise=dot(shift, clip.up))
    contacts, free = np.stack([np.zeros_like(found), found], axis=-1), (~found).astype(float)
    return Held(contacts, contacts, targets, free, np.zeros_like(found), np.zeros(clip.legs, bool), bool(found.any()))
