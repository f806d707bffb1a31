# SPDX-License-Identifier: MIT
"""Lines, rays and nearest points of a triangle mesh, against every triangle asked alone in numpy."""

from __future__ import annotations

import gc
import os
import pickle
import sys
from array import array
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from threading import Barrier

import ik2bone
import numpy as np
import pytest
from ik2bone import Mesh

DOWN = (0.0, 0.0, -1.0)
SCALES = (1e-15, 1.0, 1e15)
KINDS = (np.float32, np.float64)
SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]])


def soup(rng, count):
    """Triangles at random in a box of size 2, some of them small."""
    corners = rng.uniform(-1, 1, (count, 1, 3)) + rng.uniform(-1, 1, (count, 3, 3)) * rng.uniform(
        0.01, 1, (count, 1, 1)
    )
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


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


def test_numbers_are_taken_however_they_lie_and_arrays_tell_the_precision():
    rng = np.random.default_rng(7)
    vertices, triangles = soup(rng, 60)
    points = rng.uniform(-1, 1, (50, 3))
    expected = Mesh(vertices, triangles).crossings(points, DOWN)
    wide = np.zeros((180, 7))
    wide[:, 5:2:-1] = vertices
    reverse = np.asfortranarray(triangles[::-1])[::-1]
    for form in (wide[:, 5:2:-1], vertices.tolist(), memoryview(vertices)):
        for numbers in (reverse, triangles.tolist(), triangles.astype("u2"), triangles.astype(">i4")):
            found = Mesh(form, numbers).crossings(points[::-1][::-1], list(DOWN))
            assert all((a == b).all() for a, b in zip(found, expected, strict=True))
    mesh = Mesh(vertices, triangles)
    single, ways = points.astype("f4"), np.array(DOWN, "f4")
    assert mesh.crossings(single, ways).distance.dtype == mesh.crossings(single, DOWN).distance.dtype == np.float32
    assert mesh.cast(single, np.array(DOWN)).point.dtype == np.float64
    assert mesh.nearest([0.0, 0.0, 0.0]).point.dtype == np.float64


@pytest.mark.parametrize("code", "bBhHiIlLqQ")
def test_triangles_may_be_integers_of_any_size(code):
    assert len(Mesh(SQUARE, np.array(HALVES, code)).crossings([0.6, 0.5, 1.0], DOWN).row) == 1
    assert len(Mesh(SQUARE, memoryview(array(code, HALVES.ravel().tolist())).cast("B").cast(code, (2, 3)))) == 2


def test_results_go_where_out_tells():
    mesh, points = Mesh(SQUARE, HALVES), np.full((2, 3), 0.3)
    out = np.empty((2, 3)), np.empty((2, 3)), np.empty(2, np.int64)
    hits = mesh.cast(points, DOWN, out=out)
    assert hits.point is out[0] and isinstance(hits, ik2bone.Hits)
    assert mesh.nearest(points, out=hits) is hits
    with pytest.raises(TypeError, match="out triangle: expected a buffer of int64"):
        mesh.nearest(points, out=(*out[:2], np.empty(2, np.int32)))
    with pytest.raises(ValueError, match="overlap|shares"):
        mesh.nearest(points, out=(out[0], out[0], out[2]))


@pytest.mark.parametrize(
    ("vertices", "triangles", "error", "told"),
    [
        (None, HALVES, TypeError, "vertices: expected an array .*, got NoneType"),
        ("text", HALVES, TypeError, "vertices: expected an array .*, got str"),
        (SQUARE[:, :2], HALVES, ValueError, r"vertices: expected .*, got shape \(4, 2\)"),
        (SQUARE[None], HALVES, ValueError, r"vertices: expected an array of shape \(V, 3\), got shape \(1, 4, 3\)"),
        (SQUARE[0], HALVES, ValueError, r"vertices: expected an array of shape \(V, 3\), got shape \(3,\)"),
        (SQUARE * [1, 1, np.nan], HALVES, ValueError, r"vertices\[0\]: expected finite coordinates, got NaN"),
        (SQUARE, None, TypeError, "triangles: expected an array of integers .*, got NoneType"),
        (SQUARE, "text", TypeError, "triangles: expected an array of integers .*, got str"),
        (SQUARE, 5, TypeError, "triangles: expected an array of integers .*, got int"),
        (SQUARE, HALVES * 1.0, TypeError, "triangles: expected an array of integers .*, got ndarray of float64"),
        (SQUARE, HALVES > 0, TypeError, "triangles: expected an array of integers .*, got ndarray of bool"),
        (SQUARE, [[0, 1], [2, 3]], ValueError, r"triangles: expected .*, got shape \(2, 2\)"),
        (SQUARE, [[0, 1, 2], [3]], ValueError, "triangles: expected .*, got a ragged sequence"),
        (SQUARE, [0, 1, 2], ValueError, r"triangles: expected .*, got shape \(3,\)"),
        (SQUARE, [[0, 1, 4]], ValueError, r"triangles\[0, 2\]: expected the index of one of 4 vertices, got 4"),
        (SQUARE, [[0, 1, 2], [-1, 0, 1]], ValueError, r"triangles\[1, 0\]: expected the index .*, got -1"),
        (SQUARE, np.array([[0, 1, 2**63]], "u8"), ValueError, r"triangles\[0, 2\]: expected the index"),
    ],
)
def test_what_is_no_mesh_is_told_by_name(vertices, triangles, error, told):
    with pytest.raises(error, match=told):
        Mesh(vertices, triangles)


