# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of a clip, under which the demo lays a ground, and the instants that the demo shows; plain numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ik2bone.clip import Clip
from ik2bone.sole.measure import measure_sole
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Lengths in legs. A clip that travels less than IN_PLACE counts as in place.
IN_PLACE, MARGIN = 1.0, 2.5
FIGURE_SPACE, SLOT = 0.5, 1.35
MOST_FIGURES, FEWEST_FIGURES, SLOTS = 13, 5, 8
SHORTEST_STEP = 0.2  # Seconds.
PREVIEW, FINE = 3, 6  # Samples a pixel: the default, and the number from which denoising, the longest step, is on.


@dataclass(frozen=True)
class Track:
    """The way of a clip.

    centre   level centre (2,) of the clip's ground
    size     extents (2,) of the ground along the heading and across it
    heading  direction of the way, in radians from world X
    floor    height of the clip's floor
    leg      length of a leg
    along    (F,) positions of the hips along the heading, from the centre
    trunk    distance between pairs of legs, 0 for a biped
    """

    centre: Array
    size: Array
    heading: float
    floor: float
    leg: float
    along: Array
    trunk: float = 0.0

    @property
    def slot(self) -> float:
        """The distance between figures side by side. Head and tail of a quadruped are about as long as its trunk."""
        return SLOT * self.leg + 2 * self.trunk


@dataclass(frozen=True)
class Instant:
    """A row of the clip to show, the `shift` of its figure along the heading, and its place from the centre."""

    row: int
    shift: float
    place: float


def find_track(clip: Clip) -> Track:
    """The way of a clip: a box round the hips' path, with a margin, along its heading."""
    path = clip.hip.mean(axis=1)[:, :2]
    heading = _heading(clip, path)
    forward = np.array([np.cos(heading), np.sin(heading)])
    axes = np.stack([forward, [-forward[1], forward[0]]])
    box = path @ axes.T
    middle = (box.min(axis=0) + box.max(axis=0)) / 2
    size = np.ptp(box, axis=0) + 2 * MARGIN * clip.leg
    trunk = float(np.median(np.ptp(clip.hip[..., :2] @ forward, axis=1)))
    # A small distance comes from the turning hips of a biped.
    trunk = trunk if trunk > FIGURE_SPACE * clip.leg else 0.0
    return Track(middle @ axes, size, heading, measure_sole(clip).floor, clip.leg, box[:, 0] - middle[0], trunk)


def _heading(clip: Clip, path: Array) -> float:
    """The heading of the hips' path (F, 2), in radians: from its start to its end, or of a round trip to its far point.

    The heading of a clip in place is square to the hips, on the side to which knees and feet point.
    """
    way = path[-1] - path[0]
    if np.linalg.norm(way) < IN_PLACE * clip.leg:
        way = path[np.argmax(np.linalg.norm(path - path[0], axis=1))] - path[0]
    if np.linalg.norm(way) < IN_PLACE * clip.leg:
        ahead = (2 * clip.knee - clip.hip - 2 * clip.ankle + clip.ball)[..., :2].mean(axis=(0, 1))
        across = (clip.hip[:, 0] - clip.hip[:, 1])[:, :2].mean(axis=0)
        square = np.array([-across[1], across[0]])
        way = square * np.sign(square @ ahead)
    return float(np.arctan2(way[1], way[0]))


def choose_instants(clip: Clip, track: Track, moved: bool = False) -> list[Instant]:
    """One instant per half stride, when the feet pass each other, as far as the figures stand clear of each other.

    With `moved`, figures of some of these instants are moved side by side. A clip with too few of these instants, for
    instance one in place, is shown side by side at even times.
    """
    chosen: list[int] = []
    for row in _passings(clip):
        apart = FIGURE_SPACE * clip.leg + 2 * track.trunk
        if all(abs(track.along[row] - track.along[other]) > apart for other in chosen):
            chosen.append(row)
    few = len(chosen) < FEWEST_FIGURES
    if not (few or moved):
        return [Instant(row, 0.0, float(track.along[row])) for row in chosen[:MOST_FIGURES]]
    offered = np.arange(clip.frames) if few else np.array(chosen[:MOST_FIGURES])
    slots = round(SLOTS * SLOT * clip.leg / track.slot)
    rows = np.unique(offered[np.linspace(0, len(offered) - 1, max(2, slots)).round().astype(int)])
    places = (np.arange(len(rows)) - (len(rows) - 1) / 2) * track.slot
    return [Instant(int(row), place - track.along[row], place) for row, place in zip(rows, places, strict=True)]


def _passings(clip: Clip) -> list[int]:
    """The rows on which one ankle passes the other, in the direction square to the hips."""
    across = (clip.hip[:, 0] - clip.hip[:, 1])[:, :2]
    lead = (clip.ankle[:, 0] - clip.ankle[:, 1])[:, :2]
    ahead = across[:, 0] * lead[:, 1] - across[:, 1] * lead[:, 0] > 0
    rows: list[int] = []
    for row in np.flatnonzero(ahead[1:] != ahead[:-1]):
        if not rows or row - rows[-1] > SHORTEST_STEP * clip.fps:
            rows.append(int(row))
    return rows
