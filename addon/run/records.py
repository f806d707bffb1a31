# SPDX-License-Identifier: GPL-3.0-or-later
"""What a planted action remembers: its source, and as JSON text the settings, contacts and report of the last run."""

from __future__ import annotations

import json
from typing import Any

import bpy
from bpy.types import Action, Object, PoseBone

from ..errors import Refusal
from ..keys import actions
from ..keys.actions import Assignment
from .reading import Record, read_record

SOURCE, RECORD = "ik2bone_source", "ik2bone"
# The source that a planted action had before it was planted in place.
ORIGIN = "ik2bone_origin"
# What planting writes of a bone.
CHANNELS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler")

EMPTY: Record = {"channels": {}, "soles": {}, "report": {}}


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


def new(
    source: Action | None, armature: Object, settings: dict[str, Any], channels: dict[str, Any] | None = None
) -> Record:
    """A record without contacts and report."""
    name = source.name if source else None
    return {"source": name, "armature": armature.name, "settings": settings, "channels": channels or {}}


def as_text(record: Record) -> str:
    """The record as it is stored."""
    return json.dumps(record, separators=(",", ":"))


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
    record = {name: value for name, value in read(action).items() if value or name not in EMPTY}
    mark(action, {RECORD: as_text(record | {"contacts": rows})})


def restore(armature: Object) -> str:
    """Let the armature play the source of its planted action again, and tell its name; the planted one is kept.

    The source gets the contacts as they are by now, so that planting it again, by whomever, starts from them. Contacts
    that cannot be read stay where they are, which is told.
    """
    present = actions.assigned(armature)
    source, record = source_of(present.action), read(present.action)
    actions.assign(armature, actions.counterpart(present, source))
    put_back(armature, record)
    wrong = trouble(present.action) or trouble(source)
    if source.is_editable and "contacts" in record and not wrong:
        store_contacts(source, record["contacts"])
    return f"{source.name} without the contacts, for {wrong}" if wrong else source.name


def put_back(armature: Object, record: Record) -> None:
    """Set what the source does not animate, which would keep the values that planting gave it."""
    for path, values in record["channels"].items():
        owner, _, name = path.rpartition(".")
        if values is not None and _length(armature, owner, name) == len(values):
            # As a whole: values put into a slice of Euler angles would set their order to XYZ in Blender 5.2.
            setattr(armature.path_resolve(owner), name, values)


def _length(armature: Object, owner: str, name: str) -> int:
    """How many numbers a bone's location or rotation holds, none for what is neither: the bone may have been renamed
    or removed, and people and scripts edit records."""
    try:
        bone = armature.path_resolve(owner)
    except ValueError:
        return 0
    return len(getattr(bone, name)) if isinstance(bone, PoseBone) and name in CHANNELS else 0


def planted_of(armature: Object, source: Assignment) -> Assignment | None:
    """The action that was planted from `source` for this armature before and that nothing else plays.

    A `Refusal` where the property of that action is broken.
    """
    for action in bpy.data.actions:
        if source_of(action) != source.action or read(action).get("armature") != armature.name:
            continue
        candidate = actions.counterpart(source, action)
        if actions.curves_of(candidate).bag and action.is_editable and actions.players(candidate) in ([], [armature]):
            readable(action)
            return candidate
    return None
