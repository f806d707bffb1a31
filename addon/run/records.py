# SPDX-License-Identifier: GPL-3.0-or-later
"""The record on a planted action: its source, and as JSON text the settings, contacts, soles and figures of a run.

Users and scripts may edit the text. The usable part of it is read, and a sentence describes what is wrong with it.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
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
from ik2bone.rotations import dot, length_of, turn_vectors
from ik2bone.sole.measure import Sole, with_own_floor

from ..errors import Refusal, cut
from ..keys import actions
from ..keys.actions import LAYER, SOURCE, Assignment
from ..keys.channels import TRANSFORMS
from ..rig.limb import Limb

# The item `channels` of a record holds each written data path with the values of an unkeyed property, or None.
Record = dict[str, Any]

RECORD = "ik2bone"
# The property with the paths of the feet before and after. It is apart from the record, which every redraw reads.
PATHS = "ik2bone_paths"
# The property with the source of an action that was planted in place afterwards.
ORIGIN = "ik2bone_origin"
EMPTY: Record = {"settings": {}, "channels": {}, "soles": {}, "report": {}}
# The properties of a bone that planting writes.
CHANNELS = tuple(name for name in TRANSFORMS if name != "scale")
# The numbers of one sole in a record, by their shapes, besides the length of the leg that it was measured on.
SOLE = {field.name: (3,) for field in fields(Sole) if field.name not in ("floor", "source")}
SOLE |= {"ball_height": (), "lengths": (2,)}
# The points and directions of a contact; those of another shape are not read.
POINTS = ("anchor", "ahead", "up")
# The parts of a report that editors show, as a pattern for `_fits`: leg length, frames, sentences and notes, feet,
# figures before and after, and intervals out of reach.
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
# Decimals of stored directions, which keep the error of a footprint below a thousandth of its length.
DECIMALS = 4
# The stored format of paths: little-endian single precision on every machine.
NUMBERS = "<f4"
# The greatest allowed nesting of JSON. Records are nested six deep; Python's JSON functions fail at some hundreds.
DEEPEST, NESTED = 64, (dict, list)
# The escape of a half of a surrogate pair in JSON.
SURROGATE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
# The largest number in single precision, and Blender's last frame.
LARGEST, LAST_FRAME = 3.4e38, 1_048_574


class Paths(NamedTuple):
    """The paths (F, L, 3) of the balls before and after a run, with the first frame and the bones of the feet."""

    first: int
    bones: tuple[str, ...]
    before: Array
    after: Array


def source_of(action: Action | None) -> Action | None:
    """The source of a planted action; None for other actions."""
    return _action_of(action, SOURCE)


def origin_of(action: Action | None) -> Action | None:
    """The source of a planted action, also of one that was planted in place since; None for other actions."""
    return source_of(action) or _action_of(action, ORIGIN)


def _action_of(action: Action | None, name: str) -> Action | None:
    found = action.get(name) if action else None
    # Blender's Remap Users, from the source to the planted action, makes the action its own source.
    return found if isinstance(found, Action) and found != action else None


def read(action: Action | None) -> Record:
    """The usable part of the record of a planted action; an empty record without any."""
    return _reading(action)[0]


def readable(action: Action) -> Record:
    """As `read`, but raises `Refusal` if the property is broken, because edits in it would be lost."""
    wrong = trouble(action)
    if wrong:
        raise Refusal(wrong)
    return read(action)


def trouble(action: Action | None) -> str | None:
    """A sentence that says why the record of an action, or its contacts, cannot be used; None if they can."""
    wrong = _reading(action)[1]
    return f"property {RECORD} of action {action.name}, the place of its contacts, {wrong}" if wrong else None


def _reading(action: Action | None) -> tuple[Record, str | None]:
    text = action.get(RECORD, "{}") if action else "{}"
    return read_record(text) if isinstance(text, str) else (EMPTY, f"is no text but of type {type(text).__name__}")


@lru_cache(maxsize=8)
def read_record(text: str) -> tuple[Record, str | None]:
    """The usable part of a record, and what is wrong with the text or its contacts, or None.

    The part has at least the items of `EMPTY`. Cached because the panel reads the record on every redraw.
    """
    try:
        data = _parse(text)
    except ValueError as error:
        return EMPTY, f"is no JSON text that can be read ({error})"
    if not isinstance(data, dict):
        return EMPTY, f"is no JSON object but {cut(text)!r}"
    settings, channels, soles, report = (data[name] if isinstance(data.get(name), dict) else {} for name in EMPTY)
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
    """The contacts of a record on whole frames, each with a state. Points of a wrong shape become None."""
    if not isinstance(contacts, list):
        raise ContactsError(f"contacts: expected a list of spans, got {cut(repr(contacts))}")
    return [
        row | span.as_data() | {name: None for name in POINTS if name in row and _shape(row[name]) != (3,)}
        for row, span in zip(contacts, read_contacts(contacts), strict=True)
    ]


def read_contacts(source: Any) -> list[Span]:
    """The spans in a list or in JSON text. Raises `ContactsError` for other data or frames beyond Blender's."""
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
    """The data in JSON text, which may start with a byte order mark. Raises `ValueError` if it cannot be read."""
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
    if SURROGATE.search(text):
        # Halves of surrogate pairs are no text that Blender can show. They raise an error here, and whole pairs do not.
        json.dumps(data, ensure_ascii=False).encode()
    return data


