# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the table of docs/controls.md with the errors of planted legs in rigs of control_rig: python rig_table.py."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import biped
import control_rig

from demo import session

HAND, RIGIFY, PAWS = control_rig.make_ik_walker, control_rig.make_rigify_walker, control_rig.make_rigify_quadruped
RIGS = {
    **{f"by hand, {name}": (HAND, given) for name, given in control_rig.HAND_MADE.items()},
    **{f"Rigify, {name}": (RIGIFY, given) for name, given in control_rig.RIGIFY.items()},
    "Rigify's paws, hind, inverse kinematics": (PAWS, {}),
    "Rigify's paws, front, inverse kinematics": (PAWS, {}),
    "Rigify's paws, forward kinematics": (PAWS, {"forward": 1.0}),
    "Auto-Rig Pro's names, inverse kinematics": (control_rig.make_auto_rig_walker, {}),
    "Auto-Rig Pro's names, forward kinematics": (control_rig.make_auto_rig_walker, {"forward": 1.0}),
}


def rows(bpy) -> Iterator[tuple[str, ...]]:
    """A row for each rig: its name, its controls, the errors of ankle or ball and of the knee, and two for sparse keys.

    These two are the number of keys of the first control and the error of ankle or ball. Errors are the greatest over
    both feet, or over one pair of paws, as shares of the leg.
    """
    for name, (make, given) in RIGS.items():
        dense = planted(bpy, make, given, name, sparse_keys=False)
        sparse = planted(bpy, make, given, name, sparse_keys=True)
        few = next(text for text in sparse["told"] if text.startswith("key"))
        foot = dense["shown"][0]["controls"][0]
        keys = next((part.split()[1] for part in few.partition(": ")[2].split(", ") if part.startswith(foot)), "all")
        controls = ", ".join(f"`{control}`" for control in dense["shown"][0]["controls"])
        yield (name, controls, *worst(dense), keys, worst(sparse)[0] if keys != "all" else "")


def planted(bpy, make, given, name, **options) -> dict:
    """The report of a rig planted on a slope, with the feet to show."""
    session.reset(bpy)
    looks_back = make in (RIGIFY, PAWS)
    biped.make_slope(bpy, rise=-biped.RISE if looks_back else biped.RISE)
    with redirect_stdout(StringIO()):
        rig = make(bpy, **given)
    bpy.ops.ik2bone.plant_feet(**options)
    report = json.loads(rig.animation_data.action["ik2bone"])["report"]
    # Of four feet, the pair that is named in the name of the rig.
    shown = [foot for foot in report["feet"] if ("front" in foot["bone"]) == ("front" in name)]
    return report | {"shown": shown}


def worst(report: dict) -> tuple[str, str]:
    """The greatest error of ankles and balls, and that of knees, as shares of the leg."""
    off = [{name: way / report["leg"] for name, way in foot["off"].items()} for foot in report["shown"]]
    return f"{max(max(foot['ankle'], foot['ball']) for foot in off):.0e}", f"{max(foot['knee'] for foot in off):.0e}"


if __name__ == "__main__":
    blender = session.start()
    lines = [" | ".join(row) for row in rows(blender)]
    print(f"Blender {blender.app.version_string}", *(f"| {line} |" for line in lines), sep="\n")
    session.leave(0)
