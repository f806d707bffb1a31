# SPDX-License-Identifier: MIT
"""Types of the compiled functions; shapes, units and meanings are in their docstrings.

`_Numbers` is any buffer or sequence of numbers; `_Out` is a buffer of the caller's, which is returned itself. `build`
names the build of the loops that runs; for tests, the environment variable IK2BONE_BUILD chooses it before the import.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar, overload

from numpy import float64
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Buffer, CapsuleType

from ik2bone.results import Hits, PoseSolution, Rotations, Solution

_Numbers: TypeAlias = ArrayLike | Buffer

# Before Python 3.12 numpy does not tell type checkers that its arrays are buffers.
_Writable: TypeAlias = Buffer | NDArray[Any]
_Out = TypeVar("_Out", bound=_Writable)

build: str

def solve(
    root: _Numbers,
    mid: _Numbers,
    end: _Numbers,
    target: _Numbers,
    *,
    bend: Literal["carried", "nearest"] = "carried",
    pole: _Numbers | None = None,
    pole_weight: _Numbers = 1.0,
    twist: _Numbers = 0.0,
    hinge: _Numbers | None = None,
    soften: _Numbers = 1.0,
    weight: _Numbers = 1.0,
    min_angle: _Numbers = 0.0,
    max_angle: _Numbers = 3.141592653589793,
    cone_axis: _Numbers | None = None,
    cone_angle: _Numbers = 3.141592653589793,
    out: tuple[_Writable, _Writable, _Writable, _Writable] | None = None,
) -> Solution: ...
def orient(
    root_matrix: _Numbers,
    mid_matrix: _Numbers,
    end: _Numbers,
    new_mid: _Numbers,
    new_end: _Numbers,
    *,
    roll: Literal["pose", "hinge"] = "pose",
    hinge: _Numbers | None = None,
    root_scale: _Numbers | None = None,
    mid_scale: _Numbers | None = None,
    out: tuple[_Writable, _Writable] | None = None,
) -> Rotations: ...
@overload
def aggregate(
    parents: Sequence[int] | NDArray[Any],
    translation: _Numbers,
    rotation: _Numbers,
    scale: _Numbers | None = None,
    *,
    rest: _Numbers | None = None,
    base: _Numbers | None = None,
    out: None = None,
) -> NDArray[Any]: ...
@overload
def aggregate(
    parents: Sequence[int] | NDArray[Any],
    translation: _Numbers,
    rotation: _Numbers,
    scale: _Numbers | None = None,
    *,
    rest: _Numbers | None = None,
    base: _Numbers | None = None,
    out: _Out,
) -> _Out: ...
@overload
def solve_pose(
    root_matrix: _Numbers,
    mid_matrix: _Numbers,
    end: _Numbers,
    target: _Numbers,
    *,
    bend: Literal["carried", "nearest"] = "carried",
    roll: Literal["pose", "hinge"] = "pose",
    pole: _Numbers | None = None,
    pole_weight: _Numbers = 1.0,
    twist: _Numbers = 0.0,
    hinge: _Numbers | None = None,
    soften: _Numbers = 1.0,
    weight: _Numbers = 1.0,
    min_angle: _Numbers = 0.0,
    max_angle: _Numbers = 3.141592653589793,
    cone_axis: _Numbers | None = None,
    cone_angle: _Numbers = 3.141592653589793,
    root_scale: _Numbers | None = None,
    mid_scale: _Numbers | None = None,
    end_matrix: None = None,
    end_goal: None = None,
    out: tuple[_Writable, _Writable, _Writable | None, _Writable, _Writable, _Writable] | None = None,
) -> PoseSolution[None]: ...
@overload
def solve_pose(
    root_matrix: _Numbers,
    mid_matrix: _Numbers,
    end: _Numbers,
    target: _Numbers,
    *,
    bend: Literal["carried", "nearest"] = "carried",
    roll: Literal["pose", "hinge"] = "pose",
    pole: _Numbers | None = None,
    pole_weight: _Numbers = 1.0,
    twist: _Numbers = 0.0,
    hinge: _Numbers | None = None,
    soften: _Numbers = 1.0,
    weight: _Numbers = 1.0,
    min_angle: _Numbers = 0.0,
    max_angle: _Numbers = 3.141592653589793,
    cone_axis: _Numbers | None = None,
    cone_angle: _Numbers = 3.141592653589793,
    root_scale: _Numbers | None = None,
    mid_scale: _Numbers | None = None,
    end_matrix: _Numbers,
    end_goal: _Numbers | None = None,
    out: tuple[_Writable, _Writable, _Writable, _Writable, _Writable, _Writable] | None = None,
) -> PoseSolution[NDArray[Any]]: ...
@overload
def pole_of(
    root: _Numbers, mid: _Numbers, end: _Numbers, *, hinge: _Numbers | None = None, out: None = None
) -> NDArray[Any]: ...
@overload
def pole_of(root: _Numbers, mid: _Numbers, end: _Numbers, *, hinge: _Numbers | None = None, out: _Out) -> _Out: ...
@overload
def hinge_of(root_matrix: _Numbers, mid_matrix: _Numbers, end: _Numbers, *, out: None = None) -> NDArray[Any]: ...
@overload
def hinge_of(root_matrix: _Numbers, mid_matrix: _Numbers, end: _Numbers, *, out: _Out) -> _Out: ...
@overload
def multiply(q: _Numbers, r: _Numbers, *, out: None = None) -> NDArray[Any]: ...
@overload
def multiply(q: _Numbers, r: _Numbers, *, out: _Out) -> _Out: ...
def smooth_within(rows: NDArray[float64], stiffness: float, /) -> None: ...
def smooth_path(rows: NDArray[float64], stiffness: float, /) -> None: ...
def fill_dips(values: NDArray[float64], most: float, /) -> None: ...
def build_mesh(vertices: _Numbers, triangles: _Numbers, /) -> CapsuleType: ...
def measure_mesh(mesh: CapsuleType, /) -> bytes: ...
def cross_mesh(
    mesh: CapsuleType, /, points: _Numbers, direction: _Numbers, *, into: _Numbers | None = None
) -> tuple[bytes, str]: ...
def cast_at_mesh(
    mesh: CapsuleType,
    /,
    origins: _Numbers,
    directions: _Numbers,
    *,
    out: tuple[_Writable, _Writable, _Writable] | None = None,
) -> Hits: ...
def nearest_of_mesh(
    mesh: CapsuleType, /, points: _Numbers, *, out: tuple[_Writable, _Writable, _Writable] | None = None
) -> Hits: ...
