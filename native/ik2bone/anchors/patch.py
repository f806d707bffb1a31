# SPDX-License-Identifier: MIT
"""Ground round stances: asked in batches, and kept as patches between whose points heights are interpolated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ground.query import ask
from ..model import Array, Ground, Mask
from .footprint import EVEN, Footprints, Surface

# Places at which a patch is asked, in leg lengths: ahead far enough for a move, the foot and 0.1 s of its swing; aside
# for a move and half a foot.
AHEAD = np.linspace(-0.9, 0.9, 31)
ASIDE = np.linspace(-0.4, 0.4, 9)
CELL, LANE = AHEAD[1] - AHEAD[0], ASIDE[1] - ASIDE[0]
# A place without ground is taken as this deep (leg lengths): as uneven as a deep hole, where a foot may not stand.
HOLE = 0.1 + EVEN


@dataclass(frozen=True)
class Site:
    """The ground of N stances: asked `below` (N, 3) each, on the frame of its footprint; heights count from `zero`
    (N, 3), the ground under the standing point.
    """

    ground: Ground
    prints: Footprints
    below: Array
    zero: Array
    leg: float
    least: float

    def ask(self, rows: NDArray[np.intp], at: Array) -> Surface:
        """The ground of some stances (M,) at places (M, ..., 2) ahead of and beside their standing points."""
        extra = (1,) * (at.ndim - 2)
        axes = self.prints.axes[rows].reshape(len(rows), *extra, 3, 3)
        away = self.leg * (axes[..., :2] @ at[..., None])[..., 0]
        up = self.prints.axes[0, :, 2]
        points = away + self.below[rows].reshape(len(rows), *extra, 3)
        hits, normals, found = ask(self.ground, points, up, self.prints.frame[rows])
        height = (hits - self.zero[rows].reshape(len(rows), *extra, 3)) @ up / self.leg
        own = (normals[..., None, :] @ axes)[..., 0, :]
        gentle = found & (own[..., 2] >= self.least)
        slope = np.where(gentle[..., None], -own[..., :2] / np.maximum(own[..., 2:], self.least), 0.0)
        return Surface(hits, np.where(found, height, -HOLE), slope, gentle, found)


@dataclass(frozen=True)
class Patches:
    """Surfaces round M stances at the nodes of a grid (M, lanes, nodes along them), for choosing among places."""

    nodes: Surface

    def nearest(self, rows: NDArray[np.intp], at: Array) -> tuple[NDArray[np.intp], Array]:
        """Numbers (...) of the nodes nearest to places (..., 2) of stances (...), and how far the places lie ahead of
        them and to the left (..., 2).
        """
        steps = (at - [AHEAD[0], ASIDE[0]]) / [CELL, LANE]
        index = np.clip(np.rint(steps), 0, [len(AHEAD) - 1, len(ASIDE) - 1]).astype(np.intp)
        number = (rows * len(ASIDE) + index[..., 1]) * len(AHEAD) + index[..., 0]
        return number, (steps - index) * [CELL, LANE]

    def heights(self, rows: NDArray[np.intp], at: Array) -> Array:
        """Heights (...) of stances (...) at places (..., 2): those of the planes through the nearest nodes."""
        number, away = self.nearest(rows, at)
        slope = self.nodes.slope.reshape(-1, 2).take(number, axis=0)
        return np.asarray(self.nodes.height.ravel().take(number) + np.sum(slope * away, axis=-1))

    def slopes(self, rows: NDArray[np.intp], at: Array) -> tuple[Array, Mask]:
        """Slopes (..., 2) of stances (...) at places (..., 2), and whether the ground is gentle there."""
        number = self.nearest(rows, at)[0]
        return self.nodes.slope.reshape(-1, 2).take(number, axis=0), self.nodes.gentle.ravel().take(number)


def ask_patches(site: Site, rows: NDArray[np.intp]) -> Patches:
    """The ground round some stances (M,)."""
    grid = np.stack(np.meshgrid(AHEAD, ASIDE), axis=-1)
    return Patches(site.ask(rows, np.broadcast_to(grid, (len(rows), *grid.shape))))
