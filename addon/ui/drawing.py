# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handlers for footprints and bars, and the mouse shortcut of bars. Each checks whether the scene shows them."""

from contextlib import ExitStack
from typing import Any

import bpy
from bpy.app.handlers import load_post, persistent, redo_post, undo_post
from bpy.types import SpaceDopeSheetEditor, SpaceView3D

from . import bars, overlay
from .panel import redraw

# The editor's type, the drawing function, and the stage in which it draws.
DRAWN = ((SpaceView3D, overlay.draw, "POST_VIEW"), (SpaceDopeSheetEditor, bars.draw, "POST_PIXEL"))
# The keymap that also holds the Dope Sheet's own shortcuts for keys.
KEYMAP = {"name": "Dopesheet", "space_type": "DOPESHEET_EDITOR"}
# Calls that remove what was added to Blender.
_added = ExitStack()


@persistent
def _forget(*_: Any) -> None:
    """Drop what was drawn of data that a loaded file or an undo step has replaced."""
    bars.dragged.clear()
    overlay.forget()


HANDLERS = [(handlers, _forget) for handlers in (load_post, undo_post, redo_post)]


def register() -> None:
    """Add the draw handlers, and let the left mouse button drag bars."""
    for space, draw, stage in DRAWN:
        _added.callback(space.draw_handler_remove, space.draw_handler_add(draw, (), "WINDOW", stage), "WINDOW")
    keys = bpy.context.window_manager.keyconfigs.addon
    if keys is not None:
        items = keys.keymaps.new(**KEYMAP).keymap_items
        _added.callback(items.remove, items.new("ik2bone.drag_contact", "LEFTMOUSE", "PRESS", head=True))
    # Enabled again, the add-on shows at once what the scene has switched on.
    redraw(bpy.context)


def unregister() -> None:
    """Remove the draw handlers and the shortcut."""
    _added.close()
    _forget()
