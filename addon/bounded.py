# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches that keep results of one run for the next one, each within a bound on its size.

The caches hold no data of Blender's, because undo and loading a file replace that. The key of a sample, skin or mesh is
the content that it was made from, so that no result is stale. There are two exceptions: edits of a character's meshes
are reported by Blender, and the package itself compares the inputs of plans.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, TypeVar

from bpy.app.handlers import load_pre, persistent

Value = TypeVar("Value")


class Bounded(dict[Hashable, tuple[Value, int]]):
    """Values with their sizes. While the sizes add up to more than `most`, the value used longest ago is dropped."""

    every: ClassVar[list[Bounded[Any]]] = []

    def __init__(self, most: int) -> None:
        self.most = most
        self.every.append(self)

    def find(self, key: Hashable) -> Value | None:
        """The value of a key, or None. The value then counts as the one used last."""
        found = self.pop(key, None)
        return self.put(key, *found) if found else None

    def put(self, key: Hashable, value: Value, size: int) -> Value:
        """Keep a value, and return it."""
        self.pop(key, None)
        self[key] = value, size
        while sum(size for _, size in self.values()) > self.most:
            del self[next(iter(self))]
        return value


@persistent
def forget(*_: Any) -> None:
    """Empty all caches, for instance before a file is loaded."""
    for kept in Bounded.every:
        kept.clear()


HANDLERS = [(load_pre, forget)]
unregister = forget
