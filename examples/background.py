# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant one clip in Blender without a window, by the same operator as the button:

blender --background --python examples/background.py -- walk.bvh terrain.obj planted.blend

The add-on must be installed and enabled. A command plants many files, reads other formats and has all options:
blender --background --command plant_feet --help
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy


def main(clip: Path, terrain: Path, output: Path) -> None:
    """Import the clip and the terrain, plant, print the figures of the report, and save the file."""
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    # A terrain that was exported with Z up needs up_axis="Z", forward_axis="Y".
    bpy.ops.wm.obj_import(filepath=str(terrain))
    ground = bpy.context.selected_objects[0]
    bpy.ops.import_anim.bvh(filepath=str(clip), update_scene_fps=True, update_scene_duration=True)
    armature = bpy.context.object
    # Keys go into a copy of the action. If the clip cannot be planted, this raises RuntimeError with the reason.
    bpy.ops.ik2bone.plant_feet(surface=ground.name)
    action = armature.animation_data.action
    report = json.loads(action["ik2bone"])["report"]
    print(f"{action.name}, lengths in scene units, before and after:")
    for figure in ("drift", "penetration", "float", "short"):
        print(f"{figure:12} {report['before'][figure]:9.4f} {report['after'][figure]:9.4f}")
    bpy.ops.wm.save_as_mainfile(filepath=str(output.resolve()))


if __name__ == "__main__":
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    if len(given) != 3:
        sys.exit("expected: blender --background --python background.py -- CLIP.bvh TERRAIN.obj OUTPUT.blend")
    main(*map(Path, given))
