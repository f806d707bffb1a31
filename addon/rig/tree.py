# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs that a tree of bones may have: mirrored pairs of three joints, by where they are on some poses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from os.path import commonprefix

import numpy as np
from ik2bone.arrays import Array, Mask
from numpy.typing import NDArray

# Upper to lower length of a leg, either way round: 0.79 to 1.16 on the people of the data folder, 0.5 on game figures.
PROPORTION = 3.0
# The lengths of a pair differ by less than this share: mocap skeletons by 0.04.
MIRROR = 0.15
# What hangs under the end is at most this share of the reach long and this share of it high: 0.76 and 0.65 on the hind
# leg of a cat; 1.0 where a spine, 0.83 and 0.92 where a shoulder blade is mistaken for a leg.
FOOT_LENGTH, FOOT_HEIGHT = 0.85, 0.72
# A limb hangs from the trunk by bones shorter in all than this multiple of its reach: 1.3 for the front leg of a horse
# with its shoulder blade, 4.8 for a finger.
HANGER = 2.0
# Joints nearer than this share of the reach, or those of a foot than this share of its length, lie in one place.
PLACE = 0.04
# The first of several bones in a line is at most followed by so many: Rigify puts in one, other rigs up to three.
MOST = 3
# Joints lie in one line when those between are within this share of its length from it on every pose, its ends too:
# knees that bend by 5 degrees do not.
STRAIGHT = 0.02
# A limb whose ends come nearer by this share of its reach on some pose than on others shows where it bends.
BENDS = 0.03
LEG_NAME = re.compile(r"leg|thigh|knee|shin|calf|foot|ankle|toe|ball", re.IGNORECASE)
OTHER_NAME = re.compile(r"arm|hand|twist|share|roll|ctrl|control|ik|pole|heel|skirt|cape|hair|_end|nub", re.IGNORECASE)
TWIST_NAME = re.compile(r"twist|roll", re.IGNORECASE)
# The words of a name, told by their capitals, without numbers and signs.
WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]")

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Tree:
    """Bones by index: names, parents (-1 for roots), heads on P poses (P, B, 3), and those that the animation moves."""

    names: list[str]
    parents: Indices
    heads: Array
    moved: frozenset[int] = field(default=frozenset())

    @cached_property
    def above(self) -> Indices:
        """The bones over each bone, nearest first, one row a step (D, B), -1 over the roots."""
        rows, over = [], np.append(self.parents, -1)
        bones = self.parents
        while (bones >= 0).any():
            rows.append(bones)
            bones = over[bones]
        return np.array(rows, np.intp).reshape(len(rows), len(self.names))

    @cached_property
    def depth(self) -> Indices:
        """How many bones lie over each bone."""
        return np.sum(self.above >= 0, axis=0)

    def line(self, bone: int) -> list[int]:
        """The bone and its ancestors up to the root."""
        return [bone, *(int(above) for above in self.above[: self.depth[bone], bone])]

    def children(self, bone: int) -> list[int]:
        """The bones straight under a bone."""
        return [int(child) for child in np.flatnonzero(self.parents == bone)]

    def length(self, bone: Indices | int, other: Indices | int) -> Array:
        """Distance of two heads on the median pose."""
        away = np.linalg.norm(self.heads[:, bone] - self.heads[:, other], axis=-1)
        return away[0] if len(away) == 1 else np.median(away, axis=0)

    @cached_property
    def links(self) -> Array:
        """Distance of each bone to its parent."""
        return self.length(np.arange(len(self.names)), self.parents)

    @cached_property
    def sizes(self) -> Indices:
        """How many bones hang under each bone, itself included."""
        return 1 + np.bincount(self.above[self.above >= 0], minlength=len(self.names))

    @cached_property
    def hanging(self) -> Array:
        """Length of the longest line of joints under each bone."""
        lengths, way, bones = np.zeros(len(self.names)), np.zeros(len(self.names)), np.arange(len(self.names))
        for above in self.above:
            way = way + self.links[bones]
            np.maximum.at(lengths, above[above >= 0], way[above >= 0])
            bones = above
        return lengths

    @cached_property
    def lowest(self) -> Array:
        """Height of the lowest joint under each bone, itself included, on each pose (P, B)."""
        low = self.heads[..., 2].copy()
        for above in self.above:
            np.minimum.at(low, (slice(None), above[above >= 0]), self.heads[:, above >= 0, 2])
        return low

    @cached_property
    def heights(self) -> Array:
        """Height of each bone over the lowest joint under it on the median pose."""
        return np.median(self.heads[..., 2] - self.lowest, axis=0)

    @cached_property
    def likeness(self) -> list[int]:
        """Whether bones are named like those of legs: 1, 0 where the name tells nothing, -1 where like other bones."""
        # The name of a figure, with which all its bones may begin, tells nothing: "ik" is in Viking.
        own = len(commonprefix(self.names))
        return [bool(LEG_NAME.search(name)) - bool(OTHER_NAME.search(name[own:])) for name in self.names]


