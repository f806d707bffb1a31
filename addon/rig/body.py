# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of an armature that a run plants: limbs, toes, and the bone that moves the hips."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from bpy.types import Context, Object
from ik2bone.arrays import Mask
from mathutils import Matrix

from ..errors import Refusal
from ..keys import actions, fcurves, rotations
from ..pose.evaluate import with_parents
from ..properties import PlantingOptions
from .checks import Moving, check_chain, refuse_unposed, toe_trouble
from .choose import choose_limbs
from .controls_find import named_hips
from .find import rest_tree
from .limb import Limb

# Constraints that move a bone to the location of another bone.
PLACING = {"COPY_TRANSFORMS", "COPY_LOCATION"}
SOME_LEGS = "only some of the legs are planted, so the hips stay"
# The scale of an object is even if its largest and smallest scale differ by less than this factor. The tests' walker
# then drifts by 0.0002 of its leg; it drifts by 0.005 at scales of 1, 1.2 and 0.9.
EVEN = 1.01
NO_HIPS = "no bone that carries all legs is free to move, so the hips stay"


@dataclass(frozen=True)
class Body:
    """The limbs to turn, the bone that carries all legs if it may be moved, and sentences for the user.

    `planned` are the limbs that the planting core reads: with any leg it reads all legs, so that the contacts of a leg
    do not depend on the choice of limbs. `numbers` are the indices of the limbs among all limbs of the armature, legs
    first. `toes` are the toe bones to turn.
    """

    limbs: tuple[Limb, ...]
    planned: tuple[Limb, ...]
    numbers: tuple[int, ...]
    hips: str | None
    toes: tuple[str, ...]
    told: tuple[str, ...]

    @property
    def chosen(self) -> Mask:
        """Which of the planned limbs are to be turned."""
        return np.array([limb in self.limbs for limb in self.planned])


def find_body(context: Context, armature: Object, options: PlantingOptions, bounds: tuple[int, int]) -> Body:
    """The limbs, toes and hips to plant. Raises `Refusal` if there are no limbs, or if keys on them would not show.

    Where the rest pose does not show which limbs are legs, the poses on frames within `bounds` do. These are the first
    and last frame of the whole action, so that the legs do not depend on the frames to plant.
    """
    refuse_unposed(armature)
    choice = choose_limbs(context, armature, options, bounds)
    limbs = choice.limbs
    moving = Moving(armature)
    check_chain(armature, limbs, moving)
    _refuse_upside_down(armature, limbs)
    toes, told = _toes(moving, limbs, options)
    told += _tell_scale(armature)
    numbers = tuple(choice.every.index(limb) for limb in limbs)
    legs = [limb for limb in limbs if limb.is_leg]
    planned = tuple(limb for limb in choice.every if limb in limbs or (legs and limb.is_leg))
    if len(legs) < sum(limb.is_leg for limb in choice.every) or not legs:
        # A motion of the hips would move the standing feet of the legs that are not planted.
        told += (SOME_LEGS,) if options.use_hips and legs else ()
        return Body(limbs, planned, numbers, None, toes, told)
    hips = find_hips(armature, legs, moving)
    stay = options.use_hips and hips is None
    return Body(limbs, planned, numbers, hips, toes, told + ((NO_HIPS,) if stay else ()))


def find_hips(armature: Object, legs: Sequence[Limb], moving: Moving | None = None) -> str | None:
    """The bone that can move all legs and the trunk, None if there is none.

    In a generated rig it is known by name. Else it is the lowest bone that carries all legs and the trunk, or the
    control of that bone; if neither can move, it is the nearest ancestor that can.
    """
    bones, moving = armature.pose.bones, moving or Moving(armature)
    if generated := named_hips(moving):
        return generated
    lines = [moving.line(leg.thigh) for leg in legs]
    shared = [name for name in lines[0][1:] if all(name in line for line in lines)]
    if not shared:
        return None
    # Branches with controls of legs do not count, because they may have more bones than a simple trunk.
    controls = [moving.line(control.bone) for leg in legs for control in leg.controls]
    apart = {name for line in (*lines, *controls) for name in line}
    # The trunk is the largest of all branches that hold no leg.
    rest = rest_tree(armature)
    sizes = dict(zip(rest.names, rest.sizes, strict=True))
    branches = ([sizes[child.name] for child in bones[name].children if child.name not in apart] for name in shared)
    carried = [max(own, default=0) for own in branches]
    lowest = carried.index(max(carried))
    between = {name for line in lines for name in line[1 : line.index(shared[lowest])]}
    if any(moving.holds(name) for name in between):
        return None
    for name in shared[lowest:]:
        if control := _hips_control(moving, name):
            return control
        if moving.holds(name):
            # The constraint that determines the location of this bone would also do so under an ancestor that moves.
            return None
        if moving.is_free(name):
            return name
    return None


