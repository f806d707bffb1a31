# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints and foot paths: where they lie, and that nothing is left behind. How they look is for `make gui`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from planted import plant, record_of


@pytest.fixture
def overlay(addon):
    return addon("ui.overlay")


@pytest.fixture
def planted(bpy, walker, slope):
    """The record of a planted walker."""
    plant(bpy)
    return record_of(walker)


@pytest.fixture(params=[True, False], ids=["new", "old"])
def lines(request, planted, overlay):
    """The prints of a planted walker, and of one whose record does not tell how soles lie, with contacts."""
    rows = planted["contacts"]
    if not request.param:
        rows = [{name: value for name, value in row.items() if name not in ("ahead", "up")} for row in rows]
    return overlay.prints(planted | {"contacts": rows}), rows


def test_every_anchored_contact_has_one_print_round_it(lines):
    prints, rows = lines
    shown = sorted(number for line in prints for number in line.contacts)
    assert shown == [number for number, row in enumerate(rows) if row["anchor"]]
    for line in prints:
        low, high = line.points.min(axis=0), line.points.max(axis=0)
        for number in line.contacts:
            assert (low[:2] < rows[number]["anchor"][:2]).all() and (rows[number]["anchor"][:2] < high[:2]).all()


def test_prints_lie_on_the_ground(lines):
    for line in lines[0]:
        assert np.abs(line.points[:, 2] - 0.1 * line.points[:, 1]).max() < 0.02


def test_prints_of_a_run_lie_along_a_slope_that_rises_aside(bpy, walker, addon, overlay):
    import biped
    from mathutils import Vector

    slope = biped.make_slope(bpy)
    slope.rotation_euler = (0.0, 0.2, 0.0)
    plant(bpy)
    normal = slope.matrix_world.to_3x3() @ Vector((0.0, -0.1, 1.0)).normalized()
    prints = overlay.prints(record_of(walker))
    assert prints
    for line in prints:
        assert np.abs(line.points @ normal).max() < 0.012


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE", "NLA_LAYER"])
def test_a_file_that_is_loaded_shows_what_it_showed_when_it_was_saved(
    bpy, walker, slope, overlay, addon, tmp_path, output
):
    slope.rotation_euler = (0.0, 0.2, 0.0)
    plant(bpy, output=output)
    before = shown(walker, overlay, addon)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "planted.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "planted.blend"))
    after = shown(bpy.data.objects["Walker"], overlay, addon)
    assert len(before) == len(after) and all(map(np.array_equal, before, after))


def shown(armature, overlay, addon):
    """The points of all lines that are drawn of what an armature plays."""
    action = addon("run.layers").shown_action(armature)
    return [line.points for line in overlay.lines_of(json.loads(action["ik2bone"]), action["ik2bone_paths"])]


def test_prints_of_a_run_are_as_long_as_soles(planted, walker, overlay, addon):
    plan = addon("run.pipeline").plans.find(walker.name_full)
    prints = [line for line in overlay.prints(planted) if len(line.contacts) == 2]
    assert prints
    for line in prints:
        assert abs(np.ptp(line.points[:, 1]) - plan.sole.lengths[0].sum()) < 0.1 * plan.sole.lengths[0].sum()


def test_heel_and_ball_that_stand_at_once_share_a_print(lines):
    prints, rows = lines
    shared = [line for line in prints if len(line.contacts) == 2]
    assert shared
    for line in shared:
        first, second = (rows[number] for number in line.contacts)
        assert first["bone"] == second["bone"] and {first["part"], second["part"]} == {"ball", "heel"}


@pytest.mark.parametrize("state", ["automatic", "enforced"])
def test_prints_have_the_colour_of_their_state(bpy, planted, overlay, addon, state):
    rows = [row | {"state": state} for row in planted["contacts"]]
    colours = {line.colour for line in overlay.prints(planted | {"contacts": rows})}
    assert colours == {addon("ui.rows").COLOURS[state]}


def test_out_of_reach_contacts_are_marked_by_a_second_outline(planted, overlay, addon):
    rows, report = planted["contacts"], planted["report"]
    short = {"start": rows[0]["end"], "end": rows[0]["end"] + 2, "worst": 0.1}
    number = [foot["bone"] for foot in report["feet"]].index(rows[0]["bone"])
    report["after"]["feet"][number]["short_at"] = [short]
    red = addon("ui.rows").SHORT
    marked = {number for line in overlay.prints(planted) if line.colour == red for number in line.contacts}
    late = [n for n, row in enumerate(rows) if row["start"] <= short["end"] and row["end"] >= short["start"]]
    assert 0 in marked and {n for n in late if rows[n]["bone"] == rows[0]["bone"]} <= marked < set(range(len(rows)))


