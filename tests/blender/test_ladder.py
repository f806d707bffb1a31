# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's climb on its uneven ladder: hands and feet on rungs, measured on the scene without the planner's help."""

from __future__ import annotations

import numpy as np
import pytest
from planted import plant, record_of

LEG = 0.99
# A share of the leg.
TOLERANCE = 0.003


@pytest.fixture
def climb(bpy):
    """The climbing metarig and its ladder."""
    from demo import climber, ladder

    armature = climber.make_climb(bpy)
    return armature, ladder.lay_ladder(bpy)


def _touching_points(bpy, armature, frames):
    """Where soles under the balls of both feet, and the middles of the knuckles, lie (F, 4, 3), by the rest pose."""
    from demo import climber

    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        row = []
        for limb in climber.limbs():
            point = climber._sole(armature, limb) if "foot" in limb.bones[2] else climber._palm(armature, limb)
            matrix = np.array(armature.matrix_world @ armature.pose.bones[limb.bones[2]].matrix)
            row.append(matrix[:3, :3] @ point + matrix[:3, 3])
        rows.append(row)
    return np.array(rows)


def _rungs():
    """Heights of the demo's rungs."""
    from demo import climber, ladder

    offsets = np.random.default_rng(ladder.SEED).uniform(-ladder.UNEVEN, ladder.UNEVEN, climber.RUNGS)
    return climber.SPACING * np.arange(1, climber.RUNGS + 1) + offsets


def _off_rungs(points):
    """How far points (..., 3) are from the surface of the nearest rung, by the rungs' axes."""
    from demo import climber, ladder

    away = points[..., None, 1] - (climber.LADDER - ladder.DEPTH), points[..., None, 2] - _rungs()
    return np.abs(np.hypot(*away) - climber.RADIUS).min(axis=-1)


def _holding(armature, frames):
    """When limbs hold on (F, 4), by the climb's own plan."""
    from demo import climber

    time = (np.asarray(frames) - 1) / climber.FPS
    return np.stack([np.modf(time / climber.CYCLE + limb.phase + 4.0)[0] < climber.HOLD for limb in climber.limbs()], 1)


def test_the_climb_misses_its_uneven_ladder_by_centimetres(bpy, climb):
    armature, _ = climb
    frames = range(1, 242, 4)
    off = _off_rungs(_touching_points(bpy, armature, frames))[_holding(armature, frames)]
    assert 0.02 < off.max() < 0.06
    assert np.median(off) > 0.01


def test_hands_and_feet_lie_on_the_rungs_while_they_hold_on(bpy, climb):
    from demo import ladder

    armature, _ = climb
    report = ladder.plant(bpy, armature)
    # On the last frames limbs take hold whose contact is too short to be told from passing by.
    frames = range(1, 238)
    points, holding = _touching_points(bpy, armature, frames), _holding(armature, frames)
    # The height of the sole is a guess of planting, and tested by itself.
    soles = [foot["sole_height"] for foot in report["feet"][:2]]
    lowered = points - np.array([[0, 0, height - 0.017] for height in soles] + [[0, 0, 0]] * 2)
    assert _off_rungs(lowered)[holding].max() < TOLERANCE * LEG
    for limb in range(4):
        edges = np.flatnonzero(np.diff(np.pad(holding[:, limb], 1).astype(int))).reshape(-1, 2)
        for start, end in edges:
            assert np.ptp(points[start:end, limb], axis=0).max() < TOLERANCE * LEG


def test_the_report_tells_the_same(bpy, climb):
    from demo import ladder

    armature, _ = climb
    report = ladder.plant(bpy, armature)
    assert report["before"]["float"] > 0.03
    for name in ("float", "penetration", "drift", "short"):
        assert report["after"][name] < TOLERANCE * LEG
    assert report["after"]["knee_pop"] < 5.0
    assert {span["support"] for span in report["spans"]} == {"rungs"}
    assert [foot["limb"] for foot in report["feet"]] == ["foot", "foot", "hand", "hand"]


def test_a_climber_goes_along_with_a_ladder_that_moves(bpy, climb):
    from demo import ladder

    armature, parts = climb
    truck = bpy.data.objects.new("Truck", None)
    bpy.context.scene.collection.objects.link(truck)
    for part in parts:
        part.parent = truck
    for frame, aside in ((1, 0.0), (241, 4.0)):
        truck.location.x = aside
        truck.keyframe_insert("location", frame=frame)
    report = ladder.plant(bpy, armature)
    for name in ("float", "penetration", "drift", "short"):
        assert report["after"][name] < TOLERANCE * LEG
    assert report["after"]["knee_pop"] < 5.0
    frames = (1, 121, 241)
    places = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        places.append((armature.matrix_world @ armature.pose.bones["spine"].head).x - truck.location.x)
    assert np.ptp(places) < 0.01


def test_planting_twice_equals_planting_once(bpy, climb):
    import fingerprint

    from demo import ladder

    armature, _ = climb
    ladder.plant(bpy, armature)
    once = fingerprint.of_action(armature.animation_data.action)
    ladder.plant(bpy, armature)
    assert fingerprint.of_action(armature.animation_data.action) == once


def test_rungs_may_be_objects_of_their_own_scaled_unevenly(bpy, climb):
    import biped
    from test_nearest import CUBE, FACES

    from demo import climber, ladder

    armature, parts = climb
    for part in parts:
        bpy.data.objects.remove(part)
    rungs = bpy.data.collections.new("Rungs")
    bpy.context.scene.collection.children.link(rungs)
    for height in _rungs():
        rung = biped.make_mesh(bpy, "Rung", CUBE, FACES)
        rung.scale, rung.location = (0.27, 0.02, 0.015), (0.0, climber.LADDER - ladder.DEPTH, height)
        bpy.context.collection.objects.unlink(rung)
        rungs.objects.link(rung)
    plant(bpy, surface="Rungs", bones=ladder.LIMBS, direction="NEAREST")
    assert record_of(armature)["report"]["after"]["float"] < 1e-4


def test_misses_are_those_that_the_picture_rings(bpy, climb):
    from demo import ladder

    armature, _ = climb
    source = armature.animation_data.action
    report = ladder.plant(bpy, armature)
    bpy.context.scene.frame_set(70)
    assert ladder.find_misses(armature, report, 70) == []
    armature.animation_data.action = source
    bpy.context.scene.frame_set(70)
    assert len(ladder.find_misses(armature, report, 70)) >= 2
