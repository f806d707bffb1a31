# SPDX-License-Identifier: MIT
"""Limbs that touch a surface with one point: hands on walls and rungs, and feet where the nearest surface counts.

A foot under direction DOWN stands on a sole, over heel and ball. All else touches: the point under the ball of a foot,
or the palm of a hand, comes to lie on the nearest surface while it rests there. No tilt of a sole and no footprint
enters, so a rung will do as well as a wall.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..anchors.anchor import Anchor
from ..contacts.detect import ENTER_SPEED, LEAST_CONTACT, LEAVE_SPEED, Stance, hysteresis, stances
from ..contacts.spans import Marks
from ..curves import gaps, hann_average, odd_window, running_maximum, runs, smoothstep, velocity
from ..ground.query import NoGround, ask, support_of
from ..model import Array, Clip, Ground, Mask, level_part
from ..rotations import matrix_from_vector, nearest_rotations, shortest_turns, unit, vector_from_matrix
from ..settings import Settings
from ..sole.measure import Sole, apply, measure_sole, with_own_floor
from ..targets.blend import Held, Targets, anchor_weights, place_path, places_of
from ..targets.lock import hold_feet, standing_place
from ..targets.swing import clear
from .nearest import AROUND, FAR, WITHIN, Spot, across, facing_of, find_spot, mean_normal, unit_axes

# A limb touches while it is at most so much farther from the surface (limb lengths) than the nearest that it comes to
# rest within half of this time (s): the surface that it was recorded on may lie elsewhere.
OWN_DISTANCE, NEARBY = 0.08, 1.2
# A hand is free this time (s) after it has touched, and before it touches again.
RELEASE = 0.4
# Where every frame follows the surface, shifts and turns are averaged over this time (s).
WINDOW = 0.15
# A palm or sole at more than this angle to the surface (radians) rests on it in some other way and is not turned.
MOST_TURN = np.radians(45.0)
# A point between two contacts that is within this distance of a surface (limb lengths) may have got into it.
THIN = 0.3


def measure_limbs(clip: Clip) -> Sole:
    """The soles of feet by `measure_sole`; hands have none, their palm is the point that touches."""
    if not clip.hands.any():
        return measure_sole(clip)
    hands = _palms(clip.choose(clip.hands))
    if clip.hands.all():
        return hands
    return measure_sole(clip.choose(~clip.hands)).beside(hands, clip.hands)


def with_floor_of(clip: Clip, sole: Sole) -> Sole:
    """Soles that were measured from another clip of the same limbs, with the floor of this one."""
    feet = ~clip.hands
    floor = with_own_floor(clip.choose(feet), sole.choose(feet)).floor if feet.any() else clip.floors[0]
    return replace(sole, floor=floor)


def _palms(clip: Clip) -> Sole:
    """Hands as soles without height: the wrist for a heel, the palm for ball and tip."""
    nothing = np.zeros((clip.legs, 3))
    into = np.linalg.inv(clip.foot)
    palm = np.median(apply(into, clip.ball), axis=0)
    tip = np.median(apply(np.linalg.inv(clip.toe), clip.ball), axis=0)
    up = nothing if clip.palm is None else clip.palm
    lengths, source = np.zeros((clip.legs, 2)), ("palm",) * clip.legs
    return Sole(lengths[:, 0], nothing, palm, tip, palm, unit(palm), up, up, lengths, clip.floors[0], source)


def touch(clip: Clip, sole: Sole, ground: Ground, settings: Settings, _ride: Array | None = None) -> Held:
    """When the limbs of a clip touch, and where they shall do so; raises `NoGround` far from any surface."""
    up, path = settings.way_up(clip), apply(clip.foot, sole.ball)
    if settings.always(clip.frames):
        return _follow(clip, sole, ground, up, settings.use_slope)
    touches, distance, _ = touches_of(clip, path, ground, settings)
    asked = np.zeros_like(touches) if settings.marks is None else settings.marks.enforced.any(axis=-1)
    _require_surface(distance < np.where(asked, FAR, WITHIN))
    stands = _wanted(touches, settings, clip.fps)
    contacts = np.stack([np.zeros_like(stands), stands], axis=-1)
    anchors = [_anchor(clip, sole, path, span, ground, up, asked) for span in stances(contacts)]
    if settings.use_slope:
        anchors = [anchor for leg in range(clip.legs) for anchor in _turned(clip, sole, leg, anchors)]
    targets, free = _blend(clip, contacts, [anchor for anchor, _ in anchors])
    cleared = _clear_swings(clip, sole, targets, contacts, free, ground, up)
    return Held(contacts, cleared, free, np.ones(clip.legs, bool))


def _require_surface(near: Mask) -> None:
    if not near.any():
        raise NoGround("There is no surface within reach of the limbs")


def touches_of(clip: Clip, path: Array, ground: Ground, settings: Settings) -> tuple[Mask, Array, Array]:
    """Frames (F, L) in which limbs touch the ground with the points of a path (F, L, 3), the distances (F, L) from it
    in limb lengths, and its normals (F, L, 3) there.
    """
    distance, normals = away_from(ground, path, settings.way_up(clip))
    distance = distance / limb_lengths(clip)
    if settings.always(clip.frames):
        return distance < FAR, distance, normals
    return find_touches(path / limb_lengths(clip)[:, None], distance, clip.fps), distance, normals


def away_from(ground: Ground, path: Array, up: Array | None) -> tuple[Array, Array]:
    """How far points (F, L, 3) are from the surface (F, L), infinitely where there is none, and its normals there."""
    hits, normals, found = ask(ground, path, up)
    return np.where(found, np.linalg.norm(path - hits, axis=-1), np.inf), normals


def _wanted(touches: Mask, settings: Settings, fps: float) -> Mask:
    """The touches (F, L) with the user's edits; a mark on heel or ball will do for a limb that touches."""
    if settings.marks is None:
        return touches
    marks = settings.marks
    if settings.contacts == "STORED":
        return marks.standing.any(axis=-1)
    either = Marks(*(mask.any(axis=-1, keepdims=True) for mask in (marks.automatic, marks.enforced, marks.forbidden)))
    return either.applied(touches[..., None], LEAST_CONTACT * fps)[..., 0]


