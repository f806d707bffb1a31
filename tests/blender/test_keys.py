# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys on every frame: values corrected in the bone's own channels, everything outside the range kept."""

from __future__ import annotations

import biped
import numpy as np
import pytest

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


def _rotation(keys, curves, bone, frames):
    return keys.read(curves, bone, keys.rotations.property_of(bone.rotation_mode), frames, {}, {})


@pytest.fixture
def keys(addon):
    return addon("keys.channels")


@pytest.fixture
def actions(addon):
    return addon("keys.actions")


@pytest.fixture
def rig(bpy, actions):
    """An armature of one bone with an empty action, its bone and its curves."""
    ob = biped.make_bones(bpy, "Rig", [('the "bone"', None, (0, 0, 0), (0.1, 0.2, 1))])
    assignment = actions.new(ob, "Action")
    actions.assign(ob, assignment)
    return ob, ob.pose.bones[0], assignment.curves


def _fill(curves, bone, name, points, interpolation="BEZIER"):
    """Key every component of a property at (frame, value) with values that differ by component."""
    for index in range(len(getattr(bone, name))):
        curve = curves.ensure(bone.path_from_id(name), index, bone.name)
        for frame, value in points:
            curve.keyframe_points.insert(frame, value + 0.1 * index).interpolation = interpolation


def _values(curves, path, frames):
    count = 4 if curves.find(path, 3) else 3
    return np.array([[curves.find(path, index).evaluate(frame) for index in range(count)] for frame in frames])


def _turns(count, axis=(0.6, 0.0, 0.8), size=0.7):
    half = 0.5 * size * np.sin(np.linspace(0.0, 5.0, count))
    return np.column_stack([np.cos(half), np.sin(half)[:, None] * axis])


def _turned(keys, channel, mode, turns, before=None):
    """The rotation of one bone with corrections."""
    (turned,) = keys.turned([channel], mode, [turns], [before])
    return turned


@pytest.mark.parametrize("mode", MODES)
def test_a_correction_turns_the_bone_on_the_right_of_its_rotation(bpy, keys, rig, mode):
    from mathutils import Quaternion

    ob, bone, curves = rig
    bone.rotation_mode = mode
    name = keys.rotations.property_of(mode)
    _fill(curves, bone, name, [(1, 0.4), (9, -1.0), (20, 1.3)])
    frames, turns = np.arange(1, 21), _turns(20)
    before = [_basis(bpy, bone, frame) for frame in frames]
    channel = _turned(keys, _rotation(keys, curves, bone, frames), mode, turns)
    keys.write(curves, channel, frames, (1, 20))
    for frame, turn, old in zip(frames, turns, before, strict=True):
        expected = old @ np.array(Quaternion(turn).to_matrix())
        np.testing.assert_allclose(_basis(bpy, bone, frame), expected, atol=2e-6)


def _basis(bpy, bone, frame):
    bpy.context.scene.frame_set(int(frame))
    return np.array(bone.matrix_basis.to_3x3())


@pytest.mark.parametrize("mode", MODES)
def test_no_correction_keeps_every_value_bit_for_bit(bpy, keys, rig, mode):
    _ob, bone, curves = rig
    bone.rotation_mode = mode
    name = keys.rotations.property_of(mode)
    _fill(curves, bone, name, [(1, 3.0), (4.4, -4.1), (9, -3.0), (20, 9.3)])
    frames, path = np.arange(1, 21), bone.path_from_id(name)
    before = _values(curves, path, frames)
    channel = _turned(keys, _rotation(keys, curves, bone, frames), mode, np.tile(IDENTITY, (20, 1)))
    keys.write(curves, channel, frames, (1, 20))
    np.testing.assert_array_equal(_values(curves, path, frames), before)


@pytest.mark.parametrize("mode", MODES)
def test_frames_without_correction_keep_their_bits_among_corrected_ones(bpy, keys, rig, mode):
    _ob, bone, curves = rig
    bone.rotation_mode = mode
    _fill(curves, bone, keys.rotations.property_of(mode), [(1, 0.1), (20, 0.5)])
    if mode == "AXIS_ANGLE":
        _make_axis_unit(curves, bone)
    frames = np.arange(1, 21)
    turns = _turns(20, size=0.1)
    turns[:5] = IDENTITY
    channel = _rotation(keys, curves, bone, frames)
    corrected = _turned(keys, channel, mode, turns)
    np.testing.assert_array_equal(corrected.values[:5], channel.values[:5])
    assert np.abs(corrected.values[8] - channel.values[8]).max() > 1e-3


