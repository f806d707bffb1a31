# SPDX-License-Identifier: GPL-3.0-or-later
"""Search a bone tree for mirrored pairs of limbs that stand on the ground: pure geometry of joints over some poses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..pose.evaluate import Array
from .segments import are_segments, lines_to

# Upper to lower length of a leg, either way round: 0.79 to 1.16 on the people of the data folder.
PROPORTION = 2.2
# The lengths of a pair differ by less than this share: mocap skeletons by 0.04.
MIRROR = 0.15
# The end hangs under the root by at least this share of the reach on the median pose.
DROP = 0.5
# The lowest joints of a pair are at most this share of its reach above the lowest joint of the figure: 0.13 on the
# front legs of the data folder's fox, which end at the wrist; 0.3 on hands that hang.
LOW = 0.25
# So many of a limb's three bones are named like those of legs where names alone tell that it is one.
NAMED = 2
# A further pair of legs is at least this share of the first one's reach.
FURTHER = 0.4
# Arms are at least this share of the legs' reach: 0.6 on people, 0.2 on fingers.
ARM = 0.35
# What hangs under the end is at most this share of the reach long and this share of it high: 0.76 and 0.65 on the hind
# leg of a cat; 1.0 where a spine, 0.83 and 0.92 where a shoulder blade is mistaken for a leg.
FOOT_LENGTH, FOOT_HEIGHT = 0.85, 0.72
# A leg hangs from the trunk by bones shorter in all than this multiple of its reach: 1.3 for the front leg of a horse
# with its shoulder blade, 4.8 for a finger.
HANGER = 2.0
# Of the chains along one leg the topmost counts that has this share of the longest one's reach: animals stand on toes,
# so that shin and metatarsus may be longer than thigh and shin.
TOPMOST = 0.85
# Limbs whose reach is within this share of the longest are equals, told apart by movement, structure and name.
EQUAL = 0.03
# Joints nearer than this share of the reach lie in one place.
PLACE = 0.04
# Toes begin at least this share of the way from the end to the next joint: 0.67 and more on the data folder's figures.
# What begins nearer and carries toes on is a bone of the instep, as the metatarsals of Daz's figures are.
INSTEP = 0.55
GOOD_NAME = re.compile(r"leg|thigh|knee|shin|calf|foot|ankle|toe|ball", re.IGNORECASE)
SHIN_NAME = re.compile(r"leg|shin|calf|knee", re.IGNORECASE)
BAD_NAME = re.compile(r"arm|hand|twist|share|roll|ctrl|control|ik|pole|heel|skirt|cape|hair|_end|nub", re.IGNORECASE)


@dataclass(frozen=True)
class Tree:
    """Bones by index: names, parents (-1 for roots), whether their channels move, and heads on P poses (P, B, 3)."""

    names: list[str]
    parents: list[int]
    moved: NDArray[np.bool_]
    heads: Array

    def line(self, bone: int) -> list[int]:
        """The bone and its ancestors up to the root."""
        found = []
        while bone >= 0:
            found.append(bone)
            bone = self.parents[bone]
        return found

    @cached_property
    def children(self) -> list[list[int]]:
        """The bones straight under each bone."""
        found: list[list[int]] = [[] for _ in self.parents]
        for bone, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append(bone)
        return found

    def below(self, bone: int) -> list[int]:
        """The bone and all bones under it."""
        return [bone] + [found for child in self.children[bone] for found in self.below(child)]

    def length(self, bone: int, other: int) -> float:
        """Distance of two heads on the median pose."""
        return float(np.median(np.linalg.norm(self.heads[:, bone] - self.heads[:, other], axis=-1)))

    def lowest(self, bones: Sequence[int]) -> Array:
        """Height of the lowest of some heads on each pose (P,)."""
        return self.heads[:, bones, 2].min(axis=1)


@dataclass(frozen=True)
class Limb:
    """Three bones under one another, with the distances between their heads; twist bones may lie between."""

    root: int
    mid: int
    end: int
    upper: float
    lower: float

    @property
    def reach(self) -> float:
        """Upper plus lower length."""
        return self.upper + self.lower

    @property
    def bones(self) -> tuple[int, int, int]:
        """The three bones from the root down."""
        return (self.root, self.mid, self.end)


Pair = tuple[Limb, Limb]


def standing_pairs(animated: Tree, rest: Tree) -> list[Pair]:
    """Pairs of legs as they stand in the animation, or failing that in the rest pose, the surest first.

    Where weapons, tails or parked props lie lower than all of them, names tell which pairs are legs.
    """
    for are_legs in (_stands, _are_named_legs):
        for tree in (animated, rest):
            mirrored = _mirrored(tree)
            standing = [pair for pair in mirrored if are_legs(tree, pair)]
            candidates = [pair for pair in mirrored if any(_same_limbs(pair, other) for other in standing)]
            if candidates:
                return _choose(tree, rest, candidates)
    return []


def arm_pairs(rest: Tree, legs: Sequence[Limb]) -> list[Pair]:
    """Pairs of arms in the rest pose: mirrored limbs on the trunk beside the legs, the longest first."""
    found: list[Pair] = []
    length = ARM * max((leg.reach for leg in legs), default=0.0)
    pairs = [pair for pair in _mirrored(rest) if pair[0].reach > length]
    while pairs := [pair for pair in pairs if _is_beside(rest, pair, [*legs, *(arm for p in found for arm in p)])]:
        # The longest: a collarbone for an upper arm makes a shorter chain.
        equals = _at_least(1.0 - EQUAL, pairs)
        found.append(max(equals, key=lambda pair: _rank(rest, pair[0].bones + pair[1].bones)))
        length = max(length, FURTHER * found[0][0].reach)
        pairs = [pair for pair in pairs if pair[0].reach > length]
    return found


def _is_beside(tree: Tree, pair: Pair, limbs: Sequence[Limb]) -> bool:
    """Whether a pair shares no bone with limbs, with what hangs under them, or with what they hang from."""
    taken = {bone for limb in limbs for bone in tree.line(limb.root) + tree.below(limb.root)}
    below = {bone for limb in pair for bone in tree.below(limb.root)}
    return not taken.intersection(pair[0].bones + pair[1].bones) and not below.intersection(limb.root for limb in limbs)


def toe_of(tree: Tree, limb: Limb) -> int | None:
    """The toes: the child of the end bone that lies farthest from it, or its child where that is part of the instep."""
    toe = _farthest_child(tree, limb, limb.end)
    further = None if toe is None else _farthest_child(tree, limb, toe)
    if toe is None or further is None or not tree.children[further]:
        return toe
    return further if tree.length(limb.end, toe) < INSTEP * tree.length(limb.end, further) else toe


def _farthest_child(tree: Tree, limb: Limb, bone: int) -> int | None:
    """The child of a bone that lies farthest from the limb's end; among equals the one that moves or carries more."""
    away = {child: tree.length(limb.end, child) for child in tree.children[bone]}
    away = {child: length for child, length in away.items() if length > PLACE * limb.reach}
    equals = [child for child, length in away.items() if length > 0.9 * max(away.values())]
    return max(equals, key=lambda child: _rank(tree, [child]), default=None)


