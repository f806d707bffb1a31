# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls of limbs that tools generate, by the names which these give: Rigify's, and those of Auto-Rig Pro.

Both have two sets of controls, for forward and for inverse kinematics, and a switch between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bpy.types import PoseBone, bpy_prop_collection
from ik2bone.clip import JOINTS

from .checks import Moving
from .limb import Control, Limb, Switch

# What names of Rigify end with: the side, and a number where they would be the same otherwise.
SIDE = re.compile(r"([._-][LRlr])?(\.\d+)?$")
# The bones that carry the trunk.
HIPS = ("torso", "c_root_master.x")


def named_limbs(moving: Moving) -> list[Limb]:
    """The legs and arms of a generated rig, none where the armature is no such rig."""
    return [*_rigify_limbs(moving), *_auto_rig_legs(moving)]


def named_hips(moving: Moving) -> str | None:
    """The bone that carries the trunk of a generated rig."""
    names = HIPS if any(limb.is_leg for limb in named_limbs(moving)) else ()
    return next((name for name in names if moving.is_movable(name)), None)


def _rigify_limbs(moving: Moving) -> Iterator[Limb]:
    """Limbs have a switch on the bone that carries them; feet roll under their control, paws only have one of the heel.

    What has neither is an arm.
    """
    bones = moving.armature.pose.bones
    for carrier in (bone for bone in bones if "IK_FK" in bone):
        org = bones.get(f"ORG-{_derived(carrier.name, '_parent', '')}")
        line = _rigify_line(org) if org else []
        if len(line) not in (3, 4) or not all(f"DEF-{name}" in bones for name in line):
            continue
        rolls = _derived(f"MCH-{line[2]}", "", "_roll") in bones
        is_paw = not rolls and _derived(line[2], "", "_heel_ik") in bones
        toes = line[3:] or _rigify_toes(bones, line[2] if is_paw else "")
        found = _rigify_paw(moving, line[:3], toes) if is_paw else _rigify_controls(moving, line)
        if found:
            names = *(f"DEF-{name}" for name in line[:3]), f"DEF-{toes[0]}" if toes else None
            yield Limb(*names, is_leg=is_paw or rolls, controls=(*found, *_rigify_knee(moving, line)))


def _derived(name: str, old: str, new: str) -> str:
    """A name with another ending before its side."""
    side = SIDE.search(name)
    place = side.start() if side else len(name)
    return name[:place].removesuffix(old) + new + name[place:]


def _rigify_line(org: PoseBone) -> list[str]:
    """The names, without prefix, of a bone and of those under it that have controls for forward kinematics."""
    line, bones = [org], org.id_data.pose.bones
    while below := [child for child in line[-1].children if _derived(child.name[4:], "", "_fk") in bones]:
        line.append(below[0])
    return [bone.name[4:] for bone in line]


def _rigify_toes(bones: bpy_prop_collection, foot: str) -> list[str]:
    """The names of toes under a paw, which have one control for both kinds of kinematics."""
    below = bones[f"ORG-{foot}"].children if foot else ()
    names = [child.name[4:] for child in below if child.name.startswith("ORG-")]
    return [name for name in names if name in bones and f"DEF-{name}" in bones][:1]


def _rigify_controls(moving: Moving, line: Sequence[str]) -> tuple[Control, ...]:
    bones = moving.armature.pose.bones
    ik, fk = ([_derived(name, "", ending) for name in line] for ending in ("_ik", "_fk"))
    goal = _derived(f"MCH-{line[0]}", "", "_ik_target")
    return _both(moving, f"ORG-{line[0]}", ik[2], fk, ik[3:], goal if goal in bones else None)


def _rigify_paw(moving: Moving, line: Sequence[str], toes: Sequence[str]) -> tuple[Control, ...]:
    """The control of a paw carries its toes, on which it stands; that of its heel turns the foot about them."""
    foot, heel = (_derived(line[2], "", ending) for ending in ("_ik", "_heel_ik"))
    fk = [_derived(name, "", "_fk") for name in line]
    found = _both(moving, f"ORG-{line[0]}", foot, [*fk, *toes], (), None)
    ends = [Control(foot, "toe", moves=True, switch=each.switch) for each in found[:1]]
    return (*ends, *(Control(heel, "foot", switch=each.switch) for each in ends), *found[1:])


def _rigify_knee(moving: Moving, line: Sequence[str]) -> Iterator[Control]:
    """What turns the knee: of two constraints, one of which is muted, one has a pole and the other one has none."""
    solved = moving.armature.pose.bones.get(_derived(f"MCH-{line[1]}", "", "_ik"))
    for constraint in solved.constraints if solved else ():
        pole, switch = getattr(constraint, "pole_subtarget", None), Switch(solved.name, constraint.name, True)
        if pole:
            yield Control(pole, "knee", moves=True, turns=False, switch=switch)
        elif pole is not None:
            yield Control(_derived(line[0], "", "_ik"), "knee", switch=switch)


def _auto_rig_legs(moving: Moving) -> Iterator[Limb]:
    """Legs are what has a switch on the control of its foot."""
    bones = moving.armature.pose.bones
    for foot in (bone.name for bone in bones if bone.name.startswith("c_foot_ik.") and "ik_fk_switch" in bone):
        side = foot.removeprefix("c_foot_ik")
        names = [f"{part}{side}" for part in ("thigh", "leg", "foot", "toes_01")]
        fk = [f"c_{part}_fk{side}" for part in ("thigh", "leg", "foot", "toes")]
        if all(name in bones for name in names[:3]):
            found = _both(moving, names[0], foot, fk, [f"c_toes_ik{side}"], None)
            poles = [name for name in (f"c_leg_pole{side}",) if moving.is_movable(name)]
            knee = [Control(name, "knee", moves=True, turns=False, switch=found[0].switch) for name in poles if found]
            if found:
                yield Limb(*names[:3], names[3] if names[3] in bones else None, controls=(*found, *knee))


def _both(
    moving: Moving, switched: str, foot: str, fk: Sequence[str], toes: Sequence[str], goal: str | None
) -> tuple[Control, ...]:
    """Controls of inverse kinematics, that of the foot first, and of forward kinematics; none where some are missing.

    The bone `switched` has a constraint for each set or for one, whose targets are named after the sets.
    """
    bones = moving.armature.pose.bones
    switches = ((each, moving.switch_of(each, True)) for each in bones[switched].constraints)
    found = [
        (each, switch) for each, switch in switches if switch and re.search("_[fi]k", getattr(each, "subtarget", ""))
    ]
    if not found or not all(name in bones for name in (foot, *fk[:3])):
        return ()
    on = found[0][1]._replace(on="_ik" in found[0][0].subtarget)
    off = on._replace(on=not on.on)
    controls = [Control(foot, "foot", moves=True, goal=goal, switch=on)]
    controls += [Control(name, "toe", switch=on) for name in toes if name in bones]
    return (
        *controls,
        *(Control(name, part, switch=off) for name, part in zip(fk, JOINTS, strict=False) if name in bones),
    )
