# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts on the action: kept by runs, edited by scripts and operators, taken as they are, put back with a source."""

from __future__ import annotations

import json

import biped
import fingerprint
import numpy as np
import pytest
from ik2bone.contacts.spans import Span, read_spans, write_spans
from planted import heads, outcome_of, plant, record_of, refused, values_of

FRAMES = np.arange(1, biped.LAST + 1)
FEET = ["foot.L", "foot.R"]


def spans_on(action, state=None):
    spans = read_spans(json.loads(action["ik2bone"]))
    return [span for span in spans if state in (None, span.state)]


def edit(action, change):
    """Change the list of contacts as a script does."""
    record = json.loads(action["ik2bone"]) if "ik2bone" in action else {"contacts": []}
    change(record["contacts"])
    action["ik2bone"] = json.dumps(record)


def add(action, *spans):
    edit(action, lambda rows: rows.extend(vars(span) for span in spans))


def swing(action, bone="foot.L"):
    """Five frames in the middle of a foot's first swing."""
    taken = {frame for span in spans_on(action) if span.bone == bone for frame in range(span.start, span.end + 1)}
    frames = FRAMES.tolist()
    first = next(frame for frame in frames if frame not in taken)
    last = next(frame for frame in frames if frame > first and frame in taken)
    middle = (first + last) // 2
    return Span(bone, "ball", middle - 2, middle + 2, "enforced")


def test_spans_are_documented_plain_data(bpy, walker, slope):
    plant(bpy)
    rows = record_of(walker)["contacts"]
    spans = spans_on(walker.animation_data.action)
    assert {span.bone for span in spans} == set(FEET)
    assert {span.part for span in spans} == {"heel", "ball"}
    assert {span.state for span in spans} == {"automatic"}
    assert all({"leg", "support", "anchor", "drift"} <= row.keys() for row in rows)
    assert all(FRAMES[0] <= span.start <= span.end <= FRAMES[-1] for span in spans)


@pytest.mark.parametrize("mode", ["AUTO", "STORED"])
@pytest.mark.parametrize("playing", ["planted", "source"])
def test_an_enforced_span_holds_the_foot_and_survives_runs(bpy, walker, slope, mode, playing):
    plant(bpy)
    action = walker.animation_data.action
    wanted = swing(action)
    add(action, wanted)
    if playing == "source":
        bpy.ops.ik2bone.restore()
    plant(bpy, contacts=mode)
    assert wanted in spans_on(walker.animation_data.action)
    toes = heads(bpy, walker, range(wanted.start, wanted.end + 1), ("toe.L",))
    assert np.ptp(toes, axis=0).max() < 1e-4
    once = fingerprint.of_action(walker.animation_data.action)
    plant(bpy, contacts=mode)
    assert fingerprint.of_action(walker.animation_data.action) == once


@pytest.mark.parametrize("mode", ["AUTO", "STORED"])
def test_a_forbidden_span_never_stands_and_survives_runs(bpy, walker, slope, mode):
    plant(bpy)
    action = walker.animation_data.action
    first = next(span for span in spans_on(action) if span.bone == "foot.R" and span.part == "ball" and span.start > 1)
    forbidden = [Span("foot.R", part, first.start - 4, first.end + 4, "forbidden") for part in ("heel", "ball")]
    add(action, *forbidden)
    for _ in range(2):
        plant(bpy, contacts=mode)
        spans = spans_on(walker.animation_data.action)
        assert [span for span in spans if span.state == "forbidden"] == forbidden
        standing = [span for span in spans if span.bone == "foot.R" and span.state != "forbidden"]
        assert all(span.end < first.start - 4 or span.start > first.end + 4 for span in standing)


def test_stored_contacts_are_not_found_anew(bpy, walker, slope):
    plant(bpy)
    action = walker.animation_data.action

    def shorten(rows):
        for row in rows:
            row["end"] = max(row["start"], row["end"] - 2)

    edit(action, shorten)
    shortened = spans_on(action)
    plant(bpy, contacts="STORED")
    assert spans_on(walker.animation_data.action) == shortened
    once = values_of(walker, FRAMES)
    plant(bpy, contacts="STORED")
    assert values_of(walker, FRAMES) == once
    plant(bpy)
    assert spans_on(walker.animation_data.action) != shortened