def footless_pair(tree: Tree) -> tuple[int, int] | None:
    """The lowest mirrored pair of bones that are named like shins and have no bone under them."""
    leaves = [bone for bone in range(len(tree.names)) if len(tree.line(bone)) > 2 and not tree.children[bone]]
    pairs = [
        (a, b)
        for a, b in combinations(leaves, 2)
        if _are_branches(tree, a, b, MIRROR * tree.length(tree.parents[a], a))
        and all(SHIN_NAME.search(tree.names[bone]) for bone in (a, b))
    ]
    return min(pairs, key=lambda pair: float(np.median(tree.lowest(pair))), default=None)


def _choose(tree: Tree, rest: Tree, pairs: list[Pair]) -> list[Pair]:
    """The best pair, and after it what further pairs stand beside it."""
    found = [_best(tree, pairs)]
    while pairs := [pair for pair in pairs if _is_further(tree, rest, pair, found)]:
        found.append(_best(tree, pairs))
    return found


def _limbs(tree: Tree) -> list[Limb]:
    """Every bone, child and grandchild of comparable lengths, each of the first two with what carries it on."""
    found = []
    for end in range(len(tree.parents)):
        for mid, lower in lines_to(tree, end):
            for root, upper in lines_to(tree, mid):
                limb = Limb(root, mid, end, tree.length(root, mid), tree.length(mid, end))
                whole = not (upper or lower) or are_segments(tree, limb, upper, lower)
                if whole and _is_proportionate(limb) and _ends_in_foot(tree, limb):
                    found.append(limb)
    return found


def _is_proportionate(limb: Limb) -> bool:
    return limb.upper < PROPORTION * limb.lower and limb.lower < PROPORTION * limb.upper


def _ends_in_foot(tree: Tree, limb: Limb) -> bool:
    height = np.median(tree.lowest([limb.end]) - tree.lowest(tree.below(limb.end)))
    return height < FOOT_HEIGHT * limb.reach and _hanging(tree, limb.end) < FOOT_LENGTH * limb.reach


def _hanging(tree: Tree, bone: int) -> float:
    """Length of the longest line of joints under a bone."""
    return max((tree.length(bone, child) + _hanging(tree, child) for child in tree.children[bone]), default=0.0)


def _mirrored(tree: Tree) -> list[Pair]:
    """Pairs of limbs of equal lengths that branch off at equal depth and lie apart."""
    return [
        (a, b)
        for a, b in combinations(_limbs(tree), 2)
        if _alike(a.upper, b.upper)
        and _alike(a.lower, b.lower)
        and _segments(tree, a) == _segments(tree, b)
        and _are_branches(tree, a.root, b.root, MIRROR * a.reach, HANGER * a.reach)
        and min(tree.length(a.root, b.root), tree.length(a.end, b.end)) > PLACE * a.reach
    ]


