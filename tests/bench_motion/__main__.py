# SPDX-License-Identifier: GPL-3.0-or-later
"""How well real clips stand on real grounds: python -m tests.bench_motion [--clips PART ...] [--grounds PART ...].

Every clip is imported, planted by the operator on every ground and judged from the keyed scene by `tests/measures.py`;
lengths are shares of the leg, angles degrees. PART is any part of a name as the table shows it.
"""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from demo import session
from tests.bench_motion.clips import CLIPS, GROUNDS
from tests.bench_motion.runs import Result, run
from tests.measures import GOOD, shortfalls

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
# Heading and number format of each measure; those of `BOTH` are shown before and after.
COLUMNS = {
    "drift": ("drift", ".4f"),
    "clearance": ("clearance", ".4f"),
    "slope": ("slope", ".1f"),
    "toe_under": ("toe under", ".3f"),
    "heel_under": ("heel under", ".3f"),
    "knee_pop": ("knee pop", ".1f"),
    "foot_pop": ("foot pop", ".3f"),
    "hips_acceleration": ("hips acc", ".1f"),
    "heading": ("heading", ".1f"),
    "knee_side": ("knee side", ".1f"),
}
BOTH = ("drift", "clearance", "slope", "toe_under", "heel_under")
SPANLESS = ("drift", "clearance", "slope", "heading")


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench_motion")
    parser.add_argument("--clips", nargs="*", default=[""], help="parts of names of clips; default: all")
    parser.add_argument("--grounds", nargs="*", default=[""], help="parts of names of grounds; default: all")
    given = parser.parse_args()
    data = Path(os.environ.get("IK2BONE_DATA", DATA))
    if not data.is_dir():
        parser.error(f"there is no folder of clips at {data}; set IK2BONE_DATA")
    logging.disable(logging.INFO)
    session.leave(bench(data, given.clips, given.grounds))


def bench(data: Path, clips: Sequence[str], grounds: Sequence[str]) -> int:
    """Print a line a run and what is not good; returns 1 where a clip that must be good is not."""
    bpy = session.start()
    places = [place for place in GROUNDS if _is_named(place.name, grounds)]
    print(heading(), flush=True)
    results, refused = [], []
    for entry in CLIPS:
        if not _is_named(entry.name, clips):
            continue
        try:
            for result in run(bpy, entry, places, data):
                print(line(result), flush=True)
                results.append(result)
        except RuntimeError as refusal:
            refused.append(f"{entry.name}: {' '.join(str(refusal).split())}")
    print(*closing(results, refused), sep="\n")
    return int(any(result.must and shortfalls(result.after) for result in results))


def _is_named(name: str, parts: Sequence[str]) -> bool:
    return any(part in name for part in parts)


def heading() -> str:
    """Names of the columns, and under them what is good."""
    titles = [f"{title:>{_width(name)}}" for name, (title, _) in COLUMNS.items()]
    good = [f"{'<= ' + format(GOOD[name], 'g'):>{_width(name)}}" for name in COLUMNS]
    first = f"{'clip':34}{'ground':13}{'spans':>6}" + "".join(titles) + f"{'seconds':>9}"
    return f"{first}\n{'good':53}" + "".join(good)


def _width(name: str) -> int:
    return 18 if name in BOTH else 11


def line(result: Result) -> str:
    """One run: before and after, or after alone, with a mark beside what is not good."""
    cells = [_cell(result, name) for name in COLUMNS]
    return f"{result.clip:34}{result.ground:13}{result.after.spans:6}" + "".join(cells) + f"{result.seconds:9.2f}"


def _cell(result: Result, name: str) -> str:
    if name in SPANLESS and not result.after.spans:
        return f"{'- ':>{_width(name)}}"
    form, after = COLUMNS[name][1], getattr(result.after, name)
    # Sources pop against themselves by less than nothing.
    text = format(max(after, 0.0), form) + ("!" if after > GOOD[name] else " ")
    if name in BOTH:
        text = f"{format(getattr(result.before, name), form)} {text:>7}"
    return f"{text:>{_width(name)}}"


def closing(results: Sequence[Result], refused: Sequence[str]) -> list[str]:
    """What is not judged, what was refused, and what is not good."""
    unjudged = sorted({result.clip for result in results if not result.after.spans})
    lines = ["", f"not judged, no span in which a toe stands: {', '.join(unjudged) or 'none'}"]
    lines += [f"refused: {sentence}" for sentence in refused]
    runs = [result for result in results if result.after.spans]
    for must, title in ((True, "clips that must be good"), (False, "other clips")):
        chosen = [result for result in runs if result.must == must]
        short = {(r.clip, r.ground): shortfalls(r.after) for r in chosen}
        lines.append(f"{title}: {sum(not found for found in short.values())} of {len(chosen)} runs good")
        for (clip, ground), found in short.items():
            listed = ", ".join(f"{COLUMNS[name][0]} {format(value, COLUMNS[name][1])}" for name, value in found.items())
            lines += [f"  {clip} on {ground}: {listed}"] if found else []
        reasons = {result.clip: result.reason for result in chosen if result.reason and shortfalls(result.after)}
        lines += [f"  {clip}: {reason}" for clip, reason in reasons.items()]
    return lines


if __name__ == "__main__":
    main()
