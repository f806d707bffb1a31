# SPDX-License-Identifier: MIT
"""Contacts as plain data that people and scripts read, edit and pass on: spans of frames, as JSON and as masks.

A span says that a part ("heel" or "ball") of a foot, named by its bone, stands from frame `start` to frame `end`, both
included. Its `state` is "automatic" (found by a run, and found anew by the next), "enforced" (the part stands there
even if the foot moves) or "forbidden" (the part never stands there). An enforced span may have a `place`, where the
part shall stand on the first frame. `docs/contacts.md` describes the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from reprlib import repr as short
from typing import Any

import numpy as np

from .. import checks
from ..arrays import Array, Indices, Mask
from ..curves import column_runs
from .stance import stances

PARTS = ("heel", "ball")
STATES = ("automatic", "enforced", "forbidden")
VERSION = 1


class ContactsError(ValueError):
    """The error for invalid contacts. Its message names the place in the data, what was expected and what came."""


@dataclass(frozen=True)
class Span:
    """One contact: frames `start` to `end`, both included, of a part of the foot with this bone.

    `place` (world space) is where users want the ball joint, or the point of the heel, to be on the first frame. Its
    height along the up direction only chooses among surfaces above each other.
    """

    bone: str
    part: str
    start: int
    end: int
    state: str = "automatic"
    place: tuple[float, float, float] | None = None

    def as_data(self) -> dict[str, Any]:
        """The span as it is stored. It has a place only if there is one."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def write_spans(spans: Iterable[Span]) -> str:
    """The spans as JSON text, one span a line."""
    rows = [span.as_data() | {"start": int(span.start), "end": int(span.end)} for span in spans]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    return f'{{"version": {VERSION}, "contacts": [\n{lines}\n]}}\n'


def read_spans(source: str | Mapping[str, Any] | Sequence[Any]) -> list[Span]:
    """The spans in JSON text, in the data of such text, or in a bare list of spans. Raises `ContactsError` for other
    data.

    Keys of a span beside bone, part, start, end, state and place (such as anchors of a report) are ignored.
    """
    try:
        data = json.loads(source) if isinstance(source, str) else source
    except (ValueError, RecursionError) as error:
        raise ContactsError(f"contacts: expected JSON text, got {str(source)[:40]!r} ({error})") from None
    if isinstance(data, Mapping):
        if data.get("version", VERSION) != VERSION:
            raise ContactsError(f"version: expected {VERSION}, got {short(data['version'])}")
        if "contacts" not in data:
            names = ", ".join(islice(data, 6)) or "nothing in it"
            raise ContactsError(f"contacts: expected a list of spans, got an object with {names}")
        data = data["contacts"]
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise ContactsError(f"contacts: expected a list of spans, got {short(data)}")
    return [_read_span(f"contacts[{number}]", row) for number, row in enumerate(data)]


def _read_span(where: str, row: Any) -> Span:
    if not isinstance(row, Mapping):
        raise ContactsError(f"{where}: expected an object with bone, part, start and end, got {short(row)}")
    bone, state = row.get("bone"), row.get("state", "automatic")
    if not isinstance(bone, str) or not bone:
        raise ContactsError(f"{where}.bone: expected the name of a foot's bone, got {short(bone)}")
    for name, value, words in (("part", row.get("part"), PARTS), ("state", state, STATES)):
        if value not in words:
            raise ContactsError(f"{where}.{name}: expected one of {', '.join(words)}, got {short(value)}")
    start, end = (_read_frame(f"{where}.{name}", row.get(name)) for name in ("start", "end"))
    if end < start:
        raise ContactsError(f"{where}.end: expected a frame not before its start, {start}, got {end}")
    return Span(bone, row["part"], start, end, state, _read_place(f"{where}.place", row.get("place")))


def _read_place(where: str, value: Any) -> tuple[float, float, float] | None:
    if value is None:
        return None
    try:
        x, y, z = (checks.number(where, one) for one in value)
    except (TypeError, ValueError):
        raise ContactsError(f"{where}: expected three finite numbers, got {short(value)}") from None
    return x, y, z


def _read_frame(where: str, value: Any) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise ContactsError(f"{where}: expected a whole frame number, got {short(value)}")
    return int(value)