def _segments(tree: Tree, limb: Limb) -> list[int]:
    """Of how many bones the upper and the lower bone of a limb are made."""
    root, mid, end = (len(tree.line(bone)) for bone in limb.bones)
    return [mid - root, end - mid]


def _alike(length: float, other: float) -> bool:
    return abs(length - other) < MIRROR * max(length, other)


def _are_branches(tree: Tree, bone: int, other: int, tolerance: float, longest: float = np.inf) -> bool:
    """Whether two bones end branches of as many bones, alike and not too long, that part at one bone or at none."""
    lengths = []
    while bone != other and bone >= 0 and other >= 0:
        parents = tree.parents[bone], tree.parents[other]
        rooted = min(parents) >= 0
        lengths.append((tree.length(bone, parents[0]), tree.length(other, parents[1])) if rooted else (0.0, 0.0))
        bone, other = parents
    if bone != other or not lengths:
        return False
    return max(abs(a - b) for a, b in lengths) < tolerance and sum(a for a, _ in lengths) < longest


def _same_limbs(pair: Pair, other: Pair) -> bool:
    """Whether both limbs of two pairs share two bones, as the chains a bone higher or lower on one leg do."""
    return all(len(set(a.bones) & set(b.bones)) >= 2 for a, b in zip(pair, other, strict=True))


def _stands(tree: Tree, pair: Pair) -> bool:
    """Whether the pair ends well under its roots, and nothing of the figure lies lower."""
    return _hangs(tree, pair) and _over_lowest(tree, pair) < LOW * min(limb.reach for limb in pair)


def _are_named_legs(tree: Tree, pair: Pair) -> bool:
    """Whether the pair ends well under its roots, and most bones of either limb are named like those of legs."""
    ranks = [_rank(tree, limb.bones)[-1] for limb in pair]
    return _hangs(tree, pair) and min(ranks) >= NAMED


def _hangs(tree: Tree, pair: Pair) -> bool:
    reach = min(limb.reach for limb in pair)
    drops = [tree.lowest([limb.root]) - tree.lowest(tree.below(limb.end)) for limb in pair]
    return bool(np.median(drops) > DROP * reach)


def _over_lowest(tree: Tree, pair: Pair) -> float:
    """Height of the pair's lowest joint over the lowest joint of its figure, ancestors of the limbs aside."""
    lines = {bone for limb in pair for bone in tree.line(limb.root)[1:]}
    figure = [bone for bone in tree.below(tree.line(pair[0].root)[-1]) if bone not in lines]
    low = tree.lowest([bone for limb in pair for bone in tree.below(limb.end)])
    return float(np.median(low - tree.lowest(figure)))


def _best(tree: Tree, pairs: list[Pair]) -> Pair:
    """The topmost of the long ones; among equals the pair that moves most, carries most bones, is named like legs."""
    long = _at_least(TOPMOST, pairs)
    top = min(len(tree.line(a.root)) for a, _ in long)
    equals = _at_least(1.0 - EQUAL, [pair for pair in long if len(tree.line(pair[0].root)) == top])
    return max(equals, key=lambda pair: _rank(tree, pair[0].bones + pair[1].bones))


def _at_least(share: float, pairs: list[Pair]) -> list[Pair]:
    longest = max(a.reach + b.reach for a, b in pairs)
    return [(a, b) for a, b in pairs if a.reach + b.reach >= share * longest]


def _rank(tree: Tree, bones: Sequence[int]) -> tuple[int, int, int]:
    names = [tree.names[bone] for bone in bones]
    return (
        sum(bool(tree.moved[bone]) for bone in bones),
        sum(len(tree.below(bone)) for bone in bones),
        sum(bool(GOOD_NAME.search(name)) - bool(BAD_NAME.search(name)) for name in names),
    )


def _is_further(tree: Tree, rest: Tree, pair: Pair, found: list[Pair]) -> bool:
    """Whether a pair are legs too: on another bone of the trunk than those found, and standing in the rest pose."""
    taken = {bone for other in found for limb in other for bone in tree.line(limb.root) + tree.below(limb.root)}
    trunks = {_trunk(tree, other) for other in found}
    return (
        not taken.intersection(pair[0].bones + pair[1].bones)
        and _trunk(tree, pair) not in trunks
        and pair[0].reach > FURTHER * found[0][0].reach
        and _stands(tree, pair)
        and _stands(rest, pair)
    )


def _trunk(tree: Tree, pair: Pair) -> int:
    """The lowest bone that carries both limbs, -1 for none."""
    other = set(tree.line(pair[1].root))
    return next((bone for bone in tree.line(pair[0].root) if bone in other), -1)
