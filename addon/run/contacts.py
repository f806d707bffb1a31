# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as stored on actions and edited by users: reading them for a run, storing and changing them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bpy.types import Action, Object
from ik2bone.contacts.spans import ContactsError, Marks, Span, marks_of, read_spans

from ..errors import Refusal, listed
from ..keys.keyframes import Frames
from ..rig.body import Body
from . import records
from .task import Task

# Contact spans as plain data.
Rows = list[dict[str, Any]]


def marks_for(body: Body, frames: Frames, spans: list[Span], mode: str, armature: Object) -> Marks | None:
    """The edited contacts of all planned limbs over all frames of an action; None without any.

    Raises `Refusal` if the stored `spans` contradict each other, or if there are none although the mode is STORED.
    """
    feet, planned = ([limb.foot for limb in limbs] for limbs in (body.limbs, body.planned))
    try:
        spans = [span for span in spans if span.bone in planned]
        marks = marks_of(spans, planned, int(frames[0]), len(frames))
    except ContactsError as error:
        raise Refusal(f"the contacts stored for {armature.name} cannot be used: {error}") from None
    if mode == "STORED" and not any(span.bone in feet for span in spans):
        raise Refusal(
            f"no contacts are stored for {', '.join(feet)} of {armature.name}: "
            "plant with detected contacts before, or import some"
        )
    is_wish = mode == "STORED" or marks.places or (marks.enforced | marks.forbidden).any()
    return marks if is_wish and mode != "ALWAYS" else None


def tell_strange(armature: Object, spans: list[Span], mode: str) -> Iterator[str]:
    """A sentence about edited contacts of bones that the armature lacks, for instance because they were renamed."""
    bones = {span.bone for span in spans if mode == "STORED" or (mode == "AUTO" and span.state != "automatic")}
    if strange := sorted(bones - set(armature.pose.bones.keys())):
        yield f"contacts of {listed(strange)} were passed over: {armature.name} has no bones of these names"


def rows_to_store(task: Task, rows: Rows, found: Rows, again: bool) -> Rows:
    """The contacts to store after a run: those found, and what the run does not replace of the stored `rows`.

    For feet of other limbs, and beyond the frames of the action, all stored contacts stay if the mode is STORED, else
    the edited ones; for other limbs also if `again` is set. For the run's own feet the lifted contacts stay, and under
    ALWAYS the pinned ones too.
    """
    numbers = dict(zip((limb.foot for limb in task.body.limbs), task.body.numbers, strict=True))
    mode, first, last = task.options.contacts, int(task.whole[0]), int(task.whole[-1])
    wished = ("forbidden", "enforced") if mode == "ALWAYS" else ("forbidden",)

    def kept(span: Span, row: dict[str, Any]) -> Rows:
        is_wish = mode == "STORED" or span.state != "automatic"
        if span.bone not in numbers:
            return [row] if is_wish or again else []
        if span.state in wished:
            return [{"leg": numbers[span.bone], **row_of(span)}]
        return _cut(row, replace(span, start=first, end=last)) if is_wish else []

    spans = read_spans(rows)
    placed = [span for span in spans if span.state == "enforced" and span.place]
    left = [part for span, row in zip(spans, rows, strict=True) for part in kept(span, row)]
    return [*(row | _place_of(row, placed) for row in found), *left]


def _place_of(row: dict[str, Any], placed: list[Span]) -> dict[str, Any]:
    """The item `place` of a contact, if a user has moved the footprint of that contact."""
    places = [span.place for span in placed if row["state"] == "enforced" and _meets(row, span)]
    return {"place": list(places[0])} if places else {}


def rows_to_edit(action: Action, *numbers: int) -> Rows:
    """The contacts on an action, to be changed. Raises `Refusal` for a linked action or a number without a contact."""
    if not action.is_editable:
        raise Refusal(f"action {action.name} is linked from a library and cannot be edited")
    rows = list(records.readable(action).get("contacts") or [])
    for number in (number for number in numbers if not 0 <= number < len(rows)):
        raise Refusal(f"action {action.name} has {len(rows)} contacts, so there is none with number {number}")
    return rows


