# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators that change, add, remove, drag, import and export stored contacts."""

from math import ceil, floor
from pathlib import Path

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy.types import Action, Context, Event, Object, Operator
from bpy_extras.io_utils import ExportHelper, ImportHelper
from ik2bone.contacts.spans import ContactsError, Span, read_spans, write_spans

from ..errors import Refusal, listed
from ..rig.armatures import find_armature
from ..rig.choose import choose_limbs
from ..run import records
from ..run.contacts import Rows, change_row, cleared, marked, row_of, rows_to_edit
from . import bars
from .contact_list import edited
from .panel import played_action, split_layout
from .rows import NAMES, STATES, marked_frames, rows_on

Result = set[str]

CHOICES = tuple(state[:3] for state in STATES)
MARKS = (*CHOICES, ("none", "Cleared", "No contact is stored there any longer"))
STATE = "What the foot does there"
PARTS = (("ball", "Ball", "The ball of the foot"), ("heel", "Heel", "The heel"))


def _rows_of(armature: Object, spans: list[Span]) -> Rows:
    """New contacts as stored on actions. Raises `Refusal` if the armature lacks a bone."""
    unknown = sorted({span.bone for span in spans} - set(armature.pose.bones.keys()))
    if unknown:
        raise Refusal(f"{armature.name} has no bone named {listed(unknown)}")
    return [row_of(span) for span in spans]


class ContactsOperator:
    """The base of the operators: needs an armature that plays an action.

    `edits` is None if the operator changes no contact, True if automatic contacts keep their frames, else False.
    """

    bl_options = {"REGISTER", "UNDO"}
    edits: bool | None = True

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("Needs an armature that plays an action")
        return played_action(context) is not None

    def execute(self, context: Context) -> Result:
        try:
            told = self.change(find_armature(context), played_action(context))
        except Refusal as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self.report({"INFO"}, told)
        if self.edits is not None:
            edited(context, keeps_times=self.edits)
        return {"FINISHED"}


class IK2BONE_OT_set_contact(ContactsOperator, Operator):
    """Make a contact automatic, pinned or lifted for the next run"""

    bl_idname = "ik2bone.set_contact"
    bl_label = "Set Contact"

    index: IntProperty(name="Number", description="Its place in the list of contacts")
    state: EnumProperty(name="State", description=STATE, items=CHOICES)

    def change(self, _armature: Object, action: Action) -> str:
        change_row(action, self.index, state=self.state)
        return f"Contact {self.index} is {NAMES[self.state].lower()}: plant again to see it"


class IK2BONE_OT_remove_contact(ContactsOperator, Operator):
    """Remove a contact from the list. The next run uses the stored contacts, so that the contact is not found again"""

    bl_idname = "ik2bone.remove_contact"
    bl_label = "Remove Contact"
    edits = False

    index: IntProperty(name="Number", description="Its place in the list of contacts")

    def change(self, _armature: Object, action: Action) -> str:
        rows = rows_to_edit(action, self.index)
        gone = rows.pop(self.index)
        records.store_contacts(action, rows)
        return f"The {gone['part']} of {gone['bone']} no longer stands from {gone['start']} to {gone['end']}"


class IK2BONE_OT_mark_feet(ContactsOperator, Operator):
    """Pin, lift or clear the selected feet, or all: their contacts on this frame, or the frames of the preview range"""

    bl_idname = "ik2bone.mark_feet"
    bl_label = "Pin Feet Here"

    state: EnumProperty(name="State", description=STATE, items=MARKS, default="enforced")

    @property
    def edits(self) -> bool:
        """False for cleared contacts, which a new detection would find again."""
        return self.state != "none"

    def change(self, armature: Object, action: Action) -> str:
        context, rows = bpy.context, rows_to_edit(action)
        bounds = floor(action.frame_range[0]), ceil(action.frame_range[1])
        feet = [limb.foot for limb in choose_limbs(context, armature, context.scene.ik2bone, bounds).limbs]
        spans = [span for foot in feet for span in _spans_at(rows, foot, marked_frames(context.scene), self.state)]
        if not spans:
            raise Refusal(f"none of {listed(feet)} stands on frame {context.scene.frame_current}, to be lifted there")
        for span in spans:
            rows = cleared(rows, span) if self.state == "none" else marked(rows, span)
        records.store_contacts(action, rows)
        feet = list(dict.fromkeys(span.bone for span in spans))
        return f"{listed(feet)}: {dict(mark[:2] for mark in MARKS)[self.state].lower()}; plant again to see it"