@dataclass(frozen=True)
class Joints:
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

    def is_even(self, most: float) -> bool:
        """Whether neither length is longer than the other one by this factor."""
        return max(self.upper, self.lower) < most * min(self.upper, self.lower)

    @property
    def bones(self) -> tuple[int, int, int]:
        """The three bones from the root down."""
        return (self.root, self.mid, self.end)


Pair = tuple[Joints, Joints]
# The bone that begins a straight line of joints, the bones between, and the length.
Line = tuple[int, tuple[int, ...], float]


@lru_cache(maxsize=16)
def mirrored_pairs(tree: Tree, *, guess: bool = False) -> list[Pair]:
    """Pairs of limbs of equal lengths that branch off at equal depth and lie apart.

    With `guess`, bones in a straight line may be parts of one that bends nowhere between though nothing tells so.
    """
    limbs = list(_limbs(tree, guess))
    sizes = np.array([(limb.upper, limb.lower) for limb in limbs]).reshape(-1, 2)
    depths = np.array([[tree.depth[bone] for bone in limb.bones] for limb in limbs]).reshape(-1, 3)
    larger = np.maximum(sizes[:, None], sizes[None])
    alike = (np.abs(sizes[:, None] - sizes[None]) < MIRROR * larger).all(axis=-1)
    alike &= (depths[:, None] == depths[None]).all(axis=-1)
    pairs = [(limbs[a], limbs[b]) for a, b in zip(*np.nonzero(np.triu(alike, 1)), strict=True)]
    return [(a, b) for a, b in pairs if _are_a_pair(tree, a, b)]


def _limbs(tree: Tree, guess: bool) -> Iterator[Joints]:
    """Every bone, child and grandchild of comparable lengths, each of the first two with what carries it on."""
    lines = _lines(tree)
    for end, below in enumerate(lines):
        for mid, lower_parts, lower in below:
            for root, upper_parts, upper in lines[mid]:
                limb = Joints(root, mid, end, upper, lower)
                if limb.is_even(PROPORTION) and _ends_in_foot(tree, limb):
                    between = {root: upper_parts, mid: lower_parts}
                    if guess or not (upper_parts or lower_parts) or _are_segments(tree, limb, between):
                        yield limb


def _lines(tree: Tree) -> list[list[Line]]:
    """For each bone the bones over it from whose head a straight line of joints leads to its head."""
    found: list[list[Line]] = [[] for _ in tree.names]
    every = np.arange(len(tree.names))
    for step, upper in enumerate(tree.above[: MOST + 1]):
        parts = tree.above[:step]
        bones = np.flatnonzero((upper >= 0) & np.all([_in_line(tree, part, upper, every) for part in parts], axis=0))
        lengths = tree.length(bones, upper[bones])
        for bone, between, length in zip(bones.tolist(), parts[::-1, bones].T.tolist(), lengths.tolist(), strict=True):
            found[bone].append((int(upper[bone]), tuple(between), length))
    return found


