# SPDX-License-Identifier: GPL-3.0-or-later
"""Online Manual in the context menus of buttons and settings: sections of the user guide that the zip brings along.

No website of the project exists; `tools/guide_page.py` makes the page when the zip is built.
"""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.types import UILayout

PAGE = Path(__file__).parent.parent / "guide.html"
# Names as Blender knows them, in small letters, and the section that tells of each; the first one that fits counts.
# Blender asks for settings of an operator by the name of the operator, and looks up none of an add-on's preferences.
SECTIONS = (
    ("bpy.ops.ik2bone.plant_feet*", "guide-the-panel"),
    ("bpy.ops.ik2bone.restore*", "guide-output"),
    ("bpy.ops.ik2bone.show_frame*", "guide-the-report"),
    ("bpy.ops.ik2bone.toggle_limb*", "guide-options"),
    ("bpy.ops.ik2bone.add_preset*", "guide-presets-and-preferences"),
    ("bpy.ops.ik2bone.use_defaults*", "guide-presets-and-preferences"),
    # What is left edits contacts.
    ("bpy.ops.ik2bone.*", "contacts-in-blender"),
    ("bpy.types.ik2bone_settings.contacts*", "contacts-which-contacts-count"),
    ("bpy.types.ik2bone_settings.direction*", "guide-hands-walls-and-ladders"),
    ("bpy.types.ik2bone_settings.output*", "guide-output"),
    ("bpy.types.ik2bone_settings.sparse_keys*", "guide-sparse-keys"),
    ("bpy.types.ik2bone_settings.*", "guide-options"),
    ("bpy.types.contactlist.*", "contacts-in-blender"),
    ("bpy.types.contactrow.*", "contacts-in-blender"),
)


def sections() -> tuple[str, tuple[tuple[str, str], ...]]:
    """What the addresses of the sections begin with, and which there are; none in a working tree, which has no page."""
    return (f"{PAGE.as_uri()}#", SECTIONS) if PAGE.exists() else ("", ())


def draw_button(layout: UILayout, text: str = "") -> None:
    """A button that opens the page, if there is one."""
    if PAGE.exists():
        layout.operator("wm.url_open", text=text, icon="HELP", emboss=bool(text)).url = PAGE.as_uri()


def register() -> None:
    """Add the sections to those of Blender's own manual."""
    bpy.utils.register_manual_map(sections)


def unregister() -> None:
    """Take them out."""
    bpy.utils.unregister_manual_map(sections)
