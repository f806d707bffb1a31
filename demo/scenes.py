# SPDX-License-Identifier: GPL-3.0-or-later
"""Grounds that are no height function: stairs whose treads overhang, a bridge over a floor, a platform that moves.

In their own space the origin is the middle of the clip's way, x points along the way, y to its left and z up. Lengths
are in legs (thigh plus shin of the figure) until objects are made.
"""

from __future__ import annotations

import numpy as np
from ik2bone.curves import runs
from numpy.typing import NDArray

from demo import grounds
from demo.solids import Solid, add_object, box, prism
from demo.track import MARGIN, Track

Array = NDArray[np.float64]

PLATFORM, BRIDGE, STAIRS = KINDS = ("platform", "bridge", "stairs")
SEED = 0

# The greatest number of steps in a flight; a step's depth and height; the overhang of a tread and its thickness there.
STEPS, TREAD, RISE, NOSING, THICKNESS = 4, 0.62, 0.16, 0.05, 0.05
LANDING = 1.5
AHEAD = 0.2  # The length of floor before the first riser. On a short way the landing is shortened to keep it.

# The deck's height over the floor at its ends, its rise in the middle, its length and width beyond those of the clip's
# way, and its thickness; the places of piers as shares of its length, and their width.
DECK, ARCH, BEYOND, WIDTH, SLAB = 2.45, 0.25, 2.0, 2.6, 0.1
PIERS, PIER = (-0.5, -0.17, 0.17, 0.5), 0.3

# The platform rises by LIFT from the low quay to the high one and turns by TURN (radians); GAP lies between platform
# and quay, QUAY is the thickness of both, and PLANK the width of the platform's planks.
LIFT, TURN, GAP, QUAY, PLANK = 0.5, np.radians(40.0), 0.04, 0.15, 0.3
SHARE, LEAST_RADIUS, ROUND = 0.3, 2.0, 96
ENTERED = 0.5  # Both feet of the figure are on the platform when its hips are this far inside the edge.


