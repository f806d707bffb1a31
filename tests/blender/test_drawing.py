# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints and bars are drawn where their scene has them switched on, and leave nothing behind."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from planted import plant

from demo import session

# By switch, the function that `draw` calls first where there is something to draw.
DRAWN = {"overlay": "_batches", "bars": "bars_in"}


class Drawn(Exception):
    """Raised instead of drawing, for which Blender needs a window."""


@pytest.fixture(params=DRAWN)
def switch(request):
    return request.param


@pytest.fixture
def is_drawn(addon, monkeypatch, switch):
    """A function that returns whether anything is drawn in the present scene."""
    module = addon(f"ui.{switch}")

    def stop(*_given):
        raise Drawn

    monkeypatch.setattr(module, DRAWN[switch], stop)
    # Without a window there is no editor, and so no mode of one.
    monkeypatch.setattr(addon("ui.bars"), "MODES", {None})

    def draws():
        try:
            module.draw()
        except Drawn:
            return True
        return False

    return draws


def shortcuts(bpy):
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    return [item.idname for keymap in keymaps for item in keymap.keymap_items if item.idname.startswith("ik2bone")]


def test_what_is_switched_on_is_drawn_and_off_again_nothing_is(bpy, walker, slope, switch, is_drawn):
    plant(bpy)
    assert not is_drawn()
    for on in (True, False):
        setattr(bpy.context.scene.ik2bone_contacts, switch, on)
        assert is_drawn() == on


def test_each_of_several_scenes_has_its_own_switch(bpy, walker, slope, switch, is_drawn):
    plant(bpy)
    setattr(bpy.data.scenes.new("Other").ik2bone_contacts, switch, True)
    assert not is_drawn()


def test_undo_switches_it_as_it_was(bpy, walker, slope, switch, is_drawn):
    plant(bpy)
    bpy.ops.ed.undo_push(message="Off")
    setattr(bpy.context.scene.ik2bone_contacts, switch, True)
    bpy.ops.ed.undo_push(message="On")
    bpy.ops.ed.undo()
    assert not is_drawn()
    bpy.ops.ed.redo()
    assert is_drawn()


def test_nothing_is_drawn_without_a_planted_action(bpy, walker, switch, is_drawn):
    setattr(bpy.context.scene.ik2bone_contacts, switch, True)
    assert not is_drawn()


def test_a_click_is_passed_on_where_no_bars_are_shown(bpy, addon):
    place = {"region": None, "space_data": SimpleNamespace(mode="ACTION"), "preferences": bpy.context.preferences}
    click = SimpleNamespace(mouse_region_x=5, mouse_region_y=5)
    invoke = addon("ui.contacts").IK2BONE_OT_drag_contact.invoke
    assert invoke(None, SimpleNamespace(scene=bpy.context.scene, **place), click) == {"PASS_THROUGH"}


@pytest.mark.parametrize("step", ["load", "undo"])
def test_a_drag_of_data_that_is_replaced_meanwhile_is_forgotten(bpy, addon, step):
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.ed.undo_push(message="After")
    addon("ui.bars").dragged[0] = {"start": 1, "end": 2}
    addon("ui.overlay").moved.append(None)
    if step == "load":
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    else:
        bpy.ops.ed.undo()
    assert not addon("ui.bars").dragged and not addon("ui.overlay").moved


def test_disabled_nothing_is_left_and_enabled_again_there_is_one_shortcut(bpy, addon):
    import addon_utils

    drawing, shortcut = addon("ui.drawing"), ["ik2bone.drag_contact"]
    assert shortcuts(bpy) == shortcut
    addon_utils.disable(session.ADDON)
    assert not shortcuts(bpy)
    assert all(handler not in handlers for handlers, handler in drawing.HANDLERS)
    addon_utils.enable(session.ADDON)
    assert shortcuts(bpy) == shortcut
