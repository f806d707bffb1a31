# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that control bones move: which bones take the keys of a limb whose own bones follow constraints.

Each profile explains the constraints of one kind of rig. A limb that no profile explains has no controls and is refused
where its constraints are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .checks import Moving

if TYPE_CHECKING:
    from bpy.types import Constraint, Object, PoseBone

# Constraints that turn a bone after another one, which they name as their target.
FOLLOWING = {"COPY_ROTATION", "COPY_TRANSFORMS", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}
# Constraints that carry a bone like a parent does, so that its channels act within what carries it.
CARRYING = {"CHILD_OF", "ARMATURE"}
# Constraints that take over the place of another bone too.
PLACING = {"COPY_TRANSFORMS", "COPY_LOCATION"}
# What Rigify's names end with: the side, and a number where names would be the same otherwise.
SIDE = re.compile(r"([._-][LRlr])?(\.\d+)?$")


class Switch(NamedTuple):
    """A constraint, by its bone and name, whose influence decides between two sets of controls.

    Keys of a control show where it has influence (`on`), or where it has not its whole influence.
    """

    bone: str
    constraint: str
    on: bool


@dataclass(frozen=True)
class Control:
    """A bone that takes keys for a part of a limb: thigh, shin, foot, toe, the ankle alone, or the knee.

    Of the knee it is the target of the pole, or the bone whose roll turns the knee. `moves` and `turns` tell whether
    location and rotation are keyed, `goal` names the bone whose head the ankle is drawn to.
    """

    bone: str
    part: str
    moves: bool = False
    turns: bool = True
    goal: str | None = None
    switch: Switch | None = None


class Chain(NamedTuple):
    """The bones of a limb by name: upper bone, lower bone, end, and toe where there is one."""

    thigh: str
    shin: str
    foot: str
    toe: str | None


def find_controls(armature: Object, chain: Chain) -> tuple[Control, ...]:
    """The controls of a limb whose two bones are moved by one constraint of inverse kinematics with a target bone.

    None where no such constraint is active, and none where the limb is moved by anything else too.
    """
    moving = Moving(armature)
    if chain.thigh not in moving.reached or chain.shin not in moving.reached:
        return ()
    solver = _solver(moving, chain)
    if solver is None or any(_others(moving, name, solver) for name in (chain.thigh, chain.shin)):
        return ()
    return _Generic(moving, chain, solver).controls()


def _solver(moving: Moving, chain: Chain) -> Constraint | None:
    """The only constraint of inverse kinematics that moves the two bones of a limb, if it moves no others."""
    wanted, found = {chain.thigh, chain.shin}, []
    for bone in moving.armature.pose.bones:
        for constraint in moving.active(bone):
            if constraint.type in {"IK", "SPLINE_IK"} and not wanted.isdisjoint(moving.chain_of(bone, constraint)):
                found.append((bone, constraint))
    if len(found) != 1 or set(moving.chain_of(*found[0])) != wanted:
        return None
    solver = found[0][1]
    return solver if solver.type == "IK" and solver.target == moving.armature and solver.subtarget else None


def _others(moving: Moving, name: str, solver: Constraint) -> list[Constraint]:
    return [each for each in moving.active(moving.armature.pose.bones[name]) if each != solver]


