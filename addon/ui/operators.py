# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators: Plant Feet, and Restore Source Action."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from typing import Any

import bpy
from bpy.app.handlers import load_pre, persistent, redo_pre, save_pre, undo_pre
from bpy.props import StringProperty
from bpy.types import Context, Event, Object, Operator

from .. import properties
from ..errors import Refusal
from ..properties import OPTIONS, PlantingOptions
from ..rig.armatures import find_armature, find_armatures, why_no_armature
from ..run.pipeline import planting
from ..run.refusals import refuse_linked
from ..run.restore import is_planted, restore
from ..run.transaction import parts_of
from .figures import short
from .panel import draw_frames, draw_limbs, draw_options, redraw, split_layout

Result = set[str]

# Seconds: a run that takes less than AT_ONCE is never shown as a job; a job works for SLICE between two events, and
# waits for PAUSE.
AT_ONCE, SLICE, PAUSE = 0.5, 0.05, 0.01
# The operators that run as jobs at present.
_running: list[IK2BONE_OT_plant_feet] = []


class ArmatureOperator:
    """The base of both operators: needs an armature, in a mode in which its pose may change."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if context.mode not in {"OBJECT", "POSE"}:
            cls.poll_message_set("Only works in object mode and in pose mode")
            return False
        if find_armature(context) is None:
            cls.poll_message_set(why_no_armature(context))
            return False
        return True


class IK2BONE_OT_plant_feet(PlantingOptions, ArmatureOperator, Operator):
    """Plant the feet of the active armature, and of all selected ones, on the surface under them and key the result"""

    bl_idname = "ik2bone.plant_feet"
    bl_label = "Plant Feet"

    surface: StringProperty(
        name="Surface",
        description="Object or collection to plant on; if empty, every visible mesh that is no part of a character",
        search=properties.surface_suggestions,
        search_options={"SUGGESTION"},
    )

    def invoke(self, context: Context, _event: Event) -> Result:
        """Take from the panel's settings what the caller has not set. A run that takes long becomes a job."""
        settings = context.scene.ik2bone
        for name in OPTIONS:
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(settings, name))
        if not self.properties.is_property_set("surface"):
            self.surface = properties.surface_name(settings)
        if bpy.app.background:
            return self.execute(context)
        self._begin(context)
        ended = self._advance(AT_ONCE)
        if ended is None:
            self._begin_to_show(context)
        return ended or {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> Result:
        """Continue the job for a moment. If it was stopped, the scene is as it was before the run."""
        if self not in _running:
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, "Not planted: stopped by Esc")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        ended: Result | None = {"CANCELLED"}
        try:
            ended = self._advance(SLICE)
        finally:
            self._hide(context) if ended else self._show(context)
        return ended or {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """End the run. Blender itself calls this when the window closes."""
        if self in _running:
            with suppress(ReferenceError):
                self._stages.close()
            self._hide(context)

    def draw(self, context: Context) -> None:
        layout = split_layout(self.layout)
        layout.prop(self, "surface")
        draw_frames(layout, context, self)
        draw_limbs(layout, self)
        draw_options(layout, self)

    def execute(self, context: Context) -> Result:
        self._begin(context)
        return self._advance(inf) or {"FINISHED"}

    def _begin(self, context: Context) -> None:
        _stop()
        self._armatures, self._parts = find_armatures(context), None
        self._stages = planting(context, self._armatures, properties.plain(self))

    def _advance(self, seconds: float) -> Result | None:
        """Continue the run for some seconds, and return the operator's result if it has ended."""
        until = time.monotonic() + seconds
        try:
            if self._parts not in (None, _parts_of(self._armatures)):
                raise ReferenceError
            while time.monotonic() < until:
                self._progress = next(self._stages)
            self._parts = _parts_of(self._armatures)
        except StopIteration as end:
            kind, units = {"WARNING" if end.value.is_warning else "INFO"}, bpy.context.scene.unit_settings
            self.report(kind, end.value.summary)
            # The status bar shows only the last message, cut to its width.
            self.report(kind, short(end.value.reports, units))
            return {"FINISHED"}
        except Refusal as refusal:
            self.report({"ERROR"}, f"Not planted: {refusal}")
            return {"CANCELLED"}
        except ReferenceError:
            with suppress(ReferenceError):
                self._stages.close()
            self.report(
                {"ERROR"}, "Not planted: what is planted, or what it stands on, was edited or removed meanwhile"
            )
            return {"CANCELLED"}
        return None

    def _begin_to_show(self, context: Context) -> None:
        """Make the run a job that continues on timer events while the window stays responsive."""
        manager, self._window = context.window_manager, context.window
        self._timer = manager.event_timer_add(PAUSE, window=self._window)
        _running.append(self)
        manager.modal_handler_add(self)
        manager.progress_begin(0, 100)
        self._show(context)

    def _show(self, context: Context) -> None:
        doing, share = self._progress
        context.window_manager.progress_update(round(100 * share))
        context.workspace.status_text_set(f"Plant Feet: {share:.0%}, {doing}. Esc stops")

    def _hide(self, context: Context) -> None:
        _running.remove(self)
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        redraw(context)


def _parts_of(armatures: Sequence[Object]) -> list[Any]:
    """What a run refers to while it waits, and another window or a script may edit or remove it."""
    parts = (part for armature in armatures for part in parts_of(armature))
    # A view layer that was never shown has no dependency graph.
    graph = bpy.context.view_layer.depsgraph
    return [graph.as_pointer() if graph else 0, *parts]


class IK2BONE_OT_restore(ArmatureOperator, Operator):
    """Put the source actions back in place of the planted ones, and remove NLA layers"""

    bl_idname = "ik2bone.restore"
    bl_label = "Restore Source Action"

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        cls.poll_message_set("The armature plays no planted action")
        return bool(_planted(context))

    def execute(self, context: Context) -> Result:
        _stop()
        armatures = _planted(context)
        try:
            for armature in armatures:
                refuse_linked(armature)
        except Refusal as refusal:
            self.report({"ERROR"}, f"Not restored: {refusal}")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Restored {', '.join(map(restore, armatures))}")
        return {"FINISHED"}


def _planted(context: Context) -> list[Object]:
    return [armature for armature in find_armatures(context) if is_planted(armature)]


@persistent
def _stop(*_: Any) -> None:
    """End all jobs: the data that they would restore or write to is about to change."""
    for operator in tuple(_running):
        # The job's own window shows its progress, and a script on a timer has no window of its own.
        with bpy.context.temp_override(window=operator._window):
            operator.cancel(bpy.context)


# While a job runs, another window can undo, redo, save or load a file, and so can a script.
HANDLERS = [(handlers, _stop) for handlers in (load_pre, redo_pre, save_pre, undo_pre)]
unregister = _stop
