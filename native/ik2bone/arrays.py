# SPDX-License-Identifier: MIT
"""The arrays of planting by what they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


def put_in(mine: NDArray[Any], theirs: NDArray[Any], limbs: Mask, axis: int = 1) -> NDArray[Any]:
    """Rows along an axis for all limbs, those of some limbs (L,) put in between those of the others."""
    return np.take(np.concatenate([mine, theirs], axis), np.argsort(np.argsort(limbs, kind="stable")), axis)
