# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the speed of planting and of IK constraints with Bake Action: python -m tests.bench.planting [PART ...].

PART is any part of the names of clips. --publish puts the tables into docs/speed.md instead. Times are processor time,
the least of several rounds. Plans are made with the arguments that the operator uses.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from demo import session
from tests.bench import characters
from tests.bench.page import markdown, number, processor, publish
from tests.bench.timed import timed
from tests.bench_motion import runs
from tests.bench_motion.clips import CLIPS, Entry, Place
from tests.bench_motion.planning import Call, watched

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
RIG = next(entry for entry in CLIPS if entry.name == "cmu_131_01_startwalkstop")
RIG_LEGS = [(f"{side}Hip", f"{side}Knee", f"{side}Ankle") for side in ("Left", "Right")]
GROUND = Place("hills", 0)
# The greatest time of a plan, as a share of the time of a bake of as many frames, by gait.
AIMS = {"walk": 0.25, "uneven walk": 0.25, "dance": 0.5}
FRAMES = (1_000, 10_000, 100_000)
ROUNDS = 3
# The setting that differs in a second run: how far hips may come down (leg lengths).
SECOND = {"max_drop": 0.2}
# How many times as fast as the bake a first run should be, and a second run with SECOND, by character.
CHARACTERS = {
    "31 bones, bare": (2.5, 8.0),
    "159 bones, Rigify's metarig": (20.0, 60.0),
    "31 bones beside 50,592 skinned vertices": (40.0, 100.0),
}
# A clip in place, and a short walk.
LONG_CLIP, CROWD_CLIP = "cmu_ic_005_02_dance", "cmu_ic_002_01_walk"
METARIG_LEGS = [(f"thigh.{side}", f"shin.{side}", f"foot.{side}") for side in "LR"]
CROWD = 100


@dataclass(frozen=True)
class Times:
    """The seconds for one clip: of the plan alone and of the whole operator, and of both again with SECOND."""

    gait: str
    frames: int
    plan: float
    operator: float
    second_plan: float
    second_operator: float


def seconds(work: Callable[[], Any]) -> float:
    """The processor time of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def bake_seconds(bpy, data: Path, frames: int) -> float:
    """The seconds of Bake Action on the legs of a bare rig of 31 bones."""
    session.reset(bpy)
    return bake(bpy, runs.load(bpy, RIG, data).armature, RIG_LEGS, frames)


def bake(bpy, armature, legs: list[tuple[str, str, str]], frames: int) -> float:
    """The seconds of Bake Action, from visual transforms, on legs that have an IK constraint each."""
    for bone in armature.pose.bones:
        # Up to Blender 4.5, bones have the flag `select`, from 5.0 on pose bones.
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = any(bone.name in leg for leg in legs)
    for _, shin, foot in legs:
        target = bpy.data.objects.new(foot, None)
        bpy.context.scene.collection.objects.link(target)
        target.matrix_world = armature.matrix_world @ armature.pose.bones[foot].matrix
        constraint = armature.pose.bones[shin].constraints.new("IK")
        constraint.target, constraint.chain_count = target, 2
    bpy.ops.object.mode_set(mode="POSE")
    options = {"only_selected": True, "visual_keying": True, "bake_types": {"POSE"}}
    return min(seconds(lambda: bpy.ops.nla.bake(frame_start=1, frame_end=frames, **options)) for _ in range(ROUNDS))


def plant_seconds(bpy, entry: Entry, data: Path) -> tuple[Times, Call]:
    """The times of one clip on hills of 100,000 triangles, and a call of the planner for this clip."""
    session.reset(bpy)
    subject = runs.load(bpy, entry, data)
    surface, rounds = runs.lay(bpy, GROUND, subject.way).name, []
    for _ in range(ROUNDS):
        start_over(bpy)
        first, operator = operate(bpy, surface=surface)
        _, second_operator = operate(bpy, surface=surface, **SECOND)
        rounds.append((first.seconds, operator, second_seconds(first), second_operator))
    return Times(entry.gait, len(subject.frames), *np.min(rounds, axis=0)), first


def operate(bpy, **options) -> tuple[Call, float]:
    """Run the operator, and return its only call of the planner and the operator's seconds."""
    with watched(time.process_time) as calls:
        spent = seconds(lambda: bpy.ops.ik2bone.plant_feet(**options))
    (call,) = calls
    return call, spent


def second_seconds(call: Call) -> float:
    """The seconds of a plan with SECOND that reuses what it can from the first plan of a call."""
    from ik2bone.plan import plant

    clip, ground, settings, sole, offset = call.given[:5]
    first = plant(clip, ground, settings, sole, offset)
    return seconds(lambda: plant(clip, ground, replace(settings, **SECOND), sole, offset, first))


