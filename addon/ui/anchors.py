# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving the anchor of a contact: by a handle at the selected footprint, or by an operator that follows the mouse."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.props import FloatVectorProperty, IntProperty
from bpy.types import Action, Context, Event, GizmoGroup, Object, Operator
from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d
from ik2bone.arrays import Array
from ik2bone.ground.query import ask
from mathutils import Matrix

from ..errors import Refusal
from ..ground.choose import find_surfaces
from ..ground.meshes import making_ground
from ..progress import finish
from ..rig.armatures import find_armature
from ..run import layers, records
from ..run.contacts import place_row, standing_row, with_place
from . import overlay
from .contacts import ContactsOperator, Result
from .panel import shown_record
from .rows import COLOURS, rows_on

UP = np.array([0.0, 0.0, 1.0])
# How often the ground under the mouse is searched, each time at the height that the search before found.
LOOKS = 4
# The size of the handle as a share of the default size of Blender's gizmos.
HANDLE = 0.07
# Events that turn or zoom the view, which is allowed while a footprint is moved.
TURNS_VIEW = {"MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE"}


class IK2BONE_OT_move_anchor(ContactsOperator, Operator):
    """Pin the selected contact in another place, which is kept whenever the feet are planted again"""

    bl_idname = "ik2bone.move_anchor"
    bl_label = "Move Footprint"

    index: IntProperty(name="Number", description="Its place in the list of contacts", default=-1, min=-1)
    place: FloatVectorProperty(
        name="Place",
        description="Where the ball joint, or the heel, is on the first frame of the contact",
        subtype="TRANSLATION",
        unit="LENGTH",
    )

    def change(self, _armature: Object, action: Action) -> str:
        place_row(action, self._number(bpy.context), self.place)
        return "The foot is pinned in another place: plant again to see it"

    def _number(self, context: Context) -> int:
        return self.index if self.index >= 0 else context.scene.ik2bone_contacts.active

    def invoke(self, context: Context, event: Event) -> Result:
        rows, number = rows_on(context), self._number(context)
        try:
            if context.region_data is None or _footprint(context, number) is None:
                raise Refusal("Needs a 3D view, and a contact with a footprint that is selected in the list")
            self.index = standing_row(rows, number)
            self._ground = ground_on(context, find_armature(context), rows[self.index]["start"])
        except Refusal as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self._rows = rows
        # A move that starts with a press on the handle ends when the button is released; other moves end with a click.
        self._ends = "RELEASE" if event.type == "LEFTMOUSE" else "PRESS"
        self._from = self._under_mouse(context, event, self._anchor)
        self.place = self._anchor
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set("Move Footprint: a click or Enter pins the foot there, Esc leaves it")
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> Result:
        """Draw the footprint at the mouse. Esc and the right button leave the contact unchanged."""
        if event.type in {"ESC", "RIGHTMOUSE"}:
            self.cancel(context)
            return {"CANCELLED"}
        if event.type == "MOUSEMOVE":
            away = self._under_mouse(context, event, np.array(self.place)) - self._from
            self.place = moved_over(self._ground, self._anchor, away)
            self._show(context)
        if (event.type, event.value) in (("LEFTMOUSE", self._ends), ("RET", "PRESS")):
            self.cancel(context)
            return self.execute(context)
        # The view may be turned meanwhile.
        return {"PASS_THROUGH"} if event.type in TURNS_VIEW else {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        overlay.moved.clear()
        context.workspace.status_text_set(None)
        if context.area:
            context.area.tag_redraw()

    @property
    def _anchor(self) -> Array:
        return np.array(self._rows[self.index]["anchor"])

    def _show(self, context: Context) -> None:
        rows = with_place(self._rows, self.index, self.place)
        lines = overlay.prints(shown_record(context) | {"contacts": rows})
        overlay.moved[:] = [line for line in lines if self.index in line.contacts]
        context.area.tag_redraw()

    def _under_mouse(self, context: Context, event: Event, near: Array) -> Array:
        """The point (3,) of the ground under the mouse, searched from the height of `near`; else that at `near`."""
        mouse = event.mouse_region_x, event.mouse_region_y
        origin = np.array(region_2d_to_origin_3d(context.region, context.region_data, mouse), float)
        ray = np.array(region_2d_to_vector_3d(context.region, context.region_data, mouse), float)
        point = self._ground(near)
        for _ in range(LOOKS):
            # A view ray parallel to the ground does not define a place on it.
            away = (point[2] - origin[2]) / ray[2] if abs(ray[2]) > 1e-3 else 0.0
            if away <= 0.0:
                return self._ground(near)
            point = self._ground(origin + away * ray)
        return point


def moved_over(ground: Callable[[Array], Array], point: Array, away: Array) -> Array:
    """A point (3,) moved horizontally by `away`, with its height over the ground kept."""
    aside = away * (1.0, 1.0, 0.0)
    rise = ground(point + aside) - ground(point)
    return np.asarray(point + aside + rise * (0.0, 0.0, 1.0))


def ground_on(context: Context, armature: Object, frame: int) -> Callable[[Array], Array]:
    """A function that returns the point of the ground under or over a point (3,), or the point itself without ground.

    The ground consists of the surfaces of the last run, as they lie on `frame`. Raises `Refusal` if these are gone.
    """
    record = records.read(layers.shown_action(armature))
    name = record["settings"].get("surface")
    # Before this update the view layer does not know which objects were just linked or removed.
    context.view_layer.update()
    surfaces = find_surfaces(context, armature, name if isinstance(name, str) else "")
    # An object that moves between these two frames is sampled; any other stays at its present place.
    frames = frame, context.scene.frame_current
    graph, leg = context.view_layer.depsgraph, record["report"]["leg"]
    ground = finish(making_ground(graph, surfaces, leg, frames))

    def under(point: Array) -> Array:
        hits, _, found = ask(ground, point[None], UP)
        return hits[0] if found[0] else point

    return under


class IK2BONE_GGT_anchor(GizmoGroup):
    """A handle at the selected footprint, which moves it over the ground"""

    bl_idname = "IK2BONE_GGT_anchor"
    bl_label = "Footprint"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        contacts = context.scene.ik2bone_contacts
        return contacts.overlay and _footprint(context, contacts.active) is not None

    def setup(self, _context: Context) -> None:
        handle = self.gizmos.new("GIZMO_GT_move_3d")
        handle.draw_options = {"FILL", "ALIGN_VIEW"}
        handle.scale_basis, handle.alpha, handle.alpha_highlight = HANDLE, 0.7, 1.0
        handle.color_highlight = 1.0, 1.0, 1.0
        handle.target_set_operator("ik2bone.move_anchor")

    def draw_prepare(self, context: Context) -> None:
        row = _footprint(context, context.scene.ik2bone_contacts.active)
        self.gizmos[0].color = COLOURS[row["state"]][:3]
        place = overlay.moved[0].points[:-1].mean(axis=0) if overlay.moved else row["anchor"]
        self.gizmos[0].matrix_basis = Matrix.Translation(place)


def _footprint(context: Context, number: int) -> dict[str, Any] | None:
    """The contact that holds the foot during the contact with this number; None where no footprint is shown.

    Footprints need the report of a run, which a restored source does not have.
    """
    rows = rows_on(context)
    if number >= len(rows) or not rows[number].get("anchor") or not shown_record(context)["report"]:
        return None
    return rows[standing_row(rows, number)]
