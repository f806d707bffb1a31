# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be planted is refused with one clear sentence, and nothing in the scene changes."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from planted import IN_PLACE, joints, plant, refused


@pytest.fixture
def ground(slope):
    return slope


def _curve(armature, path, index):
    action = armature.animation_data.action
    curves = action.layers[0].strips[0].channelbags[0].fcurves if hasattr(action, "slots") else action.fcurves
    return curves.find(path, index=index)


def _hand_pose(bpy, armature):
    bpy.context.view_layer.update()
    armature.pose.bones["chest"].rotation_quaternion = (0.9, 0.1, 0.2, 0.0)
    armature.pose.bones["thigh.L"].rotation_quaternion = (0.9, 0.0, 0.3, 0.1)
    armature.pose.bones["hips"].location = (0.5, 0.6, 0.7)


def test_no_armature(bpy, ground):
    refused(bpy, "Needs an armature")


def test_two_armatures_of_which_none_is_active(bpy, walker, ground):
    bpy.context.collection.objects.link(walker.copy())
    bpy.context.view_layer.objects.active = None
    bpy.context.view_layer.update()
    refused(bpy, "Needs an armature")


def test_edit_mode(bpy, walker, ground):
    bpy.ops.object.mode_set(mode="EDIT")
    refused(bpy, "object mode")


def test_no_legs(bpy, walker, ground):
    with biped.editing(bpy, walker) as bones:
        for bone in list(bones):
            if bone.name.split(".")[0] in biped.LEG:
                bones.remove(bone)
    refused(bpy, "Walker has no legs")


def test_a_foot_that_is_not_under_the_shin(bpy, walker, ground):
    with biped.editing(bpy, walker) as bones:
        for side in biped.SIDES:
            bones[f"foot.{side}"].parent = None
    refused(bpy, "bone foot.L hangs under no shin, and no location keys take it along with shin.L")


def test_no_surface_under_the_character(bpy, walker, ground):
    ground.location.x = 100.0
    _hand_pose(bpy, walker)
    refused(bpy, "no surface lies under the feet of Walker: nothing but Slope was looked at")


@pytest.mark.parametrize(
    ("frame", "end"), [(1e9, None), (np.inf, None), (-np.inf, None), (np.inf, 20.0), (None, 1e9), (None, np.nan)]
)
@pytest.mark.parametrize("frame_range", ["ACTION", "CURRENT"])
def test_a_key_beyond_the_frames_of_blender(bpy, walker, ground, frame, end, frame_range):
    action = walker.animation_data.action
    if end is not None:
        action.use_frame_range, action.frame_start, action.frame_end = True, 1.0, end
    if frame is not None:
        curve = _curve(walker, 'pose.bones["hips"].location', 0)
        curve.keyframe_points[-1].co.x = frame
        curve.update()
    refused(bpy, f"action {action.name} has a key, or an end of its frame range, beyond", frame_range=frame_range)


def test_a_surface_without_faces(bpy, walker):
    biped.make_mesh(bpy, "Points", [(0, 0, 0)], [])
    refused(bpy, "no surface lies under the feet .* there is no mesh with faces among Points", surface="Points")


def test_surfaces_that_are_nowhere(bpy, walker, ground):
    nowhere = [(float("nan"), 0, 0), (float("inf"), 0, 0), (float("nan"), 1, 0)]
    biped.make_mesh(bpy, "Lost", nowhere, [(0, 1, 2)])
    ground.location.x = float("nan")
    why = "the transform of Slope holds infinity or NaN, so it was left out"
    why += "; every face of Lost has corners at infinity or NaN, so it was left out"
    with pytest.raises(
        RuntimeError, match=f"under the feet of Walker: there is no mesh with faces among Slope, Lost; {why}"
    ):
        bpy.ops.ik2bone.plant_feet()
    assert walker.animation_data.action.name == "walk"


