# SPDX-License-Identifier: MIT
"""The figures that tell how well a clip stands, before and after planting, as plain data.

They are computed from sampled scenes by the definitions below, so that anyone can compute them from the keyed result.

drift        largest distance of a standing point (ball or heel) from its anchor within a contact; the anchor moves with
             its support. In a source, and in a clip planted with less than the whole strength, the distance is from
             the mean place of the point
penetration  how deep points of the sole go under the surface, over contact frames, along the surface's normal
float        how high standing points are over the surface, over contact frames, less their height over the sole; for
             limbs that touch with one point, penetration and float are the distance of that point from the surface
short        frames on which a foot misses its target by more than 0.0001 leg, and the worst miss
knee_pop     second difference of the knee angle (degrees) over 1/30 s, less 1.5 times the source's largest within 0.1 s
foot_pop     the same of the path of the ball joint
flexion      how much more the straighter knee is bent than that of the source (degrees): 95th percentile over the
             frames, and median
hips         largest offset, largest change from frame to frame; peak and root mean square of the acceleration of the
             offset (second difference over 1/30 s), in leg lengths / s^2

Other lengths are scene units. Faces steeper than the steepest slope, 50 degrees by default, are not ground.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..anchors.anchor import Anchor, unridden
from ..arrays import Array
from ..clip import Clip
from ..contacts.spans import PARTS
from ..contacts.stance import standing_place
from ..curves import column_runs, running_maximum, runs
from ..ground.given import as_ground
from ..ground.query import Ground, ask
from ..kept import values_of
from ..model import Plan
from ..notes import Note
from ..reach import SHORT
from ..rotations import dot, length_of, move_points, turn_vectors
from ..targets.heel import VISIBLE

Frames = NDArray[np.int64]
Data = dict[str, Any]

# Figures over these limits count: drift, penetration and float over VISIBLE (leg lengths); pops of the knee and flexion
# (degrees); and pops of the foot (leg lengths).
KNEE_POP = 5.0
FOOT_POP = 0.02
SIDES = ("before", "after")
SPAN_FIGURES = ("drift", "penetration", "float")
FRAME_FIGURES = ("short", "knee_pop", "foot_pop")
BODY_FIGURES = ("flexion", "flexion_median", "hips_offset", "hips_change", "hips_peak", "hips_rms")


def figures(
    before: Clip, after: Clip, plan: Plan, ground: Any, frames: Sequence[int] | None = None, allowed: float = SHORT
) -> Data:
    """Return the figures of a planted clip. In them `before` and `after` hold the same figures over all and per foot.

    The arguments `before` and `after` are the clip as sampled from the scene, `ground` is as for `plant`, and `frames`
    are the scene frames of the clip's rows (default 0, 1, ...). A foot is short of its target if it misses it by more
    than `allowed` (leg lengths, at least the default). Spans have leg, part, first and last frame, state, support, the
    anchor on the first frame, and drift, penetration and float before and after. Feet have the times when they were
    short or popped: first and last frame, and the worst value. `worst` is the frame on which each figure is worst after
    planting. `notes` are the codes and data of the notes for the user, `told` their sentences.
    """
    numbers = np.asarray(range(before.frames) if frames is None else frames, np.int64)
    ground = as_ground(ground, before)
    spans, drift = _spans(after, plan)
    under, over = _heights(after, plan, ground)
    changes = _changes(before, after, plan, allowed)
    series = _series_of_source(before, plan, ground), {"drift": drift, "penetration": under, "float": over, **changes}
    of_spans = [np.stack([values[name] for name in SPAN_FIGURES]) for values in series]
    for span in spans:
        rows = slice(span["start"], span["end"])
        for side, values in zip(SIDES, of_spans, strict=True):
            most = values[:, rows, span["leg"], PARTS.index(span["part"])].max(axis=1)
            span[side] = dict(zip(SPAN_FIGURES, most.tolist(), strict=True))
            if span["drift"] is None:
                span[side]["drift"] = None
        span |= {"start": int(numbers[span["start"]]), "end": int(numbers[span["end"] - 1])}
    sides = {side: _side(before, values, spans, side, numbers) for side, values in zip(SIDES, series, strict=True)}
    worst = _worst_frames(series[1], numbers)
    notes = [*plan.notes, *_worse(before.leg, sides, worst)]
    return {
        "leg": before.leg,
        "fps": before.fps,
        "frames": [int(numbers[0]), int(numbers[-1])],
        "contact_share": plan.contacts.any(axis=-1).mean(axis=0).tolist(),
        "feet": _feet(plan),
        "spans": spans,
        "worst": worst,
        "notes": [{"code": note.code, **note.data} for note in notes],
        "told": [str(note) for note in notes],
        **sides,
    }


def _feet(plan: Plan) -> list[Data]:
    """Heel, ball joint and sole of each foot in foot bone space. Of a hand, the heel is the wrist, and the others are
    one point of the palm.
    """
    sole = plan.sole
    return [
        {
            "limb": "hand" if plan.clip.is_hand[leg] else "foot",
            "heel": sole.heel[leg].tolist(),
            "ball": sole.ball_joint[leg].tolist(),
            "sole": [p[leg].tolist() for p in ([sole.ball] if plan.touching[leg] else [sole.heel, sole.ball])],
            "sole_height": float(sole.ball_height[leg]),
            "sole_from": sole.source[leg],
        }
        for leg in range(len(sole.heel))
    ]


def contact_spans(after: Clip, plan: Plan) -> list[Data]:
    """Spans of heel and ball as plain data, frames [start, end). Only locked limbs have an anchor and a drift."""
    return _spans(after, plan)[0]


def _spans(clip: Clip, plan: Plan, is_source: bool = False) -> tuple[list[Data], Array]:
    """As `contact_spans`, and the distances (F, L, 2) of heels and balls from where they should be, during contacts."""
    points, spans = np.stack([move_points(clip.foot, plan.sole.heel), clip.ball], axis=2), []
    drift = np.zeros(points.shape[:3])
    # A contact is divided where it starts or stops being enforced.
    states = np.stack([plan.contacts & ~plan.enforced, plan.contacts & plan.enforced], axis=-1)
    for column, start, end in sorted(column_runs(states), key=lambda run: (run[0] // 2, run[1])):
        (leg, index), is_enforced = divmod(column // 2, len(PARTS)), column % 2
        rows, held = slice(start, end), plan.locked[leg]
        stands, path = plan.targets.anchor_at(leg, start), points[rows, leg, index]
        away = _away(plan, stands, PARTS[index], rows, path, is_source)
        drift[rows, leg, index] = apart = length_of(away)
        spans.append({
            "leg": leg, "part": PARTS[index], "start": start, "end": end,
            "state": "enforced" if is_enforced else "automatic",
            "support": stands.support if stands else "",
            "anchor": (path[0] - away[0]).tolist() if held else None,
            "drift": float(apart.max()) if held else None,
        })  # fmt: skip
    return spans, drift


def _away(plan: Plan, stands: Anchor | None, part: str, rows: slice, path: Array, is_source: bool) -> Array:
    """Vectors (N, 3) from where a standing point should be to where its `path` (N, 3) has it on the frames `rows`.

    It should be at its anchor or, if the foot `stands` by the anchor of another part, at its own resting place. In a
    source, or with less than the whole strength, it should be at its mean place.
    """
    is_brought = not is_source and bool((plan.strength[rows] == 1.0).all())
    if is_brought and stands and stands.part == part:
        return path - stands.points(len(plan.strength))[rows]
    rest = unridden(stands, rows, path)
    away = rest - (standing_place(rest, np.arange(len(rest))) if is_brought else rest.sum(axis=0) / len(rest))
    return away if stands is None or stands.motion is None else turn_vectors(stands.motion[rows], away)


def _series_of_source(clip: Clip, plan: Plan, ground: Ground) -> dict[str, Array]:
    """The figures of a source on every frame. They are kept with the plan until contacts, soles or supports change."""
    names = ("sole", "contacts", "enforced", "touching", "nearest", "max_slope")
    supports = [(anchor.stance, anchor.part, anchor.motion) for anchor in plan.targets.anchors]
    told = values_of((clip.foot, clip.ball, clip.up, supports, *(getattr(plan, name) for name in names)))

    def series_of_source(ground: Ground, _told: Any) -> dict[str, Array]:
        under, over = _heights(clip, plan, ground)
        drift = _spans(clip, plan, is_source=True)[1]
        # A source has no target to miss, and no source of its own to be compared with.
        none = dict.fromkeys(FRAME_FIGURES, np.zeros((clip.frames, clip.legs)))
        return {"drift": drift, "penetration": under, "float": over, **none}

    return plan.kept(series_of_source, ground, told) if plan.kept else series_of_source(ground, told)


def _changes(before: Clip, clip: Clip, plan: Plan, allowed: float) -> dict[str, Array]:
    """Figures that compare a clip with its source and its targets on every frame: of feet (F, L), of the straighter
    knee (F,), and of the hips (F, 3).
    """
    miss = length_of(clip.ankle - plan.targets.ankle)
    bent = [knee_angle(side) for side in (before, clip)]
    straighter = [angles[:, ~clip.is_hand].min(axis=1, initial=180.0) for angles in bent]
    return {
        "short": np.where(miss > allowed * clip.leg, miss, 0.0),
        "knee_pop": pop(bent[0][..., None], bent[1][..., None], clip.fps),
        "foot_pop": pop(before.ball, clip.ball, clip.fps),
        "flexion": straighter[1] - straighter[0],
        "hips": (clip.hip - before.hip).mean(axis=1),
    }


def _heights(clip: Clip, plan: Plan, ground: Ground) -> tuple[Array, Array]:
    """How deep soles lie under the surface, and how high heel and ball are over it, (F, L, 2) each, during contacts."""
    sole, stands = plan.sole, plan.contacts.any(axis=-1)
    heel, ball = (move_points(clip.foot, point) for point in (sole.heel, sole.ball))
    under, over = np.zeros((2, clip.frames, clip.legs, len(PARTS)))
    row, leg = np.nonzero(stands & ~plan.touching)
    if len(row):
        points = np.stack([heel, ball, clip.ball], axis=2)[row, leg]
        hits, normals, found = ask(ground, points, clip.up, row)
        height = dot(points - hits, normals)
        # Where there is no ground a point is neither over nor under it.
        is_ground = found & (dot(normals, clip.up) >= np.cos(plan.max_slope))
        height[:, 2] -= sole.ball_height[leg]
        deep = np.where(is_ground[:, :2], -height[:, :2], 0.0).max(axis=-1, keepdims=True)
        under[row, leg] = deep.clip(min=0.0)
        over[row, leg] = np.where(is_ground, height, 0.0)[:, [0, 2]].clip(min=0.0)
    row, leg = np.nonzero(stands & plan.touching)
    if len(row):
        points = ball[row, leg]
        hits, normals, found = ask(ground, points, None if plan.nearest else clip.up, row)
        away = points - hits
        distance, behind = np.where(found, length_of(away), 0.0), dot(away, normals) < 0.0
        under[row, leg] = np.where(behind, distance, 0.0)[:, None]
        over[row, leg] = np.where(behind, 0.0, distance)[:, None]
    return under * plan.contacts, over * plan.contacts


def _side(before: Clip, series: dict[str, Array], spans: list[Data], side: str, numbers: Frames) -> Data:
    """Figures of one side, "before" or "after", per foot and over all."""
    feet, limits = [], _limits(before.leg)
    over = {name: series[name] > limit for name, limit in limits.items()}
    for leg in range(before.legs):
        own = [span[side] for span in spans if span["leg"] == leg]
        foot: Data = {name: max((figure[name] or 0.0 for figure in own), default=0.0) for name in SPAN_FIGURES}
        for name, frames in over.items():
            values = series[name][:, leg]
            foot |= {name: float(values.max(initial=0.0)), f"{name}_frames": int(frames[:, leg].sum())}
            foot[f"{name}_at"] = [
                {"start": int(numbers[start]), "end": int(numbers[end - 1]), "worst": float(values[start:end].max())}
                for start, end in runs(frames[:, leg])
            ]
        feet.append(foot)
    return {
        **{name: max(foot[name] for foot in feet) for name in (*SPAN_FIGURES, *FRAME_FIGURES)},
        **{f"{name}_frames": int(rows.any(axis=1).sum()) for name, rows in over.items()},
        **(dict.fromkeys(BODY_FIGURES, 0.0) if side == "before" else _of_body(before, series)),
        "feet": feet,
    }


def _of_body(before: Clip, series: dict[str, Array]) -> dict[str, float]:
    """Figures of how the body was changed."""
    offset, step = series["hips"], _step(before.fps)
    acceleration = _second_difference(offset, step)[step:-step] * (before.fps / step) ** 2 / before.leg
    figures = (
        np.percentile(series["flexion"], 95.0),
        np.median(series["flexion"]),
        length_of(offset).max(),
        length_of(np.diff(offset, axis=0)).max(initial=0.0),
        acceleration.max(initial=0.0),
        np.sqrt(np.mean(acceleration**2)) if len(acceleration) else 0.0,
    )
    return dict(zip(BODY_FIGURES, map(float, figures), strict=True))


def _limits(leg: float) -> dict[str, float]:
    """The limits over which frames count, by figure, for legs of the length `leg`."""
    return {"short": SHORT * leg, "knee_pop": KNEE_POP, "foot_pop": FOOT_POP * leg}


def _worst_frames(series: dict[str, Array], numbers: Frames) -> dict[str, int]:
    """The frame on which each figure is largest."""
    names = (*SPAN_FIGURES, *FRAME_FIGURES, "flexion")
    return {name: int(numbers[series[name].reshape(len(numbers), -1).max(axis=1).argmax()]) for name in names}


def _worse(leg: float, sides: dict[str, Data], worst: dict[str, int]) -> list[Note]:
    """Notes about figures that are worse after than before, each with its worst frame."""
    # Misses are left out, because the plan has notes about them, and so is the move of the hips, a means to the other
    # figures. A source has neither.
    limits = {**dict.fromkeys(SPAN_FIGURES, VISIBLE * leg), **_limits(leg), "short": np.inf, "flexion": KNEE_POP}
    pairs = {name: {side: sides[side][name] for side in SIDES} for name in limits}
    worse = [name for name, pair in pairs.items() if pair["after"] - pair["before"] > limits[name]]
    return [Note(f"worse_{name}", {**pairs[name], "frame": worst[name]}) for name in worse]


def knee_angle(clip: Clip) -> Array:
    """Angle (F, L) by which the knee is bent, degrees; 0 is straight."""
    return np.degrees(clip.bend)


def pop(before: Array, after: Array, fps: float) -> Array:
    """By how much (F, L) second differences of points `after` (F, L, D) exceed 1.5 times those of `before` nearby."""
    step, near = _step(fps), max(1, round(0.1 * fps))
    source, result = _second_difference(before, step), _second_difference(after, step)
    return np.maximum(result - 1.5 * running_maximum(source, 2 * near + 1), 0.0)


def _step(fps: float) -> int:
    """Number of frames in 1/30 s."""
    return max(1, round(fps / 30))


def _second_difference(values: Array, step: int) -> Array:
    """Lengths (F, ...) of second differences of points (F, ..., D), zero within a step of either end."""
    lengths = np.zeros(values.shape[:-1])
    lengths[step:-step] = length_of(values[2 * step :] - 2 * values[step:-step] + values[: -2 * step])
    return lengths
