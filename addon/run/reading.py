# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON text that people and scripts may have edited: what can be used of it, and what is wrong with the rest."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from ik2bone.contacts.spans import ContactsError, Span, read_spans
from ik2bone.report import ROWS

from ..errors import cut

# `channels` of a record: each written data path with the values that it had while nothing animated it, or None.
Record = dict[str, Any]

# Records and files of contacts are nested six deep; Python's JSON functions give up at some hundreds.
DEEPEST = 64
# The largest number in single precision, and the last frame that Blender has.
LARGEST, LAST_FRAME = 3.4e38, 1_048_574


@lru_cache(maxsize=8)
def read_record(text: str) -> tuple[Record, str | None]:
    """The usable part of a record, with `channels`, `soles` and `report`, and what is wrong with the text or with the
    contacts in it, if anything is.

    Cached because the panel reads the record on every redraw.
    """
    try:
        data = parse_json(text)
    except ValueError as error:
        return _usable({}), f"is no JSON text that can be read ({error})"
    if not isinstance(data, dict):
        return _usable({}), f"is no JSON object but {cut(text)!r}"
    wrong = _wrong_contacts(data.get("contacts", []))
    return _usable(data | {"contacts": []} if wrong else data), wrong


def read_contacts(source: str | list[Any]) -> list[Span]:
    """The spans in a list or in JSON text, on frames that Blender has; a `ContactsError` where they are none."""
    try:
        spans = read_spans(parse_json(source) if isinstance(source, str) else source)
    except ContactsError as error:
        raise ContactsError(cut(str(error), 200)) from None
    except ValueError as error:
        raise ContactsError(f"contacts: expected JSON text, got {cut(str(source))!r} ({error})") from None
    for number, span in enumerate(spans):
        for name, frame in (("start", span.start), ("end", span.end)):
            if abs(frame) > LAST_FRAME:
                raise ContactsError(
                    f"contacts[{number}].{name}: expected a frame from {-LAST_FRAME} to {LAST_FRAME}, "
                    f"got {cut(str(frame))}"
                )
    return spans


def parse_json(text: str) -> Any:
    """The data in JSON text, which may start with a byte order mark; a `ValueError` where it cannot be read."""
    too_deep = ValueError(f"brackets are nested more than {DEEPEST} deep")
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise too_deep from None
    level = [data]
    for _ in range(DEEPEST):
        parts = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list)]
        level = [item for part in parts for item in part]
    if level:
        raise too_deep
    return data


def _wrong_contacts(rows: Any) -> str | None:
    if not isinstance(rows, list):
        return f"holds no list of contacts but {cut(json.dumps(rows))}"
    try:
        read_contacts(rows)
    except ContactsError as error:
        return f"holds no contacts that can be used: {error}"
    return None


def _usable(data: Record) -> Record:
    """The record without what could not be written to a pose, read as a sole or shown as a report."""
    channels, soles, report = (_objects(data.get(name)) for name in ("channels", "soles", "report"))
    return data | {
        "channels": {path: values for path, values in channels.items() if values is None or _are_numbers(values)},
        "soles": {name: sole for name, sole in soles.items() if _objects(sole)},
        "report": report if _is_report(report) else {},
    }


def _objects(value: Any) -> dict[str, Any]:
    """A JSON object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _are_numbers(values: Any) -> bool:
    """Whether these can be the values of a location or rotation."""
    return isinstance(values, list) and len(values) in (3, 4) and all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    """Whether this is a finite number that single precision holds."""
    return isinstance(value, int | float) and -LARGEST < value < LARGEST


def _is_report(report: dict[str, Any]) -> bool:
    """Whether the panel can show the report: a leg length, figures before and after, and sentences."""
    sides, told, leg = (
        [_objects(report.get(side)) for side in ("before", "after")],
        report.get("told"),
        report.get("leg"),
    )
    figures = all(side and all(_is_number(side.get(name, 0.0)) for name, _ in ROWS) for side in sides)
    sentences = isinstance(told, list) and all(isinstance(text, str) for text in told)
    return figures and sentences and _is_number(leg) and leg > 0.0
