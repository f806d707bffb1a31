# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel in the 3D view's sidebar: the surface, the button, the options and the last report."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import bpy
from bpy.types import Context, Panel, UILayout
from ik2bone.report import ROWS

from ..keys import actions
from ..rig.body import find_armature, find_armatures
from ..run import records

# Figures in degrees and leg lengths / s^2, which do not grow with the leg.
NO_LENGTHS = ("knee_pop", "flexion", "flexion_median", "hips_peak", "hips_rms")


class Sidebar:
    """Where all panels are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "IK2Bone"


class IK2BONE_PT_main(Sidebar, Panel):
    """Where to plant, and the button that does it"""

    bl_label = "Plant Feet"

    def draw(self, context: Context) -> None:
        """Surface, frames and buttons."""
        layout, settings = _split(self.layout), context.scene.ik2bone
        layout.prop(settings, "surface_object")
        collection = layout.column()
        collection.active = settings.surface_object is None
        collection.prop(settings, "surface_collection")
        draw_frames(layout, settings)
        armatures = find_armatures(context)
        if len(armatures) > 1:
            names = ", ".join(armature.name for armature in armatures)
            layout.label(text=f"{len(armatures)} armatures: {names}", icon="OUTLINER_OB_ARMATURE")
        layout.operator("ik2bone.plant_feet", icon="CON_FLOOR")
        if any(records.source_of(actions.assigned(armature).action) for armature in armatures):
            layout.operator("ik2bone.restore", icon="LOOP_BACK")


class IK2BONE_PT_options(Sidebar, Panel):
    """Options that seldom need a change"""

    bl_label = "Options"
    bl_parent_id = "IK2BONE_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Every option but surface and frames."""
        draw_options(_split(self.layout), context.scene.ik2bone)


class IK2BONE_PT_report(Sidebar, Panel):
    """What the last run found and did"""

    bl_label = "Report"
    bl_parent_id = "IK2BONE_PT_main"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether there is a report to show."""
        return bool(_report(context))

    def draw(self, context: Context) -> None:
        """The figures before and after, then what the user should know."""
        figures = _report(context)
        table = self.layout.column(align=True)
        _draw_row(table, "", "Before", "After")
        for name, label in ROWS:
            before, after = (
                _number(name, figures[side].get(name, 0.0), figures["leg"]) for side in ("before", "after")
            )
            if float(before) or float(after):
                _draw_row(table, _sentence(label), before, after)
        for text in figures["told"]:
            self.layout.label(text=_sentence(text), icon="INFO")


def _split(layout: UILayout) -> UILayout:
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def draw_frames(layout: UILayout, owner: Any) -> None:
    """The frame range of the settings or of the operator, with its ends where they count."""
    layout.prop(owner, "frame_range")
    if owner.frame_range == "CUSTOM":
        ends = layout.column(align=True)
        ends.prop(owner, "frame_start")
        ends.prop(owner, "frame_end")
    if owner.frame_range != "CURRENT":
        blends = layout.column(align=True)
        blends.prop(owner, "blend_in")
        blends.prop(owner, "blend_out")


def draw_options(layout: UILayout, owner: Any) -> None:
    """Every other option of the settings or of the operator."""
    for names in (
        ("chains", "bones"),
        ("contacts", "direction"),
        ("use_hips", "max_drop", "gives_way"),
        ("use_slope", "max_slope"),
        ("strength", "output"),
    ):
        column = layout.column(align=True)
        for name in names:
            row = column.row()
            row.active = _counts(owner, name)
            row.prop(owner, name)


def _counts(owner: Any, name: str) -> bool:
    """Whether an option makes a difference beside the others."""
    idle = {
        "chains": bool(owner.bones.strip()),
        "output": owner.frame_range == "CURRENT",
        "max_drop": not owner.use_hips,
        "max_slope": owner.direction == "NEAREST",
    }
    return not idle.get(name, False)


def _draw_row(table: UILayout, label: str, before: str, after: str) -> None:
    row = table.split(factor=0.56)
    row.label(text=label)
    numbers = row.split(factor=0.5)
    for text in (before, after):
        cell = numbers.row()
        cell.alignment = "RIGHT"
        cell.label(text=text)


def _number(name: str, value: float, leg: float) -> str:
    """A figure as text: lengths to about a thousandth of the leg, which is what one can see."""
    if name.endswith("frames"):
        return str(value)
    return f"{value:.1f}" if name in NO_LENGTHS else f"{value:.{max(0, 3 - floor(log10(leg)))}f}"


def _action(context: Context) -> bpy.types.Action | None:
    armature = find_armature(context)
    return actions.assigned(armature).action if armature else None


def _report(context: Context) -> dict[str, Any]:
    return records.read(_action(context)).get("report", {})


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


CLASSES: tuple[type, ...] = (IK2BONE_PT_main, IK2BONE_PT_options, IK2BONE_PT_report)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
