# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rig of the data folder is planted, or refused with one sentence and left as it was."""

from __future__ import annotations

import numpy as np
import pytest
from scene import leg_names, report_of, surface, watch

PLANTED = {
    "bvh/ad_cmu_jumping_jacks.bvh": None,
    "bvh/ad_jesse_dance.bvh": None,
    "bvh/cmu_03_02_uneven.bvh": None,
    "bvh/cmu_ic_002_03_run.bvh": None,
    "bvh/cmu_ic_003_02_uneven.bvh": None,
    "fbx/cmu_09_11_run.fbx": None,
    "gltf/CesiumMan_ozz.gltf": None,
    "gltf/Fox.glb": "Walk",
    "gltf/KayKit_Knight.glb": "Walking_A",
    "gltf/mannequiny.glb": "run",
}
REFUSED = {
    "fbx/ozz_pab_arnaud_mesh.fbx": "plays no action",
}


def show(bpy, path, action=None):
    """Import a clip over a rough plane at its own floor; returns the armature and the plane."""
    from demo.clips import load
    from demo.grounds import make_ground

    armature = load(bpy, path, action)
    scene = bpy.context.scene
    bpy.context.view_layer.objects.active = armature
    points = []
    for frame in np.linspace(scene.frame_start, scene.frame_end, 5).astype(int):
        scene.frame_set(int(frame))
        points.append([armature.matrix_world @ bone.head for bone in armature.pose.bones])
    points = np.array(points)
    height, leg = points[..., 2].min(axis=1), 0.5 * np.ptp(points[..., 2])
    scene.frame_set(scene.frame_start)
    size = 8 * leg + 2 * np.ptp(points, axis=(0, 1)).max()
    ground = make_ground(bpy, "hills", centre=points.mean(axis=(0, 1)), size=(size, size),
                         base_height=float(np.median(height)), leg=leg)  # fmt: skip
    return armature, ground


@pytest.mark.parametrize("clip", PLANTED)
def test_clip_is_planted_with_all_numbers_finite_and_no_sole_under_ground(bpy, data, clip) -> None:
    armature, ground = show(bpy, data / clip, PLANTED[clip])
    assert bpy.ops.ik2bone.plant_feet(surface=ground.name) == {"FINISHED"}
    report = report_of(armature)["report"]
    first, last = report["frames"]
    legs = leg_names(armature, [foot["bone"] for foot in report["feet"]])
    after = watch(bpy.context.scene, armature, legs, range(first, last + 1))
    assert np.isfinite(after.ball).all()
    for name in ("heel", "ball"):
        local = np.array([foot[name] for foot in report["feet"]])
        points = np.einsum("flij,lj->fli", after.foot[..., :3, :3], local) + after.ankle
        hits, _, found = surface(bpy, ground)(points.reshape(-1, 3), np.array([0.0, 0.0, -1.0]))
        assert found.all()
        assert np.max(hits[:, 2] - points.reshape(-1, 3)[:, 2]) <= 0.03 * after.leg


@pytest.mark.parametrize("clip", REFUSED)
def test_rig_without_a_foot_or_an_action_is_refused_in_one_sentence(bpy, data, clip) -> None:
    _, ground = show(bpy, data / clip) if "arnaud" not in clip else (None, _plane(bpy, data / clip))
    names = sorted(action.name for action in bpy.data.actions)
    with pytest.raises(RuntimeError, match=REFUSED[clip]) as refusal:
        bpy.ops.ik2bone.plant_feet(surface=ground.name)
    assert len(str(refusal.value).strip().splitlines()) == 1
    assert sorted(action.name for action in bpy.data.actions) == names


def _plane(bpy, path):
    from demo.clips import load

    armature = load(bpy, path)
    bpy.ops.mesh.primitive_plane_add(size=10)
    plane = bpy.context.object
    bpy.context.view_layer.objects.active = armature
    return plane
