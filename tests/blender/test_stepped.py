# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames are stepped where F-curves do not tell all, and where Blender's evaluation shows that on a few frames."""

from __future__ import annotations

from dataclasses import replace

import biped
import pytest
import scene as scenes
from moved import (
    FRAMES,
    SINGLE,
    add_track,
    constrain,
    constrain_the_object,
    curve_of,
    drive,
    drive_by_scene,
    drive_the_object,
    error,
    key,
    limbs,
    move_the_object,
    parent_to_a_bone,
    parent_to_a_moving_empty,
    sampled,
)
from planted import plant


def limit_a_parent(bpy, walker):
    parent_to_a_moving_empty(bpy, walker)
    walker.parent.constraints.new("LIMIT_ROTATION").use_limit_z = True


def drive_a_parent(bpy, walker):
    parent_to_a_moving_empty(bpy, walker)
    drive(walker.parent, "location", "frame % 7", index=0)


def shift_by_deltas(bpy, walker):
    move_the_object(bpy, walker)
    walker.delta_location.x, walker.delta_rotation_euler.z = 0.3, 0.4


def key_deltas(bpy, walker):
    key(walker, "delta_location", [(0, 0, 0), (1, 0.5, 0.2)])


def layer_a_parent(bpy, walker):
    parent_to_a_moving_empty(bpy, walker)
    add_track(walker.parent)


def follow_a_path(bpy, walker):
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions, curve.use_path, curve.path_duration = "3D", True, 20
    points = curve.splines.new("POLY").points
    points.add(1)
    points[0].co, points[1].co = (0, 0, 0, 1), (1, 2, 0, 1)
    walker.parent = bpy.data.objects.new("Path", curve)
    bpy.context.collection.objects.link(walker.parent)
    key(walker.parent, "location", [(0, 0, 0), (0.5, 0, 0)])


@pytest.mark.parametrize(
    "change",
    [
        drive_the_object, constrain_the_object, parent_to_a_bone, limit_a_parent, drive_a_parent, shift_by_deltas,
        key_deltas, layer_a_parent, follow_a_path,
    ],
)  # fmt: skip
def test_the_way_of_an_object_is_stepped_where_curves_do_not_tell_it(bpy, addon, walker, monkeypatch, change):
    curves, stepped = addon("pose.curves"), []
    step = curves.step_worlds
    monkeypatch.setattr(curves, "step_worlds", lambda *given: stepped.append(given) or step(*given))
    change(bpy, walker)
    sample = sampled(addon, walker)
    assert stepped
    assert sample.in_bulk
    assert error(bpy, walker, sample) < SINGLE


