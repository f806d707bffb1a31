# SPDX-License-Identifier: MIT
"""The Python of the README and of the guide to contacts runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from ik2bone.contacts.spans import read_spans

ROOT = Path(__file__).resolve().parent.parent


def run(path, using=""):
    """Run the one example of plain Python in a document that uses something, and return its names."""
    examples = re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
    (example,) = [example for example in examples if using in example]
    names: dict = {}
    exec(compile(example, str(path), "exec"), names)
    return names


def test_the_planting_example_runs_and_feet_stand_on_its_ground():
    names = run(ROOT / "README.md", "ik2bone.plant(")
    report = names["plan"].report()
    assert report["before"]["penetration"] > 0.05
    assert report["after"]["penetration"] < 0.001 and report["after"]["float"] < 0.003


def test_the_solver_example_runs_and_reaches_its_goals():
    names = run(ROOT / "README.md", "solve_pose")
    assert names["hip_rotation"].shape == (240, 4)
    assert np.allclose(names["turn"].position, names["goals"])


def test_the_contacts_example_runs_and_gets_the_contacts_back():
    names = run(ROOT / "docs" / "contacts.md")
    assert names["found"].all()
    assert read_spans(re.search(r"```json\n(.*?)```", (ROOT / "docs" / "contacts.md").read_text(), re.DOTALL)[1])
