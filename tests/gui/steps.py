# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers for scripts inside a Blender with a window: mouse, keys, pictures, and playing steps.

Steps are generators that yield the seconds to wait before they continue. Blender handles its events meanwhile.
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
# The distance between rows of widgets, in pixels at a scale of 1.
ROW = 26
# Seconds between simulated events, because Blender handles one event in each pass of its main loop.
TICK = 0.1
# The longest wait for a condition in seconds, enough on a busy machine too.
WAIT = 90.0
# The number of colours in the pictures of a box.
COLOURS = 128

Steps = Generator[float, None, None]
result: dict[str, object] = {}


def play(steps: Steps) -> None:
    """Run the steps one by one, write the result to a file, and quit Blender."""

    def tick() -> float | None:
        try:
            pause = next(steps)
            # The process that waits for the result reads the name of the present step.
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
    # Without a graphics card, antialiasing takes longer than a run.
    bpy.context.preferences.system.viewport_aa = "OFF"
    bpy.app.timers.register(tick, first_interval=2.0)


def put_walk_on_a_plane() -> None:
    """Import the walk over a tilted plane."""
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
    """The window, its widest 3D view, and the regions of this view by type."""
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
    """The place of the button Plant Feet, in the fourth row under the panel's header."""
    region = view()[2]["UI"]
    return region.x + region.width // 2, region.y + region.height - 4 * ROW - 18


def point(x: int, y: int) -> Steps:
    """Move the mouse to a point in pixels from the lower left corner of the window."""
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
    """Wait until `is_so()` is true. Raises `RuntimeError` if this takes longer than WAIT."""
    start = time.perf_counter()
    while not is_so():
        if time.perf_counter() - start > WAIT:
            raise RuntimeError(f"waited in vain: {what}")
        yield 0.05


def picture(name: str, box: tuple[int, int, int, int] | None = None) -> None:
    """Keep a picture of the screen, or of a box (left, bottom, width, height) of the window.

    The X server takes the picture, because Blender's own screenshots are black there.
    """
    crop = []
    if box is not None:
        left, bottom, width, height = box
        top = view()[0].height - bottom - height
        crop = ["-crop", f"{width}x{height}+{left}+{top}", "+repage"]
    small = ["-dither", "None", "-colors", str(COLOURS)] if crop else []
    path = f"PNG8:{FOLDER / name}.png" if crop else str(FOLDER / f"{name}.png")
    subprocess.run(["import", "-window", "root", *crop, *small, path], check=False)