def spans_of(contacts: Mask, bones: Sequence[str], first: int = 0, state: str = "automatic") -> list[Span]:
    """The spans of contacts (F, L, 2) of heels and balls. `bones` names the feet, `first` is the number of the first
    frame.
    """
    contacts = checks.mask("contacts", contacts, ("frames", len(bones), 2))
    return [
        Span(bones[column // 2], PARTS[column % 2], first + start, first + end - 1, state)
        for column, start, end in column_runs(contacts)
    ]


@dataclass(frozen=True)
class Place:
    """Where users want a part ("heel" or "ball") of a leg to stand on frame `start`, and stay up to frame `end`."""

    leg: int
    part: str
    start: int
    end: int
    point: tuple[float, float, float]

    def within(self, frame: int, start: int, end: int) -> Place | None:
        """The same place, if it is on any of the frames from `frame` on that are now those in [start, end)."""
        moved = replace(self, start=self.start - frame + start, end=min(self.end - frame + start, end - 1))
        return moved if moved.start < end and moved.end >= start else None


@dataclass(frozen=True)
class Marks:
    """What spans say about each frame: masks (F, L, 2) of heels and balls. An automatic contact does not count where it
    is forbidden.

    `places` are those of enforced spans, with frames counted as in the masks. `alone` are the least and the most
    contacts (F, L, 2) that a run without the automatic ones would store, if that is known.
    """

    automatic: Mask
    enforced: Mask
    forbidden: Mask
    places: tuple[Place, ...] = ()
    alone: tuple[Mask, Mask] | None = None

    @property
    def standing(self) -> Mask:
        """The contacts by the spans alone (F, L, 2)."""
        return (self.automatic & ~self.forbidden) | self.enforced

    @property
    def always(self) -> bool:
        """Whether all limbs stand on every frame by automatic spans alone, and a run without these would store less."""
        if self.alone is None or self.enforced.any() or self.forbidden.any():
            return False
        return bool(self.automatic.any(axis=-1).all() and not self.alone[1].any(axis=-1).all())

    def refuse_torn(self, where: str, bones: Sequence[str], first: int = 0) -> None:
        """Raise `ContactsError` where a part is both enforced and forbidden. `bones` names the feet, `first` is the
        number of the first frame.
        """
        torn = np.argwhere(self.enforced & self.forbidden)
        if len(torn):
            frame, leg, part = (int(number) for number in torn[0])
            raise ContactsError(
                f"{where}the {PARTS[part]} of {bones[leg]} is enforced and forbidden on frame {first + frame}"
            )

    @property
    def edits(self) -> Marks | None:
        """The same marks without automatic contacts; None if nothing is enforced or forbidden."""
        edited = self.enforced.any() or self.forbidden.any()
        return replace(self, automatic=np.zeros_like(self.automatic)) if edited else None

    def compared(self, least: Mask, most: Mask, starts: Indices | None = None) -> Marks:
        """The same marks with the contacts that a run without automatic ones would store, `least` of them or `most`.

        `starts` (F,) is the first frame of each frame's pose: of a held pose, the least is what is stored on all of its
        frames, and the most what is stored on any of them.
        """
        if starts is not None:
            first, pose = np.unique(starts, return_inverse=True)
            least, most = np.logical_and.reduceat(least, first)[pose], np.logical_or.reduceat(most, first)[pose]
        return replace(self, alone=(least, most))

    def closed(self) -> Marks:
        """The same marks of a loop: what is enforced or forbidden on the first frame or the last is so on both, which
        are one pose, and at the same place.
        """
        enforced, forbidden = self.enforced.copy(), self.forbidden.copy()
        for mask in (enforced, forbidden):
            mask[[0, -1]] = mask[0] | mask[-1]
        seam = 0, len(enforced) - 1
        other = (place.within(frame, to, to + 1) for place in self.places for frame, to in (seam, seam[::-1]))
        # Of several places for a stance the last one counts: that of the frame itself.
        places = (*filter(None, other), *self.places)
        return replace(self, enforced=enforced, forbidden=forbidden & ~enforced, places=places)

    def held(self, starts: Indices) -> Marks:
        """The same marks, with what is enforced or forbidden on any frame of a held pose so on all of its frames.

        `starts` (F,) are the poses' first frames. Poses are planted as on these, so marks that begin later would be
        lost.
        """
        first, pose = np.unique(starts, return_inverse=True)
        enforced, forbidden = (np.logical_or.reduceat(mask, first)[pose] for mask in (self.enforced, self.forbidden))
        return replace(self, enforced=enforced, forbidden=forbidden)

    def standing_with(self, found: Mask) -> Mask:
        """The contacts (F, L, 2) by the spans; as in `found` for stances that a run without automatic ones would store
        alike.
        """
        standing = self.standing
        if self.alone is not None:
            least, most = self.alone
            other = (least & ~standing) | (standing & ~most)
            # What people added to a stance, or joined it by, lies outside of what was found.
            for span in stances(found | standing):
                if not other[span.rows].any():
                    standing[span.rows] = found[span.rows]
        return standing

    def applied(self, found: Mask, least: float = 0.0) -> Mask:
        """The contacts `found` (F, L, 2), with those that are enforced and without those that are forbidden.

        What a forbidden span leaves of a contact is dropped, too, if it is shorter than the `least` number of frames.
        """
        standing = (found & ~self.forbidden) | self.enforced
        cut = found & self.forbidden
        for column, start, end in column_runs(standing) if cut.any() else ():
            rows, (leg, part) = slice(start, end), divmod(column, standing.shape[-1])
            beside = cut[max(start - 1, 0) : end + 1, leg, part].any()
            if beside and end - start < least - 1e-6 and not self.enforced[rows, leg, part].any():
                standing[rows, leg, part] = False
        return standing

    def each(self, change: Callable[[Mask], Mask], places: tuple[Place, ...] = ()) -> Marks:
        """These marks with all masks changed alike, and with other `places`."""
        alone = self.alone and (change(self.alone[0]), change(self.alone[1]))
        return Marks(change(self.automatic), change(self.enforced), change(self.forbidden), places, alone)

    def cut(self, frames: slice | Indices) -> Marks:
        """The same marks on some of the frames. Places count from the first of these, and are repeated with their
        frames.
        """
        rows = np.arange(len(self.automatic))[frames]
        begins = np.append(0, np.flatnonzero(np.diff(rows) != 1) + 1)
        spans = zip(rows[begins], begins, np.append(begins[1:], len(rows)), strict=True)
        places = tuple(moved for span in spans for place in self.places if (moved := place.within(*map(int, span))))
        return self.each(lambda mask: mask[frames], places)

    def choose(self, limbs: Mask) -> Marks:
        """The same marks for some of the limbs (L,)."""
        numbers = np.cumsum(limbs) - 1
        places = tuple(replace(place, leg=int(numbers[place.leg])) for place in self.places if limbs[place.leg])
        return self.each(lambda mask: mask[:, limbs], places)

    def moved(self, motion: Array) -> Marks:
        """The same marks with each place moved by a motion (F, 4, 4), as it is on the first frame of that place."""
        places = []
        for place in self.places:
            matrix = motion[np.clip(place.start, 0, len(motion) - 1)]
            point = matrix[:3, :3] @ place.point + matrix[:3, 3]
            places.append(replace(place, point=tuple(point.tolist())))
        return replace(self, places=tuple(places))


def no_marks(shape: tuple[int, ...]) -> Marks:
    """Marks without contacts, of a shape (F, L, 2)."""
    return Marks(np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape, bool))


def marks_of(spans: Iterable[Span], bones: Sequence[str], first: int, count: int) -> Marks:
    """The marks of feet with these bones over `count` frames from the first. Spans of other feet and frames are
    ignored.

    Raises `ContactsError` where a part is both enforced and forbidden.
    """
    masks = {state: np.zeros((count, len(bones), 2), bool) for state in STATES}
    legs, places = {bone: leg for leg, bone in enumerate(bones)}, []
    for span in (span for span in spans if span.bone in legs):
        leg, start, end = legs[span.bone], span.start - first, span.end - first
        masks[span.state][max(start, 0) : max(end + 1, 0), leg, PARTS.index(span.part)] = True
        if span.state == "enforced" and span.place is not None:
            places.append(Place(leg, span.part, start, end, span.place))
    marks = Marks(masks["automatic"] & ~masks["forbidden"], masks["enforced"], masks["forbidden"], tuple(places))
    marks.refuse_torn("", bones, first)
    return marks