def constrain_between_spots(bpy, walker):
    """A constraint that shows on frames alone that nobody looks at."""
    constraint = constrain(bpy, walker, "thigh.L", influence=0.0)
    for frame, influence in ((39, 0.0), (40, 1.0), (41, 1.0), (42, 0.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


def key_a_muted_constraint(bpy, walker):
    constraint = constrain(bpy, walker, "thigh.L")
    for frame, mute in ((1, True), (40, False), (42, True)):
        constraint.mute = mute
        constraint.keyframe_insert("mute", frame=frame)
    bpy.context.scene.frame_set(1)


def constrain_the_hips(bpy, walker):
    constrain(bpy, walker, "hips")


def pull_by_the_toes(bpy, walker):
    constrain(bpy, walker, "toe.L", "IK", chain_count=3)


def pull_by_a_bone_beside(bpy, walker):
    with biped.editing(bpy, walker) as bones:
        biped.add_bone(bones, "nail", bones["toe.L"], (0.1, 0.21, 0.02), (0.1, 0.25, 0.02))
    constrain(bpy, walker, "nail", "IK", chain_count=0)


def drive_a_thigh(bpy, walker):
    drive(walker.pose.bones["thigh.L"], "location", index=0)


def drive_a_constraint(bpy, walker):
    drive(constrain(bpy, walker, "thigh.L"), "influence", "sin(frame / 9) ** 2")


def key_a_rotation_mode(bpy, walker):
    bone = walker.pose.bones["thigh.L"]
    key(bone, "rotation_euler", [(0, 0, 0), (1, 0, 0)])
    for frame, mode in ((1, "QUATERNION"), (40, "XYZ"), (42, "QUATERNION")):
        bone.rotation_mode = mode
        bone.keyframe_insert("rotation_mode", frame=frame)
    bpy.context.scene.frame_set(1)


def mute_a_group(bpy, walker):
    curve = curve_of(walker, "thigh.R", "rotation_quaternion", 1)
    if curve.group is None:
        pytest.skip("this Blender put the curve into no group")
    curve.group.mute = True


def generate_a_curve(bpy, walker):
    curve = curve_of(walker, "thigh.R", "rotation_quaternion", 1)
    curve.keyframe_points.clear()
    curve.modifiers.new("GENERATOR")


def inherit_no_rotation(bpy, walker):
    walker.data.bones["thigh.L"].use_inherit_rotation = False
    key(walker.pose.bones["hips"], "rotation_quaternion", [(1, 0, 0, 0), (1, 0.2, 0.1, 0)])


def inherit_scale(mode):
    def change(bpy, walker):
        walker.data.bones["shin.L"].inherit_scale = mode
        key(walker.pose.bones["thigh.L"], "scale", [(1, 1, 1), (0.7, 1.2, 1.5)])

    change.__name__ = f"inherit_scale_{mode.lower()}"
    return change


def place_in_armature_space(bpy, walker):
    walker.data.bones["thigh.L"].use_local_location = False
    key(walker.pose.bones["thigh.L"], "location", [(0, 0, 0), (0.1, 0.2, 0)])


def play_a_strip(bpy, walker):
    add_track(walker).blend_type = "REPLACE"
    walker.animation_data.action_blend_type = "ADD"


def weaken_the_action(bpy, walker):
    add_track(walker)
    walker.animation_data.action_influence = 0.5


def tweak_a_strip(bpy, walker):
    strip = add_track(walker)
    walker.animation_data.action = None
    walker.animation_data.nla_tracks[0].select = strip.select = True
    walker.animation_data.nla_tracks.active = walker.animation_data.nla_tracks[0]
    walker.animation_data.use_tweak_mode = True


def stretch_time(bpy, walker):
    bpy.context.scene.render.frame_map_new = 150


def key_the_armatures_data(bpy, walker):
    key(walker.pose.bones["hips"], "rotation_quaternion", [(1, 0, 0, 0), (1, 0.2, 0.1, 0)])
    for frame, inherits in ((1, True), (40, False), (42, True)):
        walker.data.bones["thigh.L"].use_inherit_rotation = inherits
        walker.data.keyframe_insert('bones["thigh.L"].use_inherit_rotation', frame=frame)
    bpy.context.scene.frame_set(1)


STEPPED = [
    constrain_between_spots, key_a_muted_constraint, constrain_the_hips, pull_by_the_toes, pull_by_a_bone_beside,
    drive_a_thigh, drive_a_constraint, key_a_rotation_mode, mute_a_group, generate_a_curve, inherit_no_rotation,
    *map(inherit_scale, ("FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")), place_in_armature_space,
    play_a_strip, weaken_the_action, tweak_a_strip, stretch_time, key_the_armatures_data,
]  # fmt: skip


@pytest.mark.parametrize("change", STEPPED)
def test_frames_are_stepped_where_curves_do_not_tell_all(bpy, addon, walker, change):
    change(bpy, walker)
    actions, names = addon("keys.actions"), ["hips", *(name for leg in limbs(addon) for name in leg.bones)]
    assert not addon("pose.curves").tell_all(walker, names, actions.assigned(walker).curves)
    sample = sampled(addon, walker)
    assert not sample.in_bulk
    assert error(bpy, walker, sample) < SINGLE


@pytest.mark.parametrize(
    ("context", "path"),
    [
        (None, "frame_current"), (None, '["up"]'), (None, '["driven"]'), (None, "audio_volume"),
        ("ACTIVE_SCENE", '["up"]'), ("ACTIVE_SCENE", "frame_end"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("bone", [None, "hips"])
def test_drivers_that_read_the_scene_are_followed(bpy, addon, walker, context, path, bone):
    scene = bpy.context.scene
    scene["up"], scene["driven"], scene.frame_end = 0.0, 0.0, FRAMES[-1]
    key(scene, '["up"]', [0.0, 30.0])
    key(scene, "audio_volume", [0.0, 1.0])
    drive(scene, '["driven"]')
    target = drive_by_scene(walker.pose.bones[bone] if bone else walker, "location", scene, path, 0, context)
    assert error(bpy, walker, sampled(addon, walker)) < SINGLE
    assert target.id == (None if context else scene)
    assert bpy.data.scenes.keys() == [scene.name]


def test_frames_are_stepped_under_a_handler(bpy, addon, walker):
    def move(scene, *_):
        walker.pose.bones["thigh.L"].location.x = 0.01 * scene.frame_current

    bpy.app.handlers.frame_change_pre.append(move)
    try:
        sample = sampled(addon, walker)
        assert not sample.in_bulk
        assert error(bpy, walker, sample) < SINGLE
    finally:
        bpy.app.handlers.frame_change_pre.remove(move)


@pytest.mark.parametrize("change", [constrain_the_hips, drive_a_thigh, inherit_no_rotation, stretch_time])
def test_what_the_list_of_causes_overlooks_shows_on_the_frames_looked_at(bpy, addon, walker, monkeypatch, change):
    monkeypatch.setattr(addon("pose.curves"), "tell_all", lambda *_: True)
    change(bpy, walker)
    sample = sampled(addon, walker)
    assert not sample.in_bulk
    assert error(bpy, walker, sample) < SINGLE


def test_a_sample_is_proven_on_further_frames(bpy, addon, walker, monkeypatch):
    """As frames on which a report has its worst figures are."""
    module = addon("pose.sample")
    monkeypatch.setattr(addon("pose.curves"), "tell_all", lambda *_: True)
    monkeypatch.setattr(module, "_spots", lambda frames: [frames[0], frames[-1]])
    constrain_between_spots(bpy, walker)
    sample = sampled(addon, walker)
    assert sample.in_bulk and error(bpy, walker, sample) > 0.01
    finish = addon("progress").finish
    subject = module.Subject(walker, limbs(addon), "hips")
    same = finish(module.proven(sample, subject, [3, 50]))
    assert same is sample
    other = finish(module.proven(sample, subject, [3, 41]))
    assert not other.in_bulk and error(bpy, walker, other) < SINGLE


def test_frames_looked_at_are_the_ends_the_middle_and_some_that_stay_the_same(addon):
    module = addon("pose.sample")
    spots = module._spots(range(100, 1100))
    assert {100, 600, 1099} < set(spots) and 4 <= len(spots) <= 6
    assert module._spots(range(100, 1100)) == spots


def test_few_frames_are_stepped(addon, walker):
    assert not addon("pose.sample").sample(walker, limbs(addon), "hips", [1, 2, 30]).in_bulk


def test_report_is_proven_on_its_worst_frames(bpy, addon, walker, slope, monkeypatch):
    asked, proven = [], addon("run.pipeline").proven

    def watched(found, *of):
        asked.append((found.in_bulk, of[-1]))
        return proven(found, *of)

    monkeypatch.setattr(addon("run.pipeline"), "proven", watched)
    bpy.ops.ik2bone.plant_feet(surface=slope.name)
    worst = scenes.report_of(walker)["report"]["worst"]
    assert asked == [(True, sorted(set(worst.values())))]
    assert {"drift", "penetration", "float", "short", "knee_pop"} < set(worst)


def test_report_tells_what_the_scene_shows_where_curves_do_not(bpy, addon, walker, slope, monkeypatch):
    def lifted(found, *_):
        yield from ()
        foot = found.clip.foot.copy()
        foot[..., 2, 3] += 0.2
        return replace(found, clip=replace(found.clip, foot=foot))

    monkeypatch.setattr(addon("run.pipeline"), "proven", lifted)
    bpy.ops.ik2bone.plant_feet(surface=slope.name)
    assert scenes.report_of(walker)["report"]["after"]["short"] == pytest.approx(0.2, abs=0.001)


def test_scripts_on_a_timer_plant_without_a_window(bpy, walker, slope):
    walker.constraints.new("COPY_SCALE").target = slope
    with bpy.context.temp_override(window=None):
        plant(bpy)
    assert len(bpy.data.scenes) == 1 and walker.animation_data.action.name == "walk.planted"
