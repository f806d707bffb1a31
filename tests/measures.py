# SPDX-License-Identifier: MIT
"""The judge of planted clips: measures taken from joints of evaluated scenes, never from the planner's arrays.

Lengths are shares of the leg (thigh plus shin), angles are degrees. The judged spans come from the source alone. In a
span, the toe joint is slower than 0.35 leg lengths a second for at least 0.08 s, within 0.12 leg of its standing height
and less than 0.24 leg above a lower foot; the middle three fifths of the span are judged. Faces steeper than 50 degrees
are ignored.

Columns of the feet: see `Measures` and `GOOD`. Columns of the body:

hips_acceleration  largest acceleration of the hips' offset, by its second difference over 1/30 s, leg lengths/s^2
hips_rms           root mean square of this acceleration
hips               largest offset of the hips
flexion            how much more the straighter knee is bent than the straighter one of the source: median over frames
flexion_high       95th percentile of this difference
height             largest change of a ball's height on judged frames: meaningful on the clip's own flat floor only
reversals          turning points of the knees' angles without a counterpart in the source, see `reversals`
seam               how far a joint of a loop jumps as its last frame gives way to its first; 0 if the clip is no loop
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ik2bone.arrays import Array
from ik2bone.clip import Clip

SLOW, LEAST, NEAR, STEEP = 0.35, 0.08, 0.12, np.cos(np.radians(50.0))
FLAT = np.radians(10.0)
# A knee's angle has a turning point where it changes by more than this (degrees) before and after. Half of this is
# enough in the source, so that a bounce which planting makes up to twice as large does not count as a new one.
TURN = 2.0
# A turning point of the source is the counterpart of one of the result within this time (s), in which reports also look
# for pops.
SAME_TURN = 0.1
# The clip is a loop if no joint is farther from its first place than this on the last frame (leg lengths).
SAME_POSE = 0.03


@dataclass(frozen=True)
class Measures:
    """The measures of one clip on one ground, each the worst of both feet."""

    spans: int
    drift: float
    clearance: float
    slope: float
    toe_under: float
    heel_under: float
    knee_pop: float
    foot_pop: float
    hips_acceleration: float
    thigh_jump: float
    knee_sideways: float
    heading: float
    knee_side: float
    hips_rms: float
    hips: float
    flexion: float
    flexion_high: float
    height: float
    reversals: int
    seam: float = 0.0


# The limits of a good planting: the column "good" of the measurements on which the planner's design is based.
GOOD = {
    "drift": 0.001,
    "clearance": 0.003,
    "slope": 4.0,
    "toe_under": 0.002,
    "heel_under": 0.008,
    "knee_pop": 10.0,
    "foot_pop": 0.04,
    "hips_acceleration": 7.0,
    "heading": 3.0,
    "knee_side": 10.0,
}


def shortfalls(measures: Measures) -> dict[str, float]:
    """The values that are not good, by name. Measures that need judged spans are good in clips without such spans."""
    return {name: value for name in GOOD if (value := getattr(measures, name)) > GOOD[name]}


def judged_spans(clip: Clip) -> list[tuple[int, int, int]]:
    """The middle three fifths (leg, first, end) of each span in which a toe joint is slow and low."""
    speed = np.linalg.norm(np.diff(clip.ball, axis=0), axis=-1) * clip.fps / clip.leg
    height = clip.ball @ clip.up / clip.leg
    # A foot this much above the lower one hangs in the air. A standing foot itself may be as high above the floor.
    low = height - height.min(axis=1, keepdims=True) < 2 * NEAR
    spans = []
    for leg in range(clip.legs):
        slow = low[:, leg] & (np.concatenate([speed[:1, leg], speed[:, leg]]) < SLOW)
        standing = np.median(height[slow, leg]) if slow.any() else 0.0
        for start, end in true_runs(slow & (np.abs(height[:, leg] - standing) < NEAR)):
            # The speed of a frame is that of the step before it. The first frame has no such step and adds no time.
            if end - max(start, 1) >= LEAST * clip.fps:
                trim = (end - start) // 5
                spans.append((leg, start + trim, end - trim))
    return spans


def true_runs(mask) -> list[tuple[int, int]]:
    """The runs of True in a mask: pairs of the first index and the index after the last."""
    runs, start = [], None
    for index, value in enumerate([*mask, False]):
        if value and start is None:
            start = index
        elif not value and start is not None:
            runs.append((start, index))
            start = None
    return runs


def knee_angle(clip: Clip) -> Array:
    """The angles (F, L) between thigh and shin, in degrees; 0 is straight."""
    thigh, shin = clip.knee - clip.hip, clip.ankle - clip.knee
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(thigh, shin), axis=-1), np.sum(thigh * shin, axis=-1)))


def pop(before: Array, after: Array, fps: float) -> float:
    """The largest second difference, over 1/30 s, of values (F, L, ...), less 1.5 times that of the source nearby.

    The source's second differences within 1/30 s count with their component in the same direction; those of angles
    count if they have the same sign. So one pop of the source never excuses two of the result: between two pops of one
    sign there is a pop of the other sign.
    """
    step = max(1, round(fps / 30))
    if len(before) <= 2 * step:
        return 0.0
    source, result = (_second_difference(values, step) for values in (before, after))
    size = np.linalg.norm(result, axis=-1)
    way = result / np.maximum(size, 1e-12)[..., None]
    padded = np.pad(source, ((step, step), (0, 0), (0, 0)))
    allowed = np.max([np.sum(padded[i : i + len(size)] * way, axis=-1) for i in range(2 * step + 1)], axis=0)
    return float(np.max(size - 1.5 * np.maximum(allowed, 0.0)))


def _second_difference(values: Array, step: int) -> Array:
    """The second differences (F - 2 steps, L, C) of values (F, L) or (F, L, C)."""
    values = values.reshape(*values.shape[:2], -1)
    return values[2 * step :] - 2 * values[step:-step] + values[: -2 * step]


def reversals(before: Array, after: Array, fps: float) -> int:
    """The number of turning points of angles (F, L) without a counterpart in the source. An added bounce counts as two.

    Each turning point of the source is the counterpart of at most one turning point, in the order of time. So a bounce
    at another time in the source, or one that the result lacks at another time, does not offset an added bounce.
    """
    missing = 0
    for leg in range(before.shape[1]):
        source, result = turning_points(before[:, leg], TURN / 2), turning_points(after[:, leg], TURN)
        for way in (1, -1):
            same = [[turn[1:] for turn in turns if turn[0] == way] for turns in (source, result)]
            missing += _without_counterpart(*same, round(SAME_TURN * fps))
    return missing


def _without_counterpart(source: list[tuple[int, int]], result: list[tuple[int, int]], slack: int) -> int:
    """The number of spans (first, last) of the result for which no span of the source within `slack` frames is left."""
    missing, waiting = 0, list(source)
    for first, last in result:
        while waiting and waiting[0][1] + slack < first:
            waiting.pop(0)
        if waiting and waiting[0][0] - slack <= last:
            waiting.pop(0)
        else:
            missing += 1
    return missing


def turning_points(values: Array, least: float) -> list[tuple[int, int, int]]:
    """The turning points of values (F,) with a change of more than `least` before and after: (1 or -1, first, last).

    A peak has 1, a trough -1. The frames from first to last are those round the extremum on which values differ from it
    by at most `TURN`, because a flat extremum has no single frame.
    """
    turns, low, high, way = [], 0, 0, 0
    for frame, value in enumerate(values):
        high, low = (frame if value > values[high] else high), (frame if value < values[low] else low)
        if way >= 0 and value < values[high] - least:
            turns += [(1, high)] * way
            way, low = -1, frame
        elif way <= 0 and value > values[low] + least:
            turns += [(-1, low)] * -way
            way, high = 1, frame
    return [(way, *_level_round(values, frame)) for way, frame in turns]


def _level_round(values: Array, frame: int) -> tuple[int, int]:
    near = np.abs(values - values[frame]) <= TURN
    return next((start, end - 1) for start, end in true_runs(near) if start <= frame < end)


def measure(before: Clip, after: Clip, ground, heel: Array) -> Measures:
    """Compare a clip sampled before and after planting. `heel` (L, 3) are the heels in the space of foot bones."""
    leg, up, spans = before.leg, before.up, judged_spans(before)
    toe = after.ball
    hits, normals, found = ground(toe.reshape(-1, 3), -up)
    hits, normals = hits.reshape(toe.shape), normals.reshape(toe.shape)
    gentle = found.reshape(toe.shape[:2]) & (normals @ up > STEEP)
    height = np.sum((toe - hits) * normals, axis=-1) / leg
    heels = np.einsum("flij,lj->fli", after.foot[..., :3, :3], heel) + after.ankle
    heel_hits, heel_normals, heel_found = ground(heels.reshape(-1, 3), -up)
    heel_hits, heel_normals = heel_hits.reshape(toe.shape), heel_normals.reshape(toe.shape)
    heel_height = np.sum((heels - heel_hits) * heel_normals, axis=-1) / leg
    heel_gentle = heel_found.reshape(toe.shape[:2]) & (heel_normals @ up > STEEP)
    slope_at_heel = np.where(heel_gentle[..., None], heel_normals, normals)
    hips = (after.hip - before.hip).mean(axis=1) / leg
    acceleration = _acceleration(hips, before.fps)
    knees = knee_angle(before), knee_angle(after)
    flexion = knees[1].min(axis=1) - knees[0].min(axis=1)
    rise = np.abs((toe - before.ball) @ up) / leg
    return Measures(
        len(spans),
        max((_spread(toe[a:b, i]) for i, a, b in spans), default=0.0) / leg,
        _off_median(height, gentle, spans),
        _slope(before, after, _slopes(normals, slope_at_heel, hits - heel_hits), gentle, spans),
        float(max(0.0, -height[gentle].min(initial=0.0))),
        float(max(0.0, -heel_height[heel_gentle].min(initial=0.0))),
        pop(*knees, before.fps),
        pop(before.ball / leg, toe / leg, before.fps),
        float(acceleration.max(initial=0.0)),
        _largest_turn(after.thigh) - _largest_turn(before.thigh),
        _sideways(before, after),
        _heading(before, after, heel, spans),
        _knee_side(before, after),
        float(np.sqrt(np.mean(acceleration**2))) if len(acceleration) else 0.0,
        float(np.linalg.norm(hips, axis=-1).max()),
        float(np.median(flexion)),
        float(np.percentile(flexion, 95)),
        max((float(rise[a:b, i].max()) for i, a, b in spans), default=0.0),
        reversals(*knees, before.fps),
        _seam(before, after),
    )


def _seam(before: Clip, after: Clip) -> float:
    own, planted = (np.concatenate([each.hip, each.knee, each.ankle, each.ball], axis=1) for each in (before, after))
    gap, jump = (np.linalg.norm(ways[-1] - ways[0], axis=-1).max() / before.leg for ways in (own, planted - own))
    return float(jump) if gap < SAME_POSE else 0.0


def _largest_turn(matrices: Array) -> float:
    """The largest rotation from a frame to the next, in degrees. It includes rolls, which positions of joints lack."""
    axes = _axes(matrices)
    steps = np.einsum("flji,fljk->flik", axes[:-1], axes[1:])
    cosine = np.clip((np.trace(steps, axis1=-2, axis2=-1) - 1) / 2, -1, 1)
    return float(np.degrees(np.arccos(cosine)).max(initial=0.0))


def _sideways(before: Clip, after: Clip) -> float:
    """The largest angle, in degrees, between the hinge of a knee and the usual hinge of the source's bent knees.

    Knees bent by more than 15 degrees count; in the source, those bent by more than 20 degrees.
    """
    hinge = np.einsum("flji,flj->fli", _axes(before.shin), _bend_normal(before))
    bent = np.where(knee_angle(before) > 20.0, 1.0, 0.0)[..., None]
    usual = np.einsum("flij,lj->fli", _axes(after.shin), (bent * hinge).sum(axis=0))
    normal = _bend_normal(after)
    angle = np.degrees(np.arctan2(np.linalg.norm(np.cross(usual, normal), axis=-1), np.sum(usual * normal, axis=-1)))
    return float(np.max(np.where(knee_angle(after) > 15.0, angle, 0.0)))


def _heading(before: Clip, after: Clip, heel: Array, spans) -> float:
    """The 95th percentile of the angle, in degrees, between the headings of a flat sole in the source and the result.

    Only judged frames count on which the sole's pitch is near the median of the foot's judged frames: other pitches
    would show false turns. The heading is that of the mean level direction from heel to toe joint on these frames.
    """
    values = []
    for leg in range(before.legs):
        frames = np.array([frame for i, a, b in spans if i == leg for frame in range(a, b)], int)
        if not len(frames):
            continue
        source, result = (_axes(clip.foot)[frames, leg] for clip in (before, after))
        way = before.ball[frames, leg] - before.ankle[frames, leg] - _axes_by(before, frames, leg, heel)
        pitch = np.arcsin(way @ before.up / np.linalg.norm(way, axis=-1))
        flat = np.abs(pitch - np.median(pitch)) < FLAT
        level = way - (way @ before.up)[:, None] * before.up
        forward = np.einsum("fji,fj->fi", source, level)[flat].mean(axis=0)
        angles = [np.arctan2(*_level(axes[flat] @ forward, before.up)[::-1]) for axes in (source, result)]
        values.append(np.abs((angles[1] - angles[0] + np.pi) % (2 * np.pi) - np.pi))
    values = np.concatenate(values) if values else np.zeros(1)
    return float(np.degrees(np.percentile(values, 95)))


def _axes_by(clip: Clip, frames: Array, leg: int, points: Array) -> Array:
    """The vectors (N, 3) from the ankle to a point that is fixed in the foot's space."""
    return clip.foot[frames, leg, :3, :3] @ points[leg]


