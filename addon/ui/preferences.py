# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences: the settings that new files start with."""

from typing import Any

import bpy
from bpy.app.handlers import load_post, persistent
from bpy.types import AddonPreferences, Context, Operator, Scene

from ..properties import OPTIONS, PlantingOptions
from .contact_list import SHOWN, Shown
from .menus import draw_guide_button
from .panel import draw_options, split_layout

ADDON = __package__.rpartition(".")[0]


class IK2BONE_Preferences(PlantingOptions, Shown, AddonPreferences):
    """Options of Plant Feet and the display of contacts for new files"""

    bl_idname = ADDON

    def draw(self, _context: Context) -> None:
        layout = split_layout(self.layout)
        layout.label(text="New files start with these settings")
        layout.prop(self, "chains")
        draw_options(layout, self)
        shown = layout.column(heading="Contacts", align=True)
        for name in SHOWN:
            shown.prop(self, name)
        layout.operator("ik2bone.use_defaults")
        draw_guide_button(layout, "User Guide")


class IK2BONE_OT_use_defaults(Operator):
    """Give this scene the settings that new files start with"""

    bl_idname = "ik2bone.use_defaults"
    bl_label = "Use Preferences in This Scene"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the add-on has preferences. It has none if a script registered it."""
        cls.poll_message_set("The add-on is not enabled in the preferences")
        return preferences_in(context) is not None

    def execute(self, context: Context) -> set[str]:
        use_defaults(context.scene, preferences_in(context))
        return {"FINISHED"}


def preferences_in(context: Context) -> Any:
    """The add-on's preferences, or None."""
    addon = context.preferences.addons.get(ADDON)
    return addon.preferences if addon else None


def use_defaults(scene: Scene, preferences: Any) -> None:
    """Copy the preferences to the settings of a scene."""
    for owner, name in _settings_of(scene):
        setattr(owner, name, getattr(preferences, name))


def _settings_of(scene: Scene) -> list[tuple[Any, str]]:
    """The settings of a scene that the preferences contain too, each as its owner and name."""
    return [(scene.ik2bone, name) for name in OPTIONS] + [(scene.ik2bone_contacts, name) for name in SHOWN]


@persistent
def _on_load(*_: Any) -> None:
    """Copy the preferences to the scenes of a new file, unless one of their settings was changed."""
    preferences = preferences_in(bpy.context)
    if preferences is None or bpy.data.filepath:
        return
    for scene in bpy.data.scenes:
        if not any(owner.is_property_set(name) for owner, name in _settings_of(scene)):
            use_defaults(scene, preferences)


HANDLERS = [(load_post, _on_load)]
