# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls of limbs that people rig by hand: one constraint of inverse kinematics draws the end to a target bone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bpy.types import Constraint

from .checks import Moving, line_of
from .limb import Control, Limb

# Constraints that turn a bone after another one, which they name as their target.
FOLLOWING = {"COPY_ROTATION", "COPY_TRANSFORMS", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}


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
    wanted, found = {limb.thigh, limb.shin}, []
    for bone, constraint in moving.solvers():
        moved = moving.chain_of(bone, constraint)
        if not wanted.isdisjoint(moved):
            found.append((constraint, set(moved)))
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
