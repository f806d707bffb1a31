# SPDX-License-Identifier: MIT
"""Types of the arrays that planting uses, and the merging of rows of limbs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


def put_in(mine: NDArray[Any], theirs: NDArray[Any], limbs: Mask, axis: int = 1) -> NDArray[Any]:
    """Return rows of all limbs along `axis`: `theirs` for the mask `limbs` (L,), `mine` for all other limbs."""
    return np.take(np.concatenate([mine, theirs], axis), np.argsort(np.argsort(limbs, kind="stable")), axis)


def by_limbs(limbs: Mask, one: Callable[[Mask], Any], other: Callable[[Mask], Any]) -> Any:
    """What `one` makes of the limbs of a mask (L,), beside what the `other` makes of all other limbs."""
    if limbs.all():
        return one(limbs)
    rest = other(~limbs)
    return rest.beside(one(limbs), limbs) if limbs.any() else rest
