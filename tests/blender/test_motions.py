# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces that move are asked where they lie on each frame, and what is not followed is told."""

from __future__ import annotations

from functools import partial

import fingerprint
import numpy as np
import pytest
from biped import make_slope
from ik2bone.ground.query import Support

DOWN = np.array([0.0, 0.0, -1.0])
FRAMES = range(1, 21)


@pytest.fixture
def ground_of(ground_of):
    return partial(ground_of, frames=list(FRAMES))


def plane(bpy, name, size=1.0, height=0.0):
    return make_slope(bpy, name, rise=0.0, height=height, size=size)


def key(ob, name, values):
    for frame, value in values.items():
        setattr(ob, name, value)
        ob.keyframe_insert(name, frame=frame)
    for curve in fingerprint.curves_of(ob.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def test_a_moving_surface_is_asked_where_it_lies_on_the_frame(bpy, ground_of):
    lift = plane(bpy, "Lift")
    key(lift, "location", {1: (0.0, 0.0, 0.0), 21: (4.0, 0.0, 2.0)})
    bpy.context.scene.frame_set(7)
    before = lift.matrix_world.copy()
    ground = ground_of(lift)
    frames = np.array([0, 5, 10, 15])
    points = np.array([[0.2 * frame, 0.0, 0.1 * frame + 0.3] for frame in frames])
    hits, _normals, found = ground.ask(points, DOWN, frames)
    assert found.all()
    np.testing.assert_allclose(hits[:, 2], 0.1 * frames, atol=1e-5)
    assert not ground.ask(points, DOWN, frames[::-1])[2][[0, 3]].any()
    assert bpy.context.scene.frame_current == 7 and lift.matrix_world == before
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]
    assert sorted(ob.name for ob in bpy.data.objects) == ["Lift"]


def test_a_tilting_surface_has_the_slope_of_the_frame(bpy, ground_of):
    deck = plane(bpy, "Deck", size=5.0)
    key(deck, "rotation_euler", {1: (0.0, 0.0, 0.0), 21: (0.4, 0.0, 0.0)})
    hits, normals, _found = ground_of(deck).ask(np.tile([0.0, 2.0, 0.5], (2, 1)), DOWN, np.array([0, 10]))
    np.testing.assert_allclose(normals, [[0, 0, 1], [0, -np.sin(0.2), np.cos(0.2)]], atol=1e-5)
    np.testing.assert_allclose(hits[:, 2], [0.0, 2.0 * np.tan(0.2)], atol=1e-5)


@pytest.mark.parametrize("carrier", ["parent", "constraint", "driver"])
def test_a_surface_is_followed_whatever_moves_it(bpy, ground_of, carrier):
    lift, mover = plane(bpy, "Lift"), bpy.data.objects.new("Mover", None)
    bpy.context.collection.objects.link(mover)
    key(mover, "location", {1: (0.0, 0.0, 0.0), 21: (0.0, 0.0, 2.0)})
    if carrier == "parent":
        lift.parent = mover
    elif carrier == "constraint":
        lift.constraints.new("COPY_LOCATION").target = mover
    else:
        driver = lift.driver_add("location", 2).driver
        driver.expression = "0.1 * (frame - 1)"
    bpy.context.view_layer.update()
    hits, _normals, _found = ground_of(lift).ask(np.zeros((2, 3)), DOWN, np.array([0, 10]))
    np.testing.assert_allclose(hits[:, 2], [0.0, 1.0], atol=1e-5)


