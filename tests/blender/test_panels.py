# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels draw without a window on a layout that only takes notes."""

from __future__ import annotations

import json
from math import nan
from types import SimpleNamespace

import biped
import pytest
from planted import plant


class Notes:
    """A layout that remembers what was put on it and hands out itself for every part of it."""

    def __init__(self):
        """Start empty."""
        self.props, self.operators, self.texts, self.icons, self.switches = [], [], [], [], {}
        self.pointers, self.shown = {}, []

    def prop(self, _owner, name, **_options):
        self.props.append(name)

    def operator(self, name, text="", depress=False, **_options):
        self.operators.append(name)
        if name == "ik2bone.show_frame":
            self.texts.append(text)
            self.shown.append(SimpleNamespace())
            return self.shown[-1]
        self.switches[text] = depress
        return SimpleNamespace()

    def operator_menu_enum(self, name, _property, **_options):
        self.operators.append(name)
        return SimpleNamespace()

    def label(self, text, icon="NONE", **_options):
        self.texts.append(text)
        self.icons.append(icon)

    def template_list(self, *_names, **_options):
        pass

    def separator(self):
        pass

    def context_pointer_set(self, name, armature):
        self.pointers[name] = armature

    def column(self, **_options):
        return self

    row = split = grid_flow = column


@pytest.fixture
def draw(bpy, addon):
    classes = vars(addon("ui.panel")) | vars(addon("ui.contact_list"))

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
    assert texts[texts.index("Before") + 1] == "After"
    row = texts.index("Penetration")
    assert texts[row + 1].endswith(" cm")
    assert texts[row + 2] == "0 m"


def test_an_action_planted_in_place_has_a_report_and_no_way_back(bpy, walker, slope, draw):
    plant(bpy, output="IN_PLACE")
    assert draw("main").operators == ["ik2bone.plant_feet"]
    assert "Penetration" in draw("report").texts


def test_several_armatures_are_named_before_the_button(bpy, walker, draw):
    assert draw("main").texts == []
    twin = biped.twin_of(bpy, walker)
    for armature in (walker, twin):
        armature.select_set(True)
    assert draw("main").texts == ["Walker", "Walker.001"]


def test_no_panel_looks_at_all_objects_for_an_active_armature(bpy, walker, slope, draw, addon, monkeypatch):
    plant(bpy)
    bpy.context.view_layer.objects.active = walker
    monkeypatch.delattr(addon("rig.armatures"), "_armatures")
    assert all(draw(name) for name in ("main", "options", "report", "contacts"))


def test_the_only_armature_is_found_through_renaming_removal_and_newcomers(bpy, walker, addon):
    find = addon("rig.armatures").find_armature
    bpy.context.view_layer.objects.active = None
    walker.select_set(False)
    assert find(bpy.context) == walker
    walker.name = "Renamed"
    bpy.context.collection.objects.link(bpy.data.objects.new("A first one", None))
    assert find(bpy.context) == walker
    twin = biped.twin_of(bpy, walker)
    assert find(bpy.context) is None
    bpy.data.objects.remove(walker)
    assert find(bpy.context) == twin


def test_the_panel_of_contacts_hands_its_armature_to_its_buttons(bpy, walker, draw, addon):
    handed = SimpleNamespace(**draw("contacts").pointers)
    assert addon("rig.armatures").find_armature(handed) == walker


def test_changed_settings_are_said_to_wait_until_they_are_as_planted_again(bpy, walker, slope, draw):
    settings = bpy.context.scene.ik2bone
    plant(bpy, strength=0.3, max_slope=0.7)
    assert draw("main").texts == []
    settings.strength = 0.5
    assert " ".join(draw("main").texts).startswith("Settings have changed since this action was planted")
    settings.strength = 0.3
    settings.surface_object = slope
    assert draw("main").texts
    settings.surface_object = None
    assert draw("main").texts == []


def test_several_surfaces_of_a_script_are_said_to_be_other_settings(bpy, walker, slope, draw):
    """The button would plant on what the panel names alone."""
    lower = biped.make_slope(bpy, name="Lower", height=-0.1)
    plant(bpy, surface="Slope, Lower")
    assert draw("main").texts
    lower.name = "Renamed"
    assert draw("main").texts == []
    lower.name = "Lower"
    plant(bpy)
    assert draw("main").texts == []


def test_surfaces_with_commas_in_their_names_are_said_to_be_other_settings_too(bpy, walker, slope, draw):
    biped.make_slope(bpy, name="Lower, left", height=-0.1)
    plant(bpy, surface="Slope, Lower, left")
    assert draw("main").texts


def test_switches_know_limbs_whose_names_end_in_a_space(bpy, walker, slope, draw):
    walker.data.bones["foot.L"].name = "foot.L "
    plant(bpy)
    bpy.context.scene.ik2bone.bones = "foot.L "
    assert draw("options").switches == {"foot.L ": True, "foot.R": False}


def test_the_options_say_that_they_wait(bpy, draw):
    assert " ".join(draw("options").texts).startswith("Options wait for Plant Feet")


