# SPDX-License-Identifier: MIT
"""Build the Blender extension: `addon/`, the package's wheel and the user guide in a zip, checked by Blender's tool."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# If this file runs as a script, the import path has only this file's folder.
sys.path.append(str(ROOT))
STAGE, GUIDE = ROOT / "build" / "extension", "guide.html"
# Blender's names of platforms, by the beginning and end of the platform tag in a wheel's name.
PLATFORMS = {
    ("linux", "x86_64"): "linux-x64",
    ("manylinux", "x86_64"): "linux-x64",
    ("linux", "aarch64"): "linux-arm64",
    ("manylinux", "aarch64"): "linux-arm64",
    ("win", "amd64"): "windows-x64",
    ("win", "arm64"): "windows-arm64",
    ("macosx", "x86_64"): "macos-x64",
    ("macosx", "arm64"): "macos-arm64",
}


def main(output: Path) -> None:
    """Build the extension into `output`, with all wheels in that folder, and validate it.

    The process ends with the exit code of Blender's tool if the tool fails.
    """
    wheels = sorted(output.glob("ik2bone-*.whl"))
    if not wheels:
        sys.exit(f"A wheel of ik2bone is expected in {output}; run make wheel.")
    stage(wheels)
    for old in output.glob("ik2bone-*.zip"):
        old.unlink()
    tool = blender_tool()
    run(tool, "build", "--source-dir", str(STAGE), "--output-dir", str(output))
    run(tool, "validate", *map(str, output.glob("ik2bone-*.zip")))


def stage(wheels: list[Path]) -> None:
    """Copy the add-on, the licence and the wheels into the stage, and make the user guide there.

    Only the staged manifest names the wheels, so that the working tree needs none.
    """
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree(ROOT / "addon", STAGE, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "LICENSE", STAGE)
    (STAGE / GUIDE).write_text(guide_page(ROOT / "docs"), encoding="utf-8")
    (STAGE / "wheels").mkdir()
    for wheel in wheels:
        shutil.copy(wheel, STAGE / "wheels")
    manifest = STAGE / "blender_manifest.toml"
    text, versions = manifest.read_text(), {wheel.name.split("-")[1] for wheel in wheels}
    if any(f'\nversion = "{version}"\n' not in text for version in versions):
        sys.exit(f"{manifest.name}: expected the version of the package, {', '.join(sorted(versions))}.")
    listed = json.dumps([f"./wheels/{wheel.name}" for wheel in wheels])
    platforms = json.dumps(sorted({platform_of(wheel) for wheel in wheels}))
    # The keys are put in front, because a key after a table would belong to the table.
    manifest.write_text(f"wheels = {listed}\nplatforms = {platforms}\n{text}")


def guide_page(docs: Path) -> str:
    """The HTML page of the user guide, made with a library of the optional group `test`."""
    try:
        from tools.guide_page import build
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed; run pip install markdown-it-py.")
    return build(docs)


def platform_of(wheel: Path) -> str:
    """Blender's name of a wheel's platform."""
    tag = wheel.stem.split("-")[-1].split(".")[0]
    for (system, machine), name in PLATFORMS.items():
        if tag.startswith(system) and tag.endswith(machine):
            return name
    sys.exit(f"{wheel.name}: expected a wheel for one of {', '.join(sorted(set(PLATFORMS.values())))}.")


def blender_tool() -> Path:
    """Blender's extension tool inside the installed `bpy`, found without an import of `bpy`."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        sys.exit("The bpy module is not installed; run make wheel.")
    return next(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))


def run(tool: Path, *arguments: str) -> None:
    """Run Blender's tool. If the tool fails, end the process with the tool's exit code."""
    code = subprocess.run([sys.executable, str(tool), *arguments], check=False).returncode
    if code:
        sys.exit(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
