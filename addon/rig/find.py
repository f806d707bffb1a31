# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding the legs and arms of an armature in its rest pose, and legs in its animation where that is not enough."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from bpy.types import Bone, Object

from ..errors import NoLegs, Refusal
from ..keys import actions
from ..pose.evaluate import heads, rest_heads
from ..pose.skins import find_end
from .checks import Moving
from .controls_find import find_controls, named_limbs
from .limb import Limb
from .tree import KEPT, MIRROR, PLACE, PROPORTION, STRAIGHT, Joints, Pair, Tree, are_branches, mirrored_pairs

# The number of poses that are evaluated over the frame range: enough to see a gait, in about 10 ms.
POSES = 12
# The end of a leg hangs under its root by more than this share of the reach, in the median over poses.
DROP = 0.5
# The lowest joint of a pair of legs is less than this share of their reach above the lowest joint of the figure: 0.13
# for the front legs of the data folder's fox, which end at the wrist; 0.3 for hanging hands.
LOW = 0.25
# A limb is a leg by its names if at least this number of its three bones have names of leg bones.
NAMED = 2
# The ratio of the longer to the shorter bone is less than this in a leg that is known by its place alone: at most 1.27
# for the people of the data folder, 2.27 for the fins of Rigify's shark.
EVEN = 2.2
# The reach of further legs and of arms is more than this share of the first pair's reach: 0.6 for the arms of people,
# 0.2 for fingers.
FURTHER = 0.35
# A further pair starts ahead of the first pair or behind it by more than this share of its reach: 1.1 and more for
# animals, 0.2 for wings, 0.1 for a skirt.
APART = 0.4
# Of several chains along one leg, the topmost with at least this share of the longest reach is the limb: animals stand
# on toes, so that shin and metatarsus may be longer than thigh and shin.
TOPMOST = 0.85
# Limbs whose reach is within this share of the longest reach are equals; keys, structure and names decide among them.
EQUAL = 0.03
# A toe bone starts at this share or more of the distance from the end to the next joint: 0.67 and more for the data
# folder's figures. A bone that starts nearer and carries further toes is of the instep, as metatarsals of Daz figures.
INSTEP = 0.55
SHIN_NAME = re.compile(r"leg|shin|calf|knee", re.IGNORECASE)
FOOT_NAME = re.compile(r"foot|ankle", re.IGNORECASE)


def find_legs(armature: Object, frames: tuple[int, int]) -> tuple[Limb, ...]:
    """The legs by their rest pose or names, else by their poses over the range of `frames` (first, last).

    Legs hang from the trunk in mirrored pairs, have an upper and a lower bone of comparable length, and end lower than
    all else. Front legs count too if they stand ahead of the hind legs in the rest pose. Raises `NoLegs` if there are
    none, and `Refusal` for a generated Rigify rig with unknown controls.
    """
    if not armature.data.bones:
        raise NoLegs(f"{armature.name} has no bones")
    if generated := _generated(armature, is_leg=True):
        return generated
    if "rig_id" in armature.data:
        raise Refusal(f"{armature.name} is a generated Rigify rig: name its FK bones, or plant its metarig")
    rest = rest_tree(armature, actions.assigned(armature).curves.bones())
    limbs = [limb for pair in leg_pairs(rest, lambda: _animated_tree(armature, rest, frames)) for limb in pair]
    legs = [_leg(rest, limb) for limb in sorted(limbs, key=lambda limb: limb.root)]
    legs = legs or [_footless(armature, rest, shin) for shin in _footless_pair(rest)]
    if not legs:
        raise NoLegs(f"{armature.name} has no legs: no mirrored pair of thigh and shin bones hangs down to the ground")
    return _controlled(armature, legs)


def find_arms(armature: Object, legs: Sequence[Limb]) -> tuple[Limb, ...]:
    """The arms of a generated rig, else the mirrored pairs of limbs beside the `legs` in the rest pose."""
    if generated := _generated(armature, is_leg=False):
        return generated
    rest = rest_tree(armature)
    known = [_limb(rest, *(rest.names.index(name) for name in (leg.thigh, leg.shin, leg.foot))) for leg in legs]
    arms = [limb for pair in arm_pairs(rest, known) for limb in pair]
    names = [[rest.names[bone] for bone in arm.bones] for arm in sorted(arms, key=lambda arm: arm.root)]
    return _controlled(armature, [Limb(*name, toe=None, is_leg=False) for name in names])


def _generated(armature: Object, is_leg: bool) -> tuple[Limb, ...]:
    """The legs of a generated rig if `is_leg`, else its arms; empty for any other armature."""
    return tuple(limb for limb in named_limbs(Moving(armature)) if limb.is_leg == is_leg)


