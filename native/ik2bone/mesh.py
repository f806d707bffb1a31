# SPDX-License-Identifier: MIT
"""Triangle meshes that answer many lines, rays and points at once."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, final

from . import _core
from .results import Crossings, Hits

if TYPE_CHECKING:  # buffers do without numpy, which may not load in another interpreter
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
    """A triangle mesh that is asked for many lines, rays or points at once, without the interpreter lock.

    vertices   (V, 3) finite coordinates in any one unit of length.
    triangles  (T, 3) integers, the vertices of each triangle. Seen from where its normal points, they run
               counter-clockwise.

    Both are copied, and the mesh does not change afterwards; threads may ask it at once. Triangles belong to it with
    their edges and corners, which count once, whichever triangles share them; no line slips through between neighbours.
    Triangles without area are never met. Results are float32 where all arrays asked with are float32, else float64;
    triangles are int64. A row with NaN or infinity, or a zero direction, meets nothing. len(mesh) is the number of
    triangles. Meshes can be pickled and copied.
    """

    __slots__ = ("_built", "_count", "_given", "_lock", "_measures")
    _measures: tuple[NDArray[np.float64], NDArray[np.float64]] | None

    def __init__(self, vertices: Numbers, triangles: Numbers) -> None:
        built = None
        with suppress(TypeError, ValueError, BufferError):
            built = _core.build_mesh(vertices, triangles)
        if not built:  # no contiguous buffers of the kinds that are read as they lie
            vertices, triangles = _rows("vertices", vertices, VERTICES), _rows("triangles", triangles, TRIANGLES)
            built = _core.build_mesh(vertices, triangles)
        views = memoryview(vertices), memoryview(triangles)  # type: ignore[arg-type]
        self._built, self._count = built, len(views[1])
        self._given = [(view.tobytes(), view.format) for view in views]
        self._lock, self._measures = Lock(), None

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[type[Mesh], tuple[NDArray[Any], ...]]:
        """What pickle and copy build the mesh from again."""
        import numpy as np

        return Mesh, tuple(np.frombuffer(data, kind).reshape(-1, 3) for data, kind in self._given)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """Least and greatest corner (2, 3), read-only; NaN where no triangle has area."""
        return self._measured()[0]

    @property
    def normals(self) -> NDArray[np.float64]:
        """Unit normals (T, 3) of the triangles, read-only; zero for those without area."""
        return self._measured()[1]

    def _measured(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds and normals, found when first asked for; threads that ask at once share them."""
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
        lines, and then by distance. mesh.normals[triangle] are their normals. Of triangles that share a place on an
        edge or corner the first is told. A line does not meet triangles that it lies in.
        """
        import numpy as np

        told, kind = _core.cross_mesh(self._built, points, direction)
        found = np.frombuffer(told, [("row", np.intp), ("triangle", np.intp), ("distance", np.float64)])
        row, triangle = (found[name].astype(np.int64) for name in ("row", "triangle"))
        return Crossings(row, found["distance"].astype(kind), triangle)

    def cast(self, origins: Numbers, directions: Numbers, *, out: Out | None = None) -> Hits:
        """The first place that rays from origins along directions meet.

        origins (..., 3) and directions (..., 3), of any length, broadcast. An origin on the mesh meets it there; on an
        edge that no other triangle shares, rounding decides. Where nothing is met, triangle is -1, and point and normal
        are NaN. out is a tuple of writable buffers of the results' shapes and types, or the Hits of an earlier call.
        """
        return _core.cast_at_mesh(self._built, origins, directions, out=out)

    def nearest(self, points: Numbers, *, out: Out | None = None) -> Hits:
        """The points of the mesh nearest to points (..., 3).

        Of triangles that are equally near the first is told. A mesh without area has none: triangle is -1, point and
        normal are NaN. out is as that of cast.
        """
        return _core.nearest_of_mesh(self._built, points, out=out)


def _rows(name: str, given: Numbers, expected: str) -> NDArray[Any]:
    """Contiguous rows of three numbers, float64, or integers for triangles; an empty list holds none."""
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