def test_a_shown_collection_moves_with_the_empty_that_shows_it(bpy, ground_of):
    content = bpy.data.collections.new("Content")
    deck = plane(bpy, "Deck", height=0.5)
    bpy.context.collection.objects.unlink(deck)
    content.objects.link(deck)
    ferry = bpy.data.objects.new("Ferry", None)
    ferry.instance_type, ferry.instance_collection = "COLLECTION", content
    bpy.context.collection.objects.link(ferry)
    key(ferry, "location", {1: (0.0, 0.0, 0.0), 21: (0.0, 0.0, 2.0)})
    bpy.context.scene.frame_set(5)
    ground = ground_of(ferry)
    hits, _normals, _found = ground.ask(np.zeros((2, 3)), DOWN, np.array([0, 10]))
    np.testing.assert_allclose(hits[:, 2], [0.5, 1.5], atol=1e-5)
    support = ground.support(hits[1], 10)
    assert support.name == "Ferry" and support.motion.shape == (20, 4, 4)


@pytest.mark.parametrize("nested", [False, True])
def test_what_moves_within_a_shown_collection_is_followed(bpy, ground_of, nested):
    content, lift, still = bpy.data.collections.new("Content"), plane(bpy, "Lift"), plane(bpy, "Still", height=-3.0)
    for ob in (lift, still):
        bpy.context.collection.objects.unlink(ob)
        content.objects.link(ob)
    key(lift, "location", {1: (0.0, 0.0, 0.0), 21: (0.0, 0.0, 2.0)})
    if nested:
        inner, outer = bpy.data.objects.new("Inner", None), bpy.data.collections.new("Outer")
        inner.instance_type, inner.instance_collection = "COLLECTION", content
        outer.objects.link(inner)
        content = outer
    house = bpy.data.objects.new("House", None)
    house.instance_type, house.instance_collection, house.location = "COLLECTION", content, (0.0, 0.0, 0.25)
    bpy.context.collection.objects.link(house)
    bpy.context.scene.frame_set(5)
    ground = ground_of(house)
    hits, _normals, _found = ground.ask(np.zeros((2, 3)), DOWN, np.array([0, 10]))
    np.testing.assert_allclose(hits[:, 2], [0.25, 1.25], atol=1e-5)
    assert ground.support(hits[1], 10).motion.shape == (20, 4, 4)
    assert ground.support(np.array([0.0, 0.0, -2.75]), 10) == Support("House")


def test_keys_that_do_not_move_anything_leave_a_surface_at_rest(bpy, ground_of):
    floor = plane(bpy, "Floor")
    key(floor, "location", {1: (0.0, 0.0, 1.0), 21: (0.0, 0.0, 1.0)})
    assert ground_of(floor).support(np.zeros(3), 0).motion is None


@pytest.mark.parametrize("index", [0, 1])
def test_a_surface_that_keys_hide_for_a_while_is_told(bpy, ground_of, index):
    bridge, still = plane(bpy, "Bridge"), plane(bpy, "Still")
    for ob, hidden in ((bridge, True), (still, False)):
        key(ob, "hide_viewport", {1: hidden, 11: False, 21: False})
        # Blender plays a curve of any component where a property has one alone.
        fingerprint.curves_of(ob.animation_data.action)[0].array_index = index
    bpy.context.scene.frame_set(21)
    frames = range(1, 22)
    sentences = ground_of(bridge, still, frames=frames).told
    assert list(sentences) == ["Bridge is hidden on some frames, and was planted on as if it showed on all"]
    assert not ground_of(bridge, still, frames=range(11, 22)).told


def test_keys_alone_tell_without_a_step_when_a_surface_is_hidden(bpy, ground_of, addon, monkeypatch):
    monkeypatch.delattr(addon("ground.motion"), "step_hidden")
    bridge, muted = plane(bpy, "Bridge"), plane(bpy, "Muted")
    for ob in (bridge, muted):
        key(ob, "hide_viewport", {1: True, 11: False})
    fingerprint.curves_of(muted.animation_data.action)[0].mute = True
    bpy.context.scene.frame_set(11)
    (sentence,) = ground_of(bridge, muted, frames=range(1, 22)).told
    assert sentence.startswith("Bridge is hidden on some frames")


