# SPDX-License-Identifier: GPL-3.0-or-later
"""What a planted action remembers: its source, and as JSON text settings, contacts, soles, paths and figures of a run.

People and scripts may have edited the text: what can be used of it counts, and what is wrong with the rest is told.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Action, Object
from ik2bone.arrays import Array
from ik2bone.clip import Clip
from ik2bone.contacts.spans import ContactsError, Span, read_spans
from ik2bone.plan import Plan
from ik2bone.report import ROWS
from ik2bone.sole.measure import Sole, with_own_floor

from ..errors import Refusal, cut
from ..keys import actions
from ..keys.actions import LAYER, SOURCE, Assignment
from ..rig.limb import Limb

# `channels` of a record: each written data path with the values that it had while nothing animated it, or None.
Record = dict[str, Any]

RECORD = "ik2bone"
# The paths of the feet before and after, apart from the record, which is read on every redraw.
PATHS = "ik2bone_paths"
# The source that a planted action had before it was planted in place.
ORIGIN = "ik2bone_origin"
EMPTY: Record = {"settings": {}, "channels": {}, "soles": {}, "report": {}}
# What planting writes of a bone.
CHANNELS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler")
# What a record tells of one sole in numbers, beside the leg length that it was measured at: points and directions, but
# for a height and two lengths.
SOLE = {field.name: (3,) for field in fields(Sole) if field.name not in ("floor", "source")}
SOLE |= {"ball_height": (), "lengths": (2,)}
# Of a contact: where it stands, and how the sole lies there; what is no point or direction is left out.
POINTS = ("anchor", "ahead", "up")
# What the editors show of a report, as `_fits` takes it: leg length, frames, sentences and notes, feet, figures before
# and after, and where feet were out of reach.
FIGURES = {f"{name}?": () for name, _ in ROWS}
REPORT = {
    "leg": (),
    "frames": (2,),
    "told": [str],
    "notes?": [{}],
    "feet?": [{"bone": str, "sole_height?": ()}],
    "before": FIGURES,
    "after": FIGURES | {"feet?": [{"short_at?": [{"start": int, "end": int}]}]},
}
# Decimals of stored directions: a print of a foot is then off by less than a thousandth of its length.
DECIMALS = 4
# How numbers of paths are stored: single precision, the same on every machine.
NUMBERS = "<f4"
# Records and files of contacts are nested six deep; Python's JSON functions give up at some hundreds.
DEEPEST, NESTED = 64, (dict, list)
# The largest number in single precision, and the last frame that Blender has.
LARGEST, LAST_FRAME = 3.4e38, 1_048_574


class Paths(NamedTuple):
    """The paths (F, L, 3) of the balls of feet before and after a run, from a first frame on, and their bones."""

    first: int
    bones: tuple[str, ...]
    before: Array
    after: Array


def source_of(action: Action | None) -> Action | None:
    """The action that this one was planted from, None if it is no planted action."""
    return _action_of(action, SOURCE)


def origin_of(action: Action | None) -> Action | None:
    """As `source_of`; the source that it once had if it was planted in place since."""
    return source_of(action) or _action_of(action, ORIGIN)


def _action_of(action: Action | None, name: str) -> Action | None:
    found = action.get(name) if action else None
    return found if isinstance(found, Action) else None


def read(action: Action | None) -> Record:
    """The record of a planted action as far as it can be used; an empty one where there is none."""
    return _reading(action)[0]


def readable(action: Action) -> Record:
    """As `read`; a `Refusal` where the action's property is broken, for what people wrote there would be lost."""
    wrong = trouble(action)
    if wrong:
        raise Refusal(wrong)
    return read(action)


def trouble(action: Action | None) -> str | None:
    """A sentence about what keeps the record of an action, or the contacts in it, from being used, if anything does."""
    wrong = _reading(action)[1]
    return f"property {RECORD} of action {action.name}, the place of its contacts, {wrong}" if wrong else None


def _reading(action: Action | None) -> tuple[Record, str | None]:
    text = action.get(RECORD, "{}") if action else "{}"
    return read_record(text) if isinstance(text, str) else (EMPTY, f"is no text but of type {type(text).__name__}")


