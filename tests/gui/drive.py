# SPDX-License-Identifier: GPL-3.0-or-later
"""Run inside a Blender with a window: plant a walk by mouse and keyboard, and write down what was seen.

Expects the clip `walk.bvh` in the folder named after "--", and leaves `result.json` and pictures there.
Annotations stay values: Blender looks up text in a module that is gone by the time the operator is registered.
"""

import json
import statistics
import sys
import time
from pathlib import Path

import bpy

sys.path.append(str(Path(__file__).parent))
from steps import FOLDER, ROW, TICK, WAIT, Steps, button, click, key, picture, play, result, show_panel, view

# A slider is dragged for so long, in seconds, by so many pixels a move.
DRAG, STEP = 4.0, 2
# The middle of the last row of the redo panel over its bottom, and the height of rows that are joined, in pixels.
LOWEST, JOINED = 16, 21
PANELS = ("main", "options", "report", "contacts")
# What a redraw is measured beside.
OBJECTS, CONTACTS = 5000, 200
# Frames of a run that is stopped.
LONG = 20000

draws: dict[str, list[float]] = {name: [] for name in PANELS}
runs: list[tuple[float, float]] = []


def count_runs() -> None:
    """Have every run of the operator note its seconds of processor time and its strength."""
    kind = bpy.types.IK2BONE_OT_plant_feet
    execute = kind.execute

    def counted(self, context):
        start = time.thread_time()
        outcome = execute(self, context)
        runs.append((time.thread_time() - start, self.strength))
        return outcome

    kind.execute = counted


def count_draws() -> None:
    """Have every panel note how long it draws, in milliseconds."""
    for name in PANELS:
        kind = getattr(bpy.types, f"IK2BONE_PT_{name}")
        kind.draw = timed(kind.draw, draws[name])


def timed(draw, noted: list[float]):
    def run(self, context):
        start = time.perf_counter()
        draw(self, context)
        noted.append(1000.0 * (time.perf_counter() - start))

    return run


def everything() -> Steps:
    """All that the user does."""
    set_up()
    yield 1.0
    yield from show_panel()
    picture("panel")
    yield from drag_of_nothing()
    start = time.perf_counter()
    yield from click(*button())
    while "ik2bone" not in bpy.data.objects["walk"].animation_data.action:
        if time.perf_counter() - start > WAIT:
            raise RuntimeError("the button does not plant")
        yield 0.01
    result["first run, seconds from the click on"] = time.perf_counter() - start
    yield 1.0
    picture("planted")
    yield 0.5
    yield from drag_strength()
    picture("dragged")
    yield 0.5
    yield from open_options()
    picture("options")
    yield 0.5
    yield from stop_a_long_run()
    yield from crowd()


