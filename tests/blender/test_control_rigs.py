# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs whose legs follow controls: planted through these, judged by the legs' own bones as Blender evaluates them."""

from __future__ import annotations

from types import SimpleNamespace

import biped
import control_rig
import fingerprint
import numpy as np
import pytest
from ik2bone.model import Clip
from planted import bone_curves, plant, record_of, refused, values_of

FRAMES = range(1, biped.LAST + 1)
LEG = 0.9
RISE = 0.1
SIDES = ("L", "R")


def stepped(bpy, armature, names):
    """Poses (F, B, 4, 4) of bones in the world on all frames, as Blender evaluates them."""
    rows = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        rows.append([armature.matrix_world @ armature.pose.bones[name].matrix for name in names])
    return np.array(rows)


def joints(bpy, armature, names=("thigh", "shin", "foot", "toe")):
    """Heads (F, 2, J, 3) of the bones of both legs."""
    every = [f"{name}.{side}" for side in SIDES for name in names]
    return stepped(bpy, armature, every)[..., :3, 3].reshape(len(FRAMES), 2, len(names), 3)


def stood(bpy, armature, rise=RISE):
    """How far planted points leave their anchors, and how far soles go under a slope, on the frames of all contacts."""
    report, drift, under = record_of(armature)["report"], [], []
    feet = {foot["bone"]: foot for foot in report["feet"]}
    poses = dict(zip(feet, stepped(bpy, armature, feet).swapaxes(0, 1), strict=True))
    for span in report["spans"]:
        foot, rows = feet[span["bone"]], slice(span["start"] - 1, span["end"])
        axes, place = poses[span["bone"]][rows, :3, :3], poses[span["bone"]][rows, :3, 3]
        drift.append(np.linalg.norm(axes @ foot[span["part"]] + place - span["anchor"], axis=-1).max())
        for point in foot["sole"]:
            sole = axes @ point + place
            under.append((rise * sole[:, 1] - sole[:, 2]).max())
    return max(drift), max(under)