@lru_cache(maxsize=8)
def read_record(text: str) -> tuple[Record, str | None]:
    """The usable part of a record, with `settings`, `channels`, `soles` and `report`, and what is wrong with the
    text or with the contacts in it, if anything is.

    Cached because the panel reads the record on every redraw.
    """
    try:
        data = _parse(text)
    except ValueError as error:
        return EMPTY, f"is no JSON text that can be read ({error})"
    if not isinstance(data, dict):
        return EMPTY, f"is no JSON object but {cut(text)!r}"
    settings, channels, soles, report = (_object(data.get(name)) for name in EMPTY)
    is_shown = _fits(report, REPORT) and report["leg"] > 0.0 and report["before"] and report["after"]
    usable = data | {
        "settings": settings,
        "channels": {path: v for path, v in channels.items() if v is None or _shape(v) in ((3,), (4,))},
        "soles": {name: sole for name, sole in soles.items() if _fits(sole, {"leg": (), "source": str} | SOLE)},
        "report": report if is_shown else {},
    }
    if "contacts" not in data:
        return usable, None
    try:
        return usable | {"contacts": _rows_in(data["contacts"])}, None
    except ContactsError as error:
        return usable | {"contacts": []}, f"holds no contacts that can be used: {error}"


def _rows_in(contacts: Any) -> list[dict[str, Any]]:
    """The contacts of a record as they are, on whole frames, without points and directions that are none."""
    if not isinstance(contacts, list):
        raise ContactsError(f"contacts: expected a list of spans, got {cut(repr(contacts))}")
    return [
        row
        | {"start": span.start, "end": span.end}
        | {name: None for name in POINTS if name in row and _shape(row[name]) != (3,)}
        for row, span in zip(contacts, read_contacts(contacts), strict=True)
    ]


def read_contacts(source: Any) -> list[Span]:
    """The spans in a list or in JSON text, on frames that Blender has; a `ContactsError` where they are none."""
    try:
        spans = read_spans(_parse(source) if isinstance(source, str) else source)
    except ContactsError as error:
        raise ContactsError(cut(str(error), 200)) from None
    except ValueError as error:
        raise ContactsError(f"contacts: expected JSON text, got {cut(source)!r} ({error})") from None
    for number, span in enumerate(spans):
        for name, frame in (("start", span.start), ("end", span.end)):
            if abs(frame) > LAST_FRAME:
                expected = f"expected a frame from {-LAST_FRAME} to {LAST_FRAME}"
                raise ContactsError(f"contacts[{number}].{name}: {expected}, got {cut(str(frame))}")
    return spans


def _parse(text: str) -> Any:
    """The data in JSON text, which may start with a byte order mark; a `ValueError` where it cannot be read."""
    too_deep = ValueError(f"brackets are nested more than {DEEPEST} deep")
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise too_deep from None
    level = [data] if isinstance(data, NESTED) else []
    for _ in range(DEEPEST - 1):
        parts = [part.values() if isinstance(part, dict) else part for part in level]
        level = [item for part in parts for item in part if isinstance(item, NESTED)]
    if any(level):
        raise too_deep
    return data


