# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls of limbs: those that people rig by hand, and by their names those that tools generate.

By hand, one constraint of inverse kinematics draws the end to a target bone. Rigify's rigs and those of Auto-Rig Pro
have two sets of controls, for forward and for inverse kinematics, and a switch between them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bpy.types import Constraint, PoseBone, bpy_prop_collection
from ik2bone.clip import JOINTS

from .checks import Moving, line_of
from .limb import Control, Limb, Switch

# Constraints that turn a bone after another one, which they name as their target.
FOLLOWING = {"COPY_ROTATION", "COPY_TRANSFORMS", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}
# What names of Rigify end with: the side, and a number where they would be the same otherwise.
SIDE = re.compile(r"([._-][LRlr])?(\.\d+)?$")
# The bones that carry the trunk.
HIPS = ("torso", "c_root_master.x")


def find_controls(moving: Moving, limb: Limb) -> tuple[Control, ...]:
    """The controls of a limb; none where no inverse kinematics moves it, or anything that is not explained."""
    if not {limb.thigh, limb.shin}.issubset(moving.reached):
        return ()
    solver, bones = _solver(moving, limb), moving.armature.pose.bones
    if solver is None or any(each != solver for name in limb.turned[:2] for each in moving.active(bones[name])):
        return ()
    solved = _Solved(moving, limb, solver)
    foot = solved.foot()
    return (*foot, *solved.toe(), *solved.knee(), *solved.forward()) if foot else ()


def _solver(moving: Moving, limb: Limb) -> Constraint | None:
    """The only inverse kinematics that moves the two bones of a limb, if it moves no others and has a target bone."""
    wanted = {limb.thigh, limb.shin}
    chains = [(constraint, set(moving.chain_of(bone, constraint))) for bone, constraint in moving.solvers()]
    found = [(constraint, moved) for constraint, moved in chains if not wanted.isdisjoint(moved)]
    if len(found) != 1 or found[0][1] != wanted:
        return None
    solver = found[0][0]
    is_ours = solver.type == "IK" and solver.target == moving.armature and solver.subtarget
    # One that turns the lower bone after its target leaves the end where neither of the two asks for it.
    return solver if is_ours and not solver.use_rotation else None


@dataclass(frozen=True)
class _Solved:
    """A limb, and the only inverse kinematics that moves it."""

    moving: Moving
    limb: Limb
    solver: Constraint

    def foot(self) -> tuple[Control, ...]:
        """One control that carries the target and turns the foot, else one for each; none where there is no such."""
        followed = self._followed(self.limb.foot)
        if followed is None:
            return ()
        line = line_of(self.moving.armature, self.solver.subtarget)
        is_apart = self.limb.shin not in line_of(self.moving.armature, self.limb.foot)
        sources = followed or ([self.limb.foot] if is_apart else [])
        lines = [line_of(self.moving.armature, source) for source in sources]
        if lines and (control := self._movable(name for name in line if all(name in each for each in lines))):
            return self._reaching(control, "foot"), *self._turned_back()
        ankle = self._movable(line)
        if ankle is None or sources == [self.limb.foot]:
            return ()
        return self._reaching(ankle, "ankle"), *self._turning(followed or [self.limb.foot], "foot")

    def toe(self) -> tuple[Control, ...]:
        """What turns the toe, if anything may."""
        followed = self._followed(self.limb.toe) if self.limb.toe else None
        return () if followed is None else tuple(self._turning(followed or [self.limb.toe or ""], "toe"))

    def knee(self) -> tuple[Control, ...]:
        """The target of the pole; without a pole the knee goes by how the two bones stand before they are solved."""
        solver, on = self.solver, self.moving.switch_of(self.solver, True)
        if not solver.pole_target:
            return tuple(Control(name, "knee", switch=on) for name in self.limb.turned[:2])
        is_ours = solver.pole_target == self.moving.armature and self.moving.is_movable(solver.pole_subtarget)
        return (Control(solver.pole_subtarget, "knee", moves=True, turns=False, switch=on),) if is_ours else ()

    def forward(self) -> Iterator[Control]:
        """The bones themselves, where the solver may be without influence."""
        if off := self.moving.switch_of(self.solver, False):
            yield from (
                Control(name, part, switch=off) for name, part in zip(self.limb.turned, ("thigh", "shin"), strict=False)
            )

    def _reaching(self, name: str, part: str) -> Control:
        """A bone that the ankle is drawn to; its keys show without the solver too where the foot follows it always."""
        follows = self.moving.active(self.moving.armature.pose.bones[self.limb.foot])
        is_left = part == "ankle" or any(self.moving.switch_of(each, False) for each in follows)
        on = self.moving.switch_of(self.solver, True) if is_left else None
        return Control(name, part, moves=True, turns=part == "foot", goal=self.solver.subtarget, switch=on)

    def _turned_back(self) -> Iterator[Control]:
        """The foot itself, where the only constraint that turns it may be without influence."""
        found = self.moving.active(self.moving.armature.pose.bones[self.limb.foot])
        if len(found) == 1 and (off := self.moving.switch_of(found[0], False)):
            yield Control(self.limb.foot, "foot", switch=off)

    def _turning(self, names: list[str], part: str) -> Iterator[Control]:
        """The only bone that turns a part, if keys turn it."""
        bones = self.moving.armature.pose.bones
        if len(names) == 1 and self.moving.trouble(names[0]) is None and not any(bones[names[0]].lock_rotation):
            yield Control(names[0], part)

    def _followed(self, name: str) -> list[str] | None:
        """The bones that turn a bone; None where anything else moves it."""
        bone, found = self.moving.armature.pose.bones[name], []
        for constraint in self.moving.active(bone):
            is_alone = constraint.type == "IK" and self.moving.chain_of(bone, constraint) == [name]
            if not is_alone and constraint.type not in FOLLOWING:
                return None
            if constraint.target != self.moving.armature or not constraint.subtarget:
                return None
            found.append(constraint.subtarget)
        return found

    def _movable(self, names: Iterable[str]) -> str | None:
        """Which to move of bones under one another: the lowest that has location keys, else the topmost.

        Those that carry the limb itself, or targets of others, would move more than this limb.
        """
        armature = self.moving.armature
        bones, apart = armature.pose.bones, {*line_of(armature, self.limb.thigh), *self._others()}
        free = [name for name in names if name not in apart and self.moving.is_movable(name)]
        keyed = [name for name in free if bones[name].path_from_id("location") in self.moving.keyed]
        return next(iter(keyed or free[::-1]), None)

    def _others(self) -> Iterator[str]:
        """The bones that carry targets of inverse kinematics on bones of other limbs."""
        for bone, constraint in self.moving.solvers():
            if bone.name not in self.limb.bones and constraint != self.solver:
                target = getattr(constraint, "subtarget", "") if constraint.target == self.moving.armature else ""
                yield from line_of(self.moving.armature, target) if target else ()


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
