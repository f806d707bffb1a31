# SPDX-License-Identifier: MIT
"""The judge of planted clips: measures taken from joints of evaluated scenes, never from the planner's arrays.

Lengths are shares of the leg (thigh plus shin), angles degrees. The spans that are judged come from the source alone:
the toe joint slower than 0.35 leg lengths a second for at least 0.08 s within 0.12 leg of its standing height, the
middle three fifths of each. Faces steeper than 50 degrees count for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ik2bone.model import Array, Clip

SLOW, LEAST, NEAR, STEEP = 0.35, 0.08, 0.12, np.cos(np.radians(50.0))
FLAT = np.radians(10.0)


@dataclass(frozen=True)
class Measures:
    """One clip on one ground, worst over both feet."""

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


# What a good planting keeps to: the column "good" of the measurements that the planner was designed by.
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
    """The values that are not good, by name; without judged spans those that need them are never among them."""
    return {name: value for name in GOOD if (value := getattr(measures, name)) > GOOD[name]}


def judged_spans(clip: Clip) -> list[tuple[int, int, int]]:
    """(leg, first, end) of the middle three fifths of each slow spell of each toe joint."""
    speed = np.linalg.norm(np.diff(clip.ball, axis=0), axis=-1) * clip.fps / clip.leg
    height = clip.ball @ clip.up / clip.leg
    spans = []
    for leg in range(clip.legs):
        slow = np.concatenate([speed[:1, leg], speed[:, leg]]) < SLOW
        standing = np.median(height[slow, leg]) if slow.any() else 0.0
        for start, end in true_runs(slow & (np.abs(height[:, leg] - standing) < NEAR)):
            if end - start >= LEAST * clip.fps:
                trim = (end - start) // 5
                spans.append((leg, start + trim, end - trim))
    return spans


def true_runs(mask) -> list[tuple[int, int]]:
    """Runs of True: pairs of first index and the index after the last."""
    runs, start = [], None
    for index, value in enumerate([*mask, False]):
        if value and start is None:
            start = index
        elif not value and start is not None:
            runs.append((start, index))
            start = None
    return runs


def knee_angle(clip: Clip) -> Array:
    """Angle (F, L) between thigh and shin, degrees; 0 is straight."""
    thigh, shin = clip.knee - clip.hip, clip.ankle - clip.knee
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(thigh, shin), axis=-1), np.sum(thigh * shin, axis=-1)))


def pop(before: Array, after: Array, fps: float) -> float:
    """Largest second difference over 1/30 s, less 1.5 times the source's largest within 0.1 s. Values (F, L, ...)."""
    step = max(1, round(fps / 30))

    def second(values: Array) -> Array:
        change = values[2 * step :] - 2 * values[step:-step] + values[: -2 * step]
        return np.abs(change) if change.ndim == 2 else np.linalg.norm(change, axis=-1)

    if len(before) <= 2 * step:
        return 0.0
    source, near = second(before), max(1, round(0.1 * fps))
    padded = np.pad(source, ((near, near), (0, 0)))
    allowed = np.max([padded[i : i + len(source)] for i in range(2 * near + 1)], axis=0)
    return float(np.max(second(after) - 1.5 * allowed))


def measure(before: Clip, after: Clip, ground, heel: Array) -> Measures:
    """Compare a clip sampled before and after planting; `heel` (L, 3) are the heels in foot bone space."""
    leg, up, spans = before.leg, before.up, judged_spans(before)
    toe = after.ball
    hits, normals, found = ground(toe.reshape(-1, 3), -up)
    hits, normals = hits.reshape(toe.shape), normals.reshape(toe.shape)
    gentle = found.reshape(toe.shape[:2]) & (normals @ up > STEEP)
    height = np.sum((toe - hits) * normals, axis=-1) / leg
    heels = np.einsum("flij,lj->fli", after.foot[..., :3, :3], heel) + after.ankle
    heel_hits, heel_normals, heel_found = ground(heels.reshape(-1, 3), -up)
    heel_height = np.sum((heels.reshape(-1, 3) - heel_hits) * heel_normals, axis=-1) / leg
    heel_gentle = heel_found & (heel_normals @ up > STEEP)
    hips = (after.hip - before.hip).mean(axis=1) / leg
    return Measures(
        len(spans),
        max((_spread(toe[a:b, i]) for i, a, b in spans), default=0.0) / leg,
        _off_median(height, gentle, spans),
        _slope(before, after, normals, gentle, spans),
        float(max(0.0, -height[gentle].min(initial=0.0))),
        float(max(0.0, -heel_height[heel_gentle].min(initial=0.0))),
        pop(knee_angle(before), knee_angle(after), before.fps),
        pop(before.ball / leg, toe / leg, before.fps),
        _acceleration(hips, before.fps),
        _largest_turn(after.thigh) - _largest_turn(before.thigh),
        _sideways(before, after),
        _heading(before, after, heel, spans),
        _knee_side(before, after),
    )


