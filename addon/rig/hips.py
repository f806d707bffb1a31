# SPDX-License-Identifier: GPL-3.0-or-later
"""The hips of an armature: the bone that carries the legs and may be moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .checks import Moving

if TYPE_CHECKING:
    from bpy.types import Object

    from .find import Leg


def find_hips(armature: Object, legs: Sequence[Leg]) -> str | None:
    """The lowest bone that carries all legs and the trunk; where that cannot move, its next ancestor that can."""
    bones, moving = armature.pose.bones, Moving(armature)
    lines = [[leg.thigh, *(bone.name for bone in bones[leg.thigh].parent_recursive)] for leg in legs]
    shared = [name for name in lines[0][1:] if all(name in line for line in lines)]
    if not shared:
        return None
    carried = [_largest_branch(armature, name, {line for leg in lines for line in leg}) for name in shared]
    lowest = carried.index(max(carried))
    between = {name for line in lines for name in line[1 : line.index(shared[lowest])]}
    if any(moving.holds(bones[name]) for name in between):
        return None
    for name in shared[lowest:]:
        if moving.holds(bones[name]):
            # What holds it in its place would do so under any ancestor that moves.
            return None
        if moving.is_free(name):
            return name
    return None


def _largest_branch(armature: Object, name: str, legs: set[str]) -> int:
    """Bones in the largest subtree under a bone that holds no leg; the trunk is the largest of all such subtrees."""
    branches = [child for child in armature.data.bones[name].children if child.name not in legs]
    return max((1 + len(child.children_recursive) for child in branches), default=0)