@pytest.mark.parametrize("name", ["Nowhere", "Walker"])
def test_a_name_that_is_no_surface(bpy, walker, ground, name):
    refused(bpy, name, surface=name)


def test_a_name_of_two_lines_makes_a_sentence_of_one(bpy, walker, ground):
    refused(bpy, "there is no object and no collection named 'no where' to plant on", surface="no\nwhere")


@pytest.mark.parametrize(("path", "index"), [("rotation_quaternion", 2), ("rotation_euler", 1)])
def test_a_channel_that_is_not_a_number(bpy, path, index, ground):
    walker = biped.make_walker(bpy, mode="QUATERNION" if path == "rotation_quaternion" else "XYZ")
    point = _curve(walker, f'pose.bones["shin.R"].{path}', index).keyframe_points[9]
    point.co.y = np.nan
    _hand_pose(bpy, walker)
    refused(bpy, "bone shin.R has a pose that is infinite or not a number on frame 10")


@pytest.mark.parametrize("value", [np.inf, np.nan])
@pytest.mark.parametrize("name", ["location", "scale"])
def test_an_object_whose_transform_is_not_finite(bpy, walker, ground, name, value):
    setattr(walker, name, (1.0, value, 1.0))
    with pytest.raises(RuntimeError, match="the transform of Walker should be finite numbers"):
        bpy.ops.ik2bone.plant_feet()


@pytest.mark.parametrize("scale", [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0)])
def test_an_object_that_is_scaled_to_nothing(bpy, walker, ground, scale):
    walker.scale = scale
    refused(bpy, "Walker has a scale of zero")


def test_an_armature_without_an_action(bpy, walker, ground):
    walker.animation_data_clear()
    refused(bpy, "plays no action")


def test_an_armature_without_an_action_that_follows_another_one(bpy, walker, ground):
    follower = biped.make_walker(bpy, "Deform")
    follower.animation_data_clear()
    for bone in follower.pose.bones:
        constraint = bone.constraints.new("COPY_TRANSFORMS")
        constraint.target, constraint.subtarget = walker, bone.name
    refused(bpy, "Deform plays no action, and its bones follow Walker by constraints: plant what they follow")
    for bone in follower.pose.bones:
        bone.constraints[0].influence = 0.0
    refused(bpy, "the armature plays no action")
    for bone in follower.pose.bones:
        bone.constraints[0].influence = 1.0
    bpy.context.view_layer.objects.active = walker
    plant(bpy)
    assert np.allclose(joints(bpy, follower), joints(bpy, walker), atol=1e-6)


def test_an_action_without_keys(bpy, walker, ground):
    walker.animation_data.action = bpy.data.actions.new("Empty")
    refused(bpy, "action Empty has no keys")


@pytest.mark.parametrize(
    ("options", "scene"),
    [
        ({"frame_range": "CUSTOM", "frame_start": 500, "frame_end": 600}, {}),
        ({"frame_range": "CUSTOM", "frame_start": 20, "frame_end": 10}, {}),
        ({"frame_range": "SCENE"}, {"frame_start": 300, "frame_end": 400}),
        ({}, {"use_preview_range": True, "frame_preview_start": 300, "frame_preview_end": 400}),
    ],
)
def test_an_empty_range(bpy, walker, ground, options, scene):
    for name, value in scene.items():
        setattr(bpy.context.scene, name, value)
    refused(bpy, "there is no frame to plant: .* the action covers 1 to 61", **options)


def test_legs_under_an_active_constraint(bpy, walker, ground):
    constraint = walker.pose.bones["shin.L"].constraints.new("IK")
    constraint.target = ground
    refused(bpy, "constraint|inverse kinematics")


def test_legs_under_a_driver(bpy, walker, ground):
    walker.pose.bones["foot.L"].driver_add("rotation_quaternion", 1)
    bpy.context.scene.frame_set(1)
    refused(bpy, "foot.L has a driver")


