# SPDX-License-Identifier: MIT
"""Random calls and meshes, for so many seconds, and the laws that they break: python -m tests.fuzz --help."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter

import numpy as np

from tests.fuzz.trials import Finding, mesh_trial, trial

SOLVERS = ("solve", "solve_pose")
SHOWN = 20


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (60)")
    parser.add_argument("--rows", type=int, default=60_000, help="rows of the largest calls (60000)")
    parser.add_argument("--seed", type=int, default=None, help="to repeat a run; else a new one is taken and printed")
    parser.add_argument("--call", type=int, default=None, help="only the call of this number, to repeat a finding")
    return parser.parse_args(arguments)


def told(finding: Finding, number: int, repeat: str) -> str:
    """A finding with the numbers of its first row."""
    call = finding.call
    lines = [
        f"call {number}, {call.function.name}: {finding.law}",
        f"  {finding.count} rows of {call.count}, first {finding.row}",
    ]
    lines += [f"  {call.extent}, {call.kind}, {call.words}, parents {call.function.before}"]
    for name, values in call.values.items():
        row = call.whole(name).reshape(-1, *call.function.inputs[name])[finding.row : finding.row + 1]
        shown = np.array2string(row, floatmode="unique", separator=", ").replace("\n", "")
        lines.append(f"  {name} {values.dtype}{values.shape}: {shown}")
    return "\n".join([*lines, f"  {repeat}"])


def main(arguments: list[str]) -> int:
    given = parsed(arguments)
    seed = secrets.randbits(32) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    calls: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    found, start = 0, time.monotonic()
    number = given.call or 0
    while time.monotonic() - start < given.seconds:
        call, findings = trial(seed, number, given.rows)
        calls[call.function.name] += 1
        rows[call.function.name] += call.count
        for finding in findings:
            found += 1
            if found <= SHOWN:
                print(
                    told(finding, number, f"python -m tests.fuzz --seed {seed} --rows {given.rows} --call {number}"),
                    flush=True,
                )
        for law in mesh_trial(seed, number):
            found += 1
            print(f"mesh {number} of seed {seed}: {law}", flush=True)
        number += 1
        if given.call is not None:
            break
    for name in calls:
        print(f"{name:10} {calls[name]:8} calls {rows[name]:12} rows")
    solved = sum(rows[name] for name in SOLVERS)
    seconds = time.monotonic() - start
    print(f"{solved} rows solved, {sum(calls.values())} calls and as many meshes in {seconds:.0f} s, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
