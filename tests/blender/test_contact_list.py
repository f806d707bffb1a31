# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of contacts in the sidebar: what it shows, what its fields write, and what marking feet does."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from ik2bone.contacts.spans import Span, read_spans
from planted import plant, record_of


@pytest.fixture
def contacts(bpy, walker, slope, addon):
    """The list of a planted walker, and the module behind it."""
    plant(bpy)
    module, shown = addon("ui.contact_list"), bpy.context.scene.ik2bone_contacts
    module.show_rows()
    return SimpleNamespace(module=module, shown=shown, rows=shown.rows, action=walker.animation_data.action)


def rows_on(action):
    return json.loads(action["ik2bone"])["contacts"]


def spans_on(action):
    return read_spans(json.loads(action["ik2bone"]))


def test_the_list_has_a_row_for_every_contact_and_shows_its_frames(contacts):
    shown = [(row.start, row.end, row.state) for row in contacts.rows]
    assert shown == [(span.start, span.end, span.state) for span in spans_on(contacts.action)]


def test_rows_follow_the_action_whatever_changes_it(bpy, contacts):
    count = len(contacts.rows)
    bpy.ops.ik2bone.remove_contact(index=0)
    assert len(contacts.rows) == count - 1
    bpy.ops.ik2bone.restore()
    plant(bpy)
    contacts.module.show_rows()
    assert len(contacts.rows) == len(spans_on(contacts.action)) == count
    assert [row.number for row in contacts.rows] == list(range(count))


def test_the_list_is_in_order_of_time_and_filtered_by_bone(bpy, contacts):
    self = SimpleNamespace(bitflag_filter_item=1, filter_name="FOOT.l")
    shown, places = contacts.module.IK2BONE_UL_contacts.filter_items(self, bpy.context, contacts.shown, "rows")
    spans = spans_on(contacts.action)
    assert [bool(flag) for flag in shown] == [span.bone == "foot.L" for span in spans]
    ordered = sorted(range(len(spans)), key=places.__getitem__)
    assert [spans[n].start for n in ordered] == sorted(span.start for span in spans)


class Row:
    """A layout that remembers labels and fields and hands out itself for its parts."""

    def __init__(self):
        self.labels, self.fields = [], []

    def label(self, text="", icon="NONE", icon_value=0):
        self.labels.append((text, icon, icon_value))

    def prop(self, _item, name, **_options):
        self.fields.append(name)

    def split(self, **_options):
        return self

    row = split


def drawn(bpy, contacts, number):
    """What the list shows of a contact."""
    layout = Row()
    contacts.module.IK2BONE_UL_contacts.draw_item(
        None, bpy.context, layout, contacts.shown, contacts.rows[number], 0, contacts.shown, "active"
    )
    return layout


def test_a_row_shows_an_icon_for_the_part_and_a_word_where_there_are_none(bpy, contacts, monkeypatch):
    span = spans_on(contacts.action)[0]
    assert drawn(bpy, contacts, 0).labels == [(f"{span.bone[-1]} {span.part}", "NONE", 0)]
    monkeypatch.setattr(contacts.module, "icon_of", lambda *what: {(span.part, span.state): 7}[what])
    layout = drawn(bpy, contacts, 0)
    assert layout.labels == [(span.bone[-1], "NONE", 7)] and layout.fields == ["start", "end", "state"]


def test_the_tooltip_of_a_row_says_what_its_icons_mean(bpy, contacts):
    row, span = contacts.rows[0], spans_on(contacts.action)[0]
    told = f"The {span.part} of {span.bone} on frames {span.start} to {span.end}, "
    assert row.tip == f"{told}automatic"
    record = json.loads(contacts.action["ik2bone"])
    number = [foot["bone"] for foot in record["report"]["feet"]].index(span.bone)
    record["report"]["after"]["feet"][number]["short_at"] = [{"start": span.start, "end": span.start, "worst": 0.1}]
    contacts.action["ik2bone"] = json.dumps(record)
    assert row.tip == f"{told}automatic, where the leg does not reach"
    layout = drawn(bpy, contacts, 0)
    assert layout.labels[-1][1] == "ERROR" and layout.alignment == "LEFT"


def test_fields_write_to_the_action_and_pin_what_they_change(bpy, contacts):
    row, before = contacts.rows[1], spans_on(contacts.action)
    row.end += 2
    wanted = Span(before[1].bone, before[1].part, before[1].start, before[1].end + 2, "enforced")
    assert spans_on(contacts.action) == [before[0], wanted, *before[2:]]
    assert bpy.context.scene.ik2bone.contacts == "STORED"
    row.state = "forbidden"
    assert spans_on(contacts.action)[1].state == "forbidden"


def test_neither_end_of_a_contact_passes_the_other(contacts):
    row = contacts.rows[0]
    row.start = row.end + 50
    assert row.start == row.end
    row.end = row.start - 50
    assert row.start == row.end