def test_nothing_but_scattered_ground(bpy, walker):
    points, leaf = biped.make_mesh(bpy, "Points", [(0.0, 0.0, 0.0)], []), biped.make_slope(bpy, "Leaf")
    leaf.parent, points.instance_type = points, "VERTS"
    leaf.hide_set(True)
    refused(bpy, "no surface lies under the feet of Walker: .*; objects scattered on Points do not count as ground")


@pytest.mark.parametrize("index", [0, 3])
def test_a_keyed_rotation_mode(bpy, walker, ground, index):
    # Blender plays a curve of any component where a property has one alone.
    bag = fingerprint.bags_of(walker.animation_data.action)[0]
    bag.fcurves.new('pose.bones["thigh.L"].rotation_mode', index=index).keyframe_points.insert(1, 0.0)
    refused(bpy, "thigh.L has keys on its rotation mode")


def test_a_driven_rotation_mode(bpy, walker, ground):
    walker.pose.bones["shin.R"].driver_add("rotation_mode").driver.expression = "0 if frame < 30 else 1"
    bpy.context.view_layer.update()
    refused(bpy, "shin.R has a driver on its rotation mode")


def test_an_action_that_the_nla_adds_to_others(bpy, walker, ground):
    data = walker.animation_data
    data.nla_tracks.new().strips.new("Walk", 1, data.action)
    data.action_blend_type = "ADD"
    refused(bpy, "the NLA of Walker changes what its action shows")


def test_an_nla_track_that_plays_solo(bpy, walker, ground):
    track = walker.animation_data.nla_tracks.new()
    track.strips.new("Walk", 1, walker.animation_data.action)
    track.is_solo = True
    refused(bpy, f"NLA track {track.name} of Walker plays solo")


def test_a_scene_that_remaps_time(bpy, walker, ground):
    bpy.context.scene.render.frame_map_new = 200
    refused(bpy, "scene Scene remaps time")


def test_an_armature_that_shows_its_rest_position(bpy, walker, ground):
    walker.data.pose_position = "REST"
    refused(bpy, "Walker shows its rest position")


def test_a_list_of_no_bones(bpy, walker, ground):
    refused(bpy, "bones should be names of bones", bones=" , ")


@pytest.mark.parametrize("name", ["strength", "max_slope", "max_drop"])
def test_numbers_that_are_none(bpy, walker, ground, name):
    refused(bpy, f"{name} should be an? .* but it is nan", **{name: float("nan")})


