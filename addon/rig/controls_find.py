# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding the controls of limbs: by constraints in rigs made by hand, and by names in generated rigs.

In a rig made by hand, one constraint of inverse kinematics draws the end of a limb to a target bone. Rigs of Rigify and
Auto-Rig Pro have two sets of controls, for forward and for inverse kinematics, and a switch between the sets.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bpy.types import Constraint, PoseBone, bpy_prop_collection
from ik2bone.clip import JOINTS

from .checks import Moving, chain_of
from .limb import Control, Limb, Switch

# Constraints that turn a bone according to their target bone.
FOLLOWING = {"COPY_ROTATION", "COPY_TRANSFORMS", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}
# The end of a name in Rigify: the side, and a number where two names would be equal otherwise.
SIDE = re.compile(r"([._-][LRlr])?(\.\d+)?$")
# The bones that carry the trunk in rigs of Rigify and of Auto-Rig Pro.
HIPS = ("torso", "c_root_master.x")


def find_controls(moving: Moving, limb: Limb) -> tuple[Control, ...]:
    """The controls of a limb; empty if it has no inverse kinematics, or constraints of an unknown kind."""
    if not {limb.thigh, limb.shin}.issubset(moving.reached):
        return ()
    solver = _solver(moving, limb)
    if solver is None or any(each != solver for name in limb.turned[:2] for each in moving.active(name)):
        return ()
    solved = _Solved(moving, limb, solver)
    foot = solved.foot()
    return (*foot, *solved.toe(), *solved.knee(), *solved.forward()) if foot else ()


def _solver(moving: Moving, limb: Limb) -> Constraint | None:
    """The constraint of inverse kinematics that moves the thigh and shin of a limb to a target bone.

    None if it moves other bones too, or if another constraint of inverse kinematics moves the thigh or the shin.
    """
    wanted = {limb.thigh, limb.shin}
    chains = [(constraint, set(chain_of(bone, constraint))) for bone, constraint in moving.solvers()]
    found = [(constraint, moved) for constraint, moved in chains if not wanted.isdisjoint(moved)]
    if len(found) != 1 or found[0][1] != wanted:
        return None
    solver = found[0][0]
    is_ours = solver.type == "IK" and solver.target == moving.armature and solver.subtarget in moving.bones
    # With `use_rotation` the shin is turned too, and the end has neither the place nor the rotation of the target.
    return solver if is_ours and not solver.use_rotation else None