def test_a_change_of_state_alone_leaves_contacts_to_be_searched_for(bpy, contacts):
    contacts.rows[0].state = "enforced"
    assert bpy.context.scene.ik2bone.contacts == "AUTO"


def test_what_cannot_be_edited_stays(contacts):
    contacts.action["ik2bone"] = "nonsense"
    contacts.rows[0].start = 3
    assert contacts.action["ik2bone"] == "nonsense" and contacts.rows[0].start == 0


def test_fields_without_an_armature_change_nothing(bpy, contacts, walker, capfd):
    before = contacts.action["ik2bone"]
    walker.select_set(False)
    bpy.context.view_layer.objects.active = None
    walker.hide_set(True)
    contacts.rows[0].start = 3
    assert contacts.action["ik2bone"] == before and "Traceback" not in capfd.readouterr().err


def test_a_click_shows_the_frame_on_which_the_contact_starts(bpy, contacts):
    number = max(range(len(contacts.rows)), key=lambda n: contacts.rows[n].start)
    contacts.shown.active = number
    assert bpy.context.scene.frame_current == contacts.rows[number].start > 1


def test_live_plants_again_once_after_changes(bpy, contacts, walker):
    timers, again = bpy.app.timers, contacts.module._plant_again
    contacts.rows[0].state = "enforced"
    assert not timers.is_registered(again)
    contacts.shown.live = True
    contacts.rows[1].end += 1
    contacts.rows[1].end += 1
    assert timers.is_registered(again)
    timers.unregister(again)
    again()
    settings = record_of(walker)["settings"]
    assert settings["contacts"] == "STORED"


def test_removing_takes_one_contact_away(bpy, contacts):
    before = spans_on(contacts.action)
    bpy.ops.ik2bone.remove_contact(index=2)
    assert spans_on(contacts.action) == before[:2] + before[3:]


def at(action, frame, bone="foot.L"):
    return [span for span in spans_on(action) if span.bone == bone and span.start <= frame <= span.end]


def test_pinning_here_pins_the_contacts_of_the_current_frame_as_they_are(bpy, contacts):
    standing = next(span for span in spans_on(contacts.action) if span.bone == "foot.L" and span.part == "ball")
    bpy.context.scene.frame_set(standing.start + 1)
    before = at(contacts.action, standing.start + 1)
    bpy.ops.ik2bone.mark_feet()
    after = at(contacts.action, standing.start + 1)
    assert {(span.part, span.start, span.end) for span in after} == {(s.part, s.start, s.end) for s in before}
    assert {span.state for span in after} == {"enforced"}
    bpy.ops.ik2bone.mark_feet(state="automatic")
    assert at(contacts.action, standing.start + 1) == before


def test_pinning_in_the_air_holds_all_parts_of_the_foot_on_that_frame(bpy, contacts):
    frame = next(frame for frame in range(2, 60) if not at(contacts.action, frame))
    bpy.context.scene.frame_set(frame)
    bpy.ops.ik2bone.mark_feet()
    assert {(span.part, span.start, span.end, span.state) for span in at(contacts.action, frame)} == {
        ("ball", frame, frame, "enforced"),
        ("heel", frame, frame, "enforced"),
    }


@pytest.mark.parametrize("state", ["enforced", "forbidden"])
def test_marking_a_footprint_that_was_moved_keeps_its_place(bpy, contacts, state):
    moved = next(n for n, row in enumerate(rows_on(contacts.action)) if row["part"] == "ball" and row["start"] > 5)
    row = rows_on(contacts.action)[moved]
    place = [row["anchor"][0] + 0.05, *row["anchor"][1:]]
    bpy.ops.ik2bone.move_anchor(index=moved, place=place)
    bpy.context.scene.frame_set(row["start"] + 1)
    bpy.ops.ik2bone.mark_feet(state=state)
    (marked,) = [row for row in rows_on(contacts.action) if row.get("place")]
    assert marked["place"] == marked["anchor"] == pytest.approx(place) and marked["state"] == state


def test_feet_that_are_in_the_air_on_a_frame_have_nothing_to_be_lifted(bpy, contacts):
    frame = next(frame for frame in range(2, 60) if not at(contacts.action, frame))
    bpy.context.scene.frame_set(frame)
    bpy.ops.ik2bone.mark_feet(state="forbidden")
    assert not at(contacts.action, frame)
    assert all(span.state == "forbidden" for span in at(contacts.action, frame, "foot.R"))
    before, bpy.context.scene.ik2bone.bones = spans_on(contacts.action), "foot.L"
    with pytest.raises(RuntimeError, match=f"none of foot.L stands on frame {frame}, to be lifted there"):
        bpy.ops.ik2bone.mark_feet(state="forbidden")
    assert spans_on(contacts.action) == before