def limb_lengths(clip: Clip) -> Array:
    """The median length of each limb (L,)."""
    return np.median(clip.reach, axis=0)


def find_touches(path: Array, distance: Array, fps: float) -> Mask:
    """Frames (F, L) in which points rest on a surface, from their paths (F, L, 3) and distances (F, L) to it.

    Lengths are limb lengths. Speeds are those of `find_contacts`: a point touches from below the one to enter with
    until above the one to leave with, while it is near the surface: within WITHIN, and within OWN_DISTANCE of the
    nearest that it gets at rest.
    """
    speed = np.linalg.norm(velocity(path, fps), axis=-1)
    resting = np.where(speed < LEAVE_SPEED, distance, np.inf)
    nearest = -running_maximum(-resting, odd_window(NEARBY, fps))
    near = (distance < WITHIN) & (distance < nearest + OWN_DISTANCE)
    touches = hysteresis((speed < LEAVE_SPEED) & near, speed < ENTER_SPEED)
    for column in touches.T:
        for start, end in gaps(column):
            column[start:end] = start > 0 and end < len(column) and end - start < LEAST_CONTACT * fps
        for start, end in runs(column):
            column[start:end] = end - start >= LEAST_CONTACT * fps - 1e-6
    return touches


def _anchor(
    clip: Clip, sole: Sole, path: Array, span: Stance, ground: Ground, up: Array | None, asked: Mask
) -> tuple[Anchor, Spot]:
    """Where a limb touches in a stance, and the spot there: its point of the path (F, L, 3) goes to the surface.

    That is near, but where the user `asked` for it (F, L) as far off as the limb is long.
    """
    leg, middle, frames = span.leg, (span.start + span.end) // 2, np.arange(span.start, span.end)
    length, within = float(limb_lengths(clip)[leg]), FAR if asked[frames, leg].any() else WITHIN
    point, origin = (standing_place(way[:, leg], frames, clip.leg) for way in (path, clip.ball))
    sole_up = None if clip.hands[leg] else _mean_axes(clip, span) @ sole.up[leg]
    spot = find_spot(ground, point, length, up, middle, sole_up, within)
    goal = spot.point + origin - point if spot.found else origin
    anchor = Anchor(span, "ball", origin, goal, np.eye(3), spot.found)
    return (anchor.on(support_of(ground, spot.point, middle), middle) if spot.found else anchor), spot


