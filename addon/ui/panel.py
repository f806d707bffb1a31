# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel in the 3D view's sidebar: the surface, the button, the options and the last report."""

from typing import Any

import bpy
from bpy.types import Context, Object, Operator, Panel, UILayout

from ..errors import names_in
from ..keys import actions
from ..properties import has_changed
from ..rig.armatures import HANDED, find_armature, find_armatures
from ..run import layers, records
from ..run.restore import is_planted
from ..run.task import wanted_frames
from .figures import NEUTRAL, TOLD, Row, notes_of, rows_of, wrapped
from .menus import IK2BONE_PT_presets, draw_guide_button

# The greatest number of armatures that the panel lists.
NAMED = 8
# The width of the panel's margins, the tabs and one icon together, in unscaled pixels.
MARGIN = 76
WAITS = "Options wait for Plant Feet; after that, Adjust Last Operation (F9) changes them at once"
CHANGED = "Settings have changed since this action was planted: press Plant Feet to apply them"


class Sidebar:
    """The place of all panels."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "IK2Bone"


class IK2BONE_PT_main(Sidebar, Panel):
    """The surface, the frames and the button Plant Feet"""

    bl_label = "Plant Feet"

    def draw_header_preset(self, _context: Context) -> None:
        draw_guide_button(self.layout)
        IK2BONE_PT_presets.draw_panel_header(self.layout)

    def draw(self, context: Context) -> None:
        layout, settings = split_layout(self.layout), context.scene.ik2bone
        layout.prop(settings, "surface_object")
        collection = layout.column()
        collection.active = settings.surface_object is None
        collection.prop(settings, "surface_collection")
        draw_frames(layout, context, settings)
        armatures = find_armatures(context)
        if armatures:
            layout.context_pointer_set(HANDED, armatures[0])
        if len(armatures) > 1:
            _draw_names(layout, armatures)
        layout.operator("ik2bone.plant_feet", icon="CON_FLOOR")
        if has_changed(settings, shown_record(context)["settings"]):
            draw_note(layout, context, CHANGED, "INFO")
        if any(map(is_planted, armatures)):
            layout.operator("ik2bone.restore", icon="LOOP_BACK")


class IK2BONE_PT_options(Sidebar, Panel):
    """Options that seldom need a change"""

    bl_label = "Options"
    bl_parent_id = "IK2BONE_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout, settings = split_layout(self.layout), context.scene.ik2bone
        draw_note(layout, context, WAITS, "INFO")
        draw_limbs(layout, settings)
        _draw_feet(layout, settings, known_feet(context))
        draw_options(layout, settings)


class IK2BONE_PT_report(Sidebar, Panel):
    """What the last run found and did"""

    bl_label = "Report"
    bl_parent_id = "IK2BONE_PT_main"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return bool(shown_record(context)["report"])

    def draw(self, context: Context) -> None:
        """Draw the warnings, then the figures before and after. A figure is a button that shows its worst frame."""
        report = shown_record(context)["report"]
        for text, icon in notes_of(report, context.scene.unit_settings):
            if icon != TOLD:
                draw_note(self.layout, context, text, icon)
        table = self.layout.column(align=True)
        _draw_row(table, Row("", "Before", "After", NEUTRAL, "", None))
        for row in rows_of(report, context.scene.unit_settings):
            _draw_row(table, row)


class IK2BONE_PT_notes(Sidebar, Panel):
    """What the last run did that is no warning"""

    bl_label = "Notes"
    bl_parent_id = "IK2BONE_PT_report"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return bool(_hints(context))

    def draw(self, context: Context) -> None:
        for text, icon in _hints(context):
            draw_note(self.layout, context, text, icon)


def _hints(context: Context) -> list[tuple[str, str]]:
    report = shown_record(context)["report"]
    return [note for note in notes_of(report, context.scene.unit_settings) if note[1] == TOLD] if report else []


class IK2BONE_OT_show_frame(Operator):
    """Show the frame on which this figure is worst"""

    bl_idname = "ik2bone.show_frame"
    bl_label = "Show Worst Frame"
    bl_options = {"INTERNAL"}

    frame: bpy.props.IntProperty(name="Frame", description="Number of the frame")
    limit: bpy.props.StringProperty(name="Limit", description="Up to where the figure is good")

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        good = f"; good up to {properties.limit}" if properties.limit else ""
        return f"Show frame {properties.frame}, on which this is worst{good}"

    def execute(self, context: Context) -> set[str]:
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


class IK2BONE_OT_toggle_limb(Operator):
    """Include this limb in the next run, or leave it out"""

    bl_idname = "ik2bone.toggle_limb"
    bl_label = "Toggle Limb"
    bl_options = {"INTERNAL", "UNDO"}

    bone: bpy.props.StringProperty(name="Bone", description="The foot bone, or the hand bone, of the limb")

    def execute(self, context: Context) -> set[str]:
        """Add the bone to the setting Bones, or remove it. An empty setting means all legs."""
        settings, feet = context.scene.ik2bone, known_feet(context)
        kept = [name for name in feet if (name == self.bone) != (name in _planted(settings, feet))]
        if not kept:
            self.report({"WARNING"}, f"{self.bone} is the only limb that is planted")
            return {"CANCELLED"}
        settings.bones = "" if kept == list(feet) and all(feet.values()) else ", ".join(kept)
        return {"FINISHED"}


def known_feet(context: Context) -> dict[str, bool]:
    """The end bones of limbs in the record of the action, and for each whether it is a foot."""
    record = shown_record(context)
    rows = (*(record.get("contacts") or ()), *record["report"].get("feet", ()))
    return dict(sorted({row["bone"]: row.get("limb") != "hand" for row in rows}.items()))


def _planted(settings: Any, feet: dict[str, bool]) -> list[str]:
    """The end bones that the settings choose: those that are named, else those of the legs."""
    return names_in(settings.bones, feet) or [name for name, is_foot in feet.items() if is_foot]


def _draw_feet(layout: UILayout, settings: Any, feet: dict[str, bool]) -> None:
    """Draw a switch for each limb."""
    if len(feet) < 2:
        return
    grid, planted = layout.grid_flow(columns=2, align=True), _planted(settings, feet)
    for name in feet:
        grid.operator("ik2bone.toggle_limb", text=name, depress=name in planted).bone = name


def split_layout(layout: UILayout) -> UILayout:
    """The layout, with labels on the left and without the dots that key a property."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def _draw_names(layout: UILayout, armatures: list[Object]) -> None:
    """Draw the names of the armatures that the button plants, one a line."""
    column = layout.column(align=True)
    for armature in armatures[:NAMED]:
        column.label(text=armature.name, icon="OUTLINER_OB_ARMATURE")
    if len(armatures) > NAMED:
        column.label(text=f"and {len(armatures) - NAMED} more", icon="BLANK1")


