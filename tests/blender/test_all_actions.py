# SPDX-License-Identifier: GPL-3.0-or-later
"""All actions of a character planted at once: those that fit its bones and that nothing else plays."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from nla_scene import push_down
from planted import heads, outcome_of, plant, refused
from scene import report_of

FRAMES = np.arange(1, biped.LAST + 1)
ALL = {"all_actions": True}


def assign(armature, action):
    data = armature.animation_data
    data.action = action
    if hasattr(data, "action_slot"):
        data.action_slot = action.slots[0]


def higher(action, name, by):
    """A copy of an action whose hips are higher."""
    copy = action.copy()
    copy.name, copy.use_fake_user = name, True
    for curve in fingerprint.curves_of(copy):
        if "hips" in curve.data_path and curve.array_index == 1:
            for point in curve.keyframe_points:
                point.co.y += by
            curve.update()
    return copy


@pytest.fixture
def library_of_walks(walker):
    """The walker's own action and two more, of which none is played."""
    walk = walker.animation_data.action
    return [walk, higher(walk, "proud", 0.03), higher(walk, "tired", -0.05)]


def planted_alone(bpy, walker, actions):
    """What each action shows when it is planted by itself; nothing of that stays."""
    shown = {}
    for action in actions:
        assign(walker, action)
        plant(bpy)
        shown[action.name] = heads(bpy, walker, FRAMES)
        planted = walker.animation_data.action
        bpy.ops.ik2bone.restore()
        bpy.data.actions.remove(planted)
        del action["ik2bone"]
    assign(walker, actions[0])
    bpy.context.scene.frame_set(1)
    return shown


def test_every_action_is_planted_as_it_would_be_alone(bpy, walker, slope, library_of_walks):
    expected = planted_alone(bpy, walker, library_of_walks)
    before = [fingerprint.of_action(action)["curves"] for action in library_of_walks]
    for _ in range(2):
        plant(bpy, **ALL)
        assert walker.animation_data.action.name == "walk.planted"
        assert sorted(bpy.data.actions.keys()) == sorted([*expected, *(f"{name}.planted" for name in expected)])
    assert [fingerprint.of_action(action)["curves"] for action in library_of_walks] == before
    for name, shown in expected.items():
        planted = bpy.data.actions[f"{name}.planted"]
        assert planted["ik2bone_source"] == bpy.data.actions[name]
        assign(walker, planted)
        np.testing.assert_array_equal(heads(bpy, walker, FRAMES), shown)
        assert report_of(walker)["report"]["after"]["penetration"] < 1e-4


def test_an_action_with_a_key_at_infinity_is_left_out_and_the_status_bar_counts_the_others(
    bpy, walker, slope, library_of_walks, capfd
):
    curve = fingerprint.curves_of(library_of_walks[1])[0]
    curve.keyframe_points[-1].co.x = np.inf
    curve.update()
    plant(bpy, **ALL)
    told = capfd.readouterr().out
    assert "proud was not planted: action proud has a key, or an end of its frame range, beyond" in told
    assert "Planted 2 clips: the sidebar has the report of the one that the active armature plays" in told
    assert sorted(bpy.data.actions.keys()) == ["proud", "tired", "tired.planted", "walk", "walk.planted"]


def test_one_outcome_tells_of_all(bpy, walker, slope, library_of_walks, addon, options):
    outcome = outcome_of(addon, bpy, [walker], options(**ALL))
    assert [line.partition(":")[0] for line in outcome.summary.splitlines()] == ["proud", "tired", "walk"]
    assert len(outcome.reports) == 3


def test_actions_of_others_and_of_other_bones_stay_as_they_are(bpy, walker, slope, addon):
    walk, actions = walker.animation_data.action, addon("keys.actions")
    twin = biped.twin_of(bpy, walker)
    assign(twin, higher(walk, "of twin", 0.02))
    curves = actions.new(walker, "of a snake").curves
    curves.ensure('pose.bones["spine.001"].location', 0, "spine.001").keyframe_points.insert(1, 0.0)
    actions.new(walker, "empty")
    bpy.context.view_layer.objects.active = walker
    plant(bpy, **ALL)
    assert [action.name for action in bpy.data.actions if "ik2bone" in action] == ["walk.planted"]