def test_lifting_over_the_preview_range_cuts_what_stands_there(bpy, contacts):
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 20, 30
    bpy.ops.ik2bone.mark_feet(state="forbidden")
    for frame in range(20, 31):
        assert {span.state for span in at(contacts.action, frame)} == {"forbidden"}
    assert all(span.state == "automatic" for span in at(contacts.action, 19) + at(contacts.action, 31))


def test_clearing_over_the_preview_range_leaves_nothing_there_even_when_planted_again(bpy, contacts):
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 20, 30
    before = [at(contacts.action, frame) for frame in (19, 31)]
    assert any(before)
    bpy.ops.ik2bone.mark_feet(state="none")
    assert scene.ik2bone.contacts == "STORED"
    scene.use_preview_range = False
    for _ in range(2):
        assert not any(at(contacts.action, frame) for frame in range(20, 31))
        assert all(at(contacts.action, frame) for frame, there in zip((19, 31), before, strict=True) if there)
        plant(bpy, contacts="STORED")


@pytest.fixture
def dialog(bpy, addon):
    """The dialog of a new contact, opened where a bone is active or none."""

    def opened(bone):
        manager = SimpleNamespace(invoke_props_dialog=asked.append)
        parts = {name: getattr(bpy.context, name) for name in ("scene", "mode", "view_layer")}
        context = SimpleNamespace(active_pose_bone=bone, window_manager=manager, **parts)
        addon("ui.contacts").IK2BONE_OT_add_contact.invoke(shown, context, None)
        assert asked == [shown]
        return shown

    asked, shown = [], SimpleNamespace(properties=SimpleNamespace(is_property_set=lambda _name: False))
    return opened


def test_the_dialog_adds_a_contact_of_the_active_bone_from_the_current_frame_on(bpy, walker, contacts, dialog):
    bpy.context.scene.frame_set(17)
    shown = dialog(walker.pose.bones["foot.R"])
    assert (shown.bone, shown.start, shown.end) == ("foot.R", 17, 27)


@pytest.mark.parametrize("bone", ["foot.L", "foot.R"])
def test_out_of_pose_mode_the_dialog_asks_for_the_bone_of_the_selected_contact(contacts, dialog, bone):
    contacts.shown.active = next(n for n, span in enumerate(spans_on(contacts.action)) if span.bone == bone)
    assert dialog(None).bone == bone


EDITS = {
    "set_contact": {"index": 1, "state": "forbidden"},
    "mark_feet": {"state": "forbidden"},
    "add_contact": {"bone": "foot.L", "part": "ball", "start": 30, "end": 33},
    "remove_contact": {"index": 1},
    "drag_contact": {"index": 1, "start": 3, "end": 9},
    "move_anchor": {"index": 1, "place": (0.1, 0.2, 0.0)},
    "import_contacts": {},
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_is_one_step_that_is_undone_and_done_again(bpy, contacts, edit, tmp_path):
    given, name = EDITS[edit], contacts.action.name
    if edit == "import_contacts":
        given = {"filepath": str(tmp_path / "none.json")}
        (tmp_path / "none.json").write_text('{"contacts": []}')
    contacts.shown.bars = True
    bpy.ops.ed.undo_push(message="Planted")
    before = spans_on(bpy.data.actions[name])
    assert getattr(bpy.ops.ik2bone, edit)("EXEC_DEFAULT", True, **given) == {"FINISHED"}
    after = spans_on(bpy.data.actions[name])
    assert after != before
    bpy.ops.ed.undo()
    assert spans_on(bpy.data.actions[name]) == before
    bpy.ops.ed.redo()
    assert spans_on(bpy.data.actions[name]) == after


def test_only_the_feet_of_selected_bones_are_marked(bpy, walker, contacts):
    bpy.ops.object.mode_set(mode="POSE")
    for bone in walker.pose.bones:
        selected = bone if hasattr(bone, "select") else bone.bone
        selected.select = bone.name == "shin.R"
    bpy.ops.ik2bone.mark_feet(state="forbidden")
    assert {span.bone for span in spans_on(contacts.action) if span.state == "forbidden"} == {"foot.R"}


@pytest.mark.parametrize(
    ("bones", "names"),
    [
        (("CC_Base_L_Foot", "CC_Base_R_Foot"), ["L", "R"]),
        (("mixamorig:LeftFoot", "mixamorig:RightFoot"), ["Left", "Right"]),
        (("foot.L", "foot.R", "hand.L"), ["foot L", "foot R", "hand L"]),
        (("foot_l",), ["foot l"]),
        (("foot", "foot2"), ["foot", "foot 2"]),
    ],
)
def test_bones_are_named_by_what_tells_them_apart(addon, bones, names):
    assert list(addon("ui.contact_list").short_names(bones).values()) == names
