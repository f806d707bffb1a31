# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest point of a surface, however its object is placed, and hands and feet planted there."""

from __future__ import annotations

from itertools import product

import biped
import numpy as np
import pytest
from planted import outcome_of, plant, record_of

CUBE = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def _box(bpy, name="Box", **placing):
    ob = biped.make_mesh(bpy, name, CUBE, FACES)
    for key, value in placing.items():
        setattr(ob, key, value)
    bpy.context.view_layer.update()
    return ob


def _nearest_of_box(ob, points, steps=161):
    """Distances (N,) of points from a box, by a dense cloud of points on its faces: never less, and little more."""
    line = np.linspace(-1.0, 1.0, steps)
    a, b = (grid.ravel() for grid in np.meshgrid(line, line))
    ends = [np.full_like(a, side) for side in (-1.0, 1.0)]
    faces = [np.roll(np.stack([end, a, b], axis=1), axis, axis=1) for end in ends for axis in range(3)]
    matrix = np.array(ob.matrix_world)
    cloud = np.concatenate(faces) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.array([np.linalg.norm(cloud - point, axis=1).min() for point in points])


@pytest.mark.parametrize(
    "placing",
    [
        {"location": (1.0, 2.0, 3.0), "rotation_euler": (0.4, -0.8, 2.0)},
        {"scale": (2.0, 0.05, 0.1), "rotation_euler": (0.3, 0.2, 0.9), "location": (-1.0, 0.5, 0.0)},
        {"scale": (-0.5, 1.5, 0.2), "rotation_euler": (0.0, 0.6, 0.0)},
        {"scale": (1.0, 0.0, 1.0)},
    ],
)
def test_the_nearest_point_is_that_of_the_world_however_an_object_is_placed(bpy, ground_of, placing):
    ob = _box(bpy, **placing)
    points = np.random.default_rng(0).uniform(-3.0, 3.0, (60, 3))
    hits, normals, found = ground_of(ob, nearest=True)(points, None)
    distance = np.linalg.norm(points - hits, axis=1)
    assert found.all()
    np.testing.assert_allclose(distance, _nearest_of_box(ob, points), atol=0.02)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    if placing.get("scale", (1, 1, 1))[1]:
        matrix = np.linalg.inv(np.array(ob.matrix_world))
        outside = (np.abs(points @ matrix[:3, :3].T + matrix[:3, 3]) > 1.0).any(axis=1)
        assert (np.sum((points - hits) * normals, axis=1)[outside] > -1e-5).all()


def test_of_several_surfaces_the_nearest_counts_and_is_told(bpy, ground_of):
    boxes = [_box(bpy, f"Box {i}", location=(3.0 * i, 0.0, 0.0), scale=(0.2, 0.4, 0.6)) for i in range(12)]
    ground = ground_of(*boxes, nearest=True)
    points = np.array([[3.0 * i + 0.3, 0.1, 0.1] for i in range(12)])
    hits, _, found = ground(points, None)
    np.testing.assert_allclose(hits, points - [0.1, 0.0, 0.0], atol=1e-5)
    assert [ground.support(hit, 0).name for hit in hits] == [box.name for box in boxes]


def test_the_nearest_point_of_a_moving_surface_is_that_of_the_frame(bpy, ground_of):
    ob = _box(bpy, scale=(0.2, 0.4, 0.6))
    for frame, x in ((1, 0.0), (11, 5.0)):
        ob.location.x = x
        ob.keyframe_insert("location", frame=frame)
    for point in (p for curve in _curves(ob) for p in curve.keyframe_points):
        point.interpolation = "LINEAR"
    bpy.context.scene.frame_set(1)
    ground = ground_of(ob, frames=range(1, 12), nearest=True)
    frames = np.arange(11)
    points = np.stack([0.5 * frames + 0.5, 0.1 + 0 * frames, 0.1 + 0 * frames], axis=1)
    hits, _, _ = ground.ask(points, None, frames)
    np.testing.assert_allclose(points - hits, np.tile([0.3, 0.0, 0.0], (11, 1)), atol=1e-5)


def _curves(ob):
    import fingerprint

    return fingerprint.curves_of(ob.animation_data.action)