@dataclass(frozen=True)
class _Solved:
    """A limb, and the only constraint of inverse kinematics that moves it."""

    moving: Moving
    limb: Limb
    solver: Constraint

    def foot(self) -> tuple[Control, ...]:
        """One control that carries the target and turns the foot, else one control for each; empty if there is none."""
        followed = self._followed(self.limb.foot)
        if followed is None:
            return ()
        line = self.moving.line(self.solver.subtarget)
        is_apart = self.limb.shin not in self.moving.line(self.limb.foot)
        sources = followed or ([self.limb.foot] if is_apart else [])
        lines = [self.moving.line(source) for source in sources]
        if lines and (control := self._movable(name for name in line if all(name in each for each in lines))):
            return self._reaching(control, "foot"), *self._turned_back()
        ankle = self._movable(line)
        if ankle is None or sources == [self.limb.foot]:
            return ()
        return self._reaching(ankle, "ankle"), *self._turning(followed or [self.limb.foot], "foot")

    def toe(self) -> tuple[Control, ...]:
        """The control that turns the toe; empty if there is none."""
        followed = self._followed(self.limb.toe) if self.limb.toe else None
        return () if followed is None else tuple(self._turning(followed or [self.limb.toe or ""], "toe"))

    def knee(self) -> tuple[Control, ...]:
        """The pole target. Without a pole, thigh and shin: their rotations before the solver runs decide the bend."""
        solver, on = self.solver, self.moving.switch_of(self.solver, True)
        if not solver.pole_target:
            return tuple(Control(name, "knee", switch=on) for name in self.limb.turned[:2])
        is_ours = solver.pole_target == self.moving.armature and self.moving.is_movable(solver.pole_subtarget)
        return (Control(solver.pole_subtarget, "knee", moves=True, turns=False, switch=on),) if is_ours else ()

    def forward(self) -> Iterator[Control]:
        """Thigh and shin as their own controls, if the solver has not its whole influence on every frame."""
        if off := self.moving.switch_of(self.solver, False):
            yield from (
                Control(name, part, switch=off) for name, part in zip(self.limb.turned, ("thigh", "shin"), strict=False)
            )

    def _reaching(self, name: str, part: str) -> Control:
        """The control to which the ankle is drawn. If the foot always follows it, its keys show without the solver."""
        follows = self.moving.active(self.limb.foot)
        is_left = part == "ankle" or any(self.moving.switch_of(each, False) for each in follows)
        on = self.moving.switch_of(self.solver, True) if is_left else None
        return Control(name, part, moves=True, turns=part == "foot", goal=self.solver.subtarget, switch=on)

    def _turned_back(self) -> Iterator[Control]:
        """The foot as its own control, if the only constraint on it has not its whole influence on every frame."""
        found = self.moving.active(self.limb.foot)
        if len(found) == 1 and (off := self.moving.switch_of(found[0], False)):
            yield Control(self.limb.foot, "foot", switch=off)

    def _turning(self, names: list[str], part: str) -> Iterator[Control]:
        """The control for `part` if `names` has only one bone, and keys can turn this bone."""
        bones = self.moving.bones
        if len(names) == 1 and self.moving.trouble(names[0]) is None and not any(bones[names[0]].lock_rotation):
            yield Control(names[0], part)

    def _followed(self, name: str) -> list[str] | None:
        """The target bones of the constraints that turn a bone; None if the bone is moved in another way."""
        found = self.moving.active(name)
        for constraint in found:
            is_alone = constraint.type == "IK" and chain_of(self.moving.bones[name], constraint) == [name]
            if not is_alone and constraint.type not in FOLLOWING:
                return None
            if constraint.target != self.moving.armature or constraint.subtarget not in self.moving.bones:
                return None
        return [constraint.subtarget for constraint in found]

    def _movable(self, names: Iterable[str]) -> str | None:
        """The bone to move among `names`, a bone and its ancestors: the lowest with location keys, else the topmost.

        Bones that carry the limb or the targets of other limbs are left out, because they move more than this limb.
        """
        bones, apart = self.moving.bones, {*self.moving.line(self.limb.thigh), *self._others()}
        free = [name for name in names if name not in apart and self.moving.is_movable(name)]
        keyed = [name for name in free if bones[name].path_from_id("location") in self.moving.keyed]
        return next(iter(keyed or free[::-1]), None)

    def _others(self) -> Iterator[str]:
        """The names of the bones that carry targets of inverse kinematics on bones of other limbs."""
        for bone, constraint in self.moving.solvers():
            if bone.name not in self.limb.bones and constraint != self.solver:
                target = getattr(constraint, "subtarget", "") if constraint.target == self.moving.armature else ""
                yield from self.moving.line(target) if target in self.moving.bones else ()


def named_limbs(moving: Moving) -> list[Limb]:
    """The legs and arms of a generated rig; empty for any other armature."""
    return [*_rigify_limbs(moving), *_auto_rig_legs(moving)]


def named_hips(moving: Moving) -> str | None:
    """The bone that carries the trunk of a generated rig; None for any other armature."""
    names = HIPS if any(limb.is_leg for limb in named_limbs(moving)) else ()
    return next((name for name in names if moving.is_movable(name)), None)


def _rigify_limbs(moving: Moving) -> Iterator[Limb]:
    """The limbs of a Rigify rig. The bone that carries a limb has the switch `IK_FK` as a property.

    A foot has a bone that rolls it, a paw has only a control of the heel, and an arm has neither.
    """
    bones = moving.bones
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
    """The `name` with the ending `old`, before its side, replaced by `new`."""
    side = SIDE.search(name)
    place = side.start() if side else len(name)
    return name[:place].removesuffix(old) + new + name[place:]


