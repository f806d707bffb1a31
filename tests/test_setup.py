# SPDX-License-Identifier: MIT
"""The set-up names missing parts of the system before it downloads anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def fails(tmp_path):
    """A function that runs the set-up with a changed environment and script, and returns the message of its failure."""
    if sys.version_info[:2] not in ((3, 11), (3, 13)):
        pytest.skip("set up by Python 3.11 or 3.13 alone")

    def run(old="", new="", **changes):
        script = tmp_path / "setup.sh"
        script.write_text((ROOT / "tools" / "setup.sh").read_text().replace(old, new))
        names = {"PYTHON": sys.executable, "VENV": str(tmp_path / "venv")}
        answer = subprocess.run(
            ["sh", script, "blender"], env=os.environ | names | changes, capture_output=True, text=True
        )
        assert answer.returncode == 1
        assert not (tmp_path / "venv").exists()
        return answer.stderr

    return run


def test_a_missing_compiler_is_told_first(fails):
    told = "The C compiler nocc is missing or does not work: install gcc, or name another by CC=.\n"
    assert fails(CC="nocc") == told


def test_missing_libraries_are_told_by_name_with_what_to_install(fails):
    told = fails(old='LIBRARIES="', new='LIBRARIES="libnone.so.9 libnothing.so.1 ')
    assert told.startswith("Blender needs libnone.so.9 libnothing.so.1: install libx11-6 ")


def test_another_python_is_told(fails, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 3.10\n")
    python.chmod(0o755)
    assert "Python 3.11 (Blender 4.5) or 3.13 (Blender 5.2) is needed" in fails(PYTHON=str(python))
