# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures of real clips on the demo's grounds: python -m tests.bench_motion [--clips PART ...] [--grounds PART ...].

Every clip is imported, planted by the operator on every ground, and judged from the keyed scene by `tests/measures.py`.
Lengths are shares of the leg, angles are degrees. PART is any part of a name in the tables. --keep FILE stores the
results, and --against FILE shows stored results beside the new ones.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from demo import session
from tests.bench_motion.clips import CLIPS, GROUNDS
from tests.bench_motion.runs import Result, run
from tests.bench_motion.tables import BODY, FEET, closing, heading, line, side_by_side
from tests.measures import Measures, shortfalls

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def main() -> None:
    """Parse the arguments, run the bench and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench_motion")
    parser.add_argument("--clips", nargs="*", default=[""], help="parts of names of clips; default: all")
    parser.add_argument("--grounds", nargs="*", default=[""], help="parts of names of grounds; default: all")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the results there")
    parser.add_argument("--against", type=Path, metavar="FILE", help="show results kept there beside those of now")
    given = parser.parse_args()
    data = Path(os.environ.get("IK2BONE_DATA", DATA))
    if not data.is_dir():
        parser.error(f"there is no folder of clips at {data}; set IK2BONE_DATA")
    then = read(given.against) if given.against else []
    logging.disable(logging.INFO)
    results, refused = bench(data, given.clips, given.grounds)
    print("", heading(BODY), *(line(result, BODY) for result in results), *closing(results, refused), sep="\n")
    if then:
        print(*side_by_side(then, results), sep="\n")
    if given.keep:
        keep(results, given.keep)
    session.leave(int(any(result.must and result.after.spans and shortfalls(result.after) for result in results)))


def bench(data: Path, clips: Sequence[str], grounds: Sequence[str]) -> tuple[list[Result], list[str]]:
    """Print a line of the feet's table for each run. Return the results, and a sentence for each refused clip."""
    bpy = session.start()
    places = [place for place in GROUNDS if _is_named(place.name, grounds)]
    print(heading(FEET), flush=True)
    results, refused = [], []
    for entry in CLIPS:
        if not _is_named(entry.name, clips):
            continue
        try:
            for result in run(bpy, entry, places, data):
                print(line(result, FEET), flush=True)
                results.append(result)
        except RuntimeError as refusal:
            refused.append(f"{entry.name}: {' '.join(str(refusal).split())}")
    return results, refused


def _is_named(name: str, parts: Sequence[str]) -> bool:
    return any(part in name for part in parts)


def keep(results: Sequence[Result], path: Path) -> None:
    """Write results as JSON."""
    path.write_text(json.dumps([asdict(result) for result in results]))


def read(path: Path) -> list[Result]:
    """Read the results that `keep` wrote."""
    rows = json.loads(path.read_text())
    measured = [{side: Measures(**row[side]) for side in ("before", "after")} for row in rows]
    return [Result(**row | sides | {"told": tuple(row["told"])}) for row, sides in zip(rows, measured, strict=True)]


if __name__ == "__main__":
    main()
