# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored contacts: their panel, and the operators that change one, add one, import and export them as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty
from bpy.types import Action, Context, Event, Object, Operator, Panel
from ik2bone.contacts.spans import ContactsError, Span, read_spans, write_spans

from ..errors import Refusal, listed
from ..rig.body import HANDED, find_armature
from ..run import records
from ..run.contacts import Rows, row_of
from .panel import Sidebar, played_action

Result = set[str]

# As many contacts are shown, from those of the current frame on.
SHOWN = 12
STATES = (
    ("automatic", "Automatic", "Found by the last run, and found anew by the next one"),
    ("enforced", "Pinned", "The foot stands there, even if it moves in the clip"),
    ("forbidden", "Lifted", "The foot never stands there"),
)
NAMES = {state: name for state, name, _ in STATES}
ICONS = {"automatic": "DOT", "enforced": "PINNED", "forbidden": "X"}
PARTS = (("ball", "Ball", "The ball of the foot"), ("heel", "Heel", "The heel"))


class IK2BONE_PT_contacts(Sidebar, Panel):
    """When the feet stand, as the last run found it or people want it"""

    bl_label = "Contacts"
    bl_parent_id = "IK2BONE_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there is an action that could have contacts."""
        return played_action(context) is not None

    def draw(self, context: Context) -> None:
        """Counts, the contacts from the current frame on, and the operators."""
        layout = self.layout
        layout.context_pointer_set(HANDED, find_armature(context))
        rows = records.read(played_action(context)).get("contacts") or []
        counts = [f"{sum(row.get('state') == state for row in rows)} {name.lower()}" for state, name in NAMES.items()]
        layout.label(text=", ".join(counts) if rows else "None stored yet")
        column = layout.column(align=True)
        for number, row in shown_rows(rows, context.scene.frame_current):
            state = row.get("state", "automatic")
            line = column.split(factor=0.62, align=True)
            line.label(text=f"{row['bone']} {row['part']} {row['start']} to {row['end']}", icon=ICONS[state])
            line.operator_menu_enum("ik2bone.set_contact", "state", text=NAMES[state]).index = number
        layout.operator("ik2bone.add_contact", icon="ADD")
        buttons = layout.row(align=True)
        buttons.operator("ik2bone.import_contacts", text="Import", icon="IMPORT")
        buttons.operator("ik2bone.export_contacts", text="Export", icon="EXPORT")


def shown_rows(rows: Rows, frame: int) -> list[tuple[int, dict[str, Any]]]:
    """The contacts that end on a frame or later, with their numbers, in order of time."""
    later = [(number, row) for number, row in enumerate(rows) if row["end"] >= frame]
    return sorted(later, key=lambda item: (item[1]["start"], item[1]["bone"], item[1]["part"]))[:SHOWN]


def _rows_to_edit(action: Action) -> Rows:
    """The contacts on an action, to be changed; a `Refusal` where that cannot be."""
    if not action.is_editable:
        raise Refusal(f"action {action.name} is linked from a library and cannot be edited")
    return list(records.readable(action).get("contacts") or [])


def _rows_of(armature: Object, spans: list[Span]) -> Rows:
    """New contacts as they are stored; a `Refusal` where the armature has no such bones."""
    unknown = sorted({span.bone for span in spans} - set(armature.pose.bones.keys()))
    if unknown:
        raise Refusal(f"{armature.name} has no bone named {listed(unknown)}")
    return [row_of(span) for span in spans]


class _Contacts:
    """What all operators need: an armature that plays an action."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there is an action to keep contacts on."""
        cls.poll_message_set("Needs an armature that plays an action")
        return played_action(context) is not None

    def execute(self, context: Context) -> Result:
        """Do it, or tell why not."""
        try:
            told = self.change(find_armature(context), played_action(context))
        except Refusal as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self.report({"INFO"}, told)
        # A custom property tells nobody that it has changed.
        for area in context.screen.areas if context.screen else ():
            area.tag_redraw()
        return {"FINISHED"}