def _object(value: Any) -> dict[str, Any]:
    """A JSON object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _shape(values: Any) -> tuple[int, ...] | None:
    """The shape of a number or of lists of numbers that single precision holds, None for anything else."""
    # Most are numbers by themselves, for which an array takes 20 times as long.
    if isinstance(values, float):
        return () if abs(values) < LARGEST else None
    try:
        array = np.array(values)
    except ValueError:
        return None
    return array.shape if array.dtype.kind in "if" and (np.abs(array) < LARGEST).all() else None


def _fits(value: Any, wanted: Any) -> bool:
    """Whether data are as a pattern tells: numbers by their shape, other things by their type, lists by that of every
    item, and objects by what they hold; names with a question mark may be missing.
    """
    if isinstance(wanted, tuple):
        return _shape(value) == wanted
    if isinstance(wanted, list):
        return isinstance(value, list) and all(_fits(item, wanted[0]) for item in value)
    if isinstance(wanted, dict):
        parts = [(name.removesuffix("?"), name.endswith("?"), part) for name, part in wanted.items()]
        return isinstance(value, dict) and all(
            _fits(value[name], part) if name in value else may_lack for name, may_lack, part in parts
        )
    return isinstance(value, wanted)


def known_sole(limbs: Sequence[Limb], clip: Clip, record: Record) -> Sole | None:
    """The soles that an earlier run measured, if it knew all feet of this one and they have the same size still.

    Where the floor lies is told by the clip as it is now.
    """
    known = [record["soles"].get(limb.foot) for limb in limbs]
    if None in known or not np.allclose([sole["leg"] for sole in known], clip.leg, rtol=1e-3):
        return None
    rows = {name: np.array([sole[name] for sole in known], float) for name in SOLE}
    return with_own_floor(clip, Sole(**rows, floor=0.0, source=tuple(sole["source"] for sole in known)))


def soles_as_data(limbs: Sequence[Limb], sole: Sole, leg: float) -> dict[str, Any]:
    """The soles as plain data by foot bone, for runs to come."""
    return {
        limb.foot: {"leg": leg, "source": sole.source[i]} | {name: row[i].tolist() for name, row in sole.rows()}
        for i, limb in enumerate(limbs)
    }


def lying(plan: Plan, span: dict[str, Any]) -> dict[str, list[float]]:
    """How a sole lies in the middle of a contact on frames [start, end) of a plan: unit vectors ahead and up."""
    leg, middle = span["leg"], (span["start"] + span["end"] - 1) // 2
    anchor = plan.targets.standing.at(leg, middle)
    up = plan.clip.up if anchor is None else anchor.turns(middle) @ plan.clip.up
    ahead = plan.targets.turn[middle, leg] @ plan.clip.foot[middle, leg, :3, :3] @ plan.sole.forward[leg]
    ahead = ahead - (ahead @ up) * up
    ahead = ahead / max(np.linalg.norm(ahead), 1e-6)
    return {"ahead": ahead.round(DECIMALS).tolist(), "up": up.round(DECIMALS).tolist()}


def paths_as_text(first: int, bones: Sequence[str], before: Clip, after: Clip) -> str:
    """The paths of the balls of two clips as they are stored."""
    paths = np.stack([before.ball, after.ball]).astype(NUMBERS)
    return json.dumps({"first": first, "bones": list(bones), "paths": b64encode(paths.tobytes()).decode()})


@lru_cache(maxsize=2)
def paths_in(text: Any) -> Paths | None:
    """The paths in a text; None where it is none that has any."""
    try:
        data = json.loads(text)
        first, bones = int(data["first"]), tuple(map(str, data["bones"]))
        before, after = np.frombuffer(b64decode(data["paths"]), NUMBERS).astype(float).reshape(2, -1, len(bones), 3)
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return None
    return Paths(first, bones, before, after) if len(before) and np.isfinite([before, after]).all() else None


def as_text(record: Record) -> str:
    """The record as it is stored."""
    return json.dumps(record, separators=(",", ":"))


def store(action: Action, source: Action | None, record: Record) -> None:
    """Mark an action as planted, from a source or in place.

    Action and source keep a fake user, so that saving loses neither while the other plays.
    """
    mark(action, {SOURCE: source, ORIGIN: None if source else origin_of(action), RECORD: as_text(record)})
    if source is not None:
        action.use_fake_user = True
        # A linked source stays in its library, which keeps it.
        source.use_fake_user = source.is_editable or source.use_fake_user


def marks_of(action: Action) -> dict[str, Any]:
    """What planting left on an action: its source, past or present, and its record, None for what is not there."""
    return {name: action.get(name) for name in (SOURCE, ORIGIN, RECORD, PATHS, LAYER)}


def mark(action: Action, marks: dict[str, Any]) -> None:
    """Set what planting leaves on an action, or take it away."""
    for name, value in marks.items():
        if value is not None:
            action[name] = value
        elif name in action:
            del action[name]


def store_contacts(action: Action, rows: list[dict[str, Any]]) -> None:
    """Put contacts on an action, in place of those that it has; a `Refusal` where they could not be read again."""
    try:
        read_contacts(rows)
    except ContactsError as error:
        raise Refusal(f"these contacts cannot be stored: {error}") from None
    record = {name: value for name, value in read(action).items() if value or name not in EMPTY}
    mark(action, {RECORD: as_text(record | {"contacts": rows})})


def put_back(armature: Object, record: Record) -> None:
    """Set what the source does not animate, which would keep the values that planting gave it."""
    unkeyed = {path: values for path, values in record["channels"].items() if values is not None}
    for bone in armature.pose.bones if unkeyed else ():
        for name in CHANNELS:
            values = unkeyed.get(bone.path_from_id(name))
            if values is not None and len(values) == len(getattr(bone, name)):
                # As a whole: values put into a slice of Euler angles would set their order to XYZ in Blender 5.2.
                setattr(bone, name, values)


def planted_of(armature: Object, source: Assignment) -> Assignment | None:
    """The action that was planted from `source` for this armature before and that nothing else plays.

    A `Refusal` where the property of that action is broken.
    """
    for action in bpy.data.actions:
        if LAYER in action or source_of(action) != source.action or read(action).get("armature") != armature.name:
            continue
        candidate = actions.counterpart(source, action)
        if actions.curves_of(candidate).bag and action.is_editable and actions.players(candidate) in ([], [armature]):
            readable(action)
            return candidate
    return None
