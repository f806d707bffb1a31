# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs that the user chooses, by bone names, by the selection, or all legs; also any three bones in a row."""

from collections.abc import Sequence
from dataclasses import dataclass

from bpy.types import Context, Object

from ..errors import Refusal, required_names
from ..properties import PlantingOptions
from .find import find_arms, find_legs, legs_of
from .limb import Limb


@dataclass(frozen=True)
class Choice:
    """The limbs to plant, and every limb that the armature is known to have, legs first."""

    limbs: tuple[Limb, ...]
    every: tuple[Limb, ...]


def choose_limbs(context: Context, armature: Object, options: PlantingOptions, bounds: tuple[int, int]) -> Choice:
    """The limbs that the options `chains` and `bones` choose. Legs are found in the frames within `bounds`.

    Raises `Refusal` if bones do not exist or belong to no limb, or if there are no legs.
    """
    bones = armature.pose.bones.keys()
    named = required_names("bones", "bones", options.bones, bones) if options.bones.strip() else []
    # For scripts on a timer, which have no window, the context has no `selected_pose_bones`.
    posed = getattr(context, "selected_pose_bones", None) or ()
    selected = [bone.name for bone in posed if bone.id_data == armature]
    if not named and options.chains == "SELECTED" and not selected:
        raise Refusal(f"no bones are selected on {armature.name}: select bones of the limbs to plant in pose mode")
    if not named and (options.chains == "LEGS" or not selected):
        legs = find_legs(armature, bounds)
        return Choice(legs, legs)
    for name in named:
        if name not in bones:
            raise Refusal(f"{armature.name} has no bone named {name}")
    known = _limbs_near(armature, named or selected, bounds)
    if named or options.chains == "SELECTED":
        return _named(armature, known, named or selected, strict=bool(named))
    limbs = _owners(armature, known, selected)
    legs = tuple(limb for limb in known if limb.is_leg)
    return Choice(limbs if 0 < len(limbs) < len(known) else legs or find_legs(armature, bounds), known)


def _limbs_near(armature: Object, names: Sequence[str], bounds: tuple[int, int]) -> tuple[Limb, ...]:
    """The legs, and also the arms if one of the `names` belongs to no leg. A figure without legs has only arms."""
    try:
        legs = find_legs(armature, bounds)
    except Refusal:
        legs = ()
    owned = {name for leg in legs for name in _owned(armature, leg)}
    return legs if owned.issuperset(names) else (*legs, *find_arms(armature, legs))


def _named(armature: Object, known: tuple[Limb, ...], names: list[str], strict: bool) -> Choice:
    """The choice of the known limbs with bones in `names`, and of rows of three bones in `names` as limbs.

    With `strict` (for names in the options), raises `Refusal` if a bone belongs to no limb. Else (for selected bones)
    bones of known limbs and bones above legs, which are the trunk, form no rows. Selected bones that belong to no limb
    are ignored if a limb is found, and raise `Refusal` otherwise.
    """
    owned = {name for limb in known for name in _owned(armature, limb)}
    thighs = [armature.data.bones[limb.thigh] for limb in known if limb.is_leg]
    trunk = {bone.name for thigh in thighs for bone in thigh.parent_recursive}
    rows, left = _rows_of_three(armature, names if strict else [name for name in names if name not in owned | trunk])
    lost = [name for name in (left if strict else names) if name not in owned]
    legs = {leg.turned: leg for row in rows for leg in legs_of(armature, row.turned, known)}
    rows = [legs.get(row.turned) or next((limb for limb in known if limb.turned == row.turned), row) for row in rows]
    # The opposite leg of a pair counts as a leg too, unless another known leg or a row has some of its bones.
    others = [leg for leg in legs.values() if not any(limb.is_leg and _share(limb, leg) for limb in (*known, *rows))]
    kept = tuple(limb for limb in known if limb in rows or not any(_share(limb, row) for row in (*rows, *others)))
    limbs = dict.fromkeys((*_owners(armature, kept, left if strict else names), *rows))
    if lost and (strict or not limbs):
        raise Refusal(f"bone {lost[0]} belongs to no limb: name an upper bone, a lower bone and the end under it")
    every = sorted(dict.fromkeys((*kept, *rows, *others)), key=lambda limb: not limb.is_leg)
    return Choice(tuple(limbs), tuple(every))


def _share(limb: Limb, row: Limb) -> bool:
    return not _keyed(limb).isdisjoint(_keyed(row))


def _keyed(limb: Limb) -> set[str]:
    """Names of the bones of a limb, and of its controls."""
    return {*limb.bones, *(control.bone for control in limb.controls)}


def _rows_of_three(armature: Object, names: Sequence[str]) -> tuple[list[Limb], list[str]]:
    """The limbs of exactly three named bones under one another, and the names that are in none of these limbs."""
    rows, left = [], set(names)
    for name in names:
        bone = armature.data.bones[name]
        if any(child.name in names for child in bone.children_recursive):
            continue
        line = [bone.name, *(parent.name for parent in bone.parent_recursive if parent.name in names)]
        if len(line) == 3:
            rows.append(Limb(*reversed(line), toe=None, is_leg=False))
            left -= set(line)
    return rows, [name for name in names if name in left]


def _owners(armature: Object, limbs: Sequence[Limb], names: Sequence[str]) -> tuple[Limb, ...]:
    return tuple(limb for limb in limbs if not _owned(armature, limb).isdisjoint(names))


def _owned(armature: Object, limb: Limb) -> set[str]:
    """The names of the bones that stand for a limb: its upper bone, its end, all bones under them, and its controls."""
    tops = [armature.data.bones[name] for name in (limb.thigh, limb.foot)]
    return {bone.name for top in tops for bone in (top, *top.children_recursive)} | _keyed(limb)