def _mean_axes(clip: Clip, span: Stance) -> Array:
    """The rotation (3, 3) nearest to a limb's end on the mean over a stance."""
    return nearest_rotations(clip.foot[span.start : span.end, span.leg, :3, :3].mean(axis=0))


def _turned(clip: Clip, sole: Sole, leg: int, anchors: list[tuple[Anchor, Spot]]) -> list[tuple[Anchor, Spot]]:
    """The anchors of one limb turned about their spots, where these are wide: palm or sole lie along the surface."""
    mine = [(anchor, spot) for anchor, spot in anchors if anchor.stance.leg == leg]
    wide = [(_mean_axes(clip, anchor.stance), spot.normal) for anchor, spot in mine if spot.wide]
    if not wide:
        return mine
    axes, normals = (np.array(column) for column in zip(*wide, strict=True))
    turns = iter(_turns_onto(axes @ facing_of(sole.up[leg], axes, normals), normals))
    return [(_about(anchor, spot, next(turns)), spot) if spot.wide else (anchor, spot) for anchor, spot in mine]


def _about(anchor: Anchor, spot: Spot, turn: Array) -> Anchor:
    """The anchor turned (3, 3) about its spot."""
    return replace(anchor, turn=turn, point=spot.point + turn @ (anchor.point - spot.point))


def _turns_onto(directions: Array, normals: Array, counts: Mask | bool = True, window: int = 1) -> Array:
    """Turns (F, ..., 3, 3) of directions (F, ..., 3) onto normals, where each `counts` and they lie near enough.

    They are averaged over a window of so many frames.
    """
    vectors = shortest_turns(directions, normals)
    near = counts & (np.linalg.norm(vectors, axis=-1) <= MOST_TURN)
    return matrix_from_vector(hann_average(np.where(near[..., None], vectors, 0.0), window))


def _blend(clip: Clip, contacts: Mask, anchors: list[Anchor]) -> tuple[Targets, Array]:
    """Targets of all frames, and the share (F, T) in which limbs are free."""
    held = clip.ball + hold_feet(clip, clip.ankle, contacts, places_of(anchors)).shift
    ball, vectors, rise, free = held.copy(), np.zeros_like(held), np.zeros(held.shape[:2]), np.ones(held.shape[:2])
    for leg in range(clip.legs):
        mine = [anchor for anchor in anchors if anchor.stance.leg == leg]
        if not mine:
            continue
        weights = _weights(clip, [anchor.stance for anchor in mine], bool(clip.hands[leg]))
        placed = np.stack([place_path(held[:, leg], anchor, clip.leg) for anchor in mine], axis=1)
        ball[:, leg] += np.einsum("fa,fai->fi", weights, placed - held[:, None, leg])
        turns = np.stack([vector_from_matrix(anchor.turns(clip.frames)) for anchor in mine], axis=1)
        vectors[:, leg] = np.einsum("fa,fai->fi", weights, turns)
        rises = np.stack([(anchor.points(clip.frames) - anchor.origin) @ clip.up for anchor in mine], axis=1)
        rise[:, leg] = np.sum(weights * rises, axis=1)
        free[:, leg] = 1.0 - weights.sum(axis=1)
    return _targets(clip, ball, matrix_from_vector(vectors), rise, tuple(anchors)), free


def _targets(clip: Clip, ball: Array, turn: Array, rise: Array, anchors: tuple[Anchor, ...]) -> Targets:
    ride = np.zeros((clip.frames, 3))
    return Targets(ball, turn, clip.ankle - clip.ball, rise, ball @ clip.up, ride, anchors)