def _shape(values: Any) -> tuple[int, ...] | None:
    """The shape of a number or of lists of numbers in the range of single precision; None for anything else."""
    # Most values are single numbers, for which making an array takes 20 times as long.
    if isinstance(values, float):
        return () if abs(values) < LARGEST else None
    try:
        array = np.array(values)
    except ValueError:
        return None
    return array.shape if array.dtype.kind in "if" and (np.abs(array) < LARGEST).all() else None


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a value matches a pattern.

    A tuple stands for numbers of this shape, a type for a value of it, a list for a list whose items match its only
    item, and a dictionary for an object with these items; a name that ends with a question mark may be missing.
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
    """The soles that an earlier run measured, if the record has all feet and their size is unchanged; else None.

    The floor is measured from the clip as it is now.
    """
    known = [record["soles"].get(limb.foot) for limb in limbs]
    if None in known or not np.allclose([sole["leg"] for sole in known], clip.leg, rtol=1e-3):
        return None
    rows = {name: np.array([sole[name] for sole in known], float) for name in SOLE}
    return with_own_floor(clip, Sole(**rows, floor=0.0, source=tuple(sole["source"] for sole in known)))


def soles_as_data(limbs: Sequence[Limb], sole: Sole, leg: float) -> dict[str, Any]:
    """The soles as plain data by foot bone, for the record."""
    return {
        limb.foot: {"leg": leg, "source": sole.source[i]} | {name: row[i].tolist() for name, row in sole.rows()}
        for i, limb in enumerate(limbs)
    }


