# SPDX-License-Identifier: GPL-3.0-or-later
"""Upper and lower bones of limbs that are made of several bones in a straight line, as twist bones are put in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .limb import Limb, Tree

# The first of several bones is at most followed by so many: Rigify puts in one, other rigs up to three.
MOST = 3
# Joints lie in one line when those between are within this share of its length from it on every pose, its ends too:
# knees that bend by 5 degrees do not.
STRAIGHT = 0.02
# A limb whose ends come nearer by this share of its reach on some pose than on others shows where it bends.
BENDS = 0.03
TWIST_NAME = re.compile(r"twist|roll", re.IGNORECASE)

Line = tuple[int, tuple[int, ...]]


def lines_to(tree: Tree, bone: int) -> Iterator[Line]:
    """Bones over a bone from whose head a straight line of joints leads to its head, each with what lies between."""
    between: tuple[int, ...] = ()
    upper = tree.parents[bone]
    while upper >= 0 and len(between) <= MOST and all(_lies_between(tree, part, upper, bone) for part in between):
        yield upper, between
        between, upper = (upper, *between), tree.parents[upper]


def _lies_between(tree: Tree, part: int, upper: int, lower: int) -> bool:
    start, end = tree.heads[:, upper], tree.heads[:, lower]
    length = np.linalg.norm(end - start, axis=-1)
    way, away = (end - start) / np.maximum(length, 1e-300)[:, None], tree.heads[:, part] - start
    along = np.sum(way * away, axis=-1)
    aside = np.linalg.norm(away - along[:, None] * way, axis=-1)
    near = STRAIGHT * length
    return bool(np.all((aside < near) & (along > -near) & (along < length + near)))


def are_segments(tree: Tree, limb: Limb, upper: tuple[int, ...], lower: tuple[int, ...]) -> bool:
    """Whether the bones between those of a limb are parts of its upper and lower bone, and none of them its knee.

    Their names tell it, or that the limb bends on some poses while they stay in line.
    """
    named = [
        _is_named_after(tree.names[part], tree.names[bone])
        for bone, parts in ((limb.root, upper), (limb.mid, lower))
        for part in parts
    ]
    extension = np.linalg.norm(tree.heads[:, limb.root] - tree.heads[:, limb.end], axis=-1)
    return all(named) or bool(np.ptp(extension) > BENDS * limb.reach)


def _is_named_after(part: str, bone: str) -> bool:
    """Whether a bone is called a twist bone, or as the bone before it with a number."""
    return bool(TWIST_NAME.search(part) or re.fullmatch(re.escape(bone) + r"[._-]\d+", part))
