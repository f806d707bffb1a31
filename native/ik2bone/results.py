# SPDX-License-Identifier: MIT
"""The results of the solver and of meshes: named tuples of arrays, and the flags of a limb's status."""

from __future__ import annotations

from enum import IntFlag
from operator import index
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:  # with `out` the solver works without numpy
    import numpy as np
    from numpy.typing import NDArray

End = TypeVar("End")


class Status(IntFlag):
    """What happened to a row, as one uint8; 0 if the end lies on its target, or goes part of the way by weight."""

    REACHED = 0
    TOO_FAR = 1  # the target is beyond the bare bones
    TOO_CLOSE = 2  # the target is nearer than the bare bones can fold
    SOFTENED = 4  # softening holds the end back
    LIMITED = 8  # an angle limit or the cone holds the end back
    SINGULAR = 16  # the bend is not determined, so that an arbitrary one was taken; the target may be reached
    INVALID = 32  # alone: bad numbers, a bone without length, a singular matrix
    MISSED = 47  # mask of all flags with which the end can miss

    @classmethod
    def _missing_(cls, value: object) -> Any:
        """Return combined flags from integers of any type; by itself an enumeration takes only those of Python."""
        return super()._missing_(index(value))  # type: ignore[arg-type]


class Solution(NamedTuple):
    """Joint positions of `solve`."""

    mid: NDArray[Any]  # (..., 3)
    end: NDArray[Any]  # (..., 3)
    miss: NDArray[Any]  # (...) distance from this end to the target
    status: NDArray[np.uint8]  # (...) Status


class Rotations(NamedTuple):
    """Corrections of `orient`, quaternions w, x, y, z."""

    root: NDArray[Any]  # (..., 4)
    mid: NDArray[Any]  # (..., 4)


class PoseSolution(NamedTuple, Generic[End]):
    """Corrections of `solve_pose`, quaternions w, x, y, z, and where they put the end joint."""

    root: NDArray[Any]  # (..., 4)
    mid: NDArray[Any]  # (..., 4)
    end: End  # (..., 4), None without end_matrix
    position: NDArray[Any]  # (..., 3)
    miss: NDArray[Any]  # (...) distance from this position to the target
    status: NDArray[np.uint8]  # (...) Status


class Crossings(NamedTuple):
    """The places where lines meet a mesh, from `Mesh.crossings`: one row each, sorted by line and then by distance."""

    row: NDArray[np.int64]  # (K,) index of the line
    distance: NDArray[Any]  # (K,) along the direction's unit vector, negative behind the point
    triangle: NDArray[np.int64]  # (K,)


class Hits(NamedTuple):
    """The results of `Mesh.cast` and `Mesh.nearest`, one row a ray or a point."""

    point: NDArray[Any]  # (..., 3), NaN where nothing was met
    normal: NDArray[Any]  # (..., 3) unit normal of the triangle, NaN where nothing was met
    triangle: NDArray[np.int64]  # (...), -1 where nothing was met
