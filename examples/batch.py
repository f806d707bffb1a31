# SPDX-License-Identifier: GPL-3.0-or-later
"""Time planting a folder of clips by the command and by Dask with one and two workers: python examples/batch.py CLIPS.

Each run has processes of its own, so that the printed times include the start of Blender. The requirements are those of
`archive.py`. With `--zip` the extension is installed only for the time of the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ARCHIVE = Path(__file__).with_name("archive.py")
# If the file is no zip, Blender prints so but ends without an error.
INSTALL = """
import sys, bpy, addon_utils
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
if "bl_ext.user_default.ik2bone" not in bpy.context.preferences.addons:
    sys.exit(f"{sys.argv[1]} is no zip of the extension")
"""
# For Blender as a module, the same as `blender --background --command plant_feet`.
COMMAND = """
import sys, bpy, addon_utils
from importlib import import_module
addon_utils.enable("bl_ext.user_default.ik2bone", default_set=True)
sys.exit(import_module("bl_ext.user_default.ik2bone.batch.command").run(sys.argv[1:]))
"""
# Half the width of a plane that is wide enough for clips in any unit, and its rise. Y is up, as in most files.
SIZE, RISE = 1e5, 0.1


def write_slope(path: Path) -> Path:
    """Write a sloping plane into an obj file and return its path."""
    corners = [(x, RISE * y, -y) for x, y in ((-SIZE, -SIZE), (SIZE, -SIZE), (SIZE, SIZE), (-SIZE, SIZE))]
    path.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "f 1 2 3 4\n", encoding="utf-8")
    return path


def measure(command: Sequence[str | Path], reports: Sequence[Path] = ()) -> tuple[float, float]:
    """Run a command that should write these reports, and return its seconds by the clock and of the processors."""
    started, used = time.monotonic(), _used()
    ended = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    missing = [path.name for path in reports if not path.is_file()]
    # The command ends with 1 if some clips cannot be planted, and their reports say so; Python ends with 1 on errors.
    if missing or ended.returncode not in ((0, 1) if reports else (0,)):
        told = f"no report: {', '.join(missing)}" if missing else f"exit code {ended.returncode}"
        sys.exit(f"{(ended.stderr or ended.stdout).rstrip()}\nA run failed: {told}")
    return time.monotonic() - started, _used() - used


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reports_of(clips: Sequence[Path], folder: Path) -> list[Path]:
    """The paths of the clips' reports in a folder."""
    return [folder / f"{clip.stem}.json" for clip in clips]


def reports_in(folder: Path) -> dict[str, Any]:
    """The reports of a run by the names of clips, without their times."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[!.]*.json"))}
    return {name: {key: value for key, value in told.items() if key != "seconds"} for name, told in found.items()}


def rows(clips: Sequence[Path], ground: Path, folder: Path) -> Iterator[tuple[str, float, float, dict[str, Any]]]:
    """Run all ways of planting: the name of each, its seconds by the clock and of the processors, and its reports."""
    command = ["-c", COMMAND, *clips, "--ground", ground, "--output", folder / "command"]
    yield "the command", *measure(command, reports_of(clips, folder / "command")), reports_in(folder / "command")
    for workers in (1, 2):
        output = folder / f"dask-{workers}"
        archive = [ARCHIVE, clips[0].parent, ground, output, f"--workers={workers}"]
        seconds = measure(archive, reports_of(clips, output))
        yield f"Dask, {workers} worker{'s' * (workers > 1)}", *seconds, reports_in(output)


def main() -> None:
    """Run all ways of planting and print the figures. The exit code is 1 if the reports differ."""
    parser = argparse.ArgumentParser(description="Plant the bvh and fbx files of a folder in several ways.")
    parser.add_argument("clips", type=Path, metavar="CLIPS", help="a folder")
    parser.add_argument("--ground", type=Path, help="a file of meshes; default: a slope of one in ten")
    parser.add_argument("--zip", type=Path, help="the extension, where it is not installed")
    given = parser.parse_args()
    for name in ("ground", "zip"):
        if (path := getattr(given, name)) and not path.is_file():
            sys.exit(f"--{name}: expected a file, and there is no {path}")
    # The same files as in archive.py.
    clips = sorted(file for kind in ("bvh", "fbx") for file in given.clips.glob(f"*.{kind}"))
    if not clips:
        sys.exit(f"bvh or fbx files are expected in {given.clips}, and there are none")
    with tempfile.TemporaryDirectory(prefix="ik2bone-batch-") as place:
        folder = Path(place)
        if given.zip:
            os.environ["BLENDER_USER_RESOURCES"] = place
            measure(["-c", INSTALL, given.zip.resolve()])
        sys.exit(show(rows(clips, given.ground or write_slope(folder / "slope.obj"), folder)))


def show(found: Iterator[tuple[str, float, float, dict[str, Any]]]) -> int:
    """Print a line for each run as it ends, and whether all reports are the same. Return 0 if they are, else 1."""
    kept = []
    print(f"{'':16}{'clips':>7}{'planted':>9}{'frames':>8}{'seconds':>9}{'processor':>11}{'frames/s':>10}")
    for name, seconds, processor, told in found:
        planted = [entry["report"] for clip in told.values() for entry in clip["actions"] if "report" in entry]
        frames = sum(last - first + 1 for first, last in (report["frames"] for report in planted))
        counts = f"{len(told):7}{len(planted):9}{frames:8}"
        print(f"{name:16}{counts}{seconds:9.1f}{processor:11.1f}{frames / seconds:10.0f}", flush=True)
        kept.append(told)
    agree = all(told == kept[0] for told in kept)
    print("All runs made the same reports." if agree else "The runs differ.")
    return 0 if agree else 1


if __name__ == "__main__":
    main()
