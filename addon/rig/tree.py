# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding mirrored pairs of possible limbs in a tree of bones, by the places of their joints on one or more poses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from os.path import commonprefix

import numpy as np
from ik2bone.arrays import Array, Mask
from ik2bone.rotations import dot, length_of, unit
from numpy.typing import NDArray

# The number of rest poses whose limbs are kept, at 50 kB for 159 bones. Characters of one rig share a rest pose unless
# they are turned or scaled differently: 100 such ones have 200, each with its keyed bones and without.
KEPT = 256
# The ratio of the longer to the shorter bone of a limb is less than this. The ratio of upper to lower length is 0.79 to
# 1.16 for the people of the data folder, and 0.5 for game figures.
PROPORTION = 3.0
# The bone lengths of the two limbs of a pair differ by less than this share: by 0.04 in mocap skeletons.
MIRROR = 0.15
# The length and the height of the bones under the end are less than these shares of the reach: 0.76 and 0.65 for the
# hind leg of a cat. A spine that is mistaken for a leg has 1.0, a shoulder blade 0.83 and 0.92.
FOOT_LENGTH, FOOT_HEIGHT = 0.85, 0.72
# The bones between the trunk and a limb are together shorter than this multiple of its reach: 1.3 for the front leg of
# a horse with its shoulder blade, 4.8 for a finger.
HANGER = 2.0
# Joints are in one place if their distance is less than this share of the reach, or in a foot of the foot's length.
PLACE = 0.04
# The greatest number of segments after the first bone of a straight line: Rigify adds one, other rigs up to three.
MOST = 3
# Joints lie in one line if, on every pose, the joints between its ends are nearer to it than this share of its length,
# and no farther beyond its ends: the joints of a knee that bends by 5 degrees do not.
STRAIGHT = 0.02
# A limb visibly bends at its mid joint if the distance of its ends varies by more than this share of its reach.
BENDS = 0.03
LEG_NAME = re.compile(r"leg|thigh|knee|shin|calf|foot|ankle|toe|ball", re.IGNORECASE)
OTHER_NAME = re.compile(r"arm|hand|twist|share|roll|ctrl|control|ik|pole|heel|skirt|cape|hair|_end|nub", re.IGNORECASE)
TWIST_NAME = re.compile(r"twist|roll", re.IGNORECASE)
# A word of a name: it starts with a capital or after a number or sign.
WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]")

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Tree:
    """Bones by index: names, parents (-1 for roots), heads on P poses (P, B, 3), and the bones that are `moved`."""

    names: list[str]
    parents: Indices
    heads: Array
    moved: frozenset[int] = field(default=frozenset())

    @cached_property
    def above(self) -> Indices:
        """The ancestors (D, B) of each bone: parents in the first row, their parents in the next, -1 above roots."""
        rows, over = [], np.append(self.parents, -1)
        bones = self.parents
        while (bones >= 0).any():
            rows.append(bones)
            bones = over[bones]
        return np.array(rows, np.intp).reshape(len(rows), len(self.names))

    @cached_property
    def depth(self) -> Indices:
        """The number of ancestors of each bone (B,)."""
        return np.sum(self.above >= 0, axis=0)

    def line(self, bone: int) -> list[int]:
        """The bone and its ancestors up to the root."""
        return [bone, *(int(above) for above in self.above[: self.depth[bone], bone])]

    def children(self, bone: int) -> list[int]:
        """The children of a bone."""
        return [int(child) for child in np.flatnonzero(self.parents == bone)]

    def length(self, bone: Indices | int, other: Indices | int) -> Array:
        """The median over the poses of the distance between the heads of two bones."""
        away = length_of(self.heads[:, bone] - self.heads[:, other])
        return away[0] if len(away) == 1 else np.median(away, axis=0)

    @cached_property
    def links(self) -> Array:
        """The distance of each bone from its parent (B,); meaningless for roots."""
        return self.length(np.arange(len(self.names)), self.parents)

    @cached_property
    def sizes(self) -> Indices:
        """The number of bones in the subtree of each bone, the bone itself included (B,)."""
        return 1 + np.bincount(self.above[self.above >= 0], minlength=len(self.names))

    @cached_property
    def hanging(self) -> Array:
        """The length of the longest line of joints under each bone (B,)."""
        lengths, way, bones = np.zeros(len(self.names)), np.zeros(len(self.names)), np.arange(len(self.names))
        for above in self.above:
            way = way + self.links[bones]
            np.maximum.at(lengths, above[above >= 0], way[above >= 0])
            bones = above
        return lengths

    @cached_property
    def lowest(self) -> Array:
        """The height of the lowest joint in the subtree of each bone on each pose (P, B)."""
        low = self.heads[..., 2].copy()
        for above in self.above:
            np.minimum.at(low, (slice(None), above[above >= 0]), self.heads[:, above >= 0, 2])
        return low

    @cached_property
    def heights(self) -> Array:
        """The median over the poses of each bone's height over the lowest joint in its subtree (B,)."""
        return np.median(self.heads[..., 2] - self.lowest, axis=0)

    @cached_property
    def likeness(self) -> list[int]:
        """For each bone, 1 if it has the name of a leg bone, -1 if that of another bone, 0 if of neither or both."""
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
        """Whether the longer length is less than `most` times the shorter length."""
        return max(self.upper, self.lower) < most * min(self.upper, self.lower)

    @property
    def bones(self) -> tuple[int, int, int]:
        """The three bones from the root down."""
        return (self.root, self.mid, self.end)


