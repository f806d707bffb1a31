# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that keys on bones show unchanged: constraints, drivers and inheritance settings may prevent this."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

import bpy
import numpy as np
from bpy.types import Constraint, Object, PoseBone, bpy_prop_collection

from ..errors import Refusal
from ..keys import actions, rotations
from ..pose.evaluate import shown_channels, stepping
from .limb import Limb, Switch

# Constraints that change only the scale of a bone.
SCALING = {"COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME"}
# Constraints that neither change the location of a bone nor depend on it.
PLACELESS = {"COPY_ROTATION", "LIMIT_ROTATION"} | SCALING
# Constraints whose target carries a bone as a parent does: the bone's channels act in the space of the target.
CARRYING = {"CHILD_OF", "ARMATURE"}
# Constraints of inverse kinematics, which move a chain of bones.
SOLVING = {"IK", "SPLINE_IK"}
# Constraints that act in some poses and not in others.
LIMITING = {"LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_DISTANCE", "TRANSFORM"}
# A pose agrees with the bone's channels within this tolerance, in radians and as a share of the bone's length plus its
# distance from the origin: a hundred times the error that single precision leaves in both.
SAME = 1e-4
# The properties of which at least one has to be set for a constraint of this type to act.
SWITCHES = {
    "COPY_LOCATION": ("use_x", "use_y", "use_z"),
    "COPY_ROTATION": ("use_x", "use_y", "use_z"),
    "LIMIT_ROTATION": ("use_limit_x", "use_limit_y", "use_limit_z"),
    "LIMIT_LOCATION": tuple(f"use_{end}_{axis}" for end in ("min", "max") for axis in "xyz"),
}


