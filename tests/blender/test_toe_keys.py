# SPDX-License-Identifier: GPL-3.0-or-later
"""Toes in the keyed scene: on the ground while their ball stands, in any rotation mode, or left alone and told."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from planted import bone_curves, plant, record_of
from scene import leg_names, surface, watch

TOES = ("toe.L", "toe.R")


@pytest.mark.parametrize("clip", ["bvh/ad_zombie_walk.bvh", "fbx/cmu_07_01_walk.fbx"])
def test_toes_of_real_clips_stay_on_the_ground_through_the_roll(bpy, data, addon, clip) -> None:
    from ik2bone.rotations import move_points
    from ik2bone.sole.measure import measure_sole

    from demo.clips import load
    from demo.grounds import make_ground

    armature, scene = load(bpy, data / clip), bpy.context.scene
    bpy.context.view_layer.objects.active = armature
    frames = range(scene.frame_start, scene.frame_end + 1)
    legs = addon("rig.find").find_legs(armature, (frames[0], frames[-1]))
    before = addon("pose.sample").sample(armature, legs, None, frames).clip
    sole, size = measure_sole(before), 20 * before.leg
    hips = before.hip.mean(axis=(0, 1))
    ground = make_ground(bpy, "hills", centre=hips, size=(size, size), base_height=sole.floor, leg=before.leg)
    plant(bpy, surface=ground.name, frame_range="SCENE")
    record = record_of(armature)
    names = leg_names(armature, [leg.foot for leg in legs])
    after, ask = watch(scene, armature, names, frames), surface(bpy, ground)
    for span in record["report"]["spans"]:
        if span["part"] == "ball":
            rows, leg = slice(span["start"] - frames[0], span["end"] - frames[0] + 1), span["leg"]
            tip = move_points(after.toe[rows, leg], sole.tip[leg])
            hits, normals, _found = ask(tip, None)
            assert np.abs(np.sum((tip - hits) * normals, axis=1)).max() < 0.004 * before.leg


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"])
def test_bent_toes_are_laid_flat_in_any_rotation_mode(bpy, mode) -> None:
    from biped import make_slope, make_walker

    walker = make_walker(bpy, mode=mode)
    bend_toes(bpy, walker, mode, 0.4)
    make_slope(bpy)
    plant(bpy, surface="Slope")
    assert record_of(walker)["report"]["after"]["drift"] < 1e-3
    assert worst_tilt(bpy, walker) < 1.5


def bend_toes(bpy, walker, mode, angle) -> None:
    """Turn the toes up from frame 6 on, key by key."""
    from mathutils import Quaternion

    name = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for toe in TOES:
        bone = walker.pose.bones[toe]
        axis = bone.bone.matrix_local.to_3x3().inverted() @ _x()
        for frame, share in ((1, 0.0), (30, 0.0), (34, 1.0), (61, 1.0)):
            turn = Quaternion(axis, share * angle)
            values = {"rotation_quaternion": turn, "rotation_axis_angle": (share * angle, *axis)}
            setattr(bone, name, values.get(name, turn.to_euler(mode if name == "rotation_euler" else "XYZ")))
            bone.keyframe_insert(name, frame=frame)
    clear = [c for c in curves(walker) if any(f'"{toe}"' in c.data_path for toe in TOES)]
    for curve in clear:
        for point in reversed([p for p in curve.keyframe_points if p.co.x not in (1, 30, 34, 61)]):
            curve.keyframe_points.remove(point)
        curve.update()


def curves(walker):
    import fingerprint

    return fingerprint.curves_of(walker.animation_data.action)


def _x():
    from mathutils import Vector

    return Vector((1.0, 0.0, 0.0))


def worst_tilt(bpy, walker) -> float:
    """Largest angle, degrees, between the toes of standing balls and the slope (0.1 along Y)."""
    normal, worst = np.array([0.0, -0.1, 1.0]) / np.hypot(0.1, 1.0), 0.0
    for span in record_of(walker)["report"]["spans"]:
        if span["part"] != "ball":
            continue
        for frame in range(span["start"], span["end"] + 1):
            bpy.context.scene.frame_set(frame)
            bone = walker.pose.bones[TOES[span["leg"]]]
            along = np.array(bone.tail - bone.head) / bone.length
            worst = max(worst, abs(np.degrees(np.arcsin(along @ normal))))
    return worst


def test_toes_under_a_constraint_are_left_alone_and_told_and_the_rest_is_planted(bpy, walker, slope) -> None:
    walker.pose.bones["toe.L"].constraints.new("LIMIT_ROTATION").use_limit_x = True
    before = {name: bone_curves(walker.animation_data.action, name) for name in TOES}
    plant(bpy, surface="Slope")
    action, report = walker.animation_data.action, record_of(walker)["report"]
    assert bone_curves(action, "toe.L") == before["toe.L"]
    assert bone_curves(action, "toe.R") != before["toe.R"]
    assert any("toe.L" in sentence and "constraint" in sentence for sentence in report["told"])
    assert report["after"]["drift"] < 1e-3


@pytest.mark.parametrize("why", ["driver", "rotation"])
def test_toes_that_keys_do_not_turn_are_told(bpy, walker, slope, why) -> None:
    if why == "driver":
        walker.pose.bones["toe.R"].driver_add("rotation_quaternion", 1).driver.expression = "0.0"
    else:
        walker.data.bones["toe.R"].use_inherit_rotation = False
    plant(bpy, surface="Slope")
    told = record_of(walker)["report"]["told"]
    assert any("toe.R" in sentence and "not laid on the ground" in sentence for sentence in told)


def test_a_locked_curve_of_toes_is_left_alone_where_keys_go_into_it(bpy, walker, slope) -> None:
    for curve in curves(walker):
        curve.lock = '"toe.L"' in curve.data_path
    before = bone_curves(walker.animation_data.action, "toe.L")
    plant(bpy, surface="Slope", output="IN_PLACE")
    assert bone_curves(walker.animation_data.action, "toe.L") == before


def test_toes_without_keys_go_back_to_their_pose_when_the_source_is_restored(bpy, walker, slope) -> None:
    bone = walker.pose.bones["toe.L"]
    action = walker.animation_data.action
    for curve in [c for c in curves(walker) if '"toe.L"' in c.data_path]:
        action.layers[0].strips[0].channelbags[0].fcurves.remove(curve)
    bone.rotation_quaternion = (0.98, 0.2, 0.0, 0.0)
    plant(bpy, surface="Slope")
    bpy.context.scene.frame_set(10)
    assert bone_curves(walker.animation_data.action, "toe.L")
    bpy.ops.ik2bone.restore()
    bpy.context.scene.frame_set(11)
    assert tuple(bone.rotation_quaternion) == pytest.approx((0.98, 0.2, 0.0, 0.0), abs=1e-6)


def test_toes_moved_within_their_feet_do_not_move_the_point_that_stands(bpy, walker, slope):
    toe = walker.pose.bones["toe.L"]
    for frame in range(1, 62):
        toe.location.y = 0.01 * np.sin(0.3 * frame)
        toe.keyframe_insert("location", frame=frame)
    plant(bpy)
    report = record_of(walker)["report"]
    (foot,) = (foot for foot in report["feet"] if foot["bone"] == "foot.L")
    for span in (span for span in report["spans"] if (span["bone"], span["part"]) == ("foot.L", "ball")):
        for frame in range(span["start"], span["end"] + 1):
            bpy.context.scene.frame_set(frame)
            matrix = np.array(walker.matrix_world @ walker.pose.bones["foot.L"].matrix)
            place = matrix[:3, :3] @ foot["ball"] + matrix[:3, 3]
            assert np.abs(place - span["anchor"]).max() < 1e-4


@pytest.mark.parametrize("lock", [False, True])
def test_toes_that_a_later_run_leaves_alone_go_back_to_the_source(bpy, walker, lock):
    rows = np.linspace(-5.0, 5.0, 81)
    corners = [(x, y, 0.06 * np.sin(9.0 * y)) for y in rows for x in (-5.0, 5.0)]
    biped.make_mesh(bpy, "Waves", corners, [(2 * n, 2 * n + 1, 2 * n + 3, 2 * n + 2) for n in range(len(rows) - 1)])

    def values():
        curves = fingerprint.curves_of(walker.animation_data.action)
        return [key.co.y for curve in curves if "toe.L" in curve.data_path for key in curve.keyframe_points]

    source = values()
    plant(bpy)
    assert np.abs(np.subtract(values(), source)).max() > 0.01
    walker.pose.bones["toe.L"].lock_rotation = (lock,) * 3
    plant(bpy, direction="DOWN" if lock else "NEAREST")
    assert values() == source