def test_poses_of_a_library_stay_as_they_are_and_motions_of_one_are_planted(bpy, walker, slope, library_of_walks):
    pose = higher(library_of_walks[0], "pose", 0.0)
    for curve in fingerprint.curves_of(pose):
        value = curve.keyframe_points[0].co.y
        curve.keyframe_points.clear()
        curve.keyframe_points.insert(1, value)
    for action in (pose, library_of_walks[1]):
        action.asset_mark()
    plant(bpy, **ALL)
    planted = [action.name for action in bpy.data.actions if "ik2bone_source" in action]
    assert planted == ["proud.planted", "tired.planted", "walk.planted"]


def test_an_action_that_cannot_be_planted_is_told_and_stays(bpy, walker, slope, library_of_walks, addon, options):
    for curve in fingerprint.curves_of(bpy.data.actions["tired"]):
        if "thigh.L" in curve.data_path:
            for point in curve.keyframe_points:
                point.co.y = float("nan")
            curve.update()
    outcome = outcome_of(addon, bpy, [walker], options(**ALL))
    (told,) = [text for text in outcome.warnings if text.startswith("tired")]
    assert told.startswith("tired was not planted: bone thigh.L has a pose that is infinite or not a number")
    assert outcome.is_warning and told in outcome.summary
    assert "tired.planted" not in bpy.data.actions and "walk.planted" in bpy.data.actions
    assert walker.animation_data.action.name == "walk.planted"


def test_a_played_action_that_cannot_be_planted_is_played_on(bpy, walker, slope, library_of_walks, addon, options):
    walk = library_of_walks[0]
    for curve in fingerprint.curves_of(walk):
        if "thigh.L" in curve.data_path:
            curve.keyframe_points[9].co.y = float("nan")
    outcome = outcome_of(addon, bpy, [walker], options(**ALL))
    assert any(text.startswith("walk was not planted") for text in outcome.warnings)
    assert "proud.planted" in bpy.data.actions and walker.animation_data.action == walk


def test_a_character_that_plays_nothing_is_refused(bpy, walker, slope):
    walker.animation_data.action = None
    refused(bpy, "Walker should play an action, by itself or in NLA strips, to plant all actions", **ALL)


def test_a_layer_over_strips_is_refused(bpy, walker, slope):
    push_down(walker)
    plant(bpy, output="NLA_LAYER")
    refused(bpy, "Walker has an NLA layer over its strips: restore that first to plant all actions", **ALL)


def test_in_place_all_actions_are_changed_themselves(bpy, walker, slope, library_of_walks):
    expected = planted_alone(bpy, walker, library_of_walks)
    plant(bpy, **ALL, output="IN_PLACE")
    assert walker.animation_data.action == library_of_walks[0]
    for action in library_of_walks:
        assign(walker, action)
        np.testing.assert_allclose(heads(bpy, walker, FRAMES), expected[action.name], atol=1e-5)


def test_several_characters_each_get_all_of_their_actions(bpy, walker, slope, library_of_walks):
    twin = biped.twin_of(bpy, walker)
    twin.location.x = 1.0
    assign(twin, higher(library_of_walks[0], "of twin", 0.02))
    walker.select_set(True), twin.select_set(True)
    plant(bpy, **ALL)
    assert walker.animation_data.action.name == "walk.planted"
    assert twin.animation_data.action.name == "of twin.planted"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"output": "NLA_LAYER"}, "an NLA layer lies over what the armature plays"),
        ({"frame_range": "CURRENT"}, "the present pose belongs to one action"),
    ],
)
def test_what_means_one_action_is_refused(bpy, walker, slope, given, sentence):
    refused(bpy, sentence, **ALL, **given)


@pytest.fixture
def sequence(bpy, walker, slope, library_of_walks):
    """The walker plays its actions one after the other in NLA strips, the first one again at half the speed."""
    data, shown, start = walker.animation_data, planted_alone(bpy, walker, library_of_walks), 1
    track = data.nla_tracks.new()
    for action in (*library_of_walks, library_of_walks[0]):
        strip = track.strips.new(action.name, start, action)
        start += 100
    strip.scale = 2.0
    data.action = None
    bpy.context.scene.frame_end = start
    return walker, track, shown


