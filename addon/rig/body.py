# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an armature a run plants: its limbs, and the hips that may move."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from bpy.types import Context, Object, PoseBone
from ik2bone.arrays import Mask
from mathutils import Matrix

from ..errors import Refusal
from ..keys import actions, fcurves, rotations
from ..pose.evaluate import with_parents
from ..properties import PlantingOptions
from .checks import Moving, check_chain, line_of, refuse_unposed, toe_trouble
from .choose import choose_limbs
from .controls_find import named_hips
from .limb import Limb

# Constraints that bring a bone to the place of another one.
PLACING = {"COPY_TRANSFORMS", "COPY_LOCATION"}
SOME_LEGS = "only some of the legs are planted, so the hips stay"
# Scales along an object's axes that differ by less than this factor are even: the tests' walker drifts by 0.0002 of its
# leg then, and by 0.005 at scales of 1, 1.2 and 0.9.
EVEN = 1.01
NO_HIPS = "no bone that carries all legs is free to move, so the hips stay"


@dataclass(frozen=True)
class Body:
    """The limbs to turn, the bone that carries all legs if it may be moved, and what to tell the user about it.

    `planned` are the limbs that are looked at: with any leg all the others, so that when and where it stands does not
    change with the choice. `numbers` are the places of the limbs among all that the armature has, legs first; `toes`
    are the toe bones to turn.
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
    """The limbs that the options mean, and the hips; refuses limbs on which keys would not show.

    Where the rest pose leaves the legs open, they are told from the frames within `bounds`, those of the whole action,
    so that no choice of frames changes them.
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
        # Moved hips would carry the other legs away from where they stand.
        told += (SOME_LEGS,) if options.use_hips and legs else ()
        return Body(limbs, planned, numbers, None, toes, told)
    hips = find_hips(armature, legs)
    stay = options.use_hips and hips is None
    return Body(limbs, planned, numbers, hips, toes, told + ((NO_HIPS,) if stay else ()))


def find_hips(armature: Object, legs: Sequence[Limb]) -> str | None:
    """The lowest bone that carries all legs and the trunk, or its control; where that cannot move, its next ancestor
    that can.
    """
    bones, moving = armature.pose.bones, Moving(armature)
    if generated := named_hips(moving):
        return generated
    lines = [line_of(armature, leg.thigh) for leg in legs]
    shared = [name for name in lines[0][1:] if all(name in line for line in lines)]
    if not shared:
        return None
    # Controls of feet may carry more bones than a plain trunk has.
    controls = [line_of(armature, control.bone) for leg in legs for control in leg.controls]
    apart = {name for line in (*lines, *controls) for name in line}
    # The trunk is the largest of all branches that hold no leg.
    sizes = _sizes(armature)
    branches = ([sizes[child.name] for child in bones[name].children if child.name not in apart] for name in shared)
    carried = [max(own, default=0) for own in branches]
    lowest = carried.index(max(carried))
    between = {name for line in lines for name in line[1 : line.index(shared[lowest])]}
    if any(moving.holds(bones[name]) for name in between):
        return None
    for name in shared[lowest:]:
        if control := _hips_control(moving, bones[name]):
            return control
        if moving.holds(bones[name]):
            # What holds it in its place would do so under any ancestor that moves.
            return None
        if moving.is_free(name):
            return name
    return None


def _sizes(armature: Object) -> Counter[str]:
    """How many bones hang under each bone, itself included, by names."""
    sizes = Counter(armature.data.bones.keys())
    # Blender lists bones after their parents.
    for bone in reversed(armature.data.bones.values()):
        if bone.parent:
            sizes[bone.parent.name] += sizes[bone.name]
    return sizes


def _hips_control(moving: Moving, bone: PoseBone) -> str | None:
    """The bone that moves a bone by the only constraint on that, if keys move it in turn."""
    found = moving.active(bone)
    if len(found) != 1 or found[0].type not in PLACING or found[0].target != moving.armature:
        return None
    return found[0].subtarget if moving.is_movable(found[0].subtarget) else None


def _refuse_upside_down(armature: Object, limbs: Iterable[Limb]) -> None:
    """Refuse a negative scale, of the object or of a parent, that turns legs over which hang down under the same scale
    made positive.
    """
    bones, world = armature.data.bones, np.array(armature.matrix_world)
    mirrored = [part for part in with_parents(armature) if min(part.scale) < 0.0]
    for leg in (limb for limb in limbs if limb.is_leg):
        way = np.array(bones[leg.foot].head_local - bones[leg.thigh].head_local)
        for ob in mirrored if world[2, :3] @ way > 0.0 else ():
            own = ob.matrix_world
            turned = np.array(own @ Matrix.Diagonal([*np.sign(ob.scale), 1.0]) @ own.inverted() @ armature.matrix_world)
            if turned[2, :3] @ way < 0.0:
                raise Refusal(
                    f"{ob.name} has a negative scale, {', '.join(f'{scale:.3g}' for scale in ob.scale)}, "
                    f"which turns {'it' if ob == armature else armature.name} upside down: "
                    "apply the scale, or make it positive"
                )


def _toes(moving: Moving, legs: Iterable[Limb], options: PlantingOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The toe bones that can be keyed, and sentences about the others."""
    # Feet that touch the nearest surface with one point have no sole that toes would belong to.
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
    """A sentence about an object that is scaled, or sheared by its parents, differently along different axes."""
    scales = np.linalg.svd(np.array(armature.matrix_world.to_3x3()), compute_uv=False)
    if scales[0] <= EVEN * scales[-1]:
        return ()
    return (
        f"{armature.name} is scaled unevenly, by {scales[-1]:.3g} to {scales[0]:.3g}, so it is planted less exactly",
    )


def _curve_trouble(armature: Object, name: str, options: PlantingOptions) -> str | None:
    """What about a bone's F-curves keeps keys from being put, where they are put into the curves themselves."""
    bone, curves = armature.pose.bones[name], actions.curves_of(actions.assigned(armature))
    if options.output == "NEW_ACTION" and options.frame_range != "CURRENT":
        return None
    path = bone.path_from_id(rotations.property_of(bone.rotation_mode))
    found = (fcurves.trouble(curve) for curve in (curves.find(path, index) for index in range(4)) if curve)
    return next((f"the F-curve of the rotation of bone {name} {trouble}" for trouble in found if trouble), None)
