# SPDX-License-Identifier: GPL-3.0-or-later
"""The example of a script for Blender without a window."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import biped
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "background.py"


@pytest.fixture
def run(monkeypatch):
    """Run the script as `blender --python` does."""

    def execute(*arguments):
        monkeypatch.setattr(sys, "argv", ["blender", "--background", "--python", str(SCRIPT), *arguments])
        runpy.run_path(str(SCRIPT), run_name="__main__")

    return execute


def test_a_clip_is_planted_on_a_terrain_and_saved(bpy, walker, tmp_path, run, capsys):
    bpy.ops.export_anim.bvh(filepath=str(tmp_path / "walk.bvh"), frame_end=biped.LAST, rotate_mode="NATIVE")
    slope = biped.make_slope(bpy)
    bpy.data.objects.remove(walker)
    slope.select_set(True)
    bpy.ops.wm.obj_export(filepath=str(tmp_path / "slope.obj"), export_selected_objects=True)
    run("--", *(str(tmp_path / name) for name in ("walk.bvh", "slope.obj", "planted.blend")))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "planted.blend"))
    (armature,) = (thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    assert armature.animation_data.action.name.endswith(".planted")
    report = json.loads(armature.animation_data.action["ik2bone"])["report"]
    assert report["after"]["penetration"] < 0.01 * report["before"]["penetration"]
    assert f"penetration  {report['before']['penetration']:9.4f}" in capsys.readouterr().out


def test_missing_arguments_are_told(bpy, run):
    with pytest.raises(SystemExit, match="expected: blender .* CLIP.bvh TERRAIN.obj OUTPUT.blend"):
        run("--", "walk.bvh")