def change_row(action: Action, number: int, **values: Any) -> None:
    """Change the state, start or end of a contact. The start cannot pass the end.

    An automatic contact whose frames are changed becomes pinned.
    """
    rows = rows_to_edit(action, number)
    row = rows[number]
    if "start" in values:
        values["start"] = min(values["start"], values.get("end", row["end"]))
    if "end" in values:
        values["end"] = max(values["end"], values.get("start", row["start"]))
    if "state" not in values and row["state"] == "automatic":
        values["state"] = "enforced"
    rows[number] = row | values
    records.store_contacts(action, rows)


def standing_row(rows: Rows, number: int) -> int:
    """The number of the contact that holds the foot: that of the ball where heel and ball stand at the same time."""
    found = (n for n, other in enumerate(rows) if other["part"] == "ball" and at_once(rows[number], other))
    return next(found, number) if rows[number].get("anchor") else number


def at_once(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two contacts are the heel and the ball of one foot, overlap in time, and both have anchors."""
    same = row["bone"] == other["bone"] and row["part"] != other["part"] and row.get("anchor") and other.get("anchor")
    return bool(same and row["start"] <= other["end"] and other["start"] <= row["end"])


def with_place(rows: Rows, number: int, place: Sequence[float]) -> Rows:
    """The contacts with one pinned in a new place. The anchor of the other part of the foot moves with it."""
    chosen = rows[number]
    way = np.subtract(place, chosen["anchor"])
    along = [n == number or at_once(chosen, row) for n, row in enumerate(rows)]
    there = [
        row | {"anchor": np.add(row["anchor"], way).tolist()} if goes else row
        for row, goes in zip(rows, along, strict=True)
    ]
    there[number] = there[number] | {"state": "enforced", "place": list(map(float, place))}
    return there


def place_row(action: Action, number: int, place: Sequence[float]) -> None:
    """Pin a contact in another place (3,). Raises `Refusal` for contacts without an anchor, and for hands."""
    rows, record = rows_to_edit(action, number), records.readable(action)
    row = rows[number]
    if not row.get("anchor"):
        raise Refusal(f"contact {number} of {row['bone']} has no anchor yet: plant the feet before it is moved")
    hands = [foot["bone"] for foot in record["report"].get("feet", ()) if foot.get("limb") == "hand"]
    if row["bone"] in hands or record["settings"].get("direction") == "NEAREST":
        raise Refusal(f"{row['bone']} holds on to the nearest surface: only feet that stand on the ground can be moved")
    number, chosen = standing_row(rows, number), row
    # If the ball holds the foot, the ball is moved by the way of the heel.
    place = np.add(place, np.subtract(rows[number]["anchor"], chosen["anchor"]))
    records.store_contacts(action, with_place(rows, number, place.tolist()))


def marked(rows: Rows, span: Span) -> Rows:
    """The contacts after the part of a span was pinned, lifted or made automatic on the frames of the span.

    A contact with exactly these frames keeps its anchor and place. Under "automatic" pinned contacts become automatic
    there, and lifted ones are removed, so that a detection may find them again.
    """
    kept, there = cleared(rows, span), [row for row in rows if _meets(row, span)]
    if span.state != "automatic":
        same = (row for row in there if (row["start"], row["end"]) == (span.start, span.end))
        return [*kept, next(same, row_of(span)) | {"state": span.state}]
    inside = [row for row in there if row["state"] != "forbidden"]
    ends = [{"start": max(row["start"], span.start), "end": min(row["end"], span.end)} for row in inside]
    return [*kept, *(row | end | {"state": "automatic"} for row, end in zip(inside, ends, strict=True))]


def cleared(rows: Rows, span: Span) -> Rows:
    """The contacts without the frames of a span, for the part of the span."""
    return [left for row in rows for left in _cut(row, span)]


def _meets(row: dict[str, Any], span: Span) -> bool:
    same = (row["bone"], row["part"]) == (span.bone, span.part)
    return bool(same and row["end"] >= span.start and row["start"] <= span.end)


def _cut(row: dict[str, Any], span: Span) -> Rows:
    """The pieces of a contact before and after a span of the same part."""
    if not _meets(row, span):
        return [row]
    sides = ((row["start"], span.start - 1), (span.end + 1, row["end"]))
    return [row | {"start": start, "end": end} for start, end in sides if start <= end]


def row_of(span: Span) -> dict[str, Any]:
    """A span as stored, without support and anchor, which only a run can find."""
    return span.as_data() | {"support": "", "anchor": None, "drift": None}
