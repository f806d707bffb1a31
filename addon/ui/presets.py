# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of the panel's settings: those that come with the add-on, and those that people save beside them."""

from __future__ import annotations

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.types import Operator, Panel

# Blender looks for a folder "presets" there.
FOLDER = str(Path(__file__).parent.parent)
SUBFOLDER = "ik2bone"
# What depends on the motion; which frames, which bones and where keys go are a matter of the scene.
KEPT = ("chains", "contacts", "direction", "use_hips", "max_drop", "gives_way", "use_slope", "max_slope")


class IK2BONE_OT_add_preset(AddPresetBase, Operator):
    """Save these settings as a preset, or remove the one that is shown"""

    bl_idname = "ik2bone.add_preset"
    bl_label = "Add Plant Feet Preset"
    preset_menu = "IK2BONE_PT_presets"
    preset_subdir = SUBFOLDER
    preset_defines = ("settings = bpy.context.scene.ik2bone",)
    preset_values = tuple(f"settings.{name}" for name in KEPT)


class IK2BONE_PT_presets(PresetPanel, Panel):
    """Settings for the usual motions"""

    bl_label = "Plant Feet Presets"
    preset_subdir = SUBFOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "ik2bone.add_preset"


CLASSES: tuple[type, ...] = (IK2BONE_OT_add_preset, IK2BONE_PT_presets)


def register() -> None:
    """Register the menu, and where the add-on's own presets are."""
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.utils.register_preset_path(FOLDER)


def unregister() -> None:
    """Take both away; presets that people saved stay."""
    bpy.utils.unregister_preset_path(FOLDER)
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
