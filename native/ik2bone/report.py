# SPDX-License-Identifier: MIT
"""The figures that tell how well a clip stands, before and after, as plain data and as text.

They are taken from sampled scenes, by the definitions below; anyone can compute the same from the keyed result.

drift        largest distance of a standing point (ball or heel) from its anchor within a contact; the anchor moves with
             its support
penetration  how deep points of the sole go under the surface, over contact frames, along the surface's normal
float        how high standing points stay over the surface, over contact frames, less their height on the sole; of
             limbs that touch with one point both are the distance of that point from the surface
short        frames in which a foot misses its target by more than 0.0001 leg, and the worst miss
knee_pop     second difference of the knee angle (degrees) over 1/30 s, less 1.5 times the source's largest within 0.1 s
foot_pop     the same of the standing point's path
hips         largest offset, largest change from frame to frame

Lengths are scene units. Faces steeper than the steepest slope, 50 degrees by default, are not ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .anchor import anchor_at, unridden
from .clip import Array, Clip, Ground, Mask
from .ground import ask
from .hold import standing_place
from .motion import runs
from .plant import SHORT, Planting
from .sole import apply
from .spans import PARTS

LIMBS = {"foot": ("foot", "feet"), "hand": ("hand", "hands")}
KNEE_POP = 5.0
FOOT_POP = 0.02


def figures(
    before: Clip, after: Clip, planting: Planting, ground: Ground, frames: Sequence[int] | None = None
) -> dict[str, Any]:
    """Figures of a planted clip: `before` and `after` hold the same figures over all and per foot.

    `before` and `after` are the clip sampled from the scene, `frames` the scene frames of their rows (default 0, ...).
    Spans tell leg, part, first and last frame, state, support, drift, and the anchor as it is on the first frame.
    """
    numbers = np.arange(before.frames) if frames is None else np.asarray(frames)
    spans = contact_spans(after, planting)
    sides = {
        "before": _side(before, before, planting, ground, spans),
        "after": _side(before, after, planting, ground, spans),
    }
    rows = [{**span, "start": int(numbers[span["start"]]), "end": int(numbers[span["end"] - 1])} for span in spans]
    return {
        "leg": before.leg,
        "fps": before.fps,
        "frames": [int(numbers[0]), int(numbers[-1])],
        "contact_share": planting.contacts.any(axis=-1).mean(axis=0).tolist(),
        "feet": planting.feet,
        "spans": rows,
        "told": list(planting.told),
        **sides,
    }


def standing_points(clip: Clip, planting: Planting) -> Array:
    """Heel and ball joint (F, L, 2, 3) of a clip, the points that stand."""
    return np.stack([apply(clip.foot, planting.sole.heel), clip.ball], axis=2)


def contact_spans(after: Clip, planting: Planting) -> list[dict[str, Any]]:
    """Spans of heel and ball as plain data, frames [start, end); without locking there are no anchors."""
    points = standing_points(after, planting)
    spans = []
    for leg in range(after.legs):
        for index, part in enumerate(PARTS):
            for start, end, state in _state_runs(planting.contacts[:, leg, index], planting.enforced[:, leg, index]):
                held = anchor_at(planting.anchors, leg, start, part)
                path = points[:, leg, index]
                if held:
                    places = held.points(after.frames)[start:end]
                else:
                    rest = unridden(planting.anchors, leg, (start, end), path[start:end])
                    places = path[start:end] + (standing_place(rest, np.arange(end - start)) - rest)
                drift = np.linalg.norm(path[start:end] - places, axis=-1).max()
                support = held or anchor_at(planting.anchors, leg, start)
                spans.append({
                    "leg": leg, "part": part, "start": start, "end": end, "state": state,
                    "support": support.support if support else "",
                    "anchor": places[0].tolist() if planting.locked[leg] else None,
                    "drift": float(drift) if planting.locked[leg] else None,
                })  # fmt: skip
    return spans


def _state_runs(contacts: Mask, enforced: Mask) -> list[tuple[int, int, str]]:
    """Runs of contacts (F,), parted where they are enforced."""
    parts = (("automatic", contacts & ~enforced), ("enforced", contacts & enforced))
    return sorted((start, end, state) for state, mask in parts for start, end in runs(mask))


def _side(before: Clip, clip: Clip, planting: Planting, ground: Ground, spans: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures of one side, per foot and over all; `before` is the source, which the pops are compared with."""
    legs = range(clip.legs)
    by_leg = [[span for span in spans if span["leg"] == leg] for leg in legs]
    values = [_series(before, clip, planting, leg) for leg in legs]
    worst = [
        {
            "drift": _drift(clip, planting, by_leg[leg], own_anchor=clip is before),
            **_heights(clip, planting, ground, by_leg[leg], leg),
            **{name: float(series.max(initial=0.0)) for name, series in values[leg].items()},
        }
        for leg in legs
    ]
    limits = {"short": SHORT * clip.leg, "knee_pop": KNEE_POP, "foot_pop": FOOT_POP * clip.leg}
    over = [{f"{name}_frames": values[leg][name] > limit for name, limit in limits.items()} for leg in legs]
    offset = (clip.hip - before.hip).mean(axis=1)
    change = np.linalg.norm(np.diff(offset, axis=0), axis=-1).max(initial=0.0)
    return {
        **{name: max(foot[name] for foot in worst) for name in worst[0]},
        **{name: int(np.any([foot[name] for foot in over], axis=0).sum()) for name in over[0]},
        "hips_offset": float(np.linalg.norm(offset, axis=-1).max()),
        "hips_change": float(change),
        "feet": [a | {name: int(mask.sum()) for name, mask in b.items()} for a, b in zip(worst, over, strict=True)],
    }


