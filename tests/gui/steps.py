# SPDX-License-Identifier: GPL-3.0-or-later
"""What scripts inside a Blender with a window do again and again: mouse, keys, pictures, and a play of steps.

Steps are generators that yield the seconds to wait before they go on; Blender handles its events meanwhile.
"""

import json
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path

import bpy

FOLDER = Path(sys.argv[sys.argv.index("--") + 1])
# Rows of widgets lie so far apart, in pixels at a scale of 1.
ROW = 26
# Seconds between simulated events: Blender handles one each time round its loop.
TICK = 0.1
# Seconds in which what is waited for has to come, on a busy machine too.
WAIT = 90.0
# Colours of the pictures that are kept.
COLOURS = 128

Steps = Generator[float, None, None]
result: dict[str, object] = {}


def play(steps: Steps) -> None:
    """Play the steps one by one, write down the result, and quit."""

    def tick() -> float | None:
        try:
            pause = next(steps)
            # Whoever waits for the result wants to know what is going on.
            (FOLDER / "step").write_text((steps.gi_yieldfrom or steps).__name__)
            return pause
        except StopIteration:
            pass
        except Exception:
            result["error"] = traceback.format_exc()
        (FOLDER / "result.json").write_text(json.dumps(result, indent=1))
        bpy.ops.wm.quit_blender()
        return None

    bpy.context.preferences.view.show_splash = False
    # Without a graphics card, smoothing takes longer than a run.
    bpy.context.preferences.system.viewport_aa = "OFF"
    bpy.app.timers.register(tick, first_interval=2.0)


def put_walk_on_a_plane() -> None:
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


def view() -> tuple[bpy.types.Window, bpy.types.Area, dict[str, bpy.types.Region]]:
    """The window, its largest 3D view, and the regions of that."""
    window = bpy.context.window_manager.windows[0]
    area = max((area for area in window.screen.areas if area.type == "VIEW_3D"), key=lambda area: area.width)
    return window, area, {region.type: region for region in area.regions}


def show_panel() -> Steps:
    """Open the sidebar on the add-on's tab."""
    _, area, _ = view()
    area.spaces.active.show_region_ui = True
    yield 0.5
    region = view()[2]["UI"]
    region.active_panel_category = "IK2Bone"
    region.tag_redraw()
    yield 1.0


def button() -> tuple[int, int]:
    """Where the button Plant Feet is: in the fourth row under the panel's header."""
    region = view()[2]["UI"]
    return region.x + region.width // 2, region.y + region.height - 4 * ROW - 18


def point(x: int, y: int) -> Steps:
    """Move the mouse there, in pixels of the window from its lower left corner."""
    for way in (1, 0):
        view()[0].event_simulate("MOUSEMOVE", "NOTHING", x=int(x) + way, y=int(y))
        yield TICK


def press(x: int, y: int, value: str) -> Steps:
    """Press or release the left button."""
    view()[0].event_simulate("LEFTMOUSE", value, x=int(x), y=int(y))
    yield TICK


def click(x: int, y: int) -> Steps:
    """Click with the left button."""
    yield from point(x, y)
    yield from press(x, y, "PRESS")
    yield from press(x, y, "RELEASE")


def key(name: str, x: int = 500, y: int = 400, **modifiers: bool) -> Steps:
    """Press and release a key with the mouse at a place."""
    for value in ("PRESS", "RELEASE"):
        view()[0].event_simulate(name, value, x=int(x), y=int(y), **modifiers)
        yield TICK
    yield 1.0


def wait_for(what: str, is_so: Callable[[], bool]) -> Steps:
    """Wait until something is so; an error where that takes too long."""
    start = time.perf_counter()
    while not is_so():
        if time.perf_counter() - start > WAIT:
            raise RuntimeError(f"waited in vain: {what}")
        yield 0.05


def picture(name: str, box: tuple[int, int, int, int] | None = None) -> None:
    """The X server's picture, or a box of it (left, bottom, width, height), as Blender's own are black there."""
    crop = []
    if box is not None:
        left, bottom, width, height = box
        top = view()[0].height - bottom - height
        crop = ["-crop", f"{width}x{height}+{left}+{top}", "+repage"]
    small = ["-dither", "None", "-colors", str(COLOURS)] if crop else []
    path = f"PNG8:{FOLDER / name}.png" if crop else str(FOLDER / f"{name}.png")
    subprocess.run(["import", "-window", "root", *crop, *small, path], check=False)
