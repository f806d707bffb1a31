# SPDX-License-Identifier: GPL-3.0-or-later
"""Which meshes count as ground, and where lines meet them."""

from __future__ import annotations

import time

import biped
import numpy as np
import pytest
from biped import make_mesh

DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture
def surfaces(addon):
    return addon("ground.choose")


@pytest.fixture
def armature(bpy):
    return _armature(bpy, "Walker")


def _armature(bpy, name):
    return biped.make_bones(bpy, name, [("bone", None, (0, 0, 0), (0, 0, 1))])


def _plane(bpy, name="Plane", height=0.0, size=1.0, looks_up=True):
    corners = [(-size, -size, height), (size, -size, height), (size, size, height), (-size, size, height)]
    return make_mesh(bpy, name, corners, [(0, 1, 2, 3) if looks_up else (3, 2, 1, 0)])


def _find(bpy, surfaces, armature, name):
    """The surfaces of a view layer that is up to date, as a run brings it."""
    bpy.context.view_layer.update()
    return surfaces.find_surfaces(bpy.context, armature, name)


def _names(found):
    return sorted(ob.name for ob in found)


def test_every_visible_mesh_is_ground_unless_it_is_part_of_a_character(bpy, surfaces, armature):
    for name in ("Hill", "Road", "Hidden", "Wire", "Bounds", "Body", "Skin", "Hat", "Hair", "Shape", "Icosphere"):
        _plane(bpy, name)
    objects, shapes = bpy.data.objects, bpy.data.collections.new("glTF_not_exported.001")
    bpy.context.scene.collection.children.link(shapes)
    shapes.objects.link(objects["Icosphere"])
    bpy.context.view_layer.update()
    objects["Hidden"].hide_set(True)
    objects["Wire"].display_type, objects["Bounds"].display_type = "WIRE", "BOUNDS"
    objects["Body"].modifiers.new("Armature", "ARMATURE").object = armature
    objects["Skin"].parent, objects["Skin"].parent_type = armature, "ARMATURE"
    objects["Hat"].parent, objects["Hat"].parent_bone, objects["Hat"].parent_type = armature, "bone", "BONE"
    objects["Hair"].parent = objects["Body"]
    armature.pose.bones[0].custom_shape = objects["Shape"]
    assert _names(_find(bpy, surfaces, armature, "")) == ["Hill", "Road"]


@pytest.mark.parametrize("beside", [False, True])
def test_a_named_surface_that_strips_of_the_nla_hide_on_some_frames_is_ground(bpy, surfaces, armature, beside):
    hill = _plane(bpy, "Hill")
    for frame, hidden in ((1, False), (10, True)):
        hill.hide_viewport = hidden
        hill.keyframe_insert("hide_viewport", frame=frame)
    data = hill.animation_data
    for name in ("first", "second"):
        data.nla_tracks.new().strips.new(name, 1, data.action)
    data.action = None
    if beside:
        hill.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(10)
    assert hill.hide_viewport and _names(_find(bpy, surfaces, armature, "Hill")) == ["Hill"]


@pytest.mark.parametrize("name", ["", "Ground"])
def test_the_time_to_choose_is_in_proportion_to_the_number_of_objects(bpy, surfaces, armature, name):
    few, many = (_time_to_find(bpy, surfaces, armature, name, count) for count in (300, 3000))
    assert many < 30 * few


def test_objects_that_are_enabled_are_found_once_for_many_names(bpy, surfaces, armature):
    whole = _time_to_find(bpy, surfaces, armature, "Ground", 3000)
    names = ",".join(bpy.data.collections["Ground"].objects.keys())
    assert _time_to_find(bpy, surfaces, armature, names, 3000) < 60 * whole


def _time_to_find(bpy, surfaces, armature, name, count):
    """The shortest processor time to find `count` objects in the collection Ground, which is filled with them."""
    ground = bpy.data.collections.get("Ground") or bpy.data.collections.new("Ground")
    if ground.name not in bpy.context.scene.collection.children:
        bpy.context.scene.collection.children.link(ground)
    mesh = ground.objects[0].data if ground.objects else biped.make_slope(bpy).data
    while len(ground.objects) < count:
        ground.objects.link(bpy.data.objects.new("Stone", mesh))
    bpy.context.view_layer.update()
    spent = []
    for _ in range(5):
        began = time.process_time()
        assert len(surfaces.find_surfaces(bpy.context, armature, name)) >= count
        spent.append(time.process_time() - began)
    return min(spent)


