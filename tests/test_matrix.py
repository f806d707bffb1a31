# SPDX-License-Identifier: MIT
"""The output of the matrix of Blender versions: a row per version, with the reason if it fails or is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.matrix import __main__ as matrix

FAKE = """
import json, sys
steps = {"install": {"ok": True}, "layer": {"ok": False, "why": "no strip"}}
told = {"build": {"blender": "4.2.0", "python": "3.11.0"}, "steps": steps}
open(sys.argv[2], "w").write(json.dumps(told | {"doing": "batch"}))
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A function that runs the matrix with a script instead of the steps: the exit code and the printed lines."""
    (tmp_path / "ik2bone-0.1.0.zip").touch()

    def run(script, *versions):
        steps = tmp_path / "steps.py"
        steps.write_text(script)
        monkeypatch.setattr(matrix, "STEPS", steps)
        code = matrix.main(tmp_path, tmp_path / "environments", list(versions))
        return code, capsys.readouterr().out.splitlines()

    return run


def test_versions_without_a_python_are_told(run, monkeypatch):
    monkeypatch.setattr(matrix, "BLENDERS", tuple(each._replace(python="9.9") for each in matrix.BLENDERS))
    code, lines = run(FAKE)
    versions = ("4.2", "4.3", "4.4", "4.5", "5.0", "5.1", "5.2")
    wanted = [f"{version} was not run: Python 9.9 is not installed" for version in versions]
    assert code == 1 and lines[-7:] == wanted
    assert [line.split()[0] for line in lines[1:8]] == list(versions)


def test_steps_that_fail_and_those_that_end_the_process_are_told(run, monkeypatch):
    monkeypatch.setattr(matrix, "environment", lambda *_: Path(sys.executable))
    code, lines = run(FAKE + "sys.exit('it crashed')", "4.2")
    assert code == 1
    assert lines[0].split() == ["Blender", "Python", "install", "layer", "batch"]
    assert lines[1].split() == ["4.2.0", "3.11.0", "ok", "FAILED", "FAILED"]
    assert lines[2:] == ["4.2, layer: no strip", "4.2, batch: it crashed"]


def test_all_that_works_is_told_by_the_exit_code(run, monkeypatch):
    monkeypatch.setattr(matrix, "environment", lambda *_: Path(sys.executable))
    assert run(FAKE.replace('"ok": False, "why": "no strip"', '"ok": True'), "4.2")[0] == 0


def test_an_environment_that_cannot_be_made_leaves_no_half_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr(matrix, "find_python", lambda _version: Path(sys.executable))
    monkeypatch.setattr(matrix, "ended_with", lambda *command: "no such release" if "pip" in command else "")
    with pytest.raises(matrix.Missing, match="no such release"):
        matrix.environment(matrix.BLENDERS[0], tmp_path / "4.2")
    assert not (tmp_path / "4.2").exists()


def test_this_python_is_found_by_its_version():
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert matrix.find_python(here) == Path(sys.executable)