def scale_of(context: Context) -> float:
    """The scale of the interface; 1 without a window, where Blender returns 0."""
    return float(context.preferences.system.ui_scale) or 1.0


def draw_note(layout: UILayout, context: Context, text: str, icon: str) -> None:
    """Draw a sentence with an icon, wrapped to the width of the region."""
    scale = scale_of(context)
    # Without a window the region is None.
    width = (context.region.width if context.region else 240) - MARGIN * scale
    column = layout.column(align=True)
    column.scale_y = 0.8
    for line in wrapped(text, width, context.preferences.ui_styles[0].widget.points * scale):
        column.label(text=line, icon=icon)
        icon = "BLANK1"


def draw_frames(layout: UILayout, context: Context, owner: Any) -> None:
    """Draw the frame range of the settings or of the operator, with its ends and blends where they have an effect."""
    layout.prop(owner, "frame_range")
    if owner.frame_range == "CUSTOM":
        ends = layout.column(align=True)
        ends.prop(owner, "frame_start")
        ends.prop(owner, "frame_end")
    if _ends_inside(context, owner):
        blends = layout.column(align=True)
        blends.prop(owner, "blend_in")
        blends.prop(owner, "blend_out")


def _ends_inside(context: Context, owner: Any) -> bool:
    """Whether the frame range starts or ends within the action, where blends have an effect."""
    armature = find_armature(context)
    action = actions.assigned(armature).action if armature else None
    if action is None or owner.frame_range == "CURRENT":
        return False
    bounds = tuple(action.frame_range)
    first, last = wanted_frames(context.scene, owner, bounds)
    return first > bounds[0] or last < bounds[1]


def draw_limbs(layout: UILayout, owner: Any) -> None:
    """Draw the choice of limbs and the names of bones in one row."""
    split = layout.split(factor=0.4)
    label = split.row()
    label.alignment = "RIGHT"
    label.label(text="Limbs")
    limbs = split.split(factor=0.6, align=True)
    limbs.use_property_split = False
    chosen = limbs.row(align=True)
    chosen.active = _counts(owner, "chains")
    chosen.prop(owner, "chains", text="")
    limbs.prop(owner, "bones", text="")


def draw_options(layout: UILayout, owner: Any) -> None:
    """Draw all other options of the settings or of the operator."""
    for names in (
        ("contacts", "direction"),
        ("use_hips", "max_drop", "gives_way"),
        ("use_slope", "max_slope"),
        ("strength", "output", "all_actions", "sparse_keys"),
    ):
        column = layout.column(align=True)
        for name in names:
            row = column.row()
            row.active = _counts(owner, name)
            row.prop(owner, name)


def _counts(owner: Any, name: str) -> bool:
    """Whether an option has an effect, given the values of the other options."""
    idle = {
        "chains": bool(owner.bones.strip()),
        "output": owner.frame_range == "CURRENT",
        "all_actions": owner.frame_range == "CURRENT" or owner.output == "NLA_LAYER",
        "sparse_keys": owner.frame_range == "CURRENT" or owner.output == "NLA_LAYER",
        "max_drop": not owner.use_hips,
        "max_slope": owner.direction == "NEAREST",
    }
    return not idle.get(name, False)


def _draw_row(table: UILayout, shown: Row) -> None:
    """Draw a line of the report. The figure after the run is a button that shows its worst frame."""
    row = table.split(factor=0.74)
    first = row.split(factor=0.67) if shown.before else row
    first.label(text=shown.label, icon=shown.icon)
    if shown.before:
        _right(first).label(text=shown.before)
    cell = _right(row)
    if shown.frame is None:
        cell.label(text=shown.after)
        return
    button = cell.operator("ik2bone.show_frame", text=shown.after)
    button.frame, button.limit = shown.frame, shown.limit


def _right(layout: UILayout) -> UILayout:
    cell = layout.row()
    cell.alignment = "RIGHT"
    return cell


def played_action(context: Context) -> bpy.types.Action | None:
    """The action that a run would plant; None without one."""
    armature = find_armature(context)
    return layers.shown_action(armature) if armature else None


def shown_record(context: Context) -> dict[str, Any]:
    """The record of the action that a run would plant."""
    return records.read(played_action(context))


def redraw(context: Context) -> None:
    """Redraw all windows, because a change of a custom property, such as a record, does not cause a redraw."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()
