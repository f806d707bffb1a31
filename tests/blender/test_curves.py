# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses read from F-curves in bulk are those that the scene shows; frames are stepped where curves do not tell all."""

from __future__ import annotations

from dataclasses import replace

import biped
import fingerprint
import numpy as np
import pytest
import scene as scenes

FRAMES = range(1, biped.LAST + 1)
# Of single precision, on coordinates of up to two metres and as large scales.
SINGLE = 2e-6


def limbs(addon):
    """The walker's legs, named, for changes must not decide what is found."""
    return tuple(addon("rig.find").Limb(*(f"{part}.{side}" for part in biped.LEG)) for side in biped.SIDES)


def sampled(addon, walker):
    return addon("pose.sample").sample(walker, limbs(addon), "hips", FRAMES)


def error(bpy, walker, sample):
    """The largest difference of poses from those of the main scene, over all frames and bones."""
    worst = 0.0
    for row, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(frame)
        for column, name in enumerate(sample.names):
            bone = walker.pose.bones[name]
            world = np.array(walker.matrix_world @ bone.matrix)
            worst = max(worst, np.abs(sample.poses.world[row, column] - world).max())
            worst = max(worst, np.abs(sample.poses.basis[row, column] - np.array(bone.matrix_basis)).max())
    return worst


def curve_of(walker, bone, name, index):
    path = walker.pose.bones[bone].path_from_id(name)
    curves = fingerprint.curves_of(walker.animation_data.action)
    return next(curve for curve in curves if curve.data_path == path and curve.array_index == index)


def key(owner, name, values):
    """Key a property over the frames, from one value to another and back."""
    for frame, value in zip((FRAMES[0], FRAMES[30], FRAMES[-1]), (*values, values[0]), strict=True):
        setattr(owner, name, value)
        owner.keyframe_insert(name, frame=frame)


def make_empty(bpy, name="Goal", place=(0.5, 0.3, 0.4)):
    empty = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(empty)
    empty.location = place
    return empty


def constrain(bpy, walker, bone, kind="COPY_ROTATION", **values):
    constraint = walker.pose.bones[bone].constraints.new(kind)
    constraint.target = make_empty(bpy)
    constraint.target.rotation_euler = (0.4, 0.3, 0.2)
    for name, value in values.items():
        setattr(constraint, name, value)
    return constraint


def drive(owner, name, expression="frame / 50", index=-1):
    driver = owner.driver_add(name, index) if index >= 0 else owner.driver_add(name)
    driver.driver.expression = expression


def add_track(walker, *, muted=False, shift=0.3):
    """Push a copy of the action that turns a thigh further into a track of the NLA."""
    action = walker.animation_data.action
    other = action.copy()
    for curve in fingerprint.curves_of(other):
        for point in curve.keyframe_points:
            point.co.y += shift
    track = walker.animation_data.nla_tracks.new()
    strip = track.strips.new("Other", 1, other)
    if hasattr(strip, "action_slot"):
        strip.action_slot = other.slots[0]
    track.mute = muted
    return strip


def nothing(bpy, walker):
    """The walker as it is."""


def set_unkeyed_values(bpy, walker):
    bones = walker.pose.bones
    bones["hips"].scale, bones["thigh.L"].location, bones["shin.R"].scale = (1.1, 0.9, 1.2), (0.1, 0.2, 0), (1, 1.5, 1)


def leave_components_unkeyed(bpy, walker):
    (bag,) = fingerprint.bags_of(walker.animation_data.action)
    bag.fcurves.remove(curve_of(walker, "shin.L", "rotation_quaternion", 2))
    walker.pose.bones["shin.L"].rotation_quaternion.y = 0.2


def add_noise(bpy, walker):
    modifier = curve_of(walker, "thigh.R", "rotation_quaternion", 1).modifiers.new("NOISE")
    modifier.scale, modifier.strength = 7.0, 0.4


def mute_a_curve(bpy, walker):
    curve_of(walker, "thigh.R", "rotation_quaternion", 1).mute = True
    walker.pose.bones["thigh.R"].rotation_quaternion.x = 0.3


def key_off_the_frames(bpy, walker):
    biped.thin(walker)


def key_in_steps(bpy, walker):
    biped.thin(walker, interpolation="CONSTANT")


