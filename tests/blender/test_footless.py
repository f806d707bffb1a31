# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs without a foot under the shin: feet that hang elsewhere go along; where there are none, shins stand."""

from __future__ import annotations

import biped
import numpy as np
import pytest
from planted import plant
from scene import report_of, surface
from test_chains import frame_range, load
from test_every_clip import show

FRAMES = range(1, biped.LAST + 1)
SIDES = ("L", "R")
RISE = 0.1


def edit(bpy, armature, change):
    with biped.editing(bpy, armature) as bones:
        change(bones)


def remove_feet(bones):
    for name in [bone.name for bone in bones if bone.name.split(".")[0] in {"foot", "toe"}]:
        bones.remove(bones[name])


@pytest.fixture
def pegs(bpy, walker):
    """A walker whose shins are the last bones of its legs."""
    edit(bpy, walker, remove_feet)
    return walker


@pytest.fixture
def loose(bpy, walker):
    """A walker whose feet hang under no shin, with keys of their own that let them go on as before."""
    feet = [walker.pose.bones[f"foot.{side}"] for side in SIDES]
    poses = [[foot.matrix.copy() for foot in feet] for frame in FRAMES if bpy.context.scene.frame_set(frame) is None]

    def unhang(bones):
        for side in SIDES:
            bones[f"foot.{side}"].parent = None

    edit(bpy, walker, unhang)
    for frame, row in zip(FRAMES, poses, strict=True):
        for side, pose in zip(SIDES, row, strict=True):
            foot = walker.pose.bones[f"foot.{side}"]
            foot.matrix = pose
            for name in ("location", "rotation_quaternion"):
                foot.keyframe_insert(name, frame=frame)
    return walker


def joints(bpy, armature, names, point="head", frames=FRAMES):
    """Heads or tails of bones (F, L, 3) in the world, by stepping."""
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        rows.append([armature.matrix_world @ getattr(armature.pose.bones[name], point) for name in names])
    return np.array(rows)


def named(pattern):
    return [pattern.format(side) for side in SIDES]


@pytest.mark.parametrize("action", ["Robot_Walking", "Robot_Death"])
def test_feet_that_hang_elsewhere_are_found_at_the_ends_of_their_shins(bpy, addon, data, action):
    armature = load(bpy, data, f"gltf/RobotExpressive_raylib.glb:{action}")
    legs = addon("rig.find").find_legs(armature, frame_range(bpy))
    assert [leg.bones for leg in legs] == [
        tuple(f"{part}.{side}" for part in ("UpperLeg", "LowerLeg", "Foot")) for side in SIDES
    ]
    assert all(leg.loose for leg in legs)


def test_a_single_pose_in_the_air_does_not_make_legs_of_fingers(bpy, addon, data):
    armature = load(bpy, data, "gltf/RobotExpressive_raylib.glb:Robot_WalkJump")
    assert [leg.foot for leg in addon("rig.find").find_legs(armature, (3, 3))] == ["Foot.L", "Foot.R"]


def test_shins_that_end_a_leg_stand_on_the_far_end_of_their_skin(bpy, addon, data):
    armature = load(bpy, data, "gltf/greenman.glb:2_move")
    legs = addon("rig.find").find_legs(armature, frame_range(bpy))
    assert [leg.bones for leg in legs] == [("hip_L", "leg_L"), ("hip_R", "leg_R")]
    body = bpy.data.objects["1_body"]
    for leg in legs:
        group = body.vertex_groups[leg.shin].index
        skin = [v.co for v in body.data.vertices if any(e.group == group and e.weight > 0.5 for e in v.groups)]
        end = armature.data.bones[leg.shin].matrix_local @ type(skin[0])(leg.end)
        assert end.z == pytest.approx(min(point.z for point in skin), abs=0.03)


def test_shins_without_skin_end_at_their_tails(bpy, addon, pegs):
    ends = [leg.end for leg in addon("rig.find").find_legs(pegs, (1, biped.LAST))]
    assert ends == [pytest.approx((0.0, biped.SHIN, 0.0))] * 2


@pytest.mark.parametrize(
    ("clip", "action"), [("gltf/RobotExpressive_raylib.glb", "Robot_Walking"), ("gltf/greenman.glb", "2_move")]
)
def test_recorded_figures_without_feet_under_their_shins_stay_over_the_ground(bpy, data, clip, action):
    armature, ground = show(bpy, data / clip, action)
    first, last = bpy.context.scene.frame_start, bpy.context.scene.frame_end
    plant(bpy, surface=ground.name)
    report = report_of(armature)["report"]
    for foot in report["feet"]:
        for frame in range(first, last + 1):
            bpy.context.scene.frame_set(frame)
            pose = np.array(armature.matrix_world @ armature.pose.bones[foot["bone"]].matrix)
            points = np.array([foot["heel"], foot["ball"]]) @ pose[:3, :3].T + pose[:3, 3]
            hits, _, found = surface(bpy, ground)(points, np.array([0.0, 0.0, -1.0]))
            assert found.all()
            assert np.max(hits[:, 2] - points[:, 2]) <= 0.03 * report["leg"]


