# SPDX-License-Identifier: MIT
"""The measured cases: arguments and options of each function for a number of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ik2bone
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
JOINTS = 100
FUNCTIONS = ("solve", "orient", "solve_pose", "aggregate", "pole_of")


@dataclass(frozen=True)
class Case:
    """One call: its positional arrays, its options, and the number of rows by which its time is divided."""

    function: str
    rows: int
    arrays: tuple[Array, ...]
    parents: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def strided(array: Array) -> Array:
    """The same numbers in every second element of the last axis of a larger array."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def rotations(rng: np.random.Generator, count: int) -> Array:
    q, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    return q * np.linalg.det(q)[:, None, None]


def matrices(linear: Array, at: Array) -> Array:
    result = np.zeros((len(at), 4, 4))
    result[:, :3, :3], result[:, :3, 3], result[:, 3, 3] = linear, at, 1
    return result


def points(rng: np.random.Generator, count: int) -> list[Array]:
    """The root, mid and end of random limbs, and targets, some of them out of reach."""
    root = rng.normal(size=(count, 3))
    mid = root + rng.normal(size=(count, 3))
    return [root, mid, mid + rng.normal(size=(count, 3)), root + rng.normal(size=(count, 3))]


def solve_options(rng: np.random.Generator, count: int) -> dict[str, Any]:
    """All options of `solve` at once, to measure the time of all."""
    return dict(
        pole=rng.normal(size=(count, 3)),
        hinge=rng.normal(size=(count, 3)),
        cone_axis=rng.normal(size=(count, 3)),
        **dict(pole_weight=0.7, twist=0.1, soften=0.9, weight=0.8, min_angle=0.3, max_angle=3.0, cone_angle=1.0),
    )


def scales(rng: np.random.Generator, count: int) -> dict[str, Any]:
    return {name: rng.uniform(0.5, 2, (count, 3)) for name in ("root_scale", "mid_scale")}


def arguments(function: str, rng: np.random.Generator, count: int) -> tuple[list[Array], dict[str, Any]]:
    """The positional arrays and all options of a function."""
    root, mid, end, target = points(rng, count)
    if function == "solve":
        return [root, mid, end, target], solve_options(rng, count)
    if function == "pole_of":
        return [root, mid, end], dict(hinge=rng.normal(size=(count, 3)))
    transforms = [matrices(rotations(rng, count), at) for at in (root, mid)]
    if function == "orient":
        return [*transforms, end, *ik2bone.solve(root, mid, end, target)[:2]], dict(
            roll="hinge", hinge=rng.normal(size=(count, 3)), **scales(rng, count)
        )
    ends = {name: matrices(rotations(rng, count), end) for name in ("end_matrix", "end_goal")}
    options = dict(solve_options(rng, count), roll="hinge", **ends, **scales(rng, count))
    return [*transforms, end, target], options


def skeletons(rng: np.random.Generator, count: int) -> tuple[list[Array], dict[str, Any]]:
    """Translations and rotations of skeletons over frames, with scale and rest as options."""
    shape = (max(1, count // JOINTS), min(count, JOINTS))
    arrays = [rng.normal(size=(*shape, 3)), rng.normal(size=(*shape, 4))]
    rest = matrices(rotations(rng, shape[1]), rng.normal(size=(shape[1], 3)))
    return arrays, dict(scale=rng.uniform(0.5, 2, (*shape, 3)), rest=rest)


def make(function: str, rows: int, kind: str, layout: str = "contiguous", with_options: bool = False) -> Case:
    """A case of random rows, repeated after 4,096. A single row has arrays without the axis of rows."""
    rng = np.random.default_rng(0)
    if function == "aggregate":
        arrays, options = skeletons(rng, rows)
        parents: tuple[Any, ...] = (np.maximum(np.arange(-1, arrays[0].shape[1] - 1), -1),)
    else:
        arrays, options = arguments(function, rng, min(rows, 4096))
        parents = ()
        repeat = lambda a: np.resize(a, (rows, *a.shape[1:])) if rows > 1 else a[0]  # noqa: E731
        arrays = [repeat(a) for a in arrays]
        options = {k: repeat(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    placed = strided if layout == "strided" else np.ascontiguousarray
    arrays = [placed(a.astype(kind)) for a in arrays]
    options = {k: placed(v.astype(kind)) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    count = arrays[0].shape[0] * arrays[0].shape[1] if parents else rows
    return Case(function, count, tuple(arrays), parents, options if with_options else {})
