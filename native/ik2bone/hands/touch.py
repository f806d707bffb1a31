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
from ..contacts.detect import ENTER_SPEED, LEAST_CONTACT, LEAST_GAP, LEAVE_SPEED, Stance, stances
from ..contacts.spans import Marks
from ..curves import gaps, hann_average, odd_window, runs, smoothstep, velocity
from ..ground.query import NoGround, ask, support_of
from ..model import Array, Clip, Ground, Mask
from ..rotations import matrix_from_vector, shortest_turns, vector_from_matrix
from ..settings import Settings
from ..sole.measure import Sole, apply, measure_sole, with_own_floor
from ..targets.blend import Held, Targets, anchor_weights, place_path, places_of
from ..targets.lock import hold_feet, standing_place
from ..targets.swing import clear
from .nearest import AROUND, FAR, WITHIN, Spot, across, facing_of, find_spot, mean_axes, mean_normal, unit_axes

# A touching point is at most so much farther from the surface than the nearest that it gets nearby (limb lengths).
OWN_DISTANCE = 0.08
NEARBY = 1.2
# A hand is free again this time (s) after it has touched, and comes from being free as long before.
RELEASE = 0.4
# Every frame that follows the surface does so on average over this time (s).
WINDOW = 0.15
# What faces a surface at more than this angle (radians) rests on it in some other way and is not turned.
MOST_TURN = np.radians(45.0)
# A swinging point within this distance of a surface (limb lengths) may have got into it.
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
    forward = palm / np.maximum(np.linalg.norm(palm, axis=-1, keepdims=True), 1e-300)
    up = nothing if clip.palm is None else clip.palm
    return Sole(
        np.zeros(clip.legs),
        nothing,
        palm,
        tip,
        palm,
        forward,
        up,
        up,
        np.zeros((clip.legs, 2)),
        clip.floors[0],
        ("palm",) * clip.legs,
    )


def touch(clip: Clip, sole: Sole, ground: Ground, settings: Settings, _ride: Array | None = None) -> Held:
    """Find out when the limbs of a clip touch, and where they shall do so; raises `NoGround` far from any surface."""
    up = settings.way_up(clip)
    path = apply(clip.foot, sole.ball)
    distance, _ = away_from(ground, path, up)
    distance, asked = distance / limb_lengths(clip), _asked(clip, settings)
    if not (distance < np.where(asked, FAR, WITHIN)).any():
        raise NoGround("There is no surface within reach of the limbs")
    if settings.always(clip.frames):
        return _follow(clip, sole, ground, up, settings.use_slope)
    stands = _wanted(find_touches(path / limb_lengths(clip)[:, None], distance, clip.fps), settings, clip.fps)
    contacts = np.stack([np.zeros_like(stands), stands], axis=-1)
    anchors = _find_anchors(clip, sole, path, contacts, ground, up, settings.use_slope, asked)
    targets, free = _blend(clip, contacts, anchors)
    cleared = _clear_swings(clip, sole, targets, contacts, free, ground, up)
    return Held(contacts, cleared, free, np.ones(clip.legs, bool))


def away_from(ground: Ground, path: Array, up: Array | None) -> tuple[Array, Array]:
    """How far points (F, T, 3) are from the surface (F, T), infinitely where there is none, and its normals there."""
    hits, normals, found = ask(ground, path, up)
    return np.where(found, np.linalg.norm(path - hits, axis=-1), np.inf), normals


def _asked(clip: Clip, settings: Settings) -> Mask:
    """Where people want limbs to touch (F, T), however far from a surface they are."""
    if settings.always(clip.frames):
        return np.ones((clip.frames, clip.legs), bool)
    return np.zeros((clip.frames, clip.legs), bool) if settings.marks is None else settings.marks.enforced.any(axis=-1)


def _wanted(touches: Mask, settings: Settings, fps: float) -> Mask:
    """The frames (F, T) in which limbs touch by what was found and what people want; either part will do for that."""
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
    """Frames (F, T) in which points rest on a surface, from their paths (F, T, 3) and distances (F, T) to it.

    Lengths are limb lengths. A point touches from the moment its speed falls under that of `find_contacts`, for as
    long as it stays under the leaving one, and is near the surface: within WITHIN, and not much farther than the
    nearest that it gets at rest within half of NEARBY.
    """
    speed = np.linalg.norm(velocity(path, fps), axis=-1)
    resting = np.where(speed < LEAVE_SPEED, distance, np.inf)
    near = (distance < WITHIN) & (distance < _lowest(resting, odd_window(NEARBY, fps)) + OWN_DISTANCE)
    slow = (speed < LEAVE_SPEED) & near
    return np.stack([_spans(*column, fps) for column in zip(slow.T, (speed < ENTER_SPEED).T, strict=True)], axis=1)