@dataclass(frozen=True)
class _Generic:
    """The ordinary rig: a foot control carries the target of the shin's inverse kinematics, and mostly the foot too."""

    moving: Moving
    chain: Chain
    solver: Constraint

    def controls(self) -> tuple[Control, ...]:
        foot = self._foot()
        if not foot:
            return ()
        return (*foot, *self._toe(), *self._knee(), *self._forward())

    def _line(self, name: str) -> list[str]:
        bone = self.moving.armature.pose.bones[name]
        return [bone.name, *(above.name for above in bone.parent_recursive)]

    def _switch(self, constraint: Constraint, on: bool) -> Switch | None:
        """The constraint as a switch, if its influence may change."""
        if not self.moving.is_animated(constraint):
            return None
        return Switch(constraint.path_from_id().split('"')[1], constraint.name, on)

    def _foot(self) -> tuple[Control, ...]:
        """What moves the ankle and turns the foot: one control that carries both, else one for each."""
        chain, goal, bones = self.chain, self.solver.subtarget, self.moving.armature.pose.bones
        followed = _followed(self.moving, chain.foot)
        if followed is None:
            return ()
        on, loose = self._switch(self.solver, True), chain.shin not in self._line(chain.foot)
        sources = [chain.foot] if loose and not followed else followed
        shared = [name for name in self._line(goal) if all(name in self._line(source) for source in sources)]
        if sources and (control := self._movable(shared)):
            back = self._turning_back(chain.foot)
            return Control(control, "foot", moves=True, goal=goal, switch=on), *back
        ankle = self._movable(self._line(goal))
        if ankle is None or (loose and not followed):
            return ()
        turned = next((name for name in sources or [chain.foot] if self.moving.trouble(name) is None), None)
        ankles = (Control(ankle, "ankle", moves=True, turns=False, goal=goal, switch=on),)
        return ankles + ((Control(turned, "foot"),) if turned and turned in bones else ())

    def _turning_back(self, name: str) -> tuple[Control, ...]:
        """The bone itself as a control, where what turns it may be without influence."""
        follows = [each for each in self.moving.active(self.moving.armature.pose.bones[name]) if each.type in FOLLOWING]
        switch = self._switch(follows[0], False) if len(follows) == 1 else None
        return (Control(name, self._part(name), switch=switch),) if switch else ()

    def _part(self, name: str) -> str:
        return next(part for part, bone in self.chain._asdict().items() if bone == name)

    def _toe(self) -> tuple[Control, ...]:
        toe = self.chain.toe
        followed = _followed(self.moving, toe) if toe else None
        if toe is None or followed is None:
            return ()
        names = followed or [toe]
        free = [name for name in names if self.moving.trouble(name) is None and not any(_locks(self.moving, name))]
        return (Control(free[0], "toe"),) if free and len(names) == 1 else ()

    def _knee(self) -> tuple[Control, ...]:
        """The target of the pole if there is one; without one the roll of the upper bone leads the knee."""
        solver, on = self.solver, self._switch(self.solver, True)
        if not solver.pole_target:
            return (Control(self.chain.thigh, "knee", switch=on),)
        pole = solver.pole_subtarget if solver.pole_target == self.moving.armature else ""
        return (Control(pole, "knee", moves=True, turns=False, switch=on),) if self._is_movable(pole) else ()

    def _forward(self) -> tuple[Control, ...]:
        """The bones themselves, where the inverse kinematics may be without influence."""
        off = self._switch(self.solver, False)
        return tuple(Control(getattr(self.chain, part), part, switch=off) for part in ("thigh", "shin") if off)

    def _movable(self, names: Iterable[str]) -> str | None:
        """The bone to move out of some under one another: the lowest that has location keys, else the topmost.

        Bones that carry the limb itself, or what draws others, would move more than this limb.
        """
        apart = {*self._line(self.chain.thigh), *self._lines_of_others()}
        free = [name for name in names if name not in apart and self._is_movable(name)]
        bones = self.moving.armature.pose.bones
        keyed = [name for name in free if bones[name].path_from_id("location") in self.moving.keyed]
        return next(iter(keyed or free[::-1]), None)

    def _lines_of_others(self) -> Iterator[str]:
        """The bones that carry targets of inverse kinematics which are not this limb's."""
        own = {self.chain.foot, self.chain.toe}
        for bone in self.moving.armature.pose.bones:
            others = [each for each in bone.constraints if each.type == "IK" and each != self.solver]
            for constraint in others if bone.name not in own else ():
                if constraint.target == self.moving.armature and constraint.subtarget:
                    yield from self._line(constraint.subtarget)

    def _is_movable(self, name: str) -> bool:
        return name in self.moving.armature.pose.bones and is_movable(self.moving, name)


def is_movable(moving: Moving, name: str) -> bool:
    """Whether keys of location and rotation show on a bone, within what carries it."""
    bone = moving.armature.pose.bones[name]
    held = any(each.type not in CARRYING for each in moving.active(bone)) or name in moving.reached
    return moving.is_free(name) and not held


def _locks(moving: Moving, name: str) -> Sequence[bool]:
    return list(moving.armature.pose.bones[name].lock_rotation)


def _followed(moving: Moving, name: str) -> list[str] | None:
    """The bones of the armature that a bone is turned after; None where anything else moves it."""
    found = []
    for constraint in moving.active(moving.armature.pose.bones[name]):
        alone = constraint.type == "IK" and moving.chain_of(moving.armature.pose.bones[name], constraint) == [name]
        if constraint.type not in FOLLOWING and not alone:
            return None
        if constraint.target != moving.armature or not constraint.subtarget:
            return None
        found.append(constraint.subtarget)
    return found