def test_what_follows_the_armature_in_any_way_is_ground_only_by_its_own_name(bpy, surfaces, armature):
    raft, mast = _plane(bpy, "Raft"), _plane(bpy, "Mast")
    raft.parent, mast.parent = armature, raft
    assert _find(bpy, surfaces, armature, "") == []
    level = bpy.data.collections.new("Level")
    bpy.context.scene.collection.children.link(level)
    level.objects.link(raft)
    with pytest.raises(surfaces.Refusal, match="holds no mesh"):
        _find(bpy, surfaces, armature, "Level")
    assert _names(_find(bpy, surfaces, armature, "Raft")) == ["Raft"]


def test_what_carries_the_armature_is_ground(bpy, surfaces, armature):
    armature.parent = _plane(bpy, "Deck")
    assert _names(_find(bpy, surfaces, armature, "")) == ["Deck"]


def test_several_names_mean_all_of_their_surfaces(bpy, surfaces, armature):
    for name in ("Hill", "Road", "Other"):
        _plane(bpy, name)
    assert _names(_find(bpy, surfaces, armature, "Hill, Road")) == ["Hill", "Road"]
    with pytest.raises(surfaces.Refusal, match="named 'Nowhere'"):
        _find(bpy, surfaces, armature, "Hill, Nowhere")


@pytest.mark.parametrize("name", ["Road ", " Road", "Road, north", "Hill, Road"])
def test_surfaces_whose_names_have_spaces_and_commas_are_named_in_lists(bpy, surfaces, armature, name):
    for one in ("Hill", name):
        _plane(bpy, one)
    assert _names(_find(bpy, surfaces, armature, name)) == [name]
    assert _names(_find(bpy, surfaces, armature, f"Hill, {name}")) == sorted(["Hill", name])
    assert _names(_find(bpy, surfaces, armature, f"{name},Hill")) == sorted(["Hill", name])


def _instancer(bpy, name, content, location):
    empty = bpy.data.objects.new(name, None)
    empty.instance_type, empty.instance_collection, empty.location = "COLLECTION", content, location
    bpy.context.collection.objects.link(empty)
    return empty


def _content(bpy, *objects):
    content = bpy.data.collections.new("Content")
    for ob in objects:
        bpy.context.collection.objects.unlink(ob)
        content.objects.link(ob)
    return content


def test_the_meshes_of_a_shown_collection_are_ground_where_they_show(bpy, surfaces, armature, ground_of):
    content = _content(bpy, _plane(bpy, "Deck", height=1.0), _plane(bpy, "Steps", height=2.0))
    one, other = _instancer(bpy, "One", content, (5.0, 0.0, 0.0)), _instancer(bpy, "Other", content, (0.0, 0.0, 10.0))
    found = _find(bpy, surfaces, armature, "")
    assert _names(found) == ["One", "Other"] and _find(bpy, surfaces, armature, "One") == [one]
    ground = ground_of(one, other)
    hits, _normals, met = ground(np.array([[5.0, 0.0, 0.9], [5.0, 0.0, 2.1], [0.0, 0.0, 0.0]]), DOWN)
    assert met.all() and ground.names == ["One", "Other"]
    np.testing.assert_allclose(hits[:, 2], [1.0, 2.0, 11.0], atol=1e-5)


def test_meshes_without_faces_and_flat_ones_in_a_shown_collection_are_passed_over(bpy, surfaces, ground_of):
    points, flat = bpy.data.objects.new("Points", bpy.data.meshes.new("Points")), _plane(bpy, "Flat")
    bpy.context.collection.objects.link(points)
    flat.scale = (1.0, 0.0, 0.0)
    ground = ground_of(_instancer(bpy, "One", _content(bpy, points, flat, _plane(bpy, "Deck")), (0.0, 0.0, 0.0)))
    assert ground.names == ["One"] and len(ground.surfaces) == 1 and not ground.told


def test_a_shown_collection_of_a_character_is_no_ground(bpy, surfaces, armature):
    body = _plane(bpy, "Body")
    body.modifiers.new("Armature", "ARMATURE").object = armature
    _instancer(bpy, "Crowd", _content(bpy, body), (0.0, 0.0, 0.0))
    assert _find(bpy, surfaces, armature, "") == []
    with pytest.raises(surfaces.Refusal, match="collection without meshes"):
        _find(bpy, surfaces, armature, "Crowd")