@pytest.mark.parametrize("mode", ["AUTO", "STORED"])
def test_contacts_of_heels_that_had_to_rise_for_reach_stay_as_people_want_them(bpy, walker, mode):
    biped.make_slope(bpy, height=-0.2)
    action, wanted = walker.animation_data.action, Span("foot.L", "heel", 4, 14, "enforced")
    add(action, wanted, Span("foot.L", "ball", 4, 14), Span("foot.R", "heel", 20, 28), Span("foot.R", "ball", 20, 30))
    before = spans_on(action)
    plant(bpy, contacts=mode, use_hips=False)
    assert "heels rise" in " ".join(record_of(walker)["report"]["told"])
    assert wanted in spans_on(walker.animation_data.action)
    if mode == "STORED":
        assert sorted(spans_on(walker.animation_data.action), key=repr) == sorted(before, key=repr)
    once = fingerprint.of_action(walker.animation_data.action)
    plant(bpy, contacts=mode, use_hips=False)
    assert fingerprint.of_action(walker.animation_data.action) == once


def test_stored_contacts_of_an_unedited_run_change_nothing(bpy, walker, slope):
    plant(bpy)
    before = heads(bpy, walker, FRAMES)
    plant(bpy, contacts="STORED")
    np.testing.assert_allclose(heads(bpy, walker, FRAMES), before, atol=1e-6)


def test_restoring_puts_the_contacts_on_the_source(bpy, walker, slope):
    plant(bpy)
    planted = walker.animation_data.action
    add(planted, swing(planted))
    bpy.ops.ik2bone.restore()
    source = walker.animation_data.action
    assert source.name == "walk"
    assert spans_on(source) == spans_on(planted)
    bpy.data.actions.remove(planted)
    plant(bpy, contacts="STORED")
    assert spans_on(walker.animation_data.action, "enforced") == spans_on(source, "enforced")


def test_contacts_may_be_put_on_an_action_that_was_never_planted(bpy, walker, slope):
    walker.animation_data.action["ik2bone"] = write_spans(
        [Span("foot.L", "ball", 5, 12), Span("foot.R", "ball", 30, 35)]
    )
    plant(bpy, contacts="STORED")
    assert spans_on(walker.animation_data.action) == [Span("foot.L", "ball", 5, 12), Span("foot.R", "ball", 30, 35)]


def test_contacts_of_one_leg_are_kept_while_the_other_is_planted(bpy, walker, slope):
    plant(bpy)
    action = walker.animation_data.action
    add(action, swing(action))
    left = [span for span in spans_on(action) if span.bone == "foot.L"]
    plant(bpy, bones="foot.R")
    assert [span for span in spans_on(walker.animation_data.action) if span.bone == "foot.L"] == left


def test_stored_contacts_of_one_leg_are_kept_while_the_other_is_planted_afresh(bpy, walker, slope):
    plant(bpy)
    bpy.ops.ik2bone.restore()
    left = [span for span in spans_on(walker.animation_data.action) if span.bone == "foot.L"]
    plant(bpy, bones="foot.R", contacts="STORED")
    action = walker.animation_data.action
    once = fingerprint.of_action(action)
    assert [span for span in spans_on(action) if span.bone == "foot.L"] == left
    plant(bpy, bones="foot.R", contacts="STORED")
    assert fingerprint.of_action(action) == once


def test_contacts_are_kept_in_place_too(bpy, walker, slope):
    plant(bpy, output="IN_PLACE")
    action = walker.animation_data.action
    wanted = swing(action)
    add(action, wanted)
    for mode in ("AUTO", "STORED"):
        plant(bpy, output="IN_PLACE", contacts=mode)
        assert wanted in spans_on(action)
        toes = heads(bpy, walker, range(wanted.start, wanted.end + 1), ("toe.L",))
        assert np.ptp(toes, axis=0).max() < 1e-4


@pytest.mark.parametrize("mode", ["AUTO", "STORED"])
def test_what_is_pinned_beyond_the_action_is_kept_for_when_that_gets_longer(bpy, walker, slope, mode):
    plant(bpy)
    wish = Span("foot.L", "ball", biped.LAST - 3, biped.LAST + 20, "enforced")
    add(walker.animation_data.action, wish)
    for _ in range(2):
        plant(bpy, contacts=mode)
        pinned = [span for span in spans_on(walker.animation_data.action, "enforced") if span.start >= wish.start]
        assert [(span.bone, span.part) for span in pinned] == 2 * [(wish.bone, wish.part)]
        assert [(span.start, span.end) for span in pinned] == [(wish.start, FRAMES[-1]), (FRAMES[-1] + 1, wish.end)]


def test_stored_contacts_are_refused_where_there_are_none(bpy, walker, slope):
    refused(bpy, "no contacts are stored for foot.L, foot.R of Walker", contacts="STORED")
    walker.animation_data.action["ik2bone"] = write_spans([Span("tail", "ball", 5, 12)])
    refused(bpy, "no contacts are stored for foot.L, foot.R of Walker", contacts="STORED")


