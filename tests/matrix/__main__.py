# SPDX-License-Identifier: MIT
"""Use the extension in every Blender from 4.2 on: `python -m tests.matrix DIST [FOLDER] [VERSION ...]`.

The newest zip in DIST is installed in the official module `bpy` of each version. Each version has its own virtual
environment in FOLDER, which is kept for the next run. A table shows which steps worked and which versions did not run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
STEPS = Path(__file__).with_name("steps.py")
# The longest time for the steps in one version, in seconds, enough on a busy machine too.
PATIENCE = 900


class Blender(NamedTuple):
    """A version of Blender, the only Python in which its module runs, and the numpy for which the module is built."""

    version: str
    python: str
    numpy: str = "numpy"


BLENDERS = (
    *(Blender(version, "3.11", "numpy<2") for version in ("4.2", "4.3", "4.4", "4.5")),
    Blender("5.0", "3.11"),
    *(Blender(version, "3.13") for version in ("5.1", "5.2")),
)


class Missing(Exception):
    """The reason why a version cannot be run here."""


def main(distribution: Path, folder: Path, versions: list[str]) -> int:
    """Run the steps in each version, print the table, and return the exit code: 1 if any step failed or none ran."""
    zips = sorted(distribution.glob("ik2bone-*.zip"), key=lambda path: path.stat().st_mtime)
    if not zips:
        sys.exit(f"A zip of the extension is expected in {distribution}; run make extension.")
    told = {}
    for blender in BLENDERS:
        if not versions or blender.version in versions:
            print(f"Blender {blender.version} ...", file=sys.stderr, flush=True)
            told[blender.version] = run(blender, zips[-1].resolve(), folder)
    print("\n".join(table(told)))
    worked = [outcome["ok"] for result in told.values() for outcome in result["steps"].values()]
    return 0 if worked and all(worked) else 1


def run(blender: Blender, archive: Path, folder: Path) -> dict:
    """The results of one version: the `build` that ran or the reason why it is `missing`, and the `steps` by name."""
    try:
        python = environment(blender, folder / blender.version)
    except Missing as missing:
        return {"missing": str(missing), "steps": {}}
    with tempfile.TemporaryDirectory(prefix="ik2bone-matrix-") as place:
        report = Path(place) / "report.json"
        # The user folder has to be empty, because Blender does not unpack a wheel of the same version again.
        settings = os.environ | {"BLENDER_USER_RESOURCES": place, "PYTHONPATH": str(ROOT / "tests" / "blender")}
        command = [python, STEPS, archive, report]
        ended = subprocess.run(command, env=settings, cwd=place, capture_output=True, text=True, timeout=PATIENCE)
        told = json.loads(report.read_text()) if report.exists() else {"steps": {}}
    if ended.returncode:
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        why = lines[-1] if lines else f"Blender ended with {ended.returncode}"
        told["steps"][told.get("doing", "start")] = {"ok": False, "why": why}
    return told


def environment(blender: Blender, folder: Path) -> Path:
    """The Python of a virtual environment with this Blender. Raises `Missing` if it cannot be made."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if python.exists() and not ended_with(python, "-c", "import bpy"):
        return python
    shutil.rmtree(folder, ignore_errors=True)
    made = ended_with(find_python(blender.python), "-m", "venv", folder)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    made = made or ended_with(*pip, f"bpy=={blender.version}.*", blender.numpy)
    if made:
        shutil.rmtree(folder, ignore_errors=True)
        raise Missing(made)
    return python


def find_python(version: str) -> Path:
    """A Python of a version: the running one, one with the usual name, or one of pyenv. Raises `Missing` else."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for found in (sys.executable, shutil.which(name), *sorted(pyenv.glob(f"{version}*/bin/{name}"))):
        # The commands that pyenv puts on the path exist also for versions that are not chosen, and then fail.
        if found and not ended_with(found, "-c", f"import sys; assert sys.version.startswith('{version}.')"):
            return Path(found)
    raise Missing(f"Python {version} is not installed")


def ended_with(*command: str | Path) -> str:
    """The last line of a failing command's errors, or an empty text if the command succeeds."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = ended.stderr.strip().splitlines() or ["it tells nothing"]
    return lines[-1] if ended.returncode else ""


def table(told: dict[str, dict]) -> list[str]:
    """The lines of a table with a row for each version and a column for each step, and the reasons of failures."""
    steps = list(dict.fromkeys(name for result in told.values() for name in result["steps"]))
    rows = [["Blender", "Python", *steps]]
    for version, result in told.items():
        build = result.get("build", {"blender": version, "python": "-"})
        outcomes = [result["steps"].get(name) for name in steps]
        cells = ["-" if outcome is None else "ok" if outcome["ok"] else "FAILED" for outcome in outcomes]
        rows.append([build["blender"], build["python"], *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += [f"{version} was not run: {result['missing']}" for version, result in told.items() if "missing" in result]
    failures = ((version, *step) for version, result in told.items() for step in result["steps"].items())
    return lines + [f"{version}, {name}: {step['why']}" for version, name, step in failures if not step["ok"]]


if __name__ == "__main__":
    given = sys.argv[2:]
    chosen = [text for text in given if text in {blender.version for blender in BLENDERS}]
    places = [Path(text) for text in given if text not in chosen] or [ROOT / "build" / "matrix"]
    sys.exit(main(Path(sys.argv[1]), places[0].resolve(), chosen))