def _lowest(values: Array, window: int) -> Array:
    """The least of the values (F, T) within a window round each frame."""
    padded = np.pad(values, ((window // 2, window // 2), (0, 0)), constant_values=np.inf)
    return np.lib.stride_tricks.sliding_window_view(padded, window, axis=0).min(axis=-1)


def _spans(slow: Mask, still: Mask, fps: float) -> Mask:
    """Runs of slow frames that hold a still one, short gaps closed, short runs dropped."""
    touches = np.zeros_like(slow)
    for start, end in runs(slow):
        touches[start:end] = still[start:end].any()
    for start, end in gaps(touches):
        if start > 0 and end < len(touches) and end - start < LEAST_GAP * fps:
            touches[start:end] = True
    for start, end in runs(touches):
        touches[start:end] = end - start >= LEAST_CONTACT * fps - 1e-6
    return touches


def _find_anchors(
    clip: Clip,
    sole: Sole,
    path: Array,
    contacts: Mask,
    ground: Ground,
    up: Array | None,
    use_slope: bool,
    asked: Mask,
) -> list[Anchor]:
    """One anchor a contact: the touching point goes to the surface nearest to where it rested, and the ball with it.

    That lies near, but where it is `asked` for (F, T) as far off as the limb is long.
    """
    anchors: list[Anchor] = []
    for leg, length in enumerate(limb_lengths(clip)):
        spans = [stance for stance in stances(contacts) if stance.leg == leg]
        axes = np.array([mean_axes(clip.foot[span.start : span.end, leg, :3, :3]) for span in spans]).reshape(-1, 3, 3)
        points = [standing_place(path[:, leg], np.arange(span.start, span.end), clip.leg) for span in spans]
        reaches = [FAR if asked[span.start : span.end, leg].any() else WITHIN for span in spans]
        soles_up = [None if clip.hands[leg] else axis @ sole.up[leg] for axis in axes]
        spots = [
            find_spot(ground, point, length, up, (span.start + span.end) // 2, sole_up, within)
            for span, point, sole_up, within in zip(spans, points, soles_up, reaches, strict=True)
        ]
        turns = _turns(sole.up[leg], axes, spots) if use_slope else [np.eye(3)] * len(spans)
        for span, point, spot, turn in zip(spans, points, spots, turns, strict=True):
            origin = standing_place(clip.ball[:, leg], np.arange(span.start, span.end), clip.leg)
            goal = spot.point + turn @ (origin - point) if spot.found else origin
            anchor, middle = Anchor(span, "ball", origin, goal, turn, spot.found), (span.start + span.end) // 2
            anchors.append(anchor.on(support_of(ground, spot.point, middle), middle) if spot.found else anchor)
    return anchors


def _turns(known: Array, axes: Array, spots: list[Spot]) -> list[Array]:
    """Turns (3, 3) that lay a limb's palm or sole along wide surfaces; the identity elsewhere."""
    wide = np.array([spot.wide for spot in spots], bool)
    normals = np.array([spot.normal for spot in spots]).reshape(-1, 3)
    vectors = shortest_turns(axes @ facing_of(known, axes[wide], normals[wide]), normals)
    turned = wide & (np.linalg.norm(vectors, axis=-1) <= MOST_TURN)
    return list(matrix_from_vector(np.where(turned[:, None], vectors, 0.0)))


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
    if not releases:
        return weights
    ramp, time = max(1, round(RELEASE * clip.fps)), np.arange(clip.frames)
    bounds = [
        (None, spans[0].start),
        *((a.end, b.start) for a, b in zip(spans, spans[1:], strict=False)),
        (spans[-1].end, None),
    ]
    for number, (start, end) in enumerate(bounds):
        if start is not None and end is not None and end - start <= 2 * ramp:
            continue
        inside = slice(start or 0, clip.frames if end is None else end)
        weights[inside] = 0.0
        if start is not None:
            weights[inside, number - 1] = 1.0 - smoothstep((time[inside] - start + 1) / ramp)
        if end is not None:
            weights[inside, number] = 1.0 - smoothstep((end - time[inside]) / ramp)
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
        return mean / np.linalg.norm(mean)
    # Through something thin, such as a rung: aside, square to the way.
    way = path[-1] - path[0]
    way = way / max(float(np.linalg.norm(way)), 1e-300)
    aside = to_root.mean(axis=0) - (to_root.mean(axis=0) @ way) * way
    return aside / max(float(np.linalg.norm(aside)), 1e-300)


def _follow(clip: Clip, sole: Sole, ground: Ground, up: Array | None, use_slope: bool) -> Held:
    """Every frame on the surface nearest to it, whatever its height."""
    path, length, window = apply(clip.foot, sole.ball), limb_lengths(clip), odd_window(WINDOW, clip.fps)
    hits, normals, found = ask(ground, path, up)
    found &= np.linalg.norm(path - hits, axis=-1) < FAR * length
    mean, wide = normals, np.zeros_like(found)
    if use_slope:
        around = hits[:, :, None] + AROUND * length[:, None, None] * across(normals)
        mean, wide = mean_normal(hits, normals, *ask(ground, around, up), length)
    axes = unit_axes(clip.foot[..., :3, :3])
    rows = [(found & wide)[:, leg] for leg in range(clip.legs)]
    facing = np.stack([facing_of(sole.up[leg], axes[row, leg], mean[row, leg]) for leg, row in enumerate(rows)])
    vectors = shortest_turns(np.einsum("flij,lj->fli", axes, facing), mean)
    turned = found & wide & (np.linalg.norm(vectors, axis=-1) <= MOST_TURN)
    turn = matrix_from_vector(hann_average(np.where(turned[..., None], vectors, 0.0), window))
    shift = hann_average(np.where(found[..., None], hits - path, 0.0), window)
    shift = np.where(found[..., None], ask(ground, path + shift, up)[0] - path, 0.0)
    ball = path + shift + np.einsum("flij,flj->fli", turn, clip.ball - path)
    contacts = np.stack([np.zeros_like(found), found], axis=-1)
    free, locked = (~found).astype(float), np.zeros(clip.legs, bool)
    return Held(contacts, _targets(clip, ball, turn, shift @ clip.up, ()), free, locked)
