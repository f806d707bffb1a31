# SPDX-License-Identifier: GPL-3.0-or-later
"""Soles measured from the character's meshes: boots on the small walker, its ball joints 0.02 over the floor."""

from __future__ import annotations

import fingerprint
import moved
import numpy as np
import pytest
from biped import SIDES, make_empty, make_mesh, make_slope
from planted import joints, plant, record_of

BOTTOM, HEEL, FRONT, BALL, TOP = -0.03, -0.07, 0.24, 0.14, 0.12


def boot(bpy, armature, side, *, lift=0.0, bottom=BOTTOM):
    """A box round a foot, of cells 0.01 long, weighted to foot and toe bone on either side of the ball."""
    x = SIDES[side]
    ways = np.arange(HEEL, FRONT + 1e-9, 0.01)
    rings = [[(x - 0.04, y, z), (x + 0.04, y, z)] for y in ways for z in (bottom + lift, TOP + lift)]
    vertices = [point for ring in rings for point in ring]
    faces = []
    for i in range(0, 4 * (len(ways) - 1), 4):
        faces += [(i, i + 4, i + 5, i + 1), (i + 2, i + 3, i + 7, i + 6)]
    mesh = make_mesh(bpy, f"Boot.{side}", vertices, faces)
    for bone, chosen in (("foot", lambda y: y <= BALL), ("toe", lambda y: y > BALL)):
        rows = [row for row, vertex in enumerate(vertices) if chosen(vertex[1])]
        mesh.vertex_groups.new(name=f"{bone}.{side}").add(rows, 1.0, "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    return mesh


def feet_of(armature):
    return record_of(armature)["report"]["feet"]


def assert_booted(foot, scale=1.0):
    assert foot["sole_from"] == "mesh"
    assert foot["sole_height"] == pytest.approx(scale * (0.02 - BOTTOM), abs=1e-4)


def test_soles_come_from_the_boots(bpy, walker, slope) -> None:
    for side in SIDES:
        boot(bpy, walker, side)
    names = sorted(ob.name for ob in bpy.data.objects), len(bpy.data.armatures), len(bpy.data.meshes)
    plant(bpy, surface="Slope")
    assert (sorted(ob.name for ob in bpy.data.objects), len(bpy.data.armatures), len(bpy.data.meshes)) == names
    for foot, side in zip(feet_of(walker), SIDES, strict=True):
        assert_booted(foot)
        heel = walker.data.bones[f"foot.{side}"].matrix_local @ _vector(foot["heel"])
        assert tuple(heel) == pytest.approx((SIDES[side], HEEL, BOTTOM), abs=0.012)
    assert record_of(walker)["report"]["after"]["penetration"] < 0.005


def _vector(values):
    from mathutils import Vector

    return Vector(values)


def test_the_pose_and_the_frame_do_not_matter(bpy, walker, slope) -> None:
    for side in SIDES:
        boot(bpy, walker, side)
    bpy.context.scene.frame_set(23)
    walker.pose.bones["toe.L"].rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    walker.data.pose_position = "POSE"
    plant(bpy, surface="Slope")
    for foot in feet_of(walker):
        assert_booted(foot)


@pytest.mark.parametrize(("booted", "rise"), [(False, 0.01), (True, 0.08)])
def test_the_frame_of_the_scene_does_not_matter_to_a_walker_that_is_carried(bpy, walker, booted, rise) -> None:
    make_slope(bpy, rise=0.1 if booted else 0.0)
    for side in SIDES if booted else ():
        boot(bpy, walker, side).parent = walker
    walker.parent, found = make_empty(bpy, "Carrier"), []
    moved.key(walker.parent, "location", [(0.0, 0.0, 0.0), (0.1 * booted, 0.2 * booted, rise)])
    moved.key(walker.parent, "rotation_euler", [(0.0, 0.0, 0.0), (0.15 * booted, 0.1 * booted, 0.3)])
    for frame in (1, 20, 45):
        bpy.context.scene.frame_set(frame)
        plant(bpy, surface="Slope")
        found.append(joints(bpy, walker))
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=1e-6)


@pytest.mark.parametrize("booted", [False, True])
def test_the_frame_of_the_scene_does_not_matter_to_an_action_of_one_frame(bpy, walker, slope, booted) -> None:
    for side in SIDES if booted else ():
        boot(bpy, walker, side).parent = walker
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in reversed(curve.keyframe_points[1:]):
            curve.keyframe_points.remove(point)
    walker.parent, found = make_empty(bpy, "Carrier"), []
    moved.key(walker.parent, "location", [(0.0, 0.0, 0.0), (0.1, 0.2, 0.3)])
    moved.key(walker.parent, "rotation_euler", [(0.0, 0.0, 0.0), (0.15, 0.1, 0.3)])
    for frame in (1, 20):
        bpy.context.scene.frame_set(frame)
        plant(bpy, surface="Slope")
        found.append(joints(bpy, walker)[0])
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)


