# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back from a layer, and what another run over the same source leaves of it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from nla_scene import (
    LAYER,
    LEG,
    apart,
    layers_of,
    planted_anew,
    poses,
    record_of,
    refused,
    state_of,
)
from planted import bone_curves, plant


@pytest.mark.parametrize("runs", [1, 2])
def test_restore_leaves_everything_as_it_was_found(bpy, walker, slope, runs):
    walker.animation_data.action_extrapolation = "HOLD_FORWARD"
    other = walker.animation_data.action.copy()
    track = walker.animation_data.nla_tracks.new()
    track.strips.new("Other", 1, other)
    found = state_of(bpy, walker)
    for _ in range(runs):
        plant(bpy, **LAYER)
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    source = walker.animation_data.action
    assert {span["state"] for span in json.loads(source["ik2bone"])["contacts"]} == {"automatic"}
    del source["ik2bone"]
    after = state_of(bpy, walker)
    found[0].pop("settings"), after[0].pop("settings")
    assert after == found


def test_restore_from_the_tweak_mode_of_the_layer_too(bpy, walker, slope):
    before = poses(bpy, walker)
    plant(bpy, **LAYER)
    data = walker.animation_data
    for track in data.nla_tracks:
        track.select = track.strips[0].select = track == data.nla_tracks[-1]
    data.nla_tracks.active = data.nla_tracks[-1]
    data.use_tweak_mode = True
    assert data.action.name == "walk.layer"
    refused(bpy, walker, "action walk.layer is a layer's and no motion")
    bpy.ops.ik2bone.restore()
    assert data.action.name == "walk" and not data.nla_tracks
    np.testing.assert_array_equal(poses(bpy, walker), before)


@pytest.mark.parametrize("leaves", [lambda bpy: bpy.ops.ik2bone.restore(), plant])
def test_a_layer_goes_together_with_strips_that_users_made_of_it(bpy, walker, slope, leaves):
    plant(bpy, **LAYER)
    data = walker.animation_data
    over = data.nla_tracks[-1].strips[0]
    double = data.nla_tracks.new().strips.new("Double", 1, over.action)
    if hasattr(double, "action_slot"):
        double.action_slot = over.action_slot
    leaves(bpy)
    assert not data.nla_tracks and data.action.name.startswith("walk") and "walk.layer" not in bpy.data.actions


@pytest.mark.parametrize("plays", [None, "other"])
def test_restore_removes_a_layer_whose_source_was_deleted(bpy, walker, slope, plays):
    plant(bpy, **LAYER)
    data = walker.animation_data
    if plays:
        data.action = bpy.data.actions.new(plays)
    bpy.data.actions.remove(bpy.data.actions["walk"])
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert not data.nla_tracks
    assert bpy.data.actions.keys() == ([plays] if plays else [])
    assert data.action == bpy.data.actions.get(plays or "none")
    assert not bpy.ops.ik2bone.restore.poll()


def mute_all(data):
    for track in data.nla_tracks:
        track.mute = True


HIDDEN = {
    "all muted": mute_all,
    "NLA off": lambda data: setattr(data, "use_nla", False),
    "layer solo": lambda data: setattr(data.nla_tracks[-1], "is_solo", True),
}


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_a_layer_that_does_not_show_is_restored_too(bpy, walker, slope, hidden):
    before = poses(bpy, walker)
    plant(bpy, **LAYER)
    hidden(walker.animation_data)
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert sorted(bpy.data.actions.keys()) == ["walk"] and not walker.animation_data.nla_tracks
    np.testing.assert_array_equal(poses(bpy, walker), before)


def test_a_layer_is_taken_away_when_its_source_has_left_the_nla(bpy, walker, slope):
    plant(bpy, **LAYER)
    data = walker.animation_data
    data.nla_tracks.remove(data.nla_tracks[0])
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert sorted(bpy.data.actions.keys()) == ["walk"] and not data.nla_tracks and data.action is None


@pytest.mark.parametrize(
    ("first", "second"), [("NEW_ACTION", "NLA_LAYER"), ("NLA_LAYER", "NEW_ACTION"), ("NLA_LAYER", "IN_PLACE")]
)
def test_another_output_of_the_same_source_takes_the_place_of_the_first(bpy, walker, slope, first, second):
    source, before = walker.animation_data.action, bone_curves(walker.animation_data.action, "thigh.L")
    expected = planted_anew(bpy, walker, {})
    plant(bpy, output=first)
    plant(bpy, output=second)
    assert apart(poses(bpy, walker), expected) < 2e-5 * LEG
    assert len(layers_of(walker)) == (second == "NLA_LAYER")
    assert len(walker.animation_data.nla_tracks) == 2 * (second == "NLA_LAYER")
    shown = {"NEW_ACTION": "walk.planted", "IN_PLACE": "walk"}.get(second)
    assert getattr(walker.animation_data.action, "name", None) == shown
    if second != "IN_PLACE":
        bpy.ops.ik2bone.restore()
        assert walker.animation_data.action == source
        assert bone_curves(source, "thigh.L") == before


@pytest.mark.parametrize("output", ["NLA_LAYER", "NEW_ACTION"])
def test_contacts_edited_on_the_layer_count_in_the_next_run(bpy, walker, slope, output):
    plant(bpy, **LAYER)
    row = next(i for i, r in enumerate(record_of(walker)["contacts"]) if (r["bone"], r["part"]) == ("foot.R", "ball"))
    bpy.ops.ik2bone.set_contact(index=row, state="forbidden")
    lifted = record_of(walker)["contacts"][row]
    assert lifted["state"] == "forbidden"
    plant(bpy, output=output, contacts="STORED")
    data = walker.animation_data
    rows = json.loads((data.action or layers_of(walker)[0].action)["ik2bone"])["contacts"]
    kept = [(r["start"], r["end"]) for r in rows if r["state"] == "forbidden"]
    assert kept == [(lifted["start"], lifted["end"])]


def test_the_panel_shows_the_report_of_the_layer_and_its_way_back(bpy, walker, slope, addon):
    panel = addon("ui.panel")
    context = bpy.context
    assert not bpy.ops.ik2bone.restore.poll()
    plant(bpy, **LAYER)
    assert panel.IK2BONE_PT_report.poll(context)
    assert panel.played_action(context) == layers_of(walker)[0].action
    assert bpy.ops.ik2bone.restore.poll()


def test_two_layered_actions_of_one_armature_lead_back_one_after_the_other(bpy, walker, slope):
    data, walk = walker.animation_data, walker.animation_data.action
    plant(bpy, **LAYER)
    first = poses(bpy, walker)
    run = walk.copy()
    run.name, data.action = "run", run
    if hasattr(data, "action_slot"):
        data.action_slot = run.slots[0]
    plant(bpy, **LAYER)
    assert [strip.action.name for strip in layers_of(walker)] == ["walk.layer", "run.layer"]
    assert apart(poses(bpy, walker), first) < 2e-5 * LEG
    bpy.ops.ik2bone.restore()
    assert data.action == run and [strip.action.name for strip in layers_of(walker)] == ["walk.layer"]
    data.action = None
    np.testing.assert_array_equal(poses(bpy, walker), first)
    bpy.ops.ik2bone.restore()
    assert data.action == walk and not data.nla_tracks