def legs_of(armature: Object, bones: Sequence[str], known: Iterable[Limb]) -> tuple[Limb, ...]:
    """The legs that are meant by three named bones.

    If two of the bones belong to a known leg, this is the leg of the three bones. Else it is their leg and the mirrored
    one, if both have names of legs or stand in the rest pose; else their leg alone if it has such names; else none.
    """
    rest = rest_tree(armature)
    named = tuple(rest.names.index(name) for name in bones)
    own = _limb(rest, *named)
    if any(limb.is_leg and len(set(limb.turned).intersection(bones)) >= 2 for limb in known):
        return _controlled(armature, [_leg(rest, own)])
    pairs = [pair for pair in mirrored_pairs(rest, guess=True) if named in (pair[0].bones, pair[1].bones)]
    alike = [pair for pair in pairs if _is_named(rest, pair)] or _standing(rest, pairs)
    alone = (own,) if _is_named(rest, (own, own)) else ()
    return _controlled(armature, [_leg(rest, limb) for limb in (alike[0] if alike else alone)])


def _controlled(armature: Object, limbs: Iterable[Limb]) -> tuple[Limb, ...]:
    """The same limbs, with their controls if they have any."""
    moving = Moving(armature)
    return tuple(limb if limb.end else replace(limb, controls=find_controls(moving, limb)) for limb in limbs)


def _limb(tree: Tree, root: int, mid: int, end: int) -> Joints:
    return Joints(root, mid, end, float(tree.length(root, mid)), float(tree.length(mid, end)))


def rest_tree(armature: Object, keyed: Iterable[str] = ()) -> Tree:
    """The bones in the rest pose, and which of them are `keyed`."""
    bones = list(armature.pose.bones)
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones], np.intp)
    moved = frozenset(index[name] for name in keyed if name in index)
    return _tree(tuple(index), tuple(parents.tolist()), rest_heads(armature).astype(float).tobytes(), moved)


@lru_cache(maxsize=KEPT)
def _tree(names: tuple[str, ...], parents: tuple[int, ...], heads: bytes, moved: frozenset[int]) -> Tree:
    """The cached tree of a rest pose: its limbs are found only once for the same bones, which takes 2 to 10 ms."""
    return Tree(list(names), np.array(parents, np.intp), np.frombuffer(heads).reshape(1, -1, 3), moved)


def _animated_tree(armature: Object, rest: Tree, frames: tuple[int, int]) -> Tree:
    joints, moved = heads(armature, sorted({int(frame) for frame in np.linspace(*frames, POSES)}))
    finite = np.isfinite(joints).all(axis=(1, 2))
    return Tree(rest.names, rest.parents, joints[finite], frozenset(np.flatnonzero(moved))) if finite.any() else rest


@lru_cache(maxsize=KEPT)
def _leg(tree: Tree, limb: Joints) -> Limb:
    toe = _toe_of(tree, limb.end)
    thigh, shin, foot = (tree.names[bone] for bone in limb.bones)
    return Limb(thigh, shin, foot, None if toe is None else tree.names[toe])


def _footless(armature: Object, tree: Tree, shin: int) -> Limb:
    """The leg of a shin with no bone under it: its foot hangs elsewhere, or the leg stands on the end of its shin."""
    thigh, bones = int(tree.parents[shin]), armature.data.bones
    named = (foot for foot, name in enumerate(tree.names) if FOOT_NAME.search(name))
    foot = next((foot for foot in named if _ends_at(bones[tree.names[shin]], bones[tree.names[foot]])), None)
    if foot is not None:
        return replace(_leg(tree, _limb(tree, thigh, shin, foot)), loose=True)
    leg = Limb(tree.names[thigh], tree.names[shin], tree.names[shin], toe=None)
    return replace(leg, end=find_end(armature, leg))


def _ends_at(shin: Bone, foot: Bone) -> bool:
    """Whether a foot bone starts on the line of a shin, about as far from the shin's head as the thigh is long."""
    to_foot = shin.matrix_local.inverted() @ foot.head_local
    upper = (shin.head_local - shin.parent.head_local).length
    aside = np.hypot(to_foot.x, to_foot.z)
    return aside < STRAIGHT * to_foot.y and upper < PROPORTION * to_foot.y and to_foot.y < PROPORTION * upper


def leg_pairs(rest: Tree, animated: Callable[[], Tree]) -> list[Pair]:
    """The pairs of legs, the most certain first: by names or standing in the rest pose, else standing when animated."""
    found, is_sure = _resting_pairs(rest)
    if is_sure:
        return found
    if _footless_pair(rest):
        return []
    seen = animated()
    pairs = mirrored_pairs(seen)
    return _choose(seen, rest, pairs, _standing(seen, pairs)) or found


