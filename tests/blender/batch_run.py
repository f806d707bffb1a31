# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the command line over a folder of clips, and reading the results."""

from __future__ import annotations

import json

import biped
from planted import heads

RISE = 0.1


def export_bvh(bpy, armature, path):
    bpy.context.view_layer.objects.active = armature
    bpy.ops.export_anim.bvh(filepath=str(path), frame_start=1, frame_end=biped.LAST, rotate_mode="NATIVE")


def run(command, folder, *arguments, ground="slope.obj"):
    """Run the command on files in `folder`: the exit status, and the folder of the results."""
    given = [str(folder / text) if text.endswith((".bvh", ".glb", ".blend")) else text for text in arguments]
    output = folder / "planted"
    grounds = ["--ground", str(folder / ground)] if ground else []
    return command.run([*given, *grounds, "--output", str(output)]), output


def report_of(output, name="walk"):
    return json.loads((output / f"{name}.json").read_text())


def error_of(output, name="walk"):
    """The sentence about why the only action of a file was not planted."""
    (entry,) = report_of(output, name)["actions"]
    return entry["error"]


def height_over_slope(bpy, armature):
    """The height of the lower ball over the slope on every frame, without some frames at both ends."""
    balls = heads(bpy, armature, range(5, biped.LAST - 5), ("toe.L", "toe.R"))
    return (balls[..., 2] - RISE * balls[..., 1]).min(axis=1)
