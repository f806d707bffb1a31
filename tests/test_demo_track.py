# SPDX-License-Identifier: MIT
"""The place of the demo's ground, and the instants that the demo shows."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone import Clip
from walk import in_place, make_walk

from demo.track import FIGURE_SPACE, choose_instants, find_track


@pytest.mark.parametrize("turn", [0.0, 2.0, -1.0])
def test_the_ground_lies_along_the_way_and_under_all_of_it(turn):
    clip = make_walk(turn=turn).clip
    track = find_track(clip)
    assert track.heading == pytest.approx(turn, abs=1e-6)
    forward = np.array([np.cos(turn), np.sin(turn)])
    along = (clip.ball[..., :2] - track.centre) @ forward
    assert np.abs(along).max() < track.size[0] / 2


def test_a_clip_in_place_heads_where_the_knees_point():
    assert find_track(in_place(make_walk(turn=0.7).clip)).heading == pytest.approx(0.7, abs=0.05)


def test_figures_of_a_walk_stand_apart_where_they_are():
    clip = make_walk(seconds=6).clip
    track = find_track(clip)
    instants = choose_instants(clip, track)
    places = np.array([instant.place for instant in instants])
    assert len(instants) >= 8
    assert all(instant.shift == 0 for instant in instants)
    assert np.diff(places).min() > FIGURE_SPACE * clip.leg


def test_there_is_one_instant_per_half_stride():
    walk = make_walk(seconds=6)
    rows = [instant.row for instant in choose_instants(walk.clip, find_track(walk.clip))]
    assert np.allclose(np.diff(rows) / walk.clip.fps, 1.1 / 2, atol=0.1)


def test_a_clip_in_place_is_spread_over_its_time_and_sideways():
    clip = in_place(make_walk().clip)
    instants = choose_instants(clip, find_track(clip))
    assert [instants[0].row, instants[-1].row] == [0, clip.frames - 1]
    assert np.diff([instant.place for instant in instants]).min() > clip.leg


def test_figures_on_four_legs_stand_farther_apart_and_are_fewer():
    clip = in_place(make_walk().clip)
    joints = (clip.hip, clip.knee, clip.ankle, clip.ball)
    behind = np.array([1.2 * clip.leg, 0.0, 0.0])
    four = Clip.from_points(clip.fps, *(np.concatenate([place, place - behind], axis=1) for place in joints))
    track = find_track(four)
    places = [instant.place for instant in choose_instants(four, track)]
    assert track.trunk == pytest.approx(1.2 * clip.leg, rel=0.1)
    assert 2 <= len(places) < len(choose_instants(clip, find_track(clip)))
    assert np.diff(places).min() > 3.0 * track.trunk


def test_figures_of_a_walk_are_shown_side_by_side_where_the_ground_moves():
    clip = make_walk(seconds=6).clip
    track = find_track(clip)
    still, moved = choose_instants(clip, track), choose_instants(clip, track, moved=True)
    assert {instant.row for instant in moved} <= {instant.row for instant in still}
    for instant in moved:
        assert track.along[instant.row] + instant.shift == pytest.approx(instant.place)
    assert np.diff([instant.place for instant in moved]).min() > clip.leg


@pytest.mark.parametrize("outward", [0.0, 3.0])
def test_clips_in_place_with_straight_or_splayed_legs_head_as_the_hips_do(outward):
    clip = in_place(make_walk(turn=0.7).clip)
    splayed = outward * (clip.hip - clip.hip.mean(axis=1, keepdims=True))
    knee = (clip.hip + clip.ankle) / 2 + [[[1.0], [0.2]]] * splayed
    assert find_track(Clip.from_points(clip.fps, clip.hip, knee, clip.ankle, clip.ball)).heading == pytest.approx(
        0.7, abs=0.05
    )
