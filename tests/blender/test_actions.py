# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions of every version: an object's own curves, copies, and what else plays them."""

from __future__ import annotations

import biped
import pytest

PATH = 'pose.bones["bone"].location'


@pytest.fixture
def actions(addon):
    return addon("keys.actions")


def _animated(bpy, actions, name, keys=((1, 0.0), (10, 1.0))):
    ob = biped.make_empty(bpy, name)
    assignment = actions.new(ob, f"{name}Action")
    curve = assignment.curves.ensure(PATH, 0, "bone")
    for frame, value in keys:
        curve.keyframe_points.insert(frame, value)
    actions.assign(ob, assignment)
    return ob


def test_a_new_action_takes_curves_grouped_by_bone(bpy, actions):
    ob = _animated(bpy, actions, "A")
    curve = actions.assigned(ob).curves.find(PATH, 0)
    assert curve.group.name == "bone"
    assert actions.assigned(ob).curves.find(PATH, 1) is None


def test_ensuring_a_curve_twice_gives_the_same_curve(bpy, actions):
    curves = actions.assigned(_animated(bpy, actions, "A")).curves
    assert curves.ensure(PATH, 0, "bone") == curves.find(PATH, 0)
    curves.ensure(PATH, 1, "bone")
    assert [curve.array_index for curve in curves] == [0, 1]
    assert len(curves.bag.groups) == 1


def test_an_object_without_animation_plays_nothing(bpy, actions):
    ob = biped.make_empty(bpy, "A")
    assert actions.assigned(ob).action is None
    ob.animation_data_create()
    assert actions.assigned(ob).action is None


def test_a_copy_is_played_by_the_slot_of_the_same_name(bpy, actions):
    ob = _animated(bpy, actions, "A")
    source = actions.assigned(ob)
    copy = actions.copy(source)
    actions.assign(ob, copy)
    assert actions.assigned(ob) == copy
    assert copy.action != source.action
    copy.curves.find(PATH, 0).keyframe_points.insert(20, 5.0)
    assert source.curves.span() == (1, 10)
    assert copy.curves.span() == (1, 20)


def test_an_error_on_the_way_to_another_action_leads_back(bpy, actions, monkeypatch):
    ob, other = _animated(bpy, actions, "A"), _animated(bpy, actions, "B")
    before, put = actions.assigned(ob), actions.put

    def fail(owner, assignment):
        monkeypatch.setattr(actions, "put", put)
        owner.action = assignment.action
        raise ArithmeticError("half way")

    monkeypatch.setattr(actions, "put", fail)
    with pytest.raises(ArithmeticError, match="half way"), actions.playing(ob, actions.assigned(other)):
        pass
    assert actions.assigned(ob) == before


def test_samples_are_overwritten_by_other_samples_without_a_warning(bpy, actions, capfd):
    source = actions.assigned(_animated(bpy, actions, "A"))
    target = actions.copy(source)
    for value, assignment in ((3.0, source), (5.0, target)):
        curve = assignment.curves.find(PATH, 0)
        curve.keyframe_points.insert(4, value)
        curve.convert_to_samples(1, 11)
    actions.overwrite(target, source)
    curve = target.curves.find(PATH, 0)
    assert len(curve.sampled_points) == 10 and curve.evaluate(4) == 3.0
    assert "already has sample points" not in "".join(capfd.readouterr())


def test_only_curves_of_some_properties_are_overwritten_where_no_others_differ(bpy, actions):
    source = actions.assigned(_animated(bpy, actions, "A"))
    source.curves.ensure(PATH, 1, "bone").keyframe_points.insert(1, 2.0)
    source.curves.ensure("scale", 0, "").keyframe_points.insert(1, 2.0)
    target = actions.copy(source)
    for curve in source.curves:
        curve.keyframe_points.insert(5, 7.0)
    actions.overwrite(target, source, {PATH})
    ends = {(curve.data_path, curve.array_index): curve.evaluate(5) for curve in target.curves}
    assert ends == {(PATH, 0): 7.0, (PATH, 1): 7.0, ("scale", 0): 2.0}


def test_the_curves_of_another_slot_are_not_seen(bpy, actions):
    ob, other = _animated(bpy, actions, "A"), biped.make_empty(bpy, "B")
    action = actions.assigned(ob).action
    if not hasattr(action, "slots"):
        pytest.skip("this Blender has no slots")
    slot = action.slots.new(id_type="OBJECT", name="B")
    action.layers[0].strips[0].channelbag(slot, ensure=True).fcurves.new(PATH, index=0).keyframe_points.insert(99, 1.0)
    actions.assign(other, actions.Assignment(action, slot.identifier))
    assert actions.frame_span(actions.assigned(ob)) == (1, 10)
    assert actions.frame_span(actions.assigned(other)) == (99, 99)
    assert actions.players(actions.assigned(ob)) == [ob]


def test_an_object_plays_an_action_by_no_slot_or_nothing_if_that_is_asked(bpy, actions):
    ob = _animated(bpy, actions, "A")
    for played in (actions.Assignment(actions.assigned(ob).action), actions.Assignment(None)):
        actions.assign(ob, played)
        assert actions.assigned(ob) == played


def test_a_manual_frame_range_counts_as_the_action_s(bpy, actions):
    ob = _animated(bpy, actions, "A")
    action = actions.assigned(ob).action
    action.use_frame_range, action.frame_start, action.frame_end = True, 2.0, 5.5
    assert actions.frame_span(actions.assigned(ob)) == (2.0, 5.5)


def test_an_action_without_keys_has_no_span(bpy, actions):
    assert actions.frame_span(actions.new(biped.make_empty(bpy, "A"), "Empty")) is None


def test_a_key_on_frame_zero_alone_is_a_span(bpy, actions):
    assert actions.assigned(_animated(bpy, actions, "A", [(0, 1.0)])).curves.span() == (0, 0)


def test_other_players_and_strips_are_found(bpy, actions):
    ob = _animated(bpy, actions, "A")
    twin = biped.twin_of(bpy, ob)
    action = actions.assigned(ob).action
    strip = ob.animation_data.nla_tracks.new().strips.new("Walk", 1, action)
    assert set(actions.players(actions.assigned(ob))) == {ob, twin}
    assert actions.strips_of(action) == [strip.name]
    strip.mute = True
    assert actions.strips_of(action) == []


def test_an_action_that_the_nla_blends_is_told_from_one_that_it_shows(bpy, actions):
    ob = _animated(bpy, actions, "A")
    data = ob.animation_data
    data.action_influence = 0.5
    assert actions.trouble(ob) is None
    data.nla_tracks.new().strips.new("Walk", 1, data.action)
    assert "changes what its action shows" in actions.trouble(ob)
    data.action_influence = 1.0
    assert actions.trouble(ob) is None
    data.action_blend_type = "ADD"
    assert "changes what its action shows" in actions.trouble(ob)