def _level(ways: Array, up: Array) -> tuple[Array, Array]:
    """The coordinates of vectors (..., 3) along two level axes."""
    first = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    first /= np.linalg.norm(first)
    return ways @ first, ways @ np.cross(up, first)


def _knee_side(before: Clip, after: Clip) -> float:
    """The largest angle, in degrees, between the bend and the source's bend, carried along with the line hip-ankle.

    The source's bend is carried by the shortest turn of this line. Only knees bent by more than 15 degrees in both
    clips count, because a straighter knee has no clear bend.
    """
    (line, bend), (after_line, after_bend) = (_line_and_bend(clip) for clip in (before, after))
    axis = np.cross(line, after_line)
    cosine = np.sum(line * after_line, axis=-1, keepdims=True)
    # The shortest turn of unit vectors, computed without angles.
    carried = cosine * bend + np.cross(axis, bend) + axis * np.sum(axis * bend, axis=-1, keepdims=True) / (1.0 + cosine)
    sine = np.linalg.norm(np.cross(carried, after_bend), axis=-1)
    angle = np.degrees(np.arctan2(sine, np.sum(carried * after_bend, axis=-1)))
    counts = (knee_angle(before) > 15.0) & (knee_angle(after) > 15.0)
    return float(np.max(np.where(counts, angle, 0.0)))


