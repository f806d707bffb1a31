# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampled poses are those that the scene shows, and taking them leaves the scene as it was."""

from __future__ import annotations

import math

import biped
import fingerprint
import ik2bone
import numpy as np
import pytest

from demo import clips

SINGLE = 5e-7


def world_pose(armature, name):
    return np.array(armature.matrix_world @ armature.pose.bones[name].matrix)


def agreement(bpy, armature, sample, legs, hips):
    """Largest difference from the main scene on five frames, over the leg."""
    scene, worst = bpy.context.scene, 0.0
    for row in np.linspace(0, len(sample.frames) - 1, 5).astype(int):
        scene.frame_set(int(sample.frames[row]))
        for column, leg in enumerate(legs):
            for name, poses in (
                (leg.thigh, sample.clip.thigh),
                (leg.shin, sample.clip.shin),
                (leg.foot, sample.clip.foot),
            ):
                worst = max(worst, np.abs(poses[row, column] - world_pose(armature, name)).max())
        for column, name in enumerate(sample.names):
            worst = max(worst, np.abs(sample.poses.world[row, column] - world_pose(armature, name)).max())
    return worst / max(sample.clip.leg, np.abs(sample.clip.foot).max())


def sampled(bpy, addon, armature, frames=None):
    """A sample of all legs and the hips, with what it was taken of."""
    scene = bpy.context.scene
    frames = frames or range(scene.frame_start, scene.frame_end + 1)
    legs = addon("rig.find").find_legs(armature, (frames[0], frames[-1]))
    hips = addon("rig.body").find_hips(armature, legs)
    return addon("pose.sample").sample(armature, legs, hips, frames), legs, hips


@pytest.mark.parametrize(
    ("clip", "action"),
    [
        ("bvh/cmu_131_01_startwalkstop.bvh", None),
        ("bvh/cmu_ic_002_01_walk.bvh", None),
        ("fbx/cmu_07_01_walk.fbx", None),
        ("fbx/ozz_pab_walk.fbx", None),
        ("gltf/CesiumMan_ozz.gltf", None),
        ("gltf/mannequiny.glb", "run"),
        ("gltf/Fox.glb", "Walk"),
    ],
)
def test_poses_are_those_of_the_main_scene(bpy, addon, data, clip, action):
    armature = clips.load(bpy, data / clip, action)
    sample, legs, hips = sampled(bpy, addon, armature)
    assert sample.clip.frames == bpy.context.scene.frame_end - bpy.context.scene.frame_start + 1
    assert agreement(bpy, armature, sample, legs, hips) < SINGLE


@pytest.fixture
def walker(bpy, data):
    """A walking CMU skeleton, cut to 40 frames."""
    armature = clips.load(bpy, data / "bvh/cmu_131_01_startwalkstop.bvh")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 300, 339
    return armature


def move_object(bpy, armature):
    armature.location, armature.rotation_euler, armature.scale = (3, -2, 1), (math.radians(-90), 0.2, 1.0), [0.01] * 3
    armature.keyframe_insert("location", frame=300)
    armature.location.x = 7
    armature.keyframe_insert("location", frame=339)


def parent_to_animated_empty(bpy, armature):
    empty = biped.make_empty(bpy, "Cart")
    empty.keyframe_insert("rotation_euler", frame=300)
    empty.rotation_euler.z = 2.0
    empty.keyframe_insert("rotation_euler", frame=339)
    armature.parent = empty


def key_scale(bpy, armature):
    for name, scale in (("LeftHip", (1.0, 1.4, 0.9)), ("Hips", (1.2, 1.2, 1.2))):
        bone = armature.pose.bones[name]
        bone.keyframe_insert("scale", frame=300)
        bone.scale = scale
        bone.keyframe_insert("scale", frame=339)


def cut_inheritance(bpy, armature):
    key_scale(bpy, armature)
    armature.data.bones["LHipJoint"].use_inherit_rotation = False
    armature.data.bones["LeftHip"].use_local_location = False
    armature.data.bones["RightKnee"].inherit_scale = "ALIGNED"
    armature.data.bones["LeftKnee"].inherit_scale = "NONE"


