# SPDX-License-Identifier: MIT
"""Feet stand where people want them, on whatever is there, and all other feet as they would."""

from __future__ import annotations

import ik2bone
import numpy as np
import pytest
from ik2bone.contacts.spans import Span, marks_of
from ik2bone.ground.surfaces import Surface, Surfaces
from ik2bone.plan import Settings, plant
from ik2bone.report import contact_spans
from walk import HILLS, height_field, make_walk, planted

FEET = ("left", "right")
CLIP = make_walk(4.0).clip
# By how much a foot is moved ahead and aside.
AWAY = np.array([0.08, -0.05, 0.0])


def stances(clip, plan):
    """The spans of the balls, each with its anchor."""
    spans = contact_spans(planted(clip, plan), plan)
    return sorted((span for span in spans if span["part"] == "ball"), key=lambda span: span["start"])


def moved_by_hand(clip, ground, away=AWAY, mode="AUTO"):
    """The stances of a plan; the one that is moved, in the middle; and the plan and its stances after the move."""
    before = plant(clip, ground)
    spans = stances(clip, before)
    chosen = spans[len(spans) // 2]
    place = tuple(np.array(chosen["anchor"]) + away)
    rows = [Span(FEET[span["leg"]], "ball", span["start"], span["end"] - 1) for span in spans if span is not chosen]
    rows.append(Span(FEET[chosen["leg"]], "ball", chosen["start"], chosen["end"] - 1, "enforced", place))
    after = plant(clip, ground, Settings(contacts=mode, marks=marks_of(rows, FEET, 0, clip.frames)))
    return spans, chosen, after, stances(clip, after)


def near(spans, chosen):
    same = [span for span in spans if span["leg"] == chosen["leg"] and span["end"] > chosen["start"]]
    return min(same, key=lambda span: abs(span["start"] - chosen["start"]))


@pytest.mark.parametrize("mode", ["AUTO", "STORED"])
@pytest.mark.parametrize("ground", [HILLS, height_field(lambda x, y: 0.1 * x)])
def test_a_foot_stands_where_it_is_wanted_on_the_ground(ground, mode) -> None:
    _, chosen, plan, after = moved_by_hand(CLIP, ground, mode=mode)
    there = near(after, chosen)
    assert np.abs(np.array(there["anchor"]) - chosen["anchor"] - AWAY)[:2].max() < 2e-3
    anchor = plan.targets.anchor_at(chosen["leg"], (chosen["start"] + chosen["end"]) // 2)
    assert abs(anchor.foothold[2] - ground(anchor.foothold[None], None)[0][0, 2]) < 1e-6


def test_all_other_feet_stand_where_they_would() -> None:
    spans, chosen, _, after = moved_by_hand(CLIP, HILLS)
    others = [span for span in spans if span is not chosen]
    moves = [np.linalg.norm(np.subtract(near(after, span)["anchor"], span["anchor"])) for span in others]
    assert max(moves) < 0.025


def test_a_place_is_kept_by_feet_that_the_ground_would_move() -> None:
    steps = height_field(lambda x, y: 0.15 * np.floor(x / 0.62))
    _, chosen, _, after = moved_by_hand(CLIP, steps)
    assert np.abs(np.array(near(after, chosen)["anchor"]) - chosen["anchor"] - AWAY)[:2].max() < 2e-3


@pytest.mark.parametrize("aboard", [False, True])
def test_a_place_goes_along_with_the_support_that_it_is_on(aboard) -> None:
    """It is that of the first frame of its span, wherever the support has gone by the frame that holds the foot."""
    corners = np.array([[-20.0, -20.0, 0.0], [20.0, -20.0, 0.0], [20.0, 20.0, 0.0], [-20.0, 20.0, 0.0]])
    along = np.tile(np.eye(4), (CLIP.frames, 1, 1))
    along[:, 1, 3] = 0.3 * np.arange(CLIP.frames) / CLIP.fps
    ground = Surfaces((Surface(ik2bone.Mesh(corners, [[0, 1, 2], [0, 2, 3]]), "Raft", along),), CLIP.leg)
    clip = CLIP.moved(along[:, :3, 3]) if aboard else CLIP
    _, chosen, _, after = moved_by_hand(clip, ground)
    there = near(after, chosen)
    assert there["support"] == "Raft"
    assert np.abs(np.array(there["anchor"]) - chosen["anchor"] - AWAY)[:2].max() < 2e-3


def test_where_there_is_no_ground_a_foot_stays_where_it_would_be() -> None:
    ground = lambda xy: np.where(xy[:, 1] > -3.0, 0.0, np.nan)  # noqa: E731
    _, chosen, plan, after = moved_by_hand(CLIP, ground, away=np.array([0.0, -9.0, 0.0]))
    assert np.abs(np.array(near(after, chosen)["anchor"]) - chosen["anchor"]).max() < 0.02
    assert any(note.code == "no_surface_below" for note in plan.notes)


@pytest.mark.parametrize(("direction", "unused"), [("DOWN", 0), ("NEAREST", 1)])
def test_a_place_that_a_touching_limb_does_not_take_is_told(direction, unused) -> None:
    place = (0.0, 0.0, 0.0)
    marks = marks_of([Span("left", "ball", 60, 75, "enforced", place)], FEET, 0, CLIP.frames)
    told = plant(CLIP, HILLS, Settings(direction=direction, marks=marks)).notes
    assert [note.data["count"] for note in told if note.code == "places_unused"] == [1] * unused