def _series(before: Clip, clip: Clip, planting: Planting, leg: int) -> dict[str, Array]:
    """Misses (F,) of one foot's target, and the pops of its knee and ball; a source has no target to miss."""
    miss = np.linalg.norm(clip.ankle[:, leg] - planting.targets.ankle[:, leg], axis=-1)
    return {
        "short": np.zeros_like(miss) if clip is before else np.where(miss > SHORT * clip.leg, miss, 0.0),
        "knee_pop": pop(knee_angle(before)[:, leg], knee_angle(clip)[:, leg], clip.fps),
        "foot_pop": pop(before.ball[:, leg], clip.ball[:, leg], clip.fps),
    }


def _drift(clip: Clip, planting: Planting, spans: list[dict[str, Any]], own_anchor: bool) -> float:
    """Largest distance of standing points from their anchors; a source has its own, the mean place."""
    points, worst = standing_points(clip, planting), 0.0
    for span in spans:
        if span["drift"] is None:
            continue
        leg, frames = span["leg"], (span["start"], span["end"])
        if not own_anchor:
            worst = max(worst, span["drift"])
            continue
        path = unridden(planting.anchors, leg, frames, points[slice(*frames), leg, PARTS.index(span["part"])])
        worst = max(worst, float(np.linalg.norm(path - path.mean(axis=0), axis=-1).max()))
    return worst


def _heights(clip: Clip, planting: Planting, ground: Ground, spans: list[dict[str, Any]], leg: int) -> dict[str, float]:
    """Deepest point of the sole under the surface, and highest standing point over it."""
    if planting.touching[leg]:
        return _distances(clip, planting, ground, spans, leg)
    sole, under, over = planting.sole, 0.0, 0.0
    heel, ball = (apply(clip.foot, point)[:, leg] for point in (sole.heel, sole.ball))
    points = np.stack([heel, ball, clip.ball[:, leg]], axis=1)
    hits, normals, found = ask(ground, points, clip.up)
    height = np.sum((points - hits) * normals, axis=-1)
    height = np.where(found & (normals @ clip.up >= planting.slopes.least), height, np.nan)
    standing = {"heel": height[:, 0], "ball": height[:, 2] - sole.ball_height[leg]}
    for span in spans:
        frames = slice(span["start"], span["end"])
        under = max(under, float(np.nanmax(-height[frames, :2], initial=0.0)))
        over = max(over, float(np.nanmax(standing[span["part"]][frames], initial=0.0)))
    return {"penetration": under, "float": over}