def test_what_is_scattered_on_a_mesh_is_told_and_no_ground(bpy, ground_of):
    hill, leaf = _plane(bpy, "Hill"), _plane(bpy, "Leaf", height=0.3, size=0.1)
    leaf.parent, hill.instance_type = hill, "VERTS"
    ground = ground_of(hill)
    assert any("scattered on Hill" in sentence for sentence in ground.told)
    hits, _normals, _found = ground(np.array([[0.95, 0.95, 0.3]]), DOWN)
    assert hits[0, 2] == pytest.approx(0.0)


def test_without_any_ground_nothing_is_found(bpy, surfaces, armature):
    assert _find(bpy, surfaces, armature, "") == []


def test_a_name_means_the_object_before_the_collection(bpy, surfaces, armature):
    _plane(bpy, "Both")
    collection = bpy.data.collections.new("Both")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(_plane(bpy, "Inside"))
    assert _names(_find(bpy, surfaces, armature, "Both")) == ["Both"]
    bpy.data.objects["Both"].name = "Other"
    assert _names(_find(bpy, surfaces, armature, "Both")) == ["Inside"]


def test_a_named_mesh_counts_even_when_it_is_hidden(bpy, surfaces, armature, ground_of):
    proxy = _plane(bpy, "Proxy", height=2.0)
    bpy.context.view_layer.update()
    proxy.hide_set(True)
    found = _find(bpy, surfaces, armature, "Proxy")
    hits, _normals, _found = ground_of(*found)(np.zeros((1, 3)), DOWN)
    assert hits[0, 2] == pytest.approx(2.0)


def test_a_named_collection_means_all_its_meshes_that_have_a_shape(bpy, surfaces, armature):
    collection = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(collection)
    for name in ("Hill", "Wire", "Disabled"):
        collection.objects.link(_plane(bpy, name))
    bpy.data.objects["Wire"].display_type = "WIRE"
    bpy.data.objects["Disabled"].hide_viewport = True
    assert _names(_find(bpy, surfaces, armature, "Ground")) == ["Hill", "Wire"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Nowhere", "no object and no collection named 'Nowhere'"),
        (" , ", "separated by commas, but it is ' , '"),
        ("Walker", "should be a mesh, but it is of type ARMATURE"),
        ("Body", "belongs to the character"),
        ("Empty", "holds no mesh"),
    ],
)
def test_a_name_that_is_no_surface_is_refused(bpy, surfaces, armature, name, sentence):
    _plane(bpy, "Body").modifiers.new("Armature", "ARMATURE").object = armature
    bpy.data.collections.new("Empty")
    with pytest.raises(surfaces.Refusal, match=sentence):
        _find(bpy, surfaces, armature, name)


def test_the_ground_of_a_moved_turned_and_stretched_object_is_in_world_space(bpy, ground_of):
    plane = _plane(bpy)
    plane.location, plane.rotation_euler, plane.scale = (3.0, -2.0, 5.0), (0.4, 0.2, 1.0), (4.0, 2.0, -0.5)
    bpy.context.view_layer.update()
    rotation = np.array(plane.rotation_euler.to_matrix())
    points = np.array([[3.0, -2.0, 9.0], [3.5, -1.5, 1.0]])
    hits, normals, found = ground_of(plane)(points, DOWN)
    assert found.all()
    np.testing.assert_array_equal(hits[:, :2], points[:, :2])
    np.testing.assert_allclose((hits - np.array(plane.location)) @ rotation[:, 2], 0.0, atol=1e-6)
    np.testing.assert_allclose(normals, np.tile(rotation[:, 2], (2, 1)), atol=1e-6)


def test_the_nearest_crossing_counts_above_as_well_as_below(bpy, ground_of):
    ground = ground_of(_plane(bpy, "Low", height=0.0), _plane(bpy, "High", height=3.0))
    points = np.array([[0.1, 0.2, 1.0], [0.1, 0.2, 2.0], [0.1, 0.2, -7.0], [0.1, 0.2, 9.0]])
    hits, _normals, found = ground(points, DOWN)
    assert found.all()
    np.testing.assert_allclose(hits[:, 2], [0.0, 3.0, 0.0, 3.0], atol=1e-6)


