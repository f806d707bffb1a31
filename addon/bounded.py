# SPDX-License-Identifier: GPL-3.0-or-later
"""What was made before, known by what it was made from, within a bound."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

Value = TypeVar("Value")


class Bounded(dict[Hashable, tuple[Value, int]]):
    """Values with their sizes, the one used last at the end; the first ones go while all are larger than `most`."""

    def __init__(self, most: int) -> None:
        self.most = most

    def find(self, key: Hashable) -> Value | None:
        """A kept value, which becomes the one used last."""
        found = self.pop(key, None)
        return self.put(key, *found) if found else None

    def put(self, key: Hashable, value: Value, size: int) -> Value:
        """Keep a value as the one used last."""
        self.pop(key, None)
        self[key] = value, size
        while sum(size for _, size in self.values()) > self.most:
            del self[next(iter(self))]
        return value