def test_switches_leave_feet_out_and_take_them_in_again(bpy, walker, slope, draw):
    assert draw("options").switches == {}
    plant(bpy)
    assert draw("options").switches == {"foot.L": True, "foot.R": True}
    bpy.ops.ik2bone.toggle_limb(bone="foot.L")
    assert bpy.context.scene.ik2bone.bones == "foot.R"
    assert draw("options").switches == {"foot.L": False, "foot.R": True}
    plant(bpy, bones="foot.R")
    assert bpy.ops.ik2bone.toggle_limb(bone="foot.R") == {"CANCELLED"}
    bpy.ops.ik2bone.toggle_limb(bone="foot.L")
    assert bpy.context.scene.ik2bone.bones == ""


def test_names_of_bones_are_suggested_behind_the_last_comma(bpy, walker, addon):
    suggested = addon("properties").bone_suggestions
    assert list(suggested(None, bpy.context, "FOOT")) == ["foot.L", "foot.R"]
    assert list(suggested(None, bpy.context, "foot.L, foot.r")) == ["foot.L, foot.R"]


def test_meshes_and_collections_are_suggested_as_surfaces(bpy, walker, slope, addon):
    bpy.context.scene.collection.children.link(bpy.data.collections.new("Rocks"))
    suggested = set(addon("properties").surface_suggestions(None, bpy.context, ""))
    assert {slope.name, "Rocks"} <= suggested
    assert walker.name not in suggested


def report_with(**after):
    zeros = {name: 0.0 for name in ("drift", "knee_pop", "foot_pop", "hips_offset")}
    before = zeros | {"drift": 0.02}
    return {"leg": 0.9, "before": before, "after": zeros | after, "notes": [], "told": []}


@pytest.mark.parametrize(
    ("after", "label", "shown"),
    [
        ({"knee_pop": 2.8}, "Knee pop", ("", "2.8°", "CHECKMARK")),
        ({"knee_pop": 7.0}, "Knee pop", ("", "7.0°", "ERROR")),
        ({"drift": 0.0005}, "Drift", ("2 cm", "0.5 mm", "CHECKMARK")),
        ({"drift": 0.01}, "Drift", ("2 cm", "1 cm", "HIDE_OFF")),
        ({"drift": 0.03}, "Drift", ("2 cm", "3 cm", "ERROR")),
        ({"hips_offset": 0.25}, "Hips, offset", ("", "25 cm", "BLANK1")),
        ({"short_frames": 3}, "Short of target, frames", ("", "3", "ERROR")),
    ],
)
def test_figures_have_units_and_those_within_their_limits_are_good(bpy, addon, after, label, shown):
    rows = addon("ui.figures").rows_of(report_with(**after), bpy.context.scene.unit_settings)
    assert {row.label: (row.before, row.after, row.icon) for row in rows}[label] == shown


def test_lengths_follow_the_scene_s_units(bpy, addon):
    units, rows_of = bpy.context.scene.unit_settings, addon("ui.figures").rows_of
    drift = {}
    for system in ("METRIC", "IMPERIAL", "NONE"):
        units.system = system
        drift[system] = next(rows_of(report_with(drift=0.01), units)).after
    assert drift == {"METRIC": "1 cm", "IMPERIAL": "394 thou", "NONE": "0.0100"}
    units.system, units.scale_length = "METRIC", 0.1
    assert next(rows_of(report_with(drift=0.01), units)).after == "1 mm"


def test_notes_tell_damage_first_and_what_is_within_its_limits_last(bpy, addon):
    report = report_with(drift=0.03, knee_pop=2.0)
    codes = ("worse_knee_pop", "heels_raised", "feet_short", "hands_short", "worse_drift")
    report["notes"] = [{"code": code} for code in codes]
    report["told"] = [*codes, "keys made by hand were replaced"]
    assert addon("ui.figures").notes_of(report, bpy.context.scene.unit_settings) == [
        ("Worse_drift", "ERROR"),
        ("Feet_short", "ERROR"),
        ("Hands_short", "ERROR"),
        ("Keys made by hand were replaced", "ERROR"),
        ("Heels_raised", "INFO"),
        ("Worse_knee_pop", "INFO"),
    ]


def test_hints_are_told_apart_from_warnings(bpy, addon):
    report = report_with()
    report["told"], report["hints"] = ["keys made by hand were replaced", "the action plays in a strip"], []
    assert [icon for _, icon in addon("ui.figures").notes_of(report, bpy.context.scene.unit_settings)] == ["ERROR"] * 2
    report["hints"] = report["told"][1:]
    told = addon("ui.figures").notes_of(report, bpy.context.scene.unit_settings)
    assert told == [("Keys made by hand were replaced", "ERROR"), ("The action plays in a strip", "INFO")]


def test_a_layer_s_strip_is_a_hint_in_a_panel_of_its_own_and_no_warning(bpy, walker, slope, draw, capfd):
    plant(bpy, output="NLA_LAYER")
    assert "Warning:" not in capfd.readouterr().out
    said = "under the layer: edit it there in tweak mode"
    assert said in " ".join(draw("notes").texts) and said not in " ".join(draw("report").texts)
    bpy.ops.ik2bone.restore()
    plant(bpy)
    assert draw("notes") is None


