# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant a clip on uneven ground in real Blender: python -m demo [--clip FILE] [--ground KIND|FILE] [--out FOLDER]."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from ik2bone.report import text

from demo import grounds, scenes, session
from demo.track import FINE, PREVIEW

LADDER = "ladder"


def main() -> None:
    """Parse the arguments, run the demo and print the report's table, or one sentence on bad input."""
    kinds, others = ", ".join(grounds.KINDS), ", ".join((*scenes.KINDS, LADDER))
    parser = argparse.ArgumentParser(prog="python -m demo")
    parser.add_argument("--clip", default="walk", help="a bvh, fbx, gltf, glb or blend file; default: a generated walk")
    parser.add_argument("--action", help="one of a file that holds several; default: the first that walks")
    parser.add_argument(
        "--ground",
        default=grounds.DEFAULT,
        help=f"{kinds}, sums of these by +, {others}, or an obj, ply, stl, fbx, gltf or glb file",
    )
    parser.add_argument("--out", default="build/demo", type=Path, help="folder for the results")
    parser.add_argument(
        "--samples",
        default=PREVIEW,
        type=int,
        help=f"samples a pixel of the picture, smoothed from {FINE} on",
    )
    given = parser.parse_args()
    try:
        check(given.clip, given.ground, given.samples)
        make_folder(given.out)
        bpy = session.start()
        # These modules need mathutils, which can be imported only after bpy.
        from demo.ladder import show_climb
        from demo.show import show

        if given.ground == LADDER:
            shown = show_climb(bpy, given.out, given.samples)
        else:
            shown = show(bpy, given.clip, given.ground, given.out, given.samples, given.action)
    except (ValueError, OSError, RuntimeError) as problem:
        print(f"demo: {_sentence(problem)}", file=sys.stderr)
        session.leave(1)
    for name, report in shown.reports.items():
        save_report(report, shown.folder, name)
    print(shown.table, "", *(f"{path}" for path in sorted(shown.folder.iterdir())), sep="\n")
    session.leave(0)


def save_report(report: dict[str, Any], folder: Path, name: str) -> None:
    """Write the report into `folder` as text, as JSON and, if matplotlib is installed, as a plot."""
    (folder / f"{name}.txt").write_text(text(report) + "\n")
    (folder / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
    try:
        from ik2bone.report.plot import plot
    except ImportError as missing:
        print(f"demo: no {name}.png: {missing}", file=sys.stderr)
        return
    plot(report).savefig(folder / f"{name}.png")


def check(clip: str, ground: str, samples: int) -> None:
    """Check the arguments before Blender starts. Raises ValueError, or FileNotFoundError if a file is missing."""
    if samples < 1:
        raise ValueError(f"samples a pixel are expected to be at least 1, got {samples}")
    if clip != "walk" and not Path(clip).is_file():
        raise FileNotFoundError(f"there is no clip {clip}")
    if ground == LADDER:
        if clip != "walk":
            raise ValueError(f"a {LADDER} is climbed by a clip of its own, so no clip can be given with it")
    elif not Path(ground).suffix:
        _check_kind(ground)
    elif not Path(ground).is_file():
        raise FileNotFoundError(f"there is no ground {ground}")


def make_folder(out: Path) -> None:
    """Make the folder for the results before the demo takes time. Raises OSError if it cannot be made or written to."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"the folder {out} cannot be made: {error.strerror}") from None
    if not os.access(out, os.W_OK):
        raise PermissionError(f"nothing can be written into the folder {out}")


def _check_kind(ground: str) -> None:
    """Raise ValueError for an unknown ground, and for a sum with a ground that is built as a whole."""
    names, wholes = ground.split("+"), (*scenes.KINDS, LADDER)
    for name in names:
        if name not in (*grounds.KINDS, *wholes):
            kinds = ", ".join((*grounds.KINDS, *wholes))
            raise ValueError(f"a ground is expected to be a file or one of {kinds}, got {name}")
        if name in wholes and len(names) > 1:
            raise ValueError(f"{name} is a ground by itself and cannot be added to others, got {ground}")


def _sentence(problem: Exception) -> str:
    """The message on one line, without the "Error: " that Blender puts before the message of an operator."""
    return " ".join(str(problem).removeprefix("Error: ").split())


if __name__ == "__main__":
    main()
