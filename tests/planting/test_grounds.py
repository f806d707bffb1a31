# SPDX-License-Identifier: MIT
"""What a plan can stand on: height functions, callables of points, meshes; and what is wrong with their answers."""

from __future__ import annotations

import pickle
from copy import deepcopy

import ik2bone
import numpy as np
import pytest
from ik2bone import Clip, NoGround, Settings, plant
from ik2bone.ground.query import Support
from ik2bone.ground.surfaces import Surface, Surfaces
from short_walk import LEG, WALK, from_points, hills
from walk import HILLS


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


FOLLOWING = Settings(contacts="ALWAYS")


@pytest.mark.parametrize("ground", [lambda points, down: _written(points), lambda points, down=None: _written(points)])
def test_a_callable_may_write_into_the_points_that_it_gets(ground) -> None:
    clip = from_points()
    before = clip.ball.copy()
    written = plant(clip, ground, FOLLOWING)
    assert (clip.ball == before).all()
    other = plant(clip, lambda points, _: _written(points.copy()), FOLLOWING)
    assert (written.rotations == other.rotations).all() and (written.hips_offset == other.hips_offset).all()


def _written(points):
    points[:, 2] = hills(points[:, :2])
    return points, np.tile([0.0, 0.0, 1.0], (len(points), 1)), np.ones(len(points), bool)


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


def test_figures_take_the_grounds_that_planting_takes() -> None:
    for ground in (hills, mesh_of_hills()):
        plan = plant(WALK, ground)
        assert ik2bone.report.figures(WALK, plan.apply(WALK), plan, ground) == plan.report()


def test_nan_heights_are_no_ground() -> None:
    def island(xy):
        return np.where(xy[:, 0] < 2.0, 0.0, np.nan)

    plan = plant(WALK, island)
    (note,) = [note for note in plan.notes if note.code == "no_surface_below"]
    assert 0 < note.data["count"] < note.data["of"]
    assert np.isfinite(plan.rotations).all()
    with pytest.raises(NoGround):
        plant(WALK, lambda xy: np.full(len(xy), np.nan))


def test_feet_that_follow_the_ground_tell_where_it_ends() -> None:
    plan = plant(WALK, lambda xy: np.where(xy[:, 1] > 0.0, 0.0, np.nan), FOLLOWING)
    (note,) = [note for note in plan.notes if note.code == "no_surface_frames"]
    assert note.data == {"frames": WALK.frames} and str(note).startswith("no surface lies below or above feet on 180")
    assert not any(note.code == "no_surface_frames" for note in plant(WALK, lambda xy: 0.0 * xy[:, 0], FOLLOWING).notes)


@pytest.mark.parametrize(
    ("ground", "error", "words"),
    [
        (np.zeros(3), TypeError, r"ground: expected a Mesh, a height function z\(xy\) or a callable \(points, down\)"),
        (None, TypeError, "ground: expected a Mesh"),
        (lambda x, y, z: x, TypeError, "ground: expected a Mesh, .* got one of 3 parameters"),
        (max, TypeError, "ground: expected a Mesh, .* got <built-in function max>, which takes neither"),
        (lambda xy: xy, ValueError, r"ground: expected heights \(\d+,\) of xy \(\d+, 2\), got float64"),
        (lambda xy: None, ValueError, r"ground: expected heights \(\d+,\) of xy \(\d+, 2\), got NoneType$"),
        (lambda xy: ["low"] * len(xy), ValueError, r"ground: expected heights \(\d+,\) of xy \(\d+, 2\), got list$"),
        (lambda xy: xy[:, 0] / 0.0, ValueError, "ground: expected finite heights, or nan"),
        (lambda x, y: x, TypeError, r"hits, normals and found of .*, got ndarray; heights .* of one array, z\(xy\)"),
        (lambda xy: [[1], [2, 3]], ValueError, r"ground: expected heights \(\d+,\) .* got rows of different lengths"),
        (
            lambda p, d: ([[1], [2, 3]], p, p[:, 0] < 9.0),
            ValueError,
            "ground: expected hits .* rows of different lengths",
        ),
        (lambda p, d: (p, p, [[True], []]), ValueError, "ground: expected found .* rows of different lengths"),
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


class Lift:
    """A floor of a user's own that rises by 1 mm a frame, over some frames."""

    def __init__(self, frames: int, told: int) -> None:
        self.motion, self.told = np.tile(np.eye(4), (frames, 1, 1)), told
        self.motion[:, 2, 3] = 0.001 * np.arange(frames)

    def ask(self, points, down, frames):
        hits = np.column_stack([points[:, :2], self.motion[frames, 2, 3]])
        return hits, np.tile([0.0, 0.0, 1.0], (len(points), 1)), np.ones(len(points), bool)

    def support(self, point, frame):
        return Support("Lift", self.motion[: self.told])

    def cut(self, frames):
        raise NotImplementedError


def test_grounds_of_users_that_know_fewer_frames_than_the_clip_has_are_refused() -> None:
    assert plant(WALK, Lift(WALK.frames, WALK.frames)).miss.max() < 1e-6
    with pytest.raises(
        ValueError, match=f"ground: expected answers on {WALK.frames} frames, as the clip has, got none"
    ):
        plant(WALK, Lift(WALK.frames - 1, WALK.frames - 1))
    with pytest.raises(ValueError, match=f"over {WALK.frames} frames, as the clip has, got {WALK.frames - 1}"):
        plant(WALK, Lift(WALK.frames, WALK.frames - 1))
    with pytest.raises(ValueError, match=f"over {WALK.frames} frames, as the clip has, got {WALK.frames + 1}"):
        plant(WALK, Lift(WALK.frames + 1, WALK.frames + 1))


def test_surfaces_may_move_on_after_the_clip() -> None:
    motion = np.tile(np.eye(4), (WALK.frames + 7, 1, 1))
    motion[:, 2, 3] = 0.001 * np.arange(len(motion))
    deck = ik2bone.Mesh([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]], [[0, 1, 2]])
    plans = [plant(WALK, Surfaces((Surface(deck, motion=one),), LEG)) for one in (motion, motion[: WALK.frames])]
    assert (plans[0].rotations == plans[1].rotations).all()


def test_surfaces_whose_motion_ends_before_the_clip_are_refused() -> None:
    motion = np.tile(np.eye(4), (WALK.frames, 1, 1))
    deck = ik2bone.Mesh([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]], [[0, 1, 2]])
    plant(WALK, Surfaces((Surface(deck, "Deck", motion),), LEG))
    words = f"motion of surface 'Deck' over {WALK.frames} frames, as the clip has, got {WALK.frames - 1}"
    with pytest.raises(ValueError, match=words):
        plant(WALK, Surfaces((Surface(deck, "Deck", motion[1:]),), LEG))
