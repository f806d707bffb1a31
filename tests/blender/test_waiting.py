# SPDX-License-Identifier: GPL-3.0-or-later
"""While a run waits, scripts and other windows edit the file: it goes on, or ends and leaves the rest as it was."""

from __future__ import annotations

import itertools
from contextlib import ExitStack, suppress
from types import SimpleNamespace

import biped
import fingerprint
import pytest
from moved import drive_by_scene


def _waiting(addon, stages, walker):
    """The class of the operator, an instance that has just begun to wait between two stages, and what it reports."""
    kind, told = addon("ui.operators").IK2BONE_OT_plant_feet, []
    run = SimpleNamespace(
        _stages=stages, _armatures=[walker], _parts=None, report=lambda _kind, text: told.append(text)
    )
    assert kind._advance(run, 0.0) is None
    return kind, run, told


@pytest.mark.parametrize("removed", ["Slope", "Walker"])
def test_a_run_whose_objects_are_removed_meanwhile_is_told(bpy, walker, slope, options, addon, removed):
    bpy.context.scene.ik2bone.surface_object = slope
    stages = addon("run.pipeline").planting(bpy.context, [walker], options())
    for _ in range(3):
        next(stages)
    kind, run, told = _waiting(addon, stages, walker)
    bpy.data.objects.remove(bpy.data.objects[removed])
    assert kind._advance(run, 100.0) == {"CANCELLED"}
    assert told == ["Not planted: what is planted, or what it stands on, was edited or removed meanwhile"]


def _remove_armature(bpy, walker):
    bpy.data.objects.remove(walker)


def _remove_bone(bpy, walker):
    bpy.context.view_layer.objects.active = walker
    bpy.ops.object.mode_set(mode="EDIT")
    walker.data.edit_bones.remove(walker.data.edit_bones["foot.L"])
    bpy.ops.object.mode_set(mode="OBJECT")


def _remove_curve(_bpy, walker):
    (bag,) = fingerprint.bags_of(walker.animation_data.action)
    bag.fcurves.remove(bag.fcurves[0])


def _remove_action(bpy, walker):
    bpy.data.actions.remove(walker.animation_data.action)


def _remove_track(_bpy, walker):
    walker.animation_data.nla_tracks.remove(walker.animation_data.nla_tracks[0])


def _remove_scene(bpy, _walker):
    present = bpy.context.scene
    bpy.data.scenes.new("Other")
    bpy.data.scenes.remove(present)


def _rename_bone(_bpy, walker):
    walker.data.bones["foot.L"].name = "paw.L"


def _enter_edit_mode(bpy, walker):
    bpy.context.view_layer.objects.active = walker
    bpy.ops.object.mode_set(mode="EDIT")


def _show_another_view_layer(bpy, _walker):
    """Its dependency graph is made when a window draws it."""
    bpy.context.window.view_layer = bpy.context.scene.view_layers.new("Other")


def _steps(addon, done):
    """Stages without an end, which note in `done` what they do."""
    try:
        for number in itertools.count():
            done.append(number)
            yield addon("progress").Progress("working", 0.5)
    finally:
        done.append("closed")


@pytest.mark.parametrize(
    "remove",
    [
        _remove_armature,
        _remove_bone,
        _remove_curve,
        _remove_action,
        _remove_track,
        _remove_scene,
        _rename_bone,
        _enter_edit_mode,
        _show_another_view_layer,
    ],
)
def test_a_run_does_not_go_on_with_what_was_removed_meanwhile(bpy, walker, addon, remove):
    """Blender gives the memory of bones and curves to something else, and a run that read it there could crash."""
    done = []
    walker.animation_data.nla_tracks.new()
    stages = _steps(addon, done)
    next(stages)
    kind, run, told = _waiting(addon, stages, walker)
    assert kind._advance(run, 0.001) is None
    before = list(done)
    remove(bpy, walker)
    assert kind._advance(run, 0.001) == {"CANCELLED"}
    assert done == [*before, "closed"] and len(told) == 1


def _key_in_another_strip(_bpy, walker):
    strip = walker.animation_data.nla_tracks["Muted"].strips[0]
    fingerprint.bags_of(strip.action)[0].fcurves.new("rotation_euler", index=0)


def _key(_bpy, walker):
    walker.pose.bones["foot.L"].keyframe_insert("rotation_quaternion", frame=7)


def _enter_pose_mode(bpy, walker):
    bpy.context.view_layer.objects.active = walker
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")


def _edit_another_armature(bpy, walker):
    other = bpy.data.objects.new("Other", walker.data.copy())
    bpy.context.scene.collection.objects.link(other)
    walker.select_set(False)
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.mode_set(mode="EDIT")


def _go_to_another_frame(bpy, _walker):
    bpy.context.scene.frame_set(7)


def _add_and_remove_objects(bpy, _walker):
    bpy.ops.ed.undo_push(message="Add")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Empty", None))
    bpy.context.view_layer.update()
    bpy.data.objects.remove(bpy.data.objects["Empty"])


@pytest.mark.parametrize(
    "act",
    [
        _key_in_another_strip,
        _key,
        _enter_pose_mode,
        _edit_another_armature,
        _go_to_another_frame,
        _add_and_remove_objects,
    ],
)
def test_a_waiting_run_goes_on_while_other_things_are_edited(bpy, walker, addon, act):
    track, done = walker.animation_data.nla_tracks.new(), []
    track.name, track.mute = "Muted", True
    track.strips.new("run", 1, walker.animation_data.action.copy())
    kind, run, told = _waiting(addon, _steps(addon, done), walker)
    act(bpy, walker)
    bpy.context.view_layer.update()
    assert kind._advance(run, 0.001) is None and done and not told


