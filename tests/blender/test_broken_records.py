# SPDX-License-Identifier: GPL-3.0-or-later
"""Records and files of contacts that people or scripts have broken: one sentence tells so, and nothing is lost."""

from __future__ import annotations

import json

import pytest
from planted import plant, record_of, refused

DEEP = "[" * 100_000
HUGE = "9" * 5_000
LONE = '[{"bone": "\\ude00", "part": "ball", "start": 1, "end": 2}]'
REPORT = {"leg": 1.0, "frames": [1, 5], "before": {"drift": 0.5}, "after": {"drift": 0.1}, "told": ["all well"]}


@pytest.fixture
def reading(addon):
    return addon("run.records")


def row(**changes):
    return {"bone": "foot.L", "part": "ball", "start": 1, "end": 2} | changes


@pytest.mark.parametrize(
    "text",
    [
        DEEP,
        DEEP + "]" * len(DEEP),
        '{"contacts": ' + "[" * 900 + "]" * 900 + "}",
        '{"report": ' + HUGE + "}",
        '{"armature": "\\uD83D"}',
        "{",
        '"',
    ],
)
def test_a_broken_record_stops_neither_panel_nor_restore_and_is_told_elsewhere(bpy, walker, slope, tmp_path, text):
    plant(bpy)
    walker.animation_data.action["ik2bone"] = text
    sentence = "property ik2bone of action walk.planted, the place of its contacts, is no JSON text that can be read"
    refused(bpy, sentence)
    refused(bpy, sentence, "export_contacts", filepath=str(tmp_path / "contacts.json"))
    refused(bpy, sentence, "add_contact", bone="foot.L", part="ball", start=20, end=26)
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert walker.animation_data.action.name == "walk"
    assert bpy.data.actions["walk.planted"]["ik2bone"] == text


def test_restoring_tells_that_broken_contacts_stay_where_they_are(bpy, walker, slope, addon):
    plant(bpy)
    walker.animation_data.action["ik2bone"] = json.dumps(record_of(walker) | {"contacts": [row(part="toe")]})
    told = addon("run.restore").restore(walker)
    assert told.startswith("walk without the contacts, for property ik2bone of action walk.planted")
    assert "ik2bone" not in walker.animation_data.action
    refused(bpy, r"action walk.planted, .* contacts\[0\].part: expected one of heel, ball, got 'toe'")


def test_the_present_pose_is_planted_whatever_contacts_are_stored(bpy, walker, slope):
    action = walker.animation_data.action
    for contacts in ([row(bone="gone", state="enforced")], [row(part="toe")]):
        action["ik2bone"] = json.dumps({"contacts": contacts})
        plant(bpy, frame_range="CURRENT")
        assert not record_of(walker).get("report", {}).get("told")


def test_what_people_broke_on_the_source_is_not_written_over(bpy, walker, slope):
    source = walker.animation_data.action
    plant(bpy)
    source["ik2bone"] = DEEP
    bpy.ops.ik2bone.restore()
    assert walker.animation_data.action == source
    assert source["ik2bone"] == DEEP


@pytest.mark.parametrize(
    "report",
    [
        7,
        [],
        {},
        REPORT | {"leg": 0},
        REPORT | {"leg": 10**400},
        REPORT | {"after": None},
        REPORT | {"before": {"drift": "much"}},
        REPORT | {"before": {"drift": float("nan")}},
        REPORT | {"told": "all well"},
        REPORT | {"told": [{"code": 1}]},
        REPORT | {"frames": [1]},
        REPORT | {"feet": [{"bone": "foot.L", "sole_height": "low"}]},
        REPORT | {"after": {"feet": [7]}},
        REPORT | {"after": {"feet": [{"short_at": [{"start": 1.5, "end": 3}]}]}},
        {name: value for name, value in REPORT.items() if name != "told"},
    ],
)
def test_a_report_that_cannot_be_shown_is_none(reading, report):
    assert reading.read_record(json.dumps({"report": report}))[0]["report"] == {}


def test_a_report_that_can_be_shown_is_kept(bpy, walker, slope, reading):
    assert reading.read_record(json.dumps({"report": REPORT}))[0]["report"] == REPORT
    plant(bpy)
    stored = walker.animation_data.action["ik2bone"]
    assert reading.read_record(stored)[0]["report"] == json.loads(stored)["report"]


@pytest.mark.parametrize("values", [[1, 2], [1, 2, float("inf")], [1, 2, 10**400], [1, 2, "3"], "123", {}, 5])
def test_values_that_no_channel_holds_are_left_out(reading, values):
    channels = {"good": [1.0, 2.0, 3.0], "bad": values}
    assert reading.read_record(json.dumps({"channels": channels}))[0]["channels"] == {"good": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    "path", ["location", "", "data.name", 'pose.bones["hips"].head', 'pose.bones["gone"].location']
)
def test_a_restored_pose_sets_nothing_but_locations_and_rotations_of_bones(bpy, walker, slope, path):
    plant(bpy)
    record = record_of(walker)
    walker.animation_data.action["ik2bone"] = json.dumps(record | {"channels": {path: [7.0, 8.0, 9.0]}})
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert tuple(walker.location) == (0.0, 0.0, 0.0)
    assert walker.data.name == "Walker"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(start=float("nan"))], r"contacts\[0\].start: expected a whole frame number, got nan"),
        ([row(end=1e308)], r"contacts\[0\].end: expected a frame from -1048574 to 1048574, got 1000000"),
        ([row(), row(start=-(10**400))], r"contacts\[1\].start: expected a frame from"),
        ([row(state=["enforced"])], r"contacts\[0\].state: expected one of"),
        ([[[["foot.L"] * 1000] * 1000]], r"contacts\[0\]: expected an object"),
        ([row(bone=f"bone{number}") for number in range(20_000)], "no bone named bone0, .* and 19994 more"),
        ([row(bone="paw\n" * 10_000)], "no bone named paw paw"),
    ],
)
def test_contacts_in_a_file_that_are_not_right_are_refused_in_a_short_sentence(
    bpy, walker, slope, tmp_path, rows, message
):
    plant(bpy)
    path = tmp_path / "contacts.json"
    path.write_text(json.dumps(rows))
    refused(bpy, message, "import_contacts", filepath=str(path))


