# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints and foot paths: where they lie, and that nothing is left behind. How they look is for `make gui`."""

from __future__ import annotations

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


@pytest.fixture(params=[True, False], ids=["planned", "loaded"])
def lines(request, planted, walker, overlay, addon):
    """The prints of a planted walker, as they are after a run and when its file is loaded, with contacts and report."""
    rows, report = planted["contacts"], planted["report"]
    plan = addon("run.kept").last_plan(walker) if request.param else None
    first = 0 if plan is None else overlay.first_frame(plan, walker.animation_data.action, report)
    return overlay.prints(rows, report, plan, first), rows, report


def test_every_anchored_contact_has_one_print_round_it(lines):
    prints, rows, report = lines
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
    record = record_of(walker)
    lines = overlay.lines_of(walker, {"contacts": record["contacts"], "report": record["report"]})
    prints = [line for line in lines if line.contacts]
    assert prints
    for line in prints:
        assert np.abs(line.points @ normal).max() < 0.012


def test_prints_of_a_run_are_as_long_as_soles(planted, walker, overlay, addon):
    plan = addon("run.kept").last_plan(walker)
    prints = [line for line in overlay.lines_of(walker, planted) if len(line.contacts) == 2]
    assert prints
    for line in prints:
        assert abs(np.ptp(line.points[:, 1]) - plan.sole.lengths[0].sum()) < 0.1 * plan.sole.lengths[0].sum()


def test_heel_and_ball_that_stand_at_once_share_a_print(lines):
    prints, rows, _ = lines
    shared = [line for line in prints if len(line.contacts) == 2]
    assert shared
    for line in shared:
        first, second = (rows[number] for number in line.contacts)
        assert first["bone"] == second["bone"] and {first["part"], second["part"]} == {"ball", "heel"}


@pytest.mark.parametrize("state", ["automatic", "enforced"])
def test_prints_have_the_colour_of_their_state(bpy, planted, overlay, addon, state):
    rows = [row | {"state": state} for row in planted["contacts"]]
    colours = {line.colour for line in overlay.prints(rows, planted["report"])}
    assert colours == {addon("ui.rows").COLOURS[state]}


def test_out_of_reach_contacts_are_marked_by_a_second_outline(planted, overlay, addon):
    rows, report = planted["contacts"], planted["report"]
    short = {"start": rows[0]["end"], "end": rows[0]["end"] + 2, "worst": 0.1}
    number = [foot["bone"] for foot in report["feet"]].index(rows[0]["bone"])
    report["after"]["feet"][number]["short_at"] = [short]
    red = addon("ui.rows").SHORT
    marked = {number for line in overlay.prints(rows, report) if line.colour == red for number in line.contacts}
    late = [n for n, row in enumerate(rows) if row["start"] <= short["end"] and row["end"] >= short["start"]]
    assert 0 in marked and {n for n in late if rows[n]["bone"] == rows[0]["bone"]} <= marked < set(range(len(rows)))


def test_one_point_has_a_round_print_and_points_over_each_other_too(overlay):
    lying = overlay.Lying(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]), None)
    for ends in ([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]):
        points = overlay.outline(np.array(ends), 2.0, lying)
        assert np.isfinite(points).all() and np.allclose(points[0], points[-1])
        assert np.ptp(points[:, :2]) < 2.0


def test_paths_are_those_of_the_last_run_and_gone_with_it(planted, walker, addon, overlay):
    paths = [line.points for line in overlay.lines_of(walker, planted) if not line.contacts]
    before, after = np.array(paths).reshape(2, 2, 61, 3)
    assert np.abs(before[..., 2] - 0.02).min() < 1e-3 and np.linalg.norm(after - before, axis=-1).max() > 0.02
    addon("run.kept").forget()
    assert all(line.contacts for line in overlay.lines_of(walker, planted))


def test_prints_of_a_part_of_the_frames_lie_where_feet_stand(bpy, walker, slope, overlay):
    """The plan is of the whole action, the report of the frames that were written."""
    plant(bpy, frame_range="CUSTOM", frame_start=30, frame_end=61)
    record = record_of(walker)
    for line in overlay.lines_of(walker, record):
        row = record["contacts"][line.contacts[0]] if line.contacts else None
        if row and row["start"] >= 30:
            assert np.abs(line.points[:, 2] - 0.1 * line.points[:, 1]).max() < 0.02


@pytest.mark.parametrize("later", [{"frame_range": "CURRENT"}, {"strength": 0.5}, None])
def test_paths_are_those_of_the_run_that_is_shown(bpy, walker, planted, overlay, later):
    """Not those of a later run, on one frame, undone since, or of another action."""
    before = [line.points for line in overlay.lines_of(walker, planted)]
    if later is None:
        bpy.ops.ik2bone.restore()
        other = walker.animation_data.action = walker.animation_data.action.copy()
        if hasattr(other, "slots"):
            walker.animation_data.action_slot = other.slots[0]
        walker.location.x = 0.5
        bpy.context.view_layer.update()
    plant(bpy, **later or {})
    if later is None:
        walker.animation_data.action = bpy.data.actions["walk.planted"]
    after = [line.points for line in overlay.lines_of(walker, planted)]
    assert len(after) == len(before) and all(map(np.array_equal, after, before))
    if later != {"frame_range": "CURRENT"}:
        ways = [line.points for line in overlay.lines_of(walker, record_of(walker)) if not line.contacts]
        assert len(ways) == 4
