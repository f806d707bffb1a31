# SPDX-License-Identifier: MIT
"""The core alone gives the same digits by every compiler, on ARM, and where the highest byte is the first.

Missing compilers and emulators are skipped; Debian has gcc-aarch64-linux-gnu, gcc-s390x-linux-gnu and qemu-user.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "tests" / "portable.c", *sorted((ROOT / "native" / "core").glob("*.c"))]
# As setup.py has them; without -O3, which takes a minute longer and changes no digit.
FLAGS = ["-std=c11", "-O0", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-w", "-static"]
CGLM = [os.environ.get("CGLM_INCLUDE_DIR", ""), "/usr/include", "/usr/local/include"]
PLATFORMS = {
    "gcc": ("gcc", []),
    "clang": ("clang", []),
    "ARM": ("aarch64-linux-gnu-gcc", ["qemu-aarch64"]),
    "big-endian": ("s390x-linux-gnu-gcc", ["qemu-s390x"]),
}


def headers(folder: Path) -> Path:
    """A folder with cglm alone, as that of the system holds headers of this processor."""
    found = next((Path(place, "cglm") for place in CGLM if place and Path(place, "cglm", "cglm.h").is_file()), None)
    if found is None:
        pytest.skip("the headers of cglm are in none of the usual places")
    (folder / "include").mkdir()
    (folder / "include" / "cglm").symlink_to(found)
    return folder / "include"


def digits(platform: str, folder: Path) -> str:
    """What the program of that platform prints for its results."""
    compiler, runner = PLATFORMS[platform]
    missing = [name for name in (compiler, *runner) if not shutil.which(name)]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    include, program = headers(folder), folder / "portable"
    command = [compiler, *FLAGS, "-Inative/core", f"-I{include}", *map(str, SOURCES), "-o", str(program), "-lm"]
    subprocess.run(command, cwd=ROOT, check=True)
    return subprocess.run([*runner, program], check=True, capture_output=True, text=True).stdout.split()[0]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    return digits("gcc", tmp_path_factory.mktemp("host"))


@pytest.mark.parametrize("platform", ["clang", "ARM", "big-endian"])
def test_digits_are_those_of_gcc_on_this_processor(platform: str, expected: str, tmp_path: Path) -> None:
    assert digits(platform, tmp_path) == expected
