# SPDX-License-Identifier: MIT
"""Triangle meshes that are queried with many lines, rays or points at once."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, final

from . import _core
from .results import Crossings, Hits

if TYPE_CHECKING:  # numpy is not needed for buffers, and may not load in a second interpreter
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Buffer

    Numbers = ArrayLike | Buffer
    Writable = Buffer | NDArray[Any]
    Out = tuple[Writable, Writable, Writable]

VERTICES = "an array of shape (V, 3)"
TRIANGLES = "an array of integers of shape (T, 3)"


@final
class Mesh:
    """A triangle mesh that is queried with many lines, rays or points at once, without the interpreter lock.

    vertices   (V, 3) finite coordinates in any one unit of length.
    triangles  (T, 3) integers, the vertices of each triangle. Seen from where its normal points, they run
               counter-clockwise.

    Both are copied, and the mesh does not change afterwards; several threads may query it at once. The edges and
    corners of triangles belong to the mesh. A place on an edge or corner counts once, however many triangles share it,
    and no line slips through between neighbours. Triangles without area are never met. Results are float32 if all
    arrays of the query are float32, else float64; triangles are int64. A row with NaN or infinity, or a zero direction,
    meets nothing. len(mesh) is the number of triangles. Meshes can be pickled and copied.
    """

    __slots__ = ("_built", "_count", "_given", "_lock", "_measures")
    _measures: tuple[NDArray[np.float64], NDArray[np.float64]] | None

    def __init__(self, vertices: Numbers, triangles: Numbers) -> None:
        built = None
        with suppress(TypeError, ValueError, BufferError):
            built = _core.build_mesh(vertices, triangles)
        if not built:  # not contiguous buffers of a type that is read without a copy
            vertices, triangles = _rows("vertices", vertices, VERTICES), _rows("triangles", triangles, TRIANGLES)
            built = _core.build_mesh(vertices, triangles)
        views = memoryview(vertices), memoryview(triangles)  # type: ignore[arg-type]
        self._built, self._count = built, len(views[1])
        self._given = [(view.tobytes(), view.format) for view in views]
        self._lock, self._measures = Lock(), None

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<Mesh: {self._count} triangles>"

    def __reduce__(self) -> tuple[type[Mesh], tuple[NDArray[Any], ...]]:
        """Return the arrays of which pickle and copy build the mesh again."""
        import numpy as np

        return Mesh, tuple(np.frombuffer(data, kind).reshape(-1, 3) for data, kind in self._given)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """Least and greatest corner (2, 3), read-only; NaN if no triangle has area."""
        return self._measured()[0]

    @property
    def normals(self) -> NDArray[np.float64]:
        """Unit normals (T, 3) of the triangles, read-only; zero for those without area."""
        return self._measured()[1]

    def _measured(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds and normals, computed on the first call; threads that call at once share them."""
        import numpy as np

        with self._lock:
            if self._measures is None:
                corners = np.frombuffer(_core.measure_mesh(self._built)).reshape(-1, 3)
                self._measures = corners[:2], corners[2:]
            return self._measures

    def crossings(self, points: Numbers, direction: Numbers) -> Crossings:
        """Every place where the lines through points along direction meet the mesh.

        points (..., 3) and direction (..., 3), of any length, broadcast. Lines have no ends: the signed distance along
        the direction's unit vector is negative behind the point. Crossings are sorted by row, the index among all
        lines, and then by distance. mesh.normals[triangle] are the normals there. At an edge or corner that triangles
        share, the first of them is returned. A line does not meet triangles in whose plane it lies.
        """
        told, kind = _core.cross_mesh(self._built, points, direction)
        found = _records(told)
        row, triangle = (found[name].astype("int64") for name in ("row", "triangle"))
        return Crossings(row, found["distance"].astype(kind), triangle)

    def cast(self, origins: Numbers, directions: Numbers, *, out: Out | None = None) -> Hits:
        """The first place where each ray from origins along directions meets the mesh.

        origins (..., 3) and directions (..., 3), of any length, broadcast. A ray whose origin lies on the mesh meets it
        there; on an edge that no other triangle shares, rounding decides. Where a ray meets nothing, triangle is -1,
        and point and normal are NaN. out is a tuple of writable buffers of the shapes and types of the results, or the
        Hits of an earlier call.
        """
        return _core.cast_at_mesh(self._built, origins, directions, out=out)

    def nearest(self, points: Numbers, *, out: Out | None = None) -> Hits:
        """The points of the mesh nearest to points (..., 3).

        Of triangles that are equally near, the first is returned. If no triangle has area, triangle is -1, and point
        and normal are NaN. out is as in cast.
        """
        return _core.nearest_of_mesh(self._built, points, out=out)


def crossed(mesh: Mesh, points: Numbers, direction: Numbers, into: Numbers) -> NDArray[np.void]:
    """As `Mesh.crossings`, for lines in another space, from which the matrices `into` (..., 4, 4) map to the mesh's.

    Returns read-only records: row, triangle, and in the space of the lines the distance and the unit normal turned
    against the line. They also tell whether the triangle itself looks `against` the line.
    """
    return _records(_core.cross_mesh(mesh._built, points, direction, into=into)[0])


def _records(told: bytes) -> NDArray[np.void]:
    """The records of crossings as the core tells them."""
    import numpy as np

    return np.frombuffer(told, _record())


@lru_cache
def _record() -> np.dtype[np.void]:
    """The type of the records."""
    import numpy as np

    names = ("row", "triangle", "distance", "normal", "against")
    kinds = (np.intp, np.intp, np.float64, (np.float64, 3), bool)
    return np.dtype(list(zip(names, kinds, strict=True)), align=True)


def _rows(name: str, given: Numbers, expected: str) -> NDArray[Any]:
    """Return contiguous rows of three numbers: float64, or integers for triangles. An empty list has no rows."""
    import numpy as np

    whole = expected == TRIANGLES
    if isinstance(given, list | tuple) and not given:
        return np.empty((0, 3), np.int64 if whole else np.float64)
    try:
        found = np.asarray(given)
    except ValueError:
        raise ValueError(f"{name}: expected {expected}, got a ragged sequence") from None
    if not found.ndim or found.dtype.kind not in ("iu" if whole else "iuf"):
        of = f" of {found.dtype}" if found.ndim else ""
        raise TypeError(f"{name}: expected {expected}, got {type(given).__name__}{of}")
    if found.shape[1:] != (3,):
        raise ValueError(f"{name}: expected {expected}, got shape {found.shape}")
    return np.ascontiguousarray(found, found.dtype.newbyteorder("=") if whole else np.float64)
