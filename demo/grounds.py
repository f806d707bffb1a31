# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated grounds, as height functions in plain numpy and as meshes in Blender, and fitting of the user's meshes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demo import session
from demo.track import MARGIN, Track

Array = NDArray[np.float64]

KINDS = ("hills", "steps", "slope", "flat")
DEFAULT = "hills+steps"

# Lengths are in legs: thigh plus shin of the figure that walks on the ground.
HILL_HEIGHT, HILL_WAVES, HILL_LENGTHS = 0.12, 24, (1.8, 5.0)
STEP_HEIGHT, STEP_LENGTH, STEPS_UP = 0.18, 0.9, 3
SLOPE = np.radians(15.0)
TRIANGLES = 100_000
RISER = 1e-5  # Level width of a riser, which is thus nearly vertical while the ground stays a height field.


def parts(kind: str) -> list[str]:
    """The kinds in a sum like `hills+steps`. Raises ValueError for an unknown kind."""
    names = kind.split("+")
    if unknown := [name for name in names if name not in KINDS]:
        raise ValueError(f"a ground is expected to be a file or one of {', '.join(KINDS)}, got {unknown[0]}")
    return names


def heights(kind: str, points: Array, seed: int = 0) -> Array:
    """The heights (...) of a ground at points (..., 2), in legs. Steps and slope climb along the first coordinate."""
    return sum(_HEIGHTS[part](points, seed) for part in parts(kind))


def world_heights(kind: str, points: Array, *, centre, base_height: float, leg: float, seed=0, heading=0.0) -> Array:
    """The world heights (...), at world points (..., 2), of the ground that `make_ground` makes."""
    c, s = np.cos(heading), np.sin(heading)
    local = (np.asarray(points, float) - np.asarray(centre, float)[:2]) @ np.array([[c, -s], [s, c]]) / leg
    return base_height + leg * heights(kind, local, seed)


def _hills(points: Array, seed: int) -> Array:
    """A sum of plane waves of random headings, with amplitudes proportional to their lengths.

    Its mean square is that of one wave with amplitude HILL_HEIGHT.
    """
    random = np.random.default_rng(seed)
    length = np.geomspace(*HILL_LENGTHS, HILL_WAVES)
    heading, shift = random.uniform(0, 2 * np.pi, (2, HILL_WAVES))
    amplitude = length * HILL_HEIGHT / np.linalg.norm(length)
    wave = 2 * np.pi / length * np.stack([np.cos(heading), np.sin(heading)])
    return np.sin(points @ wave + shift) @ amplitude


def _steps(points: Array, _seed: int) -> Array:
    """Flights up and down by turns. The centre lies in the middle of the second step of a flight up."""
    step = np.floor(points[..., 0] / STEP_LENGTH + 0.5)
    return STEP_HEIGHT * (np.abs((step + STEPS_UP + 1) % (2 * STEPS_UP) - STEPS_UP) - 1)


def _slope(points: Array, _seed: int) -> Array:
    return np.tan(SLOPE) * points[..., 0]


def _flat(points: Array, _seed: int) -> Array:
    return np.zeros(points.shape[:-1])


_HEIGHTS = {"hills": _hills, "steps": _steps, "slope": _slope, "flat": _flat}


def make_ground(bpy, kind: str, *, centre, size, base_height: float, leg: float, seed: int = 0, heading: float = 0.0):
    """Add a ground of about 100,000 triangles round `centre` and return its object.

    `size` is its length along `heading` and its width. Steps and slope climb along `heading`, in radians from world X.
    `base_height` is the world height of level zero, and `leg` the length by which the ground is scaled.
    """
    along, across = _columns(kind, size[0] / leg, size[1] / leg)
    grid = np.stack(np.meshgrid(along, across, indexing="ij"), axis=-1)
    vertices = leg * np.concatenate([grid, heights(kind, grid, seed)[..., None]], axis=-1)
    mesh = bpy.data.meshes.new(kind)
    mesh.from_pydata(vertices.reshape(-1, 3), [], _quads(len(along), len(across)))
    ground = bpy.data.objects.new(kind, mesh)
    ground.location = (centre[0], centre[1], base_height)
    ground.rotation_euler.z = heading
    bpy.context.scene.collection.objects.link(ground)
    return ground


def fit(bpy, surfaces, way: Track, name: str) -> None:
    """Scale and move a file's meshes to lie under the clip's way, and print a line about it, unless they do so."""
    from mathutils import Matrix

    bpy.context.view_layer.update()
    low, high = _bounds(surfaces)
    half = _half_box(way)
    beside = np.abs(way.centre - (low + high)[:2] / 2) > (high - low)[:2] / 2 - half
    apart = way.floor < low[2] - way.leg or way.floor > high[2] + way.leg
    if not (beside.any() or apart):
        return
    wanted, size = 2 * (half + MARGIN * way.leg), np.maximum((high - low)[:2], 1e-9 * way.leg)
    scale = max(1.0, float((wanted / size).max()))
    middle = (low + high) / 2
    carry = Matrix.Translation((*way.centre, way.floor)) @ Matrix.Scale(scale, 4) @ Matrix.Translation(-middle)
    for surface in surfaces:
        surface.matrix_world = carry @ surface.matrix_world
    session.tell(
        f"{name} is {size[0]:.3g} by {size[1]:.3g} and does not lie under the clip's way of {2 * half[0]:.3g} by "
        f"{2 * half[1]:.3g}: it is shown {scale:.3g} times as large, with its middle under the way's"
    )


def _bounds(surfaces) -> tuple[Array, Array]:
    """The least and greatest world coordinates (3,) of objects."""
    corners = [np.array(surface.matrix_world) @ [*corner, 1.0] for surface in surfaces for corner in surface.bound_box]
    return np.min(corners, axis=0)[:3], np.max(corners, axis=0)[:3]


def _half_box(way: Track) -> Array:
    """Half of the extents (2,) of the way along X and Y, without the margin round it."""
    along, across = way.size / 2 - MARGIN * way.leg
    cosine, sine = abs(np.cos(way.heading)), abs(np.sin(way.heading))
    return np.array([cosine * along + sine * across, sine * along + cosine * across])


def _columns(kind: str, length: float, width: float) -> tuple[Array, Array]:
    """The coordinates along and across of an even grid, with two columns close together at each riser."""
    cell = np.sqrt(2 * length * width / TRIANGLES)
    along, across = (np.linspace(-side / 2, side / 2, round(side / cell) + 1) for side in (length, width))
    if "steps" in parts(kind):
        risers = STEP_LENGTH * (np.arange(np.ceil(-length / 2 / STEP_LENGTH), length / 2 / STEP_LENGTH) + 0.5)
        risers = risers[np.abs(risers) < length / 2]
        along = along[np.min(np.abs(along[:, None] - risers), axis=1) > cell / 8]
        along = np.sort(np.concatenate([along, risers - RISER / 2, risers + RISER / 2]))
    return along, across


def _quads(columns: int, rows: int) -> NDArray[np.int64]:
    corner = np.arange(columns * rows).reshape(columns, rows)
    loop = (corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:])
    return np.stack([side.ravel() for side in loop], axis=1)