@dataclass(frozen=True)
class Moving:
    """The keys, drivers and constraints that may move the bones of an armature."""

    armature: Object

    @property
    def bones(self) -> bpy_prop_collection:
        """The pose bones."""
        return self.armature.pose.bones

    def line(self, name: str) -> list[str]:
        """The names of a bone and of all its ancestors, the nearest first."""
        return [name, *(above.name for above in self.bones[name].parent_recursive)]

    @cached_property
    def keyed(self) -> frozenset[str]:
        """The data paths of the F-curves in the assigned action that are not muted."""
        curves = actions.assigned(self.armature).curves
        return frozenset(curve.data_path for curve in curves if not curve.mute)

    @cached_property
    def driven(self) -> frozenset[str]:
        """The data paths of the drivers that are not muted."""
        drivers = self.armature.animation_data.drivers if self.armature.animation_data else ()
        return frozenset(driver.data_path for driver in drivers if not driver.mute)

    @cached_property
    def reached(self) -> dict[str, str]:
        """The names of bones in chains of inverse kinematics, each with the name of the constraint's owner."""
        return self._reached_by(self.solvers())

    def solvers(self) -> Iterator[tuple[PoseBone, Constraint]]:
        """Every active constraint of inverse kinematics, with its bone."""
        found = ((bone, each) for bone in self.bones for each in bone.constraints)
        return ((bone, each) for bone, each in found if each.type in SOLVING and self._acts(each))

    def _reached_by(self, solvers: Iterable[tuple[PoseBone, Constraint]]) -> dict[str, str]:
        return {name: bone.name for bone, constraint in solvers for name in chain_of(bone, constraint)}

    def carried_by(self, name: str) -> set[str]:
        """Names of the bones under a bone, without those that inverse kinematics holds at a target elsewhere."""
        under = {bone.name for bone in self.bones[name].children_recursive}
        solved = [pair for pair in self.solvers() if getattr(pair[1], "subtarget", "") not in under | {name}]
        held = self._reached_by(solved).keys()
        return {bone for bone in under if held.isdisjoint(self.line(bone))}

    def active(self, name: str) -> list[Constraint]:
        """The constraints that turn or move a bone, or may do so on some frame because they are keyed or driven."""
        return [constraint for constraint in self.bones[name].constraints if self._acts(constraint)]

    def _acts(self, constraint: Constraint) -> bool:
        return constraint.type not in SCALING and (self.is_animated(constraint) or _is_on(constraint))

    def is_animated(self, constraint: Constraint) -> bool:
        """Whether keys or drivers change the constraint."""
        own = constraint.path_from_id() + "."
        return any(path.startswith(own) for path in self.keyed | self.driven)

    @cached_property
    def _solved(self) -> dict[str, str]:
        """As `reached`, but only for constraints that act on some frame."""
        return self._reached_by((bone, each) for bone, each in self.solvers() if self._shows(bone.name, each))

    def acting(self, name: str) -> list[Constraint]:
        """The active constraints of a bone, without constraints that have no effect on any frame."""
        return [each for each in self.active(name) if self._shows(name, each)]

    def _shows(self, name: str, constraint: Constraint) -> bool:
        return not self._may_idle(constraint) or (name, constraint.name) in self._at_work

    def _may_idle(self, constraint: Constraint) -> bool:
        return constraint.type in LIMITING or self.is_animated(constraint)

    @cached_property
    def _at_work(self) -> set[tuple[str, str]]:
        """The constraints that act on some frames of the action and may be idle on others: names (bone, constraint)."""
        names = [bone.name for bone in self.bones]
        left = {(name, each.name) for name in names for each in self.active(name) if self._may_idle(each)}
        found: set[tuple[str, str]] = set()
        with stepping(self.armature) as step:
            for frame in self._frames:
                evaluated = step(frame)
                found |= {names for names in left - found if _works(evaluated, *names)}
                if found == left:
                    break
        return found

    @property
    def _frames(self) -> Iterable[int]:
        """The frames of the assigned action, or the present frame if there is no action."""
        assignment = actions.assigned(self.armature)
        span = actions.frame_span(assignment) if assignment.action else None
        return range(floor(span[0]), ceil(span[1]) + 1) if span else [bpy.context.scene.frame_current]

    def holds(self, name: str) -> bool:
        """Whether the location of the bone depends on a constraint, or a constraint turns the bone by its location.

        Limits count even if they never act, because they may act once the bone is moved.
        """
        found = (*self.limits(name), *self.acting(name))
        return name in self._solved or any(each.type not in PLACELESS for each in found)

    def limits(self, name: str) -> list[Constraint]:
        """The active constraints of a bone that act in some poses only."""
        return [each for each in self.active(name) if each.type in LIMITING]

    def trouble(self, name: str) -> str | None:
        """A clause about why rotation keys on a bone do not show unchanged, None if they do."""
        bone = self.bones[name]
        for constraint in self.acting(name):
            return f"is under the active constraint {constraint.name}"
        if name in self._solved:
            return f"is moved by inverse kinematics on {self._solved[name]}"
        channel = rotations.property_of(bone.rotation_mode)
        if bone.path_from_id(channel) in self.driven:
            return f"has a driver on its {channel.replace('_', ' ')}"
        return None

    def is_free(self, name: str) -> bool:
        """Whether location keys move a bone, constraints aside: it is not connected, locked or driven."""
        bone = self.bones[name]
        connected = bone.bone.use_connect and bone.parent is not None
        return not (connected or any(bone.lock_location) or bone.path_from_id("location") in self.driven)

    def is_movable(self, name: str) -> bool:
        """Whether a bone of this name exists and location keys move it within its parent or carrying constraint."""
        bone = self.bones.get(name)
        if bone is None or name in self.reached or not self.is_free(name):
            return False
        return all(constraint.type in CARRYING for constraint in self.active(name))

    def switch_of(self, constraint: Constraint, on: bool) -> Switch | None:
        """The `Switch` with this constraint, None if the constraint has its whole influence on every frame."""
        if not self.is_animated(constraint) and constraint.influence == 1.0:
            return None
        owner = next(bone for bone in self.bones if constraint in bone.constraints.values())
        return Switch(owner.name, constraint.name, on)


def _is_on(constraint: Constraint) -> bool:
    switches = SWITCHES.get(constraint.type)
    idle = switches is not None and not any(getattr(constraint, name) for name in switches)
    return constraint.enabled and constraint.is_valid and constraint.influence > 0.0 and not idle


def _works(evaluated: Object, bone: str, constraint: str) -> bool:
    """Whether a constraint has an effect on the evaluated frame. A limiting one has an effect if its bone is moved."""
    owner = evaluated.pose.bones[bone]
    found = owner.constraints[constraint]
    return _is_on(found) and (found.type not in LIMITING or _is_moved(evaluated, owner))


def _is_moved(evaluated: Object, bone: PoseBone) -> bool:
    """Whether the location or rotation of an evaluated bone differs from its channels."""
    shown, own = shown_channels(evaluated, bone), np.array(bone.matrix_basis, np.float64)
    own[:3, 3] *= not bone.bone.use_connect
    turns = [axes[:3, :3] / np.linalg.norm(axes[:3, :3], axis=0) for axes in (shown, own)]
    away, size = np.linalg.norm(shown[:3, 3] - own[:3, 3]), bone.matrix.translation.length + bone.length
    return bool(np.abs(turns[0] - turns[1]).max() > SAME or away > SAME * size)