def lying(plan: Plan, spans: Sequence[dict[str, Any]]) -> Iterator[dict[str, list[float]]]:
    """The sole's unit vectors ahead and up in the middle of each contact on frames [start, end) of a plan."""
    legs, rows = ([span["leg"] for span in spans], [(span["start"] + span["end"] - 1) // 2 for span in spans])
    anchors = map(plan.targets.anchor_at, legs, rows)
    turns = [np.eye(3) if anchor is None else anchor.turns(row) for anchor, row in zip(anchors, rows, strict=True)]
    up = np.reshape(turns, (-1, 3, 3)) @ plan.clip.up
    foot = plan.targets.turn[rows, legs] @ plan.clip.foot[rows, legs, :3, :3]
    ahead = turn_vectors(foot, plan.sole.forward[legs])
    ahead = ahead - dot(ahead, up)[:, None] * up
    ahead = ahead / np.maximum(length_of(ahead), 1e-6)[:, None]
    each = zip(ahead.round(DECIMALS).tolist(), up.round(DECIMALS).tolist(), strict=True)
    return (dict(zip(("ahead", "up"), ways, strict=True)) for ways in each)


def paths_as_text(first: int, bones: Sequence[str], before: Clip, after: Clip) -> str:
    """The paths of the balls of two clips as stored text."""
    paths = np.stack([before.ball, after.ball]).astype(NUMBERS)
    return json.dumps({"first": first, "bones": list(bones), "paths": b64encode(paths.tobytes()).decode()})


@lru_cache(maxsize=2)
def paths_in(text: Any) -> Paths | None:
    """The paths in stored text; None if it cannot be read."""
    try:
        data = json.loads(text)
        first, bones = int(data["first"]), tuple(map(str, data["bones"]))
        before, after = np.frombuffer(b64decode(data["paths"]), NUMBERS).astype(float).reshape(2, -1, len(bones), 3)
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return None
    return Paths(first, bones, before, after) if len(before) and np.isfinite([before, after]).all() else None


def as_text(record: Record) -> str:
    """The record as stored text."""
    return json.dumps(record, separators=(",", ":"))


def store(action: Action, source: Action | None, record: Record) -> None:
    """Store a record on an action that was planted from a source, or in place if `source` is None.

    Action and source get a fake user, so that saving loses neither while the other one plays.
    """
    mark(action, {SOURCE: source, ORIGIN: None if source else origin_of(action), RECORD: as_text(record)})
    if source is not None:
        action.use_fake_user = True
        # The library keeps a linked source.
        source.use_fake_user = source.is_editable or source.use_fake_user


def marks_of(action: Action) -> dict[str, Any]:
    """The custom properties of planting on an action; None for missing ones."""
    return {name: action.get(name) for name in (SOURCE, ORIGIN, RECORD, PATHS, LAYER)}


def mark(action: Action, marks: dict[str, Any]) -> None:
    """Set custom properties of planting on an action; None removes a property."""
    for name, value in marks.items():
        if value is not None:
            action[name] = value
        elif name in action:
            del action[name]


def store_contacts(action: Action, rows: list[dict[str, Any]]) -> None:
    """Replace the contacts on an action. Raises `Refusal` if they could not be read again."""
    try:
        read_contacts(rows)
    except ContactsError as error:
        raise Refusal(f"these contacts cannot be stored: {error}") from None
    record = {name: value for name, value in read(action).items() if value or name not in EMPTY}
    mark(action, {RECORD: as_text(record | {"contacts": rows})})


def unkeyed(record: Record) -> dict[str, list[float]]:
    """The values of properties that the source does not animate, by data path."""
    return {path: values for path, values in record["channels"].items() if values is not None}


def put_back(armature: Object, record: Record) -> None:
    """Reset properties that the source does not animate, which would otherwise keep their planted values."""
    values_of = unkeyed(record)
    for bone in armature.pose.bones if values_of else ():
        for name in CHANNELS:
            values = values_of.get(bone.path_from_id(name))
            if values is not None and len(values) == len(getattr(bone, name)):
                # Set as a whole: assigning a slice of Euler angles sets their order to XYZ in Blender 5.2.
                setattr(bone, name, values)


def planted_of(armature: Object, source: Assignment) -> Assignment | None:
    """The action that an earlier run planted from `source` for this armature, if no other object plays it; else None.

    Raises `Refusal` if the record on that action is broken.
    """
    # Actions that were planted in place, and those whose source was deleted, have no source either.
    for action in bpy.data.actions if source.action else ():
        if LAYER in action or source_of(action) != source.action or read(action).get("armature") != armature.name:
            continue
        candidate = actions.counterpart(source, action)
        if candidate.curves.bag and action.is_editable and actions.players(candidate) in ([], [armature]):
            readable(action)
            return candidate
    return None
