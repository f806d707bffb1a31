# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of stored contacts in the sidebar. Its fields read and write the record on the action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, Panel, PropertyGroup, Scene, UILayout, UIList

from ..errors import Refusal
from ..rig.armatures import HANDED, find_armature
from ..run.contacts import change_row
from .icons import icon_of
from .panel import Sidebar, played_action, redraw, shown_record
from .rows import NAMES, NUMBERS, STATES, bones_in, is_short, marked_frames, rows_on, short_frames, short_names

ROWS = 8


def _read(name: str, convert: Callable[[Any], int] = int) -> Callable[[ContactRow], int]:
    def get(self: ContactRow) -> int:
        rows = rows_on(bpy.context)
        return convert(rows[self.number][name]) if self.number < len(rows) else 0

    return get


def _write(name: str, convert: Callable[[int], Any] = int) -> Callable[[ContactRow, int], None]:
    def put(self: ContactRow, value: int) -> None:
        context, action = bpy.context, played_action(bpy.context)
        if action is None:
            return
        try:
            change_row(action, self.number, **{name: convert(value)})
        except Refusal:
            return
        edited(context, keeps_times=name == "state")

    return put


def _tip(self: ContactRow) -> str:
    """The tooltip of a row, which spells out its icons and numbers."""
    rows, report = rows_on(bpy.context), shown_record(bpy.context)["report"]
    if self.number >= len(rows):
        return ""
    row = rows[self.number]
    short = ", where the leg does not reach" if is_short(row, short_frames(report)) else ""
    state = NAMES[row["state"]].lower()
    return f"The {row['part']} of {row['bone']} on frames {row['start']} to {row['end']}, {state}{short}"


class ContactRow(PropertyGroup):
    """A row of the list. It stores only the number of its contact; the values are on the action."""

    number: IntProperty()
    start: IntProperty(name="Start", description="First frame", get=_read("start"), set=_write("start"))
    end: IntProperty(name="End", description="Last frame", get=_read("end"), set=_write("end"))
    state: EnumProperty(
        name="State",
        items=STATES,
        get=_read("state", NUMBERS.__getitem__),
        set=_write("state", list(NUMBERS).__getitem__),
    )
    tip: StringProperty(get=_tip)


def _jump(contacts: ContactList, context: Context) -> None:
    """Go to the first frame of the contact that was clicked."""
    rows = rows_on(context)
    if contacts.active < len(rows):
        context.scene.frame_set(rows[contacts.active]["start"])


def _show(_shown: Shown, context: Context) -> None:
    redraw(context)


class Shown:
    """Where contacts are shown, and whether every change of a contact plants again at once."""

    live: BoolProperty(
        name="Live",
        description="Plant again at once, on the contacts as they stand in the list, whenever one is changed",
    )
    overlay: BoolProperty(
        name="Footprints",
        description="Show in the 3D view where the feet stand, and their paths before and after",
        update=_show,
    )
    bars: BoolProperty(
        name="Bars in Dope Sheet",
        description="Show contacts as bars in the Dope Sheet and the timeline, where they are dragged by their ends",
        update=_show,
    )


# The names of the properties in `Shown`.
SHOWN = tuple(Shown.__annotations__)


class ContactList(Shown, PropertyGroup):
    """The rows of the list, one for each contact on the action, and the number of the active row."""

    rows: CollectionProperty(type=ContactRow)
    active: IntProperty(name="Contact", min=0, update=_jump)


def edited(context: Context, *, keeps_times: bool = False) -> None:
    """Follow up a change of contacts: redraw, switch the setting Contacts to Stored, and plant again where Live is on.

    With `keeps_times` the setting Contacts stays: a new detection keeps pinned and lifted contacts anyway.
    """
    settings = context.scene.ik2bone
    if not keeps_times:
        settings.contacts = "STORED"
    show_rows()
    redraw(context)
    if context.scene.ik2bone_contacts.live and shown_record(context)["report"]:
        later(_plant_again)


def later(call: Callable[[], None]) -> None:
    """Call a function as soon as Blender is idle; once, however often this is asked for until then."""
    if not bpy.app.timers.is_registered(call):
        bpy.app.timers.register(call, first_interval=0.0)


def _plant_again() -> None:
    """Plant on the stored contacts as the button does. A refusal opens a menu, because no operator could report it."""
    window = next(iter(bpy.context.window_manager.windows), None)
    with bpy.context.temp_override(window=window) if window else bpy.context.temp_override():
        try:
            bpy.ops.ik2bone.plant_feet("INVOKE_DEFAULT", True, contacts="STORED")
        except RuntimeError as error:
            text = str(error).removeprefix("Error: ").strip()
            bpy.context.window_manager.popup_menu(lambda menu, _: menu.layout.label(text=text), icon="ERROR")


