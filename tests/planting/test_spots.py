# SPDX-License-Identifier: MIT
"""Contacts as they can be held: feet that turn on their heels stand twice, feet that slide get time for their way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from ik2bone.anchors.anchor import Anchor
from ik2bone.anchors.choose import give_time
from ik2bone.contacts.stance import stances
from ik2bone.contacts.standing import separate_spots
from walk import make_walk

FPS, COUNT = 60.0, 60


def standing(ball_x) -> tuple:
    """A clip with a left ball that goes along x by these places (F,), and contacts of its heel and ball throughout."""
    clip = make_walk(seconds=COUNT / FPS, fps=FPS).clip
    ball = np.zeros((COUNT, 2, 3))
    ball[:, 0, 0] = np.asarray(ball_x) * clip.leg
    return replace(clip, ball=ball), np.ones((COUNT, 2, 2), bool)


def in_time(clip, contacts, climb=0.0):
    """The contacts that the left foot can hold, and its stances. Each stance lies `climb` higher than the last."""
    spans, origin = stances(contacts), np.zeros(3)
    points = [np.array([0.0, 0.0, climb * number]) for number in range(len(spans))]
    placed = zip(spans, points, strict=True)
    anchors = [Anchor(span, "ball", origin, point, np.eye(3), True, point) for span, point in placed]
    timely, held = give_time(clip, contacts, anchors, np.zeros_like(contacts))
    assert [anchor.stance for anchor in held] == stances(timely)
    return timely, [span for span in stances(timely) if span.leg == 0]


def test_foot_that_turns_on_its_heel_stands_on_two_spots() -> None:
    clip, contacts = standing(np.where(np.arange(COUNT) < 30, 0.0, 0.1))
    contacts[25:35, 0, 1] = False
    separate = separate_spots(clip, contacts)
    assert [(s.start, s.end) for s in stances(separate) if s.leg == 0] == [(0, 25), (35, COUNT)]
    assert separate[:, 1].all()


def test_ball_that_comes_down_where_it_stood_keeps_one_spot() -> None:
    clip, contacts = standing(np.zeros(COUNT))
    contacts[25:35, 0, 1] = False
    assert (separate_spots(clip, contacts) == contacts).all()


def test_slide_before_a_hasty_step_is_no_contact() -> None:
    slide = np.interp(np.arange(COUNT), [0, 25, 35, COUNT], [0.0, 0.0, 0.1, 0.1])
    clip, contacts = standing(slide)
    contacts[30:32, 0] = False
    first, second = in_time(clip, contacts)[1]
    assert 24 <= first.end < 30 and 32 < second.start <= 37


def test_rounding_does_not_choose_which_of_two_resting_feet_gets_less_time() -> None:
    """In another unit of length, both contacts of a foot that rests exactly were cut off two frames sooner."""
    held = set()
    for seed in range(8):
        clip, contacts = standing(np.random.default_rng(seed).normal(0.0, 1e-12, COUNT))
        contacts[30:32, 0] = False
        held.add(tuple(in_time(clip, contacts, climb=0.1)[1]))
    (first, second), *others = held
    assert not others and 30 - first.end in (second.start - 32, second.start - 33)


def test_foot_that_has_time_keeps_its_contacts() -> None:
    slide = np.interp(np.arange(COUNT), [0, 18, 42, COUNT], [0.0, 0.01, 0.5, 0.51])
    clip, contacts = standing(slide)
    contacts[20:40, 0] = False
    assert (in_time(clip, contacts)[0] == contacts).all()


def test_least_contact_stays_however_hasty() -> None:
    clip, contacts = standing(np.linspace(0.0, 3.0, COUNT))
    contacts[30:31, 0] = False
    spans = in_time(clip, contacts)[1]
    assert len(spans) == 2 and all(s.end - s.start >= 5 for s in spans)
