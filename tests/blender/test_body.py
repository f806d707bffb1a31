# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a run plants: the armature that the context means, found at once, and what is told of its object and bones."""

from __future__ import annotations

import sys

import pytest
from biped import make_mesh, make_walker
from planted import plant, record_of, refused


@pytest.fixture
def found(bpy, addon):
    """A function that gives the name of the armature that is planted when an object is active."""

    def find(active):
        bpy.context.view_layer.objects.active = active
        armature = addon("rig.armatures").find_armature(bpy.context)
        return armature and armature.name

    return find


def test_an_object_means_the_armature_that_deforms_it_or_hangs_under_it(bpy, found):
    walkers = [make_walker(bpy, name) for name in ("First", "Second")]
    bpy.ops.object.select_all(action="DESELECT")
    skin, holder, carrier = (make_mesh(bpy, name, [(0, 0, 0)], []) for name in ("Skin", "Holder", "Carrier"))
    skin.modifiers.new("Armature", "ARMATURE").object = walkers[1]
    walkers[0].parent, holder.parent = holder, carrier
    assert [found(ob) for ob in (skin, holder, carrier, walkers[1])] == ["Second", "First", "First", "Second"]
    assert found(make_mesh(bpy, "Ground", [(0, 0, 0)], [])) is None


def steps_of(call):
    """How many instructions of Python a call takes: unlike its time, these are the same on a busy machine."""
    steps = 0

    def count(frame, event, argument):
        nonlocal steps
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(before)
    return steps


def test_the_search_for_the_armature_does_not_look_at_thousands_of_objects_one_by_one(bpy, addon, walker):
    find, mesh = addon("rig.armatures").find_armature, bpy.data.meshes.new("Prop")
    props = [bpy.data.objects.new(f"Prop {number}", mesh) for number in range(5000)]
    for prop in props:
        bpy.context.collection.objects.link(prop)
    bpy.context.view_layer.update()
    for active in (walker, props[7]):
        bpy.context.view_layer.objects.active = active
        walker.select_set(False)
        assert find(bpy.context) == walker
        assert 0 < steps_of(lambda: find(bpy.context)) < len(props)


def test_an_instance_of_a_character_says_how_to_get_at_it(bpy, addon, library):
    from demo import session

    with bpy.data.libraries.load(library, link=True) as (_there, here):
        here.objects = ["Walker"]
    cast = bpy.data.collections.new("Cast")
    cast.objects.link(here.objects[0])
    shown = bpy.data.objects.new("Shown", None)
    shown.instance_type, shown.instance_collection = "COLLECTION", cast
    bpy.context.collection.objects.link(shown)
    bpy.context.view_layer.objects.active = shown
    why = addon("rig.armatures").why_no_armature(bpy.context)
    assert why.endswith("of the collection Cast: make the instance real")
    path = library.replace("library", "cast")
    bpy.data.libraries.write(path, {cast})
    session.reset(bpy)
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Cast"]
    shown = bpy.data.objects.new("Shown", None)
    shown.instance_type, shown.instance_collection = "COLLECTION", here.collections[0]
    bpy.context.collection.objects.link(shown)
    bpy.context.view_layer.objects.active = shown
    with pytest.raises(RuntimeError, match="Shown only shows an armature of the collection Cast: make a library over"):
        bpy.ops.ik2bone.plant_feet()


@pytest.mark.parametrize("scale", [(-1, -1, -1), (1, 1, -1), (0.5, -0.5, -0.5)])
def test_a_negative_scale_that_turns_the_figure_upside_down_is_refused(bpy, walker, slope, scale):
    walker.scale = scale
    with pytest.raises(RuntimeError, match="Walker has a negative scale, .*, which turns it upside down"):
        bpy.ops.ik2bone.plant_feet()


def test_a_parent_s_negative_scale_that_turns_the_figure_upside_down_is_refused(bpy, walker, slope):
    stage = bpy.data.objects.new("Stage", None)
    bpy.context.collection.objects.link(stage)
    walker.parent, stage.scale = stage, (2, 2, -2)
    refused(bpy, "Stage has a negative scale, 2, 2, -2, which turns Walker upside down")
    stage.scale = (-2, 2, 2)
    plant(bpy)


def test_a_mirrored_figure_is_planted(bpy, walker, slope):
    walker.scale = (-1, 1, 1)
    plant(bpy)
    assert record_of(walker)["report"]["after"]["drift"] < 1e-5


def test_locked_bones_are_told_and_locked_toes_left_alone(bpy, walker, slope):
    walker.pose.bones["shin.L"].lock_rotation = (False, True, True)
    walker.pose.bones["toe.R"].lock_rotation = (True, True, True)
    plant(bpy)
    record = record_of(walker)
    assert "locked channels were keyed on the bones: shin.L" in record["report"]["told"]
    assert any("the rotation of bone toe.R is locked" in told for told in record["report"]["told"])
    turned = {path.split('"')[1] for path in record["channels"]}
    assert "toe.R" not in turned and "toe.L" in turned