def _in_line(tree: Tree, part: Indices, upper: Indices, lower: Indices) -> Mask:
    """Which of some joints lie between two others on every pose."""
    start, end = tree.heads[:, upper], tree.heads[:, lower]
    length = np.linalg.norm(end - start, axis=-1)
    way, away = (end - start) / np.maximum(length, 1e-300)[..., None], tree.heads[:, part] - start
    along = np.sum(way * away, axis=-1)
    aside = np.linalg.norm(away - along[..., None] * way, axis=-1)
    near = STRAIGHT * length
    return np.all((aside < near) & (along > -near) & (along < length + near), axis=0)


def _ends_in_foot(tree: Tree, limb: Joints) -> bool:
    low_enough = tree.heights[limb.end] < FOOT_HEIGHT * limb.reach
    return low_enough and tree.hanging[limb.end] < FOOT_LENGTH * limb.reach


def _are_segments(tree: Tree, limb: Joints, between: dict[int, tuple[int, ...]]) -> bool:
    """Whether the bones between those of a limb are parts of its upper and lower bone, and none of them its knee.

    Names tell it, of the parts or of the limb, or that the limb bends on some poses while they stay in line. The lowest
    of bones in one place is the joint.
    """
    links = [(bone, part, after) for bone, after in pairwise(limb.bones) for part in between[bone]]
    links = [link for link in links if tree.length(*link[1:]) > PLACE * limb.reach]
    doubles = [part for bone, part, _after in links if tree.length(bone, part) < PLACE * limb.reach]
    if any(not TWIST_NAME.search(tree.names[part]) for part in doubles):
        return False
    both = all(between.values())
    if all(_is_named_after(*(tree.names[bone] for bone in link), both) for link in links):
        return True
    if min(tree.likeness[bone] for bone in limb.bones) > 0 >= max(tree.likeness[part] for _bone, part, _after in links):
        return True
    extension = np.linalg.norm(tree.heads[:, limb.root] - tree.heads[:, limb.end], axis=-1)
    return bool(np.ptp(extension) > BENDS * limb.reach)


def _is_named_after(bone: str, part: str, after: str, both: bool) -> bool:
    """Whether a part is called a twist bone, as the bone before it with a number, or by that bone's words and "part".

    Other numbers tell it only where `both` bones of a limb have parts: "leg1" and "leg2" may be thigh and shin. The
    bone after the part must not have all these words too.
    """
    if TWIST_NAME.search(part) or re.fullmatch(re.escape(bone) + r"[._-]\d+", part):
        return True
    own, words, others = ({word.lower() for word in WORD.findall(name)} for name in (part, bone, after))
    # A forearm has the words of an arm.
    return words <= own <= words | {"part"} and not words <= others and (both or own != words)


def are_branches(tree: Tree, bone: int, other: int, tolerance: float, longest: float = np.inf) -> bool:
    """Whether two bones at equal depth hang by bones alike and not too long, that part at one bone or at none."""
    hung = 0.0
    if bone == other or tree.depth[bone] != tree.depth[other]:
        return False
    while bone != other and tree.parents[bone] >= 0:
        if abs(tree.links[bone] - tree.links[other]) >= tolerance:
            return False
        hung += tree.links[bone]
        bone, other = tree.parents[bone], tree.parents[other]
    return hung < longest


def _are_a_pair(tree: Tree, limb: Joints, other: Joints) -> bool:
    """Whether two limbs of equal lengths hang alike from the trunk, and apart."""
    if not are_branches(tree, limb.root, other.root, MIRROR * limb.reach, HANGER * limb.reach):
        return False
    return bool(min(tree.length(limb.root, other.root), tree.length(limb.end, other.end)) > PLACE * limb.reach)