@pytest.mark.parametrize("mode", ["AUTO", "STORED", "ALWAYS"])
def test_contacts_that_are_not_right_are_refused_by_place(bpy, walker, slope, mode):
    walker.animation_data.action["ik2bone"] = json.dumps({"contacts": [{"bone": "foot.L", "part": "toe"}]})
    refused(bpy, r"contacts\[0\].part: expected one of heel, ball, got 'toe'", contacts=mode)
    torn = [Span("foot.L", "ball", 5, 12, "enforced"), Span("foot.L", "ball", 12, 14, "forbidden")]
    walker.animation_data.action["ik2bone"] = write_spans(torn)
    refused(bpy, "the ball of foot.L is enforced and forbidden on frame 12", contacts=mode)


BROKEN = [
    '{"contacts": [{"bone": "foot.L"}}',
    "[]",
    "null",
    7,
    {"contacts": []},
    '{"contacts": {}}',
    '{"contacts": "foot.L"}',
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_property_that_cannot_be_read_is_refused_and_not_lost(bpy, walker, slope, tmp_path, text):
    walker.animation_data.action["ik2bone"] = text
    sentence = "property ik2bone of action walk, the place of its contacts, (is|holds) no"
    for mode in ("AUTO", "STORED", "ALWAYS"):
        refused(bpy, sentence, contacts=mode)
    refused(bpy, sentence, output="IN_PLACE")
    refused(bpy, sentence, "add_contact", bone="foot.L", part="ball", start=20, end=26)
    refused(bpy, sentence, "set_contact", index=0, state="forbidden")
    refused(bpy, sentence, "export_contacts", filepath=str(tmp_path / "contacts.json"))


def test_wishes_outlive_a_run_that_takes_no_notice_of_them(bpy, walker, slope):
    wishes = [Span("foot.L", "ball", 5, 12, "enforced"), Span("foot.R", "ball", 30, 35, "forbidden")]
    add(walker.animation_data.action, *wishes)
    plant(bpy, contacts="ALWAYS")
    spans = spans_on(walker.animation_data.action)
    assert [span for span in spans if span.state != "automatic"] == wishes
    assert Span("foot.R", "ball", 1, 61) in spans


@pytest.mark.parametrize("bones", ["foot.L", "foot.L, foot.R"])
def test_stored_contacts_of_feet_that_always_stand_give_the_same_poses(bpy, walker, slope, bones):
    for frame in FRAMES:
        biped.move(walker.pose.bones["hips"], (0.0, 0.0, -0.1), frame)
    plant(bpy, bones=bones, contacts="ALWAYS")
    always = values_of(walker, FRAMES)
    plant(bpy, bones=bones, contacts="STORED")
    assert values_of(walker, FRAMES) == always


def test_a_pose_is_planted_whatever_is_stored(bpy, walker, slope):
    assert bpy.ops.ik2bone.plant_feet(frame_range="CURRENT", contacts="STORED") == {"FINISHED"}


def test_the_state_of_a_contact_is_set_by_its_number(bpy, walker, slope):
    plant(bpy)
    action = walker.animation_data.action
    before = spans_on(action)
    assert bpy.ops.ik2bone.set_contact(index=2, state="forbidden") == {"FINISHED"}
    after = spans_on(action)
    assert after[2].state == "forbidden"
    assert after[:2] + after[3:] == before[:2] + before[3:]
    assert record_of(walker)["report"]
    refused(bpy, "so there is none with number 999", "set_contact", index=999, state="enforced")
    refused(bpy, "so there is none with number -5", "set_contact", index=-5, state="enforced")
    edit(action, lambda rows: rows.insert(0, "foot.L"))
    refused(
        bpy, r"of action walk.planted, .* contacts\[0\]: expected an object", "set_contact", index=0, state="enforced"
    )


def test_contacts_are_added_with_bone_and_frames(bpy, walker, slope):
    bpy.ops.ik2bone.add_contact(bone="foot.L", part="ball", start=20, end=26, state="enforced")
    wanted = Span("foot.L", "ball", 20, 26, "enforced")
    assert spans_on(walker.animation_data.action) == [wanted]
    plant(bpy)
    assert spans_on(walker.animation_data.action, "enforced") == [wanted]
    refused(bpy, "Walker has no bone named paw", "add_contact", bone="paw", start=1, end=2)
    refused(bpy, "cannot end on frame 1, before its start on frame 2", "add_contact", bone="foot.L", start=2, end=1)


def test_contacts_go_to_a_file_and_come_from_it(bpy, walker, slope, tmp_path):
    path = tmp_path / "contacts.json"
    refused(bpy, "no contacts are stored on action walk", "export_contacts", filepath=str(path))
    plant(bpy)
    spans = spans_on(walker.animation_data.action)
    assert bpy.ops.ik2bone.export_contacts(filepath=str(path)) == {"FINISHED"}
    assert read_spans(path.read_text()) == spans
    path.write_text(write_spans(spans[:3]))
    assert bpy.ops.ik2bone.import_contacts(filepath=str(path)) == {"FINISHED"}
    assert spans_on(walker.animation_data.action) == spans[:3]
    plant(bpy, contacts="STORED")
    assert spans_on(walker.animation_data.action) == spans[:3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "these are no contacts: contacts: expected JSON text"),
        ('[{"bone": "foot.L", "part": "ball", "start": 1, "end": 0}]', "expected a frame not before its start"),
        ('[{"bone": "paw", "part": "ball", "start": 1, "end": 2}]', "Walker has no bone named paw"),
        (None, "cannot be read"),
    ],
)
def test_files_without_contacts_are_refused(bpy, walker, slope, tmp_path, text, message):
    plant(bpy)
    path = tmp_path / "contacts.json"
    if text is not None:
        path.write_text(text)
    refused(bpy, message, "import_contacts", filepath=str(path))


