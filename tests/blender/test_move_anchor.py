# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints that people move: stored, kept by runs, files and undo, and left alone where contacts have no anchor."""

from __future__ import annotations

import json

import biped
import fingerprint
import numpy as np
import pytest
from ik2bone.contacts.spans import read_spans
from planted import heads, plant, refused

AWAY = np.array([0.04, 0.03, 0.0])


@pytest.fixture
def action(bpy, walker, slope):
    plant(bpy)
    return walker.animation_data.action


def rows_on(action):
    return json.loads(action["ik2bone"])["contacts"]


def chosen_of(rows):
    """The number of a ball's contact in the middle, with a heel's at the same time."""
    balls = [n for n, row in enumerate(rows) if row["part"] == "ball"]
    return sorted(balls, key=lambda n: rows[n]["start"])[len(balls) // 2]


def move(bpy, action, number=None, away=AWAY):
    rows = rows_on(action)
    number = chosen_of(rows) if number is None else number
    place = np.array(rows[number]["anchor"]) + away
    assert bpy.ops.ik2bone.move_anchor(index=number, place=place) == {"FINISHED"}
    return rows[number], place


def found(action, row):
    same = [other for other in rows_on(action) if (other["bone"], other["part"]) == (row["bone"], row["part"])]
    return min(same, key=lambda other: abs(other["start"] - row["start"]))


@pytest.mark.parametrize("mode", ["AUTO", "STORED"])
def test_a_moved_foot_stands_there_in_every_later_run(bpy, walker, action, mode):
    row, place = move(bpy, action)
    for _ in range(2):
        plant(bpy, contacts=mode)
        stored = found(action, row)
        assert stored["state"] == "enforced" and np.allclose(stored["place"], place, atol=1e-6)
        assert np.abs(np.array(stored["anchor"]) - place)[:2].max() < 2e-3
        middle = (row["start"] + row["end"]) // 2
        ankle = heads(bpy, walker, [middle], [row["bone"]])[0, 0]
    bpy.ops.ik2bone.restore()
    plant(bpy, contacts="AUTO")
    assert np.allclose(found(walker.animation_data.action, row)["place"], place, atol=1e-6)
    bpy.ops.ik2bone.set_contact(index=rows_on(action).index(found(action, row)), state="automatic")
    plant(bpy, contacts="AUTO")
    away = ankle - heads(bpy, walker, [middle], [row["bone"]])[0, 0]
    assert np.abs(away - AWAY)[:2].max() < 0.01 and "place" not in found(action, row)


def test_what_stands_at_once_is_shown_as_moved_along(bpy, action):
    before = rows_on(action)
    row, place = move(bpy, action)
    after = rows_on(action)
    moved = [n for n, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    assert {(after[n]["bone"], after[n]["part"]) for n in moved} == {(row["bone"], "ball"), (row["bone"], "heel")}
    assert all(np.allclose(np.subtract(after[n]["anchor"], before[n]["anchor"]), AWAY, atol=1e-6) for n in moved)
    assert [n for n in moved if "place" in after[n]] == [chosen_of(before)]


def test_the_heel_of_a_footprint_moves_its_ball_by_as_much(bpy, action, addon):
    rows, contacts = rows_on(action), addon("run.contacts")
    ball = chosen_of(rows)
    heel = next(n for n, row in enumerate(rows) if contacts.at_once(rows[ball], row))
    assert contacts.standing_row(rows, heel) == contacts.standing_row(rows, ball) == ball
    _, place = move(bpy, action, number=heel)
    after = rows_on(action)
    assert np.allclose(after[heel]["anchor"], place, atol=1e-6) and "place" not in after[heel]
    assert np.allclose(after[ball]["place"], np.array(rows[ball]["anchor"]) + AWAY, atol=1e-6)


def test_without_a_number_the_selected_contact_is_moved(bpy, action):
    number = chosen_of(rows_on(action))
    bpy.context.scene.ik2bone_contacts.active = number
    bpy.ops.ik2bone.move_anchor(place=(0.1, 0.2, 0.3))
    assert np.allclose(rows_on(action)[number]["place"], (0.1, 0.2, 0.3))
    assert bpy.context.scene.ik2bone.contacts == "AUTO"


def test_places_go_to_a_file_and_come_from_it(bpy, walker, action, tmp_path):
    row, place = move(bpy, action)
    path = str(tmp_path / "contacts.json")
    bpy.ops.ik2bone.export_contacts(filepath=path)
    before = read_spans(rows_on(action))
    bpy.ops.ik2bone.set_contact(index=chosen_of(rows_on(action)), state="forbidden")
    bpy.ops.ik2bone.import_contacts(filepath=path)
    assert read_spans(rows_on(action)) == before
    plant(bpy)
    assert np.allclose(found(action, row)["place"], place, atol=1e-6)


def test_a_move_is_undone_and_done_again(bpy, action):
    name = action.name
    bpy.ops.ed.undo_push(message="Planted")
    row, place = move(bpy, action)
    bpy.ops.ed.undo_push(message="Moved")
    bpy.ops.ed.undo()
    assert found(bpy.data.actions[name], row) == row
    bpy.ops.ed.redo()
    assert np.allclose(found(bpy.data.actions[name], row)["place"], place, atol=1e-6)


def test_what_stands_on_no_spot_cannot_be_moved(bpy, action):
    bpy.ops.ik2bone.add_contact(bone="foot.L", part="ball", start=200, end=201)
    refused(bpy, "has no anchor yet", "move_anchor", index=len(rows_on(action)) - 1, place=(0.0, 0.0, 0.0))
    refused(bpy, "there is none with number 99", "move_anchor", index=99, place=(0.0, 0.0, 0.0))


def test_limbs_that_hold_on_to_the_nearest_surface_cannot_be_moved(bpy, walker, slope):
    plant(bpy, direction="NEAREST")
    assert rows_on(walker.animation_data.action)[0]["anchor"]
    refused(bpy, "only feet that stand on the ground", "move_anchor", index=0, place=(0.0, 0.0, 0.0))


@pytest.fixture
def under(bpy, walker, addon):
    """What tells the ground under a point on a frame."""
    return lambda frame, point: addon("ui.anchors").ground_on(bpy.context, walker, frame)(np.array(point))


def test_the_ground_under_a_footprint_is_that_of_the_last_run(bpy, slope, action, under):
    assert np.allclose(under(10, [0.3, 2.0, 5.0]), [0.3, 2.0, 0.2], atol=1e-5)
    biped.make_slope(bpy, name="Roof", height=3.0)
    bpy.ops.ik2bone.restore()
    plant(bpy, surface=slope.name)
    assert np.allclose(under(10, [0.3, 2.0, 5.0]), [0.3, 2.0, 0.2], atol=1e-5)


def test_the_ground_under_a_footprint_is_where_it_is_on_its_first_frame(bpy, slope, action, under):
    slope.keyframe_insert("location", frame=1)
    slope.location.z = 1.0
    slope.keyframe_insert("location", frame=21)
    for curve in fingerprint.curves_of(slope.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    bpy.context.scene.frame_set(21)
    for frame, height in ((1, 0.0), (11, 0.5), (21, 1.0)):
        assert np.allclose(under(frame, [0.3, 2.0, 5.0]), [0.3, 2.0, 0.2 + height], atol=1e-5)
    assert bpy.context.scene.frame_current == 21


def test_without_ground_a_footprint_stays_at_its_height(bpy, slope, action, under):
    bpy.data.objects.remove(slope)
    assert (under(10, [0.3, 2.0, 5.0]) == [0.3, 2.0, 5.0]).all()


def test_a_footprint_goes_up_and_down_with_the_ground_that_it_is_moved_over(bpy, walker, action, addon):
    anchors = addon("ui.anchors")
    ground = anchors.ground_on(bpy.context, walker, 10)
    moved = anchors.moved_over(ground, np.array([0.3, 2.0, 0.25]), np.array([0.2, -1.0, 7.0]))
    assert np.allclose(moved, [0.5, 1.0, 0.15], atol=1e-5)


def test_the_handle_shows_where_footprints_do(bpy, walker, action, addon):
    anchors, shown = addon("ui.anchors"), bpy.context.scene.ik2bone_contacts
    shown.active = chosen_of(rows_on(action))
    handle = anchors.IK2BONE_GGT_anchor.poll
    assert not handle(bpy.context)
    shown.overlay = True
    assert handle(bpy.context)
    bpy.ops.ik2bone.restore()
    assert rows_on(walker.animation_data.action)[shown.active]["anchor"] and not handle(bpy.context)