def show_rows() -> None:
    """Make the number of rows that of the contacts on the action."""
    count, rows = len(rows_on(bpy.context)), bpy.context.scene.ik2bone_contacts.rows
    while len(rows) > count:
        rows.remove(len(rows) - 1)
    for number in range(len(rows), count):
        rows.add().number = number


class IK2BONE_UL_contacts(UIList):
    """Contacts in order of time"""

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        _data: ContactList,
        item: ContactRow,
        _icon: int,
        _active_data: ContactList,
        _active_property: str,
    ) -> None:
        """Draw the foot and its part, a warning sign if the leg does not reach, the first and last frame, the state."""
        rows = rows_on(context)
        if item.number >= len(rows):
            return
        row = rows[item.number]
        name, icon = short_names(bones_in(rows))[row["bone"]], icon_of(row["part"], row["state"])
        line = layout.row(align=True)
        split = line.split(factor=0.34, align=True)
        words = split.row(align=True)
        # By default both labels would get the same width, and the name would be cut off.
        words.alignment = "LEFT"
        words.label(text=name if icon else f"{name} {row['part']}", icon_value=icon)
        if is_short(row, short_frames(shown_record(context)["report"])):
            words.label(icon="ERROR")
        for end in ("start", "end"):
            split.prop(item, end, text="")
        line.prop(item, "state", text="", icon_only=True)

    def filter_items(self, context: Context, data: ContactList, _name: str) -> tuple[list[int], list[int]]:
        """Sort by time, and show the rows whose bone's name contains the text of the filter field."""
        rows = rows_on(context)[: len(data.rows)]
        order = sorted(range(len(rows)), key=lambda n: (rows[n]["start"], rows[n]["bone"], rows[n]["part"]))
        places = dict(zip(order, range(len(order)), strict=True))
        shown = [self.bitflag_filter_item * (self.filter_name.lower() in row["bone"].lower()) for row in rows]
        hidden = len(data.rows) - len(rows)
        return [*shown, *[0] * hidden], [*(places[n] for n in range(len(rows))), *range(len(rows), len(data.rows))]


class IK2BONE_PT_contacts(Sidebar, Panel):
    """When the feet stand, as found by the last run or edited"""

    bl_label = "Contacts"
    bl_parent_id = "IK2BONE_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return played_action(context) is not None

    def draw(self, context: Context) -> None:
        layout, shown, action = self.layout, context.scene.ik2bone_contacts, played_action(context)
        layout.context_pointer_set(HANDED, find_armature(context))
        rows = rows_on(context)
        if len(rows) != len(shown.rows):
            # Blender forbids changes of data while a panel is drawn.
            later(show_rows)
        layout.label(text=_counts(rows) if rows else "None stored yet")
        contacts = layout.column(align=True)
        contacts.enabled = action.is_editable
        names = shown, "rows", shown, "active"
        contacts.template_list("IK2BONE_UL_contacts", "", *names, item_dyntip_propname="tip", rows=ROWS)
        _draw_buttons(contacts, shown, len(rows))
        _draw_marks(contacts, context.scene)
        row = layout.row()
        row.prop(shown, "live")
        row.operator("ik2bone.import_contacts", text="", icon="IMPORT")
        row.operator("ik2bone.export_contacts", text="", icon="EXPORT")
        drawn = layout.column(align=True)
        drawn.prop(shown, "overlay")
        drawn.prop(shown, "bars")


def _draw_buttons(layout: UILayout, shown: ContactList, count: int) -> None:
    row = layout.row(align=True)
    row.operator("ik2bone.add_contact", text="", icon="ADD")
    if shown.active < count:
        row.operator("ik2bone.remove_contact", text="", icon="REMOVE").index = shown.active


def _draw_marks(layout: UILayout, scene: Scene) -> None:
    """Buttons that pin, lift or clear the selected feet, or all, on the current frame or the preview range."""
    first, last = marked_frames(scene)
    layout.label(text=f"Feet on frame {first}:" if first == last else f"Feet on frames {first} to {last}:")
    row = layout.row(align=True)
    for state, text in (("enforced", "Pin"), ("forbidden", "Lift"), ("automatic", "Auto")):
        row.operator("ik2bone.mark_feet", text=text, icon=STATES[NUMBERS[state]][3]).state = state
    row.operator("ik2bone.mark_feet", text="", icon="TRASH").state = "none"


def _counts(rows: Sequence[dict[str, Any]]) -> str:
    states = [row["state"] for row in rows]
    return ", ".join(f"{states.count(state)} {name.lower()}" for state, name in NAMES.items())


PROPERTIES = [(Scene, "ik2bone_contacts", PointerProperty(type=ContactList))]


def unregister() -> None:
    """Drop calls that wait for an idle Blender."""
    for call in (_plant_again, show_rows):
        if bpy.app.timers.is_registered(call):
            bpy.app.timers.unregister(call)
