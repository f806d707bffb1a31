# SPDX-License-Identifier: MIT
"""Types of the arrays that planting uses, and the merging of rows of limbs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


def put_in(mine: NDArray[Any], theirs: NDArray[Any], limbs: Mask, axis: int = 1) -> NDArray[Any]:
    """Return rows of all limbs along `axis`: `theirs` for the mask `limbs` (L,), `mine` for all other limbs."""
    return np.take(np.concatenate([mine, theirs], axis), np.argsort(np.argsort(limbs, kind="stable")), axis)
