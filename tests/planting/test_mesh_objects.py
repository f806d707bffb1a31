# SPDX-License-Identifier: MIT
"""Meshes as objects: what they take, copies of them, threads, memory."""

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
from triangles import DOWN, HALVES, SQUARE, soup


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
        (
            SQUARE,
            np.array([[0, 1, 2**63]], "u8"),
            ValueError,
            r"triangles\[0, 2\]: expected .*, got 9223372036854775807",
        ),
        (SQUARE, np.empty((0, 4), int), ValueError, r"triangles: expected .* \(T, 3\), got shape \(0, 4\)"),
        (np.empty((0, 2)), [], ValueError, r"vertices: expected .* \(V, 3\), got shape \(0, 2\)"),
    ],
)
def test_what_is_no_mesh_is_told_by_name(vertices, triangles, error, told):
    with pytest.raises(error, match=told) as told_once:
        Mesh(vertices, triangles)
    assert told_once.value.__context__ is None or told_once.value.__suppress_context__


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