@pytest.fixture
def arms(bpy, walker):
    """The walker, standing still, with arms whose hands come forward twice, to 3 cm before y = 0.45."""
    with biped.editing(bpy, walker) as bones:
        for side, x in biped.SIDES.items():
            line = [(x + 0.1 * np.sign(x), y, z) for y, z in ((0.0, 1.4), (0.02, 1.1), (0.05, 0.82))]
            parent = bones["chest"]
            for name, head, tail in zip(("arm", "fore"), line, line[1:], strict=False):
                parent = biped.add_bone(bones, f"{name}.{side}", parent, head, tail)
            x, y, z = line[-1]
            biped.add_bone(bones, f"hand.{side}", parent, line[-1], (x, y + 0.01, z - 0.1))
    walker.animation_data_clear()
    for bone in walker.pose.bones:
        bone.location, bone.rotation_quaternion = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    _key_arms(bpy, walker)
    return walker


def _key_arms(bpy, walker):
    """Bend shoulders and elbows about X: hands forward on frames 16 to 30 and 46 to 60."""
    for frame in range(1, 76):
        phase = np.clip((np.abs((frame - 1) % 30 - 22) - 7) / 8.0, 0.0, 1.0)
        share = 1.0 - phase**2 * (3.0 - 2.0 * phase) if 8 < frame < 68 else 0.0
        for side in biped.SIDES:
            for name, most in (("arm", 0.35), ("fore", 1.0), ("hand", 0.25)):
                bone = walker.pose.bones[f"{name}.{side}"]
                turn = 0.5 * most * share
                bone.rotation_quaternion = (np.cos(turn), np.sin(turn), 0.0, 0.0)
                bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(1)


def _hands(bpy, walker, frames):
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        rows.append([walker.matrix_world @ walker.pose.bones[f"hand.{side}"].tail for side in biped.SIDES])
    return np.array(rows)


HANDS = "hand.L, hand.R"


def test_hands_come_to_lie_on_a_wall_and_stay_there(bpy, arms):
    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    wall = _box(bpy, "Wall", scale=(3.0, 0.1, 3.0), location=(0.0, reach + 0.13, 0.0))
    plant(bpy, bones=HANDS, direction="NEAREST")
    record = record_of(arms)
    assert {span["bone"] for span in record["contacts"]} == {"hand.L", "hand.R"}
    assert {span["support"] for span in record["contacts"]} == {"Wall"}
    for span in record["report"]["spans"]:
        path = _hands(bpy, arms, range(span["start"], span["end"] + 1))[:, "LR".index(span["bone"][-1])]
        np.testing.assert_allclose(path[:, 1], reach + 0.03, atol=1e-4)
        assert np.ptp(path, axis=0).max() < 1e-4
    assert len(record["report"]["spans"]) == 4
    assert record["report"]["before"]["float"] == pytest.approx(0.03, abs=0.02)
    assert record["report"]["after"]["float"] < 1e-4
    assert wall.name in record["report"]["surfaces"]


def test_hands_leave_everything_else_alone(bpy, arms):
    from planted import bone_curves

    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    _box(bpy, "Wall", scale=(3.0, 0.1, 3.0), location=(0.0, reach + 0.13, 0.0))
    free = [*range(1, 5), *range(71, 76)]
    before = _hands(bpy, arms, free)
    plant(bpy, bones=HANDS, direction="NEAREST")
    np.testing.assert_allclose(_hands(bpy, arms, free), before, atol=1e-5)
    planted = arms.animation_data.action
    assert not any(bone_curves(planted, name) for name in ("hips", "thigh.L", "foot.R", "chest"))


def test_a_single_hand_is_enough_and_the_run_is_repeatable(bpy, arms):
    import fingerprint

    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    _box(bpy, "Wall", scale=(3.0, 0.1, 3.0), location=(0.0, reach + 0.13, 0.0))
    plant(bpy, bones="fore.L", direction="NEAREST")
    once = fingerprint.of_action(arms.animation_data.action)
    assert {span["bone"] for span in record_of(arms)["contacts"]} == {"hand.L"}
    plant(bpy, bones="fore.L", direction="NEAREST")
    assert fingerprint.of_action(arms.animation_data.action) == once


