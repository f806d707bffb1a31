# SPDX-License-Identifier: GPL-3.0-or-later
"""Menu entries for the operators, presets of the settings, and links to the user guide.

The guide opens from Online Manual in the context menus of buttons and settings too. No website of the project exists:
the zip brings the page along, which `tools/guide_page.py` makes.
"""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.types import Context, Menu, Operator, Panel, UILayout

FOLDER = Path(__file__).parent.parent
# Pose, Object > Animation, and in the Dope Sheet the menu Action, or Key where a Blender has no menu Action.
MENUS = ("VIEW3D_MT_pose", "VIEW3D_MT_object_animation")
DOPE_SHEET = ("DOPESHEET_MT_action", "DOPESHEET_MT_key")
# The subfolder of "presets" in which Blender looks for them.
PRESETS = "ik2bone"
# The settings in a preset: those that suit a kind of motion. Frames, bones and output depend on the scene.
KEPT = ("chains", "contacts", "direction", "use_hips", "max_drop", "gives_way", "use_slope", "max_slope")
PAGE = FOLDER / "guide.html"
# Patterns of lower-case RNA names, each with its section of the guide; the first pattern that fits counts.
# Blender looks up an operator's properties by the operator's name, and does not look up properties of preferences.
SECTIONS = (
    ("bpy.ops.ik2bone.plant_feet*", "guide-the-panel"),
    ("bpy.ops.ik2bone.restore*", "guide-output"),
    ("bpy.ops.ik2bone.show_frame*", "guide-the-report"),
    ("bpy.ops.ik2bone.toggle_limb*", "guide-options"),
    ("bpy.ops.ik2bone.add_preset*", "guide-presets-and-preferences"),
    ("bpy.ops.ik2bone.use_defaults*", "guide-presets-and-preferences"),
    # All other operators edit contacts.
    ("bpy.ops.ik2bone.*", "contacts-in-blender"),
    ("bpy.types.ik2bone_settings.contacts*", "contacts-which-contacts-count"),
    ("bpy.types.ik2bone_settings.direction*", "guide-hands-walls-and-ladders"),
    ("bpy.types.ik2bone_settings.output*", "guide-output"),
    ("bpy.types.ik2bone_settings.sparse_keys*", "guide-sparse-keys"),
    ("bpy.types.ik2bone_settings.*", "guide-options"),
    ("bpy.types.contactlist.*", "contacts-in-blender"),
    ("bpy.types.contactrow.*", "contacts-in-blender"),
)


class IK2BONE_OT_add_preset(AddPresetBase, Operator):
    """Save these settings as a preset, or remove the one that is shown"""

    bl_idname = "ik2bone.add_preset"
    bl_label = "Add Plant Feet Preset"
    preset_menu = "IK2BONE_PT_presets"
    preset_subdir = PRESETS
    preset_defines = ("settings = bpy.context.scene.ik2bone",)
    preset_values = tuple(f"settings.{name}" for name in KEPT)


class IK2BONE_PT_presets(PresetPanel, Panel):
    """Settings for the usual motions"""

    bl_label = "Plant Feet Presets"
    preset_subdir = PRESETS
    preset_operator = "script.execute_preset"
    preset_add_operator = "ik2bone.add_preset"


def draw_guide_button(layout: UILayout, text: str = "") -> None:
    """A button that opens the user guide, if the zip brought its page."""
    if PAGE.exists():
        layout.operator("wm.url_open", text=text, icon="HELP", emboss=bool(text)).url = PAGE.as_uri()


def sections() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The prefix of the sections' addresses, and the sections; none in a working tree, which has no page."""
    return (f"{PAGE.as_uri()}#", SECTIONS) if PAGE.exists() else ("", ())


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
    """Add the menu entries, presets and sections to Blender."""
    for menu in _menus():
        menu.append(_draw)
    bpy.utils.register_preset_path(str(FOLDER))
    bpy.utils.register_manual_map(sections)


def unregister() -> None:
    """Remove the entries and sections. Presets that users have saved stay."""
    bpy.utils.unregister_manual_map(sections)
    bpy.utils.unregister_preset_path(str(FOLDER))
    for menu in _menus():
        menu.remove(_draw)