def constrain_the_trunk(bpy, armature):
    goal = biped.make_empty(bpy, "Goal")
    goal.rotation_euler = (0.3, 0.2, 0.1)
    armature.pose.bones["Hips"].constraints.new("COPY_ROTATION").target = goal


def stretch_time(bpy, armature):
    bpy.context.scene.render.frame_map_new = 200


@pytest.mark.parametrize(
    "change", [move_object, parent_to_animated_empty, key_scale, cut_inheritance, constrain_the_trunk, stretch_time]
)
def test_poses_follow_what_the_scene_does_to_them(bpy, addon, walker, change):
    change(bpy, walker)
    sample, legs, hips = sampled(bpy, addon, walker)
    assert agreement(bpy, walker, sample, legs, hips) < SINGLE


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"])
def test_poses_are_read_in_every_rotation_mode(bpy, addon, walker, mode):
    bone = walker.pose.bones["LeftKnee"]
    bone.rotation_mode = mode
    channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for frame, angle in ((300, 0.1), (339, 0.9)):
        setattr(bone, channel, (angle, 0.2, 0.3, 0.4)[: len(getattr(bone, channel))])
        bone.keyframe_insert(channel, frame=frame)
    sample, legs, hips = sampled(bpy, addon, walker)
    assert agreement(bpy, walker, sample, legs, hips) < SINGLE
    assert np.abs(np.diff(sample.poses.basis[:, sample.names.index("LeftKnee")], axis=0)).max() > 1e-3


@pytest.mark.parametrize("change", [key_scale, cut_inheritance, move_object])
def test_a_turned_channel_shows_as_parent_times_basis(bpy, addon, walker, change):
    change(bpy, walker)
    sample, legs, _ = sampled(bpy, addon, walker, [310])
    bpy.context.scene.frame_set(310)
    for bone in (walker.pose.bones[leg.thigh] for leg in legs):
        bone.rotation_euler.rotate_axis("Y", 0.7)
        bpy.context.view_layer.update()
        world, basis = (poses[0, sample.names.index(bone.name)] for poses in (sample.poses.world, sample.poses.basis))
        difference = world_pose(walker, bone.name) - world @ np.linalg.inv(basis) @ np.array(bone.matrix_basis)
        assert np.abs(difference).max() < 1e-6 * sample.clip.leg


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("inherits", [True, False])
def test_placing_tells_where_a_location_leads(bpy, addon, data, local, inherits):
    armature = clips.load(bpy, data / "fbx/ozz_pab_walk.fbx")
    bone = armature.data.bones["Spine"]
    bone.use_local_location, bone.use_inherit_rotation = local, inherits
    sample, _, hips = sampled(bpy, addon, armature, [20])
    assert hips == "Spine"
    bpy.context.scene.frame_set(20)
    before = world_pose(armature, hips)[:3, 3]
    step = np.array([3.0, -5.0, 8.0])
    armature.pose.bones[hips].location += type(armature.pose.bones[hips].location)(step)
    bpy.context.view_layer.update()
    assert np.abs(world_pose(armature, hips)[:3, 3] - before - sample.placing[hips][0] @ step).max() < 1e-6


def test_the_scene_stays_as_it_was(bpy, addon, walker):
    scene = bpy.context.scene
    scene.frame_set(321)
    walker.pose.bones["LeftKnee"].rotation_euler.x = 1.25
    bpy.context.view_layer.update()
    before = world_pose(walker, "LeftAnkle")
    sampled(bpy, addon, walker)
    assert list(bpy.data.scenes) == [scene] and bpy.context.scene == scene and scene.frame_current == 321
    assert walker.pose.bones["LeftKnee"].rotation_euler.x == 1.25
    assert (world_pose(walker, "LeftAnkle") == before).all()
    bpy.context.view_layer.update()
    assert (world_pose(walker, "LeftAnkle") == before).all()
    assert list(walker.users_scene) == [scene]


