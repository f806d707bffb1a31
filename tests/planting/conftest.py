# SPDX-License-Identifier: MIT
"""The fixture that several tests of planting share."""

from __future__ import annotations

import pytest
from ik2bone import Plan, plant
from short_walk import WALK
from walk import HILLS


@pytest.fixture(scope="session")
def plan() -> Plan:
    """A short walk planted on hills."""
    return plant(WALK, HILLS)