def test_one_point_has_a_round_print_and_points_over_each_other_too(overlay):
    lying = overlay.Lying(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]), None)
    for ends in ([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]):
        points = overlay.outline(np.array(ends), 2.0, lying)
        assert np.isfinite(points).all() and np.allclose(points[0], points[-1])
        assert np.ptp(points[:, :2]) < 2.0


def test_paths_go_from_the_floor_to_the_ground(planted, walker, addon, overlay):
    paths = overlay.paths(walker.animation_data.action["ik2bone_paths"], planted["report"])
    before, after = np.array([line.points for line in paths]).reshape(2, 2, 61, 3)
    assert np.abs(before[..., 2] - 0.02).min() < 1e-3 and np.linalg.norm(after - before, axis=-1).max() > 0.02


def test_paths_are_red_where_a_foot_was_short(planted, walker, overlay, addon):
    report, text = planted["report"], walker.animation_data.action["ik2bone_paths"]
    report["after"]["feet"][1]["short_at"] = [{"start": 20, "end": 22, "worst": 0.1}]
    [red] = [line.points for line in overlay.paths(text, report) if line.colour == addon("ui.rows").SHORT]
    path = addon("run.records").paths_in(text).after[:, 1]
    assert np.array_equal(red, path[20 - 2 : 22 + 1])


@pytest.mark.parametrize(
    "text",
    [
        "None",
        "{}",
        "[1]",
        "7",
        '{"first": 1, "bones": [], "paths": ""}',
        '{"first": 1, "bones": 3, "paths": 4}',
        '{"first": 1, "bones": ["foot.L"], "paths": "AAAA"}',
        '{"first": 1, "bones": ["foot.L"], "paths": ""}',
        '{"first": 1e999, "bones": ["foot.L"], "paths": ""}',
        '{"first": 1, "bones": ["foot.L"], "paths": "ü"}',
        "[" * 9999,
    ],
)
def test_what_people_made_of_stored_paths_is_not_drawn(planted, overlay, text):
    assert overlay.paths(text, planted["report"]) == []


def test_prints_of_a_part_of_the_frames_lie_where_feet_stand(bpy, walker, slope, overlay):
    """What is stored of contacts is of the whole action, the report of the frames that were written."""
    plant(bpy, frame_range="CUSTOM", frame_start=30, frame_end=61)
    record = record_of(walker)
    for line in overlay.prints(record):
        row = record["contacts"][line.contacts[0]]
        if row["start"] >= 30:
            assert np.abs(line.points[:, 2] - 0.1 * line.points[:, 1]).max() < 0.02


def test_a_later_run_of_the_present_pose_leaves_what_is_shown(bpy, walker, planted, overlay, addon):
    before = shown(walker, overlay, addon)
    plant(bpy, frame_range="CURRENT")
    assert all(map(np.array_equal, before, shown(walker, overlay, addon)))


def test_another_action_shows_its_own_run(bpy, walker, planted, overlay, addon):
    before = shown(walker, overlay, addon)
    bpy.ops.ik2bone.restore()
    other = walker.animation_data.action = walker.animation_data.action.copy()
    if hasattr(other, "slots"):
        walker.animation_data.action_slot = other.slots[0]
    walker.location.x = 0.5
    bpy.context.view_layer.update()
    plant(bpy)
    assert not any(map(np.array_equal, before, shown(walker, overlay, addon)))
    walker.animation_data.action = bpy.data.actions["walk.planted"]
    assert all(map(np.array_equal, before, shown(walker, overlay, addon)))


def test_undo_shows_the_run_before(bpy, planted, overlay, addon):
    bpy.ops.ed.undo_push(message="Planted")
    before = shown(bpy.data.objects["Walker"], overlay, addon)
    plant(bpy, strength=0.5)
    bpy.ops.ed.undo_push(message="Planted again")
    after = shown(bpy.data.objects["Walker"], overlay, addon)
    assert not all(map(np.array_equal, before, after))
    bpy.ops.ed.undo()
    assert all(map(np.array_equal, before, shown(bpy.data.objects["Walker"], overlay, addon)))
    bpy.ops.ed.redo()
    assert all(map(np.array_equal, after, shown(bpy.data.objects["Walker"], overlay, addon)))


def test_feet_that_a_later_run_leaves_keep_their_prints(bpy, walker, slope, overlay):
    slope.rotation_euler = (0.0, 0.2, 0.0)
    plant(bpy)
    before = {line.contacts: line.points for line in overlay.prints(record_of(walker))}
    rows = record_of(walker)["contacts"]
    plant(bpy, bones="foot.L")
    record = record_of(walker)
    kept = [line.points for line in overlay.prints(record) if record["contacts"][line.contacts[0]]["bone"] == "foot.R"]
    same = [points for numbers, points in before.items() if rows[numbers[0]]["bone"] == "foot.R"]
    assert same and len(kept) == len(same) and all(map(np.array_equal, kept, same))
