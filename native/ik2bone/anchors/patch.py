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
# Where heights of neighbours differ by more than this (leg lengths) from what their slopes tell, an edge lies between:
# it is found by so many halvings, to 0.002 leg.
JUMP = 0.02
HALVINGS = 5
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
    """Ground round M stances, over lanes along their headings. A cell lies between two neighbours on a lane; over its
    length, the ground is a line up to `edge` (M, lanes, cells) and another one beyond. `lines` (M, lanes, cells, 2, 3)
    have height and rise over the cell of both, and their slopes to the left.
    """

    lines: Array
    edge: Array
    jumps: Mask
    slope: Array
    gentle: Mask

    def cells(self, rows: NDArray[np.intp], at: Array) -> tuple[NDArray[np.intp], Array, Array]:
        """Numbers (...) of the cells of stances (...) at places (..., 2), and how far the places lie along the cells,
        from 0 to 1, and beside their lanes (leg lengths).
        """
        along = np.clip((at[..., 0] - AHEAD[0]) / CELL, 0.0, len(AHEAD) - 1.0 - 1e-9)
        cell, lane = along.astype(np.intp), np.rint((at[..., 1] - ASIDE[0]) / LANE).astype(np.intp)
        lane = np.clip(lane, 0, len(ASIDE) - 1)
        number = (rows * len(ASIDE) + lane) * (len(AHEAD) - 1) + cell
        return number, along - cell, at[..., 1] - ASIDE[lane]

    def heights(self, rows: NDArray[np.intp], at: Array) -> Array:
        """Heights (...) of stances (...) at places (..., 2)."""
        number, share, beside = self.cells(rows, at)
        side = share >= self.edge.ravel().take(number)
        line = self.lines.reshape(-1, 3).take(2 * number + side, axis=0)
        return np.asarray(line[..., 0] + share * line[..., 1] + beside * line[..., 2])

    def slopes(self, rows: NDArray[np.intp], at: Array) -> tuple[Array, Mask]:
        """Slopes (..., 2) of stances (...) at places (..., 2), and whether the ground is gentle there."""
        number, share, beside = self.cells(rows, at)
        shift = np.where(beside < 0.0, -LANE, LANE)
        other = self.cells(rows, np.stack([at[..., 0], np.clip(at[..., 1] + shift, ASIDE[0], ASIDE[-1])], axis=-1))[0]
        side = share >= self.edge.ravel().take(number)
        jumps, slope = self.jumps.ravel(), self.slope.reshape(-1, 2)
        smooth, node = ~(jumps[number] | jumps[other]), number + number // (len(AHEAD) - 1)
        beyond = other + other // (len(AHEAD) - 1)
        between = share[..., None]
        own, next_ = ((1.0 - between) * slope[each] + between * slope[each + 1] for each in (node, beyond))
        mixed = own + (np.minimum(np.abs(beside) / LANE, 0.5))[..., None] * (next_ - own)
        return np.where(smooth[..., None], mixed, slope[node + side]), self.gentle.ravel()[node + side]


def ask_patches(site: Site, rows: NDArray[np.intp]) -> Patches:
    """The ground round some stances (M,), with the edges that cross their headings."""
    grid = np.stack(np.meshgrid(AHEAD, ASIDE), axis=-1)
    seen = site.ask(rows, np.broadcast_to(grid, (len(rows), *grid.shape)))
    start, end, rise = seen.height[..., :-1], seen.height[..., 1:], CELL * seen.slope[..., 0]
    jumps = np.abs(end - start - 0.5 * (rise[..., :-1] + rise[..., 1:])) > JUMP
    aside = seen.slope[..., :-1, 1], seen.slope[..., 1:, 1]
    left = np.stack([start, np.where(jumps, rise[..., :-1], end - start), aside[0]], axis=-1)
    far = np.where(jumps, rise[..., 1:], end - start)
    right = np.stack([end - far, far, aside[1]], axis=-1)
    edge, where = np.full(jumps.shape, 0.5), np.nonzero(jumps)
    edge[where] = _edges(site, rows, where, left[where], right[where])
    return Patches(np.stack([left, right], axis=-2), edge, jumps, seen.slope, seen.gentle)


def _edges(site: Site, rows: NDArray[np.intp], where: tuple[NDArray[np.intp], ...], left: Array, right: Array) -> Array:
    """Shares (Q,) of cells (stance, lane, cell; Q each) at which the ground goes from their left line to the right one
    (Q, 3).
    """
    low, width = np.zeros(len(left)), 1.0
    if not len(left):
        return low
    row, lane, cell = where
    for _ in range(HALVINGS):
        width *= 0.5
        share = low + width
        at = np.stack([AHEAD[cell] + share * CELL, ASIDE[lane]], axis=-1)
        away = site.ask(rows[row], at).height[:, None] - np.stack([left, right])[..., 0].T
        away -= share[:, None] * np.stack([left, right])[..., 1].T
        low = np.where(np.abs(away[:, 0]) < np.abs(away[:, 1]), share, low)
    return low + 0.5 * width