def test_an_error_on_the_way_leaves_no_scene_behind(bpy, addon, walker):
    scene = bpy.context.scene
    scene.frame_set(321)
    with pytest.raises(KeyError, match="on the way"), addon("pose.evaluate").stepping(walker) as step:
        step(305)
        raise KeyError("on the way")
    assert list(bpy.data.scenes) == [scene] and scene.frame_current == 321


def test_the_present_pose_is_read_with_what_was_set_by_hand(bpy, addon, walker):
    bpy.context.scene.frame_set(321)
    walker.pose.bones["LeftKnee"].rotation_euler.x = 1.25
    legs = addon("rig.find").find_legs(walker, (300, 339))
    module = addon("pose.sample")
    sample = addon("progress").finish(module.sampling(module.Subject(walker, legs, "Hips"), [321], present=True))
    bpy.context.view_layer.update()
    assert np.abs(sample.clip.foot[0, 0] - world_pose(walker, "LeftAnkle")).max() == 0.0
    assert bpy.context.scene.frame_current == 321


@pytest.mark.parametrize(("bone", "named"), [("LeftKnee", "LeftKnee"), ("LHipJoint", "LHipJoint"), ("Hips", "Hips")])
def test_nan_in_a_curve_is_refused_with_bone_and_frame(bpy, addon, walker, bone, named):
    legs = addon("rig.find").find_legs(walker, (300, 339))
    path = f'pose.bones["{bone}"].rotation_euler'
    curve = next(c for c in fingerprint.curves_of(walker.animation_data.action) if c.data_path == path)
    point = next(point for point in curve.keyframe_points if point.co.x == 312)
    point.co.y = math.nan
    with pytest.raises(addon("errors").Refusal, match=f"bone {named} .*not a number on frame 312"):
        addon("pose.sample").sample(walker, legs, "Hips", range(300, 340))
    assert len(bpy.data.scenes) == 1


@pytest.mark.parametrize(("scaled", "named"), [("RightKnee", "RightKnee"), ("LHipJoint", "LeftHip")])
def test_a_bone_scaled_to_nothing_is_refused(bpy, addon, walker, scaled, named):
    legs = addon("rig.find").find_legs(walker, (300, 339))
    walker.pose.bones[scaled].scale.z = 0.0
    with pytest.raises(addon("errors").Refusal, match=f"bone {named} is scaled to nothing on frame 300"):
        addon("pose.sample").sample(walker, legs, None, [300, 301])


def test_an_armature_disabled_in_viewports_is_refused(bpy, addon, walker):
    walker.hide_viewport = True
    legs = (addon("rig.limb").Limb("LeftHip", "LeftKnee", "LeftAnkle", "LeftToe"),)
    module = addon("pose.sample")
    for present in (False, True):
        with pytest.raises(addon("errors").Refusal, match="disabled in viewports"):
            addon("progress").finish(module.sampling(module.Subject(walker, legs, None), [321], present=present))


def test_frames_a_second_are_those_of_the_scene(bpy, addon, walker):
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 30, 1.001
    sample, *_ = sampled(bpy, addon, walker, [300, 301])
    assert sample.clip.fps == pytest.approx(29.97003, abs=1e-5)


def test_own_scales_are_the_scale_channels(bpy, addon, walker):
    walker.pose.bones["RightHip"].scale = (1.0, -1.5, 2.0)
    sample, legs, _ = sampled(bpy, addon, walker, [300])
    column = [leg.thigh for leg in legs].index("RightHip")
    assert sample.clip.scale[0, column, 0].tolist() == [1.0, -1.5, 2.0]