def _distances(
    clip: Clip, planting: Planting, ground: Ground, spans: list[dict[str, Any]], leg: int
) -> dict[str, float]:
    """The same of a limb that touches with one point: how far that lies behind the surface, and before it."""
    path = apply(clip.foot, planting.sole.ball)[:, leg]
    hits, normals, found = ask(ground, path, None if planting.nearest else clip.up)
    away = np.where(found, np.linalg.norm(path - hits, axis=-1), 0.0)
    behind = np.sum((path - hits) * normals, axis=-1) < 0.0
    rows = np.concatenate([np.zeros(0, int), *(np.arange(span["start"], span["end"]) for span in spans)])
    under, over = away[rows[behind[rows]]], away[rows[~behind[rows]]]
    return {"penetration": float(under.max(initial=0.0)), "float": float(over.max(initial=0.0))}


def knee_angle(clip: Clip) -> Array:
    """Angle (F, L) by which the knee is bent, degrees; 0 is straight."""
    thigh, shin = clip.knee - clip.hip, clip.ankle - clip.knee
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(thigh, shin), axis=-1), np.sum(thigh * shin, axis=-1)))


def pop(before: Array, after: Array, fps: float) -> Array:
    """How much (F - 2 steps,) more suddenly values (F,) or points (F, 3) change than 1.5 times the source nearby."""
    step = max(1, round(fps / 30))
    if len(before) <= 2 * step:
        return np.zeros(0)
    source, result = _second_difference(before, step), _second_difference(after, step)
    near = max(1, round(0.1 * fps))
    allowed = sliding_window_view(np.pad(source, near), 2 * near + 1).max(axis=-1)
    return np.maximum(result - 1.5 * allowed, 0.0)


def _second_difference(values: Array, step: int) -> Array:
    change = values[2 * step :] - 2 * values[step:-step] + values[: -2 * step]
    return np.abs(change) if change.ndim == 1 else np.linalg.norm(change, axis=-1)


def summary(report: dict[str, Any]) -> str:
    """One line for the information area."""
    after, before = report["after"], report["before"]
    contacts = len({(s["leg"], s["start"]) for s in report["spans"] if s["part"] == "ball"})
    changes = (("drift", "drift"), ("under ground", "penetration"), ("floating", "float"))
    figures = ", ".join(f"{label} {before[name]:.3g} to {after[name]:.3g}" for label, name in changes)
    text = f"Planted {_count_limbs(report['feet'])}, {contacts} contacts: {figures}"
    if after["short_frames"]:
        text += f", {after['short_frames']} frames out of reach by up to {after['short']:.3g}"
    return "; ".join([text, *report["told"]])


def _count_limbs(feet: list[dict[str, Any]]) -> str:
    counts = [(sum(foot["limb"] == limb for foot in feet), *words) for limb, words in LIMBS.items()]
    return " and ".join(f"{count} {one if count == 1 else more}" for count, one, more in counts if count)


ROWS = (
    ("drift", "drift in contacts"),
    ("penetration", "under ground"),
    ("float", "over ground"),
    ("short", "out of reach, worst"),
    ("short_frames", "out of reach, frames"),
    ("knee_pop", "knee pop, degrees"),
    ("knee_pop_frames", "knee pop, frames"),
    ("foot_pop", "foot pop"),
    ("foot_pop_frames", "foot pop, frames"),
    ("hips_offset", "hips, offset"),
    ("hips_change", "hips, change a frame"),
)


def table(report: dict[str, Any]) -> str:
    """The figures before and after, as lines of text."""
    lines = [f"{'':24}{'before':>12}{'after':>12}"]
    lines += [f"{label:24}{report['before'][name]:>12.4g}{report['after'][name]:>12.4g}" for name, label in ROWS]
    return "\n".join(lines)