def test_the_top_of_a_slab_is_preferred_to_its_nearer_underside(bpy, ground_of):
    slab = _plane(bpy, "Top", height=1.0), _plane(bpy, "Underside", height=0.0, looks_up=False)
    hits, _normals, found = ground_of(*slab)(np.array([[0.0, 0.0, 0.1], [0.0, 0.0, -0.5]]), DOWN)
    assert found.all()
    np.testing.assert_allclose(hits[:, 2], 1.0, atol=1e-6)


def test_a_single_sheet_that_looks_down_is_still_ground_with_its_normal_turned_up(bpy, ground_of):
    hits, normals, found = ground_of(_plane(bpy, height=0.5, looks_up=False))(np.zeros((1, 3)), DOWN)
    assert found.all()
    assert hits[0, 2] == pytest.approx(0.5)
    np.testing.assert_allclose(normals[0], -DOWN, atol=1e-6)


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_a_point_that_lies_on_the_surface_finds_it(bpy, ground_of, turn):
    plane = _plane(bpy, size=100.0)
    plane.rotation_euler, plane.location = (turn, turn, turn), (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    local = np.random.default_rng(1).uniform(-90.0, 90.0, (500, 3)) * [1.0, 1.0, 0.0]
    matrix = np.array(plane.matrix_world)
    points = local @ matrix[:3, :3].T + matrix[:3, 3]
    hits, _normals, found = ground_of(plane)(points, DOWN)
    assert found.all()
    np.testing.assert_allclose(hits, points, atol=1e-4)


def test_a_line_beside_the_surface_finds_nothing_and_keeps_its_point(bpy, ground_of):
    hits, normals, found = ground_of(_plane(bpy))(np.array([[5.0, 0.0, 1.0]]), DOWN)
    assert not found.any()
    np.testing.assert_array_equal(hits, [[5.0, 0.0, 1.0]])
    np.testing.assert_array_equal(normals, [-DOWN])


def test_the_evaluated_mesh_counts_not_the_base_mesh(bpy, ground_of):
    plane = _plane(bpy)
    lift = plane.modifiers.new("Displace", "DISPLACE")
    lift.strength, lift.mid_level = 0.75, 0.0
    hits, _normals, _found = ground_of(plane)(np.zeros((1, 3)), DOWN)
    assert hits[0, 2] == pytest.approx(0.75)


def test_parts_that_a_modifier_adds_are_ground(bpy, ground_of):
    plane = _plane(bpy)
    plane.modifiers.new("Array", "ARRAY").count = 4
    hits, _normals, found = ground_of(plane)(np.array([[6.5, 0.1, 1.0], [8.5, 0.1, 1.0]]), DOWN)
    assert found.tolist() == [True, False]
    assert hits[0, 2] == pytest.approx(0.0)


def test_a_line_may_run_in_any_direction(bpy, ground_of):
    wall = _plane(bpy)
    wall.rotation_euler = (0.0, np.pi / 2, 0.0)
    bpy.context.view_layer.update()
    hits, _normals, found = ground_of(wall)(np.array([[2.0, 0.3, 0.4]]), np.array([-1.0, 0.0, 0.0]))
    assert found.all()
    np.testing.assert_allclose(hits[0], [0.0, 0.3, 0.4], atol=1e-6)


def test_supports_are_the_nearest_surfaces(bpy, ground_of):
    ground = ground_of(_plane(bpy, "Low", height=0.0), _plane(bpy, "High", height=3.0))
    assert [ground.support(np.array([0.0, 0.0, z]), 0).name for z in (0.4, 2.9)] == ["Low", "High"]


def test_a_mesh_without_faces_is_no_surface(bpy, ground_of):
    ground = ground_of(make_mesh(bpy, "Points", [(0, 0, 0)], []))
    _hits, _normals, found = ground(np.zeros((2, 3)), DOWN)
    assert ground.names == [] and not found.any() and ground.support(np.zeros(3), 0).name == ""


def test_a_mesh_answers_as_blenders_own_tree(bpy):
    """Where both are clear about it: the tree works in single precision, and widens its triangles a little."""
    from ik2bone import Mesh
    from mathutils.bvhtree import BVHTree

    rng = np.random.default_rng(0)
    vertices = (rng.uniform(-1, 1, (200, 1, 3)) + 0.3 * rng.standard_normal((200, 3, 3))).reshape(-1, 3).astype("f4")
    triangles = np.arange(600).reshape(-1, 3)
    tree, mesh = BVHTree.FromPolygons(vertices.tolist(), triangles.tolist()), Mesh(vertices, triangles)
    points, ways = rng.uniform(-2, 2, (500, 3)), rng.standard_normal((500, 3))
    cast, nearest = mesh.cast(points, ways), mesh.nearest(points)
    theirs = [tree.ray_cast(point, way) for point, way in zip(points.tolist(), ways.tolist(), strict=True)]
    same = np.array([(-1 if row[2] is None else row[2]) == own for row, own in zip(theirs, cast.triangle, strict=True)])
    assert same.mean() > 0.99 and (cast.triangle >= 0).mean() > 0.2
    for k in np.flatnonzero(same & (cast.triangle >= 0)):
        np.testing.assert_allclose(cast.point[k], theirs[k][0], atol=2e-5)
        np.testing.assert_allclose(cast.normal[k], theirs[k][1], atol=2e-5)
    for k, point in enumerate(points.tolist()):
        assert np.linalg.norm(nearest.point[k] - points[k]) == pytest.approx(tree.find_nearest(point)[3], abs=2e-5)


def test_vertices_that_are_no_numbers_are_left_out(bpy, ground_of):
    plane = make_mesh(
        bpy, "Broken", [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, float("nan"))], [(0, 1, 2), (0, 2, 3)]
    )
    _, _, found = ground_of(plane)(np.array([[0.5, 0.0, 1.0], [-0.5, 0.0, 1.0]]), DOWN)
    assert found.tolist() == [True, False]


