# SPDX-License-Identifier: MIT
"""Anchors as the stage returns them: where feet stand, in which frames, and how little ground is asked for that."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from grounds import Part, Parts, plate
from ik2bone import Mesh
from ik2bone.anchors.choose import find_anchors
from ik2bone.contacts.standing import Contacts
from ik2bone.ground.given import HeightField, as_ground
from ik2bone.plan import Settings
from ik2bone.rotations import move_points
from ik2bone.settings import DEEPEST
from ik2bone.sole.measure import measure_sole
from walk import FLAT, HILLS, height_field, make_walk

TREAD, RISER = 0.62, 0.15


def found(walk, ground, kept=None):
    """Contacts and anchors, those of swings left out, of a walk on a ground."""
    clip, sole = walk.clip, measure_sole(walk.clip)
    contacts = np.stack([np.zeros_like(walk.standing), walk.standing], axis=-1)
    heel = move_points(clip.foot, sole.heel)
    nothing = np.zeros_like(contacts)
    feet = Contacts(contacts, contacts, True, nothing if kept is None else kept, nothing, nothing[..., 0])
    contacts, anchors = find_anchors(clip, sole, heel, feet, ground, Settings(), rides=True)
    return contacts, [anchor for anchor in anchors if anchor.part != "swing"]


def steps(start=0.0, scale=1.0, turn=0.0):
    """Steps across a way that is turned from x by so many radians."""
    c, s = np.cos(turn), np.sin(turn)
    return height_field(lambda x, y: scale * RISER * np.floor(((c * x + s * y) / scale - start) / TREAD))


def hills(start=0.0):
    return height_field(lambda x, y: 0.12 * np.sin(2.2 * (x - start)) * np.cos(1.7 * y))


def bumps(start=0.0):
    """Waves hardly longer than a step and as long as two feet, with slopes of up to 40 degrees."""
    return height_field(
        lambda x, y: 0.06 * np.sin(7.0 * (x - start) + 2.0 * y) + 0.03 * np.sin(13.0 * y + 5.0 * (x - start))
    )


@pytest.fixture(scope="module")
def walk():
    return make_walk(seconds=6.0, roll=0.4)


@pytest.mark.parametrize(
    "make",
    [steps, lambda start: steps(start, turn=0.3), lambda start: steps(start, turn=0.8), hills, bumps],
    ids=["steps", "steps turned by 17 degrees", "steps turned by 46 degrees", "hills", "bumps"],
)
def test_small_shift_of_the_ground_moves_feet_by_little_but_over_an_edge(walk, make) -> None:
    """A foot that is lifted or lowered by more than a tenth of a riser went over an edge."""
    moves = [np.array([a.point for a in found(walk, make(shift))[1]]) for shift in np.arange(0.0, 0.2, 0.005)]
    changes = np.diff(moves, axis=0)
    stays = np.abs(changes[..., 2]) < 0.1 * RISER
    assert stays.mean() > 0.9
    assert np.linalg.norm(changes[stays], axis=-1).max() < 0.01


def test_feet_on_even_ground_stay_where_they_are(walk) -> None:
    for anchor in found(walk, FLAT)[1]:
        assert np.abs(anchor.move[:2]).max() < 1e-9


@pytest.mark.parametrize("start", [0.0, 0.2, 0.4])
def test_no_footprint_lies_across_an_edge(walk, start) -> None:
    ground, sole = steps(start), measure_sole(walk.clip)
    for anchor in found(walk, ground)[1]:
        heading = walk.clip.foot[anchor.stance.start + 5, anchor.stance.leg, :3, :3] @ sole.forward[anchor.stance.leg]
        heading[2] = 0.0
        length, ahead = sole.lengths[anchor.stance.leg]
        reach = np.array([-length - 0.015, 0.0, ahead + 0.015])[:, None] * heading / np.linalg.norm(heading)
        heights = ground(anchor.foothold + reach, np.array([0.0, 0.0, -1.0]))[0][:, 2]
        assert np.ptp(heights) < 1e-9


def test_feet_keep_farther_from_a_high_ledge_than_from_a_low_one(walk) -> None:
    """What a foot has to pass just before it stands costs by how much it has to be lifted in the time."""
    place = found(walk, FLAT)[1][4].point[0]

    def move(height):
        ledge = height_field(lambda x, y: height * ((x < place - 0.28) & (x > place - 0.48)))
        return found(walk, ledge)[1][4].point[0] - place

    assert move(0.4) > move(0.06) + 0.01
    assert move(0.06) >= 0.0


@pytest.mark.parametrize("below", [-0.5, np.nan], ids=["over a ditch", "over nothing"])
@pytest.mark.parametrize(("plank", "gap"), [(0.15, 0.02), (0.15, 0.1), (9.0, 0.04)])
def test_feet_stand_on_planks_and_not_in_the_gaps_between(walk, plank, gap, below) -> None:
    """The ball over a gap that the sole spans is put aside onto a plank."""
    moved = 0
    for start in np.arange(0.0, 0.2, 0.05):

        def height(xy, start=start):
            return np.where((xy[:, 0] - start) % (plank + gap) < plank, 0.3, below)

        anchors = found(walk, HeightField(height, 1e-3))[1]
        assert [anchor.foothold[2] for anchor in anchors] == pytest.approx([0.3] * len(anchors))
        moved += sum(np.abs(anchor.move[:2]).max() > 1e-6 for anchor in anchors)
    assert moved


@pytest.mark.parametrize("rise", [0.3, 0.5])
def test_feet_over_gaps_on_a_slope_are_put_aside_alike_up_and_down_it(walk, rise) -> None:
    """What lies lower along the slope is no gap."""
    for start in np.arange(0.0, 0.2, 0.05):

        def height(xy, slope, start=start):
            return slope * xy[:, 0] - np.where((xy[:, 0] - start) % 0.21 < 0.15, 0.0, 0.5)

        fields = (HeightField(partial(height, slope=slope), 1e-3) for slope in (rise, -rise))
        up, down = ([anchor.foothold[0] for anchor in found(walk, field)[1]] for field in fields)
        assert up == pytest.approx(down, abs=0.01)


@pytest.mark.parametrize("depth", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    "on",
    [lambda _, y: np.abs(y) < 0.08, lambda _, y: np.abs(np.abs(y) - 0.1) < 0.04, lambda x, _: x % 0.5 < 0.22],
    ids=["a beam under the inner half of each foot", "beams narrower than feet", "stepping stones"],
)
def test_feet_stay_on_what_their_soles_are_partly_on_over_deep_ground(walk, on, depth) -> None:
    anchors = found(walk, height_field(lambda x, y: np.where(on(x, y), 0.0, -depth)))[1]
    assert [anchor.foothold[2] for anchor in anchors] == pytest.approx([0.0] * len(anchors), abs=1e-9)


@pytest.mark.parametrize("shift", [0.1, 0.7, 2.3])
@pytest.mark.parametrize(
    "ground",
    [lambda x: np.where(x % 0.5 < 0.22, 0.0, -DEEPEST), lambda x: -DEEPEST * np.floor(x / 0.5)],
    ids=["stepping stones", "stairs"],
)
def test_ground_as_deep_as_hips_come_down_is_the_same_at_each_height(walk, ground, shift) -> None:
    places = [
        np.array([anchor.foothold for anchor in found(walk, height_field(lambda x, _, up=up: ground(x) + up))[1]])
        for up in (0.0, shift)
    ]
    np.testing.assert_allclose(places[1] - [0.0, 0.0, shift], places[0], atol=1e-9)


def test_a_foot_beside_a_bridge_takes_no_others_under_it(walk) -> None:
    """The deck has a hole round one foot, wide enough that its sole is over it alone."""
    place = [anchor.origin for anchor in found(walk, FLAT)[1]][4]
    side, x, far = np.sign(place[1]), place[0], 20.0
    deck = [((-far, x - 0.5), (-1.0, 1.0)), ((x + 0.5, far), (-1.0, 1.0)), ((x - 0.5, x + 0.5), (-side, 0.0))]
    sheets = [(*deck[0], 0.0), (*deck[1], 0.0), (*deck[2], 0.0), ((-far, far), (-far, far), -1.0)]
    vertices = [(a, b, z) for xs, ys, z in sheets for a in xs for b in ys]
    triangles = [(4 * n + a, 4 * n + b, 4 * n + c) for n in range(len(sheets)) for a, b, c in ((0, 2, 1), (1, 2, 3))]
    heights = [a.foothold[2] for a in found(walk, as_ground(Mesh(vertices, triangles), walk.clip))[1]]
    assert heights == pytest.approx([-1.0 if number == 4 else 0.0 for number in range(len(heights))], abs=1e-9)


def test_feet_go_up_a_ramp_over_a_floor(walk) -> None:
    """Each foot looks for ground at the level of the one before it."""
    parts = Part("Start", plate(along=(-9.0, 1.0))), Part("Ramp", plate(-0.3, (1.0, 99.0), 0.3))
    anchors = found(walk, Parts((*parts, Part("Floor", plate(-0.3)))))[1]
    assert {anchor.support for anchor in anchors} == {"Start", "Ramp"}


def test_anchors_stand_on_the_frames_that_feet_are_held(walk) -> None:
    """On risers of half a leg feet need time to get up, which they take from their contacts."""
    contacts, anchors = found(walk, height_field(lambda x, y: 0.5 * np.floor(x / TREAD)))
    held = np.zeros(contacts.shape[:2], bool)
    for anchor in anchors:
        held[anchor.stance.start : anchor.stance.end, anchor.stance.leg] = True
    assert (held == contacts.any(axis=-1)).all()
    assert 0.5 * walk.standing.sum() < contacts.sum() < walk.standing.sum()


def test_frames_that_are_kept_stay_however_hasty_the_step(walk) -> None:
    kept = np.stack([np.zeros_like(walk.standing), walk.standing], axis=-1)
    assert (found(walk, height_field(lambda x, y: 0.5 * np.floor(x / TREAD)), kept=kept)[0] == kept).all()


def test_moves_do_not_depend_on_the_unit(walk) -> None:
    moves = [np.array([a.move for a in found(walk, steps(0.2))[1]])]
    large = make_walk(seconds=6.0, roll=0.4, scale=100.0)
    moves.append(0.01 * np.array([a.move for a in found(large, steps(0.2, 100.0))[1]]))
    assert moves[1] == pytest.approx(moves[0], abs=1e-6)


@pytest.mark.parametrize("step", [2, 4])
def test_feet_stand_in_the_same_places_at_any_frame_rate(step) -> None:
    rates = [make_walk(seconds=6.0, fps=120.0 / each) for each in (1, step)]
    places = [{(a.stance.leg, round(a.origin[0] / 0.3)): a.point for a in found(w, steps(0.1))[1]} for w in rates]
    both = set(places[0]) & set(places[1])
    assert len(both) >= 10
    assert all(np.linalg.norm(places[0][key] - places[1][key]) < 0.02 for key in both)


@pytest.mark.parametrize("ground", [FLAT, HILLS, steps()], ids=["flat", "hills", "steps"])
def test_ground_is_asked_in_few_batches_of_few_points(walk, ground) -> None:
    asked = []

    def counted(points, down):
        asked.append(len(points))
        return ground(points, down)

    for seconds in (6.0, 12.0):
        asked.clear()
        anchors = found(make_walk(seconds=seconds, roll=0.4), counted)[1]
        assert len(asked) <= 12
        assert sum(asked) <= 1850 * len(anchors)
