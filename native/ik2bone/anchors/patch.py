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
    """Ground round M stances over lanes along their headings. Between two neighbours on a lane it is a line left of
    `edge` and another one right of it: `lines` (M, lanes, cells, 2, 2) are their starts and rises over the cell.
    """

    lines: Array
    edge: Array
    slope: Array
    gentle: Mask

    def place(self, at: Array) -> tuple[tuple[NDArray[np.intp], ...], Array, Array]:
        """Stance, lane, cell and side of the edge of places (M, ..., 2), and how far they lie along the cell and
        beside the lane.
        """
        along = np.clip((at[..., 0] - AHEAD[0]) / (AHEAD[1] - AHEAD[0]), 0.0, len(AHEAD) - 1 - 1e-9)
        lanes = (at[..., 1] - ASIDE[0]) / (ASIDE[1] - ASIDE[0])
        cell, lane = along.astype(np.intp), np.clip(np.rint(lanes), 0, len(ASIDE) - 1).astype(np.intp)
        row = np.arange(len(at)).reshape(-1, *[1] * (at.ndim - 2))
        share = along - cell
        side = (share >= self.edge[row, lane, cell]).astype(np.intp)
        return (row, lane, cell, side), share, (at[..., 1] - ASIDE[lane])

    def heights(self, at: Array) -> Array:
        """Heights (M, ...) at places (M, ..., 2)."""
        (row, lane, cell, side), share, beside = self.place(at)
        line = self.lines[row, lane, cell, side]
        return np.asarray(line[..., 0] + share * line[..., 1] + beside * self.slope[row, lane, cell + side, 1])

    def slopes(self, at: Array) -> tuple[Array, Mask]:
        """Slopes (M, ..., 2) at places (M, ..., 2), and whether the ground is gentle there."""
        row, lane, cell, side = self.place(at)[0]
        return self.slope[row, lane, cell + side], self.gentle[row, lane, cell + side]


def ask_patches(site: Site, rows: NDArray[np.intp]) -> Patches:
    """The ground round some stances (M,), with the edges that cross their headings."""
    grid = np.stack(np.meshgrid(AHEAD, ASIDE), axis=-1)
    seen = site.ask(rows, np.broadcast_to(grid, (len(rows), *grid.shape)))
    step = AHEAD[1] - AHEAD[0]
    start, end, rise = seen.height[..., :-1], seen.height[..., 1:], step * seen.slope[..., 0]
    jumps = np.abs(end - start - 0.5 * (rise[..., :-1] + rise[..., 1:])) > JUMP
    whole = np.stack([start, end - start], axis=-1)
    left = np.where(jumps[..., None], np.stack([start, rise[..., :-1]], axis=-1), whole)
    right = np.where(jumps[..., None], np.stack([end - rise[..., 1:], rise[..., 1:]], axis=-1), whole)
    edge, where = np.full(jumps.shape, 0.5), np.nonzero(jumps)
    edge[where] = _edges(site, rows, where, left[where], right[where])
    return Patches(np.stack([left, right], axis=-2), edge, seen.slope, seen.gentle)


def _edges(site: Site, rows: NDArray[np.intp], where: tuple[NDArray[np.intp], ...], left: Array, right: Array) -> Array:
    """Shares (Q,) of cells (stance, lane, cell; Q each) at which the ground leaves the line (Q, 2) left of it."""
    low, width = np.zeros(len(left)), 1.0
    if not len(left):
        return low
    row, lane, cell = where
    for _ in range(HALVINGS):
        width *= 0.5
        share = low + width
        at = np.stack([AHEAD[cell] + share * (AHEAD[1] - AHEAD[0]), ASIDE[lane]], axis=-1)
        height = site.ask(rows[row], at).height
        nearer = np.abs(height - left @ [1.0, 0.0] - share * left[:, 1]) < np.abs(
            height - right[:, 0] - share * right[:, 1]
        )
        low = np.where(nearer, share, low)
    return low + 0.5 * width
