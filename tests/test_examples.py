# SPDX-License-Identifier: MIT
"""The notebooks run from the first cell to the last, draw pictures, and do what their text says."""

from __future__ import annotations

import json
from pathlib import Path

import ik2bone
import numpy as np
import pytest

from examples import bvh, formula_walk

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# The axis that points up in shared clips, and their joints of the left leg from hip to toes.
CLIPS = {
    "cmu_131_01_startwalkstop": ("Y", ("LeftHip", "LeftKnee", "LeftAnkle", "LeftToe")),
    "ad_zombie_walk": ("Z", ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase")),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that runs a notebook in an empty folder, with other parameters and more cells, and returns it."""
    nbformat = pytest.importorskip("nbformat", reason="needs nbclient: pip install .[test]")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient: pip install .[test]")
    for module in ("ipykernel", "ipywidgets", "matplotlib"):
        pytest.importorskip(module, reason=f"needs {module}: pip install .[test]")
    monkeypatch.setenv("PYTHONPATH", f"{EXAMPLES}:{Path(ik2bone.__file__).parents[1]}")
    monkeypatch.setattr("jupyter_client.channels.AsyncZMQSocketChannel.send", _send_and_look)

    def execute(name, *more, **parameters):
        notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
        notebook.cells += [nbformat.v4.new_code_cell(source) for source in more]
        if parameters:
            (given,) = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
            given.source += "".join(f"\n{name} = {value!r}" for name, value in parameters.items())
        client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
        return client.execute()

    return execute


def _send_and_look(channel, message):
    """Send a message to the kernel, then check whether the kernel has replied.

    A widget's message is sent while nbclient waits for the reply of the widget's cell. Sending uses up the only signal
    of a reply that has arrived, and nbclient would wait until its timeout (github.com/jupyter/nbclient/issues/312).
    """
    import zmq

    channel.session.send(channel.socket, message)
    channel.socket.get(zmq.EVENTS)


def pictures(notebook):
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def printed(notebook):
    """The text that the last cell printed."""
    return "".join(output["text"] for output in notebook.cells[-1].outputs if output.output_type == "stream")


def test_notebooks_are_stored_without_outputs():
    names = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
    assert names == ["bvh_clip", "limits", "million_limbs", "one_leg"]
    for name in names:
        cells = json.loads((EXAMPLES / f"{name}.ipynb").read_text())["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), name


def test_one_leg_is_solved_by_hand_as_by_the_package(run):
    notebook = run("one_leg", "print(np.abs(new_knee - solved.mid).max() < 1e-12, np.allclose(pose.position, target))")
    assert printed(notebook) == "True True\n"
    assert pictures(notebook) == 4


def test_a_million_limbs_all_reach_their_targets(run):
    notebook = run("million_limbs", "print(len(solved.miss), (solved.status == 0).all())")
    assert printed(notebook) == "1000000 True\n"
    assert pictures(notebook) == 2


def test_sliders_solve_and_draw_again(run):
    moved = "limits.children[0].value, limits.children[2].value = 0.0, 120"
    # A slider's function draws into an output of its own, whose content the kernel knows only after the cell's end.
    read = "print(json.dumps([str(output) for output in limits.out.outputs]))"
    notebook = run("limits", f"import json\n{read}", moved, read)
    before, after = ("".join(json.loads(printed_by(cell))) for cell in (notebook.cells[-3], notebook.cells[-1]))
    assert "image/png" in before and "image/png" in after
    assert "knee at" in before and "knee at 120.0 degrees" in after


def printed_by(cell):
    return "".join(output["text"] for output in cell.outputs if output.output_type == "stream")


FIGURES = "import json\nprint(json.dumps([report[side]['penetration'] / clip.leg for side in ('before', 'after')]))"


def test_a_walk_is_made_planted_and_written(run, tmp_path):
    notebook = run("bvh_clip", FIGURES)
    before, after = json.loads(printed(notebook))
    assert before > 0.05 and after < 0.001
    assert pictures(notebook) == 3
    assert bvh.read(tmp_path / "planted.bvh").motion.shape == bvh.read(tmp_path / "walk.bvh").motion.shape


@pytest.mark.parametrize("name", CLIPS)
def test_recorded_clips_are_planted_and_written(run, data, tmp_path, name):
    up, left = CLIPS[name]
    legs = [left, tuple(joint.replace("Left", "Right") for joint in left)]
    notebook = run("bvh_clip", FIGURES, CLIP=str(data / "bvh" / f"{name}.bvh"), UP=up, LEGS=legs)
    before, after = json.loads(printed(notebook))
    assert after < 0.01 < before
    assert (tmp_path / "planted.bvh").is_file()


@pytest.mark.parametrize("order", ["XYZ", "YZX", "ZXY", "XZY", "ZYX", "YXZ"])
def test_rotations_come_back_from_channels_of_any_order(tmp_path, order):
    formula_walk.write_walk(tmp_path / "walk.bvh")
    text = (tmp_path / "walk.bvh").read_text()
    turns = " ".join(f"{axis}rotation" for axis in order)
    (tmp_path / "other.bvh").write_text(text.replace("Xrotation Yrotation Zrotation", turns))
    clip = bvh.read(tmp_path / "other.bvh")
    quaternions = np.random.default_rng(0).normal(size=(len(clip.motion), 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    joint = clip.joint("LeftLeg")
    found = clip.turned(joint, quaternions).rotations()
    assert np.abs(np.sum(found[:, joint] * quaternions, axis=1)) == pytest.approx(1.0, abs=1e-12)
    others = np.arange(len(clip.names)) != joint
    assert np.array_equal(found[:, others], clip.rotations()[:, others])


def test_what_is_written_is_read_again(tmp_path):
    formula_walk.write_walk(tmp_path / "walk.bvh")
    clip = bvh.read(tmp_path / "walk.bvh")
    bvh.write(clip, tmp_path / "again.bvh")
    again = bvh.read(tmp_path / "again.bvh")
    assert again.fps == pytest.approx(60) and np.allclose(again.motion, clip.motion, atol=1e-6)
    assert (again.names, again.parents) == (clip.names, clip.parents)


@pytest.mark.parametrize(
    ("text", "message"), [("HIERARCHY\n", "expected a BVH file"), ("", "expected a BVH file"), (None, "30 numbers")]
)
def test_files_that_are_no_clips_are_told(tmp_path, text, message):
    formula_walk.write_walk(tmp_path / "walk.bvh")
    lines = (tmp_path / "walk.bvh").read_text().splitlines()
    (tmp_path / "broken.bvh").write_text("\n".join(lines[:-1]) if text is None else text)
    with pytest.raises(ValueError, match=f"broken.bvh: .*{message}"):
        bvh.read(tmp_path / "broken.bvh")


def test_joints_that_are_not_there_are_told_with_those_that_are(tmp_path):
    formula_walk.write_walk(tmp_path / "walk.bvh")
    with pytest.raises(ValueError, match=r"expected a joint of Hips, Chest, .*, got Tail"):
        bvh.read(tmp_path / "walk.bvh").joint("Tail")
