# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the command line over a folder of clips, and what they tell."""

from __future__ import annotations

import json

import biped
from planted import heads

RISE = 0.1


def export_bvh(bpy, armature, path):
    bpy.context.view_layer.objects.active = armature
    bpy.ops.export_anim.bvh(filepath=str(path), frame_start=1, frame_end=biped.LAST, rotate_mode="NATIVE")


def run(command, folder, *arguments, ground="slope.obj"):
    """The exit status, and where results go."""
    given = [str(folder / text) if text.endswith((".bvh", ".glb", ".blend")) else text for text in arguments]
    output = folder / "planted"
    grounds = ["--ground", str(folder / ground)] if ground else []
    return command.run([*given, *grounds, "--output", str(output)]), output


def report_of(output, name="walk"):
    return json.loads((output / f"{name}.json").read_text())


def error_of(output, name="walk"):
    """Why the only action of a file was not planted."""
    (entry,) = report_of(output, name)["actions"]
    return entry["error"]


def height_over_slope(bpy, armature):
    """Heights of the balls over the slope, of the lower foot on every frame."""
    balls = heads(bpy, armature, range(5, biped.LAST - 5), ("toe.L", "toe.R"))
    return (balls[..., 2] - RISE * balls[..., 1]).min(axis=1)
