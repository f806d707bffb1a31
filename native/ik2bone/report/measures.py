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
from numpy.typing import NDArray

from ..anchors.anchor import anchor_at, unridden
from ..contacts.spans import PARTS
from ..curves import runs
from ..ground.query import ask
from ..model import Array, Clip, Ground, Mask
from ..planting import Planting
from ..reach import SHORT
from ..sole.measure import apply
from ..targets.lock import standing_place

Frames = NDArray[np.int64]

LIMBS = {"foot": ("foot", "feet"), "hand": ("hand", "hands")}
# Larger ones count: pops of the knee (degrees) and of the foot (leg lengths).
KNEE_POP = 5.0
FOOT_POP = 0.02
SIDES = ("before", "after")
SPAN_FIGURES = ("drift", "penetration", "float")
FRAME_FIGURES = ("short", "knee_pop", "foot_pop")


def figures(
    before: Clip, after: Clip, planting: Planting, ground: Ground, frames: Sequence[int] | None = None
) -> dict[str, Any]:
    """Figures of a planted clip: `before` and `after` hold the same figures over all and per foot.

    `before` and `after` are the clip sampled from the scene, `frames` the scene frames of their rows (default 0, ...).
    Spans tell leg, part, first and last frame, state, support, the anchor as it is on the first frame, and before and
    after drift, penetration and float. Feet tell when they were short or popped: first and last frame, and the worst.
    """
    numbers = np.asarray(range(before.frames) if frames is None else frames, np.int64)
    spans = contact_spans(after, planting)
    sides = {
        "before": _side(before, before, planting, ground, spans, numbers),
        "after": _side(before, after, planting, ground, spans, numbers),
    }
    judged = zip(*(sides[name].pop("spans") for name in SIDES), strict=True)
    for span, (old, new) in zip(spans, judged, strict=True):
        first, last = int(numbers[span["start"]]), int(numbers[span["end"] - 1])
        span |= {"start": first, "end": last, "before": old, "after": new}
    return {
        "leg": before.leg,
        "fps": before.fps,
        "frames": [int(numbers[0]), int(numbers[-1])],
        "contact_share": planting.contacts.any(axis=-1).mean(axis=0).tolist(),
        "feet": planting.feet,
        "spans": spans,
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
                    places = path[start:end] + (standing_place(rest, np.arange(end - start), after.leg) - rest)
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


def _side(
    before: Clip, clip: Clip, planting: Planting, ground: Ground, spans: list[dict[str, Any]], numbers: Frames
) -> dict[str, Any]:
    """Figures of one side, per span, per foot and over all; pops are compared with `before`, the source."""
    heights = [_heights(clip, planting, ground, leg) for leg in range(clip.legs)]
    judged = [_judge(clip, planting, span, heights[span["leg"]], own_anchor=clip is before) for span in spans]
    feet = [
        {
            **{
                name: max((own[name] or 0.0 for own in _of_leg(leg, spans, judged)), default=0.0)
                for name in SPAN_FIGURES
            },
            **_over_time(before, clip, planting, leg, numbers),
        }
        for leg in range(clip.legs)
    ]
    offset = (clip.hip - before.hip).mean(axis=1)
    change = np.linalg.norm(np.diff(offset, axis=0), axis=-1).max(initial=0.0)
    return {
        **{name: max(foot[name] for foot in feet) for name in (*SPAN_FIGURES, *FRAME_FIGURES)},
        **{f"{name}_frames": _count([foot[f"{name}_at"] for foot in feet]) for name in FRAME_FIGURES},
        "hips_offset": float(np.linalg.norm(offset, axis=-1).max()),
        "hips_change": float(change),
        "feet": feet,
        "spans": judged,
    }


def _of_leg(leg: int, spans: list[dict[str, Any]], judged: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [own for span, own in zip(spans, judged, strict=True) if span["leg"] == leg]


def _count(rows: list[list[dict[str, Any]]]) -> int:
    """How many frames lie in any of several lists of events."""
    return len({frame for row in rows for event in row for frame in range(event["start"], event["end"] + 1)})


def _over_time(before: Clip, clip: Clip, planting: Planting, leg: int, numbers: Frames) -> dict[str, Any]:
    """The worst of one foot's misses and pops, when they were over their limits, and on how many frames."""
    limits = {"short": SHORT * clip.leg, "knee_pop": KNEE_POP, "foot_pop": FOOT_POP * clip.leg}
    series = _series(before, clip, planting, leg)
    at = {name: _events(series[name], limit, numbers) for name, limit in limits.items()}
    return {
        **{name: float(series[name].max(initial=0.0)) for name in limits},
        **{f"{name}_frames": _count([events]) for name, events in at.items()},
        **{f"{name}_at": events for name, events in at.items()},
    }


def _events(values: Array, limit: float, numbers: Frames) -> list[dict[str, Any]]:
    """Runs in which values are over a limit: first and last frame, and the worst value.

    Values in the middle of more frames `numbers`, as second differences are, belong to the middle ones.
    """
    first = (len(numbers) - len(values)) // 2
    return [
        {
            "start": int(numbers[first + start]),
            "end": int(numbers[first + end - 1]),
            "worst": float(values[start:end].max()),
        }
        for start, end in runs(values > limit)
    ]


def _series(before: Clip, clip: Clip, planting: Planting, leg: int) -> dict[str, Array]:
    """Misses (F,) of one foot's target, and the pops of its knee and ball; a source has no target to miss."""
    miss = np.linalg.norm(clip.ankle[:, leg] - planting.targets.ankle[:, leg], axis=-1)
    return {
        "short": np.zeros_like(miss) if clip is before else np.where(miss > SHORT * clip.leg, miss, 0.0),
        "knee_pop": pop(knee_angle(before)[:, leg], knee_angle(clip)[:, leg], clip.fps),
        "foot_pop": pop(before.ball[:, leg], clip.ball[:, leg], clip.fps),
    }


def _judge(
    clip: Clip, planting: Planting, span: dict[str, Any], heights: dict[str, tuple[Array, Array]], own_anchor: bool
) -> dict[str, float | None]:
    """Drift, penetration and float of one span; no drift where no spot is held."""
    frames, (under, over) = slice(span["start"], span["end"]), heights[span["part"]]
    drift = span["drift"]
    if own_anchor and drift is not None:
        drift = _own_drift(clip, planting, span)
    return {"drift": drift, "penetration": float(under[frames].max()), "float": float(over[frames].max())}


def _own_drift(clip: Clip, planting: Planting, span: dict[str, Any]) -> float:
    """Largest distance of a source's standing point from the anchor that it has itself, the mean place."""
    leg, frames = span["leg"], (span["start"], span["end"])
    points = standing_points(clip, planting)[slice(*frames), leg, PARTS.index(span["part"])]
    path = unridden(planting.anchors, leg, frames, points)
    return float(np.linalg.norm(path - path.mean(axis=0), axis=-1).max())


def _heights(clip: Clip, planting: Planting, ground: Ground, leg: int) -> dict[str, tuple[Array, Array]]:
    """How deep the sole is under the surface (F,), and how high over it what stands (F,), where heel or ball do."""
    if planting.touching[leg]:
        return _distances(clip, planting, ground, leg)
    sole = planting.sole
    heel, ball = (apply(clip.foot, point)[:, leg] for point in (sole.heel, sole.ball))
    points = np.stack([heel, ball, clip.ball[:, leg]], axis=1)
    hits, normals, found = ask(ground, points, clip.up)
    height = np.sum((points - hits) * normals, axis=-1)
    # Where there is no ground a point is neither over nor under it.
    is_ground = found & (normals @ clip.up >= planting.slopes.least)
    under = np.where(is_ground[:, :2], -height[:, :2], 0.0).max(axis=1).clip(min=0.0)
    over = np.where(is_ground, height - [0.0, 0.0, sole.ball_height[leg]], 0.0).clip(min=0.0)
    return {"heel": (under, over[:, 0]), "ball": (under, over[:, 2])}


def _distances(clip: Clip, planting: Planting, ground: Ground, leg: int) -> dict[str, tuple[Array, Array]]:
    """The same of a limb that touches with one point: how far that lies behind the surface, and before it."""
    path = apply(clip.foot, planting.sole.ball)[:, leg]
    hits, normals, found = ask(ground, path, None if planting.nearest else clip.up)
    away = np.where(found, np.linalg.norm(path - hits, axis=-1), 0.0)
    behind = np.sum((path - hits) * normals, axis=-1) < 0.0
    both = np.where(behind, away, 0.0), np.where(behind, 0.0, away)
    return dict.fromkeys(PARTS, both)


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
    """The figures over all before and after, as lines of text."""
    return _table("", report["before"], report["after"])


def text(report: dict[str, Any]) -> str:
    """The whole report as lines of text: over all, per foot, per contact, and what the user should know."""
    feet = zip(foot_names(report), report["before"]["feet"], report["after"]["feet"], strict=True)
    return "\n\n".join([table(report), *(_table(*foot) for foot in feet), _span_table(report), *report["told"]])


def foot_names(report: dict[str, Any]) -> list[str]:
    """What the limbs of a report are called: by their bones, where it was made of any."""
    return [foot.get("bone", f"{foot['limb']} {number}") for number, foot in enumerate(report["feet"], 1)]


def _table(title: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    """Figures of both sides under a title; hips belong to no foot."""
    rows = [(name, label) for name, label in ROWS if name in after]
    lines = [f"{label:24}{before[name]:>12.4g}{after[name]:>12.4g}" for name, label in rows]
    return "\n".join([f"{title:24}{'before':>12}{'after':>12}", *lines])


def _span_table(report: dict[str, Any]) -> str:
    """One line a contact, in the order of their frames."""
    names = foot_names(report)
    width = max([len("contact"), *map(len, names)])
    pairs = "".join(f"{label:>24}" for label in ("drift", "under ground", "over ground"))
    lines = [f"{'contact':{width}}      {'frames':>13}{pairs}  before, after"]
    for span in sorted(report["spans"], key=lambda span: (span["leg"], span["start"], span["part"])):
        figures = "".join(_pair(span, name) for name in SPAN_FIGURES)
        kind = ", ".join(filter(None, [span["state"], span["support"]]))
        frames = f"{span['start']} to {span['end']}"
        lines.append(f"{names[span['leg']]:{width}} {span['part']:4} {frames:>13}{figures}  {kind}")
    return "\n".join(lines)


def _pair(span: dict[str, Any], name: str) -> str:
    return "".join("            " if span[side][name] is None else f"{span[side][name]:>12.4g}" for side in SIDES)
