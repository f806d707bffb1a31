# SPDX-License-Identifier: MIT
"""Lines, rays and nearest points of a triangle mesh, against every triangle asked alone in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone import Mesh
from ik2bone.mesh import crossed
from triangles import DOWN, HALVES, SQUARE, soup

SCALES = (1e-15, 1.0, 1e15)
KINDS = (np.float32, np.float64)


def hills(rng, size=12):
    """A height field over an uneven grid, whose steep triangles do not overlap seen from above, and its border."""
    x, y = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    inner = np.zeros((size, size), bool)
    inner[1:-1, 1:-1] = True
    shift = rng.uniform(-0.2, 0.2, (2, size, size)) * inner
    vertices = np.stack([x + shift[0], y + shift[1], 5.0 * rng.standard_normal(x.shape)], axis=-1)
    first = (np.arange(size - 1)[:, None] * size + np.arange(size - 1)).ravel()
    lower, upper = [first, first + size, first + size + 1], [first, first + size + 1, first + 1]
    return vertices.reshape(-1, 3), np.concatenate([np.stack(lower, -1), np.stack(upper, -1)])


def turned(rng):
    return np.linalg.qr(rng.standard_normal((3, 3)))[0]


def distances_to_all(corners, points, ways):
    """Distances (N, T) along unit ways of lines in triangles (T, 3, 3), NaN where not met; and how clearly so."""
    a, b, c = np.moveaxis(corners, 1, 0)
    normal = np.cross(b - a, c - a)
    with np.errstate(all="ignore"):
        distance = np.sum((a - points[:, None]) * normal, axis=2) / (ways @ normal.T)
        place = points[:, None] + distance[..., None] * ways[:, None]
        sides = [np.sum(np.cross(q - p, place - p) * normal, axis=2) for p, q in ((a, b), (b, c), (c, a))]
        sides = np.min(sides, axis=0) / np.sum(normal * normal, axis=1)
    return np.where(sides >= 0, distance, np.nan), np.abs(sides)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_crossings_are_those_of_every_triangle_asked_alone(scale, kind):
    rng = np.random.default_rng(1)
    vertices, triangles = soup(rng, 300)
    vertices = (vertices * scale).astype(kind)
    points, ways = (rng.uniform(-1, 1, (400, 3)) * scale).astype(kind), rng.standard_normal((400, 3)).astype(kind)
    corners = vertices.astype(float)[triangles] / scale
    expected, clear = distances_to_all(corners, points / scale, unit(ways.astype(float)))
    row, distance, triangle = Mesh(vertices, triangles).crossings(points, ways)
    assert distance.dtype == kind and row.dtype == triangle.dtype == np.int64
    found = np.full(expected.shape, np.nan)
    found[row, triangle] = distance / scale
    sure = clear > 1e-9
    assert (np.isnan(found) == np.isnan(expected))[sure].all() and len(row) > 1000
    sure &= ~np.isnan(expected)
    np.testing.assert_allclose(found[sure], expected[sure], rtol=1e-5 if kind == np.float32 else 1e-9, atol=1e-7)
    assert (np.diff(row) >= 0).all() and (np.diff(distance)[np.diff(row) == 0] >= 0).all()


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_lines_of_another_space_meet_what_they_meet_of_the_mesh_in_it(mirror):
    rng = np.random.default_rng(3)
    vertices, triangles = soup(rng, 300)
    motions = np.tile(np.eye(4), (40, 1, 1))
    axes = rng.standard_normal((40, 3, 3))
    axes *= np.sign(mirror * np.linalg.det(axes))[:, None, None]  # of an odd dimension, so this mirrors
    motions[:, :3, :3], motions[:, :3, 3] = axes, rng.uniform(-1, 1, (40, 3))
    points, ways = rng.uniform(-1, 1, (40, 3)), unit(rng.standard_normal((40, 3)))
    met, own = crossed(Mesh(vertices, triangles), points, ways, np.linalg.inv(motions)), 0
    for line, motion in enumerate(motions):
        moved = Mesh(vertices @ motion[:3, :3].T + motion[:3, 3], triangles)
        _, distance, triangle = moved.crossings(points[line], ways[line])
        found = met[met["row"] == line]
        np.testing.assert_array_equal(found["triangle"], triangle)
        np.testing.assert_allclose(found["distance"], distance, rtol=1e-9)
        normals = mirror * moved.normals[triangle]
        np.testing.assert_array_equal(found["against"], normals @ ways[line] <= 0.0)
        np.testing.assert_allclose(found["normal"], normals * np.where(found["against"], 1.0, -1.0)[:, None], atol=1e-9)
        own += len(triangle)
    assert own == len(met) > 100 and 0 < np.count_nonzero(met["against"]) < own


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("welded", [True, False])
@pytest.mark.parametrize("axes", ["upright", "turned", "offset"])
def test_no_line_slips_through_a_surface_or_meets_it_twice(scale, welded, axes):
    """Through corners, edges and points rounded on to edges, along the direction in which it does not overlap."""
    rng = np.random.default_rng(2)
    vertices, triangles = hills(rng)
    edges = np.concatenate([triangles, np.roll(triangles, 1, axis=1)]).reshape(2, -1)
    share = rng.uniform(0, 1, (edges.shape[1], 1))
    on_edges = vertices[edges[0]] * share + vertices[edges[1]] * (1 - share)
    size = vertices[:, :2].max()
    on_edges = on_edges[((on_edges[:, :2] > 0) & (on_edges[:, :2] < size)).all(axis=1)]
    halfway = 0.5 * (vertices[edges[0]] + vertices[edges[1]])
    turn = turned(rng) if axes == "turned" else np.eye(3)
    offset = 1e4 * np.array([1.0, -2.0, 3.0]) if axes == "offset" else 0.0
    vertices, exact, rounded = ((part @ turn.T + offset) * scale for part in (vertices, halfway, on_edges))
    if axes == "turned":  # there the border is rounded, too
        inside = ((halfway[:, :2] > 0) & (halfway[:, :2] < size)).all(axis=1)
        exact = exact[inside]
    if not welded:
        vertices, triangles = vertices[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)
    mesh, down = Mesh(vertices, triangles), turn @ DOWN
    for points in (vertices if axes != "turned" else exact, exact, rounded):
        lifted = points - 100 * scale * down * rng.standard_normal((len(points), 1)) if axes == "upright" else points
        assert (np.bincount(mesh.crossings(lifted, down).row, minlength=len(points)) == 1).all()
        met = mesh.cast(points - 100 * scale * down, down)
        assert (met.triangle >= 0).all()


def test_a_corner_that_many_triangles_share_is_one_place_in_every_direction():
    rng = np.random.default_rng(3)
    rim = unit(rng.standard_normal((40, 3)))
    vertices = np.concatenate([[[0.0, 0, 0]], rim])
    triangles = np.stack([np.zeros(39, int), np.arange(1, 40), np.arange(2, 41)], axis=1)
    ways = rng.standard_normal((500, 3))
    row, distance, _ = Mesh(vertices, triangles).crossings(np.zeros(3), ways)
    assert (np.bincount(row[distance == 0], minlength=500) == 1).all()


def test_a_cube_is_entered_and_left_once_also_along_its_sides():
    corners = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    cube = Mesh(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    for x, y in ((0.5, 0.5), (0.25, 0.25), (0, 0), (1, 1), (1, 0.5), (0, 0.3)):
        np.testing.assert_array_equal(cube.crossings([x, y, 5.0], DOWN).distance, [4.0, 5.0])
    middle = np.array([0.5, 0.5, 0.5])
    through = np.concatenate([corners, 0.5 * (corners[:4] + corners[4:])]) - middle
    assert (np.bincount(cube.crossings(middle, through).row) == 2).all()
    assert len(cube.crossings([1.5, 0.5, 0.5], DOWN).row) == 0
    np.testing.assert_array_equal(cube.normals[cube.cast([0.2, 0.4, 3.0], DOWN).triangle], [0.0, 0.0, 1.0])


def test_what_is_closed_is_left_as_often_as_entered_however_near_its_edges():
    """Lines that pass edges within a rounding, where the sign of a rounded area is wrong or none."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        corners = rng.uniform(-1, 1, (4, 3))
        first, share = rng.integers(0, 4, 400), rng.uniform(0, 1, (400, 1))
        other = (first + rng.integers(1, 4, 400)) % 4
        points = corners[first] * share + corners[other] * (1 - share)
        points += rng.standard_normal((400, 3)) * 10 ** rng.uniform(-17, -1, (400, 1))
        solid = Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        row = solid.crossings(points, rng.standard_normal((400, 3))).row
        assert (np.bincount(row, minlength=400) % 2 == 0).all()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_ray_meets_the_first_place_ahead(scale, kind):
    rng = np.random.default_rng(4)
    vertices, triangles = soup(rng, 500)
    mesh = Mesh((vertices * scale).astype(kind), triangles)
    origins, ways = (rng.uniform(-1, 1, (300, 3)) * scale).astype(kind), rng.standard_normal((300, 3)).astype(kind)
    row, distance, triangle = mesh.crossings(origins, ways)
    point, normal, first = mesh.cast(origins, ways)
    ahead = distance >= 0
    rows, at = np.unique(row[ahead], return_index=True)
    expected = np.full(300, -1)
    expected[rows] = triangle[ahead][at]
    np.testing.assert_array_equal(first, expected)
    assert point.dtype == normal.dtype == kind
    assert np.isnan(point[first < 0]).all() and np.isnan(normal[first < 0]).all()
    met = first >= 0
    places = origins[rows] + distance[ahead][at, None] * unit(ways.astype(float))[rows]
    np.testing.assert_allclose(point[met] / scale, places / scale, atol=1e-5 if kind == np.float32 else 1e-12)
    np.testing.assert_allclose(normal[met], mesh.normals[first[met]], atol=1e-7)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_ray_meets_the_mesh_that_it_starts_on_whichever_way_it_goes(scale, kind):
    """Of a level square, whose places and those of its diagonal are exact in both kinds."""
    rng = np.random.default_rng(9)
    corners = np.array([[-3, -3, 0], [5, -3, 0], [5, 5, 0], [-3, 5, 0]], kind) * kind(scale)
    origins = (rng.uniform(-3, 5, (600, 3)) * [1, 1, 0]).astype(kind) * kind(scale)
    origins[::2, 1] = origins[::2, 0]
    ways = rng.standard_normal((600, 3)).astype(kind)
    ways[::3, 2] *= kind(0.01)
    point, normal, triangle = Mesh(corners, [[0, 1, 2], [0, 2, 3]]).cast(origins, ways)
    assert np.array_equal(point, origins)
    assert np.array_equal(normal, np.broadcast_to([0, 0, 1], point.shape))
    assert np.array_equal(triangle[1::2], origins[1::2, 1] > origins[1::2, 0])


