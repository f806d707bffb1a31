# SPDX-License-Identifier: MIT
"""What must hold for a limb that was solved, in the frame where it is solved: solve's own, or the root's.

Each law gives its name and the rows that break it. Formulas are those of the contract, not of the code under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tests.fuzz.rows import INVALID, LIMITED, MISSED, SINGULAR, Rows
from tests.fuzz.vectors import Array, cross, dot, is_zero, length, reject, unit

Law = tuple[str, Array]


@dataclass
class Limb:
    """Vectors seen from the root, in one frame: before, asked for, and after; `slack` is what rounding alone can do.

    `known` are the rows to judge: valid, with bones that keep their lengths in this frame.
    """

    rows: Rows
    upper: Array
    lower: Array
    line: Array
    aim: Array
    pole: Array | None
    cone_axis: Array | None
    mid: Array
    end: Array
    slack: Array
    known: Array
    on_end: Array  # target and end are the same numbers

    def __post_init__(self) -> None:
        self.known = self.known & ~self.unsure

    @cached_property
    def u(self) -> Array:
        return length(self.upper)

    @cached_property
    def v(self) -> Array:
        return length(self.lower)

    @cached_property
    def reach(self) -> Array:
        return self.u + self.v

    @cached_property
    def present(self) -> Array:
        return length(self.line)

    @cached_property
    def distance(self) -> Array:
        return np.where(self.on_end, self.present, length(self.aim))

    @cached_property
    def weight(self) -> Array:
        return np.clip(self.rows.number("weight", 1.0), 0.0, 1.0)

    @cached_property
    def legal(self) -> tuple[Array, Array]:
        """Least and greatest distance of the end by the angle limits, widened to the present one."""
        greatest = np.clip(self.rows.number("max_angle", np.pi), 0.0, np.pi)
        least = np.clip(self.rows.number("min_angle", 0.0), 0.0, greatest)
        return np.minimum(self._at(least), self.present), np.maximum(self._at(greatest), self.present)

    def _at(self, angle: Array) -> Array:
        across = 4 * self.u * self.v * np.sin(angle / 2) ** 2
        return np.where(angle >= np.pi, self.reach, np.sqrt((self.u - self.v) ** 2 + across))

    @cached_property
    def softness(self) -> Array:
        return np.clip(self.rows.number("soften", 1.0), 0.0, 1.0)

    @cached_property
    def start(self) -> Array:
        """The distance at which softening begins."""
        return self.softness * self.legal[1]

    @cached_property
    def soft(self) -> Array:
        """The target's distance behind the parabola."""
        greatest, start, d = self.legal[1], self.start, self.distance
        arrival = (2 - self.softness) * greatest
        parabola = d - (d - start) ** 2 / (2 * (arrival - start))
        soft = np.where(d >= arrival, greatest, parabola)
        return np.where((d <= start) | (self.softness >= 1), d, soft)

    @cached_property
    def full(self) -> Array:
        """Distance of the end at full weight."""
        return np.clip(self.soft, *self.legal)

    @cached_property
    def goal(self) -> Array:
        """Where the weighted end would be, before it is clamped; NaN where the target is on the root."""
        goal = self.full[:, None] * np.where(self.on_end[:, None], unit(self.line), unit(self.aim))
        return self.line + self.weight[:, None] * (goal - self.line)

    @cached_property
    def wanted(self) -> Array:
        """Where the end goes without a cone; NaN where it goes through the root."""
        distance = length(self.goal)
        far = np.where(self.weight == 1, self.full, np.clip(distance, *self.legal))
        wanted = far[:, None] * unit(self.goal)
        return np.where((distance > 1e-6 * self.reach)[:, None], wanted, np.nan)

    @cached_property
    def poled(self) -> Array:
        """Rows that a pole turns."""
        if self.pole is None:
            return np.zeros(self.rows.count, bool)
        return ~is_zero(self.pole) & (np.clip(self.rows.number("pole_weight", 1.0), 0, 1) > 0)

    @cached_property
    def unsure(self) -> Array:
        """Rows that stay if softening does not begin yet, which is known to rounding only."""
        near = (self.distance > 0) & (self.softness < 1) & (abs(self.start - self.distance) <= self.tolerance)
        return self.on_end & near

    @cached_property
    def still(self) -> Array:
        """Rows that must return their pose: weight 0, or nothing asked for."""
        content = self.on_end & (self.soft == self.distance) & ~self.poled & (self.rows.number("twist", 0.0) == 0)
        return (self.weight == 0) | (content & ~self.unsure)

    @cached_property
    def coned(self) -> Array:
        if self.cone_axis is None:
            return np.zeros(self.rows.count, bool)
        return ~is_zero(self.cone_axis)

    @cached_property
    def tolerance(self) -> Array:
        """How far a joint may be from where it should be."""
        return self.rows.accuracy * self.reach + self.slack

    def laws(self) -> Iterator[Law]:
        """All of them."""
        yield "upper bone is rigid", self.known & (abs(length(self.mid) - self.u) > self.tolerance)
        yield "lower bone is rigid", self.known & (abs(length(self.end - self.mid) - self.v) > self.tolerance)
        yield from self.end_laws()
        yield from self.status_laws()
        if self.cone_axis is not None:
            yield from self.cone_laws(self.cone_axis)
        yield from self.bend_laws()

    def end_laws(self) -> Iterator[Law]:
        limited = self.coned & ((self.rows.out["status"] & LIMITED) > 0)
        pushed = np.maximum(length(self.wanted) / length(self.goal), 1.0)  # away from where it passed the root
        slack = self.tolerance * pushed + 2 * self.rows.moved * self.reach * self.coned
        off = length(self.end - self.wanted)
        moved = self.known & ~self.still & ~limited & (self.distance > 0)
        yield "end is where the stages put it", moved & (off > slack)
        (least, greatest), far = self.legal, length(self.end)
        beyond = np.maximum(far - greatest, least - far)
        yield "end is within the legal distances", self.known & ~self.coned & (beyond > self.tolerance)
        reached = self.known & ((self.rows.out["status"] & MISSED) == 0) & (self.weight == 1)
        off = length(self.end - self.aim) - 4 * self.rows.moved * self.reach
        yield "the target is reached where nothing else is told", reached & (off > self.tolerance)

    @property
    def stages(self) -> dict[str, Array]:
        """By how much each stage moves the end, in the order of the status bits."""
        d, bare = self.distance, np.clip(self.distance, abs(self.u - self.v), self.reach)
        return {
            "too far": d - self.reach,
            "too close": abs(self.u - self.v) - d,
            "softened": d - self.soft,
            "limited": abs(np.clip(d, *self.legal) - bare),
        }

    def status_laws(self) -> Iterator[Law]:
        status, least = self.rows.out["status"], self.rows.moved * self.reach
        unsure = 1e-3 * least + 1e-13 * (self.distance + self.reach) + (0 if self.rows.single else 1e-3 * self.slack)
        for bit, (name, stage) in enumerate(self.stages.items()):
            flagged = (status & (1 << bit)) > 0
            yield f"{name} is told", self.known & ~flagged & (stage - least > unsure)
            free = self.known & ~self.coned if name == "limited" else self.known
            yield f"{name} is told of none else", free & flagged & (least - stage > unsure)
        on_root = self.known & (self.distance == 0) & ~self.still
        yield "a target on the root is singular", on_root & ((status & SINGULAR) == 0)

    def cone_laws(self, axis: Array) -> Iterator[Law]:
        angle = np.clip(self.rows.number("cone_angle", np.pi), 0.0, np.pi)
        least = np.minimum(self.u * np.cos(angle), dot(unit(axis), self.upper))
        rows = self.known & self.coned & ~self.still & (self.distance > 0)
        yield "upper bone is within the cone", rows & (dot(unit(axis), self.mid) < least - self.tolerance)

    def bend_laws(self) -> Iterator[Law]:
        """The side of the bend, for the plain rules and far from where they have none."""
        new = unit(self.wanted)
        side = reject(self.mid, new)
        clear = self.known & ~self.still & ~self.coned & (self.rows.number("twist", 0.0) == 0)
        clear &= (length(side) > 1e-2 * self.reach) & (length(self.goal) > 1e-2 * self.reach)
        near = (1e-4 if self.rows.single else 1e-11) + 4 * (self.tolerance + self.slack) / length(side)
        off = lambda wish: length(unit(side) - wish) > near  # noqa: E731
        if self.rows.call.words.get("bend") == "nearest":
            wish = reject(self.upper, new)
            free = ~self.poled & (length(wish) > 1e-2 * self.reach)
            yield "the bend is the nearest", clear & free & off(unit(wish))
        else:
            wish, generic = self.carried(new)
            plain = clear & ~self.poled & generic
            yield "the bend is carried along", plain & off(wish)
            told = (self.rows.out["status"] & SINGULAR) > 0
            yield "a generic row is not singular", plain & told & (not self.rows.rolling)
        if self.pole is not None:
            wish = reject(unit(self.pole), new)
            whole = (self.rows.number("pole_weight", 1.0) >= 1) & (self.weight == 1) & (length(wish) > 1e-2)
            yield "the bend is towards the pole", clear & self.poled & whole & off(unit(wish))

    def carried(self, new: Array) -> tuple[Array, Array]:
        """The bend by the shortest turn of the present line onto the new one, and rows where both are clear."""
        line = unit(self.line)
        normal = cross(self.upper, np.where((self.present < self.v)[:, None], self.line, self.lower))
        height, middle = length(normal) / self.present, line + new
        own, half = unit(cross(line, normal)), unit(middle)
        generic = (height > 1e-3 * self.reach) & (length(middle) > 1e-2)
        return own - 2 * dot(own, half)[:, None] * half, generic


def status_is_legal(rows: Rows) -> Iterator[Law]:
    """Of any row: known bits, INVALID alone, and a miss exactly where it can be told."""
    status = rows.out["status"]
    alone = (status & INVALID == 0) | (status == INVALID)
    yield "status is of known bits, INVALID alone", (status >= 64) | ~alone
    yield "miss is NaN where a row is invalid, and nowhere else", np.isnan(rows.out["miss"]) != rows.invalid
