# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls of legs that tools generate, by the names which these give: Rigify's, and those of Auto-Rig Pro.

Both have two sets of controls, for forward and for inverse kinematics, and a switch between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .checks import Moving
from .controls import Chain, Control, Switch, is_movable, switch_of

if TYPE_CHECKING:
    from bpy.types import PoseBone

PARTS = ("thigh", "shin", "foot", "toe")
# What names of Rigify end with: the side, and a number where they would be the same otherwise.
SIDE = re.compile(r"([._-][LRlr])?(\.\d+)?$")
# The bones that carry the trunk.
HIPS = ("torso", "c_root_master.x")

Leg = tuple[Chain, tuple[Control, ...]]


def named_legs(moving: Moving) -> list[Leg]:
    """The legs of a generated rig, none where the armature is no such rig."""
    return [*_rigify_legs(moving), *_auto_rig_legs(moving)]


def named_hips(moving: Moving) -> str | None:
    """The bone that carries the trunk of a generated rig."""
    names = HIPS if named_legs(moving) else ()
    return next((name for name in names if is_movable(moving, name)), None)


def _rigify_legs(moving: Moving) -> Iterator[Leg]:
    """Legs have a switch on the bone that carries them and feet that roll under their control; paws roll otherwise."""
    bones = moving.armature.pose.bones
    for carrier in (bone for bone in bones if "IK_FK" in bone):
        org = bones.get(f"ORG-{_derived(carrier.name, '_parent', '')}")
        line = _rigify_line(org) if org else []
        names = [f"DEF-{name}" for name in line]
        rolls = len(line) in (3, 4) and _derived(f"MCH-{line[2]}", "", "_roll") in bones
        controls = _rigify_controls(moving, line) if rolls and all(name in bones for name in names) else ()
        if controls:
            yield Chain(*names[:3], names[3] if names[3:] else None), controls


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


def _rigify_controls(moving: Moving, line: Sequence[str]) -> tuple[Control, ...]:
    bones = moving.armature.pose.bones
    ik, fk = ([_derived(name, "", ending) for name in line] for ending in ("_ik", "_fk"))
    goal = _derived(f"MCH-{line[0]}", "", "_ik_target")
    found = _both(moving, f"ORG-{line[0]}", ik[2], fk, ik[3:], goal if goal in bones else None)
    return (*found, *_rigify_knee(moving, line)) if found else ()


def _rigify_knee(moving: Moving, line: Sequence[str]) -> Iterator[Control]:
    """What turns the knee: of two constraints, one of which is muted, one has a pole and the other one has none."""
    solved = moving.armature.pose.bones.get(_derived(f"MCH-{line[1]}", "", "_ik"))
    for constraint in solved.constraints if solved else ():
        pole, switch = getattr(constraint, "pole_subtarget", None), Switch(solved.name, constraint.name, True)
        if pole:
            yield Control(pole, "knee", moves=True, turns=False, switch=switch)
        elif pole is not None:
            yield Control(_derived(line[0], "", "_ik"), "knee", switch=switch)


def _auto_rig_legs(moving: Moving) -> Iterator[Leg]:
    """Legs are what has a switch on the control of its foot."""
    bones = moving.armature.pose.bones
    for foot in (bone.name for bone in bones if bone.name.startswith("c_foot_ik.") and "ik_fk_switch" in bone):
        side = foot.removeprefix("c_foot_ik")
        names = [f"{part}{side}" for part in ("thigh", "leg", "foot", "toes_01")]
        fk = [f"c_{part}_fk{side}" for part in ("thigh", "leg", "foot", "toes")]
        if all(name in bones for name in names[:3]):
            found = _both(moving, names[0], foot, fk, [f"c_toes_ik{side}"], None)
            poles = [name for name in (f"c_leg_pole{side}",) if is_movable(moving, name)]
            knee = [Control(name, "knee", moves=True, turns=False, switch=found[0].switch) for name in poles if found]
            if found:
                yield Chain(*names[:3], names[3] if names[3] in bones else None), (*found, *knee)


def _both(
    moving: Moving, switched: str, foot: str, fk: Sequence[str], toes: Sequence[str], goal: str | None
) -> tuple[Control, ...]:
    """Controls of inverse kinematics, that of the foot first, and of forward kinematics; none where some are missing.

    The bone `switched` has a constraint for each set or for one, whose targets are named after the sets.
    """
    bones = moving.armature.pose.bones
    switches = ((each, switch_of(moving, each, True)) for each in bones[switched].constraints)
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
        *(Control(name, part, switch=off) for name, part in zip(fk, PARTS, strict=False) if name in bones),
    )