def growth(call: Call, frames: int) -> tuple[float, float]:
    """The seconds and the peak memory (bytes) of a plan for a clip played to and fro for this number of frames."""
    from ik2bone.plan import plant

    clip, ground = call.given[:2]
    there_and_back = np.r_[: clip.frames, clip.frames - 2 : 0 : -1]
    long = clip.cut(np.resize(there_and_back, frames))
    spent = seconds(lambda: plant(long, ground))
    # A second run traces memory, because tracing takes time. Its clip has no cached values yet, so that they count as
    # memory of the plan.
    long = replace(long)
    tracemalloc.start()
    plant(long, ground)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return spent, peak


def table(measured: dict[str, Times], bakes: dict[int, float]) -> Iterator[str]:
    """A table with a row per clip: milliseconds and, in brackets, the share of the bake."""
    rows = [["clip", "frames", "bake", "plan", "aim", "plan again", "operator", "operator again"]]
    for name, times in measured.items():
        bake = bakes[times.frames]
        shares = [f"{number(1000 * value)} ({value / bake:.2f})"
                  for value in (times.plan, times.second_plan, times.operator, times.second_operator)]  # fmt: skip
        aim = f"{AIMS[times.gait]}" + ("" if times.plan <= AIMS[times.gait] * bake else " missed")
        rows.append([name, f"{times.frames:,}", number(1000 * bake), shares[0], aim, *shares[1:]])
    return markdown(rows)


def growth_table(call: Call) -> Iterator[str]:
    rows = [["frames", "plan, s", "ms a 1,000 frames", "peak, MB", "KB a frame"]]
    for frames in FRAMES:
        spent, peak = growth(call, frames)
        values = (spent, 1e6 * spent / frames, peak / 1e6, peak / 1e3 / frames)
        rows.append([f"{frames:,}", *map(number, values)])
    return markdown(rows)


@dataclass(frozen=True)
class Speed:
    """The seconds of the bake, and those of a first and a second run of the operator, by stage and as a whole."""

    frames: int
    bake: float
    stages: tuple[dict[str, float], dict[str, float]]


def character(bpy, data: Path, name: str) -> Speed:
    """The speed of one of the CHARACTERS, which walks over hills."""
    session.reset(bpy)
    subject = runs.load(bpy, RIG, data)
    rig, legs, frames = subject.armature, RIG_LEGS, subject.frames
    if "metarig" in name:
        rig, legs = characters.metarig(bpy, rig, frames), METARIG_LEGS
    elif "skinned" in name:
        characters.skin(bpy, rig)
    surface, rounds = runs.lay(bpy, GROUND, runs.way_of(rig, frames)).name, []
    for _ in range(ROUNDS):
        start_over(bpy)
        rounds.append([staged(bpy, surface=surface, **given) for given in ({}, SECOND)])
    start_over(bpy)
    least = [{stage: min(run[stage] for run in runs_) for stage in runs_[0]} for runs_ in zip(*rounds, strict=True)]
    return Speed(len(frames), bake(bpy, rig, legs, len(frames)), (least[0], least[1]))


def start_over(bpy) -> None:
    """Remove planted actions and all cached results, so that the next run is a first run."""
    planted = [action for action in bpy.data.actions if action.get("ik2bone_source")]
    if planted:
        bpy.ops.ik2bone.restore()
    for action in planted:
        bpy.data.actions.remove(action)
    importlib.import_module(f"{session.ADDON}.bounded").forget()


def staged(bpy, **options) -> dict[str, float]:
    """The seconds of one run of the operator, as a whole and by stage."""
    with timed() as spent:
        whole = seconds(lambda: bpy.ops.ik2bone.plant_feet(**options))
    return {"whole": whole, **spent, "rest": whole - sum(spent.values())}


def character_tables(speeds: dict[str, Speed]) -> Iterator[str]:
    """Two tables: how many times as fast as the bake each character is planted, and milliseconds by stage."""
    rows = [
        ["character", "frames", "bake, ms", "first, ms", "times as fast", "aim", "again, ms", "times as fast", "aim"]
    ]
    for name, speed in speeds.items():
        row = [name, f"{speed.frames:,}", number(1000 * speed.bake)]
        for spent, aim in zip(speed.stages, CHARACTERS[name], strict=True):
            times = speed.bake / spent["whole"]
            row += [number(1000 * spent["whole"]), number(times), f"{aim:g}" + ("" if times >= aim else " missed")]
        rows.append(row)
    yield from markdown(rows)
    yield ""
    rows = [["milliseconds", *next(iter(speeds.values())).stages[0]]]
    for name, speed in speeds.items():
        for run, spent in zip(("first", "again"), speed.stages, strict=True):
            rows.append([f"{name}, {run}", *(number(1000 * value) for value in spent.values())])
    yield from markdown(rows)


