# SPDX-License-Identifier: MIT
"""Put the folders of the test helpers on the import path, and find the folder of real clips."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS), str(TESTS / "synthetic")]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real clips, which is not part of the project. Tests that need it are skipped without it."""
    folder = Path(os.environ.get("IK2BONE_DATA", TESTS.parent.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no folder of clips at {folder}; set IK2BONE_DATA")
    return folder