def _largest_turn(matrices: Array) -> float:
    """Largest turn from a frame to the next, degrees: rolls about the bone count, which joints do not show."""
    axes = _axes(matrices)
    steps = np.einsum("flji,fljk->flik", axes[:-1], axes[1:])
    cosine = np.clip((np.trace(steps, axis1=-2, axis2=-1) - 1) / 2, -1, 1)
    return float(np.degrees(np.arccos(cosine)).max(initial=0.0))


def _sideways(before: Clip, after: Clip) -> float:
    """Largest angle, degrees, of a knee bent more than 15 degrees from the hinge that the source's bent knees have."""
    hinge = np.einsum("flji,flj->fli", _axes(before.shin), _bend_normal(before))
    bent = np.where(knee_angle(before) > 20.0, 1.0, 0.0)[..., None]
    usual = np.einsum("flij,lj->fli", _axes(after.shin), (bent * hinge).sum(axis=0))
    normal = _bend_normal(after)
    angle = np.degrees(np.arctan2(np.linalg.norm(np.cross(usual, normal), axis=-1), np.sum(usual * normal, axis=-1)))
    return float(np.max(np.where(knee_angle(after) > 15.0, angle, 0.0)))


def _heading(before: Clip, after: Clip, heel: Array, spans) -> float:
    """95th percentile of the angle, degrees, from the source's heading of the sole to the result's, where it is flat.

    The sole's level direction is that from heel to toe joint in the middle of the foot's judged frames; a pitched one
    would show turns that are none. Frames pitched otherwise do not count.
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
    """Ways (N, 3) from the ankle to a point fixed in the foot's space."""
    return clip.foot[frames, leg, :3, :3] @ points[leg]


def _level(ways: Array, up: Array) -> tuple[Array, Array]:
    """Coordinates of ways (..., 3) along two level axes."""
    first = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    first /= np.linalg.norm(first)
    return ways @ first, ways @ np.cross(up, first)


def _knee_side(before: Clip, after: Clip) -> float:
    """Largest angle, degrees, between the bend and the source's, carried by the shortest turn of hip to ankle.

    Only knees bent more than 15 degrees on both sides count: a straighter one has no side to speak of.
    """
    (line, bend), (after_line, after_bend) = (_line_and_bend(clip) for clip in (before, after))
    axis = np.cross(line, after_line)
    cosine = np.sum(line * after_line, axis=-1, keepdims=True)
    # The shortest turn of unit vectors, without angles.
    carried = cosine * bend + np.cross(axis, bend) + axis * np.sum(axis * bend, axis=-1, keepdims=True) / (1.0 + cosine)
    sine = np.linalg.norm(np.cross(carried, after_bend), axis=-1)
    angle = np.degrees(np.arctan2(sine, np.sum(carried * after_bend, axis=-1)))
    counts = (knee_angle(before) > 15.0) & (knee_angle(after) > 15.0)
    return float(np.max(np.where(counts, angle, 0.0)))


def _line_and_bend(clip: Clip) -> tuple[Array, Array]:
    """Unit direction from hip to ankle and unit direction from that line to the knee."""
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


def _slope(before: Clip, after: Clip, normals: Array, gentle, spans) -> float:
    source = np.einsum("flji,j->fli", _axes(before.foot), before.up)
    result = np.einsum("flji,flj->fli", _axes(after.foot), normals)
    cross = np.linalg.norm(np.cross(source, result), axis=-1)
    angle = np.degrees(np.arctan2(cross, np.sum(source * result, axis=-1)))
    values = [angle[a:b, i][gentle[a:b, i]] for i, a, b in spans]
    values = np.concatenate(values) if values else np.zeros(1)
    return float(np.percentile(values, 95)) if len(values) else 0.0


def _axes(matrices: Array) -> Array:
    axes = matrices[..., :3, :3]
    return axes / np.linalg.norm(axes, axis=-2, keepdims=True)


def _acceleration(offset: Array, fps: float) -> float:
    step = max(1, round(fps / 30))
    change = offset[2 * step :] - 2 * offset[step:-step] + offset[: -2 * step]
    return float(np.linalg.norm(change, axis=-1).max(initial=0.0) * (fps / step) ** 2)