def take_samples(bpy, walker):
    curve_of(walker, "shin.L", "rotation_quaternion", 1).convert_to_samples(1, biped.LAST + 1)
    walker.animation_data.action.update_tag()


def scale_the_hips(bpy, walker):
    key(walker.pose.bones["hips"], "scale", [(1.3, 0.7, 1.0), (0.6, 1.2, 1.1)])


def scale_the_object(bpy, walker):
    walker.scale, walker.rotation_euler, walker.location = (0.5, 1.4, -0.8), (0.3, 0.2, 1.0), (1, 2, 0.5)
    bpy.context.view_layer.update()


def key_quaternions_of_zeros(bpy, walker):
    key(walker.pose.bones["thigh.L"], "rotation_quaternion", [(0, 0, 0, 0), (1, 0, 0, 0)])


def key_long_quaternions(bpy, walker):
    key(walker.pose.bones["thigh.L"], "rotation_quaternion", [(3, 1, 0, 0), (0.1, 0, 0.2, 0)])


def key_the_location_of_a_connected_bone(bpy, walker):
    bpy.context.view_layer.objects.active = walker
    bpy.ops.object.mode_set(mode="EDIT")
    walker.data.edit_bones["shin.L"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    key(walker.pose.bones["shin.L"], "location", [(0.1, 0, 0), (0, 0.2, 0)])


def move_the_object(bpy, walker):
    key(walker, "location", [(0, 0, 0), (1, 0.5, 0.2)])
    key(walker, "scale", [(1, 1, 1), (1, 2, 0.7)])


def drive_the_object(bpy, walker):
    drive(walker, "location", index=2)


def constrain_the_object(bpy, walker):
    goal = make_empty(bpy)
    key(goal, "location", [(0, 0, 0), (1, 0.5, 0.2)])
    walker.constraints.new("COPY_LOCATION").target = goal


def parent_to_a_moving_empty(bpy, walker):
    walker.parent = make_empty(bpy)
    key(walker.parent, "rotation_euler", [(0, 0, 0), (0.2, 0, 1)])


def parent_to_a_bone(bpy, walker):
    cart = biped.make_walker(bpy, "Cart")
    walker.parent, walker.parent_type, walker.parent_bone = cart, "BONE", "shin.L"


def mute_a_track(bpy, walker):
    add_track(walker, muted=True)


def mute_a_constraint(bpy, walker):
    constrain(bpy, walker, "thigh.L", mute=True)


def constrain_the_head(bpy, walker):
    constrain(bpy, walker, "head", "IK", chain_count=1)


def drive_the_head(bpy, walker):
    drive(walker.pose.bones["head"], "location", index=0)


def play_the_second_slot(bpy, walker):
    action = walker.animation_data.action
    if not hasattr(action, "slots"):
        pytest.skip("this Blender has no action slots")
    other = biped.make_walker(bpy, "Other")
    biped.thin(other, 20.0)
    other.animation_data.action = action
    other.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Other")
    for bone in other.pose.bones:
        key(bone, "rotation_quaternion", [(1, 0.1, 0, 0), (1, 0, 0.5, 0)])
    slots = {slot.identifier: slot for slot in action.slots}
    walker.animation_data.action_slot = slots["OBOther"]


def play_no_action(bpy, walker):
    walker.animation_data.action = None
    walker.pose.bones["thigh.L"].rotation_quaternion = (1, 0.3, 0, 0)


@pytest.mark.parametrize(
    "change",
    [
        nothing, set_unkeyed_values, leave_components_unkeyed, add_noise, mute_a_curve, key_off_the_frames,
        key_in_steps, take_samples, scale_the_hips, scale_the_object, key_quaternions_of_zeros, key_long_quaternions,
        key_the_location_of_a_connected_bone, move_the_object, drive_the_object, constrain_the_object,
        parent_to_a_moving_empty, parent_to_a_bone, mute_a_track, mute_a_constraint, constrain_the_head,
        drive_the_head, play_the_second_slot, play_no_action,
    ],
)  # fmt: skip
def test_curves_that_tell_all_are_read_in_bulk(bpy, addon, walker, change):
    change(bpy, walker)
    sample = sampled(addon, walker)
    assert sample.in_bulk
    assert error(bpy, walker, sample) < SINGLE


def hang_under_a_row_of_empties(bpy, walker):
    """Under empties that turn in other ways, the second one in another place than the first one's."""
    row = [walker]
    for name, mode, prop, values in (
        ("Under", "ZXY", "rotation_euler", [(0.4, 0, 1), (-1, 2, 0.3)]),
        ("Over", "QUATERNION", "rotation_quaternion", [(1, 0.2, 0, 0.7), (0.3, 0, 2, 0)]),
        ("Top", "AXIS_ANGLE", "rotation_axis_angle", [(1, 0, 0.5, 1), (4, 1, 0, 1)]),
    ):
        empty = make_empty(bpy, name)
        empty.rotation_mode = mode
        key(empty, prop, values)
        bpy.context.view_layer.update()
        row[-1].parent, row[-1].matrix_parent_inverse = empty, empty.matrix_world.inverted()
        row.append(empty)
    key(row[1], "scale", [(1, 1.2, 1), (0.7, 1, 1)])


def repeat_the_way_of_the_object(bpy, walker):
    key(walker, "location", [(0, 0, 0), (1, 0.5, 0.2)])
    for curve in fingerprint.curves_of(walker.animation_data.action):
        if curve.data_path == "location":
            curve.modifiers.new("NOISE").strength = 0.1


def key_what_does_not_move_the_object(bpy, walker):
    parent_to_a_moving_empty(bpy, walker)
    walker["mood"] = 0.0
    walker.keyframe_insert('["mood"]', frame=3)


@pytest.mark.parametrize(
    "change",
    [
        move_the_object, parent_to_a_moving_empty, hang_under_a_row_of_empties, repeat_the_way_of_the_object,
        key_what_does_not_move_the_object,
    ],
)  # fmt: skip
def test_the_way_of_an_object_is_read_in_bulk(bpy, addon, walker, monkeypatch, change):
    change(bpy, walker)
    monkeypatch.setattr(addon("pose.curves"), "step_worlds", None)
    sample = sampled(addon, walker)
    assert sample.in_bulk
    assert np.ptp(sample.poses.placed, axis=0).max() > 0.1
    assert error(bpy, walker, sample) < SINGLE


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


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_every_rotation_mode_is_read_in_bulk(bpy, addon, mode):
    walker = biped.make_walker(bpy, mode=mode)
    name, size = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}.get(
        mode, ("rotation_euler", 3)
    )
    key(walker.pose.bones["thigh.L"], name, [(0.5, 1.2, -0.7, 0.2)[:size], (-2.0, 0.1, 4.0, 0.9)[:size]])
    sample = sampled(addon, walker)
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
    bpy.context.view_layer.objects.active = walker
    bpy.ops.object.mode_set(mode="EDIT")
    biped._bone(walker, "nail", walker.data.edit_bones["toe.L"], (0.1, 0.21, 0.02), (0.1, 0.25, 0.02))
    bpy.ops.object.mode_set(mode="OBJECT")
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
    assert not addon("pose.curves").tell_all(walker, ["hips", *(name for leg in limbs(addon) for name in leg.bones)])
    sample = sampled(addon, walker)
    assert not sample.in_bulk
    assert error(bpy, walker, sample) < SINGLE


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
    finish = addon("stages").finish
    same = finish(module.proven(sample, walker, limbs(addon), "hips", [3, 50]))
    assert same is sample
    other = finish(module.proven(sample, walker, limbs(addon), "hips", [3, 41]))
    assert not other.in_bulk and error(bpy, walker, other) < SINGLE


def test_frames_looked_at_are_the_ends_the_middle_and_some_that_stay_the_same(addon):
    module = addon("pose.sample")
    spots = module._spots(range(100, 1100))
    assert {100, 600, 1099} < set(spots) and 4 <= len(spots) <= 6
    assert module._spots(range(100, 1100)) == spots


def test_few_frames_are_stepped(addon, walker):
    assert not addon("pose.sample").sample(walker, limbs(addon), "hips", [1, 2, 30]).in_bulk


def test_part_of_a_sample_in_bulk_is_in_bulk(addon, walker):
    part = sampled(addon, walker).cut(slice(10, 20))
    assert part.in_bulk and part.frames.tolist() == list(range(11, 21))


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