Pair = tuple[Joints, Joints]
# The first bone of a straight line of joints, the bones between it and the end, and the length of the line.
Line = tuple[int, tuple[int, ...], float]


@lru_cache(maxsize=KEPT)
def mirrored_pairs(tree: Tree, *, guess: bool = False) -> list[Pair]:
    """The pairs of limbs with similar lengths that branch off at equal depth and lie apart.

    With `guess`, bones in a straight line may be segments of one bone even if nothing shows that they never bend.
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
    """The possible limbs: an upper and a lower bone of comparable length, each with segments in a line, and an end."""
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
    """For each bone, the straight lines of joints that lead from the head of an ancestor to its head."""
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
    """Whether each joint of `part` lies on the line between `upper` and `lower` on every pose."""
    start, end = tree.heads[:, upper], tree.heads[:, lower]
    length, way, away = length_of(end - start), unit(end - start), tree.heads[:, part] - start
    along, near = dot(way, away), STRAIGHT * length
    aside = length_of(away - along[..., None] * way)
    return np.all((aside < near) & (along > -near) & (along < length + near), axis=0)


def _ends_in_foot(tree: Tree, limb: Joints) -> bool:
    low_enough = tree.heights[limb.end] < FOOT_HEIGHT * limb.reach
    return low_enough and tree.hanging[limb.end] < FOOT_LENGTH * limb.reach


def _are_segments(tree: Tree, limb: Joints, between: dict[int, tuple[int, ...]]) -> bool:
    """Whether the bones `between` those of a limb are segments of its upper and lower bone, and none is its knee.

    The names of the segments or of the limb show this, or a limb that bends on some poses while its segments stay in
    line. Of several bones in one place, the lowest is the joint.
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
    extension = length_of(tree.heads[:, limb.root] - tree.heads[:, limb.end])
    return bool(np.ptp(extension) > BENDS * limb.reach)


def _is_named_after(bone: str, part: str, after: str, both: bool) -> bool:
    """Whether a segment has the name of a twist bone, or the name or all words of the bone before it, numbers aside.

    The only other word allowed is "part", and the name of the bone after it must not have all these words. Segments
    that are told by their numbers alone must be in `both` bones of a limb: "leg1" and "leg2" may be thigh and shin.
    """
    if TWIST_NAME.search(part) or re.fullmatch(re.escape(bone) + r"[._-]\d+", part):
        return True
    own, words, others = ({word.lower() for word in WORD.findall(name)} for name in (part, bone, after))
    # A forearm has the words of an arm.
    return words <= own <= words | {"part"} and not words <= others and (both or own != words)


def are_branches(tree: Tree, bone: int, other: int, tolerance: float, longest: float = np.inf) -> bool:
    """Whether two bones at equal depth hang from one bone, or from two roots, by lines of bones of equal lengths.

    The lengths differ by less than `tolerance`, and each line is shorter than `longest`.
    """
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
    """Whether two limbs of similar lengths hang alike from the trunk, with their roots and ends apart."""
    if not are_branches(tree, limb.root, other.root, MIRROR * limb.reach, HANGER * limb.reach):
        return False
    return bool(min(tree.length(limb.root, other.root), tree.length(limb.end, other.end)) > PLACE * limb.reach)
