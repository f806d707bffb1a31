# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints and bars are drawn while they are switched on, and leave nothing behind."""

from __future__ import annotations

import pytest

from demo import session

SWITCHES = ("overlay", "bars")


@pytest.fixture
def drawing(addon):
    return addon("ui.drawing")


def shortcuts(bpy):
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    return [item.idname for keymap in keymaps for item in keymap.keymap_items if item.idname.startswith("ik2bone")]


@pytest.mark.parametrize("name", SWITCHES)
def test_what_is_switched_on_twice_is_drawn_once_and_off_again_nothing_is_left(bpy, drawing, name):
    shown = bpy.context.scene.ik2bone_contacts
    assert not drawing._handlers and not shortcuts(bpy)
    setattr(shown, name, True)
    setattr(shown, name, True)
    assert list(drawing._handlers) == [name]
    assert shortcuts(bpy) == ["ik2bone.drag_contact"] * (name == "bars")
    setattr(shown, name, False)
    assert not drawing._handlers and not shortcuts(bpy)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_file_without_it_that_is_loaded_switches_it_off(bpy, drawing, name):
    setattr(bpy.context.scene.ik2bone_contacts, name, True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert not drawing._handlers and not shortcuts(bpy)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_file_with_it_switches_it_on(bpy, drawing, name, tmp_path):
    setattr(bpy.context.scene.ik2bone_contacts, name, True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "on.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "on.blend"))
    assert list(drawing._handlers) == [name]


@pytest.mark.parametrize("name", SWITCHES)
def test_each_of_several_scenes_has_its_own_switch(bpy, drawing, name, tmp_path):
    bpy.data.scenes.new("Other")
    for scene in bpy.data.scenes:
        setattr(scene.ik2bone_contacts, name, True)
    setattr(bpy.context.scene.ik2bone_contacts, name, False)
    assert list(drawing._handlers) == [name]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scenes.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scenes.blend"))
    assert list(drawing._handlers) == [name]
    setattr(bpy.data.scenes["Other"].ik2bone_contacts, name, False)
    assert not drawing._handlers and not shortcuts(bpy)


@pytest.mark.parametrize("name", SWITCHES)
def test_undo_switches_it_as_it_was(bpy, drawing, name):
    bpy.ops.ed.undo_push(message="Off")
    setattr(bpy.context.scene.ik2bone_contacts, name, True)
    bpy.ops.ed.undo_push(message="On")
    bpy.ops.ed.undo()
    assert not drawing._handlers
    bpy.ops.ed.redo()
    assert list(drawing._handlers) == [name]


def test_disabled_nothing_is_left(bpy, drawing):
    import addon_utils

    for name in SWITCHES:
        setattr(bpy.context.scene.ik2bone_contacts, name, True)
    addon_utils.disable(session.ADDON)
    assert not drawing._handlers and not shortcuts(bpy) and not bpy.app.timers.is_registered(drawing.show)
    assert all(handler not in handlers for handlers, handler in drawing.HANDLERS)


@pytest.mark.parametrize("name", SWITCHES)
def test_enabled_again_what_the_scene_asks_for_is_drawn_as_soon_as_blender_is_idle(bpy, addon, name):
    import addon_utils

    setattr(bpy.context.scene.ik2bone_contacts, name, True)
    addon_utils.disable(session.ADDON)
    addon_utils.enable(session.ADDON)
    drawing = addon("ui.drawing")
    assert getattr(bpy.context.scene.ik2bone_contacts, name) and bpy.app.timers.is_registered(drawing.show)
    # Blender without a window runs no timers.
    drawing.show()
    assert list(drawing._handlers) == [name]
