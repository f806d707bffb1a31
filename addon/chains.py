# SPDX-License-Identifier: GPL-3.0-or-later
"""The legs and the hips of an armature: found, chosen by the user's selection, and checked that keys on them show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .limbs import Limb, Tree, footless_pair, standing_pairs, toe_of
from .poses import Array, Refusal, heads, rest_heads

if TYPE_CHECKING:
    from bpy.types import Constraint, Context, Object, PoseBone

__all__ = ["Leg", "Refusal", "check_chain", "choose_legs", "find_hips", "find_legs"]

# Poses looked at over the range: enough to see a gait, and about 10 ms to evaluate.
POSES = 12


@dataclass(frozen=True)
class Leg:
    """Bone names of a leg; its joints are their heads. `toe` is None where no bone hangs under the foot."""

    thigh: str
    shin: str
    foot: str
    toe: str | None

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
    rest = _tree(armature, rest_heads(armature)[None], np.zeros(len(armature.pose.bones), bool))
    joints, moved = heads(armature, poses)
    finite = np.isfinite(joints).all(axis=(1, 2))
    animated = _tree(armature, joints[finite], moved) if finite.any() else rest
    limbs = [limb for pair in standing_pairs(animated, rest) for limb in pair]
    if not limbs:
        raise Refusal(_why_none(armature.name, animated))
    return tuple(_leg(animated, limb) for limb in sorted(limbs, key=lambda limb: limb.root))


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
    lowest = carried.index(max(carried))
    return next((name for name in shared[lowest:] if _is_free(armature.pose.bones[name])), None)


def _up(bone: PoseBone) -> list[PoseBone]:
    return [bone, *bone.parent_recursive]


def _largest_branch(armature: Object, name: str, legs: set[str]) -> int:
    """Bones in the largest subtree under a bone that holds no leg; the trunk is the largest of all such subtrees."""
    branches = [child for child in armature.data.bones[name].children if child.name not in legs]
    return max((1 + len(child.children_recursive) for child in branches), default=0)


def _is_free(bone: PoseBone) -> bool:
    connected = bone.bone.use_connect and bone.parent is not None
    return not (connected or any(bone.lock_location) or any(_active(bone.constraints)))


def choose_legs(context: Context, armature: Object, legs: Sequence[Leg], chains: str, bones: str) -> tuple[Leg, ...]:
    """The legs meant by the operator's properties `chains` and `bones`, of all legs found."""
    if bones.strip():
        return _named(armature, legs, [name.strip() for name in bones.split(",") if name.strip()])
    selected = _selected(context, armature)
    if chains == "SELECTED":
        if not selected:
            raise Refusal("no bones are selected: select bones of the legs to plant in pose mode")
        return _named(armature, legs, selected)
    meant = tuple(leg for leg in legs if _owned(armature, leg).intersection(selected))
    return meant if chains == "AUTO" and meant else tuple(legs)


def _named(armature: Object, legs: Sequence[Leg], names: list[str]) -> tuple[Leg, ...]:
    owned = [_owned(armature, leg) for leg in legs]
    for name in names:
        if name not in armature.pose.bones:
            raise Refusal(f"{armature.name} has no bone named {name}")
        if not any(name in bones for bones in owned):
            raise Refusal(f"bone {name} belongs to no leg, and only legs can be planted so far")
    return tuple(leg for leg, bones in zip(legs, owned, strict=True) if bones.intersection(names))


def _owned(armature: Object, leg: Leg) -> set[str]:
    """Names of the bones that name a leg: its thigh and all under it."""
    thigh = armature.data.bones[leg.thigh]
    return {thigh.name} | {bone.name for bone in thigh.children_recursive}


def _selected(context: Context, armature: Object) -> list[str]:
    bones = context.selected_pose_bones or ()
    return [bone.name for bone in bones if bone.id_data == armature]


def check_chain(armature: Object, legs: Iterable[Leg]) -> None:
    """Refuse legs on which rotation keys do not show as they are, naming the bone and what holds it."""
    if armature.data.pose_position == "REST":
        raise Refusal(f"{armature.name} shows its rest position: switch it to pose position")
    reached = dict(_reached_by_ik(armature))
    driven = dict(_driven(armature))
    for name in (name for leg in legs for name in leg.bones):
        for constraint in _active(armature.pose.bones[name].constraints):
            raise Refusal(f"bone {name} is under the active constraint {constraint.name}, so keys on it do not show")
        if name in reached:
            raise Refusal(f"bone {name} is moved by inverse kinematics on {reached[name]}, so keys on it do not show")
        if name in driven:
            raise Refusal(f"bone {name} has a driver on its {driven[name]}, so keys on it do not show")
    for name in (name for leg in legs for name in leg.bones[1:]):
        if not armature.data.bones[name].use_inherit_rotation:
            raise Refusal(f"bone {name} does not inherit its parent's rotation, so the bones above cannot move it")


def _active(constraints: Iterable[Constraint]) -> list[Constraint]:
    return [constraint for constraint in constraints if constraint.enabled and constraint.influence > 0.0]


def _reached_by_ik(armature: Object) -> Iterator[tuple[str, str]]:
    """Names of bones that a chain of inverse kinematics moves, each with the bone that owns the constraint."""
    for bone in armature.pose.bones:
        for constraint in _active(bone.constraints):
            if constraint.type not in {"IK", "SPLINE_IK"}:
                continue
            line = [bone, *bone.parent_recursive]
            start = 0 if getattr(constraint, "use_tail", True) else 1
            end = start + constraint.chain_count if constraint.chain_count else None
            yield from ((moved.name, bone.name) for moved in line[start:end])


def _driven(armature: Object) -> Iterator[tuple[str, str]]:
    """Names of bones with a driver on their transform, each with the channel."""
    drivers = armature.animation_data.drivers if armature.animation_data else ()
    paths = {driver.data_path for driver in drivers if not driver.mute}
    for bone in armature.pose.bones:
        for channel in ("rotation_quaternion", "rotation_euler", "rotation_axis_angle", "location", "scale"):
            if bone.path_from_id(channel) in paths:
                yield bone.name, channel.replace("_", " ")