def test_hands_planted_in_place_and_as_a_pose(bpy, arms):
    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    _box(bpy, "Wall", scale=(3.0, 0.1, 3.0), location=(0.0, reach + 0.13, 0.0))
    plant(bpy, bones=HANDS, direction="NEAREST", output="IN_PLACE")
    np.testing.assert_allclose(_hands(bpy, arms, [23, 53])[..., 1], reach + 0.03, atol=1e-4)
    bpy.context.scene.frame_set(15)
    plant(bpy, bones=HANDS, direction="NEAREST", frame_range="CURRENT")
    np.testing.assert_allclose(_hands(bpy, arms, [15])[..., 1], reach + 0.03, atol=1e-4)


@pytest.mark.parametrize("wall", ["Wall", ""], ids=["named", "all surfaces"])
def test_hands_hold_on_to_the_wall_of_a_lift_that_carries_the_planted_feet(bpy, arms, wall):
    """The lift takes hips and arms farther along than hands look for surfaces around where the clip has them."""
    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    lift = _box(bpy, "Lift", scale=(5.0, 5.0, 0.1), location=(0.0, 0.0, -0.1))
    side = _box(bpy, "Wall", scale=(0.6, 0.004, 20.0), location=(0.0, (reach + 0.05) / 5.0, 0.0))
    side.parent = lift
    for frame, height in ((1, -0.1), (31, 0.9), (75, 1.4)):
        lift.location.z = height
        lift.keyframe_insert("location", frame=frame)
    plant(bpy, chains="LEGS")
    plant(bpy, bones=HANDS, direction="NEAREST", surface=wall)
    path, heights = _hands(bpy, arms, range(1, 76)), []
    for frame in range(1, 76):
        bpy.context.scene.frame_set(frame)
        heights.append(lift.location.z)
    aboard = path - np.array(heights)[:, None, None] * [0.0, 0.0, 1.0]
    for start, end in ((17, 29), (47, 59)):
        np.testing.assert_allclose(path[start:end, :, 1], reach + 0.03, atol=2e-4)
        assert np.ptp(aboard[start:end], axis=0).max() < 2e-4


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE", "NLA_LAYER"])
def test_hands_that_the_hips_take_off_a_wall_are_told_until_they_are_planted_again(bpy, arms, options, addon, output):
    """By legs that were planted after them; planted again as before, these take nothing along."""
    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    _box(bpy, "Wall", scale=(3.0, 0.1, 3.0), location=(0.0, reach + 0.13, 0.0))
    _box(bpy, "Floor", scale=(5.0, 5.0, 0.1), location=(0.0, 0.0, -0.15))
    hands = options(bones=HANDS, direction="NEAREST", surface="Wall", output=output)
    legs, told = options(surface="Floor", chains="LEGS", output=output), []
    for given in (hands, legs, hands, legs):
        warnings = outcome_of(addon, bpy, [arms], given).warnings
        told += [[sentence for sentence in warnings if "took hand.L, hand.R along" in sentence]]
    assert [len(sentences) for sentences in told] == [0, 1, 0, 0]


def _plant_hands_and_legs(bpy, arms, options, addon, output, between=lambda: None, **of_legs):
    """Plant the hands on a wall and then, with these options, the legs; the sentences that hips took hands along."""
    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    _box(bpy, "Wall", scale=(3.0, 0.1, 3.0), location=(0.0, reach + 0.13, 0.0))
    _box(bpy, "Floor", scale=(5.0, 5.0, 0.1), location=(0.0, 0.0, -0.15))
    outcome_of(addon, bpy, [arms], options(bones=HANDS, direction="NEAREST", surface="Wall"))
    between()
    legs = options(surface="Floor", chains="LEGS", output=output, **of_legs)
    return [sentence for sentence in outcome_of(addon, bpy, [arms], legs).warnings if " along, off " in sentence]


def test_hips_that_move_while_hands_touch_nothing_take_none_off_the_wall(bpy, arms, options, addon):
    late = {"frame_range": "CUSTOM", "frame_start": 66, "frame_end": 75}
    assert not _plant_hands_and_legs(bpy, arms, options, addon, "NEW_ACTION", **late)


def test_hips_of_a_restored_source_take_no_planted_hands_along(bpy, arms, options, addon):
    """Its contacts tell of hands that its keys do not plant."""
    assert not _plant_hands_and_legs(bpy, arms, options, addon, "IN_PLACE", lambda: addon("run.restore").restore(arms))