def test_a_constraint_whose_influence_is_keyed(bpy, walker, ground):
    constraint = walker.pose.bones["shin.L"].constraints.new("COPY_ROTATION")
    constraint.target = ground
    for frame, influence in ((39, 0.0), (40, 1.0), (41, 0.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    refused(bpy, "bone shin.L is under the active constraint Copy Rotation")


def test_a_limit_that_holds_what_was_planted(bpy, walker, ground):
    constraint = walker.pose.bones["foot.L"].constraints.new("LIMIT_ROTATION")
    # The walker's feet stay level, and the ground rises by 6 degrees.
    for name in ("use_limit_x", "use_limit_y", "use_limit_z"):
        setattr(constraint, name, True)
    rest = walker.data.bones["foot.L"].matrix_local.to_euler()
    for axis, angle in zip("xyz", rest, strict=True):
        setattr(constraint, f"min_{axis}", angle - 0.01)
        setattr(constraint, f"max_{axis}", angle + 0.01)
    refused(bpy, "bone foot.L is under the active constraint Limit Rotation, so keys on it do not show")


def test_a_panel_whose_settings_nobody_set(bpy, walker):
    settings = bpy.context.scene.ik2bone
    names = [p.identifier for p in settings.bl_rna.properties]
    before = [settings.is_property_set(name) for name in names]
    with pytest.raises(RuntimeError, match="Nowhere"):
        bpy.ops.ik2bone.plant_feet(surface="Nowhere")
    assert [settings.is_property_set(name) for name in names] == before


def test_an_infinite_key(bpy, walker, ground):
    _curve(walker, 'pose.bones["hips"].location', 1).keyframe_points[9].co.y = np.inf
    _hand_pose(bpy, walker)
    refused(bpy, "bone hips has a pose that is infinite or not a number on frame 10")


def test_an_infinite_key_of_the_object(bpy, walker, ground):
    for frame in (1, 10):
        walker.keyframe_insert("location", index=0, frame=frame)
    first, second = _curve(walker, "location", 0).keyframe_points
    first.interpolation, second.co.y = "CONSTANT", np.inf
    refused(bpy, "object Walker has a pose that is infinite or not a number on frame 10")


@pytest.mark.parametrize("is_setting", [False, True])
def test_a_surface_that_is_disabled_in_viewports(bpy, walker, ground, is_setting):
    if is_setting:
        bpy.context.scene.ik2bone.surface_object = ground
    ground.hide_viewport = True
    refused(bpy, "surface 'Slope' is disabled in viewports", surface="Slope")
    collection = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(ground)
    refused(bpy, "collection 'Ground' holds no mesh", surface="Ground")


def test_bones_that_belong_to_no_leg(bpy, walker, ground):
    refused(bpy, "chest", bones="thigh.L, chest")
    refused(bpy, "no bone named", bones="knee")


@pytest.mark.parametrize("given", [{}, IN_PLACE], ids=["deleted source", "planted in place"])
def test_no_action_beside_a_planted_one_without_source(bpy, walker, ground, given):
    source = walker.animation_data.action
    plant(bpy, **given)
    walker.animation_data.action = None
    if not given:
        bpy.data.actions.remove(source)
    refused(bpy, "plays no action")


def test_selected_chains_without_a_selection(bpy, walker, ground):
    refused(bpy, "no bones are selected", chains="SELECTED")


def test_a_linked_armature(bpy, library):
    with bpy.data.libraries.load(library, link=True) as (_source, target):
        target.objects = ["Walker"]
    bpy.context.collection.objects.link(bpy.data.objects["Walker"])
    biped.make_slope(bpy)
    bpy.context.view_layer.objects.active = bpy.data.objects["Walker"]
    refused(bpy, "Walker is linked from a library")


@pytest.mark.parametrize("output", ["NEW_ACTION", "NLA_LAYER"])
def test_a_planted_action_whose_curves_a_script_has_removed(bpy, walker, ground, addon, output):
    assert bpy.ops.ik2bone.plant_feet(output=output) == {"FINISHED"}
    action = addon("run.layers").shown_action(walker)
    if not hasattr(action, "slots"):
        pytest.skip("before Blender 4.4 the curves are the action's own")
    bags = action.layers[0].strips[0].channelbags
    bags.remove(bags[0])
    refused(bpy, f"action {action.name} has no keys for this armature", output=output)


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE", "NLA_LAYER"])
def test_a_planted_action_that_plays_by_no_slot(bpy, walker, ground, output):
    plant(bpy)
    if not hasattr(walker.animation_data, "action_slot"):
        pytest.skip("actions have no slots in this version")
    walker.animation_data.action_slot = None
    refused(bpy, "has no keys for this armature", output=output)


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE", "NLA_LAYER"])
def test_an_action_with_a_frame_range_but_without_keys_in_its_slot(bpy, walker, ground, output):
    action = walker.animation_data.action
    if not hasattr(action, "slots"):
        pytest.skip("actions have no slots in this version")
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, biped.LAST
    walker.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Other")
    refused(bpy, "action walk has no keys for this armature", output=output)


def _failing(call, after):
    """The function, but raising once, after so many calls: the way back may use it too."""
    left = [after]

    def run(*arguments, **options):
        left[0] -= 1
        if left[0] == -1:
            raise ArithmeticError("half way")
        return call(*arguments, **options)

    return run


STAGES = [
    ("run.pipeline", "core", "plant", 0),
    ("run.pipeline", "report", "figures", 0),
    ("run.pipeline", "report", "summary", 0),
    ("run.output", "keys", "write", 3),
    ("run.pipeline", "properties", "store", 0),
    ("run.output", "records", "as_text", 0),
    ("run.output", "records", "store", 0),
]


COPYING = ("keys.actions", "fcurves", "copy", 5)
HALF_WAY = [(stage, history) for stage in STAGES for history in ("source", "planted", "restored")]


@pytest.mark.parametrize(("stage", "history"), [*HALF_WAY, (COPYING, "restored")])
def test_an_unexpected_error_half_way(bpy, walker, ground, addon, monkeypatch, stage, history):
    if history != "source":
        bpy.ops.ik2bone.plant_feet(strength=0.7)
    if history == "restored":
        bpy.ops.ik2bone.restore()
    _fails_half_way(bpy, walker, addon, monkeypatch, stage)


@pytest.mark.parametrize("stage", [*STAGES[:3], STAGES[4], ("keys.channels", None, "insert", 3)])
def test_an_unexpected_error_half_way_through_a_pose(bpy, walker, ground, addon, monkeypatch, stage):
    curve = _curve(walker, 'pose.bones["shin.L"].rotation_quaternion', 3)
    fingerprint.bags_of(walker.animation_data.action)[0].fcurves.remove(curve)
    bpy.context.scene.frame_set(12)
    _fails_half_way(bpy, walker, addon, monkeypatch, stage, frame_range="CURRENT")


def _fails_half_way(bpy, walker, addon, monkeypatch, stage, **options):
    module, name, function, after = stage
    owner = getattr(addon(module), name) if name else addon(module)
    _hand_pose(bpy, walker)
    before = fingerprint.of_scene(bpy)
    with monkeypatch.context() as patch:
        patch.setattr(owner, function, _failing(getattr(owner, function), after))
        with pytest.raises(RuntimeError, match="half way"):
            bpy.ops.ik2bone.plant_feet(**options)
    assert fingerprint.of_scene(bpy) == before


@pytest.mark.parametrize("options", [{}, IN_PLACE, {"output": "NLA_LAYER"}, {"frame_range": "CURRENT"}])
@pytest.mark.parametrize("history", ["source", "planted"])
def test_switches_set_by_hand_stay_so_after_an_error(bpy, walker, ground, addon, monkeypatch, options, history):
    head, values = walker.pose.bones["head"], {"follow": 0.7, "ways": [0.1, 2.0], 'a "name"': 3}
    constraint = head.constraints.new("COPY_ROTATION")
    constraint.keyframe_insert("influence", frame=1)
    for name, value in values.items():
        head[name] = 0 * value if name != "ways" else [0.0, 0.0]
        head.keyframe_insert(f'["{bpy.utils.escape_identifier(name)}"]', frame=1)
    # A curve of something that is not there.
    fingerprint.bags_of(walker.animation_data.action)[0].fcurves.new('pose.bones["gone"]["x"]')
    if history == "planted":
        plant(bpy)
    for name, value in values.items():
        head[name] = value
    constraint.influence = 0.25
    _fails_half_way(bpy, walker, addon, monkeypatch, ("run.pipeline", "report", "summary", 0), **options)
    assert constraint.influence == 0.25 and list(head["ways"]) == values.pop("ways")
    assert {name: head[name] for name in values} == values


def test_a_refused_pose_stays_as_it_was_set_by_hand(bpy, walker, ground):
    ground.location.x = 100.0
    _hand_pose(bpy, walker)
    refused(bpy, "no surface lies under", frame_range="CURRENT")


@pytest.mark.parametrize("keys", [{1: True}, {1: True, 20: False}, {1: False, 30: True, 33: False}])
def test_an_armature_that_keys_disable_in_viewports(bpy, walker, ground, keys):
    for frame, walker.hide_viewport in keys.items():
        walker.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(25)
    refused(bpy, "Walker is disabled in viewports on frame .*, so it has no pose to read there")
