# SPDX-License-Identifier: MIT
"""Small meshes for tests of `Mesh`."""

from __future__ import annotations

import numpy as np

DOWN = (0.0, 0.0, -1.0)
SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]])


def soup(rng, count):
    """Random triangles around a box of size 2, some of them small: vertices and triangles."""
    corners = rng.uniform(-1, 1, (count, 1, 3)) + rng.uniform(-1, 1, (count, 3, 3)) * rng.uniform(
        0.01, 1, (count, 1, 1)
    )
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)
