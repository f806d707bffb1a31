# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as bars of the Dope Sheet: where they lie, what the mouse takes hold of, and what a drag stores."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from ik2bone.contacts.spans import read_spans
from planted import plant, refused

ROWS = [
    {"bone": "foot.L", "part": "ball", "start": 10, "end": 20},
    {"bone": "foot.L", "part": "heel", "start": 10, "end": 15},
    {"bone": "foot.R", "part": "ball", "start": 15, "end": 15, "state": "enforced"},
    {"bone": "foot.L", "part": "ball", "start": 21, "end": 30},
]
# Pixels a frame.
WIDE = 10.0


@pytest.fixture
def bars(addon):
    return addon("ui.bars")


def place(frame):
    return WIDE * frame


def middle(bar):
    return (bar.low + bar.high) / 2


@pytest.fixture
def shown(bars):
    return bars.bars(ROWS, place, 1.0)


def test_a_bar_covers_its_frames_whole_also_a_single_one(shown):
    assert [(bar.left, bar.right) for bar in shown] == [(95, 205), (95, 155), (145, 155), (205, 305)]


def test_each_foot_has_a_row_of_its_own_with_the_heel_over_the_ball(shown):
    ball, heel, other, later = shown
    assert ball.low == later.low and ball.high < heel.low
    assert not (other.low < heel.high and ball.low < other.high)


def test_bars_grow_with_the_interface(bars, shown):
    larger = bars.bars(ROWS, place, 2.0)
    assert [(bar.low, bar.high) for bar in larger] == [(2 * bar.low, 2 * bar.high) for bar in shown]


@pytest.mark.parametrize(
    ("x", "found"),
    [
        (97, (0, ("start",))),
        (92, (0, ("start",))),
        (150, (0, ("start", "end"))),
        (203, (0, ("end",))),
        (207, (3, ("start",))),
        (309, (3, ("end",))),
        (80, None),
        (315, None),
    ],
)
def test_the_mouse_takes_an_end_near_by_and_elsewhere_the_whole_bar(bars, shown, x, found):
    assert bars.hit(shown, x, middle(shown[0]), 1.0) == found


def test_a_bar_of_one_frame_can_be_taken_by_either_end_and_whole(bars, shown):
    taken = [bars.hit(shown, x, middle(shown[2]), 1.0) for x in (146, 150, 154)]
    assert taken == [(2, ("start",)), (2, ("start", "end")), (2, ("end",))]


def test_beside_all_rows_the_mouse_takes_nothing(bars, shown):
    assert bars.hit(shown, 150, max(bar.high for bar in shown) + 3, 1.0) is None
    assert bars.hit(shown, 150, min(bar.low for bar in shown) - 3, 1.0) is None


@pytest.mark.parametrize(
    ("ends", "by", "frames"),
    [
        (("start",), -3, (7, 20)),
        (("start",), 30, (20, 20)),
        (("end",), 4, (10, 24)),
        (("end",), -30, (10, 10)),
        (("start", "end"), 30, (40, 50)),
    ],
)
def test_a_drag_moves_an_end_up_to_the_other_or_both(addon, ends, by, frames):
    assert tuple(addon("ui.contacts").moved_ends(10, 20, ends, by).values()) == frames


def test_a_bar_that_is_dragged_shows_where_it_goes(bars):
    bars.dragged[0] = {"start": 12, "end": 20}
    try:
        assert bars.bars(ROWS, place, 1.0)[0].left == 115
    finally:
        bars.dragged.clear()


@pytest.fixture
def action(bpy, walker, slope):
    plant(bpy)
    bpy.context.scene.ik2bone_contacts.bars = True
    return walker.animation_data.action


def spans_on(action):
    return read_spans(json.loads(action["ik2bone"]))


@pytest.mark.parametrize("by", [-100, 3, 100])
def test_a_drag_stores_the_frames_pins_the_contact_and_keeps_all_others(bpy, action, by):
    before = spans_on(action)
    start, end = before[1].start + by, before[1].end + by
    assert bpy.ops.ik2bone.drag_contact(index=1, start=start, end=end) == {"FINISHED"}
    after = spans_on(action)
    assert (after[1].start, after[1].end, after[1].state) == (start, end, "enforced")
    assert [after[0], *after[2:]] == [before[0], *before[2:]]
    assert bpy.context.scene.ik2bone.contacts == "STORED"


def test_a_drag_is_undone_and_done_again(bpy, action):
    name, before = action.name, spans_on(action)
    bpy.ops.ed.undo_push(message="Planted")
    bpy.ops.ik2bone.drag_contact(index=0, start=before[0].start, end=before[0].end + 4)
    bpy.ops.ed.undo_push(message="Dragged")
    bpy.ops.ed.undo()
    assert spans_on(bpy.data.actions[name]) == before
    bpy.ops.ed.redo()
    assert spans_on(bpy.data.actions[name])[0].end == before[0].end + 4


def test_ends_in_the_wrong_order_and_contacts_that_are_none_are_refused(bpy, action):
    refused(bpy, "before its start", operator="drag_contact", index=0, start=9, end=3)
    refused(bpy, "there is none with number 99", operator="drag_contact", index=99, start=1, end=3)


def test_scripts_change_frames_where_no_bars_are_shown(bpy, action):
    bpy.context.scene.ik2bone_contacts.bars = False
    assert bpy.ops.ik2bone.drag_contact(index=0, start=1, end=3) == {"FINISHED"}
    assert (spans_on(action)[0].start, spans_on(action)[0].end) == (1, 3)


def test_the_timeline_shows_bars_too_and_editors_of_other_keys_do_not(bpy, bars):
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    bpy.context.scene.ik2bone_contacts.bars = True
    areas = [area for screen in bpy.data.screens for area in screen.areas if area.type == "DOPESHEET_EDITOR"]
    space = areas[0].spaces.active
    for mode, expected in {"TIMELINE": True, "DOPESHEET": True, "ACTION": True, "MASK": False}.items():
        space.mode = mode
        assert bars.are_shown(SimpleNamespace(scene=bpy.context.scene, space_data=space)) == expected
    bpy.context.scene.ik2bone_contacts.bars, space.mode = False, "DOPESHEET"
    assert not bars.are_shown(SimpleNamespace(scene=bpy.context.scene, space_data=space))


def test_other_editors_show_no_bars(bpy, bars):
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    bpy.context.scene.ik2bone_contacts.bars = True
    areas = [area for screen in bpy.data.screens for area in screen.areas if area.type != "DOPESHEET_EDITOR"]
    spaces = [area.spaces.active for area in areas]
    assert not any(bars.are_shown(SimpleNamespace(scene=bpy.context.scene, space_data=space)) for space in spaces)