KINDS = {
    "pole": {},
    "pole aside": {"pole": "aside"},
    "no pole": {"pole": None},
    "foot rolled by bones under its control": {"foot": "rolled"},
    "foot under the shin": {"foot": "forward"},
    "foot is its own control": {"foot": "apart"},
    "hips under a control": {"hips": "copied"},
    "toe under a control": {"toe": "copied"},
    "foot controls under the hips": {"rides": "PARENT"},
    "foot controls that ride on the hips": {"rides": "CHILD_OF"},
    "Euler angles": {"mode": "XYZ"},
    "axis and angle": {"mode": "AXIS_ANGLE"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_feet_of_hand_made_rigs_stand_where_the_report_says(bpy, slope, kind):
    walker = control_rig.make_ik_walker(bpy, **KINDS[kind])
    plant(bpy)
    report = record_of(walker)["report"]
    assert len(report["spans"]) > 3 and report["before"]["penetration"] > 0.1
    drift, under = stood(bpy, walker)
    assert drift < 1e-3 * LEG and under < 1e-3 * LEG
    assert all(max(foot["off"].values()) < 1e-3 * LEG for foot in report["feet"])


@pytest.mark.parametrize("pole", ["ahead", "aside", None])
def test_knees_stay_on_their_side(bpy, slope, pole):
    walker = control_rig.make_ik_walker(bpy, pole=pole)
    before = joints(bpy, walker)
    plant(bpy)
    after = joints(bpy, walker)
    bends = [rows[:, :, 1] - (rows[:, :, 0] + rows[:, :, 2]) / 2.0 for rows in (before, after)]
    cosine = np.sum(bends[0] * bends[1], axis=-1) / np.prod([np.linalg.norm(bend, axis=-1) for bend in bends], axis=0)
    assert np.degrees(np.arccos(cosine.min())) < 25.0
    assert record_of(walker)["report"]["after"]["knee_pop_frames"] == 0


def test_controls_take_the_keys_and_bones_that_follow_them_get_none(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    plant(bpy)
    action = walker.animation_data.action
    assert not any(bone_curves(action, f"{name}.{side}") for name in ("thigh", "shin", "foot") for side in SIDES)
    keyed = {curve.data_path.split('"')[1] for curve in fingerprint.curves_of(action) if len(curve.keyframe_points) > 1}
    assert {"hips", "foot_ik.L", "foot_ik.R", "toe.L", "toe.R"} <= keyed
    report = record_of(walker)["report"]
    assert report["feet"][0]["controls"] == ["foot_ik.L", "toe.L"]
    assert "foot.L was planted through its controls: foot_ik.L, toe.L" in report["told"]


def test_a_pole_moves_only_where_the_knee_would_turn_aside(bpy, slope):
    moved = {}
    for pole in ("ahead", "aside"):
        walker = control_rig.make_ik_walker(bpy, pole=pole)
        source = walker.animation_data.action
        plant(bpy)
        pairs = [bone_curves(action, "knee.L") for action in (source, walker.animation_data.action)]
        moved[pole] = pairs[0] != pairs[1]
        bpy.data.objects.remove(walker)
    assert moved == {"ahead": False, "aside": True}


@pytest.fixture
def bank(bpy):
    """A large plane that rises to the side, so that legs lean and knees would turn aside."""
    corners = [(-10, -10), (10, -10), (10, 10), (-10, 10)]
    return biped.make_mesh(bpy, "Bank", [(x, y, 0.5 * x) for x, y in corners], [(0, 1, 2, 3)])


@pytest.mark.parametrize("kind", ["pole", "no pole", "foot under the shin", "foot is its own control"])
def test_knees_point_where_they_are_planned_to_also_across_a_slope(bpy, bank, kind):
    walker = control_rig.make_ik_walker(bpy, **KINDS[kind])
    plant(bpy)
    report = record_of(walker)["report"]
    assert all(max(foot["off"].values()) < 1e-3 * LEG for foot in report["feet"])
    bones = ["thigh.L", "shin.L"] if kind == "no pole" else []
    assert set(bones) <= set(report["feet"][0]["controls"])


@pytest.mark.parametrize("pole", [False, True])
def test_knees_of_generated_legs_point_where_they_are_planned_to(bpy, addon, bank, monkeypatch, pole):
    rig, seen = control_rig.make_rigify_walker(bpy, pole=pole), []
    pipeline, aim = addon("run.pipeline"), addon("rig.controls_aim").Aim
    tell = pipeline.tell_controls

    def keep(task, written, goal, after, figures):
        clip, moves = SimpleNamespace(clip=after.cut(task.part)), np.ones(len(task.frames), bool)
        seen.extend(np.abs(aim(None, None, leg, clip, goal, moves, None, again=True)._angle).max() for leg in (0, 1))
        return tell(task, written, goal, after, figures)

    monkeypatch.setattr(pipeline, "tell_controls", keep)
    plant(bpy)
    assert max(seen) < np.radians(0.5)
    name = "thigh_ik_target.L" if pole else "thigh_ik.L"
    assert name in record_of(rig)["report"]["feet"][0]["controls"]


def test_the_turn_of_a_knee_goes_on_evenly_where_the_leg_is_straight(addon):
    seen, wanted = (leg_bent_and_straight(turned) for turned in (0.0, 0.3))
    moves = np.ones(seen.frames, bool)
    aim = addon("rig.controls_aim").Aim(None, None, 0, SimpleNamespace(clip=seen), wanted, moves, None, again=True)
    np.testing.assert_allclose(aim._angle, -0.3, atol=1e-3)


def leg_bent_and_straight(turned):
    """A leg of 41 frames, bent towards an angle about the vertical but straight on some, in single precision."""
    bend = np.maximum(0.0, np.abs(np.linspace(-0.2, 0.2, 41)) - 0.05)
    joints = np.zeros((41, 1, 4, 3))
    joints[..., 2] = [0.9, 0.45, 0.0, 0.0]
    joints[:, 0, 1, 0], joints[:, 0, 1, 1] = bend * np.cos(turned), bend * np.sin(turned)
    joints[:, 0, 3, 0] = 0.15
    joints += 1e-7 * np.random.default_rng(1).normal(size=joints.shape)
    return Clip.from_points(30.0, *np.moveaxis(joints, 2, 0))


def test_planting_twice_is_planting_once(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    plant(bpy)
    once = fingerprint.of_action(walker.animation_data.action)["curves"]
    plant(bpy)
    assert fingerprint.of_action(walker.animation_data.action)["curves"] == once


def test_a_control_that_is_needed_no_longer_becomes_what_it_was(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    source = values_of(walker, FRAMES)
    plant(bpy)
    plant(bpy, strength=0.0)
    after = values_of(walker, FRAMES)
    assert all(np.allclose(after[path], values, atol=1e-6) for path, values in source.items())


def test_restore_brings_back_the_source_and_the_pose(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    before = joints(bpy, walker)
    plant(bpy)
    assert np.abs(joints(bpy, walker) - before).max() > 0.05
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert walker.animation_data.action.name == "walk"
    np.testing.assert_allclose(joints(bpy, walker), before, atol=1e-6)


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE"])
def test_an_error_after_the_keys_takes_everything_back(bpy, slope, addon, monkeypatch, output):
    control_rig.make_ik_walker(bpy)
    before = fingerprint.of_scene(bpy)

    def fail(*_):
        raise addon("errors").Refusal("the test stops here")

    monkeypatch.setattr(addon("run.pipeline"), "tell_controls", fail)
    with pytest.raises(RuntimeError, match="the test stops here"):
        bpy.ops.ik2bone.plant_feet(output=output)
    assert fingerprint.of_scene(bpy) == before


def test_in_place_gives_the_same_poses_as_a_new_action(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    plant(bpy)
    planted = joints(bpy, walker)
    bpy.ops.ik2bone.restore()
    plant(bpy, output="IN_PLACE")
    np.testing.assert_allclose(joints(bpy, walker), planted, atol=1e-4)


def test_the_present_pose_is_planted_and_keyed_on_its_frame(bpy, slope, addon, options):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    scene = bpy.context.scene
    scene.frame_set(20)
    outcome = addon("run.pipeline").plant_feet(bpy.context, walker, options(frame_range="CURRENT"))
    assert all(max(foot["off"].values()) < 1e-3 * LEG for foot in outcome.reports[0]["feet"])
    scene.frame_set(21)
    scene.frame_set(20)
    for side in SIDES:
        ball = walker.pose.bones[f"toe.{side}"].head
        assert ball.z - RISE * ball.y == pytest.approx(0.02, abs=0.002)


def test_a_range_blends_in_and_out(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    before = joints(bpy, walker)
    plant(bpy, frame_range="CUSTOM", frame_start=10, frame_end=50, blend_in=8, blend_out=8)
    moved = np.linalg.norm(joints(bpy, walker) - before, axis=-1).max(axis=(1, 2))
    outside = np.r_[0:10, 49 : len(moved)]
    assert moved[outside].max() < 1e-6 and moved[30] > 0.05
    assert np.abs(np.diff(moved)).max() < 0.05


def test_a_moved_turned_and_scaled_armature_is_planted_in_world_space(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    walker.location, walker.rotation_euler, walker.scale = (2.0, 1.0, 0.4), (0.0, 0.0, 1.2), (2.0, 2.0, 2.0)
    plant(bpy)
    drift, under = stood(bpy, walker)
    assert drift < 2e-3 * LEG and under < 2e-3 * LEG


@pytest.mark.parametrize("bones", ["shin.L", "foot_ik.L", "knee.L"])
def test_a_control_names_its_leg_and_the_other_leg_stays(bpy, slope, bones):
    walker = control_rig.make_ik_walker(bpy)
    before = joints(bpy, walker)
    plant(bpy, bones=bones)
    moved = np.linalg.norm(joints(bpy, walker) - before, axis=-1).max(axis=(0, 2))
    assert moved[0] > 0.05 and moved[1] < 1e-6
    assert [foot["bone"] for foot in record_of(walker)["report"]["feet"]] == ["foot.L"]


def test_legs_planted_one_after_the_other_both_stand(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    plant(bpy, bones="shin.L, shin.R")
    plant(bpy, bones="shin.L", use_hips=False)
    drift, under = stood(bpy, walker)
    assert drift < 1e-3 * LEG and under < 1e-3 * LEG


def test_a_hand_is_laid_on_a_wall_through_its_control(bpy):
    walker = control_rig.make_ik_walker(bpy)
    control_rig.add_arms(bpy, walker)
    biped.make_mesh(bpy, "Wall", [(0.45, -10, 0), (0.45, 10, 0), (0.45, 10, 3), (0.45, -10, 3)], [(0, 1, 2, 3)])
    plant(bpy, bones="forearm.L", direction="NEAREST", contacts="ALWAYS")
    foot = record_of(walker)["report"]["feet"][0]
    assert foot["bone"] == "hand.L" and "hand_ik.L" in foot["controls"]
    hand = stepped(bpy, walker, ["hand.L"])[:, 0]
    palm = hand[:, :3, :3] @ foot["ball"] + hand[:, :3, 3]
    np.testing.assert_allclose(palm[:, 0], 0.45, atol=1e-3)


def switched(bpy, walker, first=30, last=34):
    """Key the switch of a walker: inverse kinematics up to the first frame, forward kinematics from the last one on."""
    hips = walker.pose.bones["hips"]
    key_forward(bpy, walker)
    for frame, value in ((1, 0.0), (first, 0.0), (last, 1.0)):
        hips["fk"] = value
        hips.keyframe_insert('["fk"]', frame=frame)
    bpy.context.scene.frame_set(1)


def key_forward(bpy, walker):
    """Let the legs' own channels show by forward kinematics what inverse kinematics does."""
    names = [f"{name}.{side}" for side in SIDES for name in ("thigh", "shin", "foot")]
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        walker.pose.bones["hips"]["fk"] = 0.0
        bpy.context.view_layer.update()
        bones = [walker.pose.bones[name] for name in names]
        options = {"from_space": "POSE", "to_space": "LOCAL"}
        local = [walker.convert_space(pose_bone=bone, matrix=bone.matrix, **options) for bone in bones]
        for bone, matrix in zip(bones, local, strict=True):
            bone.rotation_quaternion = matrix.to_quaternion()
            bone.keyframe_insert("rotation_quaternion", frame=frame)


def test_the_switch_is_respected_frame_by_frame_and_never_changed(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, switch=True)
    switched(bpy, walker)
    source = values_of(walker, FRAMES)
    plant(bpy)
    drift, under = stood(bpy, walker)
    assert drift < 1e-3 * LEG and under < 1e-3 * LEG
    after = values_of(walker, FRAMES)
    changed = {key: ~np.isclose(after[key], values, atol=1e-6) for key, values in source.items()}
    bones = {
        name: np.any([rows for key, rows in changed.items() if f'"{name}"' in key[0]], axis=0)
        for name in ("foot_ik.L", "thigh.L", "shin.L", "foot.L")
    }
    assert bones["foot_ik.L"][:30].any() and not bones["foot_ik.L"][33:].any()
    for name in ("thigh.L", "shin.L", "foot.L"):
        assert bones[name][33:].any() and not bones[name][:30].any()
    assert not changed['pose.bones["hips"]["fk"]', 0].any()


def ik_of(walker, side="L"):
    return walker.pose.bones[f"shin.{side}"].constraints["IK"]


def hold(walker, name):
    """Put a constraint on a bone that no profile explains."""
    walker.pose.bones[name].constraints.new("LIMIT_LOCATION").use_min_x = True


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda walker: setattr(ik_of(walker), "chain_count", 3),
            "bone thigh.L is moved by inverse kinematics on shin.L",
        ),
        (lambda walker: setattr(ik_of(walker), "chain_count", 1), "bone shin.L is under the active constraint IK"),
        (lambda walker: setattr(ik_of(walker), "use_tail", False), "bone thigh.L is moved by inverse kinematics"),
        (lambda walker: hold(walker, "thigh.L"), "bone thigh.L is under the active constraint Limit Location"),
        (lambda walker: hold(walker, "foot.L"), "bone thigh.L is moved by inverse kinematics on shin.L"),
        (lambda walker: hold(walker, "foot_ik.L"), "bone thigh.L is moved by inverse kinematics on shin.L"),
    ],
)
def test_what_no_profile_explains_is_refused(bpy, slope, change, sentence):
    walker = control_rig.make_ik_walker(bpy)
    change(walker)
    bpy.context.view_layer.update()
    refused(bpy, sentence)


def test_a_target_that_is_another_object_is_refused(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    empty = bpy.data.objects.new("Target", None)
    bpy.context.collection.objects.link(empty)
    ik_of(walker).target = empty
    refused(bpy, "bone thigh.L is moved by inverse kinematics on shin.L")


@pytest.fixture
def hill(bpy):
    """A large plane that rises along -Y, the way in which generated rigs look."""
    return biped.make_slope(bpy, rise=-RISE)


DEFORM = ("DEF-thigh", "DEF-shin", "DEF-foot", "DEF-toe")
RIGIFY = {
    "inverse kinematics": {},
    "a pole": {"pole": True},
    "no stretch": {"stretch": 0.0},
    "feet that go with the torso": {"parent": 2},
    "forward kinematics": {"forward": 1.0},
}


@pytest.mark.parametrize("kind", RIGIFY)
def test_legs_that_rigify_generates_are_planted(bpy, hill, kind):
    rig = control_rig.make_rigify_walker(bpy, **RIGIFY[kind])
    leg = control_rig.rigify_leg(rig)
    plant(bpy)
    report = record_of(rig)["report"]
    assert [foot["bone"] for foot in report["feet"]] == ["DEF-foot.L", "DEF-foot.R"]
    assert len(report["spans"]) > 3 and report["before"]["penetration"] > 0.1
    drift, under = stood(bpy, rig, rise=-RISE)
    assert drift < 1e-3 * leg and under < 1e-3 * leg
    assert all(max(foot["off"]["ankle"], foot["off"]["ball"]) < 1e-3 * leg for foot in report["feet"])
    keyed = ("thigh_fk.L", "toe_fk.L") if "forward" in RIGIFY[kind] else ("foot_ik.L", "toe_ik.L")
    assert (report["feet"][0]["controls"][0], report["feet"][0]["controls"][-1]) == keyed


def test_only_the_controls_that_the_switch_lets_show_take_keys(bpy, hill):
    changed = {}
    for forward in (0.0, 1.0):
        rig = control_rig.make_rigify_walker(bpy, forward=forward)
        source = values_of(rig, FRAMES)
        plant(bpy)
        after = values_of(rig, FRAMES)
        changed[forward] = {
            key[0].split('"')[1] for key in after if not np.allclose(after[key], source.get(key, after[key]))
        }
        assert rig.pose.bones["thigh_parent.L"]["IK_FK"] == forward
        bpy.data.objects.remove(rig)
    fk = {f"{name}_fk.{side}" for name in ("thigh", "shin", "foot") for side in SIDES}
    assert changed == {0.0: {"torso", "foot_ik.L", "foot_ik.R"}, 1.0: {"torso"} | fk}


def test_a_switch_of_rigify_that_is_keyed_is_respected_frame_by_frame(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy)
    for side in SIDES:
        for frame, value in ((1, 0.0), (30, 0.0), (31, 1.0)):
            rig.pose.bones[f"thigh_parent.{side}"]["IK_FK"] = value
            rig.pose.bones[f"thigh_parent.{side}"].keyframe_insert('["IK_FK"]', frame=frame)
    bpy.context.scene.frame_set(1)
    source = values_of(rig, FRAMES)
    plant(bpy)
    after = values_of(rig, FRAMES)
    changed = {name: np.zeros(len(FRAMES), bool) for name in ("foot_ik.L", "thigh_fk.L", "thigh_parent.L")}
    for key, values in source.items():
        name = key[0].split('"')[1]
        if name in changed:
            changed[name] |= ~np.isclose(after[key], values, atol=1e-6)
    assert changed["foot_ik.L"][:30].any() and not changed["foot_ik.L"][30:].any()
    assert changed["thigh_fk.L"][30:].any() and not changed["thigh_fk.L"][:30].any()
    assert not changed["thigh_parent.L"].any()
    drift, under = stood(bpy, rig, rise=-RISE)
    assert max(drift, under) < 2e-3 * control_rig.rigify_leg(rig)


def test_stretch_of_generated_legs_is_told(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy)
    plant(bpy)
    assert any("as its bones are stretched by up to" in text for text in record_of(rig)["report"]["told"])


def test_fk_bones_of_a_generated_rig_can_still_be_named(bpy, hill):
    rig = control_rig.make_rigify_walker(bpy, forward=1.0)
    names = [f"{part}_fk.{side}" for side in SIDES for part in ("thigh", "shin", "foot")]
    plant(bpy, bones=", ".join(names))
    report = record_of(rig)["report"]
    assert [foot["bone"] for foot in report["feet"]] == ["foot_fk.L", "foot_fk.R"]
    assert report["after"]["drift"] < 1e-3 * control_rig.rigify_leg(rig)


@pytest.mark.parametrize("forward", [0.0, 1.0])
def test_legs_called_as_auto_rig_pro_calls_them_are_planted(bpy, slope, forward):
    walker = control_rig.make_auto_rig_walker(bpy, forward=forward)
    plant(bpy)
    report = record_of(walker)["report"]
    assert [foot["bone"] for foot in report["feet"]] == ["foot.l", "foot.r"]
    assert report["feet"][0]["controls"][0] == ("c_thigh_fk.l" if forward else "c_foot_ik.l")
    assert len(report["spans"]) > 3 and report["before"]["penetration"] > 0.1
    drift, under = stood(bpy, walker)
    assert drift < 1e-3 * LEG and under < 1e-3 * LEG
    assert bone_curves(walker.animation_data.action, "c_root_master.x")
    assert walker.pose.bones["c_foot_ik.l"]["ik_fk_switch"] == forward


def test_a_generated_rig_without_legs_is_refused(bpy, hill):
    control_rig.make_rigify(bpy, "shark")
    refused(bpy, "is a generated Rigify rig: name its FK bones", frame_range="CURRENT")


@pytest.mark.parametrize("given", [{}, {"pole": True}, {"forward": 1.0}], ids=["inverse", "pole", "forward"])
def test_paws_that_rigify_generates_are_planted(bpy, hill, given):
    rig = control_rig.make_rigify_quadruped(bpy, **given)
    plant(bpy)
    report = record_of(rig)["report"]
    paws = ["DEF-foot.L", "DEF-foot.R", "DEF-front_foot.L", "DEF-front_foot.R"]
    assert [foot["bone"] for foot in report["feet"]] == paws
    assert report["before"]["penetration"] > 0.05 > 1e-3 * report["leg"] > report["after"]["penetration"]
    off = {name: max(foot["off"][name] for foot in report["feet"]) for name in ("ankle", "ball")}
    assert off["ball"] < 1e-4 * report["leg"] and off["ankle"] < 2e-3 * report["leg"]
    told = any(text.startswith("controls do not bring DEF-foot.L quite") for text in report["told"])
    assert told == (report["feet"][0]["off"]["ankle"] > 1e-3 * report["leg"])
    heel, toe = "foot_heel_ik.L" in report["feet"][0]["controls"], "toe.L" in report["feet"][0]["controls"]
    assert (heel, toe) == (("forward" not in given), ("forward" in given))
    if "forward" not in given:
        # Rigify stretches the hind feet.
        assert max(stood(bpy, rig, rise=-RISE)) < 2e-3 * report["leg"]


@pytest.mark.parametrize("forward", [0.0, 1.0])
def test_a_generated_hand_is_laid_on_a_wall_through_its_control(bpy, forward):
    rig = control_rig.make_rigify_walker(bpy)
    rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = forward
    wall = 0.9 * rig.data.bones["DEF-hand.L"].head_local.x
    biped.make_mesh(bpy, "Wall", [(wall, -10, 0), (wall, 10, 0), (wall, 10, 3), (wall, -10, 3)], [(0, 1, 2, 3)])
    plant(bpy, bones="DEF-forearm.L", direction="NEAREST", contacts="ALWAYS")
    foot = record_of(rig)["report"]["feet"][0]
    assert foot["bone"] == "DEF-hand.L"
    assert foot["controls"][0] == ("upper_arm_fk.L" if forward else "hand_ik.L")
    hand = stepped(bpy, rig, ["DEF-hand.L"])[:, 0]
    palm = hand[:, :3, :3] @ foot["ball"] + hand[:, :3, 3]
    np.testing.assert_allclose(palm[:, 0], wall, atol=1e-3)


def test_toes_that_no_control_turns_are_told(bpy, slope):
    walker = control_rig.make_ik_walker(bpy)
    for side in SIDES:
        walker.pose.bones[f"toe.{side}"].lock_rotation = (True, True, True)
    plant(bpy)
    assert (
        "no control turns bone toe.L, so these toes are not laid on the ground" in record_of(walker)["report"]["told"]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_gives_the_same_poses_as_a_new_action(bpy, slope, kind):
    walker = control_rig.make_ik_walker(bpy, **KINDS[kind])
    before = joints(bpy, walker)
    plant(bpy)
    expected = joints(bpy, walker)
    bpy.ops.ik2bone.restore()
    for _ in range(2):
        plant(bpy, output="NLA_LAYER")
        assert np.abs(joints(bpy, walker) - expected).max() < 1e-4 * LEG < np.abs(before - expected).max()
    bpy.ops.ik2bone.restore()
    np.testing.assert_array_equal(joints(bpy, walker), before)


def test_controls_of_feet_are_no_trunk_however_many_bones_they_carry(bpy, slope):
    walker = control_rig.make_ik_walker(bpy, foot="rolled")
    plant(bpy)
    action = walker.animation_data.action
    assert bone_curves(action, "hips") and not bone_curves(action, "root")
