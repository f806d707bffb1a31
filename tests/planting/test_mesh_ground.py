# SPDX-License-Identifier: MIT
"""Plain meshes as ground: which level counts, what moves, and what a point belongs to; the leg is 1."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone import Mesh, _core
from ik2bone.ground.query import MovingGround, Support
from ik2bone.ground.surfaces import Surface, Surfaces

DOWN = np.array([0.0, 0.0, -1.0])
SIDES = [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (4, 5, 6, 7), (3, 2, 1, 0)]


def mesh_of(corners, faces):
    return Mesh(corners, [triangle for a, b, c, d in faces for triangle in ((a, b, c), (a, c, d))])


def sheet(height, size=4.0):
    return mesh_of(
        [(-size, -size, height), (size, -size, height), (size, size, height), (-size, size, height)], [range(4)]
    )


def box(bottom, top, size=0.5, outward=True):
    square = ((-size, -size), (size, -size), (size, size), (-size, size))
    corners = [(x, y, z) for z in (bottom, top) for x, y in square]
    return mesh_of(corners, SIDES if outward else [face[::-1] for face in SIDES])


def moved(x=0.0, z=0.0):
    matrix = np.eye(4)
    matrix[:3, 3] = x, 0.0, z
    return matrix


def level(meshes, height, x=0.0, turn=None):
    """The height found from a height; all of it turned, if asked, which is to change nothing."""
    motion = np.eye(4)
    motion[:3, :3] = np.eye(3) if turn is None else turn
    ground = Surfaces(tuple(Surface(mesh, motion=motion) for mesh in meshes), 1.0)
    hits, normals, found = ground(np.array([[x, 0.0, height]]) @ motion[:3, :3].T, motion[:3, :3] @ DOWN)
    assert found.all() and (normals @ motion[:3, :3] @ DOWN < 0).all()
    return (hits @ motion[:3, :3])[0, 2]


def test_a_query_takes_the_normals_of_what_it_meets_and_not_of_all_triangles(monkeypatch):
    def refuse(_mesh):
        raise AssertionError

    monkeypatch.setattr(_core, "measure_mesh", refuse)
    hits, normals, found = Surfaces((Surface(sheet(0.5), motion=moved(z=1.0)),), 1.0)(np.zeros((2, 3)), DOWN)
    assert found.all() and (hits == [0.0, 0.0, 1.5]).all() and (normals == -DOWN).all()


@pytest.mark.parametrize("turn", [None, np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]])
@pytest.mark.parametrize(
    ("meshes", "height", "expected"),
    [
        ([sheet(0.0), box(0.0, 0.5)], 0.0, 0.5),  # a crate's top, not the floor inside it
        ([sheet(0.0), box(0.0, 3.0, size=0.1)], 0.0, 0.0),  # nobody climbs a wall
        ([sheet(0.0), box(0.13, 0.18)], 0.0, 0.18),  # an open tread is climbed
        ([sheet(0.0), box(0.45, 0.5)], 0.0, 0.0),  # a bench is passed under
        ([sheet(0.0), sheet(0.004)], 0.0, 0.004),  # a road on the floor
        ([sheet(0.0), box(2.0, 2.2)], 0.6, 0.0),  # under a bridge
        ([sheet(0.0), box(2.0, 2.2)], 2.0, 2.2),  # on it
        ([box(0.0, 2.7, size=3.0)], 0.1, 0.0),  # a room
        ([box(0.0, 2.7, size=3.0, outward=False)], 0.1, 0.0),
        ([box(-0.2, 1.2, size=3.0)], 0.0, 1.2),  # a solid hill
    ],
)
def test_of_all_levels_the_nearest_with_room_over_it_counts(meshes, height, expected, turn):
    assert level(meshes, height, 0.05, turn) == pytest.approx(expected, abs=1e-9)


def test_on_every_edge_and_corner_of_a_stair_a_step_is_found():
    stairs = [box(0.0, 0.18 * (i + 1), size=2.0 - 0.3 * i) for i in range(4)]
    ground = Surfaces((Surface(sheet(0.0)), *map(Surface, stairs)), 1.0)
    edges = np.array([2.0 - 0.3 * i for i in range(4)])
    x, y = np.meshgrid(np.concatenate([-edges, edges]), np.concatenate([-edges, edges]))
    points = np.stack([x.ravel(), y.ravel(), np.full(x.size, 0.3)], axis=-1)
    hits, _, found = ground(points, DOWN)
    assert found.all()
    heights = np.unique(hits[:, 2].round(9)).tolist()
    assert set(heights) <= {0.0, 0.18, 0.36, 0.54, 0.72}


def test_where_nothing_lies_the_point_itself_is_told_and_not_found():
    for ground in (Surfaces((), 1.0), Surfaces((Surface(Mesh([], [])),), 1.0)):
        for down in (DOWN, None):
            hits, _, found = ground(np.ones((2, 3)), down)
            assert not found.any() and (hits == 1.0).all()
        assert ground.support(np.zeros(3), 0) == Support()


def test_a_surface_that_moves_is_asked_where_it_lies_on_each_frame():
    motion = np.array([moved(z=0.1 * frame) for frame in range(5)])
    ground = Surfaces((Surface(sheet(0.0, 1.0), "Deck", motion), Surface(sheet(-1.0), "Sea")), 1.0)
    assert isinstance(ground, MovingGround)
    frames = np.arange(5)
    hits, _, found = ground.ask(np.full((5, 3), 0.2), DOWN, frames)
    np.testing.assert_allclose(hits[:, 2], 0.1 * frames)
    np.testing.assert_allclose(ground.ask(np.full((5, 3), 0.2), None, frames)[0][:, 2], 0.1 * frames)
    assert found.all() and ground.support(hits[3], 3).motion is motion
    assert ground.support(np.array([3.0, 0.0, -1.0]), 3) == Support("Sea")
    np.testing.assert_allclose(ground.cut(slice(2, 4))(np.zeros((1, 3)), DOWN)[0][0, 2], 0.2)
    assert ground.names == ["Deck", "Sea"]


def test_each_line_may_run_its_own_way():
    ground = Surfaces((Surface(box(0.0, 1.0)),), 1.0)
    ways = np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]])
    hits, normals, _ = ground.ask(np.array([[0.1, 0.2, 1.5], [1.0, 0.1, 0.4], [0.1, -1, 0.3]]), ways, np.zeros(3, int))
    np.testing.assert_allclose(hits, [[0.1, 0.2, 1.0], [0.5, 0.1, 0.4], [0.1, -0.5, 0.3]])
    np.testing.assert_allclose(normals, -ways)


def test_of_many_surfaces_each_is_found_however_it_is_placed():
    rng = np.random.default_rng(1)
    mesh, places = sheet(0.0, 0.3), np.arange(-10.0, 11.0)
    stretch = np.diag([1.0, 2.0, 0.5, 1.0])
    ground = Surfaces(tuple(Surface(mesh, f"{x}", moved(x, 0.1 * x) @ stretch) for x in places), 1.0)
    points = np.stack([places, rng.uniform(-0.5, 0.5, len(places)), rng.uniform(-2, 2, len(places))], axis=1)
    hits, normals, found = ground(points, DOWN)
    assert found.all()
    np.testing.assert_allclose(hits, np.stack([places, points[:, 1], 0.1 * places], axis=1))
    np.testing.assert_allclose(normals, -np.tile(DOWN, (len(places), 1)), atol=1e-12)
    assert [ground.support(hit, 0).name for hit in hits] == [f"{x}" for x in places]


def test_the_nearest_of_many_surfaces_is_found_by_asking_few_of_them(monkeypatch):
    asked, nearest = [], Surface.nearest
    monkeypatch.setattr(Surface, "nearest", lambda *given: asked.append(given) or nearest(*given))
    ground = Surfaces(tuple(Surface(sheet(0.0, 0.5), f"{x}", moved(x)) for x in range(1000)), 1.0)
    # The sheets touch: where two are equally near, the first one counts.
    for x, name in ((700.2, "700"), (400.5, "400"), (-9.0, "0")):
        assert ground.support(np.array([x, 0.0, 0.3]), 0).name == name
    assert len(asked) < 10


def test_a_point_is_told_in_the_space_of_the_object_that_is_named():
    inside = moved(z=5.0)
    ground = Surfaces((Surface(sheet(0.0), "Deck", moved(2.0), inside), Surface(sheet(0.0), "Other")), 1.0)
    assert ground.local("Deck", [3.0, 0.0, 0.0], 0) == [1.0, 0.0, 5.0]
    assert ground.local("Other", np.zeros(3), 0) is None and ground.local("None", np.zeros(3), 0) is None