class IK2BONE_OT_set_contact(_Contacts, Operator):
    """Let a contact be automatic, pinned or lifted for the next run"""

    bl_idname = "ik2bone.set_contact"
    bl_label = "Set Contact"

    index: IntProperty(name="Number", description="Its place in the list of contacts", min=0)
    state: EnumProperty(name="State", items=STATES)

    def change(self, _armature: Object, action: Action) -> str:
        """Set the state."""
        rows = _rows_to_edit(action)
        if self.index >= len(rows):
            raise Refusal(f"action {action.name} has {len(rows)} contacts, so there is none with number {self.index}")
        rows[self.index] = rows[self.index] | {"state": self.state}
        records.store_contacts(action, rows)
        return f"Contact {self.index} is {NAMES[self.state].lower()}: plant again to see it"


class IK2BONE_OT_add_contact(_Contacts, Operator):
    """Store one more contact for the next run, of the active bone from the current frame on if nothing else is said"""

    bl_idname = "ik2bone.add_contact"
    bl_label = "Add Contact"

    bone: StringProperty(name="Bone", description="The bone of the foot")
    part: EnumProperty(name="Part", items=PARTS)
    start: IntProperty(name="Start", description="First frame")
    end: IntProperty(name="End", description="Last frame")
    state: EnumProperty(name="State", items=STATES, default="enforced")

    def invoke(self, context: Context, _event: Event) -> Result:
        """Ask for what the caller has not set."""
        active = context.active_pose_bone
        if not self.properties.is_property_set("bone") and active:
            self.bone = active.name
        for name, frame in (("start", 0), ("end", 10)):
            if not self.properties.is_property_set(name):
                setattr(self, name, context.scene.frame_current + frame)
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Context) -> None:
        """The bone is chosen among those of the armature."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop_search(self, "bone", find_armature(context).pose, "bones")
        for name in ("part", "start", "end", "state"):
            layout.prop(self, name)

    def change(self, armature: Object, action: Action) -> str:
        """Store it."""
        if self.end < self.start:
            raise Refusal(f"a contact cannot end on frame {self.end}, before its start on frame {self.start}")
        span = Span(self.bone, self.part, self.start, self.end, self.state)
        records.store_contacts(action, [*_rows_to_edit(action), *_rows_of(armature, [span])])
        state = NAMES[self.state].lower()
        return f"The {self.part} of {self.bone} is {state} from {self.start} to {self.end}: plant again to see it"


class _File(_Contacts):
    """Contacts in a file, chosen by the user."""

    filepath: StringProperty(name="File", subtype="FILE_PATH")
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def invoke(self, context: Context, _event: Event) -> Result:
        """Ask for the file."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    @property
    def path(self) -> Path:
        """The file."""
        return Path(bpy.path.abspath(self.filepath))


class IK2BONE_OT_import_contacts(_File, Operator):
    """Read contacts from a JSON file, in place of those on the action"""

    bl_idname = "ik2bone.import_contacts"
    bl_label = "Import Contacts"

    def change(self, armature: Object, action: Action) -> str:
        """Read and store."""
        try:
            spans = records.read_contacts(self.path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise Refusal(f"{self.path.name or 'no file'} cannot be read: {error}") from None
        except ContactsError as error:
            raise Refusal(f"these are no contacts: {error}") from None
        _rows_to_edit(action)
        records.store_contacts(action, _rows_of(armature, spans))
        return f"{len(spans)} contacts from {self.path.name}"


class IK2BONE_OT_export_contacts(_File, Operator):
    """Write the contacts on the action to a JSON file"""

    bl_idname = "ik2bone.export_contacts"
    bl_label = "Export Contacts"
    bl_options = {"REGISTER"}

    check_existing: BoolProperty(default=True, options={"HIDDEN"})

    def change(self, _armature: Object, action: Action) -> str:
        """Read what is stored and write it."""
        rows = records.readable(action).get("contacts")
        if rows is None:
            raise Refusal(f"no contacts are stored on action {action.name}")
        try:
            self.path.write_text(write_spans(read_spans(rows)), encoding="utf-8")
        except OSError as error:
            raise Refusal(f"{self.path.name or 'no file'} cannot be written: {error}") from None
        return f"{len(rows)} contacts to {self.path.name}"


CLASSES: tuple[type, ...] = (
    IK2BONE_OT_set_contact,
    IK2BONE_OT_add_contact,
    IK2BONE_OT_import_contacts,
    IK2BONE_OT_export_contacts,
    IK2BONE_PT_contacts,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
