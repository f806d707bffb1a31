# SPDX-License-Identifier: MIT
"""Grounds as users pass them: meshes, height functions and callables, whose answers are checked."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..arrays import Array, Mask
from ..clip import Clip
from ..mesh import Mesh
from ..rotations import dot, length_of, unit
from .query import Ground, MovingGround, ask, may_move, support_of
from .surfaces import Surface, Surfaces

# Slopes of a height function are differences over this distance (leg lengths): 1 mm for a person. A function in single
# precision then still gives them to 0.001.
STEP = 1e-3
EXPECTED = "a Mesh, a height function z(xy) or a callable (points, down)"


def as_ground(ground: Any, clip: Clip) -> Ground:
    """Return the `Ground` that planting queries, of a Mesh, a height function or a callable; see `ik2bone.plant`."""
    if isinstance(ground, Mesh):
        return Surfaces((Surface(ground),), clip.leg)
    if isinstance(ground, Surfaces):
        for surface in ground.surfaces:
            if surface.moves and len(surface.motion) < clip.frames:
                expected = f"the motion of surface {surface.name!r} over {clip.frames} frames, as the clip has"
                raise ValueError(f"ground: expected {expected}, got {len(surface.motion)}")
        longer = any(surface.moves and len(surface.motion) > clip.frames for surface in ground.surfaces)
        return ground.cut(slice(clip.frames)) if longer else ground
    if isinstance(ground, GivenGround | HeightField | MovingGround):
        return ground
    if not callable(ground):
        raise TypeError(f"ground: expected {EXPECTED}, got {type(ground).__name__}")
    if not _is_height(ground, clip):
        return GivenGround(ground)
    if not np.allclose(clip.up, [0.0, 0.0, 1.0], atol=checks.ROUNDING):
        raise ValueError(f"ground: a height function z(xy) needs a clip with up (0, 0, 1), got {clip.up.tolist()}")
    return HeightField(ground, STEP * clip.leg)


def check_frames(ground: Ground, clip: Clip, up: Array | None) -> None:
    """Raise ValueError if a ground that moves does not know the last frame of the clip. For `up` see `query.ask`."""
    if not may_move(ground):
        return
    try:
        hits, _, found = ask(ground, clip.ball[-1:], up, np.array([clip.frames - 1]))
        motions = [support_of(ground, hit, clip.frames - 1).motion for hit in hits[found]]
    except IndexError as error:
        expected = f"answers on {clip.frames} frames, as the clip has"
        raise ValueError(f"ground: expected {expected}, got none on the last: {error}") from error
    for motion in motions:
        if motion is not None and len(motion) != clip.frames:
            expected = f"motions of supports over {clip.frames} frames, as the clip has"
            raise ValueError(f"ground: expected {expected}, got {len(motion)}")


def _is_height(ground: Callable[..., Any], clip: Clip) -> bool:
    """Whether a callable is a height function: by its parameters, or by its answer if it may take one or two."""
    one, two = (_takes(ground, count) for count in (1, 2))
    if not one and not two:
        raise TypeError(f"ground: expected {EXPECTED}, got one of {len(signature(ground).parameters)} parameters")
    if not one or not two:
        return one
    try:
        answer = ground(clip.ball[0].copy(), -clip.up)
    except (TypeError, ValueError, IndexError):
        answer = None
    if isinstance(answer, tuple | list) and len(answer) == 3:
        return False
    try:
        ground(clip.ball[0, :, :2].copy())
    except (TypeError, ValueError, IndexError) as error:
        raise TypeError(f"ground: expected {EXPECTED}, got {ground!r}, which takes neither: {error}") from error
    return True


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # some compiled functions have no signature
        pass
    return True


@dataclass(frozen=True)
class GivenGround:
    """A callable (points (N, 3), down) -> hits, normals, found, whose answers are checked."""

    function: Callable[[Array, Array | None], Any]

    def __call__(self, points: Array, down: Array | None) -> tuple[Array, Array, Mask]:
        """See `Ground`."""
        # Copies, because functions may write heights into the points they get, or return the same array each time.
        answer = self.function(points.copy(), None if down is None else down.copy())
        if not isinstance(answer, tuple | list) or len(answer) != 3:
            got = f"got {type(answer).__name__}; heights are a function of one array, z(xy)"
            raise TypeError(f"ground: expected hits, normals and found of a callable (points, down), {got}")
        found = _told(answer[2], "b", (len(points),), f"found as booleans {(len(points),)}").copy()
        upward = np.zeros(3) if down is None else -down
        hits = _rows("hits", answer[0], found, points)
        normals = _rows("normals", answer[1], found, np.broadcast_to(upward, points.shape))
        length = length_of(normals)
        if not length[found].all():
            raise ValueError("ground: expected normals with length, got zero")
        normals = np.where((found & (np.abs(length - 1.0) > checks.ROUNDING))[:, None], unit(normals), normals)
        return hits, np.where((dot(normals, upward) < 0.0)[:, None], -normals, normals), found


def _told(answer: Any, kinds: str, shape: tuple[int, ...], expected: str) -> NDArray[Any]:
    """Return a part of an answer as an array of one of numpy's `kinds` of types."""
    values = checks.as_array("ground", answer, expected)
    if values.dtype.kind not in kinds or values.shape != shape:
        got = f"{values.dtype} {values.shape}" if values.dtype.kind in "biufc" else type(answer).__name__
        raise ValueError(f"ground: expected {expected}, got {got}")
    return values


def _rows(name: str, rows: Any, found: Mask, otherwise: Array) -> Array:
    """Return hits or normals (N, 3), checked to be finite where `found`, and the rows `otherwise` elsewhere."""
    values = _told(rows, "fiu", otherwise.shape, f"{name} as numbers {otherwise.shape}")
    if not np.isfinite(values[found]).all():
        raise ValueError(f"ground: expected finite {name} where it is found, got nan or inf")
    return np.where(found[:, None], values, otherwise)


@dataclass(frozen=True)
class HeightField:
    """The ground of a height function z(xy (N, 2)) -> (N,), in a world whose up is +z; NaN is no ground.

    Normals are computed from differences over `step` to both sides, or to one side if the other has no ground.
    """

    function: Callable[[Array], Any]
    step: float

    def __call__(self, points: Array, down: Array | None) -> tuple[Array, Array, Mask]:
        """See `Ground`."""
        if down is None:
            raise ValueError("ground: a height function tells no nearest points; direction 'NEAREST' needs a Mesh")
        ways = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        heights = self._heights((points[:, :2] + self.step * ways[:, None]).reshape(-1, 2)).reshape(5, -1)
        found = ~np.isnan(heights[0])
        sides = (ways[1:].sum(axis=1)[:, None] * (heights[1:] - heights[0]) / self.step).reshape(2, 2, -1)
        known = ~np.isnan(sides)
        slopes = np.where(known, sides, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        normals = unit(np.stack([-slopes[0], -slopes[1], np.ones(len(points))], axis=-1))
        return np.column_stack([points[:, :2], np.where(found, heights[0], points[:, 2])]), normals, found

    def _heights(self, xy: Array) -> Array:
        heights = _told(self.function(xy), "fiu", (len(xy),), f"heights {(len(xy),)} of xy {xy.shape}")
        if np.isinf(heights).any():
            raise ValueError("ground: expected finite heights, or nan where there is no ground, got inf")
        return heights.astype(np.float64)
