# SPDX-License-Identifier: GPL-3.0-or-later
"""The legs and the hips of an armature: found, chosen by the user's selection, and checked that keys on them show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import Refusal
from ..keys import actions, rotations
from ..pose.evaluate import Array, heads, rest_heads
from .limb import Limb, Tree, arm_pairs, footless_pair, standing_pairs, toe_of

if TYPE_CHECKING:
    from bpy.types import Constraint, Object, PoseBone

# Constraints that leave a bone's place alone and do not depend on it.
PLACELESS = {"COPY_ROTATION", "LIMIT_ROTATION", "COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME"}
# Poses looked at over the range: enough to see a gait, and about 10 ms to evaluate.
POSES = 12


@dataclass(frozen=True)
class Leg:
    """Bone names of a leg; its joints are their heads. `toe` is None where no bone hangs under the foot.

    Further bones may lie between them, which follow the one above. Of any other limb, such as an arm, they are those of
    its upper bone, its lower bone and its end: `is_leg` is false.
    """

    thigh: str
    shin: str
    foot: str
    toe: str | None
    is_leg: bool = True

    @property
    def bones(self) -> tuple[str, ...]:
        """The names from the thigh down, without a missing toe."""
        return (self.thigh, self.shin, self.foot) + ((self.toe,) if self.toe else ())


def find_legs(armature: Object, frames: tuple[int, int]) -> tuple[Leg, ...]:
    """The legs as seen over a range of frames, else in the rest pose.

    They hang from the trunk in mirrored pairs, have an upper and a lower bone of comparable length, and end lower than
    all else; names only break ties. Front legs count too where they stand in the animation and in the rest pose.
    """
    if not armature.data.bones:
        raise Refusal(f"{armature.name} has no bones")
    if "rig_id" in armature.data:
        raise Refusal(f"{armature.name} is a generated Rigify rig, driven by constraints: plant its metarig instead")
    poses = sorted({int(frame) for frame in np.linspace(*frames, POSES)})
    rest = _rest_tree(armature)
    joints, moved = heads(armature, poses)
    finite = np.isfinite(joints).all(axis=(1, 2))
    animated = _tree(armature, joints[finite], moved) if finite.any() else rest
    limbs = [limb for pair in standing_pairs(animated, rest) for limb in pair]
    if not limbs:
        raise Refusal(_why_none(armature.name, animated))
    return tuple(_leg(animated, limb) for limb in sorted(limbs, key=lambda limb: limb.root))


def find_arms(armature: Object, legs: Sequence[Leg]) -> tuple[Leg, ...]:
    """Mirrored pairs of further limbs, as seen in the rest pose."""
    rest = _rest_tree(armature)
    index = {name: number for number, name in enumerate(rest.names)}
    known = [_limb(rest, *(index[name] for name in leg.bones[:3])) for leg in legs]
    arms = [limb for pair in arm_pairs(rest, known) for limb in pair]
    names = [[rest.names[bone] for bone in arm.bones] for arm in sorted(arms, key=lambda arm: arm.root)]
    return tuple(Leg(*name, toe=None, is_leg=False) for name in names)


def _limb(tree: Tree, root: int, mid: int, end: int) -> Limb:
    return Limb(root, mid, end, tree.length(root, mid), tree.length(mid, end))


def _rest_tree(armature: Object) -> Tree:
    return _tree(armature, rest_heads(armature)[None], np.zeros(len(armature.pose.bones), bool))


def _tree(armature: Object, joints: Array, moved: NDArray[np.bool_]) -> Tree:
    bones = list(armature.pose.bones)
    index = {bone.name: i for i, bone in enumerate(bones)}
    parents = [index[bone.parent.name] if bone.parent else -1 for bone in bones]
    return Tree(list(index), parents, moved, joints)


def _leg(tree: Tree, limb: Limb) -> Leg:
    toe = toe_of(tree, limb)
    thigh, shin, foot = (tree.names[bone] for bone in limb.bones)
    return Leg(thigh, shin, foot, None if toe is None else tree.names[toe])


def _why_none(armature: str, tree: Tree) -> str:
    footless = footless_pair(tree)
    if footless is not None:
        names = " and ".join(tree.names[bone] for bone in footless)
        return f"{armature} has no legs that can be planted: no foot bone hangs under {names}"
    return f"{armature} has no legs: no mirrored pair of thigh, shin and foot bones hangs down to the ground"


def find_hips(armature: Object, legs: Sequence[Leg]) -> str | None:
    """The lowest bone that carries all legs and the trunk; where that cannot move, its next ancestor that can."""
    lines = [[bone.name for bone in _up(armature.pose.bones[leg.thigh])] for leg in legs]
    shared = [name for name in lines[0][1:] if all(name in line for line in lines)]
    if not shared:
        return None
    carried = [_largest_branch(armature, name, {line for leg in lines for line in leg}) for name in shared]
    lowest, moving = carried.index(max(carried)), _moving(armature)
    between = {name for line in lines for name in line[1 : line.index(shared[lowest])]}
    turned = dict(_reached_by_ik(armature, moving))
    if any(name in turned or _is_held(armature.pose.bones[name], moving) for name in between):
        return None
    for bone in (armature.pose.bones[name] for name in shared[lowest:]):
        if bone.name in turned or _is_held(bone, moving):
            # What holds it in its place would do so under any ancestor that moves.
            return None
        if _is_free(bone, moving):
            return bone.name
    return None


def _up(bone: PoseBone) -> list[PoseBone]:
    return [bone, *bone.parent_recursive]


def _largest_branch(armature: Object, name: str, legs: set[str]) -> int:
    """Bones in the largest subtree under a bone that holds no leg; the trunk is the largest of all such subtrees."""
    branches = [child for child in armature.data.bones[name].children if child.name not in legs]
    return max((1 + len(child.children_recursive) for child in branches), default=0)


def _is_free(bone: PoseBone, moving: Moving) -> bool:
    connected = bone.bone.use_connect and bone.parent is not None
    driven = bone.path_from_id("location") in moving.driven
    return not (connected or any(bone.lock_location) or driven)


def _is_held(bone: PoseBone, moving: Moving) -> bool:
    """Whether a constraint has a say in where the bone is, or turns it by where it is."""
    return any(constraint.type not in PLACELESS for constraint in _active(bone, moving))


def check_chain(armature: Object, legs: Iterable[Leg]) -> None:
    """Refuse legs on which rotation keys do not show as they are, naming the bone and what holds it."""
    for leg in legs:
        for name in leg.bones[:3]:
            trouble = _trouble(armature, name)
            if trouble:
                raise Refusal(f"bone {name} {trouble}, so keys on it do not show")
        between = _between(armature, leg)
        for name in between:
            trouble = _trouble(armature, name)
            if trouble:
                raise Refusal(f"bone {name} {trouble}, so it does not simply follow the bones above")
        for name in (*leg.bones[1:3], *between):
            if not armature.data.bones[name].use_inherit_rotation:
                raise Refusal(f"bone {name} does not inherit its parent's rotation, so the bones above cannot move it")


def _between(armature: Object, leg: Leg) -> list[str]:
    """Names of the bones that lie between those of a limb, as twist bones do."""
    line = [bone.name for bone in _up(armature.pose.bones[leg.foot])]
    return [name for name in line[1 : line.index(leg.thigh)] if name != leg.shin]


def toe_trouble(armature: Object, toe: str, foot: str) -> str | None:
    """What keeps toes from being turned by keys, if anything does: then they go with their foot as they do."""
    line = [bone.name for bone in _up(armature.pose.bones[toe])]
    for name in line[: line.index(foot)]:
        if not armature.data.bones[name].use_inherit_rotation:
            return f"bone {name} does not inherit its parent's rotation"
        trouble = _trouble(armature, name)
        if trouble:
            return f"bone {name} {trouble}"
    return None


def _trouble(armature: Object, name: str) -> str | None:
    """What keeps rotation keys on a bone from showing as they are, if anything does."""
    bone, moving = armature.pose.bones[name], _moving(armature)
    for constraint in _active(bone, moving):
        return f"is under the active constraint {constraint.name}"
    reached = dict(_reached_by_ik(armature, moving))
    if name in reached:
        return f"is moved by inverse kinematics on {reached[name]}"
    channel = rotations.property_of(bone.rotation_mode)
    if bone.path_from_id(channel) in moving.driven:
        return f"has a driver on its {channel.replace('_', ' ')}"
    return None


def refuse_rest(armature: Object) -> None:
    """Refuse an armature that shows no pose at all."""
    if armature.data.pose_position == "REST":
        raise Refusal(f"{armature.name} shows its rest position: switch it to pose position")


@dataclass(frozen=True)
class Moving:
    """Data paths of the armature's properties that the action in use keys, and of those with a driver."""

    keyed: frozenset[str]
    driven: frozenset[str]


