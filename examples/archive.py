# SPDX-License-Identifier: GPL-3.0-or-later
"""Plant an archive of clips by several processes: python examples/archive.py FOLDER GROUND OUTPUT [--workers N].

Needs `pip install bpy distributed`, and the add-on installed in the Blender user folder of the module `bpy`. Every Dask
worker has one Blender and one thread. With `Client("scheduler:8786")` instead of the cluster below, workers on other
machines plant the clips. Dask replaces a worker that dies, and another worker plants its clip again. Files that have a
report are skipped, so that no clip is lost or planted twice.

A system may log that workers end with a segmentation fault. Its cause is Blender (4.2.23, 4.5.15, 5.2.3): a process
that only imports `bpy` in any thread but the main one ends in the same way. Every report is written by then.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import dask.bag
from dask.distributed import Client, LocalCluster

ADDON = "bl_ext.user_default.ik2bone"


@cache
def blender() -> ModuleType:
    """The module `batch.plant` of the add-on, in the Blender of this process."""
    import_module("bpy")
    # Blender's own modules can be imported only after bpy.
    import_module("addon_utils").enable(ADDON, default_set=True)
    return import_module(f"{ADDON}.batch.plant")


def plant(clip: str, ground: str, output: str) -> dict[str, Any]:
    """Plant one file, and return its report."""
    batch = blender()
    return batch.plant_file(Path(clip), batch.Job(Path(output), ground=Path(ground), resume=True))


def plant_archive(client: Client, clips: Sequence[Path], ground: Path, output: Path) -> list[dict[str, Any]]:
    """Plant all clips by the workers of a client, which have one thread each, and return the reports."""
    bag = dask.bag.from_sequence(map(str, clips), npartitions=len(clips))
    return client.compute(bag.map(plant, str(ground), str(output))).result()


def main() -> None:
    """Plant the bvh and fbx files of a folder. The exit code is 1 if any of them could not be planted."""
    parser = argparse.ArgumentParser(description="Plant the bvh and fbx files of a folder on one ground.")
    for name in ("folder", "ground", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--workers", type=int, help="default: one a processor")
    given = parser.parse_args()
    clips = sorted(file for kind in ("bvh", "fbx") for file in given.folder.glob(f"*.{kind}"))
    if not clips:
        sys.exit(f"bvh or fbx files are expected in {given.folder}, and there are none")
    if not given.ground.is_file():
        sys.exit(f"a ground is expected to be a file, and there is no {given.ground}")
    cluster = LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        reports = plant_archive(client, clips, given.ground, given.output)
    sys.exit(max(map(show, reports)))


def show(told: dict[str, Any]) -> int:
    """Print the result for one file, and return 1 if anything in it was not planted, else 0."""
    errors = [entry["error"] for entry in (told, *told["actions"]) if "error" in entry]
    planted = sum("report" in entry for entry in told["actions"])
    print(told["clip"], "; ".join([f"{planted} planted", *errors]))
    return min(len(errors), 1)


if __name__ == "__main__":
    main()
