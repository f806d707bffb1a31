# SPDX-License-Identifier: GPL-3.0-or-later
"""What the add-on shows where its compiled package is missing or does not fit this Blender: one sentence."""

from __future__ import annotations

import textwrap

import bpy
from bpy.types import AddonPreferences, Context, Panel, UILayout

SENTENCE = (
    "IK2Bone cannot work without its compiled package 'ik2bone', which is missing or does not fit this Blender: "
    "install the extension file made for this system, or the package itself into Blender's Python"
)
# Characters in a line of the sidebar, and of the preferences.
NARROW, WIDE = 36, 90


def _draw(layout: UILayout, width: int) -> None:
    lines = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(SENTENCE, width)):
        lines.label(text=line, icon="BLANK1" if number else "ERROR")


class IK2BONE_PT_missing(Panel):
    """Why there is nothing else"""

    bl_label = "Plant Feet"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "IK2Bone"

    def draw(self, _context: Context) -> None:
        """The sentence."""
        _draw(self.layout, NARROW)


class IK2BONE_MissingPreferences(AddonPreferences):
    """Why there is nothing to set"""

    bl_idname = __package__

    def draw(self, _context: Context) -> None:
        """The sentence."""
        _draw(self.layout, WIDE)


register, unregister = bpy.utils.register_classes_factory((IK2BONE_PT_missing, IK2BONE_MissingPreferences))
