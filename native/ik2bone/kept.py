# SPDX-License-Identifier: MIT
"""Results of planting's stages, kept so that a plan with other settings computes again only what depends on these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, cast

import numpy as np

Result = TypeVar("Result")
# Types of data that are their own values.
PLAIN = (str, float, int)


@dataclass(frozen=True, eq=False)
class Kept:
    """The last result of each stage that worked on the objects `given`. `values` tell whether these are the same."""

    given: tuple[Any, ...]
    values: Any
    results: dict[str, tuple[list[Any], Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, *given: Any, previous: Kept | None = None) -> Kept:
        """Return `previous` if its results were made of data equal to what is `given`, else one without results."""
        values = values_of(given)
        return previous if previous is not None and previous.values == values else cls(given, values)

    def __reduce__(self) -> tuple[Callable[..., Kept], tuple[Any, ...]]:
        """Copies and pickles hold no results, because results are found by the identity of objects of the original."""
        return Kept.of, self.given

    def __call__(self, stage: Callable[..., Result], *inputs: Any) -> Result:
        """Return the result of a stage, computed again unless its inputs are the same as in its last call.

        Settings are the same if their `values` are. Any other input has to be the same object: either one of the
        objects `given`, or the result of another stage.
        """
        now = [getattr(one, "values", one) for one in inputs]
        last, result = self.results.get(stage.__name__, ([], None))
        if not last or not all(a is b or (isinstance(a, tuple) and a == b) for a, b in zip(last, now, strict=True)):
            before, result = result, stage(*inputs)
            # An equal array stays the same object, so that stages that depend on it are not computed again.
            if isinstance(before, np.ndarray) and values_of(result) == values_of(before):
                result = before
            self.results[stage.__name__] = now, result
        return cast(Result, result)


def values_of(data: Any) -> Any:
    """A value that is equal (==) for equal data: shape, type and hash of an array, the values of the parts of a list,
    tuple or dataclass, a text or number itself, and the identity of any other object.
    """
    if data is None or isinstance(data, PLAIN):
        return data
    if isinstance(data, np.ndarray):
        return data.shape, data.dtype.str, hash(data.tobytes())
    if isinstance(data, tuple | list):
        return tuple(map(values_of, data))
    if is_dataclass(data):
        return type(data), *[values_of(getattr(data, each.name)) for each in fields(data)]
    return data if np.isscalar(data) else id(data)


def copied(data: Any) -> Any:
    """A copy of data, with copies of the arrays in it and without cached values of dataclasses; see `values_of`."""
    if isinstance(data, np.ndarray):
        return data.copy()
    if isinstance(data, tuple):
        return tuple(map(copied, data))
    if not is_dataclass(data):
        return data
    copy = object.__new__(type(data))
    vars(copy).update({each.name: copied(getattr(data, each.name)) for each in fields(data)})
    return copy
