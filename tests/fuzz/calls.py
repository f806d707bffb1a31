# SPDX-License-Identifier: MIT
"""Random calls: a function, its numbers in various dtypes and shapes, and its words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.functions import NUMBER, Function, functions
from tests.fuzz import families
from tests.fuzz.layouts import FEW
from tests.fuzz.vectors import Array, cross

Generator = np.random.Generator
SHARES = dict(solve=0.3, solve_pose=0.3, orient=0.1, aggregate=0.15, pole_of=0.05, hinge_of=0.05, multiply=0.05)


@dataclass
class Call:
    """One call over rows with the leading dimensions `extent`. Arrays in `values` may have fewer, and are broadcast."""

    function: Function
    extent: tuple[int, ...]
    values: dict[str, Array]
    words: dict[str, str]
    lists: set[str] = field(default_factory=set)  # names of arguments given as lists or numbers, which have no dtype

    @property
    def count(self) -> int:
        return int(np.prod(self.extent))

    @property
    def kind(self) -> Any:
        """The dtype of results: float32 if all arrays among the positional arguments are float32, else float64."""
        decide = [self.values[name].dtype for name in self.function.positional if name in self.values]
        decide = [d for d, name in zip(decide, self.function.positional, strict=False) if name not in self.lists]
        return np.dtype("f4" if decide and all(d == np.dtype("f4") for d in decide) else "f8")

    def shown(self, values: dict[str, Array]) -> dict[str, Any]:
        """The values as arguments, converted to lists for the names in `lists`."""
        return {name: v.tolist() if name in self.lists else v for name, v in values.items()}

    def whole(self, name: str) -> Array:
        """One argument, broadcast over the whole extent."""
        return np.broadcast_to(self.values[name], (*self.extent, *self.function.inputs[name]))

    def rows(self, name: str) -> Array:
        """One argument as an array of rows, in its own dtype."""
        return np.ascontiguousarray(self.whole(name)).reshape(self.count, *self.function.inputs[name])


def extent_of(rng: Generator, rows: int) -> tuple[int, ...]:
    """Up to three dimensions with about `rows` rows together, at times with an additional 1 or 0."""
    parts = int(rng.choice([0, 1, 1, 1, 2, 3]))
    if parts == 0:
        return (rows,) if rng.random() < 0.8 else ()
    cuts = np.maximum(rows ** np.diff([0.0, *np.sort(rng.random(parts - 1)), 1.0]), 1.0)
    extent = [int(size) for size in cuts]
    if rng.random() < 0.1:
        extent.insert(int(rng.integers(0, parts + 1)), int(rng.choice([1, 1, 1, 0])))
    return tuple(extent)


def reduced(rng: Generator, values: Array, lead: int) -> Array:
    """The values with some of the leading dimensions reduced to 1 or, in front, left out, so that they broadcast."""
    for axis in range(lead):
        if rng.random() < 0.6:
            values = values[(slice(None),) * axis + (slice(0, 1),)]
    while lead and values.shape[0] == 1 and rng.random() < 0.5:
        values, lead = values[0], lead - 1
    return values


def chosen(rng: Generator, names: list[str]) -> list[str]:
    part = rng.choice([0.0, 0.0, 0.15, 0.5, 1.0])
    return [name for name in names if rng.random() < part]


def limb_numbers(
    rng: Generator, function: Function, count: int, wild: float, *, all_options: bool = False
) -> dict[str, Array]:
    """The positional arguments and options of a function of limbs, for `count` rows."""
    names = list(function.options) if all_options else chosen(rng, list(function.options))
    if "end_goal" in names and "end_matrix" not in names:
        names.append("end_matrix")  # a goal without a matrix is refused
    if "root" in function.positional:
        numbers = families.limbs(rng, count, wild)
        up, line = numbers["mid"] - numbers["root"], numbers["target"] - numbers["root"]
    else:
        numbers = families.poses(rng, count, wild, scaled="root_scale" in names)
        up = numbers["mid_matrix"][:, :3, 3] - numbers["root_matrix"][:, :3, 3]
        line = numbers["target"] - numbers["root_matrix"][:, :3, 3]
    if function.name == "orient":
        numbers |= families.turned_bones(rng, numbers, wild)
    for name in names:
        if function.options[name] == NUMBER:
            numbers[name] = families.numbers(rng, name, count)
        elif name == "end_goal":
            goal = families.spaces(rng, count, str(rng.choice(families.SPACES)))
            numbers[name] = families.affine(goal, rng.normal(size=(count, 3)))
        elif name not in numbers:
            along = cross(up, line) if rng.random() < 0.5 else line if rng.random() < 0.5 else up
            numbers[name] = families.option_directions(rng, count, along, wild)
    if "roll" in function.words and "hinge" not in names:
        numbers.pop("hinge", None)
    return {name: numbers[name] for name in function.inputs if name in function.positional or name in names}


def other_numbers(rng: Generator, function: Function, count: int, wild: float) -> dict[str, Array]:
    """The arguments of other functions for `count` rows: quaternions, or the local transforms of skeletons."""
    names = [*function.positional, *chosen(rng, list(function.options))]
    numbers = {}
    for name in names:
        row = function.inputs[name]
        rows = count * (row[0] if name not in ("base", "q", "r") else 1)
        if name in ("rest", "base"):
            at = rng.normal(size=(rows, 3))
            numbers[name] = families.affine(families.spaces(rng, rows, str(rng.choice(families.SPACES))), at)
        elif row[-1] == 4:
            numbers[name] = families.quaternions(rng, rows, wild)
        else:
            numbers[name] = rng.normal(size=(rows, 3)) + (name == "scale")
        numbers[name] = numbers[name].reshape(count, *row)
    return numbers


def skeleton(rng: Generator) -> Function:
    """`aggregate` with random parents."""
    joints = int(rng.integers(0, 12))
    parents = np.array([rng.integers(-1, max(j, 0)) if j else -1 for j in range(joints)], int)
    function = functions(joints)["aggregate"]
    return Function(**(vars(function) | dict(before=(parents.tolist() if rng.random() < 0.5 else parents,))))


def words_of(rng: Generator, function: Function, values: dict[str, Array]) -> dict[str, str]:
    words = {}
    for word, choices in function.words.items():
        allowed = choices if word != "roll" or "hinge" in values else choices[:1]
        if rng.random() < 0.6:
            words[word] = str(rng.choice(allowed))
    return words


def random_call(rng: Generator, most: int) -> Call:
    """A call of up to about `most` rows. Most calls are large, so that many rows are tested."""
    name = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    function = skeleton(rng) if name == "aggregate" else functions()[name]
    rows = int(most * rng.uniform(0.3, 1)) if rng.random() < 0.7 else int(most ** rng.random())
    extent = extent_of(rng, rows if name != "aggregate" else rows // 8 + 1)
    count, wild = int(np.prod(extent)), float(rng.choice([0.0, 0.02, 0.5, 1.0]))
    make = limb_numbers if "end" in function.positional else other_numbers
    numbers = make(rng, function, count, wild)
    kinds = [np.dtype(k) for k in rng.choice([["f4", "f4"], ["f8", "f8"], ["f4", "f8"]], p=[0.45, 0.35, 0.2])]
    values = {n: shaped(rng, function, n, v, extent, kinds) for n, v in numbers.items()}
    spoiled = str(rng.choice(list(values)))
    if rng.random() < 0.25 and values[spoiled].size:
        values[spoiled] = values[spoiled].copy()
        families.spoil(rng, values[spoiled].reshape(-1, math.prod(function.inputs[spoiled])))
    lists = {n for n, v in values.items() if 0 < v.size <= FEW and rng.random() < 0.25}
    return Call(function, extent, values, words_of(rng, function, values), lists)


def shaped(rng: Generator, function: Function, name: str, rows: Array, extent: tuple[int, ...], kinds: Any) -> Array:
    """The rows in the shape of the extent, at times with reduced dimensions; the first argument keeps the extent."""
    with np.errstate(over="ignore"):  # wild numbers become infinity in single precision, which is a case, too
        values = rows.reshape((*extent, *function.inputs[name])).astype(rng.choice(kinds))
    is_first = name == next(iter(function.positional))
    return values if is_first or rng.random() < 0.75 else reduced(rng, values, len(extent))