def test_a_surface_that_a_strip_or_a_driver_hides_is_told_by_the_frames_of_the_scene(bpy, ground_of):
    late, early, driven = (plane(bpy, name) for name in ("Late", "Early", "Driven"))
    for ob, start in ((late, 31), (early, -20)):
        key(ob, "hide_viewport", {1: True, 11: False})
        action, ob.animation_data.action = ob.animation_data.action, None
        ob.animation_data.nla_tracks.new().strips.new("strip", start, action)
    driven.driver_add("hide_viewport").driver.expression = "frame < 25"
    bpy.context.scene.frame_set(50)
    for frames, names in ((range(1, 24), ["Driven", "Late"]), (range(26, 51), ["Late"]), (range(42, 51), [])):
        told = ground_of(late, early, driven, frames=frames).told
        assert sorted(sentence.partition(" is hidden")[0] for sentence in told) == names


def test_a_surface_that_changes_its_shape_is_told_and_taken_as_it_is_now(bpy, ground_of):
    sea, still = plane(bpy, "Sea"), plane(bpy, "Still")
    for ob in (sea, still):
        ob.shape_key_add(name="Basis")
        up = ob.shape_key_add(name="Up")
        for point in up.data:
            point.co.z = 1.0
    for frame, value in ((1, 0.0), (21, 1.0)):
        sea.data.shape_keys.key_blocks["Up"].value = value
        sea.data.shape_keys.key_blocks["Up"].keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_set(21)
    ground = ground_of(sea, still)
    assert [sentence for sentence in ground.told if "Still" in sentence] == []
    assert any("Sea changes its shape" in sentence and "frame 21" in sentence for sentence in ground.told)
    hits, _normals, _found = ground.ask(np.array([[0.0, 0.0, 0.9]]), DOWN, np.array([0]))
    assert hits[0, 2] == pytest.approx(1.0, abs=1e-5)


def test_a_surface_whose_number_of_vertices_changes_is_told(bpy, ground_of):
    stairs = plane(bpy, "Stairs")
    steps = stairs.modifiers.new("Steps", "ARRAY")
    for frame, count in ((1, 1), (21, 5)):
        steps.count = count
        steps.keyframe_insert("count", frame=frame)
    assert any("Stairs changes its shape" in sentence for sentence in ground_of(stairs).told)


def test_a_simulated_surface_is_told(bpy, ground_of):
    plank = plane(bpy, "Plank")
    bpy.ops.rigidbody.world_add()
    bpy.context.view_layer.objects.active = plank
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    assert any("Plank is simulated" in sentence for sentence in ground_of(plank).told)


def test_a_surface_scaled_to_nothing_on_some_frame_is_left_out_and_told(bpy, ground_of):
    door, floor = plane(bpy, "Door", height=0.5), plane(bpy, "Floor")
    key(door, "scale", {1: (1.0, 1.0, 1.0), 11: (0.0, 0.0, 0.0)})
    ground = ground_of(door, floor)
    assert ground.names == ["Floor"] and any("Door is scaled to nothing" in sentence for sentence in ground.told)


def test_a_rope_made_from_a_cube_by_its_scale_is_ground_while_it_moves(bpy, ground_of):
    rope = plane(bpy, "Rope")
    rope.scale = (50.0, 0.005, 0.005)
    key(rope, "location", {1: (0.0, 0.0, 0.0), 21: (0.0, 0.0, 2.0)})
    ground = ground_of(rope)
    assert ground.names == ["Rope"] and not ground.told


def test_a_surface_scaled_flat_is_ground_where_it_shows(bpy, ground_of):
    sheet = plane(bpy, "Sheet")
    sheet.scale, sheet.location = (1.0, 1.0, 0.0), (0.0, 0.0, 0.7)
    bpy.context.view_layer.update()
    hits, normals, found = ground_of(sheet)(np.zeros((1, 3)), DOWN)
    assert found.all() and hits[0, 2] == pytest.approx(0.7, abs=1e-6) and normals[0, 2] == pytest.approx(1.0)