@pytest.mark.parametrize("mode", MODES)
def test_bones_that_are_turned_together_turn_as_each_does_alone(keys, mode):
    size, numbers = (3 if len(mode) == 3 else 4), np.random.default_rng(2)
    channels = [keys.Channel(name, name, np.cumsum(numbers.normal(size=(60, size)), axis=0)) for name in "abcd"]
    turns = [_turns(60, size=numbers.uniform(0.5, 6.0)) for _ in channels]
    turns[1][:], turns[2][40:] = IDENTITY, IDENTITY
    before = [None, None, channels[2].values[5], np.full(size, np.nan)]
    for rejoins in (False, True):
        together = keys.turned(channels, mode, turns, before, rejoins)
        for row, channel in enumerate(channels):
            (alone,) = keys.turned([channel], mode, [turns[row]], [before[row]], rejoins)
            np.testing.assert_array_equal(together[row].values, alone.values)
        np.testing.assert_array_equal(together[1].values, channels[1].values)


def _make_axis_unit(curves, bone):
    for index, value in ((1, 0.6), (2, 0.0), (3, 0.8)):
        for point in curves.find(bone.path_from_id("rotation_axis_angle"), index).keyframe_points:
            point.co.y = point.handle_left.y = point.handle_right.y = value


def test_quaternions_continue_the_frame_before_the_range(bpy, keys, rig):
    _ob, bone, curves = rig
    for index, value in enumerate(-IDENTITY):
        curve = curves.ensure(bone.path_from_id("rotation_quaternion"), index, bone.name)
        curve.keyframe_points.insert(1, value)
        curve.keyframe_points.insert(9, value)
        curve.keyframe_points.insert(10, -value)
        curve.keyframe_points.insert(20, -value)
    frames = np.arange(10, 21)
    channel = _rotation(keys, curves, bone, frames)
    before = keys.value_before(curves, channel, 10)
    np.testing.assert_array_equal(before, -IDENTITY)
    turned = _turned(keys, channel, "QUATERNION", _turns(11, size=0.2), before)
    assert (turned.values[:, 0] < -0.9).all()
    assert keys.value_before(curves, channel, 1) is None


def test_a_world_offset_moves_the_bone_by_just_that(bpy, keys, rig):
    ob, bone, curves = rig
    ob.rotation_euler, ob.scale, ob.location = (0.3, -0.5, 1.0), (0.01, 0.02, 0.01), (4.0, 5.0, 6.0)
    _fill(curves, bone, "location", [(1, 0.0), (10, 3.0)])
    frames, offset = np.arange(1, 11), np.column_stack([np.linspace(0, 0.02, 10)] * 3) * [1.0, -1.0, 2.0]
    before = [_head(bpy, ob, frame) for frame in frames]
    linear = np.array(ob.matrix_world.to_3x3() @ bone.bone.matrix_local.to_3x3())
    channel = keys.moved(keys.read(curves, bone, "location", frames, {}, {}), np.tile(linear, (10, 1, 1)), offset)
    keys.write(curves, channel, frames, (1, 10))
    after = [_head(bpy, ob, frame) for frame in frames]
    np.testing.assert_allclose(np.array(after) - before, offset, atol=1e-6)


def _head(bpy, ob, frame):
    bpy.context.scene.frame_set(int(frame))
    return np.array(ob.matrix_world @ ob.pose.bones[0].head)


def test_keys_are_marked_as_generated_and_lie_on_every_frame_of_the_range_only(bpy, keys, rig):
    _ob, bone, curves = rig
    _fill(curves, bone, "location", [(1, 0.0), (5.5, 2.0), (7, 1.0), (10, 3.0), (14, 1.0)])
    frames = np.arange(4, 9)
    keys.write(curves, keys.read(curves, bone, "location", frames, {}, {}), frames, (1, 14))
    for curve in curves:
        points = [(point.co.x, point.type) for point in curve.keyframe_points]
        generated = [(frame, "GENERATED") for frame in frames]
        assert points == [(1, "KEYFRAME"), *generated, (10, "KEYFRAME"), (14, "KEYFRAME")]