def crowd_seconds(bpy, data: Path) -> dict[int, tuple[float, float]]:
    """The seconds of a first and a second run of the operator, for one character and for a crowd, by their number."""
    found = {}
    for count in (1, CROWD):
        session.reset(bpy)
        subject = runs.load(bpy, next(entry for entry in CLIPS if entry.name == CROWD_CLIP), data)
        surface = runs.lay(bpy, GROUND, subject.way).name
        characters.crowd(bpy, subject.armature, count)
        start_over(bpy)
        first, again = (staged(bpy, surface=surface, **given)["whole"] for given in ({}, SECOND))
        found[count] = first, again
    return found


def crowd_table(found: dict[int, tuple[float, float]]) -> Iterator[str]:
    rows = [["characters", "first, s", "ms a character", "again, s", "ms a character"]]
    for count, spent in found.items():
        rows.append([str(count), *(number(value) for whole in spent for value in (whole, 1000 * whole / count))])
    return markdown(rows)


def long_run(bpy, data: Path, frames: int) -> tuple[float, float]:
    """The seconds of the operator, and the growth of peak memory (bytes), for a clip repeated over so many frames.

    The clip is in place, so that it stays on the ground.
    """
    session.reset(bpy)
    subject = runs.load(bpy, next(entry for entry in CLIPS if entry.name == LONG_CLIP), data)
    action = subject.armature.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, frames
    actions = importlib.import_module(f"{session.ADDON}.keys.actions")
    for curve in actions.assigned(subject.armature).curves:
        curve.modifiers.new("CYCLES")
    surface = runs.lay(bpy, GROUND, subject.way).name
    start_over(bpy)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent = seconds(lambda: bpy.ops.ik2bone.plant_feet(surface=surface))
    return spent, 1024.0 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def long_table(found: dict[int, tuple[float, float]]) -> Iterator[str]:
    rows = [["frames", "operator, s", "ms a 1,000 frames", "more memory, MB", "KB a frame"]]
    for frames, (spent, peak) in found.items():
        rows.append([f"{frames:,}", *map(number, (spent, 1e6 * spent / frames, peak / 1e6, peak / 1e3 / frames))])
    return markdown(rows)


def page(data: Path, parts: list[str]) -> Iterator[str]:
    """All lines of the page: the machine, the clips, long clips, the characters and the crowd."""
    bpy = session.start()
    # This module needs mathutils, which can be imported only after bpy.
    from demo.picture import silence

    chosen = [entry for entry in CLIPS if entry.gait in AIMS and any(part in entry.name for part in parts)]
    measured, calls = {}, {}
    for entry in chosen:
        try:
            with silence():
                measured[entry.name], calls[entry.name] = plant_seconds(bpy, entry, data)
        except RuntimeError as error:
            # Planting refuses clips without feet.
            print(f"{entry.name} is not measured: {error}", file=sys.stderr)
    with silence():
        bakes = {frames: bake_seconds(bpy, data, frames) for frames in {times.frames for times in measured.values()}}
    yield f"{processor()}, Blender {bpy.app.version_string}, numpy {np.__version__}."
    yield "Milliseconds, and in brackets the share of the bake.\n"
    yield from table(measured, bakes)
    if RIG.name not in calls:
        return
    yield ""
    yield from growth_table(calls[RIG.name])
    with silence():
        # Memory comes first, because only growth beyond the process's earlier peak is measured.
        long = {frames: long_run(bpy, data, frames) for frames in FRAMES}
        speeds = {name: character(bpy, data, name) for name in CHARACTERS}
        found = crowd_seconds(bpy, data)
    for lines in (long_table(long), character_tables(speeds), crowd_table(found)):
        yield ""
        yield from lines


def missing(data: Path) -> str:
    """A phrase that names what the measurement lacks on this system; empty if it lacks nothing."""
    if importlib.util.find_spec("bpy") is None:
        return "bpy is not installed"
    return "" if data.is_dir() else f"there is no folder of clips at {data}; set IK2BONE_DATA"


def main(parts: list[str]) -> None:
    """Print the page, or put it into docs/speed.md."""
    logging.disable(logging.INFO)
    data = Path(os.environ.get("IK2BONE_DATA", DATA))
    if lack := missing(data):
        print(f"Not measured: planting, as {lack}.")
        return
    if parts == ["--publish"]:
        publish("Planting, measured", "\n".join(page(data, [""])))
    else:
        for line in page(data, parts or [""]):
            print(line, flush=True)
    session.leave(0)


if __name__ == "__main__":
    main(sys.argv[1:])