def test_all_strips_of_a_character_are_planted_wherever_they_lie_in_time(bpy, sequence):
    walker, track, shown = sequence
    plant(bpy, **ALL)
    assert walker.animation_data.action is None and walker.animation_data.use_nla
    names = ["walk.planted", "proud.planted", "tired.planted", "walk.planted"]
    assert [strip.action.name for strip in track.strips] == names
    for number, name in enumerate(("walk", "proud", "tired")):
        np.testing.assert_allclose(heads(bpy, walker, FRAMES + 100 * number), shown[name], atol=1e-6)
    np.testing.assert_allclose(heads(bpy, walker, 301 + 2 * (FRAMES - 1)), shown["walk"], atol=1e-6)


def test_planted_strips_are_planted_again_and_restored(bpy, sequence):
    walker, track, shown = sequence
    before = heads(bpy, walker, FRAMES + 100)
    for _ in range(2):
        plant(bpy, **ALL)
        assert [action.name for action in bpy.data.actions if action.name.startswith("proud.")] == ["proud.planted"]
        np.testing.assert_allclose(heads(bpy, walker, FRAMES + 100), shown["proud"], atol=1e-6)
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert [strip.action.name for strip in track.strips] == ["walk", "proud", "tired", "walk"]
    np.testing.assert_array_equal(heads(bpy, walker, FRAMES + 100), before)


def test_strips_are_told_in_one_outcome_and_those_refused_stay(bpy, sequence, addon, options):
    walker, track, _ = sequence
    odd = bpy.data.actions["proud"]
    curve = next(curve for curve in fingerprint.curves_of(odd) if "hips" in curve.data_path)
    curve.keyframe_points[10].co.y = np.nan
    outcome = outcome_of(addon, bpy, [walker], options(**ALL))
    assert len(outcome.reports) == 2 and any(text.startswith("proud was not planted: ") for text in outcome.warnings)
    assert [strip.action.name for strip in track.strips] == ["walk.planted", "proud", "tired.planted", "walk.planted"]


def test_strips_stopped_half_way_are_as_they_were(bpy, sequence, addon, options):
    walker, track, _ = sequence

    def state():
        data = walker.animation_data
        return fingerprint.of_scene(bpy), [s.action.name for s in track.strips], data.action, data.use_nla

    before = state()
    for share in (0.1, 0.5, 0.9, 1.0):
        stages = addon("run.pipeline").planting(bpy.context, [walker], options(**ALL))
        while next(stages).share < share:
            pass
        stages.close()
        assert state() == before


def test_tweak_mode_is_refused(bpy, sequence):
    walker, track, _ = sequence
    track.strips[0].select = True
    walker.animation_data.nla_tracks.active = track
    walker.animation_data.use_tweak_mode = True
    refused(bpy, "Walker is in tweak mode", **ALL)


def test_stopped_half_way_it_leaves_everything_as_it_was(bpy, walker, slope, library_of_walks, addon, options):
    before, planting = fingerprint.of_scene(bpy), addon("run.pipeline").planting
    for share in (0.1, 0.3, 0.5, 0.9, 1.0):
        stages = planting(bpy.context, [walker], options(**ALL))
        while next(stages).share < share:
            pass
        stages.close()
        assert fingerprint.of_scene(bpy) == before


@pytest.mark.parametrize("playing", ["action", "strip"])
def test_stopped_half_way_what_was_posed_by_hand_stays(bpy, walker, slope, library_of_walks, addon, options, playing):
    if playing == "strip":
        push_down(walker)
    bpy.context.scene.frame_set(12)
    walker.pose.bones["hips"].location.x += 0.1
    before = fingerprint.of_scene(bpy)
    for share in (0.1, 0.5, 0.9):
        stages = addon("run.pipeline").planting(bpy.context, [walker], options(**ALL))
        while next(stages).share < share:
            pass
        stages.close()
        assert fingerprint.of_scene(bpy) == before


def test_none_that_can_be_planted_is_refused(bpy, walker, slope):
    slope.hide_set(True)
    bpy.ops.mesh.primitive_plane_add(location=(500.0, 0.0, 0.0))
    bpy.context.view_layer.objects.active = walker
    refused(bpy, "none of the 1 actions of Walker can be planted: walk: no surface lies under the feet", **ALL)
