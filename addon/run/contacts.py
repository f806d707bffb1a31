# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as they are stored on actions and edited by people: what a run takes from them and what it leaves there."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Action, Object
from ik2bone.contacts.spans import ContactsError, Marks, Span, marks_of, read_spans
from numpy.typing import NDArray

from ..errors import Refusal
from ..rig.body import Body
from . import records

# Contact spans as plain data.
Rows = list[dict[str, Any]]


def marks_for(body: Body, frames: NDArray[np.int64], rows: Rows | None, mode: str, armature: Object) -> Marks | None:
    """What people want of the contacts of all planned limbs over all frames of an action; None where nothing.

    A `Refusal` tells what is wrong with stored contacts, or that there are none although the mode is STORED.
    """
    feet, planned = ([limb.foot for limb in limbs] for limbs in (body.legs, body.planned))
    try:
        spans = [span for span in read_spans(rows or []) if span.bone in planned]
        marks = marks_of(spans, planned, int(frames[0]), len(frames))
    except ContactsError as error:
        raise Refusal(f"the contacts stored for {armature.name} cannot be used: {error}") from None
    if mode == "STORED" and not any(span.bone in feet for span in spans):
        raise Refusal(
            f"no contacts are stored for {', '.join(feet)} of {armature.name}: "
            "plant with detected contacts before, or import some"
        )
    return marks if spans and mode != "ALWAYS" else None


def rows_to_store(body: Body, rows: Rows | None, found: Rows, mode: str, again: bool) -> Rows:
    """The contacts that an action keeps: those found, and of those stored before what this run does not tell.

    Of other feet these are all where the feet stay planted as they were (`again`) or none are found anew, else
    people's. Of the run's own they are those forbidden, and under ALWAYS those enforced.
    """
    numbers = dict(zip((limb.foot for limb in body.legs), body.numbers, strict=True))
    wished = ("forbidden", "enforced") if mode == "ALWAYS" else ("forbidden",)
    spans = list(zip(read_spans(rows or []), rows or [], strict=True))
    others = [
        row
        for span, row in spans
        if span.bone not in numbers and (again or mode == "STORED" or span.state != "automatic")
    ]
    own = [
        {"leg": numbers[span.bone], **row_of(span)}
        for span, _ in spans
        if span.bone in numbers and span.state in wished
    ]
    return [*others, *found, *own]


def rows_to_edit(action: Action) -> Rows:
    """The contacts on an action, to be changed; a `Refusal` where that cannot be."""
    if not action.is_editable:
        raise Refusal(f"action {action.name} is linked from a library and cannot be edited")
    return list(records.readable(action).get("contacts") or [])


def change_row(action: Action, number: int, **values: Any) -> None:
    """Change state, start or end of a contact; neither of its ends passes the other.

    One whose frames people set is theirs: it is pinned from then on unless it is lifted.
    """
    rows = rows_to_edit(action)
    if number >= len(rows):
        raise Refusal(f"action {action.name} has {len(rows)} contacts, so there is none with number {number}")
    row = {"state": "automatic"} | rows[number]
    if "start" in values:
        values["start"] = min(values["start"], values.get("end", row["end"]))
    if "end" in values:
        values["end"] = max(values["end"], values.get("start", row["start"]))
    if "state" not in values and row["state"] == "automatic":
        values["state"] = "enforced"
    rows[number] = row | values
    records.store_contacts(action, rows)


def marked(rows: Rows, span: Span) -> Rows:
    """Contacts in which a part does, on the frames of a span, what its state says.

    Under "automatic" what stands there is no longer pinned, and what is lifted there may be found to stand again.
    """
    kept = [left for row in rows for left in _cut(row, span)]
    if span.state != "automatic":
        return [*kept, row_of(span)]
    inside = [row for row in rows if _meets(row, span) and row.get("state") != "forbidden"]
    ends = [{"start": max(row["start"], span.start), "end": min(row["end"], span.end)} for row in inside]
    return [*kept, *(row | end | {"state": "automatic"} for row, end in zip(inside, ends, strict=True))]


def _meets(row: dict[str, Any], span: Span) -> bool:
    same = (row["bone"], row["part"]) == (span.bone, span.part)
    return bool(same and row["end"] >= span.start and row["start"] <= span.end)


def _cut(row: dict[str, Any], span: Span) -> Rows:
    """What lies of a contact beside a span of the same part."""
    if not _meets(row, span):
        return [row]
    sides = ((row["start"], span.start - 1), (span.end + 1, row["end"]))
    return [row | {"start": start, "end": end} for start, end in sides if start <= end]


def row_of(span: Span) -> dict[str, Any]:
    """A span as it is stored where no run has found what it stands on."""
    return vars(span) | {"support": "", "anchor": None, "drift": None}
