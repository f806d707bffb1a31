# SPDX-License-Identifier: GPL-3.0-or-later
"""An archive of clips under Dask: a worker that is killed in between loses no clip, and none is planted twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import biped
import pytest

pytest.importorskip("distributed", reason="needs Dask: pip install distributed")
# Which Dask needs too.
psutil = pytest.importorskip("psutil")

ROOT = Path(__file__).resolve().parents[2]
CLIPS, KINDS = 8, ("blend", "json")
# Longer than any of it takes, in seconds.
PATIENCE = 120


@pytest.fixture
def archive(bpy, walker, tmp_path):
    """A folder of clips that differ by their names only, and a ground."""
    bpy.ops.export_anim.bvh(filepath=str(tmp_path / "0.bvh"), frame_end=biped.LAST, rotate_mode="NATIVE")
    slope = biped.make_slope(bpy)
    bpy.data.objects.remove(walker)
    slope.select_set(True)
    bpy.ops.wm.obj_export(filepath=str(tmp_path / "slope.obj"), export_selected_objects=True)
    for number in range(1, CLIPS):
        shutil.copy(tmp_path / "0.bvh", tmp_path / f"{number}.bvh")
    return tmp_path


def test_a_killed_worker_loses_no_clip_and_none_is_planted_twice(archive):
    output, command = archive / "planted", [sys.executable, ROOT / "examples" / "archive.py", archive]
    command += [archive / "slope.obj", output, "--workers=2"]
    planting = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    done = wait_for_reports(output, CLIPS // 4)
    os.kill(a_worker_of(planting.pid), signal.SIGKILL)
    told, _ = planting.communicate(timeout=PATIENCE)
    lines = [line for line in told.splitlines() if line.endswith(" 1 planted")]
    assert lines == [f"{archive / f'{n}.bvh'} 1 planted" for n in range(CLIPS)]
    assert {path.stat().st_mtime_ns for path in output.glob("*.json")} >= done
    assert {path.name for path in output.glob("[!.]*")} == {f"{n}.{kind}" for n in range(CLIPS) for kind in KINDS}


def a_worker_of(parent):
    children = psutil.Process(parent).children(recursive=True)
    return next(child.pid for child in children if any("spawn_main" in text for text in child.cmdline()))


def wait_for_reports(output, count):
    """When the first reports were written."""
    end = time.monotonic() + PATIENCE
    while len(reports := list(output.glob("[!.]*.json"))) < count:
        assert time.monotonic() < end
        time.sleep(0.01)
    return {path.stat().st_mtime_ns for path in reports}


def test_the_command_and_dask_make_the_same_of_a_folder(archive):
    for number in range(2, CLIPS):
        (archive / f"{number}.bvh").unlink()
    command = [sys.executable, ROOT / "examples" / "batch.py", archive, "--ground", archive / "slope.obj"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    lines = ended.stdout.splitlines()
    assert ended.returncode == 0 and lines[-1] == "All runs made the same reports.", ended.stderr
    counts = ["2", "2", str(2 * (biped.LAST + 1))]
    assert [line[16:].split()[:3] for line in lines[1:4]] == [counts] * 3


def test_a_run_that_breaks_off_is_told_with_what_it_left_out(tmp_path):
    from examples import batch

    present, missing = batch.reports_of([tmp_path / "a.bvh", tmp_path / "b.bvh"], tmp_path)
    present.write_text("{}")
    broken, unplanted = ["-c", "raise SystemError('broken')"], ["-c", "raise SystemExit(1)"]
    assert min(batch.measure(unplanted, [present])) >= 0.0
    with pytest.raises(SystemExit, match=r"(?s)SystemError: broken.*no report: b\.json"):
        batch.measure(broken, [present, missing])
    with pytest.raises(SystemExit, match="exit code 1"):
        batch.measure(unplanted)


def test_a_zip_that_is_missing_or_no_extension_is_told(tmp_path):
    (tmp_path / "clip.bvh").touch()
    (tmp_path / "broken.zip").write_text("no zip")
    assert run("batch", tmp_path, "--zip", tmp_path / "none.zip") == (
        f"--zip: expected a file, and there is no {tmp_path / 'none.zip'}\n"
    )
    told = f"{tmp_path / 'broken.zip'} is no zip of the extension\nA run failed: exit code 1\n"
    assert run("batch", tmp_path, "--zip", tmp_path / "broken.zip").endswith(told)


def test_folders_without_clips_and_missing_grounds_are_told(tmp_path):
    nothing = f"bvh or fbx files are expected in {tmp_path}, and there are none\n"
    assert run("batch", tmp_path) == nothing
    assert run("archive", tmp_path, tmp_path / "slope.obj", tmp_path) == nothing
    (tmp_path / "clip.bvh").touch()
    slope = tmp_path / "slope.obj"
    assert run("batch", tmp_path, "--ground", slope) == f"--ground: expected a file, and there is no {slope}\n"
    told = f"a ground is expected to be a file, and there is no {slope}\n"
    assert run("archive", tmp_path, slope, tmp_path) == told


def run(name, *arguments):
    """What an example tells as it ends with 1."""
    ended = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py", *arguments], capture_output=True, text=True
    )
    assert ended.returncode == 1
    return ended.stderr


def test_actions_that_were_refused_do_not_count_as_planted(capsys):
    from examples import archive

    actions = [{"action": "walk", "report": {}}, {"action": "idle", "error": "no legs"}]
    assert archive.show({"clip": "a.glb", "actions": actions}) == 1
    assert archive.show({"clip": "b.bvh", "actions": [], "error": "no file"}) == 1
    assert archive.show({"clip": "c.bvh", "actions": actions[:1]}) == 0
    lines = ["a.glb 1 planted; no legs", "b.bvh 0 planted; no file", "c.bvh 1 planted"]
    assert capsys.readouterr().out.splitlines() == lines


def test_runs_that_differ_are_told(capsys):
    from examples import batch

    planted = {"clip": {"actions": [{"report": {"frames": [1, 5]}}]}}
    assert batch.show(iter([("one", 1.0, 1.0, planted), ("other", 1.0, 1.0, {"clip": {"actions": []}})])) == 1
    assert capsys.readouterr().out.endswith("The runs differ.\n")