def test_files_of_contacts_may_be_named_from_the_folder_of_the_blend_file(bpy, slope, walker, tmp_path, recwarn):
    plant(bpy)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    for operator in (bpy.ops.ik2bone.export_contacts, bpy.ops.ik2bone.import_contacts):
        assert operator(filepath="//contacts.json") == {"FINISHED"}
    assert (tmp_path / "contacts.json").is_file() and not recwarn.list


@pytest.mark.parametrize("operator", ["import_contacts", "export_contacts"])
def test_no_file_of_contacts_is_refused_as_such(bpy, walker, slope, operator):
    plant(bpy)
    refused(bpy, "a file of contacts should be named", operator, filepath="")


@pytest.mark.parametrize("mode", ["AUTO", "STORED", "ALWAYS"])
def test_contacts_of_a_renamed_foot_are_told(bpy, addon, walker, slope, options, mode):
    plant(bpy)
    bpy.ops.ik2bone.restore()
    add(walker.animation_data.action, swing(walker.animation_data.action))
    assert not outcome_of(addon, bpy, [walker], options(contacts=mode)).warnings
    bpy.ops.ik2bone.restore()
    walker.pose.bones["foot.L"].name = "Fuss"
    told = outcome_of(addon, bpy, [walker], options(contacts=mode)).warnings
    passed_over = "contacts of foot.L were passed over: Walker has no bones of these names"
    # Under ALWAYS all feet stand, whatever is stored.
    assert list(told) == ([] if mode == "ALWAYS" else [passed_over])


def _steepest_turn(bpy, walker, before):
    """By how much feet are turned in contacts (degrees)."""
    worst = 0.0
    for span in record_of(walker)["report"]["spans"]:
        for frame in range(span["start"], span["end"] + 1):
            bpy.context.scene.frame_set(frame)
            turn = walker.pose.bones[span["bone"]].matrix.to_quaternion()
            worst = max(worst, np.degrees(turn.rotation_difference(before[span["bone"], frame]).angle))
    return worst


@pytest.mark.parametrize("rise", [0.15, -0.3])
def test_feet_that_are_not_aligned_keep_their_turn_and_their_heels_contacts(bpy, walker, rise):
    biped.make_slope(bpy, rise=rise)
    source = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        source |= {(foot, int(frame)): walker.pose.bones[foot].matrix.to_quaternion() for foot in FEET}
    plant(bpy)
    contacts = [vars(span) for span in spans_on(walker.animation_data.action)]
    aligned = values_of(walker, FRAMES)
    plant(bpy, use_slope=False)
    # Heels rise a little for reach on the last frame before toe-off: by 0.95 degrees. The slope has 8.5 or 16.7.
    assert _steepest_turn(bpy, walker, source) < 1.0
    after = record_of(walker)["report"]["after"]
    assert max(after["drift"], after["penetration"]) < 1e-4
    assert [vars(span) for span in spans_on(walker.animation_data.action)] == contacts
    plant(bpy, contacts="STORED")
    assert values_of(walker, FRAMES) == aligned


def test_heels_that_rise_for_reach_stay_stored(bpy, walker):
    ground = biped.make_slope(bpy, rise=0.0)
    plant(bpy)
    contacts = [vars(span) for span in spans_on(walker.animation_data.action)]
    ground.location.z = -0.15
    plant(bpy, use_hips=False)
    assert [vars(span) for span in spans_on(walker.animation_data.action)] == contacts
