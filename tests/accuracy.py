# SPDX-License-Identifier: MIT
"""Tables of the distances by which the solver misses targets within reach: python -m tests.accuracy.

Corrections are not normalized, and are applied in double precision to the same numbers that the solver was given.
Lengths are shares of the reach. The root is at the origin, because an offset in single precision would only add the
rounding of input and output. Positions can be on the target although bones have changed their lengths: for `solve`, a
bone's change of length counts as a miss, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import ik2bone
import numpy as np
from numpy.typing import NDArray

from tests import limbs

Array = NDArray[np.floating]
GAPS = (1e-6, 1e-2)  # the distances from full reach and from the fold
MOVES = (1e-7, 1e-2)
ROWS = 50_000
DTYPES = (np.float32, np.float64)


@dataclass(frozen=True)
class Rows:
    """Limbs at the origin, each under its own rotation, and targets. The solver gets exactly these numbers."""

    pose: limbs.Pose
    target: Array

    @property
    def points(self) -> tuple[Array, ...]:
        """Root, mid, end and target, as `solve` takes them."""
        return self.pose.root[:, :3, 3], self.pose.mid[:, :3, 3], self.pose.end, self.target

    @property
    def transforms(self) -> tuple[Array, ...]:
        """Matrices of root and mid, end and target, as `solve_pose` takes them."""
        return self.pose.root, self.pose.mid, self.pose.end, self.target


def logarithmic(rng: np.random.Generator, count: int, least: float, greatest: float) -> Array:
    """Random numbers (N,) of a range whose logarithms are evenly distributed."""
    return np.exp(rng.uniform(np.log(least), np.log(greatest), count))


def triangle(rng: np.random.Generator, upper: Array, distance: Array) -> tuple[Array, Array]:
    """The mid and end joints (N, 3) of limbs of reach 1 whose ends are at these distances from the root."""
    along = (distance + (2 * upper - 1) / distance) / 2
    height = np.sqrt(np.maximum(upper**2 - along**2, 0))
    line, other = limbs.directions(rng, len(upper)), limbs.directions(rng, len(upper))
    side = np.cross(line, other)
    side /= limbs.length(side)[:, None]
    return along[:, None] * line + height[:, None] * side, distance[:, None] * line


def bones(rng: np.random.Generator, kind: str, count: int) -> Array:
    """The upper lengths (N,) of limbs of reach 1, of one kind."""
    return {
        "generic": rng.uniform(0.2, 0.8, count),
        "equal": np.full(count, 0.5),
        "100:1": rng.choice([1 / 101, 100 / 101], count),
        "all": np.where(rng.random(count) < 0.5, 0.5, rng.choice([0.01, 0.2, 0.4, 0.7, 0.99], count)),
    }[kind]


def distances(rng: np.random.Generator, kind: str, upper: Array) -> Array:
    """Distances (N,) within reach from root to end, of one kind."""
    fold = abs(2 * upper - 1)
    gap = logarithmic(rng, len(upper), *GAPS)
    return {
        "anywhere": rng.uniform(np.maximum(fold, 1e-3), 1),
        "nearly straight": 1 - gap * (1 - fold),
        "nearly folded": fold + gap * (1 - fold),
    }[kind]


# The kinds of bones, of the present end's distance, and of the target's distance (None: a tiny move from the end).
CLASSES: dict[str, tuple[str, str, str | None]] = {
    "generic bones": ("generic", "anywhere", "anywhere"),
    "equal bones": ("equal", "anywhere", "anywhere"),
    "bones of 100:1": ("100:1", "anywhere", "anywhere"),
    "nearly straight": ("all", "anywhere", "nearly straight"),
    "nearly folded": ("all", "anywhere", "nearly folded"),
    "from nearly straight": ("all", "nearly straight", "anywhere"),
    "from nearly folded": ("all", "nearly folded", "anywhere"),
    "tiny moves": ("all", "anywhere", None),
}


@cache
def rows_of(name: str, dtype: type, count: int = ROWS) -> Rows:
    """Random rows of this class."""
    rng = np.random.default_rng(1)
    kind, present, wanted = CLASSES[name]
    upper = bones(rng, kind, count)
    mid, end = triangle(rng, upper, distances(rng, present, upper))
    if wanted:
        target = distances(rng, wanted, upper)[:, None] * limbs.directions(rng, count)
    else:
        target = end + logarithmic(rng, count, *MOVES)[:, None] * limbs.directions(rng, count)
    places = np.zeros_like(mid), mid, end
    matrices = [limbs.affine(limbs.rotations(rng, count), at) for at in places]
    return Rows(limbs.Pose(*matrices, *np.ones((2, count, 3))).astype(dtype), target.astype(dtype))


def placed(rows: Rows, corrections: ik2bone.Rotations | ik2bone.PoseSolution) -> Array:
    """The positions (N, 3) of the end joint after the corrections."""
    return limbs.apply(rows.pose.astype(np.float64), corrections.root, corrections.mid)[2][:, :3, 3]


def solve(rows: Rows) -> tuple[Array, Array]:
    """The greatest of the miss and both bones' changes of length (N,), and which rows are within reach (N,)."""
    s = ik2bone.solve(*rows.points)
    _, mid, end, target = (p.astype(np.float64) for p in rows.points)
    new_mid, new_end = s.mid.astype(np.float64), s.end.astype(np.float64)
    upper = limbs.length(new_mid) - limbs.length(mid)
    lower = limbs.length(new_end - new_mid) - limbs.length(end - mid)
    off = np.max([limbs.length(new_end - target), abs(upper), abs(lower)], axis=0)
    return off, s.status & ik2bone.Status.MISSED == 0