def set_up() -> None:
    """The walk over a tilted plane, seen whole."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.ops.import_anim.bvh(
        filepath=str(FOLDER / "walk.bvh"), global_scale=0.01, update_scene_fps=True, update_scene_duration=True
    )
    armature = bpy.context.object
    bpy.ops.mesh.primitive_plane_add(size=20.0, rotation=(0.1, 0.05, 0.0))
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    bpy.ops.ed.undo_push(message="Set Up")


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


def drag_of_nothing() -> Steps:
    """The same drag for an operator that does nothing."""
    bpy.utils.register_class(IK2BONE_OT_idle)
    window, area, regions = view()
    with bpy.context.temp_override(window=window, area=area, region=regions["WINDOW"]):
        bpy.ops.ik2bone.idle("INVOKE_DEFAULT", True)
    yield 1.0
    yield from drag_slider("of an operator that does nothing", 50)
    picture("idle")
    yield from key("Z", ctrl=True)


def drag_strength() -> Steps:
    """Drag the slider of the redo panel, and tell what the runs took that followed."""
    first = len(runs)
    options = sys.modules["bl_ext.user_default.ik2bone.properties"].OPTIONS
    below = len(options) - 1 - options.index("strength")
    yield from drag_slider("of Plant Feet", LOWEST + JOINED * below)
    result["strengths"] = sorted({round(strength, 3) for _, strength in runs[first:]})
    result["run again, seconds of processor time"] = statistics.median([run for run, _ in runs[first:]] or [0.0])


def drag_slider(what: str, height: int) -> Steps:
    """Drag the slider so many pixels over the bottom of the redo panel to the left and back, and count the updates."""
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
    start, way, left, right = time.perf_counter(), -STEP, panel.x + 0.5 * panel.width, x
    while time.perf_counter() - start < DRAG:
        way = STEP if x <= left else -STEP if x >= right else way
        x += way
        view()[0].event_simulate("MOUSEMOVE", "NOTHING", x=x, y=y)
        yield 0.001
    updates = len(runs) - first
    result[f"updates a second {what}"] = updates / (time.perf_counter() - start)
    result[f"an update {what}, seconds of processor time"] = (time.thread_time() - spent) / max(updates, 1)
    view()[0].event_simulate("LEFTMOUSE", "RELEASE", x=x, y=y)
    view()[1].spaces.active.overlay.show_overlays = True
    yield 1.0


def open_options() -> Steps:
    """The panel of options, whose header is the second under the button."""
    x, y = button()
    yield from click(x - 80, y - 2 * ROW - 6)
    yield 1.0


def stop_a_long_run() -> Steps:
    """Plant a clip that repeats for 20,000 frames, press Esc, and see whether anything has changed."""
    if "modal" not in vars(bpy.types.IK2BONE_OT_plant_feet):
        return
    armature = bpy.data.objects["walk"]
    bpy.ops.ik2bone.restore()
    repeat(armature.animation_data.action)
    before = state_of(armature)
    yield from click(*button())
    yield 2.0
    picture("long run")
    window = view()[0]
    running = [operator.bl_idname for operator in window.modal_operators]
    start = time.perf_counter()
    window.event_simulate("ESC", "PRESS", x=500, y=400)
    while window.modal_operators and time.perf_counter() - start < 30.0:
        yield 0.02
    result["long run"] = {
        "was running": running,
        "seconds to stop": time.perf_counter() - start,
        "left as it was": state_of(bpy.data.objects["walk"]) == before,
    }
    window.event_simulate("ESC", "RELEASE", x=500, y=400)
    yield TICK


def repeat(action: bpy.types.Action) -> None:
    """Let an action of one slot go on for LONG frames by repeating its curves."""
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, LONG
    for curve in curves_of(action):
        curve.modifiers.new("CYCLES")


def curves_of(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    if hasattr(action, "slots"):
        return list(action.layers[0].strips[0].channelbag(action.slots[0]).fcurves)
    return list(action.fcurves)


def state_of(armature: bpy.types.Object) -> tuple:
    """What a run may change: the actions, the keys of the one in use, the frame, the pose and the settings."""
    action, settings = armature.animation_data.action, bpy.context.scene.ik2bone
    keys = [[tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(action)]
    pose = [tuple(map(tuple, bone.matrix_basis)) for bone in armature.pose.bones]
    options = [str(getattr(settings, name.identifier)) for name in settings.bl_rna.properties]
    return sorted(bpy.data.actions.keys()), action.name, keys, pose, options, bpy.context.scene.frame_current


def crowd() -> Steps:
    """Redraw the panels beside many objects and with a record of many contacts."""
    armature = bpy.data.objects["walk"]
    action = next(action for action in bpy.data.actions if action.name.endswith(".planted"))
    armature.animation_data.action = action
    record = json.loads(action["ik2bone"])
    record["contacts"] = (record["contacts"] * CONTACTS)[:CONTACTS]
    action["ik2bone"] = json.dumps(record)
    for number in range(OBJECTS):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(f"Other {number}", None))
    yield 2.0
    for times in draws.values():
        times.clear()
    for _ in range(20):
        view()[2]["UI"].tag_redraw()
        yield TICK
    result["redraw, milliseconds"] = {name: statistics.median(times) for name, times in draws.items() if times}


def open_redo_panel() -> Steps:
    """A click on its header opens it where it is closed."""
    panel = view()[2]["HUD"]
    if panel.height < 4 * ROW:
        yield from click(panel.x + 40, panel.y + panel.height - 12)
        yield 1.0


count_runs()
count_draws()
play(everything())