def nearest_of_all(corners, points):
    """Distances (N,) of points to the nearest of triangles (T, 3, 3), by their edges and their inside."""
    a, b, c = np.moveaxis(corners, 1, 0)
    normal = unit(np.cross(b - a, c - a))
    down = np.broadcast_to(normal, (len(points), *normal.shape))
    height = np.sum((points[:, None] - a) * down, axis=2)
    foot = points[:, None] - height[..., None] * normal
    inside = np.all([np.sum(np.cross(q - p, foot - p) * normal, axis=2) >= 0 for p, q in ((a, b), (b, c), (c, a))], 0)
    best = np.where(inside, np.abs(height), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        along = np.clip(np.sum((points[:, None] - p) * (q - p), axis=2) / np.sum((q - p) ** 2, axis=1), 0, 1)
        best = np.minimum(best, np.linalg.norm(points[:, None] - p - along[..., None] * (q - p), axis=2))
    return best


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("shape", ["soup", "needles"])
def test_the_nearest_point_is_nearer_than_that_of_any_other_triangle(scale, shape):
    rng = np.random.default_rng(5)
    vertices, triangles = soup(rng, 200)
    if shape == "needles":  # heights down to 1e-12 of their length
        corners = vertices[triangles]
        thin = rng.uniform(0, 1, (200, 1)) * (corners[:, 1] - corners[:, 0])
        corners[:, 2] = corners[:, 0] + thin + (corners[:, 2] - corners[:, 0]) * 10 ** rng.uniform(-12, -3, (200, 1))
    points = rng.uniform(-2, 2, (300, 3))
    each = nearest_of_all(vertices[triangles], points)
    point, normal, triangle = Mesh(vertices * scale, triangles).nearest(points * scale)
    off = np.linalg.norm(point / scale - points, axis=1)
    np.testing.assert_allclose(off, each.min(axis=1), atol=1e-11)
    np.testing.assert_allclose(each[np.arange(300), triangle], off, atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0)


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_of_triangles_at_the_nearest_edge_the_first_is_returned_however_the_mesh_is_turned(offset):
    rng = np.random.default_rng(8)
    x, y = np.meshgrid(np.arange(12.0), np.arange(12.0))
    vertices = np.stack([x, y, np.sin(2.0 * x) + np.cos(3.0 * y)], axis=-1).reshape(-1, 3) + offset
    first = (12 * np.arange(11)[:, None] + np.arange(11)).reshape(-1, 1)
    triangles = np.concatenate([first + [0, 1, 13], first + [0, 13, 12]])
    points = rng.uniform([1, 1, -3], [10, 10, 3], (2000, 3)) + offset
    each = nearest_of_all(vertices[triangles], points)
    least = (each < each.min(axis=1, keepdims=True) + 1e-9).argmax(axis=1)
    np.testing.assert_array_equal(Mesh(vertices, triangles).nearest(points).triangle, least)
    for _ in range(3):
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        np.testing.assert_array_equal(Mesh(vertices @ turn, triangles).nearest(points @ turn).triangle, least)


@pytest.mark.parametrize("large", [1.0, 1e3, 1e6])
def test_the_first_of_triangles_far_larger_than_the_way_to_their_edge_is_returned(large):
    rng = np.random.default_rng(8)
    roof = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [0.0, -1.0, -1.0]]) * large
    points = np.stack([*rng.uniform(-1, 1, (1, 300)), np.zeros(300), rng.uniform(-1, 1, 300).clip(0.0)], axis=-1)
    for _ in range(10):
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        assert (Mesh(roof @ turn, [[0, 1, 2], [1, 0, 3]]).nearest(points @ turn).triangle == 0).all()


