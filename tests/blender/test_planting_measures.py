# SPDX-License-Identifier: GPL-3.0-or-later
"""Real clips that travel, planted on hills by the operator and judged from the keyed scene."""

from __future__ import annotations

import numpy as np
import pytest
from measures import Measures, measure, shortfalls
from scene import leg_names, report_of, surface, watch

CLIPS = ("bvh/cmu_ic_002_01_walk.bvh", "bvh/cmu_131_01_startwalkstop.bvh", "bvh/ad_zombie_walk.bvh",
         "fbx/cmu_07_01_walk.fbx", "fbx/ozz_pab_walk.fbx")  # fmt: skip
PLAIN_WALKS = ("cmu_ic_002_01_walk", "cmu_07_01_walk")


def plant_on(bpy, path, kind, seed=0, place=lambda armature: None, height=0.0) -> tuple[Measures, Measures, dict]:
    """Import and place a clip, plant it on a generated ground, and measure the scene before and after."""
    from demo.clips import load
    from demo.grounds import make_ground

    armature = load(bpy, path)
    place(armature)
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    bpy.context.view_layer.objects.active = armature
    hips = armature.matrix_world @ armature.pose.bones[0].head
    leg = _leg(bpy, armature, scene)
    ground = make_ground(bpy, kind, centre=hips, size=(24 * leg, 24 * leg), base_height=height, leg=leg, seed=seed)
    assert bpy.ops.ik2bone.plant_feet(
        surface=ground.name, frame_range="CUSTOM", frame_start=frames[0], frame_end=frames[-1]
    ) == {"FINISHED"}
    record = report_of(armature)
    legs = leg_names(armature, [foot["bone"] for foot in record["report"]["feet"]])
    after = watch(scene, armature, legs, frames)
    bpy.ops.ik2bone.restore()
    before = watch(scene, armature, legs, frames)
    heel = np.array([foot["heel"] for foot in record["report"]["feet"]])
    ask = surface(bpy, ground)
    return measure(before, before, ask, heel), measure(before, after, ask, heel), record


def _way(scene, armature) -> np.ndarray:
    """From where the figure is at first to where it is at last."""
    places = []
    for frame in (scene.frame_end, scene.frame_start):
        scene.frame_set(frame)
        places.append(np.array(armature.matrix_world @ armature.pose.bones[0].head))
    return places[0] - places[1]


def _leg(bpy, armature, scene) -> float:
    """Length of the longest leg by the add-on's own sampling of one frame."""
    from importlib import import_module

    from demo.session import ADDON

    chains, sample = (import_module(f"{ADDON}.{name}") for name in ("rig.find", "pose.sample"))
    legs = chains.find_legs(armature, (scene.frame_start, scene.frame_end))
    return sample.sample(armature, legs, None, [scene.frame_start]).clip.leg


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("clip", CLIPS)
def test_planted_clip_stands_on_hills(bpy, data, clip, seed) -> None:
    before, after, _ = plant_on(bpy, data / clip, "hills", seed)
    assert after.spans > 0
    assert before.drift > 0.002 and before.clearance > 0.005
    assert shortfalls(after) == {}
    assert after.thigh_jump <= 10.0
    assert after.knee_sideways <= 40.0


@pytest.mark.parametrize("clip", CLIPS)
def test_planted_clip_bends_its_knees_forward_on_steps(bpy, data, clip) -> None:
    after = plant_on(bpy, data / clip, "steps")[1]
    # Of the zombie, whose feet drag, those that step up within a tenth of a second have to be lifted suddenly.
    assert shortfalls(after).keys() <= ({"knee_pop", "foot_pop"} if "zombie" in clip else set())
    assert after.knee_pop < 12.0 and after.foot_pop < 0.07
    assert after.thigh_jump <= 12.0
    assert after.knee_sideways <= 40.0


def test_moved_turned_and_scaled_armature_stands_as_well(bpy, data) -> None:
    def place(armature) -> None:
        armature.location = (3.0, -7.0, 2.5)
        armature.rotation_euler = (0.0, 0.0, 0.8)
        armature.scale = (0.013, 0.013, 0.013)

    _, after, record = plant_on(bpy, data / CLIPS[0], "hills", place=place, height=2.5)
    assert record["report"]["leg"] < 2.0
    assert {foot["sole_from"] for foot in record["report"]["feet"]} == {"clip's floor"}
    assert shortfalls(after) == {}


@pytest.mark.parametrize("clip", PLAIN_WALKS)
def test_plain_walk_stands_on_each_foot_about_half_the_time(bpy, data, clip) -> None:
    path = next(data / name for name in CLIPS if clip in name)
    record = plant_on(bpy, path, "hills")[2]
    first, last = record["report"]["frames"]
    for leg in range(2):
        frames = set()
        for span in record["contacts"]:
            frames |= set(range(span["start"], span["end"] + 1)) if span["leg"] == leg else set()
        assert 0.45 <= len(frames) / (last - first + 1) <= 0.75


def test_pose_between_standings_is_set_down_by_the_soles_of_the_whole_clip(bpy, data) -> None:
    from demo.clips import load

    armature = load(bpy, data / CLIPS[0])
    scene = bpy.context.scene
    bpy.context.view_layer.objects.active = armature
    bpy.ops.mesh.primitive_plane_add(size=2000)
    plane = bpy.context.object
    bpy.context.view_layer.objects.active = armature
    scene.frame_set(52)
    bpy.ops.ik2bone.plant_feet(surface=plane.name)
    sole = report_of(armature)["report"]["feet"][0]["sole_height"]
    bpy.ops.ik2bone.restore()
    scene.frame_set(52)
    bpy.ops.ik2bone.plant_feet(surface=plane.name, frame_range="CURRENT")
    balls = [(armature.matrix_world @ armature.pose.bones[f"CC_Base_{side}_ToeBase"].head).z for side in "LR"]
    assert balls == pytest.approx([sole, sole], abs=0.5)
