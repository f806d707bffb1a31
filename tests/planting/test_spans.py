# SPDX-License-Identifier: MIT
"""Contacts as data: written, read, told apart by state, and refused in one sentence where they are not right."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ik2bone.contacts.spans import (
    PARTS,
    STATES,
    ContactsError,
    Span,
    marks_of,
    no_marks,
    read_spans,
    spans_of,
    write_spans,
)

FEET = ("foot.L", "foot.R")
spans = st.builds(
    lambda bone, part, start, length, state: Span(bone, part, start, start + length, state),
    st.text(min_size=1),
    st.sampled_from(PARTS),
    st.integers(-1000, 10**6),
    st.integers(0, 1000),
    st.sampled_from(STATES),
)
masks = st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=30).map(
    lambda rows: np.array(rows).reshape(-1, 2, 2)
)


@settings(deadline=None)
@given(st.lists(spans))
def test_spans_come_back_from_their_text(given_spans) -> None:
    assert read_spans(write_spans(given_spans)) == given_spans


@settings(deadline=None)
@given(masks, st.integers(-50, 50))
def test_contacts_come_back_from_their_spans(contacts, first) -> None:
    marks = marks_of(spans_of(contacts, FEET, first), FEET, first, len(contacts))
    assert (marks.automatic == contacts).all()
    assert not (marks.enforced | marks.forbidden).any()


def test_marks_without_contacts_may_be_filled_in_one_by_one() -> None:
    marks = no_marks((9, 2, 2))
    marks.enforced[3:5, 0] = True
    assert not (marks.automatic | marks.forbidden).any()


@pytest.mark.parametrize("contacts", [np.ones((9, 2), bool), np.ones((9, 3, 2), bool), np.ones((9, 2, 1), bool)])
def test_contacts_that_do_not_fit_the_feet_make_no_spans(contacts) -> None:
    with pytest.raises(ValueError, match=r"contacts: expected shape \(frames, 2, 2\), got \(9, "):
        spans_of(contacts, ["foot.L", "foot.R"])


def test_text_is_json_with_a_version_and_one_span_on_a_line() -> None:
    text = write_spans([Span("foot.L", "ball", 3, 9), Span("foot.R", "heel", 5, 6, "enforced")])
    data = json.loads(text)
    assert data["version"] == 1
    assert data["contacts"][1] == {"bone": "foot.R", "part": "heel", "start": 5, "end": 6, "state": "enforced"}
    assert sum('"bone"' in line for line in text.splitlines()) == 2


def test_records_and_bare_lists_are_read_too_and_states_may_be_left_out() -> None:
    row = {"bone": "foot.L", "part": "ball", "start": 3.0, "end": 9, "anchor": [0, 0, 0], "drift": None, "leg": 0}
    for source in ([row], {"contacts": [row], "report": {}}, json.dumps([row])):
        assert read_spans(source) == [Span("foot.L", "ball", 3, 9, "automatic")]


def test_what_is_enforced_stands_and_what_is_forbidden_does_not() -> None:
    stored = [Span("foot.L", "ball", 10, 19), Span("foot.L", "ball", 14, 15, "forbidden"),
              Span("foot.R", "heel", 12, 13, "enforced"), Span("tail", "ball", 10, 19)]  # fmt: skip
    marks = marks_of(stored, FEET, 10, 8)
    assert marks.standing[:, 0, 1].tolist() == [True, True, True, True, False, False, True, True]
    assert marks.standing[:, 1, 0].tolist() == [False, False, True, True, False, False, False, False]
    found = np.ones((8, 2, 2), bool)
    applied = marks.applied(found)
    assert not applied[4:6, 0, 1].any()
    assert applied.sum() == found.sum() - 2
    assert (marks.applied(~found) == marks.enforced).all()


def test_marks_are_cut_and_chosen_like_clips() -> None:
    marks = marks_of([Span("foot.R", "ball", 4, 6, "enforced")], FEET, 0, 10)
    part = marks.cut(slice(5, 8)).choose(np.array([False, True]))
    assert part.enforced[:, 0, 1].tolist() == [True, True, False]


def test_places_are_kept_by_text_and_go_with_the_marks_of_enforced_spans() -> None:
    placed = [Span("foot.R", "ball", 4, 6, "enforced", (1.0, 2.5, -3.0)), Span("foot.L", "ball", 1, 2)]
    assert read_spans(write_spans(placed)) == placed
    assert "place" not in json.loads(write_spans(placed))["contacts"][1]
    marks = marks_of(placed, FEET, 1, 10).cut(slice(2, 8)).choose(np.array([False, True]))
    assert [(place.leg, place.start, place.end, place.point) for place in marks.places] == [(0, 1, 3, (1.0, 2.5, -3.0))]
    assert marks_of([replace(placed[0], state="automatic")], FEET, 0, 9).places == ()
    assert marks.choose(np.array([False])).places == ()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{", r"contacts: expected JSON text, got '\{'"),
        ("7", "contacts: expected a list of spans, got 7"),
        # By Python up to 3.13 and by 3.14.
        ("[" * 100_000, r"contacts: expected JSON text, got '\[\[.*(recursion|Stack overflow)"),
        ({"spans": []}, "contacts: expected a list of spans, got an object with spans"),
        ({"version": 2, "contacts": []}, "version: expected 1, got 2"),
        ([3], r"contacts\[0\]: expected an object with bone, part, start and end, got 3"),
        ([{"part": "ball"}], r"contacts\[0\].bone: expected the name of a foot's bone, got None"),
        ([{"bone": "a", "part": "toe"}], r"contacts\[0\].part: expected one of heel, ball, got 'toe'"),
        ([{"bone": "a", "part": ["ball"]}], r"contacts\[0\].part: expected one of heel, ball, got \['ball'\]"),
        (
            [{"bone": "a", "part": "ball", "state": "AUTO"}],
            r"contacts\[0\].state: expected one of automatic, enforced, forbidden, got 'AUTO'",
        ),
        ([{"bone": "a", "part": "ball", "start": 1.5}], r"contacts\[0\].start: expected a whole frame number, got 1.5"),
        ([{"bone": "a", "part": "ball", "start": 1}], r"contacts\[0\].end: expected a whole frame number, got None"),
        (
            [{"bone": "a", "part": "ball", "start": float("inf"), "end": 2}],
            r"contacts\[0\].start: expected a whole frame number, got inf",
        ),
        (
            [{"bone": "a", "part": "ball", "start": 5, "end": 4}],
            r"contacts\[0\].end: expected a frame not before its start, 5, got 4",
        ),
        (
            [{"bone": "a", "part": "ball", "start": 5, "end": 6, "place": [1, 2]}],
            r"contacts\[0\].place: expected three finite numbers, got \[1, 2\]",
        ),
        (
            [{"bone": "a", "part": "ball", "start": 5, "end": 6, "place": [1, 2, float("nan")]}],
            r"contacts\[0\].place: expected three finite numbers, got \[1, 2, nan\]",
        ),
        (
            [{"bone": "a", "part": "ball", "start": 5, "end": 6, "place": "123"}],
            r"contacts\[0\].place: expected three finite numbers, got '123'",
        ),
    ],
)
def test_bad_contacts_are_refused_by_place(source, message) -> None:
    with pytest.raises(ContactsError, match=f"^{message}"):
        read_spans(source)


def test_a_part_both_enforced_and_forbidden_is_refused() -> None:
    torn = [Span("foot.R", "ball", 1, 5, "enforced"), Span("foot.R", "ball", 5, 9, "forbidden")]
    with pytest.raises(ContactsError, match=r"the ball of foot.R is enforced and forbidden on frame 5"):
        marks_of(torn, FEET, 0, 20)


def test_rests_that_a_forbidden_span_leaves_of_a_contact_go_where_they_are_short() -> None:
    stored = [Span("foot.L", "ball", 3, 6, "forbidden"), Span("foot.L", "heel", 3, 6, "forbidden"),
              Span("foot.L", "heel", 2, 2, "enforced")]  # fmt: skip
    found = np.zeros((20, 2, 2), bool)
    found[2:11, 0], found[15:17, 0], found[15:17, 1] = True, True, True
    applied = marks_of(stored, FEET, 0, 20).applied(found, least=3.0)
    left = spans_of(applied[:, :1], FEET[:1])
    assert left == [
        Span("foot.L", "heel", 2, 2), Span("foot.L", "heel", 7, 10), Span("foot.L", "heel", 15, 16),
        Span("foot.L", "ball", 7, 10), Span("foot.L", "ball", 15, 16),
    ]  # fmt: skip
    assert (applied[:, 1] == found[:, 1]).all()
