# SPDX-License-Identifier: GPL-3.0-or-later
"""The time of sampling a clip in bulk from F-curves and by stepping its frames: python -m tests.bench.sampling."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from demo import session
from tests.bench.page import markdown, number
from tests.bench.planting import DATA, ROUNDS, missing, seconds
from tests.bench_motion.clips import CLIPS, Entry

SHOWN = ("cmu_131_01_startwalkstop", "cmu_01_01_hops_turn", "ad_jesse_dance", "KayKit_Knight:Walking_A")


class Times(NamedTuple):
    """A clip's frames and bones, the seconds of both ways, and the ankles' greatest difference (leg lengths)."""

    frames: int
    bones: int
    bulk: float
    stepped: float
    apart: float


def measure(bpy, entry: Entry, data: Path) -> Times:
    """Sample a clip in both ways, ROUNDS times each. Raises RuntimeError if it cannot be sampled in bulk."""
    # These modules need mathutils, which can be imported only after bpy.
    from demo import clips, picture

    names = ("rig.find", "rig.body", "pose.sample", "pose.curves")
    find, trunk, sampling, curves = (import_module(f"{session.ADDON}.{name}") for name in names)
    session.reset(bpy)
    with picture.silence():
        armature = clips.load(bpy, data / entry.path, entry.action)
    frames = range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1)
    legs = find.find_legs(armature, (frames[0], frames[-1]))
    hips, found = trunk.find_hips(armature, legs), []

    def sample():
        found.append(sampling.sample(armature, legs, hips, frames))

    bulk = min(seconds(sample) for _ in range(ROUNDS))
    if not found[-1].in_bulk:
        raise RuntimeError(f"{entry.name} is not sampled in bulk")
    with mock.patch.object(curves, "tell_all", return_value=False):
        stepped = min(seconds(sample) for _ in range(ROUNDS))
    apart = np.linalg.norm(found[0].clip.ankle - found[-1].clip.ankle, axis=-1).max() / found[0].clip.leg
    return Times(len(frames), len(armature.pose.bones), bulk, stepped, float(apart))


def table(measured: dict[str, Times]) -> Iterator[str]:
    rows = [["clip", "frames", "bones", "in bulk, ms", "stepped, ms", "times as fast", "apart, legs"]]
    for name, (frames, bones, bulk, stepped, apart) in measured.items():
        times = [number(value) for value in (1000 * bulk, 1000 * stepped, stepped / bulk)]
        rows.append([name, f"{frames:,}", str(bones), *times, f"{apart:.0e}"])
    return markdown(rows)


def main() -> None:
    data = Path(os.environ.get("IK2BONE_DATA", DATA))
    if lack := missing(data):
        print(f"Not measured: sampling, as {lack}.")
        return
    bpy = session.start()
    print(*table({entry.name: measure(bpy, entry, data) for entry in CLIPS if entry.name in SHOWN}), sep="\n")
    session.leave(0)


if __name__ == "__main__":
    main()