def test_figures_lead_to_their_worst_frames(bpy, walker, slope, draw):
    plant(bpy)
    report = json.loads(walker.animation_data.action["ik2bone"])["report"]
    shown = draw("report").shown
    assert shown and {button.frame for button in shown} <= set(report["worst"].values())
    assert "9" in shown[0].limit and shown[0].limit.endswith("mm")
    bpy.ops.ik2bone.show_frame(frame=shown[0].frame)
    assert bpy.context.scene.frame_current == shown[0].frame


def test_the_tooltip_of_a_figure_tells_frame_and_limit(addon):
    describe = addon("ui.panel").IK2BONE_OT_show_frame.description
    told = describe(None, SimpleNamespace(frame=31, limit="0.9 mm"))
    assert told == "Show frame 31, on which this is worst; good up to 0.9 mm"
    assert describe(None, SimpleNamespace(frame=31, limit="")) == "Show frame 31, on which this is worst"


@pytest.mark.parametrize("worst", [None, 3, {"drift": "x"}, {}])
def test_figures_without_a_worst_frame_lead_nowhere(bpy, addon, worst):
    report = report_with(drift=0.03) | {"worst": worst}
    assert [row.frame for row in addon("ui.figures").rows_of(report, bpy.context.scene.unit_settings)] == [None]


def test_lengths_in_notes_have_the_scene_s_units(bpy, addon):
    report = report_with(drift=0.03)
    report["notes"] = [{"code": "feet_short", "distance": 0.012, "frames": 4}, {"code": "feet_short", "distance": 0.1}]
    report["told"] = ["legs do not reach", "a note that someone changed"]
    (told, _), (kept, _) = addon("ui.figures").notes_of(report, bpy.context.scene.unit_settings)
    assert told == "Legs do not reach: feet fall short of their targets by up to 1.2 cm on 4 frames"
    assert kept == "A note that someone changed"
    report["notes"], report["told"] = [{"code": "hands_short", "distance": 0.012, "frames": 4}], ["arms do not reach"]
    ((told, _),) = addon("ui.figures").notes_of(report, bpy.context.scene.unit_settings)
    assert told == "Arms do not reach: hands fall short of their targets by up to 1.2 cm on 4 frames"


def test_notes_are_wrapped_to_the_width_without_loss(addon):
    import blf

    text = "no surface was found: planted on the clip's own floor by some_name_that_is_longer_than_the_line"
    lines = addon("ui.figures").wrapped(text, 120.0, 11.0)
    assert " ".join(lines) == text
    assert len(lines) > 3
    assert all(blf.dimensions(0, line)[0] <= 120.0 for line in lines[:-1])


@pytest.mark.parametrize(
    "report",
    [3, [], {"leg": 0.0}, {"leg": nan}, {"before": 3}, {"after": {"drift": "x"}}, {"notes": [3]}, {"told": [3]}],
)
def test_a_report_that_is_none_is_not_shown(bpy, walker, draw, report):
    text = json.dumps({"report": report_with() | report if isinstance(report, dict) else report})
    walker.animation_data.action["ik2bone"] = text
    assert draw("report") is None
    assert draw("options").switches == {}


def test_frames_are_asked_for_only_where_they_count(bpy, draw):
    assert "frame_start" not in draw("main").props
    bpy.context.scene.ik2bone.frame_range = "CUSTOM"
    assert {"frame_start", "frame_end"} <= set(draw("main").props)


def test_every_option_has_its_place_in_a_panel(bpy, walker, addon, draw):
    settings = bpy.context.scene.ik2bone
    settings.frame_range, settings.frame_start = "CUSTOM", 10
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


def test_the_panel_of_contacts_counts_them_and_offers_to_change_them(bpy, walker, slope, draw):
    assert draw("contacts").texts == ["None stored yet", "Feet on frame 1:"]
    assert "ik2bone.remove_contact" not in draw("contacts").operators
    plant(bpy)
    bpy.ops.ik2bone.set_contact(index=0, state="forbidden")
    count = len(json.loads(walker.animation_data.action["ik2bone"])["contacts"])
    notes = draw("contacts")
    assert notes.texts[0] == f"{count - 1} automatic, 0 pinned, 1 lifted"
    assert notes.operators.count("ik2bone.mark_feet") == 4
    assert {"ik2bone.remove_contact", "ik2bone.export_contacts"} <= set(notes.operators)


def test_the_buttons_under_the_contacts_tell_which_frames_they_change(bpy, walker, draw):
    scene = bpy.context.scene
    scene.frame_set(12)
    assert "Feet on frame 12:" in draw("contacts").texts
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 5, 30
    assert "Feet on frames 5 to 30:" in draw("contacts").texts


def test_the_panel_of_contacts_bears_whatever_scripts_have_written(bpy, walker, draw):
    for text in ("", "[]", "{", '{"contacts": 3}', '{"contacts": [3]}', '{"contacts": [{"bone": "foot.L"}]}'):
        walker.animation_data.action["ik2bone"] = text
        assert draw("contacts").texts[0] == "None stored yet"
