# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run keeps for the next one, known by what it was made from, within a bound.

Nothing here is Blender's data, which undo and loading a file replace. Samples, skins and meshes are known by the
content of what they were made from, but for the weights of skins, edits of which Blender tells, and a plan is compared
by the package; so nothing kept is ever stale.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, TypeVar

from bpy.app.handlers import load_pre, persistent

Value = TypeVar("Value")


class Bounded(dict[Hashable, tuple[Value, int]]):
    """Values with their sizes, the one used last at the end; the first ones go while all are larger than `most`."""

    every: ClassVar[list[Bounded[Any]]] = []

    def __init__(self, most: int) -> None:
        self.most = most
        self.every.append(self)

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


@persistent
def forget(*_: Any) -> None:
    """Keep nothing any longer, over the loading of a file for instance."""
    for kept in Bounded.every:
        kept.clear()


HANDLERS = [(load_pre, forget)]
unregister = forget
