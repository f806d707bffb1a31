# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of several surfaces over and under a point is the level that a foot would stand on; the leg is 1."""

from __future__ import annotations

import numpy as np
import pytest
from biped import make_mesh

DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture
def level(bpy, ground_of):
    """The height of the level that a foot finds from a height, at the origin by default."""

    def find(height, at=(0.0, 0.0)):
        meshes = [ob for ob in bpy.context.view_layer.objects if ob.type == "MESH"]
        ground = ground_of(*meshes)
        hits, _normals, found = ground(np.array([[*at, height]]), DOWN)
        assert found.all()
        return float(hits[0, 2])

    return find


def sheet(bpy, name, height, size=4.0, rise=0.0):
    corners = [(-size, -size), (size, -size), (size, size), (-size, size)]
    return make_mesh(bpy, name, [(x, y, height + rise * x) for x, y in corners], [(0, 1, 2, 3)])


def box(bpy, name, bottom, top, size=0.5, *, closed=True, outward=True):
    """A box round the z axis; open ones have no bottom."""
    corners = [
        (x, y, z) for z in (bottom, top) for x, y in ((-size, -size), (size, -size), (size, size), (-size, size))
    ]
    faces = [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (4, 5, 6, 7)] + [(3, 2, 1, 0)] * closed
    return make_mesh(bpy, name, corners, faces if outward else [face[::-1] for face in faces])


@pytest.mark.parametrize("closed", [True, False])
def test_the_top_of_a_crate_counts_and_not_the_floor_inside_it(bpy, level, closed):
    sheet(bpy, "Floor", 0.0)
    box(bpy, "Crate", 0.0, 0.5, closed=closed)
    assert level(0.0) == pytest.approx(0.5, abs=1e-5)
    assert level(0.0, at=(1.0, 0.0)) == pytest.approx(0.0, abs=1e-5)


def test_nobody_climbs_a_wall_that_stands_in_the_way(bpy, level):
    sheet(bpy, "Floor", 0.0)
    box(bpy, "Wall", 0.0, 3.0, size=0.1)
    assert level(0.0) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(("seat", "expected"), [(0.18, 0.18), (0.5, 0.0), (0.8, 0.0)])
def test_an_open_tread_is_climbed_and_a_bench_is_passed_under(bpy, level, seat, expected):
    sheet(bpy, "Floor", 0.0)
    box(bpy, "Seat", seat - 0.05, seat)
    assert level(0.0) == pytest.approx(expected, abs=1e-5)


def test_treads_without_risers_are_climbed_one_by_one(bpy, level):
    sheet(bpy, "Floor", 0.0)
    box(bpy, "First", 0.14, 0.18)
    second = box(bpy, "Second", 0.32, 0.36)
    second.location.x = 1.0
    bpy.context.view_layer.update()
    assert level(0.0) == pytest.approx(0.18, abs=1e-5)
    assert level(0.18, at=(1.0, 0.0)) == pytest.approx(0.36, abs=1e-5)
    assert level(0.36, at=(0.0, 0.0)) == pytest.approx(0.18, abs=1e-5)


def test_a_ramp_over_a_floor_is_climbed_from_its_foot(bpy, level):
    sheet(bpy, "Floor", 0.0)
    sheet(bpy, "Ramp", 0.0, rise=0.4)
    height = 0.0
    for x in (0.2, 0.8, 1.4, 2.0, 2.6):
        height = level(height, at=(x, 0.0))
        assert height == pytest.approx(0.4 * x, abs=1e-5)


def test_a_road_that_lies_on_the_floor_counts(bpy, level):
    sheet(bpy, "Floor", 0.0)
    sheet(bpy, "Road", 0.004, size=1.0)
    assert level(0.0) == pytest.approx(0.004, abs=1e-5)


@pytest.mark.parametrize("deck", ["sheet", "slab"])
def test_under_a_bridge_the_floor_counts_and_on_it_the_deck(bpy, level, deck):
    sheet(bpy, "Floor", 0.0)
    if deck == "sheet":
        sheet(bpy, "Bridge", 2.2, size=1.0)
    else:
        box(bpy, "Bridge", 2.0, 2.2)
    for asked, expected in ((0.0, 0.0), (0.6, 0.0), (2.0, 2.2), (2.5, 2.2)):
        assert level(asked) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("outward", [True, False])
def test_a_room_has_its_floor_whichever_way_its_faces_look(bpy, level, outward):
    box(bpy, "Room", 0.0, 2.7, size=3.0, outward=outward)
    assert level(0.1) == pytest.approx(0.0, abs=1e-5)


def test_a_solid_hill_has_its_top_and_not_its_bottom(bpy, level):
    box(bpy, "Hill", -0.2, 1.2, size=3.0)
    assert level(0.0) == pytest.approx(1.2, abs=1e-5)