def refuse_unposed(armature: Object) -> None:
    """Raise `Refusal` if an armature shows its rest position, or its transform is not finite or has a zero scale."""
    if armature.data.pose_position == "REST":
        raise Refusal(f"{armature.name} shows its rest position: switch it to pose position")
    world = np.array(armature.matrix_world, float)
    # Blender treats the largest number of single precision as infinity.
    if not (np.abs(world) < np.finfo(np.float32).max).all():
        raise Refusal(f"the transform of {armature.name} should be finite numbers, but it holds infinity or NaN")
    if not np.linalg.svd(world[:3, :3], compute_uv=False).all():
        raise Refusal(f"{armature.name} has a scale of zero, which leaves its legs no length: give it another scale")


def check_chain(armature: Object, limbs: Iterable[Limb], moving: Moving | None = None) -> None:
    """Raise `Refusal` if keys on a limb do not show unchanged. The sentence names the bone and the reason."""
    moving = moving or Moving(armature)
    for sentence in (sentence for limb in limbs for sentence in _troubles(moving, limb)):
        raise Refusal(sentence)


def _troubles(moving: Moving, limb: Limb) -> Iterator[str]:
    if limb.controls:
        # The constraints on these bones follow known controls, which are free to move.
        yield from _mode_troubles(moving, [control.bone for control in limb.controls if control.turns])
        return
    bones, between = moving.bones, _between(moving, limb)
    if limb.loose and not moving.is_free(limb.foot):
        yield f"bone {limb.foot} cannot be moved, so it would not follow its leg"
    if limb.loose and moving.keyed and bones[limb.foot].path_from_id("location") not in moving.keyed:
        yield f"bone {limb.foot} hangs under no shin, and no location keys take it along with {limb.shin}"
    for name in (*limb.turned, *between):
        why = "it does not simply follow the bones above" if name in between else "keys on it do not show"
        if trouble := moving.trouble(name):
            yield f"bone {name} {trouble}, so {why}"
    for name in (limb.shin, *([] if limb.loose else [limb.foot]), *between):
        if not bones[name].bone.use_inherit_rotation:
            yield f"bone {name} does not inherit its parent's rotation, so the bones above cannot move it"
    yield from _mode_troubles(moving, limb.turned)


def _between(moving: Moving, limb: Limb) -> list[str]:
    """The names of the bones between those of a limb, for instance twist bones."""
    line = moving.line(limb.shin if limb.loose else limb.foot)
    return [name for name in line[1 : line.index(limb.thigh)] if name != limb.shin]


def chain_of(bone: PoseBone, constraint: Constraint) -> list[str]:
    """The names of the bones that an inverse kinematics `constraint` on `bone` moves, the lowest first."""
    start = 0 if getattr(constraint, "use_tail", True) else 1
    end = start + constraint.chain_count if constraint.chain_count else None
    return [each.name for each in (bone, *bone.parent_recursive)][start:end]


def _mode_troubles(moving: Moving, names: Iterable[str]) -> Iterator[str]:
    found = filter(None, (_mode_trouble(moving, name) for name in names))
    return (f"{trouble}, so its rotation has no channels of its own" for trouble in found)


def _mode_trouble(moving: Moving, name: str) -> str | None:
    """A clause about keys or a driver that may change a bone's rotation mode over time, None if there are none."""
    path = moving.bones[name].path_from_id("rotation_mode")
    found = "a driver" if path in moving.driven else "keys" if path in moving.keyed else None
    return f"bone {name} has {found} on its rotation mode" if found else None


def toe_trouble(moving: Moving, toe: str, foot: str) -> str | None:
    """A clause about why keys cannot turn a toe bone, None if they can. Such toes just keep following their foot."""
    bones, line = moving.bones, moving.line(toe)
    for name in line[: line.index(foot)]:
        if not bones[name].bone.use_inherit_rotation:
            return f"bone {name} does not inherit its parent's rotation"
        trouble = moving.trouble(name)
        if trouble:
            return f"bone {name} {trouble}"
        for limit in moving.limits(name):
            return f"bone {name} is under the active constraint {limit.name}"
    if any(bones[toe].lock_rotation):
        return f"the rotation of bone {toe} is locked"
    return _mode_trouble(moving, toe)
