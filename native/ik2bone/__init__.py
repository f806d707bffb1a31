# SPDX-License-Identifier: MIT
"""Two-bone inverse kinematics for whole animations, and feet planted on uneven ground.

Points and directions are (..., 3), matrices (..., 4, 4) with column vectors, quaternions (..., 4) as w, x, y, z, angles
radians, lengths of any one unit. Leading dimensions broadcast, options included. A correction is multiplied on the
right of a joint's present local rotation. A hinge is cross(root - mid, end - mid) of a limb bent on its natural side.
Each function tells what its options mean: help(ik2bone.solve).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ik2bone._core import Mesh, aggregate, hinge_of, multiply, orient, pole_of, solve, solve_pose
from ik2bone.results import Crossings, Hits, PoseSolution, Rotations, Solution, Status

if TYPE_CHECKING:
    from ik2bone.contacts.detect import find_contacts

__version__ = "0.1.0"
__all__ = [
    "Crossings",
    "Hits",
    "Mesh",
    "PoseSolution",
    "Rotations",
    "Solution",
    "Status",
    "aggregate",
    "find_contacts",
    "hinge_of",
    "multiply",
    "orient",
    "pole_of",
    "solve",
    "solve_pose",
]


def __dir__() -> list[str]:
    """All names, loaded or not."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Load the planting on first use: it needs numpy, which the solver does without."""
    if name == "find_contacts":
        from ik2bone.contacts.detect import find_contacts

        return find_contacts
    raise AttributeError(f"module 'ik2bone' has no attribute '{name}'")