def _rigify_line(org: PoseBone) -> list[str]:
    """The names without prefix of a bone and of the line of bones under it that have FK controls."""
    line, bones = [org], org.id_data.pose.bones
    while below := [child for child in line[-1].children if _derived(child.name[4:], "", "_fk") in bones]:
        line.append(below[0])
    return [bone.name[4:] for bone in line]


def _rigify_toes(bones: bpy_prop_collection, foot: str) -> list[str]:
    """The name of the toe bone under a paw, which has one control for both IK and FK; empty if there is none."""
    below = bones[f"ORG-{foot}"].children if foot else ()
    names = [child.name[4:] for child in below if child.name.startswith("ORG-")]
    return [name for name in names if name in bones and f"DEF-{name}" in bones][:1]


def _rigify_controls(moving: Moving, line: Sequence[str]) -> tuple[Control, ...]:
    ik, fk = ([_derived(name, "", ending) for name in line] for ending in ("_ik", "_fk"))
    goal = _derived(f"MCH-{line[0]}", "", "_ik_target")
    return _both(moving, f"ORG-{line[0]}", ik[2], fk, ik[3:], goal if goal in moving.bones else None)


def _rigify_paw(moving: Moving, line: Sequence[str], toes: Sequence[str]) -> tuple[Control, ...]:
    """The controls of a paw. Its IK control carries the toes, on which the paw stands, and its heel control turns the
    foot about the toes.
    """
    foot, heel = (_derived(line[2], "", ending) for ending in ("_ik", "_heel_ik"))
    fk = [_derived(name, "", "_fk") for name in line]
    found = _both(moving, f"ORG-{line[0]}", foot, [*fk, *toes], (), None)
    ends = [Control(foot, "toe", moves=True, switch=each.switch) for each in found[:1]]
    return (*ends, *(Control(heel, "foot", switch=each.switch) for each in ends), *found[1:])


def _rigify_knee(moving: Moving, line: Sequence[str]) -> Iterator[Control]:
    """The controls of the knee: the pole of one constraint, and the IK bone of the thigh for one without a pole.

    Rigify mutes one of the two constraints.
    """
    solved = moving.bones.get(_derived(f"MCH-{line[1]}", "", "_ik"))
    for constraint in solved.constraints if solved else ():
        pole, switch = getattr(constraint, "pole_subtarget", None), Switch(solved.name, constraint.name, True)
        thigh = _derived(line[0], "", "_ik")
        if pole and pole in moving.bones:
            yield Control(pole, "knee", moves=True, turns=False, switch=switch)
        elif pole == "" and thigh in moving.bones:
            yield Control(thigh, "knee", switch=switch)


def _auto_rig_legs(moving: Moving) -> Iterator[Limb]:
    """The legs of a rig of Auto-Rig Pro. The control of a leg's foot has the switch `ik_fk_switch` as a property."""
    for foot in (bone.name for bone in moving.bones if bone.name.startswith("c_foot_ik.") and "ik_fk_switch" in bone):
        side = foot.removeprefix("c_foot_ik")
        names = [f"{part}{side}" for part in ("thigh", "leg", "foot", "toes_01")]
        fk = [f"c_{part}_fk{side}" for part in ("thigh", "leg", "foot", "toes")]
        if all(name in moving.bones for name in names[:3]):
            found = _both(moving, names[0], foot, fk, [f"c_toes_ik{side}"], None)
            if found:
                pole = Control(f"c_leg_pole{side}", "knee", moves=True, turns=False, switch=found[0].switch)
                knee = (pole,) if moving.is_movable(pole.bone) else ()
                yield Limb(*names[:3], names[3] if names[3] in moving.bones else None, controls=(*found, *knee))


def _both(
    moving: Moving, switched: str, foot: str, fk: Sequence[str], toes: Sequence[str], goal: str | None
) -> tuple[Control, ...]:
    """The IK controls, that of the foot first, and the FK controls; empty if controls or the switch are missing.

    The bone `switched` has a constraint for each set of controls, or for one of them. The names of the constraints'
    targets contain `_ik` or `_fk`.
    """
    bones = moving.bones
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
