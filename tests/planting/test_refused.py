# SPDX-License-Identifier: MIT
"""What planting from Python refuses, and in which words."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from ik2bone import Clip, Settings, plant
from ik2bone.contacts.detect import find_contacts
from ik2bone.contacts.spans import Marks, Place, no_marks
from ik2bone.sole.measure import measure_sole
from ik2bone.sole.skin import Skin
from short_walk import LEG, POINTS, WALK, from_points
from walk import FLAT


def _broken(name, value):
    rows = np.array(LEG[name])
    rows[3, 1] = value
    return {name: rows}


SINGULAR = np.diag([1.0, 0.0, 1.0, 1.0])
SKIN = Skin(np.zeros((4, 3)), np.zeros((0, 3)), np.eye(4), np.array([0.0, 0.0, 1.0]))
ONE_FOOT = measure_sole(WALK).choose(np.array([True, False]))
TRANSPOSED = np.swapaxes(LEG["shin"], -1, -2)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"thigh": LEG["thigh"][:, 0]}, ValueError, r"thigh: expected shape \(frames, legs, 4, 4\), got \(180, 4, 4\)"),
        ({"thigh": np.zeros((0, 2, 4, 4))}, ValueError, r"thigh: expected shape \(frames, legs, 4, 4\), got \(0, 2"),
        ({"shin": LEG["shin"][1:]}, ValueError, r"shin: expected shape \(180, 2, 4, 4\), got \(179, 2, 4, 4\)"),
        ({"foot": None}, TypeError, r"foot: expected numbers of shape \(180, 2, 4, 4\), got None"),
        ({"foot": "feet"}, TypeError, "foot: expected numbers .* got 'feet'"),
        ({"shin": [[1.0, 2.0], [3.0]]}, ValueError, r"shin: expected shape .* got rows of different lengths"),
        (_broken("shin", np.nan), ValueError, "shin: expected finite numbers, got nan on frame 3, leg 1"),
        (_broken("foot", SINGULAR), ValueError, "foot: expected invertible matrices, got a singular one on frame 3"),
        ({"rest_hinge": [[0.0, 0.0, np.nan]] * 2}, ValueError, "rest_hinge: expected finite numbers, got nan$"),
        ({"shin": TRANSPOSED}, ValueError, "shin: expected matrices with the translation in the last column"),
        ({"shin": LEG["thigh"]}, ValueError, "shin: expected a bone with length, got the same place as the thigh on"),
        ({"ball": np.zeros((180, 3))}, ValueError, r"ball: expected shape \(180, 2, 3\)"),
        ({"up": (0, 0, 2)}, ValueError, r"up: expected a unit vector, got \[0.0, 0.0, 2.0\] of length 2"),
        ({"up": (0, 1)}, ValueError, r"up: expected shape \(3,\), got \(2,\)"),
        ({"up": None}, TypeError, "up: expected numbers"),
        ({"fps": 0}, ValueError, "fps: expected frames a second, more than 0 and up to 2000, got 0"),
        ({"fps": -24.0}, ValueError, "fps: expected frames a second"),
        ({"fps": np.inf}, ValueError, "fps: expected frames a second, got inf"),
        ({"fps": Fraction(10**400)}, ValueError, "fps: expected frames a second, got inf"),
        ({"fps": "24"}, TypeError, "fps: expected frames a second, got '24'"),
        ({"scale": np.zeros((180, 2, 4, 3))}, ValueError, "scale: expected numbers other than zero"),
        ({"has_toe": [1, 0]}, TypeError, r"has_toe: expected booleans of shape \(2,\)"),
        ({"is_hand": [True]}, ValueError, r"is_hand: expected shape \(2,\), got \(1,\)"),
        ({"floors": 0.0}, ValueError, r"floors: expected shape \(heights,\), got \(\)"),
        ({"skins": ()}, ValueError, "skins: expected one for each of 2 legs, got 0"),
        ({"skins": 3}, TypeError, "skins: expected a sequence of one skin a leg, got int"),
        ({"skins": [1, 2]}, TypeError, "skins: expected a Skin for each leg, got int"),
        ({"skins": "ab"}, TypeError, "skins: expected a Skin for each leg, got 'a'"),
        ({"fps": [[1], [2, 3]]}, ValueError, "fps: expected frames a second, got rows of different lengths"),
        ({"has_toe": [[True], []]}, ValueError, r"has_toe: expected shape \(2,\), got rows of different lengths"),
        (
            {"foot": np.ma.masked_less(LEG["foot"], -0.5)},
            ValueError,
            r"foot: expected shape \(180, 2, 4, 4\), got masked values",
        ),
        ({"skins": [SKIN, replace(SKIN, foot=None)]}, TypeError, r"skins\[1\].foot: expected numbers .* got None"),
        ({"skins": [replace(SKIN, rest=np.eye(3)), SKIN]}, ValueError, r"skins\[0\].rest: expected shape \(4, 4\)"),
        (
            {"skins": [replace(SKIN, up=np.full(3, np.nan)), SKIN]},
            ValueError,
            r"skins\[0\].up: expected finite numbers",
        ),
        (
            {"skins": [replace(SKIN, foot=[[0.0], [1.0, 2.0]]), SKIN]},
            ValueError,
            r"skins\[0\].foot: expected shape \(points, 3\), got rows of different lengths",
        ),
        (
            {"skins": [SKIN, replace(SKIN, up=np.zeros(3))]},
            ValueError,
            r"skins\[1\].up: expected a unit vector, got \[0.0, 0.0, 0.0\] of length 0",
        ),
        (
            {"skins": [replace(SKIN, rest=SINGULAR), SKIN]},
            ValueError,
            r"skins\[0\].rest: expected invertible matrices, got a singular one$",
        ),
        ({"fps": 2001}, ValueError, "fps: expected frames a second, more than 0 and up to 2000, got 2001"),
        ({"has_toe": [True, False]}, ValueError, "has_toe: expected toe, .* got None"),
        ({"palm": [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]}, ValueError, "palm: expected unit vectors or zero, .* length 2"),
    ],
)
def test_clips_that_are_wrong_are_refused_by_the_arguments_name(changes, error, words) -> None:
    with pytest.raises(error, match=words):
        Clip(**({"fps": WALK.fps} | LEG | changes))


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"hip": POINTS["hip"][0]}, ValueError, r"hip: expected shape \(frames, legs, 3\), got \(2, 3\)"),
        ({"knee": None}, TypeError, "knee: expected numbers"),
        ({"ankle": POINTS["ankle"] * np.nan}, ValueError, "ankle: expected finite numbers, got nan on frame 0, leg 0"),
        ({"ball": POINTS["ankle"]}, ValueError, "ball: expected a bone with length, got the same place as the ankle"),
        ({"heel": POINTS["ball"][:5]}, ValueError, r"heel: expected shape \(180, 2, 3\), got \(5, 2, 3\)"),
        ({"up": (0, 0, 0)}, ValueError, "up: expected a unit vector"),
    ],
)
def test_points_that_are_wrong_are_refused_by_the_arguments_name(changes, error, words) -> None:
    with pytest.raises(error, match=words):
        from_points(**changes)


@pytest.mark.parametrize("name", ["hip", "knee", "ankle", "ball", "tip", "heel"])
def test_joints_whose_distances_no_number_holds_are_refused_by_name(name) -> None:
    joints = POINTS | {"heel": POINTS["ankle"] - [0.0, 0.05, 0.05]}
    joints[name] = joints[name].copy()
    joints[name][3, 1] = 1e200
    with pytest.raises(ValueError, match=rf"^{name}: expected positions .* got 1e\+200 on frame 3, leg 1$"):
        Clip.from_points(WALK.fps, **joints)


def test_bones_whose_length_has_no_square_are_refused_by_joint() -> None:
    with pytest.raises(ValueError, match="knee: expected a bone with length, got .* the hip on frame 0, leg 0"):
        Clip.from_points(WALK.fps, **{name: 1e-200 * points for name, points in POINTS.items()})


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"contacts": "NONSENSE"}, ValueError, "contacts: expected one of AUTO, ALWAYS, STORED, got 'NONSENSE'"),
        ({"direction": "UP"}, ValueError, "direction: expected one of DOWN, NEAREST, got 'UP'"),
        ({"gives_way": "KNEE"}, ValueError, "gives_way: expected one of .*, got 'KNEE'"),
        ({"contacts": "STORED"}, ValueError, "marks: expected those of stored contacts, got None"),
        ({"max_slope": 45}, ValueError, r"max_slope: expected an angle .* got 45; 45 degrees are 0.7854 radians"),
        ({"max_slope": 0.0}, ValueError, "max_slope: expected an angle over 0"),
        ({"max_slope": "steep"}, TypeError, "max_slope: expected an angle in radians, got 'steep'"),
        ({"max_drop": -0.1}, ValueError, "max_drop: expected leg lengths, 0 or more, got -0.1"),
        ({"max_drop": np.nan}, ValueError, "max_drop: expected leg lengths, got nan"),
        ({"strength": 1.1}, ValueError, "strength: expected a number from 0 to 1, or one a frame, got 1.1"),
        (
            {"strength": [0.5, 1.5, -1.0]},
            ValueError,
            "strength: expected a number from 0 to 1, or one a frame, got 1.5$",
        ),
        ({"strength": np.full((180, 2), 0.5)}, ValueError, r"strength: expected shape \(frames,\), got \(180, 2\)"),
        ({"strength": [[1], [2, 3]]}, ValueError, "strength: expected a number from 0 to 1, .* rows of different"),
        ({"strength": None}, TypeError, "strength: expected a number from 0 to 1, or one a frame, got None"),
        ({"use_hips": "no"}, TypeError, "use_hips: expected True or False, got 'no'"),
        ({"contacts": np.array(["AUTO"])}, TypeError, "contacts: expected one of AUTO, .* got an array"),
        ({"contacts": None}, TypeError, "contacts: expected one of AUTO, .* got None"),
        ({"gives_way": 1}, TypeError, "gives_way: expected one of .*, got int"),
        ({"asked": [1, 0]}, TypeError, r"asked: expected booleans of shape \(limbs,\)"),
        ({"marks": [1, 2]}, TypeError, "marks: expected Marks, got list"),
    ],
)
def test_settings_that_are_wrong_are_refused_at_once(settings, error, words) -> None:
    with pytest.raises(error, match=words):
        Settings(**settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(strength=np.ones(7)), r"strength: expected shape \(180,\), got \(7,\)"),
        (Settings(asked=np.ones(3, bool)), r"asked: expected shape \(2,\), got \(3,\)"),
        (Settings(marks=no_marks((9, 2, 2))), r"marks.automatic: expected shape \(180, 2, 2\), got \(9, 2, 2\)"),
    ],
)
def test_settings_for_another_clip_are_refused(settings, words) -> None:
    with pytest.raises(ValueError, match=words):
        plant(WALK, FLAT, settings)


@pytest.mark.parametrize(
    ("place", "error", "words"),
    [
        ("here", TypeError, r"marks.places\[0\]: expected a Place, got 'here'"),
        (Place(2, "ball", 0, 9, (0.0, 0.0, 0.0)), ValueError, r"places\[0\].leg: expected 0 to 1, got 2"),
        (Place(True, "ball", 0, 9, (0.0, 0.0, 0.0)), TypeError, r"\.leg: expected a whole number, got True"),
        (Place(0, "ball", 0.5, 9, (0.0, 0.0, 0.0)), TypeError, r"\.start: expected a whole number, got float"),
        (Place(0, "ball", 0, None, (0.0, 0.0, 0.0)), TypeError, r"\.end: expected a whole number, got None"),
        (Place(0, "toe", 0, 9, (0.0, 0.0, 0.0)), ValueError, r"\.part: expected one of heel, ball, got 'toe'"),
        (Place(0, "ball", 0, 9, (0.0, 1.0)), ValueError, r"places\[0\].point: expected shape \(3,\), got \(2,\)"),
        (Place(0, "ball", 0, 9, (np.nan, 0.0, 0.0)), ValueError, r"\.point: expected finite numbers, got nan"),
    ],
)
def test_places_that_are_wrong_are_refused(place, error, words) -> None:
    marks = replace(no_marks((WALK.frames, 2, 2)), places=(place,))
    with pytest.raises(error, match=words):
        plant(WALK, FLAT, Settings(marks=marks))


def test_marks_that_enforce_and_forbid_one_part_are_refused() -> None:
    torn = np.zeros((WALK.frames, 2, 2), bool)
    torn[12, 1, 0] = True
    marks = Marks(np.zeros_like(torn), torn, torn)
    with pytest.raises(ValueError, match="marks: the heel of leg 1 is enforced and forbidden on frame 12"):
        plant(WALK, FLAT, Settings(marks=marks))


def test_what_is_no_clip_and_no_settings_is_told() -> None:
    with pytest.raises(TypeError, match="clip: expected a Clip, got an array of float64"):
        plant(WALK.thigh, FLAT)
    with pytest.raises(TypeError, match="settings: expected Settings, got dict"):
        plant(WALK, FLAT, {"use_hips": False})


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"sole": 0.1}, TypeError, "sole: expected a Sole, got float"),
        ({"sole": ONE_FOOT}, ValueError, r"sole.ball_height: expected shape \(2,\), got \(1,\)"),
        ({"offset": np.zeros((180, 3))}, ValueError, r"offset: expected shape \(180, 2, 3\), got \(180, 3\)"),
        ({"offset": np.full((180, 2, 3), np.nan)}, ValueError, "offset: expected finite numbers, got nan on frame 0"),
    ],
)
def test_wrong_soles_and_offsets_are_refused_by_name(given, error, words) -> None:
    with pytest.raises(error, match=words):
        plant(WALK, FLAT, **given)


@pytest.mark.parametrize(
    ("part", "error", "words"),
    [
        (lambda whole: whole.choose([1, 0]), TypeError, r"limbs: expected booleans of shape \(2,\), got list"),
        (lambda whole: whole.choose(np.array([True])), ValueError, r"limbs: expected shape \(2,\), got \(1,\)"),
        (lambda whole: whole.choose([False, False]), ValueError, "limbs: expected one or more of 2, got none"),
        (lambda whole: whole.cut(7), TypeError, "frames: expected a slice, got int"),
        (lambda whole: whole.cut(slice(9, 9)), ValueError, r"frames: expected one or more of 180 frames, got slice\(9"),
    ],
)
def test_parts_that_clips_and_plans_do_not_have_are_refused(plan, part, error, words) -> None:
    for whole in (WALK, plan):
        with pytest.raises(error, match=words):
            part(whole)
        assert whole.choose([True, False]).cut(slice(0, 9))


def test_plans_are_of_frames_that_follow_one_another(plan) -> None:
    with pytest.raises(ValueError, match=r"frames: expected a slice of frames that follow one another, got slice\(0"):
        plan.cut(slice(0, 20, 2))


@pytest.mark.parametrize("offset", [np.zeros(3), np.zeros((9, 3)), np.zeros((180, 1, 3)), [0.0, 0.0, 1.0]])
def test_offsets_that_are_not_one_a_frame_are_refused(offset) -> None:
    with pytest.raises(ValueError, match=r"offset: expected shape \(180, "):
        WALK.moved(offset)


STILL_FEET = {"heel": np.zeros((5, 1, 3)), "ball": np.zeros((5, 1, 3)), "fps": 30.0, "leg": 1.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heel": np.zeros((5, 3))}, "heel: expected shape"),
        ({"ball": np.zeros((4, 1, 3))}, "ball: expected shape"),
        ({"ball": np.full((5, 1, 3), np.nan)}, "ball: expected finite numbers, got nan"),
        ({"fps": 0.0}, "fps: expected frames a second, more than 0 and up to 2000, got 0.0"),
        ({"leg": -1.0}, "leg: expected a positive number, got -1.0"),
        ({"fps": np.inf}, "fps: expected frames a second, got inf"),
        ({"fps": 1e9}, "fps: expected frames a second, more than 0 and up to 2000, got 1000000000.0"),
        ({"up": (0.0, 1.0)}, "up: expected shape"),
        ({"up": (0.0, 0.0, 0.0)}, "up: expected three numbers that are not all zero"),
        ({"height": np.nan}, "height: expected a positive number, got nan"),
        ({"height": -1.0}, "height: expected a positive number, got -1.0"),
        ({"enter": -1.0}, "enter: expected a positive number, got -1.0"),
        ({"enter": 0.9, "leave": 0.1}, "leave: expected no less than enter, which is 0.9, got 0.1"),
        ({"least": -1.0}, "least: expected seconds, 0 or more, got -1.0"),
    ],
)
def test_bad_arguments_of_find_contacts_are_refused_by_name(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        find_contacts(**STILL_FEET | change)


@pytest.mark.parametrize(
    "change", [{"fps": -1.0}, {"leg": "x"}, {"up": (0.0, 0.0, 0.0)}, {"leave": -1.0}, {"exact": 3}]
)
def test_bad_arguments_of_find_contacts_are_refused_even_without_frames(change) -> None:
    nothing = STILL_FEET | {"heel": np.zeros((0, 2, 3)), "ball": np.zeros((0, 2, 3))}
    assert find_contacts(**nothing).shape == (0, 2, 2)
    with pytest.raises((TypeError, ValueError), match=f"{next(iter(change))}: expected"):
        find_contacts(**nothing | change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heel": None}, "heel: expected numbers of shape"),
        ({"ball": "path"}, "ball: expected numbers of shape"),
        ({"heel": [[1], [2, 3]]}, r"heel: expected shape \(frames, legs, 3\), got rows of different lengths"),
        ({"fps": None}, "fps: expected frames a second, got None"),
        ({"leg": "0.9"}, "leg: expected a positive number, got '0.9'"),
        ({"leg": [0.9, 0.9]}, "leg: expected a positive number, got "),
        ({"least": "0.1"}, "least: expected a number, got '0.1'"),
        ({"exact": "no"}, "exact: expected True or False, got 'no'"),
    ],
)
def test_arguments_of_find_contacts_of_a_wrong_kind_are_refused_by_name(change, message) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        find_contacts(**STILL_FEET | change)