def orient(rows: Rows, roll: str) -> tuple[Array, Array]:
    """The misses (N,) of corrections to the rounded positions of `solve`, and which rows are within reach (N,)."""
    new = ik2bone.solve(*rows.points)
    hinge = ik2bone.hinge_of(*rows.transforms[:3])
    r = ik2bone.orient(*rows.transforms[:3], new.mid, new.end, roll=roll, hinge=hinge)
    return limbs.length(placed(rows, r) - rows.target), new.status & ik2bone.Status.MISSED == 0


def solve_pose(rows: Rows, roll: str) -> tuple[Array, Array]:
    """The misses (N,) of the corrections, and which rows are within reach (N,)."""
    hinge = ik2bone.hinge_of(*rows.transforms[:3])
    s = ik2bone.solve_pose(*rows.transforms, roll=roll, hinge=hinge)
    return limbs.length(placed(rows, s) - rows.target), s.status & ik2bone.Status.MISSED == 0


FUNCTIONS: dict[str, Callable[[Rows], tuple[Array, Array]]] = {
    "solve": solve,
    "orient, pose": lambda rows: orient(rows, "pose"),
    "orient, hinge": lambda rows: orient(rows, "hinge"),
    "solve_pose, pose": lambda rows: solve_pose(rows, "pose"),
    "solve_pose, hinge": lambda rows: solve_pose(rows, "hinge"),
}


def worst_and_median(function: str, name: str, dtype: type, count: int = ROWS) -> tuple[float, float]:
    """The worst and the median miss of this class's rows that are within reach."""
    misses, reached = FUNCTIONS[function](rows_of(name, dtype, count))
    return float(misses[reached].max()), float(np.median(misses[reached]))


def main() -> None:
    """Print a table for each precision."""
    for dtype in DTYPES:
        print(f"\n| {dtype.__name__}: worst, median | {' | '.join(FUNCTIONS)} |\n|---|{'--:|' * len(FUNCTIONS)}")
        for name in CLASSES:
            cells = (worst_and_median(function, name, dtype) for function in FUNCTIONS)
            print(f"| {name} | {' | '.join(f'{worst:.1e}, {median:.1e}' for worst, median in cells)} |")


if __name__ == "__main__":
    main()
