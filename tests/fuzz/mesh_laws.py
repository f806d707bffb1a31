# SPDX-License-Identifier: MIT
"""Random meshes, many of them with shared, flat and doubled triangles, and the laws for every result of `Mesh`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from ik2bone import Mesh

from tests.fuzz.layouts import place
from tests.fuzz.vectors import Array, same_bits

Generator = np.random.Generator
TRIANGLES, ROWS = 200, 100
Law = tuple[str, Array]  # the name of a law, and the rows that break it
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def random_mesh(rng: Generator, family: str) -> tuple[Array, Array]:
    """The vertices, around a box of size 2, and the triangles of a random mesh."""
    count = int(rng.integers(1, TRIANGLES))
    if family == "tetrahedra":
        corners = rng.uniform(-1, 1, (count, 1, 3)) + rng.uniform(-0.5, 0.5, (count, 4, 3))
        return corners.reshape(-1, 3), (FACES + 4 * np.arange(count)[:, None, None]).reshape(-1, 3)
    vertices = rng.uniform(-1, 1, (int(rng.integers(3, count + 4)), 3))
    if family == "lattice":  # corners, edges and planes that coincide exactly
        vertices = np.round(2 * vertices) / 2
    return vertices, rng.integers(0, len(vertices), (count, 3))


def random_lines(rng: Generator, family: str, vertices: Array, triangles: Array) -> tuple[Array, Array]:
    points, ways = rng.uniform(-2, 2, (ROWS, 3)), rng.standard_normal((ROWS, 3))
    if family == "lattice":
        points, ways = np.round(2 * points) / 2, np.round(ways)
    elif family == "soup":  # some lines aim at corners and edges
        chosen = vertices[triangles[rng.integers(0, len(triangles), ROWS)]]
        share = rng.choice([0.0, 0.5, rng.random()], (ROWS, 1))
        aims = share * chosen[:, 0] + (1 - share) * chosen[:, 1]
        ways = np.where(rng.random((ROWS, 1)) < 0.5, aims - points, ways)
    return points, ways


def unlike(first: tuple[Array, ...], other: tuple[Array, ...]) -> Array:
    """An array of one truth value: whether the two results differ in any bit."""
    same = all(a.shape == b.shape and same_bits(a[None], b[None]).all() for a, b in zip(first, other, strict=True))
    return np.array([not same])


def laws_of_mesh(rng: Generator) -> Iterator[Law]:
    """The laws for a random mesh, each with the rows that break it."""
    family = str(rng.choice(["soup", "lattice", "tetrahedra"]))
    vertices, triangles = random_mesh(rng, family)
    points, ways = random_lines(rng, family, vertices, triangles)
    mesh = Mesh(vertices, triangles)
    row, distance, triangle = found = mesh.crossings(points, ways)
    number = np.bincount(row, minlength=ROWS)
    yield "crossings are sorted", (np.diff(row) < 0) | ((np.diff(row) == 0) & (np.diff(distance) < 0))
    yield "triangles without area are not met", ~mesh.normals[triangle].any(axis=1)
    if family == "tetrahedra":
        yield "what is closed is left as often as entered", number % 2 != 0
    back = mesh.crossings(points, -ways)
    yield "the way back is the same", np.array([not np.array_equal(np.sort(-back.distance), np.sort(distance))])
    yield from laws_of_places(mesh, vertices[triangles], points, ways)
    scale = 2.0 ** int(rng.integers(-50, 50))
    large = Mesh(vertices * scale, triangles).crossings(points * scale, ways)
    yield "scale changes no bit", unlike((row, distance * scale, triangle), large)
    turned, order = np.roll(triangles, 1, axis=1), rng.permutation(len(triangles))
    for other in (turned, triangles[order], triangles[:, ::-1]):
        again = Mesh(vertices, other).crossings(points, ways)
        yield "the order of triangles and corners decides nothing", np.bincount(again.row, minlength=ROWS) != number
    given = {name: place(rng, numbers).given for name, numbers in (("points", points), ("direction", ways))}
    yield "layout changes no bit", unlike(found, mesh.crossings(**given))
    one = int(rng.integers(ROWS))
    alone = mesh.crossings(points[one], ways[one])
    yield "a row alone has the same bits", unlike((distance[row == one], triangle[row == one]), alone[1:])


def laws_of_places(mesh: Mesh, corners: Array, points: Array, ways: Array) -> Iterator[Law]:
    """The laws of `cast` and `nearest`: no place on the mesh lies before or nearer than the one found."""
    row, distance, _ = mesh.crossings(points, ways)
    ahead = distance >= 0
    first = np.full(len(points), np.inf)
    np.minimum.at(first, row[ahead], distance[ahead])
    length = np.linalg.norm(ways, axis=1)
    cast, nearest = mesh.cast(points, ways), mesh.nearest(points)
    met = cast.triangle >= 0
    yield "a ray meets what its line meets ahead", met != np.isfinite(first)
    along = np.sum((cast.point - points) * ways, axis=1)[met] / length[met]
    yield "a ray meets the first place", ~(np.abs(along - first[met]) <= 1e-12 * (1 + first[met]))
    has_area = mesh.normals.any(axis=1)
    off = np.linalg.norm(nearest.point - points, axis=1)
    yield "there is a nearest point wherever there is area", (nearest.triangle >= 0) != has_area.any()
    for candidates in (corners[has_area], corners[has_area].mean(axis=1, keepdims=True)):
        each = np.linalg.norm(candidates.reshape(1, -1, 3) - points[:, None], axis=2)
        yield "nothing is nearer than the nearest", off > each.min(axis=1, initial=np.inf) * (1 + 1e-12)
    yield "what a ray meets is not nearer", off[met] > np.linalg.norm(cast.point - points, axis=1)[met] + 1e-12
