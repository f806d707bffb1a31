# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of stored contacts: how many there are, and those round the current frame, each with its state."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Panel

from ..keys import actions
from ..rig.body import HANDED, find_armature
from ..run import contacts as stored
from .contact_operators import NAMES
from .panel import Sidebar

# As many contacts are shown, from those of the current frame on.
SHOWN = 12
ICONS = {"automatic": "DOT", "enforced": "PINNED", "forbidden": "X"}


class IK2BONE_PT_contacts(Sidebar, Panel):
    """When the feet stand, as the last run found it or people want it"""

    bl_label = "Contacts"
    bl_parent_id = "IK2BONE_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there is an action that could have contacts."""
        armature = find_armature(context)
        return armature is not None and actions.assigned(armature).action is not None

    def draw(self, context: Context) -> None:
        """Counts, the contacts from the current frame on, and the operators."""
        layout, armature = self.layout, find_armature(context)
        layout.context_pointer_set(HANDED, armature)
        rows = stored.rows_of(actions.assigned(armature).action) or []
        counts = [f"{sum(row.get('state') == state for row in rows)} {name.lower()}" for state, name in NAMES.items()]
        layout.label(text=", ".join(counts) if rows else "None stored yet")
        column = layout.column(align=True)
        for number, row in shown_rows(rows, context.scene.frame_current):
            state = row.get("state", "automatic")
            line = column.split(factor=0.62, align=True)
            line.label(
                text=f"{row['bone']} {row['part']} {row['start']} to {row['end']}", icon=ICONS.get(state, "ERROR")
            )
            line.operator_menu_enum("ik2bone.set_contact", "state", text=NAMES.get(state, state)).index = number
        layout.operator("ik2bone.add_contact", icon="ADD")
        buttons = layout.row(align=True)
        buttons.operator("ik2bone.import_contacts", text="Import", icon="IMPORT")
        buttons.operator("ik2bone.export_contacts", text="Export", icon="EXPORT")


def shown_rows(rows: stored.Rows, frame: int) -> list[tuple[int, dict[str, Any]]]:
    """The contacts that end on a frame or later, with their numbers, in order of time."""
    later = [(number, row) for number, row in enumerate(rows) if row["end"] >= frame]
    return sorted(later, key=lambda item: (item[1]["start"], item[1]["bone"], item[1]["part"]))[:SHOWN]


def register() -> None:
    """Register the panel."""
    bpy.utils.register_class(IK2BONE_PT_contacts)


def unregister() -> None:
    """Unregister it."""
    bpy.utils.unregister_class(IK2BONE_PT_contacts)