def _hips_control(moving: Moving, name: str) -> str | None:
    """The target bone of the only active constraint on a bone, if it copies the location and keys move the target."""
    found = moving.active(name)
    if len(found) != 1 or found[0].type not in PLACING or found[0].target != moving.armature:
        return None
    return found[0].subtarget if moving.is_movable(found[0].subtarget) else None


def _refuse_upside_down(armature: Object, limbs: Iterable[Limb]) -> None:
    """Raise `Refusal` if a negative scale of the armature or of a parent turns a leg upside down.

    Such a leg points up, and would hang down under the same scale made positive.
    """
    bones, world = armature.data.bones, np.array(armature.matrix_world, float)
    mirrored = [part for part in with_parents(armature) if min(part.scale) < 0.0]
    for leg in (limb for limb in limbs if limb.is_leg):
        way = np.array(bones[leg.foot].head_local - bones[leg.thigh].head_local, float)
        for ob in mirrored if world[2, :3] @ way > 0.0 else ():
            own = ob.matrix_world
            turned = own @ Matrix.Diagonal([*np.sign(ob.scale), 1.0]) @ own.inverted() @ armature.matrix_world
            if np.array(turned, float)[2, :3] @ way < 0.0:
                raise Refusal(
                    f"{ob.name} has a negative scale, {', '.join(f'{scale:.3g}' for scale in ob.scale)}, "
                    f"which turns {'it' if ob == armature else armature.name} upside down: "
                    "apply the scale, or make it positive"
                )


def _toes(moving: Moving, legs: Iterable[Limb], options: PlantingOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The toe bones that can be keyed, and sentences about the others."""
    # With another direction a foot touches the nearest surface with one point, and has no sole for toes to belong to.
    legs = [leg for leg in legs if leg.toe and leg.is_leg and options.direction == "DOWN"]
    feet = {leg.toe: leg.foot for leg in legs if not leg.controls}
    stiff = [leg.toe for leg in legs if leg.controls and not any(each.part == "toe" for each in leg.controls)]
    troubles = {
        name: toe_trouble(moving, name, foot) or _curve_trouble(moving.armature, name, options)
        for name, foot in feet.items()
    }
    found = [trouble for trouble in troubles.values() if trouble] + [f"no control turns bone {name}" for name in stiff]
    told = tuple(f"{trouble}, so these toes are not laid on the ground" for trouble in found)
    return tuple(name for name in feet if not troubles[name]), told


def _tell_scale(armature: Object) -> tuple[str, ...]:
    """A sentence about an armature object that is unevenly scaled, or sheared by its parents; else nothing."""
    scales = np.linalg.svd(np.array(armature.matrix_world.to_3x3(), float), compute_uv=False)
    if scales[0] <= EVEN * scales[-1]:
        return ()
    return (
        f"{armature.name} is scaled unevenly, by {scales[-1]:.3g} to {scales[0]:.3g}, so it is planted less exactly",
    )


def _curve_trouble(armature: Object, name: str, options: PlantingOptions) -> str | None:
    """A clause about a bone's rotation F-curve that takes no keys, if keys go into existing curves; else None."""
    bone, curves = armature.pose.bones[name], actions.assigned(armature).curves
    if options.output != "IN_PLACE" and options.frame_range != "CURRENT":
        return None
    path = bone.path_from_id(rotations.property_of(bone.rotation_mode))
    found = map(fcurves.trouble, curves.of(path))
    return next((f"the F-curve of the rotation of bone {name} {trouble}" for trouble in found if trouble), None)
