# SPDX-License-Identifier: MIT
"""Random calls and meshes for a number of seconds, judged by the fast twin and by laws on each build of the loops.

See python -m tests.fuzz --help. The exit status is 1 if there are findings, or if the run of a build failed.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from collections import Counter

import numpy as np
from ik2bone import _core

from tests.fuzz.trials import Finding, mesh_trial, trial

BUILDS = ("plain", "avx2", "avx512")
SHOWN = 20


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on, all builds together (60)")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the largest calls (20000)")
    parser.add_argument("--seed", type=int, default=None, help="to repeat a run; else a new one is taken and printed")
    parser.add_argument("--build", choices=BUILDS, help="only this build; else each that this processor has, in turn")
    parser.add_argument("--trial", type=int, default=None, help="only the trial of this number, to repeat a finding")
    return parser.parse_args(arguments)


def told(finding: Finding, repeat: str) -> str:
    """The text for a finding, with the numbers of its first row and the command to repeat it."""
    call = finding.call
    lines = [
        f"{call.function.name}: {finding.law}",
        f"  {finding.count} rows of {call.count}, first {finding.row}",
        f"  {call.extent}, {call.kind}, {call.words}, parents {call.function.before}",
    ]
    for name, values in call.values.items():
        row = call.whole(name).reshape(-1, *call.function.inputs[name])[finding.row : finding.row + 1]
        shown = np.array2string(row, floatmode="unique", separator=", ").replace("\n", "")
        lines.append(f"  {name} {values.dtype}{values.shape}: {shown}")
    return "\n".join([*lines, f"  {repeat}"])


def run(given: argparse.Namespace, seed: int) -> int:
    """Run trials on the build in use: the number of findings."""
    rows: Counter[tuple[str, str]] = Counter()
    found, number, start = 0, given.trial or 0, time.monotonic()
    while time.monotonic() - start < given.seconds:
        repeat = f"python -m tests.fuzz --build {_core.build} --seed {seed} --rows {given.rows} --trial {number}"
        for call, findings in trial(seed, number, given.rows):
            rows[call.function.name, str(call.kind)] += call.count
            for finding in findings:
                found += 1
                if found <= SHOWN:
                    print(told(finding, repeat), flush=True)
        for law in mesh_trial(seed, number):
            found += 1
            print(f"mesh: {law}\n  {repeat}", flush=True)
        number += 1
        if given.trial is not None:
            break
    for (name, kind), count in sorted(rows.items()):
        print(f"{_core.build:7} {name:10} {kind:8} {count:13,} rows")
    seconds = time.monotonic() - start
    print(
        f"{_core.build}: {sum(rows.values()):,} rows and {number} meshes in {seconds:.0f} s, {found} findings",
        flush=True,
    )
    return found


def main(arguments: list[str]) -> int:
    given = parsed(arguments)
    seed = secrets.randbits(32) if given.seed is None else given.seed
    if given.build == _core.build:
        print(f"seed {seed}", flush=True)
        return 1 if run(given, seed) else 0
    builds = [given.build] if given.build else list(BUILDS[: BUILDS.index(_core.build) + 1])
    rest = ["--seconds", str(given.seconds / len(builds)), "--rows", str(given.rows)]
    rest += [] if given.trial is None else ["--trial", str(given.trial)]
    ended = []
    for place, build in enumerate(builds):
        command = [sys.executable, "-m", "tests.fuzz", *rest, "--build", build, "--seed", str(seed + place)]
        ended.append(subprocess.run(command, env=os.environ | dict(IK2BONE_BUILD=build)).returncode)
    return 1 if any(ended) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
