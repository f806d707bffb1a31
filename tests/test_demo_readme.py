# SPDX-License-Identifier: MIT
"""The README's Python runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

README = Path(__file__).resolve().parent.parent / "README.md"


def test_the_solver_example_runs_and_reaches_its_goals():
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict = {}
    exec(compile(example, str(README), "exec"), names)
    assert names["hip_rotation"].shape == (240, 4)
    assert np.allclose(names["turn"].position, names["goals"])
