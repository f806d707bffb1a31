# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as they are stored on actions and edited by people: what a run takes from them, and how to change them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bpy.types import Action, Object
from ik2bone.contacts.spans import ContactsError, Marks, Span, marks_of, read_spans
from numpy.typing import NDArray

from ..errors import Refusal, listed
from ..keys import actions
from ..rig.body import Body
from ..rig.find import Leg
from . import records
from .reading import read_contacts

# Contact spans as plain data.
Rows = list[dict[str, Any]]


def rows_of(action: Action | None) -> Rows | None:
    """The contacts stored on an action; None where none are, and no rows where one of them cannot be used."""
    return records.read(action).get("contacts")


def readable_rows(action: Action) -> Rows | None:
    """As `rows_of`; a `Refusal` where the action's property is broken."""
    return records.readable(action).get("contacts")


def wanted_rows(armature: Object, record: records.Record) -> Rows | None:
    """The contacts that count: those on the action that the armature plays, else those of an earlier run's record."""
    rows = readable_rows(actions.assigned(armature).action)
    return record.get("contacts") if rows is None else rows


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


def kept_rows(legs: Sequence[Leg], rows: Rows | None, again: bool, mode: str) -> Rows:
    """Stored contacts of other feet than those of some legs: all of them where those stay planted, or where none are
    found anew; else people's.
    """
    feet = {leg.foot for leg in legs}
    others = [row for row in rows or () if row["bone"] not in feet]
    return (
        others if again or mode == "STORED" else [row for row in others if row.get("state", "automatic") != "automatic"]
    )


def wished_rows(legs: Sequence[Leg], numbers: Sequence[int], rows: Rows | None, mode: str) -> Rows:
    """What people want of some legs and a run does not tell: what is forbidden, and under ALWAYS what is enforced."""
    states = ("forbidden", "enforced") if mode == "ALWAYS" else ("forbidden",)
    feet = {leg.foot: number for leg, number in zip(legs, numbers, strict=True)}
    spans = [span for span in read_spans(rows or []) if span.state in states and span.bone in feet]
    return [{"leg": feet[span.bone], **row_of(span)} for span in spans]


def row_of(span: Span) -> dict[str, Any]:
    """A span as it is stored where no run has found what it stands on."""
    return vars(span) | {"support": "", "anchor": None, "drift": None}


def editable_action(armature: Object) -> Action:
    """The action that the armature plays, for its contacts to be changed; a `Refusal` where that cannot be."""
    action = actions.assigned(armature).action
    if action is None:
        raise Refusal(f"{armature.name} plays no action")
    if not action.is_editable:
        raise Refusal(f"action {action.name} is linked from a library and cannot be edited")
    return action


def set_state(action: Action, number: int, state: str) -> None:
    """Change the state of one of the stored contacts."""
    rows = list(readable_rows(action) or [])
    if not 0 <= number < len(rows):
        raise Refusal(f"action {action.name} has {len(rows)} contacts, so there is none with number {number}")
    rows[number] = rows[number] | {"state": state}
    records.store_contacts(action, rows)


def add_span(armature: Object, action: Action, span: Span) -> None:
    """Store one more contact."""
    _refuse_strangers(armature, [span])
    records.store_contacts(action, [*(readable_rows(action) or []), row_of(span)])


def replace_spans(armature: Object, action: Action, text: str) -> int:
    """Store the contacts in JSON text in place of those that the action has, and tell how many."""
    try:
        spans = read_contacts(text)
    except ContactsError as error:
        raise Refusal(f"these are no contacts: {error}") from None
    _refuse_strangers(armature, spans)
    records.store_contacts(action, [row_of(span) for span in spans])
    return len(spans)


def _refuse_strangers(armature: Object, spans: Sequence[Span]) -> None:
    """Refuse contacts of bones that the armature does not have."""
    unknown = sorted({span.bone for span in spans} - set(armature.pose.bones.keys()))
    if unknown:
        raise Refusal(f"{armature.name} has no bone named {listed(unknown)}")
