# SPDX-License-Identifier: GPL-3.0-or-later
"""A press of the button without any choice does what is meant, where there is one character and one ground."""

from __future__ import annotations

import biped
import numpy as np
import pytest
from planted import heads, record_of


@pytest.fixture
def scene(bpy):
    """A walker with a body over a hilly ground, beside a camera and a light; nothing is selected or active."""
    ground = biped.make_slope(bpy)
    walker = biped.make_walker(bpy)
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0.0, 0.0, 1.0))
    body = bpy.context.object
    body.name = "Body"
    body.modifiers.new("Armature", "ARMATURE").object = walker
    body.parent = walker
    bpy.ops.object.camera_add(location=(3.0, 0.0, 1.0))
    bpy.ops.object.light_add(location=(0.0, 0.0, 4.0))
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    return walker, ground, body


@pytest.mark.parametrize("mode", ["EXEC_DEFAULT", "INVOKE_DEFAULT"])
@pytest.mark.parametrize("active", ["nothing", "the body", "the camera"])
def test_the_character_is_found_and_stands_on_the_ground(bpy, scene, mode, active):
    walker, ground, body = scene
    camera = next(ob for ob in bpy.data.objects if ob.type == "CAMERA")
    bpy.context.view_layer.objects.active = {"nothing": None, "the body": body, "the camera": camera}[active]
    source = walker.animation_data.action
    assert bpy.ops.ik2bone.plant_feet(mode) == {"FINISHED"}
    report = record_of(walker)["report"]
    assert report["surfaces"] == [ground.name]
    assert walker.animation_data.action.name == f"{source.name}.planted"
    assert {foot["bone"] for foot in report["feet"]} == {"foot.L", "foot.R"}
    assert max(report["after"][name] for name in ("drift", "penetration", "float")) < 2e-3 * report["leg"]
    assert report["after"]["short_frames"] == 0


def test_the_panel_offers_the_button_before_anything_is_chosen(bpy, scene):
    assert bpy.ops.ik2bone.plant_feet.poll()
    settings = bpy.context.scene.ik2bone
    assert settings.surface_object is None and settings.surface_collection is None


def test_the_way_back_is_whole(bpy, scene):
    walker, frames = scene[0], range(1, 62)
    before = heads(bpy, walker, frames)
    bpy.ops.ik2bone.plant_feet()
    assert np.abs(heads(bpy, walker, frames) - before).max() > 0.02
    bpy.ops.ik2bone.restore()
    assert np.abs(heads(bpy, walker, frames) - before).max() < 1e-6