def test_a_surface_whose_transform_is_no_number_is_left_out_and_told(bpy, ground_of):
    lost, floor = _plane(bpy, "Lost"), _plane(bpy, "Floor")
    lost.location.x = float("nan")
    ground = ground_of(lost, floor)
    assert ground.names == ["Floor"]
    assert ground.told == ("the transform of Lost holds infinity or NaN, so it was left out",)


def test_meshes_of_the_same_vertices_and_corners_but_other_faces_are_told_apart(bpy, addon):
    vertices = [(0, 0, 0), (2, 0, 0), (2, 1, 2), (1, 2, 2), (0, 2, 0), (-1, 1, -1), (-1, 0, 0)]
    faces = [(0, 1, 2), (3, 4, 5, 6)], [(0, 1, 2, 3), (4, 5, 6)], [(0, 1, 2), (3, 4, 5, 6)]
    meshes = [make_mesh(bpy, "Mesh", vertices, of_mesh).data for of_mesh in faces]
    first, other, same = (addon("ground.meshes")._read(mesh, np.eye(4))[0] for mesh in meshes)
    assert first == same != other


FACES = {
    "quads": ([(0, 1, 2, 3)], 2),
    "triangles and quads": ([(0, 1, 2), (3, 2, 5, 4), (0, 3, 6)], 4),
    "a face of five corners": ([(0, 1, 2, 5, 3)], 3),
    "faces of two corners": ([(0, 3), (1, 2)], 0),
    "a face of two corners between others": ([(0, 1, 2), (0, 3), (3, 2, 5, 4)], 3),
}
FOURTH = {"convex": (0, 2, 0.8), "concave": (1.8, 0.6, 0), "on a corner": (2, 0, 0.5), "infinite": (0, float("inf"), 0)}


@pytest.mark.parametrize("fourth", FOURTH.values(), ids=FOURTH)
@pytest.mark.parametrize(("faces", "count"), FACES.values(), ids=FACES)
def test_faces_are_split_into_the_triangles_of_blender(bpy, addon, faces, count, fourth):
    vertices = [(0, 0, 0), (2, 0, 0.5), (2, 2, -0.3), fourth, (0, 4, 0), (2, 4, 1), (-2, 1, 1)]
    for turn in range(4):
        mesh = make_mesh(bpy, "Mesh", vertices, [np.roll(face, turn).tolist() for face in faces]).data
        mesh.calc_loop_triangles()
        expected = [list(triangle.vertices) for triangle in mesh.loop_triangles]
        corners = np.array([loop.vertex_index for loop in mesh.loops])
        found = addon("ground.meshes")._triangles(mesh, np.array(vertices, np.float32), corners)
        assert len(found) == count
        assert found.tolist() == expected
