# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels draw without a window on a layout that only takes notes."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from planted import plant


class Notes:
    """A layout that remembers what was put on it and hands out itself for every part of it."""

    def __init__(self):
        """Start empty."""
        self.props, self.operators, self.texts, self.icons, self.switches = [], [], [], [], {}

    def prop(self, _owner, name, **_options):
        self.props.append(name)

    def operator(self, name, text="", depress=False, **_options):
        self.operators.append(name)
        self.switches[text] = depress
        return SimpleNamespace()

    def operator_menu_enum(self, name, _property, **_options):
        self.operators.append(name)
        return SimpleNamespace()

    def label(self, text, icon="NONE", **_options):
        self.texts.append(text)
        self.icons.append(icon)

    def column(self, **_options):
        return self

    row = split = grid_flow = column


@pytest.fixture
def draw(bpy, addon):
    classes = vars(addon("ui.panel")) | vars(addon("ui.contacts"))

    def draw(name):
        panel = classes[f"IK2BONE_PT_{name}"]
        if hasattr(panel, "poll") and not panel.poll(bpy.context):
            return None
        notes = Notes()
        panel.draw(SimpleNamespace(layout=notes), bpy.context)
        return notes

    return draw


def test_the_button_is_always_there_and_restore_only_on_a_planted_action(bpy, draw):
    assert draw("main").operators == ["ik2bone.plant_feet"]


def test_the_panel_of_a_planted_action_offers_to_restore_and_reports(bpy, walker, slope, draw):
    assert draw("report") is None
    plant(bpy)
    assert draw("main").operators == ["ik2bone.plant_feet", "ik2bone.restore"]
    texts = draw("report").texts
    row = texts.index("Under ground")
    assert texts[row - 3 : row] == ["", "Before", "After"] or "After" in texts[:row]
    assert texts[row + 1].endswith(" cm")
    assert texts[row + 2] == "0 m"


def test_an_action_planted_in_place_has_a_report_and_no_way_back(bpy, walker, slope, draw):
    plant(bpy, output="IN_PLACE")
    assert draw("main").operators == ["ik2bone.plant_feet"]
    assert "Under ground" in draw("report").texts


def test_several_armatures_are_named_before_the_button(bpy, walker, draw):
    assert draw("main").texts == []
    twin = walker.copy()
    bpy.context.collection.objects.link(twin)
    for armature in (walker, twin):
        armature.select_set(True)
    assert draw("main").texts == ["Walker", "Walker.001"]


def test_frames_are_asked_for_only_where_they_count(bpy, draw):
    assert "frame_start" not in draw("main").props
    bpy.context.scene.ik2bone.frame_range = "CUSTOM"
    assert {"frame_start", "frame_end"} <= set(draw("main").props)


def test_every_option_has_its_place_in_a_panel(bpy, addon, draw):
    bpy.context.scene.ik2bone.frame_range = "CUSTOM"
    drawn = set(draw("main").props + draw("options").props)
    assert drawn == {*addon("properties").OPTIONS, "surface_object", "surface_collection"}


@pytest.mark.parametrize(
    ("given", "idle"),
    [
        ({"bones": "hand.L"}, "chains"),
        ({"direction": "NEAREST"}, "max_slope"),
        ({"use_hips": False}, "max_drop"),
        ({}, None),
    ],
)
def test_options_that_make_no_difference_are_greyed(bpy, addon, given, idle):
    settings = bpy.context.scene.ik2bone
    for name, value in given.items():
        setattr(settings, name, value)
    names = addon("properties").OPTIONS
    assert [name for name in names if not addon("ui.panel")._counts(settings, name)] == ([idle] if idle else [])


def test_a_record_that_someone_broke_shows_no_report(bpy, walker, slope, draw):
    plant(bpy)
    walker.animation_data.action["ik2bone"] = "{not json"
    assert draw("report") is None
    assert "ik2bone.restore" in draw("main").operators


def test_the_panel_of_contacts_counts_them_and_offers_to_change_those_to_come(bpy, walker, slope, draw):
    assert draw("contacts").texts == ["None stored yet"]
    plant(bpy)
    bpy.ops.ik2bone.set_contact(index=0, state="forbidden")
    count = len(json.loads(walker.animation_data.action["ik2bone"])["contacts"])
    notes = draw("contacts")
    assert notes.texts[0] == f"{count - 1} automatic, 0 pinned, 1 lifted"
    assert notes.operators.count("ik2bone.set_contact") == min(count, 12)
    assert "ik2bone.export_contacts" in notes.operators
    bpy.context.scene.frame_set(61)
    assert draw("contacts").operators.count("ik2bone.set_contact") < count


def test_the_panel_of_contacts_bears_whatever_scripts_have_written(bpy, walker, draw):
    for text in ("", "[]", "{", '{"contacts": 3}', '{"contacts": [3]}', '{"contacts": [{"bone": "foot.L"}]}'):
        walker.animation_data.action["ik2bone"] = text
        assert draw("contacts").texts == ["None stored yet"]