class IK2BONE_OT_add_contact(ContactsOperator, Operator):
    """Add a contact that starts on the current frame, for the active bone, or for the bone of the selected contact"""

    bl_idname = "ik2bone.add_contact"
    bl_label = "Add Contact"

    bone: StringProperty(name="Bone", description="The bone of the foot")
    part: EnumProperty(name="Part", description="Which part of the foot stands", items=PARTS)
    start: IntProperty(name="Start", description="First frame")
    end: IntProperty(name="End", description="Last frame")
    state: EnumProperty(name="State", description=STATE, items=CHOICES, default="enforced")

    def invoke(self, context: Context, _event: Event) -> Result:
        """Fill in what the caller has not set, and open a dialog."""
        bone, rows, number = context.active_pose_bone, rows_on(context), context.scene.ik2bone_contacts.active
        if not self.properties.is_property_set("bone") and (bone or number < len(rows)):
            self.bone = bone.name if bone else rows[number]["bone"]
        for name, frame in (("start", 0), ("end", 10)):
            if not self.properties.is_property_set(name):
                setattr(self, name, context.scene.frame_current + frame)
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Context) -> None:
        layout = split_layout(self.layout)
        layout.prop_search(self, "bone", find_armature(context).pose, "bones")
        for name in ("part", "start", "end", "state"):
            layout.prop(self, name)

    def change(self, armature: Object, action: Action) -> str:
        if self.end < self.start:
            raise Refusal(f"a contact cannot end on frame {self.end}, before its start on frame {self.start}")
        span = Span(self.bone, self.part, self.start, self.end, self.state)
        records.store_contacts(action, [*rows_to_edit(action), *_rows_of(armature, [span])])
        state = NAMES[self.state].lower()
        return f"The {self.part} of {self.bone} is {state} from {self.start} to {self.end}: plant again to see it"


class IK2BONE_OT_drag_contact(ContactsOperator, Operator):
    """Change the frames of a contact: drag an end of its bar in the Dope Sheet, or its middle to move both ends"""

    bl_idname = "ik2bone.drag_contact"
    bl_label = "Drag Contact"
    edits = False

    index: IntProperty(name="Number", description="Its place in the list of contacts")
    start: IntProperty(name="Start", description="First frame")
    end: IntProperty(name="End", description="Last frame")

    def change(self, _armature: Object, action: Action) -> str:
        if self.end < self.start:
            raise Refusal(f"a contact cannot end on frame {self.end}, before its start on frame {self.start}")
        change_row(action, self.index, start=self.start, end=self.end)
        return f"Contact {self.index} lasts from {self.start} to {self.end}: plant again to see it"

    def invoke(self, context: Context, event: Event) -> Result:
        """Start to drag the bar under the mouse. Beside bars the event is passed on."""
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
        """Follow the mouse until its button is released. Esc and the right button leave the contact unchanged."""
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
        bars.dragged.clear()
        context.window.cursor_modal_restore()
        if context.area:
            context.area.header_text_set(None)
            context.area.tag_redraw()

    def _frame(self, context: Context, event: Event) -> float:
        return float(context.region.view2d.region_to_view(event.mouse_region_x, 0)[0])


class _File(ContactsOperator):
    """The base of the operators on files of contacts."""

    edits = False

    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})
    # From 4.5 on, Blender warns of paths that begin with // unless a property says that it takes them.
    filepath: StringProperty(
        name="File Path",
        description="The file of contacts, as JSON",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set(),
    )

    @property
    def path(self) -> Path:
        """The chosen file. Raises `Refusal` if `filepath` is empty."""
        if not self.filepath:
            raise Refusal("a file of contacts should be named, but filepath is empty")
        return Path(bpy.path.abspath(self.filepath))


class IK2BONE_OT_import_contacts(_File, ImportHelper, Operator):
    """Replace the contacts on the action by those in a JSON file"""

    bl_idname = "ik2bone.import_contacts"
    bl_label = "Import Contacts"

    def change(self, armature: Object, action: Action) -> str:
        try:
            spans = records.read_contacts(self.path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise Refusal(f"{self.path.name or self.path} cannot be read: {error}") from None
        except ContactsError as error:
            raise Refusal(f"these are no contacts: {error}") from None
        rows_to_edit(action)
        records.store_contacts(action, _rows_of(armature, spans))
        return f"{len(spans)} contacts from {self.path.name}"


class IK2BONE_OT_export_contacts(_File, ExportHelper, Operator):
    """Write the contacts on the action to a JSON file"""

    bl_idname = "ik2bone.export_contacts"
    bl_label = "Export Contacts"
    bl_options = {"REGISTER"}
    edits = None
    filename_ext = ".json"

    def change(self, _armature: Object, action: Action) -> str:
        rows = records.readable(action).get("contacts")
        if rows is None:
            raise Refusal(f"no contacts are stored on action {action.name}")
        try:
            self.path.write_text(write_spans(read_spans(rows)), encoding="utf-8")
        except OSError as error:
            raise Refusal(f"{self.path.name or self.path} cannot be written: {error}") from None
        return f"{len(rows)} contacts to {self.path.name}"


def _spans_at(rows: Rows, bone: str, frames: tuple[int, int], state: str) -> list[Span]:
    """The spans that are marked for one foot.

    On a single frame these are the whole contacts of the foot on that frame. On several frames, or where the foot is in
    the air, they are just these frames for each part of the foot; lifting a foot that is in the air marks nothing.
    """
    first, last = frames
    own = [row for row in rows if row["bone"] == bone]
    there = [row for row in own if row["start"] <= first <= row["end"]] if first == last else []
    if own and not there and first == last and state == "forbidden":
        return []
    parts = sorted({row["part"] for row in own}) or ["ball"]
    spans = [(row["part"], row["start"], row["end"]) for row in there] or [(part, first, last) for part in parts]
    return [Span(bone, *span, state) for span in spans]


def moved_ends(start: int, end: int, ends: tuple[str, ...], by: int) -> dict[str, int]:
    """The first and last frame after a drag by some frames. A dragged end stops at the other end."""
    if ends == ("start",):
        return {"start": min(start + by, end), "end": end}
    if ends == ("end",):
        return {"start": start, "end": max(end + by, start)}
    return {"start": start + by, "end": end + by}
