# SPDX-License-Identifier: MIT
"""Limbs that touch a surface with one point: hands on walls and rungs, and feet where the nearest surface counts.

A foot under direction DOWN stands on its sole, over heel and ball. All other limbs touch: the point under the ball of a
foot, or the palm of a hand, comes to lie on the nearest surface while it rests there. The tilt of a sole and footprints
do not matter, so limbs touch rungs as well as walls.
"""

from dataclasses import replace

import numpy as np

from ..anchors.anchor import Anchor, on_supports
from ..arrays import Array, Mask, by_limbs
from ..clip import Clip
from ..contacts.detect import hysteresis
from ..contacts.paths import ENTER_SPEED, LEAVE_SPEED
from ..contacts.stance import LEAST_CONTACT, ROLL, Stance, stances, standing_place
from ..curves import column_runs, fade, hann_average, odd_window, velocity
from ..ground.carrier import GroundSeen, moved_by, slower
from ..ground.query import Ground, ask
from ..rotations import (
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
from ..targets.blend import Held, Targets, blend_targets, places_of
from ..targets.lock import hold_feet
from ..targets.swing import clear
from .nearest import AROUND, WITHIN, facing_of, find_spots, mean_normal

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
        away = facing_of(sole.up[leg], nearest_rotations(clip.foot[frames, leg, :3, :3]), normals[frames, leg])
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
    enforced = np.zeros_like(touches) if settings.marks is None else settings.marks.enforced.any(axis=-1)
    # For enforced contacts a limb reaches surfaces up to its own length away.
    within = np.where(enforced, 1.0, WITHIN)
    stands = _wanted(touches, settings, clip.fps)
    contacts = np.stack([np.zeros_like(stands), stands], axis=-1)
    limbs = [[span for span in stances(contacts) if span.leg == leg] for leg in range(clip.legs)]
    anchors = [anchor for spans in limbs for anchor in _anchors(clip, sole, path, spans, ground, settings, within)]
    targets, free = _blend(clip, contacts, anchors)
    cleared = _clear_swings(clip, sole, targets, contacts, free, ground, up)
    near = bool((distance < within).any())
    return Held(contacts, contacts, cleared, free, np.zeros_like(stands), np.ones(clip.legs, bool), near)


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


def _wanted(touches: Mask, settings: Settings, fps: float) -> Mask:
    """The touches (F, L) with the user's edits. A mark on heel or ball counts for a limb that touches."""
    if (marks := settings.marks) is None:
        return touches
    either = marks.each(lambda mask: mask.any(axis=-1, keepdims=True))
    wanted = either.applied(touches[..., None], LEAST_CONTACT * fps)
    return (either.standing_with(wanted) if settings.contacts == "STORED" else wanted)[..., 0]


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
    if not spans:
        return []
    # Palms and soles are laid along a surface that is wide enough.
    leg, rows = spans[0].leg, [np.arange(span.start, span.end) for span in spans]
    middles = np.array([(span.start + span.end) // 2 for span in spans])
    ways = path[:, leg], clip.ball[:, leg]
    points, origins = (np.array([standing_place(way, own) for own in rows]) for way in ways)
    axes = nearest_rotations(np.array([clip.foot[own, leg, :3, :3].mean(axis=0) for own in rows]))
    soles_up = None if clip.is_hand[leg] else axes @ sole.up[leg]
    near, length = np.array([within[own, leg].max() for own in rows]), float(limb_lengths(clip)[leg])
    up, ahead = settings.way_up(clip), axes @ sole.forward[leg]
    spots, normals, wide, found = find_spots(ground, points, axes, ahead, length, up, middles, soles_up, near)
    wide &= settings.use_slope
    turns = _turns_onto(sole.up[leg], axes, normals, wide)
    goals = np.where(found[:, None], spots + einsum("nij,nj->ni", turns, origins - points), origins)
    holds = np.where(found[:, None], spots, origins)
    placed = spans, ["ball"] * len(spans), origins, goals, turns, found.tolist(), holds
    return on_supports((Anchor(*row) for row in zip(*placed, strict=True)), ground, middles.tolist())


def _turns_onto(known: Array, axes: Array, normals: Array, wide: Mask, window: int = 1) -> Array:
    """Turns (N, 3, 3) that lay a limb's end with these axes (N, 3, 3) along a surface with normals (N, 3), where that
    is `wide` (N,), averaged over a window of so many frames. `known` (3,) is as in `facing_of`.

    An end that would have to turn farther than feet do on a slope is not turned.
    """
    vectors = shortest_turns(axes @ facing_of(known, axes[wide], normals[wide]), normals)
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
        normals, wide = mean_normal(ground, hits, normals, axes, ahead, np.broadcast_to(length, found.shape), up)
    wide &= found
    limbs = ((sole.up[leg], axes[:, leg], normals[:, leg], wide[:, leg]) for leg in range(clip.legs))
    turn = np.stack([_turns_onto(*limb, window) for limb in limbs], axis=1)
    shift = hann_average(np.where(found[..., None], hits - path, 0.0), window)
    shift = np.where(found[..., None], ask(ground, path + shift, up)[0] - path, 0.0)
    ball = path + shift + einsum("flij,flj->fli", turn, clip.ball - path)
    targets = replace(Targets.of(clip), ball=ball, turn=turn, rise=dot(shift, clip.up))
    contacts, free = np.stack([np.zeros_like(found), found], axis=-1), (~found).astype(float)
    return Held(contacts, contacts, targets, free, np.zeros_like(found), np.zeros(clip.legs, bool), bool(found.any()))