def _weights(clip: Clip, spans: list[Stance], releases: bool) -> Array:
    """Share (F, A) of each anchor in each frame: of a foot as when it stands, of a hand none when it is long free."""
    weights = anchor_weights(clip.frames, spans)
    ramp, stands = max(1, round(RELEASE * clip.fps)), np.zeros(clip.frames, bool)
    for span in spans:
        stands[span.start : span.end] = True
    for start, end in gaps(stands) if releases else ():
        inner, time = start > 0 and end < clip.frames, np.arange(start, end)
        if inner and end - start <= 2 * ramp:
            continue
        after = time - start + 1.0 if start > 0 else np.inf
        away = np.minimum(after, end - time if end < clip.frames else np.inf)
        weights[start:end] *= (1.0 - smoothstep(away / ramp))[:, None]
    return weights


def _clear_swings(
    clip: Clip, sole: Sole, targets: Targets, contacts: Mask, free: Array, ground: Ground, up: Array | None
) -> Targets:
    """The targets moved out of the surface where the touching point would get into it between two contacts."""
    path = targets.ball + np.einsum("flij,flj->fli", targets.turn, apply(clip.foot, sole.ball) - clip.ball)
    hits, normals, found = ask(ground, path, up)
    length = limb_lengths(clip)
    height, root = (np.sum((points - hits) * normals, axis=-1) / length for points in (path, clip.hip))
    near = found & (np.linalg.norm(path - hits, axis=-1) < THIN * length)
    move = np.zeros_like(path)
    for leg in range(clip.legs):
        for start, end in runs((free[:, leg] < 1.0) & ~contacts[:, leg, 1]):
            rows = slice(start, end)
            # Of a sheet that looks the wrong way both the limb and its root lie on the other side.
            wrong = [np.sum(away[rows, leg][found[rows, leg]]) < 0.0 for away in (height, root)]
            side = -1.0 if all(wrong) else 1.0
            under = np.where(near[rows, leg], -side * height[rows, leg], 0.0)
            lift = clear(under, 0.0, (end - start + 1) / clip.fps, (start > 0, end < clip.frames))
            way = _way_out(side * normals[rows, leg], under, clip.hip[rows, leg] - path[rows, leg], path[rows, leg])
            move[rows, leg] = (length[leg] * lift)[:, None] * way
    return targets.moved(move)


def _way_out(normals: Array, under: Array, to_root: Array, path: Array) -> Array:
    """The unit direction (3,) out of a surface: its mean normal where a point is under it, else towards the root."""
    mean = np.maximum(under, 0.0) @ normals / max(float(np.maximum(under, 0.0).sum()), 1e-300)
    if np.linalg.norm(mean) > 0.5:
        return unit(mean)
    # Through something thin, such as a rung: aside, square to the way.
    return unit(level_part(to_root.mean(axis=0), unit(path[-1] - path[0])))


def _follow(clip: Clip, sole: Sole, ground: Ground, up: Array | None, use_slope: bool) -> Held:
    """Every frame on the surface nearest to it, whatever its height."""
    path, length, window = apply(clip.foot, sole.ball), limb_lengths(clip), odd_window(WINDOW, clip.fps)
    hits, normals, found = ask(ground, path, up)
    found &= np.linalg.norm(path - hits, axis=-1) < FAR * length
    _require_surface(found)
    mean, wide = normals, np.zeros_like(found)
    if use_slope:
        around = hits[:, :, None] + AROUND * length[:, None, None] * across(normals)
        mean, wide = mean_normal(hits, normals, *ask(ground, around, up), length)
    axes = unit_axes(clip.foot[..., :3, :3])
    rows = [(found & wide)[:, leg] for leg in range(clip.legs)]
    facing = np.stack([facing_of(sole.up[leg], axes[row, leg], mean[row, leg]) for leg, row in enumerate(rows)])
    turn = _turns_onto(np.einsum("flij,lj->fli", axes, facing), mean, found & wide, window)
    shift = hann_average(np.where(found[..., None], hits - path, 0.0), window)
    shift = np.where(found[..., None], ask(ground, path + shift, up)[0] - path, 0.0)
    ball = path + shift + np.einsum("flij,flj->fli", turn, clip.ball - path)
    contacts, free = np.stack([np.zeros_like(found), found], axis=-1), (~found).astype(float)
    return Held(contacts, _targets(clip, ball, turn, shift @ clip.up, ()), free, np.zeros(clip.legs, bool))