@pytest.mark.parametrize("kind", ["on_error", "on_end"])
@pytest.mark.parametrize("remove", [_remove_armature, _remove_track, None])
def test_only_what_was_not_removed_meanwhile_is_put_back(bpy, walker, addon, kind, remove):
    """The call would write to the memory of a removed strip, which may hold something else by then."""
    track, made = walker.animation_data.nla_tracks.new(), []
    strip = track.strips.new("walk", 1, walker.animation_data.action)
    with pytest.raises(ArithmeticError), ExitStack() as undo:
        for number, part in enumerate((walker.animation_data, track, strip)):
            getattr(addon("run.transaction"), kind)(undo, lambda _, number: made.append(number), part, number)
        if remove:
            remove(bpy, walker)
        raise ArithmeticError
    assert made == {_remove_armature: [], _remove_track: [0], None: [2, 1, 0]}[remove]


def test_a_run_whose_bone_is_removed_meanwhile_puts_back_the_pose_of_the_others(bpy, walker, slope, options, addon):
    foot = walker.pose.bones["foot.L"]
    foot["switch"] = 1.0
    foot.keyframe_insert('["switch"]', frame=1)
    bpy.context.scene.frame_set(20)
    walker.pose.bones["hips"].location.x += 0.2
    before = {bone.name: tuple(map(tuple, bone.matrix_basis)) for bone in walker.pose.bones if bone != foot}
    stages = addon("run.pipeline").planting(bpy.context, [walker], options())
    for _ in range(3):
        next(stages)
    _remove_bone(bpy, walker)
    assert {bone.name: tuple(map(tuple, bone.matrix_basis)) for bone in walker.pose.bones} != before
    stages.close()
    assert {bone.name: tuple(map(tuple, bone.matrix_basis)) for bone in walker.pose.bones} == before


def test_a_run_whose_scene_is_removed_meanwhile_leaves_windows_another_scene(bpy, walker, slope, options, addon):
    """Windows may show the private scene then, and removing that left them without one, which crashed Blender."""
    user, other = bpy.context.scene, bpy.data.scenes.new("Other")
    drive_by_scene(walker, "location", user, "frame_current", 0)
    stages = addon("run.pipeline").planting(bpy.context, [walker], options())
    while len(bpy.data.scenes) < 3:
        next(stages)
    (private,) = set(bpy.data.scenes) - {user, other}
    bpy.context.window.scene = private
    bpy.data.scenes.remove(user)
    with suppress(ReferenceError):
        stages.close()
    assert bpy.context.window.scene == other and bpy.data.scenes[:] == [other]


def test_a_run_goes_on_while_other_objects_are_removed(bpy, walker, slope, options, addon):
    """Blender lists None in their place until the view layer is updated."""
    stages = addon("run.pipeline").planting(bpy.context, [walker, biped.twin_of(bpy, walker)], options())
    for _ in stages:
        other = bpy.data.objects.new("Other", None)
        bpy.context.scene.collection.objects.link(other)
        other.select_set(True)
        bpy.context.view_layer.update()
        bpy.data.objects.remove(other)
    assert {ob.animation_data.action.name for ob in bpy.data.objects if ob.pose} == {"walk.planted", "walk.planted.001"}


@pytest.mark.parametrize("given", [{}, {"output": "IN_PLACE"}, {"all_actions": True}], ids=str)
@pytest.mark.parametrize("stops", [False, True])
def test_purging_removes_nothing_that_a_waiting_run_has_set_aside(bpy, walker, slope, options, addon, given, stops):
    """A source that has no fake user and is not played while keys are written was lost, and so was a backup."""
    before = fingerprint.of_scene(bpy)
    stages = addon("run.pipeline").planting(bpy.context, [walker], options(**given))
    while not next(stages).doing.startswith("keeping"):
        bpy.data.orphans_purge()
    stages.close() if stops else addon("progress").finish(stages)
    assert (fingerprint.of_scene(bpy) == before) is stops
    assert "walk" in bpy.data.actions


def test_purging_leaves_the_action_in_whose_place_a_copy_plays(bpy, walker, addon):
    """As while a run tries keys of controls."""
    actions, before = addon("keys.actions"), fingerprint.of_scene(bpy)
    with actions.temporary_copy(actions.assigned(walker)) as copy, actions.playing(walker, copy):
        bpy.data.orphans_purge()
    assert fingerprint.of_scene(bpy) == before


def test_a_run_into_a_layer_ends_if_its_new_action_is_purged(bpy, walker, slope, options, addon):
    """The armature does not play that action while its keys are written, and writing more of them crashed Blender."""
    before = fingerprint.of_scene(bpy)
    stages = addon("run.pipeline").planting(bpy.context, [walker], options(output="NLA_LAYER"))
    while not next(stages).doing.startswith("writing"):
        pass
    bpy.data.orphans_purge()
    with pytest.raises(ReferenceError):
        addon("progress").finish(stages)
    assert fingerprint.of_scene(bpy) == before


@pytest.mark.parametrize("kind", ["scenes", "objects"])
def test_a_run_ends_whose_private_data_were_removed_meanwhile(bpy, walker, slope, options, addon, kind):
    """Blender crashed where it was told to remove them again."""
    slope.location.z = 0.1
    slope.keyframe_insert("location", frame=1)
    before = fingerprint.of_scene(bpy)
    stages = addon("run.pipeline").planting(bpy.context, [walker], options())
    while ".ik2bone" not in bpy.data.objects:
        next(stages)
    found = getattr(bpy.data, kind)
    found.remove(found[".ik2bone"])
    stages.close()
    assert fingerprint.of_scene(bpy) == before