def test_what_cannot_be_asked_is_told_by_name():
    mesh = Mesh(SQUARE, HALVES)
    with pytest.raises(ValueError, match=r"points: expected an array of shape \(\.\.\., 3\), got shape \(4,\)"):
        mesh.crossings(np.zeros(4), DOWN)
    with pytest.raises(TypeError, match="direction: expected an array .*, got NoneType"):
        mesh.crossings(SQUARE, None)
    with pytest.raises(ValueError, match="directions: expected leading dimensions that broadcast"):
        mesh.cast(SQUARE, np.zeros((3, 3)))
    with pytest.raises(TypeError, match=r"nearest\(\) missing .* argument: 'points'"):
        mesh.nearest()
    with pytest.raises(TypeError, match="Mesh"):
        Mesh(SQUARE)
    with pytest.raises(AttributeError):
        mesh.bounds = None
    with pytest.raises(ValueError, match="read-only"):
        mesh.normals[0] = 0.0


def test_changing_the_arrays_afterwards_changes_no_mesh():
    vertices, triangles = SQUARE.copy(), HALVES.copy()
    mesh = Mesh(vertices, triangles)
    vertices[:], triangles[:] = 9.0, 0
    assert mesh.cast([0.6, 0.5, 1.0], DOWN).triangle == 0


@pytest.mark.parametrize("again", [copy, deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh))])
@pytest.mark.parametrize("parts", [(SQUARE, HALVES), (SQUARE.tolist(), HALVES.astype("u1")), ([], [])])
def test_meshes_are_copied_and_pickled(parts, again):
    mesh = Mesh(*parts)
    other = again(mesh)
    points = np.random.default_rng(1).uniform(-1.0, 2.0, (50, 3))
    for one, same in zip((*mesh.nearest(points), mesh.bounds), (*other.nearest(points), other.bounds), strict=True):
        np.testing.assert_array_equal(one, same)
    assert len(other) == len(mesh) and (other.normals == mesh.normals).all()


def test_threads_ask_and_build_at_once():
    rng = np.random.default_rng(8)
    vertices, triangles = soup(rng, 2000)
    mesh, points = Mesh(vertices, triangles), rng.uniform(-1, 1, (3000, 3))
    expected = mesh.crossings(points, DOWN), mesh.nearest(points)

    def work(_):
        own = Mesh(vertices, triangles)
        found = mesh.crossings(points, DOWN), own.nearest(points)
        return all((a == b).all() for f, e in zip(found, expected, strict=True) for a, b in zip(f, e, strict=True))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(12)))


def test_threads_that_ask_for_normals_at_once_share_them():
    vertices, triangles = soup(np.random.default_rng(8), 2000)
    meshes, together = [Mesh(vertices, triangles) for _ in range(50)], Barrier(8)

    def ask(_):
        return [together.wait() < 8 and id(mesh.normals) for mesh in meshes]

    with ThreadPoolExecutor(8) as pool:
        assert len(set(map(tuple, pool.map(ask, range(8))))) == 1


def use_and_fail():
    mesh = Mesh(SQUARE.tolist(), HALVES)
    mesh.crossings(SQUARE, DOWN)
    mesh.cast(SQUARE, DOWN)
    assert mesh.nearest(SQUARE).point.any() and mesh.normals.any() and mesh.bounds.any()
    for bad in (
        lambda: Mesh(SQUARE, HALVES + 9),
        lambda: Mesh(SQUARE * np.inf, HALVES),
        lambda: mesh.crossings(SQUARE, None),
        lambda: mesh.cast(SQUARE, DOWN, out=(1, 2, 3)),
    ):
        with np.errstate(all="ignore"), pytest.raises((TypeError, ValueError)):
            bad()


def test_nothing_is_kept_whether_it_works_or_fails():
    def grown():
        blocks = sys.getallocatedblocks()
        for _ in range(100):
            use_and_fail()
        gc.collect()
        return sys.getallocatedblocks() - blocks

    assert any(grown() < 50 for _ in range(20))  # caches fill at first
    counted = SQUARE, HALVES, Mesh, ik2bone.Hits, ik2bone.Crossings
    before = [sys.getrefcount(each) for each in counted]
    grown()
    assert [sys.getrefcount(each) for each in counted] == before


def test_a_mesh_keeps_no_more_memory_than_its_triangles_need():
    resource = pytest.importorskip("resource")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the address sanitizer keeps freed memory aside")
    vertices, triangles = soup(np.random.default_rng(9), 20000)
    Mesh(vertices, triangles)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        Mesh(vertices, triangles).crossings(vertices[:100], DOWN)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB; fifty of them would be 200,000