@lru_cache(maxsize=KEPT)
def _resting_pairs(rest: Tree) -> tuple[list[Pair], bool]:
    """The pairs of legs in the rest pose, and whether they are certain without the animation."""
    pairs = mirrored_pairs(rest)
    standing, named = _standing(rest, pairs), [pair for pair in pairs if _is_named(rest, pair)]
    found = _choose(rest, rest, pairs, [pair for pair in standing if pair in named] or named or standing)
    return found, bool(named or (found and not _is_open(rest, found[0])))


def _is_open(rest: Tree, found: Pair) -> bool:
    """Whether it is uncertain which of several bones in a straight line is the knee."""
    pairs = mirrored_pairs(rest, guess=True)
    return _choose(rest, rest, pairs, _standing(rest, pairs))[0] != found


def _choose(tree: Tree, rest: Tree, pairs: list[Pair], sure: list[Pair]) -> list[Pair]:
    """The best of the pairs on the same limbs as a pair in `sure`, and then the further pairs of legs beside it."""
    candidates = [pair for pair in pairs if any(_same_limbs(pair, other) for other in sure)]
    found = [_best(tree, candidates)] if candidates else []
    while found and (pairs := [pair for pair in pairs if _is_further(rest, pair, found)]):
        found.append(_best(tree, pairs))
    return found


def _same_limbs(pair: Pair, other: Pair) -> bool:
    """Whether the limbs of two pairs share at least two bones each, like chains on one leg that start a bone apart."""
    return all(len(set(a.bones) & set(b.bones)) >= 2 for a, b in zip(pair, other, strict=True))


def _is_named(tree: Tree, pair: Pair) -> bool:
    """Whether most bones of both limbs have names of leg bones."""
    return all(sum(tree.likeness[bone] for bone in limb.bones) >= NAMED for limb in pair)


def _standing(tree: Tree, pairs: list[Pair]) -> list[Pair]:
    """The pairs that end well under their roots and near the lowest joint of the figure.

    The bones of a pair without names of leg bones have to be of comparable length.
    """
    hanging = [pair for pair in pairs if _hangs(tree, pair) and (pair[0].is_even(EVEN) or _is_named(tree, pair))]
    return [pair for pair in hanging if _over_lowest(tree, pair) < LOW * pair[0].reach]


def _hangs(tree: Tree, pair: Pair) -> bool:
    drops = [tree.heads[:, limb.root, 2] - tree.lowest[:, limb.end] for limb in pair]
    return bool(np.median(drops) > DROP * pair[0].reach)


def _over_lowest(tree: Tree, pair: Pair) -> float:
    """The median height of a pair's lowest joint over the lowest joint of the figure without the limbs' ancestors."""
    figure = (tree.above == tree.line(pair[0].root)[-1]).any(axis=0)
    figure[[bone for limb in pair for bone in tree.line(limb.root)[1:]]] = False
    low = np.minimum(*(tree.lowest[:, limb.end] for limb in pair))
    return float(np.median(low - tree.heads[:, figure, 2].min(axis=1)))


def _best(tree: Tree, pairs: list[Pair]) -> Pair:
    """The topmost of the long pairs; among equals that with most moved bones, most bones under it, most leg names."""
    long = _at_least(TOPMOST, pairs)
    top = min(tree.depth[pair[0].root] for pair in long)
    equals = _at_least(1.0 - EQUAL, [pair for pair in long if tree.depth[pair[0].root] == top])
    return max(equals, key=lambda pair: _rank(tree, pair[0].bones + pair[1].bones))


def _at_least(share: float, pairs: list[Pair]) -> list[Pair]:
    longest = max(a.reach + b.reach for a, b in pairs)
    return [(a, b) for a, b in pairs if a.reach + b.reach >= share * longest]


def _rank(tree: Tree, bones: Sequence[int]) -> tuple[int, int, int]:
    sizes, likeness = ([values[bone] for bone in bones] for values in (tree.sizes, tree.likeness))
    return len(tree.moved.intersection(bones)), sum(sizes), sum(likeness)


def _is_further(rest: Tree, pair: Pair, found: list[Pair]) -> bool:
    """Whether a pair is a further pair of legs: it stands in the rest pose, ahead of the pairs found or behind them.

    A pair on the same trunk bone as one of these must have names of legs if the first pair has such names, because
    tails and tentacles stand too.
    """
    trunks = {_trunk(rest, other) for other in found}
    return (
        pair[0].reach > FURTHER * found[0][0].reach
        and _is_beside(rest, pair, [limb for other in found for limb in other])
        and all(_is_ahead(rest, pair, other) for other in found)
        and (_trunk(rest, pair) not in trunks or _is_named(rest, pair) >= _is_named(rest, found[0]))
        and bool(_standing(rest, [pair]))
    )


