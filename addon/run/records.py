# SPDX-License-Identifier: GPL-3.0-or-later
"""What a planted action remembers: its source, and as JSON text the settings, contacts and report of the last run."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import bpy
from bpy.types import Action, Object

from ..keys import actions
from ..keys.actions import Assignment

SOURCE, RECORD = "ik2bone_source", "ik2bone"
# The source that a planted action had before it was planted in place.
ORIGIN = "ik2bone_origin"

# `channels` of a record: each written data path with the values that it had while nothing animated it, or None.
Record = dict[str, Any]
EMPTY: Record = {"channels": {}}


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
    """The record of a planted action; an empty one where there is none or it is not readable."""
    text = action.get(RECORD) if action else None
    return _parse(text) if isinstance(text, str) else EMPTY


@lru_cache(maxsize=8)
def _parse(text: str) -> Record:
    """Cached because the panel reads the record on every redraw."""
    try:
        record = json.loads(text)
    except ValueError:
        return EMPTY
    if not isinstance(record, dict):
        return EMPTY
    channels, soles = (_objects(record.get(name)) for name in ("channels", "soles"))
    known = {path: values for path, values in channels.items() if values is None or _are_numbers(values)}
    return record | {"channels": known, "soles": {name: sole for name, sole in soles.items() if _objects(sole)}}


def _objects(value: Any) -> dict[str, Any]:
    """A JSON object, an empty one for anything else: people and scripts edit records."""
    return value if isinstance(value, dict) else {}


def _are_numbers(values: Any) -> bool:
    """Whether these can be the values of a location or rotation."""
    return isinstance(values, list) and len(values) in (3, 4) and all(isinstance(n, int | float) for n in values)


def trouble(action: Action | None) -> str | None:
    """What keeps the record of an action from being read, if anything does: people and scripts edit it."""
    text = action.get(RECORD) if action else None
    if text is None:
        return None
    if not isinstance(text, str):
        return f"is no text but of type {type(text).__name__}"
    try:
        record = json.loads(text)
    except ValueError as error:
        return f"is no JSON text ({error})"
    if not isinstance(record, dict):
        return f"is no JSON object but {text[:40]!r}"
    rows = record.get("contacts", [])
    return None if isinstance(rows, list) else f"holds no list of contacts but {rows!r:.40}"


def new(
    source: Action | None, armature: Object, settings: dict[str, Any], channels: dict[str, Any] | None = None
) -> Record:
    """A record without contacts and report."""
    name = source.name if source else None
    return {"source": name, "armature": armature.name, "settings": settings, "channels": channels or {}}


def as_text(record: Record) -> str:
    """The record as it is stored."""
    return json.dumps(record)


def store(action: Action, source: Action | None, text: str) -> None:
    """Mark an action as planted, from a source or in place.

    Action and source keep a fake user, so that saving loses neither while the other plays.
    """
    mark(action, {SOURCE: source, ORIGIN: None if source else origin_of(action), RECORD: text})
    if source is not None:
        action.use_fake_user = True
        # A linked source stays in its library, which keeps it.
        source.use_fake_user = source.is_editable or source.use_fake_user


def marks_of(action: Action) -> dict[str, Any]:
    """What planting left on an action: its source, past or present, and its record, None for what is not there."""
    return {name: action.get(name) for name in (SOURCE, ORIGIN, RECORD)}


def mark(action: Action, marks: dict[str, Any]) -> None:
    """Set what planting leaves on an action, or take it away."""
    for name, value in marks.items():
        if value is not None:
            action[name] = value
        elif name in action:
            del action[name]


def store_contacts(action: Action, rows: list[dict[str, Any]]) -> None:
    """Put contacts on an action, in place of those that it has."""
    record = {name: value for name, value in read(action).items() if value or name not in ("channels", "soles")}
    mark(action, {RECORD: as_text(record | {"contacts": rows})})


def restore(armature: Object) -> str:
    """Let the armature play the source of its planted action again, and tell its name; the planted one is kept.

    The source gets the contacts as they are by now, so that planting it again, by whomever, starts from them.
    """
    present = actions.assigned(armature)
    source, record = source_of(present.action), read(present.action)
    actions.assign(armature, actions.counterpart(present, source))
    put_back(armature, record)
    if source.is_editable and "contacts" in record:
        store_contacts(source, record["contacts"])
    return source.name


def put_back(armature: Object, record: Record) -> None:
    """Set what the source does not animate, which would keep the values that planting gave it."""
    for path, values in record["channels"].items():
        if values is not None and _length(armature, path) == len(values):
            # As a whole: values put into a slice of Euler angles would set their order to XYZ in Blender 5.2.
            owner, _, name = path.rpartition(".")
            setattr(armature.path_resolve(owner), name, values)


def _length(armature: Object, path: str) -> int:
    """How many numbers a property holds, none where there is no such one: its bone may have been renamed or removed."""
    try:
        return len(armature.path_resolve(path))
    except (TypeError, ValueError):
        return 0


def planted_of(armature: Object, source: Assignment) -> Assignment | None:
    """The action that was planted from `source` for this armature before and that nothing else plays."""
    for action in bpy.data.actions:
        if source_of(action) != source.action or read(action).get("armature") != armature.name:
            continue
        candidate = actions.counterpart(source, action)
        if actions.curves_of(candidate).bag and action.is_editable and actions.players(candidate) in ([], [armature]):
            return candidate
    return None
