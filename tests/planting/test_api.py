# SPDX-License-Identifier: MIT
"""Planting from Python: what may be left out, what is refused and in which words, and what a plan gives back."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import ik2bone
import numpy as np
import pytest
from ik2bone import Note, Settings, plant
from ik2bone.contacts.spans import Marks, no_marks
from ik2bone.notes import WORDS
from short_walk import WALK
from walk import FLAT, HILLS, planted


def test_a_plan_is_plain_arrays(plan) -> None:
    frames, legs = WALK.frames, WALK.legs
    shapes = {"rotations": (frames, legs, 4, 4), "hips_offset": (frames, 3), "contacts": (frames, legs, 2)}
    for name, shape in (shapes | {"miss": (frames, legs)}).items():
        assert getattr(plan, name).shape == shape
    assert plan.contacts.dtype == bool
    assert np.linalg.norm(plan.rotations, axis=-1) == pytest.approx(1.0)
    assert plan.anchors and all(isinstance(note, Note) for note in plan.notes)
    json.dumps([note.data for note in plan.notes])


def test_clips_plans_and_meshes_are_shown_in_a_line_each(plan) -> None:
    """Notebooks and consoles show what the last line gives: the arrays were thousands of lines."""
    assert repr(WALK) == "<Clip: 180 frames at 60 a second, 2 legs>"
    assert repr(plan) == f"<Plan: 180 frames, 2 legs, {len(plan.anchors)} contacts, {len(plan.notes)} notes>"
    assert repr(ik2bone.Mesh(np.eye(3), [[0, 1, 2]] * 7)) == "<Mesh: 7 triangles>"


def test_applied_corrections_are_products_of_matrices(plan) -> None:
    after, twin = plan.apply(WALK), planted(WALK, plan)
    for name in ("thigh", "shin", "foot", "toe", "ball", "tip"):
        assert getattr(after, name) == pytest.approx(getattr(twin, name), abs=1e-12)
    assert np.linalg.norm(after.ankle - plan.targets.ankle, axis=-1) == pytest.approx(plan.miss, abs=1e-9)


def test_own_scales_act_before_rotations_and_are_carried_by_children(plan) -> None:
    """As Blender composes T R S: a joint's aggregate is its parent's times T R C S, C the correction."""
    scale = np.random.default_rng(1).uniform(0.7, 1.3, (WALK.frames, 2, 4, 3))
    scaled = {"scale": scale}
    for index, name in enumerate(("thigh", "shin", "foot", "toe")):
        scaled[name] = getattr(WALK, name).copy()
        scaled[name][..., :3, :3] *= scale[:, :, index, None]
    clip = replace(WALK, **scaled)
    after = plan.apply(clip)
    for frame, leg in ((17, 0), (60, 1)):
        parent_before = parent_after = np.eye(4)
        parent_after = parent_after.copy()
        parent_after[:3, 3] = plan.hips_offset[frame]
        for index, name in enumerate(("thigh", "shin", "foot", "toe")):
            old, size = getattr(clip, name)[frame, leg], np.diag([*scale[frame, leg, index], 1.0])
            local = np.linalg.inv(parent_before) @ old
            turn = np.eye(4)
            turn[:3, :3] = _rotation(plan.rotations[frame, leg, index])
            parent_after = parent_after @ local @ np.linalg.inv(size) @ turn @ size
            parent_before = old
            assert getattr(after, name)[frame, leg] == pytest.approx(parent_after, abs=1e-12)


def _rotation(q):
    w, v = q[0], q[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def test_a_plan_is_applied_to_its_own_clip_alone(plan) -> None:
    with pytest.raises(ValueError, match="clip: expected the 180 frames and 2 legs that were planned, got 50 frames"):
        plan.apply(WALK.cut(slice(0, 50)))
    with pytest.raises(TypeError, match="clip: expected a Clip, got an array"):
        plan.apply(WALK.foot)


def test_the_report_is_of_the_plan_itself(plan) -> None:
    report = plan.report()
    assert report == ik2bone.report.figures(WALK, plan.apply(WALK), plan, HILLS)
    json.dumps(report)
    assert report["before"]["penetration"] > 0.05 and report["after"]["penetration"] < 0.01
    assert 0.0 < report["after"]["hips_rms"] < report["after"]["hips_peak"]
    assert ik2bone.report.text(report).splitlines()[1].startswith("drift ")


def test_a_figure_that_is_worse_than_before_is_a_note_with_its_frame() -> None:
    plan = plant(WALK, FLAT)
    raised = plan.apply(WALK)
    foot, ball = raised.foot.copy(), raised.ball.copy()
    frame = int(np.flatnonzero(plan.contacts[:, 0, 1])[5])
    foot[frame, 0, 2, 3] += 0.1
    ball[frame, 0, 2] += 0.1
    report = ik2bone.report.figures(WALK, replace(raised, foot=foot, ball=ball), plan, FLAT)
    notes = {note["code"]: note for note in report["notes"]}
    assert notes["worse_float"]["frame"] == notes["worse_drift"]["frame"] == frame
    assert notes["worse_float"]["after"] == pytest.approx(0.1, abs=0.01)
    assert any(f"worst on frame {frame}" in sentence for sentence in report["told"])


def test_lists_in_settings_are_as_good_as_arrays(plan) -> None:
    shares, asked = np.linspace(0.0, 1.0, WALK.frames), np.array([True, False])
    of_lists = plant(WALK, HILLS, Settings(strength=shares.tolist(), asked=asked.tolist(), direction="NEAREST"))
    of_arrays = plant(WALK, HILLS, Settings(strength=shares, asked=asked, direction="NEAREST"))
    assert (of_lists.rotations == of_arrays.rotations).all()
    assert Settings(strength=shares.tolist()).cut(slice(1, None)).shares(WALK.frames - 1) == pytest.approx(shares[1:])
    marks = replace(no_marks((WALK.frames, 2, 2)), enforced=np.arange(WALK.frames * 4).reshape(-1, 2, 2) % 9 < 4)
    in_lists = Marks(*(mask.tolist() for mask in (marks.automatic, marks.enforced, marks.forbidden)))
    plans = [plant(WALK, HILLS, Settings(marks=each)) for each in (marks, in_lists)]
    assert (plans[0].rotations == plans[1].rotations).all()


def test_every_note_is_worded_once_from_its_data() -> None:
    notes = plant(WALK, FLAT, Settings(max_slope=0.1, use_hips=False)).notes
    assert all(note.code in WORDS and "{" not in str(note) for note in notes)
    assert str(Note("never_rests", {"count": 1, "of": 4})).startswith("1 of 4 limbs never come to rest")
    assert all(words == words.strip() and not words.endswith(".") for words in WORDS.values())


def test_what_a_note_counts_once_is_in_the_singular() -> None:
    assert "by up to 1 degree on 21 frames" in str(Note("heels_raised", {"degrees": 1.0, "frames": 21}))
    assert "steeper than 50.1 degrees on 1 frame:" in str(Note("steep_frames", {"degrees": 50.1, "frames": 1}))


def test_the_package_is_loaded_without_numpy_and_its_names_on_first_use() -> None:
    code = (
        "import sys, ik2bone; assert 'numpy' not in sys.modules; ik2bone.plant; ik2bone.Clip; ik2bone.report;"
        "assert callable(ik2bone.plant) and 'numpy' in sys.modules and 'plant' in dir(ik2bone)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert ik2bone.__doc__.splitlines()[2].startswith("Plant feet")
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ik2bone.nonsense  # noqa: B018