def _line_and_bend(clip: Clip) -> tuple[Array, Array]:
    """The unit direction from hip to ankle, and the unit direction from this line to the knee."""
    line = clip.ankle - clip.hip
    line = line / np.linalg.norm(line, axis=-1, keepdims=True)
    bend = clip.knee - clip.hip
    bend = bend - np.sum(bend * line, axis=-1, keepdims=True) * line
    return line, bend / np.maximum(np.linalg.norm(bend, axis=-1, keepdims=True), 1e-12)


def _bend_normal(clip: Clip) -> Array:
    return np.cross(clip.hip - clip.knee, clip.ankle - clip.knee) / clip.reach[..., None] ** 2


def _spread(path: Array) -> float:
    return float(np.linalg.norm(path - path.mean(axis=0), axis=-1).max())


def _off_median(height: Array, gentle, spans) -> float:
    values = [height[a:b, i][gentle[a:b, i]] for i, a, b in spans]
    values = np.concatenate(values) if values else np.zeros(1)
    return float(np.percentile(np.abs(values - np.median(values)), 95)) if len(values) else 0.0


def _slope(before: Clip, after: Clip, slopes: Array, gentle, spans) -> float:
    """The 95th percentile of the angle, in degrees, from each sole to the nearest of the slopes that it may lie on.

    The direction in the sole that points up in the source should point along one of the normals `slopes` (S, F, L, 3)
    in the result.
    """
    source = np.einsum("flji,j->fli", _axes(before.foot), before.up)
    result = np.einsum("flji,sflj->sfli", _axes(after.foot), slopes)
    cross = np.linalg.norm(np.cross(source, result), axis=-1)
    angle = np.degrees(np.arctan2(cross, np.sum(source * result, axis=-1))).min(axis=0)
    values = [angle[a:b, i][gentle[a:b, i]] for i, a, b in spans]
    values = np.concatenate(values) if values else np.zeros(1)
    return float(np.percentile(values, 95)) if len(values) else 0.0