@pytest.mark.parametrize("keyed", [False, True])
def test_boots_that_are_disabled_in_viewports_count_alike(bpy, walker, slope, keyed) -> None:
    walker.location = slope.location = (0.0, 0.0, 0.4)
    for side in SIDES:
        mesh = boot(bpy, walker, side)
        mesh.parent, mesh.hide_viewport = walker, True
        if keyed:
            mesh.keyframe_insert("hide_viewport", frame=1)
    plant(bpy, surface="Slope")
    for foot in feet_of(walker):
        assert_booted(foot)
    assert all(ob.hide_viewport for ob in bpy.data.objects if ob.name.startswith("Boot"))


def test_modifiers_count(bpy, walker, slope) -> None:
    mesh = boot(bpy, walker, "L")
    mesh.vertex_groups.new(name="foot.R")
    mesh.vertex_groups.new(name="toe.R")
    mirror = mesh.modifiers.new("Mirror", "MIRROR")
    mesh.modifiers.move(1, 0)
    assert mirror.use_mirror_vertex_groups
    plant(bpy, surface="Slope")
    for foot in feet_of(walker):
        assert_booted(foot)


def test_a_shoe_carried_by_the_foot_bone_counts(bpy, walker, slope) -> None:
    for side in SIDES:
        shoe = boot(bpy, walker, side)
        shoe.modifiers.clear()
        world = shoe.matrix_world.copy()
        shoe.parent, shoe.parent_type, shoe.parent_bone = walker, "BONE", f"foot.{side}"
        bpy.context.scene.frame_set(1)
        walker.data.pose_position = "REST"
        bpy.context.view_layer.update()
        shoe.matrix_world = world
        walker.data.pose_position = "POSE"
    bpy.context.view_layer.update()
    plant(bpy, surface="Slope")
    for foot in feet_of(walker):
        assert_booted(foot)


@pytest.mark.parametrize("kind", ["BONE", "ARMATURE", "OBJECT"])
def test_a_shoe_that_was_parented_where_it_is_counts(bpy, walker, slope, kind) -> None:
    walker.location, walker.rotation_euler = (0.4, -0.3, 0.1), (0.0, 0.0, 0.5)
    walker.data.pose_position = "REST"
    bpy.context.view_layer.update()
    for side in SIDES:
        shoe = boot(bpy, walker, side)
        shoe.matrix_world = walker.matrix_world
        bpy.context.view_layer.update()
        _select(bpy, walker, shoe)
        if kind != "OBJECT":
            shoe.modifiers.clear()
        walker.data.bones.active = walker.data.bones[f"foot.{side}"]
        bpy.ops.object.parent_set(type=kind)
        assert shoe.parent == walker and shoe.matrix_parent_inverse.translation.length > 0.1
    walker.data.pose_position = "POSE"
    plant(bpy, surface="Slope")
    for foot in feet_of(walker):
        assert_booted(foot)


def _select(bpy, *objects):
    """Select only these objects; the first one is active."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[0]


def test_a_scaled_character_has_its_soles_scaled(bpy, walker) -> None:
    from biped import make_slope

    for side in SIDES:
        boot(bpy, walker, side).parent = walker
    walker.scale = (2.0, 2.0, 2.0)
    make_slope(bpy)
    plant(bpy, surface="Slope")
    for foot in feet_of(walker):
        assert_booted(foot, scale=2.0)


def test_shoes_that_float_are_not_believed_and_told(bpy, walker, slope) -> None:
    for side in SIDES:
        boot(bpy, walker, side, lift=0.2)
    plant(bpy, surface="Slope")
    assert {foot["sole_from"] for foot in feet_of(walker)} == {"clip's floor"}
    assert any("skin" in sentence for sentence in record_of(walker)["report"]["told"])


def test_a_character_without_a_mesh_has_its_soles_from_the_clip(bpy, walker, slope) -> None:
    plant(bpy, surface="Slope")
    assert {foot["sole_from"] for foot in feet_of(walker)} == {"clip's floor"}
    assert not any("skin" in sentence for sentence in record_of(walker)["report"]["told"])


@pytest.mark.parametrize(
    ("clip", "action", "height"),
    [
        ("gltf/KayKit_Knight.glb", "Walking_A", 0.069),
        ("gltf/CesiumMan_ozz.gltf", None, 0.039),
        ("gltf/mannequiny.glb", "idle", 0.026),
    ],
)
def test_real_characters_have_soles_of_their_own(bpy, data, clip, action, height) -> None:
    from demo.clips import load

    armature = load(bpy, data / clip, action)
    bpy.ops.mesh.primitive_plane_add(size=20)
    bpy.context.view_layer.objects.active = armature
    plant(bpy, surface="Plane")
    report = record_of(armature)["report"]
    for foot in report["feet"]:
        assert foot["sole_from"] == "mesh"
        assert foot["sole_height"] / report["leg"] == pytest.approx(height, abs=0.004)
