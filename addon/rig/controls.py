# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that control a limb whose own bones follow constraints: what takes the keys of such a limb.

Each profile explains the constraints of one kind of rig: `controls_ik` rigs made by hand, `controls_named` rigs that
tools generate. A limb that no profile explains has no controls, and is refused where its constraints are checked.
"""

from __future__ import annotations

from bpy.types import Constraint, PoseBone

from .checks import Moving
from .limb import Switch

# Constraints that carry a bone as a parent does: its channels act within what carries it.
CARRYING = {"CHILD_OF", "ARMATURE"}
# Constraints that bring a bone to the place of another one.
PLACING = {"COPY_TRANSFORMS", "COPY_LOCATION"}


def switch_of(moving: Moving, constraint: Constraint, on: bool) -> Switch | None:
    """The constraint as a switch, None where it has its whole influence on every frame."""
    if not moving.is_animated(constraint) and constraint.influence == 1.0:
        return None
    owner = next(bone for bone in moving.armature.pose.bones if constraint in bone.constraints.values())
    return Switch(owner.name, constraint.name, on)


def is_movable(moving: Moving, name: str) -> bool:
    """Whether there is such a bone, and keys of its location show within what carries it."""
    bone = moving.armature.pose.bones.get(name)
    if bone is None or name in moving.reached or not moving.is_free(name):
        return False
    return all(constraint.type in CARRYING for constraint in moving.active(bone))


def hips_control(moving: Moving, bone: PoseBone) -> str | None:
    """The bone that moves a bone by the only constraint on that, if keys move it in turn."""
    found = moving.active(bone)
    if len(found) != 1 or found[0].type not in PLACING or found[0].target != moving.armature:
        return None
    return found[0].subtarget if is_movable(moving, found[0].subtarget) else None