def _slopes(ball: Array, heel: Array, lines: Array) -> Array:
    """The unit normals (2, F, L, 3) of the slopes that a sole may lie on.

    The first is that of the ground under the ball. The second, on curved ground, is that of the line from the ground
    under the heel to the ground under the ball, because a flat sole with heel and ball on curved ground does not lie on
    the first. The ground is curved if this line tilts less from the slope under the ball than the slope under the heel
    does. Over a step the line tilts more.
    """
    square = np.maximum(np.sum(lines**2, axis=-1, keepdims=True), 1e-300)
    along = ball - np.sum(ball * lines, axis=-1, keepdims=True) / square * lines
    along /= np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-12)
    curved = np.sum(ball * along, axis=-1) > np.sum(ball * heel, axis=-1)
    return np.stack([ball, np.where(curved[..., None], along, ball)])


def _axes(matrices: Array) -> Array:
    axes = matrices[..., :3, :3]
    return axes / np.linalg.norm(axes, axis=-2, keepdims=True)


def _acceleration(offset: Array, fps: float) -> Array:
    """The magnitudes (F - 2 steps,) of the acceleration of an offset (F, 3), by second differences over 1/30 s."""
    step = max(1, round(fps / 30))
    return np.linalg.norm(_second_difference(offset[:, None], step)[:, 0], axis=-1) * (fps / step) ** 2
