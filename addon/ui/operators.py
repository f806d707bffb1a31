# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators: Plant Feet, and Restore Source Action."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Event, Object, Operator

from .. import properties
from ..errors import Refusal
from ..keys import actions
from ..properties import OPTIONS, PlantingOptions
from ..rig.body import find_armature, find_armatures, why_no_armature
from ..run import records
from ..run.pipeline import plant_all
from .panel import draw_frames, draw_options

Result = set[str]


def _poll_armature(cls: type[Operator], context: Context) -> bool:
    if context.mode not in {"OBJECT", "POSE"}:
        cls.poll_message_set("Only works in object mode and in pose mode")
        return False
    if find_armature(context) is None:
        cls.poll_message_set(why_no_armature(context))
        return False
    return True


class IK2BONE_OT_plant_feet(PlantingOptions, Operator):
    """Plant the feet of the active armature, and of all selected ones, on the surface under them and key the result"""

    bl_idname = "ik2bone.plant_feet"
    bl_label = "Plant Feet"
    bl_options = {"REGISTER", "UNDO"}

    surface: StringProperty(
        name="Surface",
        description="Object or collection to plant on, every visible mesh that is no character where none is named",
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there is an armature to plant."""
        return _poll_armature(cls, context)

    def invoke(self, context: Context, _event: Event) -> Result:
        """Start from the panel's settings; what the caller has set stays."""
        settings = context.scene.ik2bone
        for name in OPTIONS:
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(settings, name))
        if not self.properties.is_property_set("surface"):
            self.surface = properties.surface_name(settings)
        return self.execute(context)

    def draw(self, _context: Context) -> None:
        """Show the options in the redo panel as the sidebar does."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "surface")
        draw_frames(layout, self)
        draw_options(layout, self)

    def execute(self, context: Context) -> Result:
        """Plant and tell the figures."""
        try:
            outcome = plant_all(context, find_armatures(context), self)
        except Refusal as refusal:
            self.report({"ERROR"}, f"Not planted: {refusal}")
            return {"CANCELLED"}
        self.report({"WARNING" if outcome.is_warning else "INFO"}, outcome.summary)
        return {"FINISHED"}


class IK2BONE_OT_restore(Operator):
    """Let the armatures play the actions again that their planted ones were made from"""

    bl_idname = "ik2bone.restore"
    bl_label = "Restore Source Action"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether an armature plays a planted action."""
        if not _poll_armature(cls, context):
            return False
        if not _planted(context):
            cls.poll_message_set("The armature plays no planted action")
            return False
        return True

    def execute(self, context: Context) -> Result:
        """Assign the sources again."""
        self.report({"INFO"}, f"Restored {', '.join(records.restore(armature) for armature in _planted(context))}")
        return {"FINISHED"}


def _planted(context: Context) -> list[Object]:
    """Those of the armatures that play a planted action."""
    return [ob for ob in find_armatures(context) if records.source_of(actions.assigned(ob).action)]


CLASSES: tuple[type, ...] = (IK2BONE_OT_plant_feet, IK2BONE_OT_restore)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
