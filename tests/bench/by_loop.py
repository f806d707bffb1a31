# SPDX-License-Identifier: MIT
"""The plain case as a loop over rows in Python with mathutils, as in a script for Blender."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from mathutils import Matrix, Quaternion, Vector

Row = Sequence[Any]


def place(root: Vector, mid: Vector, end: Vector, target: Vector) -> tuple[Vector, Vector]:
    """The new mid and end of one limb."""
    upper, lower = (mid - root).length, (end - mid).length
    line, aim = (end - root).normalized(), target - root
    distance = min(max(aim.length, abs(upper - lower)), upper + lower)
    new_line = aim.normalized()
    bend = line.rotation_difference(new_line) @ (mid - root - (mid - root).dot(line) * line).normalized()
    along = (upper**2 - lower**2 + distance**2) / (2 * distance)
    return root + along * new_line + sqrt(max(upper**2 - along**2, 0)) * bend, root + distance * new_line


def turn(root: Matrix, mid: Matrix, end: Vector, new_mid: Vector, new_end: Vector) -> tuple[Quaternion, Quaternion]:
    """The corrections of root and mid joint of one limb."""
    root_turn, mid_turn = root.to_quaternion(), mid.to_quaternion()
    first = (mid.translation - root.translation).rotation_difference(new_mid - root.translation)
    lower = first.inverted() @ (new_end - new_mid)
    second = (end - mid.translation).rotation_difference(lower)
    return root_turn.inverted() @ first @ root_turn, mid_turn.inverted() @ second @ mid_turn


def solve(root: Row, mid: Row, end: Row, target: Row) -> list[Any]:
    return [place(*map(Vector, row)) for row in zip(root, mid, end, target, strict=True)]


def orient(root: Row, mid: Row, end: Row, new_mid: Row, new_end: Row) -> list[Any]:
    rows = zip(root, mid, end, new_mid, new_end, strict=True)
    return [turn(Matrix(a), Matrix(b), *map(Vector, points)) for a, b, *points in rows]


def solve_pose(root: Row, mid: Row, end: Row, target: Row) -> list[Any]:
    result = []
    for row in zip(root, mid, end, target, strict=True):
        a, b, c, d = Matrix(row[0]), Matrix(row[1]), Vector(row[2]), Vector(row[3])
        result.append(turn(a, b, c, *place(a.translation, b.translation, c, d)))
    return result


def skeleton(parents: Sequence[int], translation: Row, rotation: Row) -> list[Matrix]:
    """The aggregate transforms of one frame."""
    result: list[Matrix] = []
    for parent, at, wxyz in zip(parents, translation, rotation, strict=True):
        own = Matrix.LocRotScale(Vector(at), Quaternion(wxyz).normalized(), None)
        result.append(own if parent < 0 else result[parent] @ own)
    return result


def aggregate(parents: Sequence[int], translation: Row, rotation: Row) -> list[Any]:
    return [skeleton(parents, *frame) for frame in zip(translation, rotation, strict=True)]


def bend(root: Vector, mid: Vector, end: Vector) -> Vector:
    """The unit direction from the line root-end to the mid joint of one limb."""
    upper = mid - root
    return (upper - upper.project(end - root)).normalized()


def pole_of(root: Row, mid: Row, end: Row) -> list[Any]:
    return [bend(*map(Vector, row)) for row in zip(root, mid, end, strict=True)]