@pytest.mark.parametrize("parent", ["", "hips"])
def test_hands_that_their_controls_hold_on_the_wall_are_not_taken_along(bpy, arms, options, addon, parent):
    """Unless the hips carry the controls."""
    poses = _poses_of_hands(bpy, arms)
    with biped.editing(bpy, arms) as bones:
        for side in biped.SIDES:
            hand = bones[f"hand.{side}"]
            biped.add_bone(bones, f"ik.{side}", bones.get(parent), hand.head, hand.tail).roll = hand.roll
    for (frame, side), pose in poses.items():
        bpy.context.scene.frame_set(frame)
        control = arms.pose.bones[f"ik.{side}"]
        control.matrix = pose
        for channel in ("location", "rotation_quaternion"):
            control.keyframe_insert(channel, frame=frame)
    for side, (kind, bone) in product(biped.SIDES, (("IK", "fore"), ("COPY_ROTATION", "hand"))):
        constraint = arms.pose.bones[f"{bone}.{side}"].constraints.new(kind)
        constraint.target, constraint.subtarget = arms, f"ik.{side}"
        if kind == "IK":
            constraint.chain_count = 2
    bpy.context.scene.frame_set(1)
    assert len(_plant_hands_and_legs(bpy, arms, options, addon, "NEW_ACTION")) == bool(parent)


def _poses_of_hands(bpy, arms):
    poses = {}
    for frame in range(1, 76):
        bpy.context.scene.frame_set(frame)
        for side in biped.SIDES:
            poses[frame, side] = arms.pose.bones[f"hand.{side}"].matrix.copy()
    return poses


def test_hands_rest_on_a_table_below_them_under_direction_down(bpy, arms):
    hands = _hands(bpy, arms, range(1, 76))
    high = hands[22, 0]
    _box(bpy, "Table", scale=(1.0, 0.2, 0.05), location=(0.0, high[1] + 0.05, high[2] - 0.07))
    _box(bpy, "Floor", scale=(5.0, 5.0, 0.1), location=(0.0, 0.0, -0.1))
    plant(bpy, bones=HANDS)
    np.testing.assert_allclose(_hands(bpy, arms, [22, 52])[..., 2], high[2] - 0.02, atol=1e-4)


def test_gloves_touch_the_wall_instead_of_bones(bpy, arms):
    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    for side in biped.SIDES:
        glove = _box(bpy, f"Glove {side}", scale=(0.02, 0.02, 0.02))
        glove.parent, glove.parent_type, glove.parent_bone = arms, "BONE", f"hand.{side}"
    _box(bpy, "Wall", scale=(3.0, 0.1, 3.0), location=(0.0, reach + 0.13, 0.0))
    plant(bpy, bones=HANDS, direction="NEAREST")
    feet = record_of(arms)["report"]["feet"]
    assert [foot["sole_from"] for foot in feet] == ["mesh", "mesh"]
    assert 0.019 < feet[0]["sole_height"] < 0.036
    np.testing.assert_allclose(_hands(bpy, arms, [23, 53])[..., 1], reach + 0.03 - feet[0]["sole_height"], atol=2e-3)
    assert record_of(arms)["report"]["surfaces"] == ["Wall"]


def test_feet_and_hands_are_told_apart(bpy, arms, options, addon):
    reach = _hands(bpy, arms, range(1, 76))[..., 1].max()
    _box(bpy, "Wall", scale=(3.0, 0.1, 3.0), location=(0.0, reach + 0.13, 0.0))
    outcome = outcome_of(addon, bpy, [arms], options(bones=HANDS, direction="NEAREST"))
    assert outcome.summary.startswith("Planted 2 hands, ")
    assert [foot["limb"] for foot in record_of(arms)["report"]["feet"]] == ["hand", "hand"]


def test_a_wall_out_of_reach_is_refused(bpy, arms):
    import fingerprint

    _box(bpy, "Wall", location=(0.0, 5.0, 0.0))
    before = fingerprint.of_scene(bpy)
    with pytest.raises(RuntimeError, match="no surface lies within reach of the limbs of Walker: nothing but Wall"):
        bpy.ops.ik2bone.plant_feet(bones=HANDS, direction="NEAREST")
    assert fingerprint.of_scene(bpy) == before