def _trunk(tree: Tree, pair: Pair) -> int:
    """The lowest bone that carries both limbs, -1 for none."""
    other = set(tree.line(pair[1].root))
    return next((bone for bone in tree.line(pair[0].root) if bone in other), -1)


def _is_ahead(rest: Tree, pair: Pair, other: Pair) -> bool:
    """Whether a pair starts well ahead of another pair or behind it, and not mainly above or below it.

    Hanging arms and wings, skirts and copies of legs do not.
    """
    root, other_root = (rest.heads[0, [limb.root for limb in limbs]].mean(axis=0) for limbs in (pair, other))
    away = abs(root - other_root)
    return bool(np.hypot(*away[:2]) > max(away[2], APART * pair[0].reach))


def arm_pairs(rest: Tree, legs: Sequence[Joints]) -> list[Pair]:
    """Pairs of arms in the rest pose: mirrored limbs on the trunk beside the legs, the longest first."""
    found: list[Pair] = []
    length = FURTHER * max((leg.reach for leg in legs), default=0.0)
    pairs = mirrored_pairs(rest)
    while pairs := [pair for pair in pairs if pair[0].reach > length and _is_beside(rest, pair, legs)]:
        # The longest, because a chain with the collarbone as the upper arm is shorter.
        found.append(max(_at_least(1.0 - EQUAL, pairs), key=lambda pair: _rank(rest, pair[0].bones + pair[1].bones)))
        length, legs = max(length, FURTHER * found[0][0].reach), [*legs, *found[-1]]
    return found


def _is_beside(tree: Tree, pair: Pair, limbs: Sequence[Joints]) -> bool:
    """Whether no limb of a pair shares bones with the other `limbs`, hangs under them, or carries them."""
    return not any(
        other.root in tree.line(limb.end) or limb.root in tree.line(other.root) for limb in pair for other in limbs
    )


def _toe_of(tree: Tree, foot: int) -> int | None:
    """The toe bone of a foot, None if there is none: the child that lies farthest along the foot.

    If that is a bone of the instep, its child is the toe bone. If a control hangs under it in the same place, as in
    control rigs, the control is returned.
    """
    toe = _farthest_child(tree, foot, foot)
    if toe is None:
        return None
    inner = [child for child in tree.children(toe) if tree.length(toe, child) < PLACE * tree.length(foot, toe)]
    if len(inner) == 1 and not tree.children(inner[0]):
        return inner[0]
    further = _farthest_child(tree, foot, toe)
    if further is None or not tree.children(further):
        return toe
    return further if tree.length(foot, toe) < INSTEP * tree.length(foot, further) else toe


def _farthest_child(tree: Tree, foot: int, bone: int) -> int | None:
    """The child of `bone` that lies farthest towards the foot's farthest joint, which a heel never does.

    Among equals it is the child that is keyed or has more bones under it. None if there is no such child.
    """
    away = tree.heads[0] - tree.heads[0, foot]
    under = (tree.above == foot).any(axis=0)
    way = max(away[under], key=np.linalg.norm, default=np.zeros(3))
    along = {child: float(away[child] @ way) for child in tree.children(bone)}
    along = {child: length for child, length in along.items() if length > PLACE * (way @ way)}
    equals = [child for child, length in along.items() if length > 0.9 * max(along.values())]
    return max(equals, key=lambda child: _rank(tree, [child]), default=None)


def _footless_pair(tree: Tree) -> tuple[int, ...]:
    """The lowest mirrored pair of bones with names of shins and no bone under them; empty if there is none.

    Helper bones of a shin may have such names too, but have a lower bone beside them.
    """
    leaves = [bone for bone in range(len(tree.names)) if tree.depth[bone] > 1 and not tree.children(bone)]
    leaves = [bone for bone in leaves if SHIN_NAME.search(tree.names[bone]) and tree.likeness[bone] > 0]
    low, beside = tree.lowest[0], {bone: tree.children(tree.parents[bone]) for bone in leaves}
    leaves = [bone for bone in leaves if low[bone] == low[beside[bone]].min()]
    pairs = [(a, b) for a, b in combinations(leaves, 2) if are_branches(tree, a, b, MIRROR * tree.links[a])]
    return min(pairs, key=lambda pair: float(np.median(tree.heads[:, pair, 2])), default=())
