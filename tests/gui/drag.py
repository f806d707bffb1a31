# SPDX-License-Identifier: GPL-3.0-or-later
"""Run inside a Blender with a small window: drag Strength in the redo panel, and count how often the feet follow.

Expects the clip `walk.bvh` in the folder named after "--", and leaves `result.json` and pictures there.
Annotations are not postponed to text here: Blender evaluates such text in the script's module, which does not exist any
more when the operator is registered.

Without a graphics card Mesa draws on the processor, and drawing the pixels takes longer than a run. An operator that
does nothing is updated 7 times a second in a window of 1280 by 800 pixels, and 15 times in the window of this script,
which shows only the 3D view (Blender 4.3, two busy processors). A graphics card draws either in a few milliseconds.
"""

import statistics
import sys
import time
from pathlib import Path

import bpy

sys.path.append(str(Path(__file__).parent))
from steps import ROW, TICK, Steps, click, key, picture, play, put_walk_on_a_plane, result, view, wait_for

# The duration of a drag in seconds, and the pixels of a move.
DRAG, STEP = 4.0, 2
# In pixels: the height of the last row's middle over the bottom of the redo panel, the height of joined rows, and the
# height of the slider of the operator that does nothing over the bottom.
LOWEST, JOINED, IDLE = 16, 21, 50

runs: list[tuple[float, float]] = []


class IK2BONE_OT_idle(bpy.types.Operator):
    """Do nothing, to see how often Blender itself can run an operator again"""

    bl_idname = "ik2bone.idle"
    bl_label = "Idle"
    bl_options = {"REGISTER", "UNDO"}

    strength: bpy.props.FloatProperty(name="Strength", default=1.0, min=0.0, max=1.0, subtype="FACTOR")
    other: bpy.props.FloatProperty(name="Other")

    def execute(self, _context):
        runs.append((0.0, self.strength))
        return {"FINISHED"}


def everything() -> Steps:
    """Both drags, one after the other."""
    put_walk_on_a_plane()
    yield 1.0
    yield from show_view_alone()
    bpy.utils.register_class(IK2BONE_OT_idle)
    yield from start(bpy.ops.ik2bone.idle)
    yield from drag_slider("of an operator that does nothing", IDLE)
    picture("idle")
    yield from key("Z", ctrl=True)
    yield from start(bpy.ops.ik2bone.plant_feet)
    yield from wait_for("the feet are planted", lambda: "ik2bone" in bpy.data.objects["walk"].animation_data.action)
    yield from drag_strength()
    picture("dragged")


def show_view_alone() -> Steps:
    """Hide other editors, bars and shadows, which take time to draw and show nothing of the add-on."""
    window, area, _ = view()
    with bpy.context.temp_override(window=window, area=area):
        bpy.ops.screen.screen_full_area()
    yield 1.0
    space = view()[1].spaces.active
    space.show_region_ui = space.show_region_toolbar = space.show_region_tool_header = space.show_gizmo = False
    space.shading.light, space.shading.show_object_outline = "FLAT", False
    view()[0].screen.show_statusbar = False
    yield 1.0


def start(operator) -> Steps:
    """Run an operator as a button of the 3D view does."""
    window, area, regions = view()
    with bpy.context.temp_override(window=window, area=area, region=regions["WINDOW"]):
        operator("INVOKE_DEFAULT", True)
    yield 1.0


def count_runs() -> None:
    """Make every run of the operator append its seconds of processor time and its strength to `runs`."""
    kind = bpy.types.IK2BONE_OT_plant_feet
    execute = kind.execute

    def counted(self, context):
        begun = time.thread_time()
        outcome = execute(self, context)
        runs.append((time.thread_time() - begun, self.strength))
        return outcome

    kind.execute = counted


def drag_strength() -> Steps:
    """Drag Strength in the redo panel, and store the strengths and the processor time of the runs that followed."""
    first = len(runs)
    options = sys.modules["bl_ext.user_default.ik2bone.properties"].OPTIONS
    below = len(options) - 1 - options.index("strength")
    yield from drag_slider("of Plant Feet", LOWEST + JOINED * below)
    result["strengths"] = sorted({round(strength, 3) for _, strength in runs[first:]})
    result["run again, seconds of processor time"] = statistics.median([run for run, _ in runs[first:]] or [0.0])


def drag_slider(what: str, height: int) -> Steps:
    """Drag the slider at `height` pixels over the bottom of the redo panel left and back, and count the updates."""
    yield from open_redo_panel()
    window, _, regions = view()
    panel = regions["HUD"]
    x, y = panel.x + int(0.9 * panel.width), panel.y + height
    window.event_simulate("MOUSEMOVE", "NOTHING", x=x, y=y)
    yield TICK
    window.event_simulate("LEFTMOUSE", "PRESS", x=x, y=y)
    yield TICK
    view()[1].spaces.active.overlay.show_overlays = False
    first, spent = len(runs), time.thread_time()
    begun, way, left, right = time.perf_counter(), -STEP, panel.x + 0.5 * panel.width, x
    while time.perf_counter() - begun < DRAG:
        way = STEP if x <= left else -STEP if x >= right else way
        x += way
        view()[0].event_simulate("MOUSEMOVE", "NOTHING", x=x, y=y)
        yield 0.001
    updates = len(runs) - first
    result[f"updates a second {what}"] = updates / (time.perf_counter() - begun)
    result[f"an update {what}, seconds of processor time"] = (time.thread_time() - spent) / max(updates, 1)
    view()[0].event_simulate("LEFTMOUSE", "RELEASE", x=x, y=y)
    view()[1].spaces.active.overlay.show_overlays = True
    yield 1.0


def open_redo_panel() -> Steps:
    """Open the redo panel by a click on its header if it is closed."""
    panel = view()[2]["HUD"]
    if panel.height < 4 * ROW:
        yield from click(panel.x + 40, panel.y + panel.height - 12)
        yield 1.0


count_runs()
play(everything())