def count_steps(way: Track) -> int:
    """The number of steps of each flight that fit on a clip's way, at least one."""
    return int(np.clip((_half(way) - LANDING / 2) // TREAD, 1, STEPS))


def landing(way: Track) -> float:
    """The length of the landing between the flights, chosen so that the clip begins and ends on the floor."""
    return float(np.clip(2 * (_half(way) - AHEAD - count_steps(way) * TREAD), 0.0, LANDING))


def _half(way: Track) -> float:
    """Half the length of the clip's way, in legs."""
    return float(way.size[0] / way.leg / 2 - MARGIN)


def stairs_outline(steps: int, landing: float = LANDING) -> Array:
    """The section (N, 2) of the stairs, along and up, counterclockwise from the foot of the last riser."""
    half = landing / 2 + steps * TREAD
    up = []
    for step in range(steps):
        riser, top = -half + step * TREAD, (step + 1) * RISE
        up += [(riser, top - RISE), (riser, top - THICKNESS), (riser - NOSING, top - THICKNESS), (riser - NOSING, top)]
    rising = np.array(up)
    return np.concatenate([rising, rising[::-1] * [-1, 1]])[::-1]


def deck_outline(length: float) -> Array:
    """The section (N, 2) of a deck of this length, along and up, counterclockwise."""
    along = np.linspace(-length / 2, length / 2, 41)
    height = DECK + ARCH * (1 - (2 * along / length) ** 2)
    return np.concatenate([np.stack([along, height - SLAB], 1), np.stack([along, height], 1)[::-1]])


def make(bpy, kind: str, way: Track, frames: range) -> list:
    """Make the objects of a ground under a clip's way, for these frames of the scene; the one named `kind` is last."""
    if kind == PLATFORM:
        return make_platform(bpy, way, frames)
    return {BRIDGE: make_bridge, STAIRS: make_stairs}[kind](bpy, way)


def make_stairs(bpy, way: Track) -> list:
    """Make a flight up, a landing and a flight down, as one solid on a floor."""
    half = way.size[1] / way.leg / 2
    solid = prism(stairs_outline(count_steps(way), landing(way)), 1, -half, half)
    return [_floor(bpy, "flat", way), _place(bpy, "stairs", [solid], way)]


def make_bridge(bpy, way: Track) -> list:
    """Make an arched deck on piers over a hilly floor."""
    length, width = way.size / way.leg - 2 * MARGIN + (BEYOND, WIDTH)
    solids = [prism(deck_outline(length), 1, -width / 2, width / 2)]
    for x in PIERS:
        for y in (PIER - width / 2, width / 2 - PIER):
            corner = np.array([x * (length - PIER), y, 0.0]) - [PIER / 2, PIER / 2, 1.0]
            solids.append(box(corner, corner + [PIER, PIER, DECK - SLAB / 2 + 1.0]))
    return [_floor(bpy, "hills", way), _place(bpy, "bridge", solids, way)]


def make_platform(bpy, way: Track, frames: range) -> list:
    """Make a low and a high quay, and a round platform that carries the figure from one to the other and turns."""
    radius = platform_radius(way)
    angle = np.linspace(0, 2 * np.pi, ROUND, endpoint=False)
    disc = prism(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1), 2, -QUAY, 0.0)
    low, high = (_quay(way, radius + GAP, side) for side in (-1, 1))
    quays = [_place(bpy, "low quay", [low], way), _place(bpy, "high quay", [high], way, LIFT)]
    platform = _place(bpy, "platform", [disc], way)
    _split_into_planks(platform, way.leg)
    for row, share in ride(way, radius - ENTERED):
        platform.location.z = way.floor + share * LIFT * way.leg
        platform.rotation_euler.z = way.heading + share * TURN
        for name in ("location", "rotation_euler"):
            platform.keyframe_insert(name, index=2, frame=frames[row])
    return [*quays, platform]


def ride(way: Track, radius: float) -> list[tuple[int, float]]:
    """The rows on which a platform of this radius (legs) starts or stops, each with its height, 0 (low) to 1 (high).

    The platform waits on the side from which the figure comes and takes the figure to the side on which it leaves. A
    figure that does not leave is taken to the other side.
    """
    keys = []
    for start, end in runs(np.abs(way.along) < radius * way.leg):
        first = float(start > 0 and way.along[start] > 0)
        last = float(way.along[end - 1] > 0) if end < len(way.along) else 1.0 - first
        keys += [(start, first), (end - 1, last)]
    return keys


def platform_radius(way: Track) -> float:
    """The radius of the platform in legs: a share of a long way, but large enough for a clip in place."""
    return max(SHARE * (way.size[0] / way.leg - 2 * MARGIN), LEAST_RADIUS)


def _quay(way: Track, radius: float, side: int) -> Solid:
    """The quay before (-1) or after (1) the platform, with a round bay of this radius for the platform."""
    half, far = 0.9 * radius, max(way.size[0] / way.leg / 2, radius + MARGIN)
    across = np.linspace(-half, half, ROUND)
    bay = np.stack([np.sqrt(radius**2 - across**2), across], axis=1)
    outline = np.concatenate([[[far, -half], [far, half]], bay[::-1]])
    return prism(side * outline, 2, -QUAY, 0.0)


def _floor(bpy, kind: str, way: Track):
    place = {"centre": way.centre, "base_height": way.floor, "heading": way.heading}
    return grounds.make_ground(bpy, kind, size=way.size, leg=way.leg, seed=SEED, **place)


def _place(bpy, name: str, solids: list[Solid], way: Track, height: float = 0.0):
    """Add one object of solids in legs, at a height (legs) over the clip's floor."""
    thing = add_object(bpy, name, [Solid(way.leg * solid.points, solid.faces) for solid in solids])
    thing.location = (*way.centre, way.floor + height * way.leg)
    thing.rotation_euler.z = way.heading
    return thing


def _split_into_planks(thing, leg: float) -> None:
    """Cut the mesh into strips along x whose materials are 0 and 1 by turns."""
    import bmesh

    work = bmesh.new()
    work.from_mesh(thing.data)
    extent = max(abs(vert.co.y) for vert in work.verts)
    for y in np.arange(-np.floor(extent / leg / PLANK), extent / leg / PLANK) * PLANK * leg:
        geometry = [*work.verts, *work.edges, *work.faces]
        bmesh.ops.bisect_plane(work, geom=geometry, plane_co=(0, y, 0), plane_no=(0, 1, 0))
    for face in work.faces:
        face.material_index = int(np.floor(face.calc_center_median().y / leg / PLANK) % 2)
    work.to_mesh(thing.data)
    work.free()