def test_triangles_without_area_are_never_met_nor_nearest():
    rng = np.random.default_rng(6)
    start, way = rng.uniform(-1, 1, (50, 1, 3)), rng.standard_normal((50, 1, 3))
    on_lines = start + way * rng.uniform(0, 1, (50, 3, 1))
    vertices = np.concatenate([on_lines.reshape(-1, 3), SQUARE - [0, 0, 9]])
    flat = np.concatenate([np.arange(150).reshape(-1, 3), [[3, 3, 3], [4, 4, 9], [7, 8, 7]]])
    mesh = Mesh(vertices, np.concatenate([flat, HALVES + 150]))
    points = np.concatenate([on_lines.reshape(-1, 3), on_lines.mean(axis=1)])
    assert (mesh.nearest(points).triangle >= len(flat)).all()
    for ways in (DOWN, rng.standard_normal((len(points), 3))):
        assert (mesh.crossings(points, ways).triangle >= len(flat)).all()
    assert not mesh.normals[: len(flat)].any() and len(mesh) == len(flat) + 2
    np.testing.assert_array_equal(mesh.bounds, [[0, 0, -9], [1, 1, -9]])


def test_triangles_without_area_hide_none_of_their_neighbours():
    rng = np.random.default_rng(7)
    x, y = np.meshgrid(np.arange(5.0), np.arange(5.0))
    vertices = np.stack([x, y, 0.1 * rng.standard_normal(x.shape)], axis=-1).reshape(-1, 3)
    first = (5 * np.arange(4)[:, None] + np.arange(4)).reshape(-1, 1)
    triangles = np.concatenate([first + [0, 1, 6], first + [0, 6, 5]], axis=1).reshape(-1, 3)
    points = np.append(rng.uniform(0, 4, (200, 2)), np.ones((200, 1)), axis=1)
    whole = Mesh(vertices, triangles).crossings(points, DOWN).triangle
    for number in (1, 2, 3, 5):
        places = np.arange(number, len(triangles), number)
        index = np.delete(np.arange(len(triangles) + len(places)), places + np.arange(len(places)))
        mixed = Mesh(vertices, np.insert(triangles, places, [0, 0, 0], axis=0))
        np.testing.assert_array_equal(mixed.crossings(points, DOWN).triangle, index[whole])