def hips_control(moving: Moving, bone: PoseBone) -> str | None:
    """The bone that moves a bone which takes over its place, if keys move that."""
    placed = [each for each in moving.active(bone) if each.type in PLACING and each.target == moving.armature]
    if len(placed) != 1 or len(moving.active(bone)) != 1 or bone.name in moving.reached:
        return None
    return next((name for name in [placed[0].subtarget] if name and is_movable(moving, name)), None)


def rigify_legs(armature: Object) -> list[tuple[Chain, tuple[Control, ...]]]:
    """The deform bones and the controls of the legs of a generated Rigify rig, by the names that Rigify gives.

    Legs have a switch between FK and IK on the bone that carries them, and a control that lifts the heel.
    """
    bones, found = armature.pose.bones, []
    for carrier in (bone for bone in bones if "IK_FK" in bone):
        thigh = _derived(carrier.name, "_parent", "")
        org = bones.get(f"ORG-{thigh}")
        line = [] if org is None else _rigify_line(org)
        if len(line) in (3, 4) and _derived(line[2], "", "_heel_ik") in bones:
            chain = Chain(*(f"DEF-{name}" for name in line), *[None] * (4 - len(line)))
            controls = _rigify_controls(Moving(armature), line)
            if controls and all(name is None or name in bones for name in chain):
                found.append((chain, controls))
    return found


def _derived(name: str, old: str, new: str) -> str:
    """A name of Rigify's with another ending before its side."""
    side = SIDE.search(name)
    stem = name[: side.start()] if side else name
    return stem.removesuffix(old) + new + (side[0] if side else "")


def _rigify_line(org: PoseBone) -> list[str]:
    """The names, without prefix, of a bone and of those under it that have FK controls."""
    line, bones = [org], org.id_data.pose.bones
    while line[-1] is not None and len(line) < 5:
        below = (child for child in line[-1].children if child.name.startswith("ORG-"))
        line.append(next((child for child in below if _derived(child.name[4:], "", "_fk") in bones), None))
    return [bone.name[4:] for bone in line if bone is not None]


def _rigify_controls(moving: Moving, line: Sequence[str]) -> tuple[Control, ...]:
    """The controls of both sides of the switch: for the knee the pole's target and the roll of the upper IK bone."""
    bones, parts = moving.armature.pose.bones, ("thigh", "shin", "foot", "toe")
    org = bones[f"ORG-{line[0]}"]
    ik, fk = ([_derived(name, "", ending) for name in line] for ending in ("_ik", "_fk"))
    follows = {each.subtarget: each for each in org.constraints if each.type == "COPY_TRANSFORMS"}
    switch = next((each for name, each in follows.items() if moving.is_animated(each)), None)
    if switch is None or fk[0] not in follows or ik[2] not in bones:
        return ()
    is_fk = switch.subtarget == fk[0]
    on, off = Switch(org.name, switch.name, not is_fk), Switch(org.name, switch.name, is_fk)
    goal = _derived(f"MCH-{line[0]}", "", "_ik_target")
    legs = [Control(ik[2], "foot", moves=True, goal=goal if goal in bones else None, switch=on)]
    legs += [Control(name, part, switch=off) for name, part in zip(fk, parts, strict=False)]
    toes = [name for name in ik[3:] if name in bones]
    knee = _rigify_knee(bones, line)
    return (*legs, *(Control(name, "toe", switch=on) for name in toes), *knee)


def _rigify_knee(bones: Mapping[str, PoseBone], line: Sequence[str]) -> Iterator[Control]:
    """What turns the knee: of two constraints, one of which is muted, one has a pole and the other one has none."""
    solved = bones.get(_derived(f"MCH-{line[1]}", "", "_ik"))
    for constraint in solved.constraints if solved else ():
        if constraint.type == "IK":
            switch = Switch(solved.name, constraint.name, True)
            if constraint.pole_subtarget:
                yield Control(constraint.pole_subtarget, "knee", moves=True, turns=False, switch=switch)
            else:
                yield Control(_derived(line[0], "", "_ik"), "knee", switch=switch)


def rigify_hips(moving: Moving) -> str | None:
    """The bone that carries the trunk of a generated Rigify rig."""
    is_there = "rig_id" in moving.armature.data and "torso" in moving.armature.pose.bones
    return "torso" if is_there and is_movable(moving, "torso") else None
