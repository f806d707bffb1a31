# SPDX-License-Identifier: MIT
"""Planting from Python: what may be left out, what is refused and in which words, and what a plan gives back."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace

import ik2bone
import numpy as np
import pytest
from ik2bone import Clip, NoGround, Note, Plan, Settings, plant
from ik2bone.contacts.spans import Place, no_marks
from ik2bone.joints import BALL_AHEAD, BALL_BELOW, TOES_SHARE
from ik2bone.report.notes import WORDS
from walk import FLAT, HILLS, make_walk, planted

WALK = make_walk(seconds=3.0).clip
POINTS = {name: getattr(WALK, name) for name in ("hip", "knee", "ankle", "ball", "tip")}
LEG = {name: getattr(WALK, name) for name in ("thigh", "shin", "foot")}


def hills(xy):
    return 0.1 * np.sin(2.1 * xy[:, 0] + 0.4) + 0.07 * np.cos(1.7 * xy[:, 1] - 0.9 * xy[:, 0])


def from_points(**changes) -> Clip:
    return Clip.from_points(WALK.fps, **(POINTS | changes))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plant(WALK, HILLS)


def test_a_plan_is_plain_arrays(plan) -> None:
    frames, legs = WALK.frames, WALK.legs
    shapes = {"rotations": (frames, legs, 4, 4), "hips_offset": (frames, 3), "contacts": (frames, legs, 2)}
    for name, shape in (shapes | {"miss": (frames, legs)}).items():
        assert getattr(plan, name).shape == shape
    assert plan.contacts.dtype == bool
    assert np.linalg.norm(plan.rotations, axis=-1) == pytest.approx(1.0)
    assert plan.anchors and all(isinstance(note, Note) for note in plan.notes)
    json.dumps([note.data for note in plan.notes])


def test_applied_corrections_are_products_of_matrices(plan) -> None:
    after, twin = plan.apply(WALK), planted(WALK, plan)
    for name in ("thigh", "shin", "foot", "toe", "ball", "tip"):
        assert getattr(after, name) == pytest.approx(getattr(twin, name), abs=1e-12)
    assert np.linalg.norm(after.ankle - plan.targets.ankle, axis=-1) == pytest.approx(plan.miss, abs=1e-9)


def test_own_scales_act_before_rotations_and_are_carried_by_children(plan) -> None:
    """As Blender composes T R S: a joint's aggregate is its parent's times T R C S, C the correction."""
    scale = np.random.default_rng(1).uniform(0.7, 1.3, (WALK.frames, 2, 4, 3))
    scaled = {"scale": scale}
    for index, name in enumerate(("thigh", "shin", "foot", "toe")):
        scaled[name] = getattr(WALK, name).copy()
        scaled[name][..., :3, :3] *= scale[:, :, index, None]
    clip = replace(WALK, **scaled)
    after = plan.apply(clip)
    for frame, leg in ((17, 0), (60, 1)):
        parent_before = parent_after = np.eye(4)
        parent_after = parent_after.copy()
        parent_after[:3, 3] = plan.hips_offset[frame]
        for index, name in enumerate(("thigh", "shin", "foot", "toe")):
            old, size = getattr(clip, name)[frame, leg], np.diag([*scale[frame, leg, index], 1.0])
            local = np.linalg.inv(parent_before) @ old
            turn = np.eye(4)
            turn[:3, :3] = _rotation(plan.rotations[frame, leg, index])
            parent_after = parent_after @ local @ np.linalg.inv(size) @ turn @ size
            parent_before = old
            assert getattr(after, name)[frame, leg] == pytest.approx(parent_after, abs=1e-12)


def _rotation(q):
    w, v = q[0], q[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def test_a_plan_is_applied_to_its_own_clip_alone(plan) -> None:
    with pytest.raises(ValueError, match="clip: expected the 180 frames and 2 legs that were planned, got 50 frames"):
        plan.apply(WALK.cut(slice(0, 50)))
    with pytest.raises(TypeError, match="clip: expected a Clip, got an array"):
        plan.apply(WALK.foot)


def test_the_report_is_of_the_plan_itself(plan) -> None:
    report = plan.report()
    assert report == ik2bone.report.figures(WALK, plan.apply(WALK), plan, HILLS)
    json.dumps(report)
    assert report["before"]["penetration"] > 0.05 and report["after"]["penetration"] < 0.01
    assert 0.0 < report["after"]["hips_rms"] < report["after"]["hips_peak"]
    assert ik2bone.report.text(report).splitlines()[1].startswith("drift ")


def test_a_figure_that_is_worse_than_before_is_a_note_with_its_frame() -> None:
    plan = plant(WALK, FLAT)
    raised = plan.apply(WALK)
    foot, ball = raised.foot.copy(), raised.ball.copy()
    frame = int(np.flatnonzero(plan.contacts[:, 0, 1])[5])
    foot[frame, 0, 2, 3] += 0.1
    ball[frame, 0, 2] += 0.1
    report = ik2bone.report.figures(WALK, replace(raised, foot=foot, ball=ball), plan, FLAT)
    notes = {note["code"]: note for note in report["notes"]}
    assert notes["worse_float"]["frame"] == notes["worse_drift"]["frame"] == frame
    assert notes["worse_float"]["after"] == pytest.approx(0.1, abs=0.01)
    assert any(f"worst on frame {frame}" in sentence for sentence in report["told"])


@pytest.mark.parametrize("ground", [hills, lambda xy, steep=1.0: steep * hills(xy), lambda *given: hills(*given)])
def test_a_height_function_is_a_ground(plan, ground) -> None:
    by_height = plant(WALK, ground)
    assert by_height.rotations == pytest.approx(plan.rotations, abs=1e-3)
    assert by_height.hips_offset == pytest.approx(plan.hips_offset, abs=1e-3)


class Ground:
    def __call__(self, points, down):
        return HILLS(points, down)


@pytest.mark.parametrize(
    "ground", [Ground(), Ground().__call__, lambda *given: HILLS(*given), lambda points, down=None: HILLS(points, down)]
)
def test_callables_of_points_and_down_are_grounds(plan, ground) -> None:
    assert (plant(WALK, ground).rotations == plan.rotations).all()


def test_normals_of_any_length_and_side_will_do(plan) -> None:
    def ground(points, down):
        hits, normals, found = HILLS(points, down)
        return hits.tolist(), (-3.0 * normals).tolist(), found.tolist()

    assert plant(WALK, ground).rotations == pytest.approx(plan.rotations, abs=1e-9)


def mesh_of_hills(count=400):
    places = np.linspace(-1.0, 9.0, count + 1)
    corners = np.stack(np.meshgrid(places, places - 4.0, indexing="ij"), axis=-1).reshape(-1, 2)
    first = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).reshape(-1, 1)
    triangles = np.concatenate([first + [0, count + 1, count + 2], first + [0, count + 2, 1]])
    return ik2bone.Mesh(np.column_stack([corners, hills(corners)]), triangles)


@pytest.mark.parametrize("again", [deepcopy, lambda plan: pickle.loads(pickle.dumps(plan))])
def test_a_plan_on_a_mesh_is_copied_and_pickled_whole(again) -> None:
    plan = plant(WALK, mesh_of_hills(40))
    same = again(plan)
    assert (same.rotations == plan.rotations).all() and same.notes == plan.notes
    assert same.report() == plan.report()
    changed = Settings(strength=0.5)
    other = plant(same.clip, same.kept.given[1], changed, previous=same)
    assert other.kept is same.kept
    assert (other.rotations == plant(WALK, plan.kept.given[1], changed).rotations).all()


def test_a_mesh_is_a_ground() -> None:
    by_mesh, by_height = plant(WALK, mesh_of_hills()), plant(WALK, hills)
    assert (by_mesh.contacts == by_height.contacts).mean() > 0.99
    assert np.abs(by_mesh.apply(WALK).ball - by_height.apply(WALK).ball).max() < 0.01


def test_nan_heights_are_no_ground() -> None:
    def island(xy):
        return np.where(xy[:, 0] < 2.0, 0.0, np.nan)

    plan = plant(WALK, island)
    (note,) = [note for note in plan.notes if note.code == "no_surface_below"]
    assert 0 < note.data["count"] < note.data["of"]
    assert np.isfinite(plan.rotations).all()
    with pytest.raises(NoGround):
        plant(WALK, lambda xy: np.full(len(xy), np.nan))


@pytest.mark.parametrize(
    ("ground", "error", "words"),
    [
        (np.zeros(3), TypeError, r"ground: expected a Mesh, a height function z\(xy\) or a callable \(points, down\)"),
        (None, TypeError, "ground: expected a Mesh"),
        (lambda x, y, z: x, TypeError, "ground: expected a Mesh, .* got one of 3 parameters"),
        (max, TypeError, "ground: expected a Mesh, .* got <built-in function max>, which takes neither"),
        (lambda xy: xy, ValueError, r"ground: expected heights \(\d+,\) of xy \(\d+, 2\), got float64"),
        (lambda xy: xy[:, 0] / 0.0, ValueError, "ground: expected finite heights, or nan"),
        (lambda points, down: points, TypeError, "ground: expected hits, normals and found, got ndarray"),
        (lambda p, d: (p, p, p), ValueError, r"ground: expected found as booleans"),
        (lambda p, d: (p[:, 0], p, p[:, 0] < 9.0), ValueError, "ground: expected hits as numbers"),
        (lambda p, d: (p, p * np.nan, p[:, 0] < 9.0), ValueError, "ground: expected finite normals where"),
        (lambda p, d: (p, p * 0.0, p[:, 0] < 9.0), ValueError, "ground: expected normals with length"),
    ],
)
def test_grounds_that_answer_wrongly_are_told(ground, error, words) -> None:
    with pytest.raises(error, match=words), np.errstate(divide="ignore", invalid="ignore"):
        plant(WALK, ground)


def test_a_height_function_needs_up_to_be_z() -> None:
    turned = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    clip = Clip(WALK.fps, *(turned @ matrix for matrix in LEG.values()), up=turned[:3, 2])
    with pytest.raises(ValueError, match=r"height function z\(xy\) needs a clip with up \(0, 0, 1\)"):
        plant(clip, hills)
    with pytest.raises(ValueError, match="tells no nearest points"):
        plant(WALK, hills, Settings(direction="NEAREST"))


def test_clip_takes_lists_and_single_precision() -> None:
    lists = Clip(60, *(matrix[:3].tolist() for matrix in LEG.values()))
    single = Clip(np.float32(60), *(matrix[:3].astype(np.float32) for matrix in LEG.values()), up=[0, 0, 1])
    for clip in (lists, single):
        assert clip.thigh.dtype == np.float64 and clip.fps == 60.0
        assert clip.ankle == pytest.approx(WALK.ankle[:3], abs=1e-6)


def test_a_report_stays_when_the_callers_arrays_change() -> None:
    arrays = {name: LEG[name].copy() for name in LEG} | {"ball": WALK.ball.copy(), "up": np.array([0.0, 0.0, 1.0])}
    mine = plant(Clip(WALK.fps, **arrays), HILLS)
    told = mine.report()
    for array in arrays.values():
        array += 0.1
    assert mine.report() == told


def test_frames_may_be_as_fast_as_is_told() -> None:
    assert np.isfinite(plant(Clip(1e4, **LEG), HILLS).rotations).all()


def test_what_is_left_out_of_a_clip_has_defaults() -> None:
    clip = Clip(WALK.fps, **LEG)
    assert (clip.scale == 1.0).all() and not clip.has_toe.any() and not clip.hands.any()
    assert (clip.toe == clip.foot).all() and (clip.tip == clip.ball).all()
    low = np.argsort(clip.ankle[:, 0, 2])[: clip.frames // 4]
    away = np.median((clip.ball - clip.ankle)[low, 0], axis=0) / clip.leg
    assert away == pytest.approx([BALL_AHEAD, 0.0, -BALL_BELOW], abs=0.01)
    assert np.linalg.norm(clip.ball - clip.ankle, axis=-1) == pytest.approx(
        np.linalg.norm(clip.ball - clip.ankle, axis=-1).mean()
    )


def test_the_ball_is_by_default_where_the_toe_bone_begins() -> None:
    clip = Clip(WALK.fps, **LEG, toe=WALK.toe)
    assert clip.has_toe.all() and (clip.ball == WALK.toe[..., :3, 3]).all()
    standing = plant(WALK, FLAT).contacts[:, 0].all(axis=-1)
    foot = (clip.ball - clip.ankle)[standing, 0, :2].mean(axis=0)
    assert (clip.tip - clip.ball)[standing, 0, :2].mean(axis=0) == pytest.approx(TOES_SHARE * foot, rel=0.1)


def test_feet_without_toes_point_where_knees_bend_even_straight_legs_have_some() -> None:
    straight = np.broadcast_to(np.eye(4), (4, 1, 4, 4)).copy()
    thigh, shin, foot = straight.copy(), straight.copy(), straight.copy()
    thigh[..., 2, 3], shin[..., 2, 3], foot[..., 2, 3] = 1.0, 0.55, 0.1
    clip = Clip(30.0, thigh, shin, foot)
    assert np.isfinite(clip.ball).all()
    assert np.linalg.norm((clip.ball - clip.ankle)[..., :2], axis=-1) == pytest.approx(BALL_AHEAD * clip.leg)


def test_a_clip_without_toes_is_planted() -> None:
    clip = Clip(WALK.fps, **LEG)
    report = plant(clip, hills).report()
    assert report["after"]["drift"] < 0.002 < report["before"]["penetration"]


def test_points_alone_are_planted_as_transforms_are(plan) -> None:
    clip = from_points()
    by_points = plant(clip, HILLS)
    assert (by_points.contacts == plan.contacts).mean() > 0.99
    after, wanted = by_points.apply(clip), plan.apply(WALK)
    for name in POINTS:
        assert np.abs(getattr(clip, name) - getattr(WALK, name)).max() < 1e-12
        assert np.abs(getattr(after, name) - getattr(wanted, name)).max() < 0.01
    for above, below in (("hip", "knee"), ("knee", "ankle"), ("ankle", "ball")):
        lengths = [np.linalg.norm(getattr(c, below) - getattr(c, above), axis=-1) for c in (clip, after)]
        assert lengths[0] == pytest.approx(lengths[1], abs=1e-9)


@pytest.mark.parametrize("kind", ["straight", "overstretched"])
def test_bones_from_points_turn_continuously_through_straight_knees(kind) -> None:
    knee = POINTS["knee"].copy()
    middle = 0.5 * (POINTS["hip"] + POINTS["ankle"])
    share = {"straight": 1.0, "overstretched": 1.2}[kind]
    frames = slice(60, 90)
    knee[frames] += share * (middle - knee)[frames]
    steps = _turns(from_points(knee=knee)) - _turns(from_points())
    assert steps[np.r_[62:88]].max() < np.radians(2.0)
    noisy = knee + 1e-6 * np.random.default_rng(0).normal(size=knee.shape)
    assert np.abs(from_points(knee=noisy).shin - from_points(knee=knee).shin)[..., :3].max() < 1e-3


def _turns(clip):
    """Angles between thighs, shins and feet of frames one after the other."""
    angles = []
    for matrices in (clip.thigh, clip.shin, clip.foot):
        turn = np.swapaxes(matrices[:-1, :, :3, :3], -1, -2) @ matrices[1:, :, :3, :3]
        angles.append(np.arccos(np.clip(0.5 * (np.trace(turn, axis1=-2, axis2=-1) - 1.0), -1.0, 1.0)))
    return np.max(angles, axis=(0, 2))


def test_bones_from_points_are_rotations_with_their_axis_along_the_bone_and_the_hinge_across() -> None:
    clip = from_points()
    for matrices, end in ((clip.thigh, clip.knee), (clip.shin, clip.ankle), (clip.foot, clip.ball)):
        axes = matrices[..., :3, :3]
        assert np.swapaxes(axes, -1, -2) @ axes == pytest.approx(np.broadcast_to(np.eye(3), axes.shape), abs=1e-12)
        along = end - matrices[..., :3, 3]
        assert np.cross(axes[..., 1], along) == pytest.approx(0.0, abs=1e-12)
    hinge = np.cross(clip.hip - clip.knee, clip.ankle - clip.knee)
    assert (np.sum(clip.shin[..., :3, 0] * hinge, axis=-1) >= 0.0).all()


def test_a_heel_tells_how_the_foot_leans() -> None:
    lean = np.array([0.0, 0.05, 0.0])
    heel = POINTS["ankle"] + 0.5 * (POINTS["ankle"] - POINTS["ball"]) * [1.0, 1.0, 0.0] - [0.0, 0.0, 0.1] + lean
    leaning = from_points(heel=heel)
    across = np.cross(leaning.ball - heel, leaning.ankle - heel)
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    assert leaning.foot[..., :3, 0] == pytest.approx(across, abs=1e-9)


def _broken(name, value):
    rows = np.array(LEG[name])
    rows[3, 1] = value
    return {name: rows}


SINGULAR = np.diag([1.0, 0.0, 1.0, 1.0])
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
        ({"shin": TRANSPOSED}, ValueError, "shin: expected matrices with the translation in the last column"),
        ({"shin": LEG["thigh"]}, ValueError, "shin: expected a bone with length, got the same place as the thigh on"),
        ({"ball": np.zeros((180, 3))}, ValueError, r"ball: expected shape \(180, 2, 3\)"),
        ({"up": (0, 0, 2)}, ValueError, r"up: expected a unit vector, got \[0.0, 0.0, 2.0\] of length 2"),
        ({"up": (0, 1)}, ValueError, r"up: expected shape \(3,\), got \(2,\)"),
        ({"up": None}, TypeError, "up: expected numbers"),
        ({"fps": 0}, ValueError, "fps: expected frames a second, more than 0 and up to 10000, got 0"),
        ({"fps": -24.0}, ValueError, "fps: expected frames a second"),
        ({"fps": np.inf}, ValueError, "fps: expected frames a second, got inf"),
        ({"fps": "24"}, TypeError, "fps: expected frames a second, got '24'"),
        ({"scale": np.zeros((180, 2, 4, 3))}, ValueError, "scale: expected numbers other than zero"),
        ({"has_toe": [1, 0]}, TypeError, r"has_toe: expected booleans of shape \(2,\)"),
        ({"is_hand": [True]}, ValueError, r"is_hand: expected shape \(2,\), got \(1,\)"),
        ({"floors": 0.0}, ValueError, r"floors: expected shape \(heights,\), got \(\)"),
        ({"skins": ()}, ValueError, "skins: expected one for each of 2 legs, got 0"),
        ({"skins": 3}, TypeError, "skins: expected a sequence of one skin a leg, got int"),
        ({"skins": [1, 2]}, TypeError, "skins: expected a Skin for each leg, got int"),
        ({"skins": "ab"}, TypeError, "skins: expected a Skin for each leg, got 'a'"),
        ({"fps": 1e5}, ValueError, "fps: expected frames a second, more than 0 and up to 10000, got 100000"),
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
        ({"strength": np.full((180, 2), 0.5)}, ValueError, r"strength: expected shape \(frames,\), got \(180, 2\)"),
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
        (Place(0, "toe", 0, 9, (0.0, 0.0, 0.0)), ValueError, r"\.part: expected one of heel, ball, got 'toe'"),
        (Place(0, "ball", 0, 9, (0.0, 1.0)), ValueError, r"places\[0\].point: expected shape \(3,\), got \(2,\)"),
        (Place(0, "ball", 0, 9, (np.nan, 0.0, 0.0)), ValueError, r"\.point: expected finite numbers, got nan"),
    ],
)
def test_places_that_are_wrong_are_refused(place, error, words) -> None:
    marks = replace(no_marks((WALK.frames, 2, 2)), places=(place,))
    with pytest.raises(error, match=words):
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
        ({"offset": np.zeros((180, 3))}, ValueError, r"offset: expected shape \(180, 2, 3\), got \(180, 3\)"),
        ({"offset": np.full((180, 2, 3), np.nan)}, ValueError, "offset: expected finite numbers, got nan on frame 0"),
    ],
)
def test_wrong_soles_and_offsets_are_refused_by_name(given, error, words) -> None:
    with pytest.raises(error, match=words):
        plant(WALK, FLAT, **given)


def test_lists_in_settings_are_as_good_as_arrays(plan) -> None:
    shares, asked = np.linspace(0.0, 1.0, WALK.frames), np.array([True, False])
    of_lists = plant(WALK, HILLS, Settings(strength=shares.tolist(), asked=asked.tolist(), direction="NEAREST"))
    of_arrays = plant(WALK, HILLS, Settings(strength=shares, asked=asked, direction="NEAREST"))
    assert (of_lists.rotations == of_arrays.rotations).all()
    assert Settings(strength=shares.tolist()).cut(slice(1, None)).shares(WALK.frames - 1) == pytest.approx(shares[1:])


def test_every_note_is_worded_once_from_its_data() -> None:
    notes = plant(WALK, FLAT, Settings(max_slope=0.1, use_hips=False)).notes
    assert all(note.code in WORDS and "{" not in str(note) for note in notes)
    assert str(Note("never_rests", {"count": 1, "of": 4})).startswith("1 of 4 limbs never come to rest")
    assert all(words == words.strip() and not words.endswith(".") for words in WORDS.values())


def test_the_package_is_loaded_without_numpy_and_its_names_on_first_use() -> None:
    code = (
        "import sys, ik2bone; assert 'numpy' not in sys.modules; ik2bone.plant; ik2bone.Clip; ik2bone.report;"
        "assert callable(ik2bone.plant) and 'numpy' in sys.modules and 'plant' in dir(ik2bone)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert ik2bone.__doc__.splitlines()[2].startswith("Plant feet")
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ik2bone.nonsense  # noqa: B018
