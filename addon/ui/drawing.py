# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handlers for footprints and bars, and the mouse shortcut of bars, while a scene has them switched on."""

from typing import Any

import bpy
from bpy.app.handlers import load_post, persistent, redo_post, undo_post
from bpy.types import KeyMap, KeyMapItem, SpaceDopeSheetEditor, SpaceView3D

from . import bars, overlay
from .panel import redraw

# By the property that switches it on: the editor's type, the drawing function, and the stage in which it draws.
DRAWN = {"overlay": (SpaceView3D, overlay.draw, "POST_VIEW"), "bars": (SpaceDopeSheetEditor, bars.draw, "POST_PIXEL")}
# The keymap that also holds the Dope Sheet's own shortcuts for keys.
KEYMAP = {"name": "Dopesheet", "space_type": "DOPESHEET_EDITOR"}
_handlers: dict[str, Any] = {}
_shortcuts: list[tuple[KeyMap, KeyMapItem]] = []


def show() -> None:
    """Add the draw handlers that some scene has switched on, and remove the others."""
    for name, (space, draw, when) in DRAWN.items():
        wanted = any(getattr(scene.ik2bone_contacts, name) for scene in bpy.data.scenes)
        if wanted and name not in _handlers:
            _handlers[name] = space.draw_handler_add(draw, (), "WINDOW", when)
        elif not wanted:
            _stop(name)
    if "bars" in _handlers and not _shortcuts:
        _add_shortcut()
    redraw(bpy.context)


def _add_shortcut() -> None:
    """Let the left mouse button drag bars."""
    keys = bpy.context.window_manager.keyconfigs.addon
    if keys is not None:
        keymap = keys.keymaps.new(**KEYMAP)
        _shortcuts.append((keymap, keymap.keymap_items.new("ik2bone.drag_contact", "LEFTMOUSE", "PRESS", head=True)))


def _stop(name: str) -> None:
    if name in _handlers:
        DRAWN[name][0].draw_handler_remove(_handlers.pop(name), "WINDOW")
    if name == "overlay":
        overlay.forget()
    while name == "bars" and _shortcuts:
        keymap, item = _shortcuts.pop()
        keymap.keymap_items.remove(item)


@persistent
def _follow(*_: Any) -> None:
    """Follow the switches of the scenes that a loaded file or an undo step brought."""
    bars.dragged.clear()
    overlay.forget()
    show()


HANDLERS = [(handlers, _follow) for handlers in (load_post, undo_post, redo_post)]


def register() -> None:
    """Have `show` called soon: scenes cannot be read while an add-on is registered."""
    bpy.app.timers.register(show, first_interval=0.0)


def unregister() -> None:
    """Remove all draw handlers and the shortcut."""
    if bpy.app.timers.is_registered(show):
        bpy.app.timers.unregister(show)
    for name in DRAWN:
        _stop(name)
