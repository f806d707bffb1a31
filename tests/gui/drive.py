# SPDX-License-Identifier: GPL-3.0-or-later
"""Run inside a Blender with a window: plant a walk by mouse and keyboard, and write down the results.

Expects the clip `walk.bvh` in the folder named after "--", and leaves `result.json` and pictures there.
"""

import json
import statistics
import sys
import time
from pathlib import Path

import bpy

sys.path.append(str(Path(__file__).parent))
from steps import (
    ROW,
    TICK,
    Steps,
    button,
    click,
    picture,
    play,
    put_walk_on_a_plane,
    result,
    show_panel,
    view,
    wait_for,
)

PANELS = ("main", "options", "report", "contacts")
# The numbers of objects and of contacts in the file in which a redraw is measured.
OBJECTS, CONTACTS = 5000, 200
# The number of frames of the run that is stopped.
LONG = 20000

draws: dict[str, list[float]] = {name: [] for name in PANELS}


def count_draws() -> None:
    """Make every panel append the milliseconds that it draws to `draws`."""
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
    """All steps of the user."""
    put_walk_on_a_plane()
    yield 1.0
    yield from show_panel()
    picture("panel")
    start = time.perf_counter()
    yield from click(*button())
    yield from wait_for("the button plants", lambda: "ik2bone" in bpy.data.objects["walk"].animation_data.action)
    result["first run, seconds from the click on"] = time.perf_counter() - start
    yield 1.0
    picture("planted")
    yield 0.5
    yield from open_options()
    picture("options")
    yield 0.5
    yield from stop_a_long_run()
    yield from crowd()


def open_options() -> Steps:
    """Open the panel of options by its header, the second under the button."""
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
    """Extend an action with one slot to LONG frames by repeating its curves."""
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, LONG
    for curve in curves_of(action):
        curve.modifiers.new("CYCLES")


def curves_of(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    if hasattr(action, "slots"):
        return list(action.layers[0].strips[0].channelbag(action.slots[0]).fcurves)
    return list(action.fcurves)


def state_of(armature: bpy.types.Object) -> tuple:
    """Everything that a run may change: the actions, the assigned action's keys, the pose, the settings, the frame."""
    action, settings = armature.animation_data.action, bpy.context.scene.ik2bone
    keys = [[tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(action)]
    pose = [tuple(map(tuple, bone.matrix_basis)) for bone in armature.pose.bones]
    options = [str(getattr(settings, name.identifier)) for name in settings.bl_rna.properties]
    return sorted(bpy.data.actions.keys()), action.name, keys, pose, options, bpy.context.scene.frame_current


def crowd() -> Steps:
    """Redraw the panels in a file with many objects and for a record with many contacts."""
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


count_draws()
play(everything())