def test_feet_that_hang_elsewhere_stay_at_the_ends_of_their_shins(bpy, data):
    """The shins of this clip reach their feet but for 0.03 of the leg."""
    armature, ground = show(bpy, data / "gltf/RobotExpressive_raylib.glb", "Robot_Running")
    frames = range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1)

    def ends():
        shins, feet = (joints(bpy, armature, named(name), frames=frames) for name in ("LowerLeg.{}", "Foot.{}"))
        shin = armature.data.bones["LowerLeg.L"]
        ways = joints(bpy, armature, named("LowerLeg.{}"), "tail", frames) - shins
        return np.linalg.norm(shins + ways * (0.928 / shin.length) - feet, axis=-1).max()

    before, names = ends(), set(bpy.data.actions.keys())
    plant(bpy, surface=ground.name)
    (planted,) = set(bpy.data.actions.keys()) - names
    assert planted.startswith("Robot_Running") and planted.endswith(".planted")
    assert ends() < before + 0.01


def test_loose_feet_stand_on_a_slope_as_those_under_shins_do(bpy, loose, slope):
    standing = joints(bpy, loose, named("foot.{}"))
    plant(bpy)
    feet, knees = joints(bpy, loose, named("foot.{}")), joints(bpy, loose, named("shin.{}"))
    assert np.linalg.norm(feet - knees, axis=-1) == pytest.approx(biped.SHIN, abs=1e-3)
    still = np.linalg.norm(np.diff(standing, axis=0), axis=-1) < 1e-6
    assert np.linalg.norm(np.diff(feet, axis=0), axis=-1)[still].max() < 2e-3
    tails = joints(bpy, loose, named("foot.{}"), "tail")
    rises = (tails - feet)[..., 2]
    flat = 0.02 - biped.ANKLE
    assert rises[1:][still] == pytest.approx(flat + RISE * 0.14, abs=0.005)


def test_legs_without_feet_stand_on_their_ends(bpy, pegs, slope):
    before = joints(bpy, pegs, named("shin.{}"), "tail")
    plant(bpy)
    ends = joints(bpy, pegs, named("shin.{}"), "tail")
    still = np.linalg.norm(np.diff(before, axis=0), axis=-1) < 1e-6
    assert still.any(axis=0).all()
    assert np.linalg.norm(np.diff(ends, axis=0), axis=-1)[still].max() < 2e-3
    heights = ends[..., 2] - RISE * ends[..., 1]
    assert heights[1:][still] == pytest.approx(0.0, abs=2e-3)
    assert heights.min() > -2e-3


def test_keys_in_place_move_loose_feet_alike(bpy, loose, slope):
    plant(bpy)
    wanted = joints(bpy, loose, named("foot.{}"))
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    plant(bpy, output="IN_PLACE")
    assert joints(bpy, loose, named("foot.{}")) == pytest.approx(wanted, abs=2e-3)


def test_planting_again_changes_nothing(bpy, loose, slope):
    plant(bpy)
    once = joints(bpy, loose, named("foot.{}"))
    plant(bpy)
    assert joints(bpy, loose, named("foot.{}")) == pytest.approx(once, abs=1e-4)


def test_a_loose_foot_that_cannot_be_moved_is_refused(bpy, loose, slope):
    loose.pose.bones["foot.L"].lock_location[0] = True
    with pytest.raises(RuntimeError, match="bone foot.L cannot be moved"):
        plant(bpy)


def test_a_loose_foot_names_its_leg(bpy, addon, options, loose):
    choice = addon("rig.choose").choose_limbs(bpy.context, loose, options(bones="toe.L"), (1, biped.LAST))
    assert [leg.bones for leg in choice.limbs] == [("thigh.L", "shin.L", "foot.L", "toe.L")]


@pytest.mark.parametrize("given", [{"frame_range": "CURRENT"}, {"direction": "NEAREST"}, {"contacts": "ALWAYS"}])
@pytest.mark.parametrize("figure", ["pegs", "loose"])
def test_other_ways_of_planting_keep_legs_without_feet_over_the_ground(bpy, request, slope, figure, given):
    armature = request.getfixturevalue(figure)
    bpy.context.scene.frame_set(5)
    plant(bpy, **given)
    bone, point = ("shin.{}", "tail") if figure == "pegs" else ("foot.{}", "head")
    ends = joints(bpy, armature, named(bone), point, [5])[0]
    assert (ends[:, 2] - RISE * ends[:, 1]).min() > (-2e-3 if figure == "pegs" else 0.5 * biped.ANKLE)


def test_shins_without_feet_are_found_below_the_name_of_a_figure(bpy, pegs, addon):
    """A figure's name may hold what names of other bones do: "ik" in Viking."""
    for bone in pegs.data.bones:
        bone.name = f"Viking_{bone.name}"
    legs = addon("rig.find").find_legs(pegs, (1, biped.LAST))
    assert [leg.shin for leg in legs] == ["Viking_shin.L", "Viking_shin.R"]
