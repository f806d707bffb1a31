# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant Feet in the menus where people look for it, beside the sidebar."""

from __future__ import annotations

import bpy
from bpy.types import Context, Menu

# Pose, Object > Animation, and the Dope Sheet's menu Action, or Key in Blenders that have none.
MENUS = ("VIEW3D_MT_pose", "VIEW3D_MT_object_animation")
DOPE_SHEET = ("DOPESHEET_MT_action", "DOPESHEET_MT_key")


def _draw(menu: Menu, context: Context) -> None:
    menu.layout.separator()
    menu.layout.operator("ik2bone.plant_feet", icon="CON_FLOOR")
    menu.layout.operator("ik2bone.mark_feet", icon="PINNED")
    if context.area and context.area.type == "VIEW_3D":
        menu.layout.operator("ik2bone.move_anchor", icon="EMPTY_ARROWS")


def _menus() -> list[type[Menu]]:
    found = next(name for name in DOPE_SHEET if hasattr(bpy.types, name))
    return [getattr(bpy.types, name) for name in (*MENUS, found)]


def register() -> None:
    """Add the entries."""
    for menu in _menus():
        menu.append(_draw)


def unregister() -> None:
    """Take them out."""
    for menu in _menus():
        menu.remove(_draw)
