# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging bars in the Dope Sheet, by their ends or whole."""

from __future__ import annotations

import bpy
from bpy.props import IntProperty
from bpy.types import Action, Context, Event, Object, Operator

from ..errors import Refusal
from ..run.contacts import change_row
from . import bars
from .contacts import ContactsOperator, Result
from .panel import played_action
from .rows import rows_on


class IK2BONE_OT_drag_contact(ContactsOperator, Operator):
    """Give a contact other frames: in the Dope Sheet drag an end of its bar, or its middle to move both ends"""

    bl_idname = "ik2bone.drag_contact"
    bl_label = "Drag Contact"
    edits = False

    index: IntProperty(name="Number", description="Its place in the list of contacts", min=0)
    start: IntProperty(name="Start", description="First frame")
    end: IntProperty(name="End", description="Last frame")

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there are bars to drag."""
        cls.poll_message_set("Needs an armature that plays an action, and its contacts shown in the Dope Sheet")
        return bool(context.scene.ik2bone_contacts.bars) and played_action(context) is not None

    def change(self, _armature: Object, action: Action) -> str:
        """Store the frames."""
        if self.end < self.start:
            raise Refusal(f"a contact cannot end on frame {self.end}, before its start on frame {self.start}")
        change_row(action, self.index, start=self.start, end=self.end)
        return f"Contact {self.index} lasts from {self.start} to {self.end}: plant again to see it"

    def invoke(self, context: Context, event: Event) -> Result:
        """Take hold of the bar under the mouse; elsewhere the mouse does what it always does."""
        x, y = event.mouse_region_x, event.mouse_region_y
        shown = bars.bars_in(context, context.region) if bars.are_shown(context) else ()
        found = bars.hit(shown, x, y, bars.scale_of(context))
        if found is None or not played_action(context).is_editable:
            return {"PASS_THROUGH"}
        self.index, self._ends = found
        self._from, self._row = self._frame(context, event), rows_on(context)[self.index]
        context.window.cursor_modal_set("MOVE_X")
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> Result:
        """Follow the mouse until its button is let go; Esc and the right button leave the contact as it was."""
        if event.type in {"ESC", "RIGHTMOUSE"}:
            self.cancel(context)
            return {"CANCELLED"}
        by = round(self._frame(context, event) - self._from)
        values = moved_ends(self._row["start"], self._row["end"], self._ends, by)
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self.cancel(context)
            context.scene.ik2bone_contacts.active = self.index
            self.start, self.end = values["start"], values["end"]
            return self.execute(context) if by else {"FINISHED"}
        bars.dragged[self.index] = values
        context.area.header_text_set(f"Contact from {values['start']} to {values['end']}")
        context.area.tag_redraw()
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Show what is stored."""
        bars.dragged.clear()
        context.window.cursor_modal_restore()
        if context.area:
            context.area.header_text_set(None)
            context.area.tag_redraw()

    def _frame(self, context: Context, event: Event) -> float:
        return float(context.region.view2d.region_to_view(event.mouse_region_x, 0)[0])


def moved_ends(start: int, end: int, ends: tuple[str, ...], by: int) -> dict[str, int]:
    """First and last frame after a drag of one end, which stops at the other, or of both."""
    if ends == ("start",):
        return {"start": min(start + by, end), "end": end}
    if ends == ("end",):
        return {"start": start, "end": max(end + by, start)}
    return {"start": start + by, "end": end + by}


register, unregister = bpy.utils.register_classes_factory((IK2BONE_OT_drag_contact,))
