# SPDX-License-Identifier: MIT
"""Places are chosen by what a foot has to get over beside them, too."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.anchors.anchor import Anchor
from ik2bone.anchors.passing import passing_costs
from ik2bone.contacts.detect import Stance
from ik2bone.sole.measure import measure_sole, sole_points
from walk import FLAT, height_field, make_walk

NEAR = 0.35


@pytest.fixture(scope="module")
def walk():
    return make_walk()


def spans_of(walk) -> list[Stance]:
    """The standings of the left foot that lie whole in the clip."""
    edges = np.flatnonzero(np.diff(walk.standing[:, 0].astype(int)))
    edges = edges[1:] if walk.standing[0, 0] else edges
    return [Stance(0, int(a) + 1, int(b) + 1) for a, b in zip(edges[::2], edges[1::2], strict=False)]


def instants_of(spans: list[Stance]) -> np.ndarray:
    """When the foot comes to them and leaves."""
    return np.array([(span.start, span.end) for span in spans]) - 0.5


def costs(walk, ground, ways=(0.0,), turn=None, scale=1.0):
    """Costs of the second standing, in its own place and moved ahead by some ways."""
    clip = make_walk(scale=scale).clip
    spans = spans_of(walk)
    origin = clip.ball[(spans[1].start + spans[1].end) // 2, 0]
    turn = np.eye(3) if turn is None else turn
    places = [Anchor(spans[1], "ball", origin, origin + [scale * way, 0, 0], turn, True) for way in ways]
    soles = sole_points(clip, measure_sole(clip))[:, 0]
    return passing_costs(clip, soles, instants_of(spans), 1, places, ground, NEAR * clip.leg)


def wall_before(walk, distance: float, scale: float = 1.0):
    """A ledge 0.3 legs high and 0.2 wide that ends so far before the middle of the second standing."""
    spans = spans_of(walk)
    edge = walk.clip.ball[(spans[1].start + spans[1].end) // 2, 0, 0] - distance
    return height_field(lambda x, y: 0.3 * scale * ((x < edge * scale) & (x > (edge - 0.2) * scale)))


def test_level_ground_costs_nothing(walk) -> None:
    assert (costs(walk, FLAT, (0.0, 0.1, -0.2)) == 0.0).all()


def test_slope_that_the_foot_stands_along_costs_nothing(walk) -> None:
    angle, spans = np.radians(50.0), spans_of(walk)
    x = walk.clip.ball[(spans[1].start + spans[1].end) // 2, 0, 0]
    slope = height_field(lambda at, y: np.tan(angle) * (at - x))
    c, s = np.cos(angle), np.sin(angle)
    along = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    assert costs(walk, slope, turn=along)[0] == 0.0
    assert costs(walk, slope)[0] > 0.0


def test_place_close_behind_a_ledge_costs_more_than_one_farther_off(walk) -> None:
    close, farther, far = costs(walk, wall_before(walk, 0.28), (0.0, 0.05, 0.2))
    assert close > 2.0 * farther > 0.1
    assert far == 0.0


def test_ledge_that_there_is_time_to_get_over_costs_nothing(walk) -> None:
    assert costs(walk, wall_before(walk, 0.45)) == 0.0


def test_cost_does_not_depend_on_the_unit(walk) -> None:
    reference = costs(walk, wall_before(walk, 0.28), (0.0, 0.05))
    assert costs(walk, wall_before(walk, 0.28, 100.0), (0.0, 0.05), scale=100.0) == pytest.approx(reference, rel=1e-6)


def test_first_and_last_standing_have_a_cost_too(walk) -> None:
    clip = walk.clip
    origin = clip.ball[20, 0]
    soles = sole_points(clip, measure_sole(clip))[:, 0]
    for span in (Stance(0, 0, clip.frames), Stance(0, 0, 20)):
        place = Anchor(span, "ball", origin, origin, np.eye(3), True)
        assert passing_costs(clip, soles, instants_of([span]), 0, [place], FLAT, NEAR) == 0.0


def test_nothing_is_looked_at_beyond_the_frames_of_the_clip(walk) -> None:
    """The foot came from a spot before the first frame, goes on to one after the last, and falls fast on both."""
    clip = walk.clip
    soles = sole_points(clip, measure_sole(clip))[:, 0]
    soles[[0, -1], :, 2] -= 0.3
    place = Anchor(Stance(0, 2, clip.frames - 2), "ball", clip.ball[20, 0], clip.ball[20, 0], np.eye(3), True)
    alone = np.array([[2.0, clip.frames - 3.0]])
    between = np.array([[-20.0, -9.0], *alone, [clip.frames + 9.0, clip.frames + 20.0]])
    expected = passing_costs(clip, soles, alone, 0, [place], FLAT, NEAR)
    assert passing_costs(clip, soles, between, 1, [place], FLAT, NEAR) == expected
