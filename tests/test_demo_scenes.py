# SPDX-License-Identifier: MIT
"""The demo's prisms and boxes, the outline of its stairs, and the ride of its platform, without Blender."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from walk import make_walk

from demo import scenes
from demo.solids import box, prism
from demo.track import find_track


def volume(solid) -> float:
    """The volume of a closed mesh whose faces look outwards, as the sum of tetrahedra to the origin."""
    total = 0.0
    for face in solid.faces:
        a, *others = solid.points[face]
        total += sum(np.dot(a, np.cross(b, c)) for b, c in zip(others, others[1:], strict=False)) / 6
    return total


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_prisms_are_closed_and_look_outwards(axis):
    outline = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 0.5], [0.0, 1.0]])
    solid = prism(outline, axis, -1.0, 3.0)
    assert volume(solid) == pytest.approx(1.5 * 4.0)
    sides = [tuple(sorted(pair)) for face in solid.faces for pair in zip(face, [*face[1:], face[0]], strict=True)]
    assert all(sides.count(side) == 2 for side in sides)


def test_a_box_lies_between_its_corners():
    solid = box([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert volume(solid) == pytest.approx(6.0)
    assert [solid.points.min(axis=0).tolist(), solid.points.max(axis=0).tolist()] == [[1, 2, 3], [2, 4, 6]]


def test_treads_overhang_their_risers_on_both_flights():
    outline = scenes.stairs_outline(scenes.STEPS)
    mirrored = outline[::-1] * [-1, 1]
    assert outline == pytest.approx(mirrored)
    for step in range(scenes.STEPS):
        top = outline[np.isclose(outline[:, 1], (step + 1) * scenes.RISE), 0]
        riser = outline[np.isclose(outline[:, 1], step * scenes.RISE), 0]
        assert top.max() - np.sort(riser)[-2 if step else -1] == pytest.approx(scenes.NOSING)


def test_short_ways_have_shorter_stairs(way):
    assert scenes.count_steps(way) == scenes.STEPS
    assert scenes.count_steps(replace(way, size=way.size - [3.0 * way.leg, 0.0])) < scenes.STEPS
    assert scenes.count_steps(replace(way, size=np.full(2, 5.0 * way.leg))) == 1


@pytest.mark.parametrize("legs", [1.7, 2.5, 4.0, 9.0])
def test_clips_of_a_few_steps_begin_before_the_stairs_and_end_behind_them(way, legs):
    short = replace(way, size=way.size * [0, 1] + [(legs + 2 * scenes.MARGIN) * way.leg, 0.0])
    outline = scenes.stairs_outline(scenes.count_steps(short), scenes.landing(short))
    assert np.abs(outline[:, 0]).max() < legs / 2
    assert outline[:, 1].max() >= scenes.RISE
    assert scenes.landing(way) == scenes.LANDING


@pytest.fixture
def way():
    """The way of a walk."""
    return find_track(make_walk(seconds=8).clip)


def test_the_platform_takes_a_walk_up_while_that_is_on_it(way):
    (start, low), (end, high) = scenes.ride(way, 1.5)
    assert (low, high) == (0.0, 1.0)
    assert np.abs(way.along[[start, end]]) == pytest.approx(1.5 * way.leg, abs=0.02 * way.leg)


def test_the_platform_takes_a_round_trip_up_and_down_again(way):
    there_and_back = replace(way, along=np.concatenate([way.along, way.along[::-1]]))
    assert [share for _, share in scenes.ride(there_and_back, 1.5)] == [0.0, 1.0, 1.0, 0.0]


def test_the_platform_moves_all_the_time_under_a_clip_in_place(way):
    assert scenes.ride(replace(way, along=0.1 * way.along), 2.0) == [(0, 0.0), (len(way.along) - 1, 1.0)]