@pytest.mark.parametrize("text", [DEEP, "", "null", "NaN", HUGE, '{"contacts": ' * 100 + "}" * 100, LONE])
def test_a_file_that_is_no_list_of_contacts_is_refused(bpy, walker, slope, tmp_path, text):
    path = tmp_path / "contacts.json"
    path.write_text(text)
    refused(bpy, "these are no contacts: contacts: expected", "import_contacts", filepath=str(path))


def test_names_beyond_the_basic_plane_are_read(bpy, walker, slope):
    name = "foot \N{PAW PRINTS}"
    walker.data.bones["foot.L"].name = name
    plant(bpy)
    bpy.ops.ik2bone.drag_contact(index=0, start=3, end=9)
    plant(bpy, contacts="STORED")
    assert record_of(walker)["report"]["feet"][0]["bone"] == name


def test_a_byte_order_mark_is_read(bpy, walker, slope, tmp_path):
    path = tmp_path / "contacts.json"
    path.write_text(json.dumps([row()]), encoding="utf-8-sig")
    assert bpy.ops.ik2bone.import_contacts(filepath=str(path)) == {"FINISHED"}
    assert record_of(walker)["contacts"][0]["bone"] == "foot.L"
    action = walker.animation_data.action
    action["ik2bone"] = "\ufeff" + action["ik2bone"]
    assert bpy.ops.ik2bone.set_contact(index=0, state="enforced") == {"FINISHED"}
    assert record_of(walker)["contacts"][0]["state"] == "enforced"


def test_a_record_is_compact(bpy, walker, slope):
    plant(bpy)
    text = walker.animation_data.action["ik2bone"]
    assert text == json.dumps(json.loads(text), separators=(",", ":"))


@pytest.mark.parametrize(
    ("operator", "given", "sentence"),
    [
        ("drag_contact", {"start": -2_000_000, "end": 5}, "expected a frame from -1048574 to 1048574, got -2000000"),
        ("add_contact", {"bone": "foot.L", "start": 1, "end": 2_000_000}, "expected a frame from"),
        ("move_anchor", {"place": (float("nan"), 0.0, 0.0)}, "expected three finite numbers, got"),
    ],
)
def test_contacts_that_could_not_be_read_again_are_not_stored(bpy, walker, slope, operator, given, sentence):
    plant(bpy)
    bpy.context.scene.ik2bone_contacts.bars = True
    refused(bpy, f"these contacts cannot be stored: .*{sentence}", operator, **given)
    bpy.ops.ik2bone.set_contact(index=0, state="forbidden")


def test_a_field_of_the_list_does_not_store_what_could_not_be_read_again(bpy, walker, slope, addon):
    plant(bpy)
    addon("ui.contact_list").show_rows()
    before = record_of(walker)
    bpy.context.scene.ik2bone_contacts.rows[0].end = 2_000_000
    assert record_of(walker) == before


@pytest.mark.parametrize("anchor", ["abc", 7, [1, 2], ["a", "b", "c"], [float("nan")] * 3])
def test_anchors_that_are_no_points_are_none(bpy, walker, slope, addon, anchor):
    plant(bpy)
    record = record_of(walker)
    contacts = [record["contacts"][0] | {"anchor": anchor, "start": 1.0}, *record["contacts"][1:]]
    text = json.dumps(record | {"contacts": contacts, "settings": "none"})
    walker.animation_data.action["ik2bone"] = text
    read = addon("run.records").read(walker.animation_data.action)
    assert read["contacts"][0]["anchor"] is None and type(read["contacts"][0]["start"]) is int
    assert read["contacts"][1:] == record["contacts"][1:]
    whole, part = (addon("ui.overlay").prints(shown) for shown in (record, read))
    assert 0 < len(part) <= len(whole)
    refused(bpy, "has no anchor yet", "move_anchor", index=0, place=(0.0, 0.0, 0.0))
    assert bpy.ops.ik2bone.move_anchor(index=1, place=(0.0, 0.0, 0.0)) == {"FINISHED"}


@pytest.mark.parametrize("name", ["ahead", "up"])
def test_a_sole_that_lies_no_known_way_is_drawn_level(bpy, walker, slope, addon, name):
    plant(bpy)
    record, overlay = record_of(walker), addon("ui.overlay")
    contacts = [row | {name: "abc"} for row in record["contacts"]]
    walker.animation_data.action["ik2bone"] = json.dumps(record | {"contacts": contacts})
    prints = overlay.prints(addon("run.records").read(walker.animation_data.action))
    assert prints and all(
        line.points[:, 2].max() - line.points[:, 2].min() < 1e-9 for line in prints if len(line.contacts) == 1
    )


def test_contacts_on_an_action_are_a_list(bpy, walker, slope):
    plant(bpy)
    record = record_of(walker)
    walker.animation_data.action["ik2bone"] = json.dumps(record | {"contacts": {"contacts": record["contacts"]}})
    refused(bpy, "holds no contacts that can be used: contacts: expected a list of spans, got", contacts="STORED")