@pytest.mark.parametrize("interpolation", ["CONSTANT", "LINEAR", "BEZIER"])
@pytest.mark.parametrize("span", [(4, 9), (1, 7), (6, 16), (5, 12)])
def test_the_curve_outside_the_range_keeps_its_shape(bpy, keys, rig, interpolation, span):
    _ob, bone, curves = rig
    _fill(curves, bone, "location", [(1, 0.0), (5, 2.0), (7.5, -1.0), (12, 1.5), (16, 0.5)], interpolation)
    frames, path = np.arange(span[0], span[1] + 1), bone.path_from_id("location")
    outside = [frame for frame in np.arange(-2, 20, 0.25) if not span[0] <= frame <= span[1]]
    before = _values(curves, path, outside)
    keys.write(curves, keys.read(curves, bone, "location", frames, {}, {}), frames, (1, 16))
    np.testing.assert_allclose(_values(curves, path, outside), before, atol=2e-6)
    kinds = {point.interpolation for point in curves.find(path, 0).keyframe_points if point.type != "GENERATED"}
    assert kinds <= {interpolation}


def test_automatic_handles_outside_the_range_and_beyond_its_neighbours_stay_bit_for_bit(bpy, keys, rig):
    _ob, bone, curves = rig
    rng = np.random.default_rng(0)
    _fill(curves, bone, "location", [(frame, rng.uniform()) for frame in np.sort(rng.uniform(5001.0, 5061.0, 15))])
    for curve in curves:
        for point in curve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "AUTO"
        curve.update()
    before = [_raw(curve) for curve in curves]
    frames = np.arange(5029, 5034)
    keys.write(curves, keys.read(curves, bone, "location", frames, {}, {}), frames, (5001, 5061))
    for curve, rows in zip(curves, before, strict=True):
        after = _raw(curve)
        kept = [row for row in rows if row in after]
        assert len(kept) >= sum(not 5028 < row[0][0] < 5034 for row in rows) - 2


@pytest.mark.parametrize("span", [(1, 8), (8, 16), (8, 8)])
@pytest.mark.parametrize("interpolation", ["BACK", "ELASTIC"])
def test_easing_that_ends_or_begins_at_the_range_keeps_its_shape(bpy, keys, rig, interpolation, span):
    _ob, bone, curves = rig
    _fill(curves, bone, "location", [(1, 0.0), (8, 2.0), (16, 1.0)], interpolation)
    frames, path = np.arange(span[0], span[1] + 1), bone.path_from_id("location")
    outside = [frame for frame in np.arange(1, 16, 0.25) if not span[0] <= frame <= span[1]]
    before = _values(curves, path, outside)
    keys.write(curves, keys.read(curves, bone, "location", frames, {}, {}), frames, (1, 16))
    np.testing.assert_allclose(_values(curves, path, outside), before, atol=1e-6)


@pytest.mark.parametrize("interpolation", ["BEZIER", "CONSTANT", "BACK", "ELASTIC"])
@pytest.mark.parametrize("change", [0.0, 0.5])
def test_a_curve_that_ended_before_the_range_still_holds_its_value_outside(bpy, keys, rig, interpolation, change):
    _ob, bone, curves = rig
    _fill(curves, bone, "location", [(1, 0.0), (4, 2.0)], interpolation)
    for curve in curves:
        curve.keyframe_points[1].amplitude = 3.0
    frames, path = np.arange(8, 11), bone.path_from_id("location")
    before = _values(curves, path, [2.5, 5.0, 7.0])
    channel = keys.read(curves, bone, "location", frames, {}, {})
    keys.write(curves, channel.with_values(channel.values + change), frames, (1, 20))
    np.testing.assert_allclose(_values(curves, path, [2.5, 5.0, 7.0]), before, atol=1e-6)


def test_modifiers_are_baked_over_the_whole_action(bpy, keys, rig):
    _ob, bone, curves = rig
    _fill(curves, bone, "location", [(1, 0.0), (20, 2.0)])
    path, whole = bone.path_from_id("location"), np.arange(1, 21)
    for curve in curves:
        curve.modifiers.new("NOISE").strength = 3.0
    before = _values(curves, path, whole)
    frames = np.arange(5, 9)
    keys.write(curves, keys.read(curves, bone, "location", frames, {}, {}), frames, (1, 20))
    assert not any(len(curve.modifiers) for curve in curves)
    np.testing.assert_array_equal(_values(curves, path, whole), before)


@pytest.mark.parametrize("state", ["without curves", "muted", "muted noise", "muted samples"])
def test_a_property_that_was_not_animated_keeps_its_value_outside_the_range(bpy, keys, rig, state):
    _ob, bone, curves = rig
    if state != "without curves":
        _fill(curves, bone, "location", [(1, 7.0), (20, 9.0)])
    for curve in curves:
        curve.mute = True
        if "noise" in state:
            curve.modifiers.new("NOISE").strength = 3.0
        if "samples" in state:
            curve.convert_to_samples(1, 21)
    bone.location = (0.5, 0.25, -1.0)
    frames, path = np.arange(5, 9), bone.path_from_id("location")
    channel = keys.read(curves, bone, "location", frames, {}, {})
    assert channel.unkeyed == [0.5, 0.25, -1.0]
    keys.write(curves, channel.with_values(channel.values + 1.0), frames, (1, 20))
    np.testing.assert_allclose(_values(curves, path, [1, 4, 5, 8, 9, 20])[:, 0], [0.5, 0.5, 1.5, 1.5, 0.5, 0.5])


