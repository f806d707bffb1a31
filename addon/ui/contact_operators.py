# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators on stored contacts: change one, add one, import and export them as a file."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Operator
from ik2bone.contacts.spans import ContactsError, Span, read_spans, write_spans

from ..errors import Refusal
from ..keys import actions
from ..rig.body import find_armature
from ..run import contacts as stored

Result = set[str]

STATES = (
    ("automatic", "Automatic", "Found by the last run, and found anew by the next one"),
    ("enforced", "Pinned", "The foot stands there, even if it moves in the clip"),
    ("forbidden", "Lifted", "The foot never stands there"),
)
NAMES = {state: name for state, name, _ in STATES}
PARTS = (("ball", "Ball", "The ball of the foot"), ("heel", "Heel", "The heel"))


class _Contacts:
    """What all of them need: an armature that plays an action."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there is an action to keep contacts on."""
        armature = find_armature(context)
        if armature is None or actions.assigned(armature).action is None:
            cls.poll_message_set("Needs an armature that plays an action")
            return False
        return True

    def execute(self, context: Context) -> Result:
        """Do it, or tell why not."""
        try:
            told = self.change(context, find_armature(context))
        except Refusal as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self.report({"INFO"}, told)
        _redraw(context)
        return {"FINISHED"}


def _redraw(context: Context) -> None:
    """Show the change in the sidebar: a custom property tells nobody."""
    for area in context.screen.areas if context.screen else ():
        area.tag_redraw()


class IK2BONE_OT_set_contact(_Contacts, Operator):
    """Let a contact be automatic, pinned or lifted for the next run"""

    bl_idname = "ik2bone.set_contact"
    bl_label = "Set Contact"

    index: IntProperty(name="Number", description="Its place in the list of contacts", min=0)
    state: EnumProperty(name="State", items=STATES)

    def change(self, _context: Context, armature: bpy.types.Object) -> str:
        """Set the state."""
        stored.set_state(stored.editable_action(armature), self.index, self.state)
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

    def change(self, _context: Context, armature: bpy.types.Object) -> str:
        """Store it."""
        if self.end < self.start:
            raise Refusal(f"a contact cannot end on frame {self.end}, before its start on frame {self.start}")
        span = Span(self.bone, self.part, self.start, self.end, self.state)
        stored.add_span(armature, stored.editable_action(armature), span)
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


class IK2BONE_OT_import_contacts(_File, Operator):
    """Read contacts from a JSON file, in place of those on the action"""

    bl_idname = "ik2bone.import_contacts"
    bl_label = "Import Contacts"

    def change(self, _context: Context, armature: bpy.types.Object) -> str:
        """Read and store."""
        path = Path(bpy.path.abspath(self.filepath))
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Refusal(f"{path.name or 'no file'} cannot be read: {error}") from None
        count = stored.replace_spans(armature, stored.editable_action(armature), text)
        return f"{count} contacts from {path.name}"


class IK2BONE_OT_export_contacts(_File, Operator):
    """Write the contacts on the action to a JSON file"""

    bl_idname = "ik2bone.export_contacts"
    bl_label = "Export Contacts"
    bl_options = {"REGISTER"}

    check_existing: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    def change(self, _context: Context, armature: bpy.types.Object) -> str:
        """Read what is stored and write it."""
        action = actions.assigned(armature).action
        path = Path(bpy.path.abspath(self.filepath))
        rows = stored.readable_rows(action)
        if rows is None:
            raise Refusal(f"no contacts are stored on action {action.name}")
        try:
            spans = read_spans(rows)
            path.write_text(write_spans(spans), encoding="utf-8")
        except ContactsError as error:
            raise Refusal(f"the contacts stored on action {action.name} are not right: {error}") from None
        except OSError as error:
            raise Refusal(f"{path.name or 'no file'} cannot be written: {error}") from None
        return f"{len(spans)} contacts to {path.name}"


CLASSES: tuple[type, ...] = (
    IK2BONE_OT_set_contact,
    IK2BONE_OT_add_contact,
    IK2BONE_OT_import_contacts,
    IK2BONE_OT_export_contacts,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