def _moving(armature: Object) -> Moving:
    keyed = (curve.data_path for curve in actions.curves_of(actions.assigned(armature)) if not curve.mute)
    drivers = armature.animation_data.drivers if armature.animation_data else ()
    return Moving(frozenset(keyed), frozenset(driver.data_path for driver in drivers if not driver.mute))


def _active(bone: PoseBone, moving: Moving) -> list[Constraint]:
    """Constraints that show, or may do so on some frame because their influence is keyed or driven."""
    return [constraint for constraint in bone.constraints if _shows(constraint, moving)]


def _shows(constraint: Constraint, moving: Moving) -> bool:
    paths = {constraint.path_from_id(name) for name in ("influence", "enabled", "mute")}
    changes = not paths.isdisjoint(moving.keyed | moving.driven)
    return changes or (constraint.enabled and constraint.influence > 0.0)


def _reached_by_ik(armature: Object, moving: Moving) -> Iterator[tuple[str, str]]:
    """Names of bones that a chain of inverse kinematics moves, each with the bone that owns the constraint."""
    for bone in armature.pose.bones:
        for constraint in _active(bone, moving):
            if constraint.type not in {"IK", "SPLINE_IK"}:
                continue
            line = [bone, *bone.parent_recursive]
            start = 0 if getattr(constraint, "use_tail", True) else 1
            end = start + constraint.chain_count if constraint.chain_count else None
            yield from ((moved.name, bone.name) for moved in line[start:end])
