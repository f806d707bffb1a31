# SPDX-License-Identifier: MIT
"""Build the Blender extension: `addon/` and the package's wheel in one zip, checked by Blender's own tool."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGE = ROOT / "build" / "extension"


def main(output: Path) -> None:
    """Stage, build into `output`, validate; the exit code is that of Blender's tool."""
    wheels = sorted(output.glob("ik2bone-*.whl"))
    if len(wheels) != 1:
        sys.exit(f"One wheel of ik2bone is expected in {output}, got {len(wheels)}; run make wheel.")
    stage(wheels[0])
    for old in output.glob("ik2bone-*.zip"):
        old.unlink()
    tool = blender_tool()
    run(tool, "build", "--source-dir", str(STAGE), "--output-dir", str(output))
    run(tool, "validate", *map(str, output.glob("ik2bone-*.zip")))


def stage(wheel: Path) -> None:
    """Copy the add-on and the wheel; the manifest names the wheel here only, so that the working tree needs none."""
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree(ROOT / "addon", STAGE, ignore=shutil.ignore_patterns("__pycache__"))
    (STAGE / "wheels").mkdir()
    shutil.copy(wheel, STAGE / "wheels")
    manifest = STAGE / "blender_manifest.toml"
    text, version = manifest.read_text(), wheel.name.split("-")[1]
    if f'\nversion = "{version}"\n' not in text:
        sys.exit(f"{manifest.name}: expected the version of the package, {version}.")
    # In front, because a key after a table would belong to the table.
    manifest.write_text(f'wheels = ["./wheels/{wheel.name}"]\n{text}')


def blender_tool() -> Path:
    """Blender's extension tool inside the installed `bpy`, found without importing it."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        sys.exit("The bpy module is not installed; run make wheel.")
    return next(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))


def run(tool: Path, *arguments: str) -> None:
    """Run Blender's tool, ending with its exit code where it fails."""
    code = subprocess.run([sys.executable, str(tool), *arguments], check=False).returncode
    if code:
        sys.exit(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
