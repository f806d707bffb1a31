# SPDX-License-Identifier: MIT
"""Results of planting's stages, kept so that a plan with other settings makes only what these change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, cast

import numpy as np

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Kept:
    """What stages made of what was `given`, whose `values` tell whether it still is the same; one result a stage."""

    given: tuple[Any, ...]
    values: Any
    results: dict[str, tuple[list[Any], Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, *given: Any, previous: Kept | None = None) -> Kept:
        """What was kept of the same things as they are now given, or else nothing as yet."""
        values = values_of(given)
        return previous if previous is not None and previous.values == values else cls(given, values)

    def __reduce__(self) -> tuple[Callable[..., Kept], tuple[Any, ...]]:
        """Copies, and what other processes get, keep no results: their values would tell of objects of the original."""
        return Kept.of, self.given

    def __call__(self, stage: Callable[..., Result], *inputs: Any) -> Result:
        """The result of a stage, made anew unless its inputs are those that it was last made of.

        Settings are the same if their `values` are. All else has to be the same object: it is something `given`, or the
        result of another stage.
        """
        now = [getattr(one, "values", one) for one in inputs]
        last, result = self.results.get(stage.__name__, ([], None))
        if not last or not all(a is b or (isinstance(a, tuple) and a == b) for a, b in zip(last, now, strict=True)):
            result = stage(*inputs)
            self.results[stage.__name__] = now, result
        return cast(Result, result)


def values_of(data: Any) -> Any:
    """What tells by == whether data is the same: a hash of an array, the values of parts, else which object it is."""
    if data is None or isinstance(data, str | float | int):
        return data
    if isinstance(data, np.ndarray):
        return data.shape, data.dtype.str, hash(data.tobytes())
    if isinstance(data, tuple | list):
        return tuple(map(values_of, data))
    if is_dataclass(data):
        return type(data), *[values_of(getattr(data, each.name)) for each in fields(data)]
    return data if np.isscalar(data) else id(data)