def test_a_line_meets_no_triangle_that_it_lies_in():
    upright = Mesh([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2]])
    assert len(upright.crossings([[0.25, 0, 5.0], [0, 0, 5.0]], DOWN).row) == 0
    assert len(upright.crossings([0.25, 3.0, 0.25], (0, 1, 0)).row) == 1


@pytest.mark.parametrize(
    "parts", [([], []), (SQUARE, []), (np.zeros((0, 3)), np.zeros((0, 3), int)), (SQUARE, [[1, 1, 1]])]
)
def test_an_empty_mesh_is_met_by_nothing(parts):
    mesh = Mesh(*parts)
    points = np.zeros((4, 3))
    assert [len(column) for column in mesh.crossings(points, DOWN)] == [0, 0, 0]
    for hits in (mesh.cast(points, DOWN), mesh.nearest(points)):
        assert (hits.triangle == -1).all() and np.isnan(hits.point).all() and np.isnan(hits.normal).all()
    assert np.isnan(mesh.bounds).all() and mesh.bounds.shape == (2, 3)
    assert mesh.normals.shape == (len(mesh), 3)


def test_rows_of_bad_numbers_meet_nothing_and_disturb_no_other():
    mesh, points = Mesh(SQUARE, HALVES), np.full((5, 3), 0.3)
    points[1, 0], points[3, 2] = np.nan, np.inf
    ways = np.tile(DOWN, (5, 1))
    ways[4] = 0.0
    np.testing.assert_array_equal(mesh.crossings(points, ways).row, [0, 2])
    np.testing.assert_array_equal(mesh.cast(points, ways).triangle, [0, -1, 0, -1, -1])
    np.testing.assert_array_equal(mesh.nearest(points).triangle, [0, -1, 0, -1, 0])


def test_leading_dimensions_broadcast_and_rows_count_through_them():
    mesh = Mesh(SQUARE, HALVES)
    points, ways = np.full((2, 1, 3), 0.4), np.tile(DOWN, (3, 1))
    assert mesh.cast(points, ways).normal.shape == (2, 3, 3)
    np.testing.assert_array_equal(mesh.crossings(points, ways).row, np.arange(6))
    assert mesh.nearest([0.4, 0.4, 2.0]).triangle.shape == ()
    np.testing.assert_array_equal(mesh.crossings([0.4, 0.4, 2.0], DOWN).row, [0])
    assert mesh.cast(np.zeros((0, 3)), DOWN).point.shape == (0, 3)