def forward_and_down(clip, leg):
    """The toes beyond the ball over the foot's length, ahead and up, on the frames where the ball is lowest."""
    low = np.argsort(clip.ball[:, leg, 2])[: len(clip.ball) // 4]
    foot, toes = (clip.ball - clip.foot[..., :3, 3])[low, leg], (clip.tip - clip.ball)[low, leg]
    heading = foot[:, :2] / np.linalg.norm(foot[:, :2], axis=1)[:, None]
    size = np.median(np.linalg.norm(foot, axis=1))
    return np.median(np.sum(toes[:, :2] * heading, axis=1)) / size, np.median(toes[:, 2]) / size


@pytest.mark.parametrize(
    ("clip", "action"),
    [
        ("bvh/cmu_131_01_startwalkstop.bvh", None),
        ("bvh/cmu_ic_002_01_walk.bvh", None),
        ("bvh/ad_zombie_walk.bvh", None),
        ("fbx/cmu_07_01_walk.fbx", None),
        ("fbx/ozz_pab_walk.fbx", None),
        ("gltf/CesiumMan_ozz.gltf", None),
        ("gltf/mannequiny.glb", "run"),
    ],
)
def test_toes_lie_ahead_of_the_ball_wherever_tails_point(bpy, addon, data, clip, action):
    sample, legs, _ = sampled(bpy, addon, clips.load(bpy, data / clip, action))
    for leg in range(len(legs)):
        ahead, up = forward_and_down(sample.clip, leg)
        assert 0.08 < ahead < 0.8 and abs(up) < 0.35


def test_a_foot_without_toes_ends_at_its_tail_or_under_the_ankle(bpy, addon, data):
    sample, *_ = sampled(bpy, addon, clips.load(bpy, data / "bvh/cmu_03_02_uneven.bvh"), range(2, 200))
    assert not sample.clip.has_toe.any() and (sample.clip.tip == sample.clip.ball).all()
    length = np.linalg.norm(sample.clip.ball - sample.clip.ankle, axis=-1) / sample.clip.leg
    assert 0.1 < np.median(length) < 0.3
    fox, legs, _ = sampled(bpy, addon, clips.load(bpy, data / "gltf/Fox.glb", "Walk"))
    wrists = [i for i, leg in enumerate(legs) if leg.toe is None]
    assert len(wrists) == 2
    assert np.median(fox.clip.ball[:, wrists, 2] - fox.clip.ankle[:, wrists, 2]) < 0.0


@pytest.mark.parametrize("degrees", [0.0, 20.0])
def test_the_ball_of_a_foot_without_toes_does_not_depend_on_how_it_stands(bpy, addon, data, degrees):
    """In this clip the tail of the right foot is over the ankle when the foot is low, and that of the left is not."""
    armature = clips.load(bpy, data / "gltf/RobotExpressive_raylib.glb", "Robot_Running")
    armature.rotation_mode, armature.rotation_euler = "XYZ", (np.radians(degrees), 0.0, 0.0)
    sample, legs, _ = sampled(bpy, addon, armature)
    for column, leg in enumerate(legs):
        away = np.linalg.inv(sample.clip.foot[0, column]) @ np.append(sample.clip.ball[0, column], 1.0)
        assert away[:3] == pytest.approx([0.0, armature.data.bones[leg.foot].length, 0.0], abs=1e-6)


@pytest.mark.parametrize("mirrored", [1.0, -1.0])
def test_hinge_of_the_rest_pose_is_told_where_that_is_bent(bpy, addon, mirrored):
    """As it is where the knee is well bent. The left one is moved forward by 0.05; the right leg rests straight."""
    from mathutils import Vector

    walker = biped.make_walker(bpy)
    with biped.editing(bpy, walker) as bones:
        thigh, shin = (bones[f"{name}.L"] for name in ("thigh", "shin"))
        thigh.tail = shin.head = shin.head + Vector((0.0, 0.05, 0.0))
    walker.scale.x = mirrored
    bpy.context.view_layer.update()
    found, legs, _ = sampled(bpy, addon, walker, range(1, 30))
    left = next(index for index, leg in enumerate(legs) if leg.foot == "foot.L")
    clip = found.clip
    own = ik2bone.hinge_of(clip.thigh, clip.shin, clip.ankle)[np.argmax(np.sin(clip.bend)[:, left]), left]
    assert own @ clip.rest_hinge[left] > 0.99
    assert not clip.rest_hinge[1 - left].any()