def test_hand_made_keys_within_the_range_are_counted(bpy, keys, actions, rig):
    _ob, bone, curves = rig
    frames = np.arange(5, 9)
    _fill(curves, bone, "location", [(1, 0.0), (6, 1.0), (20, 2.0)])
    channel = keys.read(curves, bone, "location", frames, {}, {})
    nothing = actions.Curves(None)
    assert keys.count_handmade(curves, nothing, frames, [channel.path]) == 3
    assert keys.count_handmade(curves, curves, frames, [channel.path]) == 0
    keys.write(curves, channel, frames, (1, 20))
    assert keys.count_handmade(curves, nothing, frames, [channel.path]) == 0


@pytest.mark.parametrize(
    "state", ["keys", "some frames", "half frames", "noise", "muted noise", "samples", "twice on a frame"]
)
def test_values_read_in_bulk_are_those_that_blender_evaluates(bpy, keys, rig, state):
    _ob, bone, curves = rig
    step = {"some frames": 2.0, "half frames": 0.5}.get(state, 1.0)
    _fill(curves, bone, "location", [(frame, np.sin(frame)) for frame in np.arange(1.0, 21.0, step).tolist()])
    curve = curves.find(bone.path_from_id("location"), 1)
    if "noise" in state:
        curve.modifiers.new("NOISE").mute = state == "muted noise"
    if state == "samples":
        curve.convert_to_samples(1, 21)
    if state == "twice on a frame":
        curve.keyframe_points[7].co.x = curve.keyframe_points[6].co.x
    for first, end in ((1, 21), (1, 8), (4, 9), (-3, 3), (18, 25)):
        frames = np.arange(first, end)
        expected = [curve.evaluate(frame) for frame in frames]
        np.testing.assert_array_equal(keys.fcurves.evaluate(curve, frames), expected)


def test_writing_twice_equals_writing_once(bpy, keys, rig):
    _ob, bone, curves = rig
    frames = np.arange(5, 9)
    _fill(curves, bone, "location", [(1, 0.0), (6, 1.0), (20, 2.0)])
    channel = keys.read(curves, bone, "location", frames, {}, {})
    keys.write(curves, channel, frames, (1, 20))
    once = [_raw(curve) for curve in curves]
    keys.write(curves, channel, frames, (1, 20))
    assert [_raw(curve) for curve in curves] == once


def _raw(curve):
    return [(tuple(p.co), tuple(p.handle_left), tuple(p.handle_right), p.interpolation) for p in curve.keyframe_points]


@pytest.mark.parametrize("state", ["flat", "one key", "straight on", "handle", "value", "bounce", "elastic", "noise"])
@pytest.mark.parametrize("kind", ["BEZIER", "LINEAR", "CONSTANT"])
def test_values_of_few_keys_are_those_that_blender_evaluates(bpy, keys, rig, state, kind) -> None:
    _ob, bone, curves = rig
    _fill(curves, bone, "location", [(2, 0.7)] if state == "one key" else [(2, 0.7), (9, 0.7), (17, 0.7)])
    curve = curves.find(bone.path_from_id("location"), 1)
    for point in curve.keyframe_points:
        point.interpolation = state.upper() if state in ("bounce", "elastic") else kind
        point.amplitude = 2.0
    if state == "straight on":
        curve.extrapolation = "LINEAR"
    if state == "handle":
        curve.keyframe_points[1].handle_left_type = "FREE"
        curve.keyframe_points[1].handle_left.y += 0.5
    if state == "value":
        curve.keyframe_points[1].co.y += 0.25
    if state == "noise":
        curve.modifiers.new("NOISE")
    curve.update()
    frames = np.arange(-3, 5 + keys.fcurves.MANY)
    expected = [curve.evaluate(frame) for frame in frames]
    np.testing.assert_array_equal(keys.fcurves.evaluate(curve, frames), expected)
    # Elastic pieces leave a value that both their keys have: what the reading in bulk has to tell from flat ones.
    assert (np.ptp(expected) > 0.0) == (state in ("value", "elastic", "noise") or (state, kind) == ("handle", "BEZIER"))
